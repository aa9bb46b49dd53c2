#!/bin/bash
# Files with which a fuzzer found something: `inspect` ends with 0 or 3 and at most one line. They are also seeds of
# .ci/fuzz. Their faults show under sanitizers.
. "$(dirname "$0")/../e2e/common.sh"

for file in "$HEDDLE_HOME"/tests/fuzz/found/*; do
    "$heddle" inspect "$file" >log 2>&1
    got=$?
    [ $got = 0 ] || [ $got = 3 ] || fail "$file ends with $got: $(head -c 300 log)"
    [ $got = 0 ] || [ "$(wc -l <log)" = 1 ] || fail "$file: $(cat log)"
done
finish
