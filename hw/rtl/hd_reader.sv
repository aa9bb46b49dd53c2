// hd_reader - one byte-addressed port of ARRAY: rotate, cut to the lane bounds, subtract the zero
// point.
//   act_o lane l = byte (offset + l) of data_i - z_in for lo <= l < hi, else 0.
// req_i, offset_i, lo_i, hi_i come with the scratchpad request, data_i with its answer one step
// later; act_o one step after that. A step is a cycle with en_i. A port without request gives
// zeros.
// Throughput 1 a step. Reset: none (zeros follow from req_i). Bench: tests/hw/reader_tb.cpp.
`default_nettype none
`include "hd_config.svh"

module hd_reader #(
  parameter int N       = CfgN,
  parameter int ActW    = 9,          // signed activation after the zero point
  parameter int OffBits = $clog2(N),  // derived
  parameter int CntBits = $clog2(N + 1)
) (
  input  wire logic               clk_i,
  input  wire logic               en_i,
  input  wire logic               req_i,
  input  wire logic [OffBits-1:0] offset_i,
  input  wire logic [CntBits-1:0] lo_i,
  input  wire logic [CntBits-1:0] hi_i,
  input  wire logic [2*N*8-1:0]   data_i,   // {next word, word}
  input  wire logic [7:0]         z_in_i,   // signed
  output logic      [N*ActW-1:0]  act_o
);
  logic               req_q, out_q;  // of act_o: not all zeros
  logic [OffBits-1:0] offset_q;
  logic [CntBits-1:0] lo_q, hi_q;
  logic [N*8-1:0]     turned;
  logic [ActW-1:0]    z_in;

  hd_funnel #(.N(N)) u_funnel (.en_i(req_q), .in_i(data_i), .at_i(offset_q), .out_o(turned));

  assign z_in = ActW'($signed(z_in_i));

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      req_q <= req_i;
      out_q <= req_q;
      if (req_i) begin
        offset_q <= offset_i;
        lo_q     <= lo_i;
        hi_q     <= hi_i;
      end
    end
  end

  logic [N*ActW-1:0] lanes;
  for (genvar l = 0; l < N; l++) begin : gen_lane
    logic [ActW-1:0] lane_q;
    always_ff @(posedge clk_i) begin
      if (en_i && req_q) lane_q <= CntBits'(l) >= lo_q && CntBits'(l) < hi_q
                                   ? ActW'($signed(turned[l*8 +: 8])) - z_in : '0;
    end
    assign lanes[l*ActW +: ActW] = lane_q;
  end
  assign act_o = out_q ? lanes : '0;

endmodule

`default_nettype wire
