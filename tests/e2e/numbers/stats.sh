#!/bin/bash
# stats.sh ENGINE HW MODEL... - run each network with one inference and hold its stats file to the schema
# and to itself (stats_check.c). Every third random layer (layer_N.ir) has an operator kept on the host. Needs
# HEDDLE_BUILD (default build). Exit status 1: a file is wrong, or a run is not equal.
set -u
root=$(cd "$(dirname "$0")/../../.." && pwd)
build=${HEDDLE_BUILD:-$root/build}
engine=$1 hw=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0 n=0

run() { # run MODEL [OPTION...]
    "$build/heddle" run "$@" --engine="$engine" --hw="$hw" --stats "$work/s.json" >"$work/out" 2>&1
}

for model; do
    n=$((n + 1))
    keep=()
    case $model in
        */layer_*.ir) # a pattern that matches nothing is refused; then all stays where it is
            seed=${model##*layer_}
            [ $((${seed%.ir} % 3)) = 0 ] && keep=("--keep-on-host=0$((${seed%.ir} % 4))_*") ;;
    esac
    if ! run "$model" "${keep[@]}" && ! { [ ${#keep[@]} != 0 ] && run "$model"; }; then
        echo "WRONG $model ${keep[*]} on $engine $hw: $(tail -1 "$work/out")"
        wrong=$((wrong + 1))
    elif ! "$build/stats_check" "$root/docs/stats.v2.schema.json" "$work/s.json" >"$work/why"; then
        echo "WRONG $model ${keep[*]} on $engine $hw:"
        sed "s|^$work/s.json|  |" "$work/why"
        wrong=$((wrong + 1))
    fi
done
echo "$engine $hw: $n stats files, $wrong wrong"
[ "$wrong" = 0 ]
