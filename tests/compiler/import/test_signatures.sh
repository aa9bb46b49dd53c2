#!/bin/bash
# --signature: each subgraph of a TFLite file by the name of its signature; without it, and with another, the names.
. "$(dirname "$0")/../../e2e/common.sh"

command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
make=$HEDDLE_HOME/tests/compiler/import/tfl_signatures.py
python3 -B "$make" two.tflite || fail "the file"
python3 -B -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<4f", -1.5, 0, 2.25, 7))' >x.bin
for name in negate floor; do
    "$heddle" run two.tflite --signature=$name -i x.bin --engine func -o $name 2>answer.$name >/dev/null ||
        fail "$name: $(cat answer.$name)"
done
grep -qx "heddle: note: the file leaves dimensions open; taken here: dimension 0 of input 'x' as 4" answer.negate ||
    fail "note: $(cat answer.negate)"
[ ! -s answer.floor ] || fail "$(cat answer.floor)"
found=$(python3 -c 'import struct
for n in ("negate", "floor"): print(*struct.unpack("<4f", open(f"{n}/out_0.bin", "rb").read()))')
[ "$found" = "1.5 -0.0 -2.25 -7.0
-2.0 0.0 2.0 7.0" ] || fail "answers: $found"
expect 2 "heddle: two.tflite: expected --signature, one of 'negate', 'floor'" "$heddle" inspect two.tflite
expect 2 "heddle: two.tflite: --signature: expected one of the file's, 'negate', 'floor', found 'x'" \
    "$heddle" inspect two.tflite --signature=x
digits=$models/digits/model.tflite
"$heddle" inspect "$digits" --signature=serving_default >/dev/null || fail "digits has a signature"
expect 2 "heddle: $digits: --signature: expected one of the file's, 'serving_default', found 'x'" \
    "$heddle" inspect "$digits" --signature=x
echo "heddle-ir 1" >net.ir
expect 2 "heddle: net.ir: --signature is for .tflite files" "$heddle" inspect net.ir --signature=x
python3 -B "$make" far.tflite 2 || fail "the file"
expect 3 "heddle: far.tflite: signature 'floor': subgraph: expected below 2, found 2" \
    "$heddle" inspect far.tflite --signature=floor
finish
