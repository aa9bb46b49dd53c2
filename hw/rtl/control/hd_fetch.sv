// hd_fetch - reads the command stream and hands each command, in order, to the queue of its unit.
//   start_i takes stream_* and reads ahead. The stream moves through in chunks (hd_fetch_chunks),
//   one a cycle; push_cmd_o holds the command, push_valid_o[unit] offers it.
//   END is the last command. It waits until all units are empty and all is quiet (bus_quiet_i:
//   nothing is on the read bus or on its way to the scratchpad), then end_o for one cycle, if the
//   stream passed hd_crc.
//   Faults (fault_o until reset, with code, command and bus address of the command; of bus_read, of
//   the chunk): region_right, region_limit, bad_field (stream not aligned to 16), bad_length,
//   bad_header, bad_version, config_mismatch, bad_opcode, bad_reserved, bad_crc (hd_crc), bus_read.
//   stop_i or a fault: nothing more is read or handed over. index_o: commands handed over in this
//   submission.
//   active_o: see hd_clocks; it rests while it waits for a queue or for the end.
// Latency: start_i to ARVALID 4; a command's last chunk to push_valid_o 1. Reset: idle. Bench:
// frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"

module hd_fetch #(
  parameter int          AxiBytes   = 16,
  parameter int          AddrBits   = 40,
  parameter int          PushBits   = 896,  // of the widest command
  parameter int          Beats      = TimingFetchBeats,  // read ahead, a power of two, at least 16
  parameter logic [31:0] ConfigHash = 32'd0
) (
  input  wire logic                  clk_i,
  input  wire logic                  rst_ni,
  input  wire logic                  clear_i,  // index_o is 0, as with start_i
  input  wire logic                  start_i,
  input  wire logic                  stop_i,
  input  wire logic [31:0]           stream_offset_i,
  input  wire logic [31:0]           stream_bytes_i,
  input  wire logic [AddrBits-1:0]   region_base_i,   // of region 0
  input  wire logic [AddrBits:0]     region_limit_i,
  input  wire logic                  region_right_i,
  // hd_axi_read
  output logic                       req_valid_o,
  output logic                       req_first_o,   // before others
  input  wire logic                  req_ready_i,
  output logic      [AddrBits-1:0]   req_addr_o,
  output logic      [7:0]            req_len_o,
  input  wire logic                  r_valid_i,
  output logic                       r_ready_o,
  input  wire logic [AxiBytes*8-1:0] r_data_i,
  input  wire logic                  r_error_i,
  input  wire logic                  r_last_i,
  input  wire logic                  bus_quiet_i,
  // hd_issue of load, weight, array, vector, store
  output logic      [4:0]            push_valid_o,
  input  wire logic [4:0]            push_ready_i,
  output logic      [PushBits-1:0]   push_cmd_o,
  input  wire logic [4:0]            empty_i,
  // state
  output logic                       end_o,
  output logic      [31:0]           index_o,
  output logic      [15:0]           layer_o,
  output logic      [2:0]            kind_o,
  output logic                       active_o,
  // fault
  output logic                       fault_o,
  output logic      [FaultBits-1:0]  fault_code_o,
  output logic      [31:0]           fault_cmd_o,
  output logic      [63:0]           fault_addr_o
);
  localparam int Chunk      = AxiBytes < 16 ? AxiBytes : 16;  // bytes
  localparam int ChunkBits  = $clog2(Chunk);
  localparam int Chunks     = PushBits / (8 * Chunk);
  localparam int BusBits    = AddrBits + 1;

  typedef enum logic [2:0] {
    StIdle, StStart, StBounds, StHeader, StCheck, StCollect, StPush, StEnd
  } state_e;

  state_e              state_q, state_d;
  logic [BusBits-1:0]  at_q, cmd_at_q;   // bus address of the next chunk, of this command
  logic [31:0]         left_q, index_q;  // bytes from at_q on; commands handed over
  logic [31:0]         total_q;          // bytes of the stream
  logic [7:0]          pos_q, pos_last_q;  // chunk of this command
  logic [PushBits-1:0] cmd_q;
  logic [15:0]         layer_q;

  // The next chunk.
  logic               open, chunk_valid, chunk_error, chunk_first, chunk_take;
  logic [Chunk*8-1:0] chunk;
  logic               fault_d_valid, taking_q;  // taking_q: StHeader or StCollect

  hd_fetch_chunks #(
    .AxiBytes(AxiBytes),
    .AddrBits(AddrBits),
    .Beats   (Beats)
  ) u_chunks (
    .clk_i,
    .rst_ni,
    .start_i      (state_q == StStart && !no_left_q),
    .open_i       (open),
    .at_i         (at_q),
    .bytes_i      (left_q),
    .req_valid_o,
    .req_first_o,
    .req_ready_i,
    .req_addr_o,
    .req_len_o,
    .r_valid_i,
    .r_ready_o,
    .r_data_i,
    .r_error_i,
    .r_last_i,
    .chunk_valid_o(chunk_valid),
    .chunk_error_o(chunk_error),
    .chunk_ready_i(chunk_take),
    .chunk_o      (chunk)
  );

  // The check of the whole stream.
  logic crc_busy, crc_ok;

  hd_crc #(.Words(Chunk / 4)) u_crc (
    .clk_i,
    .rst_ni,
    .start_i(start_i),
    .valid_i(chunk_take),
    .chunk_i(chunk),
    .busy_o (crc_busy),
    .ok_o   (crc_ok)
  );

  logic reserved_bad;  // of the header or command so far

  hd_fetch_reserved #(.Chunk(Chunk)) u_reserved (
    .clk_i,
    .valid_i (chunk_take),
    .header_i(state_q == StHeader),
    .opcode_i(cmd_opcode),
    .pos_i   (pos_q),
    .chunk_i (chunk),
    .bad_o   (reserved_bad)
  );

  assign open        = state_q != StIdle && state_q != StEnd;
  assign chunk_first = pos_q == '0;
  assign chunk_take  = chunk_valid && !chunk_error && taking_q && !no_left_q && !refused;

  // The common part's word 0 is in the first chunk. A fault in it is known a cycle later.
  logic [7:0] opcode, length, expected;  // lengths in 16 bytes
  logic       no_left_q;                 // left_q is 0
  logic       first_q, unknown_q, length_bad_q, refused;  // of the first chunk, just taken
  logic [4:0] unit_q;                    // that has the command
  assign opcode = chunk[7:0];
  assign length = chunk[15:8];

  always_comb begin
    unique case (opcode)
      OpEnd:           expected = 8'(CmdEndBits / 128);
      OpLoad, OpWeight: expected = 8'(CmdDmaReadBits / 128);
      OpArray:         expected = 8'(CmdArrayBits / 128);
      OpVector:        expected = 8'(CmdVectorBits / 128);
      OpStore:         expected = 8'(CmdStoreBits / 128);
      default:         expected = 8'd0;
    endcase
  end

  // Header and faults.
  /* verilator lint_off UNUSEDSIGNAL */  // region and command counts are for readers
  hd_header_t           header;
  /* verilator lint_on UNUSEDSIGNAL */
  logic                 fault_q;
  logic [FaultBits-1:0] code_chunk, code_d, code_q;
  logic [31:0]          fault_cmd_q;
  logic [BusBits-1:0]   fault_addr_q, stream_end_q;
  logic [7:0]           cmd_opcode;
  logic                 magic_ok, version_ok, hash_ok, length_ok, too_long;

  assign header     = cmd_q[HeaderBits-1:0];
  assign magic_ok   = header.magic == HdMagic;
  assign version_ok = header.version == HdStreamVersion;
  assign hash_ok    = header.config_hash == ConfigHash;
  assign length_ok  = header.length == total_q;
  assign too_long   = left_q[31:12] == '0 && left_q[11:4] < length;  // short carry
  assign cmd_opcode = cmd_q[7:0];

  always_comb begin
    code_chunk = FaultNone;
    if (refused) code_chunk = unknown_q ? FaultBadOpcode : FaultBadLength;
    else if (state_q == StCollect && no_left_q) code_chunk = FaultBadLength;
    else if (chunk_valid && chunk_error) code_chunk = FaultBusRead;
  end

  assign refused = first_q && (unknown_q || length_bad_q);

  always_ff @(posedge clk_i) begin
    first_q      <= rst_ni && chunk_take && chunk_first && state_q == StCollect;
    unknown_q    <= expected == '0;
    length_bad_q <= length != expected || too_long
                    || (opcode == OpEnd && left_q != 32'(CmdEndBits / 8));
    unit_q[UnitLoad]   <= cmd_opcode == OpLoad;
    unit_q[UnitWeight] <= cmd_opcode == OpWeight;
    unit_q[UnitArray]  <= cmd_opcode == OpArray;
    unit_q[UnitVector] <= cmd_opcode == OpVector;
    unit_q[UnitStore]  <= cmd_opcode == OpStore;
  end

  always_comb begin
    code_d = FaultNone;
    unique case (state_q)
      StBounds: begin
        if (!region_right_i) code_d = FaultRegionRight;
        else if (stream_end_q > region_limit_i) code_d = FaultRegionLimit;
        else if (at_q[3:0] != '0) code_d = FaultBadField;  // no multiple of 16
        else if (left_q[3:0] != '0 || left_q < 32'(HeaderBits / 8)) code_d = FaultBadLength;
      end
      StHeader, StCollect: code_d = code_chunk;
      StCheck: begin
        if (!magic_ok) code_d = FaultBadHeader;
        else if (!version_ok) code_d = FaultBadVersion;
        else if (!hash_ok) code_d = FaultConfigMismatch;
        else if (!length_ok) code_d = FaultBadLength;
        else if (reserved_bad) code_d = FaultBadReserved;
      end
      StPush: if (reserved_bad) code_d = FaultBadReserved;
      StEnd: begin
        if (refused) code_d = code_chunk;
        else if (reserved_bad) code_d = FaultBadReserved;
        else if (!crc_busy && !crc_ok) code_d = FaultBadCrc;
      end
      default: ;
    endcase
  end

  assign fault_d_valid = code_d != FaultNone && !fault_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fault_q <= 1'b0;
    end else if (fault_d_valid) begin
      fault_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!fault_q) begin  // what the fault is, if it is one in this cycle
      code_q       <= code_d;
      fault_cmd_q  <= index_q;
      fault_addr_q <= code_d == FaultBusRead ? at_q : cmd_at_q;
    end
  end

  // States.
  logic pushed;
  assign pushed = (push_valid_o & push_ready_i) != '0;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle:    if (start_i) state_d = StStart;
      StStart:   state_d = StBounds;
      StBounds:  state_d = StHeader;
      StHeader:  if (chunk_take && pos_q == 8'(HeaderBits / 8 / Chunk - 1)) state_d = StCheck;
      StCheck:   state_d = StCollect;
      StCollect: begin
        if (chunk_take && !chunk_first && pos_q == pos_last_q) begin
          if (cmd_opcode == OpEnd) state_d = StEnd;
          else state_d = StPush;
        end else if (chunk_take && chunk_first && opcode == OpEnd && Chunk == CmdEndBits / 8) begin
          state_d = StEnd;  // END alone fits in a chunk
        end
      end
      StPush:    if (pushed) state_d = StCollect;
      StEnd:     if (end_o) state_d = StIdle;
      default:   state_d = StIdle;
    endcase
    if (stop_i || fault_d_valid) state_d = StIdle;
  end

  always_ff @(posedge clk_i) begin
    state_q  <= rst_ni ? state_d : StIdle;
    taking_q <= rst_ni && (state_d == StHeader || state_d == StCollect);
  end

  always_ff @(posedge clk_i) begin
    for (int k = 0; k < Chunks; k++) begin  // whether one comes or not
      if (taking_q && pos_q == 8'(k)) cmd_q[k*Chunk*8 +: Chunk*8] <= chunk;
    end
    if (clear_i || start_i) begin
      index_q <= '0;
      layer_q <= '0;
    end else begin
      if (pushed) index_q <= index_q + 32'd1;
      if (chunk_take && chunk_first && state_q == StCollect) layer_q <= chunk[31:16];
    end
  end

  always_ff @(posedge clk_i) begin
    stream_end_q <= at_q + BusBits'(left_q);
    total_q      <= left_q + 32'(HeaderBits / 8 - Chunk);  // in StCheck: of the cycle before
    if (state_q == StIdle) begin  // the last one counts
      at_q      <= {1'b0, region_base_i} + BusBits'(stream_offset_i);
      cmd_at_q  <= {1'b0, region_base_i} + BusBits'(stream_offset_i);
      left_q    <= stream_bytes_i;
      no_left_q <= stream_bytes_i == '0;  // StBounds refuses it
      pos_q     <= '0;
    end else if (chunk_take) begin
      at_q      <= at_q + BusBits'(Chunk);
      left_q    <= left_q - 32'(Chunk);
      no_left_q <= left_q == 32'(Chunk);
      pos_q     <= pos_q + 8'd1;
      if (chunk_first) pos_last_q <= (expected << (4 - ChunkBits)) - 8'd1;
    end else if (state_q == StCheck || state_q == StPush) begin
      pos_q    <= '0;
      cmd_at_q <= at_q;
    end
  end

  always_comb begin
    unique case (state_q)
      StIdle:    kind_o = 3'(CounterFetchIdle);
      StHeader,
      StCollect: kind_o = chunk_valid ? 3'(CounterFetchBusy) : 3'(CounterFetchWaitBus);
      StPush:    kind_o = pushed ? 3'(CounterFetchBusy) : 3'(CounterFetchWaitQueue);
      StEnd:     kind_o = 3'(CounterFetchWaitEnd);
      default:   kind_o = 3'(CounterFetchBusy);
    endcase
  end

  assign active_o     = state_d != state_q || (open && state_q != StPush) || req_valid_o
                        || r_valid_i || crc_busy;
  assign push_cmd_o   = cmd_q;
  assign push_valid_o = state_q == StPush && !reserved_bad && !stop_i ? unit_q : '0;
  assign end_o        = state_q == StEnd && empty_i == 5'b11111 && bus_quiet_i
                        && !crc_busy && crc_ok && !stop_i;  // refused while busy, if at all
  assign index_o      = index_q;
  assign layer_o      = layer_q;
  assign fault_o      = fault_q;
  assign fault_code_o = code_q;
  assign fault_cmd_o  = fault_cmd_q;
  assign fault_addr_o = 64'(fault_addr_q);

`ifdef HD_ASSERT
  a_push_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    push_valid_o != '0 && !pushed |=>
    (push_valid_o == $past(push_valid_o) && $stable(push_cmd_o)) || stop_i);
  c_idle: cover property (@(posedge clk_i) state_q == StIdle);
  c_header: cover property (@(posedge clk_i) state_q == StHeader);
  c_push_waits: cover property (@(posedge clk_i) state_q == StPush && !pushed);
  c_end: cover property (@(posedge clk_i) end_o);
  c_fault: cover property (@(posedge clk_i) fault_o);
`endif
endmodule

`default_nettype wire
