#!/usr/bin/env bash
# The partition has the fewest cycles in total: no other choice for one of a network's layers, or for consecutive ones,
# takes 2 % less.
source "$(dirname "$0")/../common.sh"
models=("$HEDDLE_HOME"/tests/models/*/model.tflite)
python3 "$HEDDLE_HOME/tests/e2e/numbers/offload_totals.py" --flips --no-search --hw=tiny,sys8,sys16,sys32 "${models[@]}" >stdout 2>&1 ||
    fail "by rule: $(cat stdout)"
python3 "$HEDDLE_HOME/tests/e2e/numbers/offload_totals.py" "${models[@]}" >stdout 2>&1 || fail "by search: $(cat stdout)"
grep -q '^[1-9][0-9]* partitions, 0 variants take 2 % less$' stdout || fail "$(cat stdout)"
# The script counts as inspect and run do, also in groups and on the host.
"$heddle" run resnet8_own --keep-on-host=14_softmax --engine=func --stats stats.json >/dev/null || fail "run"
python3 - "$HEDDLE_HOME/tests" stats.json resnet8_own >stdout 2>&1 <<'END' || fail "$(cat stdout)"
import json, sys
sys.path.insert(0, sys.argv[1] + "/e2e/numbers")
import offload_totals as o
stats = json.load(open(sys.argv[2]))
found = o.layers(sys.argv[3], ["--keep-on-host=14_softmax"])
assert o.total(found) == stats["estimated_cycles"] + stats["host_cycles"], (o.total(found), stats["host_cycles"])
assert o.offloads(found) == [["--offload=14_softmax"]], o.offloads(found)
END
# Variants are tried, and printed with their cycles: here one that takes less than a thousand times the choice's.
cat >one.ir <<'END'
heddle-ir 1
graph name="one"
row 0 name="00_relu" op="RELU" tensor="t1" shape=""
tensor 0 i8 [1,1] input name="x" scale=(0.5) zero=(0)
tensor 1 i8 [1,1] value name="t1" scale=(0.25) zero=(0)
op relu row=0 in=(0) out=(1)
border in=(0) out=(1)
END
python3 "$HEDDLE_HOME/tests/e2e/numbers/offload_totals.py" --percent=-100000 one.ir >stdout 2>&1 && fail "no variant counts"
grep -q '^one.ir on sys16: [0-9]* cycles in all, [0-9]* with --offload=00_relu (+[0-9.]* %)$' stdout || fail "$(cat stdout)"
finish
