#!/bin/bash
# inspect --format=model-explorer: four files in the form of Model Explorer's node data (GraphNodeData of
# PyPI ai-edge-model-explorer): a name, a value for each output tensor, a gradient; the same numbers as
# --format=json.
. "$(dirname "$0")/../../e2e/common.sh"

command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
"$heddle" inspect digits --format=model-explorer >cycles.json || fail "without -o"
"$heddle" inspect digits --format=model-explorer -o data --keep-on-host='*_add' >files || fail "with -o"
"$heddle" inspect digits --format=json --keep-on-host='*_add' >layers.json || fail "layers"
[ "$(cat files)" = "$(printf 'data/%s.json\n' cycles target why_not utilisation)" ] || fail "names: $(cat files)"
python3 - "$models/digits/model.tflite" <<'END' || fail "node data"
import json
import sys

content = open(sys.argv[1], "rb").read()
layers = json.load(open("layers.json"))["layers"]
names = ["cycles", "target", "why_not", "utilisation"]
data = {n: json.load(open(f"data/{n}.json")) for n in names}
for name, d in data.items():
    assert set(d) - {"gradient"} == {"name", "results"} and d["name"] == name, name
    assert ("gradient" in d) == (name in ("cycles", "utilisation")), name
    for stop in d.get("gradient", []):
        assert set(stop) == {"stop", "bgColor"}, stop
    for key, result in d["results"].items():
        assert list(result) == ["value"] and key.encode() in content, key
        assert isinstance(result["value"], (int, float) if "gradient" in d else str), result
chosen = [[c["estimated_cycles"] for c in v["candidates"] if c["chosen"]] for v in layers]
assert [v["value"] for v in data["cycles"]["results"].values()] == [c[0] for c in chosen if c], "cycles"
assert [v["value"] for v in data["target"]["results"].values()] == [v["target"] for v in layers], "targets"
assert len(data["why_not"]["results"]) == 2 == [v["target"] for v in layers].count("c"), "two ADDs on the host"
assert all(0 < v["value"] <= 1 for v in data["utilisation"]["results"].values()), "utilisation"
assert json.load(open("cycles.json"))["name"] == "cycles"
END
finish
