#!/bin/bash
# Types of patterns: uint8 reads and writes uint8 in networks of both 8-bit types, flipped only where other
# operators want int8; int16 (16x8) runs TFLite's networks to TFLite's bytes. check-target covers both.
. "$(dirname "$0")/../common.sh"
export XDG_CONFIG_HOME=$work/config
mkdir u8
cat >u8/u8.h <<'END'
#include <stdint.h>
int u8_dense(const uint8_t *x, const uint8_t *w, const int32_t *bias, uint8_t *y, int32_t batch, int32_t in_c,
             int32_t out_c, int32_t z_in, int32_t z_w, int32_t z_out, const int32_t *m, const int8_t *s, int32_t n,
             int32_t act_min, int32_t act_max);
int u8_max(const uint8_t *x, const uint8_t *x2, uint8_t *y, int n);
int u8_lut(const uint8_t *x, const uint8_t *table, uint8_t *y, int n);
int u8_average(const uint8_t *x, uint8_t *y, int in_w, int out_h, int out_w, int c);
END
cat >u8/u8.c <<'END'
#include "u8.h"
static int32_t requantise(int32_t acc, int32_t multiplier, int32_t shift)
{
    int64_t product = (int64_t)(int32_t)((uint32_t)acc << (shift > 0 ? shift : 0)) * multiplier;
    int32_t high = (int32_t)((product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) / (1LL << 31));
    int32_t right = shift < 0 ? -shift : 0, mask = (int32_t)((1u << right) - 1);
    return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0));
}
int u8_dense(const uint8_t *x, const uint8_t *w, const int32_t *bias, uint8_t *y, int32_t batch, int32_t in_c,
             int32_t out_c, int32_t z_in, int32_t z_w, int32_t z_out, const int32_t *m, const int8_t *s, int32_t n,
             int32_t act_min, int32_t act_max)
{
    for (int b = 0; b < batch; b++)
        for (int c = 0; c < out_c; c++) {
            int32_t acc = bias ? bias[c] : 0;
            for (int k = 0; k < in_c; k++)
                acc += (x[b * in_c + k] - z_in) * (w[c * in_c + k] - z_w);
            acc = requantise(acc, m[n > 1 ? c : 0], s[n > 1 ? c : 0]) + z_out;
            y[b * out_c + c] = (uint8_t)(acc < act_min ? act_min : acc > act_max ? act_max : acc);
        }
    return 0;
}
int u8_max(const uint8_t *x, const uint8_t *x2, uint8_t *y, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = x[i] > x2[i] ? x[i] : x2[i];
    return 0;
}
int u8_lut(const uint8_t *x, const uint8_t *table, uint8_t *y, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = table[x[i]];
    return 0;
}
/* 2x2, stride 2. */
int u8_average(const uint8_t *x, uint8_t *y, int in_w, int out_h, int out_w, int c)
{
    for (int i = 0; i < out_h * out_w * c; i++) {
        const uint8_t *p = x + (i / c / out_w * 2 * in_w + i / c % out_w * 2) * c + i % c;
        y[i] = (uint8_t)((p[0] + p[c] + p[in_w * c] + p[in_w * c + c] + 2) / 4);
    }
    return 0;
}
END
cat >u8/target.json <<'END'
{"heddle_target": 1, "name": "u8", "version": "1.0", "requires_heddle": "0.1", "help": "x",
 "headers": ["u8.h"], "sources": ["u8.c"],
 "operators": [
  {"op": "fully_connected", "dtype": "uint8", "zero_points": "both", "cost": {"fixed": 1},
   "call": "u8_dense($x, $w, $bias, $y, $batch, $in_c, $out_c, $z_in, $z_w, $z_out, $multipliers, $shifts, $scales, $act_min, $act_max)"},
  {"op": "maximum", "dtype": "uint8", "cost": {"fixed": 1}, "call": "u8_max($x, $x2, $y, $elements)"},
  {"op": "lut", "dtype": "uint8", "cost": {"fixed": 1}, "call": "u8_lut($x, $table, $y, $elements)"},
  {"op": "average_pool_2d", "dtype": "uint8", "activation": ["none"], "cost": {"fixed": 1},
   "where": {"batch": 1, "kernel_h": 2, "kernel_w": 2, "stride_h": 2, "stride_w": 2, "pad_top": 0, "pad_left": 0, "pad_bottom": 0, "pad_right": 0},
   "call": "u8_average($x, $y, $in_w, $out_h, $out_w, $out_c)"}
 ]}
