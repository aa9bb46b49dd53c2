// hd_store - STORE: rows of words of the scratchpad become runs of bytes in memory.
//   Addresses: hd_dma_addr. Data: words of rows -> hd_align -> beats of runs. Bus: hd_axi_write.
//   With flip all top bits are flipped; with dequantise each becomes the float32 of its entry.
//   w_*: entries of space float.
//   done_o: pulse in the cycle after the B of a command's last burst; all its bytes are in memory
//   then.
//   Faults (fault_o until reset, with code, command and bus address): bad_field (a zero count, runs
//   * run_bytes != rows * row_bytes, four times that with dequantise, with which a flip and a part
//   of a float32 are bad, too), region_limit, region_right, bus_write (address of the burst).
//   stop_i: no new bursts; bursts under way end with beats without strobes. quiet_o: nothing on the
//   bus.
//   active_o: see hd_clocks.
// Latency: 8 cycles from the command to WVALID. Throughput 1 word read, 1 beat written a cycle at
// any alignment. Reset: idle, all commands forgotten. Bench: frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_bundles.svh"

module hd_store #(
  parameter int N        = 16,
  parameter int AxiBytes = 16,
  parameter int AddrBits = 40,
  parameter int WordBits = 13  // scratchpad word
) (
  input  wire logic                    clk_i,
  input  wire logic                    rst_ni,
  input  wire logic                    stop_i,
  output logic                         quiet_o,
  // command
  input  wire logic                    cmd_valid_i,
  output logic                         cmd_ready_o,
  input  wire logic [CmdStoreBits-1:0] cmd_i,
  input  wire logic [31:0]             cmd_index_i,
  output logic                         done_o,
  output logic      [2:0]              kind_o,
  output logic                         active_o,
  // WEIGHT: floats
  input  wire logic                    w_valid_i,
  input  wire logic [7:0]              w_word_i,
  input  wire logic [31:0]             w_data_i,
  // region registers: base, limit and right of region_o, a cycle later
  output logic      [3:0]              region_o,
  input  wire logic [AddrBits-1:0]     region_base_i,
  input  wire logic [AddrBits:0]       region_limit_i,
  input  wire logic                    region_right_i,
  // hd_spad
  output logic                         sr_req_o,
  input  wire logic                    sr_ready_i,
  output logic      [WordBits-1:0]     sr_word_o,
  input  wire logic [N*8-1:0]          sr_data_i,
  // bus
  input  wire hd_axi_write_rsp_t       axi_i,
  output hd_axi_write_req_t            axi_o,
  // commit: this W beat was taken
  output logic                         commit_valid_o,
  output logic      [31:0]             commit_cmd_o,
  output logic      [AddrBits-1:0]     commit_addr_o,
  // fault
  output logic                         fault_o,
  output logic      [FaultBits-1:0]    fault_code_o,
  output logic      [31:0]             fault_cmd_o,
  output logic      [63:0]             fault_addr_o
);
  localparam int BeatBits = $clog2(AxiBytes);
  localparam int LaneBits = $clog2(N);

  /* verilator lint_off UNUSEDSIGNAL */  // hd_issue has used the common part
  hd_cmd_store_t cmd;
  /* verilator lint_on UNUSEDSIGNAL */
  assign cmd      = cmd_i;
  assign region_o = cmd.region;

  logic [1:0] whole;  // not 0: a part of a float32
  assign whole = cmd.offset[1:0] | cmd.run_bytes[1:0] | cmd.run_pitch[1:0];

  logic                burst_valid, burst_ready, burst_last;
  logic [AddrBits-1:0] burst_addr, error_addr;
  logic [7:0]          burst_len;
  logic [31:0]         burst_cmd, beat_cmd, error_cmd;
  logic                beat_valid, beat_take, beat_end, error;
  logic [AddrBits:0]   beat_addr;
  logic [BeatBits:0]   beat_lo, beat_bytes;
  logic                read_valid, read_take, read_last, read_flip, read_wide;
  logic [LaneBits:0]   read_count;
  logic [WordBits-1:0] read_word;
  logic                runs_valid, rows_valid, addr_active, write_active;

  logic                unused_wide;

  hd_dma_addr #(
    .N       (N),
    .AxiBytes(AxiBytes),
    .AddrBits(AddrBits),
    .WordBits(WordBits),
    .RowTagBits(2),
    .BusFault(FaultBusWrite)
  ) u_addr (
    .clk_i,
    .rst_ni,
    .cmd_valid_i,
    .cmd_ready_o,
    .index_i      (cmd_index_i),
    .bad_i        (cmd.dequantise && (cmd.flip || whole != '0)),
    .wide_i       (cmd.dequantise),
    .offset_i     (cmd.offset),
    .runs_i       (cmd.runs),
    .run_bytes_i  (cmd.run_bytes),
    .run_pitch_i  (cmd.run_pitch),
    .word_i       (cmd.src[WordBits-1:0]),
    .rows_i       (cmd.rows),
    .row_bytes_i  (cmd.row_bytes),
    .row_pitch_i  (cmd.src_pitch[WordBits-1:0]),
    .row_tag_i    ({cmd.dequantise, cmd.flip}),
    .region_base_i,
    .region_limit_i,
    .region_right_i,
    .burst_valid_o(burst_valid),
    .burst_ready_i(burst_ready),
    .burst_addr_o (burst_addr),
    .burst_len_o  (burst_len),
    .burst_last_o (burst_last),
    .burst_cmd_o  (burst_cmd),
    .beat_valid_o (beat_valid),
    .beat_ready_i (beat_take),
    .beat_addr_o  (beat_addr),
    .beat_lo_o    (beat_lo),
    .beat_bytes_o (beat_bytes),
    .beat_end_o   (beat_end),
    .beat_cmd_o   (beat_cmd),
    .beat_wide_o  (unused_wide),
    .word_valid_o (read_valid),
    .word_ready_i (read_take),
    .word_o       (read_word),
    .word_count_o (read_count),
    .word_last_o  (read_last),
    .word_tag_o   ({read_wide, read_flip}),
    .runs_valid_o (runs_valid),
    .rows_valid_o (rows_valid),
    .active_o     (addr_active),
    .error_i      (error),
    .error_cmd_i  (error_cmd),
    .error_addr_i ({1'b0, error_addr}),
    .fault_o,
    .fault_code_o,
    .fault_cmd_o,
    .fault_addr_o
  );

  // Words out of the scratchpad. The grant comes late in the cycle, so requests wait in a queue.
  // reserved_q: words on their way there and not yet past u_words.
  logic              asks_ready, asked_q, pending_q, ask_flip, ask_wide;
  logic              pending_flip_q, pending_wide_q;
  logic              word_valid, word_ready, word_take, words_ready;
  logic [LaneBits:0] ask_count, pending_count_q, word_count;
  logic [2:0]        reserved_q;
  logic [N*8-1:0]    word_data;

  assign read_take = read_valid && reserved_q != 3'd4 && asks_ready;

  hd_fifo #(.Width(WordBits + LaneBits + 3), .Depth(2)) u_asks (
    .clk_i,
    .rst_ni,
    .valid_i(read_valid && reserved_q != 3'd4),
    .ready_o(asks_ready),
    .data_i ({read_word, read_count, read_wide, read_flip}),
    .valid_o(sr_req_o),
    .ready_i(sr_ready_i),
    .data_o ({sr_word_o, ask_count, ask_wide, ask_flip})
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      asked_q    <= 1'b0;
      pending_q  <= 1'b0;
      reserved_q <= '0;
    end else begin
      asked_q   <= sr_req_o;
      pending_q <= sr_req_o && sr_ready_i;
      if (read_take != word_take) reserved_q <= read_take ? reserved_q + 1'b1 : reserved_q - 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    pending_count_q <= ask_count;
    pending_flip_q  <= ask_flip;
    pending_wide_q  <= ask_wide;
  end

  logic word_wide;

  hd_fifo #(.Width(1 + LaneBits + 1 + N * 8), .Depth(4)) u_words (
    .clk_i,
    .rst_ni,
    .valid_i(pending_q),
    .ready_o(words_ready),
    .data_i ({pending_wide_q, pending_count_q, sr_data_i ^ {N{pending_flip_q, 7'b0}}}),
    .valid_o(word_valid),
    .ready_i(word_take),
    .data_o ({word_wide, word_count, word_data})
  );

  // Words of bytes, or of the float32 values of a quarter of them: N / 4 values a cycle, or fewer
  // at the end of a row. Quarter quarter_q of the word is looked up; the one before it is in the
  // outputs of the memories of floats, whose entries change only while STORE has no values.
  logic              part_valid, align_ready, value_q;
  logic [LaneBits:0] part_count;
  logic [N*8-1:0]    part_data;

  if (N >= 4) begin : gen_float
    localparam int Lanes = N / 4;
    logic [1:0]        quarter_q;
    logic              look, last;
    logic [LaneBits:0] rest, count_q;
    logic [N*8-1:0]    value;

    assign look = word_valid && word_wide && (!value_q || align_ready);
    assign rest = word_count - (LaneBits + 1)'(quarter_q) * (LaneBits + 1)'(Lanes);
    assign last = rest <= (LaneBits + 1)'(Lanes);

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        quarter_q <= 2'd0;
        value_q   <= 1'b0;
      end else begin
        if (look) quarter_q <= last ? 2'd0 : quarter_q + 1'b1;
        if (look || align_ready) value_q <= look;
      end
      if (look) count_q <= last ? rest : (LaneBits + 1)'(Lanes);
    end

    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      hd_ram #(.Width(32), .Depth(256), .Apart(1'b1)) u_entries (
        .clk_i,
        .re_i   (look),
        .raddr_i(word_data[(32'(quarter_q)*Lanes+l)*8 +: 8]),
        .rdata_o(value[l*32 +: 32]),
        .we_i   (w_valid_i),
        .waddr_i(w_word_i),
        .be_i   (1'b1),
        .wdata_i(w_data_i)
      );
    end

    assign word_ready = word_wide ? look && last : !value_q && align_ready;
    assign part_valid = value_q || (word_valid && !word_wide);
    assign part_count = value_q ? count_q << 2 : word_count;
    assign part_data  = value_q ? value : word_data;
  end else begin : gen_bytes
    logic unused_float;
    assign unused_float = ^{w_valid_i, w_word_i, w_data_i, word_wide};
    assign {value_q, word_ready} = {1'b0, align_ready};
    assign {part_valid, part_count, part_data} = {word_valid, word_count, word_data};
  end

  assign word_take = word_valid && word_ready;

  // Beats.
  logic                  bytes_valid, w_valid, w_ready;
  logic [AxiBytes*8-1:0] beat_data;

  hd_align #(.InBytes(N), .OutBytes(AxiBytes)) u_align (
    .clk_i,
    .rst_ni,
    .in_valid_i (part_valid),
    .in_ready_o (align_ready),
    .in_lo_i    ({(LaneBits + 1){1'b0}}),
    .in_bytes_i (part_count),
    .in_data_i  (part_data),
    .out_valid_o(bytes_valid),
    .out_ready_i(beat_take && !stop_i),
    .out_lo_i   (beat_lo),
    .out_bytes_i(beat_bytes),
    .out_data_o (beat_data)
  );

  assign w_valid   = beat_valid && (bytes_valid || stop_i);
  assign beat_take = w_valid && w_ready;

  logic b_last, done_q;

  hd_axi_write #(.AxiBytes(AxiBytes), .AddrBits(AddrBits)) u_write (
    .clk_i,
    .rst_ni,
    .stop_i,
    .quiet_o,
    .active_o     (write_active),
    .burst_valid_i(burst_valid),
    .burst_ready_o(burst_ready),
    .burst_addr_i (burst_addr),
    .burst_len_i  (burst_len),
    .burst_last_i (burst_last),
    .burst_cmd_i  (burst_cmd),
    .beat_valid_i (w_valid),
    .beat_ready_o (w_ready),
    .beat_addr_i  (beat_addr[AddrBits-1:0]),
    .beat_lo_i    (beat_lo),
    .beat_bytes_i (beat_bytes),
    .beat_end_i   (beat_end),
    .beat_data_i  (beat_data),
    .beat_cmd_i   (beat_cmd),
    .b_last_o     (b_last),
    .error_o      (error),
    .error_cmd_o  (error_cmd),
    .error_addr_o (error_addr),
    .axi_i,
    .axi_o,
    .commit_valid_o,
    .commit_cmd_o,
    .commit_addr_o
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) done_q <= 1'b0;
    else done_q <= b_last && !fault_o;
  end

  assign done_o   = done_q;
  assign active_o = addr_active || write_active || word_valid || value_q || sr_req_o
                    || asked_q || done_q;

  // The counter of this cycle; for the scratchpad, of the one before.
  always_comb begin
    kind_o = 3'(CounterStoreIdle);
    if (pending_q || commit_valid_o) kind_o = 3'(CounterStoreBusy);
    else if (axi_o.wvalid) kind_o = 3'(CounterStoreWaitBus);
    else if (asked_q) kind_o = 3'(CounterStoreWaitPort);
    else if (!quiet_o || beat_valid || runs_valid) kind_o = 3'(CounterStoreWaitBus);
  end

  logic unused;
  assign unused = ^{unused_wide, read_last, words_ready, rows_valid, beat_addr[AddrBits]};

`ifdef HD_ASSERT
  a_words: assert property (@(posedge clk_i) disable iff (!rst_ni) pending_q |-> words_ready);
  c_words_wait: cover property (@(posedge clk_i) word_valid && !word_ready);
`endif
endmodule

`default_nettype wire
