// hd_reader - one byte-addressed port of ARRAY: rotate, cut to the lane bounds, subtract the zero point.
//   act_o lane l = byte (offset + l) of data_i - z_in for lo <= l < hi, else 0.
// req_i, offset_i, lo_i, hi_i come with the scratchpad request, data_i with its answer one step later;
// act_o one step after that. A step is a cycle with en_i. A port without request gives zeros.
// Throughput 1 a step. Reset: none (zeros follow from req_i). Bench: tests/hw/array_tb.cpp.
`default_nettype none

module hd_reader #(
  parameter int N       = 16,
  parameter int ActW    = 9,              // signed activation after the zero point
  parameter int OffBits = $clog2(N),      // derived
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
  logic               req_q;
  logic [OffBits-1:0] offset_q;
  logic [CntBits-1:0] lo_q, hi_q;
  logic [7:0]         lane_byte[2*N];
  logic [ActW-1:0]    lane_q[N];

  for (genvar i = 0; i < 2 * N; i++) begin : gen_byte
    assign lane_byte[i] = data_i[i*8 +: 8];
  end
  for (genvar l = 0; l < N; l++) begin : gen_lane
    assign act_o[l*ActW +: ActW] = lane_q[l];
  end

  logic [ActW-1:0]    z_in;
  logic [CntBits-1:0] pick[N];
  assign z_in = ActW'($signed(z_in_i));
  always_comb begin
    for (int l = 0; l < N; l++) pick[l] = CntBits'(offset_q) + CntBits'(l);
  end

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      req_q <= req_i;
      if (req_i) begin
        offset_q <= offset_i;
        lo_q     <= lo_i;
        hi_q     <= hi_i;
      end
      for (int l = 0; l < N; l++) begin
        if (req_q && CntBits'(l) >= lo_q && CntBits'(l) < hi_q) begin
          lane_q[l] <= ActW'($signed(lane_byte[pick[l]])) - z_in;
        end else begin
          lane_q[l] <= '0;
        end
      end
    end
  end

endmodule

`default_nettype wire
