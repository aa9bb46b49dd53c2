// The end is reported only if nothing of the stream was refused. A fault or a stop ends in a reset,
// which hd_regs makes.
logic f_stop_q;
always_ff @(posedge clk_i) f_stop_q <= rst_ni && stop_i;
always_comb begin
  m_start: assume (!start_i || (state_q == StIdle && !stop_i && !fault_q));
  m_stop: assume (!f_stop_q || stop_i || !rst_ni);
  if (rst_ni) begin
    a_end: assert (!end_o || (!refused && !reserved_bad && !fault_q && crc_ok));
    // The last chunk is checked in the first cycle of StEnd, in which hd_crc is busy with it.
    a_busy: assert (!first_q || crc_busy);
    a_fault: assert (!fault_q || state_q == StIdle);
    a_bad: assert (state_q != StEnd || crc_busy || !reserved_bad);
  end
end
