// hd_segment - the im2col walk: cuts a kernel into segments of up to `ports` row pieces and N
//   lanes.
// The same walk as driver/hd_walk.h; docs/HARDWARE.md states it. Piece g of the segment under way
// covers lanes lo..hi-1 and kernel row ky; instead of ky and `of` it gives what the addresses need:
//   base_o = ky * pitch_dil + of - lo  (bytes, modulo the scratchpad; depthwise without of - lo)
//   pos_o  = of - lo                   (bytes from the scan position to lane 0; depthwise 0)
//   row_o  = ky * dilation             (image rows)
// Outputs are combinational and defined while take_i; at its clock edge the walk steps on, and
// starts again after the segment with last_o. start_i sets it to the start. Throughput: a segment a
// cycle.
// Reset: none, start_i. Bench: tests/hw/segment_tb.cpp.
`default_nettype none
`include "hd_config.svh"

module hd_segment #(
  parameter int N        = CfgN,
  parameter int G        = CfgPorts,      // most pieces of a segment
  parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int PosBits  = 18,            // signed; holds a kernel row's bytes
  parameter int RowBits  = 19,            // image rows
  parameter int CntBits  = $clog2(N + 1)  // derived
) (
  input  wire logic                  clk_i,
  input  wire logic                  start_i,
  input  wire logic                  take_i,
  input  wire logic                  depthwise_i,
  input  wire logic [2:0]            ports_i,
  input  wire logic [7:0]            kernel_h_i,
  input  wire logic [15:0]           row_bytes_i,
  input  wire logic [AddrBits-1:0]   pitch_dil_i,
  input  wire logic [7:0]            dilation_i,
  output logic      [G-1:0]          valid_o,
  output logic      [G*CntBits-1:0]  lo_o,
  output logic      [G*CntBits-1:0]  hi_o,
  output logic      [G*AddrBits-1:0] base_o,
  output logic      [G*PosBits-1:0]  pos_o,
  output logic      [G*RowBits-1:0]  row_o,
  output logic      [CntBits-1:0]    len_o,
  output logic                       last_o
);
  // Where the next segment begins.
  logic [7:0]          ky_q;
  logic [15:0]         of_q;
  logic [AddrBits-1:0] ky_addr_q;  // ky * pitch_dil
  logic [RowBits-1:0]  ky_row_q;   // ky * dilation

  // The walk before piece g; [G] is where the segment ends.
  logic [7:0]          ky[G+1];
  logic [15:0]         of[G+1];
  logic [AddrBits-1:0] ky_addr[G+1];
  logic [RowBits-1:0]  ky_row[G+1];
  logic [CntBits-1:0]  lane[G+1];

  logic [CntBits-1:0]  room, len;
  logic [15:0]         rest;
  logic                ends;

  // One process: the model evaluates it only where a segment is taken.
  always_comb begin
    valid_o = '0;
    room    = '0;
    len     = '0;
    rest    = '0;
    ends    = 1'b0;
    for (int g = 0; g <= G; g++) begin
      ky[g]      = ky_q;
      of[g]      = of_q;
      ky_addr[g] = ky_addr_q;
      ky_row[g]  = ky_row_q;
      lane[g]    = '0;
    end
    if (take_i) begin
      for (int g = 0; g < G; g++) begin
        room = CntBits'(N) - lane[g];
        rest = row_bytes_i - of[g];
        ends = rest <= 16'(room);
        len  = ends ? rest[CntBits-1:0] : room;
        if (3'(g) < ports_i && ky[g] < kernel_h_i && room != '0 && (ends || !depthwise_i)) begin
          valid_o[g]   = 1'b1;
          lane[g+1]    = lane[g] + len;
          of[g+1]      = ends ? '0 : of[g] + 16'(len);
          ky[g+1]      = ends ? ky[g] + 1'b1 : ky[g];
          ky_addr[g+1] = ends ? ky_addr[g] + pitch_dil_i : ky_addr[g];
          ky_row[g+1]  = ends ? ky_row[g] + RowBits'(dilation_i) : ky_row[g];
        end else begin
          lane[g+1]    = lane[g];
          of[g+1]      = of[g];
          ky[g+1]      = ky[g];
          ky_addr[g+1] = ky_addr[g];
          ky_row[g+1]  = ky_row[g];
        end
      end
    end
  end

  for (genvar g = 0; g < G; g++) begin : gen_piece
    logic [PosBits-1:0] pos;
    assign pos = depthwise_i ? '0 : PosBits'(of[g]) - PosBits'(lane[g]);
    assign lo_o[g*CntBits +: CntBits]     = lane[g];
    assign hi_o[g*CntBits +: CntBits]     = lane[g+1];
    assign pos_o[g*PosBits +: PosBits]    = pos;
    assign base_o[g*AddrBits +: AddrBits] = ky_addr[g] + AddrBits'($signed(pos));
    assign row_o[g*RowBits +: RowBits]    = ky_row[g];
  end
  assign len_o  = lane[G];
  assign last_o = ky[G] >= kernel_h_i;

  always_ff @(posedge clk_i) begin
    if (start_i || (take_i && last_o)) begin
      ky_q      <= '0;
      of_q      <= '0;
      ky_addr_q <= '0;
      ky_row_q  <= '0;
    end else if (take_i) begin
      ky_q      <= ky[G];
      of_q      <= of[G];
      ky_addr_q <= ky_addr[G];
      ky_row_q  <= ky_row[G];
    end
  end

`ifdef HD_ASSERT
  // A kernel that does not fit has no segments: the compiler refuses it, hd_fetch too.
  a_not_empty: assert property (@(posedge clk_i) take_i && !start_i |-> len_o != '0);
`endif

endmodule

`default_nettype wire
