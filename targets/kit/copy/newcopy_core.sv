// newcopy_core - copies bytes of its memory, eight in two cycles: the least that a core is.
// Registers: 0 start (write 1; 0 takes irq_o back), 4 from, 8 to, 12 bytes. Ports: sim/core/README.md.
// Bench: heddle check-target
`default_nettype none
module newcopy_core (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic        reg_write_i,
  input  wire logic [15:0] reg_addr_i,
  input  wire logic [31:0] reg_wdata_i,
  output logic      [31:0] reg_rdata_o,
  output logic             mem_read_o,
  output logic             mem_write_o,
  output logic      [31:0] mem_addr_o,
  output logic      [63:0] mem_wdata_o,
  output logic      [7:0]  mem_wstrb_o,
  input  wire logic [63:0] mem_rdata_i,
  output logic             irq_o
);
  typedef enum logic [1:0] {IDLE, READ, WRITE, DONE} state_e;
  state_e      state_q;
  logic [31:0] from_q, to_q, left_q;

  assign mem_read_o  = state_q == READ;
  assign mem_write_o = state_q == WRITE;
  assign mem_addr_o  = mem_write_o ? to_q : from_q;
  assign mem_wdata_o = mem_rdata_i;  // of the cycle before
  assign mem_wstrb_o = left_q < 8 ? ~(8'hff << left_q[2:0]) : 8'hff;
  assign reg_rdata_o = reg_addr_i == 12 ? left_q : 32'(state_q);
  assign irq_o       = state_q == DONE;

  always_ff @(posedge clk_i) begin
    if (reg_write_i && reg_addr_i == 0) state_q <= reg_wdata_i[0] ? READ : IDLE;
    if (reg_write_i && reg_addr_i == 4) from_q <= reg_wdata_i;
    if (reg_write_i && reg_addr_i == 8) to_q <= reg_wdata_i;
    if (reg_write_i && reg_addr_i == 12) left_q <= reg_wdata_i;
    if (state_q == READ) state_q <= WRITE;
    if (mem_write_o) begin
      {from_q, to_q, left_q} <= {from_q + 32'd8, to_q + 32'd8, left_q - 32'd8};
      state_q <= left_q <= 8 ? DONE : READ;
    end
    if (!rst_ni) state_q <= IDLE;
  end
endmodule
