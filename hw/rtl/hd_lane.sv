// hd_lane - one requantisation lane: int32 to int8 in five stages, exactly NUMERICS.md.
//   1 take   value = array sum or vector value
//   2 scale  x = (value + bias) << max(shift, 0), modulo 2^32     average: |value| + cells/2
//   3 high   p = x * multiplier, bits 62..30                      pass: x itself
//   4 round  h = (p + 2^30) >>> 31, modulo 2^32                   average: no rounding, sign restored
//   5 out    RDBPOT(h, max(-shift, 0)) + z_out, modulo 2^32, clamped
// SRDHM rounds ties up for either sign when written as (p + 2^30) >>> 31; its one saturating case, both
// factors INT32_MIN, cannot occur: a multiplier is never INT32_MIN (|m| is a Q0.31 fraction).
// Shift is -31..30. A stage loads only when its enable is set, so idle lanes do not toggle; nothing
// ever stalls. Latency 5, throughput 1 a cycle. Reset: none (hd_requant resets the enables).
// Bench: tests/hw/requant_tb.cpp
`default_nettype none

module hd_lane (
  input  wire logic        clk_i,
  input  wire logic [4:0]  en_i,          // stage s loads at en_i[s-1]
  // stage 1
  input  wire logic        array_i,       // take a_sum_i, else v_value_i
  input  wire logic [31:0] a_sum_i,
  input  wire logic [31:0] v_value_i,
  // stage 2
  input  wire logic        bias_en_i,     // add pr_bias_i
  input  wire logic        param_i,       // pr_multiplier_i and pr_shift_i, else the common ones
  input  wire logic [31:0] pr_bias_i,
  input  wire logic [31:0] pr_multiplier_i,
  input  wire logic [5:0]  pr_shift_i,    // signed
  input  wire logic [31:0] multiplier_i,
  input  wire logic [5:0]  shift_i,       // signed; 0 for average and pass
  input  wire logic        average_i,
  input  wire logic [10:0] half_i,        // cells / 2
  // stage 3 to 5
  input  wire logic        pass_i,        // stage 3
  input  wire logic        average_q_i,   // stage 4
  input  wire logic [7:0]  z_out_i,       // stage 5, signed; 0 for average and pass
  input  wire logic [7:0]  min_i,
  input  wire logic [7:0]  max_i,
  output logic      [7:0]  q_o            // valid after stage 5
);
  logic signed [31:0] value_q, x_q, m_q, h_q;
  logic        [32:0] p_q;
  logic               neg2_q, neg3_q;
  logic        [4:0]  e2_q, e3_q, e4_q;   // right shift

  // Stage 2: one adder serves bias and |value| + cells/2.
  logic               neg;
  logic        [31:0] addend, base;
  logic        [5:0]  shift;
  logic        [4:0]  left, right;

  assign neg    = average_i & value_q[31];
  assign addend = average_i ? {21'b0, half_i} : bias_en_i ? pr_bias_i : 32'b0;
  assign base   = (value_q ^ {32{neg}}) + addend + {31'b0, neg};
  assign shift  = param_i ? pr_shift_i : shift_i;
  assign left   = shift[5] ? 5'd0 : shift[4:0];
  assign right  = shift[5] ? 5'(-shift[4:0]) : 5'd0;

  // Stage 3: only bits 62..30 matter, for (p + 2^30) >>> 31 is bits 62..31 plus bit 30.
  logic signed [63:0] product;
  logic               unused_product;

  assign product        = x_q * m_q;
  assign unused_product = ^{product[63], product[29:0]};

  // Stage 4.
  logic        [31:0] high;

  assign high = (p_q[32:1] ^ {32{neg3_q}}) + {31'b0, neg3_q | (p_q[0] & ~average_q_i)};

  // Stage 5: RDBPOT as one addition before the shift: half - (h < 0), half = 2^(e-1), nothing for e = 0.
  logic        [31:0] one_e;
  logic        [31:0] nudge;
  logic signed [32:0] nudged;
  logic signed [32:0] shifted;
  logic signed [31:0] t;
  logic               unused_shifted;

  assign one_e          = 32'd1 << e4_q;
  assign nudge          = h_q[31] ? ((one_e - 32'd1) >> 1) : (one_e >> 1);
  assign nudged         = {h_q[31], h_q} + {1'b0, nudge};
  assign shifted        = nudged >>> e4_q;
  assign unused_shifted = shifted[32];
  assign t              = shifted[31:0] + {{24{z_out_i[7]}}, z_out_i};

  always_ff @(posedge clk_i) begin
    if (en_i[0]) value_q <= array_i ? a_sum_i : v_value_i;
    if (en_i[1]) begin
      x_q    <= base << left;
      m_q    <= param_i ? pr_multiplier_i : multiplier_i;
      e2_q   <= right;
      neg2_q <= neg;
    end
    if (en_i[2]) begin
      p_q    <= pass_i ? {x_q, 1'b0} : product[62:30];
      e3_q   <= e2_q;
      neg3_q <= neg2_q;
    end
    if (en_i[3]) begin
      h_q  <= high;
      e4_q <= e3_q;
    end
    if (en_i[4]) begin
      q_o <= (t < $signed({{24{min_i[7]}}, min_i})) ? min_i :
             (t > $signed({{24{max_i[7]}}, max_i})) ? max_i : t[7:0];
    end
  end

endmodule

`default_nettype wire
