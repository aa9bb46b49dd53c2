// hd_vector - VECTOR: elementwise, pooling, sums and look-up over scratchpad bytes.
// docs/HARDWARE.md has the formulas. hd_vector_walk makes one beat (a window cell x N channels) a
// cycle, two hd_vector_port read the operands, N hd_vector_lane compute, hd_requant rescales and
// writes.
// From a beat's grant: +1 bytes and rotation, +2 operands, +3 products, +4 rounded, +5 value at
// v_*.
// Throughput: one beat a cycle while ports and lanes are free, without a gap between windows; an
// average waits 18 cycles when the number of cells inside differs from the last window's
// (hd_recip).
// A command takes its beats + 13 cycles, cmd handshake and done_o both counted, with hd_requant's
// 5; padding adds its columns or rows, whichever is more. done_o: all bytes are in the scratchpad.
// softmax walks the command three times (hd_softmax): a pass takes its beats, the second one at least
// 8 cycles a row; between passes the pipe empties, and the third one waits for the last scale.
// lut writes the table's bytes unclamped; other ops clamp. A window with no cell inside has sum 0
// and maximum -128. kind_o: busy, wait_port (a request not granted), wait_lane (hd_requant serves
// ARRAY), idle.
// active_o: see hd_clocks.
// The output may lie exactly on A or B (each byte is read before it is written); any other overlap
// of them is undefined here, for reads run about ten beats ahead of writes.
// Reset: idle; the look-up memories are undefined. Bench: tests/hw/vector_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"
`include "hd_requant.svh"

module hd_vector #(
  parameter int N        = CfgN,
  parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int WordBits = $clog2(CfgWeightBytes / CfgN),  // of ww_word_i
  parameter int CntBits  = $clog2(N + 1)                   // derived
) (
  input  wire logic                  clk_i,
  input  wire logic                  rst_ni,
  // command
  input  wire logic                  cmd_valid_i,
  output logic                       cmd_ready_o,
  input  wire hd_cmd_vector_t        cmd_i,
  input  wire logic [31:0]           cmd_index_i,
  output logic                       done_o,
  output logic      [2:0]            kind_o,
  output logic                       active_o,
  // hd_spad
  output logic      [1:0]            vr_req_o,
  input  wire logic [1:0]            vr_ready_i,
  output logic      [2*AddrBits-1:0] vr_addr_o,
  output logic      [2*CntBits-1:0]  vr_lo_o,
  output logic      [2*CntBits-1:0]  vr_hi_o,
  input  wire logic [2*2*N*8-1:0]    vr_data_i,
  // WEIGHT: look-up memory
  input  wire logic                  ww_valid_i,
  input  wire logic [SpaceBits-1:0]  ww_space_i,
  input  wire logic [WordBits-1:0]   ww_word_i,
  input  wire logic [N*8-1:0]        ww_data_i,
  // hd_requant
  output logic                       v_valid_o,
  input  wire logic                  v_ready_i,
  output logic      [N*32-1:0]       v_value_o,
  output logic      [N-1:0]          v_alt_o,       // lanes that take the other scale
  output logic      [1:0]            v_mode_o,
  output logic      [31:0]           v_multiplier_o,
  output logic      [7:0]            v_shift_o,
  output logic      [31:0]           v_multiplier_alt_o,
  output logic      [7:0]            v_shift_alt_o,
  output logic      [11:0]           v_cells_o,
  output logic      [7:0]            v_z_out_o,
  output logic      [7:0]            v_min_o,
  output logic      [7:0]            v_max_o,
  output logic      [AddrBits-1:0]   v_addr_o,
  output logic      [CntBits-1:0]    v_count_o,
  output logic      [31:0]           v_cmd_o,
  input  wire logic                  v_busy_i
);
  localparam int LutBits  = 8 - $clog2(N);
  // {empty, first, last, end, count, output address}
  localparam int MetaBits = 4 + CntBits + AddrBits;
  localparam int EndBit   = CntBits + AddrBits;

  // ---------------------------------------------------------------- command
  typedef enum logic [0:0] {StIdle, StRun} state_e;
  state_e         state_q;
  hd_cmd_vector_t cmd_q;
  logic [31:0]    index_q;
  logic           start_q, flowing;
  logic           next_pass, more;  // softmax: another pass begins; this one is not the last

  assign cmd_ready_o = state_q == StIdle;
  assign done_o      = state_q == StRun && !start_q && !flowing && !v_busy_i && !more;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      start_q <= 1'b0;
    end else begin
      start_q <= cmd_ready_o & cmd_valid_i;
      if (cmd_ready_o && cmd_valid_i) state_q <= StRun;
      else if (done_o)                state_q <= StIdle;
    end
  end

  always_ff @(posedge clk_i) begin
    if (cmd_ready_o && cmd_valid_i) begin
      cmd_q   <= cmd_i;
      index_q <= cmd_index_i;
    end
  end

  // Decoded once, in the cycle of start_q.
  logic       two_q, scale_q, sub_q, square_q, pick_q, mul_q, prelu_q, lut_q, sum_q, max_q;
  logic       average_q, softmax_q;
  logic [7:0] z_a_q, z_b_q;
  always_ff @(posedge clk_i) begin
    if (start_q) begin
      pick_q    <= cmd_q.op == VopMax || cmd_q.op == VopMin;
      scale_q   <= cmd_q.op == VopAdd || cmd_q.op == VopSub || cmd_q.op == VopSquared
                   || cmd_q.op == VopMax || cmd_q.op == VopMin;
      sub_q     <= cmd_q.op == VopSub || cmd_q.op == VopSquared;
      square_q  <= cmd_q.op == VopSquared;
      two_q     <= cmd_q.op <= VopPrelu;
      mul_q     <= cmd_q.op == VopMul;
      prelu_q   <= cmd_q.op == VopPrelu;
      lut_q     <= cmd_q.op == VopLut;
      sum_q     <= cmd_q.op == VopAvgPool || cmd_q.op == VopSum;
      max_q     <= cmd_q.op == VopMaxPool;
      average_q <= cmd_q.op == VopAvgPool;
      softmax_q <= cmd_q.op == VopSoftmax;
      z_a_q     <= (cmd_q.op == VopAvgPool || cmd_q.op == VopMaxPool || cmd_q.op == VopLut)
                   ? 8'd0 : cmd_q.z_a;
      z_b_q     <= cmd_q.z_b;
    end
  end

  // ---------------------------------------------------------------- beats and reads
  logic                beat, beat_taken, beat_empty, walk_busy;
  logic [AddrBits-1:0] beat_a, beat_b, beat_out;
  logic [CntBits-1:0]  beat_count;
  logic                beat_first, beat_last, beat_end;
  logic [1:0]          got_q;    // the port took the beat in an earlier cycle
  logic [1:0]          taken;
  logic [1:0]          head;     // the port's queue holds an operand
  logic [1:0]          held;
  logic [MetaBits-1:0] a_meta;
  logic                pop;
  logic [N*8-1:0]      a_rot, b_rot;
  logic [N-1:0]        a_keep, b_keep;
  logic                a_head_en, a_skid_en, a_from_skid, b_head_en, b_skid_en, b_from_skid;
  logic                unused_b_meta;

  hd_vector_walk #(.N(N), .AddrBits(AddrBits)) u_walk (
    .clk_i,
    .rst_ni,
    .start_i    ((cmd_ready_o & cmd_valid_i) | next_pass),
    .cmd_i      (cmd_q),
    .valid_o    (beat),
    .next_i     (beat_taken),
    .a_addr_o   (beat_a),
    .b_addr_o   (beat_b),
    .out_addr_o (beat_out),
    .count_o    (beat_count),
    .first_o    (beat_first),
    .last_o     (beat_last),
    .end_o      (beat_end),
    .empty_o    (beat_empty),
    .busy_o     (walk_busy)
  );

  assign beat_taken = beat & (got_q[0] | taken[0]) & (!two_q | got_q[1] | taken[1]);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || beat_taken) got_q <= '0;
    else                       got_q <= got_q | taken;
  end

  hd_vector_port #(.N(N), .AddrBits(AddrBits), .MetaBits(MetaBits)) u_port_a (
    .clk_i,
    .rst_ni,
    .valid_i     (beat & !got_q[0]),
    .addr_i      (beat_a),
    .count_i     (beat_empty ? '0 : beat_count),
    .splat_i     (cmd_q.a_splat),
    .meta_i      ({beat_empty, beat_first, beat_last, beat_end, beat_count, beat_out}),
    .taken_o     (taken[0]),
    .req_o       (vr_req_o[0]),
    .addr_o      (vr_addr_o[0 +: AddrBits]),
    .hi_o        (vr_hi_o[0 +: CntBits]),
    .ready_i     (vr_ready_i[0]),
    .data_i      (vr_data_i[0 +: 2*N*8]),
    .rot_o       (a_rot),
    .keep_o      (a_keep),
    .head_en_o   (a_head_en),
    .skid_en_o   (a_skid_en),
    .from_skid_o (a_from_skid),
    .valid_o     (head[0]),
    .meta_o      (a_meta),
    .pop_i       (pop),
    .busy_o      (held[0])
  );

  hd_vector_port #(.N(N), .AddrBits(AddrBits), .MetaBits(1)) u_port_b (
    .clk_i,
    .rst_ni,
    .valid_i     (beat & two_q & !got_q[1]),
    .addr_i      (beat_b),
    .count_i     (beat_count),
    .splat_i     (cmd_q.b_splat),
    .meta_i      (1'b0),
    .taken_o     (taken[1]),
    .req_o       (vr_req_o[1]),
    .addr_o      (vr_addr_o[AddrBits +: AddrBits]),
    .hi_o        (vr_hi_o[CntBits +: CntBits]),
    .ready_i     (vr_ready_i[1]),
    .data_i      (vr_data_i[2*N*8 +: 2*N*8]),
    .rot_o       (b_rot),
    .keep_o      (b_keep),
    .head_en_o   (b_head_en),
    .skid_en_o   (b_skid_en),
    .from_skid_o (b_from_skid),
    .valid_o     (head[1]),
    .meta_o      (unused_b_meta),
    .pop_i       (pop & two_q),
    .busy_o      (held[1])
  );
  assign vr_lo_o = '0;

  // ---------------------------------------------------------------- stages: product, high, value
  // All three move together; the value waits for hd_requant or for the reciprocal.
  logic                product_v_q, high_v_q, value_v_q;
  logic [MetaBits-1:0] product_meta_q, high_meta_q;
  logic                move, product_en, high_en, value_en, high_first;
  logic [AddrBits-1:0] out_addr_q;
  logic [CntBits-1:0]  out_count_q;
  logic [11:0]         cells_q;
  logic                divide, recip_ready;
  logic                reduce, reduced;  // softmax: a pass whose rows' values are not written; one is taken
  logic [31:0]         reciprocal;

  assign divide     = value_v_q & average_q & (cells_q > 12'd1);
  assign v_valid_o  = value_v_q & !reduce & (!divide | recip_ready);
  assign move       = !value_v_q | (v_valid_o & v_ready_i) | (reduce & reduced);
  assign pop        = move & head[0] & (!two_q | head[1]);
  assign product_en = pop;
  assign high_en    = move & product_v_q;
  assign value_en   = move & high_v_q;
  assign high_first = high_meta_q[MetaBits-2];
  assign flowing    = walk_busy | (|held) | product_v_q | high_v_q | value_v_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      product_v_q <= 1'b0;
      high_v_q    <= 1'b0;
      value_v_q   <= 1'b0;
    end else if (move) begin
      product_v_q <= pop;
      high_v_q    <= product_v_q;
      value_v_q   <= high_v_q & high_meta_q[reduce ? EndBit : MetaBits-3];
    end
  end

  always_ff @(posedge clk_i) begin
    if (product_en) product_meta_q <= a_meta;
    if (high_en)    high_meta_q <= product_meta_q;
    if (value_en) begin
      out_addr_q  <= high_meta_q[AddrBits-1:0];
      out_count_q <= high_meta_q[AddrBits +: CntBits];
      cells_q     <= high_first ? {11'd0, !high_meta_q[MetaBits-1]} : cells_q + 12'd1;
    end
  end

  hd_recip u_recip (
    .clk_i,
    .rst_ni,
    .need_i       (divide),
    .cells_i      (cells_q),
    .ready_o      (recip_ready),
    .reciprocal_o (reciprocal)
  );

  // ---------------------------------------------------------------- softmax
  logic            on, maximum, sum_pass, exp_we;
  logic [7:0]      row_zero, row_shift;
  logic [31:0]     row_multiplier;
  logic [N*32-1:0] high;

  assign on     = CfgSoftmaxRows != 0 && softmax_q && state_q == StRun;
  assign reduce = maximum | sum_pass;
  assign exp_we = CfgSoftmaxRows != 0 && ww_valid_i && ww_space_i == SpaceExp;

  hd_softmax #(.N(N)) u_softmax (
    .clk_i,
    .rst_ni,
    .start_i     (cmd_ready_o & cmd_valid_i),
    .on_i        (on),
    .flowing_i   (flowing | start_q),
    .next_o      (next_pass),
    .more_o      (more),
    .maximum_o   (maximum),
    .sum_o       (sum_pass),
    .take_i      (beat_taken),
    .take_end_i  (beat_end),
    .zero_o      (row_zero),
    .value_en_i  (value_en),
    .value_end_i (high_meta_q[EndBit]),
    .count_i     (high_meta_q[AddrBits +: CntBits]),
    .high_i      (high),
    .valid_i     (value_v_q),
    .ready_o     (reduced),
    .multiplier_o(row_multiplier),
    .shift_o     (row_shift)
  );

  // ---------------------------------------------------------------- lanes
  logic [4:0] right_a, right_b;
  logic       lut_we, unused_ww;

  assign right_a   = 5'(-cmd_q.shift_a[4:0]);
  assign right_b   = 5'(-cmd_q.shift_b[4:0]);
  assign lut_we    = ww_valid_i && ww_space_i == SpaceLut;
  assign unused_ww = ^ww_word_i;

  for (genvar l = 0; l < N; l++) begin : gen_lane
    hd_vector_lane #(.N(N)) u_lane (
      .clk_i,
      .a_byte_i       (a_rot[l*8 +: 8]),
      .a_keep_i       (a_keep[l]),
      .a_head_en_i    (a_head_en),
      .a_skid_en_i    (a_skid_en),
      .a_from_skid_i  (a_from_skid),
      .b_byte_i       (b_rot[l*8 +: 8]),
      .b_keep_i       (b_keep[l]),
      .b_head_en_i    (b_head_en),
      .b_skid_en_i    (b_skid_en),
      .b_from_skid_i  (b_from_skid),
      .z_a_i          (on ? row_zero : z_a_q),
      .z_b_i          (z_b_q),
      .blank_i        ({{2{max_q | maximum}}, 7'd0}),
      .scale_i        (scale_q),
      .sub_i          (sub_q),
      .square_i       (square_q),
      .pick_i         (pick_q),
      .min_i          (cmd_q.op == VopMin),
      .mul_i          (mul_q),
      .prelu_i        (prelu_q),
      .lut_i          (lut_q),
      .sum_i          (sum_q),
      .max_i          (max_q),
      .exp_i          (on & !maximum),
      .multiplier_a_i (cmd_q.multiplier_a),
      .multiplier_b_i (cmd_q.multiplier_b),
      .right_a_i      (right_a),
      .right_b_i      (right_b),
      .product_en_i   (product_en),
      .high_en_i      (high_en),
      .value_en_i     (value_en),
      .first_i        (high_first),
      .lut_we_i       (lut_we),
      .lut_word_i     (ww_word_i[LutBits-1:0]),
      .lut_data_i     (ww_data_i),
      .exp_we_i       (exp_we),
      .exp_entry_i    (8'(ww_word_i)),
      .high_o         (high[l*32 +: 32]),
      .value_o        (v_value_o[l*32 +: 32]),
      .negative_o     (v_alt_o[l])
    );
  end

  // ---------------------------------------------------------------- to hd_requant
  assign v_mode_o       = average_q ? RqAverage : (lut_q | max_q) ? RqPass : RqMbqm;
  assign v_multiplier_o = average_q ? reciprocal : on ? row_multiplier
                                    : cmd_q.multiplier_out;
  assign v_shift_o      = on ? row_shift : cmd_q.shift_out;
  assign v_multiplier_alt_o = cmd_q.multiplier_b;
  assign v_shift_alt_o      = cmd_q.shift_b;
  assign v_cells_o      = cells_q;
  assign v_z_out_o      = cmd_q.z_out;
  assign v_min_o        = lut_q ? 8'h80 : cmd_q.act_min;
  assign v_max_o        = lut_q ? 8'h7f : cmd_q.act_max;
  assign v_addr_o       = out_addr_q;
  assign v_count_o      = out_count_q;
  assign v_cmd_o        = index_q;

  assign active_o = state_q != StIdle || cmd_valid_i || lut_we || exp_we;

  // ---------------------------------------------------------------- this cycle's counter
  always_comb begin
    kind_o = CounterVectorBusy[2:0];
    if (state_q == StIdle)               kind_o = CounterVectorIdle[2:0];
    else if (v_valid_o && !v_ready_i)    kind_o = CounterVectorWaitLane[2:0];
    else if (|(vr_req_o & ~vr_ready_i))  kind_o = CounterVectorWaitPort[2:0];
  end

`ifdef HD_ASSERT
  a_v_hold: assert property (@(posedge clk_i) disable iff (!rst_ni)
    v_valid_o && !v_ready_i |=>
    v_valid_o && $stable(v_value_o) && $stable(v_addr_o) && $stable(v_mode_o));
  a_idle: assert property (@(posedge clk_i) disable iff (!rst_ni) state_q == StIdle |-> !flowing);
  c_run: cover property (@(posedge clk_i) state_q == StRun);
  c_lane: cover property (@(posedge clk_i) v_valid_o && !v_ready_i);
  a_rows: assert property (@(posedge clk_i) disable iff (!rst_ni)
    on |-> CfgSoftmaxRows != 0 && cmd_q.rows * cmd_q.cols <= CfgSoftmaxRows);
  c_divide: cover property (@(posedge clk_i) divide && !recip_ready);
`endif

endmodule

`default_nettype wire
