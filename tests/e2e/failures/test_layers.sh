#!/bin/bash
# A wrong answer that the RTL did not cause: heddle runs each layer alone and names the first wrong one, with a replay;
# it reports if all are right alone, and does not search if the CPU reference gives the same answer. The wrong layers
# belong to an external target, whose C is changed here.
. "$(dirname "$0")/../common.sh"
head -c 64 "$models/digits/in_0.bin" >in.bin
head -c 10 "$models/digits/out_0.bin" >right.bin

# mine NAME SED: the vanilla example's plain C under another name, with a change.
mine() {
    cp -r "$HEDDLE_HOME/targets/vanilla" "$1"
    chmod -R u+w "$1"
    sed -i '/"core"/d; s/"name": "vanilla"/"name": "'"$1"'"/; /"topping"/,/changes nothing/d' "$1/target.json"
    cp "$1/vanilla.c" before
    sed -i "$2" "$1/vanilla.c"
    cmp -s before "$1/vanilla.c" && fail "$1: nothing changed"
}
run() { # TARGET OPTION...
    local name=$1
    shift
    "$heddle" run digits --engine=func -i in.bin --target-dir="$name" --target="$name,systolic" --offload="05*=$name" \
        --keep-on-host=10* --allow-native-targets "$@" >stdout 2>stderr
}
says() { # REGEX: a whole line of stderr
    grep -qxE -- "$1" stderr || fail "no line '$1' in: $(cat stderr)"
}

mine wrong 's/ - s.z_in) \*/) */'
run wrong -o out
[ $? = 1 ] || fail "a wrong layer is not found: $(cat stderr)"
says '  replay: 05_conv2d alone is wrong too, on target wrong; look at its C:'
replay=$(sed -n 's/^    heddle run out/run out/p' stderr)
[ "$replay" = "run out/mismatch/replay.ir -i out/mismatch/replay_in_0.bin --expect out/mismatch/replay_out_0.bin --offload=05_conv2d=wrong --engine=func --target-dir=wrong --target=wrong,systolic --allow-native-targets" ] ||
    fail "replay: '$replay' of $(cat stderr)"
eval "\"\$heddle\" $replay" >stdout 2>stderr
[ $? = 1 ] || fail "the replay is right: $(cat stderr)"
says "  output 0 '.*': [0-9]* of 512 values differ, in 1 of 1 inferences, by at most [0-9]* steps"
# Correct again: the same command reports it.
cp "$HEDDLE_HOME/targets/vanilla/vanilla.c" wrong/vanilla.c
eval "\"\$heddle\" $replay" >stdout 2>stderr || fail "the replay on the C as it was: $(cat stderr)"

# Wrong only after other layers: in its second call.
mine second 's/^    int32_t taps = /    static int calls;\n    const int late = calls++ > 0;\n&/; s/y\[i\] = /&late ? -128 : /'
second() {
    "$heddle" run digits --engine=func -i in.bin --target-dir=second --target=second,systolic --offload='05*=second' \
        --offload='06*=second' --allow-native-targets "$@" >stdout 2>stderr
    [ $? = 1 ] || fail "second: a wrong answer is taken: $(cat stderr)"
}
second
says '  replay: 06_conv2d alone is right: on target second, calls before it change its answer'
second --compare=outputs
says '  1[0-9] layers, each alone, are right: look at what the compiler makes of several \(fusion, schedule, memory plan\)'
[ -s heddle-mismatch/replay.ir ] || fail "no folder without -o"

# Layers that cannot run alone as in the network are counted separately: ONNX convolutions among TRANSPOSEs.
mine more 's/y\[i\] = /&1 + /; s/ - s.z_in) \*/) */'
"$heddle" run "$models/digits/model.onnx" --engine=func -i in.bin --target-dir=more --target=more,systolic \
    --partition=priority --allow-native-targets -o onnx >stdout 2>stderr
[ $? = 1 ] || fail "onnx: a wrong answer is taken: $(cat stderr)"
says '  [0-9]* layers do not run alone as they did in the network'
says '  [0-9]* layers, each alone, are right: .*'

# The expected output is wrong: the reference agrees with the output found.
printf '\1' | cat - right.bin | head -c 10 >want.bin
"$heddle" run digits --engine=func -i in.bin --expect want.bin -o none >stdout 2>stderr
[ $? = 1 ] || fail "a wrong expectation is taken"
says '  the CPU reference gives the values found: what was expected comes from other arithmetic, weights or inputs'
[ ! -e none/mismatch ] || fail "a folder for nothing"
touch file
"$heddle" run digits --engine=func -i in.bin --target-dir=second --target=second,systolic --offload='05*=second' \
    --offload='06*=second' --allow-native-targets -o file/x >stdout 2>stderr
[ $? = 2 ] || fail "a file in place of a folder: $(cat stderr)"
mkdir full && touch full/mismatch
run second -o full --offload='06*=second'
says "  replay of each layer: none: cannot make directory 'full/mismatch': .*"
finish
