#!/bin/bash
# Patterns whose arithmetic may differ from the reference: dtype float32, and requantise of kind float.
# check-target holds them to their tolerance, run adds it up and reports it; beyond it the answer is wrong.
. "$(dirname "$0")/../common.sh"
export XDG_CONFIG_HOME=$work/config
mkdir real
cat >real/real.h <<'END'
#include <stdint.h>
int real_dense(const float *x, const float *w, const float *bias, float low, float high, float *y,
               int rows, int in_c, int out_c);
int real_codes(const int8_t *x, const int8_t *w, const int32_t *bias, const float *scale, int scales,
               int8_t *y, int rows, int in_c, int out_c, int z_in, int z_out, int low, int high);
int real_add(const float *x, const float *x2, float *y, int n, float low, float high);
END
cat >real/real.c <<'END'
#include "real.h"
/* From the last product to the first: another order than the reference's. */
int real_dense(const float *x, const float *w, const float *bias, float low, float high, float *y,
               int rows, int in_c, int out_c)
{
    for (int i = 0; i < rows * out_c; i++) {
        float sum = bias ? bias[i % out_c] : 0;
        for (int k = in_c - 1; k >= 0; k--)
            sum += x[i / out_c * in_c + k] * w[i % out_c * in_c + k];
        y[i] = sum < low ? low : sum > high ? high : sum;
    }
    return 0;
}
int real_codes(const int8_t *x, const int8_t *w, const int32_t *bias, const float *scale, int scales,
               int8_t *y, int rows, int in_c, int out_c, int z_in, int z_out, int low, int high)
{
    for (int i = 0; i < rows * out_c; i++) {
        int sum = bias ? bias[i % out_c] : 0;
        for (int k = 0; k < in_c; k++)
            sum += (x[i / out_c * in_c + k] - z_in) * w[i % out_c * in_c + k];
        float v = (float)sum * scale[scales > 1 ? i % out_c : 0];
        int code = (int)(v + (v < 0 ? -0.5f : 0.5f)) + z_out;
        y[i] = (int8_t)(code < low ? low : code > high ? high : code);
    }
    return 0;
}
int real_add(const float *x, const float *x2, float *y, int n, float low, float high)
{
    for (int i = 0; i < n; i++) {
        float sum = x[i] + x2[i];
        y[i] = sum < low ? low : sum > high ? high : sum;
    }
    return 0;
}
END
cat >real/target.json <<'END'
{
  "heddle_target": 1, "name": "real", "version": "1.0", "requires_heddle": "0.1", "help": "floats",
  "headers": ["real.h"], "sources": ["real.c"],
  "operators": [
    {"name": "dense", "op": "fully_connected", "dtype": "float32", "tolerance": 1e-5,
     "weights": "ohwi", "cost": {"fixed": 1},
     "call": "real_dense($x, $w, $bias, $low, $high, $y, $batch, $in_c, $out_c)"},
    {"name": "codes", "op": "fully_connected", "requantise": {"kind": "float"}, "cost": {"fixed": 1},
     "call": "real_codes($x, $w, $bias, $float_scales, $scales, $y, $batch, $in_c, $out_c, $z_in, $z_out, $act_min, $act_max)"},
    {"op": "add", "dtype": "float32", "cost": {"fixed": 1},
     "call": "real_add($x, $x2, $y, $elements, $low, $high)"}
  ]
}
END
with=(--target-dir=real --target=real --allow-native-targets --engine=func)
float=$HEDDLE_HOME/tests/e2e/answers/float.ir

# --- output of check-target ---
"$heddle" check-target real --allow-native-targets >stdout 2>stderr || fail "real: $(cat stdout stderr)"
grep -q "^ok .*: 72 operators, 6 inferences each, at most [0-9.e-]* of the range from the reference" stdout ||
    fail "real: $(cat stdout)"
broken() { # SED COMPLAINT
    cp real/real.c kept.c
    sed -i "$1" real/real.c
    cmp -s real/real.c kept.c && fail "$1: nothing changed"
    "$heddle" check-target real --allow-native-targets >stdout 2>stderr
    [ $? = 1 ] || fail "$1: not found: $(tail -n 2 stdout stderr)"
    grep -q "^FAIL .*$2" stdout || fail "$1: expected '$2', found $(cat stdout)"
    mv kept.c real/real.c
}
broken 's/sum < low ? low : //' "dense: .* of the output's range from the reference, expected at most 1e-05, the pattern's tolerance (inputs: "
broken 's/bias ? bias\[i % out_c\] : 0;/0;/' "dense: .*, the pattern's tolerance"
broken 's/ + z_out;/ + z_out + 2;/' "codes: .* expected at most 0.00392, the pattern's tolerance"

