// hd_reader - one byte-addressed port of ARRAY: rotate, cut to the lane bounds, subtract the zero
// point.
//   act_o lane l = byte (offset + l) of data_i - z_in for lo <= l < hi, else 0.
// req_i, offset_i, lo_i, hi_i come with the scratchpad request, data_i and act_o two cycles later.
// A port without request gives zeros.
// Latency 2 cycles, throughput 1 a cycle. Reset: none. Bench: reader_tb.cpp.
`default_nettype none
`include "hd_config.svh"

module hd_reader #(
  parameter int N       = CfgN,       // bytes of a word
  parameter int Lanes   = N,          // of which are read, from lane 0 on
  parameter int ActW    = 9,          // signed activation after the zero point
  parameter int OffBits = $clog2(N),  // derived
  parameter int CntBits = $clog2(N + 1)
) (
  input  wire logic               clk_i,
  input  wire logic               req_i,
  input  wire logic [OffBits-1:0] offset_i,
  input  wire logic [CntBits-1:0] lo_i,
  input  wire logic [CntBits-1:0] hi_i,
  input  wire logic [2*N*8-1:0]   data_i,   // {next word, word}
  input  wire logic [7:0]         z_in_i,   // signed
  output logic [Lanes*ActW-1:0]   act_o
);
  logic               req_q, req2_q;
  logic [OffBits-1:0] offset_q, offset2_q;
  logic [CntBits-1:0] lo_q, hi_q;
  logic [Lanes-1:0]   keep_q;
  /* verilator lint_off UNUSEDSIGNAL */  // lanes beyond Lanes
  logic [N*8-1:0]     rotated;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [ActW-1:0]    z_in;

  hd_funnel #(.N(N)) u_funnel (.en_i(req2_q), .in_i(data_i), .at_i(offset2_q), .out_o(rotated));

  assign z_in = ActW'($signed(z_in_i));

  always_ff @(posedge clk_i) begin
    req_q     <= req_i;
    offset_q  <= offset_i;
    lo_q      <= lo_i;
    hi_q      <= hi_i;
    req2_q    <= req_q;
    offset2_q <= offset_q;
    if (req_q) begin
      for (int l = 0; l < Lanes; l++) keep_q[l] <= CntBits'(l) >= lo_q && CntBits'(l) < hi_q;
    end
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [ActW-1:0] lane;
    assign lane = req2_q && keep_q[l] ? ActW'($signed(rotated[l*8 +: 8])) - z_in : '0;
    assign act_o[l*ActW +: ActW] = lane;
  end

endmodule

`default_nettype wire