END
with=(--target-dir=u8 --target=u8 --allow-native-targets --engine=func --seed=1)
network=$HEDDLE_HOME/tests/e2e/targets/uint8.ir

# --- check-target, and what it finds ---
# finds COMPLAINT TARGET FILE SED
finds() {
    rm -rf bent
    cp -r "$2" bent
    sed -i "$4" "bent/$3"
    cmp -s "$2/$3" "bent/$3" && fail "$4: nothing changed"
    "$heddle" check-target bent --allow-native-targets >stdout 2>stderr
    [ $? = 1 ] || fail "$4: not found: $(tail -n 2 stdout stderr)"
    grep -q "^FAIL .*$1" stdout || fail "$4: expected '$1', found $(grep FAIL stdout)"
}
"$heddle" check-target u8 --allow-native-targets >stdout 2>stderr || fail "u8: $(cat stdout stderr)"
grep -q "^ok .*: 96 operators, 6 inferences each, equal to the reference" stdout || fail "u8: $(cat stdout)"
finds "fully_connected: .* expected [0-9]*, found [0-9]* (inputs: " u8 u8.c 's/ - z_w)/ - 128)/'
finds "maximum: .* expected [0-9]*, found [0-9]* (inputs: " u8 u8.c 's/x\[i\] > x2\[i\]/(int8_t)x[i] > (int8_t)x2[i]/'
finds "pattern lut: found no operator that it supports; the last reason: in_h is" u8 target.json 's/"lut", /&"where": {"in_h": 99}, /'

# --- a uint8 network: nothing is flipped between its operators ---
"$heddle" run "$network" "${with[@]}" -o out >stdout 2>stderr || fail "uint8.ir: $(cat stderr)"
grep -q "^verdict: match: .*3 outputs equal, bit for bit, over [0-9]* generated inferences (seed 1), to the CPU reference" stdout || fail "$(cat stdout)"
for row in 00_dense 01_dense 03_average; do
    grep -q "^$row .* u8 " stdout || fail "$row: $(grep "^$row" stdout)"
done
[ "$(grep -c 'hdk_flip(' out/emitted/model.c)" = 2 ] || fail "flips: $(grep 'hdk_flip(' out/emitted/model.c)"
"$heddle" run "$network" --engine=ref --seed=1 -o ref >/dev/null || fail "ref"
for i in 0 1 2; do same ref/out_$i.bin out/out_$i.bin "output $i"; done
# An int8 network: flipped before and after, the same bytes; its average is int8's.
"$heddle" run digits "${with[@]}" -o out >stdout 2>stderr || fail "digits: $(cat stderr)"
grep -q "^13_fully_connected .* u8 " stdout || fail "digits: $(cat stdout)"
cmp -s out/out_0.bin "$models/digits/out_0.bin" || fail "digits: another answer"
"$heddle" inspect digits --target-dir=u8 --target=u8 >stdout
grep -q "^11_average_pool_2d .*; u8: its average rounds as int8's does, halves away from zero$" stdout || fail "$(grep average stdout)"
sed 's/"uint8"/"int8"/; s/"zero_points": "both"/"zero_points": "none"/; s/"u8"/"i8"/' u8/target.json >i8.json
mkdir i8 && cp u8/u8.[ch] i8 && sed 's/"dtype": "uint8", //' i8.json >i8/target.json
"$heddle" inspect "$network" --target-dir=i8 --target=i8 >stdout
grep -q "^03_average .*; i8: its average rounds as uint8's does, halves up; only \$params specifies it$" stdout || fail "$(cat stdout)"
sed -i 's/"zero_points": "both", //' u8/target.json
"$heddle" inspect "$network" --target-dir=u8 --target=u8 >stdout
grep -q "^00_dense .*; u8: z_w is 120, this pattern supports only 128$" stdout || fail "$(cat stdout)"

