// hd_array_ports - the scratchpad side of ARRAY's sequencer: a tile's segment, G byte-addressed
// requests a position.
//   start_i begins the command next_i (ld_i from the next cycle on), or another one in the next
//   cycle; load_i takes its next segment
//   (hd_segment): seg_len_o lanes, seg_last_o: a kernel's last. Port g takes piece g; with pixel
//   pairs ports from G/2 on take the pieces of the first half again, pair_step bytes further on.
//   For each position (pixel_i, hd_array_scan) a port asks for the lanes of its piece that are
//   inside the image:
//   request_o, of all ports {need0, need1, req, addr (byte address of lane 0), lo, hi}, one step
//   after the position; for none if its row is outside. need0, need1: some of the lanes are in the
//   word of addr, in the next one. ahead_o: in the position's step.
//   Depthwise: nch_i lanes, if the position is inside. group_lo_o: first lane of each piece of the
//   segment that begin_i loads.
// A step is a cycle with en_i; frozen cycles hold the requests. Latency 1 step, throughput 1.
// Reset: no request.
// Bench: array_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module hd_array_ports #(
  parameter int N        = CfgN,
  parameter int Rows     = CfgRows,
  parameter int G        = CfgPorts,
  parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int RowBits  = 19,            // image row, signed
  parameter int CntBits  = $clog2(N + 1),  // derived
  parameter int RequestBits = G * (3 + AddrBits + 2 * CntBits)
) (
  input  wire logic                      clk_i,
  input  wire logic                      rst_ni,
  input  wire logic                      en_i,
  input  wire logic                      start_i,
  input  wire logic                      begin_i,
  input  wire logic                      load_i,
  input  wire logic                      more_i,      // whether the command has more tiles
  input  wire logic                      pixel_i,
  /* verilator lint_off UNUSEDSIGNAL */  // whole commands; some fields are needed here
  input  wire hd_cmd_array_t             next_i,      // of start_i
  input  wire hd_cmd_array_t             ld_i,        // the command whose K tiles are loaded
  input  wire hd_cmd_array_t             cmd_i,       // the command whose positions are issued
  /* verilator lint_on UNUSEDSIGNAL */
  output logic      [CntBits-1:0]        seg_len_o,
  output logic                           seg_last_o,
  // the position, and the channels of the tile
  input  wire logic signed [31:0]        x_i,
  input  wire logic signed [RowBits-1:0] y_i,
  input  wire logic [AddrBits-1:0]       addr_i,
  input  wire logic [CntBits-1:0]        nch_i,
  // requests, {need0, need1, req, addr, lo, hi}
  output logic      [RequestBits-1:0]    request_o,
  output logic      [RequestBits-1:0]    ahead_o,
  output logic      [G*CntBits-1:0]      group_lo_o
);
  localparam int OffBits = $clog2(N);
  localparam int PosBits = 18;  // of - lo + pair_step, signed: two 16-bit fields

  /* verilator lint_off UNUSEDSIGNAL */  // a whole command; some fields are needed here
  hd_cmd_array_t         seg_cmd;
  /* verilator lint_on UNUSEDSIGNAL */
  logic                  seg_goes_on;
  logic [G-1:0]          seg_valid;
  logic [G*CntBits-1:0]  seg_lo, seg_hi;
  logic [G*AddrBits-1:0] seg_base;
  logic [G*PosBits-1:0]  seg_pos;
  logic [G*RowBits-1:0]  seg_row;

  assign seg_cmd = seg_goes_on ? ld_i : next_i;

  hd_segment #(
    .N(N), .Rows(Rows), .G(G), .AddrBits(AddrBits), .PosBits(PosBits), .RowBits(RowBits)
  ) u_segment (
    .clk_i,
    .start_i    (start_i),
    .take_i     (load_i && en_i),
    .more_i,
    .goes_on_o  (seg_goes_on),
    .depthwise_i(seg_cmd.depthwise),
    .ports_i    (seg_cmd.ports),
    .kernel_h_i (seg_cmd.kernel_h),
    .row_bytes_i(seg_cmd.kernel_row_bytes),
    .pitch_dil_i(seg_cmd.in_pitch_dil[AddrBits-1:0]),
    .dilation_i (seg_cmd.dilation_y),
    .walk_pitch_i   (ld_i.in_pitch_dil[AddrBits-1:0]),
    .walk_dilation_i(ld_i.dilation_y),
    .valid_o    (seg_valid),
    .lo_o       (seg_lo),
    .hi_o       (seg_hi),
    .base_o     (seg_base),
    .pos_o      (seg_pos),
    .row_o      (seg_row),
    .len_o      (seg_len_o),
    .last_o     (seg_last_o)
  );

  logic [G-1:0]          req, req_q, need0, need0_q, need1, need1_q;
  logic [G*AddrBits-1:0] addr, addr_q;
  logic [G*CntBits-1:0]  from_lane, from_lane_q, to_lane, to_lane_q;

  assign request_o = {need0_q, need1_q, req_q, addr_q, from_lane_q, to_lane_q};
  assign ahead_o   = {need0, need1, req, addr, from_lane, to_lane};

  for (genvar g = 0; g < G; g++) begin : gen_port
    localparam bit Second = G > 1 && g >= G / 2;
    localparam int From   = Second ? g - G / 2 : g;  // the piece that a port repeats for pairs

    logic                      valid_q, second;
    logic [CntBits-1:0]        lo_q, hi_q;
    logic [AddrBits-1:0]       base_q;
    logic signed [PosBits-1:0] pos;
    logic signed [31:0]        from_q, to_q;  // -pos, in_wc - pos
    logic signed [RowBits-1:0] row_q;

    assign second = Second && ld_i.streams == 3'd2;
    assign pos    = second
                    ? $signed(seg_pos[From*PosBits +: PosBits] + PosBits'(ld_i.pair_step))
                    : $signed(seg_pos[g*PosBits +: PosBits]);

    always_ff @(posedge clk_i) begin
      if (load_i && en_i) begin
        from_q <= 32'sd0 - 32'(pos);
        to_q   <= $signed(ld_i.in_wc) - 32'(pos);
        if (second) begin
          valid_q <= seg_valid[From];
          lo_q    <= seg_lo[From*CntBits +: CntBits];
          hi_q    <= seg_hi[From*CntBits +: CntBits];
          base_q  <= seg_base[From*AddrBits +: AddrBits] + AddrBits'(ld_i.pair_step);
          row_q   <= $signed(seg_row[From*RowBits +: RowBits]);
        end else begin
          valid_q <= seg_valid[g];
          lo_q    <= seg_lo[g*CntBits +: CntBits];
          hi_q    <= seg_hi[g*CntBits +: CntBits];
          base_q  <= seg_base[g*AddrBits +: AddrBits];
          row_q   <= $signed(seg_row[g*RowBits +: RowBits]);
        end
      end
    end

    // Lanes below `lo`, bytes to the left of the image, and from `room` on are outside.
    logic                      row_inside;
    logic signed [RowBits-1:0] y;
    logic signed [31:0]        left, room;
    logic [CntBits-1:0]        first, last, lo, hi;  // lanes first..last could be needed
    logic                      some;                 // there are any

    // a > lanes, in two steps: the high bits are only tested for 0.
    function automatic logic above(input logic signed [31:0] a, input logic [CntBits-1:0] lanes);
      above = !a[31] && (a[30:CntBits] != '0 || a[CntBits-1:0] > lanes);
    endfunction

    always_comb begin
      y          = y_i + row_q;
      row_inside = $unsigned(y) < RowBits'(cmd_i.in_h);
      left       = from_q - x_i;
      room       = to_q - x_i;
      first      = cmd_i.depthwise ? '0 : lo_q;
      last       = cmd_i.depthwise ? '0 : hi_q - 1'b1;
      some       = !above(left, last) && above(room, first);
      lo         = !cmd_i.depthwise && above(left, lo_q) ? left[CntBits-1:0] : first;
      hi         = cmd_i.depthwise ? nch_i : above(room, last) ? hi_q : room[CntBits-1:0];
    end

    // Find the word of lanes lo..hi-1 from byte off on. lo and hi are the greater and the smaller
    // of two bounds; each is compared separately, which is faster.
    logic [OffBits-1:0] off;
    logic               in_word, in_next;

    function automatic logic ends_in(input logic [OffBits-1:0] at, input logic [CntBits-1:0] lanes);
      ends_in = (CntBits+1)'(at) + (CntBits+1)'(lanes) < (CntBits+1)'(N);
    endfunction
    function automatic logic ends_past(input logic [OffBits-1:0] at,
                                       input logic [CntBits-1:0] lanes);
      ends_past = (CntBits+1)'(at) + (CntBits+1)'(lanes) > (CntBits+1)'(N);
    endfunction

    assign off     = addr_i[OffBits-1:0] + base_q[OffBits-1:0];
    assign in_word = ends_in(off, first) && (left[31] || ends_in(off, left[CntBits-1:0]));
    assign in_next = cmd_i.depthwise ? ends_past(off, nch_i) : ends_past(off, hi_q)
                     && (room[30:CntBits] != '0 || ends_past(off, room[CntBits-1:0]));

    assign need0[g] = req[g] && in_word;
    assign need1[g] = req[g] && in_next;
    assign req[g] = pixel_i && valid_q && row_inside && some;
    assign addr[g*AddrBits +: AddrBits]   = addr_i + base_q;
    assign from_lane[g*CntBits +: CntBits] = lo;
    assign to_lane[g*CntBits +: CntBits]   = hi;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        req_q[g]   <= 1'b0;
        need0_q[g] <= 1'b0;
        need1_q[g] <= 1'b0;
      end else if (en_i) begin
        req_q[g]   <= req[g];
        need0_q[g] <= need0[g];
        need1_q[g] <= need1[g];
        if (pixel_i && valid_q) begin
          addr_q[g*AddrBits +: AddrBits] <= addr[g*AddrBits +: AddrBits];
          from_lane_q[g*CntBits +: CntBits] <= lo;
          to_lane_q[g*CntBits +: CntBits]   <= hi;
        end
      end
    end

    logic [CntBits-1:0] group_lo_q;
    always_ff @(posedge clk_i) begin
      if (en_i && begin_i) group_lo_q <= seg_lo[g*CntBits +: CntBits];
    end
    assign group_lo_o[g*CntBits +: CntBits] = group_lo_q;

`ifdef HD_ASSERT
    a_lanes: assert property (@(posedge clk_i) disable iff (!rst_ni)
      req_q[g] |-> from_lane_q[g*CntBits +: CntBits] < to_lane_q[g*CntBits +: CntBits]);
    a_need0: assert property (@(posedge clk_i) disable iff (!rst_ni)
      need0_q[g] == (req_q[g] && 32'(addr_q[g*AddrBits +: OffBits])
                                 + 32'(from_lane_q[g*CntBits +: CntBits]) < N));
    a_need1: assert property (@(posedge clk_i) disable iff (!rst_ni)
      need1_q[g] == (req_q[g] && 32'(addr_q[g*AddrBits +: OffBits])
                                 + 32'(to_lane_q[g*CntBits +: CntBits]) > N));
    c_outside: cover property (@(posedge clk_i) en_i && pixel_i && valid_q && !row_inside);
`endif
  end

`ifdef HD_ASSERT
  a_frozen: assert property (@(posedge clk_i) disable iff (!rst_ni)
    !en_i |=> $stable(request_o));
`endif

endmodule

`default_nettype wire
