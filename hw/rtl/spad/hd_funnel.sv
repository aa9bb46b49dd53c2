// hd_funnel - N bytes out of 2 N: byte l of out_o is byte at_i + l of in_i.
// In steps of N/2, N/4, ... bytes: a shift by a variable costs a Verilator model several times as
// much, synthesis the same. en_i = 0: out_o is 0 (and the steps cost nothing).
// N is a power of two. Combinational. Bench: reader_tb.cpp
`default_nettype none
`include "hd_config.svh"

module hd_funnel #(
  parameter int N      = CfgN,
  parameter int AtBits = $clog2(N)  // derived
) (
  input  wire logic              en_i,
  input  wire logic [2*N*8-1:0]  in_i,
  input  wire logic [AtBits-1:0] at_i,
  output logic      [N*8-1:0]    out_o
);
  logic [2*N*8-1:0] bytes;

  always_comb begin
    out_o = '0;
    bytes = in_i;
    if (en_i) begin
      for (int s = AtBits - 1; s >= 0; s--) begin
        if (at_i[s]) bytes = bytes >> (8 << s);
      end
      out_o = bytes[N*8-1:0];
    end
  end
endmodule

`default_nettype wire
