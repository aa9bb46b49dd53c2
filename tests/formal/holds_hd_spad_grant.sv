// A bank gives one word per cycle; no word is granted without need or twice; a request ends within 2 G cycles.
logic [BankBits-1:0] bank0[G], bank1[G];
logic [G*AddrBits-1:0] shown_addr_q;
logic [G-1:0]        shown_need0_q, shown_need1_q;
logic                waits_q;
logic [7:0]          waited_q, open, gotten;
logic                clash;

for (genvar p = 0; p < G; p++) begin : gen_banks
  assign bank0[p] = word[p][BankBits-1:0];
  assign bank1[p] = word[p][BankBits-1:0] + 1'b1;
end

logic [WordBits-1:0] next_h, next_g;
always_comb begin
  clash  = 1'b0;
  open   = '0;
  gotten = '0;
  next_h = '0;
  next_g = '0;
  for (int h = 0; h < G; h++) begin
    open   = open + pend0[h] + pend1[h];
    gotten = gotten + got0_q[h] + got1_q[h];
    for (int g = 0; g < h; g++) begin
      next_h = word[h] + 1'b1;
      next_g = word[g] + 1'b1;
      if (grant0[h] && grant0[g] && bank0[h] == bank0[g] && word[h] != word[g]) clash = 1'b1;
      if (grant1[h] && grant1[g] && bank1[h] == bank1[g] && next_h != next_g) clash = 1'b1;
      if (grant0[h] && grant1[g] && bank0[h] == bank1[g] && word[h] != next_g) clash = 1'b1;
      if (grant1[h] && grant0[g] && bank1[h] == bank0[g] && next_h != word[g]) clash = 1'b1;
    end
  end
end

always_ff @(posedge clk_i) begin
  waits_q  <= rst_ni && !en_o;
  waited_q <= rst_ni && !en_o ? waited_q + 1'b1 : '0;
  {shown_need0_q, shown_need1_q, shown_addr_q} <= {need0_i, need1_i, addr_i};
end

always_comb begin
  m_stable: assume (!waits_q || {need0_i, need1_i, addr_i} == {shown_need0_q, shown_need1_q, shown_addr_q});
  if (rst_ni) begin
    a_one_word: assert (!clash);
    a_needed: assert ((grant0_o & ~need0_i) == '0 && (grant1_o & ~need1_i) == '0);
    a_once: assert ((grant0_o & got0_q) == '0 && (grant1_o & got1_q) == '0);
    a_ends: assert (en_o == (need0_i == (need0_i & (got0_q | grant0_o)) && need1_i == (need1_i & (got1_q | grant1_o))));
    a_progress: assert (open == '0 || {grant0_o, grant1_o} != '0);
    a_bound: assert (waited_q < 2 * G);
    // Each waiting cycle has given a word; the induction needs it.
    a_given: assert (waited_q <= gotten && (got0_q & ~need0_i) == '0 && (got1_q & ~need1_i) == '0);
    a_fresh: assert (waits_q || {got0_q, got1_q} == '0);
    a_waits: assert (waits_q || waited_q == '0);
  end
end
