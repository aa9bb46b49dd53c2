// jacquard_core - a layer engine of 4 x 16 multipliers that descriptors program. Two units take them in
// order, each from a running and a waiting one, and count those that are complete:
//   load    words of 8 bytes from outside to lines, filters or channels
//   engine  for each position a window of lines: sums of 16 channels, then bias, scale, zero point and
//           clamp; to outside, or to lines. Windows are those of a convolution, of a depthwise one, of a
//           pool, or two pixels that an addition scales
// Rows of an image come to lines once; all windows that they are part of read them there.
// Registers: APB, reg_e by number. Memory: an AXI4 master of 64 bits. Bench: heddle check-target
// Nothing reads some bits of addresses and products, the answers' codes, rlast.
// verilator lint_off UNUSEDSIGNAL
`default_nettype none
module jacquard_core (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic        psel_i,
  input  wire logic        penable_i,
  input  wire logic        pwrite_i,
  input  wire logic [15:0] paddr_i,
  input  wire logic [31:0] pwdata_i,
  output logic             pready_o,
  output logic      [31:0] prdata_o,
  output logic             pslverr_o,
  output logic             m_axi_arvalid_o,
  input  wire logic        m_axi_arready_i,
  output logic      [31:0] m_axi_araddr_o,
  output logic       [7:0] m_axi_arlen_o,
  output logic       [2:0] m_axi_arsize_o,
  output logic       [1:0] m_axi_arburst_o,
  input  wire logic        m_axi_rvalid_i,
  output logic             m_axi_rready_o,
  input  wire logic [63:0] m_axi_rdata_i,
  input  wire logic  [1:0] m_axi_rresp_i,
  input  wire logic        m_axi_rlast_i,
  output logic             m_axi_awvalid_o,
  input  wire logic        m_axi_awready_i,
  output logic      [31:0] m_axi_awaddr_o,
  output logic       [7:0] m_axi_awlen_o,
  output logic       [2:0] m_axi_awsize_o,
  output logic       [1:0] m_axi_awburst_o,
  output logic             m_axi_wvalid_o,
  input  wire logic        m_axi_wready_i,
  output logic      [63:0] m_axi_wdata_o,
  output logic       [7:0] m_axi_wstrb_o,
  output logic             m_axi_wlast_o,
  input  wire logic        m_axi_bvalid_i,
  output logic             m_axi_bready_o,
  input  wire logic  [1:0] m_axi_bresp_i,
  output logic             load_busy_o,
  output logic             engine_busy_o
);
  localparam int Depth = 4, Lanes = 16, Lines = 32768, Filters = 4096, Blocks = 64, Burst = 16;

  // --- registers: a descriptor, then PUSH ---
  typedef enum logic [3:0] {
    FROM,       // load: byte outside; engine: 4 bytes of lines
    TO,         // load: 8 bytes of lines or filters, entry of channels; engine: 16 bytes of lines, byte outside
    SIZE,       // 31:16 rows, 15:0 columns; load: words of 8 bytes
    KIND,       // load: memory; engine: kind_e, bit 2: to lines
    FROM_STEP,  // 31:16 from row to row, 15:0 from column to column; of 4 bytes
    TO_STEP,    // likewise, of 16 bytes
    TAPS,       // 31:24 rows and 23:16 columns of a window, 15:0 steps of a tap
    TAP_STEP,   // of 4 bytes, as WITH_STEP
    WITH,       // 16 bytes of filters; addition: 4 bytes of lines
    WITH_STEP,  // addition
    RESULT,     // 29:24 entry of channels, 23:16 zero, 15:8 low, 7:0 high
    SCALE, SCALE_1,  // addition: multipliers
    SCALE_BY,   // addition: 28:24 and 12:8 shifts to the right, 23:16 and 7:0 zero points
    PUSH,       // bit 0 unit; bit 1: it waits until the other unit has completed 31:16
    BEGIN       // counts to 0
  } reg_e;      // reading 0, 1: the count of a unit
  typedef enum logic [1:0] { CONVOLVE, ADD, POOL, DEPTHWISE } kind_e;
  typedef enum logic { LOAD, ENGINE } unit_e;
  typedef struct packed {
    logic        waits;
    logic [15:0] count;
    logic [31:0] scale_by, scale_1, scale, result;
    logic [15:0] with_row, with_column;
    logic [31:0] with_at;
    logic [15:0] tap_row, tap_column;
    logic [7:0]  tap_rows, tap_columns;
    logic [15:0] steps, to_row, to_column, from_row, from_column;
    logic [31:0] kind;
    logic [15:0] rows, columns;
    logic [31:0] to, from;
  } descriptor_t;
  localparam int Bits = 17 + 14 * 32;

  logic [31:0]       r_q[16];
  logic              write, begins;
  logic [3:0]        number;
  logic [1:0]        ready, take, done;   // by unit: its first descriptor may begin, begins; one completes
  logic [31:0]       done_q;              // counts, 16 bits a unit
  logic [2*Bits-1:0] heads;
  descriptor_t       for_load, d;         // the first one of each unit

  assign pready_o  = 1'b1;
  assign pslverr_o = 1'b0;
  assign write     = psel_i && penable_i && pwrite_i;
  assign number    = paddr_i[5:2];
  assign begins    = write && number == BEGIN;
  assign prdata_o  = {16'd0, done_q[16*paddr_i[2]+:16]};
  always_ff @(posedge clk_i) if (write) r_q[number] <= pwdata_i;

  for (genvar u = 0; u < 2; u++) begin : g_unit
    logic [Bits-1:0] queue_q[2], head;
    logic [1:0]      put_q, take_q;
    logic [15:0]     ahead;
    assign head                = queue_q[take_q[0]];
    assign heads[Bits*u+:Bits] = head;
    assign ahead               = done_q[16*(1-u)+:16] - head[Bits-2-:16];
    assign ready[u]            = put_q != take_q && (!head[Bits-1] || !ahead[15]);
    always_ff @(posedge clk_i) begin
      if (write && number == PUSH && pwdata_i[0] == 1'(u)) begin
        queue_q[put_q[0]] <= {pwdata_i[1], pwdata_i[31:16], r_q[SCALE_BY], r_q[SCALE_1], r_q[SCALE], r_q[RESULT],
          r_q[WITH_STEP], r_q[WITH], r_q[TAP_STEP], r_q[TAPS], r_q[TO_STEP], r_q[FROM_STEP], r_q[KIND], r_q[SIZE],
          r_q[TO], r_q[FROM]};
        put_q <= put_q + 2'd1;
      end
      if (take[u]) take_q <= take_q + 2'd1;
      done_q[16*u+:16] <= begins ? '0 : done_q[16*u+:16] + 16'(done[u]);
      if (!rst_ni) {put_q, take_q, done_q[16*u+:16]} <= '0;
    end
  end
  assign {d, for_load} = heads;

  // --- load: bursts of at most 128 bytes, within aligned 128 ---
  logic [31:0]         lines_q[Lines];        // read and written four in a row, of any one: four banks
  logic [127:0]        filters_q[Filters];    // likewise
  logic [96*Lanes-1:0] channels_q[Blocks];    // shift, multiplier, bias of 16 channels, 32 bits each
  logic         load_q, keep_valid_q;
  logic [31:0]  load_from_q, out_at_q;
  logic [127:0] result_q;
  logic [15:0]  ask_q, left_q, burst;   // words to ask for, to come, of this burst
  logic [13:0]  load_to_q;
  logic [4:0]   slice_q;                // of the entry of channels
  logic [1:0]   load_kind_q;

  assign take[LOAD]       = ready[LOAD] && !load_q;
  assign done[LOAD]       = load_q && m_axi_rvalid_i && left_q == 1;
  assign burst            = ask_q < 16'(Burst) - {12'd0, load_from_q[6:3]} ? ask_q
                                                                          : 16'(Burst) - {12'd0, load_from_q[6:3]};
  assign m_axi_arvalid_o  = load_q && ask_q != 0;
  assign m_axi_araddr_o   = load_from_q;
  assign m_axi_arlen_o    = burst[7:0] - 8'd1;
  assign m_axi_arsize_o   = 3'd3;
  assign m_axi_arburst_o  = 2'd1;
  assign m_axi_rready_o   = 1'b1;
  assign load_busy_o      = load_q;
  always_ff @(posedge clk_i) begin
    if (m_axi_arvalid_o && m_axi_arready_i)
      {load_from_q, ask_q} <= {load_from_q + {13'd0, burst, 3'd0}, ask_q - burst};
    if (load_q && m_axi_rvalid_i) begin
      if (load_kind_q == 0)
        for (int k = 0; k < 2; k++) lines_q[{load_to_q, 1'(k)}] <= m_axi_rdata_i[32*k+:32];
      if (load_kind_q == 1) filters_q[load_to_q[12:1]][64*load_to_q[0]+:64] <= m_axi_rdata_i;
      if (load_kind_q == 2) channels_q[load_to_q[5:0]][64*slice_q+:64] <= m_axi_rdata_i;
      slice_q   <= slice_q == 23 ? '0 : slice_q + 5'd1;
      load_to_q <= load_to_q + 14'(load_kind_q != 2 || slice_q == 23);
      left_q    <= left_q - 16'd1;
      if (left_q == 1) load_q <= 1'b0;
    end
    if (keep_valid_q)
      for (int k = 0; k < 4; k++) lines_q[{out_at_q[12:0], 2'(k)}] <= result_q[32*k+:32];
    if (take[LOAD]) begin
      load_q          <= 1'b1;
      load_from_q     <= for_load.from;
      load_to_q       <= for_load.to[13:0];
      load_kind_q     <= for_load.kind[1:0];
      slice_q         <= '0;
      {ask_q, left_q} <= {2{for_load.columns}};
    end
    if (!rst_ni) load_q <= 1'b0;
  end

  // --- engine: step after step of each window: 4 bytes with 4 x 16 weights, or 16 with 16 ---
  typedef struct packed {
    logic valid, first, last, stop;   // of its window; stop: the last step of all
    logic side;                       // second operand of an addition
  } step_t;
  logic                engine_q, scan_q, go, ended_q;
  logic [127:0]        pixel_q, out;
  logic [96*Lanes-1:0] block_q;
  logic [14:0]         at_q, tap_at_q, tap_row_at_q, pos_q, row_at_q, next_at;   // the step; where tap, row of taps,
  logic [14:0]         with_q, with_row_q, filter_at_q;                          // window, row of windows began
  logic [15:0]         step_q, column_q, row_q;           // left, this one included
  logic [7:0]          tap_column_q, tap_row_q;
  logic                step_end, tap_end, window_end, row_end;
  step_t               read_q, dot_valid_q, sum_valid_q, high_valid_q;
  logic [128*Depth-1:0] filter_q;
  logic [32*Lanes-1:0]  dot_q, acc_q, high_q;
  logic [1:0]          kind;                                  // kind_e

  // x * 2^-right, ties away from 0
  function automatic logic [31:0] rounded(input logic [31:0] x, input logic [4:0] right);
    logic [31:0]        mask;
    logic signed [31:0] y;
    mask    = (32'd1 << right) - 32'd1;
    y       = $signed(x) >>> right;  // on its own: next to unsigned operands it would shift in zeros
    rounded = y + 32'((x & mask) > (mask >> 1) + 32'(x[31]));
  endfunction

  // x * m * 2^(left - 31), ties up
  function automatic logic [31:0] high_mul(input logic [31:0] x, input logic [31:0] m, input logic [31:0] shift);
    logic [31:0] a;
    logic [63:0] p;
    a = $signed(shift) > 0 ? x << shift[4:0] : x;
    p = 64'($signed(a)) * 64'($signed(m)) + 64'h4000_0000;
    high_mul = a == 32'h8000_0000 && m == 32'h8000_0000 ? 32'h7fff_ffff : p[62:31];
  endfunction

  function automatic logic [7:0] to_int8(input logic [31:0] x, input logic [31:0] shift, input logic [23:0] limits);
    logic signed [31:0] y;
    y = rounded(x, $signed(shift) > 0 ? 5'd0 : -shift[4:0]) + 32'($signed(limits[23:16]));
    to_int8 = y < 32'($signed(limits[15:8])) ? limits[15:8] : y > 32'($signed(limits[7:0])) ? limits[7:0] : y[7:0];
  endfunction

  assign kind          = d.kind[1:0];
  assign take[ENGINE]  = done[ENGINE];   // a descriptor stays until it is complete
  assign engine_busy_o = engine_q;
  assign step_end      = step_q == 1;
  assign tap_end       = step_end && tap_column_q == 1;
  assign window_end    = tap_end && tap_row_q == 1;
  assign row_end       = window_end && column_q == 1;
  always_comb begin
    if (row_end) next_at = row_at_q + d.from_row[14:0];
    else if (window_end) next_at = pos_q + d.from_column[14:0];
    else if (tap_end) next_at = tap_row_at_q + d.tap_row[14:0];
    else if (step_end) next_at = kind == ADD ? with_q : tap_at_q + d.tap_column[14:0];
    else next_at = at_q + 15'd1;
  end

  for (genvar n = 0; n < Lanes; n++) begin : g_lane
    logic signed [31:0] dot;
    logic signed [8:0]  centred;
    logic signed [40:0] scaled;
    logic signed [7:0]  x;
    assign x       = pixel_q[8*n+:8];
    assign centred = 9'(x) - 9'($signed(read_q.side ? d.scale_by[23:16] : d.scale_by[7:0]));
    assign scaled  = 41'(centred) * 41'($signed(read_q.side ? d.scale_1 : d.scale)) + 41'd1024;
    always_comb begin
      dot = 0;
      for (int k = 0; k < Depth; k++)
        dot = dot + 32'($signed(pixel_q[8*k+:8])) * 32'($signed(filter_q[128*k+8*n+:8]));
      case (kind)
        ADD:       dot = rounded(32'($signed(scaled[40:11])), read_q.side ? d.scale_by[28:24] : d.scale_by[12:8]);
        POOL:      dot = 32'(x) <<< 4;
        DEPTHWISE: dot = 32'(x) * 32'($signed(filter_q[8*n+:8]));
        default: ;
      endcase
    end
    assign out[8*n+:8] = to_int8(high_q[32*n+:32], block_q[96*n+64+:32], d.result[23:0]);
    always_ff @(posedge clk_i)
      if (go) begin
        if (read_q.valid) dot_q[32*n+:32] <= dot;
        if (dot_valid_q.valid)
          acc_q[32*n+:32] <= (dot_valid_q.first ? block_q[96*n+:32] : acc_q[32*n+:32]) + dot_q[32*n+:32];
        high_q[32*n+:32] <= high_mul(acc_q[32*n+:32], block_q[96*n+32+:32], block_q[96*n+64+:32]);
      end
  end

  always_ff @(posedge clk_i) begin
    block_q <= channels_q[d.result[29:24]];
    if (go) begin
      for (int k = 0; k < Depth; k++) begin
        pixel_q[32*k+:32]    <= lines_q[at_q + 15'(k)];
        filter_q[128*k+:128] <= filters_q[filter_at_q[11:0] + 12'(k)];
      end
      read_q       <= {scan_q, step_q == d.steps && tap_column_q == d.tap_columns && tap_row_q == d.tap_rows,
                       window_end, row_end && row_q == 1, tap_column_q != d.tap_columns};
      dot_valid_q  <= read_q;
      sum_valid_q  <= dot_valid_q;
      high_valid_q <= sum_valid_q;
    end
    if (go && scan_q) begin
      at_q <= next_at;
      if (step_end) tap_at_q <= next_at;
      if (tap_end) tap_row_at_q <= next_at;
      if (window_end) pos_q <= next_at;
      if (row_end) row_at_q <= next_at;
      step_q       <= step_end ? d.steps : step_q - 16'd1;
      tap_column_q <= tap_end ? d.tap_columns : tap_column_q - 8'(step_end);
      tap_row_q    <= window_end ? d.tap_rows : tap_row_q - 8'(tap_end);
      column_q     <= row_end ? d.columns : column_q - 16'(window_end);
      row_q        <= row_q - 16'(row_end);
      filter_at_q  <= window_end ? d.with_at[14:0] : filter_at_q + (kind == CONVOLVE ? 15'(Depth) : 15'd1);
      if (row_end) {with_q, with_row_q} <= {2{with_row_q + d.with_row[14:0]}};
      else if (window_end) with_q <= with_q + d.with_column[14:0];
      if (row_end && row_q == 1) scan_q <= 1'b0;
    end
    if (ready[ENGINE] && !engine_q) begin
      {engine_q, scan_q} <= 2'b11;
      {at_q, tap_at_q, tap_row_at_q, pos_q, row_at_q} <= {5{d.from[14:0]}};
      {with_q, with_row_q, filter_at_q}               <= {3{d.with_at[14:0]}};
      {step_q, tap_column_q, tap_row_q} <= {d.steps, d.tap_columns, d.tap_rows};
      {column_q, row_q}                 <= {d.columns, d.rows};
    end
    if (done[ENGINE]) engine_q <= 1'b0;
    if (!rst_ni) {engine_q, scan_q, read_q.valid, dot_valid_q.valid, sum_valid_q.valid, high_valid_q.valid} <= '0;
  end

  // --- results: 16 bytes to lines or outside ---
  logic [31:0] out_q, out_row_q, next_out, step_column, step_row;   // where the next word goes, its row begins
  logic [15:0] out_left_q;                     // results of the row
  logic [15:0] pending_q;                      // bursts without an answer
  logic [1:0]  beats_q;                        // of this burst, to be sent
  logic        keep, put;

  assign keep        = d.kind[2];
  assign go          = (!m_axi_awvalid_o || m_axi_awready_i) && (beats_q == 0 || (beats_q == 1 && m_axi_wready_i));
  assign put         = go && high_valid_q.valid && high_valid_q.last;
  assign step_row    = keep ? {16'd0, d.to_row} : {12'd0, d.to_row, 4'd0};
  assign step_column = keep ? {16'd0, d.to_column} : {12'd0, d.to_column, 4'd0};
  assign next_out    = out_left_q == 1 ? out_row_q + step_row : out_q + step_column;
  assign done[ENGINE]    = engine_q && ended_q && pending_q == 0;
  assign m_axi_awaddr_o  = out_at_q;
  assign m_axi_awlen_o   = 8'd1;
  assign m_axi_awsize_o  = 3'd3;
  assign m_axi_awburst_o = 2'd1;
  assign m_axi_wvalid_o  = beats_q != 0;
  assign m_axi_wdata_o   = beats_q == 2 ? result_q[63:0] : result_q[127:64];
  assign m_axi_wstrb_o   = '1;
  assign m_axi_wlast_o   = beats_q == 1;
  assign m_axi_bready_o  = 1'b1;
  always_ff @(posedge clk_i) begin
    keep_valid_q <= put && keep;
    if (m_axi_awready_i) m_axi_awvalid_o <= 1'b0;
    if (m_axi_wvalid_o && m_axi_wready_i) beats_q <= beats_q - 2'd1;
    if (put) begin
      {out_at_q, result_q} <= {out_q, out};
      out_q      <= next_out;
      out_left_q <= out_left_q == 1 ? d.columns : out_left_q - 16'd1;
      if (out_left_q == 1) out_row_q <= next_out;
      ended_q    <= high_valid_q.stop;
      {m_axi_awvalid_o, beats_q} <= keep ? 3'd0 : 3'b110;
    end
    pending_q <= pending_q + 16'(put && !keep) - 16'(m_axi_bvalid_i);
    if (ready[ENGINE] && !engine_q) begin
      {out_q, out_row_q} <= {2{d.to}};
      out_left_q <= d.columns;
      ended_q    <= 1'b0;
    end
    if (!rst_ni) {m_axi_awvalid_o, beats_q, keep_valid_q, ended_q, pending_q} <= '0;
  end
endmodule
