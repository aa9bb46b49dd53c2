// hd_lstm - VECTOR's lstm: the gates of a cell to its new state and output, exactly NUMERICS.md
// (LSTM).
// A cell has six beats of four bytes of A, those of its gates i, f, g, o, and two bytes of B, its
// int16 state. Three beats have the lower, the middle and the upper bytes of the input's sums x,
// whose upper ones are not used, the others those of the recurrent sums h:
//   gate  = clamp16(x + h);  i, f, o = sigmoid(gate), g = tanh(gate)
//   state = clamp16(RDBPOT(f * state, 15) + RDBPOT(i * g, 17 + shift)), clipped
//   value = o * tanh(state), which hd_requant rescales
// a_i, b_i are taken with shift_en_i, and put together as the value stage loads, with value_en_i.
// valid_i: a cell is there; ready_o: its gates are taken. hd_requant gets two bytes of its state,
// which pass, then its output; with cells_i 0 it gets the value of the lanes (lane_*).
// One pipe computes both functions of one number a cycle, 2 / (1 + e^-|x|): a cell is taken in
// slot 7 of eight cycles, its gates enter in slots 0 to 3, a state in slot 4. e^-|x| is Taylor's
// polynomial around -1/8 for |x| modulo 1/4, then a product for each bit of the rest; the quotient
// is Newton's, three times. A number's other factor (f: the old state, the state: o) comes with it.
// No register loads while a result waits.
// Throughput: a cell in 8 cycles. Latency: a cell's output 50 cycles after it is taken.
// Reset: no cell. Bench: tests/hw/vector/vector_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"
`include "hd_requant.svh"

module hd_lstm #(
  parameter int N        = CfgN,
  parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int CntBits  = $clog2(N + 1)  // derived
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,
  // constant while a command runs, whose first cycle has start_i
  input  wire logic                start_i,
  input  wire logic                cells_i,
  input  wire hd_cmd_vector_t      cmd_i,
  // beats
  input  wire logic                shift_en_i,
  input  wire logic                value_en_i,
  input  wire logic                first_i,
  input  wire logic [N*32-1:0]     a_i,
  input  wire logic [N*8-1:0]      b_i,
  // a cell
  input  wire logic                valid_i,
  output logic                     ready_o,
  output logic                     busy_o,
  // to hd_requant, of the lanes
  input  wire logic                lane_valid_i,
  input  wire logic [N*32-1:0]     lane_value_i,
  input  wire logic [1:0]          lane_mode_i,
  input  wire logic [AddrBits-1:0] lane_addr_i,
  input  wire logic [CntBits-1:0]  lane_count_i,
  output logic                     valid_o,
  input  wire logic                ready_i,
  output logic      [N*32-1:0]     value_o,
  output logic      [1:0]          mode_o,
  output logic      [AddrBits-1:0] addr_o,
  output logic      [CntBits-1:0]  count_o
);
  localparam int Stages = 20;
  localparam logic [2:0] OpIn = 3'd0, OpForget = 3'd1, OpValue = 3'd2, OpOut = 3'd3, OpCell = 3'd4;

  // a * b / 2^15, rounded; not both are -2^15.
  function automatic logic signed [15:0] product(input logic signed [15:0] a,
                                                 input logic signed [15:0] b);
    product = 16'((32'(a) * 32'(b) + 32'sd16384) >>> 15);
  endfunction

  function automatic logic signed [15:0] clamp16(input logic signed [24:0] x);
    clamp16 = x[24:15] == {10{x[24]}} ? x[15:0] : {x[24], {15{!x[24]}}};
  endfunction

  // ---------------------------------------------------------------- beats to gates
  logic [31:0] a_q, byte_q[6];       // of four gates; byte_q[2] is not used
  logic [2:0]  beat, beat_q;
  logic [15:0] b_q, b_value_q, old_q;
  logic [63:0] gates, gates_q;
  logic [2:0]  slot_q;
  logic [3:0]  cells_q;             // on their way
  logic        en, begins, taking_q, gate, again, finished;

  logic [2:0]  shift;
  logic [15:0] clip;                // 32768: none
  logic        unused;
  assign shift  = cmd_i.shift_a[2:0];
  assign clip   = cmd_i.multiplier_a[15:0];
  assign unused = ^{cmd_i, a_i, b_i, byte_q[2]};

  always_ff @(posedge clk_i) begin
    if (shift_en_i) begin
      for (int l = 0; l < 4; l++) a_q[l*8 +: 8] <= a_i[l*32 +: 8];
      b_q <= b_i[15:0];
    end
    if (value_en_i) begin
      beat_q       <= beat;
      byte_q[beat] <= a_q;
      b_value_q    <= b_q;
    end
    if (begins && en) begin
      gates_q <= gates;
      old_q   <= b_value_q;
    end
  end

  assign beat    = first_i ? 3'd0 : beat_q + 3'd1;
  assign begins  = valid_i && slot_q == 3'd7;
  assign gate    = taking_q;
  assign ready_o = en && begins;
  assign busy_o  = cells_q != '0;

  for (genvar g = 0; g < 4; g++) begin : gen_gate
    assign gates[g*16 +: 16] = clamp16(
      25'($signed({byte_q[1][g*8 +: 8], byte_q[0][g*8 +: 8]}))
      + 25'($signed({byte_q[5][g*8 +: 8], byte_q[4][g*8 +: 8], byte_q[3][g*8 +: 8]})));
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || start_i) begin
      slot_q   <= 3'd7;
      cells_q  <= '0;
      taking_q <= 1'b0;
    end else if (en) begin
      if (begins || busy_o || slot_q != 3'd7) slot_q <= slot_q + 3'd1;
      cells_q  <= cells_q + {3'b0, begins} - {3'b0, finished};
      taking_q <= begins || (taking_q && slot_q != 3'd3);
    end
  end

  // ---------------------------------------------------------------- the pipe
  // {op, x > 0, x = 0, the other factor}; a stage's number and what is left of it.
  logic [Stages:1]    valid_q;
  logic [20:0]        meta_q[1:Stages];
  logic signed [15:0] gate_q, half_q[13:19], exp_q[6:12], r_q[13:20], result;
  logic        [6:0]  rest_q[2:11];            // quarters; the top bit: any more of them
  logic signed [9:0]  low_q[2:4];              // in eights, around -1/8
  logic        [9:0]  square_q[3:4];
  logic signed [7:0]  cubic_q;
  logic signed [14:0] poly_q;
  logic signed [15:0] state_q, i_q, o_q;
  logic               state_valid_q;

  // Stage 1: gate, or state.
  assign again = state_valid_q && slot_q == 3'd4;

  // Stage 2: -|x| in 2^-12; its quarters below -1 are its bits above, complemented.
  function automatic logic [22:0] below_zero(input logic signed [15:0] x, input logic [2:0] left);
    logic signed [15:0] minus;
    minus      = x[15] ? x : -x;
    below_zero = 23'(minus) << left;
  endfunction

  logic [22:0] below;
  logic [2:0]  op1;
  assign op1   = meta_q[1][20:18];
  assign below = below_zero(gate_q, op1 == OpCell ? shift : {2'b0, op1 == OpValue});

  // Stages 3 to 6: e^low.
  logic        [9:0]  square;
  logic signed [7:0]  third;
  logic        [7:0]  fourth;
  logic signed [10:0] two, half_sum;
  assign square   = 10'((20'(low_q[2]) * 20'(low_q[2]) + 20'sd256) >>> 9);
  assign third    = 8'((20'($signed({1'b0, square_q[3]})) * 20'(low_q[3]) + 20'sd2048) >>> 12);
  assign fourth   = 8'((20'(square_q[3]) * 20'(square_q[3]) + 20'd16384) >> 15);
  assign two      = 11'(product(16'(cubic_q), 16'sd10923)) + $signed({1'b0, square_q[4]});
  assign half_sum = (two + $signed({10'b0, !two[10]})) >>> 1;

  // Stages 7 to 12: a product for each bit of the rest.
  function automatic logic signed [15:0] factor(input int k);
    factor = k == 0 ? 16'sd25520 : k == 1 ? 16'sd19875 : k == 2 ? 16'sd12055 :
             k == 3 ? 16'sd4435  : k == 4 ? 16'sd600   : 16'sd11;
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else if (en) valid_q <= {valid_q[Stages-1:1], gate | again};
  end

  always_ff @(posedge clk_i) begin
    if (en) begin
      gate_q    <= again ? state_q : gates_q[slot_q[1:0]*16 +: 16];
      meta_q[1] <= {again ? OpCell : slot_q, 2'b0, again ? o_q : old_q};
      for (int s = 1; s < Stages; s++) meta_q[s+1] <= meta_q[s];
      meta_q[2][17:16] <= {!gate_q[15] && gate_q != '0, gate_q == '0};

      rest_q[2] <= {!(&below[22:16]), ~below[15:10]};
      low_q[2]  <= {!below[9], below[8:0]};
      for (int s = 2; s < 11; s++) rest_q[s+1] <= rest_q[s];
      for (int s = 2; s < 4; s++) low_q[s+1] <= low_q[s];
      square_q[3] <= square;
      square_q[4] <= square_q[3];
      cubic_q     <= third + $signed((fourth + 8'd2) >> 2);
      poly_q      <= 15'(half_sum) + 15'($signed({low_q[4], 3'b0}));
      exp_q[6]    <= 16'sd28918 + product(16'(poly_q), 16'sd28918);
      for (int k = 0; k < 5; k++) begin
        exp_q[k+7] <= rest_q[k+6][k] ? product(exp_q[k+6], factor(k)) : exp_q[k+6];
      end
      exp_q[12] <= rest_q[11][6] ? '0 : rest_q[11][5] ? product(exp_q[11], factor(5)) : exp_q[11];

      // Stages 13 to 19: r = 48/17 - 32/17 half, then three times r += r (1 - half r).
      half_q[13] <= {2'b01, exp_q[12][14:1]};
      for (int s = 13; s < 19; s++) half_q[s+1] <= half_q[s];
    end
  end

  logic signed [15:0] error_q[14:18];
  always_ff @(posedge clk_i) begin
    if (en) begin
      r_q[13] <= 16'sd23130 + product({2'b01, exp_q[12][14:1]}, -16'sd15420);
      for (int s = 14; s < 19; s += 2) begin
        error_q[s] <= 16'sd8192 - product(half_q[s-1], r_q[s-1]);
        r_q[s]     <= r_q[s-1];
        r_q[s+1]   <= r_q[s] + (product(r_q[s], error_q[s]) <<< 2);
      end
      r_q[20] <= result;
    end
  end

  // Stage 20: the function of x from that of |x|.
  function automatic logic signed [15:0] of_sign(input logic signed [15:0] q, input logic tanh,
                                                 input logic above, input logic zero);
    logic signed [17:0] y;
    y = tanh ? (18'(q) - 18'sd8192) <<< 2 : 18'(q) <<< 1;
    y = y > 18'sd32767 ? 18'sd32767 : y;
    of_sign = zero ? (tanh ? 16'sd0 : 16'sd16384) :
              above ? y[15:0] : tanh ? -y[15:0] : 16'sd32767 - y[15:0];
  endfunction
  assign result = of_sign(r_q[19], meta_q[19][20] || meta_q[19][20:18] == OpValue, meta_q[19][17],
                          meta_q[19][16]);

  // ---------------------------------------------------------------- products of two functions
  logic        [2:0]  op, op_q, sum_op_q;
  logic               product_valid_q, sum_valid_q;
  logic signed [31:0] product_q;
  logic        [4:0]  right;
  logic signed [15:0] other;
  logic signed [16:0] forget_q, part_q, state, bound;

  assign op      = meta_q[Stages][20:18];
  assign other   = op == OpValue ? i_q : meta_q[Stages][15:0];
  assign right   = op_q == OpForget ? 5'd15 : 5'd17 + {2'b0, shift};
  assign state   = 17'(clamp16(25'(forget_q) + 25'(part_q)));
  assign bound   = 17'($signed({1'b0, clip}));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      product_valid_q <= 1'b0;
      sum_valid_q     <= 1'b0;
      state_valid_q   <= 1'b0;
    end else if (en) begin
      product_valid_q <= valid_q[Stages];
      sum_valid_q     <= product_valid_q;
      state_valid_q   <= (sum_valid_q && sum_op_q == OpValue) || (state_valid_q && !again);
    end
  end
  always_ff @(posedge clk_i) begin
    if (en) begin
      if (op == OpIn) i_q <= r_q[Stages];
      if (op == OpOut && valid_q[Stages]) o_q <= r_q[Stages];
      product_q <= r_q[Stages] * other;
      op_q      <= op;
      sum_op_q  <= op_q;
      part_q    <= 17'(hd_shifted(product_q, right, 1'b0)
                       + 32'(hd_rounds_up(product_q, ~(32'hffff_ffff << right))));
      forget_q  <= part_q;
      if (sum_valid_q && sum_op_q == OpValue) begin
        state_q <= state > bound ? bound[15:0] : state < -bound ? -bound[15:0] : state[15:0];
      end
    end
  end

  // ---------------------------------------------------------------- results
  logic [AddrBits-1:0] out_q, state_at_q;

  assign finished = product_valid_q && op_q == OpCell;
  assign en       = !(again || finished) || ready_i;
  assign valid_o  = again || finished || lane_valid_i;
  assign mode_o   = again ? RqPass : lane_mode_i;
  assign addr_o   = !cells_i ? lane_addr_i : again ? state_at_q : out_q;
  assign count_o  = !cells_i ? lane_count_i : again ? CntBits'(2) : CntBits'(1);
  assign value_o  = !cells_i ? lane_value_i :
                    again ? (N*32)'({{24{state_q[15]}}, state_q[15:8],
                                     {24{state_q[7]}}, state_q[7:0]})
                          : (N*32)'($unsigned(product_q));

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      out_q      <= cmd_i.out_base[AddrBits-1:0];
      state_at_q <= cmd_i.out_base[AddrBits-1:0] + cmd_i.out_row[AddrBits-1:0];
    end else if (en) begin
      if (finished) out_q <= out_q + AddrBits'(1);
      if (again) state_at_q <= state_at_q + AddrBits'(2);
    end
  end

`ifdef HD_ASSERT
  a_apart: assert property (@(posedge clk_i) disable iff (!rst_ni) !(again && (finished || gate)));
  a_hold: assert property (@(posedge clk_i) disable iff (!rst_ni)
    !en |=> valid_o && $stable(value_o) && $stable(addr_o));
  c_waits: cover property (@(posedge clk_i) !en);
  c_bubble: cover property (@(posedge clk_i) busy_o && slot_q == 3'd7 && !valid_i);
`endif

endmodule

`default_nettype wire
