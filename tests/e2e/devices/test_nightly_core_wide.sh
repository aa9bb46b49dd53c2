#!/bin/bash
# A core with the wide memory port: close to its width a cycle, the options of the memory honoured, and a fault planted
# for each rule of the port found, with cycle, what was expected and what was found. All faults are in one core, told
# apart by a register, so that one model is built.
. "$(dirname "$0")/../common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
run() { # NETWORK TARGET OPTIONS...
    local network=$1 target=$2
    shift 2
    "$heddle" run "$network" --hw=tiny --target-dir="$target" --target="$target" --allow-native-targets "$@" >stdout 2>stderr
}
cycles() { # of a 64 KiB copy
    sed -n 's/^00_copy  *1x64x64x16  *[a-z]*  *\([0-9]*\).*/\1/p' stdout
}
between() { # WHAT LEAST MOST
    local n
    n=$(cycles)
    [ -n "$n" ] && [ "$n" -ge "$2" ] && [ "$n" -le "$3" ] || fail "$1: expected $2 to $3 cycles, found '$n': $(cat stderr)"
}

for template in copy wide; do
    "$heddle" new-target mover$template --template=$template >/dev/null || fail "new-target --template=$template"
    verilator --lint-only -Wall -sv mover$template/mover${template}_core.sv >lint 2>&1 && [ ! -s lint ] || fail "$template: $(cat lint)"
    ! command -v iverilog >/dev/null || iverilog -g2012 -o /dev/null mover$template/mover${template}_core.sv >lint 2>&1 ||
        fail "iverilog: $(cat lint)"
    ! command -v yosys >/dev/null || yosys -qp "read_verilog -sv mover$template/mover${template}_core.sv; synth" >lint 2>&1 ||
        fail "yosys: $(cat lint)"
done
grep -qr newcopy moverwide && fail "the template's name is left in moverwide"
sed 's/8x8x12/64x64x16/; s/8,8,12/64,64,16/' moverwide/copy.ir >large.ir

# --- the narrow port: 4 bytes per cycle, and a note that its memory has no options ---
run large.ir movercopy || fail "movercopy: $(cat stderr)"
between "narrow" 16384 16390
grep -q 'has no ready/valid' stderr && fail "a note without an option: $(cat stderr)"
for option in mem-latency=5 mem-bytes=4 stall-seed=2; do
    run large.ir movercopy --$option || fail "movercopy --$option: $(cat stderr)"
    grep -q '^heddle: target movercopy: core movercopy_core: its memory port has no ready/valid and answers in the next cycle: --mem-latency and --mem-bytes change nothing for it, and --stall-seed only its start values' stderr ||
        fail "no note of --$option: $(cat stderr)"
    between "narrow --$option" 16384 16390
done

