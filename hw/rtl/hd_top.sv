// hd_top - the accelerator: wires only. hw/README.md says what each module does,
// docs/HARDWARE.md what the ports mean.
//   The configuration is hd_config.svh; command formats, registers and enums are hd_accel.svh.
//   Vectors by unit are in the order of enum unit: load, weight, array, vector, store, fetch.
// Reset: rst_ni, synchronous, low for at least 2 cycles. Bench: frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"
`include "hd_bundles.svh"

module hd_top #(
  parameter bit Trace    = 1'b1,             // 0, for synthesis: what is traced is 0
  parameter int AxiBits  = 8 * CfgAxiBytes,  // derived, do not set
  parameter int WordBits = 8 * CfgN
) (
  input  wire logic                      clk_i,
`ifdef HD_GATE_CLOCKS
  // gates outside, for parts that may rest (hd_clocks)
  input  wire logic                      clk_control_i,
  output logic                           active_control_o,
  input  wire logic                      clk_dma_i,
  output logic                           active_dma_o,
  input  wire logic                      clk_vector_i,
  output logic                           active_vector_o,
  input  wire logic                      clk_requant_i,
  output logic                           active_requant_o,
`endif
  input  wire logic                      rst_ni,
  output logic                           irq_o,
  // registers (AXI4-Lite)
  input  wire logic                      s_axil_awvalid,
  output logic                           s_axil_awready,
  input  wire logic [11:0]               s_axil_awaddr,
  input  wire logic                      s_axil_wvalid,
  output logic                           s_axil_wready,
  input  wire logic [31:0]               s_axil_wdata,
  input  wire logic [3:0]                s_axil_wstrb,
  output logic                           s_axil_bvalid,
  input  wire logic                      s_axil_bready,
  output logic      [1:0]                s_axil_bresp,
  input  wire logic                      s_axil_arvalid,
  output logic                           s_axil_arready,
  input  wire logic [11:0]               s_axil_araddr,
  output logic                           s_axil_rvalid,
  input  wire logic                      s_axil_rready,
  output logic      [31:0]               s_axil_rdata,
  output logic      [1:0]                s_axil_rresp,
  // memory (AXI4)
  output logic                           m_axi_arvalid,
  input  wire logic                      m_axi_arready,
  output logic      [3:0]                m_axi_arid,
  output logic      [CfgAxiAddrBits-1:0] m_axi_araddr,
  output logic      [7:0]                m_axi_arlen,
  output logic      [2:0]                m_axi_arsize,
  output logic      [1:0]                m_axi_arburst,
  input  wire logic                      m_axi_rvalid,
  output logic                           m_axi_rready,
  input  wire logic [3:0]                m_axi_rid,
  input  wire logic [AxiBits-1:0]        m_axi_rdata,
  input  wire logic [1:0]                m_axi_rresp,
  input  wire logic                      m_axi_rlast,
  output logic                           m_axi_awvalid,
  input  wire logic                      m_axi_awready,
  output logic      [3:0]                m_axi_awid,
  output logic      [CfgAxiAddrBits-1:0] m_axi_awaddr,
  output logic      [7:0]                m_axi_awlen,
  output logic      [2:0]                m_axi_awsize,
  output logic      [1:0]                m_axi_awburst,
  output logic                           m_axi_wvalid,
  input  wire logic                      m_axi_wready,
  output logic      [AxiBits-1:0]        m_axi_wdata,
  output logic      [CfgAxiBytes-1:0]    m_axi_wstrb,
  output logic                           m_axi_wlast,
  input  wire logic                      m_axi_bvalid,
  output logic                           m_axi_bready,
  input  wire logic [3:0]                m_axi_bid,
  input  wire logic [1:0]                m_axi_bresp,
  // traced: commits: scratchpad by ARRAY and VECTOR, by LOAD; weight memories; memory (the beat's
  // address)
  output logic                           commit_q_valid_o,
  output logic      [2:0]                commit_q_unit_o,
  output logic      [31:0]               commit_q_cmd_o,
  output logic      [31:0]               commit_q_addr_o,
  output logic      [7:0]                commit_q_count_o,
  output logic      [WordBits-1:0]       commit_q_data_o,
  output logic                           commit_l_valid_o,
  output logic      [31:0]               commit_l_cmd_o,
  output logic      [31:0]               commit_l_word_o,
  output logic      [CfgN-1:0]           commit_l_be_o,
  output logic      [WordBits-1:0]       commit_l_data_o,
  output logic                           commit_w_valid_o,
  output logic      [31:0]               commit_w_cmd_o,
  output logic      [SpaceBits-1:0]      commit_w_space_o,
  output logic      [31:0]               commit_w_word_o,
  output logic      [WordBits-1:0]       commit_w_data_o,
  output logic                           commit_m_valid_o,
  output logic      [31:0]               commit_m_cmd_o,
  output logic      [CfgAxiAddrBits-1:0] commit_m_addr_o,
  output logic      [CfgAxiBytes-1:0]    commit_m_strb_o,
  output logic      [AxiBits-1:0]        commit_m_data_o,
  // traced: units, by enum unit
  output logic      [UnitCount-1:0]      done_o,
  output logic      [UnitCount*32-1:0]   done_cmd_o,
  output logic      [UnitCount*32-1:0]   unit_cmd_o,
  output logic      [UnitCount*16-1:0]   unit_layer_o,
  output logic      [UnitCount*3-1:0]    unit_kind_o,
  output logic                           array_begin_o  // hd_array_unit: for the simulator
);
  localparam int SpadBits   = $clog2(CfgScratchpadBytes);
  localparam int SpadWord   = $clog2(CfgScratchpadBytes / CfgN);
  localparam int CntBits    = $clog2(CfgN + 1);

  // Commands to the units and back.
  logic                            unit_rst_n, stop, write_quiet;
  logic [4:0]                      cmd_valid, cmd_ready, done;
  logic [5*32-1:0]                 cmd_index;
  logic [5*3-1:0]                  kind;
  logic [CmdDmaReadBits-1:0]       load_cmd, weight_cmd;
  logic [CmdArrayBits-1:0]         array_cmd;
  logic [CmdVectorBits-1:0]        vector_cmd;
  logic [CmdStoreBits-1:0]         store_cmd;
  logic [15:0]                     weight_count;
  logic                            trace_store, trace_begin;
  logic [2:0]                      trace_unit;
  logic [31:0]                     trace_cmd, trace_load_cmd, trace_weight_cmd, trace_store_cmd;
  logic [CfgAxiAddrBits-1:0]       trace_store_addr;
  logic [UnitCount-1:0]            trace_done;
  logic [UnitCount*32-1:0]         trace_done_cmd, trace_unit_cmd;
  logic [UnitCount*16-1:0]         trace_unit_layer;
  logic [UnitCount*3-1:0]          trace_unit_kind;

  logic                            clk_control, clk_dma, clk_vector, clk_requant;
  logic                            control_active, dma_active, vector_active, requant_active;

  hd_clocks u_clocks (
    .clk_i,
`ifdef HD_GATE_CLOCKS
    .clk_control_i,
    .active_control_o,
    .clk_dma_i,
    .active_dma_o,
    .clk_vector_i,
    .active_vector_o,
    .clk_requant_i,
    .active_requant_o,
