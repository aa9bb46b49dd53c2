// ulx3s - hd_soc on a ULX3S board with an LFE5U-85F: its oscillator of 25 MHz is the clock; the
// serial line of its USB port and the eight lights are hd_soc's. Button 1 resets.
//   Pins: ulx3s.lpf. Bench: hw/fpga/simulate.cpp
`default_nettype none

module ulx3s #(
  parameter     Init     = "soc.hex",
  parameter int RamBytes = 131072,
  parameter int Divisor  = 217  // 115,200 baud
) (
  input  wire logic  clk_25mhz,
  input  wire logic  button,     // 1: pressed
  output logic       ftdi_rxd,   // named by the board: the FPGA sends on it
  output logic [7:0] led
);
  // Registers begin with 0 when the device is configured.
  logic [1:0] button_q = '0;
  logic [3:0] count_q  = '0;
  logic       rst_n_q  = '0;
  logic       tx;

  assign ftdi_rxd = tx || !rst_n_q;

  always_ff @(posedge clk_25mhz) begin
    button_q <= {button_q[0], button};
    rst_n_q  <= count_q == '1;
    if (button_q[1]) count_q <= '0;
    else if (count_q != '1) count_q <= count_q + 1'b1;
  end

  hd_soc #(
    .Init    (Init),
    .RamBytes(RamBytes),
    .Divisor (Divisor)
  ) u_soc (
    .clk_i (clk_25mhz),
    .rst_ni(rst_n_q),
    .tx_o  (tx),
    .led_o (led)
  );

endmodule

`default_nettype wire
