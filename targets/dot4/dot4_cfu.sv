// dot4_cfu - a unit of custom instructions with the ports of CFU Playground: products of four int8 at a time, and
// requantisation as TFLite rounds. All functions answer in the cycle of the command, but HIGH, one cycle later.
// inputs_0: a, inputs_1: b. funct3: function, funct7: accumulator. Bench: heddle check-target
//   0 SWAP   outputs acc[funct7]; acc[funct7] = a
//   1 DOT    acc[funct7] += sum of a[i] * b[i] over the four bytes; outputs it
//   2 LANES  acc[i] += a[i] * b[i] for each byte; outputs 0
//   3 HIGH   outputs acc[funct7] * 2^b * a * 2^-31, to the nearest, halves up
//   4 SHIFT  outputs a * 2^-b to the nearest, halves away from zero; plus the zero point, clamped
//   5 RANGE  zero point = a; bounds of SHIFT: the lowest two bytes of b, the upper one above
`default_nettype none
module dot4_cfu (
  input  wire        clk,
  input  wire        reset,
  input  wire        cmd_valid,
  output wire        cmd_ready,
  input  wire [9:0]  cmd_payload_function_id,
  input  wire [31:0] cmd_payload_inputs_0,
  input  wire [31:0] cmd_payload_inputs_1,
  output wire        rsp_valid,
  input  wire        rsp_ready,
  output wire [31:0] rsp_payload_outputs_0
);
  wire signed [31:0] a = cmd_payload_inputs_0, b = cmd_payload_inputs_1;
  wire [2:0] funct = cmd_payload_function_id[2:0];
  wire [1:0] which = cmd_payload_function_id[4:3];
  wire       fires = cmd_valid && cmd_ready;

  // The products of four bytes and their sum.
  logic signed [31:0] acc [4];
  logic signed [15:0] product [4];
  wire signed [31:0] sum = acc[which] + 32'(product[0]) + 32'(product[1]) + 32'(product[2]) + 32'(product[3]);
  always_comb
    for (int i = 0; i < 4; i++) product[i] = $signed(a[8*i +: 8]) * $signed(b[8*i +: 8]);

  always_ff @(posedge clk) begin
    if (fires && funct == 0) acc[which] <= a;
    if (fires && funct == 1) acc[which] <= sum;
    for (int i = 0; i < 4; i++)
      if (fires && funct == 2) acc[i] <= acc[i] + 32'(product[i]);
  end

  // RANGE
  logic signed [31:0] zero;
  logic signed [7:0]  least, most;
  always_ff @(posedge clk)
    if (fires && funct == 5) begin
      zero  <= a;
      least <= b[7:0];
      most  <= b[15:8];
    end

  // HIGH has a cycle for its multiplier.
  wire signed [31:0] scaled = acc[which] <<< b[4:0];
  logic signed [63:0] wide;
  logic               busy;
  always_ff @(posedge clk) begin
    wide <= scaled * a;
    busy <= !reset && (busy ? !rsp_ready : fires && funct == 3);
  end
  wire signed [63:0] nudged = wide + (wide >= 0 ? 64'sd1 <<< 30 : 64'sd1 - (64'sd1 <<< 30));
  wire signed [63:0] high = (nudged + (nudged < 0 ? 64'sh7fffffff : 64'sd0)) >>> 31; // towards zero

  // SHIFT
  wire [31:0] mask = (32'd1 << b[4:0]) - 1, rest = a & mask;
  wire signed [31:0] floor = a >>> b[4:0];
  wire signed [31:0] shifted = floor + $signed(32'(rest > (mask >> 1) + 32'(a < 0))) + zero;
  wire signed [31:0] clamped = shifted < 32'(least) ? 32'(least) : shifted > 32'(most) ? 32'(most) : shifted;

  assign cmd_ready = !busy;
  assign rsp_valid = busy || (cmd_valid && funct != 3);
  assign rsp_payload_outputs_0 = busy           ? high[31:0]
                               : funct == 0     ? acc[which]
                               : funct == 1     ? sum
                               : funct == 4     ? clamped
                                                : 32'd0;
endmodule
