// hd_spad_write - which bytes of which banks of a scratchpad are written in this cycle.
//   qw: count bytes from a byte address on, always taken, and written in the cycle after. They are
//   in word w of bank_hit0_o's bank (row row0_o, bytes be0_o) and, if they cross its end, in the
//   next one (bank_hit1_o, row1_o, be1_o): both banks get data_o, the bytes rotated to their lanes.
//   lw: one word, at once; it waits for a bank that is written for qw (lw_ready_o).
//   bank_we_o: banks written; one that qw does not hit takes lw.
// Latency 1 of qw, throughput 1 a cycle. Reset: nothing to write. Bench: spad_tb.cpp
`default_nettype none
`include "hd_config.svh"

module hd_spad_write #(
  parameter int N        = CfgN,
  parameter int Banks    = CfgBanks,
  parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int WordBits = AddrBits - $clog2(N),  // derived
  parameter int CntBits  = $clog2(N + 1),
  parameter int BankBits = $clog2(Banks),
  parameter int RowBits  = WordBits - BankBits
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,
  // hd_requant
  input  wire logic                qw_valid_i,
  input  wire logic [AddrBits-1:0] qw_addr_i,
  input  wire logic [CntBits-1:0]  qw_count_i,
  input  wire logic [N*8-1:0]      qw_data_i,
  // LOAD
  input  wire logic                lw_valid_i,
  output logic                     lw_ready_o,
  input  wire logic [BankBits-1:0] lw_bank_i,
  // banks
  output logic      [Banks-1:0]    bank_we_o,
  output logic      [Banks-1:0]    bank_hit0_o,
  output logic      [Banks-1:0]    bank_hit1_o,
  output logic      [RowBits-1:0]  row0_o,
  output logic      [RowBits-1:0]  row1_o,
  output logic      [N-1:0]        be0_o,
  output logic      [N-1:0]        be1_o,
  output logic      [N*8-1:0]      data_o
);
  localparam int OffBits = $clog2(N);

  // Both words of a byte-addressed write get the same rotated bytes under different enables.
  logic [OffBits-1:0]  qw_off;
  logic [WordBits-1:0] qw_word, qw_next;
  logic [2*N-1:0]      qw_be;
  logic                qw_second;
  logic [7:0]          qw_byte[N];
  logic [7:0]          qw_rotated[N];

  assign qw_off    = qw_addr_i[OffBits-1:0];
  assign qw_word   = qw_addr_i[AddrBits-1:OffBits];
  assign qw_next   = qw_word + 1'b1;
  assign qw_be     = ~({2*N{1'b1}} << qw_count_i) << qw_off;
  assign qw_second = |qw_be[2*N-1:N];
  for (genvar i = 0; i < N; i++) begin : gen_byte
    assign qw_byte[i] = qw_data_i[i*8 +: 8];
    always_ff @(posedge clk_i) if (qw_valid_i) data_o[i*8 +: 8] <= qw_rotated[i];
  end
  // The outer cast is for Icarus, which does not cut an index to its own width.
  always_comb begin
    for (int i = 0; i < N; i++) qw_rotated[i] = '0;
    if (qw_valid_i) begin
      for (int i = 0; i < N; i++) qw_rotated[i] = qw_byte[OffBits'(OffBits'(i) - qw_off)];
    end
  end

  always_ff @(posedge clk_i) begin
    bank_hit0_o <= rst_ni && qw_valid_i ? Banks'(1) << qw_word[BankBits-1:0] : '0;
    bank_hit1_o <= rst_ni && qw_valid_i && qw_second ? Banks'(1) << qw_next[BankBits-1:0] : '0;
    if (qw_valid_i) begin
      row0_o         <= qw_word[WordBits-1:BankBits];
      row1_o         <= qw_next[WordBits-1:BankBits];
      {be1_o, be0_o} <= qw_be;
    end
  end

  logic [Banks-1:0] hit;
  assign hit        = bank_hit0_o | bank_hit1_o;
  assign lw_ready_o = !hit[lw_bank_i];
  assign bank_we_o  = hit | (lw_valid_i ? Banks'(1) << lw_bank_i : '0);

endmodule

`default_nettype wire
