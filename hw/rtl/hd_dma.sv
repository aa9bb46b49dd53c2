// hd_dma - the units that move bytes between memory and the memories of the accelerator. Wires
// only.
//   hd_dma_read twice (LOAD: scratchpad, WEIGHT: weights, parameters, look-up tables), hd_store
//   (STORE).
//   Vectors are in the order load, weight, store; req_*, r_* those of load, weight.
//   lw_*, ww_*: a word that LOAD, WEIGHT writes, for command *_cmd_o. commit_m_*: a W beat of STORE
//   was taken.
//   stop_i: no new bursts. write_quiet_o: STORE has nothing on the bus. active_o: see hd_clocks.
// Reset: idle, all commands forgotten. Bench: tests/hw/frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module hd_dma #(
  parameter int SpadWord   = $clog2(CfgScratchpadBytes / CfgN),  // derived, as all
  parameter int WeightBits = $clog2(CfgWeightBytes / CfgN),
  parameter int AxiBits    = 8 * CfgAxiBytes,
  parameter int WordBits   = 8 * CfgN
) (
  input  wire logic                            clk_i,
  input  wire logic                            rst_ni,
  input  wire logic                            stop_i,
  output logic                                 write_quiet_o,
  output logic                                 active_o,
  // commands
  input  wire logic [2:0]                      cmd_valid_i,
  output logic      [2:0]                      cmd_ready_o,
  input  wire logic [CmdDmaReadBits-1:0]       load_cmd_i,
  input  wire logic [CmdDmaReadBits-1:0]       weight_cmd_i,
  input  wire logic [CmdStoreBits-1:0]         store_cmd_i,
  input  wire logic [3*32-1:0]                 cmd_index_i,
  output logic      [2:0]                      done_o,
  output logic      [3*3-1:0]                  kind_o,
  output logic      [3*4-1:0]                  region_o,
  input  wire logic [3*CfgAxiAddrBits-1:0]     region_base_i,
  input  wire logic [3*(CfgAxiAddrBits+1)-1:0] region_limit_i,
  output logic      [2:0]                      fault_o,
  output logic      [3*FaultBits-1:0]          fault_code_o,
  output logic      [3*32-1:0]                 fault_cmd_o,
  output logic      [3*64-1:0]                 fault_addr_o,
  // hd_axi_read
  output logic      [1:0]                      req_valid_o,
  input  wire logic [1:0]                      req_ready_i,
  output logic      [2*CfgAxiAddrBits-1:0]     req_addr_o,
  output logic      [2*8-1:0]                  req_len_o,
  input  wire logic [1:0]                      r_valid_i,
  output logic      [1:0]                      r_ready_o,
  input  wire logic [AxiBits-1:0]              r_data_i,
  input  wire logic                            r_error_i,
  // hd_spad
  output logic                                 lw_valid_o,
  input  wire logic                            lw_ready_i,
  output logic      [SpadWord-1:0]             lw_word_o,
  output logic      [CfgN-1:0]                 lw_be_o,
  output logic      [WordBits-1:0]             lw_data_o,
  output logic      [31:0]                     lw_cmd_o,
  output logic                                 sr_req_o,
  input  wire logic                            sr_ready_i,
  output logic      [SpadWord-1:0]             sr_word_o,
  input  wire logic [WordBits-1:0]             sr_data_i,
  // hd_weights, hd_vector's tables
  output logic                                 ww_valid_o,
  output logic      [SpaceBits-1:0]            ww_space_o,
  output logic      [WeightBits-1:0]           ww_word_o,
  output logic      [WordBits-1:0]             ww_data_o,
  output logic      [31:0]                     ww_cmd_o,
  // memory, write channels (AXI4)
  output logic                                 m_axi_awvalid,
  input  wire logic                            m_axi_awready,
  output logic      [3:0]                      m_axi_awid,
  output logic      [CfgAxiAddrBits-1:0]       m_axi_awaddr,
  output logic      [7:0]                      m_axi_awlen,
  output logic      [2:0]                      m_axi_awsize,
  output logic      [1:0]                      m_axi_awburst,
  output logic                                 m_axi_wvalid,
  input  wire logic                            m_axi_wready,
  output logic      [AxiBits-1:0]              m_axi_wdata,
  output logic      [CfgAxiBytes-1:0]          m_axi_wstrb,
  output logic                                 m_axi_wlast,
  input  wire logic                            m_axi_bvalid,
  output logic                                 m_axi_bready,
  input  wire logic [3:0]                      m_axi_bid,
  input  wire logic [1:0]                      m_axi_bresp,
  output logic                                 commit_m_valid_o,
  output logic      [31:0]                     commit_m_cmd_o,
  output logic      [CfgAxiAddrBits-1:0]       commit_m_addr_o
);
  localparam int A = CfgAxiAddrBits;

  logic [2:0]           active;
  logic [SpaceBits-1:0] load_space;
  logic [CfgN-1:0]      weight_be;

  assign active_o = active != '0;

  hd_dma_read #(
    .IsLoad  (1),
    .N       (CfgN),
    .AxiBytes(CfgAxiBytes),
    .AddrBits(A),
    .WordBits(SpadWord)
  ) u_load (
    .clk_i,
    .active_o      (active[0]),
    .rst_ni,
    .cmd_valid_i   (cmd_valid_i[0]),
    .cmd_ready_o   (cmd_ready_o[0]),
    .cmd_i         (load_cmd_i),
    .cmd_index_i   (cmd_index_i[0*32 +: 32]),
    .done_o        (done_o[0]),
    .kind_o        (kind_o[0*3 +: 3]),
    .region_o      (region_o[0*4 +: 4]),
    .region_base_i (region_base_i[0*A +: A]),
    .region_limit_i(region_limit_i[0*(A+1) +: A+1]),
    .fault_o       (fault_o[0]),
    .fault_code_o  (fault_code_o[0*FaultBits +: FaultBits]),
    .fault_cmd_o   (fault_cmd_o[0*32 +: 32]),
    .fault_addr_o  (fault_addr_o[0*64 +: 64]),
    .req_valid_o   (req_valid_o[0]),
    .req_ready_i   (req_ready_i[0]),
    .req_addr_o    (req_addr_o[0*A +: A]),
    .req_len_o     (req_len_o[0*8 +: 8]),
    .r_valid_i     (r_valid_i[0]),
    .r_ready_o     (r_ready_o[0]),
    .r_data_i,
    .r_error_i,
    .out_valid_o   (lw_valid_o),
    .out_ready_i   (lw_ready_i),
    .out_space_o   (load_space),
    .out_word_o    (lw_word_o),
    .out_be_o      (lw_be_o),
    .out_data_o    (lw_data_o),
    .out_cmd_o     (lw_cmd_o)
  );

  hd_dma_read #(
    .IsLoad  (0),
    .N       (CfgN),
    .AxiBytes(CfgAxiBytes),
    .AddrBits(A),
    .WordBits(WeightBits)
  ) u_weight (
    .clk_i,
    .active_o      (active[1]),
    .rst_ni,
    .cmd_valid_i   (cmd_valid_i[1]),
    .cmd_ready_o   (cmd_ready_o[1]),
    .cmd_i         (weight_cmd_i),
    .cmd_index_i   (cmd_index_i[1*32 +: 32]),
    .done_o        (done_o[1]),
    .kind_o        (kind_o[1*3 +: 3]),
    .region_o      (region_o[1*4 +: 4]),
    .region_base_i (region_base_i[1*A +: A]),
    .region_limit_i(region_limit_i[1*(A+1) +: A+1]),
    .fault_o       (fault_o[1]),
    .fault_code_o  (fault_code_o[1*FaultBits +: FaultBits]),
    .fault_cmd_o   (fault_cmd_o[1*32 +: 32]),
    .fault_addr_o  (fault_addr_o[1*64 +: 64]),
    .req_valid_o   (req_valid_o[1]),
    .req_ready_i   (req_ready_i[1]),
    .req_addr_o    (req_addr_o[1*A +: A]),
    .req_len_o     (req_len_o[1*8 +: 8]),
    .r_valid_i     (r_valid_i[1]),
    .r_ready_o     (r_ready_o[1]),
    .r_data_i,
    .r_error_i,
    .out_valid_o   (ww_valid_o),
    .out_ready_i   (1'b1),
    .out_space_o   (ww_space_o),
    .out_word_o    (ww_word_o),
    .out_be_o      (weight_be),
    .out_data_o    (ww_data_o),
    .out_cmd_o     (ww_cmd_o)
  );

  hd_store #(
    .N       (CfgN),
    .AxiBytes(CfgAxiBytes),
    .AddrBits(A),
    .WordBits(SpadWord)
  ) u_store (
    .clk_i,
    .active_o      (active[2]),
    .rst_ni,
    .stop_i,
    .quiet_o       (write_quiet_o),
    .cmd_valid_i   (cmd_valid_i[2]),
    .cmd_ready_o   (cmd_ready_o[2]),
    .cmd_i         (store_cmd_i),
    .cmd_index_i   (cmd_index_i[2*32 +: 32]),
    .done_o        (done_o[2]),
    .kind_o        (kind_o[2*3 +: 3]),
    .region_o      (region_o[2*4 +: 4]),
    .region_base_i (region_base_i[2*A +: A]),
    .region_limit_i(region_limit_i[2*(A+1) +: A+1]),
    .fault_o       (fault_o[2]),
    .fault_code_o  (fault_code_o[2*FaultBits +: FaultBits]),
    .fault_cmd_o   (fault_cmd_o[2*32 +: 32]),
    .fault_addr_o  (fault_addr_o[2*64 +: 64]),
    .sr_req_o,
    .sr_ready_i,
    .sr_word_o,
    .sr_data_i,
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
    .commit_addr_o (commit_m_addr_o)
  );

  logic unused;  // LOAD has one space; weight memories have no byte enables
  assign unused = ^{load_space, weight_be};

endmodule

`default_nettype wire
