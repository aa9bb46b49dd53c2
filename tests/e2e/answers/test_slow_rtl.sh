#!/bin/bash
# digits on the RTL: the same bytes for all settings of memory, waiting and stalls; failures end with the right code.
# Models are built where heddle keeps them (XDG_CACHE_HOME).
. "$(dirname "$0")/../common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }

golden=$models/digits/out_0.bin
head -c $((64 * 2)) "$models/digits/in_0.bin" >in.bin
head -c 20 "$golden" >want.bin
n=0
try() {
    n=$((n + 1))
    "$heddle" run digits --engine=rtl -i in.bin --expect want.bin "$@" -o out$n >stdout 2>stderr ||
        fail "exit $?: run digits $*: $(head -c 500 stderr)"
    cmp -s out$n/out_0.bin want.bin || fail "run digits $*: out_0.bin"
}

for hw in tiny sys16; do
    "$heddle" build --hw=$hw >stdout 2>stderr || fail "build --hw=$hw: $(head -c 500 stderr)"
    try --hw=$hw
    try --hw=$hw --wait=poll
    try --hw=$hw --memory=separate
    try --hw=$hw --no-overlap --memory=separate --wait=poll
    for latency in 1 16 200; do
        try --hw=$hw --mem-latency=$latency
    done
    for seed in 1 2 3; do
        try --hw=$hw --stall-seed=$seed --mem-latency=$((seed * 40)) --mem-bytes=4
    done
done

# With the RTL's assertions, where clocks rise by Verilator's own eval(): the same cycles.
try --hw=tiny --stats plain.json
HEDDLE_CXX="$HEDDLE_HOME/tests/e2e/o0 g++" try --hw=tiny --checked --stats checked.json
cycles() {
    sed -n 's/^\t"cycles":\t\([0-9.]*\),$/\1/p' "$1"
}
[ -n "$(cycles plain.json)" ] && [ "$(cycles plain.json)" = "$(cycles checked.json)" ] ||
    fail "cycles $(cycles plain.json), with assertions $(cycles checked.json)"

# All images on the default configuration.
"$heddle" run digits -o all >stdout 2>stderr || fail "digits: $(head -c 500 stderr)"
cmp -s all/out_0.bin "$golden" || fail "digits on rtl is not the golden"
grep -q "^verdict: match" stdout || fail "no verdict: $(tail -1 stdout)"
# The layers' cycles add up to the network's.
if command -v python3 >/dev/null; then
    python3 - all/stats.json <<'END' || fail "stats.json: rows do not add up"
import json, sys
s = json.load(open(sys.argv[1]))
rows = sum(r["cycles"] for r in s["layers"] + s["groups"] if r["cycles"] is not None)
assert s["schema"] == "heddle.stats.v2" and s["verdict"] == "match", s["verdict"]
assert abs(rows - s["cycles"]) < 0.01, (rows, s["cycles"])
END
fi

# Failures.
printf '\1' | dd of=want.bin conv=notrunc status=none
"$heddle" run digits --engine=rtl -i in.bin --expect want.bin >stdout 2>stderr
[ $? = 1 ] || fail "a wrong answer does not end with 1"
grep -q "^  the CPU reference gives the values found" stderr || fail "a wrong expectation is blamed on the RTL: $(cat stderr)"
expect 2 "heddle: --waves: no layer 'foo'; the first is 00_conv2d, heddle inspect lists them all" \
    "$heddle" run digits --engine=rtl --waves=layer:foo
# A fault of the bus that never occurs, with the number of beats there were.
beats='--bus-fault did not occur: --bus-fault-beat is 99999999, and [1-9][0-9]* beats were'
for what in "read-late read" "write-late written"; do
    "$heddle" run digits --engine=rtl --hw=tiny -i in.bin --bus-fault="${what% *}" --bus-fault-beat=99999999 >stdout 2>stderr
    [ $? = 2 ] && grep -q -e "$beats ${what#* }\$" stderr || fail "a fault that never occurs: $(cat stderr)"
done
read -r seen < <(sed -n 's/.* and \([0-9]*\) beats.*/\1/p' stderr)
"$heddle" run digits --engine=rtl --hw=tiny -i in.bin --bus-fault=write-late --bus-fault-beat=$((seen - 1)) >stdout 2>stderr ||
    fail "a late last beat: exit $?: $(cat stderr)"
"$heddle" run digits --engine=rtl --hw=tiny -i in.bin --bus-fault=write-late --bus-fault-beat="$seen" >stdout 2>stderr
[ $? = 2 ] || fail "a fault after the last beat: exit $?"
"$heddle" run digits --engine=rtl --hw=tiny -i in.bin --bus-fault=write-early --bus-fault-beat=$((seen - 1)) >stdout 2>stderr
[ $? = 2 ] && grep -q "; this kind cannot occur there\$" stderr || fail "early at a burst's end: $(cat stderr)"
"$heddle" run digits --engine=rtl -i in.bin --max-cycles=100 >stdout 2>stderr
[ $? = 4 ] || fail "a submission cut short does not end with 4: $(cat stderr)"
# The memory ends within weights that ARRAY already streams: a fault with unit and command, no hang.
"$heddle" compile digits -o follow >stdout 2>stderr || fail "compile: $(cat stderr)"
grep -q '\.follow = 1' follow/commands.c || fail "no command of digits follows its weights"
end=$(sed -n 's/.*MODEL_DEVICE_CONSTANT_BYTES \([0-9]*\).*/\1/p' follow/model.h)
sed -i "/weight for 01_conv2d: weights/,/\.offset/s/\.offset = [0-9]*/.offset = $((end - 1024))/" follow/commands.c
tar -C follow --format=ustar -cf follow.tar $(cd follow && find . -type f -printf '%P\n')
CC="$HEDDLE_HOME/tests/e2e/o0 ${CC:-cc}" "$heddle" run follow.tar --allow-native-targets --engine=rtl -i in.bin >stdout 2>stderr
[ $? = 4 ] || fail "weights beyond the region do not end with 4: $(cat stderr)"
grep -q 'device fault region_limit in weight, command [0-9]*, address 0x' stderr ||
    fail "weights beyond the region: $(cat stderr)"
# Interrupted while it runs: 130, nothing half-written. (set -m: else bash starts it deaf to INT.)
set -m
"$heddle" run digits --engine=rtl --hw=tiny --stall-seed=5 -o interrupted --stats i.json >stdout 2>stderr &
pid=$!
set +m
sleep 1
kill -INT -- -$pid
wait $pid
got=$?
[ $got = 130 ] || fail "interrupted: exit $got: $(cat stderr)"
[ ! -e i.json ] && [ -z "$(find interrupted -type f 2>/dev/null)" ] || fail "interrupted: files were left"
finish
