// hd_ram - the memory: one synchronous read port, one synchronous write port (1R1W).
//   rdata_o(t+1) = memory[raddr_i](t) if re_i(t), else rdata_o(t).
//   memory[waddr_i] lane b = wdata_i lane b where we_i and be_i[b]; lane = Width / BeBits bits.
//   Read and write of one word in one cycle: the read gives the old word. With Apart the value read
//   of the lanes written is not used: synthesis takes a block RAM without the logic for it, and
//   simulation inverts them, so that every run tries it. HD_COLLISIONS counts such cycles
//   (tests/hw/collisions.sh).
// Latency 1, throughput 1 read and 1 write a cycle. Reset: none, contents and rdata_o start
// undefined.
// Depth is a power of two. Bench: spad_tb.cpp (byte lanes), array_tb.cpp.
`default_nettype none

module hd_ram #(
  parameter int Width    = 32,  // bits of a word
  parameter int Depth    = 64,  // words, a power of two
  parameter int BeBits   = 1,   // write enables a word; divides Width
  parameter bit Apart    = 1'b0,
  parameter int AddrBits = $clog2(Depth)  // derived, do not set (Icarus 11 has no localparam here)
) (
  input  wire logic                clk_i,
  input  wire logic                re_i,
  input  wire logic [AddrBits-1:0] raddr_i,
  output logic      [Width-1:0]    rdata_o,
  input  wire logic                we_i,
  input  wire logic [AddrBits-1:0] waddr_i,
  input  wire logic [BeBits-1:0]   be_i,
  input  wire logic [Width-1:0]    wdata_i
);
  localparam int LaneBits = Width / BeBits;

  (* no_rw_check = Apart *) logic [Width-1:0] mem[Depth];

  // The write is blocking, behind the read: `mem` is private to this process, and a Verilator model
  // spends several times as much on a memory that is written with <=.
  /* verilator lint_off BLKSEQ */
  logic both, same, meets;  // the memory, a word of it, is read and written
  assign both = re_i && we_i && be_i != '0;
  assign same = both && raddr_i == waddr_i;
`ifdef SYNTHESIS
  assign meets = 1'b0;
`else
  assign meets = Apart && same;
`endif

`ifdef HD_COLLISIONS
  longint unsigned cycles = 0, collisions = 0;
  always_ff @(posedge clk_i) begin
    if (both) cycles <= cycles + 1;
    if (same) collisions <= collisions + 1;
  end
  final $display("memory %m: Apart %0d, both %0d, collisions %0d", Apart, cycles, collisions);
`endif

  if (BeBits == 1) begin : gen_word
    always_ff @(posedge clk_i) begin
      if (re_i) rdata_o <= meets ? ~mem[raddr_i] : mem[raddr_i];
      if (we_i && be_i[0]) mem[waddr_i] = wdata_i;
    end
  end else begin : gen_lanes
    always_ff @(posedge clk_i) begin
      if (re_i) rdata_o <= mem[raddr_i];
      if (meets) begin
        for (int b = 0; b < BeBits; b++) begin
          if (be_i[b]) rdata_o[b*LaneBits +: LaneBits] <= ~mem[raddr_i][b*LaneBits +: LaneBits];
        end
      end
      if (we_i) begin
        for (int b = 0; b < BeBits; b++) begin
          if (be_i[b]) mem[waddr_i][b*LaneBits +: LaneBits] = wdata_i[b*LaneBits +: LaneBits];
        end
      end
    end
  end
  /* verilator lint_on BLKSEQ */

endmodule

`default_nettype wire
