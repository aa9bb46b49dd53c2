#!/bin/bash
# reuse.sh NETWORK... - --reuse: for each network, uncut and cut into as many submissions as it may have, all numbers
# of a run with a store (without its records, then with them) are those of a run without, for two sets of inputs. OPTIONS: more options; SEGMENTS:
# other numbers of submissions.
. "$(dirname "$0")/../../e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }

# All but the host's own times, and the verdict's sentence.
numbers() { sed '/"sim":/,/}/d; /"statement":/d' "$1"; }
cycles() { grep -m1 '"cycles":' "$1" | grep -o '[0-9.]*' | cut -d. -f1; }
stored() { grep -o "cycles of [0-9]* of [0-9]* submissions" "$1" || true; }
latency=$((64 + RANDOM % 900)) # a store without records for it
for net in "$@"; do
    latency=$((latency + 1))
    for segments in ${SEGMENTS:-1 1000}; do
        for seed in 1 2; do
            run() { "$heddle" run "$net" --inferences=2 --seed=$seed --segments=$segments --mem-latency=$latency \
                ${OPTIONS:-} --no-report -q "$@" >stdout 2>stderr || fail "$net, $*: exit $?: $(cat stderr)"; }
            run --reuse=off --stats=off.json
            [ "$segments" != 1 ] || cp off.json uncut.json
            [ ! -e uncut.json ] || [ $(cycles off.json) -le $(($(cycles uncut.json) * 1005 / 1000)) ] ||
                fail "$net, $segments segments: $(cycles off.json) cycles, uncut $(cycles uncut.json)"
            for mode in cycles check same same; do
                run --reuse=$mode --stats=on.json
                [ "$(numbers off.json)" = "$(numbers on.json)" ] ||
                    fail "$net, $segments segments, seed $seed, $mode: $(diff off.json on.json | head -5)"
                echo "$net, at most $segments segments, seed $seed, $mode: $(stored on.json)"
            done
        done
    done
done
finish
