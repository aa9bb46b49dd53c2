// AR is what a unit asked for and stays until taken; at most Bursts are outstanding; beats go to one unit.
logic                hold_q, load_last_q, weight_last_q;
logic [2:0]          who_q;
logic [AddrBits-1:0] want_addr_q, shown_addr_q;
logic [7:0]          want_len_q, shown_len_q;
logic [3:0]          shown_id_q;
logic [CountBits:0]  out_q;  // on the bus: AR taken, last beat not

always_ff @(posedge clk_i) begin
  if (!rst_ni) begin
    {hold_q, load_last_q, weight_last_q} <= '0;
    out_q <= '0;
  end else begin
    hold_q <= axi_o.arvalid && !axi_i.arready;
    out_q  <= out_q + (axi_o.arvalid && axi_i.arready) - ended;
    if (req_ready_o[1:0] != '0) {weight_last_q, load_last_q} <= req_ready_o[1:0];
  end
  for (int u = 0; u < 3; u++) begin
    if (req_valid_i[u] && req_ready_o[u]) begin
      who_q       <= 3'(1 << u);
      want_addr_q <= req_addr_i[u*AddrBits +: AddrBits];
      want_len_q  <= req_len_i[u*8 +: 8];
    end
  end
  {shown_id_q, shown_addr_q, shown_len_q} <= {axi_o.arid, axi_o.araddr, axi_o.arlen};
end

always_comb begin
  m_r_owed: assume (!axi_i.rvalid || out_q != '0);
  if (rst_ni) begin
    a_stable: assert (!hold_q
      || (axi_o.arvalid && {axi_o.arid, axi_o.araddr, axi_o.arlen} == {shown_id_q, shown_addr_q, shown_len_q}));
    a_asked: assert (!axi_o.arvalid || (axi_o.araddr == want_addr_q && axi_o.arlen == want_len_q
      && axi_o.arid == (who_q[2] ? 4'(UnitFetch) : who_q[1] ? 4'(UnitWeight) : 4'(UnitLoad))));
    a_one_hot: assert ((req_ready_o & (req_ready_o - 1'b1)) == '0 && (req_ready_o & ~req_valid_i) == '0);
    a_bound: assert (out_q + axi_o.arvalid <= Bursts);
    a_turns: assert (!(req_valid_i[1:0] == 2'b11 && (weight_last_q ? req_ready_o[1] : load_last_q && req_ready_o[0])));
    a_fetch_first: assert (!(req_valid_i[2] && fetch_first_i) || req_ready_o[1:0] == '0);
    a_fetch_last: assert (!req_ready_o[2] || fetch_first_i || req_valid_i[1:0] == '0);
    a_stop: assert (!stop_i || (req_ready_o == '0 && r_valid_o == '0 && axi_o.rready));
    a_routed: assert ((r_valid_o & (r_valid_o - 1'b1)) == '0
      && (r_valid_o == '0 || (axi_i.rvalid && axi_o.rready && r_ready_i == 3'b111)));
    a_unit: assert (!(axi_i.rvalid && axi_o.rready && !stop_i)
      || r_valid_o == {axi_i.rid == 4'(UnitFetch), axi_i.rid == 4'(UnitWeight), axi_i.rid == 4'(UnitLoad)});
    a_quiet: assert (quiet_o == (out_q == '0 && !axi_o.arvalid));
    // The unit's count and turn; the induction needs them.
    a_count: assert (count_q == out_q + valid_q && weight_next_q == load_last_q && !(load_last_q && weight_last_q));
  end
end
