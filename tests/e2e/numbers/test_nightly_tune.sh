#!/bin/bash
# heddle tune: what it measures and stores, killed and resumed; its use by run and compile; invalid files.
. "$(dirname "$0")/../common.sh"
command -v python3 >/dev/null || { echo "python3 not found"; exit 77; }
trials=11 # more than a generation

tune() { "$heddle" tune digits --hw=tiny "$@"; }
all="SELECT number, estimate, cycles, knobs FROM trial ORDER BY number"

tune --trials $trials -j2 --tuned=whole.db >whole 2>stderr || fail "tune: $(cat stderr)"
[ -n "$(told stderr)" ] && fail "tune on stderr: $(cat stderr)"
[ "$(sql whole.db 'SELECT count(*) FROM trial')" = $trials ] || fail "trials: $(sql whole.db 'SELECT * FROM trial')"

# Killed, then interrupted, then completed with other -j: the same file.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/heddle pids=()
measured() { sql part.db 'SELECT count(*) FROM trial' 2>/dev/null || echo 0; }
killed() { # SIGNAL TRIALS: send it once TRIALS are measured
    local pid
    set -m
    "$heddle" tune digits --hw=tiny --trials $trials -j1 --tuned=part.db >part 2>stderr &
    pid=$!
    pids+=("$pid")
    set +m
    for _ in $(seq 1200); do
        n=$(measured)
        [ "${n:-0}" -ge "$2" ] && break
        kill -0 $pid 2>/dev/null || break
        sleep 0.1
    done
    kill "-$1" $pid
    wait $pid 2>/dev/null
}
killed KILL 2
[ $? = 137 ] || fail "kill -9: $(cat part stderr)"
kept=$(measured)
[ "$kept" -ge 2 ] && [ "$kept" -lt $trials ] || fail "after kill -9: $kept trials"
killed INT $((kept + 2))
[ $? = 130 ] || fail "Ctrl-C: $(cat part stderr)"
grep -q "^part.db has $kept trials of digits on tiny: continuing" part || fail "resumed: $(cat part)"
[ "$(told stderr)" = "heddle: interrupted" ] || fail "Ctrl-C says $(cat stderr)"
tune --trials $trials -j2 --tuned=part.db >part 2>stderr || fail "to the end: $(cat stderr)"
[ "$(sql whole.db "$all")" = "$(sql part.db "$all")" ] || fail "interrupted, the results are others"
for pid in "${pids[@]}"; do
    [ -e "$cache/tune.$pid" ] && fail "left $cache/tune.$pid"
done

# run and compile: the same bytes, at most the cycles, the cycles that were measured.
"$heddle" run digits --hw=tiny -o plain >plain.txt 2>&1 || fail "run: $(cat plain.txt)"
"$heddle" run digits --hw=tiny -o tuned --tuned=whole.db >tuned.txt 2>stderr || fail "run --tuned: $(cat stderr)"
[ -n "$(told stderr)" ] && fail "run --tuned on stderr: $(cat stderr)"
same plain/out_0.bin tuned/out_0.bin "outputs with and without --tuned"
cycles() { sed -n 's/.* inferences, \([0-9]*\)\.0 cycles each.*/\1/p' "$1"; }
best=$(sql whole.db 'SELECT min(cycles) FROM trial')
[ "$(cycles tuned.txt)" = "$best" ] || fail "run --tuned: $(cycles tuned.txt) cycles, measured $best"
[ "$best" -le "$(cycles plain.txt)" ] || fail "tuned $best, before $(cycles plain.txt)"
[ "$(sql whole.db 'SELECT cycles FROM trial WHERE number = 0')" = "$(cycles plain.txt)" ] || fail "trial 0 is not the start"
grep -q "^digits on tiny: $(cycles plain.txt) cycles before, $best after" whole || fail "summary: $(tail -1 whole)"
for i in 1 2; do
    "$heddle" compile digits --hw=tiny --tuned=whole.db -o $i.tar 2>stderr || fail "compile: $(cat stderr)"
done
same 1.tar 2.tar "the same file, another package"
"$heddle" inspect digits --hw=tiny --tuned=whole.db >stdout 2>stderr || fail "inspect: $(cat stderr)"
number=$(sql whole.db 'SELECT number FROM trial ORDER BY cycles, number LIMIT 1')
sql whole.db "SELECT value ->> 'layer', 'tile_rows=' || (value ->> 'tile_rows') FROM trial, json_each(knobs, '\$.knobs')
    WHERE number = $number AND value ->> 'tile_rows' > 0" |
    while IFS='|' read -r layer knob; do
        grep -q "^$layer .*$knob" stdout || { grep "^$layer " stdout; echo "not in inspect: $layer $knob"; }
    done >missing
