// Beats leave in order, once, each with its meta and its place in the lanes' queue; those in flight always find room.
logic                pick, followed_q;
logic [MetaBits-1:0] follow_meta_q;
logic [2:0]          ahead_q, held;  // beats before it; beats within
logic [1:0]          queued;
logic [AddrBits-1:0] follow_addr_q;
logic [CntBits-1:0]  follow_count_q;
logic                over, at_word, at_fly;  // where it is

assign pick    = $anyseq;
assign queued  = 2'(head_q) + skid_q + spare_q;
assign held    = 3'(queued) + word_q + fly_q;
assign over    = pop_i && head_q;
assign at_word = followed_q && word_q && ahead_q == 3'(queued);
assign at_fly  = followed_q && fly_q && ahead_q == 3'(queued) + word_q;

always_ff @(posedge clk_i) begin
  if (!rst_ni) followed_q <= 1'b0;
  else if (!followed_q && taken_o && pick) begin
    followed_q     <= 1'b1;
    follow_meta_q  <= meta_i;
    follow_addr_q  <= addr_i;
    follow_count_q <= count_i;
    ahead_q        <= held - over;
  end else if (followed_q && over) begin
    if (ahead_q == '0) followed_q <= 1'b0;
    else ahead_q <= ahead_q - 1'b1;
  end
end

always_comb begin
  m_pop: assume (!pop_i || head_q);
  m_count: assume (count_i <= N);
  m_ready: assume (!ready_i || req_o);
  if (rst_ni) begin
    a_room: assert (!(spare_q && word_q && fly_q));
    a_no_hole: assert ((head_q || !skid_q) && (skid_q || !spare_q));
    a_ahead: assert (!followed_q || ahead_q < held);
    a_order: assert (!followed_q || ahead_q != '0 || !head_q || meta_o == follow_meta_q);
    a_busy: assert (busy_o == (held != '0));
    a_request: assert (req_o == (valid_i && room && count_i != '0) && (!taken_o || ready_i || count_i == '0));
    a_keep: assert (!at_word
      || (keep_o == ~({N{1'b1}} << follow_count_q) && off_q == follow_addr_q[OffBits-1:0]));
    a_idle: assert (word_q || (keep_o == '0 && rot_o == '0));
    a_queue: assert (!(head_en && head_q && !pop_i) && !(skid_en && skid_q && !pop_i) && !(spare_en && spare_q)
      && (!word_q || spare_q || head_en || skid_en || spare_en));
    // Where it is; the induction needs it.
    a_skid: assert (!followed_q || ahead_q != 3'd1 || !skid_q || skid_meta_q == follow_meta_q);
    a_spare: assert (!followed_q || ahead_q != 3'd2 || !spare_q || spare_meta_q == follow_meta_q);
    a_word: assert (!at_word || (word_meta_q == follow_meta_q && count_q == follow_count_q));
    a_fly: assert (!at_fly || (fly_meta_q == follow_meta_q && fly_count_q == follow_count_q
      && fly_off_q == follow_addr_q[OffBits-1:0]));
  end
end
