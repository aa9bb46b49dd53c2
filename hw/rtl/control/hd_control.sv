// hd_control - all that runs a submission: registers, stream, queues and the read channel they
// share. Wires only.
//   hd_regs (doorbell, state, faults, counters), hd_fetch (stream to commands), five hd_issue (a
//   command to its unit once its waits hold), hd_axi_read (bursts of LOAD, WEIGHT, FETCH).
//   Vectors by unit are in the order of enum unit: load, weight, array, vector, store (, fetch).
//   cmd_soon_o, region_*, fault_* are those of LOAD, WEIGHT, STORE; req_*, r_* of LOAD, WEIGHT.
//   FETCH's own command is END.
//   unit_rst_no resets all units (hd_regs); stop_o: no new bursts or commands. active_o: see
//   hd_clocks.
// clk_i may rest while active_o is low; clk_free_i never does. Reset: idle. Bench:
// frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"
`include "hd_bundles.svh"

module hd_control #(
  parameter int AxiBits = 8 * CfgAxiBytes  // derived
) (
  input  wire logic                            clk_i,
  input  wire logic                            clk_free_i,
  input  wire logic                            rst_ni,
  output logic                                 irq_o,
  output logic                                 active_o,
  // registers (AXI4-Lite)
  input  wire hd_axil_req_t                    axil_i,
  output hd_axil_rsp_t                         axil_o,
  // memory, read channels (AXI4)
  input  wire hd_axi_read_rsp_t                axi_i,
  output hd_axi_read_req_t                     axi_o,
  // units
  output logic                                 unit_rst_no,
  output logic                                 stop_o,
  output logic      [4:0]                      cmd_valid_o,
  input  wire logic [4:0]                      cmd_ready_i,
  output logic      [CmdDmaReadBits-1:0]       load_cmd_o,
  output logic      [CmdDmaReadBits-1:0]       weight_cmd_o,
  output logic      [CmdArrayBits-1:0]         array_cmd_o,
  output logic      [CmdVectorBits-1:0]        vector_cmd_o,
  output logic      [CmdStoreBits-1:0]         store_cmd_o,
  output logic      [5*32-1:0]                 cmd_index_o,
  input  wire logic [4:0]                      done_i,
  input  wire logic [5*3-1:0]                  kind_i,          // from the units' own sight
  output logic      [15:0]                     weight_count_o,  // WEIGHT's completions
  input  wire logic                            write_quiet_i,
  // DMA
  output logic      [2:0]                      cmd_soon_o,      // hd_issue
  input  wire logic [3*4-1:0]                  region_i,
  output logic      [3*CfgAxiAddrBits-1:0]     region_base_o,
  output logic      [3*(CfgAxiAddrBits+1)-1:0] region_limit_o,
  output logic      [2:0]                      region_right_o,
  input  wire logic [1:0]                      req_valid_i,
  output logic      [1:0]                      req_ready_o,
  input  wire logic [2*CfgAxiAddrBits-1:0]     req_addr_i,
  input  wire logic [2*8-1:0]                  req_len_i,
  output logic      [1:0]                      r_valid_o,
  input  wire logic [1:0]                      r_ready_i,
  output logic      [AxiBits-1:0]              r_data_o,
  output logic                                 r_error_o,
  output logic                                 r_last_o,
  input  wire logic [2:0]                      fault_i,
  input  wire logic [3*FaultBits-1:0]          fault_code_i,
  input  wire logic [3*32-1:0]                 fault_cmd_i,
  input  wire logic [3*64-1:0]                 fault_addr_i,
  // what each unit is at
  output logic      [UnitCount-1:0]            done_o,
  output logic      [UnitCount*32-1:0]         done_cmd_o,
  output logic      [UnitCount*32-1:0]         unit_cmd_o,
  output logic      [UnitCount*16-1:0]         unit_layer_o,
  output logic      [UnitCount*3-1:0]          unit_kind_o
);
  localparam int PushBits = CmdArrayBits > CmdVectorBits ? CmdArrayBits : CmdVectorBits;

  logic                        start, clear, stop, unit_rst_n, stream_end, read_quiet;
  logic [31:0]                 stream_offset, stream_bytes, push_index;
  logic [4:0]                  push_valid, push_ready, empty, in_unit, cmd_soon;
  logic [PushBits-1:0]         push_cmd;
  logic [5*32-1:0]             count;
  logic [5*16-1:0]             count_low;
  logic [CfgAxiAddrBits-1:0]   fetch_base;
  logic [CfgAxiAddrBits:0]     fetch_limit;
  logic                        fetch_right, fetch_fault;
  logic                        fetch_req_valid, fetch_req_first, fetch_req_ready;
  logic                        fetch_r_valid, fetch_r_ready;
  logic [CfgAxiAddrBits-1:0]   fetch_req_addr;
  logic [7:0]                  fetch_req_len;
  logic [FaultBits-1:0]        fetch_fault_code;
  logic [31:0]                 fetch_fault_cmd;
  logic [63:0]                 fetch_fault_addr;
  logic [7:0]                  active;  // queues by unit, registers, read channel, FETCH

  // Results of a command that is done may be on their way, and a reset follows the end.
  logic [TimingRequantAhead-1:0] late_q;
  always_ff @(posedge clk_i) begin
    late_q[0] <= unit_rst_n && (done_i[UnitArray] || done_i[UnitVector]);
    for (int k = 1; k < TimingRequantAhead; k++) late_q[k] <= unit_rst_n && late_q[k-1];
  end

  assign stop_o      = stop;
  assign unit_rst_no = unit_rst_n;
  assign active_o    = active != '0 || late_q != '0;

  hd_regs #(
    .AddrBits  (CfgAxiAddrBits),
    .ConfigHash(CfgHash)
  ) u_regs (
    .clk_i,
    .clk_free_i,
    .active_o       (active[5]),
    .rst_ni,
    .axil_i,
    .axil_o,
    .irq_o,
    .start_o        (start),
    .clear_o        (clear),
    .stop_o         (stop),
    .unit_rst_no    (unit_rst_n),
    .stream_offset_o(stream_offset),
    .stream_bytes_o (stream_bytes),
    .end_i          (stream_end),
    .bus_quiet_i    (read_quiet && write_quiet_i),
    .units_quiet_i  (!in_unit[UnitArray] && !in_unit[UnitVector]),
    .unit_kind_i    (unit_kind_o),
    .unit_cmd_i     (unit_cmd_o),
    .unit_count_i   ({push_index, count}),
    .region_i       ({4'd0, region_i}),
    .region_base_o  ({fetch_base, region_base_o}),
    .region_limit_o ({fetch_limit, region_limit_o}),
    .region_right_o ({fetch_right, region_right_o}),
    .fault_i        ({fetch_fault, fault_i}),
    .fault_code_i   ({fetch_fault_code, fault_code_i}),
    .fault_cmd_i    ({fetch_fault_cmd, fault_cmd_i}),
    .fault_addr_i   ({fetch_fault_addr, fault_addr_i})
  );

  hd_axi_read #(
    .AxiBytes(CfgAxiBytes),
    .AddrBits(CfgAxiAddrBits),
    .Bursts  (CfgReadBursts)
  ) u_axi_read (
    .clk_i,
    .active_o     (active[6]),
    .rst_ni,
    .stop_i       (stop),
    .quiet_o      (read_quiet),
    .fetch_first_i(fetch_req_first),
    .req_valid_i  ({fetch_req_valid, req_valid_i}),
    .req_ready_o  ({fetch_req_ready, req_ready_o}),
    .req_addr_i   ({fetch_req_addr, req_addr_i}),
    .req_len_i    ({fetch_req_len, req_len_i}),
    .r_valid_o    ({fetch_r_valid, r_valid_o}),
    .r_ready_i    ({fetch_r_ready, r_ready_i}),
    .r_data_o,
    .r_error_o,
    .r_last_o,
    .axi_i,
    .axi_o
  );

  hd_fetch #(
    .AxiBytes  (CfgAxiBytes),
    .AddrBits  (CfgAxiAddrBits),
    .PushBits  (PushBits),
    .ConfigHash(CfgHash)
  ) u_fetch (
    .clk_i,
    .active_o       (active[7]),
    .rst_ni         (unit_rst_n),
    .clear_i        (clear),
    .start_i        (start),
    .stop_i         (stop),
    .stream_offset_i(stream_offset),
    .stream_bytes_i (stream_bytes),
    .region_base_i  (fetch_base),
    .region_limit_i (fetch_limit),
    .region_right_i (fetch_right),
    .req_valid_o    (fetch_req_valid),
    .req_first_o    (fetch_req_first),
    .req_ready_i    (fetch_req_ready),
    .req_addr_o     (fetch_req_addr),
    .req_len_o      (fetch_req_len),
    .r_valid_i      (fetch_r_valid),
    .r_ready_o      (fetch_r_ready),
    .r_data_i       (r_data_o),
    .r_error_i      (r_error_o),
    .r_last_i       (r_last_o),
    .bus_quiet_i    (read_quiet && late_q == '0),
    .push_valid_o   (push_valid),
    .push_ready_i   (push_ready),
    .push_cmd_o     (push_cmd),
    .empty_i        (empty),
    .end_o          (stream_end),
    .index_o        (push_index),
    .layer_o        (unit_layer_o[UnitFetch*16 +: 16]),
    .kind_o         (unit_kind_o[UnitFetch*3 +: 3]),
    .fault_o        (fetch_fault),
    .fault_code_o   (fetch_fault_code),
    .fault_cmd_o    (fetch_fault_cmd),
    .fault_addr_o   (fetch_fault_addr)
  );

  assign done_o[UnitFetch]              = stream_end;
  assign done_cmd_o[UnitFetch*32 +: 32] = push_index;
  assign unit_cmd_o[UnitFetch*32 +: 32] = push_index;

  for (genvar u = 0; u < 5; u++) begin : gen_issue
    localparam int CmdBits  = u == 32'(UnitArray) ? CmdArrayBits :
                              u == 32'(UnitVector) ? CmdVectorBits :
                              u == 32'(UnitStore) ? CmdStoreBits : CmdDmaReadBits;
    localparam int Depth    = u == 32'(UnitArray) || u == 32'(UnitVector) ? TimingComputeQueue
                                                                          : TimingDmaQueue;
    localparam int InFlight = u == 32'(UnitArray) ? 4 :  // three: two slots, one waiting
                              u == 32'(UnitVector) ? 2 : 8;
    localparam int WaitKind = u == 32'(UnitLoad) ? CounterLoadWaitToken :
                              u == 32'(UnitWeight) ? CounterWeightWaitToken :
                              u == 32'(UnitArray) ? CounterArrayWaitToken :
                              u == 32'(UnitVector) ? CounterVectorWaitToken : CounterStoreWaitToken;
    localparam int IdleKind = u == 32'(UnitLoad) ? CounterLoadIdle :
                              u == 32'(UnitWeight) ? CounterWeightIdle :
                              u == 32'(UnitArray) ? CounterArrayIdle :
                              u == 32'(UnitVector) ? CounterVectorIdle : CounterStoreIdle;

    logic [CmdBits-1:0] cmd;

    hd_issue #(
      .Bits    (CmdBits),
      .PushBits(PushBits),
      .Depth   (Depth),
      .InFlight(InFlight),
      .WaitKind(WaitKind % 8),
      .IdleKind(IdleKind % 8)
    ) u_issue (
      .clk_i,
      .active_o    (active[u]),
      .rst_ni      (unit_rst_n),
      .clear_i     (clear),
      .stop_i      (stop),
      .push_valid_i(push_valid[u]),
      .push_ready_o(push_ready[u]),
      .push_cmd_i  (push_cmd),
      .push_index_i(push_index),
      .counts_i    (count_low),
      .dones_i     (done_i),
      .cmd_soon_o  (cmd_soon[u]),
      .cmd_valid_o (cmd_valid_o[u]),
      .cmd_ready_i (cmd_ready_i[u]),
      .cmd_o       (cmd),
      .cmd_index_o (cmd_index_o[u*32 +: 32]),
      .done_i      (done_i[u]),
      .kind_i      (kind_i[u*3 +: 3]),
      .count_o     (count[u*32 +: 32]),
      .empty_o     (empty[u]),
      .in_unit_o   (in_unit[u]),
      .done_o      (done_o[u]),
      .done_cmd_o  (done_cmd_o[u*32 +: 32]),
      .unit_cmd_o  (unit_cmd_o[u*32 +: 32]),
      .unit_layer_o(unit_layer_o[u*16 +: 16]),
      .kind_o      (unit_kind_o[u*3 +: 3])
    );

    assign count_low[u*16 +: 16] = count[u*32 +: 16];
  end

  assign load_cmd_o     = gen_issue[UnitLoad].cmd;
  assign weight_cmd_o   = gen_issue[UnitWeight].cmd;
  assign array_cmd_o    = gen_issue[UnitArray].cmd;
  assign vector_cmd_o   = gen_issue[UnitVector].cmd;
  assign store_cmd_o    = gen_issue[UnitStore].cmd;
  assign weight_count_o = count_low[UnitWeight*16 +: 16];
  assign cmd_soon_o     = {cmd_soon[UnitStore], cmd_soon[UnitWeight], cmd_soon[UnitLoad]};

  logic unused;  // outputs of some units without a reader
  assign unused = ^{in_unit, cmd_soon};

endmodule

`default_nettype wire
