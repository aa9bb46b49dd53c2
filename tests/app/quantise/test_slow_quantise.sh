#!/bin/bash
# heddle quantise: the float digits become an ONNX file that runs entirely on the accelerator with about the same
# accuracy; every float operator survives the conversion; exit codes and messages; equal bytes each time.
. "$(dirname "$0")/../../e2e/common.sh"

float=$models/digits/float.tflite
samples=$models/digits/calibration.npz
quantise() { expect 0 '' "$heddle" quantise "$@"; }

# decibel A B: prints the signal of A over the difference of A and B, raw float32; 999 if they are equal
decibel() {
    python3 - "$1" "$2" <<'PY'
import math, struct, sys
a, b = (struct.unpack(f"<{len(x) // 4}f", x) for x in (open(p, "rb").read() for p in sys.argv[1:]))
noise = sum((x - y) ** 2 for x, y in zip(a, b, strict=True))
print(int(10 * math.log10(sum(x * x for x in a) / noise)) if noise else 999)
PY
}

# right FILE: prints the correct ones of the 360 held-out digits, in hundredths of a percent
right() {
    "$heddle" run "$1" --engine=ref -i "$models/digits/float_in.npz" --labels="$models/digits/labels.txt" |
        sed -n 's/^accuracy: \([0-9]*\)\.\([0-9]*\) %$/\1\2/p'
}

# --- digits: entirely on the accelerator, at most half a point less accurate ---
before=$(right "$float")
[ "${before:-0}" -ge 9900 ] || fail "the float network: accuracy '$before'"
for how in --ranges=minmax "--ranges=percentile --percentile=99.99" --ranges=mse --bias-correction; do
    quantise "$float" -i "$samples" -o q.onnx $how
    grep -q '^q.onnx: 14 of 14 layers quantised, ranges of 100 samples by ' stdout || fail "$how: $(head -n 1 stdout)"
    after=$(right q.onnx)
    [ "${after:-0}" -ge $((before - 50)) ] || fail "$how: accuracy $after, of the float network $before"
done
"$heddle" inspect q.onnx | sed '/^$/,$d' | awk 'NR > 1 && $3 == "c" {print $2}' | sort >host
[ ! -s host ] || fail "on the host: $(cat host)"
"$heddle" run q.onnx --engine=func -q | grep -q '^verdict: match: ' || fail "q.onnx differs on the accelerator"

# --- the same bytes, and layers that stay float ---
quantise "$float" -i "$samples" -o again.onnx --bias-correction
same q.onnx again.onnx "a second run"
quantise "$float" -i "$samples" -o kept.onnx --keep-float=first,last,06_conv2d
grep -q '^kept.onnx: 11 of 14 layers quantised' stdout || fail "--keep-float: $(head -n 1 stdout)"
[ "$(grep -c '  float: kept$' stdout)" = 3 ] || fail "--keep-float: $(cat stdout)"
"$heddle" inspect kept.onnx | grep -q 'computes in float32' || fail "nothing of kept.onnx is float32"

# --- within a target's limits: all that it computes is its own, and as accurate ---
cp -r "$HEDDLE_HOME/targets/shifty" plain # shifty without zero points
sed -i 's/"name": "shifty"/"name": "plain"/; s/"requantise": {"kind": "shift_bits", "rounding"/"zero_points": "none", &/' plain/target.json
# within TARGET RANGES WORDS: quantises digits for the target.
within() {
    local with=(--target-dir=. "--target=$1,c")
    quantise "$float" -i "$samples" -o "$1.onnx" "${with[@]}" "--ranges=$2"
    grep -q "^$1.onnx: 14 of 14 layers quantised, ranges of 100 samples by $2, $3; [0-9]* bytes$" stdout ||
        fail "$1: $(head -n 1 stdout)"
    [ "$("$heddle" inspect "$1.onnx" "${with[@]}" | sed '/^$/,$d' | grep -cE " (Conv|Gemm) +$1 ")" = 8 ] ||
        fail "$1: $("$heddle" inspect "$1.onnx" "${with[@]}" | grep "; $1: ")"
    "$heddle" run "$1.onnx" "${with[@]}" --engine=func --allow-native-targets -q >verdict || fail "$1: $(cat verdict)"
    after=$(right "$1.onnx")
    [ "${after:-0}" -ge $((before - 50)) ] || fail "$1: accuracy $after, of the float network $before"
}
within shifty minmax "one scale a tensor, powers of two"
within plain mse "one scale a tensor, powers of two, no zero points"
"$heddle" inspect q.onnx --target=shifty,c | grep -qE ' (Conv|Gemm) +shifty ' && fail "shifty takes scales of any value"

