// hd_spad_share - what VECTOR and STORE may read of a scratchpad beside ARRAY.
//   A word fits if nothing else of its bank is asked for before it. First are ARRAY's words,
//   granted or not (hd_spad_grant): the bank of one that is not reads another one of ARRAY's
//   anyway, and what is granted comes late. Then VECTOR's port 0, its port 1, STORE. Port v of
//   VECTOR needs the word of its address, with vr_next_i the next one, too; if all it needs fits
//   it is ready, and reads that.
//   Whether a word fits is asked of the words granted before it, not of the bank: the comparisons
//   are then done before the requests, which come late, are known. Two next words clash as the
//   words before them do. A next word is compared without adding: a = b + 1 if a + ~b = 0, and then
//   the carry into each bit is the OR of the two bits below it.
// Combinational. Bench: spad_tb.cpp
`default_nettype none
`include "hd_config.svh"

module hd_spad_share #(
  parameter int N        = CfgN,
  parameter int G        = CfgPorts,
  parameter int Banks    = CfgBanks,
  parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int WordBits = AddrBits - $clog2(N)  // derived
) (
  // ARRAY
  /* verilator lint_off UNUSEDSIGNAL */  // the byte within a word does not matter here
  input  wire logic [G*AddrBits-1:0] ar_addr_i,
  input  wire logic [G-1:0]          ar_ask0_i,
  input  wire logic [G-1:0]          ar_ask1_i,
  // VECTOR
  input  wire logic [1:0]            vr_req_i,
  output logic      [1:0]            vr_ready_o,
  input  wire logic [2*AddrBits-1:0] vr_addr_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  wire logic [1:0]            vr_next_i,
  // STORE
  input  wire logic                  sr_req_i,
  output logic                       sr_ready_o,
  input  wire logic [WordBits-1:0]   sr_word_i
);
  localparam int OffBits  = $clog2(N);
  localparam int BankBits = $clog2(Banks);

  logic [WordBits-1:0] word[G];  // first word of the pair
  logic [WordBits-1:0] v_word[2];

  for (genvar g = 0; g < G; g++) begin : gen_port
    assign word[g] = ar_addr_i[g*AddrBits+OffBits +: WordBits];
  end

  for (genvar v = 0; v < 2; v++) begin : gen_vector
    assign v_word[v] = vr_addr_i[v*AddrBits+OffBits +: WordBits];
  end

  function automatic logic clash(input logic [WordBits-1:0] a, input logic [WordBits-1:0] b);
    clash = a[BankBits-1:0] == b[BankBits-1:0] && a[WordBits-1:BankBits] != b[WordBits-1:BankBits];
  endfunction

  // a and the word after b.
  function automatic logic clash_next(input logic [WordBits-1:0] a, input logic [WordBits-1:0] b);
    clash_next = a[BankBits-1:0] == BankBits'(b[BankBits-1:0] + 1'b1) && (a ^ ~b) != (a | ~b) << 1;
  endfunction

  logic fits;

  always_comb begin
    fits       = 1'b0;
    vr_ready_o = '0;
    for (int v = 0; v < 2; v++) begin
      if (vr_req_i[v]) begin
        fits = 1'b1;
        for (int g = 0; g < G; g++) begin
          if ((ar_ask0_i[g] || (ar_ask1_i[g] && vr_next_i[v])) && clash(v_word[v], word[g])) begin
            fits = 1'b0;
          end
          if (ar_ask0_i[g] && vr_next_i[v] && clash_next(word[g], v_word[v])) fits = 1'b0;
          if (ar_ask1_i[g] && clash_next(v_word[v], word[g])) fits = 1'b0;
        end
        if (v == 1 && vr_ready_o[0]) begin
          if (clash(v_word[1], v_word[0])) fits = 1'b0;
          if (vr_next_i[1] && clash_next(v_word[0], v_word[1])) fits = 1'b0;
          if (vr_next_i[0] && clash_next(v_word[1], v_word[0])) fits = 1'b0;
        end
        vr_ready_o[v] = fits;
      end
    end
    sr_ready_o = 1'b0;
    if (sr_req_i) begin
      sr_ready_o = 1'b1;
      for (int g = 0; g < G; g++) begin
        if (ar_ask0_i[g] && clash(sr_word_i, word[g])) sr_ready_o = 1'b0;
        if (ar_ask1_i[g] && clash_next(sr_word_i, word[g])) sr_ready_o = 1'b0;
      end
      for (int v = 0; v < 2; v++) begin
        if (vr_ready_o[v] && clash(sr_word_i, v_word[v])) sr_ready_o = 1'b0;
        if (vr_ready_o[v] && vr_next_i[v] && clash_next(sr_word_i, v_word[v])) sr_ready_o = 1'b0;
      end
    end
  end

endmodule

`default_nettype wire
