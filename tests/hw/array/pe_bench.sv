// pe_bench - both forms of hd_pe on the same inputs: wide_o is what Verilator's models take, narrow_o what all
// other tools do. Bench: pe_tb.cpp.
`default_nettype none

module pe_bench (
  input  wire logic        clk_i,
  input  wire logic        en_i,
  input  wire logic        depthwise_i,
  input  wire logic        tap_en_i,
  input  wire logic [8:0]  tap_i,
  input  wire logic        pair_i,
  input  wire logic        second_i,
  input  wire logic [31:0] row_i,   // 9 bits, sign-extended
  input  wire logic [31:0] row2_i,
  input  wire logic [31:0] psum_i,
  input  wire logic        w_we_i,
  input  wire logic [8:0]  w_i,
  output logic      [31:0] wide_o,
  output logic      [31:0] narrow_o
);
  hd_pe #(.Wide(1'b1)) u_wide (
    .clk_i,
    .en_i,
    .depthwise_i,
    .tap_en_i,
    .tap_i,
    .pair_i,
    .second_i,
    .row_i,
    .row2_i,
    .psum_i,
    .w_we_i,
    .w_i,
    .psum_o(wide_o)
  );
  hd_pe #(.Wide(1'b0)) u_narrow (
    .clk_i,
    .en_i,
    .depthwise_i,
    .tap_en_i,
    .tap_i,
    .pair_i,
    .second_i,
    .row_i,
    .row2_i,
    .psum_i,
    .w_we_i,
    .w_i,
    .psum_o(narrow_o)
  );
endmodule

`default_nettype wire
