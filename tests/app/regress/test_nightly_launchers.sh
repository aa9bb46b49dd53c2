#!/bin/bash
# heddle regress on other machines: a command with {}, and Slurm with stubs for sbatch, squeue and scancel: runs are
# collected, lost and started again, cancelled, resumed after kill -9; each result exists once.
. "$(dirname "$0")/stub.sh"
command -v python3 >/dev/null || { echo "python3 not found"; exit 77; }
suite s
once() { # once FOLDER: all 8, each once
    [ "$(sql "$1/regress.db" 'SELECT count(*), count(DISTINCT number), sum(exit = 0) FROM run')" = "8|8|8" ] ||
        fail "$1: $(sql "$1/regress.db" 'SELECT number, verdict, exit, message FROM run')"
}

# --- a command ---
expect 0 "" regress s.json -o c -j3 --launcher='nice -n 5 {}'
once c
expect 1 "heddle: regress: 8 of 8 runs are wrong; the first: a tiny rtl seed 1: failed: the launcher ended 3 times without it: no machine" \
    regress s.json -o lost -j8 --launcher='echo no machine >&2 # {}'
mkdir seen
FLAKY=$work/seen expect 0 "" regress s.json -o flaky.d -j2 --launcher="sh $HEDDLE_HOME/tests/app/regress/flaky.sh {}"
once flaky.d
echo "b.tflite 4 0 0 0 device fault" >rules
expect 1 "heddle: regress: 4 of 8 runs are wrong; the first: b tiny rtl seed 1: failed: exit 4: device fault" \
    regress s.json -o bad -j2 --launcher='{}'
: >rules
mkdir "a folder's"
(cd "a folder's" && cp ../s.json ../*.tflite . && expect 0 "" regress s.json -o c -j2 --launcher='{}' && once c; exit $failures) ||
    fail "a folder with a blank and a quote"

# --- Slurm ---
export SLURM_STUB=$work/slurm old_path=$PATH
stand_in() { # a fresh cluster
    rm -rf "$SLURM_STUB"
    mkdir "$SLURM_STUB"
    : >"$SLURM_STUB/calls"
}
calls() { grep -c "^$1" "$SLURM_STUB/calls"; }
stand_in
PATH=$(dirname "$0"):/usr/bin:/bin
if ! command -v sbatch >/dev/null; then
    expect 2 "heddle: --launcher=slurm: sbatch: expected a job's number, found 'sh: 1: sbatch: not found'" regress s.json -o none --launcher=slurm
fi
PATH=$HEDDLE_HOME/tests/app/regress/slurm:$old_path

: >log
expect 0 "" regress s.json -o one --launcher=slurm:3
once one
[ "$(started)" = 8 ] || fail "slurm:3: $(started) started"
grep -q -- '--array=0-2 ' "$SLURM_STUB/calls" || fail "three elements: $(cat "$SLURM_STUB/calls")"
[ "$(calls scancel)" = 0 ] || fail "cancelled without a need"
expect 0 "" regress s.json -o one --launcher=slurm -j2 --again
grep -q -- '--array=0-7%2 ' "$SLURM_STUB/calls" || fail "-j2: $(cat "$SLURM_STUB/calls")"

stand_in # a lost node: its runs again, the others once; squeue fails for a while
touch "$SLURM_STUB"/lose.1.{1,3}
echo 2 >"$SLURM_STUB/fail"
: >log
expect 0 "" regress s.json -o two --launcher=slurm
once two
[ "$(started)" = 8 ] || fail "lost elements: $(started) started"
[ "$(calls sbatch)" = 2 ] || fail "lost elements: $(cat "$SLURM_STUB/calls")"
grep -q -- '--array=0-1 ' "$SLURM_STUB/calls" || fail "only two again: $(cat "$SLURM_STUB/calls")"

stand_in # lost for good
touch "$SLURM_STUB/lose.all"
expect 1 "heddle: regress: 8 of 8 runs are wrong; the first: a tiny rtl seed 1: failed: lost by 3 jobs of Slurm, the last is 3" \
    regress s.json -o three --launcher=slurm
rm "$SLURM_STUB/lose.all"
expect 0 "" regress s.json -o three --launcher=slurm # what was lost is missing
once three

stand_in
echo "sbatch: error: invalid partition specified: x" >"$SLURM_STUB/refuse"
expect 2 "heddle: --launcher=slurm: sbatch: expected a job's number, found 'sbatch: error: invalid partition specified: x'" \
    regress s.json -o four --launcher=slurm

alive() { # elements that run
    local n=0 file
    for file in "$SLURM_STUB"/job.*/pid.*; do
        grep -q '^State:.*[RSD] ' "/proc/$(cat "$file")/status" 2>/dev/null && n=$((n + 1))
    done
    echo $n
}
begin() { # begin FOLDER: in the background, until two results are kept
    set -m
    "$heddle" regress s.json -o "$1" --launcher=slurm --heddle="$HEDDLE_BUILD/regress_stub" --commit=c1 >stdout 2>stderr &
    pid=$!
    set +m
    for _ in $(seq 150); do
        [ "$(sql "$1/regress.db" 'SELECT count(*) FROM run' 2>/dev/null || echo 0)" -ge 4 ] && break
        sleep 0.1
    done
}
echo "a.tflite 0 1000 1000 0" >rules
echo "* 0 1000 1000 60" >>rules
stand_in # Ctrl-C: everything is cancelled
begin five
[ "$(alive)" = 4 ] || fail "before Ctrl-C: $(alive) elements"
kill -INT $pid; wait $pid
[ $? = 130 ] || fail "Ctrl-C: exit code"
[ "$(calls scancel)" = 1 ] || fail "Ctrl-C: $(cat "$SLURM_STUB/calls")"
sleep 0.5
[ "$(alive)" = 0 ] || fail "Ctrl-C: $(alive) elements run on"

stand_in # kill -9: the next start cancels what is left, and goes on
begin six
kill -9 $pid; wait $pid 2>/dev/null
[ "$(alive)" = 4 ] || fail "after kill -9: $(alive) elements"
: >rules >log
expect 0 "" regress s.json -o six --launcher=slurm
once six
[ "$(alive)" = 0 ] || fail "kill -9: $(alive) elements run on"
[ "$(started)" = 4 ] || fail "after kill -9: $(started) started"
finish
