// hd_softmax_scale - what softmax multiplies a row's exponentials by: the reciprocal of their sum,
// in gemmlowp's fixed point (docs/NUMERICS.md, SOFTMAX).
//   zeros = leading zeros of sum_i (Q12.19, 2^19 to 2^31);  half = (sum_i << zeros) / 2, Q0.31
//   r = 48/17 - 32/17 half in Q2.29, then three times r += r (1 - half r)
//   scale_o = 2 r, saturated, Q0.31;  shift_o = zeros - 35: the result is exponential * scale >>
//   -shift
// A sum of 2^28 or more would shift by more than 31: scale_o is 0 then, shift_o -31.
// A step is a product, the rounded high half that hd_lane has, and takes two cycles: its parts, and
// what follows from their sum. Two rows take turns: while one has its parts made, the other's are
// added. start_i is taken with ready_o, which the other row's turns leave every other cycle;
// valid_o for one cycle, 17 cycles later, with row_o; the row's turns are free after 16. near_o: a
// scale is there in 9 cycles at most. Reset: no row. Bench: vector_tb.cpp
`default_nettype none

module hd_softmax_scale #(
  parameter int RowBits = 8
) (
  input  wire logic               clk_i,
  input  wire logic               rst_ni,
  input  wire logic               start_i,
  input  wire logic [31:0]        sum_i,
  input  wire logic [RowBits-1:0] row_i,
  output logic                    ready_o,
  output logic                    near_o,
  output logic                    valid_o,
  output logic      [RowBits-1:0] row_o,
  output logic      [30:0]        scale_o,
  output logic      [7:0]         shift_o
);
  localparam logic [31:0] Start = 32'd1515870810;   // 48/17 in Q2.29
  localparam logic [31:0] Slope = -32'd1010580540;  // -32/17
  localparam logic [3:0]  Last  = 4'd8;

  // A row on its way: first its parts are made (a), then they are added (b), then again a.
  // Step 0: no row; 1: leading zeros; 2: start; 3, 5, 7: error; 4, 6, 8: r.
  logic        [3:0]         a_step_q, b_step_q, a_zeros_q, b_zeros_q;
  logic        [RowBits-1:0] a_row_q, b_row_q;
  logic        [31:0]        a_half_q, b_half_q;
  logic signed [31:0]        a_r_q, b_r_q, factor_q;
  logic                      refine_q;  // factor_q is an error
  logic signed [31:0]        high_q;
  logic signed [33:0]        mid_q;
  logic        [15:0]        low_q;

  // Zeros removed from x by 2 s and by s places: {which were, x}.
  function automatic logic [33:0] fewer(input logic [31:0] value, input int s);
    logic [31:0] x;
    logic [1:0]  zeros;
    x     = value;
    zeros = '0;
    if ((x >> (32 - 2 * s)) == '0) begin
      x        = x << (2 * s);
      zeros[1] = 1'b1;
    end
    if ((x >> (32 - s)) == '0) begin
      x        = x << s;
      zeros[0] = 1'b1;
    end
    fewer = {zeros, x};
  endfunction

  // ---------------------------------------------------------------- parts
  // What is multiplied is chosen with the step.
  logic signed [31:0] x, y;
  assign x = refine_q ? a_r_q : $signed(a_half_q);
  assign y = factor_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) b_step_q <= '0;
    else b_step_q <= a_step_q;
    if (a_step_q != '0) begin
      b_row_q   <= a_row_q;
      b_half_q  <= a_half_q;
      b_zeros_q <= a_zeros_q;
      b_r_q     <= a_r_q;
      if (a_step_q == 4'd1) {b_zeros_q[3:2], b_half_q} <= fewer(a_half_q, 4);
    end
    if (a_step_q > 4'd1) begin
      high_q <= $signed(x[31:16]) * $signed(y[31:16]);
      mid_q  <= $signed(x[31:16]) * $signed({1'b0, y[15:0]})
                + $signed({1'b0, x[15:0]}) * $signed(y[31:16]);
      low_q  <= 16'((32'(x[15:0]) * 32'(y[15:0])) >> 16);
    end
  end

  // ----------------------------------------------------------- sum of the parts, and the next step
  logic signed [31:0] product, r_next;
  logic        [32:0] sum;
  logic        [33:0] normal;
  logic               first, take, unused_bits;

  always_comb begin
    sum     = '0;
    product = '0;
    normal  = '0;
    if (b_step_q > 4'd1) begin
      sum     = 33'(($signed({high_q, low_q}) + 48'(mid_q)) >>> 14);
      product = sum[32:1] + {31'b0, sum[0]};
    end
    if (b_step_q == 4'd1) normal = fewer(b_half_q, 1);
  end
  assign first   = b_step_q == 4'd2;
  assign r_next  = (first ? $signed(Start) : b_r_q) + (first ? product : product <<< 2);
  // b_step_q is 0 or Last.
  always_ff @(posedge clk_i) ready_o <= !rst_ni || a_step_q == '0 || a_step_q == Last;
  assign near_o  = (a_step_q == '0 || a_step_q > 4'd4) && (b_step_q == '0 || b_step_q > 4'd3);
  assign take    = start_i && ready_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) a_step_q <= '0;
    else if (take) a_step_q <= 4'd1;
    else if (ready_o) a_step_q <= '0;
    else a_step_q <= b_step_q + 4'd1;
    if (take) begin
      a_row_q  <= row_i;
      a_half_q <= sum_i;
    end else if (!ready_o) begin
      a_row_q   <= b_row_q;
      a_half_q  <= b_step_q == 4'd1 ? {1'b0, normal[31:1]} : b_half_q;
      a_zeros_q <= b_step_q == 4'd1 ? {b_zeros_q[3:2], normal[33:32]} : b_zeros_q;
      a_r_q     <= b_step_q[0] ? b_r_q : r_next;
      factor_q  <= b_step_q == 4'd1 ? $signed(Slope) :
                   b_step_q[0] ? (32'sd1 <<< 29) - product : r_next;
      refine_q  <= b_step_q[0] && b_step_q != 4'd1;
    end
  end

  // ---------------------------------------------------------------- a row's scale
  logic [3:0]  zeros_q;
  logic [30:0] r_q;
  logic        too_large;

  always_ff @(posedge clk_i) begin
    valid_o <= rst_ni && b_step_q == Last;
    if (b_step_q == Last) begin
      row_o   <= b_row_q;
      zeros_q <= b_zeros_q;
      r_q     <= r_next[30:0];
    end
  end
  assign too_large   = zeros_q < 4'd4;
  assign scale_o     = too_large ? '0 : r_q[30] ? '1 : {r_q[29:0], 1'b0};
  assign shift_o     = (too_large ? 8'd4 : {4'd0, zeros_q}) - 8'd35;
  assign unused_bits = normal[0];

`ifdef HD_ASSERT
  a_sum: assert property (@(posedge clk_i) disable iff (!rst_ni)
    take |-> sum_i >= 32'h0008_0000 && sum_i <= 32'h8000_0000);
  a_range: assert property (@(posedge clk_i) disable iff (!rst_ni)
    b_step_q == Last |-> !r_next[31]);
  c_take: cover property (@(posedge clk_i) take && b_step_q == Last);
  c_two: cover property (@(posedge clk_i) take && a_step_q != '0);
  c_large: cover property (@(posedge clk_i) valid_o && too_large);
`endif

endmodule

`default_nettype wire
