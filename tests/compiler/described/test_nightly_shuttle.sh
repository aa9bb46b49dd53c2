#!/bin/bash
# The shuttle example, longer: random layers with other seeds, as C and on the core with latencies, stalls and
# random start values; a network of 500 layers compiles in at most 3 s of CPU for each described example.
. "$(dirname "$0")/../../e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }

for of in shuttle/2 shuttle/3 shuttle/4 jacquard/2 jacquard/3; do
    seed=${of#*/}
    "$heddle" check-target "$HEDDLE_HOME/targets/${of%/*}" --seed="$seed" --allow-native-targets >stdout 2>stderr ||
        fail "$of: $(cat stdout stderr)"
    grep -q '^ok   on the Verilated core, .*stalls and noise' stdout || fail "$of: not on the core"
    grep -q '^ok   cost of conv2d: [0-9][.][0-9] % off' stdout || fail "$of: $(grep 'cost of conv2d' stdout)"
done

# An interrupt of one unit: others have accesses under way when it rises.
cp -r "$HEDDLE_HOME/targets/shuttle" busy
sed -i 's/"name": "shuttle"/"name": "busy"/; s/"ports": {"interrupt": {"kind": "none"}},//' busy/target.json
sed -i "s/^  output logic *load_busy_o,/  output logic irq_o,\n&/; s/^  assign reg_rdata_o /  assign irq_o = done_q[32];\n&/" busy/shuttle_core.sv
"$heddle" run digits --target-dir=busy --target=busy -n 1 --allow-native-targets >stdout 2>stderr || fail "busy: $(cat stderr)"
grep -q '^verdict: match' stdout || fail "busy: $(cat stdout)"

{
    printf 'heddle-ir 1\ngraph name="deep"\n'
    for ((i = 0; i < 500; i++)); do
        echo "row $i name=\"${i}_conv2d\" op=\"CONV2D\" tensor=\"t$((2 * i + 2))\" shape=\"\""
    done
    echo 'tensor 0 i8 [1,16,16,32] input name="x" scale=(0.5) zero=(0)'
    for ((i = 0; i < 500; i++)); do
        k=$((i % 2 ? 3 : 1))
        echo "tensor $((2 * i + 1)) i8 [32,$k,$k,32] const name=\"w$i\" scale=(0.03125) zero=(0) fill=1"
        echo "tensor $((2 * i + 2)) i8 [1,16,16,32] value name=\"t$((2 * i + 2))\" scale=(0.5) zero=(0)"
    done
    for ((i = 0; i < 500; i++)); do
        k=$((i % 2 ? 3 : 1)) p=$((i % 2))
        echo "op conv2d row=$i in=($((2 * i)),$((2 * i + 1))) out=($((2 * i + 2))) stride_h=1 stride_w=1 dilation_h=1" \
            "dilation_w=1 kernel_h=$k kernel_w=$k pad_top=$p pad_left=$p pad_bottom=$p pad_right=$p"
    done
    echo 'border in=(0) out=(1000)'
} >deep.ir
TIMEFORMAT='%U %S'
for target in shuttle loom jacquard; do
    { time "$heddle" compile deep.ir --target=$target -o deep >stdout 2>stderr; } 2>seconds || fail "deep: $(cat stderr)"
    grep -c 'hdk_described_run' deep/model.c | grep -qx 500 || fail "deep: not all on $target"
    awk '$1 + $2 > 3 { exit 1 }' seconds || fail "500 layers on $target: $(cat seconds) s"
    echo "$target $(cat seconds)"
    rm -r deep
done
finish
