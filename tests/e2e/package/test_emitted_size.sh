#!/bin/bash
# Emitted C stays small. A further layer adds only one parameter struct and one call on the host or an external target,
# and only commands on the accelerator. No function or body is duplicated: the bytes per layer are the same from 4
# layers to 8 as from 8 to 16.
. "$(dirname "$0")/../common.sh"

for tool in gcc nm size objdump; do
    command -v $tool >/dev/null || { echo "$tool not found"; exit 77; }
done

# chain N KIND: N layers, each 8x8x8 to 8x8x8: conv and depthwise with weights of their own, add with
# the network's input.
chain() {
    local i in
    local sizes="stride_h=1 stride_w=1 dilation_h=1 dilation_w=1 kernel_h=3 kernel_w=3"
    local pads="pad_top=1 pad_bottom=1 pad_left=1 pad_right=1"
    echo 'heddle-ir 1 graph name="chain"'
    for ((i = 0; i < $1; i++)); do
        printf 'row %d name="%02d_%s" op="%s" tensor="y" shape="1x8x8x8"\n' $i $i "$2" "$2"
    done
    echo 'tensor 0 i8 [1,8,8,8] input name="x" scale=(0.5) zero=(0)'
    for ((i = 1; i <= $1; i++)); do
        case $2 in
            conv2d) echo "tensor $((2 * i - 1)) i8 [8,3,3,8] const name=\"w\" scale=(0.01) zero=(0) fill=$i" ;;
            depthwise_conv2d) echo "tensor $((2 * i - 1)) i8 [1,3,3,8] const name=\"w\" scale=(0.01) zero=(0) fill=$i" ;;
            add) echo "tensor $((2 * i - 1)) i8 [1,8,8,8] const name=\"w\" scale=(0.01) zero=(0) fill=$i" ;;
        esac
        echo "tensor $((2 * i)) i8 [1,8,8,8] value name=\"y\" scale=(0.5) zero=($i)"
    done
    for ((i = 1; i <= $1; i++)); do
        in="in=($((2 * i - 2)),$((2 * i - 1))) out=($((2 * i)))"
        case $2 in
            conv2d) echo "op conv2d row=$((i - 1)) $in $sizes $pads" ;;
            depthwise_conv2d) echo "op depthwise_conv2d row=$((i - 1)) $in $sizes $pads multiplier=1" ;;
            add) echo "op add row=$((i - 1)) $in" ;;
        esac
    done
    echo "border in=(0) out=($((2 * $1)))"
}

# measure N KIND TARGETS: sets
#   functions, bytes   of model.c (code and data)
#   calls              in it of the driver, of kernels and of what targets bring
#   submissions        among them
#   stream             bytes of the command stream, without constants
measure() {
    chain "$1" "$2" >chain.ir
    rm -rf out
    "$heddle" compile chain.ir --target="$3" --partition=priority --hw=sys8 --no-search -o out 2>stderr ||
        fail "compile: $(cat stderr)"
    gcc -std=c11 -O2 -Wall -Werror -I out -I out/runtime -c out/model.c -o model.o 2>stderr ||
        fail "gcc: $(head -n 3 stderr)"
    functions=$(nm model.o | grep -ci ' t ')
    calls=$(objdump -dr model.o | grep -cE "R_[A-Z0-9_]+(PLT32|PC32|CALL26|JUMP26)[[:space:]]+(hdk?_|${3%%,*}_)[a-z0-9_]+-")
    submissions=$(grep -c 'hd_run(' out/model.c)
    bytes=$(size model.o | awk 'NR == 2 { print $1 + $2 }')
    stream=$(sed -n 's/.*"command_bytes":[^0-9]*\([0-9]*\).*/\1/p' out/metadata.json)
}

# each KIND TARGETS CALLS BYTES STREAM: what a further layer adds: exactly CALLS calls, at most BYTES of
# code and data and STREAM of commands; ONCE submissions in all.
each() {
    local kind=$1 targets=$2 want=$3 most=$4 most_stream=$5 once=$6
    local -a b c s
    local n first rest
    for n in 4 8 16; do
        measure $n "$kind" "$targets"
        b[n]=$bytes c[n]=$calls s[n]=$stream
        [ "$n" = 4 ] && few=$functions
        [ "$functions" = "$few" ] || fail "$kind on $targets: $n layers need $functions functions, 4 need $few"
        [ "$submissions" = "$once" ] || fail "$kind on $targets: $submissions submissions, expected $once"
    done
    [ $((c[8] - c[4])) = $((4 * want)) ] && [ $((c[16] - c[8])) = $((8 * want)) ] ||
        fail "$kind on $targets: ${c[4]}, ${c[8]}, ${c[16]} calls in 4, 8, 16 layers; expected $want more with each"
    first=$(((b[8] - b[4]) / 4)) rest=$(((b[16] - b[8]) / 8))
    [ $first -le "$most" ] && [ $rest -le "$most" ] ||
        fail "$kind on $targets: a further layer adds $first bytes, later ones $rest; at most $most"
    [ $((rest - first)) -le 16 ] || fail "$kind on $targets: the 16th layer costs more than the 8th: $first, $rest"
    [ $(((s[16] - s[8]) / 8)) -le "$most_stream" ] ||
        fail "$kind on $targets: a further layer adds $(((s[16] - s[8]) / 8)) bytes of commands; at most $most_stream"
    echo "$kind on $targets: a further layer adds $want calls, $rest bytes, $(((s[16] - s[8]) / 8)) of commands; $few functions"
}

#    kind             targets     calls bytes stream submissions
each conv2d           c               1   224      0 0
each depthwise_conv2d c               1   224      0 0
each add              c               1   192      0 0
each conv2d           systolic,c      0    32    256 1
each depthwise_conv2d systolic,c      0    32    256 1
each add              systolic,c      0    32    256 1
each conv2d           vanilla,c       1   320      0 0
each conv2d           shifty,c        1   224      0 0
each conv2d           strawberry,c    1   320      0 0
finish
