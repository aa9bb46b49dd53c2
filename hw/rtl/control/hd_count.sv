// hd_count - the cycle counters of one unit: counter kind_i goes up in every cycle with run_i.
//   So the counters of a unit add up to the cycles of the submission. read_data_o: counter read_i,
//   same cycle.
// clear_i sets all to 0. Bench: frame_tb.cpp
`default_nettype none

module hd_count (
  input  wire logic        clk_i,
  input  wire logic        clear_i,
  input  wire logic        run_i,
  input  wire logic [2:0]  kind_i,
  input  wire logic [2:0]  read_i,
  output logic      [31:0] read_data_o
);
  logic [31:0] count_q[8];

  // The clear comes last, so it is the flip-flops' own reset: no multiplexer in front of each.
  // Blocking, as in hd_ram, for the speed of a Verilator model; read_data_o is read while nothing
  // counts.
  /* verilator lint_off BLKSEQ */
  always_ff @(posedge clk_i) begin
    if (run_i) count_q[kind_i] = count_q[kind_i] + 32'd1;
    if (clear_i) begin
      for (int k = 0; k < 8; k++) count_q[k] = '0;
    end
  end
  /* verilator lint_on BLKSEQ */

  assign read_data_o = count_q[read_i];

endmodule

`default_nettype wire
