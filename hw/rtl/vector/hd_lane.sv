// hd_lane - one requantisation lane: int32 to int8 in eight stages, exactly NUMERICS.md.
//   1 take   value = array sum, vector value, or the byte that waited
//   2 add    b = value + bias, modulo 2^32                average: |value| + cells/2
//   3 scale  x = b << max(shift, 0), modulo 2^32
//   4 parts  the products of the halves of x and of the multiplier, the middle two added
//   5 high   h = (x * multiplier + 2^30) >>> 31           average: no 2^30
//   6 shift  s = h >>> max(-shift, 0), and what rounds it average: its sign
//   7 zero   t = s + z_out + rounding, modulo 2^32: RDBPOT(h, max(-shift, 0)) + z_out
//   8 out    t clamped; with table_i what the table of entry table_zero_i has for that; with
//            wide_i byte byte_i of t clamped to wide_i + 1 bytes; with of_two_i a byte of t, whose
//            upper one, t >>> 8, is clamped: 1 that one, 2 the lower one, its top bit flipped
// SRDHM rounds ties up for either sign when written as (p + 2^30) >>> 31; its one saturating case,
// both factors INT32_MIN, cannot occur: a multiplier is never INT32_MIN (|m| is a Q0.31 fraction).
// Shift is -31..30. A stage loads only when its enable is set, so idle lanes do not toggle; nothing
// ever stalls. A table has 256 entries, that of a code at code + 128, and is not written while it
// is in use. Latency 8, throughput 1 a cycle. Reset: none (hd_requant resets the enables).
// Bench: requant_tb.cpp
`default_nettype none
`include "hd_requant.svh"

