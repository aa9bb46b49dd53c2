// vector_bench - hd_vector and hd_requant as hd_top joins them; scratchpad, WEIGHT and ARRAY are the bench's.
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"
`include "hd_requant.svh"

module vector_bench #(
  parameter int N        = CfgN,
  parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int WordBits = $clog2(CfgWeightBytes / CfgN),
  parameter int CntBits  = $clog2(N + 1)
) (
  input  wire logic                     clk_i,
  input  wire logic                     rst_ni,
  input  wire logic                     cmd_valid_i,
  output logic                          cmd_ready_o,
  input  wire logic [CmdVectorBits-1:0] cmd_i,
  input  wire logic [31:0]              cmd_index_i,
  output logic                          done_o,
  output logic      [2:0]               kind_o,
  output logic      [1:0]               vr_req_o,
  input  wire logic [1:0]               vr_ready_i,
  output logic      [AddrBits-1:0]      a_addr_o,
  output logic      [AddrBits-1:0]      b_addr_o,
  output logic      [1:0]               vr_next_o,
  input  wire logic [2*2*N*8-1:0]       vr_data_i,
  input  wire logic                     ww_valid_i,
  input  wire logic [SpaceBits-1:0]     ww_space_i,
  input  wire logic [WordBits-1:0]      ww_word_i,
  input  wire logic [N*8-1:0]           ww_data_i,
  input  wire logic                     array_i,     // ARRAY takes the lanes in this cycle
  output logic                          qw_valid_o,
  output logic      [AddrBits-1:0]      qw_addr_o,
  output logic      [CntBits-1:0]       qw_count_o,
  output logic      [N*8-1:0]           qw_data_o,
  output logic      [UnitBits-1:0]      qw_unit_o,
  output logic      [31:0]              qw_cmd_o,
  output logic [1:0]                    a_busy_o
);
  localparam int EntryBits = $clog2(CfgParamEntries);

  hd_cmd_vector_t       cmd;
  logic                 v_valid, v_ready, v_busy, unused_pr_req, unused_requant_active;
  logic [N*32-1:0]      v_value;
  hd_array_scale_t      a_scale;
  hd_vector_scale_t     v_scale;
  logic [31:0]          v_cmd;
  logic [N-1:0]         v_alt;
  logic [AddrBits-1:0]  v_addr;
  logic [CntBits-1:0]   v_count;
  logic [EntryBits-1:0] unused_pr_entry;

  assign cmd = cmd_i;

  logic active, unused_active;
  assign unused_active = active;

  hd_vector #(.Lstm(CfgN < 8 ? 0 : 1)) u_vector (
    .clk_i, .rst_ni,
    .cmd_valid_i, .cmd_ready_o, .cmd_i(cmd), .cmd_index_i, .done_o, .kind_o, .active_o(active),
    .vr_req_o, .vr_ready_i, .vr_addr_o({b_addr_o, a_addr_o}), .vr_next_o,
    .vr_data_i,
    .ww_valid_i, .ww_i({ww_space_i, ww_word_i, ww_data_i}),
    .v_valid_o(v_valid), .v_ready_i(v_ready), .v_value_o(v_value), .v_scale_o(v_scale), .v_alt_o(v_alt),
    .v_addr_o(v_addr), .v_count_o(v_count), .v_cmd_o(v_cmd),
    .v_busy_i(v_busy)
  );

  always_comb begin // member by member: yosys reads no assignment pattern
    a_scale = '0;
    a_scale.common_scale = 1'b1;
    a_scale.multiplier = 32'h40000001;
    a_scale.shift = 8'd2;
    a_scale.z_out = 8'd3;
    a_scale.min = 8'h80;
    a_scale.max = 8'h7f;
  end

  logic array_q;
  always_ff @(posedge clk_i) array_q <= rst_ni & array_i;

  hd_requant u_requant (
    .clk_i, .rst_ni,
    .a_ahead_i(array_i), .a_valid_i(array_q), .a_sum_i({N{32'hdeadbeef}}), .a_entry_i('0), .a_addr_i('1), .a_count_i(CntBits'(N)),
    .a_cmd_i('0), .a_slot_i(1'b0), .a_scale_i(a_scale), .a_busy_o,
    .v_valid_i(v_valid), .v_ready_o(v_ready), .v_value_i(v_value), .v_scale_i(v_scale), .v_alt_i(v_alt),
    .v_addr_i(v_addr), .v_count_i(v_count), .v_cmd_i(v_cmd),
    .v_busy_o(v_busy),
    .active_o(unused_requant_active),
    .pr_req_o(unused_pr_req), .pr_entry_o(unused_pr_entry),
    .pr_bias_i('0), .pr_multiplier_i('0), .pr_shift_i('0),
    .ww_valid_i, .ww_i({ww_space_i, ww_word_i, ww_data_i}),
    .qw_valid_o, .qw_addr_o, .qw_count_o, .qw_data_o, .qw_unit_o, .qw_cmd_o
  );

endmodule

`default_nettype wire
