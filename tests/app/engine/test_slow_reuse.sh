#!/bin/bash
# --reuse with a network of one submission and one of three on tiny, its messages, two runs at once. Tiles by rule
# compile in a sixth of the time; test_nightly_reuse.sh has those of the search.
dir=$(cd "$(dirname "$0")" && pwd)
SEGMENTS=1 OPTIONS="--hw=tiny --no-search" bash "$dir/reuse.sh" "$HEDDLE_HOME"/tests/models/{digits,vit_own}/model.tflite || exit
. "$dir/../../e2e/common.sh"
for option in --stall-seed=3 --wait=poll --checked --engine=func --bus-fault=read-late --host=iss; do
    "$heddle" run digits --reuse=cycles $option --no-report >stdout 2>stderr
    [ $? = 2 ] || fail "$option: exit $?, expected 2"
    grep -q "^heddle: --reuse: not with .*, which needs every cycle of the RTL" stderr || fail "$option: $(cat stderr)"
done
expect 2 "heddle: --reuse: found 'never', expected off, same, cycles or check" "$heddle" run digits --reuse=never

# With -j processes share the submissions of one inference.
uncut=("$heddle" run "$models/vit_own/model.tflite" --hw=tiny --no-search --inferences=1 --mem-latency=$((1000 + RANDOM % 9000)) -q)
"${uncut[@]}" --no-report --stats=one.json >/dev/null 2>stderr || fail "-j 1: $(cat stderr)"
"${uncut[@]}" --reuse=same -j 3 --no-report --stats=three.json >out 2>stderr || fail "-j 3: $(cat stderr)"
! grep -q "from the store" out || fail "-j 3 counts what it simulated itself as stored: $(cat out)"
"${uncut[@]}" --reuse=same -j 3 --no-report --stats=again.json >out 2>stderr || fail "-j 3: $(cat stderr)"
grep -q "cycles of 3 of 3 submissions from the store" out || fail "-j 3, again: $(cat out)"
for run in three again; do
    [ "$(sed '/"sim":/,/}/d; /"statement":/d' one.json)" = "$(sed '/"sim":/,/}/d; /"statement":/d' $run.json)" ] ||
        fail "-j 3, $run: other numbers: $(diff one.json $run.json | head -5)"
done

# Waves: of three submissions the RTL runs the one with the layer, and all numbers but the file's size are equal.
for reuse in off cycles cycles; do
    "${uncut[@]}" --reuse=$reuse --waves=layer:84_add -o waves_$reuse >out 2>stderr || fail "--waves, $reuse: $(cat stderr)"
done
grep -q "cycles of 2 of 3 submissions from the store" out || fail "--waves: $(cat out)"
waved() { sed '/"sim":/,/}/d; /"statement":/d; /"file":/d; /"bytes":/d' "waves_$1/stats.json"; }
[ "$(waved off)" = "$(waved cycles)" ] || fail "--waves: $(diff waves_off/stats.json waves_cycles/stats.json | head -5)"
# Alone, the option has the RTL run that submission, and no more; the waves are those of a run of all.
"${uncut[@]}" --waves=layer:84_add -o waves_cut >out 2>stderr || fail "--waves alone: $(cat stderr)"
grep -q "; the RTL ran 1 of 3 submissions, those with waves, and the functional model the others, without cycles" out ||
    fail "--waves alone: $(cat out)"
grep -q '"cycles":	null' waves_cut/stats.json || fail "--waves alone has cycles: $(grep '"cycles"' waves_cut/stats.json | head -1)"
[ ! -e waves_cut/trace.json ] || fail "--waves alone: times of commands that did not run"
if command -v fst2vcd >/dev/null; then
    for run in off cut; do fst2vcd waves_$run/waves.fst >$run.vcd; done
    python3 "$HEDDLE_HOME/tests/waves/same_window.py" off.vcd cut.vcd >window || fail "--waves alone: $(cat window)"
    cat window
fi

# Two runs at once write one record; a run that is killed leaves no half of one.
"$heddle" run digits --hw=tiny --mem-latency=71 --reuse=cycles -q >out1 2>err1 &
"$heddle" run digits --hw=tiny --mem-latency=71 --reuse=cycles -q >out2 2>err2 || fail "at once: $(cat err2)"
wait $! || fail "at once: $(cat err1)"
timeout -s KILL 0.3 "$heddle" run digits --hw=tiny --mem-latency=72 --reuse=cycles -q >/dev/null 2>&1
"$heddle" run digits --hw=tiny --mem-latency=72 --reuse=cycles -q --stats=killed.json >/dev/null 2>stderr ||
    fail "after a kill: $(cat stderr)"
# by the file: without a store the network's name runs all its inputs on the RTL
"$heddle" run "$models/digits/model.tflite" --inferences=1 --hw=tiny --mem-latency=72 -q --stats=off.json >/dev/null 2>stderr || fail "off: $(cat stderr)"
[ "$(grep -m1 '"cycles"' killed.json)" = "$(grep -m1 '"cycles"' off.json)" ] || fail "after a kill: other cycles"
finish
