// hd_spad_grant - which words of a scratchpad ARRAY reads in this cycle.
//   Port p needs the word of addr (need0) and the next one (need1).
//   grant0_o (word), grant1_o (next word): read in this cycle, out of those asked for and not read
//   before, ask0_o, ask1_o. A word waits while an earlier port asks for another word of its bank.
//   en_o: every needed word is granted now or was before: the request ends. Else it stays as it is.
// Latency 0; a request takes as many cycles as one bank has different words to give.
// Reset: no request under way. Bench: spad_tb.cpp
`default_nettype none
`include "hd_config.svh"

module hd_spad_grant #(
  parameter int N        = CfgN,
  parameter int G        = CfgPorts,
  parameter int Banks    = CfgBanks,
  parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int WordBits = AddrBits - $clog2(N)  // derived
) (
  input  wire logic                  clk_i,
  input  wire logic                  rst_ni,
  input  wire logic [G-1:0]          need0_i,
  input  wire logic [G-1:0]          need1_i,
  /* verilator lint_off UNUSEDSIGNAL */  // the byte within a word does not matter here
  input  wire logic [G*AddrBits-1:0] addr_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic                       en_o,
  output logic      [G-1:0]          grant0_o,
  output logic      [G-1:0]          grant1_o,
  output logic      [G-1:0]          ask0_o,
  output logic      [G-1:0]          ask1_o
);
  localparam int OffBits  = $clog2(N);
  localparam int BankBits = $clog2(Banks);

  logic [WordBits-1:0] word[G];

  for (genvar p = 0; p < G; p++) begin : gen_port
    assign word[p] = addr_i[p*AddrBits+OffBits +: WordBits];
  end

  // Words of two ports share a bank only if the difference of their pairs is 0, 1 or -1 modulo
  // Banks.
  logic [G-1:0]        got0_q, got1_q, pend0, pend1, grant0, grant1;
  logic [WordBits-1:0] apart;

  always_comb begin
    pend0  = need0_i & ~got0_q;
    pend1  = need1_i & ~got1_q;
    grant0 = pend0;
    grant1 = pend1;
    apart  = '0;
    for (int h = 1; h < G; h++) begin
      for (int g = 0; g < h; g++) begin
        apart = word[h] - word[g];
        if (apart[BankBits-1:0] == '0 && apart != '0) begin
          if (pend0[g]) grant0[h] = 1'b0;
          if (pend1[g]) grant1[h] = 1'b0;
        end
        if (apart[BankBits-1:0] == BankBits'(1) && apart != WordBits'(1) && pend1[g]) begin
          grant0[h] = 1'b0;
        end
        if (&apart[BankBits-1:0] && !(&apart) && pend0[g]) grant1[h] = 1'b0;
      end
    end
    en_o = grant0 == pend0 && grant1 == pend1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || en_o) begin
      got0_q <= '0;
      got1_q <= '0;
    end else begin
      got0_q <= got0_q | grant0;
      got1_q <= got1_q | grant1;
    end
  end

  assign grant0_o = grant0;
  assign grant1_o = grant1;
  assign ask0_o   = pend0;
  assign ask1_o   = pend1;

`ifdef HD_ASSERT
  for (genvar p = 0; p < G; p++) begin : gen_assert
    a_request_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !en_o |=> $stable({need0_i[p], need1_i[p]})
                && (!(need0_i[p] || need1_i[p]) || $stable(addr_i[p*AddrBits +: AddrBits])));
  end
  c_waits: cover property (@(posedge clk_i) !en_o);
`endif

endmodule

`default_nettype wire
