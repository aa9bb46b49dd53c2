#!/bin/bash
# Ctrl-C during a run: exit 130, one line, the child gone, nothing half written; also while waves are
# written. On a terminal a line of progress appears and is erased.
. "$(dirname "$0")/common.sh"

# Many inferences, so that a run lasts long enough to be interrupted, with their answers, so that no
# reference runs first.
for _ in $(seq 100); do cat "$models/digits/in_0.bin"; done >many.bin
for _ in $(seq 100); do cat "$models/digits/out_0.bin"; done >many_out.bin
head -c $((4000 * 64)) many.bin >some.bin
head -c $((4000 * 10)) many_out.bin >some_out.bin

# interrupted NAME SIGNAL ARGUMENTS...: start, wait until the run is under way (a child exists), signal the parent only.
interrupted() {
    local name=$1 signal=$2 pid child= got
    shift 2
    # Job control: else a shell starts background processes with SIGINT ignored.
    set -m
    "$heddle" run digits -i many.bin --expect many_out.bin "$@" -o "out_$name" >stdout 2>stderr &
    pid=$!
    set +m
    for _ in $(seq 600); do
        child=$(pgrep -P "$pid" -x heddle) && break
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.05
    done
    [ -n "$child" ] || fail "$name: no child was seen: $(cat stderr)"
    sleep 0.3
    kill "-$signal" "$pid"
    wait "$pid"
    got=$?
    [ "$got" = 130 ] || fail "$name: exit $got, expected 130"
    [ "$(cat stderr)" = "heddle: interrupted" ] || fail "$name: stderr: $(cat stderr)"
    [ -s stdout ] && fail "$name: wrote to stdout: $(head -c 100 stdout)"
    [ -z "$child" ] || ! kill -0 "$child" 2>/dev/null || fail "$name: child $child still runs"
    [ -z "$(find "out_$name" -type f 2>/dev/null)" ] || fail "$name: left $(find "out_$name" -type f)"
}

interrupted int INT --engine=func
interrupted term TERM --engine=func

# With waves: only if the model of tiny is there or can be built; test_gtkwave.sh uses it too.
if command -v verilator >/dev/null; then
    "$heddle" build --hw=tiny >/dev/null 2>stderr || fail "build: $(cat stderr)"
    interrupted waves INT --engine=rtl --hw=tiny --waves=all
fi

# A terminal of our own (script): the progress line is there and erased; without one nothing is.
if command -v script >/dev/null; then
    script -qec "'$heddle' run digits --engine=func -i some.bin --expect some_out.bin" typescript >/dev/null 2>&1 </dev/null
    if grep -q 'inference [0-9]* of 4000' typescript; then
        tail -c 2000 typescript | tr '\r' '\n' | grep -a 'inference [0-9]* of' | tail -1 | grep -q 'verdict' &&
            fail "the progress line was not erased"
        grep -aq $'\r\033\\[K' typescript || fail "progress is not erased"
    else
        fail "no progress on a terminal"
    fi
    "$heddle" run digits --engine=func -i some.bin --expect some_out.bin >stdout 2>stderr
    [ -s stderr ] && fail "progress without a terminal: $(head -c 100 stderr)"
fi
finish
