#!/bin/bash
# bench_sim.sh [CONFIG...] - how fast the Verilated models run and how long they build, each compared with its bar.
# For each CONFIG (default sys8 sys16 sys32): M cycles/s of the whole system on one core, tracing off, best of five of
# resnet8_own with its 8 images; next to it hd_array alone, Verilated with the same flags; the best time of a fixed C loop, so
# that measurements of a noisy machine can be compared; seconds of a cold build; what a wave window of 1,000 cycles adds
# to the processor time of the run, in percent, medians of five pairs. PASS or over next to what has a bar; an over is no error.
# Environment: BENCH_COLD=0 nothing is built anew but hd_array; BENCH_RUNS instead of five; HEDDLE_BUILD build tree.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${HEDDLE_BUILD:-$root/build}
model=$root/tests/models/resnet8_own
runs=${BENCH_RUNS:-5}
[ $# -gt 0 ] || set -- sys8 sys16 sys32
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The bars: M cycles/s at least, seconds of a cold build at most (0: none), percent for waves at most.
bar_speed() { case $1 in sys8) echo 3.5 ;; sys16) echo 1.0 ;; sys32) echo 0.25 ;; *) echo 0 ;; esac; }
bar_build() { case $1 in sys16) echo 30 ;; *) echo 0 ;; esac; }
bar_waves=10

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
${CC:-cc} -O1 -o "$work/loop" "$work/loop.c"

# run CONFIG OPTION...: a line "M-cycles/s user-seconds".
run() {
    local config=$1 TIMEFORMAT=%U
    shift
    {
        time "$build/heddle" run "$model/model.tflite" --hw="$config" -i "$model/in_0.bin" -o "$work/out" "$@" >"$work/log"
    } 2>"$work/time"
    awk -v user="$(tail -1 "$work/time")" 'match($0, /simulated at [0-9.]+ M/) { print substr($0, RSTART + 13, RLENGTH - 15), user; found = 1 }
        END { exit !found }' "$work/log" || { echo "bench_sim: no speed in the output of heddle run:" && cat "$work/log"; } >&2
}

# array CONFIG: M cycles/s of hd_array alone.
array() {
    local gen=$build/gen obj=$work/array_$1
    verilator --cc --exe --prefix Varray --top-module hd_array -O3 --x-assign fast --x-initial fast --noassert \
        --output-split 20000 --output-split-cfuncs 2000 --unroll-count 1024 --unroll-stmts 200000 -Wno-fatal \
        "-I$gen" "-I$gen/$1" -y "$root/hw/rtl" -y "$root/hw/rtl/array" --Mdir "$obj" "$root/hw/rtl/array/hd_array.sv" "$root/tests/bench/array_speed.cpp" \
        >"$work/array.log" 2>&1 &&
        make -s -C "$obj" -f Varray.mk -j2 OPT_FAST=-O3 OPT_SLOW=-O0 Varray >>"$work/array.log" 2>&1 || { echo -; return; }
    for _ in $(seq "$runs"); do "$obj/Varray"; done | sort -g | tail -1
}

seconds() { date +%s.%N; }

bash "$root/tests/bench/machine.sh"

printf '%-8s %10s %13s %14s %8s %16s %s\n' config 'M cycles/s' bar 'hd_array alone' 'loop, s' 'cold build, s' '1,000-cycle wave in a run'
for config in "$@"; do
    cold=-
    if [ "${BENCH_COLD:-1}" = 1 ]; then
        begin=$(seconds)
        XDG_CACHE_HOME=$work/cache "$build/heddle" build --hw="$config" >/dev/null
        cold=$(awk -v a="$begin" -v b="$(seconds)" 'BEGIN { printf "%.1f", b - a }')
        rm -rf "$work/cache"
    fi
    "$build/heddle" build --hw="$config" >/dev/null
    "$build/heddle" build --hw="$config" --waves=first >/dev/null
    alone=$(array "$config")
    : >"$work/plain" && : >"$work/wave" && : >"$work/loops"
    for _ in $(seq "$runs"); do
        "$work/loop" >>"$work/loops"
        run "$config" >>"$work/plain"
        run "$config" --waves=cycles:1000-1999 >>"$work/wave"
    done
    cycles=$(sed -n 's/.* \([0-9]*\) inferences, \([0-9.]*\) cycles each.*/\1 \2/p' "$work/log" | awk '{ printf "%.0f k", $1 * $2 / 1000 }')
    paste -d' ' "$work/plain" "$work/wave" | awk '{ printf "%.2f\n", 100 * ($4 / $2 - 1) }' | sort -g >"$work/added"
    awk -v c="$config" -v p="$(sort -g "$work/plain" | tail -1 | cut -d' ' -f1)" -v w="$(sed -n "$(((runs + 1) / 2))p" "$work/added")" \
        -v b="$cold" -v n="$cycles" -v l="$(sort -g "$work/loops" | head -1)" -v a="$alone" -v ps="$(bar_speed "$config")" \
        -v bs="$(bar_build "$config")" -v ws="$bar_waves" '
        function said(ok) { return ok ? "PASS" : "over" }
        BEGIN {
            speed = ""
            if (ps + 0 > 0) speed = sprintf(">= %s %s", ps, said(p + 0 >= ps + 0))
            if (bs + 0 > 0 && b != "-") b = sprintf("%s <= %s %s", b, bs, said(b + 0 <= bs + 0))
            waves = sprintf("%s%% of %s cycles <= %s%% %s", w, n, ws, said(w + 0 <= ws + 0))
            printf "%-8s %10.2f %13s %14s %8.3f %16s %s\n", c, p, speed, a, l, b, waves
        }'
done
