// hd_vector_lane - one lane of VECTOR, from two bytes to the value hd_requant rescales.
//   queue    a, b = byte - zero point (9 bits), `blank_i` where it is not read; three entries each
//            a lower one of two bytes: byte + 128
//   product  pa = a * {multiplier_a | b | 1}, pb = b * multiplier_b, each in two parts
//            prelu: b where a < 0, else 1
//   sum      of the parts; softmax: memory of exponentials read
//   high     softmax: the exponential (first pass: the byte)
//            add, sub, max, min: (p + 2^10) >> 11 = ((x << 20) * multiplier + 2^30) >> 31
//            of two bytes, first the upper one's p + 2^7 is held as u; then
//            (8 u + (p >> 5)) >> 11 = ((x << 15) * multiplier + 2^30) >> 31
//            max, min: one of the two, by the products' bits that it depends on; of two bytes both
//            squared: (p + 2^23) >> 24 = ((x << 7) * multiplier + 2^30) >> 31, kept 13 bits up
//            others: pa
//   shift    add, sub, squared: ha >>> -shift_a, hb >>> -shift_b and what rounds them;  others: ha
//            max, min of two bytes: one of ha, hb, by their lower 17 bits
//            curve: memory of exponentials read at ha, in 2^-9 or 2^-8, clamped: base, slope
//   value    add, sub, squared: RDBPOT(ha, -shift_a) +- RDBPOT(hb, -shift_b);  others with two
//            operands: ha;
//            pools: first cell ha, then the sum or the maximum, modulo 2^32
//            mul of two bytes: the sum of the four products, of which those before `up` times 256
//            curve: slope * the rest of ha
// squared: value_o is the square of the difference, which has 18 bits, modulo 2^32.
// curve: value_o is twice the sum of 512 * base and the value.
// One product serves add (9 x 32), mul (9 x 9) and the pools (x 1): its second factor is chosen.
// The memory of exponentials is a copy per lane, 256 entries of 32 bits, because all lanes look up
// in the same cycle: entry (byte - zero point) mod 256; curve: 512 entries, that of ha mod 512.
// Each stage loads at its enable only, whether its op needs all of it or not: one gate less. Reset:
// none. Bench: vector_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"
`include "hd_requant.svh"
`include "hd_bundles.svh"

