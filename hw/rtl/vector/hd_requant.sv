// hd_requant - N requantisation lanes shared by ARRAY and VECTOR, one N-vector a cycle.
//   q = clamp(MBQM(value + bias, multiplier, shift) + z_out, min, max), see hd_lane and
//   NUMERICS.md.
// ARRAY is always taken; VECTOR is taken in every other cycle, but the one after the queue's last
// (v_ready_o, known before the cycle). Vectors of VECTOR that only pass (maxima, copies: int8
// values) wait in a queue while ARRAY is taken, so that VECTOR continues; they leave in order. With
// a_scale_i.sum_columns a vector is taken twice: in the next cycle lane 0 takes the sum of what
// the lanes took, and that one value continues; the a_* fields stay, and a_valid_i is 0. VECTOR's
// modes are in hd_requant.svh; a lane of v_alt_i takes the other scale; an average is over more
// than one cell. With Lstm a result has a_scale_i.wide + 1 bytes, of which that of number a_addr_i
// modulo 4 is written, or two, of which x_scale_i.half is. A vector with table_on is looked up in
// table table_first of each lane.
// Command fields (x_scale_i) are taken along with the vector: they may change in the cycle after.
// Latency 8: taken in cycle t, qw_* in cycle t+8, in order. The parameter entry is asked for in t
// and read in t+1. a_busy_o (by a_slot_i), v_busy_o: a vector of that unit was taken, and its qw_*
// is more than Ahead cycles away. The pipe never stalls. Reset: all valid bits clear.
// Bench: requant_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"
`include "hd_bundles.svh"
`include "hd_requant.svh"

