#!/bin/bash
# Composites of a target.json: several operators in one call, longest first; the edge that prevents one is reported;
# check-target draws them and finds what is wrong in their code.
. "$(dirname "$0")/../common.sh"
export XDG_CONFIG_HOME=$work/config
fused=$HEDDLE_HOME/targets/fused network=$HEDDLE_HOME/tests/e2e/targets/composites.ir

# --- networks ---
for list in fused fused,systolic systolic,fused; do
    "$heddle" run resnet8_own --engine=func --target=$list --partition=priority -o out >stdout 2>stderr || fail "$list: $(cat stderr)"
    grep -q "^verdict: match: 1 output of 8 inferences equal, bit for bit, to the expected outputs" stdout || fail "$list: $(cat stdout)"
    [ $list = systolic,fused ] || for row in 01_conv2d 02_conv2d 03_add 06_conv2d 07_add; do
        grep -q "^$row .* fused " stdout || fail "$list: $(grep "^$row" stdout)"
    done
done
"$heddle" run resnet8_own --engine=func --target=fused --partition=priority -o out >stdout 2>&1
[ "$(grep -c 'MODEL_TRY(fused_block(' out/emitted/model.c)" = 1 ] || fail "fused_block: $(grep -o 'MODEL_TRY(fused_[a-z_]*' out/emitted/model.c)"
[ "$(grep -c 'MODEL_TRY(fused_conv_add(' out/emitted/model.c)" = 2 ] || fail "fused_conv_add: $(grep -o 'MODEL_TRY(fused_[a-z_]*' out/emitted/model.c)"
"$heddle" inspect resnet8_own --target=fused,c --partition=priority >stdout
grep -q "^01_conv2d .* fused  *fused with 03_add, c [0-9]*$" stdout || fail "inspect: $(grep ^01 stdout)"
grep -q "^03_add .* fused  *fused [0-9]* (block), c [0-9]*$" stdout || fail "inspect: $(grep ^03 stdout)"
"$heddle" inspect resnet8_own --target=fused,systolic >stdout
grep -q "^01_conv2d .*; fused: only in block with 03_add, [0-9]* cycles together$" stdout || fail "$(grep ^01 stdout)"
# Kept on the host: the shorter composite is next. Forced: the whole composite.
"$heddle" inspect resnet8_own --target=fused --keep-on-host=01_conv2d >stdout
grep -q "^03_add .* fused [0-9]* (conv_add), c " stdout || fail "--keep-on-host: $(grep ^03 stdout)"
grep -q "^02_conv2d .* fused with 03_add, c " stdout || fail "--keep-on-host: $(grep ^02 stdout)"
"$heddle" inspect resnet8_own --target=systolic,fused --offload=01_conv2d=fused >stdout
for row in 01_conv2d 02_conv2d 03_add; do
    grep -q "^$row .* fused " stdout || fail "--offload: $(grep "^$row" stdout)"
done
"$heddle" run "$network" --engine=func --target=fused -o out >stdout 2>stderr || fail "composites.ir: $(cat stderr)"
grep -q "^verdict: \(match\|within\)" stdout || fail "$(cat stdout)"
for row in 00_mean 05_scale 09_end 10_dense 11_softmax; do
    grep -q "^$row .* fused " stdout || fail "composites.ir: $(grep "^$row" stdout)"
done
"$heddle" inspect "$network" --target=fused --format=json >inspect.json
"$HEDDLE_BUILD/schema_check" "$HEDDLE_HOME/docs/inspect.v1.schema.json" inspect.json >why || fail "$(cat why)"
for row in '10_dense.*"composite":"dense_softmax","fused_with":"11_softmax","estimated_cycles":null' \
    '11_softmax.*"composite":"dense_softmax","fused_with":null,"estimated_cycles":[0-9]'; do
    grep -q "\"name\":\"$row" inspect.json || fail "$row: $(grep "${row%%.*}" inspect.json)"
done
[ "$(grep -c 'MODEL_TRY(fused_' out/emitted/model.c)" = 2 ] || fail "calls: $(grep 'MODEL_TRY(fused_' out/emitted/model.c)"
"$heddle" compile "$network" --target=fused -o net.tar 2>stderr || fail "compile: $(cat stderr)"
tar xf net.tar metadata.json
tr -d ' \n\t' <metadata.json | grep -q '"function":"fused_layer_norm","pattern":"layer_norm"' || fail "metadata.json: $(grep -m1 fused_ metadata.json)"

