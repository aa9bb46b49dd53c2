#!/bin/bash
# Two accelerators of different configurations in one network: more networks on the functional model; on RTL, alone
# and with a core of an external target, two Verilated models in one process, the same bytes, cycles that add up, waves
# of either.
. "$(dirname "$0")/../common.sh"
. "$HEDDLE_HOME/tests/e2e/devices/instances.sh"

for model in digits resnet8_own dscnn_own autoencoder_own; do
    between 1 $model --engine=func
    between 2 $model --engine=func --memory=separate
    between 3 $model --engine=func --no-search --no-overlap
done
between 4 mobilenet025_own --engine=func --memory=separate
command -v verilator >/dev/null || { echo "no verilator: the functional model only"; finish; }

between 1 digits --engine=rtl
between 2 digits --engine=rtl --memory=separate --stall-seed=7 -j2
between 3 resnet8_own --engine=rtl --no-search

mapfile -t some < <(scatter 4 digits)
"$heddle" run digits --target=systolic:a,systolic:b,vanilla --target-a-hw=tiny --target-b-hw=sys8 \
    "${some[@]}" -o plain >stdout 2>stderr || fail "beside vanilla: $(cat stderr)"
some+=(--offload=01_conv2d=vanilla)
"$heddle" run digits --target=systolic:a,systolic:b,vanilla --target-a-hw=tiny --target-b-hw=sys8 \
    "${some[@]}" -o out >stdout 2>stderr || fail "beside vanilla: $(cat stderr)"
for target in a b vanilla; do
    grep -q "^[0-9].* $target  *[1-9][0-9]*  *[1-9]" stdout || fail "no cycles of $target"
done
cmp -s out/out_0.bin "$models/digits/out_0.bin" || fail "beside vanilla: another answer"

# Layers and groups add up to the whole, utilisation is against each instance's own array.
"$heddle" run digits "${two[@]}" '--offload=0[0-4]*=a' '--offload=0[5-9]*=b' \
    --waves=layer:06_conv2d -o halves >stdout 2>stderr || fail "halves: $(cat stderr)"
awk '$1 != "|" && ($3 == "a" || $3 == "b") {sum += $4} $1 == "group" {sum += $5} /cycles each/ {sub(/.*inferences, /, ""); all = $1}
    END {exit !(sum == all && all > 0)}' stdout || fail "rows do not add up: $(cat stdout)"
grep -q -E '^01_conv2d .* a  *[0-9]*  *[0-9]*  *-  *(9[0-9]|100)[.]' stdout || fail "utilisation of 01_conv2d on a"
[ -s halves/waves.fst ] || fail "no waves of b"
finish
