// hd_vector_walk - loop nest and addresses of a VECTOR command: row, column, chunk of N, window
// cell.
// One beat a cycle while next_i holds; cells outside the image cost nothing. No multipliers: an
// address is kept for the start of each level and stepped by the command's pitches, modulo the
// scratchpad.
// Padding is sought once by StSeek, one column and row a cycle; hd_vector_axis keeps what of a
// window is inside the image. Whether a loop ends is a register, found in the step before.
// A window wholly outside the image gives one beat with empty_o and no address.
// max_pool_two: operand B is b_base bytes behind operand A, cell by cell.
// half: the cells of a window are bytes, upper ones first: add and sub have one of each operand in
// each cell, mul one of A in each row and one of B in each column.
// start_i in cycle t, first beat in t+2 plus padding columns and rows. cmd_i is stable from t+1
// to the last beat. Loop counts are at least 1. Reset: idle. Bench: vector_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module hd_vector_walk #(
  parameter int N        = CfgN,
  parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int Wide     = CfgLstm,       // 1: half may be other than 0
  parameter int CntBits  = $clog2(N + 1)  // derived
) (
  input  wire logic               clk_i,
  input  wire logic               rst_ni,
  input  wire logic               start_i,
  input  wire hd_cmd_vector_t     cmd_i,
  output logic                    valid_o,     // a beat
  input  wire logic               next_i,      // it is taken
  output logic [AddrBits-1:0]     a_addr_o,
  output logic [AddrBits-1:0]     b_addr_o,
  output logic [AddrBits-1:0]     out_addr_o,
  output logic [CntBits-1:0]      count_o,     // bytes, 1..N
  output logic                    first_o,     // first cell of a window
  output logic                    last_o,      // last cell of a window
  output logic                    end_o,       // last beat of a column
  output logic                    empty_o,     // no cell at all
  output logic [2:0]              table_o,
  output logic                    busy_o
);
  localparam int ChBits  = AddrBits + 1;

  typedef enum logic [1:0] {StIdle, StSeek, StRun} state_e;
  state_e state_q;

  // ---------------------------------------------------------------- what ends here
  logic              seek_x, seek_y;
  logic [15:0]       cols_q, rows_q;             // left, this one included
  logic [ChBits-1:0] chan_q;
  logic              first_q;
  logic [2:0]        table_q;                    // of this chunk
  logic              last_kx, last_ky, empty_x, empty_y, window_end;
  logic              chunk_end_q, col_end_q, row_end_q;

  assign empty_o    = empty_x || empty_y;
  assign window_end = (last_kx && last_ky) || empty_o;

  // Which level steps: the innermost that has not ended.
  logic step_cell, step_line, step_chunk, step_col, step_row;

  assign step_cell  = !window_end && !last_kx;
  assign step_line  = !window_end && last_kx;
  assign step_chunk = window_end && !chunk_end_q;
  assign step_col   = window_end && chunk_end_q && !col_end_q;
  assign step_row   = window_end && chunk_end_q && col_end_q && !row_end_q;

  // ---------------------------------------------------------------- addresses
  logic [AddrBits-1:0] a_row_q, a_col_q, a_chunk_q, a_line_q, a_cell_q;
  logic [AddrBits-1:0] b_row_q, b_col_q, b_chunk_q, b_cell_q;
  logic [AddrBits-1:0] o_row_q, o_col_q, o_cell_q;
  logic [AddrBits-1:0] b_chunk;
  logic [AddrBits-1:0] x_first, y_first, x_less, y_less, a_next, b_next, o_next;

  logic step, two, a_stays;
  assign step    = state_q == StRun && next_i;
  assign two     = Wide != 0 && cmd_i.half != 2'd0;
  assign a_stays = facts.multiply;

  hd_vector_axis #(.AddrBits(AddrBits)) u_x (
    .clk_i,
    .start_i  (cmd_i.x_start),
    .size_i   (cmd_i.in_w),
    .kernel_i (cmd_i.kernel_w),
    .stride_i (cmd_i.stride_x),
    .pitch_i  (cmd_i.a_win_col[AddrBits-1:0]),
    .clear_i  (state_q == StIdle && start_i),
    .seek_i   (state_q == StSeek),
    .seeking_o(seek_x),
    .step_i   (step),
    .cell_i   (!window_end && !last_kx),
    .line_i   (!window_end ? last_kx : !chunk_end_q),
    .window_i (window_end && chunk_end_q && !col_end_q),
    .restart_i(window_end && chunk_end_q && col_end_q),
    .last_o   (last_kx),
    .empty_o  (empty_x),
    .offset_o (x_first),
    .less_o   (x_less)
  );

  hd_vector_axis #(.AddrBits(AddrBits)) u_y (
    .clk_i,
    .start_i  (cmd_i.y_start),
    .size_i   (cmd_i.in_h),
    .kernel_i ({4'b0, cmd_i.kernel_h}),
    .stride_i (cmd_i.stride_y),
    .pitch_i  (cmd_i.a_win_row[AddrBits-1:0]),
    .clear_i  (state_q == StIdle && start_i),
    .seek_i   (state_q == StSeek),
    .seeking_o(seek_y),
    .step_i   (step),
    .cell_i   (step_line),
    .line_i   (window_end && !(chunk_end_q && col_end_q)),
    .window_i (window_end && chunk_end_q && col_end_q),
    .restart_i(1'b0),
    .last_o   (last_ky),
    .empty_o  (empty_y),
    .offset_o (y_first),
    .less_o   (y_less)
  );

  assign a_next = !valid_o   ? a_cell_q :
                  step_cell  ? a_cell_q + (!two    ? cmd_i.a_win_col[AddrBits-1:0] :
                                           a_stays ? '0 : cmd_i.a_win_row[AddrBits-1:0]) :
                  step_line  ? a_line_q + cmd_i.a_win_row[AddrBits-1:0] :
                  step_chunk ? a_chunk_q + (cmd_i.a_splat ? '0 : AddrBits'(N)) :
                  step_col   ? a_col_q + (cmd_i.a_col[AddrBits-1:0] - x_less)
                             : a_row_q + (cmd_i.a_row[AddrBits-1:0] - y_less);
  assign b_chunk = Wide != 0 ? b_chunk_q : b_cell_q;  // a window has one cell without half
  assign b_next = !valid_o   ? b_cell_q :
                  two && step_cell ? b_cell_q + cmd_i.a_win_col[AddrBits-1:0] :
                  two && step_line ? b_chunk :
                  step_chunk ? b_chunk + (cmd_i.b_splat ? '0 : AddrBits'(N)) :
                  step_col   ? b_col_q + cmd_i.b_col[AddrBits-1:0]
                             : b_row_q + cmd_i.b_row[AddrBits-1:0];
  assign o_next = !valid_o   ? o_cell_q :
                  step_chunk ? o_cell_q + AddrBits'(N) :
                  step_col   ? o_col_q + cmd_i.out_col[AddrBits-1:0]
                             : o_row_q + cmd_i.out_row[AddrBits-1:0];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
    end else begin
      unique case (state_q)
        StIdle:  if (start_i) state_q <= StSeek;
        StSeek:  if (!seek_x && !seek_y) state_q <= StRun;
        StRun:   if (next_i && end_o && col_end_q && row_end_q) state_q <= StIdle;
        default: state_q <= StIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == StSeek) begin
      // Overwritten until the seek ends.
      cols_q      <= cmd_i.cols;
      rows_q      <= cmd_i.rows;
      chan_q      <= cmd_i.channels[ChBits-1:0];
      chunk_end_q <= cmd_i.channels[ChBits-1:0] <= ChBits'(N);
      col_end_q   <= cmd_i.cols == 16'd1;
      row_end_q   <= cmd_i.rows == 16'd1;
      first_q     <= 1'b1;
      table_q     <= cmd_i.table_first;
      a_row_q     <= cmd_i.a_base[AddrBits-1:0] + x_first + y_first;
      a_col_q     <= cmd_i.a_base[AddrBits-1:0] + x_first + y_first;
      a_chunk_q   <= cmd_i.a_base[AddrBits-1:0] + x_first + y_first;
      a_line_q    <= cmd_i.a_base[AddrBits-1:0] + x_first + y_first;
      a_cell_q    <= cmd_i.a_base[AddrBits-1:0] + x_first + y_first;
      b_row_q     <= cmd_i.b_base[AddrBits-1:0];
      b_col_q     <= cmd_i.b_base[AddrBits-1:0];
      b_chunk_q   <= cmd_i.b_base[AddrBits-1:0];
      b_cell_q    <= cmd_i.b_base[AddrBits-1:0];
      o_row_q     <= cmd_i.out_base[AddrBits-1:0];
      o_col_q     <= cmd_i.out_base[AddrBits-1:0];
      o_cell_q    <= cmd_i.out_base[AddrBits-1:0];
    end
    if (step) begin
      first_q  <= window_end;
      a_cell_q <= a_next;
      if (!step_cell) a_line_q <= a_next;
      if (two || window_end) b_cell_q <= b_next;
      if (window_end) begin
        a_chunk_q   <= a_next;
        b_chunk_q   <= b_next;
        o_cell_q    <= o_next;
        table_q     <= chunk_end_q ? cmd_i.table_first : table_q + {2'b0, cmd_i.table_step};
        chan_q      <= chunk_end_q ? cmd_i.channels[ChBits-1:0] : chan_q - ChBits'(N);
        chunk_end_q <= (chunk_end_q ? cmd_i.channels[ChBits-1:0] <= ChBits'(N)
                                    : chan_q <= ChBits'(2 * N));
      end
      if (step_col || step_row) begin
        a_col_q   <= a_next;
        b_col_q   <= b_next;
        o_col_q   <= o_next;
        cols_q    <= step_row ? cmd_i.cols : cols_q - 16'd1;
        col_end_q <= step_row ? cmd_i.cols == 16'd1 : cols_q == 16'd2;
      end
      if (step_row) begin
        a_row_q   <= a_next;
        b_row_q   <= b_next;
        o_row_q   <= o_next;
        rows_q    <= rows_q - 16'd1;
        row_end_q <= rows_q == 16'd2;
      end
    end
  end

  // The rest of the command is hd_vector's; high address bits are beyond the scratchpad.
  logic unused_cmd;
  assign unused_cmd = ^{cmd_i, facts, b_chunk_q};

  hd_vop_facts_t facts;
  assign facts = hd_vop_facts(cmd_i.op);

  assign valid_o    = state_q == StRun;
  assign busy_o     = state_q != StIdle;
  assign a_addr_o   = a_cell_q;
  assign b_addr_o   = facts.pair ? a_cell_q + cmd_i.b_base[AddrBits-1:0] : b_cell_q;
  assign out_addr_o = o_cell_q;
  assign count_o    = chunk_end_q ? chan_q[CntBits-1:0] : CntBits'(N);
  assign first_o    = first_q;
  assign last_o     = window_end;
  assign table_o    = table_q;
  assign end_o      = window_end && chunk_end_q;

`ifdef HD_ASSERT
  a_loops: assert property (@(posedge clk_i) disable iff (!rst_ni)
    start_i |=> cmd_i.rows != '0 && cmd_i.cols != '0 && cmd_i.channels != '0);
  c_seek: cover property (@(posedge clk_i) state_q == StSeek && (seek_x || seek_y));
  c_run: cover property (@(posedge clk_i) state_q == StRun && step_row);
  c_empty: cover property (@(posedge clk_i) state_q == StRun && empty_o);
`endif

endmodule

`default_nettype wire
