// hd_crc - the check of a command stream while it passes.
//   The stream is one long number, bit 0 of word 0 first; its remainder by x^32 + x^7 + x^6 + x^2 +
//   1, from 32 ones on, is 0 (driver/hd_crc.h is the same in C). A remainder of 32 bits and a word
//   make the next one: the word's sum with it, times x^32, and x^32 is x^7 + x^6 + x^2 + 1.
//   A burst of up to 32 wrong bits is not a multiple of that polynomial, so none passes.
//   start_i: a stream begins. A chunk enters with valid_i. busy_o: the last one is under way; else
//   ok_o: the remainder is 0.
// Latency: 2 cycles from a chunk to ok_o. Throughput 1 chunk a cycle. Reset: nothing under way.
// Bench: frame_tb.cpp
`default_nettype none

module hd_crc #(
  parameter int Words = 4  // of a chunk
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,
  input  wire logic                start_i,
  input  wire logic                valid_i,
  input  wire logic [Words*32-1:0] chunk_i,
  output logic                     busy_o,
  output logic                     ok_o
);
  logic                valid_q;
  logic [Words*32-1:0] chunk_q;
  logic [31:0]         crc_q, crc_d;

  // a * x^32. Shifted right is times x; what leaves on the right is a multiple of x^32 again.
  function automatic [31:0] times_x32(input [31:0] a);
    reg [31:0] over;
    begin
      over      = (a << 30) ^ (a << 26) ^ (a << 25);
      times_x32 = a ^ (a >> 2) ^ (a >> 6) ^ (a >> 7)
                  ^ over ^ (over >> 2) ^ (over >> 6) ^ (over >> 7);
    end
  endfunction

  always_comb begin
    crc_d = crc_q;
    for (int k = 0; k < Words; k++) crc_d = times_x32(crc_d ^ chunk_q[k*32 +: 32]);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else valid_q <= valid_i;
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) chunk_q <= chunk_i;
    if (start_i) crc_q <= '1;
    else if (valid_q) crc_q <= crc_d;
  end

  assign busy_o = valid_q;
  assign ok_o   = crc_q == '0;

endmodule

`default_nettype wire
