#!/bin/bash
# External targets: how they are found, what their options and target.json may state, that only
# those named take part, that nothing of theirs is executed without leave, and that the answer is the
# same wherever an operator goes.
. "$(dirname "$0")/../common.sh"

export XDG_CACHE_HOME=$work/cache XDG_CONFIG_HOME=$work/config
unset HEDDLE_TARGET_PATH UMA_BACKENDS
vanilla=$HEDDLE_HOME/targets/vanilla

# copy NAME: the example under another name, outside heddle's own folder.
copy() {
    mkdir -p "${2:-.}"
    cp -r "$vanilla" "${2:-.}/$1"
    sed -i "s/\"name\": \"vanilla\"/\"name\": \"$1\"/" "${2:-.}/$1/target.json"
}

# --- the answer ---
for list in vanilla vanilla,systolic systolic,vanilla vanilla,c; do
    "$heddle" run digits --engine=func --target=$list --partition=priority -o "$list" \
        >stdout 2>stderr || fail "--target=$list: $(cat stderr)"
    cmp -s "$list/out_0.bin" "$models/digits/out_0.bin" || fail "--target=$list: another answer"
done
grep -q '^01_conv2d .* vanilla ' vanilla,systolic/report.txt || fail "vanilla did not take part"
grep -q '^02_depthwise.* systolic ' vanilla,systolic/report.txt || fail "systolic did not take part"
grep -q '^[0-9a-z_]* *[0-9x]* *vanilla ' systolic,vanilla/report.txt && fail "vanilla comes before systolic"
grep -q vanilla_conv2d vanilla/emitted/model.c || fail "no call of vanilla_conv2d"
[ -f vanilla/emitted/vanilla/vanilla.c ] || fail "vanilla's source is not next to the emitted C"

# --- what is listed ---
"$heddle" ops >stdout
for op in clip logistic rsqrt hard_swish; do
    grep -q "^$op .* becomes lut$" stdout || fail "ops: $(grep "^$op " stdout)"
done
for word in DEPTHWISE_CONV_2D CALL_ONCE QLinearConv com.microsoft.QLinearAdd GlobalAveragePool; do
    sed '1,/^$/d' stdout | grep -qw -- "$word" || fail "ops does not name $word"
done
"$heddle" ops --format=md >stdout
grep -qx '| conv2d | x | x | x |  |  |  | x | array | conv2d | TFLite |' stdout || fail "ops: $(grep conv2d stdout)"
for format in TFLite ONNX; do
    sed -n "s/^$format, \([0-9]*\) operators: //p" stdout >names
    [ "$(wc -w <names)" = "$(sed -n "s/^$format, \([0-9]*\) operators.*/\1/p" stdout)" ] ||
        [ "$format" = TFLite ] || fail "ops: another number of names of $format"
    [ "$(wc -w <names)" -ge 110 ] || fail "ops: $(wc -w <names) names of $format"
done
"$heddle" targets >stdout
grep -A 5 '^vanilla  *1.0.0  *an example' stdout | tr -s ' \n' ' ' | grep -q \
    "origin: $vanilla topping choice none|fudge|sprinkles, .* max_kernel int 1 to 16, .* operators: conv2d" ||
    fail "targets: $(grep -A 5 ^vanilla stdout)"
grep -A 4 '^onednn ' stdout | grep -q '^    of float32: conv2d fully_connected$' || fail "float32 operators"

# --- only those named take part ---
"$heddle" inspect digits >stdout 2>&1
grep -q vanilla stdout && fail "vanilla is used without being named"
"$heddle" inspect digits --target=vanilla >stdout 2>&1
grep -q systolic stdout && fail "systolic is used without being named"
"$heddle" inspect digits --target=systolic --target=vanilla >stdout
grep -q '^01_conv2d .* systolic  *systolic [0-9]*, vanilla [0-9]*, c [0-9]*$' stdout ||
    fail "inspect does not show the candidates: $(grep 01_conv stdout)"
