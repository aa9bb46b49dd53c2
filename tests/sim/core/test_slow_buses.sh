#!/bin/bash
# Cores with every bus of bus.def copy bytes right, with latency and stalls; a rule that is broken is reported with bus,
# channel, cycle and signal. Resets, interrupts and clocks of every kind; parameters, file lists, files of $NAME/.
. "$HEDDLE_HOME/tests/e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
export COPIERS=$HEDDLE_HOME/tests/sim/core
"$heddle" new-target base --template=copy >/dev/null

# core NAME TOP PORTS: a target whose Verilog comes from a file list, the fault from an attribute.
core() {
    cp -r base "$1"
    rm "$1"/base_core.sv
    for f in c h; do mv "$1/base.$f" "$1/$1.$f"; done
    sed -i "s/base/$1/g" "$1/$1".[ch] "$1/target.json"
    sed -i 's/size_t n)/size_t n, int fault)/; s/^    dev->write32(dev->ctx, 4, 0);/    dev->write32(dev->ctx, 16, (uint32_t)fault);\n&/' "$1/$1".[ch]
    sed -i 's/$out_bytes)/$out_bytes, $fault)/' "$1/target.json"
    echo '${COPIERS}/copiers.sv // all of them' >"$1/core.f"
    sed -i "s/\"verilog\": \[[^]]*\]/\"file_lists\": [\"core.f\"], \"ports\": {$3}/
        s/\"top\": \"[a-z_]*\"/\"top\": \"$2\"/
        s/^  \"memory\": .*/&\n  \"attributes\": [{\"name\": \"fault\", \"type\": \"int\", \"range\": [0, 15], \"default\": 0, \"help\": \"planted\"}],/" "$1/target.json"
}
run() { # NAME OPTIONS...
    local name=$1
    shift
    "$heddle" run base/copy.ir --hw=tiny --target-dir="$name" --target="$name" --allow-native-targets "$@" >stdout 2>stderr
}
good() { # NAME
    for option in "" "--mem-latency=1" "--stall-seed=3" "--stall-seed=4 --mem-bytes=2"; do
        # shellcheck disable=SC2086
        run "$1" $option || fail "$1 $option: $(cat stderr)"
        grep -q '^verdict: match' stdout || fail "$1 $option: $(head -1 stdout)"
    done
}
rule() { # NAME FAULT TEXT
    run "$1" --target-"$1"-fault="$2" --stall-seed=3
    [ $? = 4 ] || fail "$1, fault $2: expected exit 4: $(cat stderr)"
    grep -qE "; $3\$" stderr || fail "$1, fault $2: expected '$3', found '$(cat stderr)'"
}

core apb apb_wb '"interrupt": {"port": "busy", "kind": "low"}, "names": {"wbm_word_o": "wbm_adr_o"}'
good apb
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
rule wb 5 'obi A, cycle [0-9]+: obi_req_o: expected valid until ready, found that it fell'

core obi obi_wb ''
good obi
rule obi 6 's RSP, cycle [0-9]+: s_rvalid_o: expected after a grant, found none'

core str streams ''
sed -i 's/"file_lists"/"parameters": {"FAULT": "fault"}, &/' str/target.json
sed -i 's/#include <string.h>/&\n#include "hd_stream.h"/; /write32/d; s/^    rc = dev->wait_irq/    hd_stream_receive(dev, 0, to, (uint32_t)n);\n    hd_stream_send(dev, 0, 0, (uint32_t)n);\n&/' str/str.c
good str
rule str 7 'm_axis T, cycle [0-9]+: m_axis_tvalid: expected valid until ready, found that it fell'
rule str 8 'm_axis T, cycle [0-9]+: m_axis_tlast: expected with the transfer.s last byte, found [0-9]+ bytes before'

# AXI4 and AXI4-Lite: the example in targets/, 64 and 128 bits; a burst across 4 KiB.
cp -r "$HEDDLE_HOME/targets/matvec" wide
sed -i 's/"name": "matvec"/"name": "wide"/; s/"DATA_W": 64/"DATA_W": 128/' wide/target.json
sed -i 's/MATVEC_BEAT 8 /MATVEC_BEAT 16 /' wide/matvec.h
head -c 64 "$models/digits/in_0.bin" >in.bin
for option in "" "--stall-seed=5 --mem-latency=9"; do
    # shellcheck disable=SC2086
    "$heddle" run digits --hw=tiny --target-dir=wide --target=wide,c --allow-native-targets -i in.bin $option >stdout 2>stderr ||
        fail "matvec of 128 bits $option: $(cat stderr)"
done
cp -r "$HEDDLE_HOME/targets/matvec" cross
sed -i 's/"name": "matvec"/"name": "cross"/' cross/target.json
sed -i 's/{0, at_w, at_y/{64, at_w, at_y/; s/i < 0 ? 0 : at_w/i < 0 ? 64 : at_w + 3808/' cross/matvec.c
sed -i 's/assign m_axi_araddr  = at;/assign m_axi_araddr  = at + (state == RUN ? 3808 : 0);/' cross/matvec_core.v
"$heddle" run digits --hw=tiny --target-dir=cross --target=cross,c --allow-native-targets -i in.bin >stdout 2>stderr
grep -qE '; m_axi AR, cycle [0-9]+: m_axi_araddr: burst of 16 beats of 8 bytes from 0x[0-9a-f]+ crosses a 4 KiB boundary$' stderr ||
    fail "4 KiB: $(cat stderr)"
finish
