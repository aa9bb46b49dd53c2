#!/bin/bash
# inspect --format=json holds to its schema; what it prints is taken back by --knobs as it is, and edited; wrong files are refused.
. "$(dirname "$0")/../common.sh"
schema() { "$HEDDLE_BUILD/schema_check" "$HEDDLE_HOME/docs/inspect.v1.schema.json" "$1"; }

for model in digits resnet8_own dscnn_own mobilenet025_own autoencoder_own "$HEDDLE_HOME/tests/e2e/numbers/accounts.ir"; do
    for hw in tiny sys16; do
        "$heddle" inspect "$model" --hw=$hw --format=json >k.json 2>stderr || fail "$model $hw: $(cat stderr)"
        schema k.json >why || fail "$model $hw: $(cat why)"
        "$heddle" disasm "$model" --hw=$hw >by_itself
        "$heddle" disasm "$model" --hw=$hw --knobs=k.json 2>stderr | diff - by_itself >/dev/null || fail "$model $hw: other commands: $(cat stderr)"
    done
done

# The JSON has the knobs that inspect prints as text.
"$heddle" inspect digits --format=json >k.json
python3 - k.json <<'END' >json
import json, sys
j = json.load(open(sys.argv[1]))
assert [k["layer"] for k in j["knobs"]] == [l["name"] for l in j["layers"] if l["target"] == "systolic"]
for l in j["layers"]:
    chosen = [c for c in l["candidates"] if c["chosen"]]
    assert len(chosen) == (l["target"] != "none"), l
    print(l["name"], l["operator"], l["target"], int(chosen[0]["estimated_cycles"]) if chosen else "moves")
END
"$heddle" inspect digits | sed -n '2,/^$/p' | awk 'NF {c = $4 == "moves" ? "moves" : $5; sub(/,|;/, "", c); if ($3 == "c") { match($0, / c [0-9]+/); c = substr($0, RSTART + 3, RLENGTH - 3) } print $1, $2, $3, c}' |
    diff - json >difference || fail "text and JSON differ: $(head -4 difference)"

# Edited: other commands, the same bytes.
sed 's/"layer":"00_conv2d","tile_rows":[0-9]*/"layer":"00_conv2d","tile_rows":5/' k.json >edited.json # no choice of the search
cmp -s k.json edited.json && fail "tile_rows of 00_conv2d is as it was"
"$heddle" run digits --engine=func --knobs=edited.json -q >stdout 2>stderr || fail "edited: $(cat stderr)"
grep -q '^verdict: match: ' stdout || fail "edited: $(cat stdout)"
"$heddle" inspect digits --knobs=edited.json | grep -q '^00_conv2d  *tile_rows=5$' || fail "edited: inspect"
echo '{"knobs": [{"op": 1, "streams": 1}]}' >one.json # the rest by rule
"$heddle" inspect digits --knobs=one.json | sed -n '/^layer on/,$p' >stdout
[ "$(grep -c = stdout)" = 1 ] && grep -q '^01_conv2d  *streams=1$' stdout || fail "one knob: $(cat stdout)"

# Refused, with where and what is expected.
wrong() { # wrong TEXT MESSAGE
    echo "$1" >w.json
    expect 2 "heddle: w.json:$2" "$heddle" inspect digits --knobs=w.json
}
wrong '{"knobs": [{"op": 0, "tile_rows": 777}]}' "1:35: knobs[0].tile_rows: found 777, expected 0 (by rule) to 8 for 00_conv2d"
wrong '{"knobs": [{"op": 0, "tile_rows": "4"}]}' "1:35: knobs[0].tile_rows: found \"4\", expected 0 (by rule) to 8 for 00_conv2d"
wrong '{"knobs": [{"op": 0, "tile_rows": 1.5}]}' "1:35: knobs[0].tile_rows: found 1.5, expected 0 (by rule) to 8 for 00_conv2d"
wrong '{"knobs": [{"op": 4, "streams": 1}]}' "1:33: knobs[0].streams: found 1, expected 0: 04_add has no such knob"
wrong '{"knobs": [{"op": 0, "tile_row": 4}]}' "1:34: knobs[0].tile_row: unknown knob; did you mean 'tile_rows'?"
wrong '{"knobs": [{"op": 0, "speed": 4}]}' "1:31: knobs[0].speed: unknown knob; docs/KNOBS.md lists them"
wrong '{"knobs": [{"op": 14}]}' "1:19: knobs[0].op: found 14, expected an operator from 0 to 13 of this network"
wrong '{"knobs": [{"tile_rows": 1}]}' "1:12: knobs[0]: found no op, expected an operator from 0 to 13 of this network"
wrong '{"knobs": [{"op": 0, "layer": "00_add"}]}' "1:31: knobs[0].layer: found \"00_add\", expected \"00_conv2d\": the file is of another network"
wrong '{"knobs": [], "attributes": [{"target": "mine", "lanes": 2}]}' "1:58: attributes[0].lanes: target 'mine' has no such knob in this run"
wrong '{"knobs": [], "attributes": [{"lanes": 2}]}' "1:30: attributes[0]: expected a \"target\" by name"
wrong '{"layers": []}' "1:1: expected \"knobs\": [...], as heddle inspect --format=json prints"
expect 2 "heddle: --knobs and --tuned both give knobs; expected one of them" "$heddle" inspect digits --knobs=k.json --tuned=k.db
expect 2 "heddle: cannot read 'none.json': No such file or directory" "$heddle" inspect digits --knobs=none.json
finish
