#!/bin/bash
# heddle bench: one layer made from sizes; the same layer for the same seed; what is wrong with sizes.
. "$(dirname "$0")/../common.sh"

# bench ROW SIZES...: runs on the functional model, the table's row begins so.
bench() {
    local row=$1
    shift
    "$heddle" bench "$@" --engine=func -o out >stdout 2>stderr || fail "bench $*: exit $?: $(cat stderr)"
    tr -s ' ' <stdout | grep -q "^$row systolic" || fail "bench $*: $(cat stdout)"
    sed -n 1p stdout | grep -q "^verdict: match" || fail "bench $*: $(sed -n 1p stdout)"
}
bench "00_fully_connected 17x33" gemm 17 65 33
bench "00_fully_connected 1x2" gemm 1 1040 2 # an output at a time, columns added; rows of a command, and less than a row
bench "00_conv2d 1x1x1x2" conv 1x1x1040 1x1x2        # the same
bench "00_batch_matmul 3x17x19" bmm 3 17 33 19
bench "00_batch_matmul 2x5x40" bmm 2 5 16 40 --transpose-b
bench "00_conv2d 1x5x4x9" conv 9x7x5 3x3x9 2
bench "00_conv2d 1x7x7x16" conv 7x7x64 1x1x16
bench "00_depthwise_conv2d 1x4x4x24" depthwise 8x8x24 5x3 2

# Outputs are spread: neither all equal nor mostly at a limit.
n=$(od -An -v -t d1 -w1 out/out_0.bin | sort | uniq -c | sort -rn | awk 'NR == 1 { print $1 }')
[ "$n" -lt $((4 * 4 * 24 / 8)) ] || fail "the most frequent output is there $n times"

"$heddle" bench gemm 17 65 33 --engine=ref -o a >/dev/null 2>stderr || fail "ref: $(cat stderr)"
"$heddle" bench gemm 17 65 33 --engine=ref -o b >/dev/null
same a/out_0.bin b/out_0.bin "the same seed"
"$heddle" bench gemm 17 65 33 --engine=ref -o c --seed 2 >/dev/null
cmp -s a/out_0.bin c/out_0.bin && fail "another seed gives the same layer"

# Check that the knobs are the layer's.
knobs() {
    echo "{\"knobs\": [{\"op\": $1, \"layer\": \"00_fully_connected\", \"tile_rows\": 16}]}" >k.json
}
knobs 0
"$heddle" bench gemm 64 32 32 --engine=func --knobs=k.json --dump-ir=ir >/dev/null 2>stderr || fail "knobs: $(cat stderr)"
grep -q '^00_fully_connected: 4 tiles of 16 rows' ir/*_schedule.txt || fail "knobs: $(grep tile ir/*_schedule.txt)"
knobs 1
expect 2 "heddle: k.json:1:19: knobs[0].op: found 1, expected an operator from 0 to 0 of this network" \
    "$heddle" bench gemm 64 32 32 --engine=func --knobs=k.json

what="expected gemm M K N, bmm B M K N, conv HxWxC KHxKWxN [STRIDE] or depthwise HxWxC KHxKW [STRIDE], sizes from 1 to 65535"
expect 2 "heddle: bench gemm: $what" "$heddle" bench gemm 3 4
expect 2 "heddle: bench gemm: $what" "$heddle" bench gemm 3 4 0
expect 2 "heddle: bench bmm: $what" "$heddle" bench bmm 3 4 5
expect 2 "heddle: bench gemm: --transpose-b is for bmm only" "$heddle" bench gemm 3 4 5 --transpose-b
expect 2 "heddle: bench conv: $what" "$heddle" bench conv 8x8 3x3x8
expect 2 "heddle: bench conv: $what" "$heddle" bench conv 8x8x8 3x3x8x1
expect 2 "heddle: bench pool: $what" "$heddle" bench pool 8x8x8
expect 2 "heddle: bench gemm: input, weights and output have 12884508675 bytes, at most 268435456" \
    "$heddle" bench gemm 65535 65535 65535
finish
