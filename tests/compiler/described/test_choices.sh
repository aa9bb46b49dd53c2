#!/bin/bash
# The choices for layers on described devices are knobs: inspect prints those made, --knobs takes them back as they are, and
# edited: other cycles, the same bytes. Values out of range, and those that no memory has room for, are refused.
. "$(dirname "$0")/../../e2e/common.sh"

for target in shuttle jacquard; do
    with=(resnet8_own --target=$target,c)
    "$heddle" inspect "${with[@]}" --format=json >k.json 2>stderr || fail "$target: $(cat stderr)"
    "$HEDDLE_BUILD/schema_check" "$HEDDLE_HOME/docs/inspect.v1.schema.json" k.json >why || fail "$target: $(cat why)"
    "$heddle" inspect "${with[@]}" --format=json --knobs=k.json 2>stderr | same - k.json "$target: knobs taken back"
    python3 - <<'PY' || fail "$target: knobs"
import json
j = json.load(open("k.json"))
on = [l["name"] for l in j["layers"] if l["target"] not in ("c", "none")]
assert [k["layer"] for k in j["knobs"]] == on and len(on) == 14, (on, j["knobs"])
assert all(k["band"] > 0 and k["to_host"] == 0 for k in j["knobs"]), j["knobs"]
assert all(("weight_group" in k) == ("conv" in k["layer"] or "fully" in k["layer"]) for k in j["knobs"]), j["knobs"]
for k in j["knobs"]:
    k["band"] = 3 if k["op"] in (1, 4) else k["band"]
    k["to_host"] = int(k["op"] in (2, 3))
json.dump(j, open("edited.json", "w"))
PY
    for knobs in k edited; do
        "$heddle" run "${with[@]}" --engine=func --knobs=$knobs.json -o $knobs --stats=$knobs.stats >$knobs.txt 2>stderr ||
            fail "$target, $knobs: $(cat stderr)"
        grep -q '^verdict: match: .* 15 of 15 layers' $knobs.txt || fail "$target, $knobs: $(cat $knobs.txt)"
        "$heddle" inspect "${with[@]}" --knobs=$knobs.json | awk -v t=$target '$3 == t { sub(",", "", $5); print $1, $5 }' >$knobs.cycles
    done
    same k/out_0.bin edited/out_0.bin "$target: edited knobs"
    # bands of 3 rows, and results that went to the host; 00_conv2d is as it was
    diff k.cycles edited.cycles | grep '^>' | cut -d ' ' -f 2 >changed
    for layer in 01_conv2d 03_add 04_conv2d; do
        grep -q "^$layer$" changed || fail "$target: $layer has the same cycles"
    done
    grep -q '^00_conv2d$' changed && fail "$target: 00_conv2d has other cycles"
    "$heddle" inspect "${with[@]}" --format=json --knobs=edited.json >again.json
    python3 -c 'import json; assert json.load(open("edited.json"))["knobs"] == json.load(open("again.json"))["knobs"]' ||
        fail "$target: inspect prints other knobs than those given"
done

wrong() { # wrong OPERATOR MESSAGE
    echo "{\"knobs\": [$1]}" >w.json
    expect 2 "heddle: w.json:$2" "$heddle" inspect resnet8_own --target=shuttle,c --knobs=w.json
}
wrong '{"op": 1, "band": 33}' "1:30: knobs[0].band: found 33, expected 0 (by rule) to 32 for 01_conv2d"
wrong '{"op": 8, "weight_group": 5}' "1:38: knobs[0].weight_group: found 5, expected 0 (by rule) to 4 for 08_conv2d"
wrong '{"op": 1, "to_host": 2}' "1:33: knobs[0].to_host: found 2, expected 0 (by rule) to 1 for 01_conv2d"
wrong '{"op": 3, "weight_group": 1}' "1:38: knobs[0].weight_group: found 1, expected 0: 03_add has no such knob"
wrong '{"op": 1, "tile_rows": 1}' "1:35: knobs[0].tile_rows: found 1, expected 0: 01_conv2d has no such knob"
wrong '{"op": 14, "band": 1}' "1:31: knobs[0].band: found 1, expected 0: 14_softmax has no such knob"

# No room: 78 rows of pixels and sums, and the weights of 128 channels.
printf '%s\n' 'heddle-ir 1' 'graph name="wide"' 'row 0 name="0_conv" op="CONV_2D" tensor="y" shape=""' \
    'tensor 0 i8 [1,80,80,64] input name="x" scale=(0.5) zero=(0)' \
    'tensor 1 i8 [256,3,3,64] const name="w" scale=(0.25) zero=(0) fill=1' \
    'tensor 2 i8 [1,78,78,256] value name="y" scale=(0.5) zero=(0)' \
    'op conv2d row=0 in=(0,1) out=(2) stride_h=1 stride_w=1 dilation_h=1 dilation_w=1 kernel_h=3 kernel_w=3' \
    'border in=(0) out=(2)' >wide.ir
no_room() { # no_room OPERATOR WHY
    echo "{\"knobs\": [$1]}" >w.json
    expect 2 "heddle: 0_conv does not fit with these knobs: $2; lower them, or 0: by rule" \
        "$heddle" inspect wide.ir --target=wide,c --target-dir=. --knobs=w.json
}
cp -r "$HEDDLE_HOME/targets/shuttle" wide
sed -i 's/"name": "shuttle"/"name": "wide"/; s/"memory_bytes": 1048576/"memory_bytes": 4194304/' wide/target.json
no_room '{"op": 0, "band": 78}' "78 output rows: 409600 bytes of pixels and 389376 of sums, pixels has 131072 and sums 65536"
no_room '{"op": 0, "weight_group": 8}' "the weights of 128 channels are 73728 bytes, filters has 65536"
finish
