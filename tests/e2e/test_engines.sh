#!/bin/bash
# digits on the reference and on the functional model, however memory and waiting are set: the same bytes. The
# RTL's half is test_slow_rtl.sh.
. "$(dirname "$0")/common.sh"

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

# .npy in and out of the same bytes; files given by hand; one inference; a folder to compare with
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
finish
