#!/bin/bash
# check-target tries the sums of a pattern with "accumulate": a call that forgets those it begins with, or leaves too few, fails.
. "$(dirname "$0")/../../e2e/common.sh"
export XDG_CONFIG_HOME=$work/config
cp -r "$HEDDLE_HOME/tests/compiler/emit/toy" toy
rm toy/toy_moves.c
python3 - <<'END'
import json
d = json.load(open("toy/target.json"))
d["sources"] = ["toy.c"]
d["operators"] = [o for o in d["operators"] if o["op"] in ("conv2d", "fully_connected")]
json.dump(d, open("toy/target.json", "w"))
END
"$heddle" check-target toy --allow-native-targets >stdout 2>&1 || fail "toy: $(grep -v ^ok stdout)"
cp toy/toy.c right.c
for bug in 's/sums_in ? sums_in\[i\]/0 ? sums_in[i]/' 's/sums_out\[at\] = scratch\[c\]/sums_out[at] = c ? scratch[c] : 0/'; do
    sed "$bug" right.c >toy/toy.c
    cmp -s right.c toy/toy.c && fail "no bug: $bug"
    "$heddle" check-target toy --allow-native-targets >stdout 2>&1 && fail "passes: $bug"
    grep -q '^FAIL .* in two parts of in_c' stdout || fail "$bug: $(grep -v ^ok stdout)"
done
finish
