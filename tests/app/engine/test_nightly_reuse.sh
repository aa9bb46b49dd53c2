#!/bin/bash
# --reuse on all networks of the repository, and on the shared ones where they are, at sys16.
dir=$(cd "$(dirname "$0")" && pwd)
shared=$(ls "$HEDDLE_HOME"/../shared/{models,networks}/*/model.{tflite,onnx} 2>/dev/null | grep -v speech_lstm)
exec bash "$dir/reuse.sh" "$HEDDLE_HOME"/tests/models/*/model.tflite $shared
