// hd_dma_walk - cuts `count` pieces of `bytes` bytes, `pitch` apart, at the borders of Bytes-wide
// lines.
//   One step a cycle: bytes lo_o..hi_o-1 of the line at addr_o (a multiple of Bytes); end_o: last
//   of its piece, last_o: last of the walk, tag_o: what came with it. The next walk starts without
//   a gap.
//   With Bytes = a beat it gives beats, with 16 beats it gives bursts, with N (and addr = word * N)
//   it gives words.
// bytes and count are at least 1. Bytes is a power of two. Addresses wrap modulo 2^AddrBits.
// Latency 1, throughput 1 step a cycle. Reset: nothing to do. Bench: tests/hw/frame_tb.cpp
`default_nettype none

module hd_dma_walk #(
  parameter int Bytes    = 16,
  parameter int AddrBits = 41,
  parameter int TagBits  = 1,
  parameter int LaneBits = $clog2(Bytes)  // derived
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,
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
  output logic      [LaneBits:0]   hi_o,
  output logic                     end_o,
  output logic                     last_o,
  output logic      [TagBits-1:0]  tag_o
);
  localparam int LineBits = AddrBits - LaneBits;

  logic                valid_q;
  logic [AddrBits-1:0] piece_q, pitch_q;  // start of this piece
  logic [LineBits-1:0] line_q;
  logic [LaneBits-1:0] lane_q;            // first byte in this line
  logic [31:0]         bytes_q, left_q;   // left_q: bytes of this piece, this line included
  logic [15:0]         count_q;           // pieces, this one included
  logic [TagBits-1:0]  tag_q;
  logic [LaneBits:0]   room;
  logic [AddrBits-1:0] next_piece;
  logic                step, load;

  assign room       = (LaneBits + 1)'(Bytes) - {1'b0, lane_q};
  assign end_o      = left_q <= 32'(room);
  assign last_o     = end_o && count_q == 16'd1;
  assign valid_o    = valid_q;
  assign addr_o     = {line_q, {LaneBits{1'b0}}};
  assign lo_o       = {1'b0, lane_q};
  assign hi_o       = end_o ? {1'b0, lane_q} + left_q[LaneBits:0] : (LaneBits + 1)'(Bytes);
  assign tag_o      = tag_q;
  assign next_piece = piece_q + pitch_q;
  assign step       = valid_q && ready_i;
  assign ready_o    = !valid_q || (step && last_o);
  assign load       = valid_i && ready_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (load) valid_q <= 1'b1;
    else if (step && last_o) valid_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      piece_q <= addr_i;
      line_q  <= addr_i[AddrBits-1:LaneBits];
      lane_q  <= addr_i[LaneBits-1:0];
      pitch_q <= pitch_i;
      bytes_q <= bytes_i;
      left_q  <= bytes_i;
      count_q <= count_i;
      tag_q   <= tag_i;
    end else if (step) begin
      if (end_o) begin
        piece_q <= next_piece;
        line_q  <= next_piece[AddrBits-1:LaneBits];
        lane_q  <= next_piece[LaneBits-1:0];
        left_q  <= bytes_q;
        count_q <= count_q - 16'd1;
      end else begin
        line_q <= line_q + 1'b1;
        lane_q <= '0;
        left_q <= left_q - 32'(room);
      end
    end
  end

`ifdef HD_ASSERT
  a_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_o && !ready_i |=> valid_o && $stable({addr_o, lo_o, hi_o, end_o, last_o, tag_o}));
  a_not_empty: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i && ready_o |-> bytes_i != '0 && count_i != '0);
  c_no_gap: cover property (@(posedge clk_i) step && last_o && load);
`endif
endmodule

`default_nettype wire
