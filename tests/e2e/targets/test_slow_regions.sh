#!/bin/bash
# Targets of whole regions: their shared object gets neighbouring operators as text, takes all or part of them, and
# compiles them to a blob that one call runs. check-target draws chains and finds what is wrong in compiler and machine.
. "$(dirname "$0")/../common.sh"
export XDG_CONFIG_HOME=$work/config
build() { # FOLDER [FLAGS]
    # shellcheck disable=SC2086 # flags
    ${CC:-cc} -std=c11 ${2:--Wall -Wextra -Werror} -shared -fPIC -I "$HEDDLE_HOME/include" "$1/tape_native.c" -o "$1/tape_native.so" ||
        fail "$1: the compiler does not compile"
}
cp -r "$HEDDLE_HOME/targets/tape" tape
sed -i 's/"name": "tape"/"name": "reel"/' tape/target.json
sed -i 's/\.name = "tape"/.name = "reel"/' tape/tape_native.c
rm -f tape/tape_native.so
expect 2 "heddle: target reel: file '$work/tape/tape_native.so' not found; build it first" \
    "$heddle" inspect digits --target-dir=tape --target=reel --allow-native-targets
build tape
with=(--target-dir=tape --allow-native-targets)
expect 2 "heddle: target reel comes from '$work/tape', and this would execute its code: add --allow-native-targets, or that \
folder as a line of '$work/config/heddle/trusted'" "$heddle" inspect digits --target-dir=tape --target=reel

# --- networks ---
for model in resnet8_own digits dscnn_own vit_own; do
    for list in reel reel,systolic; do
        "$heddle" run $model --engine=func "${with[@]}" --target=$list --partition=priority -o out >stdout 2>stderr ||
            fail "$model, $list: $(cat stderr)"
        grep -q "^verdict: match: .* equal, bit for bit, to the expected outputs" stdout || fail "$model, $list: $(cat stdout)"
        grep -q 'MODEL_TRY(tape_run(' out/emitted/model.c || fail "$model, $list: no call"
    done
done
"$heddle" inspect resnet8_own "${with[@]}" --target=reel >stdout
grep -q "^00_conv2d .* reel  *reel with 11_add, c [0-9]*$" stdout || fail "$(grep ^00 stdout)"
grep -q "^11_add .* reel  *reel [0-9]* (a region), c [0-9]*$" stdout || fail "$(grep ^11 stdout)"
grep -q "^12_average_pool_2d .*; reel: no pattern for average_pool_2d$" stdout || fail "$(grep ^12 stdout)"
"$heddle" inspect resnet8_own "${with[@]}" --target=reel --keep-on-host=05_conv2d >stdout
grep -q "^05_conv2d .* c .*; reel: only in a region (--keep-on-host)$" stdout || fail "--keep-on-host: $(grep ^05 stdout)"
grep -q "^00_conv2d .* reel with 04_conv2d, c " stdout || fail "--keep-on-host: $(grep ^00 stdout)"
"$heddle" inspect resnet8_own "${with[@]}" --target=systolic,reel --offload=13_fully_connected=reel >stdout
grep -q "^13_fully_connected .* reel  *systolic [0-9]* alone, reel [0-9]* (a region), c " stdout || fail "--offload: $(grep ^13 stdout)"
grep -q "^01_conv2d .*; reel: only in a region with 11_add, [0-9]* cycles together$" stdout || fail "$(grep ^01 stdout)"
"$heddle" compile resnet8_own "${with[@]}" --target=reel -o net.tar 2>stderr || fail "compile: $(cat stderr)"
tar xf net.tar metadata.json reel/tape.c || fail "the package"
tr -d ' \n\t' <metadata.json | grep -q '"function":"tape_run","pattern":"region"' || fail "metadata.json: $(grep -m1 tape_run metadata.json)"

# A bias of -1 is text with fill=, for all of its bytes.
cat >bias.ir <<'IR'
heddle-ir 1
graph name="bias"
row 0 name="00_fully_connected" op="FULLY_CONNECTED" tensor="y" shape="1x2"
tensor 0 i8 [1,8] input name="x" scale=(1) zero=(0)
tensor 1 i8 [2,8] const name="w" scale=(1) zero=(0) fill=0
tensor 2 i32 [2] const name="b" scale=(1) zero=(0) fill=255
tensor 3 i8 [1,2] value name="y" scale=(1) zero=(0)
op fully_connected row=0 in=(0,1,2) out=(3)
border in=(0) out=(3)
IR
"$heddle" run bias.ir --engine=func "${with[@]}" --target=reel >stdout 2>stderr || fail "bias: $(cat stderr)"
grep -q "^00_fully_connected  *1x2  *reel " stdout || fail "bias: $(cat stdout)"

