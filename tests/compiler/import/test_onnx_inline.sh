#!/bin/bash
# Functions, If, Loop, Scan and movers of integers (tests/oracle/onnx/onnx_inline.py): ONNX Runtime's
# answers on the reference and in the host's C, at most a step off on the accelerator, whose layers are the reference's.
# For what is refused exactly the message of expected.txt.
. "$(dirname "$0")/../../e2e/common.sh"

folder=$HEDDLE_HOME/tests/compiler/import/onnx/inline
count=0
for model in "$folder"/*.onnx; do
    name=$(basename "$model" .onnx)
    grep -q "^$name: " "$folder/expected.txt" && continue
    arguments=()
    for file in "$folder/$name".in_*; do arguments+=(-i "$file"); done
    ins=${#arguments[@]}
    for file in "$folder/$name".out_*; do arguments+=(--expect "$file"); done
    "$heddle" run "$model" "${arguments[@]}" --engine=ref --onnx-rounding=onnx >stdout 2>stderr ||
        fail "$name: $(head -c 300 stderr)"
    "$heddle" run "$model" "${arguments[@]}" --engine=func --target=c --onnx-rounding=onnx >stdout 2>stderr ||
        fail "$name in C: $(head -c 300 stderr)"
    # the accelerator's rounding: its layers are the reference's, and quantised outputs differ by at most a step
    "$heddle" run "$model" "${arguments[@]:0:ins}" --engine=func --no-search >stdout 2>stderr ||
        fail "$name against the reference: $(head -c 300 stdout stderr)"
    "$heddle" run "$model" "${arguments[@]}" --engine=func --no-search --tolerance=1 >stdout 2>stderr ||
        grep -qE "this network has none|ULP" stderr || fail "$name on func: $(head -c 300 stdout stderr)"
    count=$((count + 1))
done
# volumes: the accelerator takes inputs and gives outputs of more than four dimensions as they are in memory; matrices, sums, masks
for name in depths_float depths_same depths_qlinear volumes matrices sums masks; do
    "$heddle" inspect "$folder/$name.onnx" >stdout 2>stderr || fail "$name: $(cat stderr)"
    grep -qE "^[0-9]+_\w+ +\w+ +c  " stdout && fail "$name: $(grep -E "^[0-9]+_\w+ +\w+ +c  " stdout)"
done
[ "$count" -ge 12 ] || fail "only $count models"
while IFS= read -r line; do
    name=${line%%: *}
    "$heddle" inspect "$folder/$name.onnx" >stdout 2>stderr
    [ $? = 3 ] || fail "$name is not refused"
    [ "$(cat stderr)" = "heddle: $folder/$name.onnx: ${line#*: }" ] ||
        fail "$name: expected '${line#*: }', found '$(head -c 300 stderr)'"
done <"$folder/expected.txt"
finish
