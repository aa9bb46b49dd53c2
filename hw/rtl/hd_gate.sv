// hd_gate - the clock of a part that may rest: clk_o has the edges of clk_i in whose cycle en_i was set.
//   en_i says that some register behind clk_o could change at the end of this cycle; it may be set in vain, and
//   never be clear wrongly, so the bytes and the cycles are the same with and without (tests/hw/frame_tb.cpp runs both).
// Only with HD_GATE_CLOCKS, which the simulator sets: its model then leaves out whatever rests. Without, clk_o is
// clk_i (FPGA flows want clock enables, not gates). The enable is taken at the falling edge, so clk_o has no glitch.
// Reset: none; a part needs its clock in reset, so reset belongs into en_i. Bench: tests/hw/frame_tb.cpp
`default_nettype none

module hd_gate (
  input  wire logic clk_i,
  input  wire logic en_i,
  output logic      clk_o
);
`ifdef HD_GATE_CLOCKS
  logic en_q;
  always_ff @(negedge clk_i) en_q <= en_i;
  assign clk_o = clk_i & en_q;
`else
  logic unused;
  assign unused = en_i;
  assign clk_o  = clk_i;
`endif

endmodule

`default_nettype wire
