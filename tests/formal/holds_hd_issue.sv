// A command is presented once its waits hold, in order; at most InFlight are in the unit; completions are counted.
logic [15:0] ahead;
logic [31:0] done_count_q, shown_index_q;
logic [7:0]  in_unit_q, queued_q;
logic        far;             // a count is 2^15 - 1 beyond its wait and continues
logic [Bits-1:0] shown_cmd_q;
logic        hold_q, late, fresh_q, counted_q;  // fresh_q: the head was not there a cycle ago
logic [4:0]  dones_q;
logic [5*16-1:0] counts_q, went_on;

// Written apart from the unit: a wait holds if the count is at most 2^15 - 1 beyond it.
always_comb begin
  late  = 1'b0;
  far   = 1'b0;
  ahead = '0;
  for (int u = 0; u < 5; u++) begin
    ahead = counts_i[u*16 +: 16];
    case (u)
      UnitLoad:   ahead = ahead - common.wait_load;
      UnitWeight: ahead = ahead - common.wait_weight;
      UnitArray:  ahead = ahead - common.wait_array;
      UnitVector: ahead = ahead - common.wait_vector;
      default:    ahead = ahead - common.wait_store;
    endcase
    if (common.wait_enable[u] && ahead >= 16'h8000) late = 1'b1;
    if (common.wait_enable[u] && ahead == 16'h7fff && dones_i[u]) far = 1'b1;
  end
end

always_ff @(posedge clk_i) begin
  hold_q        <= rst_ni && cmd_valid_o && !cmd_ready_i;
  shown_index_q <= cmd_index_o;
  shown_cmd_q   <= cmd_o;
  fresh_q       <= !rst_ni || !head_valid || head_take;
  counted_q     <= rst_ni && !clear_i;
  counts_q      <= counts_i;
  dones_q       <= dones_i;
  if (!rst_ni) begin
    in_unit_q <= '0;
    queued_q  <= '0;
  end else begin
    in_unit_q <= in_unit_q + head_take - done_i;
    queued_q  <= queued_q + (push_valid_i && push_ready_o) - head_take;
  end
  if (clear_i) done_count_q <= '0;
  else done_count_q <= done_count_q + done_i;
end

always_comb begin
  m_done: assume (!done_i || in_unit_q != '0);
  m_clear: assume (rst_ni ? !clear_i || queued_q == '0 : clear_i);
  m_near: assume (queued_q == '0 || !far);  // while a command waits, no unit completes 2^15 beyond what it waits for
  went_on = counts_q;
  for (int u = 0; u < 5; u++) went_on[u*16 +: 16] = counts_q[u*16 +: 16] + dones_q[u];
  m_counts: assume (!counted_q || counts_i == went_on);
  if (rst_ni) begin
    a_waits: assert (!cmd_valid_o || !late);
    a_presented: assert (cmd_valid_o || late || stop_i || fresh_q || queued_q == '0 || in_unit_q == InFlight);
    a_order: assert (!hold_q || (cmd_index_o == shown_index_q && cmd_o == shown_cmd_q));
    a_stays: assert (!hold_q || cmd_valid_o || stop_i);
    a_in_flight: assert (in_unit_q <= InFlight && in_unit_o == (in_unit_q != '0));
    a_empty: assert (empty_o == (queued_q == '0 && in_unit_q == '0));
    a_count: assert (count_o == done_count_q);
    a_stop: assert (!stop_i || !cmd_valid_o);
    a_soon: assert (!held_q || (queued_q != '0 && !late && !fresh_q));
    a_stands: assert (held_q || late || fresh_q || queued_q == '0);
    // Entries of the queues, which are two deep here; the induction needs it.
    a_queued: assert ((head_valid ? queued_q != '0 : queued_q == pushed_q) && push_ready_o == (queued_q != Depth) && queued_q <= Depth);
    a_flight: assert (flight_ready == (in_unit_q != InFlight));
  end
end
