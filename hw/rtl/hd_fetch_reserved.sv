// hd_fetch_reserved - whether the reserved bits of a header or command are 0, chunk by chunk.
//   Chunk pos_i enters with valid_i; pos_i 0 starts the next header (header_i) or command.
//   opcode_i: the command's, needed after the common part, which all commands share.
//   bad_o: one of the bits so far is set.
// Latency 1. Reset: needs none. Bench: tests/hw/frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"

module hd_fetch_reserved #(
  parameter int Chunk = 16  // bytes
) (
  input  wire logic               clk_i,
  input  wire logic               valid_i,
  input  wire logic               header_i,
  input  wire logic [7:0]         opcode_i,
  input  wire logic [7:0]         pos_i,
  input  wire logic [Chunk*8-1:0] chunk_i,
  output logic                    bad_o
);
  localparam int Most   = CmdArrayBits > CmdVectorBits ? CmdArrayBits : CmdVectorBits;
  localparam int Chunks = Most / (8 * Chunk);

  logic [Most-1:0]    record;  // bits that must be 0
  logic [Chunk*8-1:0] mask;
  logic               bad_q;

  always_comb begin
    record = '0;
    unique case (opcode_i)
      OpLoad, OpWeight: record[CmdDmaReadBits-1:0] = CmdDmaReadReserved;
      OpArray:          record[CmdArrayBits-1:0]   = CmdArrayReserved;
      OpVector:         record[CmdVectorBits-1:0]  = CmdVectorReserved;
      OpStore:          record[CmdStoreBits-1:0]   = CmdStoreReserved;
      default:          record[CmdEndBits-1:0]     = CmdEndReserved;
    endcase
    record[CommonBits-1:0] = CommonReserved;
    if (header_i) record[HeaderBits-1:0] = HeaderReserved;
  end

  always_comb begin
    mask = '0;
    for (int k = 0; k < Chunks; k++) begin
      if (pos_i == 8'(k)) mask = record[k*Chunk*8 +: Chunk*8];
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) bad_q <= (bad_q && pos_i != '0) || (chunk_i & mask) != '0;
  end

  assign bad_o = bad_q;

endmodule

`default_nettype wire
