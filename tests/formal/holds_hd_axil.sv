// A write reaches the registers once, with what the bus gave; answers stay until taken; one answer an access.
logic                aw_q2, w_q2, b_hold_q, b_owed_q, r_hold_q, r_taken_q, r_next_q, r_third_q, r_real_q;
logic [AddrBits-1:0] f_addr_q, f_ar_q;
logic [31:0]         f_data_q, r_shown_q, f_read_q;
logic [3:0]          f_strb_q;
logic                aw_now, w_now, due;

// The last transfer of the bus, taken at its handshakes, without a look at the unit's state.
assign aw_now = axil_i.awvalid && axil_o.awready;
assign w_now  = axil_i.wvalid && axil_o.wready;
assign due    = aw_q2 && w_q2 && !axil_o.bvalid && !hold_i;

always_ff @(posedge clk_i) begin
  if (!rst_ni) begin
    {aw_q2, w_q2, b_hold_q, b_owed_q, r_hold_q, r_taken_q, r_next_q, r_third_q, r_real_q} <= '0;
  end else begin
    // Accesses whose answer is not accepted.
    if (axil_o.bvalid && axil_i.bready) {aw_q2, w_q2} <= '0;
    else {aw_q2, w_q2} <= {aw_q2 | aw_now, w_q2 | w_now};
    b_hold_q <= axil_o.bvalid && !axil_i.bready;
    b_owed_q <= due;
    r_hold_q <= axil_o.rvalid && !axil_i.rready;
    r_taken_q <= axil_i.arvalid && axil_o.arready;
    r_next_q  <= r_taken_q;
    r_third_q <= r_next_q;
    r_real_q  <= r_third_q;
  end
  if (aw_now) f_addr_q <= axil_i.awaddr;
  if (w_now) {f_data_q, f_strb_q} <= {axil_i.wdata, axil_i.wstrb};
  r_shown_q <= axil_o.rdata;
  if (axil_i.arvalid && axil_o.arready) f_ar_q <= axil_i.araddr;
  f_read_q  <= (f_ar_q >> (WordBits + 2)) == '0 ? read_data_i : '0;
end

always_comb begin
  if (rst_ni) begin
    a_b_stable: assert (!b_hold_q || axil_o.bvalid);
    a_r_stable: assert (!r_hold_q || (axil_o.rvalid && axil_o.rdata == r_shown_q));
    a_b_owed: assert (axil_o.bvalid == (b_owed_q || b_hold_q) && (!axil_o.bvalid || (aw_q2 && w_q2)));
    a_one_write: assert (!aw_now || !aw_q2);
    a_one_data: assert (!w_now || !w_q2);
    a_write: assert (!write_o || (!axil_o.bvalid && aw_q2 && w_q2));
    a_word: assert (!write_o || (write_word_o == f_addr_q[WordBits+1:2] && (f_addr_q >> (WordBits + 2)) == '0));
    a_data: assert (!write_o || (write_data_o == f_data_q
      && {write_mask_o[24], write_mask_o[16], write_mask_o[8], write_mask_o[0]} == f_strb_q));
    a_held: assert (!hold_i || (!axil_o.awready && !axil_o.wready && !write_o));
    a_written: assert (!due || (f_addr_q >> (WordBits + 2)) != '0 || write_o);
    a_read: assert (axil_o.rvalid == (r_real_q || r_hold_q) && (!r_real_q || axil_o.rdata == f_read_q));
    a_okay: assert (axil_o.bresp == '0 && axil_o.rresp == '0);
    // The transfers held; the induction needs this.
    a_aw_held: assert (aw_held_q == (aw_q2 && !b_valid_q) && w_held_q == (w_q2 && !b_valid_q));
    a_aw_is: assert (!aw_held_q || aw_q == f_addr_q);
    a_read_word: assert (!(r_taken_q || r_next_q || r_third_q) || read_word_o == f_ar_q[WordBits+1:2]);
    a_reading: assert (reading_q == {r_third_q, r_next_q, r_taken_q} && (reading_q == '0 || (!r_valid_q && ar_q == f_ar_q)));
    a_one_reading: assert (r_taken_q + r_next_q + r_third_q <= 1);
    a_w_is: assert (!w_held_q || {w_q, strb_q} == {f_data_q, f_strb_q});
  end
end
