// hd_softmax_scale - what softmax multiplies a row's exponentials by: the reciprocal of their sum,
// in gemmlowp's fixed point (docs/NUMERICS.md, SOFTMAX).
//   zeros = leading zeros of sum_i (Q12.19, 2^19 to 2^31);  half = (sum_i << zeros) / 2, Q0.31
//   r = 48/17 - 32/17 half in Q2.29, then three times r += r (1 - half r)
//   scale_o = 2 r, saturated, Q0.31;  shift_o = zeros - 35: the result is exponential * scale >>
//   -shift
// A sum of 2^28 or more would shift by more than 31: scale_o is 0 then, shift_o -31.
// One product a cycle, each the rounded high half that hd_lane has. start_i is taken with ready_o;
// valid_o for one cycle, 8 cycles later; the next start in the same cycle.
// Reset: ready. Bench: tests/hw/vector_tb.cpp
`default_nettype none

module hd_softmax_scale (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic        start_i,
  input  wire logic [31:0] sum_i,
  output logic             ready_o,
  output logic             valid_o,
  output logic      [30:0] scale_o,
  output logic      [7:0]  shift_o
);
  localparam logic [31:0] Start = 32'd1515870810;   // 48/17 in Q2.29
  localparam logic [31:0] Slope = -32'd1010580540;  // -32/17
  localparam logic [3:0]  Last  = 4'd8;

  logic        [3:0]  step_q;  // 0: idle; 1 to 7: a product; Last: the result stands
  logic        [3:0]  zeros_q;
  logic signed [31:0] half_q, r_q, error_q;

  // {zeros, x without them}: at most 15.
  function automatic logic [35:0] normalised(input logic [31:0] sum);
    logic [31:0] x;
    logic [3:0]  zeros;
    x     = sum;
    zeros = '0;
    for (int s = 3; s >= 0; s--) begin
      if ((x >> (32 - (1 << s))) == '0) begin
        x        = x << (1 << s);
        zeros[s] = 1'b1;
      end
    end
    normalised = {zeros, x};
  endfunction

  // (x * y + 2^30) >>> 31
  function automatic logic signed [31:0] high(input logic signed [31:0] x,
                                              input logic signed [31:0] y);
    logic signed [63:0] product;
    product = x * y;
    high    = 32'(product >>> 31) + {31'b0, product[30]};
  endfunction

  logic               refine, first;  // r += r error, the product with the start's slope
  logic signed [31:0] factor_x, factor_y, product;
  logic        [35:0] begun;
  logic               take;

  assign first    = step_q == 4'd1;
  assign refine   = step_q[0] && !first;
  assign factor_x = refine ? r_q : half_q;
  assign factor_y = first ? $signed(Slope) : refine ? error_q : r_q;
  assign take     = start_i && ready_o;
  assign ready_o  = step_q == '0 || step_q == Last;
  assign valid_o  = step_q == Last;

  // Idle, nothing of this is computed.
  always_comb begin
    product = '0;
    begun   = '0;
    if (!ready_o) product = high(factor_x, factor_y);
    if (take) begun = normalised(sum_i);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni)      step_q <= '0;
    else if (take)    step_q <= 4'd1;
    else if (valid_o) step_q <= '0;
    else if (!ready_o) step_q <= step_q + 4'd1;
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      half_q  <= {1'b0, begun[31:1]};
      zeros_q <= begun[35:32];
    end
    if (first) r_q <= $signed(Start) + product;
    else if (refine) r_q <= r_q + (product <<< 2);
    else if (!ready_o) error_q <= (32'sd1 <<< 29) - product;
  end

  logic too_large, unused_bits;
  assign too_large   = zeros_q < 4'd4;
  assign scale_o     = too_large ? '0 : r_q[30] ? '1 : {r_q[29:0], 1'b0};
  assign shift_o     = (too_large ? 8'd4 : {4'd0, zeros_q}) - 8'd35;
  assign unused_bits = begun[0] ^ r_q[31];

`ifdef HD_ASSERT
  a_sum: assert property (@(posedge clk_i) disable iff (!rst_ni)
    take |-> sum_i >= 32'h0008_0000 && sum_i <= 32'h8000_0000);
  a_range: assert property (@(posedge clk_i) disable iff (!rst_ni) valid_o |-> !r_q[31]);
  c_take: cover property (@(posedge clk_i) take && step_q == Last);
  c_large: cover property (@(posedge clk_i) valid_o && too_large);
`endif

endmodule

`default_nettype wire
