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

# One channel of a depthwise convolution is left: on the host a convolution's kernel computes it.
cat >one.ir <<'END'
heddle-ir 1
graph name="one"
row 0 name="00_conv2d" op="CONV2D" tensor="y" shape=""
row 1 name="01_depthwise_conv2d" op="DEPTHWISE_CONV2D" tensor="v" shape=""
row 2 name="02_conv2d" op="CONV2D" tensor="z" shape=""
tensor 0 i8 [1,3,3,2] input name="x" scale=(1) zero=(8)
tensor 1 i8 [2,1,1,2] const name="w0" scale=(0.5) zero=(0) data=0305fd02
tensor 2 i8 [1,3,3,2] value name="y" scale=(4) zero=(-8)
tensor 3 i8 [1,1,1,2] const name="w1" scale=(0.5) zero=(0) data=2600
tensor 4 i32 [2] const name="b1" scale=(2) zero=(0) values=(-417,999999)
tensor 5 i8 [1,3,3,2] value name="v" scale=(64) zero=(-8)
tensor 6 i8 [2,1,1,2] const name="w2" scale=(0.5) zero=(0) data=0f18f9de
tensor 7 i8 [1,3,3,2] value name="z" scale=(512) zero=(-75)
op conv2d row=0 in=(0,1) out=(2) stride_h=1 stride_w=1 dilation_h=1 dilation_w=1 kernel_h=1 kernel_w=1
op depthwise_conv2d row=1 in=(2,3,4) out=(5) stride_h=1 stride_w=1 dilation_h=1 dilation_w=1 kernel_h=1 kernel_w=1 multiplier=1
op conv2d row=2 in=(5,6) out=(7) stride_h=1 stride_w=1 dilation_h=1 dilation_w=1 kernel_h=1 kernel_w=1
border in=(0) out=(7)
END
"$heddle" run one.ir --engine=func --target=c >stdout 2>stderr || fail "one channel: $(cat stdout stderr)"
"$heddle" inspect one.ir --target=c >stdout 2>stderr
grep -q '^01_depthwise_conv2d  *1 of 2: 1 = 127' stdout || fail "one channel: $(cat stdout stderr)"

# A mean over a transposed image is computed before the transpose: its constant channels are the result's only where
# they are the same.
expect 0 '' "$heddle" inspect "$HEDDLE_HOME/tests/e2e/answers/turned_mean.ir"
[ "$(sed -n '/^constant channels/,$p' stdout | awk 'NR > 1 { print $1, $5, $7 }' | tr '\n' ';')" = \
    "00_conv 0 20;00_conv 1 -12;04_mean 0 20;04_mean 1 -12;" ] || fail "turned mean: $(sed -n '/^constant/,$p' stdout)"
"$heddle" run "$HEDDLE_HOME/tests/e2e/answers/turned_mean.ir" --engine=func >stdout 2>stderr || fail "turned mean: $(cat stderr)"
finish
