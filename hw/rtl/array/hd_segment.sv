// hd_segment - the im2col walk: cuts a kernel into segments of up to `ports` row pieces and
//   Rows lanes.
// The same walk as driver/hd_walk.h; docs/HARDWARE.md states it. Piece g of the segment under way
// covers lanes lo..hi-1 and kernel row ky; instead of ky and `of` it gives what the addresses need:
//   base_o = ky * pitch_dil + of - lo  (bytes, modulo the scratchpad; depthwise without of - lo)
//   pos_o  = of - lo                   (bytes from the scan position to lane 0; depthwise 0)
//   row_o  = ky * dilation             (image rows)
// Outputs are registers: the first segment one cycle after start_i, the next one three cycles after
// take_i, which takes the one shown, with more_i. After the segment with last_o the walk starts
// again. In between (a walk continues in the two cycles after take_i) there is no start_i.
// Fields are of the command that is to begin, but in those two cycles (goes_on_o) of the one under
// way, as walk_pitch_i and walk_dilation_i are from the cycle after start_i on.
// Only the last piece of a segment may end before its row does, for it fills the lanes; so
// all but the first begin a row, and the start of each follows from the rest of the first row.
// Throughput: a segment in three cycles. Reset: none, start_i. Bench: segment_tb.cpp.
`default_nettype none
`include "hd_config.svh"

