// hd_array - Rows x Cols cells. A row's activation goes to all its columns at once; only sums are
// systolic, from row 0 down: row r works r steps behind row 0, all inputs of row r come r steps
// later.
//   convolution: column c, row r multiplies row_i lane r (row2_i lane r where col2_i[c]: pixel
//   pairs).
//   depthwise:   column c, row r multiplies lane c of tap_i vector group(r), 0 unless
//   row_mask_i[r].
//   depthwise_i, pair_i: by row, as commands of another mode may follow one another row by row.
//   Rows in depthwise mode have row_i 0 and pair_i low, others row_mask_i.
//   psum_o column c: the sum over the rows, Rows + 1 steps after row 0 took its activation.
// w_we_i writes w_i into the weights of row w_row_i. A step is a cycle with en_i. Throughput 1 a
// step.
// Reset: none. Bench: array_tb.cpp.
`default_nettype none
`include "hd_config.svh"

module hd_array #(
  parameter int Rows      = CfgRows,
  parameter int Cols      = CfgColumns,
  parameter int G         = CfgPorts,
  parameter int ActW      = 9,
  parameter int WgtW      = 9,
  parameter int AccW      = 32,
  parameter int GroupBits = (G > 1) ? $clog2(G) : 1,  // derived
  parameter int RowBits   = $clog2(CfgN)  // as hd_array_row_t
) (
  input  wire logic                    clk_i,
  input  wire logic                    en_i,
  input  wire logic [Rows-1:0]         depthwise_i,
  input  wire logic [Rows-1:0]         pair_i,
  input  wire logic [Cols-1:0]         col2_i,        // with pair_i only
  input  wire logic [Rows*GroupBits-1:0] row_group_i,
  input  wire logic [Rows*ActW-1:0]    row_i,
  input  wire logic [Rows*ActW-1:0]    row2_i,
  input  wire logic [G*Cols*ActW-1:0]  tap_i,
  input  wire logic [Rows-1:0]         row_mask_i,
  input  wire logic                    w_we_i,
  input  wire logic [RowBits-1:0]      w_row_i,
  input  wire logic [Cols*WgtW-1:0]    w_i,
  output logic      [Cols*AccW-1:0]    psum_o
);
  logic [ActW-1:0] tap[G*Cols];

  for (genvar i = 0; i < G * Cols; i++) begin : gen_tap
`ifdef VERILATOR  // rests while its result is unused; hd_pe tests it anyway
    assign tap[i] = depthwise_i != '0 ? tap_i[i*ActW +: ActW] : '0;
`else
    assign tap[i] = tap_i[i*ActW +: ActW];
`endif
  end

  // In the form of the cells' ports.
  logic [Rows-1:0]      row_we;
  logic [Cols*WgtW-1:0] weight;
`ifdef VERILATOR
  assign row_we = w_we_i ? Rows'(1) << w_row_i : '0;
  assign weight = w_i;
`else
  always_ff @(posedge clk_i) begin
    if (en_i) begin
      row_we <= w_we_i ? Rows'(1) << w_row_i : '0;
      weight <= w_i;
    end
  end
`endif

  for (genvar r = 0; r < Rows; r++) begin : gen_row
    logic [GroupBits-1:0] group;
    assign group = row_group_i[r*GroupBits +: GroupBits];

    for (genvar c = 0; c < Cols; c++) begin : gen_col
      logic [AccW-1:0] above, psum;

      if (r == 0) begin : gen_top
        assign above = '0;
      end else begin : gen_inner
        assign above = gen_row[r-1].gen_col[c].psum;
      end
      hd_pe #(.ActW(ActW), .WgtW(WgtW), .AccW(AccW)) u_pe (
        .clk_i,
        .en_i,
        .depthwise_i(depthwise_i[r]),
        .tap_en_i(row_mask_i[r]),
        .tap_i   (tap[32'(group)*Cols + c]),
        .pair_i  (pair_i[r]),
        .second_i(col2_i[c]),
        .row_i   (AccW'($signed(row_i[r*ActW +: ActW]))),
        .row2_i  (AccW'($signed(row2_i[r*ActW +: ActW]))),
        .psum_i  (above),
        .w_we_i  (row_we[r]),
        .w_i     (weight[c*WgtW +: WgtW]),
        .psum_o  (psum)
      );
      if (r == Rows - 1) begin : gen_out
`ifdef VERILATOR  // hd_pe's form adds one step earlier
        always_ff @(posedge clk_i) if (en_i) psum_o[c*AccW +: AccW] <= psum;
`else
        assign psum_o[c*AccW +: AccW] = psum;
`endif
      end
    end
  end

endmodule

`default_nettype wire
