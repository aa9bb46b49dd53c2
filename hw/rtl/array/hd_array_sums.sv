// hd_array_sums - the end of ARRAY's pipe: tags, accumulators, sums to hd_requant with what they
// need.
//   tag_*_i is registered with a position's request (T+1); Rows + 4 steps later its column sums
//   psum_i are here (T+Rows+5):
//   sum + accumulator tag_acc (tag_add) goes to a_sum_o (tag_last, a_valid_o) or back to the
//   accumulator.
//   begin_i: cmd_i has taken slot slot_i; a_slot_o's command gives the a_* fields.
//   pending_o: by slot, something of it is in here or in hd_requant (a_busy_i). accept_i:
//   cmd_index_i is the index of the next command to begin.
// T+2 is a cycle with near_i, from T+3 on a step is a cycle with en_i; a_valid_o is in the first
// cycle of its step. Latency Rows + 4 steps, throughput 1. Reset: nothing in the pipe. Bench:
// array_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_config.svh"
`include "hd_bundles.svh"
`include "hd_requant.svh"

module hd_array_sums #(
  parameter int N         = CfgN,
  parameter int Rows      = CfgRows,
  parameter int Cols      = CfgColumns,
  parameter int AccW      = 32,
  parameter int AccDepth  = CfgAccDepth,
  parameter int AddrBits  = $clog2(CfgScratchpadBytes),
  parameter int EntryBits = $clog2(CfgParamEntries),
  parameter int Lstm      = CfgLstm,            // 1: accumulators times 256
  parameter int LineDepth = 2 << $clog2(Rows),
  parameter int PtrBits   = $clog2(LineDepth),  // derived
  parameter int AccBits   = $clog2(AccDepth),
  parameter int CntBits   = $clog2(N + 1)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  input  wire logic                 en_i,
  input  wire logic                 near_i,
  input  wire logic [PtrBits-1:0]   ptr_i,
  // commands
  input  wire logic                 accept_i,
  input  wire logic [31:0]          cmd_index_i,
  input  wire logic                 begin_i,
  input  wire logic                 slot_i,
  /* verilator lint_off UNUSEDSIGNAL */  // a whole command; the results need some fields
  input  wire hd_cmd_array_t        cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic      [1:0]           pending_o,
  // tag; more: one that comes after it waits, too
  input  wire logic                 more_valid_i,
  input  wire logic                 more_slot_i,
  input  wire hd_array_tag_t        tag_i,
  // hd_array
  input  wire logic [Cols*AccW-1:0] psum_i,
  // hd_requant
  output logic                      a_ahead_o,  // a_valid_o in the next cycle
  output logic                      a_valid_o,
  output logic      [Cols*32-1:0]   a_sum_o,
  output logic      [EntryBits-1:0] a_entry_o,
  output logic      [AddrBits-1:0]  a_addr_o,
  output logic      [CntBits-1:0]   a_count_o,
  output logic      [31:0]          a_cmd_o,
  output logic                      a_slot_o,
  output hd_array_scale_t           a_scale_o,
  input  wire logic [1:0]           a_busy_i
);
  // ---------------------------------------------------------------- tag, T+1 to T+Rows+5
  localparam int TagBits = 3 + AccBits + AddrBits + CntBits + EntryBits;
  logic [TagBits-1:0]   tag2_q, tag3_q;  // T+2, T+3
  logic [TagBits-1:0]   tag_ahead;       // T+Rows+4
  logic                 add_ahead, upper_ahead, last_ahead;
  logic [AccBits-1:0]   acc_ahead;
  logic [AddrBits-1:0]  addr_ahead;
  logic [CntBits-1:0]   count_ahead;
  logic [EntryBits-1:0] entry_ahead;
  logic [Rows+3:0]      valid_q, slot_q; // bit k: T+2+k
  logic [Rows+3:0]      there;           // valid, and it is a step
  logic                 add_q, upper_q, last_q;  // T+Rows+5
  logic [AccBits-1:0]   acc_q;
  logic                 sum_valid;

  hd_skew #(.Width(TagBits), .Depth(LineDepth)) u_tag (
    .clk_i,
    .en_i,
    .ptr_i  (ptr_i),
    .delay_i(PtrBits'(Rows)),
    .d_i    (tag3_q),
    .q_o    (tag_ahead)
  );
  assign {add_ahead, upper_ahead, last_ahead, acc_ahead, addr_ahead, count_ahead,
          entry_ahead} = tag_ahead;
  always_ff @(posedge clk_i) begin
    tag2_q      <= {tag_i.add, tag_i.upper, tag_i.last, tag_i.acc, tag_i.addr, tag_i.count,
                    tag_i.entry};
    tag3_q      <= tag2_q;
    slot_q[1:0] <= {slot_q[0], tag_i.slot};
    if (en_i) slot_q[Rows+3:2] <= slot_q[Rows+2:1];
    if (!rst_ni) begin
      valid_q <= '0;
    end else begin
      valid_q[1:0] <= {valid_q[0], tag_i.valid};
      if (en_i) valid_q[Rows+3:2] <= valid_q[Rows+2:1];
    end
  end
  assign there        = valid_q & {{Rows+2{1'b1}}, en_i, near_i};
  assign pending_o[0] = (tag_i.valid && !tag_i.slot) || (more_valid_i && !more_slot_i)
                        || (there & ~slot_q) != '0 || a_busy_i[0];
  assign pending_o[1] = (tag_i.valid && tag_i.slot) || (more_valid_i && more_slot_i)
                        || (there & slot_q) != '0 || a_busy_i[1];
  always_ff @(posedge clk_i) begin
    if (en_i && valid_q[Rows+2]) begin
      add_q     <= add_ahead;
      upper_q   <= upper_ahead;
      last_q    <= last_ahead;
      acc_q     <= acc_ahead;
      a_addr_o  <= addr_ahead;
      a_count_o <= count_ahead;
      a_entry_o <= entry_ahead;
    end
  end

  // ---------------------------------------------------------------- accumulators
  assign sum_valid = valid_q[Rows+3];

  hd_acc #(.Cols(Cols), .AccW(AccW), .Depth(AccDepth), .Upper(Lstm)) u_acc (
    .clk_i,
    .en_i,
    .re_i   (valid_q[Rows+2] && add_ahead),
    .raddr_i(acc_ahead),
    .psum_i (psum_i),
    .add_i  (add_q),
    .upper_i(upper_q),
    .we_i   (sum_valid && !last_q),
    .waddr_i(acc_q),
    .sum_o  (a_sum_o)
  );

  // ---------------------------------------------------------------- what the results need
  localparam int ScaleBits  = 7 + 32 + 4 * 8 + 1;
  localparam int ResultBits = 32 + ScaleBits + 4;
  logic [31:0]           index_q;  // index of the last accepted command
  logic [ResultBits-1:0] result_q[2];
  logic                  table_step;
  logic [2:0]            table_first, table_at;
  logic [ScaleBits-1:0]  scale;  // hd_array_scale_t without its table_first
  always_ff @(posedge clk_i) begin
    if (accept_i) index_q <= cmd_index_i;
    if (begin_i) begin
      result_q[slot_i] <= {index_q, cmd_i.half, cmd_i.wide, cmd_i.has_bias, cmd_i.common_scale,
                           cmd_i.sum_columns, cmd_i.multiplier, cmd_i.shift, cmd_i.z_out,
                           cmd_i.act_min, cmd_i.act_max, cmd_i.look_up, cmd_i.table_step,
                           cmd_i.table_first};
    end
  end

  // A sum leaves in the first cycle in which it exists.
  assign a_ahead_o = rst_ni && en_i && valid_q[Rows+2] && last_ahead;
  always_ff @(posedge clk_i) a_valid_o <= a_ahead_o;
  assign a_slot_o  = slot_q[Rows+3];
  assign {a_cmd_o, scale, table_step, table_first} = result_q[a_slot_o];
  // On its own: in a concatenation yosys 0.23 gives the sum all bits of a_entry_o.
  assign table_at  = table_first + (table_step ? 3'(a_entry_o) : 3'd0);
  assign a_scale_o = {scale, table_at};

`ifdef HD_ASSERT
  a_count_known: assert property (@(posedge clk_i) disable iff (!rst_ni)
    a_valid_o |-> a_count_o != '0 && a_count_o <= CntBits'(Cols));
  c_kept: cover property (@(posedge clk_i) en_i && sum_valid && !last_q);
  c_two_slots: cover property (@(posedge clk_i) &pending_o);
`endif

endmodule

`default_nettype wire
