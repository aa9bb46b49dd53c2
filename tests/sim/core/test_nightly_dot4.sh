#!/bin/bash
# Custom instructions (targets/dot4): as a CFU and as PCPI the same bytes, on the host processor and by registers; the
# host's part of dscnn_own takes a third at most. Two units are refused.
. "$HEDDLE_HOME/tests/sim/core/units.sh"
head -c 490 "$models/dscnn_own/in_0.bin" >one.bin

# --- three times faster; a package's C is the same program ---
cycles() { # OPTION...
    "$heddle" run dscnn_own -i one.bin --host=iss --stats=stats.json "$@" >stdout 2>stderr || fail "$*: $(cat stderr)"
    grep -q '^verdict: match' stdout || fail "$*: $(head -1 stdout)"
    grep -q ': 1 inferences, none on the accelerator and [0-9]* cycles each on the host' stdout || fail "$*: $(cat stdout)"
    python3 -c 'import json; print(round(json.load(open("stats.json"))["host_cycles"]))'
}
plain=$(cycles --target=c) faster=$(cycles --target=dot4,c)
[ $((3 * faster)) -le "$plain" ] || fail "dscnn_own: $faster cycles with dot4, $plain without: expected a third"
"$heddle" compile digits --target=dot4,c -o net >stdout 2>stderr || fail "package: $(cat stderr)"
for host in native iss; do
    "$heddle" run digits --target=dot4,c -i digit.bin --host=$host -o $host >stdout 2>stderr || fail "digits: $(cat stderr)"
    "$heddle" run net --allow-native-targets -i digit.bin --host=$host -o net_$host >stdout 2>stderr || fail "package: $(cat stderr)"
    same $host/out_0.bin net_$host/out_0.bin "package, $host"
done

# --- PCPI: a cycle later ---
unit pcpi dot4_pcpi
run pcpi --host=iss -o pcpi_iss --stats=pcpi.json || fail "PCPI: $(cat stderr)"
run pcpi -o pcpi_native || fail "PCPI by registers: $(cat stderr)"
same iss/out_0.bin pcpi_iss/out_0.bin "PCPI"
same iss/out_0.bin pcpi_native/out_0.bin "PCPI by registers"
python3 - <<'PY' || fail "PCPI: expected later answers than the CFU's"
import json, sys
cfu, pcpi = (json.load(open(f))["host_cycles"] for f in ("iss/stats.json", "pcpi.json"))
sys.exit(not cfu * 1.05 < pcpi < cfu * 2)
PY


# --- one unit ---
expect 3 "heddle: target pcpi: a second unit of custom instructions; the processor has room for one, leave one of them out of --target" \
    "$heddle" run digits -i digit.bin --target-dir=pcpi --target=dot4,pcpi,c --offload=00_conv2d=pcpi --allow-native-targets --host=iss
finish