# --- output of run ---
"$heddle" inspect "$float" --target-dir=real --target=real >stdout
grep -q '^35_fully_connected .* real  *real 1, c ' stdout || fail "float32 is not taken: $(grep ^35 stdout)"
grep -q '^20_add .*; real: operand 1 has 5 elements, the output 200: patterns support no broadcast$' stdout ||
    fail "a broadcast: $(grep ^20 stdout)"
grep -q '^34_reduce_max .*; real: no pattern for reduce_max' stdout || fail "$(grep ^34 stdout)"
"$heddle" run "$float" "${with[@]}" --stats s.json >stdout 2>stderr || fail "run: $(cat stderr)"
grep -q "^verdict: within [0-9.e-]* of the output's range against the CPU reference, not bit for bit: .* up to 1e-05$" \
    stdout || fail "verdict: $(grep ^verdict stdout)"
tr -d ' \n\t' <s.json | grep -q '"verdict":"within","checked_against":"ref",.*"tolerance":1e-05,"difference":' ||
    fail "stats: $(head -c 600 s.json)"
"$heddle" run digits "${with[@]}" >stdout 2>stderr || fail "digits: $(cat stderr)"
grep -q '^13_fully_connected .* real ' stdout || fail "codes do not go to real"
grep -q '^verdict: \(match\|within 0.00392 of\)' stdout || fail "digits: $(grep ^verdict stdout)"
"$heddle" run "$float" --engine=ref --seed=1 -n 1 -o ref >/dev/null 2>stderr || fail "ref: $(cat stderr)"
"$heddle" compile "$float" --target-dir=real --target=real -o net.tar || fail "compile"
tar xf net.tar metadata.json
tr -d ' \n\t' <metadata.json | grep -q '"tolerance":1e-05,.*"pattern":"dense"' || fail "metadata.json: no tolerance"
mapfile -t want < <(ls ref/out_*.bin | sort -V | sed 's/^/--expect=/')
"$heddle" run net.tar "${with[@]}" --seed=1 "${want[@]}" >stdout 2>stderr || fail "package: $(cat stderr)"
grep -q "^verdict: within [0-9.e-]* of the output's range against the expected outputs, not bit for bit: .* up to 1e-05$" \
    stdout || fail "package: $(cat stdout)"
sed -i 's/ + z_out;/ + z_out - 9 * (i % 2);/; s/sum += x/sum += 1.01f * x/' real/real.c
for model in digits "$float"; do
    "$heddle" run "$model" "${with[@]}" >stdout 2>stderr
    [ $? = 1 ] || fail "$model: a wrong answer is taken"
    grep -q "^  the difference exceeds what the targets' patterns allow: .* of the output's range" stderr ||
        fail "$model: $(cat stderr)"
    grep -q "^verdict: mismatch" stdout || fail "$model: $(grep ^verdict stdout)"
done

# --- what target.json may not contain ---
wrong() { # MESSAGE SED
    rm -rf wrong
    cp -r real wrong
    sed -i "$2" wrong/target.json
    expect 2 "heddle: $work/wrong/target.json:$1" "$heddle" targets --target-dir=wrong
}
wrong '5:83: operators[0].zero_points: float32 has no zero points and no requantisation: leave it out' \
    's/"dtype": "float32",/& "zero_points": "none",/'
wrong '5:82: operators[0].requantise: float32 has no zero points and no requantisation: leave it out' \
    's/"dtype": "float32",/& "requantise": {"kind": "float"},/'
wrong '5:57: operators[0].dtype: expected one of "int8", "uint8", "int16", "float32", found "float16"' 's/"float32"/"float16"/'
wrong '5:45: operators[0].dtype: lut has no float32 form' 's/"op": "fully_connected", "dtype"/"op": "lut", "dtype"/'
wrong '5:81: operators[0].tolerance: expected a number of at most 1, found 2' 's/1e-5/2/'
wrong '8:61: operators[1].tolerance: int8 patterns give the reference'"'"'s bytes; only float32 and requantise of kind float may differ' \
    's/"requantise": {"kind": "float"}/"tolerance": 0.1/'
finish
