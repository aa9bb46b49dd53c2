# Shared by test_slow_interrupt.sh and test_nightly_interrupt.sh: a run that is interrupted. After common.sh.

# Many inferences, so that a run lasts long enough to be interrupted, with their answers, so that no
# reference runs first.
for _ in $(seq 100); do cat "$models/digits/in_0.bin"; done >many.bin
for _ in $(seq 100); do cat "$models/digits/out_0.bin"; done >many_out.bin

# The emitted C is compiled once now, so that the first child seen below is the run itself.
for hw in sys16 tiny; do
    "$heddle" run digits --engine=func --hw=$hw >/dev/null 2>&1 || fail "run"
done

# interrupted NAME SIGNAL ARGUMENTS...: start, wait until the run is under way (a child exists), signal the parent only.
interrupted() {
    local name=$1 signal=$2 pid child= got
    shift 2
    # Job control: otherwise a shell starts background processes with SIGINT ignored.
    set -m
    "$heddle" run digits -i many.bin --expect many_out.bin "$@" -o "out_$name" >stdout 2>stderr &
    pid=$!
    set +m
    for _ in $(seq 2400); do # two minutes
        child=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
        [ -n "$child" ] && break
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.05
    done
    [ -n "$child" ] || fail "$name: no child was seen: $(cat stderr)"
    sleep 0.3
    kill "-$signal" "$pid"
    wait "$pid"
    got=$?
    [ "$got" = 130 ] || fail "$name: exit $got, expected 130"
    [ "$(told stderr)" = "heddle: interrupted" ] || fail "$name: stderr: $(cat stderr)"
    [ -s stdout ] && fail "$name: wrote to stdout: $(head -c 100 stdout)"
    [ -z "$child" ] || ! kill -0 "$child" 2>/dev/null || fail "$name: child $child still runs"
    [ -z "$(find "out_$name" -type f 2>/dev/null)" ] || fail "$name: left $(find "out_$name" -type f)"
}
