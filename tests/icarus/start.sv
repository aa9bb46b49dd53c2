// start - registers that start with anything, as in hardware, and not unknown: an unknown one times 0, or 0 shifted by
// it, is unknown to Icarus. Cells' weights (rows that a kernel does not fill get 0), and where taps are placed (no tap
// counts before the first command). All else that no reset sets stays unknown, so that a use of it shows.
//   A second top module next to hd_top.
`default_nettype none
`include "hd_config.svh"

module start;
  for (genvar r = 0; r < CfgRows; r++) begin : gen_row
    for (genvar c = 0; c < CfgColumns; c++) begin : gen_col
      initial hd_top.u_compute.u_array.u_array.gen_row[r].gen_col[c].u_pe.gen_narrow.weight_q = 9'($random);
    end
  end
  for (genvar g = 0; g < CfgPorts; g++) begin : gen_port
    initial begin
      hd_top.u_compute.u_array.u_feed.gen_tap[g].lo_q    = 3'($random);
      hd_top.u_compute.u_array.u_feed.gen_tap[g].delay_q = 3'($random);
    end
  end
endmodule

`default_nettype wire
