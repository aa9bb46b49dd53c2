// Entries come out as they went in, in order and once: any push of a run, chosen by the solver, is
// followed.
//   `ahead` is the number of entries before it; it is at data_o when that is 0 and there is a head.
logic [PtrBits:0] ahead_q;
logic             followed_q, hold_q;
logic [Width-1:0] entry_q, shown_q;
logic             pick;            // the solver's choice
logic [PtrBits-1:0] place, in_mem;

always_ff @(posedge clk_i) begin
  if (!rst_ni) begin
    followed_q <= 1'b0;
    hold_q     <= 1'b0;
    ahead_q    <= '0;
  end else begin
    hold_q <= valid_o && !ready_i;
    if (!followed_q && push && pick) begin
      followed_q <= 1'b1;
      entry_q    <= data_i;
      ahead_q    <= count_q - (PtrBits + 1)'(pop);
    end else if (followed_q && pop) begin
      if (ahead_q == '0) followed_q <= 1'b0;
      else ahead_q <= ahead_q - 1'b1;
    end
  end
  shown_q <= data_o;
end

logic [Width-1:0] f_behind;  // the second entry
assign f_behind = mem[read_row];
assign pick   = $anyseq;
assign in_mem = write_q - read_q;
assign place  = read_q + ahead_q[PtrBits-1:0] - valid_q;
always_comb begin
  if (rst_ni) begin
    a_count: assert (count_q <= Depth);
    a_stable: assert (!hold_q || (valid_o && data_o == shown_q));
    a_ahead: assert (!followed_q || ahead_q < count_q);
    a_order: assert (!followed_q || !valid_o || ahead_q != '0 || data_o == entry_q);
    a_flags: assert ((valid_q ? count_q != '0 : count_q <= !Direct) && behind_q == (count_q > valid_q) && full_q == (count_q == Depth));
    // Where entries are in mem; the induction needs it.
    a_kept: assert (!followed_q || ahead_q < valid_q || mem[place] == entry_q);
    a_pointers: assert (in_mem == PtrBits'(count_q - valid_q));
  end
end
