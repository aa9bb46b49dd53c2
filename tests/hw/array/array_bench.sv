// array_bench - ARRAY with scratchpad, weights and requantisation, as hd_top wires them; for array_tb.cpp.
// Every input is registered, requests in one-deep slices, so that no logic depends on top-level
// inputs (Verilator would evaluate it twice a cycle).
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"
`include "hd_bundles.svh"
`include "hd_requant.svh"

module array_bench #(
  parameter int N         = CfgN,
  parameter int AddrBits  = $clog2(CfgScratchpadBytes),
  parameter int SpadBits  = $clog2(CfgScratchpadBytes / CfgN),
  parameter int WordBits  = $clog2(CfgWeightBytes / CfgN),
  parameter int EntryBits = $clog2(CfgParamEntries),
  parameter int CntBits   = $clog2(CfgN + 1)
) (
  input  wire logic                    clk_i,
  input  wire logic                    rst_ni,
  input  wire logic                    cmd_valid_i,
  output logic                         cmd_ready_o,
  output logic                         taken_o,      // the unit takes a command
  input  wire logic [CmdArrayBits-1:0] cmd_i,
  input  wire logic [31:0]             cmd_index_i,
  output logic                         ready_o,      // it would
  output logic                         done_o,
  output logic                         begin_o,
  output logic      [2:0]              kind_o,
  output logic                         ar_en_o,      // what it asks for is granted
  output logic                         ar_req_o,     // it asks for bytes
  output logic                         qw_valid_o,   // an output vector is written
  output logic      [31:0]             qw_cmd_o,     // of the command with this index
  // LOAD's port
  input  wire logic                    lw_valid_i,
  output logic                         lw_ready_o,
  input  wire logic [SpadBits-1:0]     lw_word_i,
  input  wire logic [N*8-1:0]          lw_data_i,
  // STORE's port
  input  wire logic                    sr_valid_i,
  output logic                         sr_ready_o,
  input  wire logic [SpadBits-1:0]     sr_word_i,
  output logic                         sr_valid_o,
  output logic      [N*8-1:0]          sr_data_o,
  // VECTOR's ports, for disturbance only
  input  wire logic [1:0]              vr_valid_i,
  output logic      [1:0]              vr_ready_o,
  input  wire logic [2*AddrBits-1:0]   vr_addr_i,
  output logic                         vr_parity_o,
  // WEIGHT's port; done: its command is complete; before: the number completed in this submission
  input  wire logic [15:0]             ww_before_i,
  input  wire logic                    stop_i,       // no more words will come
  input  wire logic                    ww_done_i,
  input  wire logic                    ww_valid_i,
  input  wire logic [SpaceBits-1:0]    ww_space_i,
  input  wire logic [WordBits-1:0]     ww_word_i,
  input  wire logic [N*8-1:0]          ww_data_i
);
  // ---------------------------------------------------------------- input slices
  logic                    cmd_valid_q, cmd_ready;
  logic [CmdArrayBits-1:0] cmd_q;
  logic [31:0]             index_q;
  hd_cmd_array_t           cmd;
  logic                    lw_valid_q, lw_ready;
  logic [SpadBits-1:0]     lw_word_q;
  logic [N*8-1:0]          lw_data_q;
  logic                    sr_valid_q, sr_ready;
  logic [SpadBits-1:0]     sr_word_q;
  logic [1:0]              vr_valid_q, vr_ready;
  logic [2*AddrBits-1:0]   vr_addr_q;
  logic [2*2*N*8-1:0]      vr_data;
  logic                    ww_valid_q;
  logic [SpaceBits-1:0]    ww_space_q;
  logic [WordBits-1:0]     ww_word_q;
  logic [N*8-1:0]          ww_data_q;

  assign cmd         = cmd_q;
  assign cmd_ready_o = !cmd_valid_q || cmd_ready;
  assign taken_o     = cmd_valid_q && cmd_ready;
  assign ready_o     = cmd_ready;
  assign lw_ready_o  = !lw_valid_q || lw_ready;
  assign sr_ready_o  = !sr_valid_q || sr_ready;
  assign vr_ready_o  = ~vr_valid_q | vr_ready;
  assign vr_parity_o = |vr_valid_q && ^vr_data;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cmd_valid_q <= 1'b0;
      lw_valid_q  <= 1'b0;
      sr_valid_q  <= 1'b0;
      vr_valid_q  <= '0;
      ww_valid_q  <= 1'b0;
      sr_valid_o  <= 1'b0;
    end else begin
      if (cmd_ready_o) cmd_valid_q <= cmd_valid_i;
      if (lw_ready_o) lw_valid_q <= lw_valid_i;
      if (sr_ready_o) sr_valid_q <= sr_valid_i;
      for (int v = 0; v < 2; v++) if (vr_ready_o[v]) vr_valid_q[v] <= vr_valid_i[v];
      ww_valid_q <= ww_valid_i;
      sr_valid_o <= sr_valid_q && sr_ready;
    end
    if (cmd_ready_o && cmd_valid_i) begin
      cmd_q   <= cmd_i;
      index_q <= cmd_index_i;
    end
    if (lw_ready_o && lw_valid_i) begin
      lw_word_q <= lw_word_i;
      lw_data_q <= lw_data_i;
    end
    if (sr_ready_o && sr_valid_i) sr_word_q <= sr_word_i;
    for (int v = 0; v < 2; v++) begin
      if (vr_ready_o[v] && vr_valid_i[v]) vr_addr_q[v*AddrBits +: AddrBits] <= vr_addr_i[v*AddrBits +: AddrBits];
    end
    if (ww_valid_i) begin
      ww_space_q <= ww_space_i;
      ww_word_q  <= ww_word_i;
      ww_data_q  <= ww_data_i;
    end
  end

  // ---------------------------------------------------------------- WEIGHT's commands
  logic                done_q, stop_q;  // with the registered port
  logic [15:0]         before_q, count_q, weight_count;
  logic [WordBits:0]   arrived_count;
  logic [WordBits-1:0] arrived_end;
  hd_weight_word_t     ww;
  logic                ww_valid;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      done_q  <= 1'b0;
      count_q <= '0;
    end else begin
      done_q  <= ww_done_i;
      count_q <= count_q + 16'(done_q);
    end
    before_q <= ww_before_i;
    stop_q   <= stop_i;
  end
  assign weight_count = before_q + count_q;

  hd_weight_arrival u_weight_arrival (
    .clk_i,
    .rst_ni,
    .ww_valid_i(ww_valid_q),
    .ww_i      ({ww_space_q, ww_word_q, ww_data_q}),
    .done_i    (done_q),
    .count_o   (arrived_count),
    .end_o     (arrived_end),
    .ww_valid_o(ww_valid),
    .ww_o      (ww)
  );

  // ---------------------------------------------------------------- modules
  logic [CfgPorts-1:0]            ar_need0, ar_need1;
  logic [CfgPorts*AddrBits-1:0]   ar_addr;
  logic                           ar_en;
  logic [CfgPorts*2*N*8-1:0]      ar_data;
  logic                           wr_req;
  logic [WordBits-1:0]            wr_word;
  logic [CfgColumns*8-1:0]        wr_data;
  logic                           a_ahead, a_valid, a_slot;
  hd_array_scale_t                a_scale;
  logic [1:0]                     a_busy;
  logic [CfgColumns*32-1:0]       a_sum;
  logic [EntryBits-1:0]           a_entry, pr_entry;
  logic [AddrBits-1:0]            a_addr, qw_addr;
  logic [CntBits-1:0]             a_count, qw_count;
  logic [31:0]                    a_cmd;
  logic                           pr_req, qw_valid;
  logic [CfgColumns*32-1:0]       pr_bias, pr_multiplier;
  logic [CfgColumns*8-1:0]        pr_shift;
  logic [N*8-1:0]                 qw_data;

  hd_array_unit #(
    .N(N), .G(CfgPorts), .AddrBits(AddrBits), .WordBits(WordBits), .AccDepth(CfgAccDepth), .EntryBits(EntryBits), .Lstm(1)
  ) u_array (
    .clk_i,
    .rst_ni,
    .cmd_valid_i     (cmd_valid_q),
    .cmd_ready_o     (cmd_ready),
    .cmd_i           (cmd),
    .cmd_index_i     (index_q),
    .done_o,
    .begin_o,
    .kind_o,
    .ar_need0_o      (ar_need0),
    .ar_need1_o      (ar_need1),
    .ar_addr_o       (ar_addr),
    .ar_en_i         (ar_en),
    .ar_data_i       (ar_data),
    .stop_i          (stop_q),
    .weight_count_i  (weight_count),
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

  hd_weights #(.N(N), .Bytes(CfgWeightBytes), .Entries(CfgParamEntries)) u_weights (
    .clk_i,
    .rst_ni,
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

  /* verilator lint_off PINCONNECTEMPTY */  // the unit of a write and VECTOR's handshake are not used here
  hd_requant #(.N(N), .AddrBits(AddrBits), .EntryBits(EntryBits), .Lstm(1)) u_requant (
    .clk_i,
    .rst_ni,
    .a_ahead_i       (a_ahead),
    .a_valid_i       (a_valid),
    .a_sum_i         ((N*32)'(a_sum)),
    .a_entry_i       (a_entry),
    .a_addr_i        (a_addr),
    .a_count_i       (a_count),
    .a_cmd_i         (a_cmd),
    .a_slot_i        (a_slot),
    .a_scale_i       (a_scale),
    .a_busy_o        (a_busy),
    .v_valid_i       (1'b0),
    .v_ready_o       (),
    .v_value_i       ('0),
    .v_alt_i         ('0),
    .v_scale_i       ('0),
    .v_addr_i        ('0),
    .v_count_i       ('0),
    .v_cmd_i         ('0),
    .v_busy_o        (),
    .active_o        (),
    .pr_req_o        (pr_req),
    .pr_entry_o      (pr_entry),
    .pr_bias_i       ((N*32)'(pr_bias)),
    .pr_multiplier_i ((N*32)'(pr_multiplier)),
    .pr_shift_i      ((N*8)'(pr_shift)),
    .ww_valid_i      (ww_valid),
    .ww_i            (ww),
    .qw_valid_o      (qw_valid),
    .qw_addr_o       (qw_addr),
    .qw_count_o      (qw_count),
    .qw_data_o       (qw_data),
    .qw_unit_o       (),
    .qw_cmd_o        (qw_cmd_o)
  );
  /* verilator lint_on PINCONNECTEMPTY */

  hd_spad #(.N(N), .G(CfgPorts), .Banks(CfgBanks), .Bytes(CfgScratchpadBytes)) u_spad (
    .clk_i,
    .rst_ni,
    .ar_need0_i(ar_need0),
    .ar_need1_i(ar_need1),
    .ar_addr_i (ar_addr),
    .ar_en_o   (ar_en),
    .ar_data_o (ar_data),
    .vr_req_i  (vr_valid_q),
    .vr_ready_o(vr_ready),
    .vr_addr_i (vr_addr_q),
    .vr_next_i ({|vr_addr_q[AddrBits +: $clog2(N)], |vr_addr_q[0 +: $clog2(N)]}),
    .vr_data_o (vr_data),
    .sr_req_i  (sr_valid_q),
    .sr_ready_o(sr_ready),
    .sr_word_i (sr_word_q),
    .sr_data_o (sr_data_o),
    .qw_valid_i(qw_valid),
    .qw_addr_i (qw_addr),
    .qw_count_i(qw_count),
    .qw_data_i (qw_data),
    .lw_valid_i(lw_valid_q),
    .lw_ready_o(lw_ready),
    .lw_word_i (lw_word_q),
    .lw_be_i   ({N{1'b1}}),
    .lw_data_i (lw_data_q)
  );

  assign ar_req_o   = |{ar_need0, ar_need1};
  assign ar_en_o    = ar_en;
  assign qw_valid_o = qw_valid;

endmodule

`default_nettype wire