`endif
    .rst_ni,
    .unit_rst_ni  (unit_rst_n),
    .control_i    (control_active),
    .dma_i        (dma_active),
    .vector_i     (vector_active),
    .requant_i    (requant_active),
    .clk_control_o(clk_control),
    .clk_dma_o    (clk_dma),
    .clk_vector_o (clk_vector),
    .clk_requant_o(clk_requant)
  );

  logic [3*4-1:0]                  region;  // load, weight, store
  logic [3*CfgAxiAddrBits-1:0]     region_base;
  logic [3*(CfgAxiAddrBits+1)-1:0] region_limit;
  logic [2:0]                      cmd_soon, region_right, fault;
  logic [1:0]                      req_valid, req_ready, r_valid, r_ready;
  logic [2*CfgAxiAddrBits-1:0]     req_addr;
  logic [2*8-1:0]                  req_len;
  logic [AxiBits-1:0]              r_data;
  logic                            r_error, r_last;
  logic [3*FaultBits-1:0]          fault_code;
  logic [3*32-1:0]                 fault_cmd;
  logic [3*64-1:0]                 fault_addr;

  // AXI's pins, in the order of the bundles' members.
  hd_axil_req_t      axil_req;
  hd_axil_rsp_t      axil_rsp;
  hd_axi_read_req_t  read_req;
  hd_axi_read_rsp_t  read_rsp;
  hd_axi_write_req_t write_req;
  hd_axi_write_rsp_t write_rsp;
  assign axil_req  = {s_axil_awvalid, s_axil_awaddr, s_axil_wvalid, s_axil_wdata, s_axil_wstrb,
                      s_axil_bready, s_axil_arvalid, s_axil_araddr, s_axil_rready};
  assign read_rsp  = {m_axi_arready, m_axi_rvalid, m_axi_rid, m_axi_rdata, m_axi_rresp,
                      m_axi_rlast};
  assign write_rsp = {m_axi_awready, m_axi_wready, m_axi_bvalid, m_axi_bid, m_axi_bresp};
  assign {s_axil_awready, s_axil_wready, s_axil_bvalid, s_axil_bresp, s_axil_arready,
          s_axil_rvalid, s_axil_rdata, s_axil_rresp} = axil_rsp;
  assign {m_axi_arvalid, m_axi_arid, m_axi_araddr, m_axi_arlen, m_axi_arsize, m_axi_arburst,
          m_axi_rready} = read_req;
  assign {m_axi_awvalid, m_axi_awid, m_axi_awaddr, m_axi_awlen, m_axi_awsize, m_axi_awburst,
          m_axi_wvalid, m_axi_wdata, m_axi_wstrb, m_axi_wlast, m_axi_bready} = write_req;

  hd_control u_control (
    .clk_i         (clk_control),
    .clk_free_i    (clk_i),
    .rst_ni,
    .irq_o,
    .active_o      (control_active),
    .axil_i        (axil_req),
    .axil_o        (axil_rsp),
    .axi_i         (read_rsp),
    .axi_o         (read_req),
    .unit_rst_no   (unit_rst_n),
    .stop_o        (stop),
    .cmd_valid_o   (cmd_valid),
    .cmd_ready_i   (cmd_ready),
    .load_cmd_o    (load_cmd),
    .weight_cmd_o  (weight_cmd),
    .array_cmd_o   (array_cmd),
    .vector_cmd_o  (vector_cmd),
    .store_cmd_o   (store_cmd),
    .cmd_index_o   (cmd_index),
    .done_i        (done),
    .kind_i        (kind),
    .weight_count_o(weight_count),
    .write_quiet_i (write_quiet),
    .cmd_soon_o    (cmd_soon),
    .region_i      (region),
    .region_base_o (region_base),
    .region_limit_o(region_limit),
    .region_right_o(region_right),
    .req_valid_i   (req_valid),
    .req_ready_o   (req_ready),
    .req_addr_i    (req_addr),
    .req_len_i     (req_len),
    .r_valid_o     (r_valid),
    .r_ready_i     (r_ready),
    .r_data_o      (r_data),
    .r_error_o     (r_error),
    .r_last_o      (r_last),
    .fault_i       (fault),
    .fault_code_i  (fault_code),
    .fault_cmd_i   (fault_cmd),
    .fault_addr_i  (fault_addr),
    .done_o        (trace_done),
    .done_cmd_o    (trace_done_cmd),
    .unit_cmd_o    (trace_unit_cmd),
    .unit_layer_o  (trace_unit_layer),
    .unit_kind_o   (trace_unit_kind)
  );

  // LOAD, WEIGHT, STORE.
  logic                  load_valid, load_ready, sr_req, sr_ready, weight_valid;
  logic [SpadWord-1:0]   load_word, sr_word;
  logic [CfgN-1:0]       load_be;
  logic [WordBits-1:0]   load_data, sr_data;
  hd_weight_word_t       weight;

  hd_dma u_dma (
    .clk_i           (clk_dma),
    .rst_ni          (unit_rst_n),
    .stop_i          (stop),
    .write_quiet_o   (write_quiet),
    .active_o        (dma_active),
    .cmd_soon_i      (cmd_soon),
    .cmd_valid_i     ({cmd_valid[UnitStore], cmd_valid[UnitWeight], cmd_valid[UnitLoad]}),
    .cmd_ready_o     ({cmd_ready[UnitStore], cmd_ready[UnitWeight], cmd_ready[UnitLoad]}),
    .load_cmd_i      (load_cmd),
    .weight_cmd_i    (weight_cmd),
    .store_cmd_i     (store_cmd),
    .cmd_index_i     ({cmd_index[UnitStore*32 +: 32], cmd_index[UnitWeight*32 +: 32],
                       cmd_index[UnitLoad*32 +: 32]}),
    .done_o          ({done[UnitStore], done[UnitWeight], done[UnitLoad]}),
    .kind_o          ({kind[UnitStore*3 +: 3], kind[UnitWeight*3 +: 3], kind[UnitLoad*3 +: 3]}),
    .region_o        (region),
    .region_base_i   (region_base),
    .region_limit_i  (region_limit),
    .region_right_i  (region_right),
    .fault_o         (fault),
    .fault_code_o    (fault_code),
    .fault_cmd_o     (fault_cmd),
    .fault_addr_o    (fault_addr),
    .req_valid_o     (req_valid),
    .req_ready_i     (req_ready),
    .req_addr_o      (req_addr),
    .req_len_o       (req_len),
    .r_valid_i       (r_valid),
    .r_ready_o       (r_ready),
    .r_data_i        (r_data),
    .r_error_i       (r_error),
    .r_last_i        (r_last),
    .lw_valid_o      (load_valid),
    .lw_ready_i      (load_ready),
    .lw_word_o       (load_word),
    .lw_be_o         (load_be),
    .lw_data_o       (load_data),
    .lw_cmd_o        (trace_load_cmd),
    .sr_req_o        (sr_req),
    .sr_ready_i      (sr_ready),
    .sr_word_o       (sr_word),
    .sr_data_i       (sr_data),
    .ww_valid_o      (weight_valid),
    .ww_o            (weight),
    .ww_cmd_o        (trace_weight_cmd),
    .axi_i           (write_rsp),
    .axi_o           (write_req),
    .commit_m_valid_o(trace_store),
    .commit_m_cmd_o  (trace_store_cmd),
    .commit_m_addr_o (trace_store_addr)
  );

  // ARRAY, VECTOR and the memories.
  logic                qw_valid;
  logic [SpadBits-1:0] qw_addr;
  logic [CntBits-1:0]  qw_count;
  logic [WordBits-1:0] qw_data;

  hd_compute u_compute (
    .clk_i,
    .clk_vector_i    (clk_vector),
    .clk_requant_i   (clk_requant),
    .rst_ni          (unit_rst_n),
    .vector_active_o (vector_active),
    .requant_active_o(requant_active),
    .stop_i          (stop),
    .cmd_valid_i     ({cmd_valid[UnitVector], cmd_valid[UnitArray]}),
    .cmd_ready_o     ({cmd_ready[UnitVector], cmd_ready[UnitArray]}),
    .array_cmd_i     (array_cmd),
    .vector_cmd_i    (vector_cmd),
    .cmd_index_i     ({cmd_index[UnitVector*32 +: 32], cmd_index[UnitArray*32 +: 32]}),
    .done_o          ({done[UnitVector], done[UnitArray]}),
    .kind_o          ({kind[UnitVector*3 +: 3], kind[UnitArray*3 +: 3]}),
    .array_begin_o   (trace_begin),
    .weight_done_i   (done[UnitWeight]),
    .weight_count_i  (weight_count),
    .lw_valid_i      (load_valid),
    .lw_ready_o      (load_ready),
    .lw_word_i       (load_word),
    .lw_be_i         (load_be),
    .lw_data_i       (load_data),
    .ww_valid_i      (weight_valid),
    .ww_i            (weight),
    .sr_req_i        (sr_req),
    .sr_ready_o      (sr_ready),
    .sr_word_i       (sr_word),
    .sr_data_o       (sr_data),
    .qw_valid_o      (qw_valid),
    .qw_addr_o       (qw_addr),
    .qw_count_o      (qw_count),
    .qw_data_o       (qw_data),
    .qw_unit_o       (trace_unit),
    .qw_cmd_o        (trace_cmd)
  );

  // The trace, or nothing: then synthesis removes the logic that only the trace needs.
  assign commit_q_valid_o = Trace ? qw_valid : '0;
  assign commit_q_unit_o  = Trace ? trace_unit : '0;
  assign commit_q_cmd_o   = Trace ? trace_cmd : '0;
  assign commit_q_addr_o  = Trace ? 32'(qw_addr) : '0;
  assign commit_q_count_o = Trace ? 8'(qw_count) : '0;
  assign commit_q_data_o  = Trace ? qw_data : '0;
  assign commit_l_valid_o = Trace ? (load_valid && load_ready) : '0;
  assign commit_l_cmd_o   = Trace ? trace_load_cmd : '0;
  assign commit_l_word_o  = Trace ? 32'(load_word) : '0;
  assign commit_l_be_o    = Trace ? load_be : '0;
  assign commit_l_data_o  = Trace ? load_data : '0;
  assign commit_w_valid_o = Trace ? weight_valid : '0;
  assign commit_w_cmd_o   = Trace ? trace_weight_cmd : '0;
  assign commit_w_space_o = Trace ? weight.space : '0;
  assign commit_w_word_o  = Trace ? 32'(weight.word) : '0;
  assign commit_w_data_o  = Trace ? weight.data : '0;
  assign commit_m_valid_o = Trace ? trace_store : '0;
  assign commit_m_cmd_o   = Trace ? trace_store_cmd : '0;
  assign commit_m_addr_o  = Trace ? trace_store_addr : '0;
  assign commit_m_strb_o  = Trace ? m_axi_wstrb : '0;
  assign commit_m_data_o  = Trace ? m_axi_wdata : '0;
  assign done_o           = Trace ? trace_done : '0;
  assign done_cmd_o       = Trace ? trace_done_cmd : '0;
  assign unit_cmd_o       = Trace ? trace_unit_cmd : '0;
  assign unit_layer_o     = Trace ? trace_unit_layer : '0;
  assign unit_kind_o      = Trace ? trace_unit_kind : '0;
  assign array_begin_o    = Trace ? trace_begin : '0;

endmodule

`default_nettype wire
