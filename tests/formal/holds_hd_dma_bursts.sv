// Bursts stay within 16 beats of one line (so within 4 KiB), and within the region but for the rest of its last beat:
//   the limit is checked by the byte, a burst is issued by the beat. A limit that is a multiple of AxiBytes is kept.
logic                hold_q, asked_q;
logic [AddrBits:0]   region_q;   // of the walk
logic [AddrBits-1:0] shown_addr_q, goes_at;
logic [7:0]          shown_len_q;
logic                shown_last_q;
logic [TagBits-1:0]  shown_tag_q;
logic [AddrBits+1:0] first_after, step_after;   // first address after the burst, after the step

// The entries of the queue of bursts; proof `fifo` has the rest of their way.
assign goes_at     = {line[AddrBits-1:LineBits], lo[LineBits-1:BeatBits], {BeatBits{1'b0}}};
assign first_after = {2'b0, goes_at} + ((AddrBits + 2)'(len) + 1'b1) * AxiBytes;
assign step_after  = {1'b0, line_addr} + top + 1'b1;

always_ff @(posedge clk_i) begin
  if (!rst_ni) {hold_q, asked_q} <= '0;
  else begin
    hold_q  <= burst_valid_o && !burst_ready_i;
    asked_q <= asked_q || (valid_i && ready_o);
  end
  if (valid_i && ready_o) region_q <= limit_i;
  {shown_addr_q, shown_len_q, shown_last_q, shown_tag_q} <= {burst_addr_o, burst_len_o, burst_last_o, burst_tag_o};
end

always_comb begin
  m_limit: assume (!limit_i[AddrBits] || limit_i[AddrBits-1:0] == '0);  // hd_regions
  if (rst_ni) begin
    a_stable: assert (!hold_q || (burst_valid_o && {burst_addr_o, burst_len_o, burst_last_o, burst_tag_o}
      == {shown_addr_q, shown_len_q, shown_last_q, shown_tag_q}));
    a_aligned: assert (!burst_valid_o || burst_addr_o % AxiBytes == 0);
    a_kept: assert (!take || free);
    a_line: assert (!take || {1'b0, goes_at[LineBits-1:BeatBits]} + len <= 15);
    a_inside: assert (!take || region_q % AxiBytes != 0 || first_after <= region_q);
    a_last_beat: assert (!take || first_after < {1'b0, region_q} + AxiBytes);
    a_fault: assert (!fault_o || (step_valid && step_after > region_q && !burst_valid_o));
    // The region goes with its walk; the induction needs it.
    a_region: assert (!step_valid || (asked_q && beyond_limit == {1'b1, {(AddrBits + 1){1'b0}}} - {1'b0, region_q}));
    a_limits: assert (!asked_q || !region_q[AddrBits] || region_q[AddrBits-1:0] == '0);
  end
end
