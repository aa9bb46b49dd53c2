// strawberry_core - multiplies 4 rows with 4 columns of int8, one byte of depth a cycle, and moves
// operands and sums next to it. It knows nothing of layers: the loops are the compiler's.
//   sums[s][r][c] (+)= sum over k < depth of rows[a][r][k] * columns[b][c][k], int32
// Registers (32 bits, byte offsets): reg_e. Writing LOAD, STORE or MULTIPLY starts; BUSY reads bit 0
// memory, bit 1 product; irq_o is high while no unit in WAIT is busy.
// Ports: sim/core/README.md. Bench: heddle check-target
`default_nettype none
module strawberry_core (
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
  localparam int Depth = 256;

  typedef enum logic [3:0] {
    BUSY, WAIT, ADDRESS, LANES, LANE_STRIDE, PIECES, PIECE_STRIDE, PIECE_BYTES,
    LOAD,      // bit 0: 1 columns, 0 rows; bit 1: buffer
    STORE,     // bit 0: which sums
    MULTIPLY   // bit 0: row buffer, 1: column buffer, 2: sums, 3: begin at 0; 31:16 depth
  } reg_e;
  typedef enum logic [1:0] { IDLE, LOADING, LAST_DATA, STORING } state_e;

  logic [31:0] r[8];
  logic signed [7:0]  rows_q[2][4][Depth], columns_q[2][4][Depth];
  logic signed [31:0] sums_q[2][16];

  // --- memory: one load or store at a time ---
  state_e      state_q;
  logic        columns_sel_q, buffer_q;             // where the load goes
  logic [31:0] lane_addr_q, piece_addr_q, addr_q;   // of the lane, its piece, the next eight bytes
  logic [31:0] lane_q, piece_q, left_q;
  logic [8:0]  at_q;                                // byte of the lane's buffer
  logic        data_q;                              // bytes arrive in this cycle, for:
  logic [1:0]  data_lane_q;
  logic [8:0]  data_at_q;
  logic [3:0]  data_n_q;
  logic [2:0]  word_q;                              // pair of sums that is stored

  logic start_load, start_store, start_multiply, last_piece, last_word;
  always_comb begin
    start_load     = reg_write_i && reg_addr_i[15:2] == 14'(LOAD);
    start_store    = reg_write_i && reg_addr_i[15:2] == 14'(STORE);
    start_multiply = reg_write_i && reg_addr_i[15:2] == 14'(MULTIPLY);
    last_word      = left_q <= 8;
    last_piece     = piece_q + 1 == r[3'(PIECES)];
    mem_read_o     = state_q == LOADING;
    mem_write_o    = state_q == STORING;
    mem_addr_o     = addr_q;
    mem_wdata_o    = {sums_q[buffer_q][{word_q, 1'b1}], sums_q[buffer_q][{word_q, 1'b0}]};
    mem_wstrb_o    = 8'hff;
  end

  always_ff @(posedge clk_i) begin
    data_q <= mem_read_o;
    data_lane_q <= lane_q[1:0];
    data_at_q   <= at_q;
    data_n_q    <= last_word ? left_q[3:0] : 4'd8;
    unique case (state_q)
      IDLE: begin
        {lane_q, piece_q, at_q, word_q} <= '0;
        lane_addr_q  <= r[3'(ADDRESS)];
        piece_addr_q <= r[3'(ADDRESS)];
        addr_q       <= r[3'(ADDRESS)];
        left_q       <= r[3'(PIECE_BYTES)];
        if (start_load) begin
          {buffer_q, columns_sel_q} <= reg_wdata_i[1:0];
          state_q <= LOADING;
        end
        if (start_store) begin
          buffer_q <= reg_wdata_i[0];
          state_q  <= STORING;
        end
      end
      LOADING: begin
        addr_q <= addr_q + 8;
        left_q <= left_q - 8;
        at_q   <= at_q + (last_word ? 9'(left_q[3:0]) : 9'd8);
        if (last_word) begin
          left_q       <= r[3'(PIECE_BYTES)];
          piece_q      <= piece_q + 1;
          piece_addr_q <= piece_addr_q + r[3'(PIECE_STRIDE)];
          addr_q       <= piece_addr_q + r[3'(PIECE_STRIDE)];
        end
        if (last_word && last_piece) begin
          piece_q      <= '0;
          at_q         <= '0;
          lane_q       <= lane_q + 1;
          lane_addr_q  <= lane_addr_q + r[3'(LANE_STRIDE)];
          piece_addr_q <= lane_addr_q + r[3'(LANE_STRIDE)];
          addr_q       <= lane_addr_q + r[3'(LANE_STRIDE)];
          if (lane_q + 1 == r[3'(LANES)]) state_q <= LAST_DATA;
        end
      end
      LAST_DATA: state_q <= IDLE;
      STORING: begin
        addr_q <= addr_q + 8;
        word_q <= word_q + 1;
        if (word_q == 7) state_q <= IDLE;
      end
      default: state_q <= IDLE;
    endcase
    if (!rst_ni) begin
      state_q <= IDLE;
      data_q  <= 1'b0;
    end
  end

  always_ff @(posedge clk_i)
    if (data_q)
      for (int i = 0; i < 8; i++)
        if (i < 32'(data_n_q)) begin
          if (columns_sel_q) columns_q[buffer_q][data_lane_q][8'(32'(data_at_q) + i)] <= mem_rdata_i[8*i +: 8];
          else               rows_q[buffer_q][data_lane_q][8'(32'(data_at_q) + i)]    <= mem_rdata_i[8*i +: 8];
        end

  // --- product: one byte of depth a cycle ---
  logic        multiply_q, a_q, b_q, s_q, first_q;
  logic [15:0] depth_q, k_q;
  always_ff @(posedge clk_i) begin
    if (start_multiply && !multiply_q) begin
      {first_q, s_q, b_q, a_q} <= reg_wdata_i[3:0];
      depth_q    <= reg_wdata_i[31:16];
      k_q        <= '0;
      multiply_q <= 1'b1;
    end
    if (multiply_q) begin
      first_q <= 1'b0;
      k_q     <= k_q + 1;
      if (k_q + 1 == depth_q) multiply_q <= 1'b0;
      for (int i = 0; i < 4; i++)
        for (int c = 0; c < 4; c++)
          sums_q[s_q][4*i + c] <= (first_q ? 32'sd0 : sums_q[s_q][4*i + c])
                                + 32'(rows_q[a_q][i][k_q[7:0]]) * 32'(columns_q[b_q][c][k_q[7:0]]);
    end
    if (!rst_ni) multiply_q <= 1'b0;
  end

  // --- registers ---
  logic [1:0] busy;
  assign busy = {multiply_q, state_q != IDLE};
  assign irq_o = (busy & r[3'(WAIT)][1:0]) == 0;
  assign reg_rdata_o = reg_addr_i[15:2] == 14'(BUSY) ? {30'd0, busy}
                     : reg_addr_i[15:2] < 8         ? r[reg_addr_i[4:2]] : '0;
  always_ff @(posedge clk_i)
    if (reg_write_i && reg_addr_i[15:2] < 8) r[reg_addr_i[4:2]] <= reg_wdata_i;
endmodule
