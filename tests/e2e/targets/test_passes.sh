#!/bin/bash
# A native target's own pass at each named phase: called in order with the graph of that moment, its
# result verified and held to what the phase allows; answers are compared with the graph before it.
. "$(dirname "$0")/../common.sh"
export XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache
"$heddle" new-target mine >/dev/null
sed -i 's/"headers"/"native": "mine_native.so",\n  "headers"/' mine/target.json
${CC:-cc} -std=c11 -Wall -Wextra -shared -fPIC -I "$HEDDLE_HOME/include" \
    "$HEDDLE_HOME/tests/e2e/targets/passes.c" -o mine/mine_native.so || fail "passes.c does not compile"
run() {
    "$heddle" run "$models/digits/model.tflite" --engine=func --seed=3 --target-dir=mine --target=mine \
        --allow-native-targets "$@"
}
# refused MESSAGE: exit 3 with it after the target's name.
refused() {
    run >stdout 2>stderr
    [ $? = 3 ] || fail "$MODE $PHASE: expected exit 3: $(cat stdout stderr)"
    grep -q "target mine, pass $PHASE: $1" stderr || fail "$MODE $PHASE: $(cat stderr)"
}

LOG=$work/log run -o plain >stdout 2>stderr || fail "a pass that changes nothing: $(cat stderr)"
cat >want <<'END'
mine legalise whole
mine before_partition whole
mine after_partition parted
mine after_tiling parted
mine before_emission parted
END
same want log "the phases"
MODE=same run -o again >stdout 2>stderr || fail "a pass that gives the same graph: $(cat stderr)"
same plain/out_0.bin again/out_0.bin "the same graph"
LOG=$work/two "$heddle" inspect digits --target-dir=mine --target=mine:x,mine:y --allow-native-targets \
    >stdout 2>stderr || fail "two instances: $(cat stderr)"
printf '%s\n' "x legalise" "y legalise" >want
head -n 2 two | cut -d' ' -f1,2 | cmp -s - want || fail "two instances: $(cat two)"

phases="legalise before_partition after_partition after_tiling before_emission"
for PHASE in $phases; do
    export PHASE
    MODE=stop refused "it " # -1 without or with a reason
    MODE=nonsense refused "line [0-9]*"
    [ "$PHASE" = legalise ] || MODE=border refused ""
    # The bias of the target's operator: a wrong answer, which the unchanged reference reveals.
    MODE=own run >stdout 2>stderr
    [ $? = 1 ] || fail "own $PHASE: expected exit 1: $(tail -n 1 stdout; cat stderr)"
done
# A bias that makes a channel constant which the reference has otherwise: the answer's explanation names it.
PHASE=legalise MODE=far run -o claim >stdout 2>stderr
[ $? = 1 ] || fail "another bias: expected exit 1: $(cat stdout stderr)"
grep -q "  00_conv2d: channel 0 was proven to be 127, never outside [0-9]* to [0-9]* before the clamp; the reference has \
another value: look at legalise/ranges.c" stderr || fail "another bias: $(cat stderr)"
for PHASE in after_partition after_tiling before_emission; do
    MODE=other refused "tensor [0-9]* is read by 00_conv2d, which belongs to another target"
    MODE=clamp refused "00_conv2d belongs to another target"
    MODE=order refused "14_softmax: a pass after the partition must not change operators, their operands, targets or regions"
done
PHASE=before_partition MODE=clamp run >stdout 2>stderr
[ $? = 1 ] || fail "before the partition anything may change: $(cat stderr)"
finish
