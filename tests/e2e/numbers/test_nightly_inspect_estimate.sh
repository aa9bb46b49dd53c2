#!/usr/bin/env bash
# One estimate: what `inspect` prints for a layer, as text and in its drawings, is what `run` with the same
# options has as estimated_cycles; of the host's layers the cost that partition compares.
source "$(dirname "$0")/../common.sh"
cat >compare.py <<'END'
import json, re, sys

stats, text, dot, svg = json.load(open(sys.argv[1])), *(open(f).read() for f in sys.argv[2:])
layers, groups, n = stats["layers"], {}, 0


def shown(layer):
    """Group (or None) and cycles of the layer's target in the text, and the same in each drawing's boxes."""
    name, target = layer["name"], layer["target"]
    line = re.search(rf"^{name} +\S+ +\S+ +(.*)$", text, re.M).group(1).split(";")[0]
    cycles, group = re.search(rf"\b{target} (\d+)(?: \(group (\d+)\))?", line).groups()
    boxes = [re.findall(p + r"(?:group (\d+): )?(\d+) cycles", picture) for p, picture in
             ((rf'label="{name}\\n{target}, ', dot), (rf">{name}</text><text[^>]*>{target}, ", svg))]
    assert boxes[0] == boxes[1] and boxes[0], (name, boxes)
    if group is None:
        assert sum(int(c) for _, c in boxes[0]) == int(cycles), (name, boxes, cycles)
    else:
        assert set(boxes[0]) == {(group, cycles)}, (name, boxes, cycles)
    return group, int(cycles)


for layer in layers:
    if layer["target"] == "none":
        continue
    group, cycles = shown(layer)
    if group is None and layer["target"] != "c":
        assert layer["estimated_cycles"] == cycles, (layer["name"], cycles, layer["estimated_cycles"])
        n += 1
    elif group is not None:
        groups.setdefault(int(group), (cycles, []))[1].append(layer)
    elif "host_cycles" in layer:
        assert layer["host_cycles"] == cycles, (layer["name"], cycles, layer["host_cycles"])
for k, (cycles, members) in groups.items():
    if "groups" in stats:
        assert stats["groups"][k]["estimated_cycles"] == cycles, (k, cycles, stats["groups"][k])
    else:
        assert sum(m["estimated_cycles"] for m in members) == cycles, (k, cycles)
assert n + len(groups), "no layer with an estimate"
END
agree() {
    "$heddle" run "$@" --engine=func --stats stats.json >/dev/null 2>stderr || fail "run $*: $(cat stderr)"
    for format in text dot svg; do
        "$heddle" inspect "$@" --format=$format >$format 2>stderr || fail "inspect $* --format=$format: $(cat stderr)"
    done
    python3 compare.py stats.json text dot svg 2>stderr || fail "$*: $(tail -n 1 stderr)"
}
for hw in tiny sys8 sys16 sys32; do
    for latency in 0 300; do
        agree digits --hw=$hw --mem-latency=$latency
    done
    agree digits --hw=$hw --mem-bytes=4
done
for model in dscnn_own mobilenet025_own autoencoder_own; do
    agree $model --no-search --mem-latency=20
done
agree resnet8_own # layers in groups
grep -q '(group 1)' text || fail "resnet8_own has no groups: $(sed -n 3,9p text)"
agree dscnn_own --no-overlap
agree digits --keep-on-host=04_add
agree digits --target=systolic:a,systolic:b --target-b-hw=sys8 --offload='05*=b'
"$heddle" inspect digits --mem-latency=10 >near && "$heddle" inspect digits --mem-latency=1000 >far
cmp -s near far && fail "--mem-latency changes nothing"
"$heddle" inspect digits --target=systolic:a,systolic:b --target-b-hw=tiny >stdout
grep -q '^01_conv2d .* a  *a [0-9]*\( (group [0-9]*)\)\?, b [0-9]* alone, c [0-9]*$' stdout || fail "no alternative: $(grep 01_conv stdout)"
finish
