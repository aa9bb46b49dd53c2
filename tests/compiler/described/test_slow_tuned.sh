#!/bin/bash
# heddle tune changes the choices for layers on a described device and measures them on its core; run uses the fastest.
. "$(dirname "$0")/../../e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }

cp -r "$HEDDLE_HOME/targets/shuttle" own
sed -i 's/"name": "shuttle"/"name": "own"/' own/target.json
with=(digits --target=own,c --target-dir=. --allow-native-targets)
"$heddle" tune "${with[@]}" --trials=3 --tuned=t.db >stdout 2>stderr || fail "tune: $(cat stderr)"
[ "$(sql t.db 'SELECT count(*) FROM trial')" = 3 ] || fail "trials: $(cat stdout)"
[ "$(sql t.db 'SELECT count(DISTINCT knobs) FROM trial')" -gt 1 ] || fail "every trial has the same knobs"
first=$(sql t.db 'SELECT cycles FROM trial WHERE number = 0') best=$(sql t.db 'SELECT min(cycles) FROM trial')
[ "$best" -lt "$first" ] || fail "$first cycles before, $best after"
[ "$(sql t.db 'SELECT count(*) FROM trial WHERE abs(estimate - cycles) * 10 > cycles')" = 0 ] ||
    fail "estimates: $(sql t.db 'SELECT estimate, cycles FROM trial')"

"$heddle" run "${with[@]}" --tuned=t.db >stdout 2>stderr || fail "run: $(cat stderr)"
grep -q '^verdict: match: .* 14 of 14 layers' stdout || fail "run: $(cat stdout)"
grep -q ", $best[.]0 cycles each on the accelerator" stdout || fail "expected $best cycles, found $(sed -n 3p stdout)"
# The fastest trial's knobs, from the file.
"$heddle" inspect "${with[@]}" --tuned=t.db --format=json >best.json 2>stderr || fail "inspect: $(cat stderr)"
"$heddle" run "${with[@]}" --knobs=best.json >stdout 2>stderr || fail "run --knobs: $(cat stderr)"
grep -q ", $best[.]0 cycles each on the accelerator" stdout || fail "--knobs: expected $best cycles, found $(sed -n 3p stdout)"

# Another description: what was measured is stale.
sed -i 's/"pixels", "type": "int8", "bytes": 131072/"pixels", "type": "int8", "bytes": 65536/' own/target.json
expect 0 "heddle: note: t.db is not used: its results for this network are for other hardware or another memory system" \
    "$heddle" inspect "${with[@]}" --tuned=t.db
finish
