// hd_dma_walk - cuts `count` pieces of `bytes` bytes, `pitch` apart, at the borders of Bytes-wide
// lines.
//   One step a cycle: bytes lo_o..top_o of the line at addr_o (a multiple of Bytes), bytes_o of
//   them; end_o: last of its piece, last_o: last of the walk, tag_o: the tag that came with it.
//   With Bytes = a beat it gives beats, with 16 beats it gives bursts, with N (and addr = word * N)
//   it gives words.
// All outputs come from registers: whether a piece ends in its line is known a step ahead. So
// does ready_o: it answers the cycle after a walk was taken, which valid_i waits for. The next walk
// starts without a gap, after a walk of one step with one of a cycle. valid_i may be late: with
// offer_i, which it needs, the walk is taken in any case, and valid_i says whether it is one.
// bytes and count are at least 1. Bytes is a power of two. Addresses wrap modulo 2^AddrBits.
// Latency 1, throughput 1 step a cycle. Reset: nothing to do. Bench: frame_tb.cpp
`default_nettype none

module hd_dma_walk #(
  parameter int Bytes    = 16,
  parameter int AddrBits = 41,
  parameter int TagBits  = 1,
  parameter int LaneBits = $clog2(Bytes)  // derived
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,
  input  wire logic                offer_i,
  input  wire logic                valid_i,
  output logic                     ready_o,
  input  wire logic [AddrBits-1:0] addr_i,
  input  wire logic [31:0]         bytes_i,
  input  wire logic [15:0]         count_i,
  input  wire logic [AddrBits-1:0] pitch_i,
  input  wire logic [TagBits-1:0]  tag_i,
  output logic                     valid_o,
  input  wire logic                ready_i,
  output logic      [AddrBits-1:0] addr_o,
  output logic      [LaneBits:0]   lo_o,
  output logic      [LaneBits-1:0] top_o,
  output logic      [LaneBits:0]   bytes_o,
  output logic                     end_o,
  output logic                     last_o,
  output logic      [TagBits-1:0]  tag_o
);
  localparam int LineBits = AddrBits - LaneBits;

  logic                valid_q, taken_q, end_q, only_q;  // only_q: the last piece
  logic [AddrBits-1:0] piece_q, pitch_q;        // start of this piece
  logic [LineBits-1:0] line_q;
  logic [LaneBits-1:0] lane_q;                  // first byte in this line
  logic [LaneBits-1:0] top_q;
  logic [LaneBits:0]   here_q;                  // bytes of this line
  logic [31:0]         bytes_q, left_q;         // left_q: bytes of this piece after this line
  logic [15:0]         count_q;                 // pieces, this one included
  logic [TagBits-1:0]  tag_q;
  logic [AddrBits-1:0] next_piece;
  logic [LaneBits-1:0] lane;                    // where the next step begins in its line
  logic [31:0]         bytes;                   // of its piece from there on
  logic [LaneBits:0]   room;                    // bytes of the line from there on
  logic                free, load, first, ends;  // ends: its piece, in that line

  // Whether `more` bytes from `at` on end in that line: no carry over all bits. Asked of all that
  // may come next, as which one does is known late.
  function automatic logic fits(input logic [LaneBits-1:0] at, input logic [31:0] more);
    fits = more[31:LaneBits+1] == '0
           && (LaneBits + 2)'(at) + (LaneBits + 2)'(more[LaneBits:0]) <= (LaneBits + 2)'(Bytes);
  endfunction

  assign last_o     = end_q && only_q;
  assign valid_o    = valid_q;
  assign addr_o     = {line_q, {LaneBits{1'b0}}};
  assign lo_o       = {1'b0, lane_q};
  assign top_o      = top_q;
  assign bytes_o    = here_q;
  assign end_o      = end_q;
  assign tag_o      = tag_q;
  assign next_piece = piece_q + pitch_q;
  assign free       = !valid_q || (last_o && ready_i);
  assign load       = valid_i && !taken_q;
  assign ready_o    = taken_q;
  assign first      = !valid_q || last_o;  // what comes next begins a walk
  assign lane       = first ? addr_i[LaneBits-1:0] : end_q ? next_piece[LaneBits-1:0] : '0;
  assign bytes      = first ? bytes_i : end_q ? bytes_q : left_q;
  assign room       = (LaneBits + 1)'(Bytes) - {1'b0, lane};
  assign ends       = first ? fits(addr_i[LaneBits-1:0], bytes_i) :
                      end_q ? fits(next_piece[LaneBits-1:0], bytes_q) : fits('0, left_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      taken_q <= 1'b0;
    end else begin
      if (free) valid_q <= load;
      taken_q <= free && load;
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_q ? ready_i : offer_i && !taken_q) begin
      lane_q <= lane;
      top_q  <= ends ? lane + bytes[LaneBits-1:0] - 1'b1 : '1;
      here_q <= ends ? bytes[LaneBits:0] : room;
      end_q  <= ends;
      left_q <= bytes - 32'(room);
      if (first) begin
        piece_q <= addr_i;
        line_q  <= addr_i[AddrBits-1:LaneBits];
        only_q  <= count_i == 16'd1;
        count_q <= count_i;
        tag_q   <= tag_i;
      end else if (end_q) begin
        piece_q <= next_piece;
        line_q  <= next_piece[AddrBits-1:LaneBits];
        only_q  <= count_q == 16'd2;
        count_q <= count_q - 16'd1;
      end else begin
        line_q <= line_q + 1'b1;
      end
    end
    if (first) begin  // the last step needs neither
      pitch_q <= pitch_i;
      bytes_q <= bytes_i;
    end
  end

`ifdef HD_ASSERT
  a_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_o && !ready_i |=>
    valid_o && $stable({addr_o, lo_o, top_o, bytes_o, end_o, last_o, tag_o}));
  a_not_empty: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> bytes_i != '0 && count_i != '0);
  c_no_gap: cover property (@(posedge clk_i) valid_q && free && load);
`endif
endmodule

`default_nettype wire
