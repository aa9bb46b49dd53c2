// hd_array_tile - the outer loops of ARRAY: channel tile, block, segment (docs/HARDWARE.md): what
// the tile to load is.
//   start_i begins command cmd_i; ld_i is that command from the next cycle on. load_i: its next
//   tile is loaded; first_i: no tile of it is loaded yet, turn_i: the tile is not its first. Of the
//   tile to load:
//   block_o (it begins another block of the same channel tile), tile_o (another channel tile),
//   again_o (its weights are those of an earlier block), y_o, in_o, out_o (image row, scratchpad
//   bytes of input and output), pixels_o (positions), nch_o (channels), final_o
//   (the command's last).
//   last_i: the segment before is a kernel's last; seg_last_i: the segment to load is, too.
// Latency 0, outputs are defined with load_i, again_o always. Reset: none, start_i. Bench:
// tests/hw/array_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module hd_array_tile #(
  parameter int N        = CfgN,
  parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int RowBits  = 19,            // image row, signed
  parameter int CntBits  = $clog2(N + 1)  // derived
) (
  input  wire logic                      clk_i,
  input  wire logic                      en_i,
  input  wire logic                      start_i,
  input  wire logic                      first_i,
  input  wire logic                      turn_i,
  input  wire logic                      load_i,
  /* verilator lint_off UNUSEDSIGNAL */  // whole commands; some fields are needed here
  input  wire hd_cmd_array_t             cmd_i,
  input  wire hd_cmd_array_t             ld_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  wire logic                      last_i,
  input  wire logic                      seg_last_i,
  output logic                           block_o,
  output logic                           tile_o,
  output logic                           again_o,
  output logic signed [RowBits-1:0]      y_o,
  output logic      [AddrBits-1:0]       in_o,
  output logic      [AddrBits-1:0]       out_o,
  output logic      [15:0]               pixels_o,
  output logic      [CntBits-1:0]        nch_o,
  output logic                           final_o
);
  logic [15:0]               ch_left_q, blk_left_q, ch_left_d, blk_left_d;
  logic [AddrBits-1:0]       in_tile_q, in_blk_q, out_tile_q, out_blk_q;
  logic [AddrBits-1:0]       in_tile_d, in_blk_d, out_tile_d, out_blk_d;
  logic signed [RowBits-1:0] y_blk_q, y_blk_d;
  logic [15:0]               npix_d;
  logic                      next_blk, next_tile;

  assign next_blk  = turn_i && last_i && blk_left_q != 16'd1;
  assign next_tile = turn_i && last_i && blk_left_q == 16'd1;
  assign again_o   = !first_i && (last_i ? blk_left_q != 16'd1 : blk_left_q != ld_i.blocks);

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
    final_o    = 1'b0;
    if (load_i) begin
      if (next_tile) begin
        ch_left_d  = ch_left_q - 16'(N);
        blk_left_d = ld_i.blocks;
        in_tile_d  = ld_i.depthwise ? in_tile_q + AddrBits'(N) : in_tile_q;
        out_tile_d = out_tile_q + AddrBits'(N);
        in_blk_d   = in_tile_d;
        out_blk_d  = out_tile_d;
        y_blk_d    = RowBits'($signed(ld_i.y_start));
      end else if (next_blk) begin
        blk_left_d = blk_left_q - 16'd1;
        in_blk_d   = in_blk_q + ld_i.in_block_step[AddrBits-1:0];
        out_blk_d  = out_blk_q + ld_i.out_block_step[AddrBits-1:0];
        y_blk_d    = y_blk_q + RowBits'(ld_i.block_step_y);
      end
      npix_d   = blk_left_d == 16'd1 ? ld_i.last_scan : ld_i.block_scan;
      final_o  = seg_last_i && blk_left_d == 16'd1 && ch_left_d <= 16'(N);
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin  // the tile under way, the last of the command before, needs none of these
      ch_left_q  <= cmd_i.out_channels;
      blk_left_q <= cmd_i.blocks;
      in_tile_q  <= cmd_i.in_row[AddrBits-1:0];
      in_blk_q   <= cmd_i.in_row[AddrBits-1:0];
      out_tile_q <= cmd_i.out_base[AddrBits-1:0];
      out_blk_q  <= cmd_i.out_base[AddrBits-1:0];
      y_blk_q    <= RowBits'($signed(cmd_i.y_start));
    end else if (en_i && load_i) begin
      ch_left_q  <= ch_left_d;
      blk_left_q <= blk_left_d;
      in_tile_q  <= in_tile_d;
      in_blk_q   <= in_blk_d;
      out_tile_q <= out_tile_d;
      out_blk_q  <= out_blk_d;
      y_blk_q    <= y_blk_d;
    end
  end

  assign block_o  = next_blk;
  assign tile_o   = next_tile;
  assign y_o      = y_blk_d;
  assign in_o     = in_blk_d;
  assign out_o    = out_blk_d;
  assign pixels_o = npix_d;
  assign nch_o    = ch_left_d < 16'(N) ? ch_left_d[CntBits-1:0] : CntBits'(N);

`ifdef HD_ASSERT
  c_block: cover property (@(posedge clk_i) load_i && next_blk);
  c_tile: cover property (@(posedge clk_i) load_i && next_tile);
`endif

endmodule

`default_nettype wire
