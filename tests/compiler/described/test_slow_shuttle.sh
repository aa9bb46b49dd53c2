#!/bin/bash
# The shuttle example: layers that the compiler makes of the instructions of a weight-stationary array. The
# same bytes with the core and without, also where its memories hold few rows and few channels at a time; most
# multipliers busy; the estimate near what is measured; a core that ignores waits or adds where it must not is
# found.
. "$(dirname "$0")/../../e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
shuttle=$HEDDLE_HOME/targets/shuttle

for model in digits resnet8_own dscnn_own mobilenet025_own autoencoder_own; do
    "$heddle" run $model --engine=func --target=shuttle -o out >stdout 2>stderr || fail "$model: $(cat stderr)"
    cmp -s out/out_0.bin "$models/$model/out_0.bin" || fail "$model: another answer"
    grep -q '^[0-9].* shuttle  ' stdout || fail "$model: nothing on shuttle"
done
head -c 6144 "$models/resnet8_own/in_0.bin" >in.bin
head -c 20 "$models/resnet8_own/out_0.bin" >want.bin
resnet8() { "$heddle" run resnet8_own -i in.bin --expect want.bin "$@"; }
for list in shuttle,c "shuttle,systolic --partition=priority"; do
    # shellcheck disable=SC2086
    resnet8 --target=$list >stdout 2>stderr || fail "$list: $(cat stderr)"
done
resnet8 --target=shuttle,c >stdout 2>stderr || fail "alone: $(cat stderr)"
# 256 multiplications a cycle at most.
for layer in '01_conv2d .* 9[0-9]' '05_conv2d .* 9[0-9]' '08_conv2d .* 8[0-9]' '09_conv2d .* 9[0-9]'; do
    grep -q "^${layer}[.][0-9]%" stdout || fail "$layer %: $(grep "^${layer%% *}" stdout)"
done
# Images and weights that fit are read once, tensors stay: 93 kB.
awk '$3 == "shuttle" { n += $8 + $9 } END { if (n != 92560) { print n; exit 1 } }' stdout >bytes ||
    fail "bytes on the bus: $(cat bytes), expected 92560"
awk '$3 == "shuttle" && ($4 < 0.93 * $5 || $4 > 1.05 * $5) { print; bad = 1 } END { exit bad }' stdout >far ||
    fail "an estimate is far from what is measured: $(cat far)"

# changed NAME FILE SED: the example under another name, with a change.
changed() {
    cp -r "$shuttle" "$1"
    sed -i "s/\"name\": \"shuttle\"/\"name\": \"$1\"/" "$1/target.json"
    cp "$1/$2" before
    sed -i "$3" "$1/$2"
    cmp -s "$1/$2" before && fail "$1: nothing changed: $3"
}
# Less memory in the description than there is in the core.
changed narrow target.json 's/"bytes": 65536, "array": "sums/"bytes": 8192, "array": "sums/; s/"int8", "bytes": [16][0-9]*/"int8", "bytes": 12288/'
resnet8 --target-dir=narrow --target=narrow,c --allow-native-targets -o few >stdout 2>stderr || fail "narrow: $(cat stderr)"
grep -q 'image_step = 0x1800' few/emitted/model.c || fail "narrow: no layer has two bands"
grep -q 'filters_step = 0x1800' few/emitted/model.c || fail "narrow: no layer has two groups"

broken() { # broken NAME SED: a core that computes otherwise
    changed "$1" shuttle_core.sv "$2"
    HEDDLE_CXX="$HEDDLE_HOME/tests/e2e/o0 g++" resnet8 --target-dir="$1" --target="$1",c --allow-native-targets >stdout 2>stderr &&
        fail "$1 passes"
    grep -q "computed by target $1" stderr || fail "$1: $(cat stderr)"
}
broken hasty 's/!waits\[v\] || !ahead\[15\]/1'"'"'b1/'
broken adding 's/!sum_q.add ? 32/1'"'"'b0 ? 32/'
finish
