// hd_spad - scratchpad: word-interleaved banks (bank = word mod Banks), byte-addressed readers.
// Readers, in order of priority:
//   ARRAY   G ports, each the word of ar_addr_i and the word after it, as far as lanes lo..hi-1 need them
//           (addr is the byte address of lane 0). ar_en_o = every needed word is granted now or was in an
//           earlier cycle of this request; else the request stays as it is. Equal words share a read.
//           ar_data_o = {next word, word} of each port in the cycle after ar_en_o, held until the cycle
//           after the next ar_en_o.
//   VECTOR  2 ports, the same word pairs; vr_ready_o[p] is per port, all or nothing for its two words.
//           vr_data_o in the cycle after the handshake only.
//   STORE   one word; sr_data_o in the cycle after the handshake only.
// Writers: qw (byte address, count bytes, always taken), then lw (one word, byte enables; waits for a bank
// that qw writes). A read and a write of one word in one cycle: the read gives the old bytes.
// Addresses are modulo the size. Latency 1; every port one request a cycle unless banks collide.
// Reset: no request under way. Bench: tests/hw/spad_tb.cpp.
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
  input  wire logic [G-1:0]          ar_req_i,
  input  wire logic [G*AddrBits-1:0] ar_addr_i,
  input  wire logic [G*CntBits-1:0]  ar_lo_i,
  input  wire logic [G*CntBits-1:0]  ar_hi_i,
  output logic                       ar_en_o,
  output logic      [G*2*N*8-1:0]    ar_data_o,
  // VECTOR
  input  wire logic [1:0]            vr_req_i,
  output logic      [1:0]            vr_ready_o,
  input  wire logic [2*AddrBits-1:0] vr_addr_i,
  input  wire logic [2*CntBits-1:0]  vr_lo_i,
  input  wire logic [2*CntBits-1:0]  vr_hi_i,
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

  // ---------------------------------------------------------------- what each port needs
  // ARRAY's and VECTOR's in variables of their own: VECTOR's requests hang on ARRAY's grants (by hd_requant).
  logic [WordBits-1:0] word[G];   // first word of the pair
  logic [WordBits-1:0] next[G];
  logic [G-1:0]        need0;
  logic [G-1:0]        need1;
  logic [WordBits-1:0] v_word[2];
  logic [WordBits-1:0] v_next[2];
  logic [1:0]          v_need0;
  logic [1:0]          v_need1;

  for (genvar p = 0; p < G; p++) begin : gen_port
    logic [AddrBits-1:0] addr;
    logic [CntBits-1:0]  lo;
    logic [CntBits-1:0]  hi;
    assign addr     = ar_addr_i[p*AddrBits +: AddrBits];
    assign lo       = ar_lo_i[p*CntBits +: CntBits];
    assign hi       = ar_hi_i[p*CntBits +: CntBits];
    assign word[p]  = addr[AddrBits-1:OffBits];
    assign next[p]  = word[p] + 1'b1;
    assign need0[p] = ar_req_i[p] && (CntBits+1)'(addr[OffBits-1:0]) + (CntBits+1)'(lo) < (CntBits+1)'(N);
    assign need1[p] = ar_req_i[p] && (CntBits+1)'(addr[OffBits-1:0]) + (CntBits+1)'(hi) > (CntBits+1)'(N);
  end

  for (genvar v = 0; v < 2; v++) begin : gen_vector
    logic [AddrBits-1:0] addr;
    logic [CntBits-1:0]  lo;
    logic [CntBits-1:0]  hi;
    assign addr       = vr_addr_i[v*AddrBits +: AddrBits];
    assign lo         = vr_lo_i[v*CntBits +: CntBits];
    assign hi         = vr_hi_i[v*CntBits +: CntBits];
    assign v_word[v]  = addr[AddrBits-1:OffBits];
    assign v_next[v]  = v_word[v] + 1'b1;
    assign v_need0[v] = vr_req_i[v] && (CntBits+1)'(addr[OffBits-1:0]) + (CntBits+1)'(lo) < (CntBits+1)'(N);
    assign v_need1[v] = vr_req_i[v] && (CntBits+1)'(addr[OffBits-1:0]) + (CntBits+1)'(hi) > (CntBits+1)'(N);
  end

  // ---------------------------------------------------------------- ARRAY: grants
  // A word waits while an earlier port wants another word of its bank. Words of two ports share a bank
  // only if the difference of their pairs is 0, 1 or -1 modulo Banks.
  logic [G-1:0]        got0_q, got1_q;  // granted in an earlier cycle of this request
  logic [G-1:0]        pend0, pend1, grant0, grant1;
  logic [WordBits-1:0] apart;

  always_comb begin
    pend0  = need0 & ~got0_q;
    pend1  = need1 & ~got1_q;
    grant0 = pend0;
    grant1 = pend1;
    apart  = '0;
    for (int h = 1; h < G; h++) begin
      for (int g = 0; g < h; g++) begin
        apart = '0;
        if (ar_req_i[h] && ar_req_i[g]) apart = word[h] - word[g];
        if (apart[BankBits-1:0] == '0 && apart != '0) begin
          if (pend0[g]) grant0[h] = 1'b0;
          if (pend1[g]) grant1[h] = 1'b0;
        end
        if (apart[BankBits-1:0] == BankBits'(1) && apart != WordBits'(1) && pend1[g]) grant0[h] = 1'b0;
        if (&apart[BankBits-1:0] && !(&apart) && pend0[g]) grant1[h] = 1'b0;
      end
    end
    ar_en_o = grant0 == pend0 && grant1 == pend1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || ar_en_o) begin
      got0_q <= '0;
      got1_q <= '0;
    end else begin
      got0_q <= got0_q | grant0;
      got1_q <= got1_q | grant1;
    end
  end

  // ---------------------------------------------------------------- banks: read addresses
  // Whether a word finds its bank free is asked of the words granted before it, not of the bank: the comparisons
  // are then done before the requests, which come late, are known.
  function automatic logic clash(input logic [WordBits-1:0] a, input logic [WordBits-1:0] b);
    clash = a[BankBits-1:0] == b[BankBits-1:0] && a[WordBits-1:BankBits] != b[WordBits-1:BankBits];
  endfunction

  logic               bank_re[Banks];
  logic [RowBits-1:0] bank_row[Banks];
  logic [N*8-1:0]     bank_q[Banks];
  logic               fits;

  always_comb begin
    for (int b = 0; b < Banks; b++) begin
      bank_re[b]  = 1'b0;
      bank_row[b] = '0;
    end
    for (int g = 0; g < G; g++) begin
      if (grant0[g]) begin
        bank_re[word[g][BankBits-1:0]]  = 1'b1;
        bank_row[word[g][BankBits-1:0]] = word[g][WordBits-1:BankBits];
      end
      if (grant1[g]) begin
        bank_re[next[g][BankBits-1:0]]  = 1'b1;
        bank_row[next[g][BankBits-1:0]] = next[g][WordBits-1:BankBits];
      end
    end
    fits       = 1'b0;
    vr_ready_o = '0;
    for (int v = 0; v < 2; v++) begin
      if (vr_req_i[v]) begin
        fits = 1'b1;
        for (int g = 0; g < G; g++) begin
          if (grant0[g] && v_need0[v] && clash(v_word[v], word[g])) fits = 1'b0;
          if (grant0[g] && v_need1[v] && clash(v_next[v], word[g])) fits = 1'b0;
          if (grant1[g] && v_need0[v] && clash(v_word[v], next[g])) fits = 1'b0;
          if (grant1[g] && v_need1[v] && clash(v_next[v], next[g])) fits = 1'b0;
        end
        if (v == 1 && vr_ready_o[0]) begin
          if (v_need0[0] && v_need0[1] && clash(v_word[1], v_word[0])) fits = 1'b0;
          if (v_need0[0] && v_need1[1] && clash(v_next[1], v_word[0])) fits = 1'b0;
          if (v_need1[0] && v_need0[1] && clash(v_word[1], v_next[0])) fits = 1'b0;
          if (v_need1[0] && v_need1[1] && clash(v_next[1], v_next[0])) fits = 1'b0;
        end
        if (fits && v_need0[v]) begin
          bank_re[v_word[v][BankBits-1:0]]  = 1'b1;
          bank_row[v_word[v][BankBits-1:0]] = v_word[v][WordBits-1:BankBits];
        end
        if (fits && v_need1[v]) begin
          bank_re[v_next[v][BankBits-1:0]]  = 1'b1;
          bank_row[v_next[v][BankBits-1:0]] = v_next[v][WordBits-1:BankBits];
        end
        vr_ready_o[v] = fits;
      end
    end
    sr_ready_o = 1'b0;
    if (sr_req_i) begin
      sr_ready_o = 1'b1;
      for (int g = 0; g < G; g++) begin
        if (grant0[g] && clash(sr_word_i, word[g])) sr_ready_o = 1'b0;
        if (grant1[g] && clash(sr_word_i, next[g])) sr_ready_o = 1'b0;
      end
      for (int v = 0; v < 2; v++) begin
        if (vr_ready_o[v] && v_need0[v] && clash(sr_word_i, v_word[v])) sr_ready_o = 1'b0;
        if (vr_ready_o[v] && v_need1[v] && clash(sr_word_i, v_next[v])) sr_ready_o = 1'b0;
      end
      if (sr_ready_o) begin
        bank_re[sr_word_i[BankBits-1:0]]  = 1'b1;
        bank_row[sr_word_i[BankBits-1:0]] = sr_word_i[WordBits-1:BankBits];
      end
    end
  end

  // ---------------------------------------------------------------- banks: writes
  // Both words of a byte-addressed write get the same rotated bytes under different enables.
  logic [OffBits-1:0]  qw_off;
  logic [WordBits-1:0] qw_word, qw_next;
  logic [2*N-1:0]      qw_be;
  logic                qw_second;
  logic [7:0]          qw_byte[N];
  logic [7:0]          qw_turned[N];
  logic [N*8-1:0]      qw_rotated;

  assign qw_off    = qw_addr_i[OffBits-1:0];
  assign qw_word   = qw_addr_i[AddrBits-1:OffBits];
  assign qw_next   = qw_word + 1'b1;
  assign qw_be     = ~({2*N{1'b1}} << qw_count_i) << qw_off;
  assign qw_second = |qw_be[2*N-1:N];
  for (genvar i = 0; i < N; i++) begin : gen_byte
    assign qw_byte[i]            = qw_data_i[i*8 +: 8];
    assign qw_rotated[i*8 +: 8] = qw_turned[i];
  end
  always_comb begin
    for (int i = 0; i < N; i++) qw_turned[i] = '0;
    if (qw_valid_i) begin
      for (int i = 0; i < N; i++) qw_turned[i] = qw_byte[OffBits'(i) - qw_off];
    end
  end

  // Parts as wires: Icarus 11 has no selects in always_comb.
  logic [RowBits-1:0] qw_row0, qw_row1, lw_row;
  logic [N-1:0]       qw_be0, qw_be1;
  assign qw_row0          = qw_word[WordBits-1:BankBits];
  assign qw_row1          = qw_next[WordBits-1:BankBits];
  assign lw_row           = lw_word_i[WordBits-1:BankBits];
  assign {qw_be1, qw_be0} = qw_be;

  assign lw_ready_o = !qw_valid_i
      || (lw_word_i[BankBits-1:0] != qw_word[BankBits-1:0]
          && !(qw_second && lw_word_i[BankBits-1:0] == qw_next[BankBits-1:0]));

  logic [Banks-1:0] qw_hit0, qw_hit1, bank_we;
  assign qw_hit0 = qw_valid_i ? Banks'(1) << qw_word[BankBits-1:0] : '0;
  assign qw_hit1 = qw_valid_i && qw_second ? Banks'(1) << qw_next[BankBits-1:0] : '0;
  assign bank_we = qw_hit0 | qw_hit1 | (lw_valid_i ? Banks'(1) << lw_word_i[BankBits-1:0] : '0);

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

    hd_ram #(.Width(N * 8), .Depth(1 << RowBits), .BeBits(N)) u_ram (
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
  // Word w of ARRAY's port g comes from its bank, or from `early` if it was granted in a frozen cycle,
  // or from `hold` while the pipe is frozen.
  logic           frozen_q;
  logic [2*G-1:0] slot_grant, slot_got, fresh_q, early_q;

  for (genvar g = 0; g < G; g++) begin : gen_pair
    assign slot_grant[2*g +: 2] = {grant1[g], grant0[g]};
    assign slot_got[2*g +: 2]   = {got1_q[g], got0_q[g]};
  end
  always_ff @(posedge clk_i) begin
    frozen_q <= !ar_en_o;
    fresh_q  <= ar_en_o ? '0 : slot_grant;
    if (ar_en_o) early_q <= slot_got;
  end

  for (genvar s = 0; s < 2 * G; s++) begin : gen_slot
    localparam int Port = s / 2;
    logic [BankBits-1:0] bank_sel, bank_sel_q;
    logic [N*8-1:0]      early_data_q, hold_data_q, data;

    if (s % 2 == 0) begin : gen_word
      assign bank_sel = word[Port][BankBits-1:0];
    end else begin : gen_next
      assign bank_sel = next[Port][BankBits-1:0];
    end
    always_ff @(posedge clk_i) begin
      if (slot_grant[s]) bank_sel_q <= bank_sel;
      if (fresh_q[s]) early_data_q <= bank_q[bank_sel_q];
      if (!ar_en_o) hold_data_q <= data;
    end
    always_comb begin
      if (frozen_q) data = hold_data_q;
      else if (early_q[s]) data = early_data_q;
      else data = bank_q[bank_sel_q];
    end
    assign ar_data_o[s*N*8 +: N*8] = data;
  end

  for (genvar s = 0; s < 4; s++) begin : gen_vector_data
    logic [BankBits-1:0] bank_sel_q;
    always_ff @(posedge clk_i) begin
      if (vr_req_i[s/2]) bank_sel_q <= s % 2 == 0 ? v_word[s/2][BankBits-1:0] : v_next[s/2][BankBits-1:0];
    end
    assign vr_data_o[s*N*8 +: N*8] = bank_q[bank_sel_q];
  end

  logic [BankBits-1:0] store_bank_q;
  always_ff @(posedge clk_i) begin
    if (sr_req_i) store_bank_q <= sr_word_i[BankBits-1:0];
  end
  assign sr_data_o = bank_q[store_bank_q];

`ifdef HD_ASSERT
  for (genvar p = 0; p < G; p++) begin : gen_assert
    ArrayRequestStable: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !ar_en_o |=> $stable(ar_req_i[p]) && (!ar_req_i[p] || $stable(ar_addr_i[p*AddrBits +: AddrBits])));
  end
  for (genvar p = 0; p < G; p++) begin : gen_lanes
    ArrayWantsLanes: assert property (@(posedge clk_i) disable iff (!rst_ni)
      ar_req_i[p] |-> ar_lo_i[p*CntBits +: CntBits] < ar_hi_i[p*CntBits +: CntBits]);
  end
  LoadStable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    lw_valid_i && !lw_ready_o |=> lw_valid_i && $stable(lw_word_i) && $stable(lw_be_i) && $stable(lw_data_i));
  ResultFits: assert property (@(posedge clk_i) disable iff (!rst_ni)
    qw_valid_i |-> qw_count_i != '0 && qw_count_i <= CntBits'(N));
`endif

endmodule

`default_nettype wire