module hd_requant #(
  parameter int N         = CfgN,                        // lanes
  parameter int AddrBits  = $clog2(CfgScratchpadBytes),  // scratchpad byte address
  parameter int EntryBits = $clog2(CfgParamEntries),     // parameter memory entry
  parameter int Tables    = CfgTables,
  parameter int Lstm      = CfgLstm,                     // 1: results may be wide
  parameter int Queue     = 16,                          // a power of two
  parameter int Ahead     = TimingRequantAhead,
  parameter int CntBits   = $clog2(N + 1)                // derived, do not set
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  // ARRAY: always taken
  input  wire logic                 a_ahead_i,       // a_valid_i in the next cycle
  input  wire logic                 a_valid_i,
  input  wire logic [N*32-1:0]      a_sum_i,
  input  wire logic [EntryBits-1:0] a_entry_i,
  input  wire logic [AddrBits-1:0]  a_addr_i,
  input  wire logic [CntBits-1:0]   a_count_i,
  input  wire logic [31:0]          a_cmd_i,
  input  wire logic                 a_slot_i,
  input  wire hd_array_scale_t      a_scale_i,
  output logic [1:0]                a_busy_o,
  // VECTOR
  input  wire logic                 v_valid_i,
  output logic                      v_ready_o,
  input  wire logic [N*32-1:0]      v_value_i,
  input  wire logic [N-1:0]         v_alt_i,         // lanes that take the other scale
  input  wire hd_vector_scale_t     v_scale_i,
  input  wire logic [AddrBits-1:0]  v_addr_i,
  input  wire logic [CntBits-1:0]   v_count_i,
  input  wire logic [31:0]          v_cmd_i,
  output logic                      v_busy_o,
  output logic                      active_o,        // a register may change with no valid input
  // parameter memory: data in the cycle after the request
  output logic                      pr_req_o,
  output logic      [EntryBits-1:0] pr_entry_o,
  input  wire logic [N*32-1:0]      pr_bias_i,
  input  wire logic [N*32-1:0]      pr_multiplier_i,
  input  wire logic [N*8-1:0]       pr_shift_i,
  // WEIGHT: tables
  input  wire logic                 ww_valid_i,
  input  wire hd_weight_word_t      ww_i,
  // scratchpad write and commit, always taken
  output logic                      qw_valid_o,
  output logic      [AddrBits-1:0]  qw_addr_o,       // byte of lane 0
  output logic      [CntBits-1:0]   qw_count_o,      // 1..N
  output logic      [N*8-1:0]       qw_data_o,
  output logic      [UnitBits-1:0]  qw_unit_o,       // UnitArray or UnitVector
  output logic      [31:0]          qw_cmd_o
);
  localparam int Stages    = 8;
  localparam int Near      = Stages - 1 - Ahead;
  localparam int TableBits = $clog2((Tables + 1) * 128);

  // ---------------------------------------------------------------- what passes and waits
  // What goes along with a vector that passes.
  typedef struct packed {
    logic [N*8-1:0]      value;
    logic [AddrBits-1:0] addr;
    logic [CntBits-1:0]  count;
    logic [31:0]         cmd;
    logic [7:0]          low, top;
    logic                table_on;
    logic [2:0]          table_first;
  } hd_pass_t;

  localparam int PassBits = N * 8 + AddrBits + CntBits + 32 + 8 + 8 + 1 + 3;

  logic     again_q, array, take;         // again_q: the sum of columns is to be taken
  logic     mbqm, average, pass, queue_ready, queue_push, waiting;
  logic     free_q;                       // neither ARRAY's nor what waits is taken in this cycle
  /* verilator lint_off UNUSEDSIGNAL */  // its value goes to the lanes otherwise
  hd_pass_t asks, waits, v;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [N*8-1:0]  asks_value;

  // A value that only passes is scaled by 1: 2^30 / 2^31, one bit to the left.
  assign average = v_scale_i.mode == RqAverage;
  assign pass    = v_scale_i.mode == RqPass;
  assign mbqm    = (v_scale_i.mode == RqMbqm) && !waiting;
  assign asks    = {asks_value, v_addr_i, v_count_i, v_cmd_i, v_scale_i.min, v_scale_i.max,
                    v_scale_i.table_on, v_scale_i.table_first};
  assign v       = waiting ? waits : asks;

  for (genvar l = 0; l < N; l++) begin : gen_value
    assign asks_value[l*8 +: 8] = v_value_i[l*32 +: 8];
  end

  hd_fifo #(.Width(PassBits), .Depth(Queue)) u_queue (
    .clk_i,
    .rst_ni,
    .valid_i(queue_push),
    .ready_o(queue_ready),
    .data_i (asks),
    .valid_o(waiting),
    .ready_i(!array),
    .data_o (waits)
  );

  assign queue_push = v_valid_i && pass && !free_q;
  assign array      = a_valid_i | again_q;
  assign v_ready_o  = free_q || (pass && queue_ready);
  assign take       = array | waiting | (v_valid_i & free_q);
  assign pr_req_o   = array & (a_scale_i.has_bias | !a_scale_i.common_scale);
  assign pr_entry_o = a_entry_i;

  // Fields that travel beside the lanes: index s is the output of stage s.
  typedef struct packed {
    logic [AddrBits-1:0] addr;
    logic [CntBits-1:0]  count;
    logic [31:0]         cmd;
  } hd_goes_t;
  typedef struct packed {
    logic [7:0] z_out, low, top;
    logic       table_on;
    logic [2:0] table_first;
    logic [1:0] half, wide;
  } hd_ends_t;

  // Arrays of vectors, not of structs: yosys 0.23 takes the index of those for a bit's.
  localparam int GoesBits = AddrBits + CntBits + 32;
  localparam int EndsBits = 3 * 8 + 1 + 3 + 4;

  logic [Stages:1]     valid_q, array_q;
  logic [Near-1:1]     slot_q;
  logic [GoesBits-1:0] goes_q[1:Stages];
  logic [EndsBits-1:0] ends_q[1:Stages-1];
  hd_goes_t            goes;
  hd_ends_t            ends, zero, last;
  logic [Stages-1:0]   en;
  assign en   = {valid_q[Stages-1:1], take};
  assign goes = array ? {a_addr_i, again_q ? CntBits'(1) : a_count_i, a_cmd_i}
                      : {v.addr, v.count, v.cmd};
  assign ends = array ? {a_scale_i.z_out, a_scale_i.min, a_scale_i.max, a_scale_i.table_on,
                         a_scale_i.table_first, Lstm != 0 ? {a_scale_i.half, a_scale_i.wide} : 4'd0}
                      : {mbqm ? v_scale_i.z_out : 8'd0, v.low, v.top, v.table_on, v.table_first,
                         Lstm != 0 && mbqm ? v_scale_i.half : 2'd0, 2'd0};
  assign zero = ends_q[Stages-2];
  assign last = ends_q[Stages-1];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= '0;
      again_q <= 1'b0;
      free_q  <= 1'b0;
    end else begin
      valid_q <= {valid_q[Stages-1:1], take && !(a_valid_i && a_scale_i.sum_columns)};
      again_q <= a_valid_i && a_scale_i.sum_columns;
      free_q  <= !(a_ahead_i || (a_valid_i && a_scale_i.sum_columns) || waiting || queue_push);
    end
  end

  always_ff @(posedge clk_i) begin
    array_q <= {array_q[Stages-1:1], array};
    slot_q  <= {slot_q[Near-2:1], a_slot_i};
    if (take) begin
      goes_q[1] <= goes;
      ends_q[1] <= ends;
    end
    for (int s = 1; s < Stages; s++) begin
      if (valid_q[s]) goes_q[s+1] <= goes_q[s];
    end
    for (int s = 1; s < Stages - 1; s++) begin
      if (valid_q[s]) ends_q[s+1] <= ends_q[s];
    end
  end

  // Controls of stage 2, and of stage 5.
  logic        bias_en_q, param_q;
  logic [4:1]  average_q;
  logic [31:0] multiplier_q, multiplier_alt_q;
  logic [5:0]  shift_q, shift_alt_q;
  logic [10:0] half_q;

  always_ff @(posedge clk_i) begin
    if (take) begin
      bias_en_q    <= array & a_scale_i.has_bias;
      param_q      <= array & !a_scale_i.common_scale;
      multiplier_q <= array          ? a_scale_i.multiplier
                      : waiting | pass ? 32'h4000_0000 : v_scale_i.multiplier;
      shift_q      <= array  ? a_scale_i.shift[5:0]
                      : mbqm ? v_scale_i.shift[5:0] : {5'd0, waiting | pass};
      multiplier_alt_q <= v_scale_i.multiplier_alt;
      shift_alt_q      <= v_scale_i.shift_alt[5:0];
      half_q       <= v_scale_i.cells[11:1];
    end
    average_q <= {average_q[3:1], !array & !waiting & average};
  end

  // A word's 4 entries are those of a quarter of the lanes, or of all lanes in quarters.
  logic                 table_all, table_one;
  logic [TableBits-3:0] table_word;
  assign table_all  = ww_valid_i && ww_i.space == SpaceTableAll;
  assign table_one  = ww_valid_i && ww_i.space == SpaceTable;
  assign table_word = (TableBits-2)'(table_all ? ww_i.word : ww_i.word >> 2);

  logic [N*32-1:0] value;
  logic [31:0]     sum;
  always_comb begin
    sum = '0;
    for (int l = 0; l < N; l++) sum += value[l*32 +: 32];
  end

  for (genvar l = 0; l < N; l++) begin : gen_lane
    logic unused_shift;
    assign unused_shift = ^pr_shift_i[l*8+6 +: 2];

    hd_lane #(.Tables(Tables), .Wide(Lstm)) u_lane (
      .clk_i,
      .en_i            (en),
      .array_i         (array),
      .waited_i        (waiting),
      .a_sum_i         (l == 0 && again_q ? sum : a_sum_i[l*32 +: 32]),
      .v_value_i       (v_value_i[l*32 +: 32]),
      .v_waited_i      (waits.value[l*8 +: 8]),
      .v_alt_i         (!waiting && v_alt_i[l]),
      .bias_en_i       (bias_en_q),
      .param_i         (param_q),
      .pr_bias_i       (pr_bias_i[l*32 +: 32]),
      .pr_multiplier_i (pr_multiplier_i[l*32 +: 32]),
      .pr_shift_i      (pr_shift_i[l*8 +: 6]),
      .multiplier_i    (multiplier_q),
      .shift_i         (shift_q),
      .multiplier_alt_i(multiplier_alt_q),
      .shift_alt_i     (shift_alt_q),
      .average_i       (average_q[1]),
      .half_i          (half_q),
      .average_q_i     (average_q[4]),
      .z_out_i         (zero.z_out),
      .min_i           (last.low),
      .max_i           (last.top),
      .of_two_i        (last.half),
      .wide_i          (last.wide),
      .byte_i          (goes_q[Stages-1][CntBits+32 +: 2]),  // of its address
      .table_i         (last.table_on),
      .table_zero_i    (TableBits'({last.table_first, 8'h80})),
      .table_we_i      (table_all || (table_one && ww_i.word[1:0] == 2'(l / (N / 4)))),
      .table_word_i    (table_word),
      .table_data_i    (ww_i.data[l%(N/4)*32 +: 32]),
      .value_o         (value[l*32 +: 32]),
      .q_o             (qw_data_o[l*8 +: 8])
    );
  end

  logic unused_bits;
  assign unused_bits = ^{v_scale_i.cells[0], a_scale_i.shift[7:6], v_scale_i.shift[7:6],
                         v_scale_i.shift_alt[7:6], v_scale_i.half, zero, last, ww_i.word};

  assign qw_valid_o = valid_q[Stages];
  assign {qw_addr_o, qw_count_o, qw_cmd_o} = goes_q[Stages];
  assign qw_unit_o  = array_q[Stages] ? UnitArray : UnitVector;

  // Not near their write in the next cycle.
  logic [Near-1:1] of_array, of_vector;
  logic [1:0]      a_busy_q;
  logic            v_busy_q;
  assign of_array   = valid_q[Near-1:1] & array_q[Near-1:1];
  assign of_vector  = valid_q[Near-1:1] & ~array_q[Near-1:1];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      a_busy_q <= '0;
      v_busy_q <= 1'b0;
    end else begin
      a_busy_q <= {|(of_array & slot_q) | (array & a_slot_i),
                   |(of_array & ~slot_q) | (array & !a_slot_i)};
      v_busy_q <= |of_vector | (take & !array);
    end
  end
  assign a_busy_o   = a_busy_q;
  assign v_busy_o   = waiting | v_busy_q;
  assign active_o   = !free_q | |valid_q | |a_busy_q | v_busy_q;

`ifdef HD_ASSERT
  // A shift beyond what NUMERICS.md defines would be cut to 6 bits.
  a_shift_range: assert property (@(posedge clk_i) disable iff (!rst_ni)
    a_valid_i && a_scale_i.common_scale |->
    a_scale_i.shift[7:5] == 3'b000 || a_scale_i.shift[7:5] == 3'b111);
  a_v_shift_range: assert property (@(posedge clk_i) disable iff (!rst_ni)
    v_valid_i && v_scale_i.mode == RqMbqm |->
    v_scale_i.shift[7:5] == 3'b000 || v_scale_i.shift[7:5] == 3'b111);
  a_v_alt_range: assert property (@(posedge clk_i) disable iff (!rst_ni)
    v_valid_i && |v_alt_i |->
    v_scale_i.mode == RqMbqm
    && (v_scale_i.shift_alt[7:5] == 3'b000 || v_scale_i.shift_alt[7:5] == 3'b111));
  a_again: assert property (@(posedge clk_i) disable iff (!rst_ni) again_q |-> !a_valid_i);
  a_count: assert property (@(posedge clk_i) disable iff (!rst_ni)
    qw_valid_o |-> qw_count_o != '0 && qw_count_o <= CntBits'(N));
  a_cells: assert property (@(posedge clk_i) disable iff (!rst_ni)
    v_valid_i && v_scale_i.mode == RqAverage |->
    v_scale_i.cells > 12'd1 && v_scale_i.cells <= 12'd2048);
  a_v_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    v_valid_i && !v_ready_o |=> v_valid_i && $stable(v_value_i) && $stable(v_addr_i));
  for (genvar l = 0; l < N; l++) begin : gen_a_pass
    a_pass_is_a_byte: assert property (@(posedge clk_i) disable iff (!rst_ni)
      v_valid_i && pass |->
      v_value_i[l*32 +: 32] == 32'($signed(v_value_i[l*32 +: 8])));
  end
  c_queue_full: cover property (@(posedge clk_i) v_valid_i && pass && !queue_ready);
  c_v_waits: cover property (@(posedge clk_i) v_valid_i && !v_ready_o);
`endif

endmodule

`default_nettype wire
