// hd_soc - a small computer with the accelerator: PicoRV32 (RV32IM), block RAM that holds program,
// constants and tensors, hd_top, a serial line, lights. docs/FPGA.md explains it. 0x0000_0000
// memory, RamBytes; program and device memory. The accelerator's port has the same addresses
// 0x4000_0000 the accelerator's registers (AXI4-Lite, by picorv32_axi_adapter) 0x8000_0000 write: a
// byte to the serial line; waits until it is taken 0x8000_0004 write: led_o[5:0]. Read: bit 0: the
// accelerator's interrupt line An access elsewhere is never answered. led_o[6]: the interrupt line,
// led_o[7]: the processor has stopped (trap). Reset: rst_ni, synchronous, low for at least 2
// cycles; memory keeps its contents. Bench: hw/fpga/simulate.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module hd_soc #(
  parameter     Init     = "soc.hex",  // words of the accelerator's bus, one per line
  parameter int RamBytes = 131072,     // a power of two
  parameter int Divisor  = 217         // cycles per bit of the serial line
) (
  input  wire logic  clk_i,
  input  wire logic  rst_ni,
  output logic       tx_o,
  output logic [7:0] led_o
);
  localparam int AxiBits  = 8 * CfgAxiBytes;
  localparam int Depth    = RamBytes / CfgAxiBytes;
  localparam int WordBits = $clog2(Depth);

  // The processor and its responders.
  logic        trap, valid, ready, ram_ready, reg_ready, tx_ready;
  logic        to_ram, to_reg, to_tx, to_led;
  logic [31:0] addr, wdata, rdata, ram_rdata, reg_rdata;
  logic [3:0]  wstrb;
  logic        irq;
  logic [5:0]  led_q;

  assign to_ram = valid && addr[31:30] == 2'b00;
  assign to_reg = valid && addr[31:30] == 2'b01;
  assign to_tx  = valid && addr[31:30] == 2'b10 && !addr[2];
  assign to_led = valid && addr[31:30] == 2'b10 && addr[2];
  assign ready  = ram_ready || reg_ready || (to_tx && tx_ready) || to_led;
  assign rdata  = to_ram ? ram_rdata : to_reg ? reg_rdata : {31'b0, irq};
  assign led_o  = {trap, irq, led_q};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) led_q <= '0;
    else if (to_led && wstrb[0]) led_q <= wdata[5:0];
  end

  /* verilator lint_off PINMISSING */
  picorv32 #(
    .ENABLE_COUNTERS64(1'b0),
    .ENABLE_FAST_MUL  (1'b1),
    .ENABLE_DIV       (1'b1),
    .PROGADDR_RESET   (32'h0)
  ) u_cpu (
    .clk      (clk_i),
    .resetn   (rst_ni),
    .trap,
    .mem_valid(valid),
    .mem_ready(ready),
    .mem_addr (addr),
    .mem_wdata(wdata),
    .mem_wstrb(wstrb),
    .mem_rdata(rdata),
    .pcpi_wr   (1'b0),
    .pcpi_rd   (32'b0),
    .pcpi_wait (1'b0),
    .pcpi_ready(1'b0),
    .irq       (32'b0)
  );
  /* verilator lint_on PINMISSING */

  hd_soc_uart #(.Divisor(Divisor)) u_uart (
    .clk_i,
    .rst_ni,
    .valid_i(to_tx && wstrb[0]),
    .ready_o(tx_ready),
    .data_i (wdata[7:0]),
    .tx_o
  );

  // Registers of the accelerator.
  logic        awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  logic [31:0] awaddr, araddr, axil_wdata, axil_rdata;
  logic [3:0]  axil_wstrb;
  logic [1:0]  axil_bresp, axil_rresp;
  logic [2:0]  awprot, arprot;

  picorv32_axi_adapter u_registers (
    .clk            (clk_i),
    .resetn         (rst_ni),
    .mem_axi_awvalid(awvalid),
    .mem_axi_awready(awready),
    .mem_axi_awaddr (awaddr),
    .mem_axi_awprot (awprot),
    .mem_axi_wvalid (wvalid),
    .mem_axi_wready (wready),
    .mem_axi_wdata  (axil_wdata),
    .mem_axi_wstrb  (axil_wstrb),
    .mem_axi_bvalid (bvalid),
    .mem_axi_bready (bready),
    .mem_axi_arvalid(arvalid),
    .mem_axi_arready(arready),
    .mem_axi_araddr (araddr),
    .mem_axi_arprot (arprot),
    .mem_axi_rvalid (rvalid),
    .mem_axi_rready (rready),
    .mem_axi_rdata  (axil_rdata),
    .mem_valid      (to_reg),
    .mem_instr      (1'b0),
    .mem_ready      (reg_ready),
    .mem_addr       (addr),
    .mem_wdata      (wdata),
    .mem_wstrb      (wstrb),
    .mem_rdata      (reg_rdata)
  );

  // Memory.
  logic                      m_arvalid, m_arready, m_rvalid, m_rready, m_rlast;
  logic                      m_awvalid, m_awready, m_wvalid, m_wready, m_wlast, m_bvalid, m_bready;
  logic [3:0]                m_arid, m_rid, m_awid, m_bid;
  logic [CfgAxiAddrBits-1:0] m_araddr, m_awaddr;
  logic [7:0]                m_arlen, m_awlen;
  logic [2:0]                m_arsize, m_awsize;
  logic [1:0]                m_arburst, m_awburst;
  logic [AxiBits-1:0]        m_rdata, m_wdata;
  logic [CfgAxiBytes-1:0]    m_wstrb;
  logic                      re, we;
  logic [WordBits-1:0]       ram_raddr, ram_waddr;
  logic [CfgAxiBytes-1:0]    ram_be;
  logic [AxiBits-1:0]        ram_word, ram_wdata;

  hd_soc_bus #(
    .Bytes   (CfgAxiBytes),
    .AddrBits(CfgAxiAddrBits),
    .WordBits(WordBits)
  ) u_bus (
    .clk_i,
    .rst_ni,
    .cpu_valid_i(to_ram),
    .cpu_ready_o(ram_ready),
    .cpu_addr_i (addr),
    .cpu_wdata_i(wdata),
    .cpu_wstrb_i(wstrb),
    .cpu_rdata_o(ram_rdata),
    .arvalid_i  (m_arvalid),
    .arready_o  (m_arready),
    .arid_i     (m_arid),
    .araddr_i   (m_araddr),
    .arlen_i    (m_arlen),
    .rvalid_o   (m_rvalid),
    .rready_i   (m_rready),
    .rid_o      (m_rid),
    .rdata_o    (m_rdata),
    .rlast_o    (m_rlast),
    .awvalid_i  (m_awvalid),
    .awready_o  (m_awready),
    .awid_i     (m_awid),
    .awaddr_i   (m_awaddr),
    .wvalid_i   (m_wvalid),
    .wready_o   (m_wready),
    .wdata_i    (m_wdata),
    .wstrb_i    (m_wstrb),
    .wlast_i    (m_wlast),
    .bvalid_o   (m_bvalid),
    .bready_i   (m_bready),
    .bid_o      (m_bid),
    .mem_re_o   (re),
    .mem_raddr_o(ram_raddr),
    .mem_rdata_i(ram_word),
    .mem_we_o   (we),
    .mem_waddr_o(ram_waddr),
    .mem_be_o   (ram_be),
    .mem_wdata_o(ram_wdata)
  );

  hd_soc_ram #(
    .Init (Init),
    .Width(AxiBits),
    .Depth(Depth)
  ) u_ram (
    .clk_i,
    .re_i   (re),
    .raddr_i(ram_raddr),
    .rdata_o(ram_word),
    .we_i   (we),
    .waddr_i(ram_waddr),
    .be_i   (ram_be),
    .wdata_i(ram_wdata)
  );

  /* verilator lint_off PINMISSING */
  hd_top #(.Trace(1'b0)) u_top (
    .clk_i,
    .rst_ni,
    .irq_o         (irq),
    .s_axil_awvalid(awvalid),
    .s_axil_awready(awready),
    .s_axil_awaddr (awaddr[11:0]),
    .s_axil_wvalid (wvalid),
    .s_axil_wready (wready),
    .s_axil_wdata  (axil_wdata),
    .s_axil_wstrb  (axil_wstrb),
    .s_axil_bvalid (bvalid),
    .s_axil_bready (bready),
    .s_axil_bresp  (axil_bresp),
    .s_axil_arvalid(arvalid),
    .s_axil_arready(arready),
    .s_axil_araddr (araddr[11:0]),
    .s_axil_rvalid (rvalid),
    .s_axil_rready (rready),
    .s_axil_rdata  (axil_rdata),
    .s_axil_rresp  (axil_rresp),
    .m_axi_arvalid (m_arvalid),
    .m_axi_arready (m_arready),
    .m_axi_arid    (m_arid),
    .m_axi_araddr  (m_araddr),
    .m_axi_arlen   (m_arlen),
    .m_axi_arsize  (m_arsize),
    .m_axi_arburst (m_arburst),
    .m_axi_rvalid  (m_rvalid),
    .m_axi_rready  (m_rready),
    .m_axi_rid     (m_rid),
    .m_axi_rdata   (m_rdata),
    .m_axi_rresp   (2'b00),
    .m_axi_rlast   (m_rlast),
    .m_axi_awvalid (m_awvalid),
    .m_axi_awready (m_awready),
    .m_axi_awid    (m_awid),
    .m_axi_awaddr  (m_awaddr),
    .m_axi_awlen   (m_awlen),
    .m_axi_awsize  (m_awsize),
    .m_axi_awburst (m_awburst),
    .m_axi_wvalid  (m_wvalid),
    .m_axi_wready  (m_wready),
    .m_axi_wdata   (m_wdata),
    .m_axi_wstrb   (m_wstrb),
    .m_axi_wlast   (m_wlast),
    .m_axi_bvalid  (m_bvalid),
    .m_axi_bready  (m_bready),
    .m_axi_bid     (m_bid),
    .m_axi_bresp   (2'b00)
  );
  /* verilator lint_on PINMISSING */

  logic unused;
  assign unused = &{1'b0, addr, awaddr, araddr, awprot, arprot, axil_bresp, axil_rresp, m_arsize,
                    m_arburst, m_awlen, m_awsize, m_awburst};

endmodule

`default_nettype wire
