// hd_top - the accelerator: wires only. hw/README.md says what each module does and what the ports mean.
//   The configuration is hd_config.svh; command formats, registers and enums are hd_accel.svh.
// Reset: rst_ni, synchronous, low for at least 2 cycles. Bench: tests/hw/frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module hd_top #(
  parameter int AxiBits  = 8 * CfgAxiBytes,  // derived, do not set
  parameter int WordBits = 8 * CfgN
) (
  input  wire logic                      clk_i,
`ifdef HD_GATE_CLOCKS
  // gates outside, for parts that may rest: clk_x_i has the edges of clk_i in whose cycle active_x_o was set
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
  // commits: scratchpad by ARRAY and VECTOR, by LOAD; weight memories; memory (address of the beat)
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
  output logic      [2:0]                commit_w_space_o,
  output logic      [31:0]               commit_w_word_o,
  output logic      [WordBits-1:0]       commit_w_data_o,
  output logic                           commit_m_valid_o,
  output logic      [31:0]               commit_m_cmd_o,
  output logic      [CfgAxiAddrBits-1:0] commit_m_addr_o,
  output logic      [CfgAxiBytes-1:0]    commit_m_strb_o,
  output logic      [AxiBits-1:0]        commit_m_data_o,
  // units, by enum unit
  output logic      [UnitCount-1:0]      done_o,
  output logic      [UnitCount*32-1:0]   done_cmd_o,
  output logic      [UnitCount*32-1:0]   unit_cmd_o,
  output logic      [UnitCount*16-1:0]   unit_layer_o,
  output logic      [UnitCount*3-1:0]    unit_kind_o,
  output logic                           array_begin_o  // hd_array_unit's begin_o: for the simulator's books
);
  localparam int SpadBits    = $clog2(CfgScratchpadBytes);
  localparam int SpadWord    = $clog2(CfgScratchpadBytes / CfgN);
  localparam int WeightBits  = $clog2(CfgWeightBytes / CfgN);
  localparam int EntryBits   = $clog2(CfgParamEntries);
  localparam int CntBits     = $clog2(CfgN + 1);
  localparam int PushBits    = CmdArrayBits > CmdVectorBits ? CmdArrayBits : CmdVectorBits;

  // Engine.
  logic                                start, clear, stop, unit_rst_n, stream_end;
  logic [31:0]                         stream_offset, stream_bytes;
  logic                                read_quiet, write_quiet;
  logic [4:0]                          push_valid, push_ready, empty, in_unit;
  logic [PushBits-1:0]                 push_cmd;
  logic [31:0]                         push_index;
  logic [5*32-1:0]                     count;
  logic [5*16-1:0]                     count_low;
  logic [5*3-1:0]                      kind;     // from the units' own sight
  logic [4:0]                          done, cmd_valid, cmd_ready;
  logic [5*32-1:0]                     cmd_index;
  logic [CmdDmaReadBits-1:0]           load_cmd, weight_cmd;
  logic [CmdArrayBits-1:0]             array_cmd;
  logic [CmdVectorBits-1:0]            vector_cmd;
  logic [CmdStoreBits-1:0]             store_cmd;
  logic [3:0]                          fetch_region, load_region, weight_region, store_region;
  logic [4*CfgAxiAddrBits-1:0]         region_base;   // load, weight, store, fetch
  logic [4*(CfgAxiAddrBits+1)-1:0]     region_limit;
  logic [3:0]                          fault;         // load, weight, store, fetch
  logic [4*FaultBits-1:0]              fault_code;
  logic [4*32-1:0]                     fault_cmd;
  logic [4*64-1:0]                     fault_addr;

  assign fetch_region = 4'd0;

  // Clocks: a part may rest while its active is low, since then none of its registers would change; active may be
  // high in vain. control: registers, FETCH, queues, read channel; dma: LOAD, WEIGHT, STORE. ARRAY and
  // memories never rest. The simulator gates (HD_GATE_CLOCKS: what rests costs it nothing); elsewhere all
  // are clk_i. Cycles and bytes are the same (hw/frame_gates_n8).
  logic       clk_control, clk_dma, clk_vector, clk_requant;
  logic       active_control, active_dma, active_vector, active_requant;
  logic       load_active, weight_active, vector_active, store_active;
  logic       a_valid, v_valid, v_busy;  // into hd_requant, and in it
  logic [1:0] a_busy;
  logic [7:0] active;  // of the control domain: queues by unit, registers, read channel, FETCH

  assign active_control = !rst_ni || active != '0;
  assign active_dma     = !unit_rst_n || load_active || weight_active || store_active;
  assign active_vector  = !unit_rst_n || vector_active;
  assign active_requant = !unit_rst_n || a_valid || v_valid || a_busy != '0 || v_busy;
`ifdef HD_GATE_CLOCKS
  assign clk_control = clk_control_i;
  assign clk_dma     = clk_dma_i;
  assign clk_vector  = clk_vector_i;
  assign clk_requant = clk_requant_i;
  assign active_control_o = active_control;
  assign active_dma_o     = active_dma;
  assign active_vector_o  = active_vector;
  assign active_requant_o = active_requant;
`else
  logic unused_active;
  assign {clk_requant, clk_vector, clk_dma, clk_control} = {4{clk_i}};
  assign unused_active = ^{active_requant, active_vector, active_dma, active_control};
`endif

  hd_regs #(
    .AddrBits  (CfgAxiAddrBits),
    .ConfigHash(CfgHash)
  ) u_regs (
    .clk_i          (clk_control),
    .clk_free_i     (clk_i),
    .active_o       (active[5]),
    .rst_ni,
    .s_axil_awvalid,
    .s_axil_awready,
    .s_axil_awaddr,
    .s_axil_wvalid,
    .s_axil_wready,
    .s_axil_wdata,
    .s_axil_wstrb,
    .s_axil_bvalid,
    .s_axil_bready,
    .s_axil_bresp,
    .s_axil_arvalid,
    .s_axil_arready,
    .s_axil_araddr,
    .s_axil_rvalid,
    .s_axil_rready,
    .s_axil_rdata,
    .s_axil_rresp,
    .irq_o,
    .start_o        (start),
    .clear_o        (clear),
    .stop_o         (stop),
    .unit_rst_no    (unit_rst_n),
    .stream_offset_o(stream_offset),
    .stream_bytes_o (stream_bytes),
    .end_i          (stream_end),
    .bus_quiet_i    (read_quiet && write_quiet),
    .units_quiet_i  (!in_unit[UnitArray] && !in_unit[UnitVector]),
    .unit_kind_i    (unit_kind_o),
    .unit_cmd_i     (unit_cmd_o),
    .unit_count_i   ({push_index, count}),
    .region_i       ({fetch_region, store_region, weight_region, load_region}),
    .region_base_o  (region_base),
    .region_limit_o (region_limit),
    .fault_i        (fault),
    .fault_code_i   (fault_code),
    .fault_cmd_i    (fault_cmd),
    .fault_addr_i   (fault_addr)
  );

  // Read channel: load, weight, fetch.
  logic [2:0]                  req_valid, req_ready, r_valid, r_ready;
  logic [3*CfgAxiAddrBits-1:0] req_addr;
  logic [3*8-1:0]              req_len;
  logic [AxiBits-1:0]          r_data;
  logic                        r_error;

  hd_axi_read #(
    .AxiBytes(CfgAxiBytes),
    .AddrBits(CfgAxiAddrBits),
    .Bursts  (CfgReadBursts)
  ) u_axi_read (
    .clk_i      (clk_control),
    .active_o   (active[6]),
    .rst_ni,
    .stop_i     (stop),
    .quiet_o    (read_quiet),
    .req_valid_i(req_valid),
    .req_ready_o(req_ready),
    .req_addr_i (req_addr),
    .req_len_i  (req_len),
    .r_valid_o  (r_valid),
    .r_ready_i  (r_ready),
    .r_data_o   (r_data),
    .r_error_o  (r_error),
    .m_axi_arvalid,
    .m_axi_arready,
    .m_axi_arid,
    .m_axi_araddr,
    .m_axi_arlen,
    .m_axi_arsize,
    .m_axi_arburst,
    .m_axi_rvalid,
    .m_axi_rready,
    .m_axi_rid,
    .m_axi_rdata,
    .m_axi_rresp,
    .m_axi_rlast
  );

  hd_fetch #(
    .AxiBytes  (CfgAxiBytes),
    .AddrBits  (CfgAxiAddrBits),
    .PushBits  (PushBits),
    .ConfigHash(CfgHash)
  ) u_fetch (
    .clk_i          (clk_control),
    .active_o       (active[7]),
    .rst_ni         (unit_rst_n),
    .clear_i        (clear),
    .start_i        (start),
    .stop_i         (stop),
    .stream_offset_i(stream_offset),
    .stream_bytes_i (stream_bytes),
    .region_base_i  (region_base[3*CfgAxiAddrBits +: CfgAxiAddrBits]),
    .region_limit_i (region_limit[3*(CfgAxiAddrBits+1) +: CfgAxiAddrBits+1]),
    .req_valid_o    (req_valid[2]),
    .req_ready_i    (req_ready[2]),
    .req_addr_o     (req_addr[2*CfgAxiAddrBits +: CfgAxiAddrBits]),
    .req_len_o      (req_len[2*8 +: 8]),
    .r_valid_i      (r_valid[2]),
    .r_ready_o      (r_ready[2]),
    .r_data_i       (r_data),
    .r_error_i      (r_error),
    .bus_quiet_i    (read_quiet),
    .push_valid_o   (push_valid),
    .push_ready_i   (push_ready),
    .push_cmd_o     (push_cmd),
    .empty_i        (empty),
    .end_o          (stream_end),
    .index_o        (push_index),
    .layer_o        (unit_layer_o[UnitFetch*16 +: 16]),
    .kind_o         (unit_kind_o[UnitFetch*3 +: 3]),
    .fault_o        (fault[3]),
    .fault_code_o   (fault_code[3*FaultBits +: FaultBits]),
    .fault_cmd_o    (fault_cmd[3*32 +: 32]),
    .fault_addr_o   (fault_addr[3*64 +: 64])
  );

  // FETCH's own command is END.
  assign done_o[UnitFetch]              = stream_end;
  assign done_cmd_o[UnitFetch*32 +: 32] = push_index;
  assign unit_cmd_o[UnitFetch*32 +: 32] = push_index;

  // Queues.
  for (genvar u = 0; u < 5; u++) begin : gen_count_low
    assign count_low[u*16 +: 16] = count[u*32 +: 16];
  end

  hd_issue #(
    .Bits    (CmdDmaReadBits),
    .PushBits(PushBits),
    .Depth   (TimingDmaQueue),
    .InFlight(8),
    .WaitKind(CounterLoadWaitToken % 8),
    .IdleKind(CounterLoadIdle % 8)
  ) u_load_issue (
    .clk_i       (clk_control),
    .active_o    (active[UnitLoad]),
    .rst_ni      (unit_rst_n),
    .clear_i     (clear),
    .stop_i      (stop),
    .push_valid_i(push_valid[UnitLoad]),
    .push_ready_o(push_ready[UnitLoad]),
    .push_cmd_i  (push_cmd),
    .push_index_i(push_index),
    .counts_i    (count_low),
    .cmd_valid_o (cmd_valid[UnitLoad]),
    .cmd_ready_i (cmd_ready[UnitLoad]),
    .cmd_o       (load_cmd),
    .cmd_index_o (cmd_index[UnitLoad*32 +: 32]),
    .done_i      (done[UnitLoad]),
    .kind_i      (kind[UnitLoad*3 +: 3]),
    .count_o     (count[UnitLoad*32 +: 32]),
    .empty_o     (empty[UnitLoad]),
    .in_unit_o   (in_unit[UnitLoad]),
    .done_o      (done_o[UnitLoad]),
    .done_cmd_o  (done_cmd_o[UnitLoad*32 +: 32]),
    .unit_cmd_o  (unit_cmd_o[UnitLoad*32 +: 32]),
    .unit_layer_o(unit_layer_o[UnitLoad*16 +: 16]),
    .kind_o      (unit_kind_o[UnitLoad*3 +: 3])
  );

  hd_issue #(
    .Bits    (CmdDmaReadBits),
    .PushBits(PushBits),
    .Depth   (TimingDmaQueue),
    .InFlight(8),
    .WaitKind(CounterWeightWaitToken % 8),
    .IdleKind(CounterWeightIdle % 8)
  ) u_weight_issue (
    .clk_i       (clk_control),
    .active_o    (active[UnitWeight]),
    .rst_ni      (unit_rst_n),
    .clear_i     (clear),
    .stop_i      (stop),
    .push_valid_i(push_valid[UnitWeight]),
    .push_ready_o(push_ready[UnitWeight]),
    .push_cmd_i  (push_cmd),
    .push_index_i(push_index),
    .counts_i    (count_low),
    .cmd_valid_o (cmd_valid[UnitWeight]),
    .cmd_ready_i (cmd_ready[UnitWeight]),
    .cmd_o       (weight_cmd),
    .cmd_index_o (cmd_index[UnitWeight*32 +: 32]),
    .done_i      (done[UnitWeight]),
    .kind_i      (kind[UnitWeight*3 +: 3]),
    .count_o     (count[UnitWeight*32 +: 32]),
    .empty_o     (empty[UnitWeight]),
    .in_unit_o   (in_unit[UnitWeight]),
    .done_o      (done_o[UnitWeight]),
    .done_cmd_o  (done_cmd_o[UnitWeight*32 +: 32]),
    .unit_cmd_o  (unit_cmd_o[UnitWeight*32 +: 32]),
    .unit_layer_o(unit_layer_o[UnitWeight*16 +: 16]),
    .kind_o      (unit_kind_o[UnitWeight*3 +: 3])
  );

  hd_issue #(
    .Bits    (CmdArrayBits),
    .PushBits(PushBits),
    .Depth   (TimingComputeQueue),
    .InFlight(4),  // three: two slots, one waiting
    .WaitKind(CounterArrayWaitToken % 8),
    .IdleKind(CounterArrayIdle % 8)
  ) u_array_issue (
    .clk_i       (clk_control),
    .active_o    (active[UnitArray]),
    .rst_ni      (unit_rst_n),
    .clear_i     (clear),
    .stop_i      (stop),
    .push_valid_i(push_valid[UnitArray]),
    .push_ready_o(push_ready[UnitArray]),
    .push_cmd_i  (push_cmd),
    .push_index_i(push_index),
    .counts_i    (count_low),
    .cmd_valid_o (cmd_valid[UnitArray]),
    .cmd_ready_i (cmd_ready[UnitArray]),
    .cmd_o       (array_cmd),
    .cmd_index_o (cmd_index[UnitArray*32 +: 32]),
    .done_i      (done[UnitArray]),
    .kind_i      (kind[UnitArray*3 +: 3]),
    .count_o     (count[UnitArray*32 +: 32]),
    .empty_o     (empty[UnitArray]),
    .in_unit_o   (in_unit[UnitArray]),
    .done_o      (done_o[UnitArray]),
    .done_cmd_o  (done_cmd_o[UnitArray*32 +: 32]),
    .unit_cmd_o  (unit_cmd_o[UnitArray*32 +: 32]),
    .unit_layer_o(unit_layer_o[UnitArray*16 +: 16]),
    .kind_o      (unit_kind_o[UnitArray*3 +: 3])
  );

  hd_issue #(
    .Bits    (CmdVectorBits),
    .PushBits(PushBits),
    .Depth   (TimingComputeQueue),
    .InFlight(2),
    .WaitKind(CounterVectorWaitToken % 8),
    .IdleKind(CounterVectorIdle % 8)
  ) u_vector_issue (
    .clk_i       (clk_control),
    .active_o    (active[UnitVector]),
    .rst_ni      (unit_rst_n),
    .clear_i     (clear),
    .stop_i      (stop),
    .push_valid_i(push_valid[UnitVector]),
    .push_ready_o(push_ready[UnitVector]),
    .push_cmd_i  (push_cmd),
    .push_index_i(push_index),
    .counts_i    (count_low),
    .cmd_valid_o (cmd_valid[UnitVector]),
    .cmd_ready_i (cmd_ready[UnitVector]),
    .cmd_o       (vector_cmd),
    .cmd_index_o (cmd_index[UnitVector*32 +: 32]),
    .done_i      (done[UnitVector]),
    .kind_i      (kind[UnitVector*3 +: 3]),
    .count_o     (count[UnitVector*32 +: 32]),
    .empty_o     (empty[UnitVector]),
    .in_unit_o   (in_unit[UnitVector]),
    .done_o      (done_o[UnitVector]),
    .done_cmd_o  (done_cmd_o[UnitVector*32 +: 32]),
    .unit_cmd_o  (unit_cmd_o[UnitVector*32 +: 32]),
    .unit_layer_o(unit_layer_o[UnitVector*16 +: 16]),
    .kind_o      (unit_kind_o[UnitVector*3 +: 3])
  );

  hd_issue #(
    .Bits    (CmdStoreBits),
    .PushBits(PushBits),
    .Depth   (TimingDmaQueue),
    .InFlight(8),
    .WaitKind(CounterStoreWaitToken % 8),
    .IdleKind(CounterStoreIdle % 8)
  ) u_store_issue (
    .clk_i       (clk_control),
    .active_o    (active[UnitStore]),
    .rst_ni      (unit_rst_n),
    .clear_i     (clear),
    .stop_i      (stop),
    .push_valid_i(push_valid[UnitStore]),
    .push_ready_o(push_ready[UnitStore]),
    .push_cmd_i  (push_cmd),
    .push_index_i(push_index),
    .counts_i    (count_low),
    .cmd_valid_o (cmd_valid[UnitStore]),
    .cmd_ready_i (cmd_ready[UnitStore]),
    .cmd_o       (store_cmd),
    .cmd_index_o (cmd_index[UnitStore*32 +: 32]),
    .done_i      (done[UnitStore]),
    .kind_i      (kind[UnitStore*3 +: 3]),
    .count_o     (count[UnitStore*32 +: 32]),
    .empty_o     (empty[UnitStore]),
    .in_unit_o   (in_unit[UnitStore]),
    .done_o      (done_o[UnitStore]),
    .done_cmd_o  (done_cmd_o[UnitStore*32 +: 32]),
    .unit_cmd_o  (unit_cmd_o[UnitStore*32 +: 32]),
    .unit_layer_o(unit_layer_o[UnitStore*16 +: 16]),
    .kind_o      (unit_kind_o[UnitStore*3 +: 3])
  );

  // LOAD.
  logic                load_valid, load_ready;
  logic [SpaceBits-1:0] load_space;
  logic [SpadWord-1:0] load_word;
  logic [CfgN-1:0]     load_be;
  logic [WordBits-1:0] load_data;

  hd_dma_read #(
    .IsLoad  (1),
    .N       (CfgN),
    .AxiBytes(CfgAxiBytes),
    .AddrBits(CfgAxiAddrBits),
    .WordBits(SpadWord)
  ) u_load (
    .clk_i         (clk_dma),
    .active_o      (load_active),
    .rst_ni        (unit_rst_n),
    .cmd_valid_i   (cmd_valid[UnitLoad]),
    .cmd_ready_o   (cmd_ready[UnitLoad]),
    .cmd_i         (load_cmd),
    .cmd_index_i   (cmd_index[UnitLoad*32 +: 32]),
    .done_o        (done[UnitLoad]),
    .kind_o        (kind[UnitLoad*3 +: 3]),
    .region_o      (load_region),
    .region_base_i (region_base[0*CfgAxiAddrBits +: CfgAxiAddrBits]),
    .region_limit_i(region_limit[0*(CfgAxiAddrBits+1) +: CfgAxiAddrBits+1]),
    .req_valid_o   (req_valid[0]),
    .req_ready_i   (req_ready[0]),
    .req_addr_o    (req_addr[0*CfgAxiAddrBits +: CfgAxiAddrBits]),
    .req_len_o     (req_len[0*8 +: 8]),
    .r_valid_i     (r_valid[0]),
    .r_ready_o     (r_ready[0]),
    .r_data_i      (r_data),
    .r_error_i     (r_error),
    .out_valid_o   (load_valid),
    .out_ready_i   (load_ready),
    .out_space_o   (load_space),
    .out_word_o    (load_word),
    .out_be_o      (load_be),
    .out_data_o    (load_data),
    .out_cmd_o     (commit_l_cmd_o),
    .fault_o       (fault[0]),
    .fault_code_o  (fault_code[0*FaultBits +: FaultBits]),
    .fault_cmd_o   (fault_cmd[0*32 +: 32]),
    .fault_addr_o  (fault_addr[0*64 +: 64])
  );

  assign commit_l_valid_o = load_valid && load_ready;
  assign commit_l_word_o  = 32'(load_word);
  assign commit_l_be_o    = load_be;
  assign commit_l_data_o  = load_data;

  // WEIGHT.
  logic                  weight_valid;
  logic [SpaceBits-1:0]  weight_space;
  logic [WeightBits-1:0] weight_word;
  logic [CfgN-1:0]       weight_be;
  logic [WordBits-1:0]   weight_data;

  hd_dma_read #(
    .IsLoad  (0),
    .N       (CfgN),
    .AxiBytes(CfgAxiBytes),
    .AddrBits(CfgAxiAddrBits),
    .WordBits(WeightBits)
  ) u_weight (
    .clk_i         (clk_dma),
    .active_o      (weight_active),
    .rst_ni        (unit_rst_n),
    .cmd_valid_i   (cmd_valid[UnitWeight]),
    .cmd_ready_o   (cmd_ready[UnitWeight]),
    .cmd_i         (weight_cmd),
    .cmd_index_i   (cmd_index[UnitWeight*32 +: 32]),
    .done_o        (done[UnitWeight]),
    .kind_o        (kind[UnitWeight*3 +: 3]),
    .region_o      (weight_region),
    .region_base_i (region_base[1*CfgAxiAddrBits +: CfgAxiAddrBits]),
    .region_limit_i(region_limit[1*(CfgAxiAddrBits+1) +: CfgAxiAddrBits+1]),
    .req_valid_o   (req_valid[1]),
    .req_ready_i   (req_ready[1]),
    .req_addr_o    (req_addr[1*CfgAxiAddrBits +: CfgAxiAddrBits]),
    .req_len_o     (req_len[1*8 +: 8]),
    .r_valid_i     (r_valid[1]),
    .r_ready_o     (r_ready[1]),
    .r_data_i      (r_data),
    .r_error_i     (r_error),
    .out_valid_o   (weight_valid),
    .out_ready_i   (1'b1),
    .out_space_o   (weight_space),
    .out_word_o    (weight_word),
    .out_be_o      (weight_be),
    .out_data_o    (weight_data),
    .out_cmd_o     (commit_w_cmd_o),
    .fault_o       (fault[1]),
    .fault_code_o  (fault_code[1*FaultBits +: FaultBits]),
    .fault_cmd_o   (fault_cmd[1*32 +: 32]),
    .fault_addr_o  (fault_addr[1*64 +: 64])
  );

  assign commit_w_valid_o = weight_valid;
  assign commit_w_space_o = weight_space;
  assign commit_w_word_o  = 32'(weight_word);
  assign commit_w_data_o  = weight_data;

  // STORE.
  logic                      sr_req, sr_ready;
  logic [SpadWord-1:0]       sr_word;
  logic [WordBits-1:0]       sr_data;

  hd_store #(
    .N       (CfgN),
    .AxiBytes(CfgAxiBytes),
    .AddrBits(CfgAxiAddrBits),
    .WordBits(SpadWord)
  ) u_store (
    .clk_i         (clk_dma),
    .active_o      (store_active),
    .rst_ni        (unit_rst_n),
    .stop_i        (stop),
    .quiet_o       (write_quiet),
    .cmd_valid_i   (cmd_valid[UnitStore]),
    .cmd_ready_o   (cmd_ready[UnitStore]),
    .cmd_i         (store_cmd),
    .cmd_index_i   (cmd_index[UnitStore*32 +: 32]),
    .done_o        (done[UnitStore]),
    .kind_o        (kind[UnitStore*3 +: 3]),
    .region_o      (store_region),
    .region_base_i (region_base[2*CfgAxiAddrBits +: CfgAxiAddrBits]),
    .region_limit_i(region_limit[2*(CfgAxiAddrBits+1) +: CfgAxiAddrBits+1]),
    .sr_req_o      (sr_req),
    .sr_ready_i    (sr_ready),
    .sr_word_o     (sr_word),
    .sr_data_i     (sr_data),
    .m_axi_awvalid,
    .m_axi_awready,
    .m_axi_awid,
    .m_axi_awaddr,
    .m_axi_awlen,
    .m_axi_awsize,
    .m_axi_awburst,
    .m_axi_wvalid,
    .m_axi_wready,
    .m_axi_wdata,
    .m_axi_wstrb,
    .m_axi_wlast,
    .m_axi_bvalid,
    .m_axi_bready,
    .m_axi_bid,
    .m_axi_bresp,
    .commit_valid_o(commit_m_valid_o),
    .commit_cmd_o  (commit_m_cmd_o),
    .commit_addr_o (commit_m_addr_o),
    .fault_o       (fault[2]),
    .fault_code_o  (fault_code[2*FaultBits +: FaultBits]),
    .fault_cmd_o   (fault_cmd[2*32 +: 32]),
    .fault_addr_o  (fault_addr[2*64 +: 64])
  );

  assign commit_m_strb_o = m_axi_wstrb;
  assign commit_m_data_o = m_axi_wdata;

  // Scratchpad.
  logic [CfgPorts-1:0]               ar_req;
  logic [CfgPorts*SpadBits-1:0]      ar_addr;
  logic [CfgPorts*CntBits-1:0]       ar_lo, ar_hi;
  logic                              ar_en;
  logic [CfgPorts*2*WordBits-1:0]    ar_data;
  logic [1:0]                        vr_req, vr_ready;
  logic [2*SpadBits-1:0]             vr_addr;
  logic [2*CntBits-1:0]              vr_lo, vr_hi;
  logic [2*2*WordBits-1:0]           vr_data;
  logic                              qw_valid;
  logic [SpadBits-1:0]               qw_addr;
  logic [CntBits-1:0]                qw_count;
  logic [WordBits-1:0]               qw_data;

  hd_spad #(
    .N    (CfgN),
    .G    (CfgPorts),
    .Banks(CfgBanks),
    .Bytes(CfgScratchpadBytes)
  ) u_spad (
    .clk_i,
    .rst_ni    (unit_rst_n),
    .ar_req_i  (ar_req),
    .ar_addr_i (ar_addr),
    .ar_lo_i   (ar_lo),
    .ar_hi_i   (ar_hi),
    .ar_en_o   (ar_en),
    .ar_data_o (ar_data),
    .vr_req_i  (vr_req),
    .vr_ready_o(vr_ready),
    .vr_addr_i (vr_addr),
    .vr_lo_i   (vr_lo),
    .vr_hi_i   (vr_hi),
    .vr_data_o (vr_data),
    .sr_req_i  (sr_req),
    .sr_ready_o(sr_ready),
    .sr_word_i (sr_word),
    .sr_data_o (sr_data),
    .qw_valid_i(qw_valid),
    .qw_addr_i (qw_addr),
    .qw_count_i(qw_count),
    .qw_data_i (qw_data),
    .lw_valid_i(load_valid),
    .lw_ready_o(load_ready),
    .lw_word_i (load_word),
    .lw_be_i   (load_be),
    .lw_data_i (load_data)
  );

  // Weights and parameters.
  logic                   wr_req, pr_req;
  logic [WeightBits-1:0]  wr_word;
  logic [WordBits-1:0]    wr_data;
  logic [EntryBits-1:0]   pr_entry;
  logic [CfgN*32-1:0]     pr_bias, pr_multiplier;
  logic [CfgN*8-1:0]      pr_shift;

  hd_weights #(
    .N      (CfgN),
    .Bytes  (CfgWeightBytes),
    .Entries(CfgParamEntries)
  ) u_weights (
    .clk_i,
    .rst_ni         (unit_rst_n),
    .ww_valid_i     (weight_valid),
    .ww_space_i     (weight_space),
    .ww_word_i      (weight_word),
    .ww_data_i      (weight_data),
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
  logic [WeightBits:0]    landed_count;
  logic [WeightBits-1:0]  landed_end;

  hd_landed #(.WordBits(WeightBits)) u_landed (
    .clk_i,
    .rst_ni      (unit_rst_n),
    .word_valid_i(weight_valid),
    .word_i      (weight_word),
    .done_i      (done[UnitWeight]),
    .count_o     (landed_count),
    .end_o       (landed_end)
  );

  logic                   a_has_bias, a_common_scale, a_slot;
  logic [CfgN*32-1:0]     a_sum;
  logic [EntryBits-1:0]   a_entry;
  logic [SpadBits-1:0]    a_addr;
  logic [CntBits-1:0]     a_count;
  logic [31:0]            a_cmd, a_multiplier;
  logic [7:0]             a_shift, a_z_out, a_min, a_max;

  hd_array_unit #(
    .N        (CfgN),
    .G        (CfgPorts),
    .AddrBits (SpadBits),
    .WordBits (WeightBits),
    .AccDepth (CfgAccDepth),
    .EntryBits(EntryBits)
  ) u_array (
    .clk_i,
    .rst_ni          (unit_rst_n),
    .cmd_valid_i     (cmd_valid[UnitArray]),
    .cmd_ready_o     (cmd_ready[UnitArray]),
    .cmd_i           (array_cmd),
    .cmd_index_i     (cmd_index[UnitArray*32 +: 32]),
    .done_o          (done[UnitArray]),
    .begin_o         (array_begin_o),
    .kind_o          (kind[UnitArray*3 +: 3]),
    .ar_req_o        (ar_req),
    .ar_addr_o       (ar_addr),
    .ar_lo_o         (ar_lo),
    .ar_hi_o         (ar_hi),
    .ar_en_i         (ar_en),
    .ar_data_i       (ar_data),
    .stop_i          (stop),
    .weight_count_i  (count_low[UnitWeight*16 +: 16]),
    .landed_count_i  (landed_count),
    .landed_end_i    (landed_end),
    .wr_req_o        (wr_req),
    .wr_word_o       (wr_word),
    .wr_data_i       (wr_data),
    .a_valid_o       (a_valid),
    .a_sum_o         (a_sum),
    .a_entry_o       (a_entry),
    .a_addr_o        (a_addr),
    .a_count_o       (a_count),
    .a_cmd_o         (a_cmd),
    .a_slot_o        (a_slot),
    .a_has_bias_o    (a_has_bias),
    .a_common_scale_o(a_common_scale),
    .a_multiplier_o  (a_multiplier),
    .a_shift_o       (a_shift),
    .a_z_out_o       (a_z_out),
    .a_min_o         (a_min),
    .a_max_o         (a_max),
    .a_busy_i        (a_busy)
  );

  // VECTOR.
  logic                   v_ready;
  logic [CfgN*32-1:0]     v_value;
  logic [1:0]             v_mode;
  logic [31:0]            v_multiplier, v_cmd;
  logic [7:0]             v_shift, v_z_out, v_min, v_max;
  logic [11:0]            v_cells;
  logic [SpadBits-1:0]    v_addr;
  logic [CntBits-1:0]     v_count;

  hd_vector #(
    .N       (CfgN),
    .AddrBits(SpadBits),
    .WordBits(WeightBits)
  ) u_vector (
    .clk_i         (clk_vector),
    .active_o      (vector_active),
    .rst_ni        (unit_rst_n),
    .cmd_valid_i   (cmd_valid[UnitVector]),
    .cmd_ready_o   (cmd_ready[UnitVector]),
    .cmd_i         (vector_cmd),
    .cmd_index_i   (cmd_index[UnitVector*32 +: 32]),
    .done_o        (done[UnitVector]),
    .kind_o        (kind[UnitVector*3 +: 3]),
    .vr_req_o      (vr_req),
    .vr_ready_i    (vr_ready),
    .vr_addr_o     (vr_addr),
    .vr_lo_o       (vr_lo),
    .vr_hi_o       (vr_hi),
    .vr_data_i     (vr_data),
    .ww_valid_i    (weight_valid),
    .ww_space_i    (weight_space),
    .ww_word_i     (weight_word),
    .ww_data_i     (weight_data),
    .v_valid_o     (v_valid),
    .v_ready_i     (v_ready),
    .v_value_o     (v_value),
    .v_mode_o      (v_mode),
    .v_multiplier_o(v_multiplier),
    .v_shift_o     (v_shift),
    .v_cells_o     (v_cells),
    .v_z_out_o     (v_z_out),
    .v_min_o       (v_min),
    .v_max_o       (v_max),
    .v_addr_o      (v_addr),
    .v_count_o     (v_count),
    .v_cmd_o       (v_cmd),
    .v_busy_i      (v_busy)
  );

  hd_requant #(
    .N        (CfgN),
    .AddrBits (SpadBits),
    .EntryBits(EntryBits)
  ) u_requant (
    .clk_i           (clk_requant),
    .rst_ni          (unit_rst_n),
    .a_valid_i       (a_valid),
    .a_sum_i         (a_sum),
    .a_entry_i       (a_entry),
    .a_addr_i        (a_addr),
    .a_count_i       (a_count),
    .a_cmd_i         (a_cmd),
    .a_slot_i        (a_slot),
    .a_has_bias_i    (a_has_bias),
    .a_common_scale_i(a_common_scale),
    .a_multiplier_i  (a_multiplier),
    .a_shift_i       (a_shift),
    .a_z_out_i       (a_z_out),
    .a_min_i         (a_min),
    .a_max_i         (a_max),
    .a_busy_o        (a_busy),
    .v_valid_i       (v_valid),
    .v_ready_o       (v_ready),
    .v_value_i       (v_value),
    .v_mode_i        (v_mode),
    .v_multiplier_i  (v_multiplier),
    .v_shift_i       (v_shift),
    .v_cells_i       (v_cells),
    .v_z_out_i       (v_z_out),
    .v_min_i         (v_min),
    .v_max_i         (v_max),
    .v_addr_i        (v_addr),
    .v_count_i       (v_count),
    .v_cmd_i         (v_cmd),
    .v_busy_o        (v_busy),
    .pr_req_o        (pr_req),
    .pr_entry_o      (pr_entry),
    .pr_bias_i       (pr_bias),
    .pr_multiplier_i (pr_multiplier),
    .pr_shift_i      (pr_shift),
    .qw_valid_o      (qw_valid),
    .qw_addr_o       (qw_addr),
    .qw_count_o      (qw_count),
    .qw_data_o       (qw_data),
    .qw_unit_o       (commit_q_unit_o),
    .qw_cmd_o        (commit_q_cmd_o)
  );

  assign commit_q_valid_o = qw_valid;
  assign commit_q_addr_o  = 32'(qw_addr);
  assign commit_q_count_o = 8'(qw_count);
  assign commit_q_data_o  = qw_data;

  logic unused;  // LOAD has one space; weight memories have no byte enables
  assign unused = ^{load_space, weight_be, in_unit};

endmodule

`default_nettype wire
