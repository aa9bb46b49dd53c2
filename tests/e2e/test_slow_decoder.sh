#!/bin/bash
# A decoder's step, 32 tokens with the cache of keys and values carried from one to the next, on the RTL against
# the oracle. As a sliding window nothing of it is left to the host.
. "$(dirname "$0")/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }

for form in window update; do
    folder=$HEDDLE_HOME/tests/reference/models/decoder_$form
    inputs=(-i "$folder/in_0.bin")
    [ "$form" = window ] || inputs+=(-i "$folder/in_1.bin")
    "$heddle" run "$folder/model.tflite" "${inputs[@]}" --expect "$folder/out_0.bin" -o "$form" >stdout 2>stderr ||
        fail "$form: $(tail -n 1 stderr)"
    grep -q "match: 1 output of 32 inferences equal" stdout || fail "$form: $(head -n 1 stdout)"
done
grep -q '"crossings":.0,*$' window/stats.json || fail "window: $(grep crossings window/stats.json)"
on_host='"target":.*"c"'
grep -q "$on_host" update/stats.json || fail "update: nothing on the host"
grep -q "$on_host" window/stats.json && fail "window: an operator is on the host"
# Token 31 depends on those before it: afresh, its answer is another.
window=$HEDDLE_HOME/tests/reference/models/decoder_window
"$heddle" run "$window/model.tflite" -i "$window/in_0.bin" --expect "$window/out_0.bin" --reset-state \
    --engine=func >stdout 2>stderr
[ $? = 1 ] || fail "without the cache the answer is the same: $(head -n 1 stdout)"
finish
