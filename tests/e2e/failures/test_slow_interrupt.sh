#!/bin/bash
# Ctrl-C during a run: exit 130, one line, the child gone, nothing half written. On a terminal a
# line of progress appears and is erased.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../common.sh"
. "$here/interrupt.sh"

interrupted int INT --engine=func
interrupted term TERM --engine=func

# A terminal of our own (script): the progress line is there and erased; without one nothing is.
if command -v script >/dev/null; then
    head -c $((1500 * 64)) many.bin >some.bin
    head -c $((1500 * 10)) many_out.bin >some_out.bin
    script -qec "'$heddle' run digits --engine=func -i some.bin --expect some_out.bin" typescript >/dev/null 2>&1 </dev/null
    if grep -q 'inference [0-9]* of 1500' typescript; then
        tail -c 2000 typescript | tr '\r' '\n' | grep -a 'inference [0-9]* of' | tail -1 | grep -q 'verdict' &&
            fail "the progress line was not erased"
        grep -aq $'\r\033\\[K' typescript || fail "progress is not erased"
    else
        fail "no progress on a terminal"
    fi
    "$heddle" run digits --engine=func -i some.bin --expect some_out.bin >stdout 2>stderr
    [ -n "$(told stderr)" ] && fail "progress without a terminal: $(head -c 100 stderr)"
fi
finish
