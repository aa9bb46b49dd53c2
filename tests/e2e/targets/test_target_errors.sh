#!/bin/bash
# What a target.json, an attribute or a --target may not contain, in addition to test_slow_targets.sh: each message with
# its line and column, what was expected and found, and the nearest word there is.
. "$(dirname "$0")/../common.sh"
export XDG_CONFIG_HOME=$work/config
unset HEDDLE_TARGET_PATH UMA_BACKENDS
mkdir good
touch good/good.c good/good.h good/good.sv
cat >good/target.json <<'END'
{
  "heddle_target": 1,
  "name": "good",
  "version": "1.0",
  "requires_heddle": "0.1",
  "help": "to be spoilt",
  "attributes": [
    {"name": "width", "type": "int", "range": [1, 8], "default": 4, "help": "x"},
    {"name": "fast", "type": "bool", "default": true, "help": "x"},
    {"name": "mode", "type": "choice", "values": ["a", "b"], "default": "a", "help": "x"},
    {"name": "tag", "type": "string", "default": "", "help": "x"}
  ],
  "knobs": ["fast"],
  "memory": "separate",
  "transfer": {"fixed": 1},
  "headers": ["good.h"],
  "sources": ["good.c"],
  "core": {"top": "good", "verilog": ["good.sv"], "memory_bytes": 64, "counters": [{"name": "n", "port": "n_o"}]},
  "operators": [
    {"op": "add",
     "where": {"out_c": [1, 9]},
     "cost": {"fixed": 1},
     "call": "good_add($x, $x2, $y, $elements, $width, $tag)"},
    {"op": "conv2d",
     "where": {"kernel_h": {"one_of": [1, 3]}, "in_c": {"multiple_of": 2, "max": "width"}},
     "cost": {"fixed": 1},
     "call": "good_conv($x, $w, $y)"}
  ]
}
END
"$heddle" targets --target-dir=good >stdout 2>stderr || fail "good: $(cat stderr)"

# --- target.json ---
# wrong MESSAGE SED: good with a change is refused; MESSAGE follows the file's name.
wrong() {
    rm -rf wrong
    cp -r good wrong
    sed -i "$2" wrong/target.json
    cmp -s wrong/target.json good/target.json && fail "nothing changed: $2"
    expect 2 "heddle: $work/wrong/target.json:$1" "$heddle" targets --target-dir=wrong
}
# JSON and the schema
wrong "18:114: core.counters[1]: duplicate counter 'n'" 's/"port": "n_o"}/&, {"name": "n", "port": "m_o"}/'
wrong "6:14: not valid JSON: expected text, found a NUL byte" 's/"help": "to be/"help": "to\x00be/'
wrong "4:14: version: duplicate member" \
    's/"version": "1.0",/"version": "1.0", "version": "1.1",/'
wrong "4:14: version: expected string, found 1" 's/"version": "1.0",/"version": 1.0,/'
wrong "6:11: help: expected a length of at least 1, found 0" 's/"help": "to be spoilt"/"help": ""/'
wrong "6:11: help: expected string, found null" 's/"help": "to be spoilt"/"help": null/'
wrong "3:11: name: expected text like ^[a-z][a-z0-9_]*\$, found \"Good\"" \
    's/"name": "good"/"name": "Good"/'
wrong "3:11: name: expected a length of at most 32, found 39" \
    's/"name": "good"/"name": "good_good_good_good_good_good_good_good"/'
wrong "2:35: zzzzzzzz: unknown member; expected one of heddle_target, name, version, requires_heddle, help, memory, host, transfer, clock_mhz, attributes, headers, sources, libraries, include_dirs, library_dirs, native, estimator, core, blocks, memories, instructions, order, operators, composites, granularity, call, knobs" \
    's/"heddle_target": 1,/"heddle_target": 1, "zzzzzzzz": 2,/'
wrong "15:25: transfer.fixed: expected a number of at least 0, found -1" \
    's/"fixed": 1},$/"fixed": -1},/'
wrong "18:67: core.memory_bytes: expected a number of at least 64, found 63" \
    's/"memory_bytes": 64/"memory_bytes": 63/'
