#!/bin/bash
# tests/app/compare/strength.sh LEAST MODEL...: prints what `heddle run --strength` finds for each network, comparing
# only outputs and comparing layers: the share of effective faults that a run detects, and CPU seconds. Fails if layers
# detect less than LEAST %.
set -u
heddle=${HEDDLE_BUILD:-build}/heddle
least=$1
shift
low=0
share() { # share MODEL OPTION...: "95.2 % of 166", "9.3 s"
    local TIMEFORMAT='%U %S'
    { time "$heddle" run "$1" --engine=func --strength -q "${@:2}" >"$out" 2>"$out.err"; } 2>"$out.time" ||
        { echo "$1: $(cat "$out.err")" >&2; return 1; }
    awk 'FILENAME == ARGV[1] && $1 == "all" { found = $NF + 0; effect = $5 }
        FILENAME == ARGV[2] { seconds += $1 + $2 }
        END { printf "%.1f %u %.1f\n", found, effect, seconds }' "$out" "$out.time"
}
out=$(mktemp)
trap 'rm -f "$out" "$out.err" "$out.time"' EXIT
printf '%-50s %10s %10s %10s %10s\n' network outputs layers faults seconds
for model; do
    read -r outputs _ _ < <(share "$model" --compare=outputs) && read -r layers effect seconds < <(share "$model") ||
        exit 1
    printf '%-50s %8s %% %8s %% %10s %10s\n' "$model" "$outputs" "$layers" "$effect" "$seconds"
    awk "BEGIN { exit !($layers < $least) }" && low=1
done
exit $low
