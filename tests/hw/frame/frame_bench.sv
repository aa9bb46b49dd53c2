// frame_bench - hd_top without its compute units: registers, FETCH, queues, DMA, scratchpad, weight memories.
//   Stubs take the places of hd_array_unit, hd_vector and hd_requant, with the parameters that these have in
//   hd_top (a netlist gives none): a command of ARRAY or VECTOR takes
//   as many cycles as its `layer` specifies. With noise_i (in 256ths) VECTOR reads random words and
//   hd_requant writes random bytes of the scratchpad's upper half, so LOAD and STORE meet busy
//   banks; without, both rest. array_*, vector_*: a command that they take. result_*: what hd_requant writes.
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"
`include "hd_bundles.svh"
`include "hd_requant.svh"
/* verilator lint_off DECLFILENAME */
/* verilator lint_off UNUSEDSIGNAL */
/* verilator lint_off UNUSEDPARAM */

// A command's layer is its length in cycles.
module frame_timer #(
  parameter int IdleKind = 0
) (
  input  wire logic         clk_i,
  input  wire logic         rst_ni,
  input  wire logic         cmd_valid_i,
  output logic              cmd_ready_o,
  input  wire logic [127:0] common_i,
  output logic              done_o,
  output logic      [2:0]   kind_o
);
  hd_common_t  common;
  logic [15:0] left_q;
  logic        busy_q, done_q;
  assign common      = common_i;
  assign cmd_ready_o = !busy_q;
  assign done_o      = done_q;
  assign kind_o      = busy_q ? 3'd0 : 3'(IdleKind);
  always_ff @(posedge clk_i) begin
    done_q <= 1'b0;
    if (!rst_ni) begin
      busy_q <= 1'b0;
    end else if (!busy_q) begin
      busy_q <= cmd_valid_i;
      left_q <= common.layer;
    end else if (left_q == '0) begin
      busy_q <= 1'b0;
      done_q <= 1'b1;
    end else begin
      left_q <= left_q - 16'd1;
    end
  end
endmodule

module hd_array_unit #(
  parameter int N = CfgN, parameter int G = CfgPorts, parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int WordBits = $clog2(CfgWeightBytes / CfgN), parameter int AccDepth = CfgAccDepth,
  parameter int EntryBits = $clog2(CfgParamEntries), parameter int CntBits = $clog2(N + 1)
) (
  input  wire logic                  clk_i,
  input  wire logic                  rst_ni,
  input  wire logic                  cmd_valid_i,
  output logic                       cmd_ready_o,
  input  wire hd_cmd_array_t         cmd_i,
  input  wire logic [31:0]           cmd_index_i,
  output logic                       done_o,
  output logic                       begin_o,
  output logic      [2:0]            kind_o,
  output logic      [G-1:0]          ar_need0_o,
  output logic      [G-1:0]          ar_need1_o,
  output logic      [G*AddrBits-1:0] ar_addr_o,
  input  wire logic                  ar_en_i,
  input  wire logic [G*2*N*8-1:0]    ar_data_i,
  input  wire logic                  stop_i,
  input  wire logic [15:0]           weight_count_i,
  input  wire logic [WordBits:0]     arrived_count_i,
  input  wire logic [WordBits-1:0]   arrived_end_i,
  output logic                       wr_req_o,
  output logic      [WordBits-1:0]   wr_word_o,
  input  wire logic [N*8-1:0]        wr_data_i,
  output logic                       a_ahead_o,
  output logic                       a_valid_o,
  output logic      [N*32-1:0]       a_sum_o,
  output logic      [EntryBits-1:0]  a_entry_o,
  output logic      [AddrBits-1:0]   a_addr_o,
  output logic      [CntBits-1:0]    a_count_o,
  output logic      [31:0]           a_cmd_o,
  output logic                       a_slot_o,
  output hd_array_scale_t            a_scale_o,
  input  wire logic [1:0]            a_busy_i
);
  logic [CmdArrayBits-1:0] cmd;
  assign cmd = cmd_i;
  frame_timer #(.IdleKind(CounterArrayIdle % 8))
    u_timer (.clk_i, .rst_ni, .cmd_valid_i, .cmd_ready_o, .common_i(cmd[127:0]), .done_o, .kind_o);
  assign begin_o = cmd_valid_i && cmd_ready_o;
  assign {ar_need0_o, ar_need1_o, ar_addr_o, wr_req_o, wr_word_o, a_ahead_o, a_valid_o, a_sum_o, a_entry_o,
          a_addr_o, a_count_o, a_cmd_o, a_slot_o, a_scale_o} = '0;
