#!/bin/bash
# Channels that are constant whatever the input: inspect shows which and why, the report the MACs saved; the answer is
# the reference's, which computes all of them.
. "$(dirname "$0")/../common.sh"
net=$HEDDLE_HOME/tests/compiler/legalise/constant_channels/into_bias.ir
"$heddle" inspect "$net" >stdout 2>stderr || fail "inspect: $(cat stderr)"
sed -n '/^constant channels/,$p' stdout >found
cat >want <<'END'
constant channels          whatever the input, because
00_conv2d                  1 of 4: 1 = -128, as it is never outside -287 to -128 before the clamp
00_conv2d                  1 of 4: 3 = -127 before the clamp, too
END
same want found "inspect"
"$heddle" run "$net" --engine=func --seed=7 --stats=s.json >stdout 2>stderr || fail "run: $(cat stdout stderr)"
grep -q '^verdict: match: ' stdout || fail "the answer: $(cat stdout)"
grep -q '^80 MACs, 50.0 % on the accelerator, 50.0 % folded away' stdout || fail "folded: $(cat stdout)"
# 2 of 4 channels of the first layer, and what the second reads of them.
[ "$(sed -n 's|.*"folded_macs":[^0-9]*\([0-9]*\).*|\1|p' s.json | sort -n | tr '\n' ' ')" = "16 24 40 " ] ||
    fail "folded_macs: $(grep -n folded_macs s.json)"

# A mean over a transposed image is computed before the transpose: its constant channels are the result's only where
# they are the same.
expect 0 '' "$heddle" inspect "$HEDDLE_HOME/tests/e2e/answers/turned_mean.ir"
[ "$(sed -n '/^constant channels/,$p' stdout | awk 'NR > 1 { print $1, $5, $7 }' | tr '\n' ';')" = \
    "00_conv 0 20;00_conv 1 -12;04_mean 0 20;04_mean 1 -12;" ] || fail "turned mean: $(sed -n '/^constant/,$p' stdout)"
"$heddle" run "$HEDDLE_HOME/tests/e2e/answers/turned_mean.ir" --engine=func >stdout 2>stderr || fail "turned mean: $(cat stderr)"
finish
