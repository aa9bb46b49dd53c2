// hd_issue - a unit's queue: holds commands until their waits hold, counts completions, knows the
// current command.
//   The head is presented (cmd_valid_o) once, for every unit u of its wait_enable, counts_i[u] -
//   wait_u >= 0 (16 bits, signed), fewer than InFlight commands are in the unit, and stop_i is low;
//   it then stays until taken. Whether its waits hold is found a cycle ahead: counts_i go up by
//   dones_i. So cmd_o and cmd_index_o are valid a cycle before cmd_valid_o, the last one marked
//   by cmd_soon_o: slow parts of a command begin then.
//   unit_cmd_o, unit_layer_o: the oldest command in the unit, else its last one, else 0. done_o,
//   done_cmd_o follow done_i at once. kind_o: the unit's, but wait_token for idle while a command
//   is queued.
//   empty_o: nothing queued, nothing in the unit. in_unit_o: a command is in the unit. active_o:
//   see hd_clocks.
// rst_ni empties the queue; clear_i starts a submission: count_o and the current command are 0.
// Latency: push to cmd_valid_o 3; done_i to count_o and to cmd_valid_o 1. Throughput 1 command in 2
// cycles. Bench: frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"

module hd_issue #(
  parameter int Bits     = 384,  // of a command of this unit
  parameter int PushBits = 896,  // of the widest command
  parameter int Depth    = TimingDmaQueue,  // queued commands, a power of two
  parameter int InFlight = 8,    // commands in the unit, a power of two
  parameter int WaitKind = 1,    // counter kinds wait_token and idle of this unit
  parameter int IdleKind = 4
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,
  input  wire logic                clear_i,
  input  wire logic                stop_i,
  // hd_fetch
  input  wire logic                push_valid_i,
  output logic                     push_ready_o,
  input  wire logic [PushBits-1:0] push_cmd_i,
  input  wire logic [31:0]         push_index_i,
  // completion counts of load, weight, array, vector, store; what completes in this cycle
  input  wire logic [5*16-1:0]     counts_i,
  input  wire logic [4:0]          dones_i,
  // unit
  output logic                     cmd_soon_o,
  output logic                     cmd_valid_o,
  input  wire logic                cmd_ready_i,
  output logic      [Bits-1:0]     cmd_o,
  output logic      [31:0]         cmd_index_o,
  input  wire logic                done_i,
  input  wire logic [2:0]          kind_i,
  // what it is at
  output logic      [31:0]         count_o,
  output logic                     empty_o,
  output logic                     in_unit_o,
  output logic                     active_o,
  output logic                     done_o,
  output logic      [31:0]         done_cmd_o,
  output logic      [31:0]         unit_cmd_o,
  output logic      [15:0]         unit_layer_o,
  output logic      [2:0]          kind_o
);
  logic        head_valid, head_take, flight_ready, flight_valid, waits_hold;
  logic [31:0] flight_cmd, count_q;
  logic [15:0] flight_layer;
  logic        seen_q, held_q;  // held_q: the head's waits hold
  logic        pushed_q;        // in the cycle before; it may not be the head yet
  /* verilator lint_off UNUSEDSIGNAL */  // the waits and the layer
  hd_common_t  common;
  /* verilator lint_on UNUSEDSIGNAL */

  hd_fifo #(.Width(Bits + 32), .Depth(Depth), .Direct(1'b0)) u_queue (
    .clk_i,
    .rst_ni,
    .valid_i(push_valid_i),
    .ready_o(push_ready_o),
    .data_i ({push_index_i, push_cmd_i[Bits-1:0]}),
    .valid_o(head_valid),
    .ready_i(head_take),
    .data_o ({cmd_index_o, cmd_o})
  );

  assign common = cmd_o[CommonBits-1:0];

  // Whether a count will be below its wait. A completion in this cycle is added last, and changes
  // the sign only where all other bits are set.
  function automatic logic below(input logic [15:0] count, input logic [15:0] target,
                                 input logic done);
    logic [15:0] ahead;
    ahead = count - target;
    below = ahead[15] ^ (&ahead[14:0] && done);
  endfunction

  assign waits_hold = (common.wait_enable
    & {below(counts_i[UnitStore*16 +: 16], common.wait_store, dones_i[UnitStore]),
       below(counts_i[UnitVector*16 +: 16], common.wait_vector, dones_i[UnitVector]),
       below(counts_i[UnitArray*16 +: 16], common.wait_array, dones_i[UnitArray]),
       below(counts_i[UnitWeight*16 +: 16], common.wait_weight, dones_i[UnitWeight]),
       below(counts_i[UnitLoad*16 +: 16], common.wait_load, dones_i[UnitLoad])}) == '0;
  assign cmd_soon_o  = head_valid && !head_take && waits_hold;
  assign cmd_valid_o = held_q && flight_ready && !stop_i;
  assign head_take   = cmd_valid_o && cmd_ready_i;

  always_ff @(posedge clk_i) begin
    pushed_q <= rst_ni && push_valid_i && push_ready_o;
    held_q   <= rst_ni && cmd_soon_o;
  end

  hd_fifo #(.Width(48), .Depth(InFlight), .Keep(1)) u_flight (
    .clk_i,
    .rst_ni,
    .valid_i(head_take),
    .ready_o(flight_ready),
    .data_i ({cmd_index_o, common.layer}),
    .valid_o(flight_valid),
    .ready_i(done_i),
    .data_o ({flight_cmd, flight_layer})
  );

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      count_q <= '0;
      seen_q  <= 1'b0;
    end else begin
      if (done_i) count_q <= count_q + 32'd1;
      if (head_take) seen_q <= 1'b1;
    end
  end

  assign count_o      = count_q;
  assign empty_o      = !pushed_q && !head_valid && !flight_valid;
  assign in_unit_o    = flight_valid;
  assign active_o     = (push_valid_i && push_ready_o) || pushed_q || head_take || done_i
                        || cmd_soon_o != held_q;
  assign done_o       = done_i;
  assign done_cmd_o   = flight_cmd;
  assign unit_cmd_o   = seen_q ? flight_cmd : '0;
  assign unit_layer_o = seen_q ? flight_layer : '0;
  assign kind_o       = (kind_i == 3'(IdleKind) && head_valid) ? 3'(WaitKind) : kind_i;

  if (PushBits > Bits) begin : gen_unused
    logic unused;
    assign unused = ^push_cmd_i[PushBits-1:Bits];
  end

`ifdef HD_ASSERT
  a_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    cmd_valid_o && !cmd_ready_i |=> cmd_valid_o || stop_i);
  a_done_known: assert property (@(posedge clk_i) disable iff (!rst_ni) done_i |-> flight_valid);
  c_waits: cover property (@(posedge clk_i) head_valid && !waits_hold);
`endif
endmodule

`default_nettype wire