endmodule

module hd_vector #(
  parameter int N = CfgN, parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int CntBits = $clog2(N + 1)
) (
  input  wire logic                  clk_i,
  input  wire logic                  rst_ni,
  input  wire logic                  cmd_valid_i,
  output logic                       cmd_ready_o,
  input  wire hd_cmd_vector_t        cmd_i,
  input  wire logic [31:0]           cmd_index_i,
  output logic                       done_o,
  output logic      [2:0]            kind_o,
  output logic                       active_o,
  output logic      [1:0]            vr_req_o,
  input  wire logic [1:0]            vr_ready_i,
  output logic      [2*AddrBits-1:0] vr_addr_o,
  output logic      [1:0]            vr_next_o,
  input  wire logic [2*2*N*8-1:0]    vr_data_i,
  input  wire logic                  ww_valid_i,
  input  wire hd_weight_word_t       ww_i,
  output logic                       v_valid_o,
  input  wire logic                  v_ready_i,
  output logic      [N*32-1:0]       v_value_o,
  output logic      [N-1:0]          v_alt_o,
  output hd_vector_scale_t           v_scale_o,
  output logic      [AddrBits-1:0]   v_addr_o,
  output logic      [CntBits-1:0]    v_count_o,
  output logic      [31:0]           v_cmd_o,
  input  wire logic                  v_busy_i
);
  logic [7:0] noise;
  assign noise = frame_bench.noise_i;
  logic [CmdVectorBits-1:0] cmd;
  assign cmd = cmd_i;
  assign active_o = noise != '0 || req_q || cmd_valid_i || !cmd_ready_o || done_o;
  frame_timer #(.IdleKind(CounterVectorIdle % 8))
    u_timer (.clk_i, .rst_ni, .cmd_valid_i, .cmd_ready_o, .common_i(cmd[127:0]), .done_o, .kind_o);
  logic [31:0]         lfsr_q;
  logic [AddrBits-1:0] addr_q;
  logic                req_q;
  always_ff @(posedge clk_i) begin
    lfsr_q <= !rst_ni ? 32'h12345678 : {lfsr_q[30:0], lfsr_q[31] ^ lfsr_q[21] ^ lfsr_q[1] ^ lfsr_q[0]};
    if (!rst_ni) begin
      req_q <= 1'b0;
    end else if (!req_q || vr_ready_i[0]) begin
      req_q  <= lfsr_q[7:0] < noise;
      addr_q <= AddrBits'(lfsr_q[31:8]);
    end
  end
  assign vr_req_o  = {1'b0, req_q};
  assign vr_addr_o = {AddrBits'(0), addr_q};
  assign vr_next_o = {1'b0, addr_q[$clog2(N)-1:0] != '0};
  assign {v_valid_o, v_value_o, v_alt_o, v_scale_o, v_addr_o, v_count_o, v_cmd_o} = '0;
endmodule

module hd_requant #(
  parameter int N = CfgN, parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int EntryBits = $clog2(CfgParamEntries), parameter int CntBits = $clog2(N + 1)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  input  wire logic                 a_ahead_i,
  input  wire logic                 a_valid_i,
  input  wire logic [N*32-1:0]      a_sum_i,
  input  wire logic [EntryBits-1:0] a_entry_i,
  input  wire logic [AddrBits-1:0]  a_addr_i,
  input  wire logic [CntBits-1:0]   a_count_i,
  input  wire logic [31:0]          a_cmd_i,
  input  wire logic                 a_slot_i,
  input  wire hd_array_scale_t      a_scale_i,
  output logic [1:0]                a_busy_o,
  input  wire logic                 v_valid_i,
  output logic                      v_ready_o,
  input  wire logic [N*32-1:0]      v_value_i,
  input  wire logic [N-1:0]         v_alt_i,
  input  wire hd_vector_scale_t     v_scale_i,
  input  wire logic [AddrBits-1:0]  v_addr_i,
  input  wire logic [CntBits-1:0]   v_count_i,
  input  wire logic [31:0]          v_cmd_i,
  output logic                      v_busy_o,
  output logic                      active_o,
  output logic                      pr_req_o,
  output logic      [EntryBits-1:0] pr_entry_o,
  input  wire logic [N*32-1:0]      pr_bias_i,
  input  wire logic [N*32-1:0]      pr_multiplier_i,
  input  wire logic [N*8-1:0]       pr_shift_i,
  input  wire logic                 ww_valid_i,
  input  wire hd_weight_word_t      ww_i,
  output logic                      qw_valid_o,
  output logic      [AddrBits-1:0]  qw_addr_o,
  output logic      [CntBits-1:0]   qw_count_o,
  output logic      [N*8-1:0]       qw_data_o,
  output logic      [UnitBits-1:0]  qw_unit_o,
  output logic      [31:0]          qw_cmd_o
);
  logic [7:0] noise;
  assign noise = frame_bench.noise_i;
  localparam int OffBits = $clog2(N);
  logic [31:0] lfsr_q;
  always_ff @(posedge clk_i) begin
    lfsr_q <= !rst_ni ? 32'h87654321 : {lfsr_q[30:0], lfsr_q[31] ^ lfsr_q[21] ^ lfsr_q[1] ^ lfsr_q[0]};
  end
  assign qw_valid_o = rst_ni && lfsr_q[7:0] < noise;
  assign qw_addr_o  = {1'b1, lfsr_q[8 +: AddrBits-OffBits-1], {OffBits{1'b0}}};
  assign qw_count_o = CntBits'(N);
  assign v_busy_o   = noise != '0;
  assign active_o   = noise != '0;
  assign qw_data_o  = {N{lfsr_q[15:8]}} ^ (8*N)'(lfsr_q);
  assign qw_cmd_o   = ~lfsr_q;
  assign qw_unit_o  = lfsr_q[20] ? UnitVector : UnitArray;
  assign {a_busy_o, v_ready_o, pr_req_o, pr_entry_o} = '0;
