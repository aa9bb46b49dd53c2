// hd_array_slots - the two slots of ARRAY's commands: when the next command may begin, when the
// oldest is done.
//   A command holds a slot from its first load (begin_i) to its done_o; slot_o is that of cmd_i,
//   the next one takes the other. may_begin_o: the other slot is free, and ld_i finds the cells as
//   it needs them: cmd_i set them up alike (convolution or depthwise, pixel pairs, and of depthwise
//   what places the taps), or N + 1 steps have passed without a position (pixel_i) and no tile
//   runs.
//   end_i: the last step of cmd_i. done_o: the oldest command is past it and nothing of it is
//   pending_i.
//   busy_o: a slot is taken.
// A step is a cycle with en_i. Latency 0. Reset: both slots free, the cells may be set up at once.
// Bench: tests/hw/array_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module hd_array_slots #(
  parameter int N       = CfgN,
  parameter int CntBits = $clog2(N + 1)  // derived
) (
  input  wire logic          clk_i,
  input  wire logic          rst_ni,
  input  wire logic          en_i,
  input  wire logic          begin_i,
  input  wire logic          end_i,
  input  wire logic          pixel_i,
  input  wire logic          fresh_i,      // ld_i waits to begin
  input  wire logic          run_i,        // a tile is under way
  /* verilator lint_off UNUSEDSIGNAL */  // whole commands; some fields are needed here
  input  wire hd_cmd_array_t ld_i,
  input  wire hd_cmd_array_t cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  wire logic [1:0]    pending_i,    // by slot: in the pipe or in requantisation
  output logic               slot_o,
  output logic               may_begin_o,
  output logic               busy_o,
  output logic               done_o
);
  localparam int Gap = N + 1;

  logic               slot_q;    // of cmd_i
  logic [1:0]         live_q;    // slots taken
  logic [1:0]         issued_q;  // their commands' last step is past
  logic               oldest_q;  // slot
  logic [CntBits-1:0] still_q;   // steps without a position, at most Gap
  logic               same_setup, settled;

  assign settled     = still_q == CntBits'(Gap);
  assign slot_o      = slot_q;
  assign may_begin_o = !live_q[!slot_q] && (same_setup || (settled && !run_i));
  assign busy_o      = live_q != '0;
  assign done_o      = issued_q[oldest_q] && !pending_i[oldest_q];

  always_comb begin
    same_setup = 1'b0;
    if (fresh_i) begin
      if (ld_i.depthwise) begin
        same_setup = cmd_i.depthwise && ld_i.pad_left == cmd_i.pad_left
                     && ld_i.ports == cmd_i.ports && ld_i.kernel_h == cmd_i.kernel_h
                     && ld_i.kernel_row_bytes == cmd_i.kernel_row_bytes;
      end else begin
        same_setup = !cmd_i.depthwise && ld_i.streams == cmd_i.streams
                     && ld_i.pair_split == cmd_i.pair_split;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      slot_q   <= 1'b0;
      live_q   <= '0;
      issued_q <= '0;
      oldest_q <= 1'b1;
    end else begin
      if (done_o) begin
        live_q[oldest_q]   <= 1'b0;
        issued_q[oldest_q] <= 1'b0;
        oldest_q           <= !oldest_q;
      end
      if (en_i && end_i) issued_q[slot_q] <= 1'b1;
      if (en_i && begin_i) begin
        slot_q          <= !slot_q;
        live_q[!slot_q] <= 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) still_q <= CntBits'(Gap);
    else if (en_i) still_q <= pixel_i ? '0 : settled ? still_q : still_q + 1'b1;
  end

`ifdef HD_ASSERT
  a_slots_alternate: assert property (@(posedge clk_i) disable iff (!rst_ni)
    live_q != '0 |-> live_q[oldest_q]
    && (live_q[!oldest_q] ? slot_q != oldest_q : slot_q == oldest_q));
  a_begin_free: assert property (@(posedge clk_i) disable iff (!rst_ni)
    begin_i |-> fresh_i && may_begin_o);
  c_waits_for_slot: cover property (@(posedge clk_i)
    fresh_i && same_setup && live_q == 2'b11 && !run_i);
  c_waits_for_cells: cover property (@(posedge clk_i) fresh_i && !same_setup && !settled && !run_i);
  c_two_drain: cover property (@(posedge clk_i) issued_q == 2'b11);
`endif

endmodule

`default_nettype wire