grep -q '; vanilla: no pattern for softmax' stdout || fail "inspect does not show the rule"
# The softmax that ends a network: on the accelerator, where it takes fewer cycles, however few the host's are in the whole.
"$heddle" inspect resnet8_own --hw=sys8 >stdout || fail "inspect"
grep -qE '^14_softmax +SOFTMAX +systolic ' stdout || fail "the last softmax runs on the host: $(cat stdout)"
"$heddle" inspect digits --target=systolic,vanilla --offload='05*=vanilla' --keep-on-host=06_conv2d \
    >stdout
grep -q '^05_conv2d .* vanilla ' stdout || fail "--offload=05*=vanilla"
grep -q '^06_conv2d .* c .*(--keep-on-host)' stdout || fail "--keep-on-host=06_conv2d"
"$heddle" inspect digits --target=systolic,vanilla --offload='05*=vanilla' --format=dot >dot
grep -q 'style=dashed' dot || fail "no crossing in the dot file"
[ "$(grep -c '^  o[0-9]* \[' dot)" = 14 ] || fail "dot: $(grep -c '^  o[0-9]* \[' dot) boxes"
"$heddle" inspect digits --format=svg >svg
[ "$(grep -c '<rect' svg)" = 14 ] || fail "svg: $(grep -c '<rect' svg) boxes"
python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' svg 2>/dev/null ||
    ! command -v python3 >/dev/null || fail "the svg is not XML"

# --- options of targets ---
expect 2 "heddle: --target-vanilla-max-kernel: found '17', expected a whole number from 1 to 16" \
    "$heddle" inspect digits --target=vanilla --target-vanilla-max-kernel=17
expect 2 "heddle: --target-vanilla-topping: found 'jam', expected one of none, fudge, sprinkles" \
    "$heddle" inspect digits --target=vanilla --target-vanilla-topping=jam
expect 2 "heddle: --target-vanilla-topping: vanilla is not selected; name it in --target" \
    "$heddle" inspect digits --target-vanilla-topping=fudge
expect 2 "heddle: unknown option '--target-vanilla-toping'; did you mean --target-vanilla-topping?" \
    "$heddle" inspect digits --target=vanilla --target-vanilla-toping=fudge
expect 2 "heddle: --seed: expected a value" "$heddle" inspect digits --seed
expect 2 "heddle: --target: no target 'vanila'; did you mean 'vanilla'?; there are: systolic, c, cmsis_nn, dot16, dot4, ethos_u, fused, jacquard, loom, matvec, onednn, shifty, shuttle, strawberry, tape, vanilla, xnnpack" \
    "$heddle" inspect digits --target=vanila
expect 2 "heddle: --target: a name is missing or too long; expected a list like systolic,c" \
    "$heddle" inspect digits --target=systolic,
expect 2 "heddle: --target: two targets are called 'v'" \
    "$heddle" inspect digits --target=vanilla:v,systolic:v
expect 2 "heddle: --target:1:10: not valid JSON: expected a value, ',' or a closing bracket, found 'van}'" \
    "$heddle" inspect digits --target='{"kind": van}'
expect 2 "heddle: --target:1:1: expected {\"kind\": \"NAME\", \"ATTRIBUTE\": VALUE, ...}" \
    "$heddle" inspect digits --target='{"topping": "fudge"}'
expect 2 "heddle: --target:1:31: toping: vanilla has no attribute 'toping'; did you mean 'topping'?" \
    "$heddle" inspect digits --target='{"kind": "vanilla", "toping": "fudge"}'
"$heddle" inspect --help >help
grep -q -- '--target-vanilla-topping=VALUE' help || fail "--help does not list attributes"
"$heddle" completion words --target-dir="$vanilla" -- >words
for word in --target-vanilla-topping= --seed=; do
    grep -qx -- "$word" words || fail "completion lacks $word"