endmodule

module frame_bench (
  input  wire logic [7:0]                noise_i,
  input  wire logic                      clk_i,
  input  wire logic                      rst_ni,
  output logic                           irq_o,
  input  wire logic                      s_awvalid_i,
  output logic                           s_awready_o,
  input  wire logic [11:0]               s_awaddr_i,
  input  wire logic                      s_wvalid_i,
  output logic                           s_wready_o,
  input  wire logic [31:0]               s_wdata_i,
  input  wire logic [3:0]                s_wstrb_i,
  output logic                           s_bvalid_o,
  output logic      [1:0]                s_bresp_o,
  input  wire logic                      s_bready_i,
  input  wire logic                      s_arvalid_i,
  output logic                           s_arready_o,
  input  wire logic [11:0]               s_araddr_i,
  output logic                           s_rvalid_o,
  input  wire logic                      s_rready_i,
  output logic      [31:0]               s_rdata_o,
  output logic      [1:0]                s_rresp_o,
  output logic                           m_arvalid_o,
  input  wire logic                      m_arready_i,
  output logic      [3:0]                m_arid_o,
  output logic      [63:0]               m_araddr_o,
  output logic      [7:0]                m_arlen_o,
  output logic      [2:0]                m_arsize_o,
  output logic      [1:0]                m_arburst_o,
  input  wire logic                      m_rvalid_i,
  output logic                           m_rready_o,
  input  wire logic [3:0]                m_rid_i,
  input  wire logic [8*CfgAxiBytes-1:0]  m_rdata_i,
  input  wire logic [1:0]                m_rresp_i,
  input  wire logic                      m_rlast_i,
  output logic                           m_awvalid_o,
  input  wire logic                      m_awready_i,
  output logic      [3:0]                m_awid_o,
  output logic      [63:0]               m_awaddr_o,
  output logic      [7:0]                m_awlen_o,
  output logic      [2:0]                m_awsize_o,
  output logic      [1:0]                m_awburst_o,
  output logic                           m_wvalid_o,
  input  wire logic                      m_wready_i,
  output logic      [8*CfgAxiBytes-1:0]  m_wdata_o,
  output logic      [CfgAxiBytes-1:0]    m_wstrb_o,
  output logic                           m_wlast_o,
  input  wire logic                      m_bvalid_i,
  output logic                           m_bready_o,
  input  wire logic [3:0]                m_bid_i,
  input  wire logic [1:0]                m_bresp_i,
  output logic                           load_valid_o,
  output logic      [31:0]               load_cmd_o,
  output logic      [31:0]               load_word_o,
  output logic      [CfgN-1:0]           load_be_o,
  output logic      [8*CfgN-1:0]         load_data_o,
  output logic                           weight_valid_o,
  output logic      [31:0]               weight_cmd_o,
  output logic      [SpaceBits-1:0]      weight_space_o,
  output logic      [31:0]               weight_word_o,
  output logic      [8*CfgN-1:0]         weight_data_o,
  output logic      [UnitCount-1:0]      done_o,
  output logic      [UnitCount*32-1:0]   done_cmd_o,
  output logic      [UnitCount*32-1:0]   unit_cmd_o,
  output logic      [UnitCount*16-1:0]   unit_layer_o,
  output logic      [UnitCount*3-1:0]    unit_kind_o,
  output logic      [3:0]                active_o,        // 0 without HD_GATE_CLOCKS
  output logic                           store_valid_o,   // W beats, traced
  output logic      [31:0]               store_cmd_o,
  output logic      [63:0]               store_addr_o,
  output logic                           store_wrong_o,   // the data and strobes on the bus are wrong
  output logic                           result_wrong_o,  // hd_requant's output is wrong
  output logic                           array_begin_o,   // hd_top's: of a command that the stub takes
  output logic                           array_taken_o,
  output logic      [31:0]               array_index_o,
  output logic      [CmdArrayBits-1:0]   array_cmd_o,
  output logic                           vector_taken_o,
  output logic      [31:0]               vector_index_o,
  output logic      [CmdVectorBits-1:0]  vector_cmd_o
);
  logic [CfgAxiAddrBits-1:0] araddr, awaddr;
  assign m_araddr_o = 64'(araddr);
  assign m_awaddr_o = 64'(awaddr);

  logic                      commit_q_valid;
  logic [2:0]                commit_q_unit;
  logic [31:0]               commit_q_cmd, commit_q_addr;
  logic [7:0]                commit_q_count;
  logic [8*CfgN-1:0]         commit_q_data;
  logic [CfgAxiAddrBits-1:0] commit_m_addr;
  logic [CfgAxiBytes-1:0]    commit_m_strb;
  logic [8*CfgAxiBytes-1:0]  commit_m_data;

