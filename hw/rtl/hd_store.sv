// hd_store - STORE: rows of words of the scratchpad become runs of bytes in memory.
//   Address phase: hd_dma_bursts, ahead of the data. Data phase: read walk (words of rows) -> words -> hd_align ->
//   write walk (bytes of a beat, strobes) -> W. A burst's beats are shown once its AW is. At most Bursts bursts wait for their B.
//   done_o: pulse in the cycle after the B of a command's last burst; all its bytes are in memory then.
//   Faults (fault_o until reset, with code, command and bus address): bad_field (a zero count, runs * run_bytes !=
//   rows * row_bytes), region_limit, bus_write (address of the burst).
//   stop_i: no new bursts; bursts under way end with beats without strobes. quiet_o: nothing on the bus.
//   active_o: see hd_top.
// Latency: 7 cycles from the command to WVALID. Throughput 1 word read, 1 beat written a cycle at any alignment.
// Reset: idle, all commands forgotten. Bench: tests/hw/frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"

module hd_store #(
  parameter int N        = 16,
  parameter int AxiBytes = 16,
  parameter int AddrBits = 40,
  parameter int WordBits = 13,  // scratchpad word
  parameter int Bursts   = 16,  // waiting for their B, a power of two
  parameter int Ahead    = TimingDmaAhead  // commands whose data are still to go, a power of two
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
  // region registers: base and limit of region_o in the same cycle
  output logic      [3:0]              region_o,
  input  wire logic [AddrBits-1:0]     region_base_i,
  input  wire logic [AddrBits:0]       region_limit_i,
  // hd_spad
  output logic                         sr_req_o,
  input  wire logic                    sr_ready_i,
  output logic      [WordBits-1:0]     sr_word_o,
  input  wire logic [N*8-1:0]          sr_data_i,
  // bus
  output logic                         m_axi_awvalid,
  input  wire logic                    m_axi_awready,
  output logic      [3:0]              m_axi_awid,
  output logic      [AddrBits-1:0]     m_axi_awaddr,
  output logic      [7:0]              m_axi_awlen,
  output logic      [2:0]              m_axi_awsize,
  output logic      [1:0]              m_axi_awburst,
  output logic                         m_axi_wvalid,
  input  wire logic                    m_axi_wready,
  output logic      [AxiBytes*8-1:0]   m_axi_wdata,
  output logic      [AxiBytes-1:0]     m_axi_wstrb,
  output logic                         m_axi_wlast,
  input  wire logic                    m_axi_bvalid,
  output logic                         m_axi_bready,
  input  wire logic [3:0]              m_axi_bid,
  input  wire logic [1:0]              m_axi_bresp,
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
  localparam int BeatBits  = $clog2(AxiBytes);
  localparam int LaneBits  = $clog2(N);
  localparam int BusBits   = AddrBits + 1;
  localparam int ByteBits  = WordBits + LaneBits;
  localparam int AheadBits = $clog2(Bursts + 1);
  localparam int RunBits   = BusBits + 32 + 16 + BusBits + 32;
  localparam int RowBits   = ByteBits + 32 + 16 + ByteBits;

  /* verilator lint_off UNUSEDSIGNAL */  // hd_issue has used the common part
  hd_cmd_store_t cmd;
  /* verilator lint_on UNUSEDSIGNAL */
  logic               bad, accept;
  logic               bursts_ready, runs_ready, rows_ready, check_ready;
  logic [BusBits-1:0] first;

  assign cmd      = cmd_i;
  assign region_o = cmd.region;
  assign first    = {1'b0, region_base_i} + BusBits'(cmd.offset);
  assign bad      = cmd.runs == '0 || cmd.rows == '0 || cmd.run_bytes == '0 || cmd.row_bytes == '0;
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
  logic                burst_valid, burst_take, burst_last, limit_fault;
  logic [AddrBits-1:0] burst_addr;
  logic [7:0]          burst_len;
  logic [31:0]         burst_tag;
  logic [AddrBits:0]   limit_addr;

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
    .burst_valid_o(burst_valid),
    .burst_ready_i(burst_take),
    .burst_addr_o (burst_addr),
    .burst_len_o  (burst_len),
    .burst_last_o (burst_last),
    .burst_tag_o  (burst_tag),
    .fault_o      (limit_fault),
    .fault_addr_o (limit_addr)
  );

  // AW, and the bursts that wait for their B.
  logic                aw_valid_q, wait_ready, wait_valid, wait_last;
  logic [AddrBits-1:0] aw_addr_q, wait_addr;
  logic [7:0]          aw_len_q;
  logic [31:0]         wait_tag;

  assign burst_take = burst_valid && wait_ready && (!aw_valid_q || m_axi_awready) && !stop_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) aw_valid_q <= 1'b0;
    else if (burst_take) aw_valid_q <= 1'b1;
    else if (m_axi_awready) aw_valid_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (burst_take) begin
      aw_addr_q <= burst_addr;
      aw_len_q  <= burst_len;
    end
  end

  hd_fifo #(.Width(AddrBits + 33), .Depth(Bursts)) u_waiting (
    .clk_i,
    .rst_ni,
    .valid_i(burst_take),
    .ready_o(wait_ready),
    .data_i ({burst_last, burst_tag, burst_addr}),
    .valid_o(wait_valid),
    .ready_i(m_axi_bvalid),
    .data_o ({wait_last, wait_tag, wait_addr})
  );

  assign m_axi_awvalid = aw_valid_q;
  assign m_axi_awid    = {1'b0, UnitStore};
  assign m_axi_awaddr  = aw_addr_q;
  assign m_axi_awlen   = aw_len_q;
  assign m_axi_awsize  = 3'($clog2(AxiBytes));
  assign m_axi_awburst = 2'b01;  // INCR
  assign m_axi_bready  = 1'b1;
  assign quiet_o       = !wait_valid;

  // Commands on their way to the data phase.
  logic                runs_valid, runs_take, rows_valid, rows_take;
  logic [BusBits-1:0]  run_addr, run_pitch;
  logic [31:0]         run_bytes, run_cmd;
  logic [15:0]         run_count;
  logic [RunBits-1:0]  runs_out;
  logic [ByteBits-1:0] row_addr, row_pitch;
  logic [31:0]         row_bytes;
  logic [15:0]         row_count;
  logic [RowBits-1:0]  rows_out;

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
    .data_i ({cmd.src[WordBits-1:0], {LaneBits{1'b0}}, cmd.row_bytes, cmd.rows,
              cmd.src_pitch[WordBits-1:0], {LaneBits{1'b0}}}),
    .valid_o(rows_valid),
    .ready_i(rows_take),
    .data_o (rows_out)
  );

  assign {run_addr, run_bytes, run_count, run_pitch, run_cmd} = runs_out;
  assign {row_addr, row_bytes, row_count, row_pitch}          = rows_out;

  // Words out of the scratchpad. reserved_q: asked for and not yet past u_words.
  logic                read_valid, read_end, read_last, read_tag, read_take;
  logic [ByteBits-1:0] read_addr;
  logic [LaneBits:0]   read_lo, read_count, pending_count_q, word_count;
  logic                pending_q, word_valid, word_take, words_ready;
  logic [2:0]          reserved_q;
  logic [N*8-1:0]      word_data;

  hd_dma_walk #(.Bytes(N), .AddrBits(ByteBits)) u_read (
    .clk_i,
    .rst_ni,
    .valid_i(rows_valid),
    .ready_o(rows_take),
    .addr_i (row_addr),
    .bytes_i(row_bytes),
    .count_i(row_count),
    .pitch_i(row_pitch),
    .tag_i  (1'b0),
    .valid_o(read_valid),
    .ready_i(read_take),
    .addr_o (read_addr),
    .lo_o   (read_lo),
    .hi_o   (read_count),
    .end_o  (read_end),
    .last_o (read_last),
    .tag_o  (read_tag)
  );

  assign sr_req_o  = read_valid && reserved_q != 3'd4;
  assign sr_word_o = read_addr[ByteBits-1:LaneBits];
  assign read_take = sr_req_o && sr_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      pending_q  <= 1'b0;
      reserved_q <= '0;
    end else begin
      pending_q <= read_take;
      if (read_take != word_take) reserved_q <= read_take ? reserved_q + 1'b1 : reserved_q - 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (read_take) pending_count_q <= read_count;
  end

  hd_fifo #(.Width(LaneBits + 1 + N * 8), .Depth(4)) u_words (
    .clk_i,
    .rst_ni,
    .valid_i(pending_q),
    .ready_o(words_ready),
    .data_i ({pending_count_q, sr_data_i}),
    .valid_o(word_valid),
    .ready_i(word_take),
    .data_o ({word_count, word_data})
  );

  // Beats.
  logic                  align_ready, beat_bytes_valid, beat_valid, beat_take, beat_end, beat_last;
  logic [BusBits-1:0]    beat_addr;
  logic [BeatBits:0]     beat_lo, beat_hi;
  logic [AxiBytes*8-1:0] beat_data;
  logic [31:0]           beat_cmd;
  logic                  burst_end;
  logic [AheadBits-1:0]  ahead_q;  // bursts whose AW is out and whose last beat is not

  hd_align #(.InBytes(N), .OutBytes(AxiBytes)) u_align (
    .clk_i,
    .rst_ni,
    .in_valid_i (word_valid),
    .in_ready_o (align_ready),
    .in_lo_i    ({(LaneBits + 1){1'b0}}),
    .in_hi_i    (word_count),
    .in_data_i  (word_data),
    .out_valid_o(beat_bytes_valid),
    .out_ready_i(beat_take && !stop_i),
    .out_lo_i   (beat_lo),
    .out_hi_i   (beat_hi),
    .out_data_o (beat_data)
  );

  assign word_take = word_valid && align_ready;

  hd_dma_walk #(.Bytes(AxiBytes), .AddrBits(BusBits), .TagBits(32)) u_write (
    .clk_i,
    .rst_ni,
    .valid_i(runs_valid),
    .ready_o(runs_take),
    .addr_i (run_addr),
    .bytes_i(run_bytes),
    .count_i(run_count),
    .pitch_i(run_pitch),
    .tag_i  (run_cmd),
    .valid_o(beat_valid),
    .ready_i(beat_take),
    .addr_o (beat_addr),
    .lo_o   (beat_lo),
    .hi_o   (beat_hi),
    .end_o  (beat_end),
    .last_o (beat_last),
    .tag_o  (beat_cmd)
  );

  logic                  w_valid_q, w_last_q;
  logic [AxiBytes*8-1:0] w_data_q;
  logic [AxiBytes-1:0]   w_strb_q;
  logic [AddrBits-1:0]   w_addr_q;
  logic [31:0]           w_cmd_q;

  assign beat_take = beat_valid && (beat_bytes_valid || stop_i) && ahead_q != '0
                     && (!w_valid_q || m_axi_wready);
  assign burst_end = beat_end || beat_addr[BeatBits+3:BeatBits] == 4'hf;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      w_valid_q <= 1'b0;
      ahead_q   <= '0;
    end else begin
      if (beat_take) w_valid_q <= 1'b1;
      else if (m_axi_wready) w_valid_q <= 1'b0;
      if (burst_take != (beat_take && burst_end)) begin
        ahead_q <= burst_take ? ahead_q + 1'b1 : ahead_q - 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (beat_take) begin
      w_last_q <= burst_end;
      w_data_q <= beat_data;
      w_strb_q <= stop_i ? '0 : ~({AxiBytes{1'b1}} << beat_hi) & ({AxiBytes{1'b1}} << beat_lo);
      w_addr_q <= beat_addr[AddrBits-1:0];
      w_cmd_q  <= beat_cmd;
    end
  end

  assign m_axi_wvalid   = w_valid_q;
  assign m_axi_wdata    = w_data_q;
  assign m_axi_wstrb    = w_strb_q;
  assign m_axi_wlast    = w_last_q;
  assign commit_valid_o = w_valid_q && m_axi_wready;
  assign commit_cmd_o   = w_cmd_q;
  assign commit_addr_o  = w_addr_q;

  assign active_o = cmd_valid_i || runs_valid || rows_valid || read_valid || beat_valid || word_valid || pending_q
                    || aw_valid_q || w_valid_q || wait_valid || done_q || !check_ready;

  // What this cycle counts as.
  always_comb begin
    kind_o = 3'(CounterStoreIdle);
    if (read_take || commit_valid_o) kind_o = 3'(CounterStoreBusy);
    else if (w_valid_q) kind_o = 3'(CounterStoreWaitBus);
    else if (sr_req_o) kind_o = 3'(CounterStoreWaitPort);
    else if (wait_valid || beat_valid || runs_valid) kind_o = 3'(CounterStoreWaitBus);
  end

  // Completion, and the first fault in time, kept.
  logic                 done_q, fault_q;
  logic [FaultBits-1:0] code_q;
  logic [31:0]          fault_cmd_q;
  logic [AddrBits:0]    fault_addr_q;

  assign done_o = done_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fault_q <= 1'b0;
      done_q  <= 1'b0;
    end else begin
      done_q <= m_axi_bvalid && wait_last && !m_axi_bresp[1] && !fault_q;
      if (!fault_q) begin
        if (m_axi_bvalid && m_axi_bresp[1]) begin
          fault_q      <= 1'b1;
          code_q       <= FaultBusWrite;
          fault_cmd_q  <= wait_tag;
          fault_addr_q <= {1'b0, wait_addr};
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
  end

  assign fault_o      = fault_q;
  assign fault_code_o = code_q;
  assign fault_cmd_o  = fault_cmd_q;
  assign fault_addr_o = 64'(fault_addr_q);

  logic unused;
  assign unused = ^{read_lo, read_end, read_last, read_tag, read_addr[LaneBits-1:0], words_ready, beat_last,
                    beat_addr[AddrBits], m_axi_bid, m_axi_bresp[0]};

`ifdef HD_ASSERT
  a_aw_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    m_axi_awvalid && !m_axi_awready |=> m_axi_awvalid && $stable({m_axi_awaddr, m_axi_awlen}));
  a_aw_4k: assert property (@(posedge clk_i) disable iff (!rst_ni)
    m_axi_awvalid |-> 32'(m_axi_awaddr[11:0]) + (32'(m_axi_awlen) + 1) * AxiBytes <= 4096);
  a_w_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    m_axi_wvalid && !m_axi_wready |=> m_axi_wvalid && $stable({m_axi_wdata, m_axi_wstrb, m_axi_wlast}));
  a_b_known: assert property (@(posedge clk_i) disable iff (!rst_ni) m_axi_bvalid |-> wait_valid);
  a_words: assert property (@(posedge clk_i) disable iff (!rst_ni) pending_q |-> words_ready);
  c_stopped: cover property (@(posedge clk_i) stop_i && !quiet_o);
`endif
endmodule

`default_nettype wire
