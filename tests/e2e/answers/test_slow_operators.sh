#!/bin/bash
# Networks of one operator and the zoo, through emitted C: on the functional model with the operators that the
# accelerator accepts, and entirely on the host. Goldens are the oracle's (tests/oracle).
. "$(dirname "$0")/../common.sh"

check_network() { # check_network FOLDER TARGETS
    local flags=() k=0
    while [ -e "$1/in_$k.bin" ]; do flags+=(-i "$1/in_$k.bin"); k=$((k + 1)); done
    k=0
    while [ -e "$1/out_$k.bin" ]; do flags+=(--expect "$1/out_$k.bin"); k=$((k + 1)); done
    "$heddle" run "$1/model.tflite" "${flags[@]}" --engine=func \
        --target="$2" >"$work/log" 2>&1 || fail "$1 on $2: $(tail -n 1 "$work/log")"
}

count=0
for folder in "$HEDDLE_HOME"/tests/reference/models/* "$models"/*; do
    [ -e "$folder/in_0.bin" ] || continue
    for targets in systolic,c c; do
        check_network "$folder" "$targets"
        count=$((count + 1))
    done
done
# State starts from its initial value, and is carried between inferences or reset.
state=$HEDDLE_HOME/tests/reference/models/state
for engine in ref func; do
    "$heddle" run "$state/model.tflite" -i "$state/in_0.bin" --expect "$state/out_reset_0.bin" \
        --expect "$state/out_reset_1.bin" --reset-state --engine=$engine >"$work/log" 2>&1 ||
        fail "state afresh on $engine: $(tail -n 1 "$work/log")"
done
[ "$count" -ge 60 ] || fail "only $count networks found"
finish