module hd_lane #(
  parameter int Tables    = 8,                          // 0: nothing is looked up
  parameter int Wide      = 0,                          // 0: wide_i is 0
  parameter int TableBits = $clog2((Tables + 1) * 128)  // derived
) (
  input  wire logic        clk_i,
  input  wire logic [7:0]  en_i,          // stage s loads at en_i[s-1]
  // stage 1
  input  wire logic        array_i,       // take a_sum_i, else
  input  wire logic        waited_i,      // v_waited_i, else v_value_i
  input  wire logic [31:0] a_sum_i,
  input  wire logic [31:0] v_value_i,
  input  wire logic [7:0]  v_waited_i,    // signed
  input  wire logic        v_alt_i,       // by the other scale
  // stage 2
  input  wire logic        bias_en_i,     // add pr_bias_i
  input  wire logic        param_i,       // pr_multiplier_i and pr_shift_i, else the common ones
  input  wire logic [31:0] pr_bias_i,
  input  wire logic [31:0] pr_multiplier_i,
  input  wire logic [5:0]  pr_shift_i,    // signed
  input  wire logic [31:0] multiplier_i,
  input  wire logic [5:0]  shift_i,       // signed; 0 for average
  input  wire logic [31:0] multiplier_alt_i,
  input  wire logic [5:0]  shift_alt_i,   // signed
  input  wire logic        average_i,
  input  wire logic [10:0] half_i,        // cells / 2
  // stages 5, 7 and 8
  input  wire logic        average_q_i,   // stage 5
  input  wire logic [7:0]  z_out_i,       // stage 7, signed; 0 for average and what waited
  input  wire logic [7:0]  min_i,
  input  wire logic [7:0]  max_i,
  input  wire logic [1:0]  of_two_i,
  input  wire logic [1:0]  wide_i,        // not 0: whatever min_i and max_i are
  input  wire logic [1:0]  byte_i,        // beyond wide_i: the sign
  input  wire logic        table_i,
  input  wire logic [TableBits-1:0] table_zero_i,  // its entry of code 0
  // tables
  input  wire logic        table_we_i,
  input  wire logic [TableBits-3:0] table_word_i,
  input  wire logic [31:0] table_data_i,           // 4 entries
  output logic      [31:0] value_o,       // after stage 1
  output logic      [7:0]  q_o            // valid after stage 8
);
  localparam int Out = 7;                 // stage 8's enable
  logic signed [31:0] value_q, b_q, x_q, h_q;
  logic signed [31:0] m2_q, m3_q;
  logic signed [33:0] mid_q;
  logic signed [31:0] high_q;
  logic        [15:0] low_q;
  logic        [31:0] s_q, t_q;
  logic               neg2_q, neg3_q, neg4_q, neg5_q, alt_q, up_q;
  logic        [4:0]  left_q, e2_q, e3_q, e4_q, e5_q;  // e: right shift
  logic        [31:0] below5_q;                       // e5_q ones
  logic        [7:0]  q_q, looked_up;
  logic               looks_up, looked_up_q;

  // Functions rather than wires: a stage that rests then costs nothing in the Verilated model.

  // Stage 2: one adder serves bias and |value| + cells/2.
  function automatic logic [31:0] base(input logic [31:0] value, input logic minus,
                                       input logic [31:0] addend);
    base = (value ^ {32{minus}}) + addend + {31'b0, minus};
  endfunction

  // Stage 4: x * m = (high << 32) + (mid << 16) + low, of which bits 31..16 are enough.
  function automatic logic signed [31:0] high_part(input logic signed [15:0] x,
                                                   input logic signed [15:0] m);
    high_part = x * m;
  endfunction

  function automatic logic signed [33:0] mid_part(input logic signed [31:0] x,
                                                  input logic signed [31:0] m);
    mid_part = $signed(x[31:16]) * $signed({1'b0, m[15:0]})
               + $signed({1'b0, x[15:0]}) * $signed(m[31:16]);
  endfunction

  function automatic logic [15:0] low_part(input logic [15:0] x, input logic [15:0] m);
    low_part = 16'((32'(x) * 32'(m)) >> 16);
  endfunction

  // Stage 5: bits 62..31 of the product, rounded by the bit below. low: its bits 31..16.
  function automatic logic [31:0] high_bits(input logic signed [31:0] high,
                                            input logic signed [33:0] mid,
                                            input logic [15:0] low, input logic round);
    logic [32:0] sum;
    sum       = 33'(($signed({high, low}) + 48'(mid)) >>> 14);
    high_bits = sum[32:1] + {31'b0, round & sum[0]};
  endfunction

  // Stage 8. Beyond a byte only the sign matters.
  function automatic logic [7:0] clamp(input logic [31:0] t, input logic [7:0] low,
                                       input logic [7:0] top);
    logic byte_;
    byte_ = t[31:7] == {25{t[31]}};
    clamp = (byte_ ? $signed(t[7:0]) < $signed(low) : t[31])  ? low :
            (byte_ ? $signed(t[7:0]) > $signed(top) : !t[31]) ? top : t[7:0];
  endfunction

  // A byte of two: below the least value the lower one is 0, above the greatest 255, less 128.
  function automatic logic [7:0] half_of(input logic [31:0] t, input logic [7:0] low,
                                         input logic [7:0] top, input logic lower);
    logic fits, below, above;
    fits    = t[31:15] == {17{t[31]}};
    below   = fits ? $signed(t[15:8]) < $signed(low) : t[31];
    above   = fits ? $signed(t[15:8]) > $signed(top) : !t[31];
    half_of = lower ? (below ? 8'h80 : above ? 8'h7f : {!t[7], t[6:0]}) :
                      (below ? low : above ? top : t[15:8]);
  endfunction

  // Beyond its bytes only the sign matters.
  function automatic logic [7:0] byte_of(input logic [31:0] t, input logic [1:0] bytes,
                                         input logic [1:0] which);
    logic fits;
    fits    = bytes == 2'd3 || (t[31:23] == {9{t[31]}}
                                && (bytes == 2'd2 || t[23:15] == {9{t[31]}}));
    byte_of = fits           ? t[{which, 3'b000} +: 8] :
              which > bytes  ? {8{t[31]}} :
              which == bytes ? {t[31], {7{!t[31]}}} : {8{!t[31]}};
  endfunction

  function automatic logic [4:0] left(input logic [5:0] shift);
    left = shift[5] ? 5'd0 : shift[4:0];
  endfunction

  function automatic logic [4:0] right(input logic [5:0] shift);
    right = shift[5] ? 5'(-shift[4:0]) : 5'd0;
  endfunction

  logic unused_wide;
  assign unused_wide = ^{of_two_i, wide_i, byte_i};

  assign value_o  = value_q;
  assign looks_up = en_i[Out] & table_i & (Tables != 0);

  if (Tables != 0) begin : gen_table
    logic [TableBits-1:0] entry;
    logic [31:0]          entries;
    logic [1:0]           byte_q;

    assign entry = looks_up ? table_zero_i ^ TableBits'(clamp(t_q, min_i, max_i)) : 'x;
    always_ff @(posedge clk_i) begin
      if (looks_up) byte_q <= entry[1:0];
    end
    assign looked_up = entries[{byte_q, 3'b000} +: 8];

    hd_ram #(.Width(32), .Depth(Tables * 64), .Apart(1'b1)) u_table (
      .clk_i,
      .re_i   (looks_up),
      .raddr_i(entry[TableBits-1:2]),
      .rdata_o(entries),
      .we_i   (table_we_i),
      .waddr_i(table_word_i),
      .be_i   (1'b1),
      .wdata_i(table_data_i)
    );
  end else begin : gen_none
    logic unused_table;
    assign looked_up    = '0;
    assign unused_table = ^{looks_up, table_zero_i, table_we_i, table_word_i, table_data_i};
  end
  assign q_o = looked_up_q ? looked_up : q_q;

  always_ff @(posedge clk_i) begin
    if (en_i[0]) begin
      value_q <= array_i ? a_sum_i : waited_i ? {{24{v_waited_i[7]}}, v_waited_i} : v_value_i;
      alt_q   <= !array_i & v_alt_i;
    end
    if (en_i[1]) begin
      b_q    <= base(value_q, average_i & value_q[31],
                     average_i ? {21'b0, half_i} : bias_en_i ? pr_bias_i : 32'b0);
      m2_q   <= param_i ? pr_multiplier_i : alt_q ? multiplier_alt_i : multiplier_i;
      left_q <= left(param_i ? pr_shift_i : alt_q ? shift_alt_i : shift_i);
      e2_q   <= right(param_i ? pr_shift_i : alt_q ? shift_alt_i : shift_i);
      neg2_q <= average_i & value_q[31];
    end
    if (en_i[2]) begin
      x_q    <= b_q << left_q;
      m3_q   <= m2_q;
      e3_q   <= e2_q;
      neg3_q <= neg2_q;
    end
    if (en_i[3]) begin
      high_q <= high_part(x_q[31:16], m3_q[31:16]);
      mid_q  <= mid_part(x_q, m3_q);
      low_q  <= low_part(x_q[15:0], m3_q[15:0]);
      e4_q   <= e3_q;
      neg4_q <= neg3_q;
    end
    if (en_i[4]) begin
      h_q    <= high_bits(high_q, mid_q, low_q, !average_q_i);
      e5_q     <= e4_q;
      below5_q <= ~(32'hffff_ffff << e4_q);
      neg5_q <= neg4_q;
    end
    if (en_i[5]) begin
      s_q  <= hd_shifted(h_q, e5_q, neg5_q);
      up_q <= hd_rounds_up(h_q, below5_q) | neg5_q;
    end
    if (en_i[6]) t_q <= s_q + {{24{z_out_i[7]}}, z_out_i} + {31'b0, up_q};
    if (en_i[Out]) begin
      q_q         <= Wide != 0 && of_two_i != 2'd0 ? half_of(t_q, min_i, max_i, of_two_i[1]) :
                     Wide != 0 && wide_i != 2'd0 ? byte_of(t_q, wide_i, byte_i)
                                                 : clamp(t_q, min_i, max_i);
      looked_up_q <= table_i & (Tables != 0);
    end
  end

endmodule

`default_nettype wire
