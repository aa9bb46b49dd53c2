#!/bin/bash
# heddle bench on the RTL: cycles of one layer, load and store included, stay within bars, and the estimate within 5 %
# of them. Those of gemm and bmm are promises (bmm: 90 % of the multipliers); the others what was measured and 3 %.
. "$(dirname "$0")/../common.sh"

# bench HW MOST KIND SIZES...: at most MOST cycles.
bench() {
    local hw=$1 most=$2 cycles estimate
    shift 2
    "$heddle" bench "$@" --hw="$hw" -o out >stdout 2>stderr || fail "bench $*: exit $?: $(cat stderr)"
    read -r _ _ _ cycles estimate _ < <(grep '^00_' stdout)
    echo "$hw $*: $cycles cycles, at most $most; estimate $estimate"
    grep -q "^verdict: match" stdout || fail "bench $*: $(tail -1 stdout)"
    [ "${cycles:-0}" -gt 0 ] && [ "$cycles" -le "$most" ] || fail "bench $* on $hw: $cycles cycles, at most $most"
    [ $((20 * estimate)) -ge $((19 * cycles)) ] && [ $((20 * estimate)) -le $((21 * cycles)) ] ||
        fail "bench $* on $hw: $cycles cycles, estimate $estimate"
}
bench sys16 9500 gemm 128 128 128
bench sys16 1800 gemm 64 64 64
bench sys16 32340 bmm 3 197 64 197
bench sys16 32340 bmm 3 197 64 197 --transpose-b
bench sys16 20000 bmm 2 1 4096 32
bench sys16 13500 bmm 1 1 32 4096 --transpose-b
bench sys8 32000 bmm 1 3 900 147
bench sys16 17300 conv 112x112x8 3x3x16 2
bench sys16 31100 conv 28x28x64 3x3x64 2
bench sys16 53300 conv 56x56x64 1x1x64
# Streamed depthwise rows: results are in one bank for long, and shut LOAD out.
bench sys16 35500 depthwise 28x28x256 3x3
bench sys16 32200 depthwise 56x56x128 3x3 2
bench sys8 59100 depthwise 14x14x512 3x3
finish
