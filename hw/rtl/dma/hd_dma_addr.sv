// hd_dma_addr - the address half of a DMA unit (LOAD, WEIGHT, STORE): what a command touches, in
// order.
//   A command names one byte stream twice: `runs` runs in memory, `rows` rows of words in a memory
//   of ours.
//   burst_*  bursts of the runs (hd_dma_bursts), ahead of the data over command borders
//   beat_*   the runs beat by beat: `bytes` from lo on of the beat at beat_addr_o; end: last of its
//   run
//   word_*   the rows word by word: the first word_count_o bytes of word_o; last: of the command
//   Between acceptance and its first beat or word a command waits in one of Ahead places
//   (runs_valid_o, rows_valid_o: one does).
//   Faults, the first one kept until reset, with code, command and bus address: error_i (BusFault,
//   the data half's), region_limit, bad_field (bad_i, a zero count, runs * run_bytes != rows *
//   row_bytes), region_right (address: of the first run).
//   active_o: see hd_clocks.
// Latency: 3 cycles from the command to burst_valid_o, 2 to beat_valid_o and word_valid_o.
// Throughput 1 burst, 1 beat and 1 word per cycle. Reset: idle, all commands forgotten.
// Bench: dma_addr_tb.cpp (random stalls), frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"

module hd_dma_addr #(
  parameter int                   N          = 16,
  parameter int                   AxiBytes   = 16,
  parameter int                   AddrBits   = 40,
  parameter int                   WordBits   = 13,
  parameter int                   RowTagBits = 1,
  parameter int                   Ahead      = TimingDmaAhead,  // a power of two
  parameter logic [FaultBits-1:0] BusFault   = FaultBusRead,
  parameter int                   BeatBits   = $clog2(AxiBytes),  // derived
  parameter int                   LaneBits   = $clog2(N)
) (
  input  wire logic                  clk_i,
  input  wire logic                  rst_ni,
  // command, in bytes and words; valid a cycle before cmd_valid_i (hd_issue)
  input  wire logic                  cmd_valid_i,
  output logic                       cmd_ready_o,
  input  wire logic [31:0]           index_i,
  input  wire logic                  bad_i,
  input  wire logic                  wide_i,        // four bytes of a run are one of a row
  input  wire logic [31:0]           offset_i,      // in the region
  input  wire logic [15:0]           runs_i,
  input  wire logic [31:0]           run_bytes_i,
  input  wire logic [31:0]           run_pitch_i,
  input  wire logic [WordBits-1:0]   word_i,
  input  wire logic [15:0]           rows_i,
  input  wire logic [31:0]           row_bytes_i,
  input  wire logic [WordBits-1:0]   row_pitch_i,   // words
  input  wire logic [RowTagBits-1:0] row_tag_i,
  // the command's region, a cycle after the command: base, first address beyond it
  input  wire logic [AddrBits-1:0]   region_base_i,
  input  wire logic [AddrBits:0]     region_limit_i,
  input  wire logic                  region_right_i,  // it may be done
  // bursts
  output logic                       burst_valid_o,
  input  wire logic                  burst_ready_i,
  output logic      [AddrBits-1:0]   burst_addr_o,
  output logic      [7:0]            burst_len_o,
  output logic                       burst_last_o,
  output logic      [31:0]           burst_cmd_o,
  // beats
  output logic                       beat_valid_o,
  input  wire logic                  beat_ready_i,
  output logic      [AddrBits:0]     beat_addr_o,
  output logic      [BeatBits:0]     beat_lo_o,
  output logic      [BeatBits:0]     beat_bytes_o,
  output logic                       beat_end_o,
  output logic      [31:0]           beat_cmd_o,
  output logic                       beat_wide_o,
  // words
  output logic                       word_valid_o,
  input  wire logic                  word_ready_i,
  output logic      [WordBits-1:0]   word_o,
  output logic      [LaneBits:0]     word_count_o,
  output logic                       word_last_o,
  output logic      [RowTagBits-1:0] word_tag_o,
  // state
  output logic                       runs_valid_o,
  output logic                       rows_valid_o,
  output logic                       active_o,
  // fault
  input  wire logic                  error_i,
  input  wire logic [31:0]           error_cmd_i,
  input  wire logic [AddrBits:0]     error_addr_i,
  output logic                       fault_o,
  output logic      [FaultBits-1:0]  fault_code_o,
  output logic      [31:0]           fault_cmd_o,
  output logic      [63:0]           fault_addr_o
);
  localparam int BusBits  = AddrBits + 1;
  localparam int ByteBits = WordBits + LaneBits;  // of a byte address in our memory
  localparam int RunBits  = BusBits + 32 + 16 + BusBits + 1 + 32;
  localparam int RowBits  = ByteBits + 32 + 16 + ByteBits + RowTagBits;

  logic               bad_q, accept;
  logic               bursts_ready, runs_ready, rows_ready, check_ready;
  logic [BusBits-1:0] first, pitch;

  assign first       = {1'b0, region_base_i} + BusBits'(offset_i);
  assign pitch       = BusBits'(run_pitch_i);
  assign cmd_ready_o = bursts_ready && runs_ready && rows_ready && check_ready && !bad_q
                       && region_right_i && !fault_o;
  assign accept      = cmd_valid_i && cmd_ready_o;

  always_ff @(posedge clk_i) begin
    bad_q <= bad_i || runs_i == '0 || rows_i == '0 || run_bytes_i == '0 || row_bytes_i == '0;
  end

  logic        check_bad;
  logic [31:0] check_cmd;

  hd_dma_check u_check (
    .clk_i,
    .rst_ni,
    .valid_i    (accept),
    .ready_o    (check_ready),
    .runs_i,
    .run_bytes_i,
    .rows_i,
    .row_bytes_i(wide_i ? row_bytes_i << 2 : row_bytes_i),
    .tag_i      (index_i),
    .bad_o      (check_bad),
    .tag_o      (check_cmd)
  );

  logic              limit_fault;
  logic [AddrBits:0] limit_addr;
  logic [31:0]       limit_cmd;

  hd_dma_bursts #(
    .AxiBytes(AxiBytes),
    .AddrBits(AddrBits),
    .TagBits (32)
  ) u_bursts (
    .clk_i,
    .rst_ni,
    .offer_i      (cmd_valid_i),
    .valid_i      (accept),
    .ready_o      (bursts_ready),
    .addr_i       (first),
    .limit_i      (region_limit_i),
    .bytes_i      (run_bytes_i),
    .count_i      (runs_i),
    .pitch_i      (run_pitch_i),
    .tag_i        (index_i),
    .burst_valid_o,
    .burst_ready_i,
    .burst_addr_o,
    .burst_len_o,
    .burst_last_o,
    .burst_tag_o  (burst_cmd_o),
    .fault_o      (limit_fault),
    .fault_addr_o (limit_addr),
    .fault_tag_o  (limit_cmd)
  );

  // Commands on their way to the data, runs and rows each for itself.
  logic                  runs_take, rows_take;
  logic [BusBits-1:0]    run_addr, run_pitch;
  logic [31:0]           run_bytes;
  logic [32:0]           run_tag;
  logic [15:0]           run_count;
  logic [RunBits-1:0]    runs_out;
  logic [ByteBits-1:0]   row_addr, row_pitch;
  logic [31:0]           row_bytes;
  logic [15:0]           row_count;
  logic [RowTagBits-1:0] row_tag;
  logic [RowBits-1:0]    rows_out;

  hd_fifo #(.Width(RunBits), .Depth(Ahead)) u_runs (
    .clk_i,
    .rst_ni,
    .valid_i(accept),
    .ready_o(runs_ready),
    .data_i ({first, run_bytes_i, runs_i, pitch, wide_i, index_i}),
    .valid_o(runs_valid_o),
    .ready_i(runs_take),
    .data_o (runs_out)
  );

  hd_fifo #(.Width(RowBits), .Depth(Ahead)) u_rows (
    .clk_i,
    .rst_ni,
    .valid_i(accept),
    .ready_o(rows_ready),
    .data_i ({word_i, {LaneBits{1'b0}}, row_bytes_i, rows_i, row_pitch_i, {LaneBits{1'b0}},
              row_tag_i}),
    .valid_o(rows_valid_o),
    .ready_i(rows_take),
    .data_o (rows_out)
  );

  assign {run_addr, run_bytes, run_count, run_pitch, run_tag} = runs_out;
  assign {row_addr, row_bytes, row_count, row_pitch, row_tag} = rows_out;

  logic                beat_last, word_end;
  logic [BeatBits-1:0] beat_top;
  logic [LaneBits-1:0] word_top;
  logic [LaneBits:0]   word_lo;
  logic [ByteBits-1:0] word_addr;

  hd_dma_walk #(.Bytes(AxiBytes), .AddrBits(BusBits), .TagBits(33)) u_beats (
    .clk_i,
    .rst_ni,
    .offer_i(runs_valid_o),
    .valid_i(runs_valid_o),
    .ready_o(runs_take),
    .addr_i (run_addr),
    .bytes_i(run_bytes),
    .count_i(run_count),
    .pitch_i(run_pitch),
    .tag_i  (run_tag),
    .valid_o(beat_valid_o),
    .ready_i(beat_ready_i),
    .addr_o (beat_addr_o),
    .lo_o   (beat_lo_o),
    .top_o  (beat_top),
    .bytes_o(beat_bytes_o),
    .end_o  (beat_end_o),
    .last_o (beat_last),
    .tag_o  ({beat_wide_o, beat_cmd_o})
  );

  hd_dma_walk #(.Bytes(N), .AddrBits(ByteBits), .TagBits(RowTagBits)) u_words (
    .clk_i,
    .rst_ni,
    .offer_i(rows_valid_o),
    .valid_i(rows_valid_o),
    .ready_o(rows_take),
    .addr_i (row_addr),
    .bytes_i(row_bytes),
    .count_i(row_count),
    .pitch_i(row_pitch),
    .tag_i  (row_tag),
    .valid_o(word_valid_o),
    .ready_i(word_ready_i),
    .addr_o (word_addr),
    .lo_o   (word_lo),
    .top_o  (word_top),
    .bytes_o(word_count_o),
    .end_o  (word_end),
    .last_o (word_last_o),
    .tag_o  (word_tag_o)
  );

  assign word_o   = word_addr[ByteBits-1:LaneBits];
  assign active_o = cmd_valid_i || runs_valid_o || rows_valid_o || beat_valid_o || word_valid_o
                    || !check_ready;

  // The first fault in time, kept.
  logic                 fault_q;
  logic [FaultBits-1:0] code_q;
  logic [31:0]          fault_cmd_q;
  logic [AddrBits:0]    fault_addr_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fault_q <= 1'b0;
    end else if (error_i || limit_fault || check_bad
                 || (cmd_valid_i && (bad_q || !region_right_i))) begin
      fault_q <= 1'b1;
    end
  end

  // The fault, if this cycle has one.
  always_ff @(posedge clk_i) begin
    if (!fault_q) begin
      code_q       <= check_bad || bad_q ? FaultBadField : FaultRegionRight;
      fault_cmd_q  <= check_bad ? check_cmd : index_i;
      fault_addr_q <= check_bad || bad_q ? '0 : first;
      if (limit_fault) begin
        code_q       <= FaultRegionLimit;
        fault_cmd_q  <= limit_cmd;
        fault_addr_q <= limit_addr;
      end
      if (error_i) begin
        code_q       <= BusFault;
        fault_cmd_q  <= error_cmd_i;
        fault_addr_q <= error_addr_i;
      end
    end
  end

  assign fault_o      = fault_q;
  assign fault_code_o = code_q;
  assign fault_cmd_o  = fault_cmd_q;
  assign fault_addr_o = 64'(fault_addr_q);

  logic unused;  // words are whole addresses
  assign unused = ^{beat_last, beat_top, word_end, word_lo, word_top, word_addr[LaneBits-1:0]};

`ifdef HD_ASSERT
  a_fault_stops: assert property (@(posedge clk_i) disable iff (!rst_ni) fault_o |-> !cmd_ready_o);
  a_fault_stays: assert property (@(posedge clk_i) disable iff (!rst_ni)
    fault_o |=> fault_o && $stable({fault_code_o, fault_cmd_o, fault_addr_o}));
  c_ahead: cover property (@(posedge clk_i) accept && beat_valid_o && word_valid_o);
  c_full: cover property (@(posedge clk_i) cmd_valid_i && !runs_ready);
`endif
endmodule

`default_nettype wire