wrong "18:67: core.memory_bytes: expected integer, found 64.5" \
    's/"memory_bytes": 64/"memory_bytes": 64.5/'
wrong "18:11: core: member \"memory_bytes\" is missing" 's/, "memory_bytes": 64//'
wrong "18:38: core.verilog: expected a number of elements of at least 1, found 0" \
    's/\["good.sv"\]/[]/'
wrong "18:39: core.verilog[0]: file '$work/wrong/bad.sv' not found" 's/\["good.sv"\]/["bad.sv"]/'
wrong "15:15: transfer: nothing is transferred with \"memory\": \"shared\"" \
    's/"memory": "separate"/"memory": "shared"/'
wrong "2:31: host: the host has no separate memory: leave one of them out" \
    's/"heddle_target": 1,/"heddle_target": 1, "host": true,/'
wrong "5:22: requires_heddle: the target requires heddle 0.2.1, this is 0.2.0" \
    's/"requires_heddle": "0.1"/"requires_heddle": "0.2.1"/'
# attributes
wrong "8:31: attributes[0].type: expected one of \"int\", \"bool\", \"choice\", \"string\", found \"float\"" \
    's/"type": "int"/"type": "float"/'
wrong "8:47: attributes[0].range: its minimum 8 exceeds its maximum, 1" 's/\[1, 8\]/[8, 1]/'
wrong "8:51: attributes[0].range[1]: expected a number of at most 2.14748365e+09, found 1e+99" \
    's/\[1, 8\]/[1, 1e99]/'
wrong "8:47: attributes[0].range: expected a number of elements of at most 2, found 3" \
    's/\[1, 8\]/[1, 8, 9]/'
wrong "8:66: attributes[0].default: the default: found '9', expected a whole number from 1 to 8" \
    's/"default": 4/"default": 9/'
wrong "8:66: attributes[0].default: the default: found 'four', expected a whole number from 1 to 8" \
    's/"default": 4/"default": "four"/'
wrong "9:47: attributes[1].range: only an int has a range" \
    's/"type": "bool",/"type": "bool", "range": [0, 1],/'
wrong "9:49: attributes[1].default: the default: found 'maybe', expected one of false, true, 0, 1, no, yes, off, on" \
    's/"default": true/"default": "maybe"/'
wrong "10:5: attributes[2]: a choice, and nothing else, lists its words in \"values\"" \
    's/"values": \["a", "b"\], //'
wrong "11:5: attributes[3]: a choice, and nothing else, lists its words in \"values\"" \
    's/"type": "string",/"type": "string", "values": ["a"],/'
wrong "10:73: attributes[2].default: the default: found 'c', expected one of a, b" \
    's/"default": "a"/"default": "c"/'
wrong "11:50: attributes[3].default: the default: expected printable ASCII without \", \\ and ?, found '\\'" \
    's/"default": ""/"default": "\\\\"/'
wrong "11:14: attributes[3].name: duplicate attribute 'mode'" \
    's/"name": "tag"/"name": "mode"/'
wrong "11:14: attributes[3].name: 'bias' already means something in calls" \
    's/"name": "tag"/"name": "bias"/'
wrong "13:13: knobs[0]: unknown attribute 'fats'; did you mean \"fast\"?" \
    's/"knobs": \["fast"\]/"knobs": ["fats"]/'
wrong "13:13: knobs[0]: a knob is a bool, a choice or an int with a range" \
    's/"knobs": \["fast"\]/"knobs": ["tag"]/'
wrong "25:82: operators[1].where.in_c.max: a knob cannot be a limit: tuning varies it and must not change what the target supports" \
    's/"knobs": \["fast"\]/"knobs": ["width"]/'
# operators
wrong "20:12: operators[0].op: no operator 'zzzzzzzzz'; \`heddle ops\` lists them" \
    's/"op": "add"/"op": "zzzzzzzzz"/'
wrong "24:5: operators[1]: duplicate pattern 'add'; give this one another \"name\"" \
    's/"op": "conv2d"/"name": "add", "op": "conv2d"/'
wrong "21:25: operators[0].where.out_c: its minimum 9 exceeds its maximum, 1" \
    's/"out_c": \[1, 9\]/"out_c": [9, 1]/'
