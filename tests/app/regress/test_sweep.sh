#!/bin/bash
# heddle sweep with a stub in place of heddle: expansion of a grid, errors as rows, fronts, table, CSV, page; resuming;
# heddle hw; a database without energy.
. "$(dirname "$0")/stub.sh"
command -v python3 >/dev/null || { echo "python3 not found"; exit 77; }
sweep() { "$heddle" sweep "$@" --heddle="$HEDDLE_BUILD/regress_stub" --commit=c1; }
# grid NAME CONFIGURATIONS: writes networks a and b on the functional model.
grid() {
    echo "{\"schema\": \"heddle.suite.v1\", \"name\": \"$1\", \"runs\": [{\"networks\": [\"a.tflite\", \"b.tflite\"],
        \"engines\": [\"rtl\"], \"seeds\": [1], \"configurations\": [$2]}]}" >"$1.json"
}

# --- a grid: every combination, the last member's values next to each other; names and lists as they are ---
grid g '{"base": "sys16", "ports": [2, 4], "scratchpad_bytes": [65536, 131072]}, {"base": "sys8", "n": 12}, "tiny"'
cat >rules <<'END'
"n":12 2 0 0 0 --hw: "n": expected 4, 8, 16 or 32, found 12
"ports":2,"scratchpad_bytes":65536 0 3000 3000 0
"ports":2 0 2000 2000 0
"ports":4,"scratchpad_bytes":65536 0 1500 1500 0
tiny 0 9000 9000 0
END
expect 0 "" sweep g.json -j2 -o out
cp stdout table
[ "$(started)" = 12 ] || fail "12 runs planned, $(started) started"
grep -qF -- "--hw={\"base\":\"sys16\",\"ports\":4,\"scratchpad_bytes\":131072} --engine=rtl" log || fail "arguments: $(cat log)"
grep -qE '^  sys16,ports=2,scratchpad_bytes=131072 +0\.0201 +256 +[0-9.]+ +~[0-9]+ +2\.500  LUT4$' table || fail "table: $(cat table)"
grep -qE '^  sys16,ports=4,scratchpad_bytes=65536 +0\.0151 +256 +[0-9.]+ +~[0-9]+ +2\.500  memory(, LUT4)?$' table || fail "table: $(cat table)"
grep -qE '^  sys16,ports=4,scratchpad_bytes=131072 +0\.0101 +256 +[0-9.]+ +[0-9]+ +2\.500  multipliers, memory, LUT4, energy$' table || fail "table: $(cat table)"
grep -q '^  sys8,n=12  *failed: --hw: "n": expected 4, 8, 16 or 32, found 12$' table || fail "a wrong configuration: $(cat table)"
[ "$(grep -c '^geometric mean of all$\|^[ab], rtl seed 1$' table)" = 3 ] || fail "series: $(cat table)"
[ "$(sql out/regress.db 'SELECT count(*), count(DISTINCT configuration), sum(energy > 0), max(energy_unit) FROM run')" = "12|6|10|pJ" ] || fail "rows"
expect 0 "" sweep g.json -o out
[ "$(started)" = 12 ] || fail "nothing was missing, $(started) started"
diff <(tail -n +2 stdout) table >/dev/null || fail "resumed: $(cat stdout)"
expect 0 "" sweep g.json -o out --clock=200
grep -qE '^  tiny +0\.0450 +16 +14\.1 +[0-9]+ ' stdout || fail "--clock: $(cat stdout)"
python3 - <<'PY' || fail "sweep.csv, sweep.html"
import csv, html.parser
rows = list(csv.DictReader(open("out/sweep.csv")))
assert len(rows) == 12, len(rows)
best = [r for r in rows if r["network"] == "a" and r["front_memory"] == "1"]
assert [r["configuration"] for r in best] == ["sys16,ports=4,scratchpad_bytes=131072",
    "sys16,ports=4,scratchpad_bytes=65536", "tiny"], best
assert best[1]["ports"] == "4" and best[1]["memory_bits"] == str(1788928) and best[1]["cycles"] == "1500"
wrong = [r for r in rows if r["configuration"] == "sys8,n=12"]
assert len(wrong) == 2 and all(r["message"].startswith("--hw: ") and not r["n"] for r in wrong), wrong
page = open("out/sweep.html").read()
assert page.count("<figure>") == 9 and "http" not in page and "<script" not in page, page.count("<figure>")
html.parser.HTMLParser().feed(page)
PY

