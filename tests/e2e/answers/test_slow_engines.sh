#!/bin/bash
# digits on the reference and on the functional model, with all settings of memory and waiting: the same bytes.
# test_slow_rtl.sh covers the RTL.
. "$(dirname "$0")/../common.sh"

golden=$models/digits/out_0.bin
n=0
try() {
    n=$((n + 1))
    "$heddle" run digits "$@" -o out$n --stats stats$n.json >stdout 2>stderr ||
        fail "exit $?: run digits $*: $(cat stderr)"
    cmp -s out$n/out_0.bin "$golden" || fail "run digits $*: out_0.bin is not the golden"
    grep -q '"verdict":[[:space:]]*"match"' stats$n.json || fail "run digits $*: verdict"
}

try --engine=ref
for hw in tiny sys8 sys16 sys32; do
    try --engine=func --hw=$hw
done
try --engine=func --target=c
try --engine=func --memory=separate
try --engine=func --wait=poll
try --engine=func --wait=poll --memory=separate --no-overlap
try --engine=func --no-search
try --engine=func --mem-latency=16
try --engine=func --mem-latency=200 --mem-bytes=4

# .npy input and output of the same bytes; files given by name; one inference; a folder to compare with
npy '|i1' '(360, 8, 8, 1)' "$models/digits/in_0.bin" in.npy
npy '|i1' '(360, 10)' "$golden" out.npy
try --engine=func -i in.npy --expect out.npy
try --engine=func -i "$models/digits/in_0.bin" --expect "$models/digits"
try --engine=func --labels "$models/digits/labels.txt"
head -c 64 "$models/digits/in_0.bin" >one.bin
"$heddle" run digits --engine=func -i one.bin -o one >stdout 2>stderr || fail "one inference"
head -c 10 "$golden" | cmp -s - one/out_0.bin || fail "one inference: wrong bytes"

# No inputs: random ones from a seed, the same each time, others from another seed.
cp "$models/digits/model.tflite" 'my net.tflite'
for seed in 1 1 2; do
    n=$((n + 1))
    "$heddle" run 'my net.tflite' --engine=func --seed=$seed -o out$n >stdout 2>stderr ||
        fail "seed $seed: $(cat stderr)"
done
cmp -s out$((n - 2))/out_0.bin out$((n - 1))/out_0.bin || fail "one seed, two answers"
cmp -s out$n/in_0.bin out$((n - 1))/in_0.bin && fail "two seeds, one input"
reference='the CPU reference, which runs the network as imported (decoding the file is common to both)'
first="verdict: match: 14 of 14 layers and 1 output equal, bit for bit, over 8 generated inferences (seed 2), to $reference"
[ "$(head -n 1 stdout)" = "$first" ] || fail "generated: $(head -n 1 stdout)"
grep -qF "\"statement\":	\"${first#verdict: }\"" out$n/stats.json || fail "stats: $(grep statement out$n/stats.json)"
grep -qF "${first#verdict: match: }" out$n/report.html || fail "report.html has another verdict"
# The files that -o wrote repeat the run; a given number of inferences.
"$heddle" run 'my net.tflite' --engine=func -i out$n/in_0.bin -o again >stdout 2>stderr || fail "-i of -o: $(cat stderr)"
[ "$(head -n 1 stdout)" = "verdict: match: 14 of 14 layers and 1 output of 8 inferences equal, bit for bit, to $reference" ] ||
    fail "given: $(head -n 1 stdout)"
same again/out_0.bin out$n/out_0.bin
"$heddle" run 'my net.tflite' --engine=func -n 6 --seed=2 -o six >stdout 2>stderr || fail "-n: $(cat stderr)"
grep -q "over 6 generated inferences (seed 2)" stdout || fail "-n: $(head -n 1 stdout)"
cmp -s -n 384 six/in_0.bin out$n/in_0.bin || fail "-n 6: the six are others"
finish
