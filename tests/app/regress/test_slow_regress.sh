#!/bin/bash
# heddle regress with a stub in place of heddle: planning, storing, judging, accepting, comparing and printing; kill and
# resume; errors of suites, databases and disks.
. "$(dirname "$0")/stub.sh"
command -v python3 >/dev/null || { echo "python3 not found"; exit 77; }

# --- planning: the cross product, each run with its options; results are stored, and a second start runs nothing ---
suite s
expect 0 "" regress s.json -j2 --junit=junit.xml
[ "$(started)" = 8 ] || fail "8 runs planned, $(started) started"
grep -qF "run $work/b.tflite --hw=sys16 --engine=rtl --seed=2 --stats=$work/regress/work/1/7.json" log || fail "arguments: $(cat log)"
[ "$(grep -c '^[ab] [a-z0-9]* rtl seed [12]  *match  *1000\.0  *+0\.00%  *+0\.00%  *7 ' stdout)" = 8 ] || fail "table: $(cat stdout)"
grep -q '^s, session 1, commit c1, heddle .*: 8 of 8 runs done, 0 wrong$' stdout || fail "last line: $(cat stdout)"
[ "$(sql regress/regress.db 'SELECT count(*), count(DISTINCT label) FROM run')" = "8|8" ] || fail "rows"
[ -e regress/work ] && fail "left regress/work"
expect 0 "" regress s.json
[ "$(started)" = 8 ] || fail "nothing was missing, $(started) started"
grep -q '^session 1 has 8 of 8 runs: nothing is missing (--again runs all)$' stdout || fail "resumed: $(cat stdout)"
expect 0 "" regress s.json --again
[ "$(started)" = 16 ] || fail "--again: $(started) started"

# --- results.json conforms to its schema; JUnit is XML with correct counts; the page is self-contained ---
"$HEDDLE_BUILD/schema_check" "$HEDDLE_HOME/docs/regress.v1.schema.json" regress/results.json || fail "schema"
python3 - <<'PY' || fail "junit.xml, index.html"
import html.parser, xml.etree.ElementTree as tree
suite = tree.parse("junit.xml").getroot()
assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("8", "0", "0"), suite.attrib
assert len(suite.findall("testcase")) == 8
page = open("regress/index.html").read()
assert page.count("<svg") == 8 and "http" not in page and "<script" not in page, page[:500]
html.parser.HTMLParser().feed(page)
PY

# --- judged: wrong bytes, crashes, cycles, estimates; known exceptions; exit 1 names the first ---
echo "b.tflite 0 1020 1000 0" >rules
expect 1 "heddle: regress: 4 of 8 runs are wrong; the first: b tiny rtl seed 1: cycles: 1020.0 cycles, +2.00 % on the baseline of 1000.0 (at most 1 %)" \
    regress s.json --again
grep -q '^WRONG: b sys16 rtl seed 2: cycles: ' stdout || fail "findings: $(cat stdout)"
"$HEDDLE_BUILD/schema_check" "$HEDDLE_HOME/docs/regress.v1.schema.json" regress/results.json || fail "schema"
grep -q 'first bad commit' regress/index.html || fail "the page has no first bad commit"
[ "$(grep -o 'href="diff_[0-9]*.html"' regress/index.html | wc -l)" = 4 ] || fail "the page links no comparisons"
grep -q '"mostly":{"unit":"array","kind":"wait_weight","by":20}' regress/diff_7.html || fail "the comparison of a slip"

# accept: only with a reason; by name
expect 2 "heddle: regress accept: no reason; expected --why=TEXT" "$heddle" regress accept
expect 2 "heddle: regress accept: found 'x', expected a network or a run of the last session, as heddle regress show last lists them" \
    "$heddle" regress accept x --why=y
expect 0 "" "$heddle" regress accept "b tiny rtl seed 1" --why="a larger tile"
[ "$(cat stdout)" = "b tiny rtl seed 1: baseline 1000.0 -> 1020.0 cycles (+2.00 %)" ] || fail "accept: $(cat stdout)"
expect 0 "" "$heddle" regress accept b --why="a larger tile"
[ "$(wc -l <stdout)" = 3 ] || fail "accept b: $(cat stdout)"
expect 0 "" "$heddle" regress accept --why=again
[ "$(cat stdout)" = "no baseline differs from the last session's cycles" ] || fail "accept: $(cat stdout)"
[ "$(sql regress/regress.db "SELECT count(*) FROM baseline WHERE why = 'a larger tile' AND session = 3")" = 4 ] || fail "reasons"
expect 0 "" regress s.json
grep -q 'nothing is missing' stdout || fail "after accept: $(cat stdout)"

