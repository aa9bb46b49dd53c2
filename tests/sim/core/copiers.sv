// copiers.sv - the copy engine of `heddle new-target --template=copy` with the buses of sim/ports/bus.def. Registers: 0 start
// (write 1; 0 takes the interrupt back), 4 from, 8 to, 12 bytes, 16 the rule of a bus to break (test_*_buses.sh).
`default_nettype none

// Reads a word and writes it, one access at a time: req until gnt, then rvalid in the same cycle or later.
module copier (
  input  wire logic        clk,
  input  wire logic        reset,
  input  wire logic        write,
  input  wire logic [7:0]  addr,
  input  wire logic [31:0] wdata,
  output logic [31:0]      left,
  output logic [2:0]       fault,
  output logic             done,
  output logic             req,
  output logic             we,
  output logic [31:0]      at,
  output logic [31:0]      data,
  output logic [3:0]       be,
  input  wire logic        gnt,
  input  wire logic        rvalid,
  input  wire logic [31:0] rdata
);
  typedef enum logic [2:0] {IDLE, READ, WAIT_READ, WRITE, WAIT_WRITE, DONE} state_e;
  state_e state;
  logic [31:0] from, to;
  assign req  = state == READ || state == WRITE;
  assign we   = state == WRITE;
  assign at   = we ? to : from;
  assign be   = !we || left > 3 ? 4'hf : ~(4'hf << left[1:0]);
  assign done = state == DONE;
  wire answered = rvalid && (gnt && req || state == WAIT_READ || state == WAIT_WRITE);

  always_ff @(posedge clk) begin
    if (write && addr == 4) from <= wdata;
    if (write && addr == 8) to <= wdata;
    if (write && addr == 12) left <= wdata;
    if (write && addr == 16) fault <= wdata[2:0];
    if (write && addr == 0) state <= wdata[0] ? READ : IDLE;
    if (req && gnt && !rvalid) state <= we ? WAIT_WRITE : WAIT_READ;
    if (answered && (state == READ || state == WAIT_READ)) begin
      state <= WRITE;
      data  <= rdata;
      from  <= from + 4;
    end
    if (answered && (state == WRITE || state == WAIT_WRITE)) begin
      state <= left <= 4 ? DONE : READ;
      to    <= to + 4;
      left  <= left - 4;
    end
    if (reset) {state, fault} <= {IDLE, 3'd0};
  end
endmodule

// APB registers, a classic Wishbone master, reset high, interrupt low, another name for an address.
module apb_wb (
  input  wire logic        clk,
  input  wire logic        rst,
  input  wire logic        psel,
  input  wire logic        penable,
  input  wire logic        pwrite,
  input  wire logic [7:0]  paddr,
  input  wire logic [31:0] pwdata,
  output logic [31:0]      prdata,
  output logic             pready,
  output logic             pslverr,
  output logic             wbm_cyc_o,
  output logic             wbm_stb_o,
  output logic             wbm_we_o,
  output logic [31:2]      wbm_word_o,
  output logic [31:0]      wbm_dat_o,
  output logic [3:0]       wbm_sel_o,
  input  wire logic [31:0] wbm_dat_i,
  input  wire logic        wbm_ack_i,
  input  wire logic        wbm_err_i,
  output logic             busy
);
  logic req, we, done, tick;
  logic [2:0] fault;
  logic [31:0] at;
  logic [3:0] be;
  always_ff @(posedge clk) tick <= !tick && !rst;
  assign pready    = tick;  // a wait state now and then
  assign pslverr   = fault == 1 && paddr == 8;
  assign wbm_cyc_o = req && !(fault == 2 && we);
  assign wbm_stb_o = req && !(fault == 3 && tick);
  assign wbm_we_o  = we;
  assign wbm_word_o = at[31:2] + 30'(fault == 4 && tick);
  assign wbm_sel_o = be;
  assign busy      = !done;
  copier u_copier (.fault, .clk, .reset(rst), .write(psel && penable && pwrite && pready), .addr(paddr), .wdata(pwdata),
    .left(prdata), .done, .req, .we, .at, .data(wbm_dat_o), .be, .gnt(wbm_ack_i || wbm_err_i), .rvalid(wbm_ack_i || wbm_err_i), .rdata(wbm_dat_i));
endmodule

// AXI4-Lite registers and two AXI4 masters: bursts of four words are read by m0 and m1 in turns, and written by m1.
module axi_two (
  input  wire logic        aclk,
  input  wire logic        aresetn,
  input  wire logic        s_axi_awvalid,
  output logic             s_axi_awready,
  input  wire logic [7:0]  s_axi_awaddr,
  input  wire logic        s_axi_wvalid,
  output logic             s_axi_wready,
  input  wire logic [31:0] s_axi_wdata,
  input  wire logic [3:0]  s_axi_wstrb,
  output logic             s_axi_bvalid,
  input  wire logic        s_axi_bready,
  input  wire logic        s_axi_arvalid,
  output logic             s_axi_arready,
  input  wire logic [7:0]  s_axi_araddr,
  output logic             s_axi_rvalid,
  input  wire logic        s_axi_rready,
  output logic [31:0]      s_axi_rdata,
  output logic             m0_axi_arvalid,
  input  wire logic        m0_axi_arready,
  output logic [31:0]      m0_axi_araddr,
  output logic [7:0]       m0_axi_arlen,
  input  wire logic        m0_axi_rvalid,
  output logic             m0_axi_rready,
  input  wire logic [31:0] m0_axi_rdata,
  input  wire logic        m0_axi_rlast,
  output logic             m1_axi_arvalid,
  input  wire logic        m1_axi_arready,
  output logic [31:0]      m1_axi_araddr,
  output logic [7:0]       m1_axi_arlen,
  input  wire logic        m1_axi_rvalid,
  output logic             m1_axi_rready,
  input  wire logic [31:0] m1_axi_rdata,
  input  wire logic        m1_axi_rlast,
  output logic             m1_axi_awvalid,
  input  wire logic        m1_axi_awready,
  output logic [31:0]      m1_axi_awaddr,
  output logic [7:0]       m1_axi_awlen,
  output logic             m1_axi_wvalid,
  input  wire logic        m1_axi_wready,
  output logic [31:0]      m1_axi_wdata,
  output logic [3:0]       m1_axi_wstrb,
  output logic             m1_axi_wlast,
  input  wire logic        m1_axi_bvalid,
  output logic             m1_axi_bready,
  output logic             irq
);
  typedef enum logic [2:0] {IDLE, ASK, GET, ADDRESS, PUT, ANSWER, DONE} state_e;
  state_e state;
  logic [31:0] from, to, left, word[4];
  logic [2:0] fault;
  logic [1:0] beat;
  logic turn;
  wire write = s_axi_awvalid && s_axi_wvalid && !s_axi_bvalid;
  wire got = turn ? m1_axi_rvalid : m0_axi_rvalid;
  assign s_axi_awready = write;
  assign s_axi_wready  = write;
  assign s_axi_arready = !s_axi_rvalid;
  assign s_axi_rdata   = left;
  assign m0_axi_arvalid = state == ASK && !turn;
  assign m1_axi_arvalid = state == ASK && turn;
  assign m0_axi_araddr  = fault == 7 ? 32'hff8 : from;
  assign m1_axi_araddr  = from;
  assign m0_axi_arlen   = 3;
  assign m1_axi_arlen   = 3;
  assign m0_axi_rready  = state == GET && !turn;
  assign m1_axi_rready  = state == GET && turn;
  assign m1_axi_awvalid = state == ADDRESS;
  assign m1_axi_awaddr  = to;
  assign m1_axi_awlen   = 3;
  assign m1_axi_wvalid  = state == PUT;
  assign m1_axi_wdata   = word[beat];
  assign m1_axi_wstrb   = 4'hf;
  assign m1_axi_wlast   = beat == 3 && fault != 6;
  assign m1_axi_bready  = state == ANSWER;
  assign irq            = state == DONE;

  always_ff @(posedge aclk) begin
    if (s_axi_bready) s_axi_bvalid <= 0;
    if (s_axi_rready) s_axi_rvalid <= 0;
    if (s_axi_arvalid && s_axi_arready) s_axi_rvalid <= 1;
    case (state)
      ASK: if (turn ? m1_axi_arready : m0_axi_arready) state <= GET;
      GET: if (got) begin
        word[beat] <= turn ? m1_axi_rdata : m0_axi_rdata;
        beat       <= beat + 1;
        if (turn ? m1_axi_rlast : m0_axi_rlast) {state, beat} <= {ADDRESS, 2'd0};
      end
      ADDRESS: if (m1_axi_awready) state <= PUT;
      PUT: if (m1_axi_wready) begin
        beat <= beat + 1;
        if (beat == 3) state <= ANSWER;
      end
      ANSWER: if (m1_axi_bvalid) begin
        state <= left <= 16 ? DONE : ASK;
        {from, to, left, turn} <= {from + 32'd16, to + 32'd16, left - 32'd16, !turn};
      end
      default: ;
    endcase
    if (write) begin
      s_axi_bvalid <= 1;
      case (s_axi_awaddr)
        0: state <= s_axi_wdata[0] ? ASK : IDLE;
        4: from <= s_axi_wdata;
        8: to <= s_axi_wdata;
        12: left <= s_axi_wdata;
        default: fault <= s_axi_wdata[2:0];
      endcase
    end
    if (!aresetn) {state, fault, beat, turn, s_axi_bvalid, s_axi_rvalid} <= 0;
  end
endmodule

// Wishbone registers, an OBI manager, an interrupt pulse, a second clock that is counted.
module wb_obi (
  input  wire logic        wb_clk_i,
  input  wire logic        wb_rst_i,
  input  wire logic        fast_clk_i,
  input  wire logic        wbs_cyc_i,
  input  wire logic        wbs_stb_i,
  input  wire logic        wbs_we_i,
  input  wire logic [7:0]  wbs_adr_i,
  input  wire logic [31:0] wbs_dat_i,
  input  wire logic [3:0]  wbs_sel_i,
  output logic [31:0]      wbs_dat_o,
  output logic             wbs_ack_o,
  output logic             obi_req_o,
  input  wire logic        obi_gnt_i,
  output logic [31:0]      obi_addr_o,
  output logic             obi_we_o,
  output logic [3:0]       obi_be_o,
  output logic [31:0]      obi_wdata_o,
  input  wire logic        obi_rvalid_i,
  input  wire logic [31:0] obi_rdata_i,
  input  wire logic        obi_err_i, // not looked at
  output logic [31:0]      fast_o,
  output logic             irq_o
);
  logic done, was, tick, req;
  logic [2:0] fault;
  logic [31:0] fast, seen, last;
  always_ff @(posedge fast_clk_i) fast <= wb_rst_i ? 0 : fast + 1;
  always_ff @(posedge wb_clk_i) begin
    {seen, last} <= wb_rst_i ? 0 : {fast, seen};
    was  <= done;
    tick <= !tick && !wb_rst_i;
    wbs_ack_o <= wbs_stb_i && wbs_cyc_i && !wbs_ack_o;
  end
  assign fast_o    = seen - last;
  assign irq_o     = done && !was;
  assign obi_req_o = req && !(fault == 5 && tick);
  copier u_copier (.fault, .clk(wb_clk_i), .reset(wb_rst_i), .write(wbs_stb_i && wbs_we_i && wbs_ack_o && wbs_sel_i[0]), .addr(wbs_adr_i),
    .wdata(wbs_dat_i), .left(wbs_dat_o), .done, .req, .we(obi_we_o), .at(obi_addr_o), .data(obi_wdata_o), .be(obi_be_o),
    .gnt(obi_gnt_i && obi_req_o), .rvalid(obi_rvalid_i), .rdata(obi_rdata_i));
endmodule

// OBI registers, a pipelined Wishbone master.
module obi_wb (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic        s_req_i,
  output logic             s_gnt_o,
  input  wire logic [31:0] s_addr_i,
  input  wire logic        s_we_i,
  input  wire logic [3:0]  s_be_i,
  input  wire logic [31:0] s_wdata_i,
  output logic             s_rvalid_o,
  output logic [31:0]      s_rdata_o,
  output logic             wb_cyc_o,
  output logic             wb_stb_o,
  output logic             wb_we_o,
  output logic [31:0]      wb_adr_o,
  output logic [31:0]      wb_dat_o,
  output logic [3:0]       wb_sel_o,
  input  wire logic [31:0] wb_dat_i,
  input  wire logic        wb_ack_i,
  input  wire logic        wb_stall_i,
  output logic             interrupt_o
);
  logic [31:0] left;
  logic busy;
  logic [2:0] fault;
  assign s_gnt_o = 1'b1;
  always_ff @(posedge clk_i) begin
    s_rvalid_o <= (s_req_i || fault == 6) && rst_ni;
    s_rdata_o  <= left;
    busy       <= (wb_stb_o || busy && !wb_ack_i) && rst_ni;
  end
  assign wb_cyc_o = wb_stb_o || busy;
  copier u_copier (.fault, .clk(clk_i), .reset(!rst_ni), .write(s_req_i && s_we_i && s_be_i[0]), .addr(s_addr_i[7:0]), .wdata(s_wdata_i),
    .left, .done(interrupt_o), .req(wb_stb_o), .we(wb_we_o), .at(wb_adr_o), .data(wb_dat_o), .be(wb_sel_o),
    .gnt(!wb_stall_i), .rvalid(wb_ack_i), .rdata(wb_dat_i));
endmodule

// Streams alone: what comes in goes out, a cycle later.
module streams #(parameter int FAULT = 0) (
  input  wire logic        aclk,
  input  wire logic        aresetn,
  input  wire logic        s_axis_tvalid,
  output logic             s_axis_tready,
  input  wire logic [31:0] s_axis_tdata,
  input  wire logic [3:0]  s_axis_tkeep,
  input  wire logic        s_axis_tlast,
  output logic             m_axis_tvalid,
  input  wire logic        m_axis_tready,
  output logic [31:0]      m_axis_tdata,
  output logic [3:0]       m_axis_tkeep,
  output logic             m_axis_tlast
);
  logic tick, valid, last;
  assign s_axis_tready = m_axis_tready || !valid;
  assign m_axis_tvalid = valid && !(FAULT == 7 && tick);
  assign m_axis_tlast  = last || FAULT == 8;
  always_ff @(posedge aclk) begin
    tick <= !tick && aresetn;
    if (s_axis_tready) begin
      valid <= s_axis_tvalid;
      {m_axis_tdata, m_axis_tkeep, last} <= {s_axis_tdata, s_axis_tkeep, s_axis_tlast};
    end
    if (!aresetn) valid <= 1'b0;
  end
endmodule
