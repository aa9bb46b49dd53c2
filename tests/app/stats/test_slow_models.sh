#!/bin/bash
# Time and energy are models: a given clock and table replace the assumed ones. On func, whose counted actions equal the
# RTL's.
. "$(dirname "$0")/../../e2e/common.sh"
model=$models/digits/model.tflite

value() { # value FILE PATH: a member of a JSON file
    python3 -c 'import functools, json, sys
print(functools.reduce(lambda o, k: o[k], sys.argv[2].split("."), json.load(open(sys.argv[1]))))' "$1" "$2"
}
is() { # is FILE PATH VALUE
    [ "$(value "$1" "$2")" = "$3" ] || fail "$1: $2 is $(value "$1" "$2"), expected $3"
}

expect 0 '' "$heddle" run "$model" --engine=func --stats s.json --accelergy=a.yaml
is s.json clock.origin model # sys16 states none
is s.json clock.mhz "$("$heddle" hw sys16 | awk '$1 == "sys16" { print $6 }')"
is s.json time.estimated True # func has no cycles
python3 -c 'import json; s = json.load(open("s.json")); t = s["estimated_total_cycles"] / s["clock"]["mhz"] / 1e3
assert abs(s["time"]["milliseconds"] / t - 1) < 1e-9, s["time"]' ||
    fail "time is not that of estimated_total_cycles"
is s.json energy.table horowitz45
is s.json energy.actions.mac "$(value s.json accelerator_macs)"
python3 - <<'END' || fail "energy is not the sum of counts times costs, or not that of the layers"
import json
s = json.load(open("s.json"))
e = s["energy"]
total = sum(n * e["costs"][k] for k, n in e["actions"].items())
assert abs(total - e["energy"]) < 1e-6 * total, (total, e["energy"])
assert abs(sum(l.get("energy", 0) for l in s["layers"]) - total) < 1e-6 * total
END
expect 0 '' "$heddle" run "$model" --engine=ref --stats r.json --clock=200
is r.json clock.origin given
is r.json clock.mhz 200

# the configuration's clock; a base's clock applies to the base only
hw() { # hw JSON MHZ ORIGIN
    expect 0 '' "$heddle" run "$model" --engine=func --stats s.json --hw="$1"
    is s.json clock.mhz "$2"
    is s.json clock.origin "$3"
}
hw tiny 65 routed
mhz=$("$heddle" hw '{"base": "tiny", "name": "mine"}' | awk '$1 == "mine" { print $6 }')
[ "$mhz" -gt 55 ] && [ "$mhz" -lt 75 ] || fail "the model's clock of tiny's sizes, 65 MHz when routed: $mhz"
hw '{"base": "tiny", "name": "mine"}' "$mhz" model
hw '{"base": "tiny", "name": "mine", "clock_mhz": 7}' 7 given
hw '{"base": "tiny", "name": "mine", "clock_mhz": 8, "clock_origin": "routed"}' 8 routed

# a user's table: 1 for each product, nothing else
sed 's/"mac": [0-9.]*/"mac": 1/; /"mac"/!s/": [0-9.]\+\(,\?\)$/": 0\1/; s/horowitz45/mine/' \
    "$HEDDLE_HOME/app/stats/energy/horowitz45.json" >mine.json
expect 0 '' "$heddle" run "$model" --engine=func --stats s.json --energy=mine.json
is s.json energy.table mine
is s.json energy.energy "$(value s.json accelerator_macs)"
for table in eyeriss65 tpu7; do
    expect 0 '' "$heddle" run "$model" --engine=func --stats s.json --energy=$table
    is s.json energy.table $table
done

# refused
expect 2 "heddle: --energy: found 'other', expected a file or one of eyeriss65, horowitz45, tpu7" \
    "$heddle" run "$model" --engine=func --energy=other
sed '/bus_read/d' mine.json >less.json
expect 2 'heddle: less.json:5:13: energy: member "bus_read" is missing' \
    "$heddle" run "$model" --engine=func --energy=less.json
sed 's/"mac": 1/"mac": -1/' mine.json >negative.json
expect 2 'heddle: negative.json:6:12: energy.mac: expected a number of at least 0, found -1' \
    "$heddle" run "$model" --engine=func --energy=negative.json
expect 2 "heddle: --clock: found '0', expected a whole number from 1 to 100000" "$heddle" run "$model" --clock=0
expect 2 'heddle: --accelergy: no commands to count; expected a network with operators on the built-in accelerator' \
    "$heddle" run "$model" --engine=func --target=c --accelergy=b.yaml

# Accelergy is not on PyPI; if it is installed, it must read the counts
python3 - <<'END' || fail "a.yaml is not an action_counts file"
import re
lines = open("a.yaml").read().splitlines()
assert lines[:5] == ["action_counts:", "  version: 0.2", "  subtree:", "    - name: heddle", "      local:"], lines[:5]
names = [m[1] for m in (re.fullmatch(r"        - name: (\w+)", x) for x in lines) if m]
assert names == ["mac", "vector", "requantise", "scratchpad", "weights", "accumulators", "dram"], names
assert sum(bool(re.fullmatch(r"              counts: \d+", x)) for x in lines) == 11
END
finish
