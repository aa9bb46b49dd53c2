// hd_vector_decode - the op and shifts of a VECTOR command as the controls of its lanes, from the
// cycle after en_i on. Reset: none. Bench: tests/hw/vector_tb.cpp (hd_vector)
`default_nettype none
`include "hd_accel.svh"
`include "hd_vector.svh"

module hd_vector_decode (
  input  wire logic             clk_i,
  input  wire logic             en_i,
  input  wire logic [3:0]       op_i,
  input  wire logic [9:0]       shifts_i,   // of A, of B
  output hd_vector_mode_t       mode_o,
  output logic [31:0]           below_a_o,  // right_a, right_b ones, a cycle later
  output logic [31:0]           below_b_o,
  output logic                  two_o,      // two operands
  output logic                  average_o,
  output logic                  softmax_o,
  output logic                  raw_o       // operand A's zero point does not count
);
  always_ff @(posedge clk_i) begin
    below_a_o <= ~(32'hffff_ffff << mode_o.right_a);
    below_b_o <= ~(32'hffff_ffff << mode_o.right_b);
    if (en_i) begin
      mode_o.pick   <= op_i == VopMax || op_i == VopMin || op_i == VopMaxPoolTwo;
      mode_o.min    <= op_i == VopMin;
      mode_o.scale  <= op_i == VopAdd || op_i == VopSub || op_i == VopSquared
                       || op_i == VopMax || op_i == VopMin || op_i == VopMaxPoolTwo;
      mode_o.sub    <= op_i == VopSub || op_i == VopSquared;
      mode_o.square <= op_i == VopSquared;
      mode_o.mul    <= op_i == VopMul;
      mode_o.prelu  <= op_i == VopPrelu;
      mode_o.sum    <= op_i == VopAvgPool || op_i == VopSum;
      mode_o.max    <= op_i == VopMaxPool || op_i == VopMaxPoolTwo;
      mode_o.right_a <= 5'(-shifts_i[9:5]);
      mode_o.right_b <= 5'(-shifts_i[4:0]);
      two_o         <= op_i <= VopMaxPoolTwo;
      average_o     <= op_i == VopAvgPool;
      softmax_o     <= op_i == VopSoftmax;
      raw_o         <= op_i == VopAvgPool || op_i == VopMaxPool || op_i == VopMaxPoolTwo;
    end
  end
endmodule

`default_nettype wire
