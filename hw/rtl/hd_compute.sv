// hd_compute - what computes, and the memories it computes in. Wires only.
//   hd_spad (scratchpad), hd_weights (weights, parameters) with hd_weight_arrival (how far WEIGHT
//   is), hd_array_unit (ARRAY), hd_vector (VECTOR), hd_requant (their sums to bytes).
//   docs/HARDWARE.md says what the ports mean.
//   Vectors are in the order array, vector. lw_*, sr_*: hd_spad's ports of LOAD and STORE; ww_*: a
//   word of WEIGHT; qw_*: a result written to the scratchpad, of unit qw_unit_o and command
//   qw_cmd_o.
//   vector_active_o, requant_active_o: see hd_clocks; ARRAY and the memories have clk_i.
// Reset: no command in, nothing in the pipes. Bench: array_tb.cpp and vector_tb.cpp (all
// but the queues between, with stalls), whole networks in the tests of sim.
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"
`include "hd_bundles.svh"
`include "hd_requant.svh"

module hd_compute #(
  parameter int SpadBits   = $clog2(CfgScratchpadBytes),  // derived, as all
  parameter int SpadWord   = $clog2(CfgScratchpadBytes / CfgN),
  parameter int WeightBits = $clog2(CfgWeightBytes / CfgN),
  parameter int CntBits    = $clog2(CfgN + 1),
  parameter int WordBits   = 8 * CfgN
) (
  input  wire logic                       clk_i,
  input  wire logic                       clk_vector_i,
  input  wire logic                       clk_requant_i,
  input  wire logic                       rst_ni,
  output logic                            vector_active_o,
  output logic                            requant_active_o,
  // commands
  input  wire logic                       stop_i,
  input  wire logic [1:0]                 cmd_valid_i,
  output logic      [1:0]                 cmd_ready_o,
  input  wire logic [CmdArrayBits-1:0]    array_cmd_i,
  input  wire logic [CmdVectorBits-1:0]   vector_cmd_i,
  input  wire logic [2*32-1:0]            cmd_index_i,
  output logic      [1:0]                 done_o,
  output logic      [2*3-1:0]             kind_o,
  output logic                            array_begin_o,
  input  wire logic                       weight_done_i,
  input  wire logic [15:0]                weight_count_i,
  // LOAD
  input  wire logic                       lw_valid_i,
  output logic                            lw_ready_o,
  input  wire logic [SpadWord-1:0]        lw_word_i,
  input  wire logic [CfgN-1:0]            lw_be_i,
  input  wire logic [WordBits-1:0]        lw_data_i,
  // WEIGHT
  input  wire logic                       ww_valid_i,
  input  wire hd_weight_word_t            ww_i,
  // STORE
  input  wire logic                       sr_req_i,
  output logic                            sr_ready_o,
  input  wire logic [SpadWord-1:0]        sr_word_i,
  output logic      [WordBits-1:0]        sr_data_o,
  // results
  output logic                            qw_valid_o,
  output logic      [SpadBits-1:0]        qw_addr_o,
  output logic      [CntBits-1:0]         qw_count_o,
  output logic      [WordBits-1:0]        qw_data_o,
  output logic      [UnitBits-1:0]        qw_unit_o,
  output logic      [31:0]                qw_cmd_o
);
  localparam int EntryBits = $clog2(CfgParamEntries);

  // WEIGHT's words, a cycle later.
  logic                   ww_valid;
  hd_weight_word_t        ww;
  logic [WeightBits-1:0]  arrived_end;
  logic [WeightBits:0]    arrived_count;

  hd_weight_arrival u_weight_arrival (
    .clk_i,
    .rst_ni,
    .ww_valid_i,
    .ww_i,
    .done_i    (weight_done_i),
    .count_o   (arrived_count),
    .end_o     (arrived_end),
    .ww_valid_o(ww_valid),
    .ww_o      (ww)
  );

  logic       a_ahead, a_valid, v_valid, v_busy, requant_active;  // into hd_requant, and in it
  logic [1:0] a_busy;

  assign requant_active_o = a_ahead || a_valid || v_valid || requant_active
                            || (ww_valid && (ww.space == SpaceTable || ww.space == SpaceTableAll));

  // Scratchpad.
  logic [CfgPorts-1:0]               ar_need0, ar_need1;
  logic [CfgPorts*SpadBits-1:0]      ar_addr;
  logic                              ar_en;
  logic [CfgPorts*2*WordBits-1:0]    ar_data;
  logic [1:0]                        vr_req, vr_ready, vr_next;
  logic [2*SpadBits-1:0]             vr_addr;
  logic [2*2*WordBits-1:0]           vr_data;

  hd_spad #(.N(CfgN), .G(CfgPorts), .Banks(CfgBanks), .Bytes(CfgScratchpadBytes)) u_spad (
    .clk_i,
    .rst_ni    (rst_ni),
    .ar_need0_i(ar_need0),
    .ar_need1_i(ar_need1),
    .ar_addr_i (ar_addr),
    .ar_en_o   (ar_en),
    .ar_data_o (ar_data),
    .vr_req_i  (vr_req),
    .vr_ready_o(vr_ready),
    .vr_addr_i (vr_addr),
    .vr_next_i (vr_next),
    .vr_data_o (vr_data),
    .sr_req_i,
    .sr_ready_o,
    .sr_word_i,
    .sr_data_o,
    .qw_valid_i(qw_valid_o),
    .qw_addr_i (qw_addr_o),
    .qw_count_i(qw_count_o),
    .qw_data_i (qw_data_o),
    .lw_valid_i,
    .lw_ready_o,
    .lw_word_i,
    .lw_be_i,
    .lw_data_i
  );

  // Weights and parameters.
  logic                   wr_req, pr_req;
  logic [WeightBits-1:0]  wr_word;
  logic [8*CfgColumns-1:0]   wr_data;
  logic [EntryBits-1:0]   pr_entry;
  logic [CfgColumns*32-1:0]  pr_bias, pr_multiplier;
  logic [CfgColumns*8-1:0]   pr_shift;

  hd_weights #(.N(CfgN), .Bytes(CfgWeightBytes), .Entries(CfgParamEntries)) u_weights (
    .clk_i,
    .rst_ni         (rst_ni),
    .ww_valid_i     (ww_valid),
    .ww_i           (ww),
    .wr_req_i       (wr_req),
    .wr_word_i      (wr_word),
    .wr_data_o      (wr_data),
    .pr_req_i       (pr_req),
    .pr_entry_i     (pr_entry),
    .pr_bias_o      (pr_bias),
    .pr_multiplier_o(pr_multiplier),
    .pr_shift_o     (pr_shift)
  );

  // ARRAY.
  logic                   a_slot;
  hd_array_scale_t        a_scale;
  logic [CfgColumns*32-1:0]  a_sum;
  logic [EntryBits-1:0]   a_entry;
  logic [SpadBits-1:0]    a_addr;
  logic [CntBits-1:0]     a_count;
  logic [31:0]            a_cmd;

  hd_array_unit #(
    .N        (CfgN),
    .G        (CfgPorts),
    .AddrBits (SpadBits),
    .WordBits (WeightBits),
    .AccDepth (CfgAccDepth),
    .EntryBits(EntryBits)
  ) u_array (
    .clk_i,
    .rst_ni          (rst_ni),
    .cmd_valid_i     (cmd_valid_i[0]),
    .cmd_ready_o     (cmd_ready_o[0]),
    .cmd_i           (array_cmd_i),
    .cmd_index_i     (cmd_index_i[0*32 +: 32]),
    .done_o          (done_o[0]),
    .begin_o         (array_begin_o),
    .kind_o          (kind_o[0*3 +: 3]),
    .ar_need0_o      (ar_need0),
    .ar_need1_o      (ar_need1),
    .ar_addr_o       (ar_addr),
    .ar_en_i         (ar_en),
    .ar_data_i       (ar_data),
    .stop_i,
    .weight_count_i,
    .arrived_count_i (arrived_count),
    .arrived_end_i   (arrived_end),
    .wr_req_o        (wr_req),
    .wr_word_o       (wr_word),
    .wr_data_i       (wr_data),
    .a_ahead_o       (a_ahead),
    .a_valid_o       (a_valid),
    .a_sum_o         (a_sum),
    .a_entry_o       (a_entry),
    .a_addr_o        (a_addr),
    .a_count_o       (a_count),
    .a_cmd_o         (a_cmd),
    .a_slot_o        (a_slot),
    .a_scale_o       (a_scale),
    .a_busy_i        (a_busy)
  );

  // VECTOR.
  logic                   v_ready;
  logic [CfgN*32-1:0]     v_value;
  hd_vector_scale_t       v_scale;
  logic [31:0]            v_cmd;
  logic [CfgN-1:0]        v_alt;
  logic [SpadBits-1:0]    v_addr;
  logic [CntBits-1:0]     v_count;

  hd_vector #(.N(CfgN), .AddrBits(SpadBits)) u_vector (
    .clk_i         (clk_vector_i),
    .active_o      (vector_active_o),
    .rst_ni        (rst_ni),
    .cmd_valid_i   (cmd_valid_i[1]),
    .cmd_ready_o   (cmd_ready_o[1]),
    .cmd_i         (vector_cmd_i),
    .cmd_index_i   (cmd_index_i[1*32 +: 32]),
    .done_o        (done_o[1]),
    .kind_o        (kind_o[1*3 +: 3]),
    .vr_req_o      (vr_req),
    .vr_ready_i    (vr_ready),
    .vr_addr_o     (vr_addr),
    .vr_next_o     (vr_next),
    .vr_data_i     (vr_data),
    .ww_valid_i(ww_valid),
    .ww_i      (ww),
    .v_valid_o     (v_valid),
    .v_ready_i     (v_ready),
    .v_value_o     (v_value),
    .v_alt_o       (v_alt),
    .v_scale_o     (v_scale),
    .v_addr_o      (v_addr),
    .v_count_o     (v_count),
    .v_cmd_o       (v_cmd),
    .v_busy_i      (v_busy)
  );

  hd_requant #(.N(CfgN), .AddrBits(SpadBits), .EntryBits(EntryBits)) u_requant (
    .clk_i           (clk_requant_i),
    .rst_ni          (rst_ni),
    .a_ahead_i       (a_ahead),
    .a_valid_i       (a_valid),
    .a_sum_i         ((CfgN*32)'(a_sum)),
    .a_entry_i       (a_entry),
    .a_addr_i        (a_addr),
    .a_count_i       (a_count),
    .a_cmd_i         (a_cmd),
    .a_slot_i        (a_slot),
    .a_scale_i       (a_scale),
    .a_busy_o        (a_busy),
    .v_valid_i       (v_valid),
    .v_ready_o       (v_ready),
    .v_value_i       (v_value),
    .v_alt_i         (v_alt),
    .v_scale_i       (v_scale),
    .v_addr_i        (v_addr),
    .v_count_i       (v_count),
    .v_cmd_i         (v_cmd),
    .v_busy_o        (v_busy),
    .active_o        (requant_active),
    .pr_req_o        (pr_req),
    .pr_entry_o      (pr_entry),
    .pr_bias_i       ((CfgN*32)'(pr_bias)),
    .pr_multiplier_i ((CfgN*32)'(pr_multiplier)),
    .pr_shift_i      ((CfgN*8)'(pr_shift)),
    .ww_valid_i(ww_valid),
    .ww_i      (ww),
    .qw_valid_o,
    .qw_addr_o,
    .qw_count_o,
    .qw_data_o,
    .qw_unit_o,
    .qw_cmd_o
  );

endmodule

`default_nettype wire
