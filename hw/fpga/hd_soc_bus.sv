// hd_soc_bus - hd_soc_ram's two users: the processor's memory interface and the accelerator's AXI4
// port. The processor goes first; a burst continues in the next cycle.
//   cpu_*: as picorv32's mem_*, of an access to memory; cpu_ready_o comes in the cycle after it was
//   taken, with its word. AXI: one read burst and one write burst at a time, INCR, beats as wide as
//   the bus, aligned; responses are OKAY. Addresses wrap at the memory's end.
// Latency of a read: 1 from the address (AR: 2 to the first beat). Throughput 1 beat a cycle.
// Reset: no burst. Bench: hw/fpga/simulate.cpp
`default_nettype none

module hd_soc_bus #(
  parameter int Bytes    = 8,   // of a beat, a power of two
  parameter int AddrBits = 40,  // of the AXI port
  parameter int WordBits = 14   // of the memory's word address
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,
  // processor
  input  wire logic                cpu_valid_i,
  output logic                     cpu_ready_o,
  input  wire logic [31:0]         cpu_addr_i,
  input  wire logic [31:0]         cpu_wdata_i,
  input  wire logic [3:0]          cpu_wstrb_i,
  output logic      [31:0]         cpu_rdata_o,
  // accelerator
  input  wire logic                arvalid_i,
  output logic                     arready_o,
  input  wire logic [3:0]          arid_i,
  input  wire logic [AddrBits-1:0] araddr_i,
  input  wire logic [7:0]          arlen_i,
  output logic                     rvalid_o,
  input  wire logic                rready_i,
  output logic      [3:0]          rid_o,
  output logic      [Bytes*8-1:0]  rdata_o,
  output logic                     rlast_o,
  input  wire logic                awvalid_i,
  output logic                     awready_o,
  input  wire logic [3:0]          awid_i,
  input  wire logic [AddrBits-1:0] awaddr_i,
  input  wire logic                wvalid_i,
  output logic                     wready_o,
  input  wire logic [Bytes*8-1:0]  wdata_i,
  input  wire logic [Bytes-1:0]    wstrb_i,
  input  wire logic                wlast_i,
  output logic                     bvalid_o,
  input  wire logic                bready_i,
  output logic      [3:0]          bid_o,
  // memory
  output logic                     mem_re_o,
  output logic      [WordBits-1:0] mem_raddr_o,
  input  wire logic [Bytes*8-1:0]  mem_rdata_i,
  output logic                     mem_we_o,
  output logic      [WordBits-1:0] mem_waddr_o,
  output logic      [Bytes-1:0]    mem_be_o,
  output logic      [Bytes*8-1:0]  mem_wdata_o
);
  localparam int Lane = $clog2(Bytes);

  logic                cpu_read, cpu_write, free, beat_read, beat_write;
  logic                read_q, write_q;  // a burst is under way
  logic [WordBits-1:0] raddr_q, waddr_q;
  logic [7:0]          left_q;           // beats that follow the next one
  logic [3:0]          rid_q;

  // A word read stays in the memory's output register until its user accepts it.
  assign free      = !rvalid_o || rready_i;
  assign cpu_read  = cpu_valid_i && !cpu_ready_o && cpu_wstrb_i == '0 && free;
  assign cpu_write = cpu_valid_i && !cpu_ready_o && cpu_wstrb_i != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) cpu_ready_o <= 1'b0;
    else cpu_ready_o <= cpu_read || cpu_write;
  end

  if (Lane > 2) begin : gen_lanes
    assign cpu_rdata_o = mem_rdata_i[cpu_addr_i[Lane-1:2]*32 +: 32];
    assign mem_be_o    = cpu_write ? Bytes'(cpu_wstrb_i) << {cpu_addr_i[Lane-1:2], 2'b00} : wstrb_i;
  end else begin : gen_lane
    assign cpu_rdata_o = mem_rdata_i;
    assign mem_be_o    = cpu_write ? cpu_wstrb_i : wstrb_i;
  end

  // Reads.
  assign arready_o   = !read_q;
  assign beat_read   = read_q && free && !cpu_read;
  assign mem_re_o    = cpu_read || beat_read;
  assign mem_raddr_o = cpu_read ? cpu_addr_i[Lane +: WordBits] : raddr_q;
  assign rdata_o     = mem_rdata_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q   <= 1'b0;
      rvalid_o <= 1'b0;
    end else begin
      if (arvalid_i && arready_o) read_q <= 1'b1;
      else if (beat_read && left_q == '0) read_q <= 1'b0;
      if (free) rvalid_o <= beat_read;
    end
  end

  always_ff @(posedge clk_i) begin
    if (arvalid_i && arready_o) begin
      raddr_q <= araddr_i[Lane +: WordBits];
      left_q  <= arlen_i;
      rid_q   <= arid_i;
    end else if (beat_read) begin
      raddr_q <= raddr_q + 1'b1;
      left_q  <= left_q - 1'b1;
    end
    if (beat_read) begin
      rid_o   <= rid_q;
      rlast_o <= left_q == '0;
    end
  end

  // Writes.
  assign awready_o   = !write_q && !bvalid_o;
  assign wready_o    = write_q && !cpu_write;
  assign beat_write  = wvalid_i && wready_o;
  assign mem_we_o    = cpu_write || beat_write;
  assign mem_waddr_o = cpu_write ? cpu_addr_i[Lane +: WordBits] : waddr_q;
  assign mem_wdata_o = cpu_write ? {Bytes / 4{cpu_wdata_i}} : wdata_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_q  <= 1'b0;
      bvalid_o <= 1'b0;
    end else begin
      if (awvalid_i && awready_o) write_q <= 1'b1;
      else if (beat_write && wlast_i) write_q <= 1'b0;
      if (beat_write && wlast_i) bvalid_o <= 1'b1;
      else if (bready_i) bvalid_o <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (awvalid_i && awready_o) begin
      waddr_q <= awaddr_i[Lane +: WordBits];
      bid_o   <= awid_i;
    end else if (beat_write) begin
      waddr_q <= waddr_q + 1'b1;
    end
  end

  logic unused;
  assign unused = &{1'b0, cpu_addr_i, araddr_i, awaddr_i};

endmodule

`default_nettype wire
