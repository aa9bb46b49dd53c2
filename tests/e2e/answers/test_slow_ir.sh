#!/bin/bash
# A graph as text is a model like any other: what --dump-ir wrote runs again with the same answer;
# random layers run as emitted C, on the functional model and with host kernels only; bad texts are refused.
. "$(dirname "$0")/../common.sh"

export XDG_CACHE_HOME=$work/cache
"$heddle" run digits --engine=ref --dump-ir=ir -o plain >/dev/null 2>stderr || fail "$(cat stderr)"
for ir in ir/*.ir; do
    "$heddle" run "$ir" --engine=ref -i "$models/digits/in_0.bin" -o again >/dev/null 2>stderr ||
        fail "$ir: $(cat stderr)"
    cmp -s plain/out_0.bin again/out_0.bin || fail "$ir gives another answer"
done

grep -q '^submission 0: ' ir/*_lower.txt && grep -q '^const struct hd_model' ir/*_emit.txt || fail "no dump of lower or emit: $(ls ir)"
"$heddle" inspect digits --dump-ir=one --dump-step=schedule >/dev/null || fail "--dump-step"
[ "$(ls one | sed s,^[0-9]*_,,)" = schedule.txt ] || fail "--dump-step=schedule wrote $(ls one)"
"$heddle" inspect digits --dump-ir=one --dump-step=schedul >stdout 2>stderr && fail "a step that is none"
grep -q "^heddle: --dump-step: found 'schedul', expected a step; did you mean schedule?" stderr || fail "$(cat stderr)"
"$heddle" inspect digits --dump-step=schedule >stdout 2>stderr && fail "--dump-step alone"
grep -q '^heddle: --dump-step: expected --dump-ir=DIR with it' stderr || fail "$(cat stderr)"

"$HEDDLE_BUILD"/random_layers --hw sys8 --count 8 --seed 300 --write layers >/dev/null
[ "$(ls layers | wc -l)" = 8 ] || fail "random_layers --write wrote $(ls layers | wc -l) of 8"
for ir in layers/*.ir "$HEDDLE_HOME"/{tests/compiler/systolic/{lower/{parts_of_input,table_of_variable},rewrites/{transpose_product/halves,wide_conv/padded,wide_depthwise/two_each,wide_dense/flat}},tests/e2e/answers/mirrored}.ir; do
    for target in systolic,c c; do
        "$heddle" run "$ir" --engine=func --hw=sys8 --target=$target >/dev/null 2>stderr ||
            fail "$ir --target=$target: exit $?: $(cat stderr)"
    done
done

# int16 on the array, and what the host has to convert: equal, and proved for all inputs.
for net in partition/halves partition/halves_moved systolic/lower/halves_{pairs,curves,transposed} systolic/rewrites/wide_{average,pool}/windows systolic/rewrites/wide_quantize/bytes; do
    halves=$HEDDLE_HOME/tests/compiler/$net.ir
    "$heddle" run "$halves" --engine=func >stdout 2>stderr || fail "$net.ir: $(cat stderr)"
    grep -Eq '^verdict: match: (8 of 8 layers and 4 outputs|10 of 10 layers and 3 outputs|3 of 3 layers and 1 output|4 of 4 layers and [12] outputs?|6 of 6 layers and (1 output|3 outputs)) equal' stdout || fail "$net.ir: $(head -n 3 stdout)"
    "$heddle" prove "$halves" >stdout 2>stderr || fail "prove $net.ir: $(cat stdout stderr)"
done

# The bound of a sum after a chain of pools takes no time.
timeout 20 "$heddle" run "$(dirname "$0")/pools.ir" --engine=func --no-search -n1 >stdout 2>stderr || fail "pools.ir: exit $?: $(cat stderr)"

# Layer normalisations of short and of long rows are the accelerator's whole.
"$heddle" run "$(dirname "$0")/norms.ir" --engine=func --no-search -n1 >stdout 2>stderr || fail "norms.ir: $(cat stderr)"
grep -q '^verdict: match: 6 of 6 layers' stdout && grep -q ' and 0 on the host' stdout || fail "norms.ir: $(head -n 3 stdout)"

# Planes of more pixels than a pitch holds, and tables by channel as a file has them.
"$heddle" run "$(dirname "$0")/turned.ir" --engine=func --no-search -n1 >stdout 2>stderr || fail "turned.ir: $(cat stderr)"

# Functions of two tensors too.
"$heddle" run "$(dirname "$0")/quotients.ir" --engine=func >stdout 2>stderr || fail "quotients.ir: $(cat stderr)"
grep -q '^verdict: match: 2 of 2 layers' stdout && grep -q ' and 0 on the host' stdout || fail "quotients.ir: $(head -n 3 stdout)"

# Interpolations too, with weights of 8 bits and of more.
for ir in twice copies; do
    "$heddle" run "$HEDDLE_HOME/tests/compiler/systolic/rewrites/interpolate_product/$ir.ir" --engine=func >stdout 2>stderr ||
        fail "$ir.ir: $(cat stderr)"
    grep -q ' and 0 on the host' stdout || fail "$ir.ir: $(head -n 3 stdout)"
    "$heddle" run "$HEDDLE_HOME/tests/compiler/systolic/rewrites/interpolate_product/$ir.ir" --engine=func --target=c \
        >stdout 2>stderr || fail "$ir.ir in C: $(cat stderr)"
done

# Results of all inferences are more than the reference keeps: it runs again, from the state that the first had.
"$heddle" run "$(dirname "$0")/large_state.ir" --engine=func --target=c -n 9 >stdout 2>stderr || fail "large_state.ir: $(cat stderr)"
grep -q '^verdict: match: 9 of 9 layers' stdout || fail "large_state.ir: $(head -n 3 stdout)"

# Raw sums are the array's; other products are the host's, with the reason.
for hw in tiny sys16; do
    "$heddle" run "$(dirname "$0")/raw_sums.ir" --engine=func --hw=$hw >stdout 2>stderr || fail "raw_sums.ir: $(cat stderr)"
    grep -q '^verdict: match: 3 of 3 layers' stdout && grep -q ' 100.0 % on the accelerator' stdout ||
        fail "raw_sums.ir on $hw: $(head -n 3 stdout)"
done
while read -r name why; do
    "$heddle" inspect "$HEDDLE_HOME/tests/compiler/systolic/rewrites/matmul_sums/$name.ir" >stdout 2>stderr || fail "$(cat stderr)"
    grep -q "matmul_integer has no accelerator lowering: $why\$" stdout || fail "$name: $(cat stdout)"
done <<'END'
computed its second operand is computed
batch matrices of a batch have a second operand each
zeros its weights have several zero points
shared_rows its matrices share several zero points
deep its sums can reach 2^27
END

# Roots of negative numbers: the same NaN on both sides.
cat >roots.ir <<'END'
heddle-ir 1
graph name="roots"
row 0 name="0_sqrt" op="SQRT" tensor="y" shape="1x64" macs=0
row 1 name="1_rsqrt" op="RSQRT" tensor="z" shape="1x64" macs=0
tensor 0 f32 [1,64] input name="x"
tensor 1 f32 [1,64] value name="y"
tensor 2 f32 [1,64] value name="z"
op sqrt row=0 in=(0) out=(1)
op rsqrt row=1 in=(0) out=(2)
border in=(0) out=(1,2)
END
"$heddle" run roots.ir --engine=func --target=c >/dev/null 2>stderr || fail "roots.ir: $(cat stderr)"

# Float32: emitted C against the reference, with one line that states where and why.
expect_float() {
    "$heddle" run "$(dirname "$0")/float.ir" --engine=func "$@" >stdout 2>stderr || fail "float.ir $*: exit $?: $(cat stderr)"
    grep -q '^float32: 36 operators ran on the host, for accelerators compute int8' stdout || fail "float.ir $*: $(grep ^float32 stdout)"
    grep -q '^verdict: match' stdout || fail "float.ir $*: no verdict"
}
expect_float --target=c
expect_float --target=systolic,c --hw=tiny
grep -q 'float32; systolic: .* computes in float32: ' stdout || fail "no reason for float operators"

# Names from a model stay in comments and strings, escaped: none of these ends either.
cat >hostile.ir <<'END'
heddle-ir 1 graph name="*/ int x; /* \\ ??/ \" \x0a#error graph"
row 0 name="00_relu" op="RELU" tensor="*/ #error tensor \x0a#error" shape="1x4"
row 1 name="01_softmax" op="SOFTMAX" tensor="??/\x0a#error \\" shape="1x4"
tensor 0 i8 [1,4] input name="\"; #error \x0a#error input*/" scale=(1) zero=(0)
tensor 1 i8 [1,4] value name="*/ #error value" scale=(1) zero=(0)
tensor 2 i8 [1,4] value name="%s%n\\" scale=(0.00390625) zero=(-128)
op relu row=0 in=(0) out=(1)
op softmax row=1 in=(1) out=(2) beta_bits=1065353216
border in=(0) out=(2)
END
"$heddle" run hostile.ir --engine=func -o hostile >stdout 2>stderr || fail "hostile.ir: $(cat stderr)"
grep -n '^[[:space:]]*#error' hostile/emitted/* && fail "a name of the model became code"

refuse() {
    cat >bad.ir
    expect 3 "heddle: bad.ir: $1" "$heddle" run bad.ir --engine=ref
}
refuse "line 1: expected 'heddle-ir 1', found 'hello'" <<<'hello'
refuse "row 0: name and op: expected 1 to 60 letters, digits and '_', found 'a*/b' and 'add'" <<'END'
heddle-ir 1 graph name="x"
row 0 name="a*/b" op="add" tensor="y" shape="1x1"
END
refuse "row 0: shape: expected 1x32x32x16 or the like, found '1x4*/'" <<'END'
heddle-ir 1 graph name="x"
row 0 name="a" op="add" tensor="y" shape="1x4*/"
END
refuse "row 1: the name 'a' is already that of row 0" <<'END'
heddle-ir 1 graph name="x"
row 0 name="a" op="add" tensor="y" shape="1x1"
row 1 name="a" op="add" tensor="y" shape="1x1"
END
refuse "row 0: fused into row 7: expected one of 1 rows" <<'END'
heddle-ir 1 graph name="x"
row 0 name="a" op="add" tensor="y" shape="1x1" fused=7
END
refuse "operator 0 (relu): expected row=R, the number of a row of this file" <<'END'
heddle-ir 1 graph name="x"
row 0 name="a" op="relu" tensor="y" shape="1x4"
tensor 0 i8 [1,4] input name="x" scale=(1) zero=(0)
tensor 1 i8 [1,4] value name="y" scale=(1) zero=(0)
op relu row=1 in=(0) out=(1)
border in=(0) out=(1)
END
refuse "after import: graph output 0 is tensor 0, not made or not marked" <<'END'
heddle-ir 1 graph name="x"
row 0 name="a" op="relu" tensor="y" shape="1x4"
tensor 0 i8 [1,4] input name="x" scale=(1) zero=(0)
tensor 1 i8 [1,4] value name="y" scale=(1) zero=(0)
op relu row=0 in=(0) out=(1)
border in=(0) out=(0)
END
refuse "expected a border with at least one output" <<'END'
heddle-ir 1 graph name="x"
tensor 0 u8 [1,4] input name="x" scale=(1) zero=(128)
END
cat >unread.ir <<'END'
heddle-ir 1 graph name="x"
row 0 name="a" op="relu" tensor="y" shape="1x4"
tensor 0 i8 [1,4] input name="x" scale=(1) zero=(0)
tensor 1 i8 [1,4] value name="y" scale=(1) zero=(0)
tensor 2 u8 [1,4] input name="unread" scale=(1) zero=(128)
op relu row=0 in=(0) out=(1)
border in=(0,2) out=(1)
END
"$heddle" run unread.ir --engine=func >stdout 2>stderr || fail "unread.ir: exit $?: $(cat stderr)"
printf 'heddle-ir 1 graph name="x"\n\0row' >nul.ir
expect 3 "heddle: nul.ir: a NUL byte at 27: expected text" "$heddle" run nul.ir --engine=ref
finish
