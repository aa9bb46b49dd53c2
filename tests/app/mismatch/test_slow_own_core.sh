#!/bin/bash
# A wrong byte of a target's core or C is reported with its layer and target, also in networks that use the array.
. "$HEDDLE_HOME/tests/e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
cp -r "$HEDDLE_HOME/targets/vanilla" bad
sed -i 's/"name": "vanilla"/"name": "bad"/' bad/target.json
sed 's/biased  = rounded + r\[Z_OUT\];/biased  = rounded + r[Z_OUT] + (r[IN_C] > 31 \&\& rounded > 5 ? 1 : 0);/' bad/vanilla_core.sv >core.sv
cmp -s core.sv bad/vanilla_core.sv && fail "no bug planted"
mv core.sv bad/vanilla_core.sv
run() {
    "$heddle" run digits --hw=tiny --target-dir=bad --partition=priority --allow-native-targets -n 1 "$@" >stdout 2>stderr
    [ $? = 1 ] || fail "$*: expected exit 1: $(cat stderr)"
}
says() {
    grep -qxF "$1" stderr || fail "no '$1' in: $(cat stderr)"
}
run --target=bad,systolic
says '  replay: 06_conv2d alone is wrong too, on target bad; look at its Verilog and its C:'
says '    with --waves=layer:06_conv2d: the waves of vanilla_core in that call'
grep -q 'first differ at' stderr && fail "another unit is named: $(cat stderr)"
replay=$(sed -n 's/^ *heddle \(run heddle-mismatch.*\)/\1/p' stderr)
# shellcheck disable=SC2086
"$heddle" $replay --waves=layer:06_conv2d -o waves >stdout 2>stderr
[ -s waves/waves.fst ] || fail "no waves of the core: $(cat stderr)"

# C with a state: right alone, wrong after three calls.
cp "$HEDDLE_HOME"/targets/vanilla/vanilla_core.sv bad
sed -i 's/^    return 0;$/    static int calls;\n    y[0] = (int8_t)(y[0] ^ (++calls > 3 ? 16 : 0));\n    return 0;/' bad/vanilla.c
grep -q calls bad/vanilla.c || fail "no bug planted"
run --target=bad,c --engine=func
says '  replay: 05_conv2d alone is right: on target bad, calls before it change its answer'
finish