# --- JSON ---
quantise "$float" -i "$samples" -o q.onnx --format=json
cp stdout report.json
"$HEDDLE_BUILD/schema_check" "$HEDDLE_HOME/docs/quantise.v1.schema.json" report.json || fail "the report is not as its schema"
python3 - report.json <<'PY' || fail "JSON: $(cat stdout)"
import json, sys
r = json.load(open(sys.argv[1]))
assert r["per_tensor"] is r["power_of_two"] is False and r["zero_points"] is True, r
assert r["schema"] == "heddle.quantise.v1" and r["samples"] == 100 and len(r["layers"]) == 14, r
assert r["output_db"] > 40 and all(l["quantised"] and l["alone_db"] > 30 for l in r["layers"]), r
assert sum("output_db_if_float" in l for l in r["layers"]) == 3, r
PY

# --- every float operator: as ONNX in float32, and quantised where it can be ---
sed 's/alpha_bits=-1102263091/alpha_bits=1045220557/' "$HEDDLE_HOME/tests/e2e/answers/float.ir" >float.ir
python3 -c "
import random, struct
r = random.Random(3)
open('x.bin', 'wb').write(struct.pack('<1512f', *[r.gauss(0, 1) for _ in range(1512)]))"
quantise float.ir -i x.bin -o float.onnx '--keep-float=*'
grep -q '^float.onnx: 0 of 36 layers quantised' stdout || fail "float.ir in float32: $(head -n 1 stdout)"
quantise float.ir -i x.bin -o int8.onnx
grep -q '^int8.onnx: 2[0-9] of 36 layers quantised' stdout || fail "float.ir: $(head -n 1 stdout)"
mkdir of
for net in float.ir float.onnx int8.onnx; do
    "$heddle" run "$net" --target=c --engine=ref -q -i x.bin -o "of/$net" --no-report >log 2>&1 || fail "$net: $(cat log)"
done
for k in 0 1 2 3; do
    [ "$(decibel of/float.ir/out_$k.bin of/float.onnx/out_$k.bin)" -ge 120 ] || fail "float.onnx: output $k differs"
    [ "$(decibel of/float.ir/out_$k.bin of/int8.onnx/out_$k.bin)" -ge 25 ] || fail "int8.onnx: output $k is far off"
