// hd_axil - the AXI4-Lite side of the registers: one write and one read at a time.
//   write_o: word write_word_o takes write_data_o where write_mask_o, in the cycle in which the
//   later of address and data is accepted. read_o: read_data_i of word read_word_o is taken in this
//   cycle. Addresses beyond Words words answer too, without write_o, and read 0. Every answer is
//   OKAY. hold_i: no write is accepted.
// Latency: write 0 to write_o, 1 to BVALID; read 1. Throughput one access in two cycles. Reset:
// nothing under way.
// Bench: tests/hw/frame_tb.cpp
`default_nettype none

module hd_axil #(
  parameter int AddrBits = 12,
  parameter int WordBits = 7    // of a word index; 2^WordBits words
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,
  input  wire logic                s_axil_awvalid,
  output logic                     s_axil_awready,
  input  wire logic [AddrBits-1:0] s_axil_awaddr,
  input  wire logic                s_axil_wvalid,
  output logic                     s_axil_wready,
  input  wire logic [31:0]         s_axil_wdata,
  input  wire logic [3:0]          s_axil_wstrb,
  output logic                     s_axil_bvalid,
  input  wire logic                s_axil_bready,
  output logic      [1:0]          s_axil_bresp,
  input  wire logic                s_axil_arvalid,
  output logic                     s_axil_arready,
  input  wire logic [AddrBits-1:0] s_axil_araddr,
  output logic                     s_axil_rvalid,
  input  wire logic                s_axil_rready,
  output logic      [31:0]         s_axil_rdata,
  output logic      [1:0]          s_axil_rresp,
  // registers
  input  wire logic                hold_i,
  output logic                     write_o,
  output logic      [WordBits-1:0] write_word_o,
  output logic      [31:0]         write_data_o,
  output logic      [31:0]         write_mask_o,
  output logic                     read_o,
  output logic      [WordBits-1:0] read_word_o,
  input  wire logic [31:0]         read_data_i
);
  // Address and data of a write are kept until both are there.
  logic                aw_held_q, w_held_q, b_valid_q, open, both;
  logic [AddrBits-1:0] aw_q, addr;
  logic [31:0]         w_q;
  logic [3:0]          strb_q, strb;

  assign open           = !b_valid_q && !hold_i;
  assign s_axil_awready = !aw_held_q && open;
  assign s_axil_wready  = !w_held_q && open;
  assign both           = (aw_held_q || s_axil_awvalid) && (w_held_q || s_axil_wvalid) && open;
  assign addr           = aw_held_q ? aw_q : s_axil_awaddr;
  assign strb           = w_held_q ? strb_q : s_axil_wstrb;
  assign s_axil_bvalid  = b_valid_q;
  assign s_axil_bresp   = 2'b00;
  assign write_o        = both && addr[AddrBits-1:WordBits+2] == '0;
  assign write_word_o   = addr[WordBits+1:2];
  assign write_data_o   = w_held_q ? w_q : s_axil_wdata;
  assign write_mask_o   = {{8{strb[3]}}, {8{strb[2]}}, {8{strb[1]}}, {8{strb[0]}}};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      aw_held_q <= 1'b0;
      w_held_q  <= 1'b0;
      b_valid_q <= 1'b0;
    end else if (both) begin
      aw_held_q <= 1'b0;
      w_held_q  <= 1'b0;
      b_valid_q <= 1'b1;
    end else begin
      if (s_axil_awvalid && s_axil_awready) aw_held_q <= 1'b1;
      if (s_axil_wvalid && s_axil_wready) w_held_q <= 1'b1;
      if (s_axil_bready) b_valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (s_axil_awvalid && s_axil_awready) aw_q <= s_axil_awaddr;
    if (s_axil_wvalid && s_axil_wready) begin
      w_q    <= s_axil_wdata;
      strb_q <= s_axil_wstrb;
    end
  end

  logic        r_valid_q;
  logic [31:0] r_q;

  assign s_axil_arready = !r_valid_q;
  assign s_axil_rvalid  = r_valid_q;
  assign s_axil_rdata   = r_q;
  assign s_axil_rresp   = 2'b00;
  assign read_o         = s_axil_arvalid && !r_valid_q
                          && s_axil_araddr[AddrBits-1:WordBits+2] == '0;
  assign read_word_o    = s_axil_araddr[WordBits+1:2];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) r_valid_q <= 1'b0;
    else if (s_axil_arvalid && s_axil_arready) r_valid_q <= 1'b1;
    else if (s_axil_rready) r_valid_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (s_axil_arvalid && s_axil_arready) r_q <= read_o ? read_data_i : '0;
  end

  logic unused;  // registers are words
  assign unused = ^{addr[1:0], s_axil_araddr[1:0]};

`ifdef HD_ASSERT
  a_b_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    s_axil_bvalid && !s_axil_bready |=> s_axil_bvalid);
  a_r_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    s_axil_rvalid && !s_axil_rready |=> s_axil_rvalid && $stable(s_axil_rdata));
  c_data_first: cover property (@(posedge clk_i) w_held_q && !aw_held_q);
`endif
endmodule

`default_nettype wire
