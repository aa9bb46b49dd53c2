// hd_array_feed - from scratchpad bytes to the inputs of the cells: readers, then a delay of steps
// for each lane.
//   Request (ar_*_i) in step T+1, ar_data_i and activations in T+3 (hd_reader), from there:
//   convolution: row_o lane r waits r steps more. The pieces of a segment cover disjoint lanes and
//     are 0 elsewhere: an OR gathers them; with pair_i row_o is that of ports below G/2, row2_o of
//     the others.
//   depthwise: tap_o of piece g, the lanes of port g, waits lo(g) + pad_left steps more. Its row
//     mask goes along: row_mask_o bit r, the tap of row r takes part. row_group_o: the piece of
//     row r.
//   begin_i: in the request's cycle, group_lo_i (first row of each piece) and pad_left_i are a new
//   depthwise command's.
//   row_depthwise_o, row_pair_o: what each row takes; a command of another mode may follow without
//   a gap, but not one that places taps or splits columns otherwise (hd_array_slots). A depthwise
//   row has row_o 0, another one row_mask_o.
//   mask_i comes with the request; its line is a cycle ahead, so that what rows take of it is
//   gathered in a register. ptr_i, near_ptr_i count steps (hd_skew).
// From T+3 on a step is a cycle with en_i, two cycles after the request was granted, one after
// near_i. Latency 2 + r + 1 steps, throughput 1. Reset: no row has
// a mode. Bench: array_tb.cpp
`default_nettype none
`include "hd_config.svh"

