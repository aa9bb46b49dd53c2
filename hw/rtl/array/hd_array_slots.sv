// hd_array_slots - the two slots of ARRAY's commands: when the next command may begin, when the
// oldest is done.
//   A command holds a slot from its first load (begin_i) to the cycle after its done_o: who waits
//   for the slot may read what it wrote, and reads a cycle sooner than who waits for done_o.
//   slot_o is that of cmd_i, the next one takes the other. may_begin_o: the other slot is free, and
//   ld_i finds the cells as it needs them: a depthwise command after one that places the taps
//   alike, or Rows + 1 steps after the last depthwise position (pixel_i); pixel pairs after a
//   command that splits the columns alike, or Rows + 1 steps after the last pair; any other
//   convolution at once, as the mode goes with the positions from row to row.
//   end_i: the last step of cmd_i. done_o: the oldest command is past it and nothing of it is
//   pending_i.
//   busy_o: a slot is taken. alone_o: none but that of cmd_i. With one port there are no pairs.
// A step is a cycle with en_i. Latency 0. Reset: both slots free, the cells may be set up at once.
// Bench: array_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module hd_array_slots #(
  parameter int N       = CfgN,
  parameter int Rows    = CfgRows,
  parameter int G       = CfgPorts,
  parameter int CntBits = $clog2(N + 1)  // derived
) (
  input  wire logic          clk_i,
  input  wire logic          rst_ni,
  input  wire logic          en_i,
  input  wire logic          begin_i,
  input  wire logic          end_i,
  input  wire logic          pixel_i,
  input  wire logic          ready_i,      // the next command, next_i, can be taken
  /* verilator lint_off UNUSEDSIGNAL */  // whole commands; some fields are needed here
  input  wire hd_cmd_array_t next_i,
  input  wire hd_cmd_array_t ld_i,
  input  wire hd_cmd_array_t cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  wire logic [1:0]    pending_i,    // by slot: results in the pipe or in requantisation
  output logic               slot_o,
  output logic               may_begin_o,
  output logic               busy_o,
  output logic               alone_o,
  output logic               done_o
);
  localparam int Gap = Rows + 1;

  logic               slot_q;    // of cmd_i
  logic [1:0]         live_q, live;  // occupied slots; those that remain
  logic [1:0]         freed_q;       // slot of a command done in the previous cycle
  logic               other_q;   // the other slot is occupied (registered: needed late)
  logic [1:0]         issued_q;  // by slot: its command's last step is past
  logic               oldest_q;  // slot
  logic [CntBits-1:0] taps_q;    // steps since the last depthwise position, at most Gap
  logic [CntBits-1:0] pairs_q;   // since the last pixel pair
  logic               same_setup_q;  // ld_i's and cmd_i's
  logic               taps_gap_q, pairs_gap_q;  // they are Gap
  logic               settled, cmd_pair;

  assign cmd_pair    = G > 1 && !cmd_i.depthwise && cmd_i.streams == 3'd2;
  assign settled     = G == 1 || ld_i.depthwise ? taps_gap_q : pairs_gap_q;
  assign slot_o      = slot_q;
  assign may_begin_o = !other_q && (same_setup_q || settled);
  assign busy_o      = live != '0;
  assign alone_o     = !other_q;
  assign live        = live_q & ~freed_q;
  assign done_o      = issued_q[oldest_q] && !pending_i[oldest_q];

  // cmd_i is unchanged when next_i, already taken, begins.
  always_ff @(posedge clk_i) begin
    if (ready_i) begin
      if (next_i.depthwise) begin
        same_setup_q <= cmd_i.depthwise && next_i.pad_left == cmd_i.pad_left
                        && next_i.ports == cmd_i.ports && next_i.kernel_h == cmd_i.kernel_h
                        && next_i.kernel_row_bytes == cmd_i.kernel_row_bytes;
      end else begin
        same_setup_q <= G == 1 || next_i.streams != 3'd2
                        || (cmd_pair && next_i.pair_split == cmd_i.pair_split);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      slot_q   <= 1'b0;
      live_q   <= '0;
      freed_q  <= '0;
      other_q  <= 1'b0;
      issued_q <= '0;
      oldest_q <= 1'b1;
    end else begin
      live_q  <= live;
      freed_q <= 2'(done_o) << oldest_q;
      other_q <= live[!slot_q];
      if (done_o) begin
        issued_q[oldest_q] <= 1'b0;
        oldest_q           <= !oldest_q;
      end
      if (en_i && end_i) issued_q[slot_q] <= 1'b1;
      if (en_i && begin_i) begin
        slot_q          <= !slot_q;
        live_q[!slot_q] <= 1'b1;
        other_q         <= live[slot_q];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      taps_q      <= CntBits'(Gap);
      pairs_q     <= CntBits'(Gap);
      taps_gap_q  <= 1'b1;
      pairs_gap_q <= 1'b1;
    end else if (en_i) begin
      if (pixel_i && cmd_i.depthwise) taps_q <= '0;
      else if (!taps_gap_q) taps_q <= taps_q + 1'b1;
      if (pixel_i && cmd_pair) pairs_q <= '0;
      else if (!pairs_gap_q) pairs_q <= pairs_q + 1'b1;
      taps_gap_q  <= !(pixel_i && cmd_i.depthwise) && taps_q >= CntBits'(Gap - 1);
      pairs_gap_q <= !(pixel_i && cmd_pair) && pairs_q >= CntBits'(Gap - 1);
    end
  end

`ifdef HD_ASSERT
  a_slots_alternate: assert property (@(posedge clk_i) disable iff (!rst_ni)
    live != '0 |-> live[oldest_q]
    && (live[!oldest_q] ? slot_q != oldest_q : slot_q == oldest_q));
  a_other: assert property (@(posedge clk_i) disable iff (!rst_ni) other_q == live_q[!slot_q]);
  a_begin_free: assert property (@(posedge clk_i) disable iff (!rst_ni)
    begin_i |-> !ready_i && may_begin_o);
  c_waits_for_slot: cover property (@(posedge clk_i)
    !ready_i && same_setup_q && live_q == 2'b11);
  c_waits_for_taps: cover property (@(posedge clk_i)
    !ready_i && ld_i.depthwise && !same_setup_q && !settled);
  c_waits_for_pairs: cover property (@(posedge clk_i)
    !ready_i && ld_i.streams == 3'd2 && !same_setup_q && !settled);
  c_other_mode: cover property (@(posedge clk_i)
    begin_i && live_q != '0 && ld_i.depthwise != cmd_i.depthwise);
  c_two_drain: cover property (@(posedge clk_i) issued_q == 2'b11);
`endif

endmodule

`default_nettype wire
