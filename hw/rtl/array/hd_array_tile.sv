// hd_array_tile - the outer loops of ARRAY: channel tile, block, segment (docs/HARDWARE.md): the
// tile to load.
//   start_i begins command cmd_i; ld_i is that command from the next cycle on. load_i: its next
//   tile is loaded. For the tile to load:
//   block_o (it begins another block of the same channel tile), tile_o (another channel tile),
//   again_o (its weights are those of an earlier block), y_o, in_o, out_o (image row, scratchpad
//   bytes of input and output), pixels_o (positions), nch_o (channels), final_o
//   (the command's last).
//   last_i: the segment of the last tile loaded is a kernel's last; seg_last_i: that to load is.
// Latency: start_i 1 cycle, load_i 2 (a tile has more steps). Reset: none, start_i. Bench:
// array_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module hd_array_tile #(
  parameter int N        = CfgN,
  parameter int Cols     = CfgColumns,       // channels of a tile
  parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int RowBits  = 19,            // image row, signed
  parameter int CntBits  = $clog2(N + 1)  // derived
) (
  input  wire logic                      clk_i,
  input  wire logic                      en_i,
  input  wire logic                      start_i,
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
  logic [15:0]               ch_left_q, blk_left_q;
  logic [AddrBits-1:0]       in_tile_q, in_blk_q, out_tile_q, out_blk_q, in_next, out_next;
  logic signed [RowBits-1:0] y_blk_q;
  logic                      block_q, tile_q, again_q, last_blk;
  logic                      loaded_q;  // loaded in the previous cycle: advance

  assign last_blk = blk_left_q == 16'd1;
  assign in_next  = ld_i.depthwise ? in_tile_q + AddrBits'(Cols) : in_tile_q;
  assign out_next = out_tile_q + AddrBits'(Cols);

  always_ff @(posedge clk_i) begin
    loaded_q <= en_i && load_i;
    if (start_i) begin
      block_q    <= 1'b0;
      tile_q     <= 1'b0;
      again_q    <= 1'b0;
      ch_left_q  <= cmd_i.out_channels;
      blk_left_q <= cmd_i.blocks;
      in_tile_q  <= cmd_i.in_row[AddrBits-1:0];
      in_blk_q   <= cmd_i.in_row[AddrBits-1:0];
      out_tile_q <= cmd_i.out_base[AddrBits-1:0];
      out_blk_q  <= cmd_i.out_base[AddrBits-1:0];
      y_blk_q    <= RowBits'($signed(cmd_i.y_start));
    end else if (loaded_q) begin
      block_q <= last_i && !last_blk;
      tile_q  <= last_i && last_blk;
      if (last_i) again_q <= !last_blk;
      if (last_i && last_blk) begin
        ch_left_q  <= ch_left_q - 16'(Cols);
        blk_left_q <= ld_i.blocks;
        in_tile_q  <= in_next;
        in_blk_q   <= in_next;
        out_tile_q <= out_next;
        out_blk_q  <= out_next;
        y_blk_q    <= RowBits'($signed(ld_i.y_start));
      end else if (last_i) begin
        blk_left_q <= blk_left_q - 16'd1;
        in_blk_q   <= in_blk_q + ld_i.in_block_step[AddrBits-1:0];
        out_blk_q  <= out_blk_q + ld_i.out_block_step[AddrBits-1:0];
        y_blk_q    <= y_blk_q + RowBits'(ld_i.block_step_y);
      end
    end
  end

  assign block_o  = block_q;
  assign tile_o   = tile_q;
  assign again_o  = again_q;
  assign y_o      = y_blk_q;
  assign in_o     = in_blk_q;
  assign out_o    = out_blk_q;
  assign pixels_o = last_blk ? ld_i.last_scan : ld_i.block_scan;
  assign nch_o    = ch_left_q < 16'(Cols) ? ch_left_q[CntBits-1:0] : CntBits'(Cols);
  assign final_o  = seg_last_i && last_blk && ch_left_q <= 16'(Cols);

`ifdef HD_ASSERT
  c_block: cover property (@(posedge clk_i) loaded_q && last_i && !last_blk);
  c_tile: cover property (@(posedge clk_i) loaded_q && last_i && last_blk);
`endif

endmodule

`default_nettype wire
