// hd_vector_axis - one axis of VECTOR's windows: which of a window's cells are in the image.
//   Cells of a window are counted from 0; the first one inside is k0, the number of cells before
//   the image, and the last one is the kernel's or the image's (rem: from the window's start).
//   clear_i, then seek_i until seeking_o falls: k0 of the first window, offset_o = k0 * pitch_i,
//   one cell a cycle. Then with step_i one of, at most: cell_i (the next cell), line_i (the first
//   one inside again), window_i (of the next window, stride_i further), restart_i (of the first
//   window). last_o: the cell is the last one inside. empty_o: no cell of the window is.
//   less_o: what the next window's first cell is nearer than stride_i cells, times pitch_i.
// Both flags are registers, found in the step before: a window's k0 and rem fall by the stride, but
// k0 not below 0, so what compares them for the next one is known of this one.
// Latency 1, throughput 1 a cycle. Reset: none, clear_i. Bench: vector_tb.cpp
`default_nettype none

module hd_vector_axis #(
  parameter int AddrBits = 16
) (
  input  wire logic                clk_i,
  // of the command
  input  wire logic [15:0]         start_i,    // signed: the first window's, cells
  input  wire logic [15:0]         size_i,
  input  wire logic [15:0]         kernel_i,
  input  wire logic [15:0]         stride_i,
  input  wire logic [AddrBits-1:0] pitch_i,    // bytes
  // steps
  input  wire logic                clear_i,
  input  wire logic                seek_i,
  output logic                     seeking_o,
  input  wire logic                step_i,
  input  wire logic                cell_i,
  input  wire logic                line_i,
  input  wire logic                window_i,
  input  wire logic                restart_i,
  output logic                     last_o,
  output logic                     empty_o,
  output logic      [AddrBits-1:0] offset_o,
  output logic      [AddrBits-1:0] less_o
);
  localparam int PosBits = 18;

  logic [15:0]               first_q;        // k0 of the first window
  logic [16:0]               k0_q, k_q;      // the cells after k0 and after this one
  logic signed [PosBits-1:0] rem_q, rem_first;
  logic [16:0]               last_q, reach_q, beyond_q;  // kernel - 1; plus stride; and 1 more
  logic [AddrBits-1:0]       offset_q, off_q, step_q;
  logic [14:0]               unused;

  assign {seeking_o, unused} = first_q + start_i;  // negative
  assign rem_first = $signed({2'b0, size_i} + ~{{2{start_i[15]}}, start_i});

  // For k0: it is the image's last cell or beyond, the kernel's; k0 - stride is not negative.
  logic in_q, end_q, more_q, in_first_q, end_first_q, more_first_q, empty_first_q;
  logic in_first, end_first, more_first, empty_first, in_next, end_next, more_next, empty_next;

  assign in_first    = $signed({2'b0, first_q}) >= rem_first;
  assign end_first   = {1'b0, first_q} + 17'd1 >= {1'b0, kernel_i};
  assign more_first  = first_q >= stride_i;
  assign empty_first = rem_first[PosBits-1] || first_q >= kernel_i;
  assign in_next     = more_q ? in_q : rem_q <= $signed({2'b0, stride_i});
  assign end_next    = more_q ? k0_q > reach_q : last_q == '0;
  assign more_next   = more_q && k0_q > {stride_i, 1'b0};
  assign empty_next  = rem_q < $signed({2'b0, stride_i}) || (more_q && k0_q > beyond_q);

  assign less_o   = more_q ? step_q : off_q;
  assign offset_o = offset_q;

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      first_q  <= '0;
      offset_q <= '0;
      step_q   <= '0;
    end
    if (seek_i) begin
      if (seeking_o) begin
        first_q  <= first_q + 16'd1;
        offset_q <= offset_q + pitch_i;
        if (first_q + 16'd1 == stride_i) step_q <= offset_q + pitch_i;
      end
      // Overwritten until the seek ends.
      last_q        <= {1'b0, kernel_i} - 17'd1;
      reach_q       <= {1'b0, kernel_i} + {1'b0, stride_i} - 17'd1;
      beyond_q      <= {1'b0, kernel_i} + {1'b0, stride_i};
      in_first_q    <= in_first;
      end_first_q   <= end_first;
      more_first_q  <= more_first;
      empty_first_q <= empty_first;
    end
    if (step_i) begin
      if (cell_i) begin
        k_q    <= k_q + 17'd1;
        last_o <= $signed({1'b0, k_q}) >= rem_q || k_q >= last_q;
      end
      if (line_i) begin
        k_q    <= k0_q;
        last_o <= in_q || end_q;
      end
      if (window_i) begin
        k0_q    <= more_q ? k0_q - {1'b0, stride_i} : 17'd1;
        k_q     <= more_q ? k0_q - {1'b0, stride_i} : 17'd1;
        rem_q   <= rem_q - $signed({2'b0, stride_i});
        off_q   <= off_q - less_o;
        in_q    <= in_next;
        end_q   <= end_next;
        more_q  <= more_next;
        last_o  <= in_next || end_next;
        empty_o <= empty_next;
      end
    end
    if (seek_i || (step_i && restart_i)) begin
      k0_q    <= {1'b0, first_q} + 17'd1;
      k_q     <= {1'b0, first_q} + 17'd1;
      rem_q   <= rem_first;
      off_q   <= offset_q;
      in_q    <= seek_i ? in_first : in_first_q;
      end_q   <= seek_i ? end_first : end_first_q;
      more_q  <= seek_i ? more_first : more_first_q;
      last_o  <= seek_i ? in_first || end_first : in_first_q || end_first_q;
      empty_o <= seek_i ? empty_first : empty_first_q;
    end
  end
endmodule

`default_nettype wire
