#!/bin/bash
# trace.json of runs on the RTL is consistent and agrees with the counters: one submission and several, groups, stalls,
# two accelerators, operators of the host, names that are special to JSON and HTML.
. "$(dirname "$0")/../../e2e/common.sh"
check=$HEDDLE_HOME/tests/app/report/trace_check.py

traced() { # traced FOLDER MODEL [OPTION...]: run and check
    local out=out.$1
    shift
    "$heddle" run "$@" -n 1 -o "$out" >stdout 2>stderr || fail "$*: $(cat stderr)"
    python3 "$check" "$out" >stdout 2>&1 || fail "$*: $(tail -3 stdout)"
}

for m in digits resnet8_own dscnn_own vit_own; do
    traced "$m" "$models/$m/model.tflite"
done
for m in digits vit_own; do
    traced "$m.tiny" "$models/$m/model.tflite" --hw=tiny
done
traced stalls "$models/dscnn_own/model.tflite" --stall-seed=7
traced slow "$models/digits/model.tflite" --hw=tiny --mem-bytes=3 --mem-latency=1
traced host "$models/dscnn_own/model.tflite" '--keep-on-host=0[35]*'
traced islands "$models/islands.onnx" --hw=tiny
traced two "$models/digits/model.tflite" --target=systolic:a,systolic:b --target-a-hw=tiny --target-b-hw=tiny \
    '--offload=0[0-4]*=a'
sed 's/^graph name="accounts"/graph name="<\/script>\\"x"/' "$HEDDLE_HOME/tests/e2e/numbers/accounts.ir" >names.ir
traced names names.ir --hw=tiny
grep -q '<' out.names/trace.json && fail "trace.json has a '<' that is not escaped"
grep -q 'u003c/script>' out.names/trace.json || fail "model name not found: $(head -c 300 out.names/trace.json)"

# the same run gives the same bytes, also with separate processes for the other inferences
traced digits.again "$models/digits/model.tflite"
same out.digits/trace.json out.digits.again/trace.json "two runs"
"$heddle" run digits -j2 -o digits.j2 >stdout 2>stderr || fail "$(cat stderr)"
"$heddle" run digits -o digits.j1 >stdout 2>stderr || fail "$(cat stderr)"
same digits.j1/trace.json digits.j2/trace.json "-j2"

# omitted on request, and if nothing has cycles
"$heddle" run digits --no-report -o without >stdout 2>stderr || fail "$(cat stderr)"
"$heddle" run digits --engine=func -o func >stdout 2>stderr || fail "$(cat stderr)"
[ -e without/stats.json ] && [ ! -e without/trace.json ] || fail "--no-report: $(ls without)"
[ -e func/stats.json ] && [ ! -e func/trace.json ] || fail "--engine=func: $(ls func)"

# the commands of a package have no names
export CC="$HEDDLE_HOME/tests/e2e/o0 ${CC:-cc}" # it runs once
"$heddle" compile digits -o digits.tar >stdout 2>stderr || fail "$(cat stderr)"
"$heddle" run digits.tar --allow-native-targets -o package >stdout 2>stderr || fail "package: $(cat stderr)"
[ -e package/out_0.bin ] && [ ! -e package/trace.json ] || fail "package: $(ls package)"
finish