# --- reasons --- why ROW REASON SED: inspects the network with a change.
why() {
    sed "$3" "$network" >changed.ir
    cmp -s "$network" changed.ir && fail "nothing changed: $3"
    "$heddle" inspect changed.ir --target=fused >stdout 2>stderr || fail "$3: $(cat stderr)"
    grep "^$1 " stdout | grep -qF "$2" || fail "$3: expected '$2', found $(grep "^$1 " stdout)"
}
"$heddle" inspect "$network" --target=fused >stdout
grep -q "^13_softmax .*; fused: dense_softmax: edge 'd' is read by 14_relu as well$" stdout || fail "$(grep ^13 stdout)"
why 11_softmax "dense_softmax: edge 'd' is an output of the network as well" 's/out=(16,18,19)/out=(15,16,18,19)/'
why 13_softmax "dense_softmax: edge 'd' is the output of relu, expected one of fully_connected" \
    '/^op softmax row=13/d; s/^border/op softmax row=13 in=(19) out=(18) beta_bits=1065353216\nborder/'
why 11_softmax "dense_softmax: edge 'd' is an input of the network, expected the output of fully_connected" \
    '/^op fully_connected row=10/d; s/ f32 \[2,3\] value name="e"/ f32 [2,3] input name="e"/; s/^border in=(0)/border in=(0,15)/'
why 09_end "layer_norm: step 'scale': in2_elements is 8, expected at most 4" \
    's/^tensor 7 f32 \[4\] const name="gamma"/tensor 7 f32 [2,4] const name="gamma" data=0000803f0000003f0000c03f000000bf/'
why 09_end "layer_norm: edge 'g' is not what step 'scaled' reads, which is the output of 03_safe" 's/in=(0,8) out=(9)/in=(0,5) out=(9)/'
why 09_end "layer_norm: edge 's' is read by a step that does not have it" 's/in=(1,8) out=(10)/in=(5,8) out=(10)/'

# --- check-target, and its findings ---
"$heddle" check-target "$fused" >stdout 2>stderr || fail "fused: $(cat stdout stderr)"
grep -q "^ok .*: 120 operators, 6 inferences each, \(equal to the reference\|at most\)" stdout || fail "fused: $(cat stdout)"
for name in conv_add block conv_pool dense_softmax layer_norm; do
    grep -q "^ok   composite $name: supports 24 of those generated; refused, for example: " stdout || fail "$name: $(cat stdout)"
done
# finds COMPLAINT FILE SED
finds() {
    rm -rf bent
    cp -r "$fused" bent
    sed -i "$3" "bent/$2"
    cmp -s "$fused/$2" "bent/$2" && fail "$3: nothing changed"
    "$heddle" check-target bent --allow-native-targets >stdout 2>stderr
    [ $? = 1 ] || fail "$3: not found: $(tail -n 2 stdout stderr)"
    grep -q "^FAIL .*$1" stdout || fail "$3: expected '$1', found $(grep FAIL stdout)"
}
finds "conv_add: conv: in_h=.*; sum: .*: expected -*[0-9]*, found -*[0-9]* (inputs: " fused.c 's/(b - s->z_b)/(b - s->z_a)/'
finds "block: first: .*; second: .*: expected .*, found " fused.c 's/fused_conv_add(between, x, y, second, add)/fused_conv_add(between, between, y, second, add)/'
finds "memory: block: .*AddressSanitizer: " target.json 's/"elements": \[1, 32768\]/"elements": [1, 99999]/; s/\$first.in_h, /99, /'
finds "layer_norm: .* of the output's range from the reference, expected at most 1e-05, the pattern's tolerance" fused.c 's/beta\[c\] - mean/beta[0] - mean/'
finds "composite conv_pool: found none that it supports; the last reason: " target.json 's/"pad_top": 0, "pad_left"/"in_h": 99, "pad_left"/'
finds "composite conv_pool: one of its steps is never drawn" target.json 's/"op": "max_pool_2d"/"op": "quantize"/'

