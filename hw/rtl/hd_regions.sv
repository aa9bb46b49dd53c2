// hd_regions - the region registers, and their look-up by the units.
//   Look-up p (4 of them): base_o and limit_o of region index_i[p] in the same cycle. limit_o is
//   the first address beyond the region: base + size, at most 2^AddrBits; 0 if the base is beyond
//   the bus, so every burst faults.
//   Write: we_i[0] base_lo, [1] base_hi, [2] size of region write_i, where the strobes strb_i are.
//   Read: the three of region read_i, same cycle.
// A memory of 16 entries (distributed RAM, a copy for each look-up: a fifth of what registers and
// their multiplexers take), so reset clears one entry a cycle: ready_o is low meanwhile, reads give
// 0, nothing may be written.
// Reset: all 0, so every region is disabled. Bench: tests/hw/frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"

module hd_regions #(
  parameter int AddrBits = 40
) (
  input  wire logic                      clk_i,
  input  wire logic                      rst_ni,
  output logic                           ready_o,
  input  wire logic [2:0]                we_i,
  input  wire logic [3:0]                write_i,
  input  wire logic [31:0]               data_i,
  input  wire logic [3:0]                strb_i,
  input  wire logic [3:0]                read_i,
  output logic      [31:0]               base_lo_o,
  output logic      [31:0]               base_hi_o,
  output logic      [31:0]               size_o,
  input  wire logic [4*4-1:0]            index_i,
  output logic      [4*AddrBits-1:0]     base_o,
  output logic      [4*(AddrBits+1)-1:0] limit_o
);
  localparam int Count = RegRegionBaseLoCount;

  logic [31:0] lo_q[Count], hi_q[Count], size_q[Count];
  logic [4:0]  clear_q;  // the entry that is cleared; Count: none

  logic [3:0]  at;
  logic [11:0] we;       // by byte
  logic [31:0] data;

  assign ready_o = clear_q == 5'(Count);
  assign at      = ready_o ? write_i : clear_q[3:0];
  assign data    = ready_o ? data_i : '0;
  assign we      = ready_o ? {{4{we_i[2]}}, {4{we_i[1]}}, {4{we_i[0]}}} & {3{strb_i}} : '1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) clear_q <= '0;
    else if (!ready_o) clear_q <= clear_q + 5'd1;
  end

  always_ff @(posedge clk_i) begin
    if (we != '0) begin
      for (int b = 0; b < 4; b++) begin
        if (we[b]) lo_q[at][b*8 +: 8] <= data[b*8 +: 8];
        if (we[4 + b]) hi_q[at][b*8 +: 8] <= data[b*8 +: 8];
        if (we[8 + b]) size_q[at][b*8 +: 8] <= data[b*8 +: 8];
      end
    end
  end

  assign base_lo_o = ready_o ? lo_q[read_i] : '0;
  assign base_hi_o = ready_o ? hi_q[read_i] : '0;
  assign size_o    = ready_o ? size_q[read_i] : '0;

  for (genvar p = 0; p < 4; p++) begin : gen_lookup
    logic [3:0]        index;
    logic [63:0]       base;
    logic [AddrBits:0] limit;
    assign index = index_i[p*4 +: 4];
    assign base  = {hi_q[index], lo_q[index]};
    assign limit = {1'b0, base[AddrBits-1:0]} + (AddrBits + 1)'(size_q[index]);
    assign base_o[p*AddrBits +: AddrBits] = base[AddrBits-1:0];
    assign limit_o[p*(AddrBits+1) +: AddrBits+1] =
      base[63:AddrBits] != '0 ? '0 : limit[AddrBits] ? {1'b1, {AddrBits{1'b0}}} : limit;
  end

endmodule

`default_nettype wire
