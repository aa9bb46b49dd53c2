// hd_regs - AXI4-Lite registers (accel.json), the engine's state, interrupt, cycle and stall
// counters.
//   StRun from the doorbell to end_i; StFault from the first fault until bus and units are quiet;
//   StReset from a soft reset until the bus is quiet; StClear, one cycle: unit_rst_no is low,
//   registers wait. start_o is the cycle after the doorbell's, the last one before StRun; clear_o
//   clears counts in the next one, or in StClear (doorbell, soft reset, reset: a command that ends
//   in StClear does not count); stop_o: no new bursts or commands.
//   cycles = cycles in StRun and StFault = sum of the counters of each unit; the interrupt rises in
//   the cycle after.
//   Counters: hd_counters.
//   The first fault wins; of faults in one cycle the one of the lowest unit.
// clk_i may rest while active_o is low (hd_top); the counters have clk_free_i, which never does.
// hd_axil has the bus. Reset: idle, regions disabled (a write waits for that, 16 cycles),
// interrupts off.
// Bench: frame_tb.cpp
`default_nettype none
`include "hd_accel.svh"
`include "hd_bundles.svh"

module hd_regs #(
  parameter int          AddrBits   = 40,
  parameter logic [31:0] ConfigHash = 32'd0
) (
  input  wire logic                      clk_i,
  input  wire logic                      clk_free_i,
  input  wire logic                      rst_ni,
  // bus
  input  wire hd_axil_req_t              axil_i,
  output hd_axil_rsp_t                   axil_o,
  output logic                           irq_o,
  output logic                           active_o,
  // engine
  output logic                           start_o,
  output logic                           clear_o,
  output logic                           stop_o,
  output logic                           unit_rst_no,
  output logic      [31:0]               stream_offset_o,
  output logic      [31:0]               stream_bytes_o,
  input  wire logic                      end_i,
  input  wire logic                      bus_quiet_i,
  input  wire logic                      units_quiet_i,  // no command in ARRAY or VECTOR
  input  wire logic [UnitCount*3-1:0]    unit_kind_i,
  input  wire logic [UnitCount*32-1:0]   unit_cmd_i,
  input  wire logic [UnitCount*32-1:0]   unit_count_i,
  // regions of LOAD, WEIGHT, STORE and (0) FETCH
  input  wire logic [4*4-1:0]            region_i,
  output logic      [4*AddrBits-1:0]     region_base_o,
  output logic      [4*(AddrBits+1)-1:0] region_limit_o,
  output logic      [3:0]                region_right_o,
  // faults of LOAD, WEIGHT, STORE, FETCH
  input  wire logic [3:0]                fault_i,
  input  wire logic [4*FaultBits-1:0]    fault_code_i,
  input  wire logic [4*32-1:0]           fault_cmd_i,
  input  wire logic [4*64-1:0]           fault_addr_i
);
  typedef enum logic [2:0] {
    StIdle, StRun, StFault, StReset, StClear
  } state_e;

  state_e state_q, state_d;

  logic [RegBits-1:0] write_reg, read_reg;
  logic               write, reset_command;
  logic [31:0]        write_data, write_mask, write_bits, read_data, control;
  logic               regions_ready, bus_active;

  hd_axil #(.WordBits(RegBits)) u_axil (
    .clk_i,
    .active_o    (bus_active),
    .rst_ni,
    .axil_i,
    .axil_o,
    .hold_i      (hold_q),
    .write_o     (write),
    .write_word_o(write_reg),
    .write_data_o(write_data),
    .write_mask_o(write_mask),
    .read_word_o (read_reg),
    .read_data_i (read_data)
  );

  assign control       = (write && write_reg == RegControl) ? write_bits : '0;
  assign write_bits    = write_data & write_mask;
  assign start_o       = control[ControlStartLsb] && state_q == StIdle;
  assign reset_command = control[ControlSoftResetLsb];

  // State.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle:  if (start_o) state_d = StRun;
      StRun:   if (fault_i != '0) state_d = StFault;
               else if (end_i) state_d = StClear;
      StFault: if (bus_quiet_i && units_quiet_i) state_d = StClear;
      StReset: if (bus_quiet_i) state_d = StClear;
      default: state_d = StIdle;
    endcase
    if (reset_command) state_d = StReset;
  end

  logic run, ended, fault_ended, reset_ended;
  logic stop_q, unit_rst_q, clear_q, hold_q;  // hold_q: the bus waits
  logic done_q, error_q, irq_done_q, irq_error_q, enable_done_q, enable_error_q;

  assign run         = state_q == StRun || state_q == StFault;
  assign ended       = run && state_d == StClear;
  assign fault_ended = ended && state_q == StFault;
  assign reset_ended = state_q == StReset && state_d == StClear;
  assign stop_o      = stop_q;
  assign unit_rst_no = unit_rst_q;
  assign clear_o     = clear_q;
  assign irq_o       = (irq_done_q && enable_done_q) || (irq_error_q && enable_error_q);

  always_ff @(posedge clk_i) begin
    stop_q     <= rst_ni && (state_d == StFault || state_d == StReset || state_d == StClear);
    unit_rst_q <= rst_ni && state_d != StClear;
    clear_q    <= !rst_ni || start_o || reset_ended;
    hold_q     <= !rst_ni || state_d == StClear || !regions_ready;
    if (!rst_ni) begin
      state_q        <= StIdle;
      done_q         <= 1'b0;
      error_q        <= 1'b0;
      irq_done_q     <= 1'b0;
      irq_error_q    <= 1'b0;
      enable_done_q  <= 1'b0;
      enable_error_q <= 1'b0;
    end else begin
      state_q <= state_d;
      if (start_o || reset_ended) begin
        done_q  <= 1'b0;
        error_q <= 1'b0;
      end else if (ended) begin
        done_q  <= 1'b1;
        error_q <= fault_ended;
      end
      if (reset_ended) begin
        irq_done_q  <= 1'b0;
        irq_error_q <= 1'b0;
      end else begin
        if (write && write_reg == RegIrqStatus) begin
          if ((write_data & write_mask & (32'd1 << IrqStatusDoneLsb)) != '0) irq_done_q <= 1'b0;
          if ((write_data & write_mask & (32'd1 << IrqStatusErrorLsb)) != '0) irq_error_q <= 1'b0;
        end
        if (ended) irq_done_q <= 1'b1;
        if (fault_ended) irq_error_q <= 1'b1;
      end
      if (write && write_reg == RegIrqEnable && write_mask[0]) begin
        enable_done_q  <= write_data[IrqEnableDoneLsb];
        enable_error_q <= write_data[IrqEnableErrorLsb];
      end
    end
  end

  assign active_o    = state_d != state_q || stop_o || clear_o || hold_q || bus_active;

  // The first fault of the submission.
  logic [1:0]           fault_from;
  logic [FaultBits-1:0] code_q;
  logic [UnitBits-1:0]  fault_unit_q;
  logic [31:0]          fault_cmd_q;
  logic [63:0]          fault_addr_q;

  assign fault_from = fault_i[0] ? 2'd0 : fault_i[1] ? 2'd1 : fault_i[2] ? 2'd2 : 2'd3;

  always_ff @(posedge clk_i) begin
    if (clear_o) begin
      code_q       <= FaultNone;
      fault_unit_q <= '0;
      fault_cmd_q  <= '0;
      fault_addr_q <= '0;
    end else if (state_q == StRun && fault_i != '0) begin
      unique case (fault_from)
        2'd0:    fault_unit_q <= UnitLoad;
        2'd1:    fault_unit_q <= UnitWeight;
        2'd2:    fault_unit_q <= UnitStore;
        default: fault_unit_q <= UnitFetch;
      endcase
      code_q       <= fault_code_i[fault_from*FaultBits +: FaultBits];
      fault_cmd_q  <= fault_cmd_i[fault_from*32 +: 32];
      fault_addr_q <= fault_addr_i[fault_from*64 +: 64];
    end
  end

  // Registers that are only kept.
  logic [31:0] offset_q, bytes_q;

  assign stream_offset_o = offset_q;
  assign stream_bytes_o  = bytes_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      offset_q <= '0;
      bytes_q  <= '0;
    end else if (write) begin
      if (write_reg == RegCommandOffset) offset_q <= (offset_q & ~write_mask) | write_bits;
      if (write_reg == RegCommandLength) bytes_q <= (bytes_q & ~write_mask) | write_bits;
    end
  end

  logic [31:0] region_data;

  hd_regions #(.AddrBits(AddrBits)) u_regions (
    .clk_i,
    .rst_ni,
    .ready_o     (regions_ready),
    .write_i     (write),
    .write_word_i(write_reg),
    .data_i      (write_data),
    .mask_i      (write_mask),
    .read_word_i (read_reg),
    .read_data_o (region_data),
    .index_i     (region_i),
    .base_o      (region_base_o),
    .limit_o     (region_limit_o),
    .right_o     (region_right_o)
  );

  logic [RegBits-1:0] read_counter;
  logic [5:0]         counter_at_q;
  logic [31:0]        counter, cycles_lo, cycles_hi;
  assign read_counter = read_reg - RegCounter;

  hd_counters u_counters (
    .clk_i      (clk_free_i),
    .clear_i    (clear_o),
    .run_i      (run),
    .kind_i     (unit_kind_i),
    .cycles_o   ({cycles_hi, cycles_lo}),
    .read_unit_i(counter_at_q[5:3]),
    .read_kind_i(counter_at_q[2:0]),
    .read_data_o(counter)
  );

  // Read bus.
  logic [RegBits-1:0] read_command, read_done;
  logic [31:0]        fault_addr_lo, fault_addr_hi;

  assign read_command = read_reg - RegUnitCommand;
  assign read_done    = read_reg - RegUnitDone;
  assign {fault_addr_hi, fault_addr_lo} = fault_addr_q;

  // A read takes its time: whose word it is and which; the word; then one of three.
  logic [31:0] alone, alone_q, units_q, counter_q;
  logic [2:0]  command_at_q, done_at_q;
  logic        is_command_q, is_done_q, is_counter_q;

  always_ff @(posedge clk_i) begin
    command_at_q <= read_command[2:0];
    done_at_q    <= read_done[2:0];
    counter_at_q <= read_counter[5:0];
    is_command_q <= read_command < RegBits'(RegUnitCommandCount);
    is_done_q    <= read_done < RegBits'(RegUnitDoneCount);
    is_counter_q <= read_counter < RegBits'(RegCounterCount);
    alone_q      <= alone | region_data;
    counter_q    <= counter;
    units_q      <= is_command_q ? unit_cmd_i[command_at_q*32 +: 32] :
                    is_done_q ? unit_count_i[done_at_q*32 +: 32] : '0;
  end

  assign read_data = is_counter_q ? counter_q : alone_q | units_q;

  always_comb begin
    alone = '0;
    unique case (read_reg)
      RegId:            alone = HdId;
      RegVersion:       alone = HdStreamVersion << VersionStreamLsb;
      RegConfigHash:    alone = ConfigHash;
      RegStatus: begin
        alone[StatusBusyLsb]      = run;
        alone[StatusDoneLsb]      = done_q;
        alone[StatusErrorLsb]     = error_q;
        alone[StatusResettingLsb] = state_q == StReset;
      end
      RegIrqEnable: begin
        alone[IrqEnableDoneLsb]  = enable_done_q;
        alone[IrqEnableErrorLsb] = enable_error_q;
      end
      RegIrqStatus: begin
        alone[IrqStatusDoneLsb]  = irq_done_q;
        alone[IrqStatusErrorLsb] = irq_error_q;
      end
      RegCommandOffset: alone = offset_q;
      RegCommandLength: alone = bytes_q;
      RegErrCause: begin
        alone[ErrCauseCodeLsb +: FaultBits] = code_q;
        alone[ErrCauseUnitLsb +: UnitBits]  = fault_unit_q;
      end
      RegErrCommand:    alone = fault_cmd_q;
      RegErrAddressLo:  alone = fault_addr_lo;
      RegErrAddressHi:  alone = fault_addr_hi;
      RegCyclesLo:      alone = cycles_lo;
      RegCyclesHi:      alone = cycles_hi;
      default: ;
    endcase
  end

`ifdef HD_ASSERT
  c_idle: cover property (@(posedge clk_i) state_q == StIdle);
  c_run: cover property (@(posedge clk_i) state_q == StRun);
  c_fault: cover property (@(posedge clk_i) state_q == StFault);
  c_reset: cover property (@(posedge clk_i) state_q == StReset);
  c_clear: cover property (@(posedge clk_i) state_q == StClear);
`endif
endmodule

`default_nettype wire
