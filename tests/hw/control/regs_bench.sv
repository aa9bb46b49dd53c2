// regs_bench - hd_regs with the parameters it has in hd_top, and the hash that it must show.
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module regs_bench #(
  parameter int A = CfgAxiAddrBits
) (
  input  wire logic                    clk_i,
  input  wire logic                    clk_free_i,
  input  wire logic                    rst_ni,
  output logic      [31:0]             hash_o,
  input  wire logic                    s_awvalid_i,
  output logic                         s_awready_o,
  input  wire logic [11:0]             s_awaddr_i,
  input  wire logic                    s_wvalid_i,
  output logic                         s_wready_o,
  input  wire logic [31:0]             s_wdata_i,
  input  wire logic [3:0]              s_wstrb_i,
  output logic                         s_bvalid_o,
  input  wire logic                    s_bready_i,
  output logic      [1:0]              s_bresp_o,
  input  wire logic                    s_arvalid_i,
  output logic                         s_arready_o,
  input  wire logic [11:0]             s_araddr_i,
  output logic                         s_rvalid_o,
  input  wire logic                    s_rready_i,
  output logic      [31:0]             s_rdata_o,
  output logic      [1:0]              s_rresp_o,
  output logic                         irq_o,
  output logic                         active_o,
  output logic                         start_o,
  output logic                         clear_o,
  output logic                         stop_o,
  output logic                         unit_rst_no,
  output logic      [31:0]             stream_offset_o,
  output logic      [31:0]             stream_bytes_o,
  input  wire logic                    end_i,
  input  wire logic                    bus_quiet_i,
  input  wire logic                    units_quiet_i,
  input  wire logic [UnitCount*3-1:0]  unit_kind_i,
  input  wire logic [UnitCount*32-1:0] unit_cmd_i,
  input  wire logic [UnitCount*32-1:0] unit_count_i,
  input  wire logic [4*4-1:0]          region_i,
  output logic      [4*A-1:0]          region_base_o,
  output logic      [4*(A+1)-1:0]      region_limit_o,
  output logic      [3:0]              region_right_o,
  input  wire logic [3:0]              fault_i,
  input  wire logic [4*FaultBits-1:0]  fault_code_i,
  input  wire logic [4*32-1:0]         fault_cmd_i,
  input  wire logic [4*64-1:0]         fault_addr_i
);
  assign hash_o = CfgHash;

  hd_regs #(.AddrBits(A), .ConfigHash(CfgHash)) u_regs (
    .clk_i,
    .clk_free_i,
    .rst_ni,
    .axil_i        ({s_awvalid_i, s_awaddr_i, s_wvalid_i, s_wdata_i, s_wstrb_i, s_bready_i, s_arvalid_i, s_araddr_i,
                     s_rready_i}),
    .axil_o        ({s_awready_o, s_wready_o, s_bvalid_o, s_bresp_o, s_arready_o, s_rvalid_o, s_rdata_o, s_rresp_o}),
    .irq_o,
    .active_o,
    .start_o,
    .clear_o,
    .stop_o,
    .unit_rst_no,
    .stream_offset_o,
    .stream_bytes_o,
    .end_i,
    .bus_quiet_i,
    .units_quiet_i,
    .unit_kind_i,
    .unit_cmd_i,
    .unit_count_i,
    .region_i,
    .region_base_o,
    .region_limit_o,
    .region_right_o,
    .fault_i,
    .fault_code_i,
    .fault_cmd_i,
    .fault_addr_i
  );
endmodule

`default_nettype wire
