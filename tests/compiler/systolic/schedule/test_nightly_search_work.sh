#!/usr/bin/env bash
# The search's work limits cost at most 1 % of the cycles: all networks at sys16, compared with 45 times the work.
set -u
: "${HEDDLE_HOME:?}" "${HEDDLE_BUILD:?}"
cd "$HEDDLE_HOME" || exit 1
shopt -s nullglob
exec "$HEDDLE_BUILD/search_work" sys16 45 1 tests/models/*/model.{tflite,onnx} \
    ../shared/{models,networks}/*/model.{tflite,onnx}
