#!/bin/bash
# Layers add up to totals whatever the targets; a target with "host": true is the host's in all numbers.
. "$HEDDLE_HOME/tests/e2e/common.sh"
head -c 64 "$models/digits/in_0.bin" >in.bin
cp -r "$HEDDLE_HOME/targets/vanilla" cpu
sed -i -e 's/"name": "vanilla"/"name": "cpu"/' -e '/"memory": "separate"/d' -e '/"transfer"/d' \
    -e 's/^  "core": .*/  "host": true,/' cpu/target.json
adds_up() { # adds_up LIST OPTION...
    "$heddle" run digits -i in.bin --engine=func --partition=priority --allow-native-targets --target-dir=cpu \
        --target="$1" --stats s.json "${@:2}" >report 2>stderr || { fail "$1: $(cat stderr)"; return; }
    "$HEDDLE_BUILD/stats_check" "$HEDDLE_HOME/docs/stats.v2.schema.json" s.json || fail "$1"
}
for list in c systolic vanilla,c vanilla,systolic strawberry,c strawberry,systolic matvec,systolic vanilla,matvec,c \
    shifty,c dot16,systolic fused,systolic cpu,c cpu,systolic vanilla,cpu,systolic systolic,cpu,c; do
    adds_up $list
done
adds_up cpu,c
grep -q '^459776 MACs, 0.0 % on the accelerator' report || fail "MACs: $(cat report)"
grep -q '^01_conv2d  *1x8x8x16  *cpu  *-  *-  *[0-9]' report || fail "host: $(cat report)"
grep -q '^digits .* about 0 cycles each on the accelerator (estimate) and [0-9]* on the host' report || fail "$(cat report)"
adds_up cpu,systolic --keep-on-host='14*'
python3 - <<'END' || fail "parts"
import json
s = json.load(open("s.json"))
own = [l for l in s["layers"] if l["target"] == "cpu"]
assert len(own) == 7 and all(l["host_macs"] == l["macs"] and l["accelerator_macs"] == 0 for l in own)
assert all(p["host"] for l in own for p in l["parts"])
assert s["host_cycles"] == sum(l["host_cycles"] for l in s["layers"]) > 0
END
# With an own core the layers' cycles and bytes are the totals' too.
if command -v verilator >/dev/null; then
    "$heddle" run digits -i in.bin --target=vanilla,c --allow-native-targets --stats s.json >report 2>stderr ||
        fail "vanilla: $(cat stderr)"
    "$HEDDLE_BUILD/stats_check" "$HEDDLE_HOME/docs/stats.v2.schema.json" s.json || fail "vanilla on rtl"
fi
finish
