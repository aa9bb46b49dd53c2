// hd_align - a byte queue between lanes of any two widths: what DMA turns rows into runs with, and
// back.
//   In:  bytes in_lo_i..in_hi_i-1 of in_data_i go to its end.  Out: it shows its first out_hi_i -
//   out_lo_i bytes at lanes out_lo_i..out_hi_i-1 of out_data_o, zeros beside them; out_valid_o once
//   it holds that many; out_ready_i takes them. It holds 2 * max(InBytes, OutBytes): full lanes
//   pass every cycle at any alignment.
//   in_ready_o depends on out_ready_i. out_valid_o and out_data_o need out_lo_i and out_hi_i of the
//   same cycle.
// The queue is one packed vector that whole shifts move: in Verilator cheaper than a ring of bytes.
// Latency 1, throughput 1 a cycle. Reset: empty. Bench: tests/hw/frame_tb.cpp
`default_nettype none

module hd_align #(
  parameter int InBytes  = 16,
  parameter int OutBytes = 16,
  parameter int InBits   = $clog2(InBytes),  // derived, as all below
  parameter int OutBits  = $clog2(OutBytes)
) (
  input  wire logic                  clk_i,
  input  wire logic                  rst_ni,
  input  wire logic                  in_valid_i,
  output logic                       in_ready_o,
  input  wire logic [InBits:0]       in_lo_i,
  input  wire logic [InBits:0]       in_hi_i,
  input  wire logic [InBytes*8-1:0]  in_data_i,
  output logic                       out_valid_o,
  input  wire logic                  out_ready_i,
  input  wire logic [OutBits:0]      out_lo_i,
  input  wire logic [OutBits:0]      out_hi_i,
  output logic      [OutBytes*8-1:0] out_data_o
);
  localparam int Hold     = 2 * (InBytes > OutBytes ? InBytes : OutBytes);
  localparam int HoldBits = $clog2(Hold) + 1;

  logic [Hold*8-1:0]     bytes_q;  // byte i is the (i+1)th oldest; zeros above fill_q
  logic [HoldBits-1:0]   fill_q, after_out;
  logic [InBits:0]       in_count, in_above;
  logic [OutBits:0]      out_count, out_spare, out_above;
  logic                  push, pop;
  logic [InBytes*8-1:0]  in_top, in_low;
  logic [OutBytes*8-1:0] out_top;
  logic [Hold*8-1:0]     kept;
  logic [OutBytes*8-1:0] oldest;

  assign in_count    = in_hi_i - in_lo_i;
  assign in_above    = (InBits + 1)'(InBytes) - in_hi_i;
  assign out_count   = out_hi_i - out_lo_i;
  assign out_spare   = (OutBits + 1)'(OutBytes) - out_count;
  assign out_above   = (OutBits + 1)'(OutBytes) - out_hi_i;
  assign out_valid_o = fill_q >= HoldBits'(out_count);
  assign pop         = out_valid_o && out_ready_i;
  assign after_out   = pop ? fill_q - HoldBits'(out_count) : fill_q;
  assign in_ready_o  = after_out <= HoldBits'(Hold) - HoldBits'(in_count);
  assign push        = in_valid_i && in_ready_o;
  assign oldest      = bytes_q[OutBytes*8-1:0];

  // Bytes outside a window fall off the ends of two shifts.
  always_comb begin
    in_top     = '0;
    in_low     = '0;
    kept       = bytes_q;
    out_top    = '0;
    out_data_o = '0;
    if (push) begin
      in_top = in_data_i << {in_above, 3'b000};
      in_low = in_top >> {in_above + in_lo_i, 3'b000};
    end
    if (out_valid_o) begin
      out_top    = oldest << {out_spare, 3'b000};
      out_data_o = out_top >> {out_above, 3'b000};
    end
    if (pop) kept = bytes_q >> {out_count, 3'b000};
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fill_q  <= '0;
      bytes_q <= '0;
    end else if (push) begin
      fill_q  <= after_out + HoldBits'(in_count);
      bytes_q <= kept | ((Hold*8)'(in_low) << {after_out, 3'b000});
    end else if (pop) begin
      fill_q  <= after_out;
      bytes_q <= kept;
    end
  end

`ifdef HD_ASSERT
  a_fill: assert property (@(posedge clk_i) disable iff (!rst_ni) int'(fill_q) <= Hold);
  a_window: assert property (@(posedge clk_i) disable iff (!rst_ni)
    in_valid_i |-> in_lo_i < in_hi_i);
  c_both: cover property (@(posedge clk_i) push && pop);
`endif
endmodule

`default_nettype wire
