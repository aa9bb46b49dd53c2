#!/bin/bash
# The shifty example: power-of-two scales go to it, equal scales of all channels count as one, other
# scales are refused with the scale, of int8 and of int16; three targets in one network give the bytes of one.
. "$(dirname "$0")/../common.sh"
pot=$HEDDLE_HOME/tests/e2e/targets/pot.ir

"$heddle" inspect "$pot" --target=shifty,systolic --partition=priority >stdout 2>stderr ||
    fail "$(cat stderr)"
for row in 00_conv_pot 01_conv_equal 03_dense_pot; do
    grep -q "^$row .* shifty  " stdout || fail "shifty does not take $row: $(grep $row stdout)"
done
grep -q "^02_conv_not .* systolic .*; shifty: the scale 0.00625.* is not a power of two" stdout ||
    fail "02_conv_not: $(grep 02_conv stdout)"
"$heddle" run "$pot" --engine=ref -o ref >/dev/null 2>stderr || fail "$(cat stderr)"
for list in c systolic shifty "shifty,systolic,vanilla --offload=01_conv_equal=vanilla"; do
    # shellcheck disable=SC2086
    "$heddle" run "$pot" --engine=func --partition=priority --target=$list -o out >stdout 2>stderr ||
        fail "$list: $(cat stderr)"
    same ref/out_0.bin out/out_0.bin "$list"
done
for target in shifty vanilla systolic; do
    grep -q "^0[0-9a-z_]*  *[0-9x]*  *$target " stdout || fail "$target is not used in: $list"
done
"$heddle" inspect resnet8_own --target=shifty >stdout
grep -q "shifty: the weights are quantised per channel (16 scales), this pattern supports one" stdout ||
    fail "resnet8_own: $(sed -n 2p stdout)"
"$heddle" check-target "$HEDDLE_HOME/targets/shifty" --allow-native-targets >stdout 2>stderr ||
    fail "check-target: $(cat stdout stderr)"
grep -q "^ok .*: 96 operators, 6 inferences each, equal to the reference" stdout || fail "check-target: $(cat stdout)"
# int16 activations: the shift bits of three layers in the emitted calls, the reference's bytes.
pot16=$HEDDLE_HOME/tests/e2e/targets/pot16.ir
"$heddle" run "$pot16" --engine=func --target=shifty,c --partition=priority -o out >stdout 2>stderr || fail "$(cat stderr)"
grep -q "^verdict: match: .* equal, bit for bit, .*to the CPU reference, which runs" stdout || fail "pot16: $(head -1 stdout)"
grep -q "^02_conv_not .* c .* conv2d_16: the scale 0.00499999989 is not a power of two" stdout || fail "pot16: $(grep ^02 stdout)"
grep -o 'shifty_conv2d(2, .*' out/emitted/model.c | sed 's/.*}, //' >calls
printf '%s\n' "0, 0, 8, -32768, 32767));" "0, 0, 8, 0, 32767));" "0, 0, 9, -32768, 32767));" | cmp -s - calls || fail "pot16: $(cat calls)"
"$heddle" run "$pot16" --engine=ref -o ref >/dev/null 2>stderr || fail "$(cat stderr)"
same ref/out_0.bin out/out_0.bin pot16
# A shifter that rounds differently than it states.
bent() { # OPERATOR SED
    rm -rf bent
    cp -r "$HEDDLE_HOME/targets/shifty" bent
    sed -i 's/"name": "shifty"/"name": "bent"/' bent/target.json
    sed -i "$2" bent/shifty.c
    cmp -s bent/shifty.c "$HEDDLE_HOME/targets/shifty/shifty.c" && fail "bent: nothing changed"
    "$heddle" check-target bent --allow-native-targets >stdout 2>stderr
    [ $? = 1 ] && grep -q "^FAIL .*: $1: .*: expected .*, found " stdout || fail "bent: $(cat stdout stderr)"
}
bent conv2d 's/ + (half < 0))/)/'
bent conv2d_16 's/((acc >> (bits - 1)) + 1) >> 1/acc >> bits/'
# Networks brought to powers of two: every product goes to shifty, and the same number of images is right.
for row in resnet8_own:87.50 digits:98.89; do
    command -v python3 >/dev/null || break
    model=${row%:*}
    "$heddle" inspect $model --dump-ir ir >/dev/null
    python3 "$HEDDLE_HOME/targets/shifty/pot.py" ir/00_import.ir pot.ir || fail "pot.py"
    "$heddle" run pot.ir --engine=func --target=shifty,systolic --partition=priority \
        -i "$models/$model/in_0.bin" --labels "$models/$model/labels.txt" >stdout 2>stderr || fail "$model: $(cat stderr)"
    grep -E '^[0-9]+_(conv2d|fully_connected)' stdout | grep -v ' shifty ' && fail "$model: not all on shifty"
    grep -qx "accuracy: ${row#*:} %" stdout || fail "$model: $(grep accuracy stdout)"
    grep -q "^verdict: match: .*1 output .*equal, bit for bit, .*to the CPU reference, which runs" stdout || fail "$model: $(tail -1 stdout)"
done
finish
