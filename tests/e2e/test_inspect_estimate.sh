#!/usr/bin/env bash
# One estimate: what `inspect` prints for a layer, as text and in its drawings, is what `run` with the same
# options has as estimated_cycles; of the host's layers the cost that partition compares.
source "$(dirname "$0")/common.sh"
cat >compare.py <<'END'
import json, re, sys

stats, text, dot, svg = json.load(open(sys.argv[1])), *(open(f).read() for f in sys.argv[2:])
n = 0
for layer in stats["layers"]:
    name, found = layer["name"], layer["estimated_cycles"]
    line = re.search(rf"^{name} +\S+ +(\S+) +(.*)$", text, re.M)
    numbers = dict(re.findall(r"(\w+) (\d+)", line.group(2).split(";")[0]))
    drawn = [re.findall(p + r"(\d+) cycles", picture) for p, picture in
             ((rf'label="{name}\\n\w+, ', dot), (rf">{name}</text><text[^>]*>\w+, ", svg))]
    if found is not None:
        assert numbers[layer["target"]] == str(found), (name, numbers, found)
        assert sum(map(int, drawn[0])) == found and drawn[0] == drawn[1], (name, drawn, found)
        n += 1
    elif layer["target"] == "c":
        assert drawn[0] == drawn[1] and sum(map(int, drawn[0])) == int(numbers["c"]), (name, drawn, numbers)
assert n, "no layer with an estimate"
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
for model in dscnn_own mobilenet025_own autoencoder_own resnet8_own; do
    agree $model --no-search --mem-latency=20
done
agree dscnn_own --no-overlap
agree digits --keep-on-host=04_add
agree digits --target=systolic:a,systolic:b --target-b-hw=sys8 --offload='05*=b'
"$heddle" inspect digits --mem-latency=10 >near && "$heddle" inspect digits --mem-latency=1000 >far
cmp -s near far && fail "--mem-latency changes nothing"
"$heddle" inspect digits --target=systolic:a,systolic:b --target-b-hw=tiny >stdout
grep -q '^01_conv2d .* a  *a [0-9]*, b [0-9]* alone, c [0-9]*$' stdout || fail "no alternative: $(grep 01_conv stdout)"
finish
