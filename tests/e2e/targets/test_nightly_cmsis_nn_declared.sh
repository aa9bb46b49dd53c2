#!/bin/bash
# The cmsis_nn target without CMSIS-NN: compiled against heddle's declarations and linked to heddle's functions, which
# follow the documentation (cmsis_nn/; no oracle for the library's bytes). The target's arguments are right:
# check-target, whole networks, a package for a Cortex-M55 in qemu; a wrong sign and too little memory are found.
. "$(dirname "$0")/../common.sh"
export XDG_CONFIG_HOME=$work/config CMSIS_NN=$work/stand_in
here=$HEDDLE_HOME/tests/e2e/targets/cmsis_nn
# stand_in COMPILER FLAGS...: $CMSIS_NN, built.
stand_in() {
    rm -rf stand_in
    mkdir -p stand_in/Include stand_in/lib
    cp "$here/arm_nnfunctions.h" stand_in/Include
    for define in "${@:2}"; do # headers hold for all who include them
        case $define in -D*) sed -i "/^#define ARM_NNFUNCTIONS_H/a #define ${define#-D}" stand_in/Include/arm_nnfunctions.h ;; esac
    done
    "$1" -std=c11 -O2 -Wall -Wextra -Werror -fPIC -ffreestanding -I stand_in/Include "${@:2}" -c "$here/stand_in.c" \
        -o stand_in/o.o && ar rcs stand_in/lib/libcmsis-nn.a stand_in/o.o || fail "the stand-in does not build: $*"
}
cc=${CC:-cc}
stand_in "$cc"
"$heddle" check-target "$HEDDLE_HOME/targets/cmsis_nn" --allow-native-targets >stdout 2>stderr || fail "$(cat stdout stderr)"
grep -q "^ok .* sanitizers: 192 operators, 6 inferences each, equal to the reference$" stdout || fail "equal: $(cat stdout)"
for version in 4 6; do
    stand_in "$cc" -DSTAND_IN_SUMS_OF_$version
    "$heddle" run autoencoder_own --engine=func --target=cmsis-nn,c --partition=priority >stdout 2>stderr || fail "$version: $(cat stderr)"
    grep -q '^verdict: match' stdout || fail "sums of $version: $(grep ^verdict stdout)"
done
stand_in "$cc"
for model in dscnn_own resnet8_own; do
    "$heddle" run $model --engine=func --target=cmsis-nn,c --target-cmsis-nn-mcpu=cortex-m55 >stdout 2>stderr || fail "$model: $(cat stderr)"
    grep -q '^verdict: match' stdout || fail "$model: $(grep ^verdict stdout)"
    awk '$1 ~ /^[0-9][0-9]_/ && $3 == "cmsis_nn" { sub(/^[0-9]*_/, "", $1); print $1 }' stdout >>took
done
for op in conv2d depthwise_conv2d add fully_connected average_pool_2d softmax; do
    grep -qx $op took || fail "no $op on cmsis_nn: $(sort -u took)"
done
# --- a package for the processor: its toolchain, and what it gives in qemu ---
cp_wrong() { # cp_wrong NAME FILE SED: a copy of the target that is wrong
    cp -r "$HEDDLE_HOME/targets/cmsis_nn" "$1"
    sed -i "s/\"name\": \"cmsis_nn\"/\"name\": \"$1\"/" "$1/target.json"
    sed -i "$3" "$1/$2"
    cmp -s "$1/$2" "$HEDDLE_HOME/targets/cmsis_nn/$2" && fail "nothing changed: $3"
    "$heddle" check-target "$1" --allow-native-targets >stdout 2>stderr && fail "$1 passes"
}
cp_wrong sign cmsis_nn_ops.c 's/-p->z_b,/p->z_b,/'
grep -q "^FAIL .*: add: .*expected" stdout || fail "a wrong sign: $(cat stdout)"
cp_wrong little target.json 's/8 \* out_c + 2 \* kernel_h/4 * out_c + 2 * kernel_h/'
grep -q "^FAIL depthwise_conv2d: .*: the call returned -10" stdout || fail "too little memory: $(cat stdout)"
expect 2 "heddle: --target-c-mcpu=cortex-m4 and --target-cmsis-nn-mcpu=cortex-m55: a package is for one processor" \
    "$heddle" inspect digits --target=cmsis-nn,c --target-c-mcpu=cortex-m4 --target-cmsis-nn-mcpu=cortex-m55
"$heddle" compile digits --target=cmsis-nn,c --target-cmsis-nn-mcpu=cortex-m55 --partition=priority -o net 2>stderr ||
    fail "compile: $(cat stderr)"
grep -qx "set(NET_MCPU cortex-m55)" net/bare/toolchain.cmake || fail "toolchain: $(cat net/bare/toolchain.cmake)"
grep -q "cmsis_nn_conv2d(" net/model.c || fail "nothing on cmsis_nn"
if ! command -v arm-none-eabi-gcc >/dev/null || ! command -v qemu-system-arm >/dev/null; then
    echo "not tried: arm-none-eabi-gcc or qemu-system-arm not found"
    finish
fi
stand_in arm-none-eabi-gcc -mcpu=cortex-m55 -mthumb -mfpu=auto -mfloat-abi=hard
head -c $((64 * 4)) "$models/digits/in_0.bin" >in_0.bin
head -c 40 "$models/digits/out_0.bin" >want.bin
with=("$heddle" run net --engine=qemu --allow-native-targets -i in_0.bin)
expect 2 "heddle: --engine=qemu: the package's library is built for cortex-m55, so this machine has no answer to compare with; \
expected --expect" "${with[@]}"
"${with[@]}" --expect want.bin >stdout 2>stderr || fail "qemu: $(cat stdout stderr)"
grep -q "^verdict: match: 1 output of 4 inferences equal, bit for bit, to the expected outputs" stdout || fail "qemu: $(cat stdout)"
grep -q "^digits, engine qemu: 4 inferences on cortex-m55 " stdout || fail "qemu: $(cat stdout)"
stand_in arm-none-eabi-gcc -mcpu=cortex-m55 -mthumb -mfpu=auto -mfloat-abi=hard -DSTAND_IN_WRONG
"${with[@]}" --expect want.bin >stdout 2>stderr
[ $? = 1 ] || fail "another library is not linked: $(cat stdout stderr)"
finish