wrong "21:25: operators[0].where.out_c: expected a number of elements of at least 2, found 1" \
    's/"out_c": \[1, 9\]/"out_c": [1]/'
wrong "21:25: operators[0].where.out_c: expected integer or array or object, found \"width\"" \
    's/"out_c": \[1, 9\]/"out_c": "width"/'
wrong "21:28: operators[0].where.zzzzzzzz: unknown value of an operator; docs/TARGET.md lists them" \
    's/"out_c"/"zzzzzzzz"/'
wrong "25:82: operators[1].where.in_c.max: expected a number, a value or an attribute of type int, found \"widht\"; did you mean \"width\"?" \
    's/"max": "width"/"max": "widht"/'
wrong "25:82: operators[1].where.in_c.max: expected a number, a value or an attribute of type int, found \"mode\"" \
    's/"max": "width"/"max": "mode"/'
wrong "25:72: operators[1].where.in_c.multiple_of: expected at least 1, found 0" \
    's/"multiple_of": 2/"multiple_of": 0/'
wrong "25:69: operators[1].where.in_c.multiple: unknown member; did you mean \"multiple_of\"?" \
    's/"multiple_of": 2/"multiple": 2/'
wrong "25:43: operators[1].where.kernel_h.one_of[1]: expected integer, found \"width\"" \
    's/\[1, 3\]/[1, "width"]/'
wrong "25:39: operators[1].where.kernel_h.one_of: expected a number of elements of at least 1, found 0" \
    's/\[1, 3\]/[]/'
wrong "23:14: operators[0].call: '\$element' is not a pointer, value or attribute; did you mean '\$elements'?" \
    's/\$elements/$element/'
wrong "27:14: operators[1].call: expected one C call that ends with its ')', found 'good_conv'" \
    's/good_conv(\$x, \$w, \$y)/good_conv/'
wrong "27:14: operators[1].call: expected one C call that ends with its ')', found 'good_conv(\$x, \$w, \$y'" \
    's/good_conv(\$x, \$w, \$y)/good_conv($x, $w, $y/'
wrong "27:14: operators[1].call: expected one C call, found ') + (2)' in it" \
    's/good_conv(\$x, \$w, \$y)/f(), good_conv($x)) + (2)/'
wrong "24:5: operators[1]: member \"call\" is missing; without it only conv2d and fully_connected of a target with \"blocks\" or \"instructions\", and add, average_pool_2d and depthwise_conv2d of one with \"instructions\"" \
    's/"call": "good_conv(.*"/"weights": "ohwi"/'
wrong "24:30: operators[1].bias: expected one of \"optional\", \"required\", \"none\", found \"maybe\"" \
    's/"op": "conv2d",/"op": "conv2d", "bias": "maybe",/'
wrong "24:37: operators[1].activation[0]: expected one of \"none\", \"relu\", \"relu6\", \"relu_n1_to_1\", found \"gelu\"" \
    's/"op": "conv2d",/"op": "conv2d", "activation": ["gelu"],/'
wrong "24:36: operators[1].requantise: member \"kind\" is missing" \
    's/"op": "conv2d",/"op": "conv2d", "requantise": {"rounding": "single"},/'
wrong "24:45: operators[1].requantise.kind: expected one of \"multiplier_shift\", \"shift_bits\", \"float\", found \"shift\"" \
    's/"op": "conv2d",/"op": "conv2d", "requantise": {"kind": "shift"},/'
wrong "24:66: operators[1].requantise.rounding: expected one of \"double\", \"single\", found \"once\"" \
    's/"op": "conv2d",/"op": "conv2d", "requantise": {"kind": "float", "rounding": "once"},/'
wrong "24:64: operators[1].requantise.scales: expected one of \"per_tensor\", \"per_channel\", found \"per_axis\"" \
    's/"op": "conv2d",/"op": "conv2d", "requantise": {"kind": "float", "scales": "per_axis"},/'
wrong "24:33: operators[1].weights: expected one of \"ohwi\", \"hwio\", found \"oihw\"" \
    's/"op": "conv2d",/"op": "conv2d", "weights": "oihw",/'

