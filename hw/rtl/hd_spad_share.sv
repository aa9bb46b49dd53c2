// hd_spad_share - what VECTOR and STORE may read of a scratchpad beside ARRAY.
//   A word fits if nothing else of its bank is asked for before it. First are ARRAY's words,
//   granted or not (hd_spad_grant): the bank of one that is not reads another one of ARRAY's
//   anyway, and what is granted comes late. Then VECTOR's port 0, its port 1, STORE. Port v of
//   VECTOR is ready if both words that it needs fit; vr_grant0_o (word), vr_grant1_o (next word):
//   it reads them.
//   Whether a word fits is asked of the words granted before it, not of the bank: the comparisons
//   are then done before the requests, which come late, are known.
// Combinational. Bench: tests/hw/spad_tb.cpp
`default_nettype none
`include "hd_config.svh"

module hd_spad_share #(
  parameter int N        = CfgN,
  parameter int G        = CfgPorts,
  parameter int Banks    = CfgBanks,
  parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int WordBits = AddrBits - $clog2(N),  // derived
  parameter int CntBits  = $clog2(N + 1)
) (
  // ARRAY
  /* verilator lint_off UNUSEDSIGNAL */  // whose byte of a word is no matter here
  input  wire logic [G*AddrBits-1:0] ar_addr_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  wire logic [G-1:0]          ar_ask0_i,
  input  wire logic [G-1:0]          ar_ask1_i,
  // VECTOR
  input  wire logic [1:0]            vr_req_i,
  output logic      [1:0]            vr_ready_o,
  input  wire logic [2*AddrBits-1:0] vr_addr_i,
  input  wire logic [2*CntBits-1:0]  vr_lo_i,
  input  wire logic [2*CntBits-1:0]  vr_hi_i,
  output logic      [1:0]            vr_grant0_o,
  output logic      [1:0]            vr_grant1_o,
  // STORE
  input  wire logic                  sr_req_i,
  output logic                       sr_ready_o,
  input  wire logic [WordBits-1:0]   sr_word_i
);
  localparam int OffBits  = $clog2(N);
  localparam int BankBits = $clog2(Banks);

  logic [WordBits-1:0] word[G];  // first word of the pair
  logic [WordBits-1:0] next[G];
  logic [WordBits-1:0] v_word[2];
  logic [WordBits-1:0] v_next[2];
  logic [1:0]          v_need0;
  logic [1:0]          v_need1;

  for (genvar g = 0; g < G; g++) begin : gen_port
    assign word[g] = ar_addr_i[g*AddrBits+OffBits +: WordBits];
    assign next[g] = word[g] + 1'b1;
  end

  for (genvar v = 0; v < 2; v++) begin : gen_vector
    logic [AddrBits-1:0] addr;
    logic [CntBits-1:0]  lo, hi;
    logic [CntBits:0]    first, last;  // as in hd_spad_grant
    assign addr       = vr_addr_i[v*AddrBits +: AddrBits];
    assign lo         = vr_lo_i[v*CntBits +: CntBits];
    assign hi         = vr_hi_i[v*CntBits +: CntBits];
    assign first      = (CntBits+1)'(addr[OffBits-1:0]) + (CntBits+1)'(lo);
    assign last       = (CntBits+1)'(addr[OffBits-1:0]) + (CntBits+1)'(hi);
    assign v_word[v]  = addr[AddrBits-1:OffBits];
    assign v_next[v]  = v_word[v] + 1'b1;
    assign v_need0[v] = vr_req_i[v] && first < (CntBits+1)'(N);
    assign v_need1[v] = vr_req_i[v] && last > (CntBits+1)'(N);
  end

  function automatic logic clash(input logic [WordBits-1:0] a, input logic [WordBits-1:0] b);
    clash = a[BankBits-1:0] == b[BankBits-1:0] && a[WordBits-1:BankBits] != b[WordBits-1:BankBits];
  endfunction

  logic fits;

  always_comb begin
    fits       = 1'b0;
    vr_ready_o = '0;
    for (int v = 0; v < 2; v++) begin
      if (vr_req_i[v]) begin
        fits = 1'b1;
        for (int g = 0; g < G; g++) begin
          if (ar_ask0_i[g] && v_need0[v] && clash(v_word[v], word[g])) fits = 1'b0;
          if (ar_ask0_i[g] && v_need1[v] && clash(v_next[v], word[g])) fits = 1'b0;
          if (ar_ask1_i[g] && v_need0[v] && clash(v_word[v], next[g])) fits = 1'b0;
          if (ar_ask1_i[g] && v_need1[v] && clash(v_next[v], next[g])) fits = 1'b0;
        end
        if (v == 1 && vr_ready_o[0]) begin
          if (v_need0[0] && v_need0[1] && clash(v_word[1], v_word[0])) fits = 1'b0;
          if (v_need0[0] && v_need1[1] && clash(v_next[1], v_word[0])) fits = 1'b0;
          if (v_need1[0] && v_need0[1] && clash(v_word[1], v_next[0])) fits = 1'b0;
          if (v_need1[0] && v_need1[1] && clash(v_next[1], v_next[0])) fits = 1'b0;
        end
        vr_ready_o[v] = fits;
      end
    end
    sr_ready_o = 1'b0;
    if (sr_req_i) begin
      sr_ready_o = 1'b1;
      for (int g = 0; g < G; g++) begin
        if (ar_ask0_i[g] && clash(sr_word_i, word[g])) sr_ready_o = 1'b0;
        if (ar_ask1_i[g] && clash(sr_word_i, next[g])) sr_ready_o = 1'b0;
      end
      for (int v = 0; v < 2; v++) begin
        if (vr_ready_o[v] && v_need0[v] && clash(sr_word_i, v_word[v])) sr_ready_o = 1'b0;
        if (vr_ready_o[v] && v_need1[v] && clash(sr_word_i, v_next[v])) sr_ready_o = 1'b0;
      end
    end
  end

  assign vr_grant0_o = vr_ready_o & v_need0;
  assign vr_grant1_o = vr_ready_o & v_need1;

endmodule

`default_nettype wire
