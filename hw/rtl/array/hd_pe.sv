// hd_pe - one multiply-accumulate cell, weight stationary.
//   psum_o(t+2) = psum_i(t+1) + act(t) * weight(t+1), modulo 2^AccW; a step is a cycle with en_i;
//   act = tap_i in depthwise mode (0 unless tap_en_i), else row_i, or row2_i where pair_i and
//   second_i. In depthwise mode row_i is 0 and pair_i low, in the others tap_en_i.
// w_we_i loads the weight that counts from the next cycle on (a wave writes row r just before it is
// used there, so no shadow register is needed). Latency 2, throughput 1. Reset: none.
// Two forms: one ActW x WgtW product of what a selector has left in a register, which is what
// hardware is made of, and for Verilator, selected by Wide, AccW-bit products mode by mode, which
// is what a CPU is fast at. This form selects and adds in one step, psum_o(t+1) = psum_i(t) +
// act(t) * weight(t). hd_array gives the other one its weights a step later, or keeps the sums of
// this one's last row for a step: the same sums at the same time.
// In waves a cell shows what it multiplies; N * N of every other port, all named in hd_array, would
// be half of all names.
// Bench: pe_tb.cpp (both forms side by side, every product).
`default_nettype none

/* verilator tracing_off */
module hd_pe #(
  parameter int ActW = 9,   // activation after the zero point, signed
  parameter int WgtW = 9,   // weight after the zero point, signed
  parameter int AccW = 32,  // partial sum, wraps (NUMERICS.md)
`ifdef VERILATOR
  parameter bit Wide = 1'b1
`else
  parameter bit Wide = 1'b0
`endif
) (
  input  wire logic            clk_i,
  input  wire logic            en_i,
  input  wire logic            depthwise_i,
  input  wire logic            tap_en_i,
  /* verilator tracing_on */
  input  wire logic [ActW-1:0] tap_i,
  /* verilator tracing_off */
  input  wire logic            pair_i,     // some column takes row2_i
  input  wire logic            second_i,   // this one does
  /* verilator tracing_on */
  input  wire logic [AccW-1:0] row_i,      // ActW bits, sign-extended
  /* verilator tracing_off */
  input  wire logic [AccW-1:0] row2_i,
  input  wire logic [AccW-1:0] psum_i,
  input  wire logic            w_we_i,     // taken with en_i only
  input  wire logic [WgtW-1:0] w_i,
  output logic      [AccW-1:0] psum_o
);
  if (Wide) begin : gen_wide
    /* verilator tracing_on */
    logic [AccW-1:0] weight_q;  // sign-extended
    /* verilator tracing_off */

    always_ff @(posedge clk_i) begin
      if (en_i && w_we_i) weight_q <= AccW'($signed(w_i));
    end

    // Said mode by mode because the model then tests the mode once for all cells.
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
  end else begin : gen_narrow
    logic signed [WgtW-1:0]      weight_q;
    logic signed [ActW-1:0]      act, act_q;
    logic signed [ActW+WgtW-1:0] product;

    assign act     = (tap_en_i ? tap_i : '0)
                     | (pair_i && second_i ? row2_i[ActW-1:0] : row_i[ActW-1:0]);
    assign product = act_q * weight_q;

    always_ff @(posedge clk_i) begin
      if (en_i) begin
        if (w_we_i) weight_q <= w_i;
        act_q  <= act;
        psum_o <= psum_i + AccW'(product);
      end
    end

    logic unused;  // the mode is in the others, and copies of the sign
    assign unused = ^{depthwise_i, row_i[AccW-1:ActW], row2_i[AccW-1:ActW]};
  end

endmodule
/* verilator tracing_on */

`default_nettype wire
