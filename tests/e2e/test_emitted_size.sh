#!/bin/bash
# Emitted C stays small: each further layer adds one parameter struct and one call on the host, and
# only commands on the accelerator; never a copied body.
. "$(dirname "$0")/common.sh"

command -v gcc >/dev/null || { echo "gcc is not there"; exit 77; }

# chain N: N convolutions 3x3, 8 to 8 channels, with different weights.
chain() {
    local i
    echo 'heddle-ir 1 graph name="chain"'
    for ((i = 0; i < $1; i++)); do
        printf 'row %d name="%02d_conv2d" op="CONV_2D" tensor="y" shape="1x8x8x8"\n' $i $i
    done
    echo 'tensor 0 i8 [1,8,8,8] input name="x" scale=(0.5) zero=(0)'
    for ((i = 1; i <= $1; i++)); do
        echo "tensor $((2 * i - 1)) i8 [8,3,3,8] const name=\"w\" scale=(0.01) zero=(0) fill=$i"
        echo "tensor $((2 * i)) i8 [1,8,8,8] value name=\"y\" scale=(0.5) zero=($i)"
    done
    for ((i = 1; i <= $1; i++)); do
        echo "op conv2d row=$((i - 1)) in=($((2 * i - 2)),$((2 * i - 1))) out=($((2 * i))) stride_h=1 stride_w=1" \
            "dilation_h=1 dilation_w=1 kernel_h=3 kernel_w=3 pad_top=1 pad_bottom=1 pad_left=1 pad_right=1"
    done
    echo "border in=(0) out=($((2 * $1)))"
}

# measure N TARGET: sets functions, calls, submissions, bytes (code and data of model.c, no weights).
measure() {
    chain "$1" >chain.ir
    rm -rf out
    "$heddle" compile chain.ir --target="$2" --hw=sys8 -o out 2>stderr || fail "compile: $(cat stderr)"
    gcc -std=c11 -O2 -Wall -Werror -I out/runtime -c out/model.c -o model.o || fail "gcc"
    functions=$(nm model.o | grep -ci ' t ')
    calls=$(grep -c 'hdk_conv2d(&' out/model.c)
    submissions=$(grep -c 'hd_run(' out/model.c)
    bytes=$(size model.o | awk 'NR == 2 { print $1 + $2 }')
}

measure 4 c
four=$bytes
[ "$calls $submissions" = "4 0" ] || fail "4 layers: $calls kernel calls, $submissions submissions"
few=$functions
measure 8 c
each=$(((bytes - four) / 4))
[ "$calls" = 8 ] || fail "8 layers: $calls kernel calls"
[ "$functions" = "$few" ] || fail "8 layers need $functions functions, 4 layers $few"
[ "$each" -gt 0 ] && [ "$each" -le 224 ] || fail "a further layer on the host adds $each bytes"
echo "host: $each bytes of code and parameters a layer, $functions functions"

measure 4 systolic,c
four=$bytes
[ "$calls $submissions" = "0 1" ] || fail "accelerator: $calls kernel calls, $submissions submissions"
measure 8 systolic,c
each=$(((bytes - four) / 4))
[ "$calls $submissions" = "0 1" ] || fail "8 layers: $calls kernel calls, $submissions submissions"
[ "$each" -le 32 ] || fail "a further layer on the accelerator adds $each bytes to model.c"
echo "accelerator: $each bytes a layer in model.c, 1 submission"
finish
