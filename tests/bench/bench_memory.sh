#!/bin/bash
# bench_memory.sh [MODEL] - cycles of one network at sys16 for memory latencies 16, 64, 200 and 4, 8, 16 bytes
# per cycle.
# MODEL: a name of tests/models or a file (default resnet8_own). Loss: against latency 16 at the same bytes a cycle.
# Exit 1: latency 200 costs more than LIMIT percent (environment, default 5).
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
model=${1:-resnet8_own}
[ -e "$model" ] || model=$root/tests/models/$model/model.tflite
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cycles() {
    "$root/build/heddle" run "$model" --hw=sys16 --mem-latency="$1" --mem-bytes="$2" -o "$work" |
        sed -n 's/.*inferences, \([0-9]*\)\..* cycles each.*/\1/p'
}

bash "$root/tests/bench/machine.sh"
limit=${LIMIT:-5}
over=0
printf '%-22s %12s %12s %12s\n' 'bytes a cycle' 'latency 16' 'latency 64' 'latency 200'
for bytes in 4 8 16; do
    row=$(printf '%-22s' "$bytes")
    for latency in 16 64 200; do
        n=$(cycles $latency $bytes)
        [ -n "$n" ] || { echo "bench_memory.sh: no cycles for latency $latency, $bytes bytes" >&2; exit 1; }
        [ $latency = 16 ] && first=$n
        row+=$(awk -v n="$n" -v f="$first" 'BEGIN { printf " %6d%5.1f%%", n, 100 * (n - f) / f }')
    done
    echo "$row"
    awk -v n="$n" -v f="$first" -v limit="$limit" 'BEGIN { exit !(100 * (n - f) > limit * f) }' || continue
    echo "bench_memory.sh: latency 200 costs more than $limit % at $bytes bytes a cycle" >&2
    over=1
done
exit $over
