// AW and W stay until taken; at most Bursts wait for their B; no beat comes before its AW, and bursts end as asked;
//   strobes are the lanes of the beat.
logic                  aw_hold_q, w_hold_q;
logic [AddrBits-1:0]   want_addr_q, shown_addr_q;
logic [7:0]            want_len_q, shown_len_q;
logic [AxiBytes*8-1:0] shown_data_q;
logic [AxiBytes-1:0]   shown_strb_q, lanes_q, lanes;
logic                  shown_last_q, stopped_q;
logic [AheadBits:0]    asked_q, ended_q;  // bursts without B yet; those that have ended on the bus
logic                  end_now;

assign end_now = axi_o.wvalid && axi_i.wready && axi_o.wlast;
for (genvar b = 0; b < AxiBytes; b++) begin : gen_lanes
  assign lanes[b] = b >= beat_lo_i && b < beat_lo_i + beat_bytes_i;
end

always_ff @(posedge clk_i) begin
  if (!rst_ni) begin
    {aw_hold_q, w_hold_q} <= '0;
    asked_q <= '0;
    ended_q <= '0;
  end else begin
    aw_hold_q <= axi_o.awvalid && !axi_i.awready;
    w_hold_q  <= axi_o.wvalid && !axi_i.wready;
    asked_q   <= asked_q + burst_take - axi_i.bvalid;
    ended_q   <= ended_q + end_now - axi_i.bvalid;
  end
  if (burst_take) {want_addr_q, want_len_q} <= {burst_addr_i, burst_len_i};
  if (beat_take) {lanes_q, stopped_q} <= {lanes, stop_i};
  {shown_addr_q, shown_len_q, shown_data_q, shown_strb_q, shown_last_q}
    <= {axi_o.awaddr, axi_o.awlen, axi_o.wdata, axi_o.wstrb, axi_o.wlast};
end

always_comb begin
  m_b_owed: assume (!axi_i.bvalid || ended_q != '0);
  m_lanes: assume (beat_lo_i < AxiBytes && beat_bytes_i != '0 && beat_bytes_i <= AxiBytes - beat_lo_i);
  if (rst_ni) begin
    a_aw_stable: assert (!aw_hold_q
      || (axi_o.awvalid && {axi_o.awaddr, axi_o.awlen} == {shown_addr_q, shown_len_q}));
    a_w_stable: assert (!w_hold_q
      || (axi_o.wvalid && {axi_o.wdata, axi_o.wstrb, axi_o.wlast} == {shown_data_q, shown_strb_q, shown_last_q}));
    a_asked: assert (!axi_o.awvalid || {axi_o.awaddr, axi_o.awlen} == {want_addr_q, want_len_q});
    a_bound: assert (asked_q <= Bursts);
    a_strobes: assert (!axi_o.wvalid || axi_o.wstrb == (stopped_q ? '0 : lanes_q));
    a_beats_owed: assert (ended_q + (axi_o.wvalid && axi_o.wlast) <= asked_q);
    a_stop: assert (!stop_i || !burst_take);
    a_quiet: assert (quiet_o == (asked_q == '0));
    a_quiet_bus: assert (!quiet_o || !axi_i.bvalid);
    // The unit's counts; the induction needs them.
    a_waiting: assert (wait_valid == (asked_q != '0) && wait_ready == (asked_q != Bursts));
    a_sent: assert (sent_q == ended_q);
    a_open: assert (!w_valid_q || w_last_q || ahead_q != '0);
    a_counts: assert (ended_q <= Bursts && ahead_q <= Bursts);
    a_ahead: assert (asked_q == ahead_q + ended_q + (w_valid_q && w_last_q));
    a_any_ahead: assert (any_ahead_q == (ahead_q != '0));
  end
end
