#!/bin/bash
# TOSA files: operators fused and alone, equal to TOSA's reference model (tests/oracle/tosa/tosa_cases.py made the files);
# digits written as TOSA, equal to the TFLite file without its softmax; refusals, each with its message; damaged files.
. "$(dirname "$0")/../../e2e/common.sh"

command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
tosa=$HEDDLE_HOME/tests/compiler/import/tosa
for folder in "$tosa"/*/; do
    inputs=()
    for file in "$folder"/in_*.bin; do
        [ -e "$file" ] || file=$HEDDLE_HOME/tests/models/digits/in_0.bin
        inputs+=(-i "$file")
    done
    rounding=file
    [ "$(basename "$folder")" = conv2d_twice ] && rounding=double
    "$heddle" run "$folder/net.tosa" "${inputs[@]}" --expect "$folder/out_0.bin" --engine func -q --tosa-rounding=$rounding >answer 2>&1 ||
        fail "$folder: $(cat answer)"
done
grep -q "RESCALE *none *fused into 00_conv2d" <("$heddle" inspect "$tosa/digits/net.tosa") || fail "digits: RESCALE is not fused"
grep -q "RESCALE *none *fused into 00_conv2d" <("$heddle" inspect "$tosa/conv2d_twice/net.tosa" --tosa-rounding=double) ||
    fail "conv2d_twice: RESCALE is not fused"
"$heddle" inspect "$tosa/add_near/net.tosa" | grep -q ' c  *c ' && fail "add_near: its sum is not fused"
"$heddle" inspect "$tosa/digits/net.tosa" | grep -q ' c  *c ' && fail "digits: a layer left the array"
python3 -B "$tosa/tosa_refusals.py" "$heddle" "$work" || fail "refusals"
finish
