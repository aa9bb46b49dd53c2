// hd_weight_spad - WEIGHT commands whose source is the scratchpad: rows of bytes become weight
//   words, as they are or transposed. rows_i rows of row_bytes_i bytes, row r at byte address src_i
//   + r * pitch_i. Words go to dest_i, dest_i + 1, ... in this order, 0 outside rows and columns:
//   plain       for column tile t of Cols bytes, for row r: byte c is byte t*Cols + c of row r
//   transposed  for group t of Cols rows, for byte k of a row: byte j is byte k of row t*Cols + j
//   So a matrix [rows, row_bytes] is the weights of a product with its columns (plain) or its rows
//   (transposed) as output channels.
//   sr_*: one scratchpad word a request, data in the cycle after the handshake. ww_*: always taken.
//   done_o: pulse in the cycle after the last word. A command is taken when the one before is done.
// Cycles from the handshake to done_o, both counted, if every request is granted at once: 4; for
// each column tile and each row the words that the row's bytes there touch (1 or 2); and
// transposed, for each group and column tile: rows that the group lacks to Cols, its columns, 2;
// and plain, 1.
// Reset: idle, the command forgotten. Bench: weight_spad_tb.cpp
`default_nettype none
`include "hd_config.svh"

module hd_weight_spad #(
  parameter int N          = CfgN,
  parameter int Cols       = CfgColumns,
  parameter int ByteBits   = $clog2(CfgScratchpadBytes),
  parameter int WeightBits = $clog2(CfgWeightBytes / CfgN),
  parameter int LaneBits   = $clog2(N),  // derived, as below
  parameter int WordBits   = ByteBits - LaneBits
) (
  input  wire logic                  clk_i,
  input  wire logic                  rst_ni,
  // command; rows_i and row_bytes_i are not 0
  input  wire logic                  cmd_valid_i,
  output logic                       cmd_ready_o,
  input  wire logic                  transpose_i,
  input  wire logic [ByteBits-1:0]   src_i,
  input  wire logic [15:0]           rows_i,
  input  wire logic [ByteBits-1:0]   row_bytes_i,
  input  wire logic [ByteBits-1:0]   pitch_i,
  input  wire logic [WeightBits-1:0] dest_i,
  input  wire logic [31:0]           index_i,
  output logic                       done_o,
  output logic                       busy_o,    // with a command, from the cycle after it was taken
  output logic                       active_o,
  output logic                       waited_o,  // a request of the last cycle was not granted
  // scratchpad
  output logic                       sr_req_o,
  input  wire logic                  sr_ready_i,
  output logic      [WordBits-1:0]   sr_word_o,
  input  wire logic [N*8-1:0]        sr_data_i,
  // weight words
  output logic                       ww_valid_o,
  output logic      [WeightBits-1:0] ww_word_o,
  output logic      [N*8-1:0]        ww_data_o,
  output logic      [31:0]           ww_cmd_o
);
  typedef enum logic [1:0] {Idle, Read, Drain, Done} state_e;
  state_e state_q;

  logic                  transpose_q;
  logic [31:0]           index_q;
  logic [ByteBits-1:0]   pitch_q, row_bytes_q;
  // Addresses of this row, of the tile's first one, of the next group.
  logic [ByteBits-1:0]   row_q, block_q, group_q;
  logic [ByteBits-1:0]   columns_q;                // bytes of a row from this tile on
  logic                  last_columns_q, single_q; // they are one tile; all of a row are
  logic [15:0]           rows_q;                   // rows from this group on
  logic [15:0]           left_q;                   // rows of this tile still to read
  logic [LaneBits:0]     fill_q;                   // transposed: rows still to come, read or 0
  logic                  second_q;                 // the row's second word is next
  logic [WeightBits-1:0] word_q;

  logic                taken_q, done_q, busy_q;  // taken_q: in the cycle before
  logic                accept, last_group, straddles, row_read, row_done;
  logic                tile_done;
  logic [LaneBits:0]   count;
  logic [LaneBits-1:0] at;
  logic [15:0]         group_rows;
  logic [ByteBits-1:0] next_row;

  assign cmd_ready_o  = state_q == Idle;
  assign accept       = cmd_valid_i && cmd_ready_o;
  assign last_group   = !transpose_q || rows_q <= 16'(Cols);
  assign count        = last_columns_q ? columns_q[LaneBits:0] : (LaneBits + 1)'(Cols);
  assign at           = row_q[LaneBits-1:0];
  assign straddles    = (LaneBits + 1)'(at) + count > (LaneBits + 1)'(N);
  assign next_row     = row_q + pitch_q;

  // A row is read by one or two requests, or (transposed, beyond the last one) is 0. The grant
  // comes late in the cycle, so requests wait in a queue.
  localparam int AskBits = 3 + 1 + LaneBits + 1 + LaneBits + WordBits;

  logic                asks_ready, ask, ask_valid, ask_take;
  logic                ask_reads, ask_ends, ask_last, ask_straddles;
  logic [LaneBits:0]   ask_count;
  logic [LaneBits-1:0] ask_at;
  logic [WordBits-1:0] word;

  assign ask       = state_q == Read && !taken_q && asks_ready;
  assign word      = row_q[ByteBits-1:LaneBits] + WordBits'(second_q);
  assign row_read  = ask && left_q != '0 && (second_q || !straddles);
  assign row_done  = row_read || (ask && left_q == '0);

  hd_fifo #(.Width(AskBits), .Depth(2)) u_asks (
    .clk_i,
    .rst_ni,
    .valid_i(state_q == Read && !taken_q),
    .ready_o(asks_ready),
    .data_i ({left_q != '0, row_done, tile_done, straddles, count, at, word}),
    .valid_o(ask_valid),
    .ready_i(!ask_reads || sr_ready_i),
    .data_o ({ask_reads, ask_ends, ask_last, ask_straddles, ask_count, ask_at, sr_word_o})
  );

  assign sr_req_o  = ask_valid && ask_reads;
  assign ask_take  = ask_valid && (!ask_reads || sr_ready_i);
  assign tile_done = row_done && (transpose_q ? fill_q == (LaneBits + 1)'(1) : left_q == 16'd1);

  // The cycle after: the row's bytes, lane 0 first.
  logic              asked_q, got_q, got_low_q, got_zero_q, got_last_q, straddled_q;
  logic [LaneBits:0] count_q;
  logic [LaneBits-1:0] at_q;
  logic [N*8-1:0]    low_q;
  /* verilator lint_off UNUSEDSIGNAL */  // lanes from Cols on
  logic [N*8-1:0]    rotated;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [Cols*8-1:0] bytes;

  hd_funnel #(.N(N)) u_funnel (
    .en_i (got_q && !got_zero_q),
    .in_i ({sr_data_i, straddled_q ? low_q : sr_data_i}),
    .at_i (at_q),
    .out_o(rotated)
  );

  for (genvar l = 0; l < Cols; l++) begin : gen_byte
    assign bytes[l*8 +: 8] = (LaneBits + 1)'(l) < count_q ? rotated[l*8 +: 8] : 8'd0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      asked_q   <= 1'b0;
      got_q     <= 1'b0;
      got_low_q <= 1'b0;
    end else begin
      asked_q   <= ask_valid;
      got_q     <= ask_take && ask_ends;
      got_low_q <= ask_take && !ask_ends;
    end
    got_zero_q  <= !ask_reads;
    got_last_q  <= ask_last;
    straddled_q <= ask_straddles;
    count_q     <= ask_count;
    at_q        <= ask_at;
    if (got_low_q) low_q <= sr_data_i;
  end

  // The transposer: rows enter at row 0 and move up, then columns leave at byte 0.
  logic [LaneBits:0] drain_q;  // columns still to write
  logic [Cols*8-1:0] column;
  logic              draining, drained;

  assign draining = state_q == Drain && !got_q && drain_q != '0;
  assign drained  = draining && drain_q == (LaneBits + 1)'(1);

  always_ff @(posedge clk_i) begin
    if (accept) drain_q <= '0;  // left by a plain one
    else if (got_q && got_last_q) drain_q <= count_q;
    else if (draining) drain_q <= drain_q - 1'b1;
  end

  logic [Cols*8-1:0] above [Cols];  // what row r takes: the row below it, row 0 what is read

  for (genvar r = 0; r < Cols; r++) begin : gen_row
    logic [Cols*8-1:0] cell_q;
    if (r < Cols - 1) begin : gen_next
      assign above[r+1] = cell_q;
    end
    always_ff @(posedge clk_i) begin
      if (got_q && transpose_q) cell_q <= above[r];
      else if (draining) cell_q <= cell_q >> 8;
    end
    assign column[(Cols-1-r)*8 +: 8] = cell_q[7:0];
  end
  assign above[0] = bytes;

  assign ww_data_o  = transpose_q ? (N*8)'(column) : (N*8)'(bytes);
  assign ww_valid_o = transpose_q ? draining : got_q;
  assign ww_word_o  = word_q;
  assign ww_cmd_o   = index_q;

  assign group_rows = !transpose_q || rows_q < 16'(Cols) ? rows_q : 16'(Cols);

  // Where the walk continues: the next row; the next tile of this group; the next group.
  logic tile_next, group_next;
  assign tile_next  = (transpose_q ? drained : tile_done) && !last_columns_q;
  assign group_next = drained && last_columns_q;

  always_ff @(posedge clk_i) begin
    if (accept) begin
      transpose_q <= transpose_i;
      index_q     <= index_i;
      pitch_q     <= pitch_i;
      row_bytes_q <= row_bytes_i;
      columns_q   <= row_bytes_i;
      single_q    <= row_bytes_i <= ByteBits'(Cols);
      last_columns_q <= row_bytes_i <= ByteBits'(Cols);
      rows_q      <= rows_i;
      left_q      <= transpose_i && rows_i > 16'(Cols) ? 16'(Cols) : rows_i;
      row_q       <= src_i;
      block_q     <= src_i;
    end else if (tile_next) begin
      columns_q <= columns_q - ByteBits'(Cols);
      last_columns_q <= columns_q <= ByteBits'(2 * Cols);
      left_q    <= group_rows;
      row_q     <= block_q + ByteBits'(Cols);
      block_q   <= block_q + ByteBits'(Cols);
    end else if (group_next) begin
      columns_q <= row_bytes_q;
      last_columns_q <= single_q;
      rows_q    <= rows_q - 16'(Cols);
      left_q    <= rows_q - 16'(Cols) > 16'(Cols) ? 16'(Cols) : rows_q - 16'(Cols);
      row_q     <= group_q;
      block_q   <= group_q;
    end else if (row_read) begin
      left_q <= left_q - 16'd1;
      row_q  <= next_row;
    end
    if (row_read && columns_q == row_bytes_q) group_q <= next_row;  // beyond the last row read
    if (accept || drained) fill_q <= (LaneBits + 1)'(Cols);
    else if (row_done) fill_q <= fill_q - 1'b1;
    if (accept) word_q <= dest_i;
    else if (ww_valid_o) word_q <= word_q + 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || accept || row_read) second_q <= 1'b0;
    else if (ask && left_q != '0) second_q <= 1'b1;
  end

  // Bytes that the command waited for may be written as late as hd_requant's Ahead after its
  // done_o.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      taken_q <= 1'b0;
      done_q  <= 1'b0;
      busy_q  <= 1'b0;
    end else begin
      taken_q <= accept;
      done_q <= state_q == Done && !ask_valid;
      busy_q <= accept || (busy_q && !done_q);
      unique case (state_q)
        Idle: if (cmd_valid_i) state_q <= Read;
        Read:
          if (tile_done && (transpose_q || last_columns_q)) state_q <= transpose_q ? Drain : Done;
        Drain: if (drained) state_q <= last_columns_q && last_group ? Done : Read;
        default: if (!ask_valid) state_q <= Idle;
      endcase
    end
  end
  assign done_o   = done_q;
  assign busy_o   = busy_q;
  assign waited_o = asked_q && !got_q && !got_low_q;
  assign active_o = cmd_valid_i || state_q != Idle
                    || done_q || ask_valid || asked_q || got_q || got_low_q;

`ifdef HD_ASSERT
  a_request_stays: assert property (@(posedge clk_i) disable iff (!rst_ni)
    sr_req_o && !sr_ready_i |=> sr_req_o && $stable(sr_word_o));
  a_drain_alone: assert property (@(posedge clk_i) disable iff (!rst_ni) draining |-> !got_q);
  m_not_empty: assume property (@(posedge clk_i) cmd_valid_i |-> rows_i != '0 && row_bytes_i != '0);
  c_second: cover property (@(posedge clk_i) second_q);
  c_zero_row: cover property (@(posedge clk_i) got_q && got_zero_q && transpose_q);
  c_next_group: cover property (@(posedge clk_i) group_next && !last_group);
  c_idle: cover property (@(posedge clk_i) state_q == Idle);
  c_read: cover property (@(posedge clk_i) state_q == Read);
  c_drain: cover property (@(posedge clk_i) state_q == Drain);
  c_done: cover property (@(posedge clk_i) state_q == Done);
`endif
endmodule

`default_nettype wire
