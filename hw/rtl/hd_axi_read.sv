// hd_axi_read - shares the AXI read channel among LOAD, WEIGHT and FETCH (req_*, r_* in that
// order).
//   LOAD and WEIGHT alternate. FETCH goes before both with fetch_first_i, else after both. ARID =
//   enum unit. At most Bursts bursts are outstanding, shared: one unit alone has them all.
//   req_addr_i is a multiple of AxiBytes.
//   Beats go by RID to r_valid_o; they are taken when all three r_ready_i are set, so RREADY
//   depends on no input of the bus. stop_i: no new bursts; beats under way are dropped. quiet_o:
//   nothing is outstanding.
//   active_o: see hd_clocks.
// Latency 1 from req_valid_i to ARVALID, 0 from R to r_valid_o. Throughput 1 burst, 1 beat a cycle.
// Reset: quiet.
// Bench: tests/hw/frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"

module hd_axi_read #(
  parameter int AxiBytes = 16,
  parameter int AddrBits = 40,
  parameter int Bursts   = 16
) (
  input  wire logic                  clk_i,
  input  wire logic                  rst_ni,
  input  wire logic                  stop_i,
  output logic                       quiet_o,
  output logic                       active_o,
  // units
  input  wire logic                  fetch_first_i,
  input  wire logic [2:0]            req_valid_i,
  output logic      [2:0]            req_ready_o,
  input  wire logic [3*AddrBits-1:0] req_addr_i,
  input  wire logic [3*8-1:0]        req_len_i,
  output logic      [2:0]            r_valid_o,
  input  wire logic [2:0]            r_ready_i,
  output logic      [AxiBytes*8-1:0] r_data_o,
  output logic                       r_error_o,
  output logic                       r_last_o,   // the slave's last beat of a burst
  // bus
  output logic                       m_axi_arvalid,
  input  wire logic                  m_axi_arready,
  output logic      [3:0]            m_axi_arid,
  output logic      [AddrBits-1:0]   m_axi_araddr,
  output logic      [7:0]            m_axi_arlen,
  output logic      [2:0]            m_axi_arsize,
  output logic      [1:0]            m_axi_arburst,
  input  wire logic                  m_axi_rvalid,
  output logic                       m_axi_rready,
  input  wire logic [3:0]            m_axi_rid,
  input  wire logic [AxiBytes*8-1:0] m_axi_rdata,
  input  wire logic [1:0]            m_axi_rresp,
  input  wire logic                  m_axi_rlast
);
  localparam int CountBits = $clog2(Bursts + 1);

  logic                 valid_q;
  logic [2:0]           id_q;
  logic [AddrBits-1:0]  addr_q;
  logic [7:0]           len_q;
  logic [CountBits-1:0] count_q;  // bursts granted, their last beat not yet taken
  logic                 weight_next_q;
  logic                 free, fetch_turn, grant, ended;

  // Address channel.
  assign free  = (!valid_q || m_axi_arready) && count_q != CountBits'(Bursts) && !stop_i;
  assign grant = req_ready_o != '0;

  assign fetch_turn     = req_valid_i[2] && (fetch_first_i || req_valid_i[1:0] == '0);
  assign req_ready_o[2] = free && fetch_turn;
  assign req_ready_o[1] = free && req_valid_i[1] && !fetch_turn
                          && (weight_next_q || !req_valid_i[0]);
  assign req_ready_o[0] = free && req_valid_i[0] && !fetch_turn
                          && !(req_valid_i[1] && weight_next_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q       <= 1'b0;
      count_q       <= '0;
      weight_next_q <= 1'b0;
    end else begin
      if (grant) valid_q <= 1'b1;
      else if (m_axi_arready) valid_q <= 1'b0;
      if (grant != ended) count_q <= grant ? count_q + 1'b1 : count_q - 1'b1;
      if (req_ready_o[0]) weight_next_q <= 1'b1;
      else if (req_ready_o[1]) weight_next_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (req_ready_o[0]) begin
      id_q   <= UnitLoad;
      addr_q <= req_addr_i[AddrBits-1:0];
      len_q  <= req_len_i[7:0];
    end else if (req_ready_o[1]) begin
      id_q   <= UnitWeight;
      addr_q <= req_addr_i[2*AddrBits-1:AddrBits];
      len_q  <= req_len_i[15:8];
    end else if (req_ready_o[2]) begin
      id_q   <= UnitFetch;
      addr_q <= req_addr_i[3*AddrBits-1:2*AddrBits];
      len_q  <= req_len_i[23:16];
    end
  end

  assign m_axi_arvalid = valid_q;
  assign m_axi_arid    = {1'b0, id_q};
  assign m_axi_araddr  = addr_q;
  assign m_axi_arlen   = len_q;
  assign m_axi_arsize  = 3'($clog2(AxiBytes));
  assign m_axi_arburst = 2'b01;  // INCR

  // Data channel.
  assign m_axi_rready = stop_i || r_ready_i == 3'b111;
  assign ended        = m_axi_rvalid && m_axi_rready && m_axi_rlast;
  assign r_data_o     = m_axi_rdata;
  assign r_error_o    = m_axi_rresp[1];
  assign r_last_o     = m_axi_rlast;
  assign quiet_o      = count_q == '0;
  assign active_o     = valid_q || grant || m_axi_rvalid;

  logic routed;
  assign routed       = m_axi_rvalid && m_axi_rready && !stop_i;
  assign r_valid_o[0] = routed && m_axi_rid == {1'b0, UnitLoad};
  assign r_valid_o[1] = routed && m_axi_rid == {1'b0, UnitWeight};
  assign r_valid_o[2] = routed && m_axi_rid == {1'b0, UnitFetch};

  logic unused;
  assign unused = m_axi_rresp[0];

`ifdef HD_ASSERT
  a_ar_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    m_axi_arvalid && !m_axi_arready |=>
    m_axi_arvalid && $stable({m_axi_arid, m_axi_araddr, m_axi_arlen}));
  a_ar_4k: assert property (@(posedge clk_i) disable iff (!rst_ni)
    m_axi_arvalid |-> 32'(m_axi_araddr[11:0]) + (32'(m_axi_arlen) + 1) * AxiBytes <= 4096);
  a_r_known: assert property (@(posedge clk_i) disable iff (!rst_ni)
    m_axi_rvalid |-> count_q != '0);
  c_all_out: cover property (@(posedge clk_i) count_q == CountBits'(Bursts));
`endif
endmodule

`default_nettype wire
