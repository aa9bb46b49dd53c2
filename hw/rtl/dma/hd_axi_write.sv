// hd_axi_write - the AXI write channel of STORE: bursts to AW, beats to W, answers from B.
//   A burst is taken once one of Bursts places for its B is free; its beats are shown once its AW
//   is. Beats come in the order of the bursts, beat_end_i cuts at the end of a run. AWID = enum
//   unit.
//   b_last_o: the last burst of a command is in memory, in this cycle; error_o: a burst is not,
//   or B came before its last beat (error_cmd_o, error_addr_o: of its command, its address).
//   stop_i: no new bursts; bursts under way end with beats without strobes. quiet_o: nothing on the
//   bus.
//   commit_*: this W beat was taken. active_o: see hd_clocks.
// Latency 1 from burst to AWVALID, from beat to WVALID; 0 from B. Throughput 1 beat a cycle. Reset:
// quiet.
// Bench: frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_bundles.svh"

module hd_axi_write #(
  parameter int AxiBytes = 16,
  parameter int AddrBits = 40,
  parameter int Bursts   = 16,               // waiting for their B, a power of two
  parameter int BeatBits = $clog2(AxiBytes)  // derived
) (
  input  wire logic                  clk_i,
  input  wire logic                  rst_ni,
  input  wire logic                  stop_i,
  output logic                       quiet_o,
  output logic                       active_o,
  // bursts
  input  wire logic                  burst_valid_i,
  output logic                       burst_ready_o,
  input  wire logic [AddrBits-1:0]   burst_addr_i,
  input  wire logic [7:0]            burst_len_i,
  input  wire logic                  burst_last_i,
  input  wire logic [31:0]           burst_cmd_i,
  // beats
  input  wire logic                  beat_valid_i,
  output logic                       beat_ready_o,
  input  wire logic [AddrBits-1:0]   beat_addr_i,
  input  wire logic [BeatBits:0]     beat_lo_i,
  input  wire logic [BeatBits:0]     beat_bytes_i,
  input  wire logic                  beat_end_i,
  input  wire logic [AxiBytes*8-1:0] beat_data_i,
  input  wire logic [31:0]           beat_cmd_i,
  // answers
  output logic                       b_last_o,
  output logic                       error_o,
  output logic      [31:0]           error_cmd_o,
  output logic      [AddrBits-1:0]   error_addr_o,
  // bus
  input  wire hd_axi_write_rsp_t     axi_i,
  output hd_axi_write_req_t          axi_o,
  // commit
  output logic                       commit_valid_o,
  output logic      [31:0]           commit_cmd_o,
  output logic      [AddrBits-1:0]   commit_addr_o
);
  localparam int AheadBits = $clog2(Bursts + 1);

  // AW, and the bursts that wait for their B.
  logic                aw_valid_q, wait_ready, wait_valid, wait_last, burst_take;
  logic [AddrBits-1:0] aw_addr_q;
  logic [7:0]          aw_len_q;

  assign burst_ready_o = wait_ready && (!aw_valid_q || axi_i.awready) && !stop_i;
  assign burst_take    = burst_valid_i && burst_ready_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) aw_valid_q <= 1'b0;
    else if (burst_take) aw_valid_q <= 1'b1;
    else if (axi_i.awready) aw_valid_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (burst_take) begin
      aw_addr_q <= burst_addr_i;
      aw_len_q  <= burst_len_i;
    end
  end

  hd_fifo #(.Width(AddrBits + 33), .Depth(Bursts)) u_waiting (
    .clk_i,
    .rst_ni,
    .valid_i(burst_take),
    .ready_o(wait_ready),
    .data_i ({burst_last_i, burst_cmd_i, burst_addr_i}),
    .valid_o(wait_valid),
    .ready_i(axi_i.bvalid),
    .data_o ({wait_last, error_cmd_o, error_addr_o})
  );

  assign axi_o.awvalid = aw_valid_q;
  assign axi_o.awid    = {1'b0, UnitStore};
  assign axi_o.awaddr  = aw_addr_q;
  assign axi_o.awlen   = aw_len_q;
  assign axi_o.awsize  = 3'($clog2(AxiBytes));
  assign axi_o.awburst = 2'b01;  // INCR
  assign axi_o.bready  = 1'b1;
  assign quiet_o       = !wait_valid && ahead_q == '0 && !w_valid_q;
  assign error_o       = axi_i.bvalid && (axi_i.bresp[1] || sent_q == '0);
  assign b_last_o      = axi_i.bvalid && wait_last && !error_o;

  // W.
  logic                  w_valid_q, w_last_q, beat_take, burst_end;
  logic [AxiBytes*8-1:0] w_data_q;
  logic [AxiBytes-1:0]   w_strb_q;
  logic [AddrBits-1:0]   w_addr_q;
  logic [31:0]           w_cmd_q;
  logic [AheadBits-1:0]  ahead_q;  // bursts whose AW is out and whose last beat is not
  logic                  any_ahead_q;  // ahead_q is not 0
  logic [AheadBits-1:0]  sent_q;   // bursts without B whose last beat was taken
  logic                  sent;

  assign beat_ready_o = any_ahead_q && (!w_valid_q || axi_i.wready);
  assign beat_take    = beat_valid_i && beat_ready_o;
  assign sent         = w_valid_q && axi_i.wready && w_last_q;
  assign burst_end    = beat_end_i || beat_addr_i[BeatBits+3:BeatBits] == 4'hf;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      w_valid_q   <= 1'b0;
      ahead_q     <= '0;
      any_ahead_q <= 1'b0;
      sent_q      <= '0;
    end else begin
      if (beat_take) w_valid_q <= 1'b1;
      else if (axi_i.wready) w_valid_q <= 1'b0;
      if (burst_take != (beat_take && burst_end)) begin
        ahead_q     <= burst_take ? ahead_q + 1'b1 : ahead_q - 1'b1;
        any_ahead_q <= burst_take || ahead_q != AheadBits'(1);
      end
      if (sent && !axi_i.bvalid) sent_q <= sent_q + 1'b1;
      else if (axi_i.bvalid && !sent && sent_q != '0) sent_q <= sent_q - 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (beat_take) begin
      w_last_q <= burst_end;
      w_data_q <= beat_data_i;
      w_strb_q <= stop_i ? '0 : ~({AxiBytes{1'b1}} << beat_bytes_i) << beat_lo_i;
      w_addr_q <= beat_addr_i;
      w_cmd_q  <= beat_cmd_i;
    end
  end

  assign axi_o.wvalid   = w_valid_q;
  assign axi_o.wdata    = w_data_q;
  assign axi_o.wstrb    = w_strb_q;
  assign axi_o.wlast    = w_last_q;
  assign commit_valid_o = w_valid_q && axi_i.wready;
  assign commit_cmd_o   = w_cmd_q;
  assign commit_addr_o  = w_addr_q;
  assign active_o       = aw_valid_q || w_valid_q || wait_valid;

  logic unused;
  assign unused = ^{axi_i.bid, axi_i.bresp[0]};

`ifdef HD_ASSERT
  a_aw_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    axi_o.awvalid && !axi_i.awready |=> axi_o.awvalid && $stable({axi_o.awaddr, axi_o.awlen}));
  a_aw_4k: assert property (@(posedge clk_i) disable iff (!rst_ni)
    axi_o.awvalid |-> 32'(axi_o.awaddr[11:0]) + (32'(axi_o.awlen) + 1) * AxiBytes <= 4096);
  a_w_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    axi_o.wvalid && !axi_i.wready |=>
    axi_o.wvalid && $stable({axi_o.wdata, axi_o.wstrb, axi_o.wlast}));
  a_b_known: assert property (@(posedge clk_i) disable iff (!rst_ni) axi_i.bvalid |-> wait_valid);
  c_stopped: cover property (@(posedge clk_i) stop_i && !quiet_o);
  c_all_out: cover property (@(posedge clk_i) !wait_ready);
`endif
endmodule

`default_nettype wire
