#!/bin/bash
# The ethos_u target with Vela (PyPI): the regions that it is shown cost what Vela says of the whole file; a region cut
# by what the host keeps, a padding that TFLite has not, a table; refusals with Vela's reason; "not simulated" in every line.
. "$(dirname "$0")/../common.sh"
venv=$("$HEDDLE_HOME/.ci/venv" peers) || { echo "$venv"; exit 77; }
export VELA=$(cd "$HEDDLE_HOME" && realpath "$venv")/bin/vela XDG_CONFIG_HOME=$work/config
# --- the same cycles as of the file ---
for config in ethos-u55-256 ethos-u85-512; do
    "$VELA" "$models/dscnn_own/model.tflite" --accelerator-config=$config --optimise=Performance --verbose-performance \
        --output-dir vela_$config >log 2>&1 || fail "vela: $(tail -n 3 log)"
    want=$(python3 -c "import csv, sys
print(sum(int(float(l['Op Cycles'])) for l in csv.DictReader(open(sys.argv[1])) if l['Target'] == 'NPU'))" vela_$config/*per-layer*.csv)
    "$heddle" inspect dscnn_own --target=ethos-u --target-ethos-u-accelerator-config=$config >stdout 2>stderr || fail "$(cat stderr)"
    [ "$(sed -n 's/.* ethos_u (not simulated) ethos_u \([0-9]*\),.*/\1/p' stdout | paste -sd+ | bc)" = "$want" ] ||
        fail "$config: Vela says $want of the file: $(cat stdout)"
    [ "$(grep -c ' ethos_u (not simulated) ' stdout)" = 12 ] || fail "$config: not all of it: $(cat stdout)"
done
# --- run: the host's bytes, labelled ---
"$heddle" run dscnn_own --engine=func --target=ethos-u -o out >stdout 2>stderr || fail "run: $(cat stderr)"
grep -q '^verdict: match: 1 output of 8 inferences equal' stdout || fail "$(cat stdout)"
grep -qx "not simulated: 12 layers, computed by the host's kernels; their cycles are their target's estimate" stdout ||
    fail "$(cat stdout)"
grep -E '^[01][0-9]_|slowest|^  *[01][0-9]_' stdout | grep -v 'not simulated' && fail "a line without its label"
grep '^    /\* ' out/emitted/model.c | grep -v 'ethos_u (not simulated): ' | grep -v '^    /\* [A-Za-z ]*\*/' | grep '_own\|_conv2d' &&
    fail "emitted C without its label"
[ "$(grep -c '"target":.*"ethos_u (not simulated)"' out/stats.json)" -ge 12 ] || fail "stats.json"
grep -q 'ethos_u (not simulated)' out/report.html || fail "report.html"
# --- cut by the host ---
"$heddle" inspect dscnn_own --target=ethos-u --keep-on-host=05_depthwise_conv2d >stdout 2>stderr || fail "cut: $(cat stderr)"
[ "$(grep -c ' ethos_u (not simulated) ' stdout)" = 11 ] || fail "cut: $(cat stdout)"
# --- what it refuses, a table, pads of its own ---
cat >odd.ir <<'IR'
heddle-ir 1
graph name="odd"
row 0 name="00_max" op="MAX_POOL_2D" tensor="a" shape="1x300x6x4"
row 1 name="01_tanh" op="TANH" tensor="b" shape="1x300x6x4"
row 2 name="02_pool" op="AVERAGE_POOL_2D" tensor="c" shape="1x1x6x4"
row 3 name="03_reshape" op="RESHAPE" tensor="d" shape="6x4"
row 4 name="04_softmax" op="SOFTMAX" tensor="e" shape="6x4"
tensor 0 i8 [1,300,5,4] input name="x" scale=(0.03125) zero=(0)
tensor 1 i8 [1,300,6,4] value name="a" scale=(0.03125) zero=(0)
tensor 2 i8 [1,300,6,4] value name="b" scale=(0.0078125) zero=(0)
tensor 3 i8 [1,1,6,4] value name="c" scale=(0.0078125) zero=(0)
tensor 4 i8 [6,4] value name="d" scale=(0.0078125) zero=(0)
tensor 5 i8 [6,4] value name="e" scale=(0.00390625) zero=(-128)
op max_pool_2d row=0 in=(0) out=(1) kernel_h=1 kernel_w=2 stride_h=1 stride_w=1 pad_left=1 pad_right=1
op tanh row=1 in=(1) out=(2)
op average_pool_2d row=2 in=(2) out=(3) kernel_h=300 kernel_w=1 stride_h=1 stride_w=1
op reshape row=3 in=(3) out=(4)
op softmax row=4 in=(4) out=(5) beta_bits=1065353216
border in=(0) out=(5)
IR
"$heddle" inspect odd.ir --target=ethos-u >stdout 2>stderr || fail "odd: $(cat stderr)"
grep -q '^00_max .* ethos_u (not simulated) ethos_u [1-9]' stdout && grep -q '^01_tanh .*ethos_u [1-9]' stdout || fail "$(cat stdout)"
grep -q '^04_softmax .*ethos_u [1-9]' stdout || fail "SOFTMAX of a reshaped image: $(cat stdout)"
grep -q '^02_pool .* c .*; ethos_u: Vela' stdout || fail "a window of 300 rows: $(cat stdout)"
finish
