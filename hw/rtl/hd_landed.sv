// hd_landed - how far WEIGHT's oldest command is: for ARRAY commands that follow it.
//   word_valid_i: word word_i is written in this cycle; done_i: the command of the words before is
//   complete.
//   count_o: words of the oldest command written before this cycle, end_o: the word behind the last
//   of them. The command's words are written one behind the other. In the cycle after done_i, when
//   hd_issue's count has moved on, the next command's are counted.
// Latency 1. Reset: none. Bench: tests/hw/array_tb.cpp
`default_nettype none

module hd_landed #(
  parameter int WordBits = 12
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,
  input  wire logic                word_valid_i,
  input  wire logic [WordBits-1:0] word_i,
  input  wire logic                done_i,
  output logic      [WordBits:0]   count_o,
  output logic      [WordBits-1:0] end_o
);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) count_o <= '0;
    else count_o <= (done_i ? '0 : count_o) + (WordBits + 1)'(word_valid_i);
    if (word_valid_i) end_o <= word_i + 1'b1;
  end
endmodule

`default_nettype wire
