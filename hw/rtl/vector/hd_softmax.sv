// hd_softmax - VECTOR's softmax: the values that its three passes over a command's rows keep.
// A row is the channels of one pixel; a command has at most Rows of them. Each pass is the whole
// walk of the command:
//   maximum   the largest byte of each row
//   sum       lanes look up e^(byte - maximum), Q0.31 (the table's entry (byte - maximum) mod 256);
//             a row's sum of RDBPOT(that, 12) becomes its scale and shift (hd_softmax_scale)
//   result    the same look-up; hd_requant multiplies by the row's scale
// At the ports: zero_o is the maximum of the row whose bytes are there, 0 in the first pass; they
// are two cycles after their beat was taken (take_i; end_i: the last one of its row).
// At the values: high_i are the lanes' words (byte or exponential), count_i of them real, put
// together with shift_en_i and added to their row's, as the value stage loads, with value_en_i. In
// the first two passes the last beat of a row makes a value that is not hd_requant's: valid_i while
// it waits, ready_o when it is taken; a row's sum waits there for its turn at the scales.
// multiplier_o, shift_o belong to the value stage's row.
// next_o: the next pass begins. more_o: this pass is not the last.
// Each addition of the sum takes one lane's rounding bit as its carry: N of them, N bits.
// Reset: first pass, no scale under way; the memories of the rows are undefined.
// Bench: vector_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"

