// hd_bundles.svh - signals that go together between modules: AXI, weight words, ARRAY's
// steps, VECTOR's queues. Guarded; include at file level.
`ifndef HD_BUNDLES_SVH
`define HD_BUNDLES_SVH

`include "hd_accel.svh"
`include "hd_config.svh"

// AXI, by who drives it: `_req_t` the manager, `_rsp_t` the subordinate. Names as in AXI.
typedef struct packed {
  logic                      awvalid;
  logic [11:0]               awaddr;
  logic                      wvalid;
  logic [31:0]               wdata;
  logic [3:0]                wstrb;
  logic                      bready;
  logic                      arvalid;
  logic [11:0]               araddr;
  logic                      rready;
} hd_axil_req_t;

typedef struct packed {
  logic                      awready, wready, bvalid;
  logic [1:0]                bresp;
  logic                      arready, rvalid;
  logic [31:0]               rdata;
  logic [1:0]                rresp;
} hd_axil_rsp_t;

typedef struct packed {
  logic                      arvalid;
  logic [3:0]                arid;
  logic [CfgAxiAddrBits-1:0] araddr;
  logic [7:0]                arlen;
  logic [2:0]                arsize;
  logic [1:0]                arburst;
  logic                      rready;
} hd_axi_read_req_t;

typedef struct packed {
  logic                      arready, rvalid;
  logic [3:0]                rid;
  logic [8*CfgAxiBytes-1:0]  rdata;
  logic [1:0]                rresp;
  logic                      rlast;
} hd_axi_read_rsp_t;

typedef struct packed {
  logic                      awvalid;
  logic [3:0]                awid;
  logic [CfgAxiAddrBits-1:0] awaddr;
  logic [7:0]                awlen;
  logic [2:0]                awsize;
  logic [1:0]                awburst;
  logic                      wvalid;
  logic [8*CfgAxiBytes-1:0]  wdata;
  logic [CfgAxiBytes-1:0]    wstrb;
  logic                      wlast, bready;
} hd_axi_write_req_t;

typedef struct packed {
  logic                      awready, wready, bvalid;
  logic [3:0]                bid;
  logic [1:0]                bresp;
} hd_axi_write_rsp_t;

// A word for the weight memories and the tables.
typedef struct packed {
  logic [SpaceBits-1:0]                   space;
  logic [$clog2(CfgWeightBytes/CfgN)-1:0] word;
  logic [8*CfgN-1:0]                      data;
} hd_weight_word_t;

// Goes with a position of ARRAY to its sum.
typedef struct packed {
  logic                                   valid, slot;
  logic                                   add;   // to the accumulator
  logic                                   upper; // to 256 times it
  logic                                   last;  // requantise instead of keeping
  logic [$clog2(CfgAccDepth)-1:0]         acc;
  logic [$clog2(CfgScratchpadBytes)-1:0]  addr;
  logic [$clog2(CfgN+1)-1:0]              count;
  logic [$clog2(CfgParamEntries)-1:0]     entry;
} hd_array_tag_t;

// The weight row that a step of ARRAY reads.
typedef struct packed {
  logic                                   req;
  logic [$clog2(CfgN)-1:0]                row;
  logic [$clog2(CfgWeightBytes/CfgN)-1:0] word;
} hd_array_row_t;

// A queue of three operands: which entries load; whether the head and the one behind it do so from
// the entry behind them, else from the port.
typedef struct packed {
  logic head_en, skid_en, spare_en;
  logic from_skid, from_spare;
} hd_vector_queue_t;

`endif
