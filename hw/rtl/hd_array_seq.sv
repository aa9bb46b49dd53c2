// hd_array_seq - the loop nest of ARRAY (hw/README.md): channel tile, block, segment, pixel.
// Two commands deep: one whose tiles are loaded (ld), one whose positions are issued (cmd). A command is accepted
// once the last tile of the one before it is under way, one cycle later it can be loaded, and its first position
// follows the last step of that tile without a gap; so do tiles of one command. A step is a cycle with en_i; frozen
// cycles hold all outputs.
// A tile takes max(scan positions, lanes of the segment, 4) steps: the accumulators need 2 steps from
// write to read, hd_weights is read once a step.
// A command holds one of two slots from its load to its done_o, and waits for a free one; what it leaves in the pipe
// carries its slot. It also waits (N + 1 steps from the last position on) where the cells have to be set up
// otherwise: convolution or depthwise, pixel pairs, and of depthwise what places the taps.
// A command that follows WEIGHT (field follow) loads a tile once N words from its first one on have come, or all of
// that WEIGHT command: here_q, a cycle behind landed_* (hd_landed) and weight_count_i. Until then, between tiles, it has none (gap_q). With stop_i they will not come.
// done_o: the oldest command is issued and nothing of it is pending_i.
// All outputs of one position are registered and leave together, one step after the position was issued:
// scratchpad requests, depthwise mask, tag (where the sum goes), weight row.
// No products: every stride is a command field and is added up. Reset: idle.
// Bench: tests/hw/array_tb.cpp.
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module hd_array_seq #(
  parameter int N         = CfgN,
  parameter int G         = CfgPorts,
  parameter int AddrBits  = $clog2(CfgScratchpadBytes),     // scratchpad byte address
  parameter int WordBits  = $clog2(CfgWeightBytes / CfgN),  // weight memory word
  parameter int AccBits   = $clog2(CfgAccDepth),            // accumulator
  parameter int EntryBits = $clog2(CfgParamEntries),        // parameter entry
  parameter int CntBits   = $clog2(N + 1),                  // derived
  parameter int LaneBits  = $clog2(N)
) (
  input  wire logic                    clk_i,
  input  wire logic                    rst_ni,
  input  wire logic                    en_i,
  // command; cmd_o is the one whose positions are issued. begin_o: it changes at the end of this cycle (with en_i)
  // to begin_cmd_o, which takes slot begin_slot_o.
  input  wire logic                    cmd_valid_i,
  output logic                         cmd_ready_o,
  input  wire hd_cmd_array_t           cmd_i,
  output hd_cmd_array_t                cmd_o,
  output logic                         begin_o,
  output logic                         begin_slot_o,
  output hd_cmd_array_t                begin_cmd_o,
  output logic                         done_o,
  output logic      [2:0]              kind_o,
  input  wire logic [1:0]              pending_i,      // by slot: in the pipe or in requantisation
  // WEIGHT: commands completed; words of the oldest one that are in weight memory, the word behind the last of them
  input  wire logic                    stop_i,
  input  wire logic [15:0]             weight_count_i,
  input  wire logic [WordBits:0]       landed_count_i,
  input  wire logic [WordBits-1:0]     landed_end_i,
  // scratchpad requests
  output logic      [G-1:0]            req_o,
  output logic      [G*AddrBits-1:0]   addr_o,
  output logic      [G*CntBits-1:0]    lo_o,
  output logic      [G*CntBits-1:0]    hi_o,
  // depthwise: taps that take part, and the first row of each piece (constant in a command)
  output logic      [N-1:0]            mask_o,
  output logic      [G*CntBits-1:0]    group_lo_o,
  // tag
  output logic                         tag_valid_o,
  output logic                         tag_slot_o,
  output logic                         tag_add_o,      // add to the accumulator
  output logic                         tag_last_o,     // requantise instead of keeping
  output logic      [AccBits-1:0]      tag_acc_o,
  output logic      [AddrBits-1:0]     tag_addr_o,
  output logic      [CntBits-1:0]      tag_count_o,
  output logic      [EntryBits-1:0]    tag_entry_o,
  // weight row
  output logic                         w_req_o,
  output logic      [LaneBits-1:0]     w_row_o,
  output logic      [WordBits-1:0]     w_word_o
);
  localparam int PosBits = 18;  // of - lo + pair_step, signed: two 16-bit fields
  localparam int RowBits = 19;  // image row, signed: 16-bit start + 8 x 8-bit and 16 x 8-bit products
  localparam int MinTile = 4;

  // ---------------------------------------------------------------- commands
  hd_cmd_array_t ld_q, cmd_q;
  logic          fresh_q;   // nothing of ld_q is loaded yet
  logic          run_q;     // a tile is under way
  logic          gap_q;     // none is, the next one waits for its weights
  logic          final_q;   // it is its command's last
  logic          slot_q;    // of cmd_q
  logic [1:0]    live_q;    // slots taken
  logic [1:0]    issued_q;  // their commands' last step is past
  logic          oldest_q;  // slot

  logic accept, first_load, may_begin, tile_end, over, turn, load, pair, here, here_q;
  assign cmd_ready_o = !fresh_q && !gap_q && (!run_q || final_q);
  assign accept      = cmd_valid_i && cmd_ready_o;
  assign over        = tile_end && final_q;
  assign here        = !ld_q.follow || here_q;
  assign first_load  = fresh_q && may_begin && here && (!run_q || over);
  assign turn        = gap_q || (tile_end && !final_q);  // to the command's next tile
  assign load        = first_load || (turn && here);
  assign pair        = cmd_q.streams == 3'd2;

  assign cmd_o        = cmd_q;
  assign begin_o      = first_load;
  assign begin_slot_o = !slot_q;
  assign begin_cmd_o  = ld_q;

  // Whether ld_q finds the cells as it needs them.
  localparam int Gap = N + 1;
  logic [CntBits-1:0] still_q;  // steps without a position, at most Gap
  logic               same_setup, settled;
  assign settled   = still_q == CntBits'(Gap);
  assign may_begin = !live_q[!slot_q] && (same_setup || (settled && !run_q));

  always_comb begin
    same_setup = 1'b0;
    if (fresh_q) begin
      if (ld_q.depthwise) begin
        same_setup = cmd_q.depthwise && ld_q.pad_left == cmd_q.pad_left && ld_q.ports == cmd_q.ports &&
                     ld_q.kernel_row_bytes == cmd_q.kernel_row_bytes && ld_q.kernel_h == cmd_q.kernel_h;
      end else begin
        same_setup = !cmd_q.depthwise && ld_q.streams == cmd_q.streams && ld_q.pair_split == cmd_q.pair_split;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fresh_q  <= 1'b0;
      run_q    <= 1'b0;
      gap_q    <= 1'b0;
      final_q  <= 1'b0;
      slot_q   <= 1'b0;
      live_q   <= '0;
      issued_q <= '0;
      oldest_q <= 1'b1;
    end else begin
      if (accept) fresh_q <= 1'b1;
      if (done_o) begin
        live_q[oldest_q]   <= 1'b0;
        issued_q[oldest_q] <= 1'b0;
        oldest_q           <= !oldest_q;
      end
      if (en_i) begin
        if (load) begin
          run_q   <= 1'b1;
          gap_q   <= 1'b0;
          final_q <= final_d;
        end else if (tile_end) begin
          run_q <= 1'b0;
          gap_q <= !final_q;
        end
        if (over) issued_q[slot_q] <= 1'b1;
        if (first_load) begin
          fresh_q         <= 1'b0;
          slot_q          <= !slot_q;
          live_q[!slot_q] <= 1'b1;
        end
      end
    end
    if (accept) ld_q <= cmd_i;
    if (en_i && first_load) cmd_q <= ld_q;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) still_q <= CntBits'(Gap);
    else if (en_i) still_q <= pixel ? '0 : settled ? still_q : still_q + 1'b1;
  end

  assign done_o = issued_q[oldest_q] && !pending_i[oldest_q];

  // ---------------------------------------------------------------- segment of the tile to load
  logic [G-1:0]          seg_valid;
  logic [G*CntBits-1:0]  seg_lo, seg_hi;
  logic [G*AddrBits-1:0] seg_base;
  logic [G*PosBits-1:0]  seg_pos;
  logic [G*RowBits-1:0]  seg_row;
  logic [CntBits-1:0]    seg_len;
  logic                  seg_last;

  hd_segment #(.N(N), .G(G), .AddrBits(AddrBits), .PosBits(PosBits), .RowBits(RowBits)) u_segment (
    .clk_i,
    .start_i    (accept),
    .take_i     (load && en_i),
    .depthwise_i(ld_q.depthwise),
    .ports_i    (ld_q.ports),
    .kernel_h_i (ld_q.kernel_h),
    .row_bytes_i(ld_q.kernel_row_bytes),
    .pitch_dil_i(ld_q.in_pitch_dil[AddrBits-1:0]),
    .dilation_i (ld_q.dilation_y),
    .valid_o    (seg_valid),
    .lo_o       (seg_lo),
    .hi_o       (seg_hi),
    .base_o     (seg_base),
    .pos_o      (seg_pos),
    .row_o      (seg_row),
    .len_o      (seg_len),
    .last_o     (seg_last)
  );

  // ---------------------------------------------------------------- tile
  logic [15:0]         step_q, step_last_q, npix_q;
  logic [CntBits-1:0]  len_q;
  logic                first_q, seg_last_q;
  logic [WordBits-1:0] word_q, tile_word_q;  // next weight row; first one of the channel tile
  logic                pixel, w_row_valid, final_d;
  logic [WordBits-1:0] word_d;

  assign pixel       = run_q && step_q < npix_q;
  assign w_row_valid = run_q && step_q < 16'(len_q);
  assign tile_end    = run_q && step_q == step_last_q;
  assign word_d      = word_q + WordBits'(w_row_valid);

  // ---------------------------------------------------------------- weights of the tile to load
  // Segments have N words at most: how many the next one has is known when it is loaded.
  logic [WordBits-1:0] word_end_q;  // behind the weights of the tiles loaded
  logic [WordBits-1:0] first, ask;  // of the next tile; behind its N words
  logic                again;       // it takes weights that an earlier block took
  assign again = !fresh_q && (seg_last_q ? blk_left_q != 16'd1 : blk_left_q != ld_q.blocks);
  assign first = fresh_q ? ld_q.w_base[WordBits-1:0] : word_end_q;
  assign ask   = first + WordBits'(N);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || accept || (load && en_i)) begin
      here_q <= 1'b0;
    end else if (ld_q.follow) begin
      here_q <= stop_i || again || weight_count_i != ld_q.wait_weight
                || {1'b0, WordBits'(landed_end_i - ask)} < landed_count_i;
    end
    if (load && en_i && !again) word_end_q <= first + WordBits'(seg_len);
  end

  // ---------------------------------------------------------------- block and channel tile
  logic [15:0]                ch_left_q, blk_left_q;
  logic [CntBits-1:0]         nch_q;
  logic [EntryBits-1:0]       entry_q;
  logic [AddrBits-1:0]        in_tile_q, in_blk_q, out_tile_q, out_blk_q;
  logic signed [RowBits-1:0]  y_blk_q;

  logic                       next_blk, next_tile;
  logic [15:0]                ch_left_d, blk_left_d;
  logic [AddrBits-1:0]        in_tile_d, in_blk_d, out_tile_d, out_blk_d;
  logic signed [RowBits-1:0]  y_blk_d;
  logic [15:0]                npix_d, len_d, length_d;

  assign next_blk  = turn && seg_last_q && blk_left_q != 16'd1;
  assign next_tile = turn && seg_last_q && blk_left_q == 16'd1;

  // Only where a tile is loaded: what the loops outside it become.
  always_comb begin
    ch_left_d  = ch_left_q;
    blk_left_d = blk_left_q;
    in_tile_d  = in_tile_q;
    out_tile_d = out_tile_q;
    in_blk_d   = in_blk_q;
    out_blk_d  = out_blk_q;
    y_blk_d    = y_blk_q;
    npix_d     = '0;
    len_d      = '0;
    length_d   = '0;
    final_d    = 1'b0;
    if (load) begin
      if (next_tile) begin
        ch_left_d  = ch_left_q - 16'(N);
        blk_left_d = ld_q.blocks;
        in_tile_d  = ld_q.depthwise ? in_tile_q + AddrBits'(N) : in_tile_q;
        out_tile_d = out_tile_q + AddrBits'(N);
        in_blk_d   = in_tile_d;
        out_blk_d  = out_tile_d;
        y_blk_d    = RowBits'($signed(ld_q.y_start));
      end else if (next_blk) begin
        blk_left_d = blk_left_q - 16'd1;
        in_blk_d   = in_blk_q + ld_q.in_block_step[AddrBits-1:0];
        out_blk_d  = out_blk_q + ld_q.out_block_step[AddrBits-1:0];
        y_blk_d    = y_blk_q + RowBits'(ld_q.block_step_y);
      end
      npix_d   = blk_left_d == 16'd1 ? ld_q.last_scan : ld_q.block_scan;
      len_d    = 16'(seg_len);
      length_d = npix_d > len_d ? npix_d : len_d;
      if (length_d < 16'(MinTile)) length_d = 16'(MinTile);
      final_d = seg_last && blk_left_d == 16'd1 && ch_left_d <= 16'(N);
    end
  end

  always_ff @(posedge clk_i) begin
    if (accept) begin  // the tile under way is the last of the command before: it needs none of these
      ch_left_q  <= cmd_i.out_channels;
      blk_left_q <= cmd_i.blocks;
      in_tile_q  <= cmd_i.in_row[AddrBits-1:0];
      in_blk_q   <= cmd_i.in_row[AddrBits-1:0];
      out_tile_q <= cmd_i.out_base[AddrBits-1:0];
      out_blk_q  <= cmd_i.out_base[AddrBits-1:0];
      y_blk_q    <= RowBits'($signed(cmd_i.y_start));
    end else if (en_i && load) begin
      ch_left_q  <= ch_left_d;
      blk_left_q <= blk_left_d;
      in_tile_q  <= in_tile_d;
      in_blk_q   <= in_blk_d;
      out_tile_q <= out_tile_d;
      out_blk_q  <= out_blk_d;
      y_blk_q    <= y_blk_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      if (run_q) begin
        step_q <= step_q + 16'd1;
        word_q <= next_blk ? tile_word_q : word_d;
      end
      if (load && next_tile) begin
        tile_word_q <= word_d;
        entry_q     <= entry_q + 1'b1;
      end
      if (load) begin
        step_q      <= '0;
        npix_q      <= npix_d;
        len_q       <= seg_len;
        step_last_q <= length_d - 16'd1;
        first_q     <= first_load || seg_last_q;
        seg_last_q  <= seg_last;
        nch_q       <= ch_left_d < 16'(N) ? ch_left_d[CntBits-1:0] : CntBits'(N);
      end
      if (first_load) begin
        word_q      <= ld_q.w_base[WordBits-1:0];
        tile_word_q <= ld_q.w_base[WordBits-1:0];
        entry_q     <= ld_q.p_base[EntryBits-1:0];
      end
    end
  end

  // ---------------------------------------------------------------- scan position
  logic [15:0]                j_q, ox_q;
  logic [7:0]                 phase_q;
  logic signed [31:0]         x_q;           // byte position in the image row
  logic signed [RowBits-1:0]  y_q;           // image row of kernel row 0
  logic [AddrBits-1:0]        addr_q, in_row_q, out_addr_q, out_row_q;
  logic [AccBits-1:0]         acc_q;
  logic                       row_end, vector;

  assign row_end = j_q + 16'd1 == cmd_q.scan;
  assign vector  = pixel && (!cmd_q.depthwise || (phase_q == '0 && ox_q < cmd_q.out_w));

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      if (load) begin
        j_q        <= '0;
        ox_q       <= '0;
        phase_q    <= '0;
        x_q        <= $signed(ld_q.x_start);
        y_q        <= y_blk_d;
        addr_q     <= in_blk_d + ld_q.x_start[AddrBits-1:0];
        in_row_q   <= in_blk_d + ld_q.x_start[AddrBits-1:0];
        out_addr_q <= out_blk_d;
        out_row_q  <= out_blk_d;
        acc_q      <= '0;
      end else if (pixel) begin
        if (vector) acc_q <= acc_q + 1'b1;
        if (row_end) begin
          j_q        <= '0;
          ox_q       <= '0;
          phase_q    <= '0;
          x_q        <= $signed(cmd_q.x_start);
          y_q        <= y_q + RowBits'(cmd_q.stride_y);
          addr_q     <= in_row_q + cmd_q.in_pitch_step[AddrBits-1:0];
          in_row_q   <= in_row_q + cmd_q.in_pitch_step[AddrBits-1:0];
          out_addr_q <= out_row_q + cmd_q.out_pitch[AddrBits-1:0];
          out_row_q  <= out_row_q + cmd_q.out_pitch[AddrBits-1:0];
        end else begin
          j_q    <= j_q + 16'd1;
          x_q    <= x_q + $signed({16'd0, cmd_q.x_step});
          addr_q <= addr_q + AddrBits'(cmd_q.x_step);
          if (vector) begin
            ox_q       <= ox_q + 16'd1;
            out_addr_q <= out_addr_q + AddrBits'(cmd_q.out_step);
          end
          if (cmd_q.depthwise) phase_q <= phase_q + 8'd1 == cmd_q.stride_x ? '0 : phase_q + 8'd1;
        end
      end
    end
  end

  // ---------------------------------------------------------------- ports
  // Ports from G/2 on repeat the pieces for the second stream.
  for (genvar g = 0; g < G; g++) begin : gen_port
    localparam bit Second = G > 1 && g >= G / 2;
    localparam int From   = Second ? g - G / 2 : g;  // the piece a port repeats with pairs

    logic                valid_q, second;
    logic [CntBits-1:0]  lo_q, hi_q;
    logic [AddrBits-1:0] base_q;
    logic signed [PosBits-1:0] pos_q;
    logic signed [RowBits-1:0] row_q;

    assign second = Second && ld_q.streams == 3'd2;

    always_ff @(posedge clk_i) begin
      if (load && en_i) begin
        if (second) begin
          valid_q <= seg_valid[From];
          lo_q    <= seg_lo[From*CntBits +: CntBits];
          hi_q    <= seg_hi[From*CntBits +: CntBits];
          base_q  <= seg_base[From*AddrBits +: AddrBits] + AddrBits'(ld_q.pair_step);
          pos_q   <= $signed(seg_pos[From*PosBits +: PosBits] + PosBits'(ld_q.pair_step));
          row_q   <= $signed(seg_row[From*RowBits +: RowBits]);
        end else begin
          valid_q <= seg_valid[g];
          lo_q    <= seg_lo[g*CntBits +: CntBits];
          hi_q    <= seg_hi[g*CntBits +: CntBits];
          base_q  <= seg_base[g*AddrBits +: AddrBits];
          pos_q   <= $signed(seg_pos[g*PosBits +: PosBits]);
          row_q   <= $signed(seg_row[g*RowBits +: RowBits]);
        end
      end
    end

    // Lanes below `lo` bytes left of the image and from `room` on are outside.
    logic                      row_inside;
    logic signed [RowBits-1:0] y;
    logic signed [31:0]        p, left, room;
    logic [CntBits-1:0]        lo, hi;

    always_comb begin
      y          = y_q + row_q;
      row_inside = $unsigned(y) < RowBits'(cmd_q.in_h);
      p          = x_q + 32'(pos_q);
      left       = -p;
      room       = $signed(cmd_q.in_wc) - p;
      lo         = lo_q;
      hi         = hi_q;
      if (cmd_q.depthwise) begin
        lo = '0;
        hi = left > 32'sd0 || room <= 32'sd0 ? '0 : nch_q;
      end else begin
        if (left > $signed({{(32-CntBits){1'b0}}, hi_q})) lo = hi_q;
        else if (left > $signed({{(32-CntBits){1'b0}}, lo_q})) lo = left[CntBits-1:0];
        if (room <= 32'sd0) hi = '0;
        else if (room < $signed({{(32-CntBits){1'b0}}, hi_q})) hi = room[CntBits-1:0];
      end
    end

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        req_o[g] <= 1'b0;
      end else if (en_i) begin
        req_o[g] <= 1'b0;
        if (pixel && valid_q) begin
          req_o[g]                         <= row_inside && lo < hi;
          addr_o[g*AddrBits +: AddrBits] <= addr_q + base_q;
          lo_o[g*CntBits +: CntBits]     <= lo;
          hi_o[g*CntBits +: CntBits]     <= hi;
        end
      end
    end

    logic [CntBits-1:0] group_lo_q;
    always_ff @(posedge clk_i) begin
      if (en_i && first_load) group_lo_q <= seg_lo[g*CntBits +: CntBits];
    end
    assign group_lo_o[g*CntBits +: CntBits] = group_lo_q;
  end

  // ---------------------------------------------------------------- depthwise mask
  // The vector read at scan position j is tap kx of the output at j - kx + pad_left, if 0 <= that < scan.
  logic [16:0]        reach, beyond;
  logic [CntBits-1:0] last_tap, first_tap;
  logic [N-1:0]       mask;

  always_comb begin
    reach     = '0;
    beyond    = '0;
    last_tap  = '0;
    first_tap = '0;
    mask      = '0;
    if (pixel && cmd_q.depthwise) begin
      reach     = 17'(j_q) + 17'(cmd_q.pad_left) + 17'd1;
      beyond    = reach > 17'(cmd_q.scan) ? reach - 17'(cmd_q.scan) : '0;
      last_tap  = reach > 17'(cmd_q.kernel_row_bytes[CntBits-1:0]) ? cmd_q.kernel_row_bytes[CntBits-1:0]
                                                                   : reach[CntBits-1:0];
      first_tap = beyond > 17'(N) ? CntBits'(N) : beyond[CntBits-1:0];
      mask      = ~({N{1'b1}} << last_tap) & ({N{1'b1}} << first_tap);
    end
  end

  // ---------------------------------------------------------------- what leaves with the position
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      tag_valid_o <= 1'b0;
      w_req_o     <= 1'b0;
    end else if (en_i) begin
      tag_valid_o <= vector;
      w_req_o     <= w_row_valid;
      mask_o      <= mask;
      if (vector) begin
        tag_slot_o  <= slot_q;
        tag_add_o   <= !first_q || cmd_q.acc_keep;
        tag_last_o  <= seg_last_q && !cmd_q.acc_hold;
        tag_acc_o   <= acc_q;
        tag_addr_o  <= out_addr_q;
        tag_count_o <= pair && row_end ? cmd_q.pair_last[CntBits-1:0] : nch_q;
        tag_entry_o <= entry_q;
      end
      if (w_row_valid) begin
        w_row_o  <= step_q[LaneBits-1:0];
        w_word_o <= word_q;
      end
    end
  end

  // ---------------------------------------------------------------- counter
  always_comb begin
    kind_o = 3'(CounterArrayIdle);
    if (!en_i) kind_o = 3'(CounterArrayConflict);
    else if (run_q || load) kind_o = 3'(CounterArrayBusy);
    else if (gap_q || (fresh_q && may_begin)) kind_o = 3'(CounterArrayWaitWeight);
    else if (fresh_q || live_q != '0) kind_o = 3'(CounterArrayDrain);
  end

`ifdef HD_ASSERT
  CommandStable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    cmd_valid_i && !cmd_ready_o |=> cmd_valid_i && $stable(cmd_i));
  PairNeedsTwoPorts: assert property (@(posedge clk_i) disable iff (!rst_ni)
    run_q && pair |-> G > 1 && !cmd_q.depthwise);
  SlotsInTurn: assert property (@(posedge clk_i) disable iff (!rst_ni)
    live_q != '0 |-> live_q[oldest_q] && (live_q[!oldest_q] ? slot_q != oldest_q : slot_q == oldest_q));
  BehindEachOther: cover property (@(posedge clk_i) over && first_load);
  WaitsForASlot: cover property (@(posedge clk_i) fresh_q && same_setup && live_q == 2'b11 && !run_q);
  WaitsForTheCells: cover property (@(posedge clk_i) fresh_q && !same_setup && !settled && !run_q);
  GapHasNoTile: assert property (@(posedge clk_i) disable iff (!rst_ni) gap_q |-> !run_q && !fresh_q);
  WaitsForWeights: cover property (@(posedge clk_i) gap_q && !here);
  TwoDrain: cover property (@(posedge clk_i) issued_q == 2'b11);
`endif

endmodule

`default_nettype wire
