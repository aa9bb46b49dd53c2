#!/bin/bash
# Products of two operands as attention of many tokens has them: how near the array's limit, by the estimate of the
# schedule; equal on the functional model, also where both operands are read in parts. Few rows: how near the bus.
. "$(dirname "$0")/../../../e2e/common.sh"

# product HW LEAST B M K N [OPTION...]: at least LEAST percent of the array's multipliers are busy.
product() {
    local hw=$1 least=$2 limit n
    shift 2
    n=$(sed -n "s/.*{\"name\": \"$hw\", \"n\": \([0-9]*\),.*/\1/p" "$HEDDLE_HOME/hw/accel.json")
    within "$hw" "$least" $(($1 * $2 * $3 * $4 / n / n)) "$@"
}

# read_once HW LEAST B M K N [OPTION...]: the second operand's bytes, read once, are at least LEAST percent of the cycles' bus.
read_once() {
    local hw=$1 least=$2 bytes
    shift 2
    bytes=$(sed -n "s/.*{\"name\": \"$hw\",.*\"axi_bytes\": \([0-9]*\),.*/\1/p" "$HEDDLE_HOME/hw/accel.json")
    within "$hw" "$least" $(($1 * $3 * $4 / bytes)) "$@"
}

# within HW LEAST LIMIT B M K N [OPTION...]: equal, and LIMIT is at least LEAST percent of the estimated cycles.
within() {
    local hw=$1 least=$2 limit=$3 cycles
    shift 3
    "$heddle" bench bmm "$@" --hw="$hw" --engine=func -o out >stdout 2>stderr || { fail "$hw $*: $(cat stdout stderr)"; return; }
    grep -q '^verdict: match' stdout || fail "$hw $*: $(head -1 stdout)"
    cycles=$(sed -n 's/.*inferences, about \([0-9]*\) cycles.*/\1/p' stdout)
    [ $((limit * 100)) -ge $((${cycles:-0} * least)) ] && [ -n "$cycles" ] ||
        fail "$hw $*: '$cycles' cycles, expected at most $((limit * 100 / least))"
}
product sys16 95 1 1008 1008 64
product sys16 95 1 1008 64 1008 --transpose-b
product sys16 60 1 128 2496 64
product sys8 90 1 512 2048 32
product tiny 70 1 256 512 16
product sys16 36 1 40 4000 64 # more rows than the array has: in parts only where nothing else fits
read_once sys16 85 4 1 4096 32
read_once sys16 60 4 1 32 4096 --transpose-b
read_once sys16 80 1 1 60000 32 # longer than commands count
read_once sys8 55 1 3 3000 147  # groups of channels that overlap
read_once tiny 8 2 2 700 49

# Attention whose tokens are read once more after it: in strips, which are wide only without these tokens on chip.
"$heddle" run "$HEDDLE_HOME/tests/compiler/systolic/schedule/strips_with_room.ir" --engine=func -n 1 >stdout 2>stderr ||
    fail "strips: $(cat stderr)"
cycles=$(sed -n 's/.*inferences, about \([0-9]*\) cycles.*/\1/p' stdout)
[ "${cycles:-999999}" -le 161000 ] || fail "strips: '$cycles' cycles, expected at most 161000"
finish
