// hd_dma - the units that move bytes between memory and the memories of the accelerator. Wires,
// and which of its two sources WEIGHT's next command has.
//   hd_dma_read twice (LOAD: scratchpad, WEIGHT: weights, parameters, look-up tables),
//   hd_weight_spad (WEIGHT from the scratchpad), hd_store (STORE).
//   Vectors are in the order load, weight, store; req_*, r_* those of load, weight.
//   lw_*, ww_*: a word that LOAD, WEIGHT writes, for command *_cmd_o. commit_m_*: a W beat of STORE
//   was taken.
//   stop_i: no new bursts. write_quiet_o: STORE has nothing on the bus. active_o: see hd_clocks.
// Reset: idle, all commands forgotten. Bench: frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"
`include "hd_bundles.svh"

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
  input  wire logic [2:0]                      cmd_soon_i,      // hd_issue
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
  input  wire logic [2:0]                      region_right_i,
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
  input  wire logic                            r_last_i,
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
  output hd_weight_word_t                      ww_o,
  output logic      [31:0]                     ww_cmd_o,
  // memory, write channels (AXI4)
  input  wire hd_axi_write_rsp_t               axi_i,
  output hd_axi_write_req_t                    axi_o,
  output logic                                 commit_m_valid_o,
  output logic      [31:0]                     commit_m_cmd_o,
  output logic      [CfgAxiAddrBits-1:0]       commit_m_addr_o
);
  localparam int A = CfgAxiAddrBits;

  localparam int SpadByte = SpadWord + $clog2(CfgN);

  logic [2:0]           active;
  logic [SpaceBits-1:0] load_space;
  logic [CfgN-1:0]      weight_be;

  /* verilator lint_off UNUSEDSIGNAL */  // as in hd_dma_read; addresses of the scratchpad are short
  hd_cmd_dma_read_t weight_cmd;
  /* verilator lint_on UNUSEDSIGNAL */
  logic                  from_spad_q, bus_ready, bus_done, bus_taken, bus_valid;
  logic                  spad_ready, spad_done, spad_busy, spad_active, spad_waited, spad_valid;
  logic                  spad_req, store_req, store_ready;
  logic [2:0]            bus_kind;
  logic [3:0]            bus_count_q;  // commands that hd_dma_read has
  logic                  bus_none_q;   // it has none
  logic [SpaceBits-1:0]  bus_space;
  logic [WeightBits-1:0] bus_word, spad_weight;
  logic [WordBits-1:0]   bus_data, spad_data;
  logic [31:0]           bus_cmd, spad_cmd;
  logic [SpadWord-1:0]   spad_word, store_word;

  assign active_o = cmd_soon_i != '0 || active != '0 || spad_active;

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
    .w_valid_i     (ww_valid_o && ww_o.space == SpaceThreshold),
    .w_word_i      (8'(ww_o.word)),
    .w_data_i      (64'(ww_o.data)),
    .region_o      (region_o[0*4 +: 4]),
    .region_base_i (region_base_i[0*A +: A]),
    .region_limit_i(region_limit_i[0*(A+1) +: A+1]),
    .region_right_i(region_right_i[0]),
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
    .r_last_i,
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
    .cmd_valid_i   (cmd_valid_i[1] && !from_spad_q && !spad_busy),
    .cmd_ready_o   (bus_ready),
    .cmd_i         (weight_cmd_i),
    .cmd_index_i   (cmd_index_i[1*32 +: 32]),
    .done_o        (bus_done),
    .kind_o        (bus_kind),
    .w_valid_i     (1'b0),
    .w_word_i      (8'd0),
    .w_data_i      (64'd0),
    .region_o      (region_o[1*4 +: 4]),
    .region_base_i (region_base_i[1*A +: A]),
    .region_limit_i(region_limit_i[1*(A+1) +: A+1]),
    .region_right_i(region_right_i[1]),
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
    .r_last_i,
    .out_valid_o   (bus_valid),
    .out_ready_i   (1'b1),
    .out_space_o   (bus_space),
    .out_word_o    (bus_word),
    .out_be_o      (weight_be),
    .out_data_o    (bus_data),
    .out_cmd_o     (bus_cmd)
  );

  hd_weight_spad u_weight_spad (
    .clk_i,
    .rst_ni,
    .cmd_valid_i(cmd_valid_i[1] && from_spad_q && bus_none_q),
    .cmd_ready_o(spad_ready),
    .transpose_i(weight_cmd.transpose),
    .src_i      (weight_cmd.offset[SpadByte-1:0]),
    .rows_i     (weight_cmd.runs),
    .row_bytes_i(weight_cmd.run_bytes[SpadByte-1:0]),
    .pitch_i    (weight_cmd.run_pitch[SpadByte-1:0]),
    .dest_i     (weight_cmd.dest[WeightBits-1:0]),
    .index_i    (cmd_index_i[1*32 +: 32]),
    .done_o     (spad_done),
    .busy_o     (spad_busy),
    .active_o   (spad_active),
    .waited_o   (spad_waited),
    .sr_req_o   (spad_req),
    .sr_ready_i,
    .sr_word_o  (spad_word),
    .sr_data_i,
    .ww_valid_o (spad_valid),
    .ww_word_o  (spad_weight),
    .ww_data_o  (spad_data),
    .ww_cmd_o   (spad_cmd)
  );

  // A command waits until those before it from the other source are done. A malformed one goes to
  // hd_dma_read, which refuses it.
  assign weight_cmd     = weight_cmd_i;
  assign cmd_ready_o[1] = from_spad_q ? spad_ready && bus_none_q : bus_ready && !spad_busy;
  assign done_o[1]      = bus_done || spad_done;
  assign bus_taken      = cmd_valid_i[1] && cmd_ready_o[1] && !from_spad_q;

  always_ff @(posedge clk_i) begin
    from_spad_q <= weight_cmd.spad && weight_cmd.space == SpaceWeights && weight_cmd.runs != '0
                 && weight_cmd.run_bytes != '0;
    if (!rst_ni) begin
      bus_count_q <= '0;
      bus_none_q  <= 1'b1;
    end else if (bus_taken && !bus_done) begin
      bus_count_q <= bus_count_q + 1'b1;
      bus_none_q  <= 1'b0;
    end else if (bus_done && !bus_taken) begin
      bus_count_q <= bus_count_q - 1'b1;
      bus_none_q  <= bus_count_q == 4'd1;
    end
  end

  always_comb begin
    {ww_valid_o, ww_o} = {bus_valid, bus_space, bus_word, bus_data};
    {ww_cmd_o, kind_o[1*3 +: 3]} = {bus_cmd, bus_kind};
    if (spad_busy) begin
      {ww_valid_o, ww_o} = {spad_valid, SpaceWeights, spad_weight, spad_data};
      ww_cmd_o           = spad_cmd;
      kind_o[1*3 +: 3] = spad_waited ? 3'(CounterWeightWaitPort) : 3'(CounterWeightBusy);
    end
  end

  // WEIGHT's requests go before STORE's.
  assign sr_req_o    = spad_req || store_req;
  assign sr_word_o   = spad_req ? spad_word : store_word;
  assign store_ready = sr_ready_i && !spad_req;

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
    .w_valid_i     (ww_valid_o && ww_o.space == SpaceFloat),
    .w_word_i      (8'(ww_o.word)),
    .w_data_i      (ww_o.data[31:0]),
    .region_o      (region_o[2*4 +: 4]),
    .region_base_i (region_base_i[2*A +: A]),
    .region_limit_i(region_limit_i[2*(A+1) +: A+1]),
    .region_right_i(region_right_i[2]),
    .fault_o       (fault_o[2]),
    .fault_code_o  (fault_code_o[2*FaultBits +: FaultBits]),
    .fault_cmd_o   (fault_cmd_o[2*32 +: 32]),
    .fault_addr_o  (fault_addr_o[2*64 +: 64]),
    .sr_req_o      (store_req),
    .sr_ready_i    (store_ready),
    .sr_word_o     (store_word),
    .sr_data_i,
    .axi_i,
    .axi_o,
    .commit_valid_o(commit_m_valid_o),
    .commit_cmd_o  (commit_m_cmd_o),
    .commit_addr_o (commit_m_addr_o)
  );

  logic unused;  // LOAD has one space; weight memories have no byte enables
  assign unused = ^{load_space, weight_be};

endmodule

`default_nettype wire
