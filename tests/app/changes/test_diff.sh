#!/bin/bash
# heddle diff: two schedules of a network on the functional model, layers added and gone, grouped differently, runs that
# regress has kept; text, JSON against its schema, the page; refusals.
. "$(dirname "$0")/../../e2e/common.sh"
command -v python3 >/dev/null || { echo "python3 not found"; exit 77; }

"$heddle" run resnet8_own --engine=func --no-report -o a >/dev/null || fail "run a"
"$heddle" run resnet8_own --engine=func --no-report -o b --no-search >/dev/null || fail "run b"
expect 0 '' "$heddle" diff a b/stats.json --format=json -o page
"$HEDDLE_BUILD/schema_check" "$HEDDLE_HOME/docs/diff.v1.schema.json" stdout || fail "schema"

# changes.py has the sums of both stats files by its own formula, and reads the page's data.
cat >changes.py <<'PY'
import json, re, sys
diff = json.load(open("stdout"))
sides = [json.load(open(f"{name}/stats.json")) for name in "ab"]
whole = [s["estimated_total_cycles"] for s in sides]
by = {n["name"]: (n["before"], n["after"]) for n in diff["numbers"]}
assert by["total_cycles"] == tuple(whole), (by["total_cycles"], whole)
for i, side in enumerate(sides):
    for name, total in (("cycles", side["estimated_cycles"]), ("commands", side["commands"]), ("tiles", side["tiles"]),
                        ("moved", sum(l["actions"]["bus_read"] + l["actions"]["bus_written"]
                                      for l in side["layers"] if "actions" in l))):
        found = sum(l.get(name, (0, 0))[i] for l in diff["layers"])
        assert found == total, (name, i, found, total)
        members = sum(m.get(name, (0, 0))[i] for l in diff["layers"] for m in l.get("members", []))
        assert name == "cycles" or 0 < members < total
names = [m["name"] for l in diff["layers"] for m in l.get("members", [l])]
assert names == [l["name"] for l in sides[1]["layers"]], names
groups = [l["groups"] for l in diff["layers"] if l["groups"][0] != l["groups"][1]]
assert len(groups) == len(sides[0]["groups"]) > 0 and all(g[1] == [] for g in groups), groups
page = open("page/diff.html").read()
assert json.loads(re.search(r'id="changes">(.*?)</script>', page, re.S)[1]) == diff
assert "://" not in page.replace("http://www.w3.org/2000/svg", "") and not re.search(r"\{\{[a-z.]+\}\}", page)
PY
python3 changes.py || fail "the comparison is not that of the stats files"
expect 0 '' "$heddle" diff a b
grep -qE '^03_add +0\.0 +[0-9.]+ +\+[0-9.]+ +-  commands 4 -> 1, tiles 4 -> 1, bytes moved 448 -> 112$' stdout || fail "text: $(cat stdout)"
expect 0 '' "$heddle" diff a a
[ "$(tail -1 stdout | grep -oE '^0 layers or groups slower, 0 faster, 0 by')" ] && [ "$(wc -l <stdout)" = 3 ] || fail "a a: $(cat stdout)"

# Measured runs: counters of a group and its layers add up; a layer with another number and tensor name is the same layer by
# its order, one is added and one is gone; a name is no markup.
python3 - <<'PY'
import json
def layer(name, tensor, cycles, waits, group=None, **more):
    l = {"name": name, "tensor": tensor, "cycles": cycles, "estimated_cycles": cycles, "host_cycles": 0, "commands": 2,
         "tiles": 1, "group": group, **more}
    if cycles is not None:
        l["counters"] = {"array": {"busy": cycles - waits, "wait_bus": waits, "idle": 3}}
    return l
def write(name, layers, groups=()):
    total = sum(x["cycles"] for x in list(layers) + list(groups) if x["cycles"] is not None)
    json.dump({"schema": "heddle.stats.v2", "model": "m", "engine": "rtl", "hw": {"name": "tiny"}, "verdict": "match",
               "cycles": total, "total_cycles": total, "host_cycles": 0, "layers": layers, "groups": groups}, open(name, "w"))
