// vanilla_core - a quantised convolution, one output after the other, eight taps in two cycles.
//   y[oy][ox][oc] = clamp(requantise(sum (x - z_in) * w + bias) + z_out, act_min, act_max)
// Registers: 32 bits each at the offsets of reg_e; write 1 to 0 to start, 0 to it to take irq back.
// Ports: sim/core/README.md. A row of the kernel within the image is one run of bytes in x
// and in w, so that small channel counts waste nothing. Bench: heddle check-target
`default_nettype none
module vanilla_core (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic        reg_write_i,
  input  wire logic [15:0] reg_addr_i,
  input  wire logic [31:0] reg_wdata_i,
  output logic      [31:0] reg_rdata_o,
  output logic             mem_read_o,
  output logic             mem_write_o,
  output logic      [31:0] mem_addr_o,
  output logic      [63:0] mem_wdata_o,
  output logic      [7:0]  mem_wstrb_o,
  input  wire logic [63:0] mem_rdata_i,
  output logic             irq_o
);
  // Register numbers; the sizes are struct vanilla_sizes in order.
  typedef enum logic [4:0] {
    START, X, W, BIAS, MULTIPLIER, SHIFT, Y, HAS_BIAS,
    IN_H, IN_W, IN_C, OUT_H, OUT_W, OUT_C, KERNEL_H, KERNEL_W, STRIDE_H, STRIDE_W,
    PAD_TOP, PAD_LEFT, Z_IN, Z_OUT, ACT_MIN, ACT_MAX, SCALES
  } reg_e;
  localparam int Regs = 25;

  typedef enum logic [3:0] {
    IDLE, READ_BIAS, READ_MULTIPLIER, READ_SHIFT, LAST_PARAM, ROW, READ_X, READ_W, LAST_MAC,
    REQUANTISE, WRITE, DONE
  } state_e;

  logic signed [31:0] r[Regs];
  state_e state_q;
  logic signed [31:0] oy_q, ox_q, oc_q, ky_q;       // the output, and the kernel's row
  logic signed [31:0] left_q;                       // bytes of the run still to read
  logic        [31:0] xa_q, wa_q;                   // where
  logic signed [31:0] acc_q, multiplier_q;
  logic signed [7:0]  shift_q, out_q;
  logic        [63:0] x_q;
  logic        [3:0]  lanes_q;                      // lanes of the eight bytes whose weights arrive now
  logic               mac_q;

  // The run of kernel row ky_q: columns [lo, hi) of it are in the image.
  logic signed [31:0] iy, ix, lo, hi, run;
  always_comb begin
    iy = oy_q * r[STRIDE_H] - r[PAD_TOP] + ky_q;
    ix = ox_q * r[STRIDE_W] - r[PAD_LEFT];
    lo = ix < 0 ? -ix : 0;
    hi = r[IN_W] - ix < r[KERNEL_W] ? r[IN_W] - ix : r[KERNEL_W];
    run = iy >= 0 && iy < r[IN_H] && hi > lo ? (hi - lo) * r[IN_C] : 0;
  end

  // Sum of the products of the eight lanes.
  logic signed [31:0] products;
  always_comb begin
    products = 0;
    for (int i = 0; i < 8; i++)
      if (i < 32'(lanes_q))
        products += (32'($signed(x_q[8*i +: 8])) - r[Z_IN]) * 32'($signed(mem_rdata_i[8*i +: 8]));
  end

  // acc * multiplier * 2^(shift - 31): halves up, then halves away from zero.
  logic signed [31:0] shifted, high, mask, rounded, biased;
  logic signed [63:0] product;
  logic        [4:0]  right;
  always_comb begin
    shifted = shift_q > 0 ? acc_q <<< shift_q[4:0] : acc_q;
    product = 64'(shifted) * 64'(multiplier_q);
    high    = 32'((product + 64'sd1073741824) >>> 31);
    right   = shift_q < 0 ? 5'(-shift_q) : 5'd0;
    mask    = (32'sd1 <<< right) - 1;
    rounded = (high >>> right) + ((high & mask) > (mask >>> 1) + (high < 0 ? 32'sd1 : 32'sd0) ? 1 : 0);
    biased  = rounded + r[Z_OUT];
  end

  // One access a cycle.
  logic [31:0] channel, out_at;
  always_comb begin
    channel = r[SCALES] > 1 ? oc_q : 0;
    out_at  = (oy_q * r[OUT_W] + ox_q) * r[OUT_C] + oc_q;
    mem_read_o  = 1'b0;
    mem_addr_o  = '0;
    mem_write_o = state_q == WRITE;
    mem_wdata_o = {56'd0, out_q};
    mem_wstrb_o = 8'd1;
    unique case (state_q)
      READ_BIAS:       begin mem_read_o = r[HAS_BIAS] != 0; mem_addr_o = r[BIAS] + 4 * oc_q; end
      READ_MULTIPLIER: begin mem_read_o = 1'b1; mem_addr_o = r[MULTIPLIER] + 4 * channel; end
      READ_SHIFT:      begin mem_read_o = 1'b1; mem_addr_o = r[SHIFT] + channel; end
      READ_X:          begin mem_read_o = 1'b1; mem_addr_o = xa_q; end
      READ_W:          begin mem_read_o = 1'b1; mem_addr_o = wa_q; end
      WRITE:           mem_addr_o = r[Y] + out_at;
      default: ;
    endcase
  end

  assign reg_rdata_o = reg_addr_i[15:2] < 14'(Regs) ? r[reg_addr_i[6:2]] : '0;
  assign irq_o = state_q == DONE;

  // Registers.
  always_ff @(posedge clk_i) begin
    if (reg_write_i && reg_addr_i[15:2] < 14'(Regs)) r[reg_addr_i[6:2]] <= reg_wdata_i;
  end

  // The walk over outputs, rows of the kernel and runs.
  always_ff @(posedge clk_i) begin
    mac_q <= 1'b0;
    if (mac_q) acc_q <= acc_q + products;
    unique case (state_q)
      IDLE: begin
        {oy_q, ox_q, oc_q} <= '0;
        if (reg_write_i && reg_addr_i == 0 && reg_wdata_i[0]) state_q <= READ_BIAS;
      end
      READ_BIAS: state_q <= READ_MULTIPLIER;
      READ_MULTIPLIER: begin
        acc_q   <= r[HAS_BIAS] != 0 ? mem_rdata_i[31:0] : '0;
        state_q <= READ_SHIFT;
      end
      READ_SHIFT: begin
        multiplier_q <= mem_rdata_i[31:0];
        state_q      <= LAST_PARAM;
      end
      LAST_PARAM: begin
        shift_q <= mem_rdata_i[7:0];
        ky_q    <= '0;
        state_q <= ROW;
      end
      ROW: begin
        left_q <= run;
        xa_q   <= r[X] + (iy * r[IN_W] + ix + lo) * r[IN_C];
        wa_q   <= r[W] + ((oc_q * r[KERNEL_H] + ky_q) * r[KERNEL_W] + lo) * r[IN_C];
        ky_q   <= ky_q + 1;
        if (ky_q == r[KERNEL_H]) state_q <= REQUANTISE;
        else if (run > 0)        state_q <= READ_X;
      end
      READ_X: begin
        xa_q    <= xa_q + 8;
        state_q <= READ_W;
      end
      READ_W: begin
        x_q     <= mem_rdata_i;
        lanes_q <= left_q > 8 ? 4'd8 : left_q[3:0];
        mac_q   <= 1'b1;
        left_q  <= left_q - 8;
        wa_q    <= wa_q + 8;
        state_q <= left_q > 8 ? READ_X : LAST_MAC;
      end
      LAST_MAC: state_q <= ROW;
      REQUANTISE: begin
        out_q   <= 8'(biased < r[ACT_MIN] ? r[ACT_MIN] : biased > r[ACT_MAX] ? r[ACT_MAX] : biased);
        state_q <= WRITE;
      end
      WRITE: begin
        oc_q    <= oc_q + 1 == r[OUT_C] ? '0 : oc_q + 1;
        state_q <= READ_BIAS;
        if (oc_q + 1 == r[OUT_C]) begin
          ox_q <= ox_q + 1 == r[OUT_W] ? '0 : ox_q + 1;
          if (ox_q + 1 == r[OUT_W]) oy_q <= oy_q + 1;
          if (ox_q + 1 == r[OUT_W] && oy_q + 1 == r[OUT_H]) state_q <= DONE;
        end
      end
      DONE: if (reg_write_i && reg_addr_i == 0 && !reg_wdata_i[0]) state_q <= IDLE;
      default: state_q <= IDLE;
    endcase
    if (!rst_ni) begin
      state_q <= IDLE;
      mac_q   <= 1'b0;
    end
  end
endmodule
