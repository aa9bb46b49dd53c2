#!/bin/bash
# heddle prove: a whole network is proved; what has no rule is unproven and named, an error with --strict; a layer that
# computes something else is refuted by an input, which is run: a random one, or one that is searched for.
. "$(dirname "$0")/../../e2e/common.sh"

says() { # REGEX: the only line of stdout
    grep -qxE -- "$1" stdout && [ "$(wc -l <stdout)" = 1 ] || fail "expected '$1', found '$(cat stdout)'"
}
prove() { # CODE MESSAGE OPTION...
    expect "$1" "$2" "$heddle" prove "${@:3}"
}

prove 0 '' "$models/digits/model.tflite" --strict --no-search
says 'proved: all 15 layers, for every input, except for a chance below 2\^-[5-9][0-9] \([0-9]+ commands in their order, 0 host calls, [0-9]+ values\)'

# The same line after the verdict of a run, and in its stats; a run that is unproven passes but with --strict.
run() { # CODE MESSAGE OPTION...
    expect "$1" "$2" "$heddle" run "${@:3}" --no-search --quiet
}
run 0 '' "$models/digits/model.tflite" --engine=func --inferences=1 --prove --strict --stats=stats.json
grep -qxE 'proved: all 15 layers, .*' stdout || fail "run --prove: found '$(cat stdout)'"
grep -q '"proof":[[:space:]]*"proved: all 15 layers' stats.json || fail "stats.json has no proof"
run 2 'heddle: --prove: found --engine=ref, expected func or rtl: ref runs no package' \
    "$models/digits/model.tflite" --engine=ref --prove

# A host kernel of products.
prove 0 '' "$HEDDLE_HOME/tests/compiler/systolic/lower/transposed.ir" --target=c --strict
says 'proved: all 1 layers, .* \(0 commands in their order, 1 host calls, [0-9]+ values\)'

# int16: sums of products on the array, as halves and as digits; opaque rounding.
prove 0 '' "$HEDDLE_HOME/tests/e2e/targets/pot16.ir" --strict --no-search
says 'proved: all 4 layers, .* \(32 commands in their order, 5 host calls, [0-9]+ values\)'
prove 0 '' "$HEDDLE_HOME/tests/e2e/targets/pot16.ir" --strict --no-search --hw=sys8
says 'proved: all 4 layers, .* 12 host calls, [0-9]+ values\)'

# Sums of int32, as digits from the array, with a zero point that is an input; borders of an image.
for net in matmul_sums/digits conv_sums/padded; do
    prove 0 '' "$HEDDLE_HOME/tests/compiler/systolic/rewrites/$net.ir" --strict
    says 'proved: all 1 layers, .* \(8 commands in their order, 1 host calls, [0-9]+ values\)'
done

# Kernels without a rule are compared by samples, and the verdict names them.
samples() { # N CALLS NAMES
    says "proved: all $1 layers, .* and for $2 that only samples compare \\($3\\) .*"
}
prove 0 '' "$HEDDLE_HOME/tests/e2e/targets/host_product.ir" --target=c --strict
samples 1 '1 call' matmul
prove 0 '' "$HEDDLE_HOME/tests/compiler/partition/uint8_border.ir" --target=c --strict
samples '[0-9]+' '[0-9]+ calls?' '.*conv2d.*'
prove 0 '' "$HEDDLE_HOME/tests/compiler/target/cache_place_refused.ir" --target=c --strict
samples 2 '1 call' update_slice
prove 0 '' "$HEDDLE_HOME/tests/e2e/answers/float.ir" --strict
samples 36 '36 calls' 'f32_conv2d, .*'

# A softmax into another scale.
prove 0 '' "$HEDDLE_HOME/tests/e2e/numbers/accounts.ir" --strict --no-search
says 'proved: all 4 layers, .* 0 host calls, .*'

# A channel that the accelerator gathers by products, and the graph by a move: sums of one term.
prove 0 '' "$HEDDLE_HOME/tests/e2e/answers/mirrored.ir" --strict --no-search
says 'proved: all 2 layers, .* 0 host calls, .*'

# Two devices.
prove 0 '' "$models/digits/model.tflite" --target=systolic:a,systolic:b --target-a-hw=sys8 --target-b-hw=tiny \
    --offload='05*=b' --strict --no-search
says 'proved: all 15 layers, .* 0 host calls, .*'

# A padding that the kernel does is part of what its samples compare.
prove 0 '' "$HEDDLE_HOME/tests/compiler/legalise/pad/into_depthwise.ir" --target=c --strict
samples 2 '1 call' depthwise_conv2d

