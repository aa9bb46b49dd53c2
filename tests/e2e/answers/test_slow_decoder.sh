#!/bin/bash
# A decoder's step, 32 tokens with the cache of keys and values carried from one to the next, on the RTL against
# the oracle, as a sliding window and with rows updated in place: at sys16 nothing of it is left to the host, and an
# update writes its rows alone. Updates at places inside and outside, at rows that begin anywhere in a bus word.
# Products of one token are bound by the bus.
. "$(dirname "$0")/../common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }

# run NAME HW TOKENS: a network of tests/reference/models on the RTL.
run() {
    local folder=$HEDDLE_HOME/tests/reference/models/$1 files=() file
    for file in "$folder"/in_*.bin; do files+=(-i "$file"); done
    for file in "$folder"/out_*.bin; do files+=(--expect "$file"); done
    "$heddle" run "$folder/model.tflite" "${files[@]}" --hw="$2" -o "$1_$2" >stdout 2>stderr ||
        fail "$1 on $2: $(tail -n 1 stderr)"
    grep -q "match: .* of $3 inferences equal" stdout || fail "$1 on $2: $(head -n 1 stdout)"
}

# written FILE: prints the bytes that each update writes for all tokens.
written() { python3 -c 'import json, sys
print(*(l["dram_write_bytes"] for l in json.load(open(sys.argv[1]))["layers"] if l["op"] == "DYNAMIC_UPDATE_SLICE"))' "$1"; }

for hw in sys16 tiny; do
    run decoder_window $hw 32
    run decoder_update $hw 32
    run cache_update $hw 24
    # two heads of 16 bytes, for keys and for values
    [ "$(written decoder_update_$hw/stats.json)" = "32 32" ] || fail "$hw: $(written decoder_update_$hw/stats.json) bytes"
done
for net in decoder_window decoder_update cache_update; do
    grep -q '"crossings":.0,*$' ${net}_sys16/stats.json || fail "$net: $(grep crossings ${net}_sys16/stats.json)"
    grep -q '"target":.*"c"' ${net}_sys16/stats.json && fail "$net: an operator is on the host"
done
# One token takes each weight once: the products' cycles are at most 100/90 of their weights at 16 bytes per cycle.
"$heddle" run "$HEDDLE_HOME/tests/e2e/answers/weight_bound.ir" -o bound >stdout 2>stderr || fail "weight_bound: $(tail -n 1 stderr)"
python3 -c 'import json
s = json.load(open("bound/stats.json"))
assert s["cycles"] * 90 <= s["macs"] / 16 * 100, s["cycles"]' || fail "weight_bound: fewer than 14.4 bytes of weights a cycle"
# Token 31 depends on earlier ones: alone, its answer differs.
window=$HEDDLE_HOME/tests/reference/models/decoder_window
"$heddle" run "$window/model.tflite" -i "$window/in_0.bin" --expect "$window/out_0.bin" --reset-state \
    --engine=func >stdout 2>stderr
[ $? = 1 ] || fail "without the cache the answer is the same: $(head -n 1 stdout)"
finish
