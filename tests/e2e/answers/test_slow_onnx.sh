#!/bin/bash
# Small ONNX networks (tests/oracle/onnx/rand_onnx.py --write) through the whole of heddle: ONNX Runtime's
# bytes in its own rounding from emitted C, the accelerator's arithmetic equal to the reference, each
# operator at most one unit off with golden inputs.
. "$(dirname "$0")/../common.sh"

for folder in "$HEDDLE_HOME"/tests/compiler/import/onnx/*/; do
    [ -e "$folder/model.onnx" ] || continue
    model=$folder/model.onnx
    "$heddle" run "$model" -i "$folder/in_0_0.bin" --expect "$folder/out_0_0.bin" --engine=func --target=c \
        --onnx-rounding=onnx >"$work/log" 2>&1 || fail "$model in ONNX's rounding: $(tail -n 1 "$work/log")"
    "$heddle" run "$model" -i "$folder/in_0_0.bin" --engine=func >"$work/log" 2>&1 ||
        fail "$model on the accelerator: $(tail -n 1 "$work/log")"
    "$heddle" run "$model" --teacher="$folder" >"$work/log" 2>&1 || fail "$model taught: $(tail -n 1 "$work/log")"
    grep -q ' 0 off by more than one unit' "$work/log" || fail "$model: no lesson"
done

# A golden that is two units off is a difference; a folder without layers is an error.
cp -r "$HEDDLE_HOME/tests/compiler/import/onnx/seed_13" wrong
chmod -R u+w wrong
for golden in wrong/[A-Z]*.bin; do
    printf '\100' | dd of="$golden" conv=notrunc status=none
done
expect 1 'heddle: with golden inputs some operators are off by more than one unit' \
    "$heddle" run wrong/model.onnx --teacher=wrong
printf '{}' >wrong/meta.json
expect 2 'heddle: wrong/meta.json: expected "layers" with "tensors": [{"tensor", "file", "dtype"}]' \
    "$heddle" run wrong/model.onnx --teacher=wrong

# digits as ONNX is what the script makes of the TFLite file, and has its answers.
if command -v python3 >/dev/null; then
    "$heddle" inspect digits --dump-ir ir >/dev/null
    python3 "$HEDDLE_HOME/tests/models/ir_to_onnx.py" ir/02_padding.ir made.onnx || fail "ir_to_onnx.py"
    same made.onnx "$models/digits/model.onnx" "ir_to_onnx.py makes another file"
fi

# Many kinds of islands: the importer's operators and the reference's have the same bytes.
if command -v python3 >/dev/null; then
    python3 "$HEDDLE_HOME/tests/models/islands_onnx.py" made.onnx || fail "islands_onnx.py"
    same made.onnx "$models/islands.onnx" "islands_onnx.py makes another file"
    for kind in resizes sums exported volumes; do
        python3 "$HEDDLE_HOME/tests/models/islands_onnx.py" $kind.onnx $kind || fail "islands_onnx.py $kind"
        expect 0 "" "$heddle" run $kind.onnx --engine=func
        grep -q ' and 0 on the host' stdout || fail "$kind: $(head -n 2 stdout)"
        expect 0 "" "$heddle" run $kind.onnx --engine=func --target=c --onnx-rounding=onnx
    done
    for kind in places coarse; do
        python3 "$HEDDLE_HOME/tests/models/islands_onnx.py" $kind.onnx $kind || fail "islands_onnx.py $kind"
        expect 0 "" "$heddle" run $kind.onnx --engine=func
        [ $kind = coarse ] || grep -q '^15_sqrt *1x4x1x9 *systolic' stdout || fail "a root of a sum: $(grep ^15 stdout)"
    done
    "$heddle" inspect coarse.onnx >inspected || fail "inspect"
    limit='a step of the operand that is not a product is 1.45 steps of the result: expected less than 1'
    [ "$(grep -c "(Add) computes in float32: $limit$" inspected)" = 2 ] || fail "inspect has no '$limit'"
fi
expect 0 "" "$heddle" run "$models/islands.onnx" --engine=func
expect 0 "" "$heddle" run "$models/islands.onnx" --engine=func --target=c --onnx-rounding=onnx
# A layer normalisation, one node or written out, is on the accelerator where it is precise; else its reason is stated.
"$heddle" inspect "$HEDDLE_HOME/tests/compiler/import/onnx/layer_norm/model.onnx" >inspected || fail "inspect"
for row in '00_add *LayerNormalization *systolic' '01_quantize .* fused into 00_add' '02_mean .* fused into 10_add' \
    '10_add *Add *systolic' '11_mean .*(ReduceMean) computes in float32: nothing quantises its result before 12_sub' \
    '19_add .*19_add (Add) computes in float32: a step of the input is up to 930 steps of the result: expected less than 127$'; do
    grep -q "^$row" inspected || fail "inspect of a layer normalisation: no line '$row'"
done
# One over the channels of an image: ONNX Runtime's values, to one step.
norm="$HEDDLE_HOME/tests/compiler/import/onnx/layer_norm"
expect 0 "" "$heddle" run "$norm/channels.onnx" --engine=func
expect 0 "" "$heddle" run "$norm/channels.onnx" --engine=func --input="$norm/channels_in.bin" --expect="$norm/channels_out.bin" --tolerance=1
"$heddle" inspect "$norm/channels.onnx" >inspected || fail "inspect"
grep -q '^08_add *Add *systolic' inspected || fail "inspect: a layer normalisation over channels is not on the accelerator"
"$heddle" inspect "$norm/limits.onnx" >inspected || fail "inspect"
for limit in 'input and result: expected one 8-bit type' \
    'scale or bias of value 0: expected a finite number' \
    '1 input scales, epsilon -1: expected 1 scale, epsilon at least 0'; do
    grep -q "(LayerNormalization) computes in float32: $limit$" inspected || fail "inspect has no '$limit'"
done
for limit in '(Div) computes in float32: rows of 65536 values: expected 1 to 65535' \
    '(InstanceNormalization) computes in float32: rows of 2000001 values: expected 1 to 2000000' \
    '(InstanceNormalization) computes in float32: rows of 1000001 values: expected 1 to 1000000'; do
    grep -q "$limit$" inspected || fail "inspect has no '$limit'"
done
# An LSTM between quantised values, of all outputs in two directions, of the last ones: integers, at most two steps off.
lstm="$HEDDLE_HOME/tests/compiler/import/onnx/lstm"
for net in all last; do
    "$heddle" inspect "$lstm/$net.onnx" >inspected || fail "inspect"
    grep -q '^00_lstm *LSTM *systolic' inspected || fail "$net: inspect of an LSTM: $(grep ^00 inspected)"
    expect 0 "" "$heddle" run "$lstm/$net.onnx" --engine=func
    expect 0 "" "$heddle" run "$lstm/$net.onnx" --target=c
done
expect 0 "" "$heddle" run "$lstm/all.onnx" --engine=func -i "$lstm/in_0.bin" --expect "$lstm/out.bin" --tolerance=2
expect 0 "" "$heddle" run "$lstm/all.onnx" --target=c --onnx-rounding=onnx -i "$lstm/in_0.bin" --expect "$lstm/out.bin"
# A GRU, whose reset gate is before or after its product, an RNN, and a GRU that reads an LSTM: the same.
gru="$HEDDLE_HOME/tests/compiler/import/onnx/gru"
for net in before after rnn layers; do
    "$heddle" inspect "$gru/$net.onnx" >inspected || fail "inspect"
    ! grep -q float32 inspected || fail "$net: inspect of a GRU: $(grep float32 inspected)"
    expect 0 "" "$heddle" run "$gru/$net.onnx" --engine=func
    given=(-i "$gru/${net}_in.bin" --expect "$gru/${net}_out.bin")
    expect 0 "" "$heddle" run "$gru/$net.onnx" --target=c "${given[@]}" --tolerance=2
    expect 0 "" "$heddle" run "$gru/$net.onnx" --target=c --onnx-rounding=onnx "${given[@]}"
done
"$heddle" inspect "$models/islands.onnx" >inspected || fail "inspect"
grep -q "^26_dequantize .* none .* moves no data" inspected || fail "inspect: the last dequantize is not STORE's"
expect 0 "" "$heddle" run "$models/digits/model.onnx" --engine=func -i "$models/digits/in_0.bin" \
    --expect "$models/digits/out_0.bin"
finish
