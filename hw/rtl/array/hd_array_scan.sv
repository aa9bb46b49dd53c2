// hd_array_scan - the innermost loops of ARRAY: rows of a block, scan positions of a row
// (docs/HARDWARE.md).
//   load_i: the next step is the first of a tile of ld_i that begins at in_i, out_i, image row y_i.
//   pixel_i: a position of cmd_i is issued. At this position: row_end_o (last of its row), vector_o
//   (it ends an output vector: every position, depthwise every stride_x-th), x_o and y_o (byte in
//   the image row, image row of kernel row 0), addr_o, out_addr_o, acc_o (scratchpad bytes,
//   accumulator); mask_o: taps of a depthwise position that take part.
// A step is a cycle with en_i. No products: strides are added up. Outputs are of this step,
// throughput 1 a step.
// Reset: none, load_i. Bench: array_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module hd_array_scan #(
  parameter int N        = CfgN,
  parameter int Rows     = CfgRows,
  parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int AccBits  = $clog2(CfgAccDepth),
  parameter int RowBits  = 19,            // image row, signed
  parameter int CntBits  = $clog2(N + 1)  // derived
) (
  input  wire logic                      clk_i,
  input  wire logic                      en_i,
  input  wire logic                      load_i,
  input  wire logic                      pixel_i,
  /* verilator lint_off UNUSEDSIGNAL */  // whole commands; some fields are needed here
  input  wire hd_cmd_array_t             ld_i,
  input  wire hd_cmd_array_t             cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  wire logic signed [RowBits-1:0] y_i,
  input  wire logic [AddrBits-1:0]       in_i,
  input  wire logic [AddrBits-1:0]       out_i,
  output logic                           row_end_o,
  output logic                           vector_o,
  output logic signed [31:0]             x_o,
  output logic signed [RowBits-1:0]      y_o,
  output logic      [AddrBits-1:0]       addr_o,
  output logic      [AddrBits-1:0]       out_addr_o,
  output logic      [AccBits-1:0]        acc_o,
  output logic      [Rows-1:0]              mask_o
);
  logic [15:0]               j_q, ox_q;
  logic [7:0]                phase_q;
  logic signed [31:0]        x_q;
  logic signed [RowBits-1:0] y_q;
  logic [AddrBits-1:0]       addr_q, in_row_q, out_addr_q, out_row_q;
  logic [AccBits-1:0]        acc_q;
  logic                      row_end, vector, moves, restart, wraps;

  assign row_end = j_q + 16'd1 == cmd_i.scan;
  assign vector  = pixel_i && (!cmd_i.depthwise || (phase_q == '0 && ox_q < cmd_i.out_w));
  assign moves   = en_i && (load_i || pixel_i);
  assign restart = load_i || row_end;
  assign wraps   = !cmd_i.depthwise || phase_q + 8'd1 == cmd_i.stride_x;

  // One enable for all: load_i arrives late.
  always_ff @(posedge clk_i) begin
    if (moves) begin
      j_q     <= restart ? '0 : j_q + 16'd1;
      ox_q    <= restart ? '0 : ox_q + 16'(vector);
      phase_q <= restart || wraps ? '0 : phase_q + 8'd1;
      if (load_i) begin
        x_q        <= $signed(ld_i.x_start);
        y_q        <= y_i;
        addr_q     <= in_i + ld_i.x_start[AddrBits-1:0];
        in_row_q   <= in_i + ld_i.x_start[AddrBits-1:0];
        out_addr_q <= out_i;
        out_row_q  <= out_i;
        acc_q      <= '0;
      end else begin
        acc_q <= acc_q + AccBits'(vector);
        if (row_end) begin
          x_q        <= $signed(cmd_i.x_start);
          y_q        <= y_q + RowBits'(cmd_i.stride_y);
          addr_q     <= in_row_q + cmd_i.in_pitch_step[AddrBits-1:0];
          in_row_q   <= in_row_q + cmd_i.in_pitch_step[AddrBits-1:0];
          out_addr_q <= out_row_q + cmd_i.out_pitch[AddrBits-1:0];
          out_row_q  <= out_row_q + cmd_i.out_pitch[AddrBits-1:0];
        end else begin
          x_q    <= x_q + $signed({16'd0, cmd_i.x_step});
          addr_q <= addr_q + AddrBits'(cmd_i.x_step);
          out_addr_q <= out_addr_q + (vector ? AddrBits'(cmd_i.out_step) : '0);
        end
      end
    end
  end

  // The vector read at scan position j is tap kx of the output at j - kx + pad_left, if 0 <= that <
  // scan.
  logic [16:0]        reach, beyond;
  logic [CntBits-1:0] last_tap, first_tap;
  logic [Rows-1:0]       mask;

  always_comb begin
    reach     = '0;
    beyond    = '0;
    last_tap  = '0;
    first_tap = '0;
    mask      = '0;
    if (pixel_i && cmd_i.depthwise) begin
      reach     = 17'(j_q) + 17'(cmd_i.pad_left) + 17'd1;
      beyond    = reach > 17'(cmd_i.scan) ? reach - 17'(cmd_i.scan) : '0;
      last_tap  = reach > 17'(cmd_i.kernel_row_bytes[CntBits-1:0])
                  ? cmd_i.kernel_row_bytes[CntBits-1:0] : reach[CntBits-1:0];
      first_tap = beyond > 17'(Rows) ? CntBits'(Rows) : beyond[CntBits-1:0];
      mask      = ~({Rows{1'b1}} << last_tap) & ({Rows{1'b1}} << first_tap);
    end
  end

  assign row_end_o  = row_end;
  assign vector_o   = vector;
  assign x_o        = x_q;
  assign y_o        = y_q;
  assign addr_o     = addr_q;
  assign out_addr_o = out_addr_q;
  assign acc_o      = acc_q;
  assign mask_o     = mask;

`ifdef HD_ASSERT
  a_in_row: assert property (@(posedge clk_i) pixel_i |-> j_q < cmd_i.scan);
  c_row_end: cover property (@(posedge clk_i) en_i && pixel_i && row_end && !load_i);
`endif

endmodule

`default_nettype wire
