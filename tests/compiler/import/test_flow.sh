#!/bin/bash
# IF, WHILE and STABLEHLO_COMPOSITE of TFLite files: the values of LiteRT's reference kernels; what cannot be unrolled is refused.
. "$(dirname "$0")/../../e2e/common.sh"

command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
python3 -B "$HEDDLE_HOME/tests/compiler/import/tfl_flow.py" . || fail "the files"
python3 -B -c 'import pathlib, struct
for name, *v in ("x", -1.5, .25, 1.25, -.5), ("loop", 38.75390625, 3.0078277587890625, 13.843276977539062, 3.12890625), \
        ("branch", 1.5, -.25, -1.25, .5), ("branch_open", -2, 0, 1, -1), ("composite", -2, 0, 1, -1):
    pathlib.Path(name + ".bin").write_bytes(struct.pack("<4f", *v))
pathlib.Path("no.bin").write_bytes(bytes(1))
pathlib.Path("three.bin").write_bytes(struct.pack("<i", 3))'
for net in loop branch branch_open composite; do
    more=()
    [ $net = branch_open ] && more=(-i no.bin)
    last=()
    [ $net = loop ] && last=(--expect three.bin)
    "$heddle" run $net.tflite --engine=func -q -i x.bin "${more[@]}" --expect $net.bin "${last[@]}" >/dev/null 2>said || fail "$net: $(cat said)"
done
"$heddle" run rows.tflite --engine=func -q >said 2>&1 && grep -q "^verdict: match" said || fail "rows: $(cat said)"
"$heddle" inspect loop.tflite | grep -q "^00_while  *WHILE  *c " || fail "the row"
expect 3 "heddle: loop_open.tflite: operator 0 WHILE: the condition depends on computed values: expected a number of iterations that follows from constants" \
    "$heddle" inspect loop_open.tflite
expect 3 "heddle: loop_shape.tflite: operator 0 WHILE: input 1, 't1': expected type, shape and scale of 't0', f32 4, found f32 5" \
    "$heddle" inspect loop_shape.tflite
expect 3 "heddle: loop.tflite: operator 0 WHILE: input 't0': its shape is not the file's, and the result's does not follow; export the model with this shape" "$heddle" inspect loop.tflite "--input-shapes=t0:[5]"
while IFS='|' read -r net text; do
    expect 3 "heddle: $net.tflite: operator 0 $text" "$heddle" inspect $net.tflite
done <<'END'
loop_far|WHILE: body: subgraph: expected 1 to 1, found 2
loop_few|WHILE: body: subgraph 2: expected 3 inputs and 3 outputs, found 1 and 1
loop_twice|WHILE: input 1, 't1', is a constant or listed twice
loop_endless|WHILE: loops and branches: expected at most 20000 operators
branch_absent|IF: output 0 of the subgraph, 't1', is not computed
branch_real|IF: condition: expected one bool, found f32 1
END
"$heddle" inspect composite_options.tflite >/dev/null || fail "a kind of options without options"
"$heddle" inspect composite_itself.tflite 2>said && fail "a composite of itself"
grep -q "inside it: loops and branches nest more than 8 deep$" said || fail "$(cat said)"
finish
