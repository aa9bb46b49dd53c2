#!/bin/bash
# No two numbers of a run contradict each other, for every network of tests/models, and for those of ../shared where they
# are: stats files (stats_check.c) on func and RTL, traces of the RTL (trace_check.py).
. "$(dirname "$0")/../common.sh"
networks=("$models"/*/model.tflite)
for network in "$HEDDLE_HOME"/../shared/{models,networks}/*/model.{tflite,onnx}; do
    [ ! -e "$network" ] || networks+=("$network")
done
for engine in func rtl; do
    "$HEDDLE_HOME/tests/e2e/numbers/stats.sh" $engine sys16 "${networks[@]}" >stdout || fail "$(cat stdout)"
    tail -1 stdout
done
for network in "${networks[@]}"; do
    rm -rf out
    "$heddle" run "$network" -o out >stdout 2>stderr || fail "$network: $(tail -3 stderr)"
    python3 "$HEDDLE_HOME/tests/app/report/trace_check.py" out >stdout 2>&1 || fail "$network: $(tail -1 stdout)"
done
finish
