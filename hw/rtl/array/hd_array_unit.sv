// hd_array_unit - ARRAY: sequencer (hd_array_seq), scratchpad bytes to the cells (hd_array_feed),
// weights, cells (hd_array), accumulators and sums to hd_requant (hd_array_sums).
// Step of a position issued at T (a step of the sequencer is a cycle after one with ar_en_i, which
// is known late: a request that is not granted makes room for the next one, gen_hold):
//   T+1 request, tag, weight address | T+2 bytes, weight row | T+3 activations, weights on their
//   bus T+4+r row r multiplies (its weight was written at T+3+r) | T+Rows+4 accumulator read |
//   T+Rows+5 sum, a_valid_o.
// T+2 is the cycle after the grant, T+3 the one after that (en_q[1]), whatever the sequencer does
// then; from there on a step ends two cycles after one of the sequencer.
// Positions of two commands may be in here at once: what they need of a command on the way changes
// with the first position of the next one (begin_q), in the cells row by row; what the results need
// waits in the command's slot, which the tag names.
// A command takes its tiles' steps (hd_array_seq) plus Rows + 13 cycles, cmd_ready_o & cmd_valid_i
// to done_o both counted, with hd_requant's latency of 8, of which two are after done_o; with
// acc_hold plus Rows + 8. The next one may run in all of them but the first two.
// a_valid_o is in the first cycle of its step only; the other a_* fields go with it.
// begin_o: the positions of the next cycle on are the next command's.
// kind_o: busy (a tile is loaded or under way), conflict (frozen), wait_weight (the next tile could
// be loaded, its weights have not come), drain (none of these, a command is in), idle.
// Reset: idle, nothing in the pipe. Bench: array_tb.cpp.
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"
`include "hd_bundles.svh"
`include "hd_requant.svh"

