#!/bin/bash
# The command line of hdgen: exit codes, messages, folders made, paths with spaces.
set -eu
hdgen=$HEDDLE_BUILD/hdgen
dir=$(mktemp -d "${TMPDIR:-/tmp}/hd gen XXXXXX")
trap 'rm -rf "$dir"' EXIT

expect() { # expect EXIT 'text in the message' arguments...
    local want=$1 text=$2 got=0
    shift 2
    "$hdgen" "$@" >"$dir/out" 2>&1 || got=$?
    if [ "$got" -ne "$want" ] || { [ -n "$text" ] && ! grep -qF -- "$text" "$dir/out"; }; then
        echo "hdgen $*: exit $got, expected $want and '$text', found:"
        cat "$dir/out"
        exit 1
    fi
}

expect 0 '' hw/accel.json --c "$dir/a b/c" --sv "$dir/sv" --config tiny --svh "$dir/tiny"
for file in "a b/c/hd_accel.h" "a b/c/hd_timing.h" "a b/c/hd_accel_tables.h" "a b/c/hd_accel_tables.c" \
    sv/hd_accel.svh tiny/hd_config.svh; do
    [ -s "$dir/$file" ] || { echo "$file was not written"; exit 1; }
done
grep -q 'CfgN = 4;' "$dir/tiny/hd_config.svh"

# A depth goes to scheduler and RTL, a delay to the scheduler alone.
grep -q 'HD_TIMING_DMA_QUEUE = 8,' "$dir/a b/c/hd_timing.h"
grep -q 'HD_TIMING_REQUANT = 8,' "$dir/a b/c/hd_timing.h"
for most in ARRAY_KERNEL_H=255 ARRAY_Y_START=32767 ARRAY_X_STEP=65535 VECTOR_KERNEL_H=4095; do
    grep -q "HD_MOST_${most%=*} = ${most#*=}," "$dir/a b/c/hd_timing.h" || { echo "no HD_MOST_$most"; exit 1; }
done
! grep -q 'HD_MOST_ARRAY_MULTIPLIER' "$dir/a b/c/hd_timing.h" || { echo "a field of 32 bits fits in no enum"; exit 1; }
grep -q 'localparam int TimingDmaQueue = 8;' "$dir/sv/hd_accel.svh"
! grep -q "TimingRequant " "$dir/sv/hd_accel.svh" || { echo "TimingRequant: the RTL takes no delay"; exit 1; }

cat >"$dir/my.json" <<'END'
{"name": "mine", "n": 8, "scratchpad_bytes": 65536, "banks": 8, "ports": 2, "weight_bytes": 16384,
 "acc_depth": 256, "param_entries": 64, "axi_bytes": 8, "axi_addr_bits": 40, "read_bursts": 8}
END
expect 0 '' hw/accel.json --config "$dir/my.json" --svh "$dir/mine"
grep -q 'CfgAccDepth = 256;' "$dir/mine/hd_config.svh"

# As freestanding C11 and as C++ the headers are clean.
${CC:-cc} -std=c11 -ffreestanding -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror \
    -c "$dir/a b/c/hd_accel_tables.c" -o "$dir/t.o"
${CXX:-c++} -std=c++17 -Wall -Wextra -Werror -x c++ -fsyntax-only "$dir/a b/c/hd_accel_tables.h"

expect 2 "no hardware configuration 'sys9'" hw/accel.json --config sys9 --svh "$dir/x"
expect 2 'No such file or directory' "$dir/none.json" --c "$dir/x"
expect 2 '--config and --svh go together' hw/accel.json --config tiny
expect 2 'expected the name of accel.json'
expect 2 'Not a directory' hw/accel.json --c "$dir/my.json/x"
sed 's/"bits": 8/"bits": 80/' hw/accel.json >"$dir/bad.json"
expect 2 'registers[9].fields[0]: "bits": expected an integer from 1 to 32, found 80' "$dir/bad.json"
