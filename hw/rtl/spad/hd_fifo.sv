// hd_fifo - first in, first out; the oldest entry is in a register.
//   An entry pushed (valid_i & ready_o) in cycle t is at data_o in t+1 at the earliest, without
//   Direct in t+2: it goes through the memory even if that is empty, which saves a multiplexer of
//   Width bits. Throughput 1 a cycle.
//   valid_o and ready_o are registers. With Keep, data_o keeps the last entry after
//   it was popped; else it is undefined while valid_o is low.
// Depth is a power of two, at least 2; with 2 the second entry is in a register, too.
// Reset: empty, data undefined. Bench: frame_tb.cpp
`default_nettype none

module hd_fifo #(
  parameter int Width  = 32,
  parameter int Depth  = 4,
  parameter int Keep   = 0,
  parameter bit Direct = 1'b1
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
  localparam int Rows    = Depth == 2 ? 1 : Depth;  // one entry of two is the head

  logic [Width-1:0]   mem [Rows];
  logic [Width-1:0]   head_q;
  logic [PtrBits-1:0] write_q, read_q, write_row, read_row;
  logic [PtrBits:0]   count_q;                    // entries, the head included
  logic               valid_q, behind_q, full_q;  // one is there, one is in mem, none is free
  logic               push, pop, direct, load;    // an entry goes past mem; out of it

  assign write_row = Depth == 2 ? '0 : write_q;
  assign read_row  = Depth == 2 ? '0 : read_q;

  assign ready_o = !full_q;
  assign valid_o = valid_q;
  assign data_o  = head_q;
  assign push    = valid_i && !full_q;
  assign pop     = valid_q && ready_i;
  assign direct  = Direct && push && !behind_q && (!valid_q || pop);
  assign load    = behind_q && (pop || (!Direct && !valid_q));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q  <= '0;
      write_q  <= '0;
      read_q   <= '0;
      valid_q  <= 1'b0;
      behind_q <= 1'b0;
      full_q   <= 1'b0;
    end else begin
      if (push != pop) count_q <= push ? count_q + 1'b1 : count_q - 1'b1;
      if (push && !direct) write_q <= write_q + 1'b1;
      if (load) read_q <= read_q + 1'b1;
      if (direct || load) valid_q <= 1'b1;
      else if (pop) valid_q <= 1'b0;
      if (push && !direct) behind_q <= 1'b1;
      else if (load) behind_q <= count_q > (PtrBits + 1)'(2);
      if (push && !pop) full_q <= count_q == (PtrBits + 1)'(Depth - 1);
      else if (pop) full_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) mem[write_row] <= data_i;  // a free place, also of one that goes past mem
    if (Keep != 0 ? load || direct : !valid_q || pop)
      head_q <= behind_q || !Direct ? mem[read_row] : data_i;
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