# --- what target.json may not contain ---
wrong() { # MESSAGE SED
    rm -rf wrong
    cp -r "$fused" wrong
    sed -i "$2; s/\"name\": \"fused\"/\"name\": \"wrong\"/" wrong/target.json
    expect 2 "heddle: $work/wrong/target.json:$1" "$heddle" targets --target-dir=wrong
}
wrong "16:44: composites[0].steps[1].in: found 1 edges, add has 2" 's/"in": \["c", "other"\]/"in": ["c"]/'
wrong "15:48: composites[0].steps[0].in: found 2 edges, conv2d has 1" 's/"in": \["x"\], "out": "c"/"in": ["x", "z"], "out": "c"/'
wrong "16:67: composites[0].steps[1].out: edge 'c' is made twice" 's/"in": \["c", "other"\], "out": "y"/"in": ["c", "other"], "out": "c"/'
wrong "16:63: composites[0].steps[1].out: edge 'y' is read before it is made" 's/"in": \["c", "other"\], "out": "y"/"in": ["c", "y"], "out": "y"/'
wrong "15:62: composites[0].steps[0].out: no step reads edge 'c', and only the last makes the output" 's/"in": \["c", "other"\], "out": "y"/"in": ["z", "other"], "out": "y"/'
wrong "16:18: composites[0].steps[1].name: duplicate step 'conv'" 's/"name": "sum"/"name": "conv"/'
wrong "22:15: composites[1].name: duplicate pattern 'conv_add'" 's/"name": "block"/"name": "conv_add"/'
wrong "19:15: composites[0].call: '\$othe' is not an edge, an attribute, or a step's pointer or value (\$STEP.w); did you mean '\$other'?" 's/\$other, \$y, /$othe, $y, /'
wrong "19:15: composites[0].call: '\$conf.w' is not an edge, an attribute, or a step's pointer or value (\$STEP.w)" 's/\$conv.w, /$conf.w, /'
wrong "13:40: composites[0].tolerance: its steps give the reference's bytes; only float32 and requantise of kind float may differ" 's/"name": "conv_add",/"name": "conv_add", "tolerance": 0.1,/'
wrong "16:31: composites[0].steps[1].op: no operator 'addd'; did you mean add?" 's/"op": "add", "in"/"op": "addd", "in"/'
wrong "10:16: operators: found no operator, and there are no \"composites\"" '/"composites"/,$d; s/"operators": \[\],/"operators": []}/'
wrong "16:44: composites[0].steps[1].in: 'other' is an attribute" 's/"operators": \[\],/"operators": [], "attributes": [{"name": "other", "type": "bool", "default": true, "help": "x"}],/'

# --- operands of a list ---
cat >cat.ir <<'END'
heddle-ir 1 graph name="cat"
row 0 name="00_cat" op="CONCATENATION" tensor="" shape="1x2x2x3"
row 1 name="01_pool" op="MAX_POOL_2D" tensor="" shape="1x1x1x3"
tensor 0 i8 [1,2,2,1] input name="a" scale=(0.5) zero=(0)
tensor 1 i8 [1,2,2,1] input name="b" scale=(0.5) zero=(0)
tensor 2 i8 [1,2,2,1] input name="c" scale=(0.5) zero=(0)
tensor 3 i8 [1,2,2,3] value name="d" scale=(0.5) zero=(0)
tensor 4 i8 [1,1,1,3] value name="y" scale=(0.5) zero=(0)
op concatenation row=0 in=(0,1,2) out=(3) axis=3
op max_pool_2d row=1 in=(3) out=(4) kernel_h=2 kernel_w=2 stride_h=2 stride_w=2
border in=(0,1,2) out=(4)
END
mkdir cat
cat_target() { # IN
    cat >cat/target.json <<END
{"heddle_target": 1, "name": "cat", "version": "1.0", "requires_heddle": "0.1", "help": "x", "operators": [],
 "composites": [{"name": "cat_pool", "cost": {"fixed": 1}, "call": "f(\$y)", "steps": [
  {"name": "cat", "op": "concatenation", "in": [$1], "out": "c"},
  {"name": "pool", "op": "max_pool_2d", "in": ["c"], "out": "y"}]}]}
END
}
cat_target '"a", "b"'
"$heddle" inspect cat.ir --target-dir=cat --target=cat >stdout
grep -q "^01_pool .*; cat: cat_pool: step 'cat' has 3 operands, expected 2$" stdout || fail "$(cat stdout)"
cat_target '"a", "b", "x"'
"$heddle" inspect cat.ir --target-dir=cat --target=cat >stdout
grep -q "^01_pool .* cat 1 (cat_pool), c " stdout || fail "$(cat stdout)"
cat_target "$(printf '"e%s", ' {1..47})\"e48\""
expect 2 "heddle: $work/cat/target.json:3:48: composites[0].steps[0].in: more than 46 edges" "$heddle" targets --target-dir=cat
finish
