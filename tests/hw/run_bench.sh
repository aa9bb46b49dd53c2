#!/bin/bash
# run_bench.sh NAME N [ARGUMENT...] - build and run the Verilator bench tests/hw/*/NAME_tb.cpp for the
# configuration of hw/accel.json with N rows (4, 8, 16, 32). RxC: as the one of the least N that holds both, with R
# rows and C columns.
# Top module: NAME_bench of NAME_bench.sv next to it, or hd_NAME of hw/rtl; its C++ class is Vbench.
# The C++ gets every constant of hd_config.svh as a macro (-DCfgN=16 ...) and may include hd_accel.h.
# Environment: HEDDLE_BUILD build tree (default build), BENCH_OPT (default -O1; -O3 to measure speed),
# BENCH_VFLAGS more flags for verilator (--trace-fst), BENCH_ASSERT=0 leaves the assertions out,
# HD_COVERAGE=DIR counts lines and toggles into it (coverage.sh), VERILATOR is the program,
# BENCH_MODEL=1 is as the simulator's model: parts that wait rest (hd_top), forms that a CPU is fast at (HD_MODEL).
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 2 ] || { sed -n '2,4p' "$0" >&2; exit 2; }
name=$1 n=$2
shift 2
for bench in "$root"/tests/hw/*/"${name}_tb.cpp"; do :; done
[ -e "$bench" ] || { echo "run_bench.sh: no tests/hw/*/${name}_tb.cpp" >&2; exit 2; }

build=${HEDDLE_BUILD:-$root/build}
opt=${BENCH_OPT:--O1}
gen=$build/gen
case $n in
    4) svh=$gen/tiny ;;
    8) svh=$gen/sys8 ;;
    16) svh=$gen/sys16 ;;
    32) svh=$gen/sys32 ;;
    *x*) svh=$build/hw/${name}_config_$n ;;
    *) echo "run_bench.sh: N is 4, 8, 16, 32 or RxC, not '$n'" >&2; exit 2 ;;
esac
if [[ $n = *x* && -x $build/hdgen ]]; then
    rows=${n%x*} columns=${n#*x}
    most=$((rows > columns ? rows : columns)) base=tiny
    [ $most -le 4 ] || base=sys8
    [ $most -le 8 ] || base=sys16
    [ $most -le 16 ] || base=sys32
    mkdir -p "$svh"
    "$build/hdgen" "$root/hw/accel.json" --config "{\"base\": \"$base\", \"rows\": $rows, \"columns\": $columns, \"lstm\": 0}" --svh "$svh"
fi
[ -e "$svh/hd_config.svh" ] || { echo "run_bench.sh: build the target 'gen' first" >&2; exit 2; }
verilator=${VERILATOR:-verilator}
command -v "$verilator" >/dev/null || { echo "no verilator: SKIPPED"; exit 77; }

out=$build/hw/${name}_n$n$opt
if [ -e "${bench%_tb.cpp}_bench.sv" ]; then
    top=${name}_bench source=${bench%_tb.cpp}_bench.sv
else
    top=hd_$name source=$(echo "$root"/hw/rtl/*/"hd_$name.sv")
fi
defines=$(sed -n 's/^localparam .*\(Cfg[A-Za-z]*\) = \([0-9]*\);.*/-D\1=\2/p' "$svh/hd_config.svh")
flags=(--cc --exe --prefix Vbench --top-module "$top" -O3 -Wall
    --x-assign fast --x-initial fast
    "-I$gen" "-I$svh" -y "$root/hw/rtl"
    -CFLAGS "-std=c++17 -I$root -I$gen $(echo $defines)")
for room in "$root"/hw/rtl/*/; do flags+=(-y "${room%/}"); done
[ "${BENCH_ASSERT:-1}" = 0 ] || flags+=(--assert -DHD_ASSERT)
[ "${BENCH_MODEL:-0}" = 0 ] || { flags+=(-DHD_GATE_CLOCKS -DHD_MODEL); out+=_model; }
[ ! -e "$root/hw/lint/waivers.vlt" ] || flags+=("$root/hw/lint/waivers.vlt")
slow=-O1
# In one file, as each takes a second for its headers; counters make the model ten times as large.
files=0
[ -z "${HD_COVERAGE:-}" ] || { out+=_coverage slow=-O0 files=1; flags+=(--output-split 2000 --output-split-cfuncs 500); }
mkdir -p "$out"
flags+=(--Mdir "$out")
# shellcheck disable=SC2086
"$verilator" "${flags[@]}" ${BENCH_VFLAGS:-} "$source" "$bench"
# Verilator's own library is most of a small bench's build, and the same for all: its objects are kept.
kept=$build/hw/verilated_$({ "$verilator" --version && grep '^VM_[A-Z_]* = [01]' "$out/Vbench_classes.mk"; } | md5sum | cut -c 1-16)
[ ! -e "$kept/verilated.o" ] || cp "$kept"/*.o "$out"
# An object whose build read a file that no longer exists is built again; make would stop at its dependency data.
for data in "$out"/*.d; do
    [ -e "$data" ] || continue
    for file in $(tr ' \\' '\n\n' <"$data" | grep '^/' | sed 's/:$//'); do
        [ -e "$file" ] || { rm -f "$data" "${data%.d}.o"; break; }
    done
done
make -s -C "$out" -f Vbench.mk -j2 "OPT_FAST=$opt" "OPT_SLOW=$slow" VM_PARALLEL_BUILDS=$files Vbench >"$out/make.log" 2>&1 ||
    { tail -40 "$out/make.log" >&2; exit 1; }
if [ ! -e "$kept/verilated.o" ]; then
    own=$(mktemp -d "$kept.XXXXXX")
    cp "$out"/verilated*.o "$own" && mv -T "$own" "$kept" 2>/dev/null || rm -rf "$own"
fi
exec "$out/Vbench" "$@"
