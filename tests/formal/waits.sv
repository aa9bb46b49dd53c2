// A request of VECTOR, STORE or LOAD waits at most the cycles in which those before it request one
// of its banks without a pause. There is no other bound: ARRAY, which asks for one word in each
// cycle, is served in each, and VECTOR and STORE, which ask for other words of that bank, never
// are; nor is LOAD while hd_requant writes a byte of its bank in each cycle.
(* hierconn *) wire [G-1:0] \u_grant.got0_q ;
(* hierconn *) wire [G-1:0] \u_grant.got1_q ;
logic                f_reads_q, f_writes_q, f_reads, f_writes;  // so it was since reset, so it is
logic [WordBits-1:0] f_load_q;                                  // LOAD's word a cycle ago

assign f_reads = ar_need0_i == G'(1) && ar_need1_i == '0 && vr_req_i[0] && !vr_next_i[0] && sr_req_i
  && word[0][BankBits-1:0] == word[2*G][BankBits-1:0] && word[0] != word[2*G]
  && word[0][BankBits-1:0] == sr_word_i[BankBits-1:0] && word[0] != sr_word_i;
assign f_writes = lw_valid_i && qw_valid_i && qw_count_i == CntBits'(1)
  && qw_addr_i[OffBits +: BankBits] == lw_word_i[BankBits-1:0];

always_ff @(posedge clk_i) begin
  f_reads_q  <= !rst_ni || (f_reads_q && f_reads);
  f_writes_q <= rst_ni && f_writes;
  f_load_q   <= lw_word_i;
end

// Waits, and whether one before asks for the bank: VECTOR's ports, STORE, LOAD. The number of
// cycles by now.
logic [3:0]       f_waits, f_busy, f_less;
logic [Banks-1:0] f_asked, f_asked0, f_asked1;  // banks of ARRAY's words; of a port of VECTOR
logic [4*4-1:0]   f_waited_q, f_busy_q;

always_comb begin
  f_asked  = '0;
  for (int g = 0; g < G; g++) begin
    if (ask0[g]) f_asked = f_asked | Banks'(1) << word[2*g][BankBits-1:0];
    if (ask1[g]) f_asked = f_asked | Banks'(1) << word[2*g+1][BankBits-1:0];
  end
  f_asked0 = vr_req_i[0] ? Banks'(1) << word[2*G][BankBits-1:0] : '0;
  f_asked1 = vr_req_i[1] ? Banks'(1) << word[2*G+2][BankBits-1:0] : '0;
  if (vr_req_i[0] && vr_next_i[0]) f_asked0 = f_asked0 | Banks'(1) << word[2*G+1][BankBits-1:0];
  if (vr_req_i[1] && vr_next_i[1]) f_asked1 = f_asked1 | Banks'(1) << word[2*G+3][BankBits-1:0];
  f_waits  = {lw_valid_i && !lw_ready_o, sr_req_i && !sr_ready_o, vr_req_i & ~vr_ready_o};
  f_busy   = {qw_hit0[lw_word_i[BankBits-1:0]] || qw_hit1[lw_word_i[BankBits-1:0]],
              f_asked[sr_word_i[BankBits-1:0]] || f_asked0[sr_word_i[BankBits-1:0]]
              || f_asked1[sr_word_i[BankBits-1:0]],
              ((f_asked | f_asked0) & f_asked1) != '0, (f_asked & f_asked0) != '0};
  f_less   = '0;
  for (int w = 0; w < 4; w++) if (f_waited_q[w*4 +: 4] > f_busy_q[w*4 +: 4]) f_less[w] = 1'b1;
end
always_ff @(posedge clk_i) begin
  for (int w = 0; w < 4; w++) begin
    f_waited_q[w*4 +: 4] <= !rst_ni || !f_waits[w] ? '0 : f_waited_q[w*4 +: 4] + (f_waited_q[w*4 +: 4] != '1);
    f_busy_q[w*4 +: 4]   <= !rst_ni || !f_busy[w] ? '0 : f_busy_q[w*4 +: 4] + (f_busy_q[w*4 +: 4] != '1);
  end
end

always_comb begin
  if (rst_ni) begin
    a_bound: assert (f_less == '0);
    a_served: assert (!(f_reads_q && f_reads) || ar_en_o);
    a_vector: assert (!(f_reads_q && f_reads) || !vr_ready_o[0]);
    a_store: assert (!(f_reads_q && f_reads) || !sr_ready_o);
    a_load: assert (!f_writes_q || lw_word_i != f_load_q || !lw_ready_o);
    // The induction needs it.
    a_fresh: assert (!f_reads_q || ({\u_grant.got0_q , \u_grant.got1_q } == '0));
  end
end
