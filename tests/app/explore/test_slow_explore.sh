#!/bin/bash
# heddle explore: the front is that of all points; a fifth of the points finds 95 % of its volume; calls continue where
# others ended; -j does not change the points; a goal; refused configurations; the chosen ones run; wrong input.
. "$(dirname "$0")/../../e2e/common.sh"
command -v python3 >/dev/null || { echo "python3 not found"; exit 77; }
here=$HEDDLE_HOME/tests/app/explore
explore() { "$heddle" explore "$@" --confirm=0 >stdout 2>stderr; }
suite() { # suite NAME CONFIGURATIONS [ENGINE]
    echo "{\"schema\": \"heddle.suite.v1\", \"name\": \"$1\", \"runs\": [{\"networks\": [\"digits\"], \"engines\": [\"${3:-rtl}\"],
        \"configurations\": [$2]}]}" >"$1.json"
}

suite space '{"base": "sys16", "n": [4, 8, 16], "axi_bytes": [4, 8, 16, 32], "ports": [1, 2, 4], "lstm": 0,
    "softmax_rows": 0, "scratchpad_bytes": [16384, 65536, 131072], "weight_bytes": [8192, 65536]}'
explore space.json -j2 -o all || fail "all: $(cat stderr)"
grep -q '^216 of 216 points estimated in .* s, 0 before; 0 cannot be built$' stdout || fail "all: $(cat stdout)"
python3 "$here/check_explore.py" front all/explore.csv || fail "the front"
for seed in 1 2 3; do
    explore space.json -j2 -o "part$seed" --points=43 --seed="$seed" || fail "part: $(cat stderr)"
    python3 "$here/check_explore.py" volume all/explore.csv "part$seed/explore.csv" 0.95 || fail "volume, seed $seed"
done
explore space.json -j1 -o one --points=43 --seed=3 || fail "one: $(cat stderr)"
cmp -s one/explore.csv part3/explore.csv || fail "-j changes the points"

# A call continues: the last line is cut, as by kill -9.
truncate -s -3 one/points.tsv
explore space.json -o one -j2 || fail "on: $(cat stderr)"
grep -q '^174 of 216 points estimated in .* s, 42 before; 0 cannot be built$' stdout || fail "on: $(cat stdout)"
cmp -s <(cut -d, -f-12 all/explore.csv | sort) <(cut -d, -f-12 one/explore.csv | sort) || fail "in two calls"
explore space.json -o one --again --points=2 || fail "again: $(cat stderr)"
grep -q '^2 of 216 points estimated in .* s, 0 before' stdout || fail "again: $(cat stdout)"

# A goal; configurations that cannot be built, a network that does not fit.
explore space.json -o all --goal='ms<0.2&&memory<=120 && bus>4' || fail "goal: $(cat stderr)"
python3 "$here/check_explore.py" goal all/explore.csv || fail "the goal"
explore space.json -o all --goal='lut4<1' || fail "no point: $(cat stderr)"
grep -q '^no point with an estimate meets the goal$' stdout || fail "no point: $(cat stdout)"
suite refused '{"base": "sys8", "n": [8, 12]}, {"base": "tiny", "options": {"keep-on-host": ["nothing"]}}'
explore refused.json -o refused || fail "refused: $(cat stderr)"
grep -q '^2 of 3 points estimated in .*; 1 cannot be built$' stdout || fail "refused: $(cat stdout)"
grep -q '^"sys8,n=12",.*,refused,.*expected 4, 8, 16 or 32, found 12' refused/explore.csv || fail "refused: $(cat refused/explore.csv)"
grep -q 'nothing.*,refused,"*digits: .*nothing' refused/explore.csv || fail "refused: $(cat refused/explore.csv)"