module hd_vector_lane #(
  parameter int Wide = CfgLstm                 // 1: operands may have two bytes
) (
  input  wire logic               clk_i,
  // operands, controls of hd_vector_port
  input  wire logic [7:0]         a_byte_i,
  input  wire logic               a_keep_i,
  input  wire hd_vector_queue_t   a_queue_i,
  input  wire logic [7:0]         b_byte_i,
  input  wire logic               b_keep_i,
  input  wire hd_vector_queue_t   b_queue_i,
  // constant while a command runs
  input  wire logic [7:0]         z_a_i,
  input  wire logic [7:0]         z_b_i,
  input  wire logic [8:0]         blank_i,
  input  wire hd_vop_facts_t      facts_i,
  input  wire logic [4:0]         two_i,       // of two bytes, see below
  input  wire logic [4:0]         right_a_i,   // -shift_a, -shift_b
  input  wire logic [4:0]         right_b_i,
  input  wire logic [31:0]        below_a_i,   // ones: right_a_i, right_b_i of them
  input  wire logic [31:0]        below_b_i,
  input  wire logic               exp_i,       // softmax: look up exponentials
  input  wire logic [31:0]        multiplier_a_i,
  input  wire logic [31:0]        multiplier_b_i,
  // stages
  input  wire logic               product_en_i,
  input  wire logic               sum_en_i,
  input  wire logic               high_en_i,
  input  wire logic               shift_en_i,
  input  wire logic               value_en_i,
  input  wire logic               first_i,     // the value stage takes a window's first cell
  // exponentials
  input  wire logic               exp_we_i,
  input  wire logic [8:0]         exp_entry_i,
  input  wire logic [31:0]        exp_data_i,
  output logic      [31:0]        high_o,      // to the shift stage
  output logic      [7:0]         other_o,     // of b, alike
  output logic      [31:0]        value_o,
  output logic                    negative_o   // prelu: a < 0
);
  // Operands have two bytes; the product stage takes B's lower one, A's; the high stage takes lower
  // ones; the value stage adds to 256 times the value so far.
  logic two, lower_b, lower_a, second, up, curve, sums;

  assign curve = Wide != 0 && facts_i.curve;
  assign sums  = facts_i.sum || (two && facts_i.multiply);  // of a window's cells
  assign {two, lower_b, lower_a, second, up} = Wide != 0 ? two_i : '0;

  // ---------------------------------------------------------------- queue
  logic signed [8:0] a_q, a_skid_q, a_spare_q, b_q, b_skid_q, b_spare_q;

  function automatic logic [8:0] operand(input logic keep, input logic [7:0] value,
                                         input logic [7:0] zero, input logic [8:0] blank);
    operand = keep ? {value[7], value} - {zero[7], zero} : blank;
  endfunction

  always_ff @(posedge clk_i) begin
    if (a_queue_i.head_en) a_q <= a_queue_i.from_skid
                                  ? a_skid_q : operand(a_keep_i, a_byte_i, z_a_i, blank_i);
    if (a_queue_i.skid_en) a_skid_q <= a_queue_i.from_spare
                                  ? a_spare_q : operand(a_keep_i, a_byte_i, z_a_i, blank_i);
    if (a_queue_i.spare_en) a_spare_q <= operand(a_keep_i, a_byte_i, z_a_i, blank_i);
    if (b_queue_i.head_en) b_q <= b_queue_i.from_skid
                                  ? b_skid_q : operand(b_keep_i, b_byte_i, z_b_i, blank_i);
    if (b_queue_i.skid_en) b_skid_q <= b_queue_i.from_spare
                                  ? b_spare_q : operand(b_keep_i, b_byte_i, z_b_i, blank_i);
    if (b_queue_i.spare_en) b_spare_q <= operand(b_keep_i, b_byte_i, z_b_i, blank_i);
  end

  // ---------------------------------------------------------------- product
  logic signed [31:0] factor_a, factor_b;
  logic signed [40:0] pa_q, pb_q;
  logic signed [23:0] a_high_q, b_high_q;  // by bits 31..17 of the factor
  logic signed [25:0] a_low_q, b_low_q;    // by the others

  logic               by_b;
  logic signed [8:0]  of_a, of_b;  // a_q, b_q, or lower bytes

  assign by_b     = facts_i.multiply | (facts_i.leak & a_q[8]);
  assign of_a     = lower_a ? {1'b0, !a_q[7], a_q[6:0]} : a_q;
  assign of_b     = lower_b ? {1'b0, !b_q[7], b_q[6:0]} : b_q;
  assign factor_a = facts_i.scale ? multiplier_a_i : by_b ? {{23{of_b[8]}}, of_b} : 32'd1;
  assign factor_b = multiplier_b_i;

  always_ff @(posedge clk_i) begin
    if (product_en_i) begin
      a_high_q <= of_a * $signed(factor_a[31:17]);
      a_low_q  <= of_a * $signed({1'b0, factor_a[16:0]});
      b_high_q <= of_b * $signed(factor_b[31:17]);
      b_low_q  <= of_b * $signed({1'b0, factor_b[16:0]});
    end
    if (sum_en_i) begin
      pa_q <= {a_high_q + 24'($signed(a_low_q[25:17])), a_low_q[16:0]};
      pb_q <= {b_high_q + 24'($signed(b_low_q[25:17])), b_low_q[16:0]};
    end
  end

  localparam int EntryBits = Wide != 0 ? 9 : 8;
  logic [31:0] exponential;
  logic [8:0]  entry;    // of curve
  logic        unused_entry;
  assign unused_entry = ^{exp_entry_i, entry};

  if (CfgSoftmaxRows != 0) begin : gen_exp
    hd_ram #(.Width(32), .Depth(1 << EntryBits), .Apart(1'b1)) u_exp (
      .clk_i,
      .re_i   ((sum_en_i & exp_i) | (shift_en_i & curve)),
      .raddr_i(EntryBits'(curve ? entry : {1'b0, a_low_q[7:0]})),  // a * 1
      .rdata_o(exponential),
      .we_i   (exp_we_i),
      .waddr_i(EntryBits'(exp_entry_i)),
      .be_i   (1'b1),
      .wdata_i(exp_data_i)
    );
  end else begin : gen_none
    logic unused_exp;
    assign exponential = '0;
    assign unused_exp  = ^{exp_i, exp_we_i, exp_entry_i, exp_data_i};
  end

  // ---------------------------------------------------------------- high, shift, value
  logic signed [31:0] ha_q, hb_q, sa_q, sb_q, value_q;
  logic               up_a_q, up_b_q;  // sub: hb complemented
  logic               product_negative_q, sum_negative_q, high_negative_q, shift_negative_q;
  logic               negative_q;
  logic               unused;

  assign unused = ^{pb_q[9:0], facts_i, two_i};

  // Bits 40..10 of the product. Whole numbers: the 13 low bits of the result are 0.
  function automatic logic [31:0] high(input logic [30:0] product, input logic whole);
    logic [31:0] sum;
    sum  = {{2{product[30]}}, product[30:1]} + {19'b0, whole, 11'b0, product[0] & !whole};
    high = {sum[31:13], sum[12:0] & {13{!whole}}};
  endfunction

  // p + 2^10, p + 2^23 if it is whole; of two bytes p + 2^7, second 8 u + (p >> 5).
  function automatic logic [42:0] rounded(input logic [40:0] p, input logic [39:0] u,
                                          input logic whole, input logic first, input logic lower);
    rounded = {{2{p[40]}}, lower ? {{5{p[40]}}, p[40:5]} : p}
              + (lower ? {u, 3'b0} : {19'b0, whole, 12'b0, !whole & !first, 2'b0, first, 7'b0});
  endfunction

  // Equal bits 40..10 round to equal values.
  function automatic logic takes_b(input logic [30:0] a, input logic [30:0] b, input logic least);
    takes_b = ($signed(a) < $signed(b)) ^ least;
  endfunction

  function automatic logic picks_b(input logic [16:0] a, input logic [16:0] b, input logic least);
    picks_b = ($signed(a) < $signed(b)) ^ least;
  endfunction

  logic [39:0] u_a_q, u_b_q;  // of two bytes

  function automatic logic [31:0] high_of(input logic [40:0] p, input logic [39:0] u,
                                          input logic whole, input logic first, input logic lower);
    logic [31:0] sum;
    sum     = 32'(rounded(p, u, whole, first, lower) >> 11);
    high_of = Wide != 0 ? {sum[31:13], sum[12:0] & {13{!whole}}} : high(p[40:10], whole);
  endfunction

  if (Wide != 0) begin : gen_two
    always_ff @(posedge clk_i) begin
      if (high_en_i && two) begin
        u_a_q <= 40'(rounded(pa_q, u_a_q, 1'b0, 1'b1, second));
        u_b_q <= 40'(rounded(pb_q, u_b_q, 1'b0, 1'b1, second));
      end
    end
  end else begin : gen_one
    assign {u_a_q, u_b_q} = '0;
  end

  always_ff @(posedge clk_i) begin
    if (product_en_i) product_negative_q <= facts_i.leak & a_q[8];
    if (sum_en_i)     sum_negative_q <= product_negative_q;
    if (high_en_i)    high_negative_q <= sum_negative_q;
    if (shift_en_i)   shift_negative_q <= high_negative_q;
    if (value_en_i)   negative_q <= shift_negative_q;
  end
  assign negative_o = negative_q;

  // ---------------------------------------------------------------- curve
  logic [8:0]  rest_q;   // of ha, in 2^-9
  logic [31:0] curved;

  if (Wide != 0) begin : gen_curve
    logic        plain, below_q, base_below_q;  // plain: entries without sign
    logic [15:0] base_q;
    logic [32:0] place;

    assign plain = right_b_i[0];
    assign place = right_a_i[0] ? {ha_q[31], ha_q} : {ha_q, 1'b0};
    assign entry = place[32:17] == {16{place[32]}} ? place[17:9] : {place[32], {8{!place[32]}}};
    always_ff @(posedge clk_i) begin
      if (shift_en_i && curve) {below_q, rest_q} <= {ha_q[31], place[8:0]};
      if (value_en_i && curve) {base_below_q, base_q} <= {below_q, exponential[15:0]};
    end
    assign curved = (32'($signed({!plain & base_q[15], base_q, {9{plain & base_below_q}}}))
                     + value_q) << 1;
  end else begin : gen_flat
    assign {entry, rest_q, curved} = '0;
  end

  always_ff @(posedge clk_i) begin
    if (high_en_i) begin
      ha_q <= !facts_i.scale ? (exp_i ? exponential : pa_q[31:0]) :
              facts_i.pick && !two && takes_b(pa_q[40:10], pb_q[40:10], facts_i.least)
              ? high_of(pb_q, u_b_q, facts_i.square, two, second)  // as hb_q: one adder
              : high_of(pa_q, u_a_q, facts_i.square, two, second);
      hb_q <= high_of(pb_q, u_b_q, facts_i.square, two, second);
    end
    if (shift_en_i) begin
      sa_q   <= facts_i.scale && !facts_i.pick ? hd_shifted(ha_q, right_a_i, 1'b0)
                : two && facts_i.pick && picks_b(ha_q[16:0], hb_q[16:0], facts_i.least) ? hb_q
                                                                                        : ha_q;
      up_a_q <= hd_rounds_up(ha_q, below_a_i);
      sb_q   <= hd_shifted(hb_q, right_b_i, facts_i.subtract);
      up_b_q <= hd_rounds_up(hb_q, below_b_i) ^ facts_i.subtract;
    end
    if (value_en_i) begin
      if (curve) begin
        value_q <= 32'($signed(exponential[31:16]) * $signed({1'b0, rest_q}));
      end else if (facts_i.scale && !facts_i.pick) begin
        value_q <= sa_q + sb_q + {31'b0, up_a_q} + {31'b0, up_b_q};
      end else if (first_i || !(sums || facts_i.extremum)) begin
        value_q <= sa_q;
      end else if (sums) begin
        value_q <= (up ? value_q << 8 : value_q) + sa_q;
      end else if (sa_q > value_q) begin
        value_q <= sa_q;
      end
    end
  end

  function automatic logic [31:0] square(input logic signed [17:0] x);
    logic signed [31:0] wide;
    wide   = 32'(x);
    square = wide * wide;
  endfunction
  assign value_o = curve ? curved : facts_i.square ? square(value_q[17:0]) : value_q;
  assign high_o  = ha_q;
  assign other_o = hb_q[7:0];

endmodule

`default_nettype wire
