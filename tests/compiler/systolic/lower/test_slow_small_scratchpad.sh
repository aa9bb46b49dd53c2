#!/bin/bash
# The smallest scratchpad of tiny, 16 words: operators in strips of rows, columns and channels at once give the reference's
# bytes. rand_lstm_7 has a dense layer of 54 rows that is cut into columns and channels.
. "$(dirname "$0")/../../../e2e/common.sh"

for name in rand_lstm_7 rand_batch_matmul_int8 rand_dilated rand_grouped_conv_int8 rand_average_edges_uint8; do
    "$heddle" run "$HEDDLE_HOME/tests/reference/models/$name/model.tflite" --engine=func -n1 --no-search \
        --hw='{"base":"tiny","scratchpad_bytes":64}' >stdout 2>&1 || fail "$name: $(head -n 2 stdout)"
    grep -q '^verdict: match: ' stdout || fail "$name: $(head -n 1 stdout)"
done

# If an operator does not fit in the layout, another target takes it; knobs are those of the resulting graph.
small=(--no-search --hw='{"base":"tiny","scratchpad_bytes":256}')
"$heddle" inspect "$models/islands.onnx" "${small[@]}" >text 2>stderr || fail "inspect: $(cat stderr)"
grep -q '^03_add .* c .*; systolic: the scratchpad of tiny.* (256 bytes) is too fragmented$' text || fail "inspect: $(grep '^03_add' text)"
"$heddle" inspect "$models/islands.onnx" "${small[@]}" --format=json >by_rule || fail "inspect --format=json"
sed '/"op":6,/s/"tile_rows":0/"tile_rows":1/' by_rule >knobs
cmp -s by_rule knobs && fail "no knob of 06_maximum: $(grep 06_maximum by_rule)"
"$heddle" inspect "$models/islands.onnx" "${small[@]}" --knobs=knobs --format=json >with_knobs 2>stderr || fail "--knobs: $(cat stderr)"
same <(grep '"tile_rows"' knobs) <(grep '"tile_rows"' with_knobs) "knobs are lost"
"$heddle" run "$models/islands.onnx" "${small[@]}" --knobs=knobs --engine=func -n1 >stdout 2>&1 || fail "islands: $(head -n 2 stdout)"
grep -q '^verdict: match: 23 of 23 layers' stdout || fail "islands: $(head -n 1 stdout)"
"$heddle" inspect vit_own --no-search --hw='{"base":"tiny","scratchpad_bytes":64}' >text 2>stderr || fail "vit_own: $(cat stderr)"

# A TRANSPOSE of any image runs in strips of its rows, columns and channels.
for order in "0,1,3,2" "0,2,1,3" "0,2,3,1" "0,3,1,2" "0,3,2,1"; do
    for dim in "3 45 67" "70 5 33" "29 61 7"; do
        read -r -a d <<<"1 $dim"
        IFS=, read -r -a o <<<"$order"
        to=${d[${o[0]}]},${d[${o[1]}]},${d[${o[2]}]},${d[${o[3]}]}
        cat >turned.ir <<END
heddle-ir 1
graph name="turned"
row 0 name="00_transpose" op="TRANSPOSE" tensor="y" shape="${to//,/x}"
tensor 0 i8 [1,${dim// /,}] input name="x" scale=(0.5) zero=(3)
tensor 1 i32 [4] const name="order" values=($order)
tensor 2 i8 [$to] value name="y" scale=(0.5) zero=(3)
op transpose row=0 in=(0,1) out=(2)
border in=(0) out=(2)
END
        "$heddle" run turned.ir "${small[@]}" --engine=func -n1 >stdout 2>&1 || fail "$order of $dim: $(head -n 2 stdout)"
        grep -q '^00_transpose .* systolic ' stdout || fail "$order of $dim: $(cat stdout)"
    done
done
finish
