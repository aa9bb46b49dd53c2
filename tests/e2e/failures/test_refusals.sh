#!/bin/bash
# Exit codes (../../README.md, "Exit codes") and messages for users' errors: one paragraph, the right code, no file
# left.
. "$(dirname "$0")/../common.sh"

digits=$models/digits
run() { local code=$1 message=$2; shift 2; expect "$code" "heddle: $message" "$heddle" run "$@"; }

# --- the command line ---
expect 2 "heddle: no command; expected: heddle run MODEL, or another of heddle --help" "$heddle"
expect 2 "heddle: no model; expected: heddle run MODEL" "$heddle" run
run 2 "--engine: found 'fast', expected ref, func, rtl or qemu" digits --engine=fast
run 2 "--mem-latency: found '-3', expected a whole number from 0 to 100000" digits --mem-latency=-3
run 2 "--target: no target 'qqq'; there are: systolic, c, cmsis_nn, dot16, dot4, ethos_u, fused, jacquard, loom, matvec, onednn, shifty, shuttle, strawberry, tape, vanilla, xnnpack" digits --target=qqq
run 2 "--waves needs --engine=rtl: nothing else has signals" digits --engine=func --waves=first
run 2 "--bus-fault needs --engine=rtl: nothing else has a bus" digits --engine=func --bus-fault=read-late
"$heddle" run digits --frobnicate >/dev/null 2>stderr
[ $? = 2 ] || fail "an unknown option does not end with 2"
grep -q -- "--frobnicate" stderr || fail "an unknown option is not named"

# --- options that a command would ignore ---
refused() { local message=$1; shift; expect 2 "heddle: $message" "$heddle" "$@"; }
refused "command: found 'runn'; did you mean run?" runn digits
refused "command: found 'fly', expected run, compile, inspect, build, targets, ops, disasm, report, bench, \
new-target, check-target, tune, regress, sweep, explore, hw, quantise, adopt, prove, grade-target, diff, completion, man or help" fly
refused "--waves: heddle inspect does not use it; run, build and bench do" inspect digits --waves=first
refused "--labels: heddle inspect does not use it; run and bench do" inspect digits --labels=none
refused "--trials: heddle inspect does not use it; tune does" inspect digits --trials=5
refused "--stats: heddle compile does not use it; run and bench do" compile digits -o net --stats=q.json
refused "--stats: heddle run --prog does not use it; run and bench do" run --prog=x.c --stats=q.json
refused "--prog replaces the model; found --prog and model 'digits'" run digits --prog=x.c
# A bias whose scale differs from its products': the format allows it, so only a note is printed.
odd=$HEDDLE_HOME/tests/compiler/import/bias_scale.tflite
for command in inspect "run --engine=func"; do
    # shellcheck disable=SC2086
    "$heddle" $command "$odd" >stdout 2>stderr || fail "$command of an odd bias: $(cat stderr)"
    grep -qx 'heddle: note: 1 bias does not have the scale of the input times that of the weights; the first, of 00_conv2d, has '\
'0.5 instead of 0.00199999999, which is what results take it to be' stderr || fail "$command: no note of a bias: $(cat stderr)"
done
"$heddle" inspect "$HEDDLE_HOME/tests/compiler/import/bias_scale.onnx" >stdout 2>stderr || fail "an odd bias of ONNX: $(cat stderr)"
grep -qx 'heddle: note: 1 bias does not have the scale of the input times that of the weights; the first, of 00_conv2d, has '\
'0.125 instead of 0.0625, and its values are rounded to multiples of the latter' stderr || fail "no note of a bias of ONNX: $(cat stderr)"
# Keras' files, by their names or by what they begin with.
keras='a Keras network, which TensorFlow converts (docs/KERAS.md): '$(sed -n 's/^    \(python3 -c "import sys, tensorflow.*"\) net\.keras net\.tflite$/\1/p' \
    "$HEDDLE_HOME/docs/KERAS.md")
printf 'PK\3\4' | tee net.keras >"my net.h5"
printf '\x89HDF\r\n\x1a\n' >model.tflite
for command in run inspect disasm "compile -o out"; do
    # shellcheck disable=SC2086
    expect 3 "heddle: net.keras: $keras net.keras net.tflite" "$heddle" $command net.keras