`ifdef HD_GATE_CLOCKS
  // Gates without glitches: the enable is taken at the falling edge.
  logic [3:0] active, enable_q, gated;
  always_ff @(negedge clk_i) enable_q <= active;
  assign gated = {4{clk_i}} & enable_q;
  assign active_o = active;
`else
  assign active_o = '0;
`endif

  assign store_addr_o   = 64'(commit_m_addr);
  assign store_wrong_o  = store_valid_o != (m_wvalid_o && m_wready_i) || (store_valid_o
                          && {commit_m_strb, commit_m_data} != {m_wstrb_o, m_wdata_o});
  assign result_wrong_o = commit_q_valid != u_top.u_compute.u_requant.qw_valid_o
                          || (commit_q_valid
                              && {commit_q_unit, commit_q_cmd, commit_q_data}
                                 != {u_top.u_compute.u_requant.qw_unit_o,
                                     u_top.u_compute.u_requant.qw_cmd_o,
                                     u_top.u_compute.u_requant.qw_data_o})
                          || (commit_q_valid
                              && (commit_q_addr != 32'(u_top.u_compute.u_requant.qw_addr_o)
                                  || commit_q_count != 8'(u_top.u_compute.u_requant.qw_count_o)));
  assign array_taken_o  = u_top.u_compute.u_array.cmd_valid_i
                          && u_top.u_compute.u_array.cmd_ready_o;
  assign array_index_o  = u_top.u_compute.u_array.cmd_index_i;
  assign array_cmd_o    = u_top.u_compute.u_array.cmd_i;
  assign vector_taken_o = u_top.u_compute.u_vector.cmd_valid_i
                          && u_top.u_compute.u_vector.cmd_ready_o;
  assign vector_index_o = u_top.u_compute.u_vector.cmd_index_i;
  assign vector_cmd_o   = u_top.u_compute.u_vector.cmd_i;

  hd_top u_top (
    .clk_i,
`ifdef HD_GATE_CLOCKS
    .clk_control_i   (gated[0]),
    .active_control_o(active[0]),
    .clk_dma_i       (gated[1]),
    .active_dma_o    (active[1]),
    .clk_vector_i    (gated[2]),
    .active_vector_o (active[2]),
    .clk_requant_i   (gated[3]),
    .active_requant_o(active[3]),
