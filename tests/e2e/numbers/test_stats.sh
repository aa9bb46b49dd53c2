#!/bin/bash
# heddle.stats.v2: files of own models and of random layers keep their schema and add up (stats_check.c,
# the RTL's half is test_slow_stats.sh); what stats_check catches; MACs of widened and of dropped
# operators, crossings and parts by hand; the report of a file is that of the run.
. "$(dirname "$0")/../common.sh"
here=$HEDDLE_HOME/tests/e2e/numbers
check() { "$HEDDLE_BUILD/stats_check" "$HEDDLE_HOME/docs/stats.v2.schema.json" "$@"; }

for engine in ref func; do
    "$here/stats.sh" $engine sys16 "$models"/{digits,resnet8_own}/model.tflite >stdout || fail "$(cat stdout)"
done
mkdir random
"$HEDDLE_BUILD/random_layers" --count 8 --seed 300 --engine func --fixed-memory --write random >stdout
"$here/stats.sh" func sys16 random/*.ir >stdout || fail "$(cat stdout)"

# by hand; 32 MACs of the widened convolution would be wrong; tiny leaves the softmax to the host
"$heddle" run "$here/accounts.ir" --hw=tiny --engine=func --partition=priority --stats a.json >report 2>stderr ||
    fail "accounts.ir: $(cat stderr)"
check a.json || fail "accounts.ir"
tr -d '\t\n' <a.json >flat
holds() { grep -qF "$1" flat || fail "accounts.ir: no $1: $(head -c 700 flat)"; }
holds '"macs":64,"accelerator_macs":16,"host_macs":0,"folded_macs":48'
holds '"crossings":1'
holds '{"op":"conv2d","target":"systolic","macs":16,"cycles":null}'
holds '"op":"softmax","target":"c","macs":0,"cycles":'
holds '{"op":"lut","target":"systolic","macs":0,"cycles":null}'
grep -q '^01_conv2d .* none ' report || fail "01_conv2d executes nothing: $(cat report)"
grep -q '^02_softmax .* c ' report || fail "02_softmax runs on the host: $(cat report)"
grep -q '^64 MACs, 25.0 % on the accelerator, 75.0 % folded away$' report || fail "MACs: $(cat report)"
grep -qE ' \(estimate\): about [0-9]+ in all, 1 crossing$' report || fail "crossings: $(cat report)"

# on sys8 an LSTM's products are on the accelerator, its gates on the host, where most of the cycles are
lstm=$HEDDLE_HOME/tests/compiler/systolic/rewrites/lstm_input/digits.ir
"$heddle" run "$lstm" --hw=sys8 --engine=func --stats lstm.json >report 2>stderr || fail "lstm: $(cat stderr)"
check lstm.json || fail "lstm.json"
grep -q '^00_lstm  *c  *- ' report || fail "most cycles of the LSTM are the host's: $(grep ^00_lstm report)"
"$heddle" inspect "$lstm" --hw=sys8 | grep -q '^00_lstm  *UNIDIRECTIONAL_SEQUENCE_LSTM c  *systolic [0-9]*, c [0-9]*' ||
    fail "inspect: $("$heddle" inspect "$lstm" --hw=sys8)"

# changed by hand: each change breaks a rule
broken() { # broken SED TEXT
    sed "$1" a.json >b.json
    cmp -s a.json b.json && fail "$1 changes nothing"
    check b.json >why && fail "$1 is not found"
    grep -qF "$2" why || fail "$1: no '$2': $(cat why)"
}
broken 's/"folded_macs":\t48/"folded_macs":\t47/' 'MACs: expected 64, found 63'
broken '/"02_softmax"/,/"target"/s/"target":\t"c"/"target":\t"systolic"/' "target systolic, but "
broken 's/"crossings":\t1/"crossings":\t"1"/' 'expected integer, found "1"'
broken 's/"utilisation":\t0,/"utilisation":\t1.15,/' 'at most 1, found 1.15'
broken 's/^\t"host_cycles":\t/&1/' 'host_cycles: expected'
broken 's/^\t"total_cycles":/\t"total":/' 'unknown member'
broken 's/"target":\t"none"/"target":\t"c"/' 'nothing executes, but the target is c'

# heddle report: the same text; counters only with -v; older files are refused
"$heddle" run digits --engine=func --stats d.json >report 2>stderr || fail "digits: $(cat stderr)"
"$heddle" report d.json | diff - report || fail "report of a file"
grep -qE '^time at [0-9]+ MHz \(model\), estimate: [0-9.]+ ms, ' report || fail "time of an estimate: $(grep '^time' report)"
tr -d '\t\n' <d.json | grep -q '"time":{[^}]*"estimated":true}' || fail "d.json: time is not an estimate"
"$heddle" run digits --engine=func --target=c --stats host.json >report 2>stderr || fail "digits on the host: $(cat stderr)"
check host.json || fail "host.json"
grep -q ', engine func: 360 inferences, none on the accelerator and [0-9]* cycles each on the host (estimate): [0-9]*.0 in all$' \
    report || fail "all on the host: $(grep inferences report)"
tr -d '\t\n' <host.json | grep -q '"time":{[^}]*"estimated":false}' || fail "host.json: time is an estimate"
"$heddle" report d.json --format=csv | head -1 | grep -q '^layer,op,shape,target,group,cycles,estimated_cycles,array_cycles,' ||
    fail "the columns of CSV"
sed 's/stats.v2/stats.v1/' d.json >old.json
expect 2 "heddle: old.json: schema heddle.stats.v1, of an older heddle, whose utilisation and cycles of interleaved layers mean something else; expected heddle.stats.v2: run it again" \
    "$heddle" report old.json
echo '{}' >none.json
expect 2 "heddle: none.json: not a stats file; expected JSON of schema heddle.stats.v2, as --stats writes it" \
    "$heddle" report none.json
finish
