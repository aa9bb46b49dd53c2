#!/bin/bash
# Emitted C of resnet8_own takes a bounded multiple of the time of its products alone (product_loop.c) with this
# machine's vector instructions; the best of many turns counts. Plain C takes too long to run undisturbed on a busy
# machine.
. "$(dirname "$0")/../e2e/common.sh"
"$heddle" run resnet8_own --engine=func --stats=stats.json -q >/dev/null &&
    "$heddle" compile resnet8_own --target=c -o net >/dev/null || { fail "heddle"; finish; }
macs=$(python3 -c 'import json; print(json.load(open("stats.json"))["macs"])')
mapfile -t sources < <(find net -path net/bare -prune -o -name '*.[cS]' -print)
flags=(-std=c11 -O2 -Inet -Inet/runtime -Inet/runtime/kernels -Wa,-Inet)
${CC:-cc} "${flags[@]}" "$HEDDLE_HOME/tests/bench/product_loop.c" -o loop &&
    ${CC:-cc} "${flags[@]}" "${sources[@]}" -o net/program || { fail "compile"; finish; }
for _ in 1 2 3 4 5 6 7 8; do
    ./net/program --time 300 | sed -n 's/^best: \([0-9]*\) ns$/\1/p' >>net.ns
    ./loop >>loop.fs
done
form=$(awk 'NR == 1 { print $2 }' loop.fs)
[ "$form" != none ] || { echo "no vector instructions"; exit 77; }
declare -A most=([vnni]=3.5 [avx2]=3.5) # 1.75 on a Zen 4, whose unit multiplies 64 bytes per cycle
ratio=$(awk -v ns="$(sort -n net.ns | head -n 1)" -v fs="$(cut -d' ' -f1 loop.fs | sort -n | head -n 1)" -v macs="$macs" \
    'BEGIN { printf "%.2f", ns * 1e6 / macs / fs }')
echo "$form: $ratio times its products alone, at most ${most[$form]}"
awk -v r="$ratio" -v most="${most[$form]}" 'BEGIN { exit !(r > 0 && r <= most) }' || fail "too slow"
finish