# --- check-target, and its findings ---
"$heddle" check-target tape --allow-native-targets >stdout 2>stderr || fail "tape: $(cat stdout stderr)"
grep -q "^ok   regions: supports 24 of the chains generated; refused, for example: " stdout || fail "chains: $(cat stdout)"
grep -q "^ok .*: 120 operators, 6 inferences each, equal to the reference" stdout || fail "tape: $(cat stdout)"
# finds COMPLAINT FILE SED
finds() {
    rm -rf bent
    cp -r tape bent
    sed -i "$3" "bent/$2"
    cmp -s "tape/$2" "bent/$2" && fail "$3: nothing changed"
    build bent -w
    "$heddle" check-target bent --allow-native-targets >stdout 2>stderr
    [ $? != 0 ] || fail "$3: not found: $(tail -n 2 stdout stderr)"
    cat stdout stderr | grep -q "$1" || fail "$3: expected '$1', found $(grep FAIL stdout; cat stderr)"
}
finds "^FAIL .*: conv2d: .*: expected -*[0-9]*, found -*[0-9]* (inputs: " tape.c 's/ - i->z_x) \*/) */'
finds "^FAIL .*: expected -*[0-9]*, found -*[0-9]* (inputs: " tape_native.c 's/i.z_x2 = r->tensor/i.z_x2 = 0 * r->tensor/'
finds "^FAIL .*: chain: .*: expected -*[0-9]*, found -*[0-9]* (inputs: " tape_native.c 's/        at += r->tensor\[out\].n;/        at += r->tensor[out].n \/ 2;/'
finds "^FAIL .*: the call returned -3" tape_native.c 's/head = {TAPE_MAGIC/head = {1 + TAPE_MAGIC/'
finds "^heddle: target reel: the region 00_case to [0-9]*_case, which it takes, is not compiled: [0-9]* of [0-9]* operators fit$" \
    tape_native.c 's/whole = fit == r->n_op/whole = 0 * fit/'
finds "which it takes, is not compiled: its native code gives no reason$" tape_native.c 's/whole = fit == r->n_op/whole = why[0] = 0 * fit/'
finds "^FAIL pattern add: found no operator that it supports; the last reason: its native code refuses it" tape_native.c \
    's/^    \*cycles = 50;/    if (why_bytes) {\n        why[0] = 0;\n        return 0;\n    }\n&/'
finds "the last reason: its shared object has no functions .region. and .compile." tape_native.c 's/^.*\.region = region,//'
sed 's/TAPE_MEMORY  *131072/TAPE_MEMORY 20000/' -i tape/tape.h
build tape
"$heddle" run resnet8_own --engine=func "${with[@]}" --target=reel -o out >stdout 2>stderr || fail "little memory: $(cat stderr)"
grep -q "^verdict: match: " stdout || fail "little memory: $(cat stdout)"
[ "$(grep -c 'MODEL_TRY(tape_run(' out/emitted/model.c)" -gt 2 ] || fail "little memory: $(grep 'tape_run(' out/emitted/model.c)"

# --- what target.json may not contain ---
wrong() { # MESSAGE SED
    rm -rf wrong
    cp -r tape wrong
    sed -i "$2; s/\"name\": \"reel\"/\"name\": \"wrong\"/" wrong/target.json
    expect 2 "heddle: $work/wrong/target.json:$1" "$heddle" targets --target-dir=wrong
}
wrong "9:11: call: it needs \"granularity\": \"region\"" 's/"granularity": "region",//'
wrong "7:18: granularity: a target of regions needs \"native\" and \"call\"" 's/"native": "tape_native.so",//'
wrong "7:18: granularity: a target of regions needs \"native\" and \"call\"" '/"call":/d'
wrong "10:17: composites: a target of regions finds them in its graph: leave it out" 's/"headers"/"composites": [{"name": "c", "cost": {}, "call": "f()", "steps": [{"name": "a", "op": "add", "in": ["x", "y"], "out": "z"}, {"name": "b", "op": "lut", "in": ["z"], "out": "o"}]}],\n  "headers"/'
wrong "9:11: call: '\$blob_size' is not a word of a region's call or an attribute; did you mean '\$blob_bytes'?" 's/\$blob_bytes/$blob_size/'
wrong "15:27: operators[2].cost: a region has one call, and its native code states the cost: leave it out" 's/{"op": "add"}/{"op": "add", "cost": {"fixed": 1}}/'
wrong "15:28: operators[2].dtype: the graph of a region is int8: uint8 cannot be asked for" 's/{"op": "add"}/{"op": "add", "dtype": "uint8"}/'
wrong "7:18: granularity: expected one of \"operator\", \"region\", found \"layer\"" 's/"granularity": "region"/"granularity": "layer"/'
finish