`endif
    .rst_ni,
    .irq_o,
    .s_axil_awvalid(s_awvalid_i),
    .s_axil_awready(s_awready_o),
    .s_axil_awaddr (s_awaddr_i),
    .s_axil_wvalid (s_wvalid_i),
    .s_axil_wready (s_wready_o),
    .s_axil_wdata  (s_wdata_i),
    .s_axil_wstrb  (s_wstrb_i),
    .s_axil_bvalid (s_bvalid_o),
    .s_axil_bready (s_bready_i),
    .s_axil_bresp  (s_bresp_o),
    .s_axil_arvalid(s_arvalid_i),
    .s_axil_arready(s_arready_o),
    .s_axil_araddr (s_araddr_i),
    .s_axil_rvalid (s_rvalid_o),
    .s_axil_rready (s_rready_i),
    .s_axil_rdata  (s_rdata_o),
    .s_axil_rresp  (s_rresp_o),
    .m_axi_arvalid (m_arvalid_o),
    .m_axi_arready (m_arready_i),
    .m_axi_arid    (m_arid_o),
    .m_axi_araddr  (araddr),
    .m_axi_arlen   (m_arlen_o),
    .m_axi_arsize  (m_arsize_o),
    .m_axi_arburst (m_arburst_o),
    .m_axi_rvalid  (m_rvalid_i),
    .m_axi_rready  (m_rready_o),
    .m_axi_rid     (m_rid_i),
    .m_axi_rdata   (m_rdata_i),
    .m_axi_rresp   (m_rresp_i),
    .m_axi_rlast   (m_rlast_i),
    .m_axi_awvalid (m_awvalid_o),
    .m_axi_awready (m_awready_i),
    .m_axi_awid    (m_awid_o),
    .m_axi_awaddr  (awaddr),
    .m_axi_awlen   (m_awlen_o),
    .m_axi_awsize  (m_awsize_o),
    .m_axi_awburst (m_awburst_o),
    .m_axi_wvalid  (m_wvalid_o),
    .m_axi_wready  (m_wready_i),
    .m_axi_wdata   (m_wdata_o),
    .m_axi_wstrb   (m_wstrb_o),
    .m_axi_wlast   (m_wlast_o),
    .m_axi_bvalid  (m_bvalid_i),
    .m_axi_bready  (m_bready_o),
    .m_axi_bid     (m_bid_i),
    .m_axi_bresp   (m_bresp_i),
    .commit_q_valid_o(commit_q_valid),
    .commit_q_unit_o (commit_q_unit),
    .commit_q_cmd_o  (commit_q_cmd),
    .commit_q_addr_o (commit_q_addr),
    .commit_q_count_o(commit_q_count),
    .commit_q_data_o (commit_q_data),
    .commit_l_valid_o(load_valid_o),
    .commit_l_cmd_o  (load_cmd_o),
    .commit_l_word_o (load_word_o),
    .commit_l_be_o   (load_be_o),
    .commit_l_data_o (load_data_o),
    .commit_w_valid_o(weight_valid_o),
    .commit_w_cmd_o  (weight_cmd_o),
    .commit_w_space_o(weight_space_o),
    .commit_w_word_o (weight_word_o),
    .commit_w_data_o (weight_data_o),
    .commit_m_valid_o(store_valid_o),
    .commit_m_cmd_o  (store_cmd_o),
    .commit_m_addr_o (commit_m_addr),
    .commit_m_strb_o (commit_m_strb),
    .commit_m_data_o (commit_m_data),
    .done_o,
    .done_cmd_o,
    .unit_cmd_o,
    .unit_layer_o,
    .unit_kind_o,
    .array_begin_o
  );
endmodule

`default_nettype wire
