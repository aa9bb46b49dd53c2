// hd_requant.svh - what VECTOR asks of a requantisation lane. Guarded; include at file level.
`ifndef HD_REQUANT_SVH
`define HD_REQUANT_SVH

typedef enum logic [1:0] {
  RqMbqm    = 2'd0,  // MBQM(value, multiplier, shift) + z_out, clamp
  RqAverage = 2'd1,  // value / cells, halves away from zero; multiplier = ceil(2^31 / cells)
  RqPass    = 2'd2   // clamp
} hd_rq_mode_e;

`endif
