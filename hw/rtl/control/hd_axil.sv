// hd_axil - the AXI4-Lite side of the registers: one write and one read at a time.
//   write_o: word write_word_o takes write_data_o where write_mask_o, in the cycle after the later
//   of address and data was accepted. read_word_o: the word that is read, from the cycle
//   after its address was accepted on; read_data_i is taken two cycles later. Both come from
//   registers.
//   Addresses beyond Words words answer too, without write_o, and read 0. Every answer is
//   OKAY. hold_i: no write is accepted.
//   active_o: see hd_clocks.
// Latency: write 1 to write_o, 2 to BVALID; read 4. Throughput a write in three, a read in
// five cycles. Reset: nothing under way. Bench: frame_tb.cpp
`default_nettype none
`include "hd_bundles.svh"

module hd_axil #(
  parameter int WordBits = 7  // of a word index; 2^WordBits words
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,
  output logic                     active_o,
  input  wire hd_axil_req_t        axil_i,
  output hd_axil_rsp_t             axil_o,
  // registers
  input  wire logic                hold_i,
  output logic                     write_o,
  output logic      [WordBits-1:0] write_word_o,
  output logic      [31:0]         write_data_o,
  output logic      [31:0]         write_mask_o,
  output logic      [WordBits-1:0] read_word_o,
  input  wire logic [31:0]         read_data_i
);
  localparam int AddrBits = 12;

  // Address and data of a write are kept until both are there.
  logic                aw_held_q, w_held_q, b_valid_q, open, both;
  logic [AddrBits-1:0] aw_q;
  logic [31:0]         w_q;
  logic [3:0]          strb_q;

  assign open           = !b_valid_q && !hold_i;
  assign axil_o.awready = !aw_held_q && open;
  assign axil_o.wready  = !w_held_q && open;
  assign both           = aw_held_q && w_held_q && !hold_i;
  assign axil_o.bvalid  = b_valid_q;
  assign axil_o.bresp   = 2'b00;
  assign write_o        = both && aw_q[AddrBits-1:WordBits+2] == '0;
  assign write_word_o   = aw_q[WordBits+1:2];
  assign write_data_o   = w_q;
  assign write_mask_o   = {{8{strb_q[3]}}, {8{strb_q[2]}}, {8{strb_q[1]}}, {8{strb_q[0]}}};

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
      if (axil_i.awvalid && axil_o.awready) aw_held_q <= 1'b1;
      if (axil_i.wvalid && axil_o.wready) w_held_q <= 1'b1;
      if (axil_i.bready) b_valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (axil_i.awvalid && axil_o.awready) aw_q <= axil_i.awaddr;
    if (axil_i.wvalid && axil_o.wready) begin
      w_q    <= axil_i.wdata;
      strb_q <= axil_i.wstrb;
    end
  end

  logic [2:0]          reading_q;  // cycles since the address was accepted, one-hot
  logic                r_valid_q;
  logic [AddrBits-1:0] ar_q;
  logic [31:0]         r_q;

  assign axil_o.arready = reading_q == '0 && !r_valid_q;
  assign axil_o.rvalid  = r_valid_q;
  assign axil_o.rdata   = r_q;
  assign axil_o.rresp   = 2'b00;
  assign read_word_o    = ar_q[WordBits+1:2];
  assign active_o       = axil_i.awvalid || axil_i.wvalid || b_valid_q || (aw_held_q && w_held_q)
                          || axil_i.arvalid || reading_q != '0 || r_valid_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      reading_q <= '0;
      r_valid_q <= 1'b0;
    end else begin
      reading_q <= {reading_q[1:0], axil_i.arvalid && axil_o.arready};
      if (reading_q[2]) r_valid_q <= 1'b1;
      else if (axil_i.rready) r_valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (axil_i.arvalid && axil_o.arready) ar_q <= axil_i.araddr;
    if (reading_q[2]) r_q <= ar_q[AddrBits-1:WordBits+2] == '0 ? read_data_i : '0;
  end

  logic unused;  // registers are words
  assign unused = ^{aw_q[1:0], ar_q[1:0]};

`ifdef HD_ASSERT
  a_b_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    axil_o.bvalid && !axil_i.bready |=> axil_o.bvalid);
  a_r_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    axil_o.rvalid && !axil_i.rready |=> axil_o.rvalid && $stable(axil_o.rdata));
  c_data_first: cover property (@(posedge clk_i) w_held_q && !aw_held_q);
`endif
endmodule

`default_nettype wire
