#!/bin/bash
# heddle run --launcher: submissions of one network on other machines, by a command and by Slurm's stubs. The numbers are
# those of a run without; lost nodes' submissions are simulated again, at last by the run itself.
. "$HEDDLE_HOME/tests/e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
latency=$((1000 + RANDOM % 90000)) # a store without records for it
run() { # run STATS OPTION...: the next latency with `new`
    "$heddle" run "$models/vit_own/model.tflite" --hw=tiny --inferences=1 --mem-latency=$latency --no-search --no-report --stats="$@" \
        >out 2>stderr
}
numbers() { sed '/"sim":/,/}/d; /"statement":/d' "$1"; }
equal() { [ "$(numbers off.json)" = "$(numbers "$1.json")" ] || fail "$1: $(diff off.json "$1.json" | head -5)"; }
stored() { grep -q "cycles of \([2-9]\) of \1 submissions from the store" out || fail "expected all stored: $(grep verdict out) $(cat stderr)"; }
next() {
    latency=$((latency + 1))
    run off.json || fail "without a launcher: $(cat stderr)"
}

next
run command.json --reuse=cycles -j3 --launcher='nice -n 5 {}' || fail "a command: $(cat stderr)"
equal command
stored
[ "$(find ~/.cache/heddle "${XDG_CACHE_HOME:-/nonexistent}/heddle" -maxdepth 1 -name "launched-*" -newer off.json 2>/dev/null)" = "" ] ||
    fail "the folder of the launcher is left"

mkdir seen
next
FLAKY=$work/seen run flaky.json --reuse=same -j2 --launcher="sh $HEDDLE_HOME/tests/app/regress/flaky.sh {}" || fail "flaky: $(cat stderr)"
equal flaky
stored
[ "$(find seen -type f | wc -l)" = 2 ] || fail "flaky: no start was lost"

next
run lost.json --reuse=cycles -j2 --launcher='echo no machine >&2 # {}' || fail "lost: $(cat stderr)"
equal lost
! grep -q "from the store" out || fail "lost: something was stored"
grep -qx "heddle: note: --launcher: 2 of 2 runs gave no result: the launcher ended 3 times without it: no machine; what they did not simulate is simulated here" stderr ||
    fail "lost: $(cat stderr)"

export SLURM_STUB=$work/slurm
mkdir slurm
: >slurm/calls
touch slurm/lose.1.0 # a lost node
next
PATH=$HEDDLE_HOME/tests/app/regress/slurm:$PATH run slurm.json --reuse=cycles -j2 --launcher=slurm || fail "Slurm: $(cat stderr)"
equal slurm
stored
[ "$(grep -c '^sbatch' slurm/calls)" = 2 ] || fail "Slurm: the lost node's run was not started again: $(cat slurm/calls)"

expect 2 "heddle: --launcher: expected --reuse=same or --reuse=cycles: runs on other machines leave their cycles in its store" \
    "$heddle" run digits --launcher=slurm
expect 2 "heddle: --launcher: found 'x', expected slurm, slurm:N (runs in one job element) or a command with {}, as 'srun {}'" \
    "$heddle" run digits --reuse=same --launcher=x
expect 2 "heddle: --fill-store: expected --reuse=same or --reuse=cycles too" "$heddle" run digits --hw=tiny --fill-store
run part.json --reuse=cycles --mem-latency=$((latency + 1)) --fill-store || fail "--fill-store: $(cat stderr)"
finish