# --- int16: TFLite's bytes ---
dot16=$HEDDLE_HOME/targets/dot16
lines=$(cat "$dot16"/dot16.[ch] "$dot16/target.json" | wc -l)
[ "$lines" -lt 120 ] || fail "dot16 has $lines lines"
"$heddle" check-target "$dot16" >stdout 2>stderr || fail "dot16: $(cat stdout stderr)"
grep -q "^ok .*: 48 operators, 6 inferences each, equal to the reference" stdout || fail "dot16: $(cat stdout)"
finds "conv2d: .*: value [0-9]* of [0-9]*: expected -*[0-9]*, found -*[0-9]* (inputs: " "$dot16" dot16.c 's/: 0x7fff;/: 0x7ffe;/; s/ + (1 << 15)) >> 16/) >> 16/'
finds "conv2d: .* in_c=.*: expected " "$dot16" dot16.c 's/n - i < LANES ? n - i : LANES/n < LANES ? n : LANES/; s/i < n; i += LANES/i + LANES <= n || i == 0; i += LANES/'
finds "this value may be unwritten" "$dot16" dot16.c 's/i < s->out_h \* s->out_w \* s->out_c/i < s->out_h * s->out_w * s->out_c - 1/'
model=$HEDDLE_HOME/tests/reference/models/rand_int16_conv
"$heddle" run "$model/model.tflite" -i "$model/in_0.bin" --expect="$model/out_0.bin" --expect="$model/out_1.bin" \
    --expect="$model/out_2.bin" --expect="$model/out_3.bin" --target=dot16 --engine=func --partition=priority \
    >stdout 2>stderr || fail "16x8: $(cat stderr)"
grep -q "^verdict: match: 4 outputs of 2 inferences equal, bit for bit, to the expected outputs" stdout || fail "$(cat stdout)"
grep -q "^01_fully_connected .* dot16 " stdout && grep -q "^10_conv2d .* dot16 " stdout || fail "dot16: $(cat stdout)"
"$heddle" inspect "$model/model.tflite" --target=systolic,dot16 >stdout # the array takes such layers where no other device does
grep -q "^01_fully_connected .* dot16  *dot16 [0-9]*, c [0-9]*; systolic: the input is i16: " stdout || fail "both: $(grep ^01 stdout)"
"$heddle" inspect digits --target=dot16 >stdout
grep -q "^00_conv2d .*; dot16: the input is int8, expected int16$" stdout || fail "digits: $(grep ^00 stdout)"
"$heddle" targets >stdout
grep -A 6 '^dot16 ' stdout | grep -q '^    of int16: conv2d fully_connected$' || fail "targets: $(grep -A 6 '^dot16' stdout)"
cat >nobias.ir <<'END'
heddle-ir 1 graph name="nobias"
row 0 name="00_dense" op="FULLY_CONNECTED" tensor="" shape="1x2"
tensor 0 i16 [1,3] input name="x" scale=(0.001) zero=(0)
tensor 1 i8 [2,3] const name="w" scale=(0.01) zero=(0) data=0102030405ff
tensor 2 i16 [1,2] value name="y" scale=(0.001) zero=(0)
op fully_connected row=0 in=(0,1) out=(2)
border in=(0) out=(2)
END
"$heddle" inspect nobias.ir --target=dot16 >stdout
grep -q "^00_dense .*; dot16: it has no bias: its sums have 32 bits then and round twice, unlike int16's others$" stdout ||
    fail "no bias: $(cat stdout)"

# --- what target.json may not contain ---
wrong() { # MESSAGE SED
    rm -rf wrong
    cp -r "$dot16" wrong
    sed -i "$2; s/\"name\": \"dot16\"/\"name\": \"wrong\"/" wrong/target.json
    expect 2 "heddle: $work/wrong/target.json:$1" "$heddle" targets --target-dir=wrong
}
wrong "12:40: operators[0].zero_points: int16 has no zero points: leave it out" '12s/"dtype": "int16",/& "zero_points": "both",/'
wrong "12:74: operators[0].requantise.rounding: sums of int16 round once, halves up: leave it out" \
    '12s/"dtype": "int16",/& "requantise": {"kind": "shift_bits", "rounding": "single"},/'
wrong "12:16: operators[0].dtype: lut has no int16 form" '11s/"conv2d"/"lut"/'
wrong "12:38: operators[0].tolerance: int16 patterns give the reference's bytes; only float32 and requantise of kind float may differ" \
    '12s/"dtype": "int16",/& "tolerance": 0.1,/'
finish
