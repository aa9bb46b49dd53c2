#!/bin/bash
# Outputs that differ from the expected ones: reported as values, per output, in steps. --tolerance sets the allowed
# steps; only equal bytes are called a match. Every answer is made from the golden by changing known bytes, so the
# expected text does not depend on heddle.
. "$(dirname "$0")/../../e2e/common.sh"

golden=$models/digits/out_0.bin
head -c $((64 * 6)) "$models/digits/in_0.bin" >in.bin
head -c 60 "$golden" >right.bin
byte() { # FILE INDEX: as int8
    od -An -td1 -j "$2" -N 1 "$1" | tr -d ' '
}
put() { # FILE INDEX VALUE
    printf "\\x$(printf '%02x' $(($3 & 255)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
run() { # CODE OPTION...: digits on the functional model
    local code=$1
    shift
    "$heddle" run digits --engine=func -i in.bin --expect want.bin --stats s.json "$@" >stdout 2>stderr
    local got=$?
    [ $got = "$code" ] || fail "exit $got, expected $code: $*: $(head -c 400 stderr)"
}
says() { # FILE TEXT
    grep -qxF -- "$2" "$1" || fail "no line '$2' in: $(cat "$1")"
}
field() { # TEXT in s.json
    tr -d ' \n\t' <s.json | grep -qF -- "$1" || fail "no $1 in: $(tr -d ' \n\t' <s.json | head -c 400)"
}

# Inference 0, values 3 and 7: -118 and -1 of 1/256; inference 4, value 2.
cp right.bin want.bin
was=$(byte right.bin 3)
step() { # STEPS: away from the ends of int8
    [ "$1" -gt 0 ] && echo "$(($was > 0 ? was - $1 : was + $1))"
}
put want.bin 3 "$(step 2)"
was4=$(byte right.bin 42)
put want.bin 42 $((was4 > 0 ? was4 - 1 : was4 + 1))
real() { # QUANTISED: digits' output has scale 1/256, zero point -128
    awk -v q="$1" 'BEGIN { printf "%.6g", (q + 128) / 256 }'
}
run 1
says stderr "heddle: 2 of 6 inferences differ from the expected outputs"
name=$(sed -n "s/^  output 0 '\(.*\)': 2 of 60 values differ, in 2 of 6 inferences, by at most 2 steps\$/\1/p" stderr)
[ -n "$name" ] || fail "no line of output 0: $(cat stderr)"
says stderr "    first: inference 0, index [0,3] (flat 3)"
says stderr "    expected $(step 2) ($(real "$(step 2)")), found $was ($(real "$was")): off by 2 steps"
says stdout "verdict: mismatch against the expected outputs"
field '"verdict":"mismatch"'
field '"differences":[{"output":0,"values":2,"inferences":2,"unit":"steps","largest":2,"first_inference":0,"first_index":3}]'

# A tolerance of one step is exceeded, and the first reported value is one beyond it; two steps suffice.
put want.bin 1 $(($(byte right.bin 1) > 0 ? $(byte right.bin 1) - 1 : $(byte right.bin 1) + 1))
run 1 --tolerance=1
says stderr "heddle: 1 of 6 inferences differ from the expected outputs"
says stderr "    first: inference 0, index [0,3] (flat 3)"
says stderr "  the difference exceeds --tolerance: 1 steps"
run 0 --tolerance=2
[ ! -s stderr ] || fail "within: $(cat stderr)"
says stdout "verdict: within 2 steps (largest 2, 3 values) of the expected outputs"
grep -q match stdout && fail "within is called a match: $(grep match stdout)"
field '"verdict":"within"'
field '"tolerance_steps":2'
"$heddle" report s.json >again || fail "report"
says again "verdict: within 2 steps (largest 2, 3 values) of the expected outputs"
run 0 --tolerance=3
says stdout "verdict: within 3 steps (largest 2, 3 values) of the expected outputs"

# Equal bytes are a match with any tolerance.
cp right.bin want.bin
run 0 --tolerance=2
grep -q "^verdict: match" stdout || fail "equal bytes: $(grep ^verdict stdout)"
grep -q '"differences"' s.json && fail "differences of equal bytes"

# A package knows the scales too.
"$heddle" compile digits -o net.tar >stdout 2>stderr || fail "compile: $(cat stderr)"
package() {
    CC="$HEDDLE_HOME/tests/e2e/o0 ${CC:-cc}" "$heddle" run net.tar --allow-native-targets --engine=func -i in.bin --expect want.bin "$@" >stdout 2>stderr
}
put want.bin 3 "$(step 2)"
package
[ $? = 1 ] || fail "a package's wrong answer is taken"
says stderr "    expected $(step 2) ($(real "$(step 2)")), found $was ($(real "$was")): off by 2 steps"
package --tolerance=2 || fail "a package within: $(cat stderr)"
says stdout "verdict: within 2 steps (largest 2, 1 values) of the expected outputs"

# float32 from a DEQUANTIZE has steps of its scale; float32 sums have none and are compared as they are.
cat >float.ir <<'END'
heddle-ir 1 graph name="float"
row 0 name="00_relu" op="RELU" tensor="q" shape="1x4"
row 1 name="01_dequantize" op="DEQUANTIZE" tensor="y" shape="2x2"
row 2 name="02_reshape" op="RESHAPE" tensor="z" shape="2x2"
tensor 0 i8 [1,4] input name="x" scale=(0.25) zero=(3)
tensor 1 i8 [1,4] value name="q" scale=(0.25) zero=(3)
tensor 2 f32 [1,4] value name="y"
tensor 3 f32 [2,2] value name="z"
op relu row=0 in=(0) out=(1)
op dequantize row=1 in=(1) out=(2)
op reshape row=2 in=(2) out=(3)
border in=(0) out=(3)
END
f32() { # HEX...: little-endian
    printf "$(printf '\\x%s' "$@")"
}
printf '\003\007\013\017' >x.bin # 0 1 2 3
f32 00 00 00 00 00 00 80 3f 00 00 20 40 00 00 40 40 >y.bin # 0 1 2.5 3
"$heddle" run float.ir --engine=func -i x.bin --expect y.bin >stdout 2>stderr
[ $? = 1 ] || fail "float32: a wrong answer is taken"
says stderr "  output 0 'z': 1 of 4 values differ, in 1 of 1 inferences, by at most 2 steps"
says stderr "    first: inference 0, index [1,0] (flat 2)"
says stderr "    expected 2.5, found 2: off by 2 steps"
"$heddle" run float.ir --engine=func -i x.bin --expect y.bin --tolerance=2 >stdout 2>stderr || fail "$(cat stderr)"
says stdout "verdict: within 2 steps (largest 2, 1 values) of the expected outputs"
f32 00 00 00 00 00 00 80 3f 00 00 20 40 00 00 c0 7f >y.bin # 0 1 2.5 NaN
"$heddle" run float.ir --engine=func -i x.bin --expect y.bin --tolerance=9 >stdout 2>stderr
[ $? = 1 ] || fail "NaN is within 9 steps"
says stderr "  output 0 'z': 2 of 4 values differ, in 1 of 1 inferences, by at most inf steps"
says stderr "    first: inference 0, index [1,1] (flat 3)"
cat >sum.ir <<'END'
heddle-ir 1 graph name="sum"
row 0 name="00_add" op="ADD" tensor="y" shape="1x2"
tensor 0 f32 [1,2] input name="x"
tensor 1 f32 [1,2] value name="y"
op add row=0 in=(0,0) out=(1)
border in=(0) out=(1)
END
f32 00 00 80 3f 00 00 00 40 >x.bin # 1 2: 2 4
f32 01 00 00 40 00 00 80 40 >y.bin # 2 + 1 ULP, 4
"$heddle" run sum.ir --engine=func -i x.bin --expect y.bin >stdout 2>stderr
[ $? = 1 ] || fail "one ULP is a match"
says stderr "  output 0 'y': 1 of 2 values differ, in 1 of 1 inferences, by at most 2.38419e-07"
says stderr "    expected 2.00000024, found 2: off by 2.38419e-07 (1.19e-07 of it, 1 ULP)"
expect 2 "heddle: --tolerance counts steps of quantised outputs: this network has none, found output 0 of type f32; expected int8, uint8, int16, or float32 from a DEQUANTIZE" \
    "$heddle" run sum.ir --engine=func -i x.bin --expect y.bin --tolerance=1
expect 2 "heddle: --tolerance: found '1.5', expected a whole number from 0 to 65535" \
    "$heddle" run sum.ir --engine=func --tolerance=1.5

# An ONNX file's golden from another runtime: the message names both ways to get its bytes.
cp right.bin want.bin
put want.bin 3 "$(step 1)"
onnx() {
    "$heddle" run "$models/digits/model.onnx" --engine=func -i in.bin --expect want.bin "$@" >stdout 2>stderr
}
onnx && fail "onnx: a wrong answer is taken"
says stderr "  ONNX: for ONNX Runtime's bytes, try --onnx-rounding=onnx, and ONNX Runtime without optimisations (docs/ONNX.md)"
onnx --onnx-rounding=onnx && fail "onnx: a wrong answer is taken"
says stderr "  ONNX: with --onnx-rounding=onnx, ONNX Runtime gives the same bytes when its optimisations are off (docs/ONNX.md)"
onnx --tolerance=1 || fail "onnx: one step: $(cat stderr)"
finish