write("x.json", [layer("00_conv2d", "t0", 100, 10), layer("01_add", "t1", 50, 0), layer("02_relu", "t2", 7, 0)])
write("y.json", [layer("00_conv2d", "t0", 130, 40), layer("01_pad</script>", "p", 20, 0), layer("02_add", "u1", 50, 0, tiles=2)])
write("z.json", [layer("00_conv2d", "t0", None, 0, 0), layer("01_add", "t1", None, 0, 0), layer("02_relu", "t2", 7, 0)],
      [{"members": [0, 1], "cycles": 120, "estimated_cycles": 120, "counters": {"array": {"busy": 110, "wait_bus": 10}}}])
PY
expect 0 '' "$heddle" diff x.json y.json -o page
sed -n '3,$p' stdout | tr -s ' ' | sed 's/ $//' >found
cat >wanted <<'END'
of an inference before after change
total_cycles 157.0 200.0 +43.0 +27.39%
cycles 157.0 200.0 +43.0 +27.39%
layer before after change mostly
00_conv2d 100.0 130.0 +30.0 +30.00% array wait_bus +30.0
01_pad</script> 0.0 20.0 +20.0 - added
02_relu 7.0 0.0 -7.0 -100.00% gone
02_add 50.0 50.0 +0.0 +0.00% was 01_add, tiles 1 -> 2
2 layers or groups slower, 1 faster, 1 by another schedule in the same time, 0 the same
END
same wanted found "added, gone, by order: $(diff wanted found)"
grep -q 'pad</script>' page/diff.html && fail "a layer's name ends the page's data"
expect 0 '' "$heddle" diff x.json z.json
grep '^00_conv2d\.\.' stdout | tr -s ' ' >found
echo "00_conv2d..01_add 150.0 120.0 -30.0 -20.00% array busy -30.0, groups: no group -> 00_conv2d..01_add" >wanted
same wanted found "a group of two layers: $(cat found)"

# runs that regress has kept, by session and label; the same answer as by stats files
echo '{"schema": "heddle.suite.v1", "name": "s", "runs": [{"networks": ["resnet8_own"], "engines": ["func"],
    "options": [[], ["--no-search"]]}]}' >suite.json
"$heddle" regress suite.json -o kept -j2 --commit=c1 >/dev/null || fail "regress"
kept='kept/resnet8_own sys16 func'
expect 0 '' "$heddle" diff "$kept@1" "$kept --no-search@last" --format=json
python3 - <<'PY' || fail "kept runs"
import json
kept = json.load(open("stdout"))
assert kept["before"]["model"] == "resnet8_own" and kept["layers"]
json.dump(kept["layers"], open("kept.json", "w"), indent=1)
PY
"$heddle" diff a b --format=json | python3 -c 'import json, sys; json.dump(json.load(sys.stdin)["layers"], sys.stdout, indent=1)' >files.json
same files.json kept.json "regress keeps what the stats file has"
expect 2 "heddle: diff: session 1 has 2 runs of 'resnet8_own', expected one of: 'resnet8_own sys16 func', 'resnet8_own sys16 func --no-search'" \
    "$heddle" diff kept/resnet8_own@1 a
expect 2 "heddle: diff: session 1 has 0 runs of 'digits', expected one of: 'resnet8_own sys16 func', 'resnet8_own sys16 func --no-search'" \
    "$heddle" diff kept/digits@1 a

expect 2 "heddle: diff: found 1 arguments, expected two runs: heddle diff A B" "$heddle" diff a
expect 2 "heddle: diff: 'none' does not exist; expected a folder of heddle run -o, a stats file, or NETWORK@SESSION of heddle regress" \
    "$heddle" diff a none
expect 2 "heddle: suite.json: not a stats file; expected JSON of schema heddle.stats.v2, as --stats writes it" "$heddle" diff a suite.json
expect 2 "heddle: --format: heddle diff has no csv, expected text or json" "$heddle" diff a b --format=csv
finish
