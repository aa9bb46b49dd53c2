// newwide_core - copies bytes of its memory by the wide port, 16 in a cycle once the first are there.
// Registers: 0 start (write 1; 0 takes irq_o back), 4 from, 8 to, 12 bytes. Ports: sim/core/README.md.
// Bench: heddle check-target
`default_nettype none
module newwide_core (
  input  wire logic         clk_i,
  input  wire logic         rst_ni,
  input  wire logic         reg_write_i,
  input  wire logic [15:0]  reg_addr_i,
  input  wire logic [31:0]  reg_wdata_i,
  output logic      [31:0]  reg_rdata_o,
  output logic              rd_valid_o,
  input  wire logic         rd_ready_i,
  output logic      [31:0]  rd_addr_o,
  input  wire logic         rsp_valid_i,
  output logic              rsp_ready_o,
  input  wire logic [127:0] rsp_data_i,
  output logic              wr_valid_o,
  input  wire logic         wr_ready_i,
  output logic      [31:0]  wr_addr_o,
  output logic      [127:0] wr_data_o,
  output logic      [15:0]  wr_strb_o,
  output logic              irq_o
);
  typedef enum logic [1:0] {IDLE, COPY, DONE} state_e;
  state_e      state_q;
  logic [31:0] from_q, unread_q, to_q, left_q;

  assign rd_valid_o  = state_q == COPY && unread_q != 0;
  assign rd_addr_o   = from_q;
  assign wr_valid_o  = rsp_valid_i;  // what is read is written in the same cycle
  assign rsp_ready_o = wr_ready_i;
  assign wr_addr_o   = to_q;
  assign wr_data_o   = rsp_data_i;
  assign wr_strb_o   = left_q < 16 ? ~(16'hffff << left_q[3:0]) : 16'hffff;
  assign reg_rdata_o = reg_addr_i == 12 ? left_q : 32'(state_q);
  assign irq_o       = state_q == DONE;

  always_ff @(posedge clk_i) begin
    if (reg_write_i && reg_addr_i == 0) state_q <= reg_wdata_i[0] ? COPY : IDLE;
    if (reg_write_i && reg_addr_i == 4) from_q <= reg_wdata_i;
    if (reg_write_i && reg_addr_i == 8) to_q <= reg_wdata_i;
    if (reg_write_i && reg_addr_i == 12) {unread_q, left_q} <= {reg_wdata_i, reg_wdata_i};
    if (rd_valid_o && rd_ready_i)
      {from_q, unread_q} <= {from_q + 32'd16, unread_q <= 16 ? 32'd0 : unread_q - 32'd16};
    if (wr_valid_o && wr_ready_i) begin
      {to_q, left_q} <= {to_q + 32'd16, left_q - 32'd16};
      if (left_q <= 16) state_q <= DONE;
    end
    if (!rst_ni) state_q <= IDLE;
  end
endmodule
