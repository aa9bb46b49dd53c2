#!/bin/bash
# Products of two operands as attention of many tokens has them: how near the array's limit, by the estimate of the
# schedule; equal on the functional model, also where the rows of the first operand are read in parts.
. "$(dirname "$0")/../../../e2e/common.sh"

# product HW LEAST B M K N [OPTION...]: at least LEAST percent of the array's multipliers are busy.
product() {
    local hw=$1 least=$2 limit n
    shift 2
    n=$(sed -n "s/.*{\"name\": \"$hw\", \"n\": \([0-9]*\),.*/\1/p" "$HEDDLE_HOME/hw/accel.json")
    "$heddle" bench bmm "$@" --hw="$hw" --engine=func -o out >stdout 2>stderr || { fail "$hw $*: $(cat stdout stderr)"; return; }
    grep -q '^verdict: match' stdout || fail "$hw $*: $(head -1 stdout)"
    limit=$(($1 * $2 * $3 * $4 / n / n))
    cycles=$(sed -n 's/.*inferences, about \([0-9]*\) cycles.*/\1/p' stdout)
    [ $((limit * 100)) -ge $((${cycles:-0} * least)) ] && [ -n "$cycles" ] ||
        fail "$hw $*: '$cycles' cycles, expected at most $((limit * 100 / least))"
}
product sys16 95 1 1008 1008 64
product sys16 95 1 1008 64 1008 --transpose-b
product sys16 60 1 128 2496 64
product sys8 90 1 512 2048 32
product tiny 70 1 256 512 16
finish
