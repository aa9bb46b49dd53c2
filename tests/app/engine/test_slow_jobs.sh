#!/bin/bash
# -j: the same outputs and numbers for any number of processes, also under random stalls; the failure reported is that
# of the first inference that fails.
. "$(dirname "$0")/../../e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }

head -c $((64 * 11)) "$models/digits/in_0.bin" >in.bin
head -c 110 "$models/digits/out_0.bin" >want.bin
# All but the host's own times.
numbers() { sed '/"sim":/,/}/d' "$1"; }
for stalls in 0 5; do
    for j in 1 2 4 30; do
        "$heddle" run digits --hw=tiny -i in.bin --expect want.bin --stall-seed=$stalls -j $j -o "out$j" >stdout 2>stderr ||
            fail "-j $j: exit $?: $(cat stderr)"
        cmp -s "out$j/out_0.bin" want.bin || fail "-j $j: other bytes"
        [ $j = 1 ] || [ "$(numbers out1/stats.json)" = "$(numbers "out$j/stats.json")" ] ||
            fail "-j $j, stall seed $stalls: other numbers: $(diff out1/stats.json "out$j/stats.json" | head -5)"
    done
done
grep -q '"processes":.11' out30/stats.json || fail "11 inferences, -j 30: $(grep processes out30/stats.json)"

# Failures are reported as with one process.
printf '\1' | dd of=want.bin bs=1 seek=57 conv=notrunc status=none
for j in 1 3; do
    "$heddle" run digits --engine=func --hw=tiny -i in.bin --expect want.bin -j $j >stdout 2>"stderr$j"
    [ $? = 1 ] || fail "-j $j: a wrong answer does not end with 1"
done
same stderr1 stderr3 "a wrong answer"
"$heddle" run digits --hw=tiny -i in.bin --max-cycles=100 -j 3 >stdout 2>stderr
[ $? = 4 ] || fail "-j 3: a submission cut short does not end with 4: $(cat stderr)"
grep -q "^heddle: inference 0," stderr || fail "-j 3: not the first inference: $(cat stderr)"
expect 2 "heddle: -j: found '0', expected a whole number from 1 to 256" "$heddle" run digits -j 0
# State continues from one inference to the next, so there is one process.
state=$HEDDLE_HOME/tests/reference/models/state
if [ -e "$state/model.tflite" ]; then
    "$heddle" run "$state/model.tflite" -i "$state/in_0.bin" --expect "$state" --engine=func -j 4 -o state \
        >stdout 2>stderr || fail "state: $(cat stderr)"
    grep -q '"processes":.1,*$' state/stats.json || fail "state: $(grep processes state/stats.json)"
fi
finish
