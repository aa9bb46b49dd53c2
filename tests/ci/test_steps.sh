#!/bin/bash
# Output and exit status of .ci/run: steps counted, and why one was skipped.
. "$(dirname "$0")/../e2e/common.sh"

( # a subshell: its counters are its own
    . "$HEDDLE_HOME/.ci/steps"
    step "good" true
    step "absent" bash -c 'echo first; echo "no such tool"; exit 77'
    step "ctest" printf '%s\n' " 1/10 Test  #4: e2e/one ......   Passed    1.50 sec" \
        "10/10 Test #12: hw/ten .......***Failed   12.25 sec" "Total Test time (real) =  13.75 sec"
    steps_done
) >stdout
[ $? = 0 ] || fail "a run without failures exits with 0"
sed -i 's/[0-9]* s\b/T s/; s/^[0-9]* [0-9]* \(good\|absent\|ctest\)$/T C \1/' stdout
diff - stdout <<'EOT' || fail "the text of a good run"
=== good
=== good: ok, T s
=== absent
first
no such tool
=== absent: SKIPPED (no such tool), T s
=== ctest
 1/10 Test  #4: e2e/one ......   Passed    1.50 sec
10/10 Test #12: hw/ten .......***Failed   12.25 sec
Total Test time (real) =  13.75 sec
=== ctest: ok, T s
=== the slowest tests, in seconds
12.25 hw/ten
1.50 e2e/one
=== seconds, of CPU, step
T C good
T C absent
T C ctest
2 passed, 0 failed, 1 skipped (T s)
EOT

( # a loop that ends after a second of CPU
    . "$HEDDLE_HOME/.ci/steps"
    step "busy" bash -c 'ulimit -t 1; while :; do :; done'
    steps_done
) 2>&1 | grep -Eq '^[0-9]+ [12] busy$' || fail "the CPU time of a busy step"

(
    . "$HEDDLE_HOME/.ci/steps"
    step "good" true
    step "bad" bash -c 'seq 20; exit 3' && echo "step hid the status"
    steps_done
) >stdout && fail "a run with a failure exits with 0"
[ "$(tail -n 18 stdout | sed 's/[0-9]* s\b/T s/; s/^[0-9]* [0-9]* \(good\|bad\)$/T C \1/')" = "=== bad: FAILED with 3, T s
=== FAILED: bad
$(seq 9 20)
=== seconds, of CPU, step
T C good
T C bad
1 passed, 1 failed (bad), 0 skipped (T s)" ] || fail "the text of a bad run: $(cat stdout)"

( # beside others: what it prints and its status where it is waited for, a skip with its reason
    . "$HEDDLE_HOME/.ci/steps"
    beside "long" bash -c 'until [ -e go ]; do sleep 0.05; done; echo "it ends"; exit 3'
    beside "absent" bash -c 'echo "no such tool"; exit 77'
    step "short" touch go
    ended "long"
    ended "absent"
    steps_done
) >stdout && fail "a step beside others that fails: exit 0"
[ "$(grep -A 4 '^=== long$' stdout | sed 's/[0-9]* s\b/T s/')" = "=== long
it ends
(T s beside other steps)
=== long: FAILED with 3, T s
=== absent" ] && grep -q '^=== absent: SKIPPED (no such tool), ' stdout && grep -q '^1 passed, 1 failed (long), 1 skipped' stdout ||
    fail "steps beside others: $(cat stdout)"

for oracle in oracle-tflite oracle-onnx oracle-decoder; do
    expect 2 "usage: .ci/$oracle [COUNT [SEED]]: expected numbers, found '60' 'x'" "$HEDDLE_HOME/.ci/$oracle" 60 x
done
finish
