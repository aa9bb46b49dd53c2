#!/bin/bash
# Operators that exceed a target's limits: calls of parts, along each dimension, give the reference's bytes. The toy's calls
# fail beyond its limits. Only the cheaper side gets a layer; inspect prints why it is cut, and a package keeps the parts.
. "$(dirname "$0")/../../e2e/common.sh"
export XDG_CONFIG_HOME=$work/config
here=$HEDDLE_HOME/tests/compiler/emit
toy=(--target=toy,c --target-dir="$here/toy" --allow-native-targets)

# cut NETWORK NUMBER: all layers equal on the toy, NUMBER of them in parts.
cut() {
    "$heddle" run "$1" "${toy[@]}" --offload='*=toy' --engine=func -o out >stdout 2>stderr || fail "$1: $(cat stderr)"
    grep -q '^verdict: match: ' stdout || fail "$1: $(head -3 stdout)"
    [ "$(grep -c '^    /\* [0-9]* parts of ' out/emitted/model.c)" = "$2" ] ||
        fail "$1: $(grep -c ' parts of ' out/emitted/model.c) layers in parts, expected $2"
}

python3 "$here/part_layers.py" each >each.ir 2>each
cut each.ir "$(cat each)"
python3 "$here/part_layers.py" 7 12 >random.ir 2>random
cut random.ir "$(cat random)"

"$heddle" compile each.ir "${toy[@]}" --offload='*=toy' -o each.tar >stdout 2>stderr || fail "compile: $(cat stderr)"
grep -q '^check: match: ' stdout || fail "compile: $(cat stdout)"
tar -xOf each.tar --wildcards '*model.c' | grep -q ' parts of 20 rows: ' || fail "package: no parts"

"$heddle" inspect each.ir "${toy[@]}" >stdout
while read -r line; do
    grep -qE "$line" stdout || fail "inspect: expected $line"
done <<'END'
^000_conv2d +CONV2D +toy +toy [0-9]+ \(2 parts of 20 rows: in_bytes is 960, expected at most 600\), c [0-9]+$
^003_conv2d .* \(5 parts of 6 channels: out_c is 30, expected at most 10\)
^004_conv2d .* \(5 parts of 10 input channels: in_c is 50, expected at most 12\)
^005_conv2d .* \(3 parts of 1 image: batch is 3, expected 1\)
^010_fully_connected .* \(5 parts of 2 rows: batch is 9, expected at most 2\)
^015_mul +MUL +c +toy [0-9]+ \(9 parts of 5 columns, 3 channels: in_c is 9, expected at most 4\), c [0-9]+$
END
"$heddle" inspect each.ir "${toy[@]}" --format=json >inspect.json
"$HEDDLE_BUILD/schema_check" "$HEDDLE_HOME/docs/inspect.v1.schema.json" inspect.json >why || fail "$(cat why)"
tr -d '\n\t' <inspect.json | grep -qE '"cut": *\{ *"parts": *5, *"why": *"out_c is 30, expected at most 10" *\}' || fail "inspect: no cut in JSON"

# Stages of two parts at once: 0 load, 1 start, 2 wait, 3 store; of each the half of memory.
cp -r "$here/staged" staged
cp "$here"/toy/toy.[ch] staged
"$heddle" run each.ir --target=staged,c --target-dir=staged --allow-native-targets --partition=priority --engine=func -o staged.out \
    >stdout 2>stderr || fail "staged: $(cat stderr)"
grep -q '^verdict: match: ' stdout || fail "staged: $(head -3 stdout)"
order=$(sed -n '/staged: 000_conv2d/,/^$/s/.*staged_conv2d(\([0-3]\), \([01]\), .*/\1\2/p' staged.out/emitted/model.c | tr '\n' ' ')
[ "$order" = "00 10 01 20 11 30 21 31 " ] || fail "stages of two parts: $order"
order=$(sed -n '/staged: 004_conv2d/,/^$/s/.*staged_conv2d(\([0-3]\), \([01]\), .*/\1\2/p' staged.out/emitted/model.c | tr '\n' ' ')
[ "${order:0:24}" = "00 10 20 30 01 11 21 31 " ] || fail "stages of parts whose sums add up: $order"

# A limit that no cut changes refuses the layer as before.
"$heddle" inspect each.ir "${toy[@]}" --keep-on-host=000_conv2d >stdout
grep -q '^000_conv2d .* c .*(--keep-on-host)$' stdout || fail "--keep-on-host: $(grep ^000 stdout)"
mkdir strict
cp -r "$here/toy" strict/toy
sed -i '0,/"kernel_h": \[1, 5\]/s//"kernel_h": [1, 2]/' strict/toy/target.json
"$heddle" inspect each.ir --target=toy,c --target-dir=strict >stdout
grep -q '^000_conv2d .*; toy: kernel_h is 3, expected at most 2$' stdout || fail "kernel_h: $(grep ^000 stdout)"
finish
