#!/bin/bash
# --fc-scale: two dense layers for which the reference (double rounding) and LiteRT 2.3.0 (one
# rounding) answer differently; both goldens are theirs (tests/oracle: rand_tflite.py --ops fc
# --max-ops 1, seeds 9036 and 9038).
. "$(dirname "$0")/../common.sh"

check() { # check EXPECTED-EXIT FOLDER GOLDEN OPTION...
    local want=$1 folder=$2 golden=$3
    shift 3
    "$heddle" run "$folder/model.tflite" -i "$folder/in_0.bin" --expect "$folder/$golden" "$@" >log 2>&1
    local got=$?
    [ $got = "$want" ] || fail "$folder, $golden, $*: expected exit code $want, found $got: $(tail -n 1 log)"
}

for folder in "$HEDDLE_HOME"/tests/e2e/answers/fc_scale/*; do
    for engine in ref func; do
        check 0 "$folder" out_0.bin --engine=$engine
        check 0 "$folder" out_litert_0.bin --engine=$engine --fc-scale=litert
        check 1 "$folder" out_litert_0.bin --engine=$engine
        check 1 "$folder" out_0.bin --engine=$engine --fc-scale=litert
    done
done
# Round scales (fc_scale_tflite.py --write): results half-way between two values, where LiteRT's factor in double shows.
for engine in ref func; do
    check 0 "$HEDDLE_HOME/tests/e2e/answers/fc_scale_round" out_litert_0.bin --engine=$engine --fc-scale=litert
    check 1 "$HEDDLE_HOME/tests/e2e/answers/fc_scale_round" out_litert_0.bin --engine=$engine
done
"$heddle" inspect "$HEDDLE_HOME/tests/e2e/answers/fc_scale/int8/model.tflite" --fc-scale=litert >log 2>&1
grep -q "rounds in floating point" log || fail "inspect does not say why: $(cat log)"
finish
