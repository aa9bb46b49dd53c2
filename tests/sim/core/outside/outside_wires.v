// outside_wires.v - the wires between a manager and a subordinate of cocotbext (*_traffic.py).
module axi_wires (
  input         clk, rst,
  input  [3:0]  axi_awid,   input [15:0] axi_awaddr, input [7:0] axi_awlen,   input [2:0] axi_awsize, input [1:0] axi_awburst,
  input         axi_awlock, input [3:0]  axi_awcache, input [2:0] axi_awprot, input axi_awvalid, axi_awready,
  input  [63:0] axi_wdata,  input [7:0]  axi_wstrb,  input axi_wlast, axi_wvalid, axi_wready,
  input  [3:0]  axi_bid,    input [1:0]  axi_bresp,  input axi_bvalid, axi_bready,
  input  [3:0]  axi_arid,   input [15:0] axi_araddr, input [7:0] axi_arlen,   input [2:0] axi_arsize, input [1:0] axi_arburst,
  input         axi_arlock, input [3:0]  axi_arcache, input [2:0] axi_arprot, input axi_arvalid, axi_arready,
  input  [3:0]  axi_rid,    input [63:0] axi_rdata,  input [1:0] axi_rresp,   input axi_rlast, axi_rvalid, axi_rready
);
endmodule

module wishbone_wires (
  input         clk, rst,
  input         wb_cyc, wb_stb, wb_we, input [15:0] wb_adr, input [31:0] wb_datwr, wb_datrd, input [3:0] wb_sel,
  input         wb_ack, wb_stall
);
endmodule

module apb_wires (
  input         clk, rst,
  input         apb_psel, apb_penable, apb_pwrite, input [15:0] apb_paddr, input [31:0] apb_pwdata, apb_prdata, input [3:0] apb_pstrb,
  input         apb_pready, apb_pslverr
);
endmodule
