#!/bin/bash
# Stats files of the RTL add up: own models, random layers; with groups among them. Many more random layers run on func.
. "$(dirname "$0")/../common.sh"
stats=$HEDDLE_HOME/tests/e2e/numbers/stats.sh

"$stats" rtl tiny "$models"/digits/model.tflite >stdout || fail "$(cat stdout)"
"$stats" rtl sys16 "$models"/*/model.tflite >stdout || fail "$(cat stdout)"
mkdir few many
"$HEDDLE_BUILD/random_layers" --hw tiny --count 12 --seed 400 --engine func --fixed-memory --write few >stdout
"$stats" rtl tiny few/*.ir >stdout || fail "$(cat stdout)"
"$HEDDLE_BUILD/random_layers" --count 30 --seed 500 --engine func --fixed-memory --write many >stdout
"$stats" func sys16 many/*.ir >stdout || fail "$(cat stdout)"

# resnet8_own has groups; the register counts are one inference's
"$heddle" run "$models/resnet8_own/model.tflite" --stats s.json -v >report 2>stderr || fail "$(cat stderr)"
grep -q '^group 0 ' report || fail "no group: $(cat report)"
grep -q '^| [0-9]' report || fail "no member: $(cat report)"
grep -q '^  array    busy [0-9]' report || fail "-v: no counters: $(cat report)"
"$heddle" report s.json | grep -q '^  array ' && fail "counters without -v"
"$heddle" report s.json --format=csv | grep -q '^group 0,group,,,0,[0-9]' || fail "no group in CSV"
finish
