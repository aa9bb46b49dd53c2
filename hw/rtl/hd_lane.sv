// hd_lane - one requantisation lane: int32 to int8 in five stages, exactly NUMERICS.md.
//   1 take   value = array sum or vector value
//   2 scale  x = (value + bias) << max(shift, 0), modulo 2^32     average: |value| + cells/2
//   3 high   p = x * multiplier, bits 62..30                      pass: v_pass_i, by its own way
//   4 round  h = (p + 2^30) >>> 31, modulo 2^32                   average: no rounding, its sign
//   5 out    RDBPOT(h, max(-shift, 0)) + z_out, modulo 2^32, clamped; with table_i what the
//            table of entry table_zero_i has for that
// SRDHM rounds ties up for either sign when written as (p + 2^30) >>> 31; its one saturating case,
// both factors INT32_MIN, cannot occur: a multiplier is never INT32_MIN (|m| is a Q0.31 fraction).
// Shift is -31..30. A stage loads only when its enable is set, so idle lanes do not toggle; nothing
// ever stalls. A table has 256 entries, that of a code at code + 128, and is not written while it
// is in use. Latency 5, throughput 1 a cycle. Reset: none (hd_requant resets the enables).
// Bench: tests/hw/requant_tb.cpp
`default_nettype none

module hd_lane #(
  parameter int Tables    = 8,                          // 0: nothing is looked up
  parameter int TableBits = $clog2((Tables + 1) * 128)  // derived
) (
  input  wire logic        clk_i,
  input  wire logic [4:0]  en_i,          // stage s loads at en_i[s-1]
  // stage 1
  input  wire logic        array_i,       // take a_sum_i, else v_value_i
  input  wire logic [31:0] a_sum_i,
  input  wire logic [31:0] v_value_i,
  input  wire logic [7:0]  v_pass_i,      // what passes, signed
  input  wire logic        v_alt_i,       // by the other scale
  // stage 2
  input  wire logic        bias_en_i,     // add pr_bias_i
  input  wire logic        param_i,       // pr_multiplier_i and pr_shift_i, else the common ones
  input  wire logic [31:0] pr_bias_i,
  input  wire logic [31:0] pr_multiplier_i,
  input  wire logic [5:0]  pr_shift_i,    // signed
  input  wire logic [31:0] multiplier_i,
  input  wire logic [5:0]  shift_i,       // signed; 0 for average and pass
  input  wire logic [31:0] multiplier_alt_i,
  input  wire logic [5:0]  shift_alt_i,   // signed
  input  wire logic        average_i,
  input  wire logic [10:0] half_i,        // cells / 2
  // stage 3 to 5
  input  wire logic        pass_i,        // stage 3
  input  wire logic        average_q_i,   // stage 4
  input  wire logic [7:0]  z_out_i,       // stage 5, signed; 0 for average and pass
  input  wire logic [7:0]  min_i,
  input  wire logic [7:0]  max_i,
  input  wire logic        table_i,
  input  wire logic [TableBits-1:0] table_zero_i,  // its entry of code 0
  // tables
  input  wire logic        table_we_i,
  input  wire logic [TableBits-3:0] table_word_i,
  input  wire logic [31:0] table_data_i,           // 4 entries
  output logic      [31:0] value_o,       // after stage 1
  output logic      [7:0]  q_o            // valid after stage 5
);
  logic signed [31:0] value_q, x_q, m_q, h_q;
  logic        [32:0] p_q;
  logic               neg2_q, neg3_q, alt_q;
  logic        [4:0]  e2_q, e3_q, e4_q;   // right shift
  logic        [7:0]  pass1_q, pass2_q, q_q, looked_up;
  logic               looks_up, looked_up_q;

  // Functions rather than wires: a stage that rests then costs nothing in the Verilated model.

  // Stage 2: one adder serves bias and |value| + cells/2.
  function automatic logic [31:0] base(input logic [31:0] value, input logic minus,
                                       input logic [31:0] addend);
    base = (value ^ {32{minus}}) + addend + {31'b0, minus};
  endfunction

  // Stage 3: only bits 62..30 matter, for (p + 2^30) >>> 31 is bits 62..31 plus bit 30.
  function automatic logic [32:0] high_bits(input logic signed [31:0] x,
                                            input logic signed [31:0] m);
    logic signed [63:0] product;
    product   = x * m;
    high_bits = 33'(product >>> 30);
  endfunction

  // Stage 5: what RDBPOT adds to h >>> e: the bit half = 2^(e-1) of h, but not at a tie of h < 0.
  // Known as early as the shift is done, so that one addition takes it and the zero point.
  function automatic logic rounds_up(input logic signed [31:0] h, input logic [4:0] e);
    logic [31:0] below;  // e bits
    below     = ~(32'hffff_ffff << e);
    rounds_up = (h & below & ~(below >> 1)) != 32'd0 && (!h[31] || (h & (below >> 1)) != 32'd0);
  endfunction

  function automatic logic [7:0] clamp(input logic signed [31:0] t, input logic [7:0] low,
                                       input logic [7:0] top);
    clamp = (t < $signed({{24{low[7]}}, low})) ? low :
            (t > $signed({{24{top[7]}}, top})) ? top : t[7:0];
  endfunction

  function automatic logic [4:0] left(input logic [5:0] shift);
    left = shift[5] ? 5'd0 : shift[4:0];
  endfunction

  function automatic logic [4:0] right(input logic [5:0] shift);
    right = shift[5] ? 5'(-shift[4:0]) : 5'd0;
  endfunction

  function automatic logic [7:0] result(input logic signed [31:0] h, input logic [4:0] e,
                                        input logic [7:0] zero, input logic [7:0] low,
                                        input logic [7:0] top);
    result = clamp((h >>> e) + $signed({{24{zero[7]}}, zero}) + $signed({31'b0, rounds_up(h, e)}),
                   low, top);
  endfunction

  assign value_o  = value_q;
  assign looks_up = en_i[4] & table_i & (Tables != 0);

  if (Tables != 0) begin : gen_table
    logic [TableBits-1:0] entry;
    logic [31:0]          entries;
    logic [1:0]           byte_q;

    assign entry = looks_up ? table_zero_i ^ TableBits'(result(h_q, e4_q, z_out_i, min_i, max_i))
                            : 'x;
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
      value_q <= array_i ? a_sum_i : v_value_i;
      pass1_q <= v_pass_i;
      alt_q   <= !array_i & v_alt_i;
    end
    if (en_i[1]) begin
      pass2_q <= pass1_q;
      x_q    <= base(value_q, average_i & value_q[31],
                     average_i ? {21'b0, half_i} : bias_en_i ? pr_bias_i : 32'b0)
                << left(param_i ? pr_shift_i : alt_q ? shift_alt_i : shift_i);
      m_q    <= param_i ? pr_multiplier_i : alt_q ? multiplier_alt_i : multiplier_i;
      e2_q   <= right(param_i ? pr_shift_i : alt_q ? shift_alt_i : shift_i);
      neg2_q <= average_i & value_q[31];
    end
    if (en_i[2]) begin
      p_q    <= pass_i ? {{24{pass2_q[7]}}, pass2_q, 1'b0} : high_bits(x_q, m_q);
      e3_q   <= e2_q;
      neg3_q <= neg2_q;
    end
    if (en_i[3]) begin
      h_q  <= (p_q[32:1] ^ {32{neg3_q}}) + {31'b0, neg3_q | (p_q[0] & ~average_q_i)};
      e4_q <= e3_q;
    end
    if (en_i[4]) begin
      q_q         <= result(h_q, e4_q, z_out_i, min_i, max_i);
      looked_up_q <= table_i & (Tables != 0);
    end
  end

endmodule

`default_nettype wire
