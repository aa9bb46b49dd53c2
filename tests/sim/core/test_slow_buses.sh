#!/bin/bash
# Cores with every bus of bus.def copy bytes right, with latency and stalls; a rule that is broken is reported with bus,
# channel, cycle and signal. Resets, interrupts and clocks of every kind; file lists, files of $NAME/.
. "$HEDDLE_HOME/tests/sim/core/copies.sh"

core apb apb_wb '"interrupt": {"port": "busy", "kind": "low"}, "names": {"wbm_word_o": "wbm_adr_o"}'
good apb
faults apb
fault apb read-slverr 5 1 '^heddle: target apb: core apb_wb: --bus-fault happened at 0x14, in the burst from 0x14$'
fault apb write-decerr 5 0 'happened at 0x314, in the burst from 0x314$'
fault apb read-short 5 2 'did not occur: --bus-fault-beat is 5, and [0-9]+ beats were read; this kind cannot occur there$'
rule apb 1 'APB APB, cycle [0-9]+: pslverr: expected 0, found an error at offset 0x8'
rule apb 2 'wbm WB, cycle [0-9]+: wbm_stb_o: expected with cyc, found alone'
rule apb 3 'wbm WB, cycle [0-9]+: wbm_stb_o: expected until ack, found that it fell'
rule apb 4 'wbm WB, cycle [0-9]+: wbm_word_o changed while waiting for ack: expected 0x[0-9a-f]+, found 0x[0-9a-f]+'

core wb wb_obi '"interrupt": {"port": "irq_o", "kind": "rising"}, "clocks": [{"port": "fast_clk_i", "ticks": 3, "of": 2}]'
sed -i 's/"memory_bytes": [0-9]*/&, "counters": [{"name": "fast", "port": "fast_o"}]/' wb/target.json
good wb
run wb --stats stats.json || fail "wb: $(cat stderr)"
# 3 / 2 of its cycles, which begin before the call's and end after it
python3 - stats.json <<'PY' || fail "wb: the second clock is not 3/2 of the first"
import json, sys
stats = json.load(open(sys.argv[1]))
cycles = stats["cycles"]
fast = stats["core_counters"]["wb"]["fast"]
sys.exit(abs(fast - 1.5 * cycles) > 3)
PY
faults wb
fault wb read-decerr 5 1 'happened at 0x14, '
rule wb 5 'obi A, cycle [0-9]+: obi_req_o: expected valid until ready, found that it fell'

core obi obi_wb ''
good obi
rule obi 6 's RSP, cycle [0-9]+: s_rvalid_o: expected after a grant, found none'

streams str
good str
faults str

# Two AXI4 masters of one memory; bursts of four beats.
core two axi_two ''
good two
faults two
fault two read-slverr 5 1 'happened at 0x14, in the burst from 0x10$'
fault two write-slverr 5 1 'happened at 0x314, in the burst from 0x310$'
fault two read-short 5 1 'happened at 0x14, in the burst from 0x10$'
fault two read-short 7 2 'this kind cannot occur there$'
fault two read-long 7 1 'happened at 0x1c, in the burst from 0x10$'
fault two write-early 5 0 'happened at 0x314, in the burst from 0x310$'
fault two write-early 7 2 'this kind cannot occur there$'
rule two 6 'm1_axi W, cycle [0-9]+: m1_axi_wlast: beat 3 of 4 of the burst from 0x300: expected 1, found 0'
rule two 7 'm0_axi AR, cycle [0-9]+: m0_axi_araddr: burst of 4 beats of 4 bytes from 0xff8 crosses a 4 KiB boundary'

# AXI4 and AXI4-Lite: the example in targets/, also with x at an address whose burst crosses 4 KiB.
head -c 64 "$models/digits/in_0.bin" >in.bin
matvec() { # FOLDER OPTIONS...
    local folder=$1
    shift
    "$heddle" run digits --hw=tiny --target-dir="$folder" --target="$(basename "$folder")",c --allow-native-targets -i in.bin "$@" >stdout 2>stderr
}
matvec "$HEDDLE_HOME/targets/matvec" --stall-seed=5 --mem-latency=9 || fail "matvec: $(cat stderr)"
cp -r "$HEDDLE_HOME/targets/matvec" cross
sed -i 's/"name": "matvec"/"name": "cross"/' cross/target.json
sed -i 's/{0, at_w, at_y/{4088, at_w, at_y/; s/i < 0 ? 0 : at_w/i < 0 ? 4088 : at_w/; s/at_w = (n/at_w = 8192 + (n/' cross/matvec.c
matvec cross
grep -qE ' on cross: m_axi AR, cycle [0-9]+: m_axi_araddr: burst of 16 beats of 8 bytes from 0xff8 crosses a 4 KiB boundary$' stderr ||
    fail "4 KiB: $(cat stderr)"
finish
