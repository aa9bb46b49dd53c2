// hd_skew - a delay line on a memory: q_o follows d_i by delay_i + 1 steps; a step is a cycle with
// en_i.
// ptr_i counts steps modulo Depth (one counter serves many lines). delay_i < Depth; it may change:
// the line takes up every step's d_i whatever the delay is, so what comes out was put in delay_i +
// 1 steps ago. Throughput 1 a step. Reset: none.
// Bench: skew_tb.cpp.
`default_nettype none

module hd_skew #(
  parameter int Width   = 9,
  parameter int Depth   = 32,            // a power of two
  parameter int PtrBits = $clog2(Depth)  // derived
) (
  input  wire logic               clk_i,
  input  wire logic               en_i,
  input  wire logic [PtrBits-1:0] ptr_i,
  input  wire logic [PtrBits-1:0] delay_i,
  input  wire logic [Width-1:0]   d_i,
  output logic      [Width-1:0]   q_o
);
  logic [Width-1:0] bypass_q, line_q;
  logic             bypass, bypassed_q;

  assign bypass = delay_i == '0;
  assign q_o    = bypassed_q ? bypass_q : line_q;

  always_ff @(posedge clk_i) begin
    if (en_i) bypassed_q <= bypass;
    if (en_i && bypass) bypass_q <= d_i;
  end

  hd_ram #(.Width(Width), .Depth(Depth)) u_ram (
    .clk_i,
    .re_i   (en_i && !bypass),
    .raddr_i(ptr_i - delay_i),
    .rdata_o(line_q),
    .we_i   (en_i),
    .waddr_i(ptr_i),
    .be_i   (1'b1),
    .wdata_i(d_i)
  );

endmodule

`default_nettype wire
