// hd_vector_read - VECTOR's operands: the walk's beats in a queue of two, and a port for each
// operand that reads them.
//   start_i: the walk of cmd_i begins (hd_vector_walk). two_i: beats have both operands.
//   rot_o, keep_o, queue_o: of each port, for the lanes' queues. valid_o: they hold a beat at their
//   heads, with meta_o {table, empty, first, last, end, count, output address}; pop_i takes it.
//   lower_o: of operands of two bytes the head has the lower one: {B, A}.
//   take_o: a beat is taken from the queue, take_end_o: the last one of a column.
// The queue of beats keeps the walk apart from the grants of the cycle.
// Latency: start_i to the first request 3 cycles, a grant to valid_o 3 cycles. Throughput: a beat a
// cycle. Reset: empty. Bench: vector_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module hd_vector_read #(
  parameter int N        = CfgN,
  parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int Wide     = CfgLstm,                 // 1: half may be other than 0
  parameter int CntBits  = $clog2(N + 1),           // derived, as MetaBits
  parameter int MetaBits = 7 + CntBits + AddrBits
) (
  input  wire logic                  clk_i,
  input  wire logic                  rst_ni,
  input  wire logic                  start_i,
  input  wire hd_cmd_vector_t        cmd_i,
  input  wire logic                  two_i,
  // hd_spad
  output logic      [1:0]            vr_req_o,
  input  wire logic [1:0]            vr_ready_i,
  output logic      [2*AddrBits-1:0] vr_addr_o,
  output logic      [1:0]            vr_next_o,
  input  wire logic [2*2*N*8-1:0]    vr_data_i,
  // lanes
  output logic      [2*N*8-1:0]      rot_o,
  output logic      [2*N-1:0]        keep_o,
  output logic      [2*5-1:0]        queue_o,    // two hd_vector_queue_t
  output logic                       valid_o,
  output logic      [MetaBits-1:0]   meta_o,
  output logic      [1:0]            lower_o,
  input  wire logic                  pop_i,
  // hd_softmax
  output logic                       take_o,
  output logic                       take_end_o,
  output logic                       busy_o
);
  localparam int OffBits = $clog2(N);

  // ---------------------------------------------------------------- beats
  logic                walk, walk_next, walk_busy, walk_first, walk_last, walk_end, walk_empty;
  logic [AddrBits-1:0] walk_a, walk_b, walk_out;
  logic [CntBits-1:0]  walk_count;
  logic [2:0]          walk_table;
  logic [1:0]          walk_over;  // the operand's bytes continue in the next word

  hd_vector_walk #(.N(N), .AddrBits(AddrBits), .Wide(Wide)) u_walk (
    .clk_i,
    .rst_ni,
    .start_i,
    .cmd_i,
    .valid_o   (walk),
    .next_i    (walk_next),
    .a_addr_o  (walk_a),
    .b_addr_o  (walk_b),
    .out_addr_o(walk_out),
    .count_o   (walk_count),
    .first_o   (walk_first),
    .last_o    (walk_last),
    .end_o     (walk_end),
    .empty_o   (walk_empty),
    .table_o   (walk_table),
    .busy_o    (walk_busy)
  );

  function automatic logic over(input logic [OffBits-1:0] off, input logic [CntBits-1:0] count);
    over = {1'b0, off} + count > CntBits'(N);
  endfunction
  assign walk_over = {over(walk_b[OffBits-1:0], walk_count) & !cmd_i.b_splat,
                      over(walk_a[OffBits-1:0], walk_count) & !cmd_i.a_splat};

  logic                beat, beat_taken;
  logic [AddrBits-1:0] beat_a, beat_b;
  logic [CntBits-1:0]  beat_count;
  logic [MetaBits-1:0] beat_meta;

  hd_fifo #(.Width(2 + 2 * AddrBits + MetaBits), .Depth(2)) u_beats (
    .clk_i,
    .rst_ni,
    .valid_i(walk),
    .ready_o(walk_next),
    .data_i ({walk_over, walk_a, walk_b, walk_table, walk_empty, walk_first, walk_last, walk_end,
              walk_count, walk_out}),
    .valid_o(beat),
    .ready_i(beat_taken),
    .data_o ({vr_next_o, beat_a, beat_b, beat_meta})
  );
  assign beat_count = beat_meta[AddrBits +: CntBits];

  // ---------------------------------------------------------------- ports
  logic                beat_empty;
  logic [1:0]          got_q;    // the port took the beat in an earlier cycle
  logic [1:0]          taken;
  logic [1:0]          head;     // the port's queue holds an operand
  logic [1:0]          held;
  logic [MetaBits-1:0] meta [2];

  assign beat_empty = beat_meta[MetaBits-4];
  assign beat_taken = (got_q[0] | taken[0]) & (!two_i | got_q[1] | taken[1]);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || beat_taken) got_q <= '0;
    else                       got_q <= got_q | taken;
  end

  for (genvar p = 0; p < 2; p++) begin : gen_port
    hd_vector_port #(.N(N), .AddrBits(AddrBits), .MetaBits(MetaBits)) u_port (
      .clk_i,
      .rst_ni,
      .valid_i     (beat & (p == 0 | two_i) & !got_q[p]),
      .addr_i      (p == 0 ? beat_a : beat_b),
      .count_i     (p == 0 && beat_empty ? '0 : beat_count),
      .splat_i     (p == 0 ? cmd_i.a_splat : cmd_i.b_splat),
      .meta_i      (p != 0 ? '0 : beat_meta),
      .taken_o     (taken[p]),
      .req_o       (vr_req_o[p]),
      .addr_o      (vr_addr_o[p*AddrBits +: AddrBits]),
      .ready_i     (vr_ready_i[p]),
      .data_i      (vr_data_i[p*2*N*8 +: 2*N*8]),
      .rot_o       (rot_o[p*N*8 +: N*8]),
      .keep_o      (keep_o[p*N +: N]),
      .queue_o     (queue_o[p*5 +: 5]),
      .valid_o     (head[p]),
      .meta_o      (meta[p]),
      .pop_i       (pop_i & (p == 0 | two_i)),
      .busy_o      (held[p])
    );
  end

  assign valid_o    = head[0] & (!two_i | head[1]);
  assign meta_o     = meta[0];
  assign take_o     = beat_taken;
  assign take_end_o = beat_meta[AddrBits+CntBits];
  assign busy_o     = walk_busy | beat | (|held);

  hd_vop_facts_t facts;
  assign facts = hd_vop_facts(cmd_i.op);

  // The second cell of a window has lower bytes, of mul B's; the third one A's.
  if (Wide != 0) begin : gen_lower
    localparam int LastBit = CntBits + AddrBits + 1;
    logic [1:0] cell_q;

    assign lower_o = cmd_i.half == 2'd0 ? '0 : {cell_q[0], cell_q[facts.multiply]};
    always_ff @(posedge clk_i) begin
      if (start_i)    cell_q <= 2'd0;
      else if (pop_i) cell_q <= meta_o[LastBit] ? 2'd0 : cell_q + 2'd1;
    end
  end else begin : gen_whole
    assign lower_o = '0;
  end

  logic unused;
  assign unused = ^{meta[1], facts};
endmodule

`default_nettype wire
