// hd_soc_ram - the memory of hd_soc: one for the processor and the accelerator, 1R1W block RAM.
//   A write: lanes of 8 bits where we_i and be_i. A read: rdata_o(t+1) = mem[raddr_i](t) if re_i.
//   Init: a file of $readmemh, one word per line, in synthesis as in simulation. A read of a word
//   that is written in the same cycle gives a value that must not be used.
// Latency 1, throughput 1 read and 1 write a cycle. Reset: none, contents are Init's.
// Bench: hw/fpga/simulate.cpp
`default_nettype none

module hd_soc_ram #(
  parameter     Init     = "soc.hex",
  parameter int Width    = 64,     // bits of a word, a multiple of 8
  parameter int Depth    = 16384,  // words, a power of two
  parameter int AddrBits = $clog2(Depth)  // derived, do not set (Icarus 11 has no localparam here)
) (
  input  wire logic                clk_i,
  input  wire logic                re_i,
  input  wire logic [AddrBits-1:0] raddr_i,
  output logic      [Width-1:0]    rdata_o,
  input  wire logic                we_i,
  input  wire logic [AddrBits-1:0] waddr_i,
  input  wire logic [Width/8-1:0]  be_i,
  input  wire logic [Width-1:0]    wdata_i
);
  (* no_rw_check *) logic [Width-1:0] mem[Depth];

  initial $readmemh(Init, mem);

  always_ff @(posedge clk_i) begin
    if (re_i) rdata_o <= mem[raddr_i];
    if (we_i) begin
      for (int b = 0; b < Width / 8; b++) begin
        if (be_i[b]) mem[waddr_i][b*8 +: 8] <= wdata_i[b*8 +: 8];
      end
    end
  end

endmodule

`default_nettype wire
