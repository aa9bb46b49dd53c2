#!/bin/bash
# check_rtl.sh [--list] - `make check-rtl`: the benches of the modules that changed. A bench is run unless the files it was built
# from (the dependency data of its build: RTL, bench, headers) have the bytes that they had when it last passed. --list
# names them, and which file is the reason. Each bench in its smallest configuration; `make test` runs the others.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${HEDDLE_BUILD:-$root/build}
# CHECK_RTL_BENCHES: other benches, for the test of this script.
benches=${CHECK_RTL_BENCHES:-"pe 16,skew 16,acc 16,reader 4,segment 4,weights 4,weight_spad 4,requant 4,dma_addr 16,dma 4,regs 4,fetch 4,spad 4,vector 4,frame 4,array 4"}
passed=$build/hw/passed
mkdir -p "$passed"

# Files of the tree and of build/gen that a bench was built from, one a line.
sources() {
    cat "$build/hw/$1_n$2-O1/"*.d 2>/dev/null | tr ' \\' '\n\n' | sed 's/:$//' | grep -E "^($root/(tests|hw)|$build/gen)/" | sort -u
}

changed() { # changed NAME N: why it is to be run; nothing if it is not
    local now
    [ -e "$passed/$1_n$2" ] || { echo "has not passed yet"; return; }
    now=$(sources "$1" "$2" | xargs -r -d '\n' sha256sum 2>/dev/null)
    diff <(echo "$now") "$passed/$1_n$2" | sed -n 's|^[<>] [0-9a-f]*  .*/||p' | sort -u | head -n 3 | paste -sd ' '
}

ran=0 failed=0
while read -r name n; do
    why=$(changed "$name" "$n")
    [ -n "$why" ] || continue
    ran=$((ran + 1))
    echo "$name $n: $why"
    [ "${1:-}" = --list ] && continue
    start=$SECONDS
    if bash "$root/tests/hw/run_bench.sh" "$name" "$n" >"$passed/$name.log" 2>&1; then
        sources "$name" "$n" | xargs -r -d '\n' sha256sum >"$passed/${name}_n$n"
        echo "$name $n: passed, $((SECONDS - start)) s"
    else
        failed=$((failed + 1))
        rm -f "$passed/${name}_n$n"
        echo "$name $n: FAILED, $((SECONDS - start)) s; again: tests/hw/run_bench.sh $name $n"
        tail -n 5 "$passed/$name.log"
    fi
done < <(tr , '\n' <<<"$benches")
[ "$ran" != 0 ] || echo "no bench is built from what changed"
[ "$failed" = 0 ]
