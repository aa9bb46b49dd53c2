#!/bin/bash
# Steps of .ci/nightly: what passed is kept, what failed, was skipped, interrupted or cut off by time runs again; two at a
# time, or alone; the table and the exit status; the sum of what the steps are expected to take.
. "$(dirname "$0")/../e2e/common.sh"

# call STEPS: a run of STEPS (lines of bash) with results in $work/kept; its output in stdout.
call() {
    bash -c 'set -u; list="" limit=${limit:-60} hours=${hours:-} kept=kept
        . "$1"; cores=2; kept_begin; eval "$2"; kept_done' call "$HEDDLE_HOME/.ci/kept_steps" "$1" >stdout 2>stderr
}
table() { # the table and what follows it, without times and commits
    sed -n '/^=== seconds/,$p' stdout | sed 's/^ *[0-9-]* *[0-9-]* *\([0-9]* [a-zA-Z]*:\)/T T \1/; s/([0-9].*/(T)/'
}
steps='step good 7 bash -c "echo >>ran_good"
    step absent 8 bash -c "echo first; echo no such tool; exit 77"
    alone bad 9 bash -c "echo >>ran_bad; seq 20; [ -e mended ]"'

call "$steps" && fail "a run with a failure exits with 0"
grep -q '^=== good: ok, [0-9] s$' stdout || fail "a good step: $(cat stdout)"
grep -q '^=== absent: SKIPPED (no such tool), [0-9] s$' stdout || fail "a skipped step: $(cat stdout)"
grep -q '^=== bad: FAILED with 1, [0-9] s (kept/bad.log)$' stdout || fail "a bad step: $(cat stdout)"
[ "$(table)" = "=== seconds, of CPU, expected, verdict, step
T T 7 ok: good
T T 8 skipped: absent
T T 9 FAILED: bad
=== FAILED: bad
$(seq 9 20)
1 passed, 1 failed, 1 skipped, 0 left (T)" ] || fail "the table: $(table)"
touch mended
call "$steps" || fail "a step that failed passes when run again: $(cat stdout)"
[ "$(wc -l <ran_good) $(wc -l <ran_bad)" = "1 2" ] || fail "a step that passed is run again, or one that failed is not"
grep -q '^=== good' stdout && fail "a kept step is printed as if it ran"
[ "$(table)" = "=== seconds, of CPU, expected, verdict, step
T T 7 ok: good
T T 8 skipped: absent
T T 9 ok: bad
2 passed, 0 failed, 1 skipped, 0 left (T)" ] || fail "the table of the second call: $(table)"
# A result of other sources is kept, and the table names its commit.
sed -i 's/^\(0\t[0-9]*\t[0-9]*\t\)[^\t]*\tgood/\1abc1234\tgood/' kept/results
call "$steps" && grep -q ' 7 ok at abc1234: good$' stdout || fail "a result of another commit: $(cat stdout)"

# Two at a time: each waits for the other. Alone: no other runs, before or after.
rm -rf kept
both='bash -c "touch \$1; for ((i = 0; i < 300; i++)); do [ ! -e \$2 ] || exit 0; sleep 0.1; done; exit 1" -'
only='bash -c "mkdir busy && sleep 0.3 && rmdir busy"'
call "step a 1 $both a b; step b 1 $both b a
    step short 1 bash -c 'sleep 0.2; [ ! -e busy ]'; alone c 1 $only; alone d 1 $only; step e 1 $only" ||
    fail "steps at the same time: $(cat stdout)"

# Functions and variables of the script; 8 is not an open file of the step.
rm -rf kept
call 'export word=ours; ours() { echo "$word $1"; [ ! -e /proc/self/fd/9 ]; }; step f 1 ours "a  b"' ||
    fail "a function as a step: $(cat stdout kept/f.log)"
[ "$(cat kept/f.log)" = "ours a  b" ] || fail "what a function prints: $(cat kept/f.log)"

# A step above its limit fails with all its processes; a step cut off by the end of the hours is not recorded, and later
# ones do not start.
rm -rf kept
long='bash -c "sleep 30 & echo \$! >child; [ -e mended ] || exit 1; [ -e quick ] || wait"'
gone() { sleep 0.2; ps -o stat= -p "$(cat child)" | grep -qv '^Z' && fail "$1"; }
limit=1 call "step long 1 $long" && fail "a step above its limit passes"
grep -q '^=== long: FAILED with 124, [1-4] s' stdout || fail "a step above its limit: $(cat stdout)"
gone "what a step started goes on after its limit"
rm -rf kept
hours=0.0003 call "step long 1 $long; alone next 1 touch ran_next" && fail "an unfinished run exits with 0"
[ "$(table)" = "=== seconds, of CPU, expected, verdict, step
T T 1 left: long
T T 1 left: next
0 passed, 0 failed, 0 skipped, 2 left (T)" ] || fail "after the hours: $(cat stdout)"
gone "what a step started goes on after the hours"
[ ! -e ran_next ] || fail "a step begins after the hours"
touch quick
call "step long 1 $long; alone next 1 touch ran_next" || fail "the next call goes on: $(cat stdout)"

# An interrupt ends running steps; the next call continues.
rm -rf kept quick child
(call "step good 1 true; step long 1 $long; step next 1 true"; echo $? >status) &
for ((i = 0; i < 100; i++)); do [ ! -s child ] || break; sleep 0.1; done
kill -TERM "$(pgrep -P $! -f kept_steps)"
wait
[ "$(cat status)" = 143 ] || fail "an interrupted run exits with $(cat status)"
[ "$(table)" = "=== seconds, of CPU, expected, verdict, step
T T 1 ok: good
T T 1 left: long
T T 1 left: next
1 passed, 0 failed, 0 skipped, 2 left (T)" ] || fail "after an interrupt: $(cat stdout)"
gone "what a step started goes on after an interrupt"

# A step that all others need; another run of the same folder.
rm -rf kept
call 'always base 1 false; step next 1 touch ran_after' && fail "a run goes on without what all need"
[ ! -e ran_after ] || fail "a step begins after one that all need has failed"
call "step locked 1 bash -c 'flock -n kept/lock true'" && fail "a run does not lock its results"
flock kept/lock bash -c "$(declare -f call); HEDDLE_HOME=$HEDDLE_HOME; call 'step good 1 true'" &&
    fail "two runs use one folder"
[ "$(cat stderr)" = "kept: another run uses it" ] || fail "two runs: $(cat stderr)"

nightly=$HEDDLE_HOME/.ci/nightly
expect 2 "usage: .ci/nightly: expected numbers PART, LIMIT, found 'few' ''" env PART=few "$nightly" 1
expect 2 "usage: .ci/nightly: expected a number HOURS, found '1h'" env HOURS=1h "$nightly" 1
expect 2 "usage: .ci/nightly [--list] [SEED|new]: expected a number, found 'abc'" "$nightly" abc
[ ! -s stdout ] || fail "nightly prints before it looks at its seed: $(cat stdout)"
expect 0 "" "$nightly" --list 1
seconds=$(sed -n '$s/ seconds on two cores$//p' stdout)
[ "${seconds:-99999}" -le 10800 ] || fail "the nightly's steps take $seconds seconds by their estimates: 10800 at most"
[ "$(sed 's/^ *[0-9]* \(alone\)\? *//' stdout | sort | uniq -d)" = "" ] || fail "two steps have the same name"
finish
