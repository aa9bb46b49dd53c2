// hd_array_seq - the sequencer of ARRAY (docs/HARDWARE.md): which command and tile is under way,
// step by step.
// Its loops: hd_array_tile (channel tile, block, segment), hd_array_steps (of a tile),
// hd_array_scan (row, position); its requests: hd_array_ports.
// Two commands deep: one whose tiles are loaded (ld), one whose positions are issued (cmd). A
// command is accepted once the last tile of the one before it is under way, one cycle later it can
// be loaded, and its first position follows the last step of that tile without a gap; so do tiles
// of one command. A step is a cycle with en_i; frozen cycles hold all outputs.
// A command holds one of two slots (hd_array_slots); what it leaves in the pipe carries its slot.
// A command that follows WEIGHT (field follow) loads a tile once hd_array_weight_wait has its
// weights;
// until then, between tiles, it has none (gap_q). So has one whose first lead_tiles tiles are
// loaded until the command before it is done (held).
// All outputs of one position are registered and leave together, one step after the position was
// issued:
// scratchpad requests, depthwise mask, tag (where the sum goes), weight row.
// No products: every stride is a command field and is added up. Reset: idle.
// Bench: array_tb.cpp.
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"
`include "hd_bundles.svh"

module hd_array_seq #(
  parameter int N         = CfgN,
  parameter int Rows      = CfgRows,
  parameter int Cols      = CfgColumns,
  parameter int G         = CfgPorts,
  parameter int AddrBits  = $clog2(CfgScratchpadBytes),     // scratchpad byte address
  parameter int WordBits  = $clog2(CfgWeightBytes / CfgN),  // weight memory word
  parameter int AccBits   = $clog2(CfgAccDepth),            // accumulator
  parameter int EntryBits = $clog2(CfgParamEntries),        // parameter entry
  parameter int CntBits   = $clog2(N + 1),                  // derived
  parameter int LaneBits  = $clog2(N),
  parameter int RequestBits = G * (3 + AddrBits + 2 * CntBits)
) (
  input  wire logic                    clk_i,
  input  wire logic                    rst_ni,
  input  wire logic                    en_i,
  // command; cmd_o is the one whose positions are issued, in slot slot_o. begin_o: both change at
  // the end of this cycle (with en_i).
  input  wire logic                    cmd_valid_i,
  output logic                         cmd_ready_o,
  input  wire hd_cmd_array_t           cmd_i,
  output hd_cmd_array_t                cmd_o,
  output logic                         begin_o,
  output logic                         slot_o,
  output logic                         done_o,
  output logic      [2:0]              kind_o,
  input  wire logic [1:0]              pending_i,      // by slot: results not yet written
  // WEIGHT: commands completed; arrived words of the oldest incomplete one: the word after the last
  // of them
  input  wire logic                    stop_i,
  input  wire logic [15:0]             weight_count_i,
  input  wire logic [WordBits:0]       arrived_count_i,
  input  wire logic [WordBits-1:0]     arrived_end_i,
  // scratchpad requests of all ports, {req, addr, lo, hi}; those of the next step
  output logic      [RequestBits-1:0]  request_o,
  output logic      [RequestBits-1:0]  ahead_o,
  // depthwise: valid taps, and the first row of each piece (constant within a command)
  output logic      [Rows-1:0]         mask_o,
  output logic      [G*CntBits-1:0]    group_lo_o,
  // tag
  output hd_array_tag_t                tag_o,
  // weight row
  output hd_array_row_t                row_o
);
  localparam int RowBits = 19;  // image row, signed: 16-bit start + 8 x 8 and 16 x 8-bit products

  // ---------------------------------------------------------------- commands
  hd_cmd_array_t ld_q, cmd_q;
  logic          fresh_q;   // nothing of ld_q is loaded yet
  logic          run_q;     // a tile is under way
  logic          gap_q;     // no tile is under way, and the next one waits for its weights
  logic          final_q;   // the tile is its command's last
  logic [7:0]    lead_q;    // tiles that need not wait for the previous command
  logic          leads_q;   // the others wait

  logic accept, first_load, may_begin, tile_end, over, turn, load, pair, here, slot, busy;
  logic alone, held;
  assign cmd_ready_o = !fresh_q && !gap_q && (!run_q || final_q);
  assign accept      = cmd_valid_i && cmd_ready_o;
  assign over        = tile_end && final_q;
  assign first_load  = fresh_q && may_begin && here && (!run_q || over);
  assign turn        = gap_q || (tile_end && !final_q);  // advance to the command's next tile
  assign held        = leads_q && lead_q == '0 && !alone;
  assign load        = first_load || (turn && here && !held);
  assign pair        = G > 1 && cmd_q.streams == 3'd2;

  assign cmd_o        = cmd_q;
  assign begin_o      = first_load;
  assign slot_o       = slot;

  hd_array_slots #(.N(N), .Rows(Rows), .G(G)) u_slots (
    .clk_i,
    .rst_ni,
    .en_i,
    .begin_i    (first_load),
    .end_i      (over),
    .pixel_i    (pixel),
    .ready_i    (cmd_ready_o),
    .next_i     (cmd_i),
    .ld_i       (ld_q),
    .cmd_i      (cmd_q),
    .pending_i,
    .slot_o     (slot),
    .may_begin_o(may_begin),
    .busy_o     (busy),
    .alone_o    (alone),
    .done_o
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fresh_q <= 1'b0;
      run_q   <= 1'b0;
      gap_q   <= 1'b0;
      final_q <= 1'b0;
    end else begin
      if (accept) fresh_q <= 1'b1;
      if (en_i) begin
        if (load) begin
          run_q   <= 1'b1;
          gap_q   <= 1'b0;
          final_q <= final_d;
        end else if (tile_end) begin
          run_q <= 1'b0;
          gap_q <= !final_q;
        end
        if (first_load) fresh_q <= 1'b0;
      end
    end
    if (accept) ld_q <= cmd_i;
    if (en_i && first_load) cmd_q <= ld_q;
    if (en_i && first_load) begin
      leads_q <= ld_q.lead_tiles != '0;
      lead_q  <= ld_q.lead_tiles - 8'd1;
    end else if (en_i && load && lead_q != '0) begin
      lead_q <= lead_q - 8'd1;
    end
  end

  // ---------------------------------------------------------------- tile
  logic [LaneBits-1:0] lane;
  logic                first_q, seg_last_q;
  logic [WordBits-1:0] word_q, tile_word_q;  // next weight row; channel tile.s first
  logic                pixel, w_row_valid, final_d;
  logic [WordBits-1:0] word_d;

  assign word_d = word_q + WordBits'(w_row_valid);

  // ---------------------------------------------------------------- the tile to load
  logic                      next_blk, next_tile, again, seg_last;
  logic signed [RowBits-1:0] y_blk;
  logic [AddrBits-1:0]       in_blk, out_blk;
  logic [15:0]               npix;
  logic [CntBits-1:0]        nch, nch_q, seg_len;
  logic [EntryBits-1:0]      entry_q;

  hd_array_tile #(.N(N), .Cols(Cols), .AddrBits(AddrBits), .RowBits(RowBits)) u_tile (
    .clk_i,
    .en_i,
    .start_i   (accept),
    .load_i    (load),
    .cmd_i,
    .ld_i      (ld_q),
    .last_i    (seg_last_q),
    .seg_last_i(seg_last),
    .block_o   (next_blk),
    .tile_o    (next_tile),
    .again_o   (again),
    .y_o       (y_blk),
    .in_o      (in_blk),
    .out_o     (out_blk),
    .pixels_o  (npix),
    .nch_o     (nch),
    .final_o   (final_d)
  );

  hd_array_steps #(.N(N)) u_steps (
    .clk_i,
    .en_i,
    .load_i  (load),
    .run_i   (run_q),
    .pixels_i(npix),
    .rows_i  (seg_len),
    .lane_o  (lane),
    .pixel_o (pixel),
    .row_o   (w_row_valid),
    .last_o  (tile_end)
  );

  hd_array_weight_wait #(.N(N), .Rows(Rows), .WordBits(WordBits)) u_weight_wait (
    .clk_i,
    .rst_ni,
    .start_i  (accept),
    .load_i   (load && en_i),
    .first_i  (fresh_q),
    .again_i  (again),
    .seg_len_i(seg_len),
    .ld_i     (ld_q),
    .stop_i,
    .weight_count_i,
    .arrived_count_i,
    .arrived_end_i,
    .here_o   (here)
  );

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      if (run_q) word_q <= turn && next_blk ? tile_word_q : word_d;
      if (load && next_tile) begin
        tile_word_q <= word_d;
        entry_q     <= entry_q + 1'b1;
      end
      if (load) begin
        first_q    <= first_load || seg_last_q;
        seg_last_q <= seg_last;
        nch_q      <= nch;
      end
      if (first_load) begin
        word_q      <= ld_q.w_base[WordBits-1:0];
        tile_word_q <= ld_q.w_base[WordBits-1:0];
        entry_q     <= ld_q.p_base[EntryBits-1:0];
      end
    end
  end

  // --------------------------------------------------------------- scan position, scratchpad ports
  logic                      row_end, vector;
  logic signed [31:0]        x;
  logic signed [RowBits-1:0] y;
  logic [AddrBits-1:0]       addr, out_addr;
  logic [AccBits-1:0]        acc;
  logic [Rows-1:0]           mask;

  hd_array_scan #(
    .N(N), .Rows(Rows), .AddrBits(AddrBits), .AccBits(AccBits), .RowBits(RowBits)
  ) u_scan (
    .clk_i,
    .en_i,
    .load_i    (load),
    .pixel_i   (pixel),
    .ld_i      (ld_q),
    .cmd_i     (cmd_q),
    .y_i       (y_blk),
    .in_i      (in_blk),
    .out_i     (out_blk),
    .row_end_o (row_end),
    .vector_o  (vector),
    .x_o       (x),
    .y_o       (y),
    .addr_o    (addr),
    .out_addr_o(out_addr),
    .acc_o     (acc),
    .mask_o    (mask)
  );

  hd_array_ports #(
    .N(N), .Rows(Rows), .G(G), .AddrBits(AddrBits), .RowBits(RowBits)
  ) u_ports (
    .clk_i,
    .rst_ni,
    .en_i,
    .start_i   (cmd_ready_o),  // taken is known late
    .begin_i   (first_load),
    .load_i    (load),
    .more_i    (!final_d),
    .pixel_i   (pixel),
    .next_i    (cmd_i),
    .ld_i      (ld_q),
    .cmd_i     (cmd_q),
    .seg_len_o (seg_len),
    .seg_last_o(seg_last),
    .x_i       (x),
    .y_i       (y),
    .addr_i    (addr),
    .nch_i     (nch_q),
    .request_o,
    .ahead_o,
    .group_lo_o
  );

  // ---------------------------------------------------------------- what leaves with the position
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      tag_o.valid <= 1'b0;
      row_o.req   <= 1'b0;
    end else if (en_i) begin
      tag_o.valid <= vector;
      row_o.req   <= w_row_valid;
      mask_o      <= mask;
      if (vector) begin
        tag_o.slot  <= slot;
        tag_o.add   <= !first_q || cmd_q.acc_keep;
        tag_o.upper <= first_q && cmd_q.acc_upper;
        tag_o.last  <= seg_last_q && !cmd_q.acc_hold;
        tag_o.acc   <= acc;
        tag_o.addr  <= out_addr;
        tag_o.count <= pair && row_end ? cmd_q.pair_last[CntBits-1:0] : nch_q;
        tag_o.entry <= entry_q;
      end
      if (w_row_valid) begin
        row_o.row  <= lane;
        row_o.word <= word_q;
      end
    end
  end

  // ---------------------------------------------------------------- counter
  always_comb begin
    kind_o = 3'(CounterArrayIdle);
    if (!en_i) kind_o = 3'(CounterArrayConflict);
    else if (run_q || load) kind_o = 3'(CounterArrayBusy);
    else if ((gap_q && !here) || (fresh_q && may_begin)) kind_o = 3'(CounterArrayWaitWeight);
    else if (fresh_q || busy) kind_o = 3'(CounterArrayDrain);
  end

`ifdef HD_ASSERT
  a_command_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    cmd_valid_i && !cmd_ready_o |=> cmd_valid_i && $stable(cmd_i));
  a_pair_needs_ports: assert property (@(posedge clk_i) disable iff (!rst_ni)
    run_q && cmd_q.streams == 3'd2 |-> G > 1 && !cmd_q.depthwise);
  a_gap_has_no_tile: assert property (@(posedge clk_i) disable iff (!rst_ni)
    gap_q |-> !run_q && !fresh_q);
  c_no_gap: cover property (@(posedge clk_i) over && first_load);
  c_waits_for_weights: cover property (@(posedge clk_i) gap_q && !here);
  c_waits_for_results: cover property (@(posedge clk_i) gap_q && here && held);
`endif

endmodule

`default_nettype wire