# memory of the call, folders
wrong "24:33: operators[1].scratch: 'outc' is not a value or an attribute of type int; did you mean 'out_c'?" \
    's/"op": "conv2d",/"op": "conv2d", "scratch": "4 * outc",/'
wrong "24:33: operators[1].scratch: 'mode' is not a value or an attribute of type int" \
    's/"op": "conv2d",/"op": "conv2d", "scratch": "4 * mode",/'
wrong "24:33: operators[1].scratch: expected a number, a name or '(', found the end" \
    's/"op": "conv2d",/"op": "conv2d", "scratch": "4 *",/'
wrong "24:33: operators[1].scratch: expected ')', found the end" \
    's/"op": "conv2d",/"op": "conv2d", "scratch": "(4 * (width + 1)",/'
wrong "24:33: operators[1].scratch: expected +, -, * or /, found '% 2'" \
    's/"op": "conv2d",/"op": "conv2d", "scratch": "4 % 2",/'
wrong "24:33: operators[1].scratch: expected a number of at least 0, found -4" \
    's/"op": "conv2d",/"op": "conv2d", "scratch": -4,/'
wrong "27:14: operators[1].call: \$scratch needs \"scratch\", the number of its bytes" \
    's/good_conv(\$x,/good_conv($scratch, $x,/'
wrong "16:20: include_dirs[0]: expected text like ^(/|[\$][A-Za-z_])[A-Za-z0-9_./\$+-]*\$, found \"lib\"" \
    's/"headers"/"include_dirs": ["lib"], "headers"/'

# --- attributes on the command line and in JSON ---
# refused MESSAGE OPTION...
refused() {
    local message=$1
    shift
    expect 2 "heddle: $message" "$heddle" inspect digits --target-dir=good "$@"
}
refused "--target-good-width: found 'nine', expected a whole number from 1 to 8" \
    --target=good --target-good-width=nine
refused "--target-good-width: found '', expected a whole number from 1 to 8" \
    --target=good --target-good-width=
refused "--target-good-width: found '99999999999999999999', expected a whole number from 1 to 8" \
    --target=good --target-good-width=99999999999999999999
refused "--target-good-fast: found 'maybe', expected one of false, true, 0, 1, no, yes, off, on" \
    --target=good --target-good-fast=maybe
refused "--target-good-mode: found 'c', expected one of a, b" --target=good --target-good-mode=c
refused "--target-good-tag: expected printable ASCII without \", \\ and ?, found 'a\"b'" \
    --target=good '--target-good-tag=a"b'
refused "unknown option '--target-good-widht'; did you mean --target-good-width?" \
    --target=good --target-good-widht=3
refused "--target-good-width: expected a value" --target=good --target-good-width
refused "--target: found 'good:G', expected lower-case letters, digits and _ after the ':'" \
    --target=good:G
refused "--target: found 'good:', expected lower-case letters, digits and _ after the ':'" \
    --target=good:
refused "unknown option '--target-c-width'; did you mean --target-a-width?" \
    --target=good:a,good:b --target-c-width=3
refused "--target-systolic-hw: systolic is not selected; name it in --target" \
    --target=good --target-systolic-hw=tiny
refused "--target: no target 'a'; did you mean 'c'?; there are: systolic, c, good, cmsis_nn, dot16, dot4, ethos_u, fused, jacquard, loom, matvec, onednn, shifty, shuttle, strawberry, tape, vanilla, xnnpack" \
    --target=a,b,c
refused "--target:1:27: width: its value: found '9', expected a whole number from 1 to 8" \
    '--target={"kind": "good", "width": 9}'
refused "--target:1:27: width: expected a string, a number, true or false" \
    '--target={"kind": "good", "width": [9]}'
refused "--target:1:26: name: expected lower-case letters, digits and _" \
    '--target={"kind": "good", "name": "G"}'
refused "--target:1:26: name: expected lower-case letters, digits and _" \
    '--target={"kind": "good", "name": 4}'
refused "--target: no target 'goood'; did you mean 'good'?; there are: systolic, c, good, cmsis_nn, dot16, dot4, ethos_u, fused, jacquard, loom, matvec, onednn, shifty, shuttle, strawberry, tape, vanilla, xnnpack" \
    '--target={"kind": "goood"}'
