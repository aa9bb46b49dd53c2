// hd_fifo - first in, first out; the oldest entry stands in a register.
//   An entry pushed (valid_i & ready_o) in cycle t is at data_o in t+1 at the earliest. Throughput
//   1 a cycle.
//   ready_o does not depend on ready_i. data_o keeps the last entry after it was popped.
// Depth is a power of two, at least 2. Reset: empty, data undefined. Bench: tests/hw/frame_tb.cpp
`default_nettype none

module hd_fifo #(
  parameter int Width = 32,
  parameter int Depth = 4
) (
  input  wire logic             clk_i,
  input  wire logic             rst_ni,
  input  wire logic             valid_i,
  output logic                  ready_o,
  input  wire logic [Width-1:0] data_i,
  output logic                  valid_o,
  input  wire logic             ready_i,
  output logic      [Width-1:0] data_o
);
  localparam int PtrBits = $clog2(Depth);

  logic [Width-1:0]   mem [Depth];
  logic [Width-1:0]   head_q;
  logic [PtrBits-1:0] write_q, read_q;
  logic [PtrBits:0]   count_q;  // entries, the head included
  logic               push, pop, behind;

  assign ready_o = count_q != (PtrBits + 1)'(Depth);
  assign valid_o = count_q != '0;
  assign data_o  = head_q;
  assign push    = valid_i && ready_o;
  assign pop     = valid_o && ready_i;
  assign behind  = count_q > (PtrBits + 1)'(1);  // mem is not empty

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= '0;
      write_q <= '0;
      read_q  <= '0;
    end else begin
      if (push != pop) count_q <= push ? count_q + 1'b1 : count_q - 1'b1;
      if (push && valid_o && (behind || !pop)) write_q <= write_q + 1'b1;
      if (pop && behind) read_q <= read_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) begin
      if (!valid_o || (pop && !behind)) head_q <= data_i;
      else mem[write_q] <= data_i;
    end
    if (pop && behind) head_q <= mem[read_q];
  end

`ifdef HD_ASSERT
  initial a_power_of_two: assert (Depth >= 2 && (Depth & (Depth - 1)) == 0);
  a_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_o && !ready_i |=> valid_o && $stable(data_o));
  a_count: assert property (@(posedge clk_i) disable iff (!rst_ni) int'(count_q) <= Depth);
  c_full: cover property (@(posedge clk_i) !ready_o);
`endif
endmodule

`default_nettype wire