done
expect 3 "heddle: my net.h5: $keras 'my net.h5' net.tflite" "$heddle" run "my net.h5"
expect 3 "heddle: model.tflite: $keras model.tflite net.tflite" "$heddle" run model.tflite
expect 3 "heddle: net.keras: $keras net.keras net.tflite" "$heddle" quantise net.keras -i model.tflite -o net.onnx
expect 3 "heddle: net.keras: $keras net.keras net.tflite" "$heddle" tune net.keras --tuned=t.json
# Files of other frameworks, by their names or by what they begin with.
foreign() # FILE BEGIN COMMAND: FILE, which begins with BEGIN, is refused and a line ends in COMMAND
{
    # shellcheck disable=SC2059
    printf "$2" >"$1"
    "$heddle" run "$1" >stdout 2>stderr
    [ $? = 3 ] && [ "$(wc -l <stderr)" = 1 ] && grep -qF -- ": $3" stderr || fail "$1: $(cat stderr)"
    rm "$1"
}
torch='python3 -c "import sys, torch; m = torch.load(sys.argv[1], weights_only=False); torch.onnx.export(m.eval(), (torch.zeros(1, 3, 224, 224),), sys.argv[2], external_data=False)"'
program='python3 -c "import sys, torch; torch.onnx.export(torch.export.load(sys.argv[1]), (), sys.argv[2], dynamo=True, external_data=False)"'
folder='optimum-cli export onnx --model "$(dirname'
for file in "net.pt PK" "my.pth PK" "bin PK\\3\\4__________________________archive/data.pkl"; do
    foreign "${file% *}" "${file#* }" "$torch ${file% *} net.onnx"
done
foreign net.pt2 PK "$program net.pt2 net.onnx"
foreign net.pte x "$program net.pt2 net.onnx"
foreign net.bin 'xxxxET12' "$program net.pt2 net.onnx"
foreign net.mlir 'module {' "flatbuffer_translate --mlir-to-tflite-flatbuffer net.mlir -o net.tflite"
foreign net.bin 'ML\xefR' "flatbuffer_translate --mlir-to-tflite-flatbuffer net.bin -o net.tflite"
foreign net.pb x "python3 -m tf2onnx.convert --graphdef net.pb --inputs x:0 --outputs y:0 --output net.onnx"
foreign net.safetensors x "$folder net.safetensors )\" net"
foreign net.bin 'xxxxxxxx{"' "$folder net.bin )\" net"
refused "--format: heddle inspect has no csv, expected text, json, dot, svg, model-explorer or onnx" inspect digits --format=csv
refused "--output: heddle inspect writes files with --format=model-explorer or onnx alone" inspect digits -o x
refused "--format: heddle ops has no json, expected text or md" ops --format=json
refused "--format: heddle run has no svg, expected text, csv or json" run digits --format=svg
refused "--format: heddle report has no dot, expected text, csv or json" report q.json --format=dot
refused "$digits/model.tflite: --input-shapes: no input 'x'; expected one of: 'serving_default_input:0'" inspect digits \
    --input-shapes="x:[1]"
echo "heddle-ir 1" >net.ir
refused "net.ir: --input-shapes is for .onnx and .tflite files: the shapes of others are fixed" inspect net.ir \
    --input-shapes="x:[1]"
rm net.ir
[ -z "$(ls -A)" ] || [ ! -e q.json -a ! -e net ] || fail "a refused command wrote files"
rm -f stdout stderr

# --- files ---
run 2 "cannot read 'none.tflite': No such file or directory" none.tflite --engine=ref
run 2 "'none' is neither a file nor a network of tests/models; expected a .tflite, .onnx, .tosa, .gguf or .ir file" \
    none --engine=ref
run 2 "'digit' is neither a file nor a network of tests/models; did you mean digits?" digit
run 2 "cannot read 'none.bin': No such file or directory" digits --engine=ref -i none.bin
mkdir folder.tflite
run 2 "cannot read 'folder.tflite': not a regular file" folder.tflite --engine=ref
head -c 100 "$digits/in_0.bin" >short.bin
run 2 "short.bin: input has 100 bytes, expected a multiple of 64 (one inference)" digits \
    --engine=ref -i short.bin
run 2 "-i: found 2 files, expected at most 1 (the model's inputs)" digits --engine=ref -i short.bin -i short.bin
head -c 64 "$digits/in_0.bin" >one.bin
npy '|u1' '(1, 8, 8, 1)' one.bin wrong_type.npy
run 2 "wrong_type.npy: input has type u1, expected i1 (i8)" digits --engine=ref -i wrong_type.npy
npy '|i1' '(1, 8, 8, 1)' one.bin cut.npy
truncate -s 150 cut.npy
"$heddle" run digits --engine=ref -i cut.npy >/dev/null 2>stderr
[ $? = 2 ] || fail "a truncated .npy does not end with 2"

# --- models ---
echo "hello, world" >text.tflite
run 3 "text.tflite: not a TFLite file: expected the identifier 'TFL3' at byte 4 (13 bytes read)" \
    text.tflite --engine=ref