# Weights that are in the accelerator's order in the file have no rule.
prove 0 '' "$HEDDLE_HOME/tests/compiler/legalise/constant_channels/into_bias.ir"
says 'unproven: layer 00_conv2d: conv2d of i8'

# On sys8 the accelerator makes the products of this LSTM as digits.
prove 0 '' "$HEDDLE_HOME/tests/compiler/systolic/rewrites/lstm_input/digits.ir" --hw=sys8 --strict
samples 1 '1 call' lstm

# A kernel of products gathers a channel. The graph has no operator of products.
cp "$HEDDLE_HOME/tests/e2e/answers/mirrored.ir" moved.ir
why='unproven: layer 01_maximum: no rule for kernel hdk_fully_connected, and no operator alike'
run 0 '' moved.ir --target=c --engine=func --prove
grep -qx "$why" stdout || fail "run --prove: found '$(cat stdout)'"
run 1 "heddle: $why" moved.ir --target=c --engine=func --prove --strict
printf '{"schema": "heddle.suite.v1", "name": "proof", "runs": [{"networks": ["moved.ir"],
    "engines": ["func"], "options": [["--target=c"]], "prove": true}]}' >suite.json
expect 1 "heddle: regress: 1 of 1 runs are wrong; the first: moved sys16 func --target=c seed 1: failed: exit 1: $why" \
    "$heddle" regress suite.json -o regress

prove 0 '' moved.ir --target=c
says "$why"
prove 1 "heddle: $why" moved.ir --target=c --strict

# External targets with blocks, with instructions, with several operators in a call.
for target in strawberry shuttle fused; do
    prove 0 '' "$models/digits/model.tflite" --no-search --target="$target,c" --target-dir="$HEDDLE_HOME/targets" \
        --allow-native-targets --strict
    samples 15 '[0-9]+ calls' ".*$target.*"
done

# The vanilla example's plain C: first right, then without the zero point.
cp -r "$HEDDLE_HOME/targets/vanilla" wrong
chmod -R u+w wrong
sed -i '/"core"/d; s/"name": "vanilla"/"name": "wrong"/; /"topping"/,/changes nothing/d' wrong/target.json
wrong=("$models/digits/model.tflite" --no-search --target-dir=wrong --target=wrong,systolic
    --offload='05*=wrong' --allow-native-targets)
refuted() { # REGEX...: lines of stderr
    "$heddle" prove "${wrong[@]}" >stdout 2>stderr
    [ $? = 1 ] || fail "expected exit 1: $(cat stderr)"
    for line; do
        grep -qxE -- "$line" stderr || fail "expected '$line', found '$(cat stderr)'"
    done
}
prove 0 '' "${wrong[@]}"
samples 15 '1 call' wrong
sed -i 's/ - s.z_in) \*/) */' wrong/vanilla.c
refuted 'heddle: refuted: layer 05_conv2d: 387 of 512 values differ in inference 0; the first is value 1: expected -77, found 17' \
    '  the proof: layer 05_conv2d: emitted code that is no call of a kernel' \
    '  replay: 05_conv2d alone is wrong too, on target wrong; look at its C:'
if grep -q 'the input that shows it' stderr; then fail "searched for what a random input shows: $(cat stderr)"; fi

# Wrong only where a result is above 120: none of the random inputs reaches that. The search has
# 5 s of CPU, too few for a heddle with sanitizers.
if ! grep -q __asan_init "$heddle"; then
    cp "$HEDDLE_HOME/targets/vanilla/vanilla.c" wrong
    sed -i 's/acc > s.act_max ? s.act_max : acc);/acc > 120 ? s.act_max : acc);/' wrong/vanilla.c
    expect 0 '' "$heddle" run "${wrong[@]}" --engine=func --quiet
    refuted 'heddle: refuted: layer 05_conv2d: [0-9]+ of 512 values differ .*, found 127' \
        '  the input that shows it: -i heddle-mismatch/refuted_in_0.bin'
    "$heddle" run "${wrong[@]}" --engine=func -i heddle-mismatch/refuted_in_0.bin >stdout 2>stderr
    [ $? = 1 ] || fail "expected that the input found is wrong in a run: $(cat stderr)"
fi

# A call of two operators that computes another sum.
cp -r "$HEDDLE_HOME/targets/fused" sums
chmod -R u+w sums
sed -i 's/"name": "fused"/"name": "sums"/' sums/target.json
sed -i 's/return clamp(a, s->act_min/return clamp(a + 1, s->act_min/' sums/fused.c
wrong=("$models/digits/model.tflite" --no-search --target=sums,c --target-dir=sums --allow-native-targets)
refuted 'heddle: refuted: layer 04_add: 671 of 1024 values differ in inference 0; .*' \
    '  the proof: layer 04_add: emitted code that is no call of a kernel'

finish
