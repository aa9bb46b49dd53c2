// matvec_core - sums of a fully connected layer: y[n] = sum over k of (x[k] - z) * w[n][k], 32 bits, DATA_W / 8 products a
// cycle. Registers by AXI4-Lite, memory by AXI4; bursts of 16 beats, four under way. Bench: heddle check-target
// Registers: 0 control (write 1: start; 0: take the interrupt back), 4 x, 8 w, 12 y, 16 beats of a row, 20 rows, 24 z.
// x and w begin at a multiple of 16 beats, so that no burst crosses 4 KiB; x has at most 1024 beats, y whole words.
`default_nettype none
module matvec_core #(
  parameter DATA_W = 64,                     // 64 to 512
  parameter ID_W   = 4
) (
  input  wire                aclk,
  input  wire                aresetn,
  input  wire [5:0]          s_axi_awaddr,
  input  wire                s_axi_awvalid,
  output wire                s_axi_awready,
  input  wire [31:0]         s_axi_wdata,
  input  wire [3:0]          s_axi_wstrb,
  input  wire                s_axi_wvalid,
  output wire                s_axi_wready,
  output wire [1:0]          s_axi_bresp,
  output reg                 s_axi_bvalid,
  input  wire                s_axi_bready,
  input  wire [5:0]          s_axi_araddr,
  input  wire                s_axi_arvalid,
  output wire                s_axi_arready,
  output reg  [31:0]         s_axi_rdata,
  output wire [1:0]          s_axi_rresp,
  output reg                 s_axi_rvalid,
  input  wire                s_axi_rready,
  output wire [ID_W-1:0]     m_axi_awid,
  output wire [31:0]         m_axi_awaddr,
  output wire [7:0]          m_axi_awlen,
  output wire [2:0]          m_axi_awsize,
  output wire [1:0]          m_axi_awburst,
  output reg                 m_axi_awvalid,
  input  wire                m_axi_awready,
  output wire [DATA_W-1:0]   m_axi_wdata,
  output wire [DATA_W/8-1:0] m_axi_wstrb,
  output wire                m_axi_wlast,
  output reg                 m_axi_wvalid,
  input  wire                m_axi_wready,
  input  wire [ID_W-1:0]     m_axi_bid,
  input  wire [1:0]          m_axi_bresp,
  input  wire                m_axi_bvalid,
  output wire                m_axi_bready,
  output wire [ID_W-1:0]     m_axi_arid,
  output wire [31:0]         m_axi_araddr,
  output wire [7:0]          m_axi_arlen,
  output wire [2:0]          m_axi_arsize,
  output wire [1:0]          m_axi_arburst,
  output wire                m_axi_arvalid,
  input  wire                m_axi_arready,
  input  wire [ID_W-1:0]     m_axi_rid,
  input  wire [DATA_W-1:0]   m_axi_rdata,
  input  wire [1:0]          m_axi_rresp,
  input  wire                m_axi_rlast,
  input  wire                m_axi_rvalid,
  output wire                m_axi_rready,
  output wire                irq
);
  localparam LANES = DATA_W / 8;
  localparam [31:0] SHIFT = $clog2(LANES);
  localparam IDLE = 2'd0, LOAD = 2'd1, RUN = 2'd2, DONE = 2'd3;

  reg [1:0]  state;
  reg [31:0] x, w, y, z;
  reg [15:0] beats, rows;

  // Registers: address and data of a write are taken together.
  wire write = s_axi_awvalid && s_axi_wvalid && !s_axi_bvalid;
  assign {s_axi_awready, s_axi_wready} = {write, write};
  assign s_axi_arready = !s_axi_rvalid;
  assign {s_axi_bresp, s_axi_rresp} = 4'd0;
  wire start = write && s_axi_awaddr == 0 && s_axi_wdata[0];
  wire clear = write && s_axi_awaddr == 0 && !s_axi_wdata[0];

  always @(posedge aclk) begin
    if (write) begin
      case (s_axi_awaddr)
        4:  x     <= s_axi_wdata;
        8:  w     <= s_axi_wdata;
        12: y     <= s_axi_wdata;
        16: beats <= s_axi_wdata[15:0];
        20: rows  <= s_axi_wdata[15:0];
        24: z     <= s_axi_wdata;
        default: ;
      endcase
    end
    s_axi_bvalid <= write || (s_axi_bvalid && !s_axi_bready);
    s_axi_rvalid <= (s_axi_arvalid && s_axi_arready) || (s_axi_rvalid && !s_axi_rready);
    if (s_axi_arvalid && s_axi_arready) s_axi_rdata <= {30'd0, state};
    if (!aresetn) {s_axi_bvalid, s_axi_rvalid} <= 2'd0;
  end

  // Reads: a burst for up to 16 of the beats that are not asked for.
  reg  [31:0] ask, at;                       // beats to ask for; the next one's address
  reg  [31:0] get;                           // beats of this state to come
  reg  [2:0]  under_way;
  wire [31:0] burst = ask < 16 ? ask : 32'd16;
  wire        asks  = m_axi_arvalid && m_axi_arready;
  wire        takes = m_axi_rvalid && m_axi_rready;
  assign m_axi_arid    = state == RUN ? 1 : 0;
  assign m_axi_araddr  = at;
  assign m_axi_arlen   = burst[7:0] - 8'd1;
  assign m_axi_arsize  = SHIFT[2:0];
  assign m_axi_arburst = 2'd1;
  assign m_axi_arvalid = ask != 0 && under_way < 4;
  assign m_axi_rready  = state == LOAD || (state == RUN && !m_axi_awvalid && !m_axi_wvalid);

  // The products of a beat.
  reg  [DATA_W-1:0] xs [0:1023];
  reg  [15:0]       k, n;
  reg  [31:0]       acc, sum;
  wire [DATA_W-1:0] xk = xs[k[9:0]];
  integer i;
  always @* begin
    sum = acc;
    for (i = 0; i < LANES; i = i + 1)
      sum = sum + ({{24{xk[8*i+7]}}, xk[8*i +: 8]} - z) * {{24{m_axi_rdata[8*i+7]}}, m_axi_rdata[8*i +: 8]};
  end

  // A row's sum goes out in a write of one beat.
  reg  [31:0] result, to;
  reg  [15:0] answers;                       // still to come
  assign m_axi_awid    = 0;
  assign m_axi_awaddr  = to;
  assign m_axi_awlen   = 0;
  assign m_axi_awsize  = 2;
  assign m_axi_awburst = 2'd1;
  assign m_axi_wdata   = {DATA_W/32{result}};
  assign m_axi_wstrb   = {{LANES-4{1'b0}}, 4'hf} << (to & (LANES - 1));
  assign m_axi_wlast   = 1'b1;
  assign m_axi_bready  = 1'b1;
  assign irq           = state == DONE;

  always @(posedge aclk) begin
    if (asks) begin
      at  <= at + (burst << SHIFT);
      ask <= ask - burst;
    end
    under_way <= under_way + {2'd0, asks} - {2'd0, takes && m_axi_rlast};
    if (m_axi_awvalid && m_axi_awready) m_axi_awvalid <= 1'b0;
    if (m_axi_wvalid && m_axi_wready) m_axi_wvalid <= 1'b0;
    if (m_axi_bvalid) answers <= answers - 1;
    if (takes) begin
      get <= get - 1;
      k   <= k + 1 == beats ? 16'd0 : k + 1;
    end
    case (state)
      IDLE: if (start) begin
        state   <= LOAD;
        at      <= x;
        ask     <= {16'd0, beats};
        get     <= {16'd0, beats};
        answers <= rows;
        {k, n, acc} <= 0;
      end
      LOAD: if (takes) begin
        xs[k[9:0]] <= m_axi_rdata;
        if (get == 1) begin
          state <= RUN;
          at    <= w;
          ask   <= beats * rows;
          get   <= beats * rows;
        end
      end
      RUN: begin
        if (takes) acc <= sum;
        if (takes && k + 1 == beats) begin
          acc    <= 0;
          n      <= n + 1;
          result <= sum;
          to     <= y + {14'd0, n, 2'd0};
          {m_axi_awvalid, m_axi_wvalid} <= 2'b11;
        end
        if (answers == 0) state <= DONE;
      end
      DONE: if (clear) state <= IDLE;
    endcase
    if (!aresetn) begin
      state     <= IDLE;
      ask       <= 0;
      under_way <= 0;
      {m_axi_awvalid, m_axi_wvalid} <= 2'b00;
    end
  end
endmodule
