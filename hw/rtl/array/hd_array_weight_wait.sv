// hd_array_weight_wait - whether the weights of ARRAY's next tile have come (field `follow`,
// docs/HARDWARE.md).
//   first_i: the tile is the first of ld_i, whose weights begin at w_base; otherwise they follow
//   those of the tile before. again_i: an earlier block took them already. Segments have Rows words
//   at most, and how many the next one has is known when it is loaded: so here_o once Rows words
//   from its first one on have come, or all of that WEIGHT command (weight_count_i has passed
//   wait_weight), or stop_i: then they will not come.
//   load_i: the tile is loaded, with seg_len_i words.
// A command that does not follow has here_o at once. Latency 1 from arrived_*_i
// (hd_weight_arrival) and weight_count_i.
// Reset: nothing has come. Bench: array_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module hd_array_weight_wait #(
  parameter int N        = CfgN,
  parameter int Rows     = CfgRows,
  parameter int WordBits = $clog2(CfgWeightBytes / CfgN),
  parameter int CntBits  = $clog2(N + 1)  // derived
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,
  input  wire logic                start_i,  // ld_i is another command from the next cycle on
  input  wire logic                load_i,
  input  wire logic                first_i,
  input  wire logic                again_i,
  input  wire logic [CntBits-1:0]  seg_len_i,
  /* verilator lint_off UNUSEDSIGNAL */  // whole commands; some fields are needed here
  input  wire hd_cmd_array_t       ld_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  wire logic                stop_i,
  input  wire logic [15:0]         weight_count_i,
  input  wire logic [WordBits:0]   arrived_count_i,
  input  wire logic [WordBits-1:0] arrived_end_i,
  output logic                     here_o
);
  logic                here_q;
  logic [WordBits-1:0] word_end_q;  // after the weights of the tiles loaded
  logic [WordBits-1:0] first, ask;  // of the next tile; after its Rows words

  assign here_o = !ld_i.follow || here_q;
  assign first  = first_i ? ld_i.w_base[WordBits-1:0] : word_end_q;
  assign ask    = first + WordBits'(Rows);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || start_i || load_i) begin
      here_q <= 1'b0;
    end else if (ld_i.follow) begin
      here_q <= stop_i || again_i || weight_count_i != ld_i.wait_weight
                || {1'b0, WordBits'(arrived_end_i - ask)} < arrived_count_i;
    end
    if (load_i && !again_i) word_end_q <= first + WordBits'(seg_len_i);
  end

`ifdef HD_ASSERT
  c_waits: cover property (@(posedge clk_i) ld_i.follow && !here_q);
  c_again: cover property (@(posedge clk_i) ld_i.follow && again_i && load_i);
`endif

endmodule

`default_nettype wire
