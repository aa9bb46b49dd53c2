#!/usr/bin/env bash
# Compile time by instructions, which a loaded machine does not change: those of one search, by callgrind. Without
# valgrind it is the user seconds, with slack.
source "$(dirname "$0")/../common.sh"
# Million instructions, at most 1.16 times what was measured; seconds.
bound() {
    local model=$1 million=$2 seconds=$3 count
    if command -v valgrind >/dev/null; then
        valgrind --tool=callgrind --callgrind-out-file=callgrind.out "$heddle" inspect "$model" >stdout 2>stderr ||
            fail "inspect $model: $(tail -n 3 stderr)"
        count=$(awk '/^(summary|totals):/ { print int($2 / 1000000); exit }' callgrind.out)
        [[ -n $count ]] || fail "$model: callgrind counted nothing"
        ((count <= million)) || fail "$model: $count million instructions, at most $million expected"
        echo "$model: $count million instructions, at most $million"
    else
        TIMEFORMAT=%U
        count=$({ time "$heddle" inspect "$model" >stdout; } 2>&1)
        awk -v n="$count" -v most="$seconds" 'BEGIN { exit !(n <= most) }' ||
            fail "$model: $count s of CPU, at most $seconds expected"
    fi
}
bound resnet8_own 8600 3
bound mobilenet025_own 3400 6
finish
