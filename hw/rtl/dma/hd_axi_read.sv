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
// Bench: frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_bundles.svh"

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
  input  wire hd_axi_read_rsp_t      axi_i,
  output hd_axi_read_req_t           axi_o
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
  assign free  = (!valid_q || axi_i.arready) && count_q != CountBits'(Bursts) && !stop_i;
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
      else if (axi_i.arready) valid_q <= 1'b0;
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

  assign axi_o.arvalid = valid_q;
  assign axi_o.arid    = {1'b0, id_q};
  assign axi_o.araddr  = addr_q;
  assign axi_o.arlen   = len_q;
  assign axi_o.arsize  = 3'($clog2(AxiBytes));
  assign axi_o.arburst = 2'b01;  // INCR

  // Data channel.
  assign axi_o.rready = stop_i || r_ready_i == 3'b111;
  assign ended        = axi_i.rvalid && axi_o.rready && axi_i.rlast;
  assign r_data_o     = axi_i.rdata;
  assign r_error_o    = axi_i.rresp[1];
  assign r_last_o     = axi_i.rlast;
  assign quiet_o      = count_q == '0;
  assign active_o     = valid_q || grant || axi_i.rvalid;

  logic routed;
  assign routed       = axi_i.rvalid && axi_o.rready && !stop_i;
  assign r_valid_o[0] = routed && axi_i.rid == {1'b0, UnitLoad};
  assign r_valid_o[1] = routed && axi_i.rid == {1'b0, UnitWeight};
  assign r_valid_o[2] = routed && axi_i.rid == {1'b0, UnitFetch};

  logic unused;
  assign unused = axi_i.rresp[0];

`ifdef HD_ASSERT
  a_ar_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    axi_o.arvalid && !axi_i.arready |=>
    axi_o.arvalid && $stable({axi_o.arid, axi_o.araddr, axi_o.arlen}));
  a_ar_4k: assert property (@(posedge clk_i) disable iff (!rst_ni)
    axi_o.arvalid |-> 32'(axi_o.araddr[11:0]) + (32'(axi_o.arlen) + 1) * AxiBytes <= 4096);
  a_r_known: assert property (@(posedge clk_i) disable iff (!rst_ni)
    axi_i.rvalid |-> count_q != '0);
  c_all_out: cover property (@(posedge clk_i) count_q == CountBits'(Bursts));
`endif
endmodule

`default_nettype wire
