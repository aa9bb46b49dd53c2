// hd_vector_port - one operand's reads: request, rotate, and the control of the lanes' queue of
// three entries.
// A beat is taken (taken_o) when the scratchpad grants it and there is room for it when its bytes
// come, two cycles later; a beat of count_i = 0 reads nothing and is only queued. With splat_i all
// lanes get the byte at addr_i, and only that is read. Once the bytes are there rot_o holds them
// (lane 0 first) and keep_o the lanes below count, until the queue has an entry free; the lanes
// then put them into it as queue_o says. pop_i takes the head.
// One beat a cycle. Requests do not depend on pop_i, which comes late: hence the third entry.
// Idle lanes: no rotation, no enables.
// Reset: empty. Bench: vector_tb.cpp
`default_nettype none
`include "hd_config.svh"
`include "hd_bundles.svh"

module hd_vector_port #(
  parameter int N        = CfgN,
  parameter int AddrBits = $clog2(CfgScratchpadBytes),
  parameter int MetaBits = 1,
  parameter int CntBits  = $clog2(N + 1)  // derived
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,
  // beat
  input  wire logic                valid_i,
  input  wire logic [AddrBits-1:0] addr_i,
  input  wire logic [CntBits-1:0]  count_i,  // 0: nothing to read
  input  wire logic                splat_i,  // constant while a command runs
  input  wire logic [MetaBits-1:0] meta_i,
  output logic                     taken_o,
  // scratchpad
  output logic                     req_o,
  output logic      [AddrBits-1:0] addr_o,
  input  wire logic                ready_i,  // with req_o only
  input  wire logic [2*N*8-1:0]    data_i,   // two cycles after the grant, held
  // lanes
  output logic      [N*8-1:0]      rot_o,
  output logic      [N-1:0]        keep_o,
  output hd_vector_queue_t         queue_o,
  output logic                     valid_o,      // head holds a beat
  output logic      [MetaBits-1:0] meta_o,
  input  wire logic                pop_i,
  output logic                     busy_o
);
  localparam int OffBits = $clog2(N);

  logic                head_q, skid_q, spare_q;  // entries
  logic                fly_q, word_q;            // bytes come in this cycle, are there
  logic [OffBits-1:0]  fly_off_q, off_q;
  logic [CntBits-1:0]  fly_count_q, count_q;
  logic [MetaBits-1:0] head_meta_q, skid_meta_q, spare_meta_q, word_meta_q, fly_meta_q;
  logic                room, some, comes, head_en, skid_en, spare_en;

  // At most three are there or in flight before a request, four after it, which is the room of the
  // queue.
  assign some    = count_i != '0;
  assign room    = !(spare_q & (word_q | fly_q)) & !(skid_q & word_q & fly_q);
  assign comes   = word_q & !spare_q;
  assign req_o   = valid_i & room & some;
  assign addr_o  = addr_i;
  assign taken_o = ready_i | (valid_i & room & !some);

  assign head_en  = (pop_i | !head_q) & (skid_q | comes);
  assign skid_en  = pop_i ? skid_q & (spare_q | comes) : comes & head_q & !skid_q;
  assign spare_en = comes & skid_q & !pop_i;
  assign queue_o  = {head_en, skid_en, spare_en, skid_q, spare_q};
  assign valid_o  = head_q;
  assign meta_o   = head_meta_q;
  assign busy_o   = head_q | word_q | fly_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      head_q  <= 1'b0;
      skid_q  <= 1'b0;
      spare_q <= 1'b0;
      word_q  <= 1'b0;
      fly_q   <= 1'b0;
    end else begin
      fly_q  <= taken_o;
      word_q <= fly_q | (word_q & !comes);
      if (head_en)  head_q <= 1'b1;
      else if (pop_i) head_q <= 1'b0;
      if (skid_en)  skid_q <= 1'b1;
      else if (pop_i) skid_q <= 1'b0;
      if (spare_en) spare_q <= 1'b1;
      else if (pop_i) spare_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin  // taken_o comes late
      fly_off_q   <= addr_i[OffBits-1:0];
      fly_count_q <= count_i;
      fly_meta_q  <= meta_i;
    end
    if (fly_q) begin
      off_q       <= fly_off_q;
      count_q     <= fly_count_q;
      word_meta_q <= fly_meta_q;
    end
    if (head_en) head_meta_q <= skid_q ? skid_meta_q : word_meta_q;
    if (skid_en) skid_meta_q <= spare_q ? spare_meta_q : word_meta_q;
    if (spare_en) spare_meta_q <= word_meta_q;
  end

  // Rotation, and only when bytes are there.
  logic [N*8-1:0] rotated;

  hd_funnel #(.N(N)) u_funnel (.en_i(word_q), .in_i(data_i), .at_i(off_q), .out_o(rotated));

  assign keep_o = word_q ? ~({N{1'b1}} << count_q) : '0;
  assign rot_o  = splat_i ? {N{rotated[7:0]}} : rotated;

`ifdef HD_ASSERT
  a_pop: assert property (@(posedge clk_i) disable iff (!rst_ni) pop_i |-> head_q);
  a_room: assert property (@(posedge clk_i) disable iff (!rst_ni)
    !(spare_q && word_q && fly_q));
  a_ready: assert property (@(posedge clk_i) disable iff (!rst_ni) ready_i |-> req_o);
  a_hold: assert property (@(posedge clk_i) disable iff (!rst_ni)
    req_o && !ready_i |=> valid_i && $stable(addr_i) && $stable(count_i));
  c_spare: cover property (@(posedge clk_i) spare_en);
`endif

endmodule

`default_nettype wire
