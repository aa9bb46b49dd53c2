// loom_core - four modules with a queue each, which take instructions in order and exchange tokens.
//   load   words of 16 bytes from outside to pixels, filters or channels
//   gemm   sums[position][n] (+)= sum over k of pixels[position][k] * filters[block][k][n], 16 x 16, or
//          pixels[position][n] * filters[block][word][n], or (pixels[position][n] - zero) * 2^(19 - right)
//   alu    clamp(((sums[position][n] + bias) >> right, rounded) + zero), to results or to pixels: no
//          multiplier
//   store  words of results to outside
// An instruction begins when there is a token from each module that it pops; complete, it gives a token
// to each module that it pushes to. Registers (byte offsets): reg_e. Ports: sim/core/README.md.
// Bench: heddle check-target
// Nothing reads some bits of addresses.
// verilator lint_off UNUSEDSIGNAL
`default_nettype none
module loom_core (
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
  output logic              gemm_busy_o,
  output logic              alu_busy_o
);
  localparam int Side = 16, Pixels = 8192, Blocks = 256, Sums = 1024, Results = 1024, Channels = 768;
  localparam int Queue = 8;

  // --- registers: numbers of an instruction, then PUSH ---
  typedef enum logic [2:0] {
    FROM, TO,
    SIZE,     // 31:16 rows, 15:0 columns; load: words
    STRIDE,   // gemm, alu: 31:16 from row to row, 15:0 from column to column; store: 15:0; in words
    KIND,     // load: memory; gemm: 28:24 right, 23:16 zero, 15:12 word, bit 10 lane by lane, bit 9
              // shift, bit 8 add, 7:0 block of filters;
              // alu: bit 30 to pixels, 29:24 entry of channels, 23:16 zero, 15:8 low, 7:0 high
    PUSH,     // 1:0 module, 7:4 modules of which it takes a token, 11:8 that get one
    BEGIN     // counts and tokens to 0
  } reg_e;    // reading 0 to 3: the complete instructions of a module
  typedef enum logic [1:0] { LOAD, GEMM, ALU, STORE } unit_e;
  typedef struct packed {
    logic [3:0]  push, pop;
    logic [31:0] kind;
    logic [15:0] row_stride, column_stride, rows, columns;
    logic [31:0] to, from;
  } instruction_t;
  localparam int Bits = 8 + 32 + 4 * 16 + 2 * 32;

  logic [31:0]       r_q[8];
  instruction_t      for_load, for_gemm, for_alu, for_store;   // the first one of each queue: heads
  logic [4*Bits-1:0] heads;
  logic [63:0]       done_q;              // counts, 16 bits a module
  logic [15:0]       gives;               // a module's instruction that completes pushes to these four
  logic [3:0]        ready, take, done;   // by module: its first instruction may begin, begins; one completes
  logic              begins;

  assign begins = reg_write_i && reg_addr_i[15:2] == 14'(BEGIN);
  for (genvar u = 0; u < 4; u++) begin : g_unit
    logic [Bits-1:0] queue_q[Queue], head;
    logic [3:0]      put_q, take_q, pop, met;
    for (genvar v = 0; v < 4; v++) begin : g_token   // from module v to u
      logic [5:0] token_q;
      logic       given, taken;
      assign given  = done[v] && gives[4*v+u];
      assign taken  = take[u] && pop[v];
      assign met[v] = !pop[v] || token_q != 0;
      always_ff @(posedge clk_i) begin
        token_q <= token_q + 6'(given) - 6'(taken);
        if (!rst_ni || begins) token_q <= '0;
      end
    end
    assign head                = queue_q[take_q[2:0]];
    assign heads[Bits*u+:Bits] = head;
    assign pop                 = head[Bits-5-:4];
    assign ready[u]            = put_q != take_q && &met;
    always_ff @(posedge clk_i) begin
      if (reg_write_i && reg_addr_i[15:2] == 14'(PUSH) && reg_wdata_i[1:0] == 2'(u)) begin
        queue_q[put_q[2:0]] <= {reg_wdata_i[11:8], reg_wdata_i[7:4], r_q[KIND], r_q[STRIDE],
                                r_q[SIZE], r_q[TO], r_q[FROM]};
        put_q <= put_q + 1'b1;
      end
      if (take[u]) take_q <= take_q + 1'b1;
      done_q[16*u+:16] <= begins ? '0 : done_q[16*u+:16] + 16'(done[u]);
      if (!rst_ni) {put_q, take_q, done_q[16*u+:16]} <= '0;
    end
  end
  assign {for_store, for_alu, for_gemm, for_load} = heads;

  assign reg_rdata_o = 32'(done_q[16*reg_addr_i[3:2]+:16]);
  always_ff @(posedge clk_i)
    if (reg_write_i && reg_addr_i[15:2] < 14'(PUSH)) r_q[reg_addr_i[4:2]] <= reg_wdata_i;

  // --- load ---
  logic [127:0]       pixels_q[Pixels], channels_q[Channels];
  logic [128*Side-1:0] filters_q[Blocks];
  logic               load_q;
  logic [31:0]        load_from_q;
  logic [15:0]        ask_q, left_q;       // words to ask for, to come
  logic [12:0]        load_to_q;
  logic [1:0]         load_kind_q;
  logic [3:0]         load_push_q;
  logic [127:0]       out;          // of alu, to pixels[out_at_q] if keep_q and stage_q[1]
  logic [12:0]        out_at_q;
  logic [1:0]         stage_q;      // sums are read, biased
  logic               keep_q;

  assign take[LOAD]  = ready[LOAD] && !load_q;
  assign done[LOAD]  = load_q && rsp_valid_i && left_q == 1;
  assign gives[4*LOAD+:4] = load_push_q;
  assign rd_valid_o  = load_q && ask_q != 0;
  assign rd_addr_o   = load_from_q;
  assign rsp_ready_o = 1'b1;
  assign load_busy_o = load_q;
  always_ff @(posedge clk_i) begin
    if (rd_valid_o && rd_ready_i) {load_from_q, ask_q} <= {load_from_q + 32'd16, ask_q - 16'd1};
    if (load_q && rsp_valid_i) begin
      if (load_kind_q == 0) pixels_q[load_to_q] <= rsp_data_i;
      if (load_kind_q == 1) filters_q[load_to_q[11:4]][128*load_to_q[3:0]+:128] <= rsp_data_i;
      if (load_kind_q == 2) channels_q[load_to_q[9:0]] <= rsp_data_i;
      {load_to_q, left_q} <= {load_to_q + 13'd1, left_q - 16'd1};
      if (left_q == 1) load_q <= 1'b0;
    end
    if (stage_q[1] && keep_q) pixels_q[out_at_q] <= out;
    if (take[LOAD]) begin
      load_q      <= 1'b1;
      load_from_q <= for_load.from;
      load_to_q   <= for_load.to[12:0];
      load_kind_q <= for_load.kind[1:0];
      load_push_q <= for_load.push;
      {ask_q, left_q} <= {2{for_load.columns}};
    end
    if (!rst_ni) load_q <= 1'b0;
  end

  // --- gemm: read a pixel, multiply, add to its sums; the block of filters two cycles after its instruction ---
  typedef struct packed {
    logic       valid, last, add, widen;
    logic [3:0] push;
    logic [9:0] to;
  } step_t;
  logic [32*Side-1:0]  sums_q[Sums];
  logic [32*Side-1:0]  old_q, dot_q, written_q, total;
  logic [128*Side-1:0] block_q, filter_q;
  logic [127:0]        pixel_q;
  logic                scan_q, row_end, scan_end, add_q, written_valid_q;
  logic                widen_q, lanes_q;
  logic [3:0]          word_q;             // of the block, if lane by lane
  logic [7:0]          pixel_zero_q, mul_zero;   // of the scan, of the pixel that is multiplied
  logic [4:0]          right_q, mul_right;
  logic [12:0]         row_at_q, at_q, row_stride_q, column_stride_q;
  logic [15:0]         row_q, column_q, columns_q;
  logic [9:0]          to_q, written_to_q;
  logic [3:0]          gemm_push_q;
  step_t               multiply_q, sum_q;

  // x * 2^-right, ties away from 0
  function automatic logic [31:0] rounded(input logic [31:0] x, input logic [4:0] right);
    logic [31:0]        mask;
    logic signed [31:0] y;
    mask    = (32'd1 << right) - 32'd1;
    y       = $signed(x) >>> right;   // on its own: next to unsigned operands it would shift in zeros
    rounded = y + 32'((x & mask) > (mask >> 1) + 32'(x[31]));
  endfunction

  assign row_end     = column_q == 1;
  assign scan_end    = row_end && row_q == 1;
  assign take[GEMM]  = ready[GEMM] && (!scan_q || scan_end);
  assign done[GEMM]  = sum_q.valid && sum_q.last;
  assign gives[4*GEMM+:4] = sum_q.push;
  assign gemm_busy_o = scan_q;
  for (genvar n = 0; n < Side; n++) begin : g_lane
    logic signed [31:0] dot;
    logic signed [8:0]  centred;
    assign centred = 9'($signed(pixel_q[8*n+:8])) - 9'($signed(mul_zero));
    always_comb begin
      dot = 0;
      for (int k = 0; k < Side; k++)
        dot = dot + 32'($signed(pixel_q[8*k+:8])) * 32'($signed(filter_q[8*(Side*k+n)+:8]));
    end
    assign total[32*n+:32] = dot_q[32*n+:32] + (!sum_q.add ? 32'd0 :
      written_valid_q && written_to_q == sum_q.to ? written_q[32*n+:32] : old_q[32*n+:32]);
    always_ff @(posedge clk_i)
      if (multiply_q.valid)
        dot_q[32*n+:32] <= multiply_q.widen ? rounded(32'(centred) << 19, mul_right) : dot;
    for (genvar k = 0; k < Side; k++) begin : g_filter
      always_ff @(posedge clk_i)
        filter_q[8*(Side*k+n)+:8] <= !lanes_q ? block_q[8*(Side*k+n)+:8]
                                   : k == n ? block_q[128*word_q+8*n+:8] : 8'd0;
    end
  end
  always_ff @(posedge clk_i) begin
    pixel_q    <= pixels_q[at_q];
    multiply_q <= {scan_q, scan_end, add_q, widen_q, gemm_push_q, to_q};
    {mul_right, mul_zero} <= {right_q, pixel_zero_q};
    old_q      <= sums_q[multiply_q.to];
    sum_q      <= multiply_q;
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
    if (take[GEMM]) begin
      scan_q            <= 1'b1;
      block_q           <= filters_q[for_gemm.kind[7:0]];
      {at_q, row_at_q}  <= {2{for_gemm.from[12:0]}};
      to_q              <= for_gemm.to[9:0];
      {row_q, column_q} <= {for_gemm.rows, for_gemm.columns};
      columns_q         <= for_gemm.columns;
      row_stride_q      <= for_gemm.row_stride[12:0];
      column_stride_q   <= for_gemm.column_stride[12:0];
      {add_q, gemm_push_q} <= {for_gemm.kind[8], for_gemm.push};
      {word_q, lanes_q, widen_q} <= {for_gemm.kind[15:12], for_gemm.kind[10:9]};
      {right_q, pixel_zero_q}    <= for_gemm.kind[28:16];
    end
    if (!rst_ni) begin
      scan_q           <= 1'b0;
      multiply_q.valid <= 1'b0;
      sum_q.valid      <= 1'b0;
    end
  end

  // --- alu: the channels of the block, then a position a cycle ---
  logic [127:0]       results_q[Results];
  logic [12*128-1:0]  channel_block_q;   // shift, multiplier (2^30), bias of 16 channels, 32 bits each
  logic [127:0]       channel_q;
  logic [32*Side-1:0] read_q, biased_q;
  logic [1:0]         last_q, end_q;     // as stage_q: the last sum, the end of a row
  logic               alu_q, fetch_q, stream, alu_end;
  logic [3:0]         block_n_q, alu_push_q;
  logic [9:0]         channel_at_q, sums_at_q;
  logic [12:0]        out_row_at_q, out_stride_q, out_row_q;
  logic [15:0]        alu_left_q, alu_rows_q, alu_columns_q;
  logic [7:0]         zero_q, low_q, up_q;

  // half of x, rounded up from a tie, then that * 2^-right
  function automatic logic [7:0] shifted(input logic [31:0] x, input logic [4:0] right,
    input logic [7:0] zero, input logic [7:0] low, input logic [7:0] up);
    logic [32:0]        next;
    logic signed [31:0] y;
    next = 33'($signed(x)) + 33'd1;
    y    = rounded(next[32:1], right) + 32'($signed(zero));
    shifted = y < 32'($signed(low)) ? low : y > 32'($signed(up)) ? up : y[7:0];
  endfunction

  assign alu_end    = alu_left_q == 1;
  assign stream     = alu_q && block_n_q == 13 && alu_rows_q != 0;
  assign take[ALU]  = ready[ALU] && !alu_q;
  assign done[ALU]  = stage_q[1] && last_q[1];
  assign gives[4*ALU+:4] = alu_push_q;
  assign alu_busy_o = alu_q;
  for (genvar n = 0; n < Side; n++) begin : g_alu
    assign out[8*n+:8] = shifted(biased_q[32*n+:32], 5'd0 - channel_block_q[96*n+64+:5], zero_q, low_q, up_q);
    always_ff @(posedge clk_i)
      if (stage_q[0]) biased_q[32*n+:32] <= read_q[32*n+:32] + channel_block_q[96*n+:32];
  end
  always_ff @(posedge clk_i) begin
    channel_q <= channels_q[channel_at_q];
    fetch_q   <= alu_q && block_n_q < 12;
    if (fetch_q) channel_block_q <= {channel_q, channel_block_q[12*128-1:128]};
    if (alu_q && block_n_q < 13) {channel_at_q, block_n_q} <= {channel_at_q + 10'd1, block_n_q + 4'd1};
    if (stream) begin
      read_q     <= sums_q[sums_at_q];
      sums_at_q  <= sums_at_q + 10'd1;
      alu_left_q <= alu_end ? alu_columns_q : alu_left_q - 16'd1;
      alu_rows_q <= alu_rows_q - 16'(alu_end);
    end
    stage_q <= {stage_q[0], stream};
    last_q  <= {last_q[0], alu_end && alu_rows_q == 1};
    end_q   <= {end_q[0], alu_end};
    if (stage_q[1]) begin
      if (!keep_q) results_q[out_at_q[9:0]] <= out;
      out_at_q <= end_q[1] ? out_row_at_q + out_row_q : out_at_q + out_stride_q;
      if (end_q[1]) out_row_at_q <= out_row_at_q + out_row_q;
    end
    if (done[ALU]) alu_q <= 1'b0;
    if (take[ALU]) begin
      {alu_q, block_n_q}    <= {1'b1, 4'd0};
      channel_at_q          <= for_alu.kind[29:24] * 10'd12;
      sums_at_q             <= for_alu.from[9:0];
      {out_at_q, out_row_at_q} <= {2{for_alu.to[12:0]}};
      out_stride_q          <= for_alu.column_stride[12:0];
      out_row_q             <= for_alu.row_stride[12:0];
      {alu_left_q, alu_columns_q} <= {2{for_alu.columns}};
      alu_rows_q            <= for_alu.rows;
      keep_q                <= for_alu.kind[30];
      alu_push_q            <= for_alu.push;
      {zero_q, low_q, up_q} <= for_alu.kind[23:0];
    end
    if (!rst_ni) {alu_q, stage_q, fetch_q} <= '0;
  end

  // --- store: one word per cycle ---
  logic        store_q, go;
  logic [9:0]  results_at_q;
  logic [15:0] store_left_q, store_stride_q;
  logic [31:0] store_to_q;
  logic [3:0]  store_push_q;

  assign go          = !wr_valid_o || wr_ready_i;
  assign take[STORE] = ready[STORE] && !store_q;
  assign done[STORE] = store_q && store_left_q == 0 && wr_valid_o && wr_ready_i;
  assign gives[4*STORE+:4] = store_push_q;
  assign wr_strb_o   = '1;
  always_ff @(posedge clk_i) begin
    if (go) wr_valid_o <= store_q && store_left_q != 0;
    if (go && store_q && store_left_q != 0) begin
      {wr_addr_o, wr_data_o} <= {store_to_q, results_q[results_at_q]};
      results_at_q <= results_at_q + 10'd1;
      store_left_q <= store_left_q - 16'd1;
      store_to_q   <= store_to_q + {12'd0, store_stride_q, 4'd0};
    end
    if (done[STORE]) store_q <= 1'b0;
    if (take[STORE]) begin
      store_q        <= 1'b1;
      results_at_q   <= for_store.from[9:0];
      store_to_q     <= for_store.to;
      store_left_q   <= for_store.columns;
      store_stride_q <= for_store.column_stride;
      store_push_q   <= for_store.push;
    end
    if (!rst_ni) {store_q, wr_valid_o} <= '0;
  end
endmodule
