// units.sv - dot4_cfu of targets/dot4 with PicoRV32's PCPI, and units of custom instructions that break a rule.
`default_nettype none

// Answers a cycle later, three with HIGH.
module dot4_pcpi (
  input  wire        clk,
  input  wire        resetn,
  input  wire        pcpi_valid,
  input  wire [31:0] pcpi_insn,
  input  wire [31:0] pcpi_rs1,
  input  wire [31:0] pcpi_rs2,
  output logic       pcpi_wr,
  output logic [31:0] pcpi_rd,
  output wire        pcpi_wait,
  output logic       pcpi_ready
);
  wire ready, valid;
  wire [31:0] result;
  logic taken;
  wire mine = pcpi_valid && pcpi_insn[6:0] == 7'h0b && !pcpi_ready;
  dot4_cfu unit (
    .clk, .reset(!resetn), .cmd_valid(mine && !taken), .cmd_ready(ready),
    .cmd_payload_function_id({pcpi_insn[31:25], pcpi_insn[14:12]}), .cmd_payload_inputs_0(pcpi_rs1),
    .cmd_payload_inputs_1(pcpi_rs2), .rsp_valid(valid), .rsp_ready(1'b1), .rsp_payload_outputs_0(result)
  );
  assign pcpi_wait = mine;
  always_ff @(posedge clk) begin
    taken <= resetn && mine && !valid && (taken || ready);
    pcpi_ready <= resetn && mine && valid;
    pcpi_wr <= valid;
    pcpi_rd <= result;
  end
endmodule

// FAULT 1: no answer. 2: an answer after the answer.
module bad_cfu #(parameter FAULT = 0) (
  input  wire        clk, reset, cmd_valid, rsp_ready,
  input  wire [9:0]  cmd_payload_function_id,
  input  wire [31:0] cmd_payload_inputs_0, cmd_payload_inputs_1,
  output wire        cmd_ready, rsp_valid,
  output wire [31:0] rsp_payload_outputs_0
);
  logic after;
  always_ff @(posedge clk) after <= !reset && cmd_valid;
  assign cmd_ready = 1'b1;
  assign rsp_valid = FAULT == 1 ? 1'b0 : cmd_valid || (FAULT == 2 && after && rsp_ready === 1'b0);
  assign rsp_payload_outputs_0 = cmd_payload_inputs_0 + cmd_payload_inputs_1 + {22'd0, cmd_payload_function_id};
endmodule

// Neither waits nor answers.
module bad_pcpi (
  input  wire        clk, resetn, pcpi_valid,
  input  wire [31:0] pcpi_insn, pcpi_rs1, pcpi_rs2,
  output wire        pcpi_wr, pcpi_wait, pcpi_ready,
  output wire [31:0] pcpi_rd
);
  assign {pcpi_wr, pcpi_wait, pcpi_ready} = 3'd0;
  assign pcpi_rd = 32'd0;
endmodule
