// hd_spad - scratchpad: word-interleaved banks (bank = word mod Banks), byte-addressed readers.
// Readers, in order of priority:
//   ARRAY   G ports, each the word of ar_addr_i with ar_need0_i and the word after it with
//           ar_need1_i. ar_en_o = every needed word is granted now or was in an earlier cycle of
//           this request; else the request stays as it is. Equal words share a read.
//           ar_data_o = {next word, word} of each port two cycles after ar_en_o, in that cycle
//           only: registers after the banks' multiplexers.
//   VECTOR  2 ports, each the word of vr_addr_i and, with vr_next_i, the word after it;
//           vr_ready_o[p] is per port, all or nothing. vr_data_o two cycles after the handshake,
//           until the port's next word comes so.
//   STORE   one word; sr_data_o in the cycle after the handshake only.
// Writers: qw (byte address, count bytes, always taken, written in the cycle after), then lw (one
// word, byte enables; waits for a bank that qw writes). A read and a write of one word in one
// cycle: the read gives old bytes.
// Addresses are modulo the size. Latency 1; every port one request a cycle unless banks collide.
// Who reads: hd_spad_grant (ARRAY), hd_spad_share (VECTOR, STORE); what is written: hd_spad_write.
// Reset: no request under way. Bench: spad_tb.cpp.
`default_nettype none
`include "hd_config.svh"

module hd_spad #(
  parameter int N        = CfgN,                // bytes of a word
  parameter int G        = CfgPorts,            // ports of ARRAY
  parameter int Banks    = CfgBanks,
  parameter int Bytes    = CfgScratchpadBytes,  // all banks together, a power of two
  parameter int AddrBits = $clog2(Bytes),       // derived, as all below
  parameter int WordBits = $clog2(Bytes / N),
  parameter int CntBits  = $clog2(N + 1)
) (
  input  wire logic                  clk_i,
  input  wire logic                  rst_ni,
  // ARRAY
  input  wire logic [G-1:0]          ar_need0_i,
  input  wire logic [G-1:0]          ar_need1_i,
  /* verilator lint_off UNUSEDSIGNAL */  // the byte within a word does not matter here
  input  wire logic [G*AddrBits-1:0] ar_addr_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic                       ar_en_o,
  output logic      [G*2*N*8-1:0]    ar_data_o,
  // VECTOR
  input  wire logic [1:0]            vr_req_i,
  output logic      [1:0]            vr_ready_o,
  input  wire logic [2*AddrBits-1:0] vr_addr_i,
  input  wire logic [1:0]            vr_next_i,
  output logic      [2*2*N*8-1:0]    vr_data_o,
  // STORE
  input  wire logic                  sr_req_i,
  output logic                       sr_ready_o,
  input  wire logic [WordBits-1:0]   sr_word_i,
  output logic      [N*8-1:0]        sr_data_o,
  // hd_requant
  input  wire logic                  qw_valid_i,
  input  wire logic [AddrBits-1:0]   qw_addr_i,
  input  wire logic [CntBits-1:0]    qw_count_i,
  input  wire logic [N*8-1:0]        qw_data_i,
  // LOAD
  input  wire logic                  lw_valid_i,
  output logic                       lw_ready_o,
  input  wire logic [WordBits-1:0]   lw_word_i,
  input  wire logic [N-1:0]          lw_be_i,
  input  wire logic [N*8-1:0]        lw_data_i
);
  localparam int OffBits  = $clog2(N);
  localparam int BankBits = $clog2(Banks);
  localparam int RowBits  = WordBits - BankBits;
  localparam int Words    = 2 * G + 5;  // that may be asked for: ARRAY's, VECTOR's four, STORE's

  // ---------------------------------------------------------------- reads: who gets which bank
  // ARRAY's in a separate module: VECTOR's requests depend on ARRAY's grants (by hd_requant).
  logic [G-1:0] grant0, grant1, ask0, ask1;

  hd_spad_grant #(.N(N), .G(G), .Banks(Banks), .AddrBits(AddrBits)) u_grant (
    .clk_i,
    .rst_ni,
    .need0_i (ar_need0_i),
    .need1_i (ar_need1_i),
    .addr_i  (ar_addr_i),
    .en_o    (ar_en_o),
    .grant0_o(grant0),
    .grant1_o(grant1),
    .ask0_o  (ask0),
    .ask1_o  (ask1)
  );

  hd_spad_share #(.N(N), .G(G), .Banks(Banks), .AddrBits(AddrBits)) u_share (
    .ar_addr_i,
    .ar_ask0_i(ask0),
    .ar_ask1_i(ask1),
    .vr_req_i,
    .vr_ready_o,
    .vr_addr_i,
    .vr_next_i,
    .sr_req_i,
    .sr_ready_o,
    .sr_word_i
  );

  // ---------------------------------------------------------------- banks: read addresses
  logic [WordBits-1:0] word[Words];  // each port's word and the one after it
  logic [Words-1:0]    granted;
  logic                bank_re[Banks];
  logic [RowBits-1:0]  bank_row[Banks];

  for (genvar g = 0; g < G; g++) begin : gen_port
    assign word[2*g]         = ar_addr_i[g*AddrBits+OffBits +: WordBits];
    assign word[2*g+1]       = ar_addr_i[g*AddrBits+OffBits +: WordBits] + 1'b1;
    assign granted[2*g +: 2] = {grant1[g], grant0[g]};
  end
  for (genvar v = 0; v < 2; v++) begin : gen_vector
    assign word[2*(G+v)]         = vr_addr_i[v*AddrBits+OffBits +: WordBits];
    assign word[2*(G+v)+1]       = vr_addr_i[v*AddrBits+OffBits +: WordBits] + 1'b1;
    assign granted[2*(G+v) +: 2] = {vr_ready_o[v] && vr_next_i[v], vr_ready_o[v]};
  end
  assign word[Words-1]    = sr_word_i;
  assign granted[Words-1] = sr_ready_o;

  // A bank reads for all who got it, one row: words of two rows are never granted together.
