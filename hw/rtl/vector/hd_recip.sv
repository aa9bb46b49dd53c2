// hd_recip - ceil(2^31 / cells) for the average, two quotient bits a cycle.
//   reciprocal_o = (2^31 - 1) / cells + 1, the same number for cells > 1; cells = 2..2048.
// ready_o: reciprocal_o belongs to cells_i. A division starts when need_i holds and cells_i is not
// the divisor of the last one; it takes 18 cycles. The last quotient is kept, also from command to
// command. cells_i is next_i of the last cycle with en_i, so the compare is made before.
// Reset: no quotient. Bench: recip_tb.cpp; the proof of the average:
// test_reciprocal.c
`default_nettype none

module hd_recip (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic        need_i,
  input  wire logic [11:0] cells_i,
  input  wire logic        en_i,
  input  wire logic [11:0] next_i,
  output logic             ready_o,
  output logic      [31:0] reciprocal_o
);
  logic [11:0] divisor_q;
  logic [10:0] rest_q;
  logic [31:0] quotient_q;  // dividend bits leave at the top, quotient bits enter at the bottom
  logic [4:0]  left_q;      // steps
  logic        start, busy_q, match_q;  // match_q: divisor_q is cells_i

  assign ready_o      = match_q && !busy_q;
  assign reciprocal_o = quotient_q;
  assign start        = need_i && !match_q && !busy_q;

  // Two restoring steps: rest < divisor <= 2048 before and after each.
  logic [11:0] try1, try2;
  logic [10:0] rest1, rest2;
  logic        bit1, bit2;

  assign try1  = {rest_q, quotient_q[31]};
  assign bit1  = try1 >= divisor_q;
  assign rest1 = bit1 ? 11'(try1 - divisor_q) : try1[10:0];
  assign try2  = {rest1, quotient_q[30]};
  assign bit2  = try2 >= divisor_q;
  assign rest2 = bit2 ? 11'(try2 - divisor_q) : try2[10:0];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      divisor_q  <= '0;
      left_q     <= '0;
      busy_q     <= 1'b0;
      match_q    <= 1'b0;
    end else begin
      if (start) begin
        divisor_q <= cells_i;
        left_q    <= 5'd17;
        busy_q    <= 1'b1;
        match_q   <= 1'b1;
      end else if (busy_q) begin
        left_q    <= left_q - 5'd1;
        busy_q    <= left_q != 5'd1;
      end
      if (en_i) match_q <= divisor_q == next_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start) begin
      quotient_q <= 32'h7fff_ffff;
      rest_q     <= '0;
    end else if (left_q > 5'd1) begin
      quotient_q <= {quotient_q[29:0], bit1, bit2};
      rest_q     <= rest2;
    end else if (left_q == 5'd1) begin
      quotient_q <= quotient_q + 32'd1;
    end
  end

`ifdef HD_ASSERT
  a_cells: assert property (@(posedge clk_i) disable iff (!rst_ni)
    need_i |-> cells_i > 12'd1 && cells_i <= 12'd2048);
  a_hold: assert property (@(posedge clk_i) disable iff (!rst_ni)
    need_i && !ready_o |=> need_i && $stable(cells_i));
  a_match: assert property (@(posedge clk_i) disable iff (!rst_ni)
    need_i |-> match_q == (divisor_q == cells_i));
`endif

endmodule

`default_nettype wire
