// A grant is given to a requester only, and no bank is asked for two words: of those granted, and of ARRAY's that are
// asked for, any two of which one is VECTOR's or STORE's, chosen by the solver, are the same word or in two banks. A
// request is refused only if a word that it needs is in such a bank.
localparam int Words = 2 * G + 5;  // ARRAY's, VECTOR's, STORE's, in order of priority
localparam int Picks = $clog2(Words);
logic                      rst_ni;  // of the properties; the module has none
logic [Words*WordBits-1:0] f_words;
logic [Words-1:0]          f_granted;
logic [Picks-1:0]          f_a, f_b;
logic [3:0]                f_v_blocked;  // of VECTOR's four words: in a bank that gives another one to an earlier port
logic                      f_s_blocked;

assign rst_ni = $anyseq;
assign f_a    = $anyseq;
assign f_b    = $anyseq;

for (genvar g = 0; g < G; g++) begin : gen_f_array
  assign f_words[2*g*WordBits +: 2*WordBits] = {word[g] + 1'b1, word[g]};
  assign f_granted[2*g +: 2] = {ar_ask1_i[g], ar_ask0_i[g]};
end
for (genvar v = 0; v < 2; v++) begin : gen_f_vector
  assign f_words[(2*G+2*v)*WordBits +: 2*WordBits] = {v_word[v] + 1'b1, v_word[v]};
  assign f_granted[2*G+2*v +: 2] = {vr_ready_o[v] && vr_next_i[v], vr_ready_o[v]};
end
assign f_words[(2*G+4)*WordBits +: WordBits] = sr_word_i;
assign f_granted[2*G+4] = sr_ready_o;

logic [WordBits-1:0] f_word_a, f_word_b, f_word_v, f_word_w;
assign f_word_a = f_words[f_a*WordBits +: WordBits];
assign f_word_b = f_words[f_b*WordBits +: WordBits];

always_comb begin
  f_v_blocked = '0;
  f_s_blocked = 1'b0;
  f_word_v    = '0;
  f_word_w    = '0;
  for (int w = 0; w < 2 * G + 4; w++) begin
    f_word_w = f_words[w*WordBits +: WordBits];
    if (f_granted[w] && f_word_w[BankBits-1:0] == sr_word_i[BankBits-1:0] && f_word_w != sr_word_i) f_s_blocked = 1'b1;
    for (int v = 0; v < 4; v++) begin
      f_word_v = f_words[(2*G+v)*WordBits +: WordBits];
      if (w < 2 * G + (v & 2) && f_granted[w] && f_word_w[BankBits-1:0] == f_word_v[BankBits-1:0]
          && f_word_w != f_word_v) f_v_blocked[v] = 1'b1;
    end
  end
end

always_comb begin
  m_pick: assume (f_a < Words && f_b < Words);
  if (rst_ni) begin
    a_one_word: assert (!(f_granted[f_a] && f_granted[f_b]) || (f_a < 2 * G && f_b < 2 * G)
      || f_word_a == f_word_b || f_word_a[BankBits-1:0] != f_word_b[BankBits-1:0]);
    a_asked: assert ((vr_ready_o & ~vr_req_i) == '0 && (!sr_ready_o || sr_req_i));
    a_refused: assert (vr_ready_o == (vr_req_i & ~{f_v_blocked[2], f_v_blocked[0]}
      & ~(vr_next_i & {f_v_blocked[3], f_v_blocked[1]})));
    a_store_refused: assert (sr_ready_o == (sr_req_i && !f_s_blocked));
  end
end
