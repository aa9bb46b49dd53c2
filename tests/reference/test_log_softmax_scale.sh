#!/bin/bash
# LOG_SOFTMAX at and around s_x = 16, from which on its left shift is 31: only the differences of 0 are shifted. The answer is
# known: -log(n) where n values are largest, -255/16 else.
. "$(dirname "$0")/../e2e/common.sh"

for scale in 15 16 31 32 1000; do
    cat >net.ir <<IR
heddle-ir 1
graph name="net"
row 0 name="00_log_softmax" op="LOG_SOFTMAX" tensor="y" shape="1x16"
tensor 0 i8 [1,16] input name="x" scale=($scale) zero=(0)
tensor 1 i8 [1,16] value name="y" scale=(0.0625) zero=(127)
op log_softmax row=0 in=(0) out=(1)
border in=(0) out=(1)
IR
    python3 - <<'PY'
import math
x = [[top if i < n else top - 2 for i in range(16)] for n in range(1, 17) for top in (127, -126)]
y = [[127 + max(-255, round(-16 * math.log(r.count(max(r))))) if v == max(r) else -128 for v in r] for r in x]
for name, rows in ("x.bin", x), ("y.bin", y):
    open(name, "wb").write(bytes(v & 255 for r in rows for v in r))
PY
    for engine in func ref; do
        "$heddle" run net.ir --engine=$engine -i x.bin --expect y.bin >stdout 2>stderr || fail "$scale, $engine: $(cat stderr)"
        grep -q '^verdict: match: .* of 32 inferences equal' stdout || fail "$scale, $engine: $(head -n 1 stdout)"
    done
done
finish
