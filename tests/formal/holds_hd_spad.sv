// Any bank, chosen by the solver, reads the word of the port that was granted one of it, and takes
// its write from one of the writers, with their bytes.
logic [BankBits-1:0]       f_bank;
logic [$clog2(Words)-1:0]  f_pick;
logic [Words*WordBits-1:0] f_words;
logic [Words-1:0]          f_granted;
logic [WordBits-1:0]       f_word;
logic [RowBits-1:0]        f_waddr[Banks];
logic [N-1:0]              f_be[Banks];
logic [N*8-1:0]            f_wdata[Banks];
logic                      f_lw_here;

assign f_bank    = $anyseq;
assign f_pick    = $anyseq;
assign f_lw_here = lw_valid_i && lw_ready_o && lw_word_i[BankBits-1:0] == f_bank;
for (genvar b = 0; b < Banks; b++) begin : gen_f_bank
  assign f_waddr[b] = gen_bank[b].waddr;
  assign f_be[b]    = gen_bank[b].be;
  assign f_wdata[b] = gen_bank[b].wdata;
end
for (genvar g = 0; g < G; g++) begin : gen_f_array
  assign f_words[2*g*WordBits +: WordBits]     = ar_addr_i[g*AddrBits+OffBits +: WordBits];
  assign f_words[(2*g+1)*WordBits +: WordBits] = ar_addr_i[g*AddrBits+OffBits +: WordBits] + 1'b1;
  assign f_granted[2*g +: 2] = {grant1[g], grant0[g]};
end
for (genvar v = 0; v < 2; v++) begin : gen_f_vector
  assign f_words[(2*G+2*v)*WordBits +: WordBits]   = vr_addr_i[v*AddrBits+OffBits +: WordBits];
  assign f_words[(2*G+2*v+1)*WordBits +: WordBits] = vr_addr_i[v*AddrBits+OffBits +: WordBits] + 1'b1;
  assign f_granted[2*G+2*v +: 2] = {vr_ready_o[v] && vr_next_i[v], vr_ready_o[v]};
end
assign f_words[(2*G+4)*WordBits +: WordBits] = sr_word_i;
assign f_granted[2*G+4] = sr_ready_o;
assign f_word = f_words[f_pick*WordBits +: WordBits];

always_comb begin
  m_pick: assume (f_pick < Words);
  if (rst_ni) begin
    a_read: assert (!f_granted[f_pick]
      || (bank_re[f_word[BankBits-1:0]] && bank_row[f_word[BankBits-1:0]] == f_word[WordBits-1:BankBits]));
    a_writer: assert (bank_we[f_bank] == (qw_hit0[f_bank] || qw_hit1[f_bank] || f_lw_here)
      && qw_hit0[f_bank] + qw_hit1[f_bank] + f_lw_here <= 1);
    a_word: assert (!qw_hit0[f_bank] || (f_waddr[f_bank] == qw_row0 && f_be[f_bank] == qw_be0 && f_wdata[f_bank] == qw_rotated));
    a_next: assert (!qw_hit1[f_bank] || (f_waddr[f_bank] == qw_row1 && f_be[f_bank] == qw_be1 && f_wdata[f_bank] == qw_rotated));
    a_load: assert (!f_lw_here || (f_waddr[f_bank] == lw_word_i[WordBits-1:BankBits] && f_be[f_bank] == lw_be_i
      && f_wdata[f_bank] == lw_data_i));
  end
end