# --- options of heddle run vary too, as attributes of a target do ---
grid options '{"base": "tiny", "ports": [1, 2], "options": {"target-mine-lanes": [4, 8], "mem-bytes": "2"}}'
cat >rules <<'END'
--target-mine-lanes=8 0 2000 2000 0
END
: >log
expect 0 "" sweep options.json -o options
[ "$(started)" = 8 ] || fail "options: 8 runs planned, $(started) started"
grep -qF -- '--hw={"base":"tiny","ports":1} --target-mine-lanes=8 --mem-bytes=2 --engine=rtl' log || fail "options: $(cat log)"
grep -qE '^  tiny,ports=1,target-mine-lanes=8,mem-bytes=2 +0\.0201 ' stdout || fail "options: $(cat stdout)"
grid ours '{"base": "tiny", "options": {"engine": "func"}}'
expect 2 "heddle: ours.json:2:101: runs[0].configurations[0].options.engine: '--engine' is given by regress itself, from another member" \
    sweep ours.json

# --- wrong bytes are wrong here too ---
echo "a.tflite 1 1000 1000 0 output 0 differs" >rules
expect 1 "heddle: sweep: 6 of 12 runs are wrong; the first: a sys16,ports=2,scratchpad_bytes=65536 rtl seed 1: bytes: output 0 differs" \
    sweep g.json -o out --again
grep -qE '^  tiny +mismatch: output 0 differs$' stdout || fail "wrong bytes: $(cat stdout)"

# --- errors in a grid; refusals of heddle hw ---
grid typo '{"base": "sys16", "prots": [2, 4]}'
expect 2 'heddle: typo.json:2:89: runs[0].configurations[0].prots: unknown member; did you mean "ports"?' sweep typo.json
grid many '{"base": "sys16", "ports": ['"$(seq -s, 1 200)"'], "banks": ['"$(seq -s, 1 200)"']}'
expect 2 "heddle: many.json:2:61: runs[0].configurations: expected at most 10000 configurations" sweep many.json
expect 0 "" "$heddle" hw
[ "$(grep -cE '^(tiny|sys8|sys16) +[0-9]+ +[0-9.]+ +[0-9]+ counted +[0-9]+ (routed|model) ' stdout)" = 3 ] || fail "heddle hw: $(cat stdout)"
expect 0 "" "$heddle" hw '{"base": "sys8", "name": "wide", "axi_bytes": 32}'
grep -qE '^wide +64 +[0-9.]+ +[0-9]{5} +model +[0-9]+ +model +512 +40 +32 ' stdout || fail "heddle hw: $(cat stdout)"
for n in 6 12; do
    expect 2 "heddle: --hw: \"n\": expected 4, 8, 16 or 32, found $n: byte addresses are a word and a lane of n, split as bits; for an array of $n, state a larger n, and \"rows\" and \"columns\"" \
        "$heddle" run digits --hw="{\"base\": \"sys16\", \"n\": $n}"
done
expect 2 'heddle: --hw: "columns": expected at most 16 (n, the lanes of a word), found 32; state a larger n' \
    "$heddle" run digits --hw='{"base": "sys16", "rows": 4, "columns": 32}'
expect 0 "" "$heddle" hw '{"base": "sys32", "rows": 4, "columns": 24}'
grep -qE '^sys32-[0-9a-f]+ +96 ' stdout || fail "heddle hw of 4 x 24: $(cat stdout)"

# --- a database without energy, with the older names of columns, and without a later column ---
: >rules
sql out/regress.db "ALTER TABLE run DROP COLUMN energy"
sql out/regress.db "ALTER TABLE run DROP COLUMN energy_unit"
sql out/regress.db "ALTER TABLE run DROP COLUMN macs"
sql out/regress.db "ALTER TABLE run RENAME COLUMN dram_read_bytes TO read_bytes"
sql out/regress.db "ALTER TABLE run RENAME COLUMN dram_write_bytes TO write_bytes"
sql out/regress.db "PRAGMA user_version = 1"
expect 0 "" "$heddle" regress show -o out
[ "$(sql out/regress.db 'SELECT min(energy), max(macs), max(dram_read_bytes) FROM run')" = "-1.0|-1.0|64.0" ] || fail "not brought up to date"
expect 0 "" sweep g.json -o out --again
finish
