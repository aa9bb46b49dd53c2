// hd_regions - the region registers, and their look-up by the units.
//   Look-up p (4 of them): base_o and limit_o of region index_i[p] in the same cycle. limit_o is the first address
//   beyond the region: base + size, at most 2^AddrBits; 0 if the base is beyond the bus, so every burst faults.
//   Write: we_i[0] base_lo, [1] base_hi, [2] size of region write_i. Read: the three of region read_i, same cycle.
// Reset: all 0, so every region is disabled. Bench: tests/hw/frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"

module hd_regions #(
  parameter int AddrBits = 40
) (
  input  wire logic                      clk_i,
  input  wire logic                      rst_ni,
  input  wire logic [2:0]                we_i,
  input  wire logic [3:0]                write_i,
  input  wire logic [31:0]               data_i,
  input  wire logic [31:0]               mask_i,
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

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int r = 0; r < Count; r++) begin
        lo_q[r]   <= '0;
        hi_q[r]   <= '0;
        size_q[r] <= '0;
      end
    end else begin
      if (we_i[0]) lo_q[write_i] <= (lo_q[write_i] & ~mask_i) | (data_i & mask_i);
      if (we_i[1]) hi_q[write_i] <= (hi_q[write_i] & ~mask_i) | (data_i & mask_i);
      if (we_i[2]) size_q[write_i] <= (size_q[write_i] & ~mask_i) | (data_i & mask_i);
    end
  end

  assign base_lo_o = lo_q[read_i];
  assign base_hi_o = hi_q[read_i];
  assign size_o    = size_q[read_i];

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
