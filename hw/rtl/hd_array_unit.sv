// hd_array_unit - ARRAY: sequencer, readers, skew, cells, accumulators; sums out to hd_requant.
// Step of a position issued at T (a step is a cycle with ar_en_i; everything here but the state holds otherwise):
//   T+1 request, tag, weight address | T+2 bytes, weight row | T+3 activations, weights on their bus
//   T+4+r row r multiplies (its weight was written at T+3+r) | T+N+3 accumulator read | T+N+4 sum, a_valid_o.
// Positions of two commands may be in here at once: what they need of a command on the way changes with the first
// position of the next one (begin_q); what the results need waits in the command's slot, which the tag names.
// A command takes its tiles' steps (hd_array_seq) plus N + 12 cycles, cmd_ready_o & cmd_valid_i to done_o
// both counted, with hd_requant's latency of 5; with acc_hold plus N + 7. The next one may run in all of them but
// the first two.
// a_valid_o is gated by ar_en_i; the other a_* fields go with it.
// begin_o: the positions of the next cycle on are the next command's.
// kind_o: busy (a tile is loaded or under way), conflict (frozen), wait_weight (the next tile could be loaded, its
// weights have not come), drain (none of these, a command is in), idle.
// Reset: idle, nothing in the pipe. Bench: tests/hw/array_tb.cpp.
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module hd_array_unit #(
  parameter int N         = CfgN,
  parameter int G         = CfgPorts,
  parameter int AddrBits  = $clog2(CfgScratchpadBytes),     // scratchpad byte address
  parameter int WordBits  = $clog2(CfgWeightBytes / CfgN),  // weight memory word
  parameter int AccDepth  = CfgAccDepth,
  parameter int EntryBits = $clog2(CfgParamEntries),        // parameter entry
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
  output logic                       begin_o,        // from the next cycle on positions are the next command's
  output logic      [2:0]            kind_o,
  // hd_spad
  output logic      [G-1:0]          ar_req_o,
  output logic      [G*AddrBits-1:0] ar_addr_o,
  output logic      [G*CntBits-1:0]  ar_lo_o,
  output logic      [G*CntBits-1:0]  ar_hi_o,
  input  wire logic                  ar_en_i,
  input  wire logic [G*2*N*8-1:0]    ar_data_i,
  // WEIGHT, see hd_array_seq
  input  wire logic                  stop_i,
  input  wire logic [15:0]           weight_count_i,
  input  wire logic [WordBits:0]     landed_count_i,
  input  wire logic [WordBits-1:0]   landed_end_i,
  // hd_weights
  output logic                       wr_req_o,
  output logic      [WordBits-1:0]   wr_word_o,
  input  wire logic [N*8-1:0]        wr_data_i,
  // hd_requant
  output logic                       a_valid_o,
  output logic      [N*32-1:0]       a_sum_o,
  output logic      [EntryBits-1:0]  a_entry_o,
  output logic      [AddrBits-1:0]   a_addr_o,
  output logic      [CntBits-1:0]    a_count_o,
  output logic      [31:0]           a_cmd_o,
  output logic                       a_slot_o,
  output logic                       a_has_bias_o,
  output logic                       a_common_scale_o,
  output logic      [31:0]           a_multiplier_o,
  output logic      [7:0]            a_shift_o,
  output logic      [7:0]            a_z_out_o,
  output logic      [7:0]            a_min_o,
  output logic      [7:0]            a_max_o,
  input  wire logic [1:0]            a_busy_i       // by slot
);
  localparam int ActW      = 9;
  localparam int WgtW      = 9;
  localparam int AccW      = 32;
  localparam int AccBits   = $clog2(AccDepth);
  localparam int LaneBits  = $clog2(N);
  localparam int OffBits   = $clog2(N);
  localparam int GroupBits = G > 1 ? $clog2(G) : 1;
  localparam int LineDepth = 2 * N;                // longest delay: depthwise lo + pad_left < 2 N
  localparam int PtrBits   = $clog2(LineDepth);

  // ---------------------------------------------------------------- sequencer
  logic                   en;
  /* verilator lint_off UNUSEDSIGNAL */  // the sequencer keeps whole commands, the pipe needs some fields
  hd_cmd_array_t          cmd, begin_cmd;
  /* verilator lint_on UNUSEDSIGNAL */
  logic                   begin_next, begin_slot, tag_slot;
  logic [1:0]             pending;
  logic [N-1:0]           mask;
  logic [G*CntBits-1:0]   group_lo;
  logic                   tag_valid, tag_add, tag_last, w_req;
  logic [AccBits-1:0]     tag_acc;
  logic [AddrBits-1:0]    tag_addr;
  logic [CntBits-1:0]     tag_count;
  logic [EntryBits-1:0]   tag_entry;
  logic [LaneBits-1:0]    w_row;

  assign en      = ar_en_i;
  assign begin_o = begin_next && en;

  hd_array_seq #(
    .N(N), .G(G), .AddrBits(AddrBits), .WordBits(WordBits), .AccBits(AccBits), .EntryBits(EntryBits)
  ) u_seq (
    .clk_i,
    .rst_ni,
    .en_i        (en),
    .cmd_valid_i,
    .cmd_ready_o,
    .cmd_i,
    .cmd_o       (cmd),
    .begin_o     (begin_next),
    .begin_slot_o(begin_slot),
    .begin_cmd_o (begin_cmd),
    .done_o,
    .kind_o,
    .pending_i   (pending),
    .stop_i,
    .weight_count_i,
    .landed_count_i,
    .landed_end_i,
    .req_o       (ar_req_o),
    .addr_o      (ar_addr_o),
    .lo_o        (ar_lo_o),
    .hi_o        (ar_hi_o),
    .mask_o      (mask),
    .group_lo_o  (group_lo),
    .tag_valid_o (tag_valid),
    .tag_slot_o  (tag_slot),
    .tag_add_o   (tag_add),
    .tag_last_o  (tag_last),
    .tag_acc_o   (tag_acc),
    .tag_addr_o  (tag_addr),
    .tag_count_o (tag_count),
    .tag_entry_o (tag_entry),
    .w_req_o     (w_req),
    .w_row_o     (w_row),
    .w_word_o    (wr_word_o)
  );

  // What the steps of a position need of its command. cmd is the next command's from the cycle T in which that
  // issues its first position; T+2 and T+3 get it one and two steps later.
  logic [2:0] begin_q;  // bit k: that position was issued k steps ago
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin_q <= '0;
    else if (en) begin_q <= {begin_q[1:0], begin_next};
  end

  logic                  depthwise_q, pair_q;
  logic [7:0]            z_in_q, z_w_q;
  logic [N-1:0]          col2_q;
  always_ff @(posedge clk_i) begin
    if (en && begin_q[1]) begin
      z_in_q <= cmd.z_in;
      z_w_q  <= cmd.z_w;
    end
    if (en && begin_q[2]) begin
      depthwise_q <= cmd.depthwise;
      pair_q      <= cmd.streams == 3'd2;
      col2_q      <= {N{1'b1}} << cmd.pair_split;
    end
  end

  logic [PtrBits-1:0] ptr_q;  // steps, for all delay lines
  always_ff @(posedge clk_i) begin
    if (!rst_ni) ptr_q <= '0;
    else if (en) ptr_q <= ptr_q + 1'b1;
  end

  // ---------------------------------------------------------------- readers, T+1 to T+3
  logic [N*ActW-1:0] act[G];

  for (genvar g = 0; g < G; g++) begin : gen_reader
    logic [N*ActW-1:0] out;
    hd_reader #(.N(N), .ActW(ActW)) u_reader (
      .clk_i,
      .en_i    (en),
      .req_i   (ar_req_o[g]),
      .offset_i(ar_addr_o[g*AddrBits +: OffBits]),
      .lo_i    (ar_lo_o[g*CntBits +: CntBits]),
      .hi_i    (ar_hi_o[g*CntBits +: CntBits]),
      .data_i  (ar_data_i[g*2*N*8 +: 2*N*8]),
      .z_in_i  (z_in_q),
      .act_o   (out)
    );
    assign act[g] = out;
  end

  // ---------------------------------------------------------------- convolution: lane r waits r steps
  // The pieces of a segment cover disjoint lanes and are 0 elsewhere: an OR gathers them.
  logic [N*ActW-1:0] row, row2, first, second;

  always_comb begin
    first  = '0;
    second = '0;
    if (!depthwise_q) for (int g = 0; g < G; g++) begin
      if (g < G / 2 || !pair_q) first = first | act[g];
      if (g >= G / 2 && pair_q) second = second | act[g];
    end
  end

  for (genvar r = 0; r < N; r++) begin : gen_lane
    hd_skew #(.Width(ActW), .Depth(LineDepth)) u_skew (
      .clk_i,
      .en_i   (en && !depthwise_q),
      .ptr_i  (ptr_q),
      .delay_i(PtrBits'(r)),
      .d_i    (first[r*ActW +: ActW]),
      .q_o    (row[r*ActW +: ActW])
    );
    if (G > 1) begin : gen_pair
      hd_skew #(.Width(ActW), .Depth(LineDepth)) u_skew2 (
        .clk_i,
        .en_i   (en && pair_q),
        .ptr_i  (ptr_q),
        .delay_i(PtrBits'(r)),
        .d_i    (second[r*ActW +: ActW]),
        .q_o    (row2[r*ActW +: ActW])
      );
    end else begin : gen_single
      logic unused_second;
      assign unused_second = ^second[r*ActW +: ActW];
      assign row2[r*ActW +: ActW] = '0;
    end
  end

  // ---------------------------------------------------------------- depthwise: piece g waits lo(g) + pad_left steps
  // Its row mask goes along, in a line that runs in every mode: the first outputs of a command look back
  // pad_left steps, before its first vector, and must find zeros there, not an older command's masks.
  // Rows of a piece are consecutive, so the masks of all pieces are disjoint.
  logic [N-1:0]            mask2_q, mask3_q;
  logic [G*N*ActW-1:0]     tap;
  logic [N-1:0]            tap_mask[G];
  logic [N-1:0]            row_mask;
  logic [N*GroupBits-1:0]  row_group, row_group_q;

  always_ff @(posedge clk_i) begin
    if (en) begin
      mask2_q <= mask;
      mask3_q <= mask2_q;
    end
  end

  for (genvar g = 0; g < G; g++) begin : gen_tap
    logic [CntBits-1:0]    lo_q;
    logic [PtrBits-1:0]    delay_q;
    logic [N-1:0]          mask_line;
    always_ff @(posedge clk_i) if (en && begin_q[2]) begin
      lo_q    <= group_lo[g*CntBits +: CntBits];
      delay_q <= PtrBits'(group_lo[g*CntBits +: CntBits]) + cmd.pad_left[PtrBits-1:0];
    end
    hd_skew #(.Width(N * ActW), .Depth(LineDepth)) u_skew (
      .clk_i,
      .en_i   (en && depthwise_q),
      .ptr_i  (ptr_q),
      .delay_i(delay_q),
      .d_i    (depthwise_q ? act[g] : '0),
      .q_o    (tap[g*N*ActW +: N*ActW])
    );
    hd_skew #(.Width(N), .Depth(LineDepth)) u_mask_skew (
      .clk_i,
      .en_i   (en),
      .ptr_i  (ptr_q),
      .delay_i(delay_q),
      .d_i    (mask3_q << lo_q),
      .q_o    (mask_line)
    );
    assign tap_mask[g] = mask_line;
  end

  always_comb begin
    row_mask = '0;
    if (depthwise_q) begin
      for (int g = 0; g < G; g++) row_mask = row_mask | tap_mask[g];
    end
  end

  // Row r belongs to the last piece that begins at or above it.
  always_ff @(posedge clk_i) begin
    if (en && begin_q[2]) row_group_q <= row_group;
  end
  always_comb begin
    row_group = '0;
    if (begin_q[2]) begin
      for (int r = 0; r < N; r++) begin
        for (int g = 1; g < G; g++) begin
          if (CntBits'(r) >= group_lo[g*CntBits +: CntBits]) row_group[r*GroupBits +: GroupBits] = GroupBits'(g);
        end
      end
    end
  end

  // ---------------------------------------------------------------- weights, T+1+r to T+3+r
  logic                w_valid2_q, w_valid3_q;
  logic [LaneBits-1:0] w_row2_q, w_row3_q;
  logic [N*WgtW-1:0]   w_bus;

  assign wr_req_o = w_req && en;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      w_valid2_q <= 1'b0;
      w_valid3_q <= 1'b0;
    end else if (en) begin
      w_valid2_q <= w_req;
      w_valid3_q <= w_valid2_q;
    end
    if (en) begin
      w_row2_q <= w_row;
      w_row3_q <= w_row2_q;
    end
  end
  for (genvar c = 0; c < N; c++) begin : gen_w_bus
    logic [WgtW-1:0] weight_q;
    always_ff @(posedge clk_i) begin
      if (en && w_valid2_q) weight_q <= WgtW'($signed(wr_data_i[c*8 +: 8])) - WgtW'($signed(z_w_q));
    end
    assign w_bus[c*WgtW +: WgtW] = weight_q;
  end

  // ---------------------------------------------------------------- cells
  logic [N*AccW-1:0] psum;

  hd_array #(.N(N), .G(G), .ActW(ActW), .WgtW(WgtW), .AccW(AccW)) u_array (
    .clk_i,
    .en_i       (en),
    .depthwise_i(depthwise_q),
    .pair_i     (pair_q),
    .col2_i     (col2_q),
    .row_group_i(row_group_q),
    .row_i      (row),
    .row2_i     (row2),
    .tap_i      (tap),
    .row_mask_i (row_mask),
    .w_we_i     (w_valid3_q),
    .w_row_i    (w_row3_q),
    .w_i        (w_bus),
    .psum_o     (psum)
  );

  // ---------------------------------------------------------------- tag, T+1 to T+N+4
  localparam int TagBits = 2 + AccBits + AddrBits + CntBits + EntryBits;
  logic [TagBits-1:0]   tag_ahead;       // T+N+3
  logic                 add_ahead, last_ahead;
  logic [AccBits-1:0]   acc_ahead;
  logic [AddrBits-1:0]  addr_ahead;
  logic [CntBits-1:0]   count_ahead;
  logic [EntryBits-1:0] entry_ahead;
  logic [N+2:0]         valid_q, slot_q; // bit k: T+2+k
  logic                 add_q, last_q;   // T+N+4
  logic [AccBits-1:0]   acc_q;
  logic                 sum_valid;

  hd_skew #(.Width(TagBits), .Depth(LineDepth)) u_tag (
    .clk_i,
    .en_i   (en),
    .ptr_i  (ptr_q),
    .delay_i(PtrBits'(N + 1)),
    .d_i    ({tag_add, tag_last, tag_acc, tag_addr, tag_count, tag_entry}),
    .q_o    (tag_ahead)
  );
  assign {add_ahead, last_ahead, acc_ahead, addr_ahead, count_ahead, entry_ahead} = tag_ahead;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else if (en) valid_q <= {valid_q[N+1:0], tag_valid};
    if (en) slot_q <= {slot_q[N+1:0], tag_slot};
  end
  assign pending[0] = (tag_valid && !tag_slot) || (valid_q & ~slot_q) != '0 || a_busy_i[0];
  assign pending[1] = (tag_valid && tag_slot) || (valid_q & slot_q) != '0 || a_busy_i[1];
  always_ff @(posedge clk_i) begin
    if (en && valid_q[N+1]) begin
      add_q     <= add_ahead;
      last_q    <= last_ahead;
      acc_q     <= acc_ahead;
      a_addr_o  <= addr_ahead;
      a_count_o <= count_ahead;
      a_entry_o <= entry_ahead;
    end
  end

  // ---------------------------------------------------------------- accumulators
  assign sum_valid = valid_q[N+2];

  for (genvar c = 0; c < N; c++) begin : gen_acc
    hd_acc #(.AccW(AccW), .Depth(AccDepth)) u_acc (
      .clk_i,
      .en_i   (en),
      .re_i   (valid_q[N+1] && add_ahead),
      .raddr_i(acc_ahead),
      .psum_i (psum[c*AccW +: AccW]),
      .add_i  (add_q),
      .we_i   (sum_valid && !last_q),
      .waddr_i(acc_q),
      .sum_o  (a_sum_o[c*32 +: 32])
    );
  end

  // ---------------------------------------------------------------- what the results need
  localparam int ResultBits = 32 + 2 + 32 + 4 * 8;
  logic [31:0]           index_q;  // of the command accepted last
  logic [ResultBits-1:0] result_q[2];
  always_ff @(posedge clk_i) begin
    if (cmd_valid_i && cmd_ready_o) index_q <= cmd_index_i;
    if (en && begin_next) begin
      result_q[begin_slot] <= {index_q, begin_cmd.has_bias, begin_cmd.common_scale, begin_cmd.multiplier,
                               begin_cmd.shift, begin_cmd.z_out, begin_cmd.act_min, begin_cmd.act_max};
    end
  end

  assign a_valid_o = sum_valid && last_q && en;
  assign a_slot_o  = slot_q[N+2];
  assign {a_cmd_o, a_has_bias_o, a_common_scale_o, a_multiplier_o, a_shift_o, a_z_out_o, a_min_o, a_max_o} =
      result_q[a_slot_o];

endmodule

`default_nettype wire
