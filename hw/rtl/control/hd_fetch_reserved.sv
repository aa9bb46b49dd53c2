// hd_fetch_reserved - whether the reserved bits of a header or command are 0, chunk by chunk.
//   Chunk pos_i enters with valid_i; pos_i 0 starts the next header (header_i) or command.
//   opcode_i: the command's, needed after the common part, which all commands share.
//   bad_o: one of the bits so far is set.
// Latency 1. Reset: needs none. Bench: frame_tb.cpp
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

  // Records by kind, their bits that must be 0. Each chunk of each is looked at beside the choice
  // of one: most have no such bit.
  localparam int Common = CommonBits / (8 * Chunk);  // chunks
  localparam logic [Most-1:0] Read   = Most'(CmdDmaReadReserved), Array = Most'(CmdArrayReserved),
                              Vector = Most'(CmdVectorReserved), Store = Most'(CmdStoreReserved),
                              End    = Most'(CmdEndReserved), Header = Most'(HeaderReserved),
                              Shared = Most'(CommonReserved);

  logic [Chunks-1:0] bad;  // were it chunk k
  logic              bad_q;

  for (genvar k = 0; k < Chunks; k++) begin : gen_chunk
    localparam int At = k * Chunk * 8;
    always_comb begin
      if (header_i) begin
        bad[k] = (chunk_i & Header[At +: Chunk*8]) != '0;
      end else if (k < Common) begin
        bad[k] = (chunk_i & Shared[At +: Chunk*8]) != '0;
      end else begin
        unique case (opcode_i)
          OpLoad, OpWeight: bad[k] = (chunk_i & Read[At +: Chunk*8]) != '0;
          OpArray:          bad[k] = (chunk_i & Array[At +: Chunk*8]) != '0;
          OpVector:         bad[k] = (chunk_i & Vector[At +: Chunk*8]) != '0;
          OpStore:          bad[k] = (chunk_i & Store[At +: Chunk*8]) != '0;
          default:          bad[k] = (chunk_i & End[At +: Chunk*8]) != '0;
        endcase
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      bad_q <= bad_q && pos_i != '0;
      for (int k = 0; k < Chunks; k++) begin
        if (pos_i == 8'(k) && bad[k]) bad_q <= 1'b1;
      end
    end
  end

  assign bad_o = bad_q;

endmodule

`default_nettype wire
