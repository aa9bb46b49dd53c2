// One writer a bank: hd_requant's word, its next word or LOAD's. Of hd_requant's bytes any one, chosen by the solver, is
// written at its place, and of all places any one takes a byte only if one of them is for it.
logic                rst_ni;  // of the properties; the module has none
logic [CntBits-1:0]  f_byte;  // a byte of qw
logic [AddrBits-1:0] f_at, f_place, f_from;
logic [Banks-1:0]    f_hit0, f_hit1, f_lw;
logic                f_written, f_taken;

assign rst_ni  = $anyseq;
assign f_byte  = $anyseq;
assign f_place = $anyseq;
assign f_at    = qw_addr_i + AddrBits'(f_byte);
assign f_from  = f_place - qw_addr_i;
assign f_hit0  = bank_hit0_o & bank_we_o;
assign f_hit1  = bank_hit1_o & bank_we_o;
assign f_lw    = lw_valid_i && lw_ready_o ? Banks'(1) << lw_bank_i : '0;

assign f_written = (f_hit0[f_at[OffBits +: BankBits]] && row0_o == f_at[AddrBits-1 -: RowBits] && be0_o[f_at[OffBits-1:0]])
  || (f_hit1[f_at[OffBits +: BankBits]] && row1_o == f_at[AddrBits-1 -: RowBits] && be1_o[f_at[OffBits-1:0]]);
assign f_taken = (f_hit0[f_place[OffBits +: BankBits]] && row0_o == f_place[AddrBits-1 -: RowBits]
    && be0_o[f_place[OffBits-1:0]])
  || (f_hit1[f_place[OffBits +: BankBits]] && row1_o == f_place[AddrBits-1 -: RowBits] && be1_o[f_place[OffBits-1:0]]);

always_comb begin
  m_count: assume (qw_count_i != '0 && qw_count_i <= N);  // hd_spad, a_result_fits
  m_byte: assume (f_byte < qw_count_i);
  if (rst_ni) begin
    a_one_bank: assert ((bank_hit0_o & (bank_hit0_o - 1'b1)) == '0 && (bank_hit1_o & (bank_hit1_o - 1'b1)) == '0);
    a_one_writer: assert ((bank_hit0_o & bank_hit1_o) == '0 && ((bank_hit0_o | bank_hit1_o) & f_lw) == '0);
    a_written: assert (!qw_valid_i || (f_written && data_o[f_at[OffBits-1:0]*8 +: 8] == qw_data_i[f_byte*8 +: 8]));
    a_no_other: assert (!f_taken || (qw_valid_i && f_from < AddrBits'(qw_count_i)));
    // A bank that is not hit and is written takes LOAD's word; LOAD waits only for a bank that is hit.
    a_load: assert ((bank_we_o & ~(bank_hit0_o | bank_hit1_o)) == f_lw);
    a_waits: assert (!lw_valid_i || lw_ready_o || bank_hit0_o[lw_bank_i] || bank_hit1_o[lw_bank_i]);
  end
end
