// hd_regions - the region registers: bases, sizes, rights, and their look-up by the units.
//   Look-up p (LOAD, WEIGHT, STORE, FETCH): base_o, limit_o and right_o of region index_i[p] in the
//   next cycle. limit_o is the first address beyond the region: base + size, at most 2^AddrBits; 0
//   if the base is beyond the bus, so every burst faults. right_o: STORE may write it, the others
//   may read it.
//   Bus: write_i with word, data and mask of bits (whole bytes); read_data_o of read_word_i, in the
//   next cycle. Words that are not its own are ignored, and read 0.
// Bases and sizes are a memory of 16 entries (distributed RAM, a copy for each look-up: a fifth of
// what registers and their multiplexers take), so reset clears one entry a cycle: ready_o is low
// meanwhile, reads give 0, nothing may be written.
// Reset: all 0, so every region is disabled. Bench: frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"

module hd_regions #(
  parameter int AddrBits = 40
) (
  input  wire logic                      clk_i,
  input  wire logic                      rst_ni,
  output logic                           ready_o,
  input  wire logic                      write_i,
  input  wire logic [RegBits-1:0]        write_word_i,
  input  wire logic [31:0]               data_i,
  input  wire logic [31:0]               mask_i,
  input  wire logic [RegBits-1:0]        read_word_i,
  output logic      [31:0]               read_data_o,
  input  wire logic [4*4-1:0]            index_i,
  output logic      [4*AddrBits-1:0]     base_o,
  output logic      [4*(AddrBits+1)-1:0] limit_o,
  output logic      [3:0]                right_o
);
  localparam int Count = RegRegionBaseLoCount;

  logic [31:0] lo_q[Count], hi_q[Count], size_q[Count];
  logic [31:0] rights_q;
  logic [4:0]  clear_q;  // the entry that is cleared; Count: none

  // Elements of the three arrays.
  logic [RegBits-1:0] write_lo, write_hi, write_size, read_lo, read_hi, read_size;
  logic [2:0]         we_word;
  logic [3:0]         strb, at, read_at_q;
  logic [3:0]         read_is_q;  // a base's low or high word, a size, the rights
  logic [11:0]        we;       // by byte
  logic [31:0]        data;

  assign write_lo   = write_word_i - RegRegionBaseLo;
  assign write_hi   = write_word_i - RegRegionBaseHi;
  assign write_size = write_word_i - RegRegionSize;
  assign we_word[0] = write_i && write_lo < RegBits'(Count);
  assign we_word[1] = write_i && write_hi < RegBits'(Count);
  assign we_word[2] = write_i && write_size < RegBits'(Count);
  assign strb       = {mask_i[24], mask_i[16], mask_i[8], mask_i[0]};

  assign ready_o = clear_q == 5'(Count);
  assign data    = ready_o ? data_i : '0;
  assign we      = ready_o ? {{4{we_word[2]}}, {4{we_word[1]}}, {4{we_word[0]}}} & {3{strb}} : '1;

  always_comb begin
    at = write_size[3:0];
    if (write_lo < RegBits'(Count)) at = write_lo[3:0];
    if (write_hi < RegBits'(Count)) at = write_hi[3:0];
    if (!ready_o) at = clear_q[3:0];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) rights_q <= '0;
    else if (write_i && write_word_i == RegRegionRights)
      rights_q <= (rights_q & ~mask_i) | (data_i & mask_i);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) clear_q <= '0;
    else if (!ready_o) clear_q <= clear_q + 5'd1;
  end

  // Written a cycle later, from registers.
  logic [3:0]  at_q;
  logic [11:0] we_q;
  logic [31:0] data_q;

  always_ff @(posedge clk_i) begin
    at_q   <= at;
    we_q   <= we;
    data_q <= data;
    if (we_q != '0) begin
      for (int b = 0; b < 4; b++) begin
        if (we_q[b]) lo_q[at_q][b*8 +: 8] <= data_q[b*8 +: 8];
        if (we_q[4 + b]) hi_q[at_q][b*8 +: 8] <= data_q[b*8 +: 8];
        if (we_q[8 + b]) size_q[at_q][b*8 +: 8] <= data_q[b*8 +: 8];
      end
    end
  end

  assign read_lo   = read_word_i - RegRegionBaseLo;
  assign read_hi   = read_word_i - RegRegionBaseHi;
  assign read_size = read_word_i - RegRegionSize;

  always_ff @(posedge clk_i) begin
    read_at_q <= read_lo < RegBits'(Count) ? read_lo[3:0]
                 : read_hi < RegBits'(Count) ? read_hi[3:0] : read_size[3:0];
    read_is_q <= {read_word_i == RegRegionRights, read_size < RegBits'(Count),
                  read_hi < RegBits'(Count), read_lo < RegBits'(Count)} & {4{ready_o}};
  end

  assign read_data_o = (lo_q[read_at_q] & {32{read_is_q[0]}})
                       | (hi_q[read_at_q] & {32{read_is_q[1]}})
                       | (size_q[read_at_q] & {32{read_is_q[2]}}) | (rights_q & {32{read_is_q[3]}});

  for (genvar p = 0; p < 4; p++) begin : gen_lookup
    logic [3:0]        index;
    logic [63:0]       base;
    logic [AddrBits:0] limit;
    localparam int Right = p == 2 ? RegionRightsWriteLsb : RegionRightsReadLsb;
    assign index = index_i[p*4 +: 4];
    assign base  = {hi_q[index], lo_q[index]};
    assign limit = {1'b0, base[AddrBits-1:0]} + (AddrBits + 1)'(size_q[index]);
    always_ff @(posedge clk_i) begin
      right_o[p] <= rights_q[5'(Right) + {1'b0, index}];
      base_o[p*AddrBits +: AddrBits] <= base[AddrBits-1:0];
      limit_o[p*(AddrBits+1) +: AddrBits+1] <=
        base[63:AddrBits] != '0 ? '0 : limit[AddrBits] ? {1'b1, {AddrBits{1'b0}}} : limit;
    end
  end

endmodule

`default_nettype wire
