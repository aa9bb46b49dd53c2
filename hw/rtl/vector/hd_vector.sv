// hd_vector - VECTOR: elementwise, pooling, sums, softmax, cells of an LSTM over scratchpad bytes.
// docs/HARDWARE.md has the formulas. hd_vector_read makes one beat (a window cell x N channels) a
// cycle and reads its operands, N hd_vector_lane compute, hd_requant writes.
// From a beat's grant: +1 bytes, +2 rotation, +3 operands, +4 products' parts, +5 products,
// +6 rounded, +7 shifted, +8 v_value_o.
// Throughput: one beat a cycle while ports and lanes are free, without a gap between windows; an
// average waits 18 cycles when its cells differ in number from the last window's (hd_recip).
// A command takes its beats + 19 cycles, cmd handshake and done_o both counted, with hd_requant's
// 8; padding adds its columns or rows, whichever is more. done_o: all bytes are in the scratchpad.
// softmax walks the command three times (hd_softmax): a pass takes its beats, the second one at
// least 8 cycles a row; between passes the pipe empties, the third one waits for the last scale.
// A window with no cell inside has sum 0 and maximum -128. kind_o: busy, wait_port (a request not
// granted), wait_lane (hd_requant serves ARRAY), idle. active_o: see hd_clocks.
// Without half the output may be exactly on A or B (a byte is read before it is written). Any other
// overlap of them is undefined here, for reads run about 17 beats ahead of writes.
// Reset: idle; the exponentials are undefined. Bench: vector_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"
`include "hd_requant.svh"
`include "hd_bundles.svh"

