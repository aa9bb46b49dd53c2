// hd_regs starts it when it is idle, is active in the cycles after a reset, from a fault on and while it
// stops, which is until a reset. In
// the cycle after a request was taken hd_axi_read shows it. So the clock runs in these cycles.
logic f_asked_q, f_stop_q, f_began_q;  // f_began_q: the walk of bursts began two cycles ago
always_ff @(posedge clk_i) begin
  f_asked_q <= !rst_ni || (req_valid_o && req_ready_i);
  f_stop_q  <= rst_ni && stop_i;
  f_began_q <= rst_ni && state_q == StBounds;
end
(* hierconn *) wire \u_chunks.u_bursts.u_walk.valid_q ;
(* hierconn *) wire \u_chunks.u_bursts.u_walk.taken_q ;
(* hierconn *) wire \u_chunks.u_bursts.beyond ;
(* hierconn *) wire \u_chunks.u_bursts.fault_q ;
(* hierconn *) wire [1:0] \u_chunks.u_bursts.u_bursts.count_q ;
(* hierconn *) wire \u_chunks.u_bursts.u_bursts.valid_q ;
(* hierconn *) wire \u_chunks.u_bursts.u_bursts.behind_q ;
(* hierconn *) wire \u_chunks.u_bursts.u_bursts.full_q ;
logic f_step, f_beyond;
assign f_step   = \u_chunks.u_bursts.u_walk.valid_q && !\u_chunks.u_bursts.beyond && !\u_chunks.u_bursts.fault_q ;
assign f_beyond = \u_chunks.u_bursts.u_walk.valid_q && \u_chunks.u_bursts.beyond && !\u_chunks.u_bursts.fault_q ;
always_comb begin
  m_start: assume (!start_i || (state_q == StIdle && !stop_i));
  m_stop: assume (!f_stop_q || stop_i || !rst_ni);
  if (rst_ni) begin
    a_taken: assert (!\u_chunks.u_bursts.u_walk.taken_q || \u_chunks.u_bursts.u_walk.valid_q );
    // The walk of bursts stops only where it must: its queue is full except for the last request,
    // or it is at the limit.
    a_full: assert (!f_step || state_q == StBounds || \u_chunks.u_bursts.u_bursts.count_q == 2 || fault_q || stop_i
      || ((f_asked_q || f_began_q) && \u_chunks.u_bursts.u_bursts.count_q == 1));
    a_queue: assert (\u_chunks.u_bursts.u_bursts.valid_q == (\u_chunks.u_bursts.u_bursts.count_q != 0)
      && \u_chunks.u_bursts.u_bursts.behind_q == (\u_chunks.u_bursts.u_bursts.count_q > 1)
      && \u_chunks.u_bursts.u_bursts.full_q == (\u_chunks.u_bursts.u_bursts.count_q == 2)
      && \u_chunks.u_bursts.u_bursts.count_q <= 2);
    a_limit: assert (!f_beyond || state_q == StBounds || \u_chunks.u_bursts.u_bursts.count_q != 0 || fault_q || stop_i
      || f_asked_q || f_began_q);
    a_taking: assert (taking_q == (state_q == StHeader || state_q == StCollect));
    // The next values of registers that may move while a command waits for its queue.
    a_push: assert (state_q != StPush || f_moves || (pos_q == '0 && cmd_at_q == at_q
      && unit_q[UnitLoad] == (cmd_opcode == OpLoad) && unit_q[UnitWeight] == (cmd_opcode == OpWeight)
      && unit_q[UnitArray] == (cmd_opcode == OpArray) && unit_q[UnitVector] == (cmd_opcode == OpVector)
      && unit_q[UnitStore] == (cmd_opcode == OpStore)));
  end
end
