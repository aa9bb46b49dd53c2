// A cycle after hd_requant gives them: one writer a bank, hd_requant's word, its next word or
// LOAD's. Any byte of hd_requant's, chosen by the solver, is written at its place, and any place
// takes a byte only if one of them is for it.
logic                f_valid;  // qw, a cycle later
logic [AddrBits-1:0] f_addr;
logic [CntBits-1:0]  f_count;
logic [N*8-1:0]      f_data;
logic [CntBits-1:0]  f_byte;   // a byte of it
logic [AddrBits-1:0] f_at, f_place, f_from;
logic [Banks-1:0]    f_hit0, f_hit1, f_lw;
logic                f_written, f_taken;

always_ff @(posedge clk_i) begin
  f_valid <= rst_ni && qw_valid_i;
  f_addr  <= qw_addr_i;
  f_count <= qw_count_i;
  f_data  <= qw_data_i;
end
assign f_byte  = $anyseq;
assign f_place = $anyseq;
assign f_at    = f_addr + AddrBits'(f_byte);
assign f_from  = f_place - f_addr;
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
  m_byte: assume (!f_valid || f_byte < f_count);
  if (rst_ni) begin
    a_one_bank: assert ((bank_hit0_o & (bank_hit0_o - 1'b1)) == '0 && (bank_hit1_o & (bank_hit1_o - 1'b1)) == '0);
    a_one_writer: assert ((bank_hit0_o & bank_hit1_o) == '0 && ((bank_hit0_o | bank_hit1_o) & f_lw) == '0);
    a_written: assert (!f_valid || (f_written && data_o[f_at[OffBits-1:0]*8 +: 8] == f_data[f_byte*8 +: 8]));
    a_no_other: assert (!f_taken || (f_valid && f_from < AddrBits'(f_count)));
    // A bank that is not hit and is written takes LOAD's word; LOAD waits only for a bank that is hit.
    a_load: assert ((bank_we_o & ~(bank_hit0_o | bank_hit1_o)) == f_lw);
    a_waits: assert (!lw_valid_i || lw_ready_o || bank_hit0_o[lw_bank_i] || bank_hit1_o[lw_bank_i]);
  end
end
