#!/bin/bash
# The long form of test_parts.sh: 500 random layers beyond the toy's limits, and more from a fresh seed.
. "$(dirname "$0")/../../e2e/common.sh"
export XDG_CONFIG_HOME=$work/config
here=$HEDDLE_HOME/tests/compiler/emit
seed=${HEDDLE_SEED:-$(date +%s)}
for s in 1 2 3 4 5 "$seed"; do
    python3 "$here/part_layers.py" "$s" 100 >net.ir 2>n
    "$heddle" run net.ir --target=toy,c --target-dir="$here/toy" --allow-native-targets --offload='*=toy' --engine=func -o out \
        >stdout 2>stderr || fail "part_layers.py $s 100: $(cat stderr)"
    grep -q '^verdict: match: ' stdout || fail "part_layers.py $s 100: $(head -3 stdout)"
    [ "$(grep -c '^    /\* [0-9]* parts of ' out/emitted/model.c)" = 100 ] || fail "part_layers.py $s 100: not all in parts"
done
finish
