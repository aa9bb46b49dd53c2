#!/bin/bash
# Single instructions of a described device: check-target names the first one that the core computes otherwise
# than the description, with its fields; so does run for the first wrong call of a network.
. "$(dirname "$0")/../../e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
. "$(dirname "$0")/plant.sh"
export HEDDLE_CXX="$HEDDLE_HOME/tests/e2e/o0 g++"
plant planted

# found BUG INSTRUCTION MEMORY: the instruction that is named, and where the first wrong byte is.
found() {
    SHUTTLE_BUG=$1 "$heddle" check-target planted --allow-native-targets >stdout 2>stderr && fail "bug $1 passes"
    grep -Eq "^FAIL instruction [0-9]+ on the Verilated core: $2 \(.*\): $3 0x[0-9a-f]+: expected 0x[0-9a-f]{2} \(" stdout ||
        fail "bug $1: expected $2, $3: $(grep FAIL stdout)"
}
found 1 pixels_in pixels
found 2 filters_in filters
found 3 channels_in channels
for bug in 4 5; do found $bug '(preload|spread)' weights; done
for bug in 6 7; do found $bug '(compute|widen)' sums; done
found 8 compute sums
for bug in 9 10 12; do found $bug '(move_out|keep)' '(outside|pixels)'; done
found 11 '(move_out|keep|widen)' '(outside|pixels|sums)'
found 13 widen sums
found 14 keep pixels
for bug in 15 16; do found $bug spread weights; done

sums=$HEDDLE_HOME/tests/compiler/systolic/schedule/weights_again.ir # over four sets of rows
SHUTTLE_BUG=8 "$heddle" run "$sums" -n 1 --target-dir=planted --target=planted,c --allow-native-targets >stdout 2>stderr &&
    fail "a core without accumulation passes"
grep -Eq '^ *first wrong instruction of the call: [0-9]+, compute \(rows [0-9]+, columns [0-9]+, from 0x[0-9a-f]+, .*, add 1\)' stderr ||
    fail "run, bug 8: $(cat stderr)"
grep -Eq '^ *sums 0x[0-9a-f]+: expected ' stderr || fail "run, bug 8: no byte: $(cat stderr)"

# An array that is smaller than the description states, or that the Verilog does not have.
wrong() { # wrong SED MESSAGE
    rm -rf wrong
    cp -r planted wrong
    sed -i "s/\"name\": \"planted\"/\"name\": \"wrong\"/; $1" wrong/target.json
    expect 2 "heddle: target wrong: memory 'sums': expected $2" "$heddle" check-target wrong --allow-native-targets
}
wrong 's/"int32", "bytes": 65536/"int32", "bytes": 131072/' \
    "at least 131072 bytes in array 'sums_q' of shuttle_core, found 65536"
wrong 's/sums_q/sums/' \
    "an array 'sums' in shuttle_core, of one dimension, with entries of 8, 16, 32 or a multiple of 32 bits; found none"
finish
