// hd_align - a byte queue between lanes of any two widths: what DMA turns rows into runs with, and
// back.
//   In:  in_bytes_i bytes of in_data_i, from lane in_lo_i on, go to its end.  Out: it shows its
//   first out_bytes_i bytes at lanes out_lo_i and up of out_data_o, zeros beside them; out_valid_o
//   once it holds that many; out_ready_i takes them. It holds the wider lanes and the narrower ones
//   twice: full lanes pass every cycle at any alignment.
//   in_ready_o depends on what it holds alone. out_valid_o and out_data_o need out_lo_i and
//   out_bytes_i of the same cycle.
// The queue is one packed vector that whole shifts move: in Verilator cheaper than a ring of bytes.
// Whether bytes go out is known last, so that it only selects: bytes go in above all that it holds,
// and move down with the others.
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
  input  wire logic [InBits:0]       in_bytes_i,
  input  wire logic [InBytes*8-1:0]  in_data_i,
  output logic                       out_valid_o,
  input  wire logic                  out_ready_i,
  input  wire logic [OutBits:0]      out_lo_i,
  input  wire logic [OutBits:0]      out_bytes_i,
  output logic      [OutBytes*8-1:0] out_data_o
);
  localparam int Narrow   = InBytes < OutBytes ? InBytes : OutBytes;
  localparam int Hold     = InBytes + OutBytes + Narrow;
  localparam int HoldBits = $clog2(Hold + 1);

  logic [Hold*8-1:0]     bytes_q;  // byte i is the (i+1)th oldest; zeros above fill_q
  logic [HoldBits-1:0]   fill_d, fill_q;
  logic                  room_q;   // for a whole in_data_i
  logic                  push, pop;
  logic [InBytes*8-1:0]  in_low;
  logic [Hold*8-1:0]     all;
  logic [OutBytes*8-1:0] oldest;

  assign out_valid_o = fill_q >= HoldBits'(out_bytes_i);
  assign in_ready_o  = room_q;
  assign push        = in_valid_i && in_ready_o;
  assign pop         = out_valid_o && out_ready_i;
  assign oldest      = bytes_q[OutBytes*8-1:0];

  always_comb begin
    fill_d     = fill_q;
    in_low     = 'x;  // not 0: push selects after the shifts
    all        = bytes_q;
    out_data_o = '0;
    if (push) begin
      fill_d = fill_d + HoldBits'(in_bytes_i);
      in_low = (in_data_i >> {in_lo_i, 3'b000}) & ~({(InBytes*8){1'b1}} << {in_bytes_i, 3'b000});
      all    = bytes_q | ((Hold*8)'(in_low) << {fill_q, 3'b000});
    end
    if (pop) fill_d = fill_d - HoldBits'(out_bytes_i);
    if (out_valid_o) begin
      out_data_o = (oldest & ~({(OutBytes*8){1'b1}} << {out_bytes_i, 3'b000}))
                   << {out_lo_i, 3'b000};
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fill_q  <= '0;
      room_q  <= 1'b1;
      bytes_q <= '0;
    end else begin
      fill_q <= fill_d;
      room_q <= fill_d <= HoldBits'(Hold - InBytes);
      if (pop) bytes_q <= all >> {out_bytes_i, 3'b000};
      else if (push) bytes_q <= all;
    end
  end

`ifdef HD_ASSERT
  a_fill: assert property (@(posedge clk_i) disable iff (!rst_ni) int'(fill_q) <= Hold);
  a_window: assert property (@(posedge clk_i) disable iff (!rst_ni)
    in_valid_i |-> in_bytes_i != '0 && int'(in_lo_i) + int'(in_bytes_i) <= InBytes);
  c_both: cover property (@(posedge clk_i) push && pop);
`endif
endmodule

`default_nettype wire
