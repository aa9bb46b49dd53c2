// hd_dma_check - whether runs * run_bytes = rows * row_bytes, beside the transfer it is about.
//   Two bits of runs and rows a cycle: latency 1 + the bits of the larger one / 2 (a compact
//   tensor: 2 cycles). Neither is 0.
//   bad_o, with tag_o of the command, until reset. Reset: ready. Bench: frame_tb.cpp
`default_nettype none

module hd_dma_check (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic        valid_i,
  output logic             ready_o,
  input  wire logic [15:0] runs_i,
  input  wire logic [31:0] run_bytes_i,
  input  wire logic [15:0] rows_i,
  input  wire logic [31:0] row_bytes_i,
  input  wire logic [31:0] tag_i,
  output logic             bad_o,
  output logic      [31:0] tag_o
);
  logic        valid_q, bad_q, finished_q;  // finished_q: runs_q and rows_q are 0
  logic [15:0] runs_q, rows_q;
  logic [47:0] run_bytes_q, row_bytes_q;    // shifted along
  logic [47:0] run_sum_q, row_sum_q;
  logic [31:0] tag_q;

  assign ready_o = !valid_q;
  assign bad_o   = bad_q;
  assign tag_o   = tag_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      bad_q   <= 1'b0;
    end else if (valid_i && !valid_q) begin
      valid_q <= 1'b1;
    end else if (valid_q && finished_q && !bad_q) begin
      if (run_sum_q != row_sum_q) bad_q <= 1'b1;  // and stays busy
      else valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!valid_q) begin
      finished_q  <= 1'b0;
      runs_q      <= runs_i;
      rows_q      <= rows_i;
      run_bytes_q <= 48'(run_bytes_i);
      row_bytes_q <= 48'(row_bytes_i);
      run_sum_q   <= '0;
      row_sum_q   <= '0;
      tag_q       <= tag_i;
    end else if (!finished_q) begin
      finished_q  <= runs_q[15:2] == '0 && rows_q[15:2] == '0;
      runs_q      <= runs_q >> 2;
      rows_q      <= rows_q >> 2;
      run_bytes_q <= run_bytes_q << 2;
      row_bytes_q <= row_bytes_q << 2;
      run_sum_q   <= run_sum_q + (runs_q[0] ? run_bytes_q : '0)
                     + (runs_q[1] ? run_bytes_q << 1 : '0);
      row_sum_q   <= row_sum_q + (rows_q[0] ? row_bytes_q : '0)
                     + (rows_q[1] ? row_bytes_q << 1 : '0);
    end
  end

`ifdef HD_ASSERT
  c_bad: cover property (@(posedge clk_i) bad_o);
`endif
endmodule

`default_nettype wire