module hd_segment #(
  parameter int N        = CfgN,          // lanes of a word
  parameter int Rows     = CfgRows,       // most lanes of a segment
  parameter int G        = CfgPorts,      // most pieces of a segment
  parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int PosBits  = 18,            // signed; holds a kernel row's bytes
  parameter int RowBits  = 19,            // image rows
  parameter int CntBits  = $clog2(N + 1)  // derived
) (
  input  wire logic                  clk_i,
  input  wire logic                  start_i,
  input  wire logic                  take_i,
  input  wire logic                  more_i,
  input  wire logic                  depthwise_i,
  input  wire logic [2:0]            ports_i,
  input  wire logic [7:0]            kernel_h_i,
  input  wire logic [15:0]           row_bytes_i,
  input  wire logic [AddrBits-1:0]   pitch_dil_i,
  input  wire logic [7:0]            dilation_i,
  input  wire logic [AddrBits-1:0]   walk_pitch_i,
  input  wire logic [7:0]            walk_dilation_i,
  output logic                       goes_on_o,  // a walk continues
  output logic      [G-1:0]          valid_o,
  output logic      [G*CntBits-1:0]  lo_o,
  output logic      [G*CntBits-1:0]  hi_o,
  output logic      [G*AddrBits-1:0] base_o,
  output logic      [G*PosBits-1:0]  pos_o,
  output logic      [G*RowBits-1:0]  row_o,
  output logic      [CntBits-1:0]    len_o,
  output logic                       last_o
);
  localparam int SumBits = CntBits + 2;  // of lanes and up to three rows that fit

  // Where the segment after the one shown begins, and what is left of its row.
  logic [7:0]          ky_q;
  logic [15:0]         of_q, rest_q;
  logic [AddrBits-1:0] ky_addr_q;  // ky * pitch_dil
  logic [RowBits-1:0]  ky_row_q;   // ky * dilation
  logic                taken_q, fill_q, goes_on_q;
  logic                filled_q, started_q;  // in the cycle before; by start_i

  logic [7:0]           ky;
  logic [15:0]          of, rest;
  logic [AddrBits-1:0]  ky_addr[G];  // of piece g
  logic [RowBits-1:0]   ky_row[G];
  logic [SumBits-1:0]   lane[G+1];     // where piece g begins if the ones before it end their rows
  logic [G:0]           rows;          // kernel row ky + g exists
  logic [G-1:0]         valid, ends;
  logic [G*CntBits-1:0] hi;
  logic [CntBits-1:0]   len;
  logic                 goes_on, last, fill;

  // start_i comes late: without fill_q all is as if it began. So the model, too, evaluates this
  // only where a segment is found.
  assign fill      = start_i || fill_q;
  assign goes_on_o = goes_on_q;

  always_comb begin
    ky        = 'x;
    of        = 'x;
    rest      = 'x;
    valid     = 'x;
    ends      = 'x;
    rows      = 'x;
    hi        = 'x;
    len       = 'x;
    goes_on   = 1'bx;
    last      = 1'bx;
    for (int g = 0; g < G; g++) begin
      ky_addr[g] = 'x;
      ky_row[g]  = 'x;
    end
    for (int g = 0; g <= G; g++) lane[g] = 'x;
    if (fill) begin
      ky      = fill_q ? ky_q : '0;
      of      = fill_q ? of_q : '0;
      rest    = fill_q ? rest_q : row_bytes_i;
      len     = '0;
      goes_on = 1'b1;
      for (int g = 0; g < G; g++) begin
        ky_addr[g] = (fill_q ? ky_addr_q : '0) + AddrBits'(g) * pitch_dil_i;
        ky_row[g]  = (fill_q ? ky_row_q : '0) + RowBits'(g) * RowBits'(dilation_i);
      end
      for (int g = 0; g <= G; g++) begin
        rows[g]    = 9'(ky) + 9'(g) < 9'(kernel_h_i);
        lane[g]    = g == 0 ? '0 : SumBits'(rest[CntBits-1:0])
                                   + SumBits'(g - 1) * SumBits'(row_bytes_i[CntBits-1:0]);
      end
      for (int g = 0; g < G; g++) begin
        ends[g]  = lane[g+1] <= SumBits'(Rows) && rest[15:CntBits] == '0
                   && (g == 0 || row_bytes_i[15:CntBits] == '0);
        valid[g] = goes_on && 3'(g) < ports_i && rows[g] && lane[g] < SumBits'(Rows)
                   && (ends[g] || !depthwise_i);
        goes_on  = valid[g] && ends[g];
        hi[g*CntBits +: CntBits] = ends[g] ? lane[g+1][CntBits-1:0] : CntBits'(Rows);
        if (valid[g]) begin
          len       = hi[g*CntBits +: CntBits];
          last      = ends[g] && !rows[g+1];
        end
      end
    end
  end

  // In the cycle after: where the next segment begins, in which piece and whether at its end.
  logic                 ends_q;
  logic [G-1:0]         piece_q;                           // one bit: the last valid piece
  logic [CntBits-1:0]   lane_q[G];
  logic [7:0]           ky_from, ky_next;
  logic [15:0]          of_from, of_next;
  logic [AddrBits-1:0]  addr_from, addr_next;
  logic [RowBits-1:0]   row_from, row_next;

  always_comb begin
    ky_from   = started_q ? '0 : ky_q;
    of_from   = started_q ? '0 : of_q;
    addr_from = started_q ? '0 : ky_addr_q;
    row_from  = started_q ? '0 : ky_row_q;
    ky_next   = 'x;
    of_next   = 'x;
    addr_next = 'x;
    row_next  = 'x;
    for (int g = 0; g < G; g++) begin
      if (filled_q && piece_q[g]) begin
        ky_next   = ky_from + 8'(g) + 8'(ends_q);
        of_next   = ends_q ? '0 : g == 0 ? of_from + 16'(Rows) : 16'(Rows) - 16'(lane_q[g]);
        addr_next = addr_from + (ends_q ? AddrBits'(g + 1) : AddrBits'(g)) * walk_pitch_i;
        row_next  = row_from + (ends_q ? RowBits'(g + 1) : RowBits'(g)) * RowBits'(walk_dilation_i);
      end
    end
  end

  for (genvar g = 0; g < G; g++) begin : gen_piece
    logic [CntBits-1:0] lo;
    logic [PosBits-1:0] pos;
    assign lo  = valid[g] ? lane[g][CntBits-1:0] : len;
    assign pos = depthwise_i ? '0 : (g == 0 ? PosBits'(of) : '0) - PosBits'(lane[g]);
    always_ff @(posedge clk_i) begin
      if (fill) begin
        lo_o[g*CntBits +: CntBits]     <= lo;
        hi_o[g*CntBits +: CntBits]     <= valid[g] ? hi[g*CntBits +: CntBits] : len;
        pos_o[g*PosBits +: PosBits]    <= pos;
        base_o[g*AddrBits +: AddrBits] <= ky_addr[g] + AddrBits'($signed(pos));
        row_o[g*RowBits +: RowBits]    <= ky_row[g];
        lane_q[g]                      <= lane[g][CntBits-1:0];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    taken_q   <= take_i && more_i;
    fill_q    <= taken_q;
    goes_on_q <= (take_i && more_i) || taken_q;
    filled_q  <= fill;
    started_q <= !fill_q;
    if (taken_q) rest_q <= last_o ? row_bytes_i : row_bytes_i - of_q;
    if (taken_q && last_o) begin
      ky_q      <= '0;
      of_q      <= '0;
      ky_addr_q <= '0;
      ky_row_q  <= '0;
    end
    if (fill) begin
      valid_o   <= valid;
      len_o     <= len;
      last_o    <= last;
      ends_q    <= |(valid & ends & ~(valid >> 1));
      piece_q   <= valid & ~(valid >> 1);
    end
    if (filled_q) begin
      ky_q      <= ky_next;
      of_q      <= of_next;
      ky_addr_q <= addr_next;
      ky_row_q  <= row_next;
    end
  end

`ifdef HD_ASSERT
  // A kernel that does not fit has no segments: the compiler refuses it, hd_fetch too.
  a_not_empty: assert property (@(posedge clk_i) take_i |-> len_o != '0);
  a_apart: assert property (@(posedge clk_i) take_i || start_i |-> !taken_q && !fill_q);
`endif

endmodule

`default_nettype wire
