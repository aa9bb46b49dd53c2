// hd_acc - the accumulators of all columns: Depth words of Cols sums. sum_o = psum_i + (add_i ?
// accumulators : 0), column by column, with upper_i 256 times them; we_i keeps them. Two steps:
// raddr_i with re_i one step before psum_i, add_i, upper_i, waddr_i, we_i. A step is a cycle with
// en_i. A word written in one step may be read (re_i) in the next. Reset: none, contents start
// undefined. Bench: acc_tb.cpp.
`default_nettype none
`include "hd_config.svh"

module hd_acc #(
  parameter int Cols     = CfgColumns,
  parameter int AccW     = 32,
  parameter int Depth    = CfgAccDepth,   // a power of two
  parameter int Upper    = CfgLstm,       // 0: upper_i is 0
  parameter int AddrBits = $clog2(Depth)  // derived
) (
  input  wire logic                clk_i,
  input  wire logic                en_i,
  input  wire logic                re_i,
  input  wire logic [AddrBits-1:0] raddr_i,
  input  wire logic [Cols*AccW-1:0] psum_i,
  input  wire logic                add_i,
  input  wire logic                upper_i,
  input  wire logic                we_i,
  input  wire logic [AddrBits-1:0] waddr_i,
  output logic      [Cols*AccW-1:0] sum_o
);
  logic [Cols*AccW-1:0] word;

  logic unused_upper;
  assign unused_upper = upper_i;

  for (genvar c = 0; c < Cols; c++) begin : gen_column
    logic [AccW-1:0] kept, psum, sum;
    assign kept = word[c*AccW +: AccW] << (Upper != 0 && upper_i ? 8 : 0);
    assign psum = psum_i[c*AccW +: AccW];
    assign sum  = psum + (add_i ? kept : '0);

    assign sum_o[c*AccW +: AccW] = sum;
  end

  hd_ram #(.Width(Cols * AccW), .Depth(Depth), .Apart(1'b1)) u_ram (
    .clk_i,
    .re_i   (en_i && re_i),
    .raddr_i(raddr_i),
    .rdata_o(word),
    .we_i   (en_i && we_i),
    .waddr_i(waddr_i),
    .be_i   (1'b1),
    .wdata_i(sum_o)
  );

endmodule

`default_nettype wire
