#!/bin/bash
# --oracle: heddle's question to a framework, and its use of the answer. A stub replaces Python and the framework;
# test_slow_oracle.sh uses the real ones.
. "$(dirname "$0")/../../e2e/common.sh"
export XDG_CACHE_HOME=$work/cache
mkdir fake

# fake ANSWER: a Python whose framework answers with the shell commands ANSWER, in the folder of the question.
fake() {
    printf '#!/bin/bash\n# oracle.py FRAMEWORK MODEL FOLDER N [--reset-state]\ncd "$4" || exit 9\necho "$2 $5 $6" >>%s/asked\n%s\n' "$work" "$1" >fake/python
    chmod +x fake/python
}
export HEDDLE_PYTHON=$work/fake/python
answer='{"runtime": "Fake 1.0", "inferences": 360, "tensors": []}'
run() { "$heddle" run digits --engine=func -q "$@"; }

fake "cp $models/digits/out_0.bin . && cmp in_0.bin $models/digits/in_0.bin && echo '$answer' >oracle.json"
expect 0 '' run --oracle=litert
grep -qx 'second opinion: 1 of 1 tensors of 360 inferences equal to those of Fake 1.0' stdout || fail "equal: $(cat stdout)"
[ "$(cat asked)" = "litert 360 " ] || fail "asked: $(cat asked)"
expect 0 '' run --oracle=litert --reset-state --stats s.json
[ "$(tail -n 1 asked)" = "litert 360 --reset-state" ] || fail "asked: $(cat asked)"
python3 - <<'END' || fail "stats: $(cat s.json)"
import json
o = json.load(open("s.json"))["oracle"]
assert (o["runtime"], o["tensors"], o["equal"]) == ("Fake 1.0", 1, 1), o
END

# One byte of inference 7 differs: the verdict is a mismatch, though all bytes equal the goldens.
fake "cp $models/digits/out_0.bin . && printf '\x05' | dd of=out_0.bin bs=1 seek=73 conv=notrunc 2>/dev/null && echo '$answer' >oracle.json"
expect 1 "heddle: the CPU reference and Fake 1.0 differ on this file: 1 of 1 tensors differ from those of Fake 1.0; first 14_softmax, tensor 'StatefulPartitionedCall:0': 1 values, inference 7, value 3: expected 5, the reference has -121" \
    run --oracle=litert
grep -q '^verdict: mismatch' stdout || fail "verdict: $(cat stdout)"

# An inner tensor, by its name; the framework's values are passed on, so the output is equal.
inner='model_1/model/re_lu/Relu;model_1/model/batch_normalization/FusedBatchNormV3;model_1/model/conv2d_2/Conv2D;model_1/model/conv2d/Conv2D'
fake "cp $models/digits/out_0.bin . && head -c \$((360 * 1024)) /dev/zero >t_0.bin && echo '{\"runtime\": \"Fake 1.0\", \"inferences\": 360, \"tensors\": [{\"name\": \"$inner\", \"file\": \"t_0.bin\", \"type\": \"int8\"}]}' >oracle.json"
run --oracle=litert >stdout 2>stderr
[ $? = 1 ] || fail "inner: exit $?"
grep -q "^heddle: the CPU reference and Fake 1.0 differ on this file: 2 of 2 tensors differ from those of Fake 1.0; first 00_conv2d, " stderr || fail "inner: $(cat stderr)"

fake "echo 'the Python package ai-edge-litert is missing'; exit 3"
expect 2 "heddle: --oracle=litert: '$work/fake/python' has no ai-edge-litert (PyPI): run .ci/venv new in heddle's folder, or set HEDDLE_PYTHON to a Python that has it" \
    run --oracle=litert
fake "echo loading; echo 'ValueError: no such operator'; exit 4"
expect 2 "heddle: --oracle=litert: '$models/digits/model.tflite': ValueError: no such operator" run --oracle=litert
fake "head -c 100 $models/digits/out_0.bin >out_0.bin; echo '$answer' >oracle.json"
expect 2 "heddle: --oracle: output 0: expected 10 bytes an inference, found 0: the framework gives it another shape or type" \
    run --oracle=litert
expect 2 "heddle: --oracle=onnxruntime: expected a .onnx file, found '$models/digits/model.tflite'" run --oracle=onnxruntime
expect 2 "heddle: --oracle: found 'tvm', expected none, litert or onnxruntime" run --oracle=tvm
HEDDLE_PYTHON=$work/none expect 2 "heddle: --oracle=litert: '$work/none' has no ai-edge-litert (PyPI): run .ci/venv new in heddle's folder, or set HEDDLE_PYTHON to a Python that has it" \
    run --oracle=litert
[ -z "$(find "$XDG_CACHE_HOME/heddle" -maxdepth 1 -name 'oracle-*')" ] || fail "folders are left behind"
finish
