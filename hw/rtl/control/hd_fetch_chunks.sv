// hd_fetch_chunks - reads the command stream ahead and gives it chunk by chunk: 16 bytes, or a
// beat, if that is less.
//   start_i: a stream of bytes_i bytes begins at bus address at_i, both multiples of 16 (else
//   open_i goes low before anything is read), inside its region. From then on at_i is that of the
//   next chunk:
//   chunk_o, chunk_valid_o; chunk_error_o: the bus answered with an error instead. chunk_ready_i
//   takes it.
//   Bursts (hd_dma_bursts) are asked for, one in two cycles at most, while open_i and while a queue
//   of Beats beats has room for one: every beat asked for has its place, so r_ready_o never stops
//   the shared channel.
//   req_first_o: three quarters of the places are free, so commands may soon be awaited; until then
//   rows and weights are worth more.
// Latency: start_i to req_valid_o 2, a beat to its chunk 1. Throughput 1 chunk a cycle. Reset:
// empty.
// Bench: frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"

module hd_fetch_chunks #(
  parameter int AxiBytes = 16,
  parameter int AddrBits = 40,
  parameter int Beats    = TimingFetchBeats,            // a power of two, at least 16
  parameter int Chunk    = AxiBytes < 16 ? AxiBytes : 16  // derived: bytes
) (
  input  wire logic                  clk_i,
  input  wire logic                  rst_ni,
  input  wire logic                  start_i,
  input  wire logic                  open_i,
  input  wire logic [AddrBits:0]     at_i,
  input  wire logic [31:0]           bytes_i,
  // hd_axi_read
  output logic                       req_valid_o,
  output logic                       req_first_o,
  input  wire logic                  req_ready_i,
  output logic      [AddrBits-1:0]   req_addr_o,
  output logic      [7:0]            req_len_o,
  input  wire logic                  r_valid_i,
  output logic                       r_ready_o,
  input  wire logic [AxiBytes*8-1:0] r_data_i,
  input  wire logic                  r_error_i,
  input  wire logic                  r_last_i,
  // chunks
  output logic                       chunk_valid_o,
  output logic                       chunk_error_o,
  input  wire logic                  chunk_ready_i,
  output logic      [Chunk*8-1:0]    chunk_o
);
  localparam int BeatBits   = $clog2(AxiBytes);
  localparam int CreditBits = $clog2(Beats) + 1;

  logic                  burst_valid, bursts_ready, asked;
  logic [CreditBits-1:0] credit_q;  // free places of u_beats not promised to a burst
  logic                  enough_q, first_q;  // for a burst, for req_first_o: a cycle ago
  logic                  beat_take, beat_used, room;
  logic [AxiBytes*8-1:0] beat_data;
  logic                  burst_last, burst_tag, limit_fault, limit_tag;
  logic [AddrBits:0]     limit_addr;

  hd_dma_bursts #(
    .AxiBytes(AxiBytes),
    .AddrBits(AddrBits),
    .TagBits (1)
  ) u_bursts (
    .clk_i,
    .rst_ni,
    .offer_i      (start_i),
    .valid_i      (start_i),
    .ready_o      (bursts_ready),
    .addr_i       (at_i),
    .limit_i      ({1'b1, {AddrBits{1'b0}}}),  // none
    .bytes_i,
    .count_i      (16'd1),
    .pitch_i      (32'd0),
    .tag_i        (1'b0),
    .burst_valid_o(burst_valid),
    .burst_ready_i(asked),
    .burst_addr_o (req_addr_o),
    .burst_len_o  (req_len_o),
    .burst_last_o (burst_last),
    .burst_tag_o  (burst_tag),
    .fault_o      (limit_fault),
    .fault_addr_o (limit_addr),
    .fault_tag_o  (limit_tag)
  );

  assign req_valid_o = burst_valid && open_i && enough_q;
  assign req_first_o = first_q;
  assign asked       = req_valid_o && req_ready_i;
  assign beat_take   = chunk_ready_i && beat_used;
  assign r_ready_o   = 1'b1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      credit_q <= CreditBits'(Beats);
    end else if (beat_take || asked) begin
      credit_q <= credit_q + CreditBits'(beat_take)
                  - (asked ? CreditBits'(req_len_o) + CreditBits'(1) : '0);
    end
    enough_q <= credit_q >= CreditBits'(16) && !asked;
    first_q  <= credit_q >= CreditBits'(Beats - Beats / 4);
  end

  hd_fifo #(.Width(AxiBytes * 8 + 2), .Depth(Beats)) u_beats (
    .clk_i,
    .rst_ni,
    .valid_i(r_valid_i),
    .ready_o(room),
    .data_i ({r_error_i, r_last_i, r_data_i}),
    .valid_o(chunk_valid_o),
    .ready_i(beat_take),
    .data_o ({beat_error, beat_last, beat_data})
  );

  // Beats of a line are a burst, and those up to the end of the stream.
  // Whether this is one is known before it comes.
  function automatic logic ends(input logic [BeatBits+3:0] at, input logic [31:0] bytes);
    ends = at[BeatBits +: 4] == 4'hf
           || bytes <= 32'(AxiBytes) - (32'(at[BeatBits-1:0]) & ~32'd15);
  endfunction

  logic beat_error, beat_last, burst_end_q;

  always_ff @(posedge clk_i) begin
    if (start_i) burst_end_q <= ends(at_i[BeatBits+3:0], bytes_i);
    else if (chunk_ready_i)
      burst_end_q <= ends(at_i[BeatBits+3:0] + (BeatBits+4)'(Chunk), bytes_i - 32'(Chunk));
  end
  assign chunk_error_o = beat_error || beat_last != burst_end_q;

  // A beat wider than a chunk is used twice.
  if (AxiBytes > 16) begin : gen_wide
    localparam int Select = $clog2(AxiBytes / 16);
    logic [Select-1:0] select;
    assign select    = at_i[4 +: Select];
    assign chunk_o   = beat_data[select*128 +: 128];
    assign beat_used = select == {Select{1'b1}};
  end else begin : gen_narrow
    assign chunk_o   = beat_data;
    assign beat_used = 1'b1;
  end

  logic unused;  // a stream is inside its region
  assign unused = ^{room, bursts_ready, burst_last, burst_tag, limit_fault, limit_addr, limit_tag};

`ifdef HD_ASSERT
  a_room: assert property (@(posedge clk_i) disable iff (!rst_ni) r_valid_i |-> room);
  c_no_credit: cover property (@(posedge clk_i) burst_valid && open_i && !req_valid_o);
`endif
endmodule

`default_nettype wire