# compare: by number, by commit; the layer and the counter
expect 0 "" "$heddle" regress compare 1 3
grep -qE '^b tiny rtl seed 1 +1000\.0 +1020\.0 +\+2\.00%$' stdout || fail "compare: $(cat stdout)"
grep -qE '^    01_b +\+20\.0 cycles, array wait_weight \+20\.0$' stdout || fail "causes: $(cat stdout)"
grep -q '^4 runs changed, 4 are the same, 0 are in one session only$' stdout || fail "compare: $(cat stdout)"
expect 0 "" "$heddle" regress compare c1 last
grep -q '^0 runs changed, 8 are the same' stdout || fail "compare by commit: $(cat stdout)"
# docs/SCALE.md's statement for old sessions: layers of the other session are added ones, all else stays
cp -r regress thin
sql thin/regress.db "$(sed -n 's/^\(UPDATE run .*\) - 2 FROM session); VACUUM;$/\1 FROM session)/p' "$HEDDLE_HOME/docs/SCALE.md")"
[ "$(sql thin/regress.db "SELECT count(*) FROM run WHERE detail = '[]'")" = 16 ] || fail "layers of old sessions"
expect 0 "" "$heddle" regress compare 1 3 -o thin
grep -qE '^b tiny rtl seed 1 +1000\.0 +1020\.0 +\+2\.00%$' stdout || fail "compare without layers: $(cat stdout)"
grep -qE '^    01_b +\+620\.0 cycles, added$' stdout || fail "layers that were removed: $(cat stdout)"
expect 0 "" regress s.json -o thin
grep -q 'nothing is missing' stdout || fail "without layers: $(cat stdout)"
expect 2 "heddle: regress compare: found 1 arguments, expected two sessions" "$heddle" regress compare 1
expect 2 "heddle: regress: found '77', expected the number of a session, the start of its commit, or last; heddle regress show lists sessions" \
    "$heddle" regress show 77
expect 0 "" "$heddle" regress show
[ "$(sed -n 4p stdout | tr -s ' ')" = " 3 s $(date -u +%Y)-$(sed -n 4p stdout | grep -oE '[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}') c1 8 8 0" ] || fail "show: $(cat stdout)"
expect 0 "" "$heddle" regress show 1
grep -q '^s, session 1, commit c1' stdout || fail "show 1: $(cat stdout)"
expect 2 "heddle: regress show: found 2 arguments, expected none, or one session" "$heddle" regress show 1 2

judged() { # judged RULE TEXT [MORE OF THE SUITE]: the first run of b is wrong in that way
    echo "$1" >rules
    suite j "${3:-}"
    rm -rf j
    expect 1 "heddle: regress: 4 of 8 runs are wrong; the first: b tiny rtl seed 1: $2" regress j.json -o j -j4
}
judged "b.tflite 1 1000 1000 0 3 values differ" "bytes: 3 values differ"
judged "b.tflite 4 1000 1000 0 device fault" "failed: exit 4: device fault"
judged "b.tflite 3 1000 1000 0 no room" "refused: no room"
judged "b.tflite 99 0 0 0" "failed: killed: Aborted"
judged "b.tflite 7 0 0 0" "failed: exit 7: "
judged "b.tflite 0 2000 2050 0" "estimate: 2000.0 cycles, estimate 2050: 2.50 % off (at most 2 %)" \
    ', "limits": {"layer": 50}'
judged "b.tflite 0 2000 2030 0" "layer: 01_b: 1600.0 cycles, estimate 1630: 1.88 % off (at most 1 %)" ', "limits": {"layer": 1}'
[ "$(grep -c 00_a stdout)" = 0 ] || fail "a layer of 400 cycles is judged"
judged "b.tflite 0 1000 1000 5" "failed: stopped after 1 s" ', "seconds": 1'
excepted() { # excepted EXIT RULE EXCEPTION
    echo "$2" >rules
    suite e ", \"exceptions\": [$3]"
    rm -rf e
    regress e.json -o e >stdout 2>stderr
    [ $? = "$1" ] || fail "$3: $(cat stdout stderr)"
}
excepted 0 "b.tflite 0 2000 2050 0" '{"kind": "estimate", "network": "b", "percent": 3, "why": "a stall"}'
grep -q '^known: b sys16 rtl seed 2: estimate: .* (a stall)$' stdout || fail "known: $(cat stdout)"
"$HEDDLE_BUILD/schema_check" "$HEDDLE_HOME/docs/regress.v1.schema.json" e/results.json || fail "schema of a known finding"
excepted 1 "b.tflite 0 2000 2090 0" '{"kind": "estimate", "network": "b", "percent": 3, "why": "a stall"}'
excepted 1 "b.tflite 0 2000 2050 0" '{"kind": "estimate", "network": "b", "configuration": "tiny", "why": "a stall"}'
excepted 1 "b.tflite 0 2000 2110 0" '{"kind": "layer", "network": "b", "layer": "00_a", "why": "x"}, {"kind": "estimate", "network": "b", "why": "x"}'
excepted 0 "b.tflite 0 2000 2110 0" '{"kind": "layer", "network": "b", "layer": "01_b", "why": "x"}, {"kind": "estimate", "network": "b", "why": "x"}'
excepted 0 "b.tflite 3 0 0 0 no room" '{"kind": "refused", "network": "b", "why": "too large"}'
excepted 0 "none 0 1000 1000 0" '{"kind": "refused", "network": "b", "why": "too large"}'
grep -q '^note: exceptions\[0\] of the suite (refused of b) is not needed any more$' stdout || fail "note: $(cat stdout)"