module hd_array_feed #(
  parameter int N         = CfgN,
  parameter int Rows      = CfgRows,
  parameter int Cols      = CfgColumns,
  parameter int G         = CfgPorts,
  parameter int ActW      = 9,
  parameter int AddrBits  = $clog2(CfgScratchpadBytes),
  parameter int LineDepth = 2 << $clog2(Rows),  // longest delay: depthwise lo + pad_left < 2 Rows
  parameter int PtrBits   = $clog2(LineDepth),  // derived
  parameter int CntBits   = $clog2(N + 1),
  parameter int GroupBits = G > 1 ? $clog2(G) : 1
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic                   en_i,
  input  wire logic                   near_i,
  input  wire logic [PtrBits-1:0]     ptr_i,
  input  wire logic [PtrBits-1:0]     near_ptr_i,
  // for the activations in T+3
  input  wire logic                   depthwise_i,
  input  wire logic                   pair_i,
  input  wire logic [7:0]             z_in_i,
  input  wire logic                   begin_i,
  input  wire logic [G*CntBits-1:0]   group_lo_i,
  input  wire logic [PtrBits-1:0]     pad_left_i,
  // requests and their data
  input  wire logic [G-1:0]           ar_req_i,
  /* verilator lint_off UNUSEDSIGNAL */  // of the address only the byte within the word
  input  wire logic [G*AddrBits-1:0]  ar_addr_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  wire logic [G*CntBits-1:0]   ar_lo_i,
  input  wire logic [G*CntBits-1:0]   ar_hi_i,
  input  wire logic [G*2*N*8-1:0]     ar_data_i,
  input  wire logic [Rows-1:0]        mask_i,
  // hd_array
  output logic      [Rows-1:0]        row_depthwise_o,
  output logic      [Rows-1:0]        row_pair_o,
  output logic      [Rows*ActW-1:0]   row_o,
  output logic      [Rows*ActW-1:0]   row2_o,
  output logic      [G*Cols*ActW-1:0] tap_o,
  output logic      [Rows-1:0]        row_mask_o,
  output logic      [Rows*GroupBits-1:0] row_group_o
);
  localparam int OffBits = $clog2(N);
  localparam int Lanes   = Rows > Cols ? Rows : Cols;  // the lanes that are used of a word's N

  // ---------------------------------------------------------------- readers, T+1 to T+3
  logic [Lanes*ActW-1:0] act[G];

  for (genvar g = 0; g < G; g++) begin : gen_reader
    logic [Lanes*ActW-1:0] out;
    hd_reader #(.N(N), .Lanes(Lanes), .ActW(ActW)) u_reader (
      .clk_i,
      .req_i   (ar_req_i[g]),
      .offset_i(ar_addr_i[g*AddrBits +: OffBits]),
      .lo_i    (ar_lo_i[g*CntBits +: CntBits]),
      .hi_i    (ar_hi_i[g*CntBits +: CntBits]),
      .data_i  (ar_data_i[g*2*N*8 +: 2*N*8]),
      .z_in_i,
      .act_o   (out)
    );
    assign act[g] = out;
  end

  // ------------------------------------ modes: row r takes a position's r steps after row 0
  // A line rests while neither what enters nor any row is of its mode.
  logic [Rows-1:0] row_depthwise, row_depthwise_q, row_pair_q;
  logic         convolves, taps, pairs;

  assign row_depthwise = en_i ? {row_depthwise_q[Rows-2:0], depthwise_i} : row_depthwise_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      row_depthwise_q <= '0;
      row_pair_q      <= '0;
    end else begin
      row_depthwise_q <= row_depthwise;
      if (en_i) row_pair_q <= {row_pair_q[Rows-2:0], pair_i && !depthwise_i};
    end
  end
  assign convolves       = !depthwise_i || !(&row_depthwise_q);
  assign taps            = depthwise_i || row_depthwise_q != '0;
  assign pairs           = pair_i || row_pair_q != '0;
  assign row_depthwise_o = row_depthwise_q;
  assign row_pair_o      = row_pair_q;

  // ------------------------------------------------------------- convolution: lane r waits r steps
  logic [Rows*ActW-1:0] first, second;

  always_comb begin
    first  = '0;
    second = '0;
    if (!depthwise_i) begin
      for (int g = 0; g < G; g++) begin
        if (g < G / 2 || !pair_i) first = first | act[g][Rows*ActW-1:0];
        if (g >= G / 2 && pair_i) second = second | act[g][Rows*ActW-1:0];
      end
    end
  end

  for (genvar r = 0; r < Rows; r++) begin : gen_lane
    logic [ActW-1:0] lane;
    assign row_o[r*ActW +: ActW] = row_depthwise_q[r] ? '0 : lane;
    hd_skew #(.Width(ActW), .Depth(LineDepth)) u_skew (
      .clk_i,
      .en_i   (en_i && convolves),
      .ptr_i  (ptr_i),
      .delay_i(PtrBits'(r)),
      .d_i    (first[r*ActW +: ActW]),
      .q_o    (lane)
    );
    if (G > 1) begin : gen_pair
      hd_skew #(.Width(ActW), .Depth(LineDepth)) u_skew2 (
        .clk_i,
        .en_i   (en_i && pairs),
        .ptr_i  (ptr_i),
        .delay_i(PtrBits'(r)),
        .d_i    (second[r*ActW +: ActW]),
        .q_o    (row2_o[r*ActW +: ActW])
      );
    end else begin : gen_single
      logic unused_second;
      assign unused_second = ^{second[r*ActW +: ActW], pairs};
      assign row2_o[r*ActW +: ActW] = '0;
    end
  end

  // ----------------------------------------------- depthwise: piece g waits lo(g) + pad_left steps
  // The masks' line runs in every mode: the first outputs of a command look back pad_left steps,
  // before its first vector, and must find zeros there, not an older command's masks.
  // Rows of a piece are consecutive, so the masks of all pieces are disjoint.
  logic [Rows-1:0]           mask2_q, mask_lines;
  logic [Rows-1:0]           tap_mask[G];
  logic [Rows*GroupBits-1:0] row_group, row_group_q;
  logic                      begin2_q;

  always_ff @(posedge clk_i) begin
    mask2_q    <= mask_i;
    row_mask_o <= mask_lines & row_depthwise;
    begin2_q   <= begin_i;
  end

  for (genvar g = 0; g < G; g++) begin : gen_tap
    logic [CntBits-1:0]    lo_q;
    logic [PtrBits-1:0]    near_delay_q, delay_q;
    logic [Rows-1:0]       mask_line;
    always_ff @(posedge clk_i) begin
      if (begin_i) begin
        lo_q         <= group_lo_i[g*CntBits +: CntBits];
        near_delay_q <= PtrBits'(group_lo_i[g*CntBits +: CntBits]) + pad_left_i;
      end
      delay_q <= near_delay_q;
    end
    hd_skew #(.Width(Cols * ActW), .Depth(LineDepth)) u_skew (
      .clk_i,
      .en_i   (en_i && taps),
      .ptr_i  (ptr_i),
      .delay_i(delay_q),
      .d_i    (depthwise_i ? act[g][Cols*ActW-1:0] : '0),
      .q_o    (tap_o[g*Cols*ActW +: Cols*ActW])
    );
    hd_skew #(.Width(Rows), .Depth(LineDepth)) u_mask_skew (
      .clk_i,
      .en_i   (near_i),
      .ptr_i  (near_ptr_i),
      .delay_i(near_delay_q),
      .d_i    (mask2_q << lo_q),
      .q_o    (mask_line)
    );
    assign tap_mask[g] = mask_line;
  end

  always_comb begin
    mask_lines = '0;
    for (int g = 0; g < G; g++) mask_lines = mask_lines | tap_mask[g];
  end

  // Row r belongs to the last piece that begins at or above it.
  always_ff @(posedge clk_i) begin
    if (begin2_q) row_group_q <= row_group;
  end
  always_comb begin
    row_group = '0;
    if (begin2_q) begin
      for (int r = 0; r < Rows; r++) begin
        for (int g = 1; g < G; g++) begin
          if (CntBits'(r) >= group_lo_i[g*CntBits +: CntBits]) begin
            row_group[r*GroupBits +: GroupBits] = GroupBits'(g);
          end
        end
      end
    end
  end

  assign row_group_o = row_group_q;

`ifdef HD_ASSERT
  for (genvar r = 0; r < Rows; r++) begin : gen_assert
    a_mode: assert property (@(posedge clk_i) disable iff (!rst_ni)
      row_depthwise_o[r] ? row_o[r*ActW +: ActW] == '0 && !row_pair_o[r] : !row_mask_o[r]);
  end
  c_masked: cover property (@(posedge clk_i)
    en_i && depthwise_i && row_mask_o != '0 && !(&row_mask_o));
`endif

endmodule

`default_nettype wire
