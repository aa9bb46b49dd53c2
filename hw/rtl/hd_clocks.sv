// hd_clocks - the clock enables of the parts that may rest.
//   active_*_o: one of the part's registers may change in this cycle; it may be high without need.
//   control: registers, FETCH, queues, read channel; dma: LOAD, WEIGHT, STORE; vector; requant.
//   ARRAY and the memories never rest.
//   With HD_GATE_CLOCKS (the simulator: what rests costs it nothing) the gates are outside: clk_x_i
//   has the edges of clk_i in whose cycle active_x_o was set. Elsewhere all clocks are clk_i.
//   Cycles and bytes are the same.
//   The modules' own active_o, gathered here, leave out what rst_ni and unit_rst_ni reset.
// Combinational. Bench: frame_tb.cpp, with gates too (hw/frame_model_n8)
`default_nettype none

module hd_clocks (
  input  wire logic       clk_i,
`ifdef HD_GATE_CLOCKS
  input  wire logic       clk_control_i,
  output logic            active_control_o,
  input  wire logic       clk_dma_i,
  output logic            active_dma_o,
  input  wire logic       clk_vector_i,
  output logic            active_vector_o,
  input  wire logic       clk_requant_i,
  output logic            active_requant_o,
`endif
  input  wire logic       rst_ni,
  input  wire logic       unit_rst_ni,
  // what the parts say
  input  wire logic       control_i,
  input  wire logic       dma_i,
  input  wire logic       vector_i,
  input  wire logic       requant_i,
  // their clocks
  output logic            clk_control_o,
  output logic            clk_dma_o,
  output logic            clk_vector_o,
  output logic            clk_requant_o
);
  logic active_control, active_dma, active_vector, active_requant;

  assign active_control = !rst_ni || control_i;
  assign active_dma     = !unit_rst_ni || dma_i;
  assign active_vector  = !unit_rst_ni || vector_i;
  assign active_requant = !unit_rst_ni || requant_i;

`ifdef HD_GATE_CLOCKS
  assign clk_control_o    = clk_control_i;
  assign clk_dma_o        = clk_dma_i;
  assign clk_vector_o     = clk_vector_i;
  assign clk_requant_o    = clk_requant_i;
  assign active_control_o = active_control;
  assign active_dma_o     = active_dma;
  assign active_vector_o  = active_vector;
  assign active_requant_o = active_requant;

  logic unused;  // the driver of the clocks has clk_i
  assign unused = clk_i;
`else
  logic unused;
  assign {clk_requant_o, clk_vector_o, clk_dma_o, clk_control_o} = {4{clk_i}};
  assign unused = ^{active_requant, active_vector, active_dma, active_control};
`endif
endmodule

`default_nettype wire