# names that would break a page or a file
suite h
sed -i 's|"a.tflite"|{"model": "a.tflite", "name": "<b>\&\\"x\\""}|' h.json
echo "b.tflite 1 1 1 0 <script>" >rules
regress h.json -o h --junit=h.xml >stdout 2>stderr
python3 -c 'import xml.etree.ElementTree as t; t.parse("h.xml")' || fail "h.xml"
grep -qF '<b>' h/index.html h.xml && fail "a name is not escaped"
regress h.json -o h --github >stdout 2>stderr
grep -qxF '::error title=bytes%3A b sys16 rtl seed 1::<script>' stdout || fail "--github: $(grep ^:: stdout)"
grep -q '^::notice title=heddle regress h::' stdout || fail "--github: $(grep ^:: stdout)"
grep -qF '<script' h/index.html && fail "a message is not escaped"
: >rules

# --- kill and resume: only missing runs start, each once ---
echo "* 0 1000 1000 0.4" >rules
: >log
set -m
"$heddle" regress s.json -o k -j1 --heddle="$HEDDLE_BUILD/regress_stub" --commit=c1 >stdout 2>stderr &
pid=$!
set +m
for _ in $(seq 200); do [ "$(sql k/regress.db 'SELECT count(*) FROM run' 2>/dev/null || echo 0)" -ge 2 ] && break; sleep 0.1; done
kill -9 $pid; wait $pid 2>/dev/null
kept=$(sql k/regress.db 'SELECT count(*) FROM run')
[ "$kept" -ge 2 ] && [ "$kept" -lt 8 ] || fail "after kill -9: $kept rows"
sleep 0.6
: >rules >log
expect 0 "" regress s.json -o k
[ "$(started)" = $((8 - kept)) ] || fail "resumed with $kept: $(started) started"
[ "$(sql k/regress.db 'SELECT count(*), count(DISTINCT number), count(DISTINCT session) FROM run')" = "8|8|1" ] || fail "resumed rows"

# Ctrl-C: exit 130, the child is gone
echo "* 0 1000 1000 30" >rules
set -m
"$heddle" regress s.json -o i -j1 --heddle="$HEDDLE_BUILD/regress_stub" --commit=c1 >stdout 2>stderr &
pid=$!
set +m
for _ in $(seq 100); do child=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null); [ -n "$child" ] && break; sleep 0.05; done
sleep 0.2
kill -INT $pid; wait $pid
[ $? = 130 ] || fail "Ctrl-C: exit code"
sleep 0.3
for c in $child; do grep -q '^State:.*[RSD] ' "/proc/$c/status" 2>/dev/null && fail "child $c runs on"; done
: >rules

# a changed model or another heddle makes another plan
echo "changed" >>b.tflite
: >log
expect 0 "" regress s.json -o k
[ "$(started)" = 8 ] || fail "a changed model: $(started) started"