`ifdef HD_MODEL  // each stored at its place
  always_comb begin
    for (int b = 0; b < Banks; b++) begin
      bank_re[b]  = 1'b0;
      bank_row[b] = '0;
    end
    for (int s = 0; s < Words; s++) begin
      if (granted[s]) begin
        bank_re[word[s][BankBits-1:0]]  = 1'b1;
        bank_row[word[s][BankBits-1:0]] = word[s][WordBits-1:BankBits];
      end
    end
  end
`else  // ORed, because grants come late and in no order that a chain of multiplexers could follow
  for (genvar b = 0; b < Banks; b++) begin : gen_read
    logic [Words-1:0] here;

    for (genvar s = 0; s < Words; s++) begin : gen_word_of
      assign here[s] = granted[s] && word[s][BankBits-1:0] == BankBits'(b);
    end
    for (genvar r = 0; r < RowBits; r++) begin : gen_bit
      logic [Words-1:0] ones;
      for (genvar s = 0; s < Words; s++) begin : gen_one
        assign ones[s] = here[s] && word[s][BankBits+r];
      end
      assign bank_row[b][r] = |ones;
    end
    assign bank_re[b] = |here;
  end
`endif

  // ---------------------------------------------------------------- writes
  logic [Banks-1:0]   bank_we, qw_hit0, qw_hit1;
  logic [RowBits-1:0] qw_row0, qw_row1, lw_row;
  logic [N-1:0]       qw_be0, qw_be1;
  logic [N*8-1:0]     qw_rotated;

  hd_spad_write #(.N(N), .Banks(Banks), .AddrBits(AddrBits)) u_write (
    .clk_i,
    .rst_ni,
    .qw_valid_i,
    .qw_addr_i,
    .qw_count_i,
    .qw_data_i,
    .lw_valid_i,
    .lw_ready_o,
    .lw_bank_i  (lw_word_i[BankBits-1:0]),
    .bank_we_o  (bank_we),
    .bank_hit0_o(qw_hit0),
    .bank_hit1_o(qw_hit1),
    .row0_o     (qw_row0),
    .row1_o     (qw_row1),
    .be0_o      (qw_be0),
    .be1_o      (qw_be1),
    .data_o     (qw_rotated)
  );

  // A wire: Icarus 11 has no selects in always_comb.
  assign lw_row = lw_word_i[WordBits-1:BankBits];

  // ---------------------------------------------------------------- banks
  logic [N*8-1:0] bank_q[Banks];

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    logic [RowBits-1:0] waddr;
    logic [N-1:0]       be;
    logic [N*8-1:0]     wdata;
    logic [N*8-1:0]     rdata;

    always_comb begin
      waddr = lw_row;
      be    = lw_be_i;
      wdata = lw_data_i;
      if (bank_we[b]) begin
        if (qw_hit0[b]) begin
          waddr = qw_row0;
          be    = qw_be0;
          wdata = qw_rotated;
        end else if (qw_hit1[b]) begin
          waddr = qw_row1;
          be    = qw_be1;
          wdata = qw_rotated;
        end
      end
    end

    hd_ram #(.Width(N * 8), .Depth(1 << RowBits), .BeBits(N), .Apart(1'b1)) u_ram (
      .clk_i,
      .re_i   (bank_re[b]),
      .raddr_i(bank_row[b]),
      .rdata_o(rdata),
      .we_i   (bank_we[b]),
      .waddr_i(waddr),
      .be_i   (be),
      .wdata_i(wdata)
    );
    assign bank_q[b] = rdata;
  end

  // ---------------------------------------------------------------- read data
  // A word of ARRAY is kept in the cycle after its grant; the first of the next request, granted in
  // the cycle after ar_en_o, comes when this one's are read.
  logic [2*G-1:0] fresh_q;
  always_ff @(posedge clk_i) fresh_q <= granted[2*G-1:0];

  for (genvar s = 0; s < 2 * G; s++) begin : gen_slot
    logic [BankBits-1:0] bank_sel_q;
    logic [N*8-1:0]      data_q;
    always_ff @(posedge clk_i) begin
      bank_sel_q <= word[s][BankBits-1:0];
      if (fresh_q[s]) data_q <= bank_q[bank_sel_q];
    end
    assign ar_data_o[s*N*8 +: N*8] = data_q;
  end

  logic [1:0] v_fresh_q;
  always_ff @(posedge clk_i) v_fresh_q <= vr_ready_o;

  for (genvar s = 0; s < 4; s++) begin : gen_vector_data
    logic [BankBits-1:0] bank_sel_q;
    logic [N*8-1:0]      data_q;
    always_ff @(posedge clk_i) begin
      if (vr_req_i[s/2]) bank_sel_q <= word[2*G+s][BankBits-1:0];
      if (v_fresh_q[s/2]) data_q <= bank_q[bank_sel_q];
    end
    assign vr_data_o[s*N*8 +: N*8] = data_q;
  end

  logic [BankBits-1:0] store_bank_q;
  always_ff @(posedge clk_i) begin
    if (sr_req_i) store_bank_q <= sr_word_i[BankBits-1:0];
  end
  assign sr_data_o = bank_q[store_bank_q];

`ifdef HD_ASSERT
  a_load_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    lw_valid_i && !lw_ready_o |=>
    lw_valid_i && $stable(lw_word_i) && $stable(lw_be_i) && $stable(lw_data_i));
  a_result_fits: assert property (@(posedge clk_i) disable iff (!rst_ni)
    qw_valid_i |-> qw_count_i != '0 && qw_count_i <= CntBits'(N));
  c_load_waits: cover property (@(posedge clk_i) lw_valid_i && !lw_ready_o);
`endif

endmodule

`default_nettype wire