# --- the wide port, with faults to come ---
sed -i 's/^  logic \[31:0\] from_q, .*/&\n  logic [3:0] fault_q; logic tick_q;/
    s/^\(  assign rd_valid_o *= \)\(.*\);/\1(\2 \&\& !(fault_q == 1 \&\& tick_q)) || (fault_q == 13 \&\& reg_write_i \&\& state_q == DONE);/
    s/^\(  assign rd_addr_o *= \)from_q/\1from_q + (fault_q == 2 \&\& tick_q ? 16 : fault_q == 3 ? 4 : fault_q == 4 || fault_q == 13 \&\& state_q == DONE ? 32'"'"'h100000 : 0)/
    s/^\(  assign wr_valid_o *= rsp_valid_i\)/\1 \&\& fault_q != 5 \&\& !(fault_q == 7 \&\& tick_q)/
    s/^\(  assign rsp_ready_o *= wr_ready_i\)/\1 \&\& fault_q != 5 \&\& !(fault_q == 7 \&\& tick_q)/
    s/^\(  assign wr_addr_o *= \)to_q/\1to_q + (fault_q == 8 \&\& tick_q ? 16 : fault_q == 11 ? 4 : fault_q == 12 ? 32'"'"'h100000 : 0)/
    s/^\(  assign wr_data_o *= rsp_data_i\)/\1 ^ 128'"'"'(fault_q == 9 \&\& tick_q)/
    s/^\(  assign wr_strb_o *= \)\(.*\);/\1(\2) ^ 16'"'"'(fault_q == 10 \&\& tick_q);/
    s/^    if (!rst_ni) .*/    tick_q <= !tick_q;\n    if (reg_write_i \&\& reg_addr_i == 16) fault_q <= reg_wdata_i[3:0];\n&/
    s/if (left_q <= 16) state_q/if (left_q <= (fault_q == 6 ? 64 : 16)) state_q/' moverwide/moverwide_core.sv
sed -i 's/size_t n)/size_t n, int fault)/; s/^    dev->write32(dev->ctx, 4, 0);/    dev->write32(dev->ctx, 16, (uint32_t)fault);\n&/' moverwide/moverwide.[ch]
sed -i 's/\$out_bytes)/$out_bytes, $fault)/; s/^  "memory": .*/&\n  "attributes": [{"name": "fault", "type": "int", "range": [0, 15], "default": 0, "help": "planted"}],/' moverwide/target.json
run large.ir moverwide || fail "moverwide: $(cat stdout stderr)"
between "wide" 4096 4200
wide=$(cycles)
echo "64 KiB: $wide cycles"
run large.ir moverwide --mem-latency=264 --stats stats.json || fail "moverwide: $(cat stderr)"
between "200 cycles later" $((wide + 200)) $((wide + 200 + 4096))
run large.ir moverwide --mem-bytes=4 || fail "moverwide: $(cat stderr)"
between "4 bytes a cycle" 16384 16500
for seed in 1 2 3 4; do
    run large.ir moverwide --stall-seed=$seed || fail "moverwide --stall-seed=$seed: $(cat stderr)"
    between "with stalls" $((wide + 100)) $((8 * wide))
done
grep -q 'has no ready/valid' stderr && fail "a note for the wide port: $(cat stderr)"
run moverwide/copy.ir moverwide --waves=first -o out || fail "moverwide: $(cat stderr)"
for signal in 'rd_valid_o' 'rsp_data_i\[127:0\]' 'wr_strb_o\[15:0\]'; do
    grep -q "^TOP.moverwide_core.$signal\$" out/waves.gtkw || fail "no $signal in waves.gtkw: $(cat out/waves.gtkw)"
done
"$heddle" check-target moverwide --allow-native-targets >stdout 2>stderr
grep -q "^ok .*on the Verilated core, separate memory: [0-9]* operators" stdout || fail "check-target: $(cat stdout)"

# --- rules ---
rule() { # FAULT WHAT
    run large.ir moverwide --stall-seed=3 --target-moverwide-fault="$1"
    [ $? = 4 ] || fail "fault $1: expected exit 4: $(cat stderr)"
    grep -qE "^heddle: inference 0, 00_copy on moverwide: $2\$" stderr || fail "fault $1: expected '$2', found '$(cat stderr)'"
}
held="changed while waiting for ready: expected 0x[0-9a-f]+, found 0x[0-9a-f]+ in bits [0-9]+:[0-9]+"
rule 1 "rd, cycle [0-9]+: rd_valid_o: expected valid until ready, found that it fell"
rule 2 "rd, cycle [0-9]+: rd_addr_o $held"
rule 3 "rd, cycle [0-9]+: rd_addr_o: expected an address that 16 divides, found 0x4"
rule 4 "rd, cycle [0-9]+: rd_addr_o: expected an address below 0x20000, found 0x100000"
rule 5 "rsp, cycle [0-9]+: rsp_ready_o: expected ready within 10000 cycles of valid, found none"
rule 6 "irq_o, cycle [0-9]+: expected every access answered, found 3 under way"
rule 7 "wr, cycle [0-9]+: wr_valid_o: expected valid until ready, found that it fell"
rule 8 "wr, cycle [0-9]+: wr_addr_o $held"
rule 9 "wr, cycle [0-9]+: wr_data_o $held"
rule 10 "wr, cycle [0-9]+: wr_strb_o $held"
rule 11 "wr, cycle [0-9]+: wr_addr_o: expected an address that 16 divides, found 0x[0-9a-f]*4"
rule 12 "wr, cycle [0-9]+: wr_addr_o: expected an address below 0x20000, found 0x110000"
# in the write that takes the interrupt back, after the last wait
rule 13 "rd, cycle [0-9]+: rd_addr_o: expected an address below 0x20000, found 0x110000"
finish
