#!/bin/bash
# Open sizes and --input-shapes of TFLite files: a batch of two gives what two inferences give; what does not follow is refused by name.
# tests/oracle/sizes_tflite.py compares with LiteRT.
. "$(dirname "$0")/../../e2e/common.sh"

net=$models/autoencoder_own/model.tflite
input=serving_default_input:0
"$heddle" run "$net" --engine=func -q "--input-shapes=$input:[2,640]" -i "$models/autoencoder_own/in_0.bin" \
    --expect "$models/autoencoder_own/out_0.bin" >/dev/null 2>said || fail "a batch of 2: $(cat said)"
expect 2 "heddle: $net: --input-shapes: '$input': expected 2 numbers, found 1" \
    "$heddle" inspect "$net" "--input-shapes=$input:[640]"
expect 3 "heddle: $net: '$input': dimension 0 would be 0 after --input-shapes" \
    "$heddle" inspect "$net" "--input-shapes=$input:[0,640]"
digits=$models/digits/model.tflite
"$heddle" inspect "$digits" --input-shapes="serving_default_input:0:[1,12,12,1]" 2>said && fail "a constant shape"
cut -d: -f4- said >found
cat >wanted <<'END'
 its constant shape 1x256 does not fit the 576 elements of 'model_1/model/average_pooling2d/AvgPool' after --input-shapes; export the model with this dimension open
END
same wanted found "$(cat said)"
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
python3 -B "$HEDDLE_HOME/tests/compiler/import/tfl_follow.py" . || fail "the files"
for net in slice split squeeze squeeze_first tile; do
    "$heddle" inspect $net.tflite >/dev/null || fail "$net"
done
"$heddle" run open.tflite --engine=func >said 2>/dev/null || fail "open sizes"
grep -q '4x3' said || fail "open sizes: $(cat said)"
while IFS='|' read -r net shape operator text; do
    expect 3 "heddle: $net.tflite: operator 0 $operator: $text" "$heddle" inspect $net.tflite "--input-shapes=x:[$shape]"
done <<'END'
slice|5,4|SLICE|dimension 0: takes the rest, 2 in the file, 3 after --input-shapes; export the model with this shape
split|5,4|SPLIT|dimension 0: expected a multiple of 2, found 5
squeeze|2,4|SQUEEZE|expected 1 sizes other than 1 after --input-shapes, found 2
squeeze_first|2,1,1|SQUEEZE|expected 2 sizes other than 1 after --input-shapes, found 3
tile|5|TILE|input 'x': its shape is not the file's, and the result's does not follow; export the model with this shape
END
"$heddle" inspect tile.tflite "--input-shapes=x:[4]" >/dev/null || fail "the file's own shape"
"$heddle" inspect squeeze_first.tflite "--input-shapes=x:[1,3,2]" >/dev/null || fail "what is not squeezed"
"$heddle" inspect split.tflite "--input-shapes=x:[6,4]" >/dev/null || fail "parts of 3"
finish
