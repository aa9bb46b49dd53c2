#!/bin/bash
# The xnnpack target, if libXNNPACK is installed: check-target allows each pattern one step; networks whose steps stay
# small, repeatedly (operators are cached), and in a package; a wrong zero point is found.
. "$(dirname "$0")/../common.sh"
printf '#include <stddef.h>\n#include <xnnpack.h>' | ${CC:-cc} -fsyntax-only -x c - 2>/dev/null ||
    { echo "libxnnpack-dev or libpthreadpool-dev not found"; exit 77; }
export XDG_CONFIG_HOME=$work/config
"$heddle" check-target "$HEDDLE_HOME/targets/xnnpack" --allow-native-targets >stdout 2>stderr || fail "$(cat stdout stderr)"
grep -q "^ok .*: 240 operators, 6 inferences each, at most 0.00392 of the range" stdout || fail "one step: $(cat stdout)"
for model in dscnn_own resnet8_own; do
    "$heddle" run $model --engine=func --target=xnnpack --partition=priority >stdout 2>stderr || fail "$model: $(cat stderr)"
    grep -q '^verdict: \(match\|within 0.00[0-9]* of\)' stdout || fail "$model: $(grep ^verdict stdout)"
    awk '$1 ~ /^[0-9][0-9]_/ && $3 == "xnnpack" { sub(/^[0-9]*_/, "", $1); print $1 }' stdout >>took
done
for op in conv2d depthwise_conv2d add fully_connected average_pool_2d softmax; do
    grep -qx $op took || fail "no $op on xnnpack"
done
"$heddle" compile dscnn_own --target=xnnpack --partition=priority -o net.tar || fail "compile"
"$heddle" run net.tar --engine=func --allow-native-targets -i "$models/dscnn_own/in_0.bin" \
    --expect "$models/dscnn_own/out_0.bin" >stdout 2>stderr || fail "a package: $(cat stderr)"
cp -r "$HEDDLE_HOME/targets/xnnpack" wrong
sed -i 's/"name": "xnnpack"/"name": "wrong"/' wrong/target.json
sed -i 's/(int8_t)s->z_in,/(int8_t)(s->z_in + (s->z_in < 127)),/' wrong/xnnpack_ops.c
cmp -s wrong/xnnpack_ops.c "$HEDDLE_HOME/targets/xnnpack/xnnpack_ops.c" && fail "nothing changed"
"$heddle" check-target wrong --allow-native-targets >stdout 2>stderr
[ $? = 1 ] && grep -q "^FAIL .*: conv2d: .* expected at most 0.0039" stdout || fail "a wrong zero point: $(cat stdout stderr)"
finish