: >empty.tflite
run 3 "empty.tflite: the file is empty: expected a TFLite model" empty.tflite --engine=ref
size=$(stat -c %s "$digits/model.tflite")
for i in $(seq 1 15); do
    n=$((size * i / 16))
    head -c $n "$digits/model.tflite" >cut.tflite
    run 3 "cut.tflite: damaged or truncated TFLite file: its tables exceed its $n bytes" \
        cut.tflite --engine=ref
done

# --- configurations ---
run 2 "no hardware configuration 'sys17': expected one of tiny, sys8, sys16, sys32, or a JSON file" \
    digits --engine=ref --hw=sys17
printf '{\n  "name": "x",\n  "n": 4,\n' >cut.json
run 2 "cut.json:4:1: not valid JSON: the text ends too early" digits --engine=ref --hw=cut.json
printf '{\n  "name": "x",\n  "n": four }\n' >word.json
run 2 "word.json:3:8: not valid JSON: expected a value, ',' or a closing bracket, found 'four }?'" \
    digits --engine=ref --hw=word.json
printf '{"name": "x", "n": 6, "scratchpad_bytes": 8192, "banks": 8, "ports": 1,
 "weight_bytes": 2048, "acc_depth": 64, "param_entries": 32, "axi_bytes": 8,
 "axi_addr_bits": 40, "read_bursts": 4}' >six.json
run 2 "six.json: \"n\": expected 4, 8, 16 or 32, found 6: byte addresses are a word and a lane of n, split as bits; for an array of 6, state a larger n, and \"rows\" and \"columns\"" digits --engine=ref --hw=six.json

# --- the expected answer ---
head -c "$(stat -c %s "$digits/out_0.bin")" /dev/zero >zeros.bin
for engine in ref func; do
    "$heddle" run digits --engine=$engine --expect zeros.bin -o out_$engine >stdout 2>stderr
    [ $? = 1 ] || fail "a wrong answer on $engine does not end with 1"
    grep -q "^heddle: 3.. of 360 inferences differ from the expected outputs" stderr ||
        fail "$engine: $(cat stderr)"
    cmp -s out_$engine/out_0.bin "$digits/out_0.bin" || fail "outputs of a wrong run are not written"
done
head -c 10 zeros.bin >ten.bin
run 2 "ten.bin: found 1 inferences, expected 360 as in the inputs" digits --engine=ref --expect ten.bin

# --- writing ---
run 5 "cannot write '/dev/full': No space left on device" digits --engine=ref --stats /dev/full
"$heddle" run digits --engine=ref >/dev/full 2>stderr
[ $? = 5 ] || fail "a full disk below stdout does not end with 5"
run 2 "cannot write 'none/stats.json': No such file or directory" digits --engine=ref \
    --stats none/stats.json
run 2 "cannot make directory 'text.tflite': Not a directory" digits --engine=ref -o text.tflite
run 2 "cannot make directory 'text.tflite': Not a directory" digits --engine=ref -o text.tflite/x
expect 2 "heddle: compile: no place for the package; expected -o DIR or -o NAME.tar" "$heddle" compile digits
mkdir locked
exec 9<locked
flock 9
expect 2 "heddle: -o: another heddle is writing into 'locked'; wait for it to end, or name another folder" \
    "$heddle" run digits --engine=ref -o locked
flock -u 9
"$heddle" run digits --engine=ref -o locked >/dev/null 2>stderr || fail "no longer locked: $(cat stderr)"
run 2 "cannot read 'none.bin': No such file or directory" digits --engine=ref -i none.bin -o unmade
rm -rf locked
[ ! -e unmade ] || fail "a refused run left its folder"
mkdir read_only
chmod 555 read_only
as_user=()
[ "$(id -u)" = 0 ] && as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
chmod 755 "$work"
if "${as_user[@]}" test -x "$heddle" -a -r "$HEDDLE_HOME/hw/accel.json"; then
    expect 2 "heddle: cannot make directory 'read_only/out': Permission denied" \
        "${as_user[@]}" "$heddle" run digits --engine=ref -o read_only/out
    expect 2 "heddle: cannot write 'read_only/stats.json': Permission denied" \
        "${as_user[@]}" "$heddle" run digits --engine=ref --stats read_only/stats.json
fi
left=$(find . -name '*tmp*' -o -name '*.part' -o -name 'stats.json*' ! -path './out_*' | head -3)
[ -z "$left" ] || fail "files left: $left"
[ -z "$(ls -A read_only)" ] || fail "files in a read-only folder"
finish