refused "--target:1:24: width: c has no attribute 'width'" '--target={"kind": "c", "width": 4}'
refused "--target-c-mcpu=cortex-m4 and --target-c-march=rv32im: a package is for one processor" \
    --target-c-mcpu=cortex-m4 --target-c-march=rv32im
refused "--target:1:10: [1]: expected {\"kind\": \"NAME\", \"ATTRIBUTE\": VALUE, ...}" \
    '--target=["good", 4]'
refused "--target:1:8: not valid JSON: the text ends too early" '--target=["good"'
refused "--target: at most 7 targets in addition to c" \
    --target=good:a,good:b,good:d,good:e,good:f,good:g,good:h,good:i
refused "--offload: no operator '13_fully_conected' that computes anything; did you mean '13_fully_connected'?" \
    --target=good --offload=13_fully_conected
refused "--offload: 13_fully_connected cannot go to an accelerator: good: no pattern for fully_connected" \
    --target=good --offload=13_fully_connected
refused "--offload: 13_fully_connected cannot go to goood: it is not selected (--target)" \
    --target=good --offload=13_fully_connected=goood
refused "--keep-on-host: no operator 'zzzzzzzzz' that computes anything; heddle inspect lists them" \
    --target=good --keep-on-host=zzzzzzzzz
refused "01_conv2d is named by --offload and by --keep-on-host" \
    --target=systolic --keep-on-host=01_conv2d --offload=01_conv2d
refused "--partition: found 'best', expected cost or priority" --partition=best
refused "--target-dir: expected a value" --target-dir
# One option, two meanings.
mkdir twins
cp -r good twins/a
cp -r good twins/a_b
sed -i 's/"name": "good"/"name": "a"/; s/"name": "width"/"name": "b_c"/; s/"width"/"b_c"/; s/\$width/$b_c/' twins/a/target.json
sed -i 's/"name": "good"/"name": "a_b"/; s/"name": "width"/"name": "c"/; s/"width"/"c"/; s/\$width/$c/' twins/a_b/target.json
expect 2 "heddle: --target-a-b-c: 'b_c' of a, or 'c' of a_b? Name an instance: --target=a:NAME" \
    "$heddle" inspect digits --target-dir=twins --target=a --target-a-b-c=3
expect 0 "" "$heddle" inspect digits --target-dir=twins --target=a_b:v --target-v-c=3
# Folders of the environment that cannot be read are reported by `heddle targets` and by runs that select them.
sed 's/"help"/"hlep"/; s/"name": "good"/"name": "spoilt"/' -i wrong/target.json
cp -r good spoilt
sed -i 's/"help"/"hlep"/' spoilt/target.json
export HEDDLE_TARGET_PATH=$work/spoilt
"$heddle" inspect digits >/dev/null 2>stderr || fail "a spoilt target stops others: $(cat stderr)"
expect 2 "heddle: --target: 'spoilt' cannot be used: $work/spoilt/target.json:6:11: hlep: unknown member; did you mean \"help\"?" \
    "$heddle" inspect digits --target=spoilt
"$heddle" targets >stdout
grep -q "spoilt.*hlep: unknown member" <(tr '\n' ' ' <stdout) || fail "targets does not name it: $(cat stdout)"
# No folder can take a built-in name; the first folder found takes any other name.
mkdir -p first second third
for folder in first second; do cp -r good $folder/twice; sed -i 's/"name": "good"/"name": "twice"/' $folder/twice/target.json; done
cp -r good third/systolic
sed -i 's/"name": "good"/"name": "systolic"/' third/systolic/target.json
export HEDDLE_TARGET_PATH=$work/first:$work/second:$work/third
"$heddle" targets >stdout
grep -q "^systolic   cannot be used: $work/third/systolic/target.json: the name 'systolic' is taken: built in$" stdout ||
    fail "a built-in name: $(grep systolic stdout)"
[ "$(grep -c 'origin: .*/twice$' stdout)" = 1 ] && grep -q "origin: $work/first/twice" stdout ||
    fail "one name twice: $(grep origin stdout)"
expect 0 "" "$heddle" inspect digits --target=systolic
finish
