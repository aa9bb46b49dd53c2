// A strobe of a W beat is a byte of the region, by the address that its burst's AW gave; WLAST
// comes as AWLEN said. u_addr's outputs are free except for the properties of proof `addr`, whose
// first assumption is proven here.
localparam int FBursts = 2;  // of u_write
(* hierconn *) wire [$clog2(FBursts+1)-1:0] \u_write.ahead_q ;
logic                        f_hand, f_end, f_pop, f_new, f_gone;
logic [2:0]                  f_out_q, f_bus_q, f_bus;       // bursts without their last beat, of u_addr, of the bus
logic [7:0]                  f_beats_q, f_bus_beats_q;      // beats of the oldest one
logic [FBursts*AddrBits-1:0] f_addr_q, f_bus_addr_q, f_bus_addr;
logic [FBursts*8-1:0]        f_len_q, f_bus_len_q, f_bus_len;
logic [AddrBits-1:0]         f_beat_at_q, f_w_at;
logic [AddrBits:0]           f_base, f_limit, f_place;      // a region: any
logic                        f_aw_hold_q, f_same;
logic [AxiBytes-1:0]         f_outside;

assign f_base  = $anyconst;
assign f_limit = $anyconst;
assign f_hand  = burst_valid && burst_ready;
assign f_end   = beat_end || &beat_addr[BeatBits +: 4];
assign f_pop   = beat_take && f_end;
assign f_place = beat_addr | (AddrBits + 1)'(beat_lo);

// The bus: bursts since their AW is shown, without those whose last beat was taken.
assign f_new  = axi_o.awvalid && !f_aw_hold_q;
assign f_gone = axi_o.wvalid && axi_i.wready;
assign f_w_at = f_bus_addr_q[AddrBits-1:0] + AddrBits'(f_bus_beats_q) * AxiBytes;
assign f_bus  = f_bus_q + f_new;
for (genvar i = 0; i < FBursts; i++) begin : gen_f
  assign f_bus_addr[i*AddrBits +: AddrBits] = f_new && f_bus_q == i ? axi_o.awaddr : f_bus_addr_q[i*AddrBits +: AddrBits];
  assign f_bus_len[i*8 +: 8]                = f_new && f_bus_q == i ? axi_o.awlen : f_bus_len_q[i*8 +: 8];
end
for (genvar b = 0; b < AxiBytes; b++) begin : gen_f_strobe
  logic [AddrBits:0] at;
  assign at           = {1'b0, f_w_at} + b;
  assign f_outside[b] = axi_o.wstrb[b] && (at < f_base || at >= f_limit);
end

always_ff @(posedge clk_i) begin
  if (!rst_ni) begin
    {f_out_q, f_bus_q, f_beats_q, f_bus_beats_q} <= '0;
    f_aw_hold_q <= 1'b0;
  end else begin
    f_out_q     <= f_out_q + f_hand - f_pop;
    f_bus_q     <= f_bus - (f_gone && axi_o.wlast);
    f_aw_hold_q <= axi_o.awvalid && !axi_i.awready;
    if (beat_take) f_beats_q <= f_end ? 8'd0 : f_beats_q + 8'd1;
    if (f_gone) f_bus_beats_q <= axi_o.wlast ? 8'd0 : f_bus_beats_q + 8'd1;
  end
  if (beat_take) f_beat_at_q <= beat_addr[AddrBits-1:0];
  if (f_pop) {f_len_q, f_addr_q} <= {f_len_q >> 8, f_addr_q >> AddrBits};
  for (int i = 0; i < FBursts; i++) begin
    if (f_hand && f_out_q - f_pop == i) begin
      f_addr_q[i*AddrBits +: AddrBits] <= burst_addr;
      f_len_q[i*8 +: 8]                <= burst_len;
    end
  end
  f_bus_addr_q <= f_gone && axi_o.wlast ? f_bus_addr >> AddrBits : f_bus_addr;
  f_bus_len_q  <= f_gone && axi_o.wlast ? f_bus_len >> 8 : f_bus_len;
end

// The bus' bursts are those of u_addr, after one whose last beat is shown.
logic f_last;
assign f_last = axi_o.wvalid && axi_o.wlast;
always_comb begin
  f_same = 1'b1;
  for (int i = 0; i < FBursts; i++) begin
    if (i < f_out_q && f_addr_q[i*AddrBits +: AddrBits] % AxiBytes != 0) f_same = 1'b0;
    for (int j = 0; j < FBursts; j++) begin
      if (i < f_out_q && j == i + f_last && (f_addr_q[i*AddrBits +: AddrBits] != f_bus_addr[j*AddrBits +: AddrBits]
          || f_len_q[i*8 +: 8] != f_bus_len[j*8 +: 8])) f_same = 1'b0;
    end
  end
end

always_comb begin
  // Proof `addr`: a_inside, a_lanes, a_place, a_end; proof `bursts`: a_aligned.
  m_limit: assume (!f_limit[AddrBits] || f_limit[AddrBits-1:0] == '0);
  m_inside: assume (!beat_take || (f_place >= f_base && {1'b0, f_place} + beat_bytes <= f_limit));
  m_lanes: assume (!beat_valid || (beat_lo < AxiBytes && beat_bytes != '0 && beat_bytes <= AxiBytes - beat_lo));
  m_place: assume (!beat_take || beat_addr == {1'b0, f_addr_q[AddrBits-1:0]} + (AddrBits + 1)'(f_beats_q) * AxiBytes);
  m_end: assume (!beat_take || f_end == (f_beats_q == f_len_q[7:0]));
  m_aligned: assume (burst_addr % AxiBytes == 0);
  if (rst_ni) begin
    a_owed: assert (!beat_take || f_out_q != '0);  // its m_owed
    a_inside: assert (!axi_o.wvalid || f_outside == '0);
    a_after: assert (!axi_o.wvalid || f_bus_q != '0);
    a_last: assert (!axi_o.wvalid || axi_o.wlast == (f_bus_beats_q == f_bus_len_q[7:0]));
    // The induction needs these.
    a_counts: assert (f_bus == f_out_q + f_last && f_out_q == \u_write.ahead_q && f_same);
    a_beats: assert (f_last ? f_beats_q == '0 : f_beats_q == f_bus_beats_q + axi_o.wvalid);
    a_at: assert (!axi_o.wvalid || f_w_at == f_beat_at_q);
  end
end
