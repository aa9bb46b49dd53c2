// hd_vector_walk - loop nest and addresses of a VECTOR command: row, column, chunk of N, window
// cell.
// One beat a cycle while next_i holds; cells outside the image cost nothing. No multipliers: an
// address is kept for the start of each level and stepped by the command's pitches, modulo the
// scratchpad.
// Padding: kx0 = columns of the window left of the image, and x_off = kx0 * a_win_col, which the
// start of a window is moved by. Both are made once by StSeek, one column a cycle (then one row a
// cycle), with x_step = stride_x * a_win_col caught on the way; from column to column kx0 falls by
// stride_x.
// A window wholly outside the image gives one beat with empty_o and no address.
// max_pool_two: operand B is b_base bytes behind operand A, cell by cell.
// start_i in cycle t, first beat in t+2 plus padding columns and rows. cmd_i is stable from t+1
// to the last beat. Loop counts are at least 1. Reset: idle. Bench: tests/hw/vector_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module hd_vector_walk #(
  parameter int N        = CfgN,
  parameter int AddrBits = $clog2(CfgScratchpadBytes),
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
  // Image positions: in_w - x_start and what is left of it.
  localparam int PosBits = 18;
  localparam int ChBits  = AddrBits + 1;

  typedef enum logic [1:0] {StIdle, StSeek, StRun} state_e;
  state_e state_q;

  // ---------------------------------------------------------------- padding
  logic [15:0]         kx0i_q, kx0_q, kx_q;      // of column 0, of this column, of this cell
  logic [15:0]         ky0_q;
  logic [15:0]         ky_q;
  logic [AddrBits-1:0] xoffi_q, xoff_q, xstep_q, yoff_q, ystep_q;
  logic [PosBits-1:0]  xrem_q, yrem_q;           // signed: last cell inside
  logic [14:0]         unused_x, unused_y;
  logic                seek_x, seek_y;           // columns, rows of padding to go
  logic [PosBits-1:0]  xrem_first, yrem_first;
  logic [15:0]         kx_last_q;                // of the kernel
  logic [11:0]         ky_last_q;

  assign {seek_x, unused_x} = kx0i_q + cmd_i.x_start;  // negative
  assign {seek_y, unused_y} = ky0_q + cmd_i.y_start;
  assign xrem_first = {2'b0, cmd_i.in_w} + ~{{2{cmd_i.x_start[15]}}, cmd_i.x_start};
  assign yrem_first = {2'b0, cmd_i.in_h} + ~{{2{cmd_i.y_start[15]}}, cmd_i.y_start};

  // ---------------------------------------------------------------- what ends here
  logic [15:0]       cols_q, rows_q;             // left, this one included
  logic [ChBits-1:0] chan_q;
  logic              first_q;
  logic [2:0]        table_q;                    // of this chunk
  logic              last_kx, last_ky, window_end, chunk_end, col_end, row_end;

  assign last_kx    = $signed({2'b0, kx_q}) >= $signed(xrem_q) || kx_q >= kx_last_q;
  assign last_ky    = $signed({2'b0, ky_q}) >= $signed(yrem_q)
                      || ky_q >= {4'b0, ky_last_q};
  assign empty_o    = xrem_q[PosBits-1] || yrem_q[PosBits-1] || kx0_q > kx_last_q
                   || ky0_q > {4'b0, ky_last_q};
  assign window_end = (last_kx && last_ky) || empty_o;
  assign chunk_end  = chan_q <= ChBits'(N);
  assign col_end    = cols_q == 16'd1;
  assign row_end    = rows_q == 16'd1;

  // Which level steps: the innermost that has not ended.
  logic step_cell, step_line, step_chunk, step_col, step_row;

  assign step_cell  = !window_end && !last_kx;
  assign step_line  = !window_end && last_kx;
  assign step_chunk = window_end && !chunk_end;
  assign step_col   = window_end && chunk_end && !col_end;
  assign step_row   = window_end && chunk_end && col_end && !row_end;

  // ---------------------------------------------------------------- addresses
  logic [AddrBits-1:0] a_row_q, a_col_q, a_chunk_q, a_line_q, a_cell_q;
  logic [AddrBits-1:0] b_row_q, b_col_q, b_cell_q;
  logic [AddrBits-1:0] o_row_q, o_col_q, o_cell_q;
  logic [AddrBits-1:0] x_less, y_less, a_next, b_next, o_next;
  logic                new_x, new_y;  // kx0, ky0 beyond the stride: they fall by it, else to 0

  assign new_x  = kx0_q >= cmd_i.stride_x;
  assign new_y  = ky0_q >= cmd_i.stride_y;
  assign x_less = new_x ? xstep_q : xoff_q;
  assign y_less = new_y ? ystep_q : yoff_q;

  assign a_next = !valid_o   ? a_cell_q :
                  step_cell  ? a_cell_q + cmd_i.a_win_col[AddrBits-1:0] :
                  step_line  ? a_line_q + cmd_i.a_win_row[AddrBits-1:0] :
                  step_chunk ? a_chunk_q + (cmd_i.a_splat ? '0 : AddrBits'(N)) :
                  step_col   ? a_col_q + (cmd_i.a_col[AddrBits-1:0] - x_less)
                             : a_row_q + (cmd_i.a_row[AddrBits-1:0] - y_less);
  assign b_next = !valid_o   ? b_cell_q :
                  step_chunk ? b_cell_q + (cmd_i.b_splat ? '0 : AddrBits'(N)) :
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
        StRun:   if (next_i && window_end && chunk_end && col_end && row_end) state_q <= StIdle;
        default: state_q <= StIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == StIdle && start_i) begin
      kx0i_q  <= '0;
      ky0_q   <= '0;
      xoffi_q <= '0;
      yoff_q  <= '0;
      xstep_q <= '0;
      ystep_q <= '0;
    end
    if (state_q == StSeek) begin
      if (seek_x) begin
        kx0i_q  <= kx0i_q + 16'd1;
        xoffi_q <= xoffi_q + cmd_i.a_win_col[AddrBits-1:0];
        if (kx0i_q + 16'd1 == cmd_i.stride_x) xstep_q <= xoffi_q + cmd_i.a_win_col[AddrBits-1:0];
      end
      if (seek_y) begin
        ky0_q  <= ky0_q + 16'd1;
        yoff_q <= yoff_q + cmd_i.a_win_row[AddrBits-1:0];
        if (ky0_q + 16'd1 == cmd_i.stride_y) ystep_q <= yoff_q + cmd_i.a_win_row[AddrBits-1:0];
      end
      // Overwritten until the seek ends.
      kx_last_q <= cmd_i.kernel_w - 16'd1;
      ky_last_q <= cmd_i.kernel_h - 12'd1;
      kx0_q     <= kx0i_q;
      kx_q      <= kx0i_q;
      ky_q      <= ky0_q;
      xoff_q    <= xoffi_q;
      xrem_q    <= xrem_first;
      yrem_q    <= yrem_first;
      cols_q    <= cmd_i.cols;
      rows_q    <= cmd_i.rows;
      chan_q    <= cmd_i.channels[ChBits-1:0];
      first_q   <= 1'b1;
      table_q   <= cmd_i.table_first;
      a_row_q   <= cmd_i.a_base[AddrBits-1:0] + xoffi_q + yoff_q;
      a_col_q   <= cmd_i.a_base[AddrBits-1:0] + xoffi_q + yoff_q;
      a_chunk_q <= cmd_i.a_base[AddrBits-1:0] + xoffi_q + yoff_q;
      a_line_q  <= cmd_i.a_base[AddrBits-1:0] + xoffi_q + yoff_q;
      a_cell_q  <= cmd_i.a_base[AddrBits-1:0] + xoffi_q + yoff_q;
      b_row_q   <= cmd_i.b_base[AddrBits-1:0];
      b_col_q   <= cmd_i.b_base[AddrBits-1:0];
      b_cell_q  <= cmd_i.b_base[AddrBits-1:0];
      o_row_q   <= cmd_i.out_base[AddrBits-1:0];
      o_col_q   <= cmd_i.out_base[AddrBits-1:0];
      o_cell_q  <= cmd_i.out_base[AddrBits-1:0];
    end
    if (state_q == StRun && next_i) begin
      first_q  <= window_end;
      a_cell_q <= a_next;
      kx_q     <= kx_q + 16'd1;
      if (!step_cell) begin
        a_line_q <= a_next;
        kx_q     <= kx0_q;
        ky_q     <= ky_q + 16'd1;
      end
      if (window_end) begin
        a_chunk_q <= a_next;
        b_cell_q  <= b_next;
        o_cell_q  <= o_next;
        ky_q      <= ky0_q;
        table_q   <= chunk_end ? cmd_i.table_first : table_q + {2'b0, cmd_i.table_step};
        chan_q    <= chunk_end ? cmd_i.channels[ChBits-1:0] : chan_q - ChBits'(N);
      end
      if (step_col || step_row) begin
        a_col_q <= a_next;
        b_col_q <= b_next;
        o_col_q <= o_next;
      end
      if (step_col) begin
        cols_q <= cols_q - 16'd1;
        kx0_q  <= new_x ? kx0_q - cmd_i.stride_x : 16'd0;
        kx_q   <= new_x ? kx0_q - cmd_i.stride_x : 16'd0;
        xoff_q <= xoff_q - x_less;
        xrem_q <= xrem_q - {2'b0, cmd_i.stride_x};
      end
      if (step_row) begin
        a_row_q <= a_next;
        b_row_q <= b_next;
        o_row_q <= o_next;
        rows_q  <= rows_q - 16'd1;
        cols_q  <= cmd_i.cols;
        kx0_q   <= kx0i_q;
        kx_q    <= kx0i_q;
        xoff_q  <= xoffi_q;
        xrem_q  <= xrem_first;
        ky0_q   <= new_y ? ky0_q - cmd_i.stride_y : 16'd0;
        ky_q    <= new_y ? ky0_q - cmd_i.stride_y : 16'd0;
        yoff_q  <= yoff_q - y_less;
        yrem_q  <= yrem_q - {2'b0, cmd_i.stride_y};
      end
    end
  end

  // The rest of the command is hd_vector's; high address bits are beyond the scratchpad.
  logic unused_cmd;
  assign unused_cmd = ^{cmd_i, unused_x, unused_y};

  assign valid_o    = state_q == StRun;
  assign busy_o     = state_q != StIdle;
  assign a_addr_o   = a_cell_q;
  assign b_addr_o   = cmd_i.op == VopMaxPoolTwo ? a_cell_q + cmd_i.b_base[AddrBits-1:0] : b_cell_q;
  assign out_addr_o = o_cell_q;
  assign count_o    = chunk_end ? chan_q[CntBits-1:0] : CntBits'(N);
  assign first_o    = first_q;
  assign last_o     = window_end;
  assign table_o    = table_q;
  assign end_o      = window_end && chunk_end;

`ifdef HD_ASSERT
  a_loops: assert property (@(posedge clk_i) disable iff (!rst_ni)
    start_i |=> cmd_i.rows != '0 && cmd_i.cols != '0 && cmd_i.channels != '0);
  c_seek: cover property (@(posedge clk_i) state_q == StSeek && (seek_x || seek_y));
  c_run: cover property (@(posedge clk_i) state_q == StRun && step_row);
  c_empty: cover property (@(posedge clk_i) state_q == StRun && empty_o);
`endif

endmodule

`default_nettype wire
