// dma_bench - hd_dma and hd_axi_read as hd_top joins them; queues, regions, scratchpad and FETCH are the bench's.
//   clk_dma_i has the edges of clk_i in whose cycle active_o was set.
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module dma_bench #(
  parameter int A          = CfgAxiAddrBits,
  parameter int SpadWord   = $clog2(CfgScratchpadBytes / CfgN),
  parameter int WeightBits = $clog2(CfgWeightBytes / CfgN)
) (
  input  wire logic                      clk_i,
  input  wire logic                      clk_dma_i,
  input  wire logic                      rst_ni,
  input  wire logic                      stop_i,
  output logic                           read_quiet_o,
  output logic                           write_quiet_o,
  output logic                           active_o,
  input  wire logic [2:0]                cmd_soon_i,
  input  wire logic [2:0]                cmd_valid_i,
  output logic      [2:0]                cmd_ready_o,
  input  wire logic [CmdDmaReadBits-1:0] load_cmd_i,
  input  wire logic [CmdDmaReadBits-1:0] weight_cmd_i,
  input  wire logic [CmdStoreBits-1:0]   store_cmd_i,
  input  wire logic [3*32-1:0]           cmd_index_i,
  output logic      [2:0]                done_o,
  output logic      [3*3-1:0]            kind_o,
  output logic      [3*4-1:0]            region_o,
  input  wire logic [3*64-1:0]           region_base_i,
  input  wire logic [3*64-1:0]           region_limit_i,
  input  wire logic [2:0]                region_right_i,
  output logic      [2:0]                fault_o,
  output logic      [3*FaultBits-1:0]    fault_code_o,
  output logic      [3*32-1:0]           fault_cmd_o,
  output logic      [3*64-1:0]           fault_addr_o,
  input  wire logic                      fetch_first_i,
  input  wire logic                      fetch_valid_i,
  output logic                           fetch_ready_o,
  input  wire logic [63:0]               fetch_addr_i,
  input  wire logic [7:0]                fetch_len_i,
  output logic                           fetch_beat_o,
  output logic      [8*CfgAxiBytes-1:0]  fetch_data_o,
  output logic                           fetch_last_o,
  output logic                           lw_valid_o,
  input  wire logic                      lw_ready_i,
  output logic      [31:0]               lw_word_o,
  output logic      [CfgN-1:0]           lw_be_o,
  output logic      [8*CfgN-1:0]         lw_data_o,
  output logic      [31:0]               lw_cmd_o,
  output logic                           sr_req_o,
  input  wire logic                      sr_ready_i,
  output logic      [31:0]               sr_word_o,
  input  wire logic [8*CfgN-1:0]         sr_data_i,
  output logic                           ww_valid_o,
  output logic      [SpaceBits-1:0]      ww_space_o,
  output logic      [31:0]               ww_word_o,
  output logic      [8*CfgN-1:0]         ww_data_o,
  output logic      [31:0]               ww_cmd_o,
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
  output logic                           commit_valid_o,
  output logic      [31:0]               commit_cmd_o,
  output logic      [63:0]               commit_addr_o
);
  logic [A-1:0]              araddr, awaddr, commit_addr;
  logic [2*A-1:0]            req_addr;
  logic [2*8-1:0]            req_len;
  logic [1:0]                req_valid, req_ready, r_valid, r_ready;
  logic [8*CfgAxiBytes-1:0]  r_data;
  logic                      r_error, r_last;
  logic [SpadWord-1:0]       lw_word, sr_word;
  logic [WeightBits-1:0]     ww_word;
  logic                      read_active;

  assign m_araddr_o    = 64'(araddr);
  assign m_awaddr_o    = 64'(awaddr);
  assign commit_addr_o = 64'(commit_addr);
  assign lw_word_o     = 32'(lw_word);
  assign sr_word_o     = 32'(sr_word);
  assign ww_word_o     = 32'(ww_word);
  assign fetch_data_o  = r_data;
  assign fetch_last_o  = r_last;

  hd_axi_read #(
    .AxiBytes(CfgAxiBytes),
    .AddrBits(CfgAxiAddrBits),
    .Bursts  (CfgReadBursts)
  ) u_axi_read (
    .clk_i,
    .rst_ni,
    .stop_i,
    .quiet_o      (read_quiet_o),
    .active_o     (read_active),
    .fetch_first_i,
    .req_valid_i  ({fetch_valid_i, req_valid}),
    .req_ready_o  ({fetch_ready_o, req_ready}),
    .req_addr_i   ({fetch_addr_i[A-1:0], req_addr}),
    .req_len_i    ({fetch_len_i, req_len}),
    .r_valid_o    ({fetch_beat_o, r_valid}),
    .r_ready_i    ({1'b1, r_ready}),
    .r_data_o     (r_data),
    .r_error_o    (r_error),
    .r_last_o     (r_last),
    .axi_i        ({m_arready_i, m_rvalid_i, m_rid_i, m_rdata_i, m_rresp_i, m_rlast_i}),
    .axi_o        ({m_arvalid_o, m_arid_o, araddr, m_arlen_o, m_arsize_o, m_arburst_o, m_rready_o})
  );

  hd_dma u_dma (
    .clk_i           (clk_dma_i),
    .rst_ni,
    .stop_i,
    .write_quiet_o,
    .active_o,
    .cmd_soon_i,
    .cmd_valid_i,
    .cmd_ready_o,
    .load_cmd_i,
    .weight_cmd_i,
    .store_cmd_i,
    .cmd_index_i,
    .done_o,
    .kind_o,
    .region_o,
    .region_base_i   ({region_base_i[2*64 +: A], region_base_i[64 +: A], region_base_i[0 +: A]}),
    .region_limit_i  ({region_limit_i[2*64 +: A+1], region_limit_i[64 +: A+1],
                       region_limit_i[0 +: A+1]}),
    .region_right_i,
    .fault_o,
    .fault_code_o,
    .fault_cmd_o,
    .fault_addr_o,
    .req_valid_o     (req_valid),
    .req_ready_i     (req_ready),
    .req_addr_o      (req_addr),
    .req_len_o       (req_len),
    .r_valid_i       (r_valid),
    .r_ready_o       (r_ready),
    .r_data_i        (r_data),
    .r_error_i       (r_error),
    .r_last_i        (r_last),
    .lw_valid_o,
    .lw_ready_i,
    .lw_word_o       (lw_word),
    .lw_be_o,
    .lw_data_o,
    .lw_cmd_o,
    .sr_req_o,
    .sr_ready_i,
    .sr_word_o       (sr_word),
    .sr_data_i,
    .ww_valid_o,
    .ww_o            ({ww_space_o, ww_word, ww_data_o}),
    .ww_cmd_o,
    .axi_i           ({m_awready_i, m_wready_i, m_bvalid_i, m_bid_i, m_bresp_i}),
    .axi_o           ({m_awvalid_o, m_awid_o, awaddr, m_awlen_o, m_awsize_o, m_awburst_o, m_wvalid_o, m_wdata_o, m_wstrb_o,
                       m_wlast_o, m_bready_o}),
    .commit_m_valid_o(commit_valid_o),
    .commit_m_cmd_o  (commit_cmd_o),
    .commit_m_addr_o (commit_addr)
  );

  logic unused;  // hd_axi_read's clock never rests here
  assign unused = ^{read_active, fetch_addr_i[63:A], region_base_i, region_limit_i};
endmodule

`default_nettype wire
