#!/bin/bash
# tests/app/run/reach.sh LEAST MODEL...: which networks are proved on sys16, with and without a search for schedules, on
# tiny, on sys32, and on two devices. A row for each network: "proved", with the number of calls that only samples
# compare; or the layer that is not proved. Fails if less than LEAST % are proved, or if one is refuted or stops.
set -u
heddle=${HEDDLE_BUILD:-build}/heddle
least=$1
shift
columns=(sys16 search tiny sys32 two)
declare -A options=([sys16]='--no-search' [search]='' [tiny]='--hw=tiny --no-search' [sys32]='--hw=sys32 --no-search'
    [two]='--target=systolic:a,systolic:b --target-b-hw=sys8 --offload=*[13579]_*conv2d=b --no-search')
all=0 proved=0 wrong=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT

verdict() { # MODEL COLUMN: the cell
    local line
    set -f
    # shellcheck disable=SC2086
    "$heddle" run "$1" --engine=func --inferences=1 --prove -q ${options[$2]} >"$out" 2>&1
    set +f
    line=$(grep -E '^(proved|unproven|heddle): ' "$out" | head -n 1)
    case $line in
        proved:*\ calls\ *) echo "proved, $(sed -E 's/.* and for ([0-9]+) calls .*/\1/' <<<"$line") calls" ;;
        proved:*\ call\ *) echo "proved, 1 call" ;;
        proved:*) echo proved ;;
        unproven:*) sed -E 's/^unproven: layer ([^:]*):.*/\1/; s/^unproven: //' <<<"$line" ;;
        *--offload*) echo - ;; # no such layer for the second device
        *) echo "stops: ${line:-$(tail -n 1 "$out")}" ;;
    esac
}
printf '%-34s' network
printf ' %-22s' "${columns[@]}"
printf '\n'
for model; do
    name=${model%/model.*}
    printf '%-34s' "${name##*/}"
    for column in "${columns[@]}"; do
        cell=$(verdict "$model" "$column")
        case $cell in
            proved*) proved=$((proved + 1)) all=$((all + 1)) ;;
            -) ;;
            stops*) wrong=1 all=$((all + 1)) ;;
            *) all=$((all + 1)) ;;
        esac
        printf ' %-22s' "$cell"
    done
    printf '\n'
done
echo "$proved of $all packages proved"
[ "$wrong" = 0 ] && [ $((proved * 100)) -ge $((least * all)) ]
