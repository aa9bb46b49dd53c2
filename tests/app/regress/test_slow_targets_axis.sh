#!/bin/bash
# heddle regress with `targets` as an axis: each network on each --target. The table networks x targets in Markdown, CSV
# and HTML has verdicts, cycles, unsimulated layers, and reasons of refusals.
. "$HEDDLE_HOME/tests/e2e/common.sh"
export XDG_CONFIG_HOME=$work/config HEDDLE_TARGET_PATH=$work
mkdir said
cat >said/target.json <<'JSON'
{"heddle_target": 1, "name": "said", "version": "1.0", "requires_heddle": "0.1", "help": "x", "estimator": "say.py",
 "operators": [{"op": "conv2d"}]}
JSON
echo 'import sys; [print(i, "takes 42") for i in sys.argv[2].split(",")]' >said/say.py
suite() { # suite TARGETS [MORE]
    cat >suite.json <<JSON
{"schema": "heddle.suite.v1", "name": "axis",
 "runs": [{"networks": ["digits", "vit_own"], "engines": ["func"], "targets": $1${2:-}}]}
JSON
}
suite '["c", "said,systolic,c", "systolic,c"]' ', "options": [["--allow-native-targets"]]'
"$heddle" regress suite.json -j2 --commit=c1 >stdout 2>stderr || fail "$(cat stdout stderr)"
grep -qx "regress/targets.html, .md, .csv: networks x targets" stdout || fail "$(cat stdout)"
[ "$(head -n 1 regress/targets.md)" = "| network | c | said,systolic,c | systolic,c |" ] &&
    [ "$(wc -l <regress/targets.md)" = 4 ] || fail "Markdown: $(cat regress/targets.md)"
grep -qE '^\| digits sys16 func --allow-native-targets \| match: host [0-9]+ \| match: about [0-9]+ cycles, 4 layers not simulated \| match: about [0-9]+ cycles' \
    regress/targets.md || fail "Markdown: $(cat regress/targets.md)"
python3 - <<'PY' || fail "CSV: $(cat regress/targets.csv)"
import csv
rows = list(csv.DictReader(open("regress/targets.csv")))
assert [(r["network"], r["targets"]) for r in rows] == \
    [(n, t) for n in ("digits", "vit_own") for t in ("c", "said,systolic,c", "systolic,c")], rows
assert all(r["verdict"] == "match" and r["options"] == "--allow-native-targets" and r["cycles"] == "" for r in rows)
assert rows[1]["message"] == "4 layers not simulated" and rows[0]["message"] == rows[2]["message"] == ""
assert float(rows[2]["estimated_cycles"]) > 0 and float(rows[0]["host_cycles"]) > float(rows[2]["host_cycles"])
PY
python3 - <<'PY' || fail "HTML: $(cat regress/targets.html)"
from html.parser import HTMLParser
cells = []
class P(HTMLParser):
    def handle_starttag(self, tag, attrs):
        if tag in ("td", "th"):
            cells.append("")
    def handle_data(self, data):
        if cells:
            cells[-1] += data.strip()
P().feed(open("regress/targets.html").read())
assert cells[:4] == ["network", "c", "said,systolic,c", "systolic,c"] and len(cells) == 12, cells
assert "4 layers not simulated" in cells[6], cells
PY
# --- again: nothing is missing; another target's file: a new session ---
"$heddle" regress suite.json --commit=c1 >stdout 2>stderr || fail "again: $(cat stderr)"
"$heddle" regress show >sessions
[ "$(grep -c '^ *[0-9]' sessions)" = 1 ] || fail "again: $(cat sessions)"
# --- refusals appear in the table ---
suite '["said,c", "c"]'
"$heddle" regress suite.json -o refused --commit=c1 >stdout 2>stderr && fail "a target without trust ran"
grep -q '| digits sys16 func | failed: .*allow-native-targets.* | match: host' refused/targets.md || fail "$(cat refused/targets.md)"
suite '["Systolic"]'
expect 2 "heddle: suite.json:2:80: runs[0].targets[0]: expected text like ^[a-z][a-z0-9_:,-]*\$, found \"Systolic\"" \
    "$heddle" regress suite.json
suite '["c"]'
sed -i 's/, "targets": \["c"\]//' suite.json
"$heddle" regress suite.json -o plain --commit=c1 >stdout 2>stderr || fail "$(cat stderr)"
[ -e plain/targets.md ] && fail "a table without targets"
# --- a sweep over an attribute of a target; without the array its sizes cost nothing ---
cat >lanes.json <<'JSON'
{"schema": "heddle.suite.v1", "name": "lanes",
 "runs": [{"networks": ["digits"], "engines": ["func"], "targets": ["vanilla,c"],
           "configurations": [{"base": "tiny", "options": {"target-vanilla-max-kernel": [1, 3]}}]}]}
JSON
"$heddle" sweep lanes.json -j2 -o lanes --commit=c1 >stdout 2>stderr || fail "sweep: $(cat stderr)"
grep -E -A 1 '^  tiny,target-vanilla-max-kernel=3 +[0-9.]+ +- +- +- +- *$' stdout |
    grep -qE '^  tiny,target-vanilla-max-kernel=1 +[0-9.]+ +- +- +- +- *$' || fail "sweep: $(cat stdout)"
finish
