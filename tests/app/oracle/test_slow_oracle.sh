#!/bin/bash
# --oracle with the real LiteRT and ONNX Runtime: every tensor of networks of both formats equals theirs.
. "$(dirname "$0")/../../e2e/common.sh"
venv=$(cd "$HEDDLE_HOME" && .ci/venv new) || { echo "$venv"; exit 77; }
case $venv in /*) ;; *) venv=$HEDDLE_HOME/$venv ;; esac
export HEDDLE_PYTHON=$venv/bin/python

# asks MODEL FRAMEWORK TENSORS: expects TENSORS tensors, all equal.
asks() {
    "$heddle" run "$1" --engine=func --target=c -q --oracle="$2" >out 2>err || fail "$1: $(cat err)"
    grep -qE "^second opinion: $3 of $3 tensors of [0-9]+ inferences? equal to those of " out || fail "$1: $(cat out)"
}
asks digits litert 15
asks vit_own litert 90
reference=$HEDDLE_HOME/tests/reference/models
asks "$reference/rand_dilated/model.tflite" litert 2
asks "$reference/state/model.tflite" litert 5
asks "$HEDDLE_HOME/tests/models/digits/model.onnx" onnxruntime 21
asks "$HEDDLE_HOME/tests/compiler/import/onnx/seed_9/model.onnx" onnxruntime 7
asks "$HEDDLE_HOME/tests/compiler/import/onnx/layer_norm/model.onnx" onnxruntime 22
asks "$HEDDLE_HOME/tests/compiler/import/onnx/gru/rnn.onnx" onnxruntime 1
finish
