// hd_sim_top - hd_top for the simulator: its ports under the names that sim/*.cpp uses, and text for waves. Waves: one scope per unit
// (u_load, u_weight, ...) with the layer, tile and operation of its current command (packed ASCII as a Verilog string: last character
// in the lowest byte; set by sim/trace.cpp), its index, the unit's activity in this cycle, and the pulse that completes a command. The
// rest is wires. Reset: none.
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"
`include "hd_sim_kinds.svh"  // HD_SIM_<UNIT>_KINDS: what a unit does in a cycle, from accel.json (sim/build/build_files.c)


module hd_sim_top #(
  localparam int unsigned AxiBits = 8 * CfgAxiBytes,
  localparam int unsigned WordBits = 8 * CfgN,
  localparam int unsigned NameBits = 8 * 32,
  localparam int unsigned OpBits = 8 * 8
) (
  input  logic                      clk_i,
  // hd_top: clocks of parts that may rest, and disabling of rest.
  input  logic                      clk_control_i,
  output logic                      active_control_o,
  input  logic                      clk_dma_i,
  output logic                      active_dma_o,
  input  logic                      clk_vector_i,
  output logic                      active_vector_o,
  input  logic                      clk_requant_i,
  output logic                      active_requant_o,
  input  logic                      take_i,  // rises with clk_i.s falling edge if an input is new
  input  logic                      rst_ni,
  output logic                      irq_o,

  // Registers (AXI4-Lite).
  input  logic                      s_awvalid_i,
  output logic                      s_awready_o,
  input  logic [11:0]               s_awaddr_i,
  input  logic                      s_wvalid_i,
  output logic                      s_wready_o,
  input  logic [31:0]               s_wdata_i,
  input  logic [3:0]                s_wstrb_i,
  output logic                      s_bvalid_o,
  input  logic                      s_bready_i,
  output logic [1:0]                s_bresp_o,
  input  logic                      s_arvalid_i,
  output logic                      s_arready_o,
  input  logic [11:0]               s_araddr_i,
  output logic                      s_rvalid_o,
  input  logic                      s_rready_i,
  output logic [31:0]               s_rdata_o,
  output logic [1:0]                s_rresp_o,

  // Memory (AXI4).
  output logic                      m_arvalid_o,
  input  logic                      m_arready_i,
  output logic [3:0]                m_arid_o,
  output logic [CfgAxiAddrBits-1:0] m_araddr_o,
  output logic [7:0]                m_arlen_o,
  output logic [2:0]                m_arsize_o,
  output logic [1:0]                m_arburst_o,
  input  logic                      m_rvalid_i,
  output logic                      m_rready_o,
  input  logic [3:0]                m_rid_i,
  input  logic [AxiBits-1:0]        m_rdata_i,
  input  logic [1:0]                m_rresp_i,
  input  logic                      m_rlast_i,
  output logic                      m_awvalid_o,
  input  logic                      m_awready_i,
  output logic [3:0]                m_awid_o,
  output logic [CfgAxiAddrBits-1:0] m_awaddr_o,
  output logic [7:0]                m_awlen_o,
  output logic [2:0]                m_awsize_o,
  output logic [1:0]                m_awburst_o,
  output logic                      m_wvalid_o,
  input  logic                      m_wready_i,
  output logic [AxiBits-1:0]        m_wdata_o,
  output logic [CfgAxiBytes-1:0]    m_wstrb_o,
  output logic                      m_wlast_o,
  input  logic                      m_bvalid_i,
  output logic                      m_bready_o,
  input  logic [3:0]                m_bid_i,
  input  logic [1:0]                m_bresp_i,

  // Commits and units.
  output logic                      commit_q_valid_o,
  output logic [2:0]                commit_q_unit_o,
  output logic [31:0]               commit_q_cmd_o,
  output logic [31:0]               commit_q_addr_o,
  output logic [7:0]                commit_q_count_o,
  output logic [WordBits-1:0]       commit_q_data_o,
  output logic                      commit_l_valid_o,
  output logic [31:0]               commit_l_cmd_o,
  output logic [31:0]               commit_l_word_o,
  output logic [CfgN-1:0]           commit_l_be_o,
  output logic [WordBits-1:0]       commit_l_data_o,
  output logic                      commit_w_valid_o,
  output logic [31:0]               commit_w_cmd_o,
  output logic [SpaceBits-1:0]      commit_w_space_o,
  output logic [31:0]               commit_w_word_o,
  output logic [WordBits-1:0]       commit_w_data_o,
  output logic                      commit_m_valid_o,
  output logic [31:0]               commit_m_cmd_o,
  output logic [CfgAxiAddrBits-1:0] commit_m_addr_o,
  output logic [CfgAxiBytes-1:0]    commit_m_strb_o,
  output logic [AxiBits-1:0]        commit_m_data_o,
  output logic [UnitCount-1:0]      done_o,
  output logic [UnitCount*32-1:0]   done_cmd_o,
  output logic [UnitCount*32-1:0]   unit_cmd_o,
  output logic [UnitCount*3-1:0]    unit_kind_o,
  output logic                      array_begin_o,

  // Waves only, set by sim/trace.cpp.
  input  logic [63:0]               cycle_i,  // since the doorbell
  input  logic [UnitCount*NameBits-1:0] layer_i,
  input  logic [UnitCount*NameBits-1:0] tile_i,
  input  logic [UnitCount*OpBits-1:0]   op_i,
  input  logic [NameBits-1:0]       host_i  // function that the host executes
);

  // Inputs have a separate clock: logic that depends on them is evaluated when one changes, instead
  // of twice a cycle.
  logic rst_n;
  logic s_awvalid;
  logic [11:0] s_awaddr;
  logic s_wvalid;
  logic [31:0] s_wdata;
  logic [3:0] s_wstrb;
  logic s_bready;
  logic s_arvalid;
  logic [11:0] s_araddr;
  logic s_rready;
  logic m_arready;
  logic m_rvalid;
  logic [3:0] m_rid;
  logic [AxiBits-1:0] m_rdata;
  logic [1:0] m_rresp;
  logic m_rlast;
  logic m_awready;
  logic m_wready;
  logic m_bvalid;
  logic [3:0] m_bid;
  logic [1:0] m_bresp;
  logic [63:0] wave_cycle;
  logic [UnitCount*NameBits-1:0] wave_layer;
  logic [UnitCount*NameBits-1:0] wave_tile;
  logic [UnitCount*OpBits-1:0] wave_op;
  logic [NameBits-1:0] wave_host;

  always_ff @(posedge take_i) begin
    rst_n      <= rst_ni;
    s_awvalid  <= s_awvalid_i;
    s_awaddr   <= s_awaddr_i;
    s_wvalid   <= s_wvalid_i;
    s_wdata    <= s_wdata_i;
    s_wstrb    <= s_wstrb_i;
    s_bready   <= s_bready_i;
    s_arvalid  <= s_arvalid_i;
    s_araddr   <= s_araddr_i;
    s_rready   <= s_rready_i;
    m_arready  <= m_arready_i;
    m_rvalid   <= m_rvalid_i;
    m_rid      <= m_rid_i;
    m_rdata    <= m_rdata_i;
    m_rresp    <= m_rresp_i;
    m_rlast    <= m_rlast_i;
    m_awready  <= m_awready_i;
    m_wready   <= m_wready_i;
    m_bvalid   <= m_bvalid_i;
    m_bid      <= m_bid_i;
    m_bresp    <= m_bresp_i;
    wave_cycle <= cycle_i;
    wave_layer <= layer_i;
    wave_tile  <= tile_i;
    wave_op    <= op_i;
    wave_host  <= host_i;
  end

  // The layer's number comes from the accelerator, its text from outside: they must agree.
  logic [UnitCount*16-1:0] unit_layer;

  // Bus names without suffix, as cocotbext-axi and the bus viewers of GTKWave expect.
  hd_top u_top (
    .clk_i,
    .clk_control_i,
    .active_control_o,
    .clk_dma_i,
    .active_dma_o,
    .clk_vector_i,
    .active_vector_o,
    .clk_requant_i,
    .active_requant_o,
    .rst_ni        (rst_n),
    .irq_o,
    .s_axil_awvalid(s_awvalid),
    .s_axil_awready(s_awready_o),
    .s_axil_awaddr (s_awaddr),
    .s_axil_wvalid (s_wvalid),
    .s_axil_wready (s_wready_o),
    .s_axil_wdata  (s_wdata),
    .s_axil_wstrb  (s_wstrb),
    .s_axil_bvalid (s_bvalid_o),
    .s_axil_bready (s_bready),
    .s_axil_bresp  (s_bresp_o),
    .s_axil_arvalid(s_arvalid),
    .s_axil_arready(s_arready_o),
    .s_axil_araddr (s_araddr),
    .s_axil_rvalid (s_rvalid_o),
    .s_axil_rready (s_rready),
    .s_axil_rdata  (s_rdata_o),
    .s_axil_rresp  (s_rresp_o),
    .m_axi_arvalid (m_arvalid_o),
    .m_axi_arready (m_arready),
    .m_axi_arid    (m_arid_o),
    .m_axi_araddr  (m_araddr_o),
    .m_axi_arlen   (m_arlen_o),
    .m_axi_arsize  (m_arsize_o),
    .m_axi_arburst (m_arburst_o),
    .m_axi_rvalid  (m_rvalid),
    .m_axi_rready  (m_rready_o),
    .m_axi_rid     (m_rid),
    .m_axi_rdata   (m_rdata),
    .m_axi_rresp   (m_rresp),
    .m_axi_rlast   (m_rlast),
    .m_axi_awvalid (m_awvalid_o),
    .m_axi_awready (m_awready),
    .m_axi_awid    (m_awid_o),
    .m_axi_awaddr  (m_awaddr_o),
    .m_axi_awlen   (m_awlen_o),
    .m_axi_awsize  (m_awsize_o),
    .m_axi_awburst (m_awburst_o),
    .m_axi_wvalid  (m_wvalid_o),
    .m_axi_wready  (m_wready),
    .m_axi_wdata   (m_wdata_o),
    .m_axi_wstrb   (m_wstrb_o),
    .m_axi_wlast   (m_wlast_o),
    .m_axi_bvalid  (m_bvalid),
    .m_axi_bready  (m_bready_o),
    .m_axi_bid     (m_bid),
    .m_axi_bresp   (m_bresp),
    .commit_q_valid_o,
    .commit_q_unit_o,
    .commit_q_cmd_o,
    .commit_q_addr_o,
    .commit_q_count_o,
    .commit_q_data_o,
    .commit_l_valid_o,
    .commit_l_cmd_o,
    .commit_l_word_o,
    .commit_l_be_o,
    .commit_l_data_o,
    .commit_w_valid_o,
    .commit_w_cmd_o,
    .commit_w_space_o,
    .commit_w_word_o,
    .commit_w_data_o,
    .commit_m_valid_o,
    .commit_m_cmd_o,
    .commit_m_addr_o,
    .commit_m_strb_o,
    .commit_m_data_o,
    .done_o,
    .done_cmd_o,
    .unit_cmd_o,
    .unit_layer_o(unit_layer),
    .unit_kind_o,
    .array_begin_o
  );

  if (1) begin : u_submission
    logic [63:0] cycle;
    assign cycle = wave_cycle;
  end

  if (1) begin : u_host
    logic [NameBits-1:0] executes;
    assign executes = wave_host;
  end

  if (1) begin : u_load
    typedef enum logic [2:0] `HD_SIM_LOAD_KINDS kind_e;
    logic [NameBits-1:0] layer;
    logic [NameBits-1:0] tile;
    logic [OpBits-1:0]   op;
    logic [31:0]         command;
    logic [15:0]         layer_number;
    kind_e               does;
    logic                done;
    assign layer        = wave_layer[UnitLoad*NameBits +: NameBits];
    assign tile         = wave_tile[UnitLoad*NameBits +: NameBits];
    assign op           = wave_op[UnitLoad*OpBits +: OpBits];
    assign command      = unit_cmd_o[UnitLoad*32 +: 32];
    assign layer_number = unit_layer[UnitLoad*16 +: 16];
    assign does         = kind_e'(unit_kind_o[UnitLoad*3 +: 3]);
    assign done         = done_o[UnitLoad];
  end

  if (1) begin : u_weight
    typedef enum logic [2:0] `HD_SIM_WEIGHT_KINDS kind_e;
    logic [NameBits-1:0] layer;
    logic [NameBits-1:0] tile;
    logic [OpBits-1:0]   op;
    logic [31:0]         command;
    logic [15:0]         layer_number;
    kind_e               does;
    logic                done;
    assign layer        = wave_layer[UnitWeight*NameBits +: NameBits];
    assign tile         = wave_tile[UnitWeight*NameBits +: NameBits];
    assign op           = wave_op[UnitWeight*OpBits +: OpBits];
    assign command      = unit_cmd_o[UnitWeight*32 +: 32];
    assign layer_number = unit_layer[UnitWeight*16 +: 16];
    assign does         = kind_e'(unit_kind_o[UnitWeight*3 +: 3]);
    assign done         = done_o[UnitWeight];
  end

  if (1) begin : u_array
    typedef enum logic [2:0] `HD_SIM_ARRAY_KINDS kind_e;
    logic [NameBits-1:0] layer;
    logic [NameBits-1:0] tile;
    logic [OpBits-1:0]   op;
    logic [31:0]         command;
    logic [15:0]         layer_number;
    kind_e               does;
    logic                done;
    assign layer        = wave_layer[UnitArray*NameBits +: NameBits];
    assign tile         = wave_tile[UnitArray*NameBits +: NameBits];
    assign op           = wave_op[UnitArray*OpBits +: OpBits];
    assign command      = unit_cmd_o[UnitArray*32 +: 32];
    assign layer_number = unit_layer[UnitArray*16 +: 16];
    assign does         = kind_e'(unit_kind_o[UnitArray*3 +: 3]);
    assign done         = done_o[UnitArray];
  end

  if (1) begin : u_vector
    typedef enum logic [2:0] `HD_SIM_VECTOR_KINDS kind_e;
    logic [NameBits-1:0] layer;
    logic [NameBits-1:0] tile;
    logic [OpBits-1:0]   op;
    logic [31:0]         command;
    logic [15:0]         layer_number;
    kind_e               does;
    logic                done;
    assign layer        = wave_layer[UnitVector*NameBits +: NameBits];
    assign tile         = wave_tile[UnitVector*NameBits +: NameBits];
    assign op           = wave_op[UnitVector*OpBits +: OpBits];
    assign command      = unit_cmd_o[UnitVector*32 +: 32];
    assign layer_number = unit_layer[UnitVector*16 +: 16];
    assign does         = kind_e'(unit_kind_o[UnitVector*3 +: 3]);
    assign done         = done_o[UnitVector];
  end

  if (1) begin : u_store
    typedef enum logic [2:0] `HD_SIM_STORE_KINDS kind_e;
    logic [NameBits-1:0] layer;
    logic [NameBits-1:0] tile;
    logic [OpBits-1:0]   op;
    logic [31:0]         command;
    logic [15:0]         layer_number;
    kind_e               does;
    logic                done;
    assign layer        = wave_layer[UnitStore*NameBits +: NameBits];
    assign tile         = wave_tile[UnitStore*NameBits +: NameBits];
    assign op           = wave_op[UnitStore*OpBits +: OpBits];
    assign command      = unit_cmd_o[UnitStore*32 +: 32];
    assign layer_number = unit_layer[UnitStore*16 +: 16];
    assign does         = kind_e'(unit_kind_o[UnitStore*3 +: 3]);
    assign done         = done_o[UnitStore];
  end

  if (1) begin : u_fetch
    typedef enum logic [2:0] `HD_SIM_FETCH_KINDS kind_e;
    logic [NameBits-1:0] layer;
    logic [NameBits-1:0] tile;
    logic [OpBits-1:0]   op;
    logic [31:0]         command;
    logic [15:0]         layer_number;
    kind_e               does;
    logic                done;
    assign layer        = wave_layer[UnitFetch*NameBits +: NameBits];
    assign tile         = wave_tile[UnitFetch*NameBits +: NameBits];
    assign op           = wave_op[UnitFetch*OpBits +: OpBits];
    assign command      = unit_cmd_o[UnitFetch*32 +: 32];
    assign layer_number = unit_layer[UnitFetch*16 +: 16];
    assign does         = kind_e'(unit_kind_o[UnitFetch*3 +: 3]);
    assign done         = done_o[UnitFetch];
  end

endmodule
`default_nettype wire