[ -s missing ] && fail "$(cat missing)"

# Other hardware, another memory system, another version of the schedule, another network: a note,
# the answer is the same.
run() { "$heddle" run digits --engine=func "$@"; }
stale="heddle: note: whole.db is not used: its results for this network are"
expect 0 "$stale for other hardware or another memory system" run --hw=sys8 --keep-on-host=14_softmax --tuned=whole.db
expect 0 "$stale for other hardware or another memory system" run --hw=tiny --mem-latency=200 --tuned=whole.db
expect 0 "heddle: note: whole.db is not used: it has no results for this network" \
    run --hw=tiny --keep-on-host=04_add --tuned=whole.db
cp whole.db old.db
sql old.db "UPDATE network SET schedule = 'of yesterday'"
expect 0 "heddle: note: old.db is not used: its results for this network are from another version of heddle's scheduler; run heddle tune again" \
    run --hw=tiny --tuned=old.db

# Invalid files.
expect 2 "heddle: no.db: file not found; create it with heddle tune MODEL --tuned=no.db" run --hw=tiny --tuned=no.db
expect 2 "heddle: tune: no file for the results; expected --tuned=FILE" tune
expect 2 "heddle: tune: measures on the RTL; expected --engine=rtl" tune --engine=func --tuned=x.db
expect 2 "heddle: no/x.db: cannot be opened" tune --tuned=no/x.db
echo "this is not a database, and longer than the header of one: 0123456789 0123456789 0123456789 0123456789" >text.db
expect 2 "heddle: text.db: not an SQLite database; expected one of heddle tune" run --hw=tiny --tuned=text.db
expect 2 "heddle: text.db: not an SQLite database; expected one of heddle tune" tune --tuned=text.db
sql other.db "CREATE TABLE t (x)"
expect 2 "heddle: other.db: an SQLite database, but not one of heddle tune; name another file" run --hw=tiny --tuned=other.db
expect 2 "heddle: other.db: an SQLite database, but not one of heddle tune; name another file" tune --tuned=other.db
cp whole.db newer.db
sql newer.db "PRAGMA user_version = 7"
expect 2 "heddle: newer.db: has format 7, this heddle reads format 2; name another file" run --hw=tiny --tuned=newer.db
head -c 6000 whole.db >cut.db
expect 2 "heddle: cut.db: damaged; remove it and run heddle tune again" run --hw=tiny --tuned=cut.db
cp whole.db wild.db
sql wild.db "UPDATE trial SET knobs = json_set(knobs, '\$.knobs[0].op', 999) WHERE number = 0"
"$heddle" run digits --hw=tiny --tuned=wild.db >/dev/null 2>stderr
[ $? = 2 ] && grep -q "^heddle: wild.db: trial 0:1:[0-9]*: knobs\[0\].op: found 999, expected an operator from 0 to 1[0-9] of this network$" stderr || fail "wild: $(cat stderr)"
python3 - whole.db <<'PY' &
import sqlite3, sys, time
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute("BEGIN EXCLUSIVE")
open("locked", "w").close()
time.sleep(60)
PY
holder=$!
for _ in $(seq 200); do [ -e locked ] && break; sleep 0.05; done
expect 2 "heddle: whole.db: locked by another process; wait for it to end" run --hw=tiny --tuned=whole.db
expect 2 "heddle: whole.db: locked by another process; wait for it to end" tune --tuned=whole.db
kill $holder
wait $holder 2>/dev/null
if [ "$(id -u)" != 0 ]; then # root may write all
    cp whole.db fixed.db
    chmod 444 fixed.db
    expect 2 "heddle: fixed.db: cannot be written" tune --tuned=fixed.db
    expect 0 "" run --hw=tiny --tuned=fixed.db
fi

# A compiler that changes a constant: the first trial reports it, and nothing is stored.
cat >badcc <<'SH'
#!/bin/bash
[ -e constants.c ] && sed -i 's/,127,/,1,/g' constants.c
exec cc "$@"
SH
chmod +x badcc
CC=$work/badcc tune --trials 2 --tuned=bad.db >stdout 2>stderr
[ $? = 1 ] || fail "wrong bytes: exit $?"
grep -q "^heddle: trial 0: output 0 differs from the reference with these knobs; please report it: 0[0-9]_.*=" stderr ||
    fail "wrong bytes: $(cat stderr)"
[ "$(sql bad.db 'SELECT count(*) FROM trial')" = 0 ] || fail "a wrong trial was kept"
finish
