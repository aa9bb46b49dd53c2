#!/bin/bash
# check-target of the onednn example, where libdnnl is: int8 byte-equal in both of its ways, float32
# within its tolerance; one that forgets the bias is found.
. "$(dirname "$0")/common.sh"
echo '#include <dnnl.h>' | "${CC:-cc}" -fsyntax-only -x c - 2>/dev/null ||
    { echo "libdnnl-dev is not there"; exit 77; }
export OMP_NUM_THREADS=1 XDG_CONFIG_HOME=$work/config
"$heddle" check-target "$HEDDLE_HOME/targets/onednn" >stdout 2>stderr || fail "$(cat stdout stderr)"
grep -q "^ok .* with arithmetic=int8: 96 operators, 6 inferences each, at most [0-9.]*e-0[6-9] of the range" stdout ||
    fail "tolerance: $(cat stdout)"
cp -r "$HEDDLE_HOME/targets/onednn" forgets
sed -i 's/"name": "onednn"/"name": "forgets"/' forgets/target.json
sed -i 's/float v = y\[i\] + .*;/float v = y[i];/' forgets/onednn.c
cmp -s forgets/onednn.c "$HEDDLE_HOME/targets/onednn/onednn.c" && fail "nothing changed"
"$heddle" check-target forgets --allow-native-targets >stdout 2>stderr
[ $? = 1 ] && grep -q "^FAIL .*: \(conv2d\|fully_connected\)_real: .* expected at most 1e-05, the pattern's tolerance" stdout ||
    fail "a bias forgotten: $(cat stdout stderr)"
finish