done
rm ./*.onnx

# --- Keras' layer normalisation is written as ONNX's, which the accelerator computes as one operator ---
python3 - 64 >norm.ir <<'PY'
import random, struct, sys
n, r = int(sys.argv[1]), random.Random(5)
def data(values):
    return "data=" + struct.pack(f"<{len(values)}f", *values).hex()
shapes = [("x", "12,N"), ("mean", "12,1"), ("square", "12,N"), ("variance", "12,1"), None, ("positive", "12,1"), ("inverse", "12,1"), None,
          ("scale", "12,N"), ("scaled", "12,N"), ("shift", "12,N"), None, ("left", "12,N"), ("y", "12,N")]
consts = {4: ("", [1e-5]), 7: (n, [r.uniform(0.5, 1) for _ in range(n)]), 11: (n, [r.gauss(0, 0.3) for _ in range(n)])}
ops = ["mean (0) 1 axis=2 keep_dims=1", "squared_difference (0,1) 2", "mean (2) 3 axis=2 keep_dims=1", "add (3,4) 5", "rsqrt (5) 6",
       "mul (6,7) 8", "mul (0,8) 9", "mul (1,8) 10", "sub (11,10) 12", "add (9,12) 13"]
print('heddle-ir 1 graph name="norm"')
for i, op in enumerate(ops):
    print(f'row {i} name="{i:02}_{op.split()[0]}" op="{op.split()[0]}" tensor="" shape="" macs=0')
for i, s in enumerate(shapes):
    if s:
        print(f'tensor {i} f32 [{s[1].replace("N", str(n))}] {"value" if i else "input"} name="{s[0]}"')
    else:
        print(f'tensor {i} f32 [{consts[i][0]}] const name="c{i}" {data(consts[i][1])}')
for i, op in enumerate(ops):
    name, ins, out, *rest = op.split()
    print(f"op {name} row={i} in={ins} out=({out})", *rest)
print("border in=(0) out=(13)")
open("rows.bin", "wb").write(struct.pack(f"<{8 * 12 * n}f", *[r.gauss(0.5, 2) for _ in range(8 * 12 * n)]))
PY
quantise norm.ir -i rows.bin -o float.onnx '--keep-float=*'
quantise norm.ir -i rows.bin -o int8.onnx
"$heddle" inspect int8.onnx | awk '$3 == "systolic"' >systolic
[ "$(awk '{print $2}' systolic)" = Add ] || fail "the layer normalisation is not one operator: $(cat systolic)"
for net in norm.ir float.onnx int8.onnx; do
    "$heddle" run "$net" --engine=func -q -i rows.bin -o "of/$net" --no-report >log 2>&1 || fail "$net: $(cat log)"
done
[ "$(decibel of/norm.ir/out_0.bin of/float.onnx/out_0.bin)" -ge 120 ] || fail "the layer normalisation as ONNX differs"
[ "$(decibel of/norm.ir/out_0.bin of/int8.onnx/out_0.bin)" -ge 30 ] || fail "the layer normalisation in int8 is far off"
rm ./*.onnx

# --- refusals, which write no file ---
refused() { local code=$1 message=$2; shift 2; expect "$code" "heddle: $message" "$heddle" quantise "$@"; }
refused 2 "no model; expected: heddle quantise MODEL"
refused 2 "quantise: no samples; expected -i FILE.npy or FILE.npz" "$float" -o q.onnx
refused 2 "quantise: -o: found '', expected a name that ends in .onnx" "$float" -i "$samples"
refused 2 "quantise: -o: found 'q.tflite', expected a name that ends in .onnx" "$float" -i "$samples" -o q.tflite
refused 2 "--ranges: found 'kl', expected minmax, percentile or mse" "$float" -i "$samples" -o q.onnx --ranges=kl
for percentile in all 50 101 99,9 nan; do
    refused 2 "--percentile: found '$percentile', expected a number above 50, at most 100" "$float" -i "$samples" -o q.onnx \
        --ranges=percentile --percentile=$percentile
done
refused 2 "--percentile: expected --ranges=percentile with it" "$float" -i "$samples" -o q.onnx --percentile=99
refused 2 "--format: heddle quantise has no csv, expected text or json" "$float" -i "$samples" -o q.onnx --format=csv
refused 2 "--keep-float: found '06_conv', expected first, last or a layer; did you mean '06_conv2d'?" "$float" -i "$samples" \
    -o q.onnx --keep-float=first,06_conv
refused 2 "--keep-float: found 'everything', expected first, last or a layer (heddle inspect lists them)" "$float" -i "$samples" \
    -o q.onnx --keep-float=everything
refused 3 "$models/digits/model.tflite: is quantised already: tensor 'serving_default_input:0' is i8; expected a float32 network" \
    digits -i "$models/digits/in_0.bin" -o q.onnx
refused 2 "cannot write 'none/q.onnx': No such file or directory" "$float" -i "$samples" -o none/q.onnx
head -c 256 /dev/zero >zeros.bin
npy '<f4' '(1, 4, 16, 1)' zeros.bin shape.npy
refused 2 "shape.npy: input 'serving_default_input:0' has shape (1, 4, 16, 1), expected (1, 8, 8, 1), or (N, 8, 8, 1) for N inferences" \
    "$float" -i shape.npy -o q.onnx
{ head -c 268 /dev/zero; printf '\0\0\xc0\x7f'; head -c 240 /dev/zero; } >nan.bin
refused 2 "nan.bin: input 'serving_default_input:0', sample 1, value 3: expected a finite number, found nan" "$float" -i nan.bin -o q.onnx

# ir ROW TENSORS OPS: writes a network with one input of 4 values
ir() {
    printf 'heddle-ir 1 graph name="net"\nrow 0 name="00_%s" op="%s" tensor="y" shape="1x4" macs=0\n' "$1" "$1"
    printf 'tensor 0 f32 [1,4] input name="x"\n%s\nborder in=(0) out=(1)\n' "$2"
} >net.ir
head -c 16 /dev/zero >four.bin
ir top_k 'tensor 1 f32 [1,4] value name="y"
op top_k row=0 in=(0) out=(1) axis=1'
refused 3 "net.ir: layer '00_top_k' (top_k): top_k cannot be written as ONNX by heddle" net.ir -i four.bin -o q.onnx
ir log 'tensor 1 f32 [1,4] value name="y"
op log row=0 in=(0) out=(1)'
refused 2 "layer '00_log' has values that are not finite, so no range; keep it and its readers float (--keep-float)" \
    net.ir -i four.bin -o q.onnx
ir read 'tensor 1 f32 [1,4] value name="y"
tensor 2 f32 [1,4] variable name="v"
tensor 3 f32 [1,4] value name="z"
op read_variable row=0 in=(2) out=(3)
op add row=0 in=(0,3) out=(1)'
refused 3 "net.ir: layer '00_read' keeps a state from inference to inference, which ONNX has not" net.ir -i four.bin -o q.onnx
ir leaky 'tensor 1 f32 [1,4] value name="y"
op leaky_relu row=0 in=(0) out=(1) alpha_bits=-1102263091'
quantise net.ir -i four.bin -o leaky.onnx
grep -q '  float: no quantised form$' stdout || fail "LeakyRelu of a negative slope: $(cat stdout)"
[ ! -e q.onnx ] && [ -z "$(ls ./*.tmp* 2>/dev/null)" ] || fail "a refused command wrote files: $(ls)"
finish
