#!/bin/bash
# The loom example: layers made of instructions that wait for tokens. Networks whose scales are powers of two have
# the same bytes on the core as on the CPU, most multipliers busy, and tensors that stay on the chip; bugs in the core's
# tokens, modules and C are found by check-target.
. "$(dirname "$0")/../../e2e/common.sh"
. "$HEDDLE_HOME/tests/app/described/plant.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }

# Only softmax is on the host. Bytes on the bus: at most 1.3 times those that systolic moves for the same network.
for model in resnet8_own dscnn_own mobilenet025_own; do
    "$heddle" inspect $model --dump-ir ir --dump-step=import >stdout 2>stderr || fail "$model: $(cat stderr)"
    python3 "$HEDDLE_HOME/targets/shifty/pot.py" ir/00_import.ir $model.ir || fail "$model: pot.py"
    for target in systolic loom; do
        "$heddle" run $model.ir --target=$target,c --stats=$target.json >$model.$target 2>stderr ||
            fail "$model on $target: $(cat stderr)"
    done
    grep -Eq '^verdict: match: ([0-9]+) of \1 layers and 1 output equal' $model.loom || fail "$model: $(head -1 $model.loom)"
    python3 - <<'PY' || fail "$model: bytes on the bus, or layers on the host"
import json
loom, systolic = (json.load(open(f"{name}.json")) for name in ("loom", "systolic"))
moved = [s["dram_read_bytes"] + s["dram_write_bytes"] for s in (loom, systolic)]
host = [l["op"] for l in loom["layers"] if l["target"] != "loom"]
print(loom["model"], *moved, host)
assert moved[0] <= 1.3 * moved[1] and host == ["SOFTMAX"]
PY
done
# Shares of cycles in which 256 multipliers work, and estimates near what is measured.
for layer in '00_conv2d .* 4[5-9]' '0[12]_conv2d .* 9[0-9]' '04_conv2d .* 9[0-9]' '05_conv2d .* 9[0-9]' '08_conv2d .* 8[0-9]' \
    '09_conv2d .* 9[0-9]'; do
    grep -q "^${layer}[.][0-9]%" resnet8_own.loom || fail "$layer %: $(grep "^${layer%% *}" resnet8_own.loom)"
done
awk '$3 == "loom" && ($4 < 0.85 * $5 || $4 > 1.05 * $5) { print; bad = 1 } END { exit bad }' ./*_own.loom >far ||
    fail "an estimate is far from what is measured: $(cat far)"

# Each mistake is one for a number in LOOM_BUG.
copy_target loom planted
planted <<'PY'
from plant_text import change
change("loom_core.sv", [
    ("  logic [31:0]       r_q[8];", """  logic [7:0] bug_q;
  always_ff @(posedge clk_i) if (reg_write_i && reg_addr_i[15:2] == 14'd15) bug_q <= reg_wdata_i[7:0];
  logic [31:0]       r_q[8];"""),
    ("!pop[v] || token_q != 0", "!pop[v] || token_q != 0 || bug_q == 1"),     # no waits
    ("= done[v] && gives[4*v+u];", "= done[v] && (gives[4*v+u] || bug_q == 2);"),   # more tokens than waits
    ("= head[Bits-5-:4];", "= bug_q == 3 ? head[Bits-5-:4] & 4'b1110 : head[Bits-5-:4];"),   # load is not waited for
    ("{for_gemm.kind[8], for_gemm.push};", "{for_gemm.kind[8] && bug_q != 4, for_gemm.push};"),   # sums begin at 0
    ("filters_q[for_gemm.kind[7:0]];", "filters_q[{for_gemm.kind[7:1], for_gemm.kind[0] && bug_q != 5}];"),
    ("32'(x[31]))", "32'(x[31] ^ (bug_q == 6)))"),                            # ties the other way
    ("y > 32'($signed(up)) ?", "bug_q != 7 && y > 32'($signed(up)) ?"),       # no upper limit
    ("<= for_store.column_stride;", "<= bug_q == 8 ? 16'd1 : for_store.column_stride;"),
    (": k == n ? block_q", ": k == n || bug_q == 11 ? block_q"),              # a lane has other pixels too
    ("- 9'($signed(mul_zero));", "- (bug_q == 12 ? 9'd0 : 9'($signed(mul_zero)));"),
    ("<= end_q[1] ? out_row_at_q", "<= end_q[1] && bug_q != 13 ? out_row_at_q"),   # rows one after the other
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
wrong() { found "$1" "instruction [0-9]+ on the Verilated core: ($2) \(.*: ($3) 0x"; }
for bug in 4 5; do wrong $bug 'gemm|lanes|widen' sums; done
wrong 6 'alu|keep|widen' 'results|pixels|sums'
for bug in 7 10; do wrong $bug 'alu|keep' 'results|pixels'; done
wrong 8 store outside
wrong 11 lanes sums
wrong 12 widen sums
wrong 13 keep pixels
for bug in 1 2 3 9; do found $bug '.* on the Verilated core, with a wait for '; done
finish
