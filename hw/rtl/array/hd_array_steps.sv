// hd_array_steps - the steps of ARRAY's tile under way: max(scan positions, lanes of the segment,
// 4): the accumulators need 2 steps from write to read, and hd_weights is read once a step.
//   load_i: a tile of pixels_i positions and rows_i weight rows begins with the next step. run_i:
//   one is under way. For this step: lane_o (its number, from 0, as a weight row's), pixel_o (it
//   issues a position), row_o (a weight row), last_o (it is the tile's last).
// Each is found in the step before, and the length in the tile's first step, from which the last
// one is at least three away.
// A step is a cycle with en_i. Latency 0. Reset: none, load_i. Bench: array_tb.cpp
`default_nettype none
`include "hd_config.svh"

module hd_array_steps #(
  parameter int N        = CfgN,
  parameter int CntBits  = $clog2(N + 1),  // derived
  parameter int LaneBits = $clog2(N)
) (
  input  wire logic                clk_i,
  input  wire logic                en_i,
  input  wire logic                load_i,
  input  wire logic                run_i,
  input  wire logic [15:0]         pixels_i,
  input  wire logic [CntBits-1:0]  rows_i,
  output logic      [LaneBits-1:0] lane_o,
  output logic                     pixel_o,
  output logic                     row_o,
  output logic                     last_o
);
  localparam int MinTile = 4;

  logic [15:0]        step_q, next, turn_q, pixels_q;  // turn_q: number of the step before the last
  logic [CntBits-1:0] rows_q;
  logic               pixel_q, row_q, last_q;
  logic [15:0]        length;

  assign next    = step_q + 16'd1;
  assign lane_o  = step_q[LaneBits-1:0];
  assign pixel_o = run_i && pixel_q && pixels_q != '0;
  assign row_o   = run_i && row_q;
  assign last_o  = run_i && last_q;

  always_comb begin
    length = '0;
    if (run_i && step_q == '0) begin
      length = pixels_q > 16'(rows_q) ? pixels_q : 16'(rows_q);
      if (length < 16'(MinTile)) length = 16'(MinTile);
    end
  end

  always_ff @(posedge clk_i) begin
    if (en_i && load_i) begin
      step_q   <= '0;
      pixel_q  <= 1'b1;
      row_q    <= 1'b1;
      last_q   <= 1'b0;
      turn_q   <= '1;  // not in the first step
      pixels_q <= pixels_i;
      rows_q   <= rows_i;
    end else if (en_i && run_i) begin
      step_q  <= next;
      pixel_q <= pixel_q && next < pixels_q;
      row_q   <= row_q && next < 16'(rows_q);
      last_q  <= step_q == turn_q;
      if (step_q == '0) turn_q <= length - 16'd2;
    end
  end

`ifdef HD_ASSERT
  a_turn: assert property (@(posedge clk_i) run_i && step_q == 16'd1 |-> turn_q >= 16'd2);
`endif

endmodule

`default_nettype wire
