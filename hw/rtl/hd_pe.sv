// hd_pe - one multiply-accumulate cell, weight stationary.
//   psum_o(t+1) = psum_i(t) + act(t) * weight(t) if en_i, modulo 2^AccW;
//   act = tap_i in depthwise mode (0 unless tap_en_i), else row_i, or row2_i where second_i.
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
  input  wire logic            depthwise_i,
  input  wire logic            tap_en_i,
  input  wire logic [ActW-1:0] tap_i,
  input  wire logic            pair_i,     // some column takes row2_i
  input  wire logic            second_i,   // this one does
  input  wire logic [AccW-1:0] row_i,      // ActW bits, sign-extended
  input  wire logic [AccW-1:0] row2_i,
  input  wire logic [AccW-1:0] psum_i,
  input  wire logic            w_we_i,     // taken with en_i only
  input  wire logic [WgtW-1:0] w_i,
  output logic      [AccW-1:0] psum_o
);
  logic [AccW-1:0] weight_q;  // sign-extended; the copies of the sign merge in synthesis

  always_ff @(posedge clk_i) begin
    if (en_i && w_we_i) weight_q <= AccW'($signed(w_i));
  end

  // A multiplier behind a selector; said mode by mode because the model then tests the mode once for all cells.
  always_ff @(posedge clk_i) begin
    if (en_i) begin
      if (depthwise_i) begin
        if (tap_en_i) psum_o <= psum_i + AccW'($signed(tap_i)) * weight_q;
        else psum_o <= psum_i;
      end else if (pair_i) begin
        psum_o <= psum_i + (second_i ? row2_i : row_i) * weight_q;
      end else begin
        psum_o <= psum_i + row_i * weight_q;
      end
    end
  end

endmodule

`default_nettype wire
