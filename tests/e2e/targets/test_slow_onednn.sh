#!/bin/bash
# The onednn example, if libdnnl is installed: the library's sums in float32 and in int8 give the same bytes.
# check-target: int8 byte-equal in both ways, float32 within its tolerance; a version without the bias is found.
. "$(dirname "$0")/../common.sh"
echo '#include <dnnl.h>' | ${CC:-cc} -fsyntax-only -x c - 2>/dev/null ||
    { echo "libdnnl-dev not found"; exit 77; }
export XDG_CONFIG_HOME=$work/config
export CC="$HEDDLE_HOME/tests/e2e/o0 ${CC:-cc}" # its package runs once
export OMP_NUM_THREADS=1 # its threads spin; a few images do not occupy several
head -c $((64 * 10)) "$models/digits/in_0.bin" >in.bin
head -c 100 "$models/digits/out_0.bin" >want.bin
for arithmetic in auto float int8; do
    "$heddle" run digits --engine=func --target=onednn --partition=priority -i in.bin --expect want.bin \
        --target-onednn-arithmetic=$arithmetic >stdout 2>stderr || fail "$arithmetic: $(cat stderr)"
    grep -q '^01_conv2d .* onednn  ' stdout || fail "$arithmetic: nothing on onednn"
done
# Depth 640 does not fit into exact float32 sums at once.
"$heddle" run autoencoder_own --engine=func --target=onednn --partition=priority \
    --target-onednn-arithmetic=float -o out >stdout 2>stderr || fail "deep: $(cat stderr)"
cmp -s out/out_0.bin "$models/autoencoder_own/out_0.bin" || fail "deep: another answer"
# Float networks take the library's own sums.
"$heddle" run "$HEDDLE_HOME/tests/e2e/answers/float.ir" --engine=func --target=onednn --partition=priority \
    >stdout 2>stderr || fail "float: $(cat stderr)"
grep -q '^35_fully_connected .* onednn ' stdout || fail "float: nothing on onednn"
grep -q '^verdict: \(match\|within [0-9.e-]* of\)' stdout || fail "float: $(grep ^verdict stdout)"
# A package links the library too.
"$heddle" compile digits --target=onednn --partition=priority -o net.tar || fail "compile"
"$heddle" run net.tar --engine=func --allow-native-targets -i in.bin --expect want.bin >stdout 2>stderr ||
    fail "a package: $(cat stderr)"
"$heddle" check-target "$HEDDLE_HOME/targets/onednn" >stdout 2>stderr || fail "$(cat stdout stderr)"
grep -q "^ok .* with arithmetic=int8: 96 operators, 6 inferences each, at most [0-9.]*e-0[5-9] of the range" stdout ||
    fail "tolerance: $(cat stdout)"
cp -r "$HEDDLE_HOME/targets/onednn" forgets
sed -i 's/"name": "onednn"/"name": "forgets"/' forgets/target.json
sed -i 's/float v = y\[i\] + .*;/float v = y[i];/' forgets/onednn.c
cmp -s forgets/onednn.c "$HEDDLE_HOME/targets/onednn/onednn.c" && fail "nothing changed"
"$heddle" check-target forgets --allow-native-targets >stdout 2>stderr
[ $? = 1 ] && grep -q "^FAIL .*: \(conv2d\|fully_connected\)_real: .* expected at most 3e-05, the pattern's tolerance" stdout ||
    fail "a bias forgotten: $(cat stdout stderr)"
finish
