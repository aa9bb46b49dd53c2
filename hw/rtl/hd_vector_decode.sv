// hd_vector_decode - the facts on a VECTOR command's op (hw/accel.json) and its shifts, from the
// cycle after en_i on. Reset: none. Bench: tests/hw/vector_tb.cpp (hd_vector)
`default_nettype none
`include "hd_accel.svh"

module hd_vector_decode (
  input  wire logic               clk_i,
  input  wire logic               en_i,
  input  wire logic [VopBits-1:0] op_i,
  input  wire logic [9:0]         shifts_i,   // of A, of B
  output hd_vop_facts_t           facts_o,
  output hd_vop_facts_t           lane_o,     // those that a lane reads: the others are 0
  output logic [4:0]              right_a_o,  // -shift_a, -shift_b
  output logic [4:0]              right_b_o,
  output logic [31:0]             below_a_o,  // right_a, right_b ones, a cycle later
  output logic [31:0]             below_b_o
);
  always_ff @(posedge clk_i) begin
    below_a_o <= ~(32'hffff_ffff << right_a_o);
    below_b_o <= ~(32'hffff_ffff << right_b_o);
    if (en_i) begin
      facts_o   <= hd_vop_facts(op_i);
      right_a_o <= 5'(-shifts_i[9:5]);
      right_b_o <= 5'(-shifts_i[4:0]);
    end
  end

  // Clear the facts that no lane reads, so that synthesis drops their ports and registers.
  always_comb begin
    lane_o          = facts_o;
    lane_o.operands = '0;
    lane_o.reads    = '0;
    lane_o.pair     = 1'b0;
    lane_o.divide   = 1'b0;
    lane_o.rescale  = 1'b0;
    lane_o.softmax  = 1'b0;
    lane_o.passes   = '0;
  end
endmodule

`default_nettype wire
