#!/bin/bash
# axe-core (from PyPI's axe-playwright-python, of which only its script is used) finds nothing to criticise on heddle's pages:
# reports of a run on the RTL and of a large network, a difference of two runs, a space that was explored.
. "$(dirname "$0")/../../e2e/common.sh"
venv=$(cd "$HEDDLE_HOME" && .ci/venv axe) || { echo "$venv"; exit 77; }
case $venv in /*) ;; *) venv=$HEDDLE_HOME/$venv ;; esac
axe=$(find "$venv" -name axe.min.js | head -1)
"$heddle" run digits --hw=tiny -q -o a >stdout 2>stderr && "$heddle" run digits --hw=sys8 -q -o b >stdout 2>stderr &&
    "$heddle" run vit_own --engine=func -n 1 -q -o large >stdout 2>stderr || fail "$(cat stderr)"
"$heddle" diff a b -o difference >stdout 2>stderr || fail "diff: $(cat stderr)"
echo '{"schema": "heddle.suite.v1", "name": "few", "runs": [{"networks": ["digits"], "configurations":
    [{"base": "tiny", "scratchpad_bytes": [16384, 32768]}]}]}' >few.json
"$heddle" explore few.json --confirm=1 -o few >stdout 2>stderr || fail "explore: $(cat stderr)"
python3 "$HEDDLE_HOME/tests/app/report/page_check.py" --axe "$axe" a/report.html large/report.html difference/diff.html few/explore.html >stdout 2>&1 || {
    [ $? = 77 ] && { tail -1 stdout; exit 77; }
    fail "$(tail -1 stdout)"
}
finish