done
(eval "$("$heddle" completion)"
COMP_WORDS=("$heddle" inspect --target-vanilla-t) COMP_CWORD=2
_heddle
[ "${COMPREPLY[*]}" = --target-vanilla-topping= ] || exit 1
COMP_WORDS=("$heddle" check) COMP_CWORD=1
_heddle
[ "${COMPREPLY[*]}" = check-target ] || exit 1
COMP_WORDS=("$heddle" run my) COMP_CWORD=2
_heddle
[ "${COMPREPLY[*]}" = "" ] || exit 1
COMP_WORDS=("$heddle" run digits --engine =) COMP_CWORD=4
_heddle
[ "${COMPREPLY[*]}" = "ref func rtl qemu" ] || exit 1
COMP_WORDS=("$heddle" inspect --target-vanilla-topping = f) COMP_CWORD=4
_heddle
[ "${COMPREPLY[*]}" = fudge ]) || fail "completion in bash"
# A kernel limit by attribute, two instances with their own, and the same as JSON.
for list in "vanilla:small,vanilla:large --target-small-max-kernel=1" \
    '[{"kind":"vanilla","name":"small","max_kernel":1},"vanilla:large"]'; do
    # shellcheck disable=SC2086
    "$heddle" inspect digits --partition=priority --target=$list >stdout 2>stderr ||
        fail "$list: $(cat stderr)"
    grep -q '^03_conv2d .* small ' stdout || fail "03_conv2d is not on small: $list"
    grep -q '^01_conv2d .* large .*; small: kernel_h is 3, expected 1' stdout ||
        fail "01_conv2d is not on large: $list"
done

# --- finding them ---
copy nut dirs
expect 2 "heddle: --target-dir: found no target.json in '$work/cache' nor in a folder of it" \
    "$heddle" targets --target-dir="$work/cache"
for how in --target-dir=dirs --target-dir=dirs/nut --uma-backends=dirs; do
    "$heddle" targets $how >stdout 2>stderr || fail "$how: $(cat stderr)"
    grep -q "origin: $work/dirs/nut" stdout || fail "$how does not find nut"
done
"$heddle" targets --experimental-tvm-extension dirs >stdout 2>stderr || fail "$(cat stderr)"
grep -q "^heddle: --experimental-tvm-extension may change" stderr || fail "no notice"
for variable in HEDDLE_TARGET_PATH UMA_BACKENDS; do
    env $variable="$work/none:$work/dirs" "$heddle" targets >stdout
    grep -q "origin: $work/dirs/nut" stdout || fail "$variable does not find nut"
done
copy nut other
HEDDLE_TARGET_PATH=$work/dirs "$heddle" targets --target-dir=other >stdout
grep -q "origin: $work/other/nut" stdout || fail "the command line does not win"
expect 2 "heddle: $work/other/nut/target.json: the name 'nut' is taken: $work/dirs/nut" \
    "$heddle" targets --target-dir=dirs --target-dir=other
copy systolic bad
expect 2 "heddle: $work/bad/systolic/target.json: the name 'systolic' is taken: built in" \
    "$heddle" targets --target-dir=bad

# --- trust ---
"$heddle" inspect digits --target-dir=dirs --target=nut >/dev/null 2>stderr || fail "$(cat stderr)"
"$heddle" compile digits --target-dir=dirs --target=nut -o emitted 2>stderr || fail "$(cat stderr)"
[ -f emitted/nut/vanilla.c ] || fail "compile does not copy the sources"
for i in 1 2; do
    "$heddle" compile digits --target-dir=dirs --target=nut -o nut$i.tar 2>stderr || fail "$(cat stderr)"
done
cmp -s nut1.tar nut2.tar || fail "two packages with a target's sources differ"
tar tf nut1.tar | grep -qx nut/vanilla.c || fail "the package lacks nut's source"
"$heddle" run digits --engine=ref --target-dir=dirs --target=nut >/dev/null 2>stderr ||
    fail "ref executes nothing of the target's: $(cat stderr)"