# --- errors in a suite ---
bad() { # bad MESSAGE JSON
    printf '%s\n' "$2" >bad.json
    expect 2 "heddle: $1" regress bad.json
}
start='{"schema": "heddle.suite.v1", "name": "x", "runs": [{'
bad "bad.json:2:1: not valid JSON: the text ends too early" '{'
bad "bad.json:1:1: member \"runs\" is missing" '{"schema": "heddle.suite.v1", "name": "x"}'
bad "bad.json:1:65: runs[0].network: unknown member; did you mean \"networks\"?" "$start\"network\": []}]}"
bad "bad.json:1:66: runs[0].networks: expected a number of elements of at least 1, found 0" "$start\"networks\": []}]}"
bad 'bad.json:1:92: runs[0].engines[0]: expected one of "ref", "func", "rtl", found "fpga"' "$start\"networks\": [\"a.tflite\"], \"engines\": [\"fpga\"]}]}"
bad "bad.json:1:67: runs[0].networks[0]: cannot read '$work/no.tflite': No such file or directory" "$start\"networks\": [\"no.tflite\"]}]}"
bad "bad.json:1:67: runs[0].networks[0]: 'digit' is neither a file nor a network of tests/models; did you mean digits?" "$start\"networks\": [\"digit\"]}]}"
bad "bad.json:1:100: runs[0].networks[0].expect[0]: cannot read '$work/no.bin': No such file or directory" "$start\"networks\": [{\"model\": \"a.tflite\", \"expect\": [\"no.bin\"]}]}]}"
bad "bad.json:1:99: runs[0].configurations[0]: cannot read '$work/no.json': No such file or directory" "$start\"networks\": [\"a.tflite\"], \"configurations\": [\"no.json\"]}]}"
bad "bad.json:1:93: runs[0].options[0][0]: '--hw=tiny' is given by regress itself, from another member" "$start\"networks\": [\"a.tflite\"], \"options\": [[\"--hw=tiny\"]]}]}"
bad 'bad.json:1:93: runs[0].options[0][0]: expected an option of heddle run, as "--memory=separate", found "memory"' "$start\"networks\": [\"a.tflite\"], \"options\": [[\"memory\"]]}]}"
bad "bad.json:1:52: runs: 'a sys16 rtl seed 1' is planned twice; give one of two networks another name, or take one of them off" "$start\"networks\": [\"a.tflite\", \"a.tflite\"]}]}"
bad "bad.json:1:97: exceptions[0]: no run has network 'c'" "$start\"networks\": [\"a.tflite\"]}], \"exceptions\": [{\"kind\": \"cycles\", \"network\": \"c\", \"why\": \"x\"}]}"
expect 2 "heddle: cannot read 'none.json': No such file or directory" regress none.json
expect 2 "heddle: argument: found 'y', expected one suite only" regress s.json y
expect 2 "heddle: --launcher: found 'lsf', expected slurm, slurm:N (runs in one job element) or a command with {}, as 'srun {}'" regress s.json --launcher=lsf
expect 2 "heddle: --heddle: found 'no', expected a program" "$heddle" regress s.json --heddle=no
expect 2 "heddle: --junit: heddle run does not use it; regress does" "$heddle" run digits --junit=x

# --- errors of a database, a folder, a disk ---
expect 2 "heddle: no/regress.db: file not found; create it with heddle regress SUITE.json" "$heddle" regress show -o no
mkdir d && echo "not a database, but more than a hundred bytes of text ..............................................................." >d/regress.db
expect 2 "heddle: d/regress.db: not an SQLite database; expected one of heddle regress" regress s.json -o d
cp regress/regress.db d/regress.db && head -c 9000 regress/regress.db >d/regress.db
expect 2 "heddle: d/regress.db: damaged; remove it and run heddle regress again" "$heddle" regress show -o d
# damage SQL MESSAGE: damages a copy of the database
damage() {
    cp regress/regress.db d/regress.db
    python3 -c 'import sqlite3, sys; c = sqlite3.connect("d/regress.db"); c.executescript(sys.argv[1])' "$1" || fail "$1"
    expect 2 "heddle: d/regress.db: damaged: $2; remove it and run heddle regress again" "$heddle" regress show -o d
}
damage "UPDATE session SET planned = 4611686018427387904" "table session, column planned: expected an integer from 0 to 10000000 in each row"
damage "UPDATE run SET number = -1 WHERE number = 0" "table run, column number: expected an integer from 0 to 10000000 in each row"
damage "UPDATE run SET cycles = x'00ff'" "table run, column cycles: expected a number in each row"
damage "UPDATE run SET label = x'00ff' WHERE number = 1" "table run, column label: expected a text in each row"
damage "UPDATE session SET started = 'now'" "table session, column started: expected an integer in each row"
damage "ALTER TABLE run RENAME COLUMN label TO title" "table run, no such column: label"
damage "DROP TABLE finding" "table finding, no such table: finding"
python3 - <<'PY' &
import sqlite3, time
c = sqlite3.connect("k/regress.db", isolation_level=None)
c.execute("BEGIN EXCLUSIVE")
open("locked", "w").close()
time.sleep(4)
PY
for _ in $(seq 100); do [ -e locked ] && break; sleep 0.05; done
expect 2 "heddle: k/regress.db: locked by another process; wait for it to end" regress s.json -o k
wait
flock k -c 'sleep 2' &
sleep 0.3
expect 2 "heddle: -o: another heddle is writing into 'k'; wait for it to end, or name another folder" regress s.json -o k
wait
if [ "$(id -u)" = 0 ] && mkdir full && mount -t tmpfs -o size=28k tmpfs full 2>/dev/null; then
    expect 5 "heddle: full/regress.db: no memory or disk left" regress s.json -o full
    umount full
fi
finish
