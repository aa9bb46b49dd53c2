// shuttle_core - a weight-stationary array of 16 x 16 multipliers. Four units take instructions from a
// queue each, in order, and count those that are complete; an instruction waits for counts of others.
//   load     words of 16 bytes from outside to pixels, filters or channels
//   preload  16 words of filters to one of two sets of weights, or one word to the diagonal of a set
//   array    sums[position][n] (+)= sum over k of pixels[position][k] * weights[set][k][n], or
//            (pixels[position][n] - zero) * 2^20 * multiplier * 2^(-31 - right)
//   store    clamp((sums + bias) * multiplier * 2^(shift - 31) + zero) of each channel, to outside or
//            to pixels
// Registers (byte offsets): reg_e. Ports: sim/core/README.md. Bench: heddle check-target
// Nothing reads some bits of addresses and products.
// verilator lint_off UNUSEDSIGNAL
`default_nettype none
module shuttle_core (
  input  wire logic         clk_i,
  input  wire logic         rst_ni,
  input  wire logic         reg_write_i,
  input  wire logic [15:0]  reg_addr_i,
  input  wire logic [31:0]  reg_wdata_i,
  output logic      [31:0]  reg_rdata_o,
  output logic              rd_valid_o,
  input  wire logic         rd_ready_i,
  output logic      [31:0]  rd_addr_o,
  input  wire logic         rsp_valid_i,
  output logic              rsp_ready_o,
  input  wire logic [127:0] rsp_data_i,
  output logic              wr_valid_o,
  input  wire logic         wr_ready_i,
  output logic      [31:0]  wr_addr_o,
  output logic      [127:0] wr_data_o,
  output logic      [15:0]  wr_strb_o,
  output logic              load_busy_o,
  output logic              array_busy_o,
  output logic              store_busy_o
);
  localparam int Side = 16, Pixels = 8192, Words = 4096, Sums = 1024, Channels = 768, Queue = 8;

  // --- registers: numbers of an instruction, then PUSH ---
  typedef enum logic [3:0] {
    FROM, TO,
    SIZE,     // 31:16 rows, 15:0 columns; load: words
    STRIDE,   // 31:16 from row to row, 15:0 from column to column, in words
    KIND,     // load: memory; preload, array: bit 0 set of weights, bit 1 array: add, preload: diagonal;
              // array too: bit 2 scale, 15:8 zero, 20:16 right; store: bit 30 to pixels, 29:24 entry of channels, 23:16 zero, 15:8 low, 7:0 high
    WAIT_01, WAIT_23,  // counts, 16 bits each
    SCALE,    // multiplier
    PUSH,     // 1:0 unit, 7:4 units that are waited for
    BEGIN     // all counts to 0
  } reg_e;    // reading 0 to 3: the count of a unit
  typedef enum logic [1:0] { LOAD, PRELOAD, ARRAY, STORE } unit_e;
  typedef struct packed {
    logic [3:0]       waits;
    logic [63:0]      count;
    logic [31:0]      scale, kind;
    logic [15:0]      row_stride, column_stride, rows, columns;
    logic [31:0]      to, from;
  } instruction_t;
  localparam int Bits = 4 + 64 + 2 * 32 + 4 * 16 + 2 * 32;

  logic [31:0]  r_q[8];
  instruction_t for_load, for_preload, for_array, for_store;   // the first one of each queue: heads
  logic [4*Bits-1:0] heads;
  logic [63:0]  done_q;             // 16 bits a unit
  logic [3:0]   ready, pop, done;   // by unit: its first instruction may begin, is taken, one completes

  for (genvar u = 0; u < 4; u++) begin : g_unit
    logic [Bits-1:0] queue_q[Queue], head;
    logic [63:0]     count;
    logic [3:0]      put_q, take_q, waits, met;
    for (genvar v = 0; v < 4; v++) begin : g_wait
      logic [15:0] ahead;
      assign ahead  = done_q[16*v+:16] - count[16*v+:16];
      assign met[v] = !waits[v] || !ahead[15];
    end
    assign head                = queue_q[take_q[2:0]];
    assign heads[Bits*u+:Bits] = head;
    assign {waits, count}      = head[Bits-1-:68];
    assign ready[u]            = put_q != take_q && &met;
    always_ff @(posedge clk_i) begin
      if (reg_write_i && reg_addr_i[15:2] == 14'(PUSH) && reg_wdata_i[1:0] == 2'(u)) begin
        queue_q[put_q[2:0]] <= {reg_wdata_i[7:4], r_q[WAIT_23[2:0]], r_q[WAIT_01[2:0]],
          r_q[SCALE[2:0]], r_q[KIND[2:0]], r_q[STRIDE[2:0]], r_q[SIZE[2:0]], r_q[TO[2:0]],
          r_q[FROM[2:0]]};
        put_q <= put_q + 1'b1;
      end
      if (pop[u]) take_q <= take_q + 1'b1;
      done_q[16*u+:16] <= reg_write_i && reg_addr_i[15:2] == 14'(BEGIN) ? '0 : done_q[16*u+:16] + 16'(done[u]);
      if (!rst_ni) {put_q, take_q, done_q[16*u+:16]} <= '0;
    end
  end
  assign {for_store, for_array, for_preload, for_load} = heads;

  assign reg_rdata_o = 32'(done_q[16*reg_addr_i[3:2]+:16]);
  always_ff @(posedge clk_i)
    if (reg_write_i && reg_addr_i[15:2] < 14'(PUSH)) r_q[reg_addr_i[4:2]] <= reg_wdata_i;

  // --- load ---
  logic [127:0] pixels_q[Pixels], filters_q[Words], channels_q[Channels];
  logic         load_q, keep_valid_q;
  logic [31:0]  store_at_q;          // of the result that store holds
  logic [31:0]  load_from_q;
  logic [15:0]  ask_q, left_q;       // words to ask for, to come
  logic [12:0]  load_to_q;
  logic [1:0]   load_kind_q;

  assign pop[LOAD]    = ready[LOAD] && !load_q;
  assign done[LOAD]   = load_q && rsp_valid_i && left_q == 1;
  assign rd_valid_o   = load_q && ask_q != 0;
  assign rd_addr_o    = load_from_q;
  assign rsp_ready_o  = 1'b1;
  assign load_busy_o  = load_q;
  always_ff @(posedge clk_i) begin
    if (rd_valid_o && rd_ready_i) {load_from_q, ask_q} <= {load_from_q + 32'd16, ask_q - 16'd1};
    if (load_q && rsp_valid_i) begin
      if (load_kind_q == 0) pixels_q[load_to_q] <= rsp_data_i;
      if (load_kind_q == 1) filters_q[load_to_q[11:0]] <= rsp_data_i;
      if (load_kind_q == 2) channels_q[load_to_q[9:0]] <= rsp_data_i;
      {load_to_q, left_q} <= {load_to_q + 13'd1, left_q - 16'd1};
      if (left_q == 1) load_q <= 1'b0;
    end
    if (keep_valid_q) pixels_q[store_at_q[16:4]] <= wr_data_o;
    if (pop[LOAD]) begin
      load_q      <= 1'b1;
      load_from_q <= for_load.from;
      load_to_q   <= for_load.to[12:0];
      load_kind_q <= for_load.kind[1:0];
      {ask_q, left_q} <= {2{for_load.columns}};
    end
    if (!rst_ni) load_q <= 1'b0;
  end

  // --- preload ---
  logic [127:0] weights_q[2*Side], filter_q;
  logic         preload_q, filter_valid_q, set_q, diagonal_q;
  logic [11:0]  filter_at_q;
  logic [4:0]   preload_n_q;
  logic [3:0]   filter_row_q;

  assign pop[PRELOAD]  = ready[PRELOAD] && !preload_q;
  assign done[PRELOAD] = filter_valid_q && filter_row_q == 4'd15;
  always_ff @(posedge clk_i) begin
    filter_q       <= filters_q[filter_at_q];
    filter_valid_q <= preload_q && !preload_n_q[4];
    filter_row_q   <= preload_n_q[3:0];
    if (filter_valid_q)
      weights_q[{set_q, filter_row_q}] <= diagonal_q ? filter_q & 128'd255 << 8 * filter_row_q : filter_q;
    if (preload_q && !preload_n_q[4])
      {filter_at_q, preload_n_q} <= {filter_at_q + 12'(!diagonal_q), preload_n_q + 5'd1};
    if (done[PRELOAD]) preload_q <= 1'b0;
    if (pop[PRELOAD]) begin
      {preload_q, preload_n_q} <= {1'b1, 5'd0};
      filter_at_q <= for_preload.from[11:0];
      {diagonal_q, set_q} <= for_preload.kind[1:0];
    end
    if (!rst_ni) {preload_q, filter_valid_q} <= '0;
  end

  // --- array: read a pixel, multiply, add to its sums ---
  typedef struct packed {
    logic       valid, last, add, side, scale;
    logic [9:0] to;
  } step_t;
  logic [32*Side-1:0]    sums_q[Sums];
  logic [32*Side-1:0]    old_q, dot_q, written_q, total;
  logic [127:0] pixel_q;
  logic         scan_q, row_end, scan_end, add_q, use_q, scale_q, written_valid_q;
  logic [31:0]  multiplier_q, mul_by;   // of the scan, of the pixel that is multiplied
  logic [7:0]   pixel_zero_q, mul_zero;
  logic [4:0]   right_q, mul_right;
  logic [12:0]  row_at_q, at_q, row_stride_q, column_stride_q;
  logic [15:0]  row_q, column_q, columns_q;
  logic [9:0]   to_q, written_to_q;
  step_t        multiply_q, sum_q;

  // x * 2^-right, ties away from 0
  function automatic logic [31:0] rounded(input logic [31:0] x, input logic [4:0] right);
    logic [31:0]        mask;
    logic signed [31:0] y;
    mask  = (32'd1 << right) - 32'd1;
    y     = $signed(x) >>> right;  // on its own: next to unsigned operands it would shift in zeros
    rounded = y + 32'((x & mask) > (mask >> 1) + 32'(x[31]));
  endfunction

  for (genvar n = 0; n < Side; n++) begin : g_lane
    logic signed [31:0] dot;
    logic signed [8:0]  centred;
    logic signed [40:0] scaled;
    always_comb begin
      dot = 0;
      for (int k = 0; k < Side; k++)
        dot = dot + 32'($signed(pixel_q[8*k+:8])) * 32'($signed(weights_q[{multiply_q.side, 4'(k)}][8*n+:8]));
    end
    assign centred = 9'($signed(pixel_q[8*n+:8])) - 9'($signed(mul_zero));
    assign scaled  = 41'(centred) * 41'($signed(mul_by)) + 41'd1024;
    assign total[32*n+:32] = dot_q[32*n+:32] + (!sum_q.add ? 32'd0 :
      written_valid_q && written_to_q == sum_q.to ? written_q[32*n+:32] : old_q[32*n+:32]);
    always_ff @(posedge clk_i)
      if (multiply_q.valid)
        dot_q[32*n+:32] <= multiply_q.scale ? rounded(32'($signed(scaled[40:11])), mul_right) : dot;
  end

  assign row_end      = column_q == 1;
  assign scan_end     = row_end && row_q == 1;
  assign pop[ARRAY]   = ready[ARRAY] && (!scan_q || scan_end);
  assign done[ARRAY]  = sum_q.valid && sum_q.last;
  assign array_busy_o = scan_q;
  always_ff @(posedge clk_i) begin
    pixel_q    <= pixels_q[at_q];
    multiply_q <= {scan_q, scan_end, add_q, use_q, scale_q, to_q};
    old_q      <= sums_q[multiply_q.to];
    sum_q      <= multiply_q;
    {mul_by, mul_right, mul_zero} <= {multiplier_q, right_q, pixel_zero_q};
    if (sum_q.valid) sums_q[sum_q.to] <= total;
    {written_valid_q, written_to_q, written_q} <= {sum_q.valid, sum_q.to, total};
    if (scan_q) begin
      to_q     <= to_q + 10'd1;
      at_q     <= row_end ? row_at_q + row_stride_q : at_q + column_stride_q;
      row_at_q <= row_end ? row_at_q + row_stride_q : row_at_q;
      column_q <= row_end ? columns_q : column_q - 16'd1;
      row_q    <= row_end ? row_q - 16'd1 : row_q;
      if (scan_end) scan_q <= 1'b0;
    end
    if (pop[ARRAY]) begin
      scan_q               <= 1'b1;
      {at_q, row_at_q}     <= {2{for_array.from[12:0]}};
      to_q                 <= for_array.to[9:0];
      {row_q, column_q}    <= {for_array.rows, for_array.columns};
      columns_q            <= for_array.columns;
      row_stride_q         <= for_array.row_stride[12:0];
      column_stride_q      <= for_array.column_stride[12:0];
      {add_q, use_q}       <= for_array.kind[1:0];
      scale_q              <= for_array.kind[2];
      multiplier_q         <= for_array.scale;
      {right_q, pixel_zero_q} <= for_array.kind[20:8];
    end
    if (!rst_ni) begin
      scan_q           <= 1'b0;
      multiply_q.valid <= 1'b0;
      sum_q.valid      <= 1'b0;
    end
  end

  // --- store: the channels of the block, then a position a cycle ---
  logic [12*128-1:0]     block_q;    // shift, multiplier, bias of 16 channels, 32 bits each
  logic [127:0]          channel_q, out;
  logic [32*Side-1:0]    read_q, biased_q, high_q;
  logic [2:0]            stage_q, last_q, end_q;   // sums are read, biased, multiplied; ends of rows
  logic                  store_q, fetch_q, stream, go, out_last_q, keep_q, store_end;
  logic [3:0]            block_n_q;
  logic [9:0]            channel_at_q, sums_at_q;
  logic [15:0]           store_rows_q, store_left_q, store_columns_q, store_stride_q, store_row_q;
  logic [31:0]           store_to_q, store_first_q;
  logic [7:0]            zero_q, low_q, up_q;

  function automatic logic [31:0] high_mul(input logic [31:0] x, input logic [31:0] m,
                                           input logic [31:0] shift);
    logic [31:0] a;
    logic [63:0] p;
    a = $signed(shift) > 0 ? x << shift[4:0] : x;
    p = 64'($signed(a)) * 64'($signed(m)) + 64'h4000_0000;
    high_mul = a == 32'h8000_0000 && m == 32'h8000_0000 ? 32'h7fff_ffff : p[62:31];
  endfunction

  function automatic logic [7:0] to_int8(input logic [31:0] x, input logic [31:0] shift,
    input logic [7:0] zero, input logic [7:0] low, input logic [7:0] up);
    logic signed [31:0] y;
    y = rounded(x, $signed(shift) > 0 ? 5'd0 : -shift[4:0]) + 32'($signed(zero));
    to_int8 = y < 32'($signed(low)) ? low : y > 32'($signed(up)) ? up : y[7:0];
  endfunction

  assign go           = keep_q || !wr_valid_o || wr_ready_i;
  assign store_end    = store_left_q == 1;
  assign stream       = store_q && block_n_q == 13 && store_rows_q != 0;
  assign pop[STORE]   = ready[STORE] && !store_q;
  assign done[STORE]  = out_last_q && (keep_valid_q || (wr_valid_o && wr_ready_i));
  assign wr_addr_o    = store_at_q;
  assign wr_strb_o    = '1;
  assign store_busy_o = store_q;
  always_comb
    for (int n = 0; n < Side; n++)
      out[8*n+:8] = to_int8(high_q[32*n+:32], block_q[96*n+64+:32], zero_q, low_q, up_q);
  always_ff @(posedge clk_i) begin
    channel_q <= channels_q[channel_at_q];
    fetch_q   <= store_q && block_n_q < 12;
    if (fetch_q) block_q <= {channel_q, block_q[12*128-1:128]};
    if (store_q && block_n_q < 13) {channel_at_q, block_n_q} <= {channel_at_q + 10'd1, block_n_q + 4'd1};
    if (go) begin
      if (stream) begin
        read_q    <= sums_q[sums_at_q];
        sums_at_q <= sums_at_q + 10'd1;
        store_left_q <= store_end ? store_columns_q : store_left_q - 16'd1;
        store_rows_q <= store_rows_q - 16'(store_end);
      end
      stage_q <= {stage_q[1:0], stream};
      last_q  <= {last_q[1:0], store_end && store_rows_q == 1};
      end_q   <= {end_q[1:0], store_end};
      for (int n = 0; n < Side; n++) begin
        if (stage_q[0]) biased_q[32*n+:32] <= read_q[32*n+:32] + block_q[96*n+:32];
        if (stage_q[1]) high_q[32*n+:32] <= high_mul(biased_q[32*n+:32], block_q[96*n+32+:32], block_q[96*n+64+:32]);
      end
      {wr_valid_o, keep_valid_q, out_last_q} <= {stage_q[2] && !keep_q, stage_q[2] && keep_q, last_q[2]};
      if (stage_q[2]) begin
        {store_at_q, wr_data_o} <= {store_to_q, out};
        store_to_q <= end_q[2] ? store_first_q + {12'd0, store_row_q, 4'd0}
                               : store_to_q + {12'd0, store_stride_q, 4'd0};
        if (end_q[2]) store_first_q <= store_first_q + {12'd0, store_row_q, 4'd0};
      end
    end
    if (done[STORE]) store_q <= 1'b0;
    if (pop[STORE]) begin
      {store_q, block_n_q} <= {1'b1, 4'd0};
      channel_at_q   <= for_store.kind[29:24] * 10'd12;
      sums_at_q      <= for_store.from[9:0];
      {store_left_q, store_columns_q} <= {2{for_store.columns}};
      store_rows_q   <= for_store.rows;
      store_row_q    <= for_store.row_stride;
      keep_q         <= for_store.kind[30];
      store_stride_q <= for_store.column_stride;
      {store_to_q, store_first_q} <= {2{for_store.to}};
      {zero_q, low_q, up_q} <= for_store.kind[23:0];
    end
    if (!rst_ni) {store_q, stage_q, wr_valid_o, keep_valid_q, fetch_q} <= '0;
  end
endmodule
