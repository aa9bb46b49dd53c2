// Known from elsewhere: nothing is left to hand out (proof `addr`, a_rest); an answer comes to a burst that waits for one.
(* hierconn *) wire \u_addr.u_bursts.u_walk.valid_q ;
(* hierconn *) wire \u_addr.u_bursts.u_walk.taken_q ;
(* hierconn *) wire \u_addr.u_beats.taken_q ;
(* hierconn *) wire \u_addr.u_words.taken_q ;
(* hierconn *) wire \u_write.wait_valid ;
always_comb begin
  m_none_left: assume (beat_valid || runs_valid || !(burst_valid || \u_addr.u_bursts.u_walk.valid_q ));
  m_answer: assume (!axi_i.bvalid || \u_write.wait_valid );
  if (rst_ni) begin
    a_pending: assert (!pending_q || asked_q);
    a_taken: assert ((!\u_addr.u_bursts.u_walk.taken_q || \u_addr.u_bursts.u_walk.valid_q )
      && (!\u_addr.u_beats.taken_q || beat_valid) && (!\u_addr.u_words.taken_q || read_valid));
  end
end
