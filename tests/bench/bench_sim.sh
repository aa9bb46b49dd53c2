#!/bin/bash
# bench_sim.sh [CONFIG...] - how fast the Verilated models run and how long they build.
# For each CONFIG (default sys8 sys16 sys32): M cycles/s of the whole system, tracing off, best of five of resnet8_own
# with its 8 images; seconds of a cold build; what a wave window of 1,000 cycles adds to the run, in percent; beside each run
# the best time of a fixed C loop, so that measurements of a noisy machine can be compared. With BENCH_COLD=0 nothing is built anew.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
model=$root/tests/models/resnet8_own
[ $# -gt 0 ] || set -- sys8 sys16 sys32
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/loop.c" <<'C'
#include <stdint.h>
#include <stdio.h>
#include <time.h>
int main(void)
{
    static volatile uint32_t sink;
    struct timespec a, b;
    uint32_t x = 1;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (uint32_t i = 0; i < 200000000u; i++)
        x = x * 1664525u + 1013904223u;
    sink = x;
    clock_gettime(CLOCK_MONOTONIC, &b);
    printf("%.3f\n", (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec));
}
C
"${CC:-cc}" -O1 -o "$work/loop" "$work/loop.c"

# speed CONFIG OPTION...: M cycles/s of one run.
speed() {
    "$root/build/heddle" run "$model/model.tflite" --hw="$1" -i "$model/in_0.bin" -o "$work/out" "${@:2}" |
        sed -n 's/.*; \([0-9.]*\) M cycles\/s.*/\1/p'
}
best() { sort -g | tail -1; }

printf '%-8s %12s %14s %14s %16s\n' config 'M cycles/s' 'loop, s' 'cold build, s' '1,000-cycle wave'
for config in "$@"; do
    build=-
    if [ "${BENCH_COLD:-1}" = 1 ]; then
        begin=$(date +%s.%N)
        XDG_CACHE_HOME=$work/cache "$root/build/heddle" build --hw="$config" >/dev/null
        build=$(awk -v a="$begin" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')
        rm -rf "$work/cache"
    fi
    "$root/build/heddle" build --hw="$config" >/dev/null
    : >"$work/plain" && : >"$work/wave" && : >"$work/loops"
    for _ in 1 2 3 4 5; do
        "$work/loop" >>"$work/loops"
        speed "$config" >>"$work/plain"
        speed "$config" --waves=cycles:1000-1999 >>"$work/wave"
    done
    awk -v c="$config" -v p="$(best <"$work/plain")" -v w="$(best <"$work/wave")" -v b="$build" \
        -v l="$(sort -g "$work/loops" | head -1)" \
        'BEGIN { printf "%-8s %12.2f %14.3f %14s %15.1f%%\n", c, p, l, b, (w > 0) ? 100 * (p / w - 1) : 0 }'
done
