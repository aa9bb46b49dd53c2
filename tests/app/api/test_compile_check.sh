#!/bin/bash
# `heddle compile` compares the package and reports the result on the terminal and, equal for equal input, in
# metadata.json. A wrong package is not written.
. "$(dirname "$0")/../../e2e/common.sh"

compared() { # FOLDER: the member of metadata.json, on one line
    python3 -c 'import json, sys; print(json.dumps(json.load(open(sys.argv[1] + "/metadata.json"))["compared"], sort_keys=True))' "$1"
}
compile() { "$heddle" compile "$@" >stdout 2>stderr; }

statement='match: 14 of 14 layers and 1 output equal, bit for bit, over 8 generated inferences (seed 1), to the CPU reference, '\
'which runs the network as imported (decoding the file is common to both)'
for out in one two; do
    compile digits --no-search -o $out || fail "compile: $(cat stderr)"
    [ "$(cat stdout)" = "check: $statement" ] || fail "stdout: $(cat stdout)"
done
diff -r one two >differences || fail "two packages of one network differ: $(cat differences)"
[ "$(compared one)" = '{"inferences": 8, "layers": 14, "outputs": 1, "seed": 1, "statement": "'"$statement"'", "verdict": "match"}' ] ||
    fail "metadata: $(compared one)"

# Not compared: by option, because of the network's size, or because it cannot run.
compile digits --no-search --check=never -o never || fail "--check=never: $(cat stderr)"
[ "$(cat stdout)" = "check: not done: --check=never" ] || fail "--check=never: $(cat stdout)"
[ "$(compared never)" = '{"statement": "not done: --check=never", "verdict": "unchecked"}' ] || fail "$(compared never)"
expect 2 "heddle: --check: found 'yes', expected auto, always or never" "$heddle" compile digits -o net --check=yes
CC=/none compile digits --no-search --target=c --hw=tiny -o none || fail "without a compiler: $(cat stderr)"
grep -q '^heddle: note: the package was not compared: ' stderr || fail "without a compiler: $(cat stderr)"
[ "$(cat stdout)" = "check: not done: the package cannot run where it was compiled" ] || fail "$(cat stdout)"
CC=/none compile digits --no-search --target=c --hw=tiny -o always --check=always
[ $? = 5 ] && [ ! -e always ] || fail "--check=always without a compiler: $(cat stderr)"

cat >big.ir <<'IR'
heddle-ir 1
graph name="big"
row 0 name="00_conv2d" op="CONV2D" tensor="t2" shape=""
tensor 0 i8 [1,512,512,16] input name="x" scale=(0.5) zero=(0)
tensor 1 i8 [16,3,3,16] const name="t1" scale=(0.25) zero=(0) fill=1
tensor 2 i8 [1,510,510,16] value name="t2" scale=(2) zero=(0)
op conv2d row=0 in=(0,1) out=(2) stride_h=1 stride_w=1 dilation_h=1 dilation_w=1 kernel_h=3 kernel_w=3
border in=(0) out=(2)
IR
compile big.ir --target=c -o big || fail "big: $(cat stderr)"
[ "$(cat stdout)" = "check: not done: 2414 M multiplications and results, more than 500 M; --check=always compares" ] ||
    fail "big: $(cat stdout)"

# The vanilla example with a planted bug.
cp -r "$HEDDLE_HOME/targets/vanilla" wrong
chmod -R u+w wrong
sed -i '/"core"/d; s/"name": "vanilla"/"name": "wrong"/; /"topping"/,/changes nothing/d' wrong/target.json
sed -i 's/ - s.z_in) \*/) */' wrong/vanilla.c
mine=(--target-dir=wrong --target=wrong,systolic '--offload=05*=wrong' --allow-native-targets --no-search)
compile digits "${mine[@]}" -o net
[ $? = 1 ] || fail "a wrong package is written: $(cat stdout stderr)"
grep -q "first wrong layer: 05_conv2d" stderr || fail "the layer is not named: $(cat stderr)"
[ ! -e net ] && [ ! -s stdout ] && [ ! -e heddle-mismatch ] || fail "a wrong package leaves $(find . -newer wrong/vanilla.c)"
# A target that declares a tolerance: the package is written with the differences, and refused only with --check=always.
sed -i 's/"requantise": {[^}]*}/"requantise": {"kind": "float"}, "tolerance": 1e-9/' wrong/target.json
compile digits "${mine[@]}" -o near || fail "a target with a tolerance: $(cat stderr)"
grep -qE '^check: [1-8] of 8 generated inferences \(seed 1\) differ from the CPU reference by more than [0-9.e-]+ of the outputs. range, which the targets. patterns allow$' stdout ||
    fail "a target with a tolerance: $(cat stdout)"
compared near | grep -q '"verdict": "differs"' || fail "a target with a tolerance: $(compared near)"
compile digits "${mine[@]}" --check=always -o always
[ $? = 1 ] && [ ! -e always ] || fail "--check=always and a target with a tolerance: $(cat stdout stderr)"
# The target's code is not trusted: the package is written without a comparison.
compile digits "${mine[@]/--allow-native-targets/--no-search}" -o net || fail "not trusted: $(cat stderr)"
grep -q '^heddle: note: the package was not compared: .*--allow-native-targets' stderr || fail "not trusted: $(cat stderr)"
finish
