#!/bin/bash
# The jacquard example, longer: all bugs that are planted in its core and C; random layers with other seeds, as C and on
# the core with latencies, stalls and random start values.
JACQUARD_ALL=1 bash "$(dirname "$0")/test_slow_jacquard.sh" || exit
. "$(dirname "$0")/../../e2e/common.sh"
for seed in 2 3 4; do
    "$heddle" check-target "$HEDDLE_HOME/targets/jacquard" --seed=$seed --allow-native-targets >stdout 2>stderr ||
        fail "seed $seed: $(cat stdout stderr)"
    grep -q '^ok   on the Verilated core, .*stalls and noise' stdout || fail "seed $seed: not on the core"
    grep -Eq '^ok   cost of conv2d: [0-9][.][0-9] % off' stdout || fail "seed $seed: $(grep 'cost of conv2d' stdout)"
done
finish