# The chosen ones run, as a sweep.
suite few '{"base": "tiny", "ports": [1, 2]}' func
"$heddle" explore few.json -o few --confirm=1 >stdout 2>stderr || fail "few: $(cat stdout stderr)"
grep -q '^tiny,ports=.*  chosen$' stdout || fail "few: $(cat stdout)"
[ "$(grep -c ',match,' few/sweep.csv)" = 1 ] || fail "few: $(cat few/sweep.csv)"

# Rows and columns are sizes like any other.
suite sides '{"base": "tiny", "rows": [2, 3, 4], "columns": 3}' func
"$heddle" explore sides.json -o sides --confirm=1 >stdout 2>stderr || fail "sides: $(cat stdout stderr)"
[ "$(grep -c '^"tiny,rows=[234],columns=3"' sides/explore.csv)" = 3 ] && [ "$(grep -c ',match,' sides/sweep.csv)" = 1 ] ||
    fail "sides: $(cat sides/explore.csv sides/sweep.csv)"

# One configuration with each size halved and doubled: its estimate is that of heddle run, a larger array takes less time
# and the bus nothing of it.
explore few.json -o around -j2 --around=tiny || fail "around: $(cat stderr)"
cp stdout table
"$heddle" run digits --hw=tiny --engine=func --stats=s.json >stdout 2>stderr || fail "run: $(cat stderr)"
python3 - table s.json <<'END' || fail "around: $(cat table)"
import json, sys
rows = open(sys.argv[1]).read().splitlines()
cycles = json.load(open(sys.argv[2]))["estimated_total_cycles"]
assert rows[1].startswith(f"tiny: {cycles / 1e5:.4f} ms (estimate, geometric mean of 1 network), 16 multipliers, "), (rows[1], cycles)
rows = {row.split()[0]: row.split()[1:] for row in rows[3:]}
assert rows["n=8"][3] == "+300.00" and float(rows["n=8"][1]) < -20, rows["n=8"]
assert rows["axi_bytes=4"][7] == "-50.00" and float(rows["axi_bytes=4"][1]) > 0, rows["axi_bytes=4"]
# LUT4 of both sides are the model's, also where those of tiny are counted: more lines of the scratchpad cost none
scratchpad = [row for name, row in rows.items() if name.startswith("scratchpad_bytes=")]
assert scratchpad and all(row[9] == "+0.00" for row in scratchpad), scratchpad
assert "a LUT4" in " ".join(rows["n=8"]) and "a bit of bus" in " ".join(rows["axi_bytes=4"]), rows
assert rows["binds"][1] == "n,", rows["binds"]
END

# --- wrong input ---
expect 2 "heddle: no hardware configuration 'huge': expected one of tiny, sys8, sys16, sys32, or a JSON file" "$heddle" explore few.json -o few --around=huge
goal() { expect 2 "heddle: --goal: expected $2 at '$3' of '$1'; for example ms<5 && memory<=200 (there are ms, multipliers, memory, bus, lut4)" \
    "$heddle" explore few.json -o few --goal="$1"; }
goal 'speed<1' 'the name of a cost' 'speed<1'
goal 'ms=1' '<, <=, > or >=' '=1'
goal 'ms<fast' 'a number' 'fast'
goal 'ms<1 memory<2' '&&' 'memory<2'
goal 'ms<1 && ' 'a condition' ''
goal "$(printf 'ms<1&&%.0s' {1..16})ms<2" 'at most 16 conditions' 'ms<2'
echo '{"schema": "heddle.suite.v1", "name": "two", "runs": [{"networks": ["digits"], "configurations": ["tiny"]},
    {"networks": ["digits", "resnet8_own"], "configurations": ["sys8"]}]}' >two.json
expect 2 "heddle: two.json: not all configurations have the same networks, engines, options and seeds as 'tiny'; explore compares those of one block" "$heddle" explore two.json -o few
exec 8<few && flock 8
expect 2 "heddle: -o: another heddle is writing into 'few'; wait for it to end, or name another folder" "$heddle" explore few.json -o few
exec 8<&-
finish
