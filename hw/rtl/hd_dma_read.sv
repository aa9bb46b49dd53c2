// hd_dma_read - LOAD and WEIGHT: runs of bytes in memory become rows of words.
//   Address phase: hd_dma_bursts, ahead of the data over command borders (Ahead commands).
//   Data phase: beats -> gather walk (which bytes of a beat) -> hd_align -> scatter walk (which bytes of a word)
//   -> out_*. Bytes outside a row are 0, out_be_o marks those inside. out_cmd_o: index of the command.
//   done_o: pulse in the cycle after a command's last word was taken. active_o: see hd_top.
//   Faults (fault_o until reset, with code, command and bus address): bad_field (space of the other unit, a zero
//   count, runs * run_bytes != rows * row_bytes), region_limit, bus_read.
// Latency: 3 cycles from the command to ARVALID, 4 from an R beat to its word. Throughput 1 beat and 1 word a
// cycle at any alignment. Reset: idle, all commands forgotten. Bench: tests/hw/frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"

module hd_dma_read #(
  parameter int IsLoad   = 1,   // 1: space scratchpad only; 0: all others
  parameter int N        = 16,
  parameter int AxiBytes = 16,
  parameter int AddrBits = 40,
  parameter int WordBits = 13,
  parameter int Ahead    = TimingDmaAhead  // commands whose data are still to come, a power of two
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
  // region registers: base and limit of region_o in the same cycle
  output logic      [3:0]                region_o,
  input  wire logic [AddrBits-1:0]       region_base_i,
  input  wire logic [AddrBits:0]         region_limit_i,
  // hd_axi_read
  output logic                           req_valid_o,
  input  wire logic                      req_ready_i,
  output logic      [AddrBits-1:0]       req_addr_o,
  output logic      [7:0]                req_len_o,
  input  wire logic                      r_valid_i,
  output logic                           r_ready_o,
  input  wire logic [AxiBytes*8-1:0]     r_data_i,
  input  wire logic                      r_error_i,
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
  localparam int BusBits    = AddrBits + 1;
  localparam int ByteBits   = WordBits + LaneBits;  // of a destination byte address
  localparam int RowTagBits = SpaceBits + 32;
  localparam int RunBits    = BusBits + 32 + 16 + BusBits + 32;
  localparam int RowBits    = ByteBits + 32 + 16 + ByteBits + RowTagBits;

  /* verilator lint_off UNUSEDSIGNAL */  // hd_issue has used the common part
  hd_cmd_dma_read_t cmd;
  /* verilator lint_on UNUSEDSIGNAL */
  logic               bad, accept;
  logic               bursts_ready, runs_ready, rows_ready, check_ready;
  logic [BusBits-1:0] first;

  assign cmd      = cmd_i;
  assign region_o = cmd.region;
  assign first    = {1'b0, region_base_i} + BusBits'(cmd.offset);
  assign bad      = (cmd.space == SpaceScratchpad) != (IsLoad != 0) || cmd.space > SpaceBias16
                    || cmd.runs == '0 || cmd.rows == '0 || cmd.run_bytes == '0 || cmd.row_bytes == '0;
  assign cmd_ready_o = bursts_ready && runs_ready && rows_ready && check_ready && !bad && !fault_o;
  assign accept      = cmd_valid_i && cmd_ready_o;

  logic        check_bad;
  logic [31:0] check_tag;

  hd_dma_check u_check (
    .clk_i,
    .rst_ni,
    .valid_i    (accept),
    .ready_o    (check_ready),
    .runs_i     (cmd.runs),
    .run_bytes_i(cmd.run_bytes),
    .rows_i     (cmd.rows),
    .row_bytes_i(cmd.row_bytes),
    .tag_i      (cmd_index_i),
    .bad_o      (check_bad),
    .tag_o      (check_tag)
  );

  // Address phase.
  logic              burst_last, limit_fault;
  logic [31:0]       burst_tag;
  logic [AddrBits:0] limit_addr;

  hd_dma_bursts #(
    .AxiBytes(AxiBytes),
    .AddrBits(AddrBits),
    .TagBits (32)
  ) u_bursts (
    .clk_i,
    .rst_ni,
    .valid_i      (accept),
    .ready_o      (bursts_ready),
    .addr_i       (first),
    .limit_i      (region_limit_i),
    .bytes_i      (cmd.run_bytes),
    .count_i      (cmd.runs),
    .pitch_i      (cmd.run_pitch),
    .tag_i        (cmd_index_i),
    .burst_valid_o(req_valid_o),
    .burst_ready_i(req_ready_i),
    .burst_addr_o (req_addr_o),
    .burst_len_o  (req_len_o),
    .burst_last_o (burst_last),
    .burst_tag_o  (burst_tag),
    .fault_o      (limit_fault),
    .fault_addr_o (limit_addr)
  );

  // Commands on their way to the data phase.
  logic               runs_valid, runs_take, rows_valid, rows_take;
  logic [BusBits-1:0] run_addr, run_pitch;
  logic [31:0]        run_bytes, run_cmd;
  logic [15:0]        run_count;
  logic [RunBits-1:0] runs_out;
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
    .data_i ({first, cmd.run_bytes, cmd.runs, BusBits'(cmd.run_pitch), cmd_index_i}),
    .valid_o(runs_valid),
    .ready_i(runs_take),
    .data_o (runs_out)
  );

  hd_fifo #(.Width(RowBits), .Depth(Ahead)) u_rows (
    .clk_i,
    .rst_ni,
    .valid_i(accept),
    .ready_o(rows_ready),
    .data_i ({cmd.dest[WordBits-1:0], {LaneBits{1'b0}}, cmd.row_bytes, cmd.rows,
              cmd.dest_pitch[WordBits-1:0], {LaneBits{1'b0}}, cmd.space, cmd_index_i}),
    .valid_o(rows_valid),
    .ready_i(rows_take),
    .data_o (rows_out)
  );

  assign {run_addr, run_bytes, run_count, run_pitch, run_cmd} = runs_out;
  assign {row_addr, row_bytes, row_count, row_pitch, row_tag} = rows_out;

  // Beats.
  logic                  beat_valid, beat_take, beat_error;
  logic [AxiBytes*8-1:0] beat_data;

  hd_fifo #(.Width(AxiBytes * 8 + 1), .Depth(16)) u_beats (
    .clk_i,
    .rst_ni,
    .valid_i(r_valid_i),
    .ready_o(r_ready_o),
    .data_i ({r_error_i, r_data_i}),
    .valid_o(beat_valid),
    .ready_i(beat_take),
    .data_o ({beat_error, beat_data})
  );

  // Gather: which bytes of a beat are in the stream.
  logic               gather_valid, in_valid, in_ready;
  logic [BusBits-1:0] gather_addr;
  logic [BeatBits:0]  gather_lo, gather_hi;
  logic               gather_end, gather_last;
  logic [31:0]        gather_cmd;

  hd_dma_walk #(.Bytes(AxiBytes), .AddrBits(BusBits), .TagBits(32)) u_gather (
    .clk_i,
    .rst_ni,
    .valid_i(runs_valid),
    .ready_o(runs_take),
    .addr_i (run_addr),
    .bytes_i(run_bytes),
    .count_i(run_count),
    .pitch_i(run_pitch),
    .tag_i  (run_cmd),
    .valid_o(gather_valid),
    .ready_i(beat_take),
    .addr_o (gather_addr),
    .lo_o   (gather_lo),
    .hi_o   (gather_hi),
    .end_o  (gather_end),
    .last_o (gather_last),
    .tag_o  (gather_cmd)
  );

  assign in_valid  = beat_valid && gather_valid && !beat_error;
  assign beat_take = in_valid && in_ready;

  // Scatter: which bytes of a word are in a row.
  logic                  word_valid, word_bytes_valid, word_take, word_last;
  logic [LaneBits:0]     word_lo, word_count;
  logic [ByteBits-1:0]   word_addr;
  logic [RowTagBits-1:0] word_tag;
  logic [N*8-1:0]        word_data;
  logic                  word_end;

  hd_align #(.InBytes(AxiBytes), .OutBytes(N)) u_align (
    .clk_i,
    .rst_ni,
    .in_valid_i (in_valid),
    .in_ready_o (in_ready),
    .in_lo_i    (gather_lo),
    .in_hi_i    (gather_hi),
    .in_data_i  (beat_data),
    .out_valid_o(word_bytes_valid),
    .out_ready_i(word_take),
    .out_lo_i   ({(LaneBits + 1){1'b0}}),
    .out_hi_i   (word_count),
    .out_data_o (word_data)
  );

  hd_dma_walk #(.Bytes(N), .AddrBits(ByteBits), .TagBits(RowTagBits)) u_scatter (
    .clk_i,
    .rst_ni,
    .valid_i(rows_valid),
    .ready_o(rows_take),
    .addr_i (row_addr),
    .bytes_i(row_bytes),
    .count_i(row_count),
    .pitch_i(row_pitch),
    .tag_i  (row_tag),
    .valid_o(word_valid),
    .ready_i(word_take),
    .addr_o (word_addr),
    .lo_o   (word_lo),
    .hi_o   (word_count),
    .end_o  (word_end),
    .last_o (word_last),
    .tag_o  (word_tag)
  );

  logic                  valid_q, last_q, done_q;
  logic [WordBits-1:0]   word_q;
  logic [N-1:0]          be_q;
  logic [N*8-1:0]        data_q;
  logic [RowTagBits-1:0] tag_q;

  assign word_take = word_valid && word_bytes_valid && (!valid_q || out_ready_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      done_q  <= 1'b0;
    end else begin
      if (word_take) valid_q <= 1'b1;
      else if (out_ready_i) valid_q <= 1'b0;
      done_q <= valid_q && out_ready_i && last_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (word_take) begin
      last_q <= word_last;
      word_q <= word_addr[ByteBits-1:LaneBits];
      be_q   <= ~({N{1'b1}} << word_count);
      data_q <= word_data;
      tag_q  <= word_tag;
    end
  end

  assign out_valid_o = valid_q;
  assign out_word_o  = word_q;
  assign out_be_o    = be_q;
  assign out_data_o  = data_q;
  assign {out_space_o, out_cmd_o} = tag_q;
  assign done_o      = done_q;

  assign active_o = cmd_valid_i || r_valid_i || runs_valid || rows_valid || gather_valid || word_valid
                    || beat_valid || valid_q || done_q || !check_ready;

  // What this cycle counts as; LOAD and WEIGHT have the same kinds.
  always_comb begin
    kind_o = 3'(CounterLoadIdle);
    if (valid_q && out_ready_i) kind_o = 3'(CounterLoadBusy);
    else if (valid_q) kind_o = 3'(CounterLoadWaitPort);
    else if (word_valid || rows_valid) kind_o = 3'(CounterLoadWaitBus);
  end

  // The first fault in time, kept.
  logic                 fault_q;
  logic [FaultBits-1:0] code_q;
  logic [31:0]          fault_cmd_q;
  logic [AddrBits:0]    fault_addr_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fault_q <= 1'b0;
    end else if (!fault_q) begin
      if (beat_valid && gather_valid && beat_error) begin
        fault_q      <= 1'b1;
        code_q       <= FaultBusRead;
        fault_cmd_q  <= gather_cmd;
        fault_addr_q <= gather_addr | BusBits'(gather_lo);
      end else if (limit_fault) begin
        fault_q      <= 1'b1;
        code_q       <= FaultRegionLimit;
        fault_cmd_q  <= burst_tag;
        fault_addr_q <= limit_addr;
      end else if (check_bad || (cmd_valid_i && bad)) begin
        fault_q      <= 1'b1;
        code_q       <= FaultBadField;
        fault_cmd_q  <= check_bad ? check_tag : cmd_index_i;
        fault_addr_q <= '0;
      end
    end
  end

  assign fault_o      = fault_q;
  assign fault_code_o = code_q;
  assign fault_cmd_o  = fault_cmd_q;
  assign fault_addr_o = 64'(fault_addr_q);

  logic unused;
  assign unused = ^{burst_last, gather_end, gather_last, word_end, word_lo, word_addr[LaneBits-1:0]};

`ifdef HD_ASSERT
  a_out_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    out_valid_o && !out_ready_i |=> out_valid_o
    && $stable({out_space_o, out_word_o, out_be_o, out_data_o, out_cmd_o}));
  c_port: cover property (@(posedge clk_i) out_valid_o && !out_ready_i);
`endif
endmodule

`default_nettype wire