module hd_softmax #(
  parameter int N       = CfgN,
  parameter int Rows    = CfgSoftmaxRows != 0 ? CfgSoftmaxRows : 2,  // a power of two, at least 2
  parameter int RowBits = $clog2(Rows),    // derived, as below
  parameter int CntBits = $clog2(N + 1)
) (
  input  wire logic               clk_i,
  input  wire logic               rst_ni,
  input  wire logic               start_i,     // a command is taken
  input  wire logic               on_i,        // the command is a softmax
  input  wire logic               flowing_i,   // beats of this pass are under way
  output logic                    next_o,
  output logic                    more_o,
  output logic                    maximum_o,   // the pass
  output logic                    sum_o,
  // ports
  input  wire logic               take_i,
  input  wire logic               take_end_i,
  output logic      [7:0]         zero_o,
  // values
  input  wire logic               shift_en_i,
  input  wire logic [CntBits-1:0] count_i,
  input  wire logic [N*32-1:0]    high_i,
  input  wire logic               value_en_i,
  input  wire logic               value_end_i,
  input  wire logic               valid_i,
  output logic                    ready_o,
  output logic      [31:0]        multiplier_o,
  output logic      [7:0]         shift_o
);
  typedef enum logic [1:0] {StMaximum, StSum, StResult} state_e;
  state_e state_q;

  logic scale_start, scale_ready, scale_near, scale_valid;

  assign maximum_o = on_i && state_q == StMaximum;
  assign sum_o     = on_i && state_q == StSum;
  assign more_o    = on_i && state_q != StResult;
  assign next_o    = more_o && !flowing_i && scale_near;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || start_i) begin
      state_q <= StMaximum;
    end else if (next_o) begin
      state_q <= state_q == StMaximum ? StSum : StResult;
    end
  end

  // ---------------------------------------------------------------- over the lanes
  localparam int Wide = N < 8 ? 8 : N;

  // In place: element i from 2 i and 2 i + 1 of the level before, down to two. The last level is
  // the value stage's. The last two here are compared at once: in a row they take a cycle.
  function automatic logic [7:0] larger(input logic signed [7:0] a, input logic signed [7:0] b);
    larger = a > b ? a : b;
  endfunction

  function automatic logic [7:0] largest4(input logic signed [7:0] a, input logic signed [7:0] b,
                                          input logic signed [7:0] c, input logic signed [7:0] d);
    logic ab, cd, first;
    ab       = a > b;
    cd       = c > d;
    first    = ab ? (cd ? a > c : a > d) : (cd ? b > c : b > d);
    largest4 = first ? (ab ? a : b) : (cd ? c : d);
  endfunction

  function automatic logic [15:0] largest(input logic [N*32-1:0] high);
    logic [Wide*8-1:0] x;  // fewer than eight lanes come twice
    for (int l = 0; l < Wide; l++) x[l*8 +: 8] = high[(l % N)*32 +: 8];
    for (int n = Wide / 2; n > 4; n = n / 2) begin
      for (int i = 0; i < n; i++) x[i*8 +: 8] = larger(x[i*16 +: 8], x[i*16+8 +: 8]);
    end
    for (int i = 0; i < 2; i++) begin
      x[i*8 +: 8] = largest4(x[i*32 +: 8], x[i*32+8 +: 8], x[i*32+16 +: 8], x[i*32+24 +: 8]);
    end
    largest = x[15:0];
  endfunction

  // The lanes below count, except two of the N rounding bits.
  function automatic logic [65:0] added(input logic [N*32-1:0] high,
                                        input logic [CntBits-1:0] count);
    logic [N*32-1:0] x;
    logic [N-1:0]    up;
    for (int l = 0; l < N; l++) begin
      x[l*32 +: 32] = CntBits'(l) < count ? {12'b0, high[l*32+12 +: 20]} : 32'd0;
      up[l]         = CntBits'(l) < count && high[l*32+11];
    end
    for (int n = N / 2; n > 1; n = n / 2) begin
      for (int i = 0; i < n; i++) begin
        x[i*32 +: 32] = x[i*64 +: 32] + x[i*64+32 +: 32] + {31'b0, up[n+i]};
      end
    end
    added = {x[63:0], up[1:0]};
  endfunction

  // ---------------------------------------------------------------- rows
  logic               first_q;                       // the next beat begins a row
  logic [RowBits-1:0] in_row_q, out_row_q, row_q, scale_row;  // port, shift stage, value, scale
  logic signed [7:0]  part0_top_q, part1_top_q, top_q;
  logic [31:0]        sum_q, part0_q, part1_q;
  logic [1:0]         part_up_q;

  always_ff @(posedge clk_i) begin
    if (start_i || next_o) begin
      in_row_q  <= '0;
      out_row_q <= '0;
      first_q   <= 1'b1;
    end else begin
      if (take_i && take_end_i) in_row_q <= in_row_q + RowBits'(1);
      if (value_en_i) begin
        first_q <= value_end_i;
        row_q   <= out_row_q;
        if (value_end_i) out_row_q <= out_row_q + RowBits'(1);
      end
    end
    if (shift_en_i && maximum_o) {part1_top_q, part0_top_q} <= largest(high_i);
    if (shift_en_i && sum_o) {part1_q, part0_q, part_up_q} <= added(high_i, count_i);
    if (value_en_i && maximum_o) begin  // one level of comparisons, as above
      top_q <= first_q ? larger(part0_top_q, part1_top_q)
                       : largest4(part0_top_q, part1_top_q, top_q, top_q);
    end
    if (value_en_i && sum_o) begin
      sum_q <= (first_q ? 32'd0 : sum_q) + part0_q + part1_q + {31'b0, part_up_q[0]}
               + {31'b0, part_up_q[1]};
    end
  end

  // The pass changes while the pipe is empty.
  logic maximum_q;
  always_ff @(posedge clk_i) maximum_q <= maximum_o;
  assign ready_o     = maximum_q || scale_ready;
  assign scale_start = sum_o && valid_i && scale_ready;

  logic [7:0] maximum;

  hd_ram #(.Width(8), .Depth(Rows), .Apart(1'b1)) u_maximum (
    .clk_i,
    .re_i   (take_i && on_i && !maximum_o),
    .raddr_i(in_row_q),
    .rdata_o(maximum),
    .we_i   (maximum_o && valid_i),
    .waddr_i(row_q),
    .be_i   (1'b1),
    .wdata_i(top_q)
  );
  logic take_q;
  always_ff @(posedge clk_i) begin
    take_q <= take_i;
    if (take_q) zero_o <= maximum_o ? 8'd0 : maximum;
  end

  // ---------------------------------------------------------------- scales
  logic [30:0] scale, multiplier;
  logic [7:0]  shift;

  hd_softmax_scale #(.RowBits(RowBits)) u_scale (
    .clk_i,
    .rst_ni,
    .start_i(scale_start),
    .sum_i  (sum_q),
    .row_i  (row_q),
    .ready_o(scale_ready),
    .near_o (scale_near),
    .valid_o(scale_valid),
    .row_o  (scale_row),
    .scale_o(scale),
    .shift_o(shift)
  );

  hd_ram #(.Width(36), .Depth(Rows), .Apart(1'b1)) u_scales (
    .clk_i,
    .re_i   (value_en_i && on_i && !more_o),
    .raddr_i(out_row_q),
    .rdata_o({shift_o[4:0], multiplier}),
    .we_i   (scale_valid),
    .waddr_i(scale_row),
    .be_i   (1'b1),
    .wdata_i({shift[4:0], scale})
  );
  assign shift_o[7:5] = '1;  // -31 to -23
  assign multiplier_o = {1'b0, multiplier};

  logic unused_bits;
  assign unused_bits = ^{high_i, shift[7:5]};

`ifdef HD_ASSERT
  a_row: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i && !ready_o |=> valid_i && $stable(sum_q) && $stable(row_q));
  c_maximum: cover property (@(posedge clk_i) maximum_o && valid_i);
  c_waits: cover property (@(posedge clk_i) sum_o && valid_i && !ready_o);
  c_result: cover property (@(posedge clk_i) on_i && !more_o && value_en_i);
`endif

endmodule

`default_nettype wire
