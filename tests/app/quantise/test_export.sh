#!/bin/bash
# inspect --format=onnx: TFLite networks of int8 as ONNX. Read back with TFLite's rounding they give the TFLite oracle's
# bytes; what ONNX cannot say is refused by name. tests/oracle/onnx/export_onnx.py compares with ONNX Runtime.
. "$(dirname "$0")/../../e2e/common.sh"

command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }

# floats IR ROLE FROM TO: bytes of an int8 border as the floats that they stand for; ROLE: in or out.
floats() {
    python3 -B - "$@" <<'END'
import array
import re
import sys

text = open(sys.argv[1]).read()
tensor = re.search(r"^border.* " + sys.argv[2] + r"=\((\d+)\)", text, re.M)[1]
line = re.search(rf"^tensor {tensor} .*", text, re.M)[0]
scale, zero = re.search(r"scale=\(([^)]+)\)", line)[1], int(re.search(r"zero=\((-?\d+)\)", line)[1])
f = array.array("f", [float(scale)])[0]
array.array("f", [(v - zero) * f for v in array.array("b", open(sys.argv[3], "rb").read())]).tofile(open(sys.argv[4], "wb"))
END
}

for folder in "$models"/{digits,autoencoder_own,dscnn_own} "$HEDDLE_HOME/tests/reference/models/05_quantize"; do
    net=$(basename "$folder")
    "$heddle" inspect "$folder/model.tflite" --format=onnx -o "$net.onnx" >said 2>&1 || fail "$net: $(cat said)"
    "$heddle" inspect "$folder/model.tflite" --dump-ir=ir --dump-step=import >/dev/null || fail "$net: dump"
    floats ir/*import.ir in "$folder/in_0.bin" x.bin && floats ir/*import.ir out "$folder/out_0.bin" y.bin ||
        fail "$net: its borders"
    "$heddle" run "$net.onnx" --engine=ref -q -i x.bin --expect y.bin >said 2>&1 || fail "$net: $(cat said)"
    rm -r ir
done
expect 2 "heddle: --format=onnx: expected -o FILE.onnx" "$heddle" inspect digits --format=onnx
expect 3 "heddle: digits.onnx: --format=onnx writes TFLite files and .ir graphs" \
    "$heddle" inspect digits.onnx --format=onnx -o x.onnx
"$heddle" inspect autoencoder_own --dump-ir=ir --dump-step=import >/dev/null
sed 's/^\(tensor [0-9]* i8 .* const .*zero=\)(0)/\1(1)/' ir/*import.ir >zero.ir
expect 3 "heddle: layer '00_fully_connected': expected weights with zero point 0, found 1" \
    "$heddle" inspect zero.ir --format=onnx -o x.onnx
usoftmax=$HEDDLE_HOME/tests/reference/models/12_usoftmax/model.tflite
expect 3 "heddle: tensor 'x' is u8: --format=onnx writes int8 with a scale, float32 and integers" \
    "$heddle" inspect "$usoftmax" --format=onnx -o x.onnx
state=$HEDDLE_HOME/tests/reference/models/state/model.tflite
expect 3 "heddle: tensor 'frames': is a state, which is kept from inference to inference and which ONNX has not" \
    "$heddle" inspect "$state" --format=onnx -o x.onnx
expect 3 "heddle: layer '04_squared_difference' (SQUARED_DIFFERENCE): squared_difference cannot be written as ONNX by \
heddle" "$heddle" inspect vit_own --format=onnx -o x.onnx
[ ! -e x.onnx ] || fail "a refused network was written"
finish
