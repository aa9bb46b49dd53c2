#!/bin/bash
# Networks of one operator and the zoo, through emitted C: on the functional twin with what the
# accelerator takes, and wholly on the host. Goldens are the oracle's (tests/oracle).
. "$(dirname "$0")/common.sh"

check_network() { # check_network FOLDER TARGETS
    "$heddle" run "$1/model.tflite" -i "$1/in_0.bin" --expect "$1/out_0.bin" --engine=func \
        --target="$2" >"$work/log" 2>&1 || fail "$1 on $2: $(tail -n 1 "$work/log")"
}

count=0
for folder in "$HEDDLE_HOME"/tests/compiler/ref/models/* "$models"/*; do
    [ -e "$folder/in_0.bin" ] && [ ! -e "$folder/in_1.bin" ] || continue
    for targets in systolic,c c; do
        check_network "$folder" "$targets"
        count=$((count + 1))
    done
done
[ "$count" -ge 40 ] || fail "only $count networks found"
finish
