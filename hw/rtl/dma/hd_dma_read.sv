// hd_dma_read - LOAD and WEIGHT: runs of bytes in memory become rows of words.
//   Addresses: hd_dma_addr. Data: beats -> hd_align -> words -> out_*. Bytes outside a row are 0,
//   out_be_o marks those inside. out_cmd_o: index of the command. flip (LOAD): top bits of all
//   bytes are flipped, outside too. quantise (LOAD): the runs are float32, four bytes for each of
//   a row, and pass hd_threshold, whose entries w_* writes.
//   done_o: pulse in the cycle after a command's last word was taken. active_o: see hd_clocks.
//   Faults (fault_o until reset, with code, command and bus address): bad_field (space of the other
//   unit, spad, which hd_dma gives to hd_weight_spad, a zero count, runs * run_bytes != rows *
//   row_bytes, or four times that with quantise, which wants whole floats), region_limit,
//   region_right, bus_read (the slave's error, or its last beat of a burst is not ours; address of
//   the beat).
// Latency: 3 cycles from the command to ARVALID, 4 from an R beat to its word. Throughput 1 beat
// and 1 word per cycle at any alignment. Reset: idle, all commands forgotten. Bench:
// frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"

module hd_dma_read #(
  parameter int IsLoad   = 1,   // 1: space scratchpad only; 0: all others
  parameter int N        = 16,
  parameter int AxiBytes = 16,
  parameter int AddrBits = 40,
  parameter int WordBits = 13
) (
  input  wire logic                      clk_i,
  input  wire logic                      rst_ni,
  // command
  input  wire logic                      cmd_valid_i,
  output logic                           cmd_ready_o,
  input  wire logic [CmdDmaReadBits-1:0] cmd_i,
  input  wire logic [31:0]               cmd_index_i,
  output logic                           done_o,
  output logic      [2:0]                kind_o,
  output logic                           active_o,
  // thresholds
  input  wire logic                      w_valid_i,
  input  wire logic [7:0]                w_word_i,
  input  wire logic [63:0]               w_data_i,
  // region registers: base, limit and right of region_o, a cycle later
  output logic      [3:0]                region_o,
  input  wire logic [AddrBits-1:0]       region_base_i,
  input  wire logic [AddrBits:0]         region_limit_i,
  input  wire logic                      region_right_i,
  // hd_axi_read
  output logic                           req_valid_o,
  input  wire logic                      req_ready_i,
  output logic      [AddrBits-1:0]       req_addr_o,
  output logic      [7:0]                req_len_o,
  input  wire logic                      r_valid_i,
  output logic                           r_ready_o,
  input  wire logic [AxiBytes*8-1:0]     r_data_i,
  input  wire logic                      r_error_i,
  input  wire logic                      r_last_i,
  // words
  output logic                           out_valid_o,
  input  wire logic                      out_ready_i,
  output logic      [SpaceBits-1:0]      out_space_o,
  output logic      [WordBits-1:0]       out_word_o,
  output logic      [N-1:0]              out_be_o,
  output logic      [N*8-1:0]            out_data_o,
  output logic      [31:0]               out_cmd_o,
  // fault
  output logic                           fault_o,
  output logic      [FaultBits-1:0]      fault_code_o,
  output logic      [31:0]               fault_cmd_o,
  output logic      [63:0]               fault_addr_o
);
  localparam int BeatBits   = $clog2(AxiBytes);
  localparam int LaneBits   = $clog2(N);
  localparam int RowTagBits = 1 + SpaceBits + 32;

  /* verilator lint_off UNUSEDSIGNAL */  // hd_issue has used the common part
  hd_cmd_dma_read_t cmd;
  /* verilator lint_on UNUSEDSIGNAL */
  logic other_unit, broken;

  assign cmd        = cmd_i;
  assign region_o   = cmd.region;
  assign other_unit = (cmd.space == SpaceScratchpad) != (IsLoad != 0) || cmd.spad;
  assign broken     = cmd.quantise && (IsLoad == 0 || cmd.flip
                      || {cmd.offset[1:0], cmd.run_bytes[1:0], cmd.run_pitch[1:0]} != '0);

  logic                  gather_valid, gather_end, gather_wide, gather_error, burst_last;
  logic [31:0]           gather_cmd, burst_cmd;
  logic [AddrBits:0]     gather_addr;
  logic [BeatBits:0]     gather_lo, gather_bytes;
  logic                  word_valid, word_take, word_last;
  logic [WordBits-1:0]   word;
  logic [LaneBits:0]     word_count;
  logic [RowTagBits-1:0] word_tag;
  logic                  runs_valid, rows_valid, addr_active, beat_take;

  // gather: which bytes of a beat are in the stream; word: which bytes of a word are in a row.
  hd_dma_addr #(
    .N         (N),
    .AxiBytes  (AxiBytes),
    .AddrBits  (AddrBits),
    .WordBits  (WordBits),
    .RowTagBits(RowTagBits),
    .BusFault  (FaultBusRead)
  ) u_addr (
    .clk_i,
    .rst_ni,
    .cmd_valid_i,
    .cmd_ready_o,
    .index_i      (cmd_index_i),
    .bad_i        (other_unit || broken),
    .wide_i       (cmd.quantise),
    .offset_i     (cmd.offset),
    .runs_i       (cmd.runs),
    .run_bytes_i  (cmd.run_bytes),
    .run_pitch_i  (cmd.run_pitch),
    .word_i       (cmd.dest[WordBits-1:0]),
    .rows_i       (cmd.rows),
    .row_bytes_i  (cmd.row_bytes),
    .row_pitch_i  (cmd.dest_pitch[WordBits-1:0]),
    .row_tag_i    ({cmd.flip, cmd.space, cmd_index_i}),
    .region_base_i,
    .region_limit_i,
    .region_right_i,
    .burst_valid_o(req_valid_o),
    .burst_ready_i(req_ready_i),
    .burst_addr_o (req_addr_o),
    .burst_len_o  (req_len_o),
    .burst_last_o (burst_last),
    .burst_cmd_o  (burst_cmd),
    .beat_valid_o (gather_valid),
    .beat_ready_i (beat_take),
    .beat_addr_o  (gather_addr),
    .beat_lo_o    (gather_lo),
    .beat_bytes_o (gather_bytes),
    .beat_end_o   (gather_end),
    .beat_cmd_o   (gather_cmd),
    .beat_wide_o  (gather_wide),
    .word_valid_o (word_valid),
    .word_ready_i (word_take),
    .word_o       (word),
    .word_count_o (word_count),
    .word_last_o  (word_last),
    .word_tag_o   (word_tag),
    .runs_valid_o (runs_valid),
    .rows_valid_o (rows_valid),
    .active_o     (addr_active),
    .error_i      (gather_error),
    .error_cmd_i  (gather_cmd),
    .error_addr_i (gather_addr | (AddrBits + 1)'(gather_lo)),
    .fault_o,
    .fault_code_o,
    .fault_cmd_o,
    .fault_addr_o
  );

  // Beats.
  logic                  beat_valid, beat_error, beat_last, burst_end;
  logic [AxiBytes*8-1:0] beat_data;

  hd_fifo #(.Width(AxiBytes * 8 + 2), .Depth(16)) u_beats (
    .clk_i,
    .rst_ni,
    .valid_i(r_valid_i),
    .ready_o(r_ready_o),
    .data_i ({r_error_i, r_last_i, r_data_i}),
    .valid_o(beat_valid),
    .ready_i(beat_take),
    .data_o ({beat_error, beat_last, beat_data})
  );

  // Floats go by hd_threshold, other beats wait until it is empty.
  logic                  in_valid, in_ready, bytes_valid, made_valid, made_busy, made_ready;
  logic [AxiBytes*8-1:0] in_data, made_data;
  logic [BeatBits:0]     in_lo, in_bytes, made_lo, made_bytes;
  logic [N*8-1:0]        word_data;
  logic                  whole, wide, plain;

  assign whole        = beat_valid && gather_valid && !beat_error;
  assign wide         = whole && gather_wide;
  assign plain        = whole && !gather_wide && !made_busy;
  assign beat_take    = wide ? made_ready : plain && in_ready;
  assign in_valid     = made_busy ? made_valid : plain;
  assign in_data      = made_busy ? made_data : beat_data;
  assign in_lo        = made_busy ? made_lo : gather_lo;
  assign in_bytes     = made_busy ? made_bytes : gather_bytes;
  assign burst_end    = gather_end || gather_addr[BeatBits +: 4] == 4'hf;  // hd_dma_bursts
  assign gather_error = beat_valid && gather_valid && (beat_error || beat_last != burst_end);

  if (IsLoad != 0 && AxiBytes >= 4) begin : gen_threshold
    localparam int Lanes = AxiBytes / 4;
    logic [Lanes*8-1:0] made;
    hd_threshold #(
      .Lanes   (Lanes),
      .Pairs   (N >= 8 ? 1 : 0),
      .SideBits(2 * (BeatBits - 1))
    ) u_threshold (
      .clk_i,
      .rst_ni,
      .w_valid_i,
      .w_word_i,
      .w_data_i,
      .busy_o     (made_busy),
      .in_valid_i (wide),
      .in_ready_o (made_ready),
      .in_data_i  (beat_data),
      .in_side_i  ({gather_lo[BeatBits:2], gather_bytes[BeatBits:2]}),
      .out_valid_o(made_valid),
      .out_ready_i(in_ready),
      .out_data_o (made),
      .out_side_o ({made_lo[BeatBits-2:0], made_bytes[BeatBits-2:0]})
    );
    assign made_data                        = (AxiBytes * 8)'(made);
    assign made_lo[BeatBits:BeatBits-1]     = '0;
    assign made_bytes[BeatBits:BeatBits-1]  = '0;
  end else begin : gen_bytes
    logic unused_threshold;
    assign unused_threshold = ^{w_valid_i, w_word_i, w_data_i};
    assign {made_busy, made_ready, made_valid, made_data, made_lo, made_bytes} = '0;
  end

  hd_align #(.InBytes(AxiBytes), .OutBytes(N)) u_align (
    .clk_i,
    .rst_ni,
    .in_valid_i (in_valid),
    .in_ready_o (in_ready),
    .in_lo_i    (in_lo),
    .in_bytes_i (in_bytes),
    .in_data_i  (in_data),
    .out_valid_o(bytes_valid),
    .out_ready_i(word_take),
    .out_lo_i   ({(LaneBits + 1){1'b0}}),
    .out_bytes_i(word_count),
    .out_data_o (word_data)
  );

  localparam int OutBits = 1 + WordBits + N + N * 8 + SpaceBits + 32;

  logic               flip, out_room, out_last, asked_q, taken_q, done_q;
  logic [N-1:0]       word_be;
  logic [OutBits-1:0] in, out;

  assign flip      = word_tag[RowTagBits-1] && IsLoad != 0;
  assign word_be   = ~({N{1'b1}} << word_count);
  assign word_take = word_valid && bytes_valid && out_room;
  assign in        = {word_last, word, word_be, word_data ^ {N{flip, 7'b0}},
                      word_tag[SpaceBits+31:0]};

  // The scratchpad knows late whether it takes a word, so LOAD has a queue; WEIGHT's are taken.
  if (IsLoad != 0) begin : gen_queue
    hd_fifo #(.Width(OutBits), .Depth(2)) u_out (
      .clk_i,
      .rst_ni,
      .valid_i(word_valid && bytes_valid),
      .ready_o(out_room),
      .data_i (in),
      .valid_o(out_valid_o),
      .ready_i(out_ready_i),
      .data_o (out)
    );
  end else begin : gen_register
    logic               valid_q;
    logic [OutBits-1:0] out_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) valid_q <= 1'b0;
      else valid_q <= word_take;
      out_q <= in;
    end
    assign out_room    = 1'b1;
    assign out_valid_o = valid_q;
    assign out         = out_q;
  end

  assign {out_last, out_word_o, out_be_o, out_data_o, out_space_o, out_cmd_o} = out;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      asked_q <= 1'b0;
      taken_q <= 1'b0;
      done_q  <= 1'b0;
    end else begin
      asked_q <= out_valid_o;
      taken_q <= out_valid_o && out_ready_i;
      done_q  <= out_valid_o && out_ready_i && out_last;
    end
  end

  assign done_o   = done_q;
  assign active_o = addr_active || r_valid_i || beat_valid || out_valid_o || asked_q;

  // The counter of this cycle, for a word's write of the one before; LOAD and WEIGHT have the same
  // kinds. In one assignment: a default that is overridden wakes hd_dma's always_comb whenever
  // Icarus computes it, and that all others.
  assign kind_o = taken_q ? 3'(CounterLoadBusy) : asked_q ? 3'(CounterLoadWaitPort)
                  : word_valid || rows_valid ? 3'(CounterLoadWaitBus) : 3'(CounterLoadIdle);

  logic unused;
  assign unused = ^{burst_last, burst_cmd, runs_valid};

`ifdef HD_ASSERT
  a_out_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    out_valid_o && !out_ready_i |=> out_valid_o
    && $stable({out_space_o, out_word_o, out_be_o, out_data_o, out_cmd_o}));
  c_port: cover property (@(posedge clk_i) out_valid_o && !out_ready_i);
`endif
endmodule

`default_nettype wire