module hd_array_unit #(
  parameter int N         = CfgN,                           // bytes of a word
  parameter int Rows      = CfgRows,
  parameter int Cols      = CfgColumns,
  parameter int G         = CfgPorts,
  parameter int AddrBits  = $clog2(CfgScratchpadBytes),     // scratchpad byte address
  parameter int WordBits  = $clog2(CfgWeightBytes / CfgN),  // weight memory word
  parameter int AccDepth  = CfgAccDepth,
  parameter int EntryBits = $clog2(CfgParamEntries),        // parameter entry
  parameter int Lstm      = CfgLstm,
  parameter int CntBits   = $clog2(N + 1)                   // derived
) (
  input  wire logic                  clk_i,
  input  wire logic                  rst_ni,
  // command
  input  wire logic                  cmd_valid_i,
  output logic                       cmd_ready_o,
  input  wire hd_cmd_array_t         cmd_i,
  input  wire logic [31:0]           cmd_index_i,
  output logic                       done_o,
  output logic                       begin_o,  // positions are the next command.s from now on
  output logic      [2:0]            kind_o,
  // hd_spad
  output logic      [G-1:0]          ar_need0_o,
  output logic      [G-1:0]          ar_need1_o,
  output logic      [G*AddrBits-1:0] ar_addr_o,
  input  wire logic                  ar_en_i,
  input  wire logic [G*2*N*8-1:0]    ar_data_i,
  // WEIGHT, see hd_array_seq
  input  wire logic                  stop_i,
  input  wire logic [15:0]           weight_count_i,
  input  wire logic [WordBits:0]     arrived_count_i,
  input  wire logic [WordBits-1:0]   arrived_end_i,
  // hd_weights
  output logic                       wr_req_o,
  output logic      [WordBits-1:0]   wr_word_o,
  input  wire logic [Cols*8-1:0]     wr_data_i,
  // hd_requant
  output logic                       a_ahead_o,  // a_valid_o in the next cycle
  output logic                       a_valid_o,
  output logic      [Cols*32-1:0]    a_sum_o,
  output logic      [EntryBits-1:0]  a_entry_o,
  output logic      [AddrBits-1:0]   a_addr_o,
  output logic      [CntBits-1:0]    a_count_o,
  output logic      [31:0]           a_cmd_o,
  output logic                       a_slot_o,
  output hd_array_scale_t            a_scale_o,
  input  wire logic [1:0]            a_busy_i       // by slot
);
  localparam int ActW      = 9;
  localparam int WgtW      = 9;
  localparam int AccW      = 32;
  localparam int AccBits   = $clog2(AccDepth);
  localparam int LaneBits  = $clog2(N);
  localparam int GroupBits = G > 1 ? $clog2(G) : 1;
  localparam int LineDepth = 2 << $clog2(Rows);    // longest delay: lo + pad_left < 2 Rows
  localparam int PtrBits   = $clog2(LineDepth);
  localparam int RequestBits = G * (3 + AddrBits + 2 * CntBits);

  // ---------------------------------------------------------------- sequencer
  logic                   en, step, begin_next, slot, more_valid;
  /* verilator lint_off UNUSEDSIGNAL */  // whole commands; the pipe needs some fields
  hd_cmd_array_t          cmd;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [1:0]             pending;
  logic [G-1:0]           ar_req;
  logic [G*CntBits-1:0]   group_lo, ar_lo, ar_hi;

  // Fields that leave the sequencer with a position, one step later.
  typedef struct packed {
    logic [Rows-1:0]       mask;
    hd_array_tag_t         tag;
    hd_array_row_t         row;
    logic                  begins;  // the first position of its command
  } step_t;
  step_t                  issued, asked;
  logic [RequestBits-1:0] issued_request, ahead_request, asked_request;

  assign en      = ar_en_i;
  assign begin_o = begin_next && step;

  logic [1:0] en_q;  // step granted one and two cycles ago
  always_ff @(posedge clk_i) begin
    if (!rst_ni) en_q <= '1;
    else en_q <= {en_q[0], en};
  end

  hd_array_seq #(
    .N(N), .Rows(Rows), .Cols(Cols), .G(G), .AddrBits(AddrBits), .WordBits(WordBits),
    .AccBits(AccBits), .EntryBits(EntryBits)
  ) u_seq (
    .clk_i,
    .rst_ni,
    .en_i        (step),
    .cmd_valid_i,
    .cmd_ready_o,
    .cmd_i,
    .cmd_o       (cmd),
    .begin_o     (begin_next),
    .slot_o      (slot),
    .done_o,
    .kind_o,
    .pending_i   (pending),
    .stop_i,
    .weight_count_i,
    .arrived_count_i,
    .arrived_end_i,
    .request_o   (issued_request),
    .ahead_o     (ahead_request),
    .mask_o      (issued.mask),
    .group_lo_o  (group_lo),
    .tag_o       (issued.tag),
    .row_o       (issued.row)
  );
  assign issued.begins = begin_q[1];

  // A step that is not granted waits here while the sequencer makes the next one, then stops.
  // Requests are always registered: grants take a cycle.
  if (G > 1) begin : gen_hold
    step_t held_q;
    logic  refused_q;  // !step in a separate register, since each has hundreds of loads
    always_ff @(posedge clk_i) begin
      refused_q <= rst_ni && !en;
      if (!refused_q) held_q <= issued;
      if (!rst_ni) asked_request <= '0;
      else if (en) asked_request <= refused_q ? issued_request : ahead_request;
    end
    assign step       = en_q[0];
    assign asked      = refused_q ? held_q : issued;
    assign more_valid = refused_q && issued.tag.valid;
  end else begin : gen_no_hold  // one port has no conflicts
    logic unused;
    assign asked         = issued;
    assign asked_request = issued_request;
    assign {step, more_valid, unused} = {2'b10, ^{en, ahead_request}};
  end
  assign {ar_need0_o, ar_need1_o, ar_req, ar_addr_o, ar_lo, ar_hi} = asked_request;

  // Fields of a command that a position's steps need. cmd is the next command's from the cycle T in
  // which it issues its first position; T+2 and T+3 switch with that position.
  logic [1:0] begin_q;  // that position was issued zero, one steps ago
  logic       begin2_q, begun_q;  // it is in T+2; the command has just changed
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {begin_q, begin2_q, begun_q} <= '0;
    end else begin
      if (step) begin_q <= {begin_q[0], begin_next};
      begin2_q <= asked.begins;
      begun_q  <= begin_o;
    end
  end

  logic                  pairs;  // two pixels at a time, with at least two ports
  assign pairs = G > 1 && cmd.streams == 3'd2;
  logic                  depthwise_q, pair_q;
  logic [7:0]            z_in2_q, z_in_q, z_w_q;
  logic [Cols-1:0]       col2_q;
  always_ff @(posedge clk_i) begin
    if (asked.begins) begin
      z_in2_q <= cmd.z_in;
      z_w_q   <= cmd.z_w;
    end
    z_in_q <= z_in2_q;
    if (begin2_q) begin
      depthwise_q <= cmd.depthwise;
      pair_q      <= pairs;
      if (pairs) col2_q <= {Cols{1'b1}} << cmd.pair_split;
    end
  end

  logic [PtrBits-1:0] near_ptr_q, ptr_q;  // steps of the delay lines; near: a cycle ahead
  always_ff @(posedge clk_i) begin
    if (!rst_ni) near_ptr_q <= '0;
    else if (en_q[0]) near_ptr_q <= near_ptr_q + 1'b1;
    ptr_q <= near_ptr_q;
  end

  // ---------------------------------------------------------------- activations, T+1 to T+3+r
  logic [Rows*ActW-1:0]      row, row2;
  logic [G*Cols*ActW-1:0]    tap;
  logic [Rows-1:0]           row_mask, row_depthwise, row_pair;
  logic [Rows*GroupBits-1:0] row_group;

  hd_array_feed #(
    .N(N), .Rows(Rows), .Cols(Cols), .G(G), .ActW(ActW), .AddrBits(AddrBits),
    .LineDepth(LineDepth)
  ) u_feed (
    .clk_i,
    .rst_ni,
    .en_i       (en_q[1]),
    .ptr_i      (ptr_q),
    .depthwise_i(depthwise_q),
    .pair_i     (pair_q),
    .z_in_i     (z_in_q),
    .near_i     (en_q[0]),
    .near_ptr_i (near_ptr_q),
    .begin_i    (asked.begins && cmd.depthwise),
    .group_lo_i (group_lo),
    .pad_left_i (cmd.pad_left[PtrBits-1:0]),
    .ar_req_i   (ar_req),
    .ar_addr_i  (ar_addr_o),
    .ar_lo_i    (ar_lo),
    .ar_hi_i    (ar_hi),
    .ar_data_i,
    .mask_i     (asked.mask),
    .row_depthwise_o(row_depthwise),
    .row_pair_o (row_pair),
    .row_o      (row),
    .row2_o     (row2),
    .tap_o      (tap),
    .row_mask_o (row_mask),
    .row_group_o(row_group)
  );

  // ---------------------------------------------------------------- weights, T+1+r to T+3+r
  logic                w_valid2_q, w_valid3_q;
  logic [LaneBits-1:0] w_row2_q, w_row3_q;
  logic [Cols*WgtW-1:0] w_bus;

  assign wr_req_o  = asked.row.req;
  assign wr_word_o = asked.row.word;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) {w_valid3_q, w_valid2_q} <= '0;
    else {w_valid3_q, w_valid2_q} <= {w_valid2_q, asked.row.req};
    w_row2_q <= asked.row.row;
    w_row3_q <= w_row2_q;
  end
  for (genvar c = 0; c < Cols; c++) begin : gen_w_bus
    logic [WgtW-1:0] weight_q;
    always_ff @(posedge clk_i) begin
      if (w_valid2_q) weight_q <= WgtW'($signed(wr_data_i[c*8 +: 8])) - WgtW'($signed(z_w_q));
    end
    assign w_bus[c*WgtW +: WgtW] = weight_q;
  end

  // ---------------------------------------------------------------- cells
  logic [Cols*AccW-1:0] psum;

  hd_array #(.Rows(Rows), .Cols(Cols), .G(G), .ActW(ActW), .WgtW(WgtW), .AccW(AccW)) u_array (
    .clk_i,
    .en_i       (en_q[1]),
    .depthwise_i(row_depthwise),
    .pair_i     (row_pair),
    .col2_i     (col2_q),
    .row_group_i(row_group),
    .row_i      (row),
    .row2_i     (row2),
    .tap_i      (tap),
    .row_mask_i (row_mask),
    .w_we_i     (w_valid3_q),
    .w_row_i    (w_row3_q),
    .w_i        (w_bus),
    .psum_o     (psum)
  );

  // ---------------------------------------------------------------- sums, T+Rows+4 and T+Rows+5
  hd_array_sums #(
    .N(N), .Rows(Rows), .Cols(Cols), .AccW(AccW), .AccDepth(AccDepth), .AddrBits(AddrBits),
    .EntryBits(EntryBits), .Lstm(Lstm), .LineDepth(LineDepth)
  ) u_sums (
    .clk_i,
    .rst_ni,
    .en_i        (en_q[1]),
    .near_i      (en_q[0]),
    .ptr_i       (ptr_q),
    .accept_i    (cmd_valid_i && cmd_ready_o),
    .cmd_index_i,
    .begin_i     (begun_q),
    .slot_i      (slot),
    .cmd_i       (cmd),
    .pending_o   (pending),
    .more_valid_i(more_valid),
    .more_slot_i (issued.tag.slot),
    .tag_i       (asked.tag),
    .psum_i      (psum),
    .a_ahead_o,
    .a_valid_o,
    .a_sum_o,
    .a_entry_o,
    .a_addr_o,
    .a_count_o,
    .a_cmd_o,
    .a_slot_o,
    .a_scale_o,
    .a_busy_i
  );

endmodule

`default_nettype wire
