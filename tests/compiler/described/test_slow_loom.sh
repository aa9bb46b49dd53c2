#!/bin/bash
# The loom example: layers made of instructions that wait for tokens. A network whose scales are powers of two
# has the same bytes on the core as on the CPU, with most multipliers busy; bugs in the core's tokens, modules
# and C are found by check-target.
. "$(dirname "$0")/../../e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }

# The 3x3 convolutions of resnet8, with random weights.
python3 - >shifts.ir <<'PY'
import random
random.seed(1)
layers = [(32, 3, 16, 1), (32, 16, 16, 1), (32, 16, 16, 1), (32, 16, 32, 2), (16, 32, 32, 1), (16, 32, 64, 2), (8, 64, 64, 1)]
rows, ops = [], []
tensors = ['tensor 0 i8 [1,32,32,3] input name="x" scale=(0.5) zero=(3)']
for i, (size, c, n, s) in enumerate(layers):
    data = bytes(random.randrange(256) for _ in range(n * 9 * c)).hex()
    rows.append(f'row {i} name="{i}_conv2d" op="CONV2D" tensor="y{i}" shape=""')
    tensors.append(f'tensor {2*i+1} i8 [{n},3,3,{c}] const name="w{i}" scale=(0.0078125) zero=(0) data={data}')
    tensors.append(f'tensor {2*i+2} i8 [1,{size//s},{size//s},{n}] value name="y{i}" scale=({2 + i % 2 * 2}) zero=({i - 3})')
    ops.append(f'op conv2d row={i} in=({2*i},{2*i+1}) out=({2*i+2}) stride_h={s} stride_w={s} dilation_h=1 dilation_w=1 '
               f'kernel_h=3 kernel_w=3 pad_top={2-s} pad_left={2-s} pad_bottom=1 pad_right=1')
print("\n".join(["heddle-ir 1", 'graph name="shifts"', *rows, *tensors, *ops, f"border in=(0) out=({2 * len(layers)})"]))
PY
run() { "$heddle" run shifts.ir "$@" >stdout 2>stderr; }
run --target=loom,c || fail "loom: $(cat stderr)"
grep -q '^verdict: match: 7 of 7 layers and 1 output equal' stdout || fail "loom: $(head -1 stdout)"
# Cycles in which 256 multipliers work: 9 taps, blocks of 16 channels on both sides, positions.
awk '/^[0-9]_conv2d / && $2 == "loom" {
    n++; busy = 9216 / $3 / ($1 ~ /^[35]/ ? 2 : 1)
    if ($1 !~ /^0/ && busy < 0.8) { print; bad = 1 }
    if ($3 < 0.93 * $4 || $3 > 1.05 * $4) { print; bad = 1 }
} END { exit bad || n != 7 }' stdout >far || fail "multipliers wait, or the estimate is far from what is measured: $(cat far)"

# Each mistake is one for a number in LOOM_BUG.
cp -r "$HEDDLE_HOME/targets/loom" planted
sed -i 's/"name": "loom"/"name": "planted"/' planted/target.json
python3 - <<'PY'
import pathlib
def change(name, pairs):
    path = pathlib.Path("planted") / name
    text = path.read_text()
    for was, now in pairs:
        assert text.count(was) == 1, was
        text = text.replace(was, now)
    path.write_text(text)
change("loom_core.sv", [
    ("  logic [31:0]       r_q[8];", """  logic [7:0] bug_q;
  always_ff @(posedge clk_i) if (reg_write_i && reg_addr_i[15:2] == 14'd15) bug_q <= reg_wdata_i[7:0];
  logic [31:0]       r_q[8];"""),
    ("!pop[v] || token_q != 0", "!pop[v] || token_q != 0 || bug_q == 1"),     # no waits
    ("= done[v] && gives[4*v+u];", "= done[v] && (gives[4*v+u] || bug_q == 2);"),   # more tokens than waits
    ("= head[Bits-5-:4];", "= bug_q == 3 ? head[Bits-5-:4] & 4'b1110 : head[Bits-5-:4];"),   # load is not waited for
    ("{for_gemm.kind[8], for_gemm.push};", "{for_gemm.kind[8] && bug_q != 4, for_gemm.push};"),   # sums begin at 0
    ("filters_q[for_gemm.kind[7:0]];", "filters_q[{for_gemm.kind[7:1], for_gemm.kind[0] && bug_q != 5}];"),
    ("32'(half[31]))", "32'(half[31] ^ (bug_q == 6)))"),                      # ties the other way
    ("y > 32'($signed(up)) ?", "bug_q != 7 && y > 32'($signed(up)) ?"),       # no upper limit
    ("<= for_store.column_stride;", "<= bug_q == 8 ? 16'd1 : for_store.column_stride;"),
])
change("loom.c", [
    ("    set(dev, BEGIN, 0);", '    set(dev, 15, bug());\n    set(dev, BEGIN, 0);'),
    ("#include \"hd.h\"", '#include <stdlib.h>\n\n#include "hd.h"\n\nstatic uint32_t bug(void)\n{\n'
     '    return getenv("LOOM_BUG") ? (uint32_t)atoi(getenv("LOOM_BUG")) : 0;\n}'),
    ("i->pop << 4 |", "(bug() == 9 ? 0 : i->pop << 4) |"),                    # the C leaves tokens out
    ("i->with.at / 192 << 24", "i->with.at / (bug() == 10 ? 64 : 192) << 24"),
])
PY
export HEDDLE_CXX="$HEDDLE_HOME/tests/e2e/o0 g++"
found() { # found BUG TEXT
    LOOM_BUG=$1 "$heddle" check-target planted --allow-native-targets >stdout 2>stderr && fail "bug $1 passes"
    grep -Eq "^FAIL $2" stdout || fail "bug $1: expected $2, found $(grep FAIL stdout)"
}
for bug in 4 5; do found $bug 'instruction [0-9]+ on the Verilated core: gemm \(.*: sums 0x'; done
for bug in 6 7 10; do found $bug 'instruction [0-9]+ on the Verilated core: alu \(.*: results 0x'; done
found 8 'instruction [0-9]+ on the Verilated core: store \(.*: outside 0x'
for bug in 1 3 9; do found $bug 'on the Verilated core, .*: (conv2d|fully_connected): .*: byte [0-9]+'; done
found 2 'on the Verilated core, '
finish
