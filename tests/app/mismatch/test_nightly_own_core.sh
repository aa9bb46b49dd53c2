#!/bin/bash
# A wrong byte of a target's core or C is reported with its layer and target, also in networks that use the array.
. "$HEDDLE_HOME/tests/e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
cp -r "$HEDDLE_HOME/targets/vanilla" bad
sed -i 's/"name": "vanilla"/"name": "bad"/' bad/target.json
sed 's/biased  = rounded + r\[Z_OUT\];/biased  = rounded + r[Z_OUT] + (r[IN_C] > 31 \&\& rounded > 5 ? 1 : 0);/' bad/vanilla_core.sv >core.sv
cmp -s core.sv bad/vanilla_core.sv && fail "no bug planted"
mv core.sv bad/vanilla_core.sv
head -c 64 "$models/digits/in_0.bin" >one.bin
run() {
    "$heddle" run digits -i one.bin --hw=tiny --target-dir=bad --partition=priority --allow-native-targets -n 1 "$@" >stdout 2>stderr
    [ $? = 1 ] || fail "$*: expected exit 1: $(cat stderr)"
}
says() {
    grep -qxF "$1" stderr || fail "no '$1' in: $(cat stderr)"
}
run --target=bad,systolic
grep -qx '  first wrong layer: 06_conv2d: 234 of 512 values differ in inference 0; the first is value 1: .*' stderr ||
    fail "$(cat stderr)"
says '  computed by target bad: call 5 of 7 in an inference'
says '  vanilla_core wrote it to 0x2721 of its memory in cycle 112 of the call (98272 in all)'
says '  waves of vanilla_core, 200 cycles before it to 20 after it, marker A at that write:'
says '    gtkwave heddle-mismatch/waves.gtkw'
grep -q '^\[markername\] Afirst wrong byte$' heddle-mismatch/waves.gtkw || fail "$(cat heddle-mismatch/waves.gtkw)"
says '  replay: 06_conv2d alone is wrong too, on target bad; look at its Verilog and its C:'
says '    with --waves=layer:06_conv2d: the waves of vanilla_core in that call'
grep -q 'first differ at' stderr && fail "another unit is named: $(cat stderr)"
replay=$(sed -n 's/^ *heddle \(run heddle-mismatch.*\)/\1/p' stderr)
# shellcheck disable=SC2086
"$heddle" $replay --waves=layer:06_conv2d -o waves >stdout 2>stderr
[ -s waves/waves.fst ] || fail "no waves of the core: $(cat stderr)"

# A layer in two parts; the second begins with a wrong zero point.
cp bad/target.json bad/vanilla.c .
sed -i 's/"in_c": \[1, 4096\],/& "out_c": [1, 16],/' bad/target.json
cp "$HEDDLE_HOME"/targets/vanilla/vanilla_core.sv bad
sed -i 's/dev->write32(dev->ctx, 4 \* 7, /static int n;\n    &s->in_c == 32 \&\& s->in_h == 4 \&\& ++n == 2 ? 0 : /' bad/vanilla.c
cmp -s vanilla.c bad/vanilla.c && fail "no bug planted"
run --target=bad,c
says '  computed by target bad: call 7 of 13 in an inference, part 2 of 2 of the layer'
grep -q "^  vanilla_core wrote it to 0x.* in cycle [0-9]* of the layer's calls (.* in all)" stderr || fail "$(cat stderr)"
# A result that the C changes itself.
sed 's/^    return rc ? rc : dev->from_device(dev->ctx, y, .*/    rc = rc ? rc : dev->from_device(dev->ctx, y, at, (size_t)(s->out_h * s->out_w * s->out_c)); y[0] ^= 1; return rc;/' \
    vanilla.c >bad/vanilla.c
cp target.json bad
run --target=bad,c
says '  the cycle of its write: unknown: its C does not copy that value from the core'\''s memory, or earlier inferences change it; copy each piece with from_device straight to its place in the output'

# C with a state: right alone, wrong after three calls.
cp "$HEDDLE_HOME"/targets/vanilla/vanilla_core.sv bad
sed -i 's/^    return 0;$/    static int calls;\n    y[0] = (int8_t)(y[0] ^ (++calls > 3 ? 16 : 0));\n    return 0;/' bad/vanilla.c
grep -q calls bad/vanilla.c || fail "no bug planted"
run --target=bad,c --engine=func
says '  replay: 05_conv2d alone is right: on target bad, calls before it change its answer'
finish
