// fetch_bench - hd_fetch with its parameters in hd_top, and the hash that a stream must have.
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module fetch_bench #(
  parameter int A        = CfgAxiAddrBits,
  parameter int PushBits = CmdArrayBits > CmdVectorBits ? CmdArrayBits : CmdVectorBits
) (
  input  wire logic                     clk_i,
  input  wire logic                     rst_ni,
  output logic      [31:0]              hash_o,
  input  wire logic                     clear_i,
  input  wire logic                     start_i,
  input  wire logic                     stop_i,
  input  wire logic [31:0]              stream_offset_i,
  input  wire logic [31:0]              stream_bytes_i,
  input  wire logic [63:0]              region_base_i,
  input  wire logic [63:0]              region_limit_i,
  input  wire logic                     region_right_i,
  output logic                          req_valid_o,
  output logic                          req_first_o,
  input  wire logic                     req_ready_i,
  output logic      [63:0]              req_addr_o,
  output logic      [7:0]               req_len_o,
  input  wire logic                     r_valid_i,
  output logic                          r_ready_o,
  input  wire logic [8*CfgAxiBytes-1:0] r_data_i,
  input  wire logic                     r_error_i,
  input  wire logic                     r_last_i,
  input  wire logic                     bus_quiet_i,
  output logic      [4:0]               push_valid_o,
  input  wire logic [4:0]               push_ready_i,
  output logic      [PushBits-1:0]      push_cmd_o,
  input  wire logic [4:0]               empty_i,
  output logic                          end_o,
  output logic      [31:0]              index_o,
  output logic      [15:0]              layer_o,
  output logic      [2:0]               kind_o,
  output logic                          active_o,
  output logic                          fault_o,
  output logic      [7:0]               fault_code_o,
  output logic      [31:0]              fault_cmd_o,
  output logic      [63:0]              fault_addr_o
);
  logic [A-1:0]         req_addr;
  logic [FaultBits-1:0] fault_code;

  assign hash_o       = CfgHash;
  assign req_addr_o   = 64'(req_addr);
  assign fault_code_o = 8'(fault_code);

  hd_fetch #(
    .AxiBytes  (CfgAxiBytes),
    .AddrBits  (A),
    .PushBits  (PushBits),
    .ConfigHash(CfgHash)
  ) u_fetch (
    .clk_i,
    .rst_ni,
    .clear_i,
    .start_i,
    .stop_i,
    .stream_offset_i,
    .stream_bytes_i,
    .region_base_i (region_base_i[A-1:0]),
    .region_limit_i(region_limit_i[A:0]),
    .region_right_i,
    .req_valid_o,
    .req_first_o,
    .req_ready_i,
    .req_addr_o    (req_addr),
    .req_len_o,
    .r_valid_i,
    .r_ready_o,
    .r_data_i,
    .r_error_i,
    .r_last_i,
    .bus_quiet_i,
    .push_valid_o,
    .push_ready_i,
    .push_cmd_o,
    .empty_i,
    .end_o,
    .index_o,
    .layer_o,
    .kind_o,
    .active_o,
    .fault_o,
    .fault_code_o  (fault_code),
    .fault_cmd_o,
    .fault_addr_o
  );

  logic unused;
  assign unused = ^{region_base_i[63:A], region_limit_i[63:A+1]};
endmodule

`default_nettype wire
