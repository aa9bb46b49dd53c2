// Known from elsewhere: nothing is left to hand out (proof `addr`, a_rest; proof `read`).
(* hierconn *) wire \u_addr.u_bursts.u_walk.valid_q ;
(* hierconn *) wire \u_addr.u_bursts.u_walk.taken_q ;
(* hierconn *) wire \u_addr.u_beats.taken_q ;
(* hierconn *) wire \u_addr.u_words.taken_q ;
always_comb begin
  m_none_left: assume (gather_valid || runs_valid || !(req_valid_o || \u_addr.u_bursts.u_walk.valid_q ));
  if (rst_ni) begin
    a_taken: assert ((!\u_addr.u_bursts.u_walk.taken_q || \u_addr.u_bursts.u_walk.valid_q )
      && (!\u_addr.u_beats.taken_q || gather_valid) && (!\u_addr.u_words.taken_q || word_valid));
    a_asked: assert (asked_q || !(taken_q || done_q));
  end
end
