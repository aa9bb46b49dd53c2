// hd_top_stub.sv - the ports of the accelerator around a toy: copies command_length bytes from region 0 + command_offset
// to region 1, 16 beats at a time, to exercise the simulator without the real RTL. Register region_size[15] chooses what
// goes wrong: 0 nothing, 1 hangs after the first burst, 2 AW address changes while it waits, 3 reads across 4 KiB,
// 5 W last a beat early, 6 stops with $stop.
// Each burst of writes completes a STORE command, the end completes the END command.
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module hd_top #(
  localparam int unsigned AxiBits = 8 * CfgAxiBytes
) (
  input  logic                      clk_i, rst_ni,
  input  logic                      clk_control_i, clk_dma_i, clk_vector_i, clk_requant_i,
  output logic                      active_control_o, active_dma_o, active_vector_o, active_requant_o,
  output logic                      irq_o,
  input  logic                      s_axil_awvalid, s_axil_wvalid, s_axil_bready, s_axil_arvalid, s_axil_rready,
  output logic                      s_axil_awready, s_axil_wready, s_axil_bvalid, s_axil_arready, s_axil_rvalid,
  input  logic [11:0]               s_axil_awaddr, s_axil_araddr,
  input  logic [31:0]               s_axil_wdata,
  input  logic [3:0]                s_axil_wstrb,
  output logic [1:0]                s_axil_bresp, s_axil_rresp,
  output logic [31:0]               s_axil_rdata,
  output logic                      m_axi_arvalid, m_axi_rready, m_axi_awvalid, m_axi_wvalid, m_axi_wlast, m_axi_bready,
  input  logic                      m_axi_arready, m_axi_rvalid, m_axi_rlast, m_axi_awready, m_axi_wready, m_axi_bvalid,
  output logic [3:0]                m_axi_arid, m_axi_awid,
  output logic [CfgAxiAddrBits-1:0] m_axi_araddr, m_axi_awaddr,
  output logic [7:0]                m_axi_arlen, m_axi_awlen,
  output logic [2:0]                m_axi_arsize, m_axi_awsize,
  output logic [1:0]                m_axi_arburst, m_axi_awburst,
  input  logic [3:0]                m_axi_rid, m_axi_bid,
  input  logic [AxiBits-1:0]        m_axi_rdata,
  output logic [AxiBits-1:0]        m_axi_wdata,
  output logic [CfgAxiBytes-1:0]    m_axi_wstrb,
  input  logic [1:0]                m_axi_rresp, m_axi_bresp,
  output logic                      commit_q_valid_o, commit_l_valid_o, commit_w_valid_o, commit_m_valid_o,
  output logic [2:0]                commit_q_unit_o,
  output logic [3:0]                commit_w_space_o,
  output logic [31:0]               commit_q_cmd_o, commit_q_addr_o, commit_l_cmd_o, commit_l_word_o,
  output logic [31:0]               commit_w_cmd_o, commit_w_word_o, commit_m_cmd_o,
  output logic [7:0]                commit_q_count_o,
  output logic [8*CfgN-1:0]         commit_q_data_o, commit_l_data_o, commit_w_data_o,
  output logic [CfgN-1:0]           commit_l_be_o,
  output logic [CfgAxiAddrBits-1:0] commit_m_addr_o,
  output logic [CfgAxiBytes-1:0]    commit_m_strb_o,
  output logic [AxiBits-1:0]        commit_m_data_o,
  output logic [UnitCount-1:0]      done_o,
  output logic [UnitCount*32-1:0]   done_cmd_o, unit_cmd_o,
  output logic [UnitCount*16-1:0]   unit_layer_o,
  output logic [UnitCount*3-1:0]    unit_kind_o,
  output logic                      array_begin_o
);
  localparam int unsigned BurstBytes = 16 * CfgAxiBytes;
  typedef enum logic [2:0] {Idle, Address, Read, WriteAddress, Write, Response, Hung, Done} state_e;

  assign array_begin_o = 1'b0;
  assign {active_control_o, active_dma_o, active_vector_o, active_requant_o} = '0;

  // Registers.
  logic [31:0] regs [128];
  logic        aw_q, w_q;
  logic [11:0] awaddr_q;
  logic [31:0] wdata_q;
  logic        doorbell;
  assign s_axil_awready = !aw_q;
  assign s_axil_wready  = !w_q;
  assign s_axil_bresp   = '0;
  assign s_axil_rresp   = '0;
  assign s_axil_arready = !s_axil_rvalid;
  assign doorbell       = aw_q && w_q && !s_axil_bvalid && awaddr_q[11:2] == 10'(RegControl) && wdata_q[0];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      aw_q <= 1'b0;
      w_q <= 1'b0;
      s_axil_bvalid <= 1'b0;
      s_axil_rvalid <= 1'b0;
    end else begin
      if (s_axil_awvalid && s_axil_awready) {aw_q, awaddr_q} <= {1'b1, s_axil_awaddr};
      if (s_axil_wvalid && s_axil_wready) {w_q, wdata_q} <= {1'b1, s_axil_wdata};
      if (aw_q && w_q && !s_axil_bvalid) begin
        regs[awaddr_q[8:2]] <= wdata_q;
        s_axil_bvalid <= 1'b1;
      end
      if (s_axil_bvalid && s_axil_bready) {s_axil_bvalid, aw_q, w_q} <= '0;
      if (s_axil_arvalid && s_axil_arready) begin
        s_axil_rvalid <= 1'b1;
        s_axil_rdata <= s_axil_araddr[11:2] == 10'(RegId) ? HdId :
                        s_axil_araddr[11:2] == 10'(RegConfigHash) ? CfgHash : regs[s_axil_araddr[8:2]];
      end else if (s_axil_rready) s_axil_rvalid <= 1'b0;
    end
  end

  // The copy.
  state_e                    state;
  logic [31:0]               at, bursts, resps;
  logic [AxiBits-1:0]        buffer [16];
  logic [3:0]                beat;
  logic [31:0]               mode, length;
  logic [CfgAxiAddrBits-1:0] from, to;
  assign mode   = regs[RegRegionSize + 15];
  assign length = regs[RegCommandLength];
  assign from   = CfgAxiAddrBits'({regs[RegRegionBaseHi], regs[RegRegionBaseLo]} + 64'(regs[RegCommandOffset]) + 64'(at));
  assign to     = CfgAxiAddrBits'({regs[RegRegionBaseHi + 1], regs[RegRegionBaseLo + 1]} + 64'(at));
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state <= Idle;
      irq_o <= 1'b0;
      bursts <= '0;
      resps <= '0;
    end else unique case (state)
      Idle: if (doorbell) begin
        state <= Address;
        at <= '0;
        beat <= '0;
        bursts <= '0;
        resps <= '0;
        irq_o <= 1'b0;
      end
      Address: if (m_axi_arready) state <= mode == 6 && bursts == 1 ? Hung : Read;
      Read: if (m_axi_rvalid) begin
        buffer[beat] <= m_axi_rdata;
        beat <= beat + 1;
        if (m_axi_rresp != 0) resps <= 32'(m_axi_rresp);
        if (m_axi_rlast) state <= mode == 1 ? Hung : WriteAddress;
      end
      WriteAddress: if (m_axi_awready) state <= Write;
      Write: if (m_axi_wready) begin
        beat <= beat + 1;
        if (beat == 15) state <= Response;
      end
      Response: if (m_axi_bvalid) begin
        if (m_axi_bresp != 0) resps <= 32'(m_axi_bresp);
        at <= at + BurstBytes;
        bursts <= bursts + 1;
        state <= at + BurstBytes < length ? Address : Done;
      end
      Hung: if (mode == 6) $stop;
      Done: begin
        irq_o <= 1'b1;
        state <= Idle;
      end
      default: state <= Idle;
    endcase
  end
  logic toggle;
  always_ff @(posedge clk_i) toggle <= rst_ni && !toggle;
  assign m_axi_arvalid = state == Address;
  assign m_axi_araddr  = mode == 3 ? from | CfgAxiAddrBits'(12'hf80) : from;
  assign m_axi_arid    = 4'd0;
  assign m_axi_arlen   = 8'd15;
  assign m_axi_arsize  = 3'($clog2(CfgAxiBytes));
  assign m_axi_arburst = 2'd1;
  assign m_axi_rready  = state == Read;
  assign m_axi_awvalid = state == WriteAddress;
  assign m_axi_awaddr  = to + (mode == 2 && toggle ? CfgAxiAddrBits'(4096) : '0);
  assign m_axi_awid    = 4'd4;
  assign m_axi_awlen   = 8'd15;
  assign m_axi_awsize  = 3'($clog2(CfgAxiBytes));
  assign m_axi_awburst = 2'd1;
  assign m_axi_wvalid  = state == Write;
  assign m_axi_wdata   = buffer[beat];
  assign m_axi_wstrb   = '1;
  assign m_axi_wlast   = beat == (mode == 5 ? 14 : 15);
  assign m_axi_bready  = state == Response;

  // The outputs that the simulator sees.
  assign commit_q_valid_o = 1'b0;
  assign commit_l_valid_o = 1'b0;
  assign commit_w_valid_o = 1'b0;
  assign commit_m_valid_o = m_axi_wvalid && m_axi_wready;
  assign commit_m_cmd_o   = bursts;
  assign commit_m_addr_o  = to + CfgAxiAddrBits'(beat) * CfgAxiAddrBits'(CfgAxiBytes);
  assign commit_m_strb_o  = m_axi_wstrb;
  assign commit_m_data_o  = m_axi_wdata;
  assign {commit_q_unit_o, commit_w_space_o, commit_q_cmd_o, commit_q_addr_o, commit_l_cmd_o, commit_l_word_o} = '0;
  assign {commit_w_cmd_o, commit_w_word_o, commit_q_count_o, commit_l_be_o} = '0;
  assign commit_q_data_o = '0;
  assign commit_l_data_o = '0;
  assign commit_w_data_o = '0;
  always_comb begin
    done_o = '0;
    unit_cmd_o = '0;
    unit_layer_o = '0;
    done_o[UnitStore] = m_axi_bvalid && m_axi_bready;
    done_o[UnitFetch] = state == Done;
    unit_cmd_o[UnitStore*32 +: 32] = bursts;
    unit_cmd_o[UnitFetch*32 +: 32] = bursts;
    done_cmd_o = unit_cmd_o;
    unit_kind_o = {3'(CounterFetchIdle), 3'(CounterStoreIdle), 3'(CounterVectorIdle), 3'(CounterArrayIdle),
                   3'(CounterWeightIdle), 3'(CounterLoadIdle)};
    if (state != Idle) unit_kind_o[UnitFetch*3 +: 3] = 3'(CounterFetchWaitEnd);
    if (state == Hung || state == Response) unit_kind_o[UnitStore*3 +: 3] = 3'd2;
    else if (state != Idle && state != Done) unit_kind_o[UnitStore*3 +: 3] = 3'd0;
  end
  // 'regs' as read back by tests: the responses of the bus.
  always_ff @(posedge clk_i) if (state == Done) regs[RegErrCause] <= resps;
endmodule
`default_nettype wire
