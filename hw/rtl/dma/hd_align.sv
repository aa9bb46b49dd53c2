// hd_align - a byte queue between lanes of any two widths, by which DMA turns rows into runs and
// back.
//   In:  in_bytes_i bytes of in_data_i, from lane in_lo_i on, go to its end.  Out: it shows its
//   first out_bytes_i bytes at lanes out_lo_i and up of out_data_o, zeros beside them; out_valid_o
//   once it holds that many; out_ready_i takes them. It holds the wider lanes and the narrower ones
//   twice: full lanes pass every cycle at any alignment.
//   in_ready_o depends on what it holds alone. out_valid_o and out_data_o need out_lo_i and
//   out_bytes_i of the same cycle; out_data_o is undefined while out_valid_o is low.
// Byte i of the stream has place i modulo Ring. Bytes that come are rotated to their places, those
// that go are rotated to their lanes: two short ways, and nothing that it holds moves. Bytes
// written beyond in_bytes_i count as free space.
// Latency 1, throughput 1 a cycle. Reset: empty. Bench: frame_tb.cpp
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
  /* verilator lint_off UNUSEDSIGNAL */  // a beat has at least one byte: the first is below InBytes
  input  wire logic [InBits:0]       in_lo_i,
  /* verilator lint_on UNUSEDSIGNAL */
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
  localparam int RingBits = $clog2(Hold);
  localparam int Ring     = 1 << RingBits;
  localparam int FillBits = $clog2(Hold + 1);

  logic [Ring*8-1:0]           ring_q;
  logic [RingBits-1:0]         in_q, out_q, first;  // positions: next byte in, out; lane 0
  logic [FillBits-1:0]         fill_q;              // bytes held
  logic [FillBits-1:0]         more, less, both;    // with arriving, without departing bytes
  logic                        room_q;              // room for a whole in_data_i
  logic                        push, pop;
  logic [InBits-1:0]           back;
  logic [InBytes*8-1:0]        placed;
  logic [Ring-1:0]             window;              // positions that in_data_i occupies
  logic [RingBits-OutBits-1:0] low_row, high_row;
  logic [OutBytes*8-1:0]       low, high, word;
  logic [OutBytes-1:0]         lanes;               // that are shown

  assign out_valid_o = fill_q >= FillBits'(out_bytes_i);
  assign in_ready_o  = room_q;
  assign push        = in_valid_i && in_ready_o;
  assign pop         = out_valid_o && out_ready_i;

  assign back   = in_lo_i[InBits-1:0] - in_q[InBits-1:0];
  assign window = Ring'({2{Ring'({InBytes{1'b1}})}} >> (RingBits'(0) - in_q));

  hd_funnel #(.N(InBytes)) u_in (
    .en_i (1'b1),
    .in_i ({2{in_data_i}}),
    .at_i (back),
    .out_o(placed)
  );

  // The lanes begin in one row and end in the next.
  assign first    = out_q - RingBits'(out_lo_i);
  assign low_row  = first[RingBits-1:OutBits];
  assign high_row = low_row + 1'b1;
  assign low      = ring_q[low_row*OutBytes*8 +: OutBytes*8];
  assign high     = ring_q[high_row*OutBytes*8 +: OutBytes*8];

  hd_funnel #(.N(OutBytes)) u_out (
    .en_i (1'b1),
    .in_i ({high, low}),
    .at_i (first[OutBits-1:0]),
    .out_o(word)
  );

  assign lanes = ~({OutBytes{1'b1}} << out_bytes_i) << out_lo_i;

  for (genvar l = 0; l < OutBytes; l++) begin : gen_lane
    assign out_data_o[l*8 +: 8] = lanes[l] ? word[l*8 +: 8] : 8'd0;
  end

  // Whether bytes arrive or depart is known late, so it only selects.
  assign more = fill_q + FillBits'(in_bytes_i);
  assign less = fill_q - FillBits'(out_bytes_i);
  assign both = more - FillBits'(out_bytes_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fill_q <= '0;
      room_q <= 1'b1;
      in_q   <= '0;
      out_q  <= '0;
    end else begin
      if (push && pop) fill_q <= both;
      else if (push) fill_q <= more;
      else if (pop) fill_q <= less;
      if (push && pop) room_q <= both <= FillBits'(Hold - InBytes);
      else if (push) room_q <= more <= FillBits'(Hold - InBytes);
      else if (pop) room_q <= less <= FillBits'(Hold - InBytes);
      if (push) in_q <= in_q + RingBits'(in_bytes_i);
      if (pop) out_q <= out_q + RingBits'(out_bytes_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) begin
      for (int p = 0; p < Ring; p++) begin
        if (window[p]) ring_q[p*8 +: 8] <= placed[(p % InBytes)*8 +: 8];
      end
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
