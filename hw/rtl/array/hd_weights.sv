// hd_weights - weight memory and parameter memories (bias, multiplier, shift: a memory per lane).
//   ww_*: one word of N bytes a cycle into the space ww_space_i, always taken; SpaceTable,
//         SpaceTableAll, SpaceExp and SpaceScratchpad are not kept here, nor bytes of lanes
//         from Cols on. bias, multiplier: word k
//         holds N/4 int32 of entry k / 4, lanes (k mod 4) * N/4 onward; shift: word k is entry k;
//         bias16: word k holds N/2 int16 of entry k / 2, lanes (k mod 2) * N/2 onward, goes to the
//         bias memory.
//   wr_*: weight word in the cycle after wr_req_i, held until the next request.
//   pr_*: bias, multiplier, shift of Cols lanes in the cycle after pr_req_i, held until the next
//   request.
// Latency 1, throughput 1 each. Reset: forgets which entry is held. Bench: weights_tb.cpp.
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"
`include "hd_bundles.svh"

module hd_weights #(
  parameter int N         = CfgN,
  parameter int Cols      = CfgColumns,            // lanes that have memory
  parameter int Bytes     = CfgWeightBytes,     // weight memory
  parameter int Entries   = CfgParamEntries,    // parameter entries of N lanes
  parameter int WordBits  = $clog2(Bytes / N),  // derived, as below; at least EntryBits + 2
  parameter int EntryBits = $clog2(Entries)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  input  wire logic                 ww_valid_i,
  input  wire hd_weight_word_t      ww_i,
  input  wire logic                 wr_req_i,
  input  wire logic [WordBits-1:0]  wr_word_i,
  output logic      [Cols*8-1:0]    wr_data_o,
  input  wire logic                 pr_req_i,
  input  wire logic [EntryBits-1:0] pr_entry_i,
  output logic      [Cols*32-1:0]   pr_bias_o,
  output logic      [Cols*32-1:0]   pr_multiplier_o,
  output logic      [Cols*8-1:0]    pr_shift_o
);
  logic write_bias, write_bias16, write_multiplier, write_shift;
  assign write_bias       = ww_valid_i && ww_i.space == SpaceBias;
  assign write_bias16     = ww_valid_i && ww_i.space == SpaceBias16;
  assign write_multiplier = ww_valid_i && ww_i.space == SpaceMultiplier;
  assign write_shift      = ww_valid_i && ww_i.space == SpaceShift;

  hd_ram #(.Width(Cols * 8), .Depth(Bytes / N), .Apart(1'b1)) u_weights (
    .clk_i,
    .re_i   (wr_req_i),
    .raddr_i(wr_word_i),
    .rdata_o(wr_data_o),
    .we_i   (ww_valid_i && ww_i.space == SpaceWeights),
    .waddr_i(ww_i.word),
    .be_i   (1'b1),
    .wdata_i(ww_i.data[Cols*8-1:0])
  );

  // Most vectors ask for the entry that is held already: read when it changes.
  logic                 held_q, pr_re;
  logic [EntryBits-1:0] entry_q;
  assign pr_re = pr_req_i && !(held_q && entry_q == pr_entry_i);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || write_bias || write_bias16 || write_multiplier || write_shift) held_q <= 1'b0;
    else if (pr_re) held_q <= 1'b1;
    if (pr_re) entry_q <= pr_entry_i;
  end

  for (genvar l = 0; l < Cols; l++) begin : gen_lane
    localparam int Quarter = l / (N / 4);
    localparam int Slot    = l % (N / 4);
    localparam int Half    = l / (N / 2);
    localparam int Slot16  = l % (N / 2);
    logic        mine, mine16;
    logic [31:0] bias;
    assign mine   = ww_i.word[1:0] == 2'(Quarter);
    assign mine16 = ww_i.word[0] == 1'(Half);
    assign bias   = write_bias16 ? {{16{ww_i.data[Slot16*16 + 15]}}, ww_i.data[Slot16*16 +: 16]}
                                 : ww_i.data[Slot*32 +: 32];

    hd_ram #(.Width(32), .Depth(Entries), .Apart(1'b1)) u_bias (
      .clk_i,
      .re_i   (pr_re),
      .raddr_i(pr_entry_i),
      .rdata_o(pr_bias_o[l*32 +: 32]),
      .we_i   ((write_bias && mine) || (write_bias16 && mine16)),
      .waddr_i(write_bias16 ? ww_i.word[EntryBits:1] : ww_i.word[EntryBits+1:2]),
      .be_i   (1'b1),
      .wdata_i(bias)
    );
    hd_ram #(.Width(32), .Depth(Entries), .Apart(1'b1)) u_multiplier (
      .clk_i,
      .re_i   (pr_re),
      .raddr_i(pr_entry_i),
      .rdata_o(pr_multiplier_o[l*32 +: 32]),
      .we_i   (write_multiplier && mine),
      .waddr_i(ww_i.word[EntryBits+1:2]),
      .be_i   (1'b1),
      .wdata_i(ww_i.data[Slot*32 +: 32])
    );
    hd_ram #(.Width(8), .Depth(Entries), .Apart(1'b1)) u_shift (
      .clk_i,
      .re_i   (pr_re),
      .raddr_i(pr_entry_i),
      .rdata_o(pr_shift_o[l*8 +: 8]),
      .we_i   (write_shift),
      .waddr_i(ww_i.word[EntryBits-1:0]),
      .be_i   (1'b1),
      .wdata_i(ww_i.data[l*8 +: 8])
    );
  end

endmodule

`default_nettype wire
