// hd_soc_uart - sends bytes: a start bit, eight data bits from bit 0 on, a stop bit.
//   valid_i, data_i: taken when ready_o. A bit takes Divisor cycles; tx_o is 1 between bytes.
// Throughput 1 byte in 10 Divisor cycles. Reset: nothing is sent. Bench: hw/fpga/simulate.cpp
`default_nettype none

module hd_soc_uart #(
  parameter int Divisor = 217  // 115,200 baud at 25 MHz; at least 2
) (
  input  wire logic       clk_i,
  input  wire logic       rst_ni,
  input  wire logic       valid_i,
  output logic            ready_o,
  input  wire logic [7:0] data_i,
  output logic            tx_o
);
  localparam int CountBits = $clog2(Divisor);

  logic [8:0]           bits_q;  // remaining bits, the next one in bit 0
  logic [3:0]           left_q;  // remaining bits, including the one on the line
  logic [CountBits-1:0] wait_q;

  assign ready_o = left_q == '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      left_q <= '0;
      tx_o   <= 1'b1;
    end else if (ready_o) begin
      wait_q <= CountBits'(Divisor - 1);
      bits_q <= {1'b1, data_i};
      if (valid_i) begin
        left_q <= 4'd10;
        tx_o   <= 1'b0;
      end
    end else if (wait_q != '0) begin
      wait_q <= wait_q - 1'b1;
    end else begin
      wait_q <= CountBits'(Divisor - 1);
      left_q <= left_q - 1'b1;
      tx_o   <= bits_q[0];
      bits_q <= {1'b1, bits_q[8:1]};
    end
  end

endmodule

`default_nettype wire