run_nut() { "$heddle" run digits --engine=func --target-dir=dirs --target=nut "$@"; }
refused="heddle: target nut comes from '$work/dirs/nut', and this would execute its code: add \
--allow-native-targets, or that folder as a line of '$work/config/heddle/trusted'"
expect 2 "$refused" run_nut
mkdir -p config/heddle
echo "$work/dirs/nu" >config/heddle/trusted
expect 2 "$refused" run_nut
expect 0 "" run_nut --allow-native-targets
printf '# mine\n%s\n' "$work/dirs" >config/heddle/trusted
expect 0 "" run_nut

# --- target.json ---
# wrong MESSAGE SED: nut with a change is refused; MESSAGE follows the file's name.
wrong() {
    rm -rf wrong
    copy nut wrong
    sed -i "$2" wrong/nut/target.json
    cmp -s wrong/nut/target.json dirs/nut/target.json && fail "nothing changed: $2"
    expect 2 "heddle: $work/wrong/nut/target.json:$1" "$heddle" targets --target-dir=wrong
}
wrong "3:11: not valid JSON: expected a value, ',' or a closing bracket, found 'nut,?  \"vers'" 's/"nut"/nut/'
wrong "34:1: not valid JSON: the text ends too early" '$d'
wrong "2:20: heddle_target: expected 1, found 2" 's/"heddle_target": 1/"heddle_target": 2/'
wrong "1:1: member \"help\" is missing" '/"help": "an example/d'
wrong "7:13: memroy: unknown member; did you mean \"memory\"?" 's/"memory"/"memroy"/'
wrong "7:13: memory: expected one of \"shared\", \"separate\", found \"own\"" 's/"separate"/"own"/'
wrong "4:14: version: expected text like ^[0-9]+[.][0-9]+([.][0-9]+)?$, found \"one\"" 's/"1.0.0"/"one"/'
wrong "5:22: requires_heddle: the target requires heddle 9.0, this is 0.2.0" 's/"requires_heddle": "0.1"/"requires_heddle": "9.0"/'
wrong "12:72: attributes[1].default: the default: found '17', expected a whole number from 1 to 16" 's/"default": 11/"default": 17/'
wrong "12:14: attributes[1].name: 'in_h' already means something in calls" 's/"name": "max_kernel"/"name": "in_h"/'
wrong "12:53: attributes[1].range[0]: expected integer, found \"one\"" 's/\[1, 16\]/["one", 16]/'
wrong "15:15: headers[0]: file '$work/wrong/nut/vanila.h' not found" 's/"vanilla.h"/"vanila.h"/'
wrong "16:15: sources[0]: expected text like ^[A-Za-z0-9_-]+([/.][A-Za-z0-9_-]+)*$, found \"../vanilla.c\"" 's/"vanilla.c"/"..\/vanilla.c"/'
wrong "20:13: operators[0].op: no operator 'conv2'; did you mean conv2d?" 's/"op": "conv2d"/"op": "conv2"/'
wrong "21:22: operators[0].zero_points: expected one of \"none\", \"activations\", \"both\", found \"weights\"" 's/"zero_points": "activations"/"zero_points": "weights"/'
wrong "26:40: operators[0].where.dilation_v: unknown value of an operator; did you mean \"dilation_h\"?" 's/"dilation_w"/"dilation_v"/'
wrong "25:25: operators[0].where.kernel_h[1]: expected a number, a value or an attribute of type int, found \"max_kernels\"; did you mean \"max_kernel\"?" 's/"kernel_h": \[1, "max_kernel"\]/"kernel_h": [1, "max_kernels"]/'
wrong "31:15: operators[0].call: '\$out_y' is not a pointer, value or attribute; did you mean '\$out_h'?" 's/\$out_w/$out_y/'
wrong "31:15: operators[0].call: expected one C call, found '; abort()' in it" 's/\$scales})"/$scales}); abort()"/'
finish
