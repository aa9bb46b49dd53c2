// hd_dma_bursts - the address phase of a DMA unit: bursts of a walk through a region, checked
// against its limit.
//   INCR, at most 16 beats, cut at multiples of 16 beats: so none crosses 4 KiB, and a long run is
//   full bursts except its ends. A burst's address is aligned to the bus. A burst that would end
//   beyond the region's limit (or the bus address space) is never shown: fault_o, fault_addr_o (its
//   first byte) and fault_tag_o, until reset.
//   burst_last_o: last of the walk; burst_tag_o goes with it.
// It accepts the next walk while its last two bursts still wait. Latency 2, throughput 1 burst a
// cycle. Reset: nothing to do. Bench: frame_tb.cpp
`default_nettype none

module hd_dma_bursts #(
  parameter int AxiBytes = 16,
  parameter int AddrBits = 40,
  parameter int TagBits  = 32
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,
  input  wire logic                offer_i,  // hd_dma_walk
  input  wire logic                valid_i,
  output logic                     ready_o,
  input  wire logic [AddrBits:0]   addr_i,   // of the first run
  input  wire logic [AddrBits:0]   limit_i,  // first address beyond the region
  input  wire logic [31:0]         bytes_i,
  input  wire logic [15:0]         count_i,
  input  wire logic [31:0]         pitch_i,
  input  wire logic [TagBits-1:0]  tag_i,
  output logic                     burst_valid_o,
  input  wire logic                burst_ready_i,
  output logic      [AddrBits-1:0] burst_addr_o,
  output logic      [7:0]          burst_len_o,
  output logic                     burst_last_o,
  output logic      [TagBits-1:0]  burst_tag_o,
  output logic                     fault_o,
  output logic      [AddrBits:0]   fault_addr_o,
  output logic      [TagBits-1:0]  fault_tag_o
);
  localparam int Line     = 16 * AxiBytes;
  localparam int LineBits = $clog2(Line);
  localparam int BeatBits = $clog2(AxiBytes);

  logic                step_valid, step_ready, step_last, beyond, take;
  logic [AddrBits:0]        line_addr;
  logic [AddrBits:LineBits] line;
  logic [AddrBits+1:0] left, beyond_limit;  // bus addresses beyond the limit; of the walk
  /* verilator lint_off UNUSEDSIGNAL */  // its carry
  logic [AddrBits+1:0] sum;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [LineBits:0]   lo;
  logic [LineBits-1:0] top;
  logic [TagBits-1:0]  tag;
  logic                free, fault_q;
  logic [3:0]          len;
  logic [LineBits:0]   unused_bytes;
  logic                unused_ready, unused_end, unused;

  hd_dma_walk #(
    .Bytes   (Line),
    .AddrBits(AddrBits + 1),
    .TagBits (TagBits + AddrBits + 2)
  ) u_walk (
    .clk_i,
    .rst_ni,
    .offer_i,
    .valid_i(valid_i && ready_o),
    .ready_o(unused_ready),
    .addr_i,
    .bytes_i,
    .count_i,
    .pitch_i((AddrBits + 1)'(pitch_i)),
    .tag_i  ({tag_i, left}),
    .valid_o(step_valid),
    .ready_i(step_ready),
    .addr_o (line_addr),
    .lo_o   (lo),
    .top_o  (top),
    .bytes_o(unused_bytes),
    .end_o  (unused_end),
    .last_o (step_last),
    .tag_o  ({tag, beyond_limit})
  );

  assign line       = line_addr[AddrBits:LineBits];
  // {line, top} is beyond the limit if its sum with the space beyond the limit reaches 2^(AddrBits
  // + 1).
  assign left       = {1'b1, {(AddrBits + 1){1'b0}}} - {1'b0, limit_i};
  assign sum        = {1'b0, line, top} + beyond_limit;
  assign beyond     = sum[AddrBits+1];
  assign ready_o    = !step_valid;
  assign step_ready = free && !beyond && !fault_q;
  assign take       = step_valid && step_ready;
  assign len        = top[LineBits-1:BeatBits] - lo[LineBits-1:BeatBits];

  // Whether one goes depends on whether another one is taken in the same cycle only here.
  hd_fifo #(.Width(AddrBits - BeatBits + 4 + 1 + TagBits), .Depth(2)) u_bursts (
    .clk_i,
    .rst_ni,
    .valid_i(take),
    .ready_o(free),
    .data_i ({line[AddrBits-1:LineBits], lo[LineBits-1:BeatBits], len, step_last, tag}),
    .valid_o(burst_valid_o),
    .ready_i(burst_ready_i),
    .data_o ({burst_addr_o[AddrBits-1:BeatBits], burst_len_o[3:0], burst_last_o, burst_tag_o})
  );

  assign burst_addr_o[BeatBits-1:0] = '0;
  assign burst_len_o[7:4]           = '0;

  // The step beyond stays; bursts before it go first.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) fault_q <= 1'b0;
    else if (step_valid && beyond && !burst_valid_o) fault_q <= 1'b1;
  end

  assign fault_o      = fault_q;
  assign fault_addr_o = {line, lo[LineBits-1:0]};
  assign fault_tag_o  = tag;

  assign unused = ^{line_addr[LineBits-1:0], lo[LineBits]};

`ifdef HD_ASSERT
  a_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    burst_valid_o && !burst_ready_i |=>
    burst_valid_o && $stable({burst_addr_o, burst_len_o, burst_last_o, burst_tag_o}));
  a_fault_last: assert property (@(posedge clk_i) disable iff (!rst_ni)
    fault_o |-> !burst_valid_o);
  c_beyond: cover property (@(posedge clk_i) fault_o);
`endif
endmodule

`default_nettype wire
