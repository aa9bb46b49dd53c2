#!/bin/bash
# coverage.sh [STEP...] - line and toggle coverage of hw/rtl: benches and random layers on models that count, merged in
# build/coverage: annotated sources, and the share of each module against waivers (coverage.py). `make coverage` runs
# this, about half an hour of CPU time; STEP: those of the list whose name begins so, the others' counters stay, and no
# share is held. tiny has everything but softmax and what needs a second port (pixel pairs, contention of ports, wider
# groups): that is sys8's. Larger configurations have more of the same. Environment: SEED of the random layers (default
# 1).
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${HEDDLE_BUILD:-$root/build}
of=$build/coverage
steps=("requant 4" "array 4" "array 8" "spad 4" "spad 8" "pe 16" "segment 4" "segment 8" "skew 16" "reader 4" "acc 16"
    "weights 4" "weight_spad 8" "recip 4" "vector 4" "vector 8" "dma_addr 16" "frame 4 1 12 long" "layers tiny" "layers sys8")
export VERILATOR=$root/tests/hw/coverage/verilator HEDDLE_BUILD=$build
failed=0 part=() begin=$SECONDS places=
for file in "$root"/hw/rtl/{,*/}*.sv; do # heddle copies them into one folder
    places+="s|\x01f\x02rtl/${file##*/}\x01|\x01f\x02$file\x01|;"
done
if [ $# = 0 ]; then rm -f "$of"/*.dat; else part=(--part); fi

wanted() { # wanted NAME GIVEN...
    local name=$1
    shift
    [ $# = 0 ] && return 0
    for given; do [[ $name == "$given"* ]] && return 0; done
    return 1
}

for step in "${steps[@]}"; do
    wanted "$step" "$@" || continue
    read -r name size arguments <<<"$step"
    export HD_COVERAGE=$of/$name-$size
    rm -rf "$HD_COVERAGE"
    mkdir -p "$HD_COVERAGE"
    start=$SECONDS
    if [ "$name" = layers ]; then
        HEDDLE_VERILATOR=$VERILATOR HEDDLE_CXX=$root/tests/hw/coverage/c++ "$build/random_layers" --hw "$size" --engine func,rtl --count 60 --seed "${SEED:-1}"
    else
        bash "$root/tests/hw/run_bench.sh" "$name" "$size" $arguments
    fi >"$HD_COVERAGE/log" 2>&1 || { echo "$step failed: $(tail -n 3 "$HD_COVERAGE/log")"; failed=1; continue; }
    verilator_coverage --write "$HD_COVERAGE.dat" "$HD_COVERAGE"/*.dat >>"$HD_COVERAGE/log" 2>&1 ||
        { echo "$step: no counters: $(tail -n 3 "$HD_COVERAGE/log")"; failed=1; }
    sed -i "$places" "$HD_COVERAGE.dat"
    rm -f "$HD_COVERAGE"/*.dat
    echo "$step: $((SECONDS - start)) s"
done
verilator_coverage --annotate-all --annotate "$of/annotated" "$of"/*.dat >/dev/null || failed=1
python3 "$root/tests/hw/coverage.py" "${part[@]}" "$root/tests/hw/coverage_waivers.txt" "$of"/*.dat || failed=1
echo "annotated sources: $of/annotated; $(((SECONDS - begin) / 60)) minutes"
exit $failed
