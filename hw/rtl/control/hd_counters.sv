// hd_counters - cycles of a submission, and what each unit did in them (hd_count).
//   cycles_o goes up in the cycle after one with run_i; so does the counter of that cycle's kind,
//   of each unit: the counters of a unit add up to cycles_o. They count a cycle behind, from
//   registers: what a unit is at ends a long path. read_data_o: counter read_kind_i of unit
//   read_unit_i, same cycle.
//   clear_i sets all to 0: in its cycle at most the last cycle of what it clears is still to be
//   counted.
// clk_i never rests. Latency 1. Reset: none, clear_i. Bench: frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"

module hd_counters (
  input  wire logic                   clk_i,
  input  wire logic                   clear_i,
  input  wire logic                   run_i,
  input  wire logic [UnitCount*3-1:0] kind_i,
  output logic      [63:0]            cycles_o,
  input  wire logic [2:0]             read_unit_i,
  input  wire logic [2:0]             read_kind_i,
  output logic      [31:0]            read_data_o
);
  logic                    run_q;
  logic [UnitCount*3-1:0]  kind_q;
  logic [63:0]             cycles_q;
  logic [UnitCount*32-1:0] counters;

  always_ff @(posedge clk_i) begin
    run_q  <= run_i;
    kind_q <= kind_i;
    if (clear_i) cycles_q <= '0;
    else if (run_q) cycles_q <= cycles_q + 64'd1;
  end

  for (genvar u = 0; u < UnitCount; u++) begin : gen_count
    hd_count u_count (
      .clk_i,
      .clear_i,
      .run_i      (run_q),
      .kind_i     (kind_q[u*3 +: 3]),
      .read_i     (read_kind_i),
      .read_data_o(counters[u*32 +: 32])
    );
  end

  assign cycles_o    = cycles_q;
  assign read_data_o = counters[read_unit_i*32 +: 32];

endmodule

`default_nettype wire
