#!/bin/bash
# Random products whose sums leave the array as digits: equal on the functional model in three configurations,
# one with a scratchpad for strips alone, and on the RTL.
. "$(dirname "$0")/../../../e2e/common.sh"
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }

# equal SEED HW [OPTION...]
equal() {
    local seed=$1 hw=$2
    shift 2
    python3 "$HEDDLE_HOME/tests/compiler/systolic/lower/digits_net.py" "$seed" >net.ir
    "$heddle" run net.ir --hw="$hw" --no-search -n 2 "$@" >report 2>stderr || fail "seed $seed on $hw $*: $(head -n 1 report stderr)"
    grep -q '^verdict: match' report || fail "seed $seed on $hw $*: $(head -n 1 report)"
}
narrow='{"base": "sys8", "scratchpad_bytes": 2048, "softmax_rows": 0}'
for seed in 5 12 27; do
    equal "$seed" sys16 --engine=func
done
for seed in 4 9 11 26; do
    equal "$seed" tiny --engine=func
done
for seed in 11 16 24 27; do
    equal "$seed" "$narrow" --engine=func
done
equal 16 tiny
equal 35 tiny
expect 0 '' "$heddle" prove net.ir --hw=tiny --no-search --strict
finish
