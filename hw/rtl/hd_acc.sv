// hd_acc - accumulators of one array column: Depth sums.
//   sum_o = psum_i + (add_i ? accumulator : 0); we_i keeps it.
// Two steps: raddr_i with re_i one step before psum_i, add_i, waddr_i, we_i. A step is a cycle with
// en_i.
// An accumulator written in one step may be asked for (re_i) in the next. Reset: none, contents
// start undefined.
// Bench: tests/hw/acc_tb.cpp.
`default_nettype none
`include "hd_config.svh"

module hd_acc #(
  parameter int AccW     = 32,
  parameter int Depth    = CfgAccDepth,   // a power of two
  parameter int AddrBits = $clog2(Depth)  // derived
) (
  input  wire logic                clk_i,
  input  wire logic                en_i,
  input  wire logic                re_i,
  input  wire logic [AddrBits-1:0] raddr_i,
  input  wire logic [AccW-1:0]     psum_i,
  input  wire logic                add_i,
  input  wire logic                we_i,
  input  wire logic [AddrBits-1:0] waddr_i,
  output logic      [AccW-1:0]     sum_o
);
  logic [AccW-1:0] kept;

  assign sum_o = add_i ? psum_i + kept : psum_i;

  hd_ram #(.Width(AccW), .Depth(Depth), .Apart(1'b1)) u_ram (
    .clk_i,
    .re_i   (en_i && re_i),
    .raddr_i(raddr_i),
    .rdata_o(kept),
    .we_i   (en_i && we_i),
    .waddr_i(waddr_i),
    .be_i   (1'b1),
    .wdata_i(sum_o)
  );

endmodule

`default_nettype wire
