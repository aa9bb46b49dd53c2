// hd_weight_arrival - WEIGHT's words on their way to the memories, and how far its oldest command
// is: for ARRAY commands that follow it.
//   ww_valid_i: word ww_i comes in this cycle; done_i: the command of the words before is
//   complete.
//   count_o: words of the oldest command that came before this cycle, end_o: the word behind the
//   last of them. The command's words come one behind the other. In the cycle after done_i, when
//   hd_issue's count has moved on, the next command's are counted.
//   ww_o: what came in the cycle before; the memories are written then. Who waits for a word or
//   its command reads it three cycles after the count at the earliest.
// Latency 1. Reset: no word. Bench: array_tb.cpp
`default_nettype none
`include "hd_bundles.svh"

module hd_weight_arrival #(
  parameter int WordBits = $clog2(CfgWeightBytes / CfgN)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  input  wire logic                 ww_valid_i,
  input  wire hd_weight_word_t      ww_i,
  input  wire logic                 done_i,
  output logic      [WordBits:0]    count_o,
  output logic      [WordBits-1:0]  end_o,
  output logic                      ww_valid_o,
  output hd_weight_word_t           ww_o
);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) count_o <= '0;
    else count_o <= (done_i ? '0 : count_o) + (WordBits + 1)'(ww_valid_i);
    ww_valid_o <= rst_ni && ww_valid_i;
    ww_o       <= ww_i;
    if (ww_valid_i) end_o <= ww_i.word + 1'b1;
  end
endmodule

`default_nettype wire
