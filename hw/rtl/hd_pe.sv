// hd_pe - one multiply-accumulate cell, weight stationary.
//   psum_o(t+1) = psum_i(t) + act_i(t) * weight(t) if en_i, modulo 2^AccW.
// w_we_i loads the weight that counts from the next cycle on (a wave writes row r one step before it
// reaches it, so no shadow register is needed). Latency 1, throughput 1. Reset: none.
// Bench: tests/hw/pe_tb.cpp.
`default_nettype none

module hd_pe #(
  parameter int ActW = 9,   // activation after the zero point, signed
  parameter int WgtW = 9,   // weight after the zero point, signed
  parameter int AccW = 32   // partial sum, wraps (NUMERICS.md)
) (
  input  wire logic            clk_i,
  input  wire logic            en_i,
  input  wire logic [ActW-1:0] act_i,
  input  wire logic [AccW-1:0] psum_i,
  input  wire logic            w_we_i,   // taken with en_i only
  input  wire logic [WgtW-1:0] w_i,
  output logic      [AccW-1:0] psum_o
);
  logic signed [WgtW-1:0] weight_q;

  always_ff @(posedge clk_i) begin
    if (en_i && w_we_i) weight_q <= w_i;
  end
  always_ff @(posedge clk_i) begin
    if (en_i) psum_o <= psum_i + AccW'($signed(act_i)) * AccW'(weight_q);
  end

endmodule

`default_nettype wire