module hd_vector #(
  parameter int N        = CfgN,
  parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int Lstm     = CfgLstm,
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
  output logic      [1:0]            vr_next_o,
  input  wire logic [2*2*N*8-1:0]    vr_data_i,
  // WEIGHT: exponentials
  input  wire logic                  ww_valid_i,
  input  wire hd_weight_word_t       ww_i,
  // hd_requant
  output logic                       v_valid_o,
  input  wire logic                  v_ready_i,
  output logic      [N*32-1:0]       v_value_o,
  output logic      [N-1:0]          v_alt_o,       // lanes that take the other scale
  output hd_vector_scale_t           v_scale_o,
  output logic      [AddrBits-1:0]   v_addr_o,
  output logic      [CntBits-1:0]    v_count_o,
  output logic      [31:0]           v_cmd_o,
  input  wire logic                  v_busy_i
);
  // {table, empty, first, last, end, count, output address}
  localparam int MetaBits = 7 + CntBits + AddrBits;
  localparam int EndBit   = CntBits + AddrBits;

  // ---------------------------------------------------------------- command
  typedef enum logic [0:0] {StIdle, StRun} state_e;
  state_e         state_q;
  hd_cmd_vector_t cmd_q;
  logic [31:0]    index_q;
  logic           start_q, flowing, two;  // two: operands have two bytes
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

  // The facts on the op (accel.json), those that a lane reads (the others are 0: synthesis drops
  // their ports and registers), and the shifts to the right, also as masks.
  hd_vop_facts_t facts, lane_facts;
  logic [4:0]    right_a, right_b;
  logic [31:0]   below_a, below_b;
  logic [1:0]    lower;    // with `two`: what of its operands the head has

  always_ff @(posedge clk_i) begin
    below_a <= ~(32'hffff_ffff << right_a);
    below_b <= ~(32'hffff_ffff << right_b);
    if (start_q) begin
      facts   <= hd_vop_facts(cmd_q.op);
      two     <= Lstm != 0 && cmd_q.half != 2'd0;
      right_a <= 5'(-cmd_q.shift_a[4:0]);
      right_b <= 5'(-cmd_q.shift_b[4:0]);
    end
  end

  always_comb begin
    lane_facts = facts;
    {lane_facts.operands, lane_facts.reads, lane_facts.pair, lane_facts.divide} = '0;
    {lane_facts.rescale, lane_facts.softmax, lane_facts.lstm} = '0;
    {lane_facts.halves, lane_facts.passes} = '0;
  end

  // ---------------------------------------------------------------- beats and reads
  logic                head, pop, beat_taken, beat_end, reading;  // head: operands are there
  logic [2:0]          out_table_q;
  logic [MetaBits-1:0] head_meta;
  logic [2*N*8-1:0]    rot;
  logic [2*N-1:0]      keep;
  logic [2*5-1:0]      queue;  // two hd_vector_queue_t

  hd_vector_read #(.N(N), .AddrBits(AddrBits)) u_read (
    .clk_i,
    .rst_ni,
    .start_i   ((cmd_ready_o & cmd_valid_i) | next_pass),
    .cmd_i     (cmd_q),
    .two_i     (facts.reads == 2'd2),
    .vr_req_o,
    .vr_ready_i,
    .vr_addr_o,
    .vr_next_o,
    .vr_data_i,
    .rot_o     (rot),
    .keep_o    (keep),
    .queue_o   (queue),
    .valid_o   (head),
    .meta_o    (head_meta),
    .lower_o   (lower),
    .pop_i     (pop),
    .take_o    (beat_taken),
    .take_end_o(beat_end),
    .busy_o    (reading)
  );

  logic unused;
  assign unused = ^{ww_i.word, ww_i.data, facts, other};

  // ------------------------------------------------- stages: product, sum, high, shift, value
  // All five move together; the value waits for hd_requant or for the reciprocal. The product loads
  // with each move, be a beat there or not: its enable comes late and goes far.
  logic                product_v_q, sum_v_q, high_v_q, shift_v_q, value_v_q;
  logic [MetaBits-1:0] product_meta_q, sum_meta_q, high_meta_q, shift_meta_q;
  logic                move, sum_en, high_en, shift_en, value_en, shift_first;
  logic [AddrBits-1:0] out_addr_q;
  logic [CntBits-1:0]  out_count_q;
  logic [11:0]         cells_q, cells_next;
  logic [1:0]          mode_q;     // of the value, hd_rq_mode_e; many_q: it is divided
  logic                many_q, divide, recip_ready;
  logic                reduce, reduced;  // values are not hd_requant's; one is taken
  logic                row_taken, cell_taken, in_cell, lane_valid;
  logic [31:0]         reciprocal;

  assign cells_next = shift_first ? {11'd0, !shift_meta_q[EndBit+3]} : cells_q + 12'd1;
  assign divide     = value_v_q & many_q;
  assign lane_valid = value_v_q & !reduce & (!divide | recip_ready);
  assign move       = !value_v_q | (reduce ? reduced : v_valid_o & v_ready_i);
  assign pop        = move & head;
  assign sum_en     = move & product_v_q;
  assign high_en    = move & sum_v_q;
  assign shift_en   = move & high_v_q;
  assign value_en   = move & shift_v_q;
  assign shift_first = shift_meta_q[EndBit+2];
  assign flowing    = reading | product_v_q | sum_v_q | high_v_q | shift_v_q | value_v_q | in_cell;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      product_v_q <= 1'b0;
      sum_v_q     <= 1'b0;
      high_v_q    <= 1'b0;
      shift_v_q   <= 1'b0;
      value_v_q   <= 1'b0;
    end else if (move) begin
      product_v_q <= head;
      sum_v_q     <= product_v_q;
      high_v_q    <= sum_v_q;
      shift_v_q   <= high_v_q;
      value_v_q   <= shift_v_q & shift_meta_q[reduce ? EndBit : EndBit+1];
    end
  end
  always_ff @(posedge clk_i) begin
    if (move)       product_meta_q <= head_meta;
    if (sum_en)     sum_meta_q <= product_meta_q;
    if (high_en)    high_meta_q <= sum_meta_q;
    if (shift_en)   shift_meta_q <= high_meta_q;
    if (value_en) begin
      out_addr_q  <= shift_meta_q[AddrBits-1:0];
      out_count_q <= shift_meta_q[AddrBits +: CntBits];
      out_table_q <= shift_meta_q[MetaBits-1 -: 3];
      many_q      <= facts.divide & !shift_first;  // a first cell that is none is the last one
      mode_q      <= facts.rescale ? RqMbqm : facts.divide && !shift_first ? RqAverage : RqPass;
      cells_q     <= cells_next;
    end
  end

  hd_recip u_recip (
    .clk_i, .rst_ni,
    .need_i       (divide),
    .cells_i      (cells_q),
    .en_i         (value_en),
    .next_i       (cells_next),
    .ready_o      (recip_ready),
    .reciprocal_o (reciprocal)
  );

  // ---------------------------------------------------------------- softmax
  logic            on, maximum, sum_pass, exp_we;
  logic [7:0]      row_zero, row_shift;
  logic [31:0]     row_multiplier;
  logic [N*32-1:0] high, value;

  assign on     = CfgSoftmaxRows != 0 && facts.softmax && state_q == StRun;
  // The pass changes while the pipe is empty.
  always_ff @(posedge clk_i) reduce <= maximum | sum_pass | cells;
  assign exp_we = CfgSoftmaxRows != 0 && ww_valid_i && ww_i.space == SpaceExp;

  if (CfgSoftmaxRows != 0) begin : gen_softmax
    hd_softmax #(.N(N)) u_softmax (
      .clk_i, .rst_ni,
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
      .shift_en_i  (shift_en),
      .count_i     (high_meta_q[AddrBits +: CntBits]),
      .value_en_i  (value_en),
      .value_end_i (shift_meta_q[EndBit]),
      .high_i      (high),
      .valid_i     (value_v_q),
      .ready_o     (row_taken),
      .multiplier_o(row_multiplier),
      .shift_o     (row_shift)
    );
  end else begin : gen_no_softmax
    logic unused_high;
    assign unused_high = ^{high, on, beat_taken, beat_end};
    assign {next_pass, more, maximum, sum_pass, row_taken, row_zero} = '0;
    assign {row_shift, row_multiplier} = '0;
  end

  logic           cells;  // the command is an lstm
  logic [N*8-1:0] other;

  assign cells   = Lstm != 0 && facts.lstm && state_q == StRun;
  assign reduced = cells ? cell_taken : row_taken;
  if (Lstm != 0) begin : gen_lstm
    hd_lstm #(.N(N), .AddrBits(AddrBits)) u_lstm (
      .clk_i, .rst_ni, .start_i(start_q), .cells_i(cells), .cmd_i(cmd_q),
      .shift_en_i(shift_en), .value_en_i(value_en), .first_i(shift_first), .a_i(high), .b_i(other),
      .valid_i(cells & value_v_q), .ready_o(cell_taken), .busy_o(in_cell),
      .lane_valid_i(lane_valid), .lane_value_i(value), .lane_mode_i(mode_q),
      .lane_addr_i(out_addr_q), .lane_count_i(out_count_q),
      .valid_o(v_valid_o), .ready_i(v_ready_i), .value_o(v_value_o), .mode_o(v_scale_o.mode),
      .addr_o(v_addr_o), .count_o(v_count_o)
    );
  end else begin : gen_no_lstm
    assign {cell_taken, in_cell} = '0;
    assign {v_valid_o, v_value_o, v_addr_o, v_count_o} = {lane_valid, value, out_addr_q,
                                                          out_count_q};
    assign v_scale_o.mode = mode_q;
  end

  // ---------------------------------------------------------------- lanes
  for (genvar l = 0; l < N; l++) begin : gen_lane
    hd_vector_lane #(.Wide(Lstm)) u_lane (
      .clk_i,
      .a_byte_i       (rot[l*8 +: 8]),
      .a_keep_i       (keep[l]),
      .a_queue_i      (queue[4:0]),
      .b_byte_i       (rot[N*8+l*8 +: 8]),
      .b_keep_i       (keep[N+l]),
      .b_queue_i      (queue[9:5]),
      .z_a_i          (on ? row_zero : facts.rescale ? cmd_q.z_a : 8'd0),
      .z_b_i          (cmd_q.z_b),
      .blank_i        ({{2{facts.extremum | maximum}}, 7'd0}),
      .facts_i        (lane_facts),
      .two_i          ({two, lower, two & !sum_meta_q[EndBit+2], two & cells_q[0]}),
      .right_a_i      (right_a),
      .right_b_i      (right_b),
      .below_a_i      (below_a),
      .below_b_i      (below_b),
      .exp_i          (on & !maximum),
      .multiplier_a_i (cmd_q.multiplier_a),
      .multiplier_b_i (cmd_q.multiplier_b),
      .product_en_i   (move),
      .sum_en_i       (sum_en),
      .high_en_i      (high_en),
      .shift_en_i     (shift_en),
      .value_en_i     (value_en),
      .first_i        (shift_first),
      .exp_we_i       (exp_we),
      .exp_entry_i    (9'(ww_i.word)),
      .exp_data_i     (ww_i.data[31:0]),
      .high_o         (high[l*32 +: 32]),
      .other_o        (other[l*8 +: 8]),
      .value_o        (value[l*32 +: 32]),
      .negative_o     (v_alt_o[l])
    );
  end

  // ---------------------------------------------------------------- to hd_requant
  assign v_scale_o.multiplier     = facts.divide ? reciprocal
                                    : on ? row_multiplier : cmd_q.multiplier_out;
  assign v_scale_o.shift          = on ? row_shift : cmd_q.shift_out;
  assign {v_scale_o.multiplier_alt, v_scale_o.shift_alt} = {cmd_q.multiplier_b, cmd_q.shift_b};
  assign v_scale_o.cells          = cells_q;
  assign {v_scale_o.z_out, v_scale_o.min} = {cmd_q.z_out, cmd_q.act_min};
  assign {v_scale_o.max, v_scale_o.half}  = {cmd_q.act_max, cmd_q.half};
  assign {v_scale_o.table_on, v_scale_o.table_first} = {cmd_q.look_up, out_table_q};
  assign v_cmd_o   = index_q;
  assign active_o  = state_q != StIdle || cmd_valid_i || exp_we;

  // ---------------------------------------------------------------- this cycle's counter
  assign kind_o = state_q == StIdle              ? CounterVectorIdle[2:0]
                  : v_valid_o && !v_ready_i      ? CounterVectorWaitLane[2:0]
                  : |(vr_req_o & ~vr_ready_i)    ? CounterVectorWaitPort[2:0]
                                                 : CounterVectorBusy[2:0];

`ifdef HD_ASSERT
  a_v_hold: assert property (@(posedge clk_i) disable iff (!rst_ni)
    v_valid_o && !v_ready_i |=>
    v_valid_o && $stable(v_value_o) && $stable(v_addr_o) && $stable(v_scale_o.mode));
  a_idle: assert property (@(posedge clk_i) disable iff (!rst_ni) state_q == StIdle |-> !flowing);
  c_run: cover property (@(posedge clk_i) state_q == StRun);
  c_lane: cover property (@(posedge clk_i) v_valid_o && !v_ready_i);
  a_rows: assert property (@(posedge clk_i) disable iff (!rst_ni)
    on && !start_q |-> CfgSoftmaxRows != 0 && cmd_q.rows * cmd_q.cols <= CfgSoftmaxRows);
  c_divide: cover property (@(posedge clk_i) divide && !recip_ready);
`endif

endmodule

`default_nettype wire
