// hd_threshold - float32 values on their way to the scratchpad become bytes: how many of 255 rising
// thresholds a value reaches, less 128. This is any rising function of a float: the thresholds
// decide how it rounds.
//   in_*: Lanes values and what goes with them; out_*: one byte per lane, the same beside it.
//   w_*: entries, keys of floats (accel.json, space threshold): w_word_i and with Pairs also
//   128 + w_word_i. They are a search tree: 1 is its root, 2 i and 2 i + 1 are the children of i.
//   Entry 0: the byte of a NaN.
//   busy_o: values are on their way. Entries change only while none are.
// A value takes one level of the tree a cycle; all move together, or none where out_ready_i is low.
// Latency 9, throughput Lanes values a cycle. Reset: no values; entries start undefined.
// Bench: dma_tb.cpp
`default_nettype none

module hd_threshold #(
  parameter int Lanes    = 4,
  parameter int Pairs    = 1,  // two entries a word
  parameter int SideBits = 1
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,
  input  wire logic                w_valid_i,
  input  wire logic [7:0]          w_word_i,
  input  wire logic [63:0]         w_data_i,
  output logic                     busy_o,
  input  wire logic                in_valid_i,
  output logic                     in_ready_o,
  input  wire logic [Lanes*32-1:0] in_data_i,
  input  wire logic [SideBits-1:0] in_side_i,
  output logic                     out_valid_o,
  input  wire logic                out_ready_i,
  output logic      [Lanes*8-1:0]  out_data_o,
  output logic      [SideBits-1:0] out_side_o
);
  localparam int Levels = 8;

  // Level s of the pipe: the values before comparison s, and that of the root is comparison 0.
  logic [Levels:0]     valid_q;
  logic [SideBits-1:0] side_q [Levels+1];
  logic                go;
  logic [31:0]         root_q;
  logic [7:0]          nan_q;

  assign go          = out_ready_i || !out_valid_o;
  assign in_ready_o  = go;
  assign out_valid_o = valid_q[Levels];
  assign out_side_o  = side_q[Levels];
  assign busy_o      = valid_q != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else if (go) valid_q <= {valid_q[Levels-1:0], in_valid_i};
  end

  always_ff @(posedge clk_i) begin
    if (go && in_valid_i) side_q[0] <= in_side_i;
    for (int s = 1; s <= Levels; s++) begin
      if (go && valid_q[s-1]) side_q[s] <= side_q[s-1];
    end
    if (w_valid_i && w_word_i == 8'd0) nan_q <= w_data_i[7:0];
    if (w_valid_i && w_word_i == 8'd1) root_q <= w_data_i[31:0];
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [31:0]       value;
    logic [31:0]       key_q [Levels];
    logic [Levels:0]   is_nan_q;
    logic [Levels-1:0] path_q;  // the comparisons of the value that leaves
    logic [Levels-1:0] path [Levels];

    // The bits of floats in their order: those below 0 upside down.
    assign value = in_data_i[l*32 +: 32];

    always_ff @(posedge clk_i) begin
      if (go && in_valid_i) begin
        key_q[0]    <= value ^ {1'b1, {31{value[31]}}};
        is_nan_q[0] <= value[30:23] == '1 && value[22:0] != '0;
      end
      for (int s = 1; s <= Levels; s++) begin
        if (go && valid_q[s-1]) begin
          if (s < Levels) key_q[s] <= key_q[s-1];
          is_nan_q[s] <= is_nan_q[s-1];
        end
      end
      if (go && valid_q[Levels-1]) path_q <= path[Levels-1];
    end

    for (genvar s = 0; s < Levels; s++) begin : gen_level
      if (s == 0) begin : gen_root
        assign path[0] = {7'b0, key_q[0] >= root_q};
      end else begin : gen_children
        // An entry of level s is read while level s - 1 compares.
        localparam bit Second = Pairs != 0 && s == Levels - 1;
        logic [s-1:0] before_q;
        logic [31:0]  entry;

        hd_ram #(.Width(32), .Depth(1 << s), .Apart(1'b1)) u_entries (
          .clk_i,
          .re_i   (go && valid_q[s-1]),
          .raddr_i(path[s-1][s-1:0]),
          .rdata_o(entry),
          .we_i   (w_valid_i && (Second || w_word_i >> s == 8'd1)),
          .waddr_i(w_word_i[s-1:0]),
          .be_i   (1'b1),
          .wdata_i(Second ? w_data_i[63:32] : w_data_i[31:0])
        );

        always_ff @(posedge clk_i) if (go && valid_q[s-1]) before_q <= path[s-1][s-1:0];

        assign path[s] = Levels'({before_q, key_q[s] >= entry});
      end
    end

    assign out_data_o[l*8 +: 8] = is_nan_q[Levels] ? nan_q : path_q ^ 8'h80;
  end
endmodule

`default_nettype wire
