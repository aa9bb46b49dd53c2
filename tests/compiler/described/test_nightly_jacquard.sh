#!/bin/bash
# The jacquard example: layers of an engine whose instruction is a piece of a layer. Own networks have the same
# bytes on the core as expected; bytes on the bus and cycles are within their limits; bugs in core and C are found.
. "$(dirname "$0")/../../e2e/common.sh"
. "$HEDDLE_HOME/tests/app/described/plant.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }

# run MODEL BYTES: one inference on the core; bytes on the bus: at most 1.3 times those of systolic.
run() {
    "$heddle" run "$1" -i "$models/$1/in_0.bin" --expect "$models/$1/out_0.bin" --target=jacquard,c >stdout 2>stderr ||
        fail "$1: $(cat stderr)"
    awk -v most="$2" '$3 == "jacquard" { n += $8 + $9 } END { if (n == 0 || n > 1.3 * most) { print n; exit 1 } }' stdout >bytes ||
        fail "$1: bytes on the bus: $(cat bytes), systolic has $2"
    awk '$3 == "jacquard" && ($4 < 0.92 * $5 || $4 > 1.05 * $5) { print; bad = 1 } END { exit bad }' stdout >far ||
        fail "$1: an estimate is far from what is measured: $(cat far)"
}
run dscnn_own 33536
run mobilenet025_own 275120
run resnet8_own 91008
# 3x3 convolutions: MACs of 64 multipliers, at most 1.25 times.
awk 'BEGIN { split("442368 2359296 2359296 0 1179648 2359296 0 0 1179648 2359296", macs, " ") }
    /^0[0-9]_conv2d/ && macs[$1 + 1] { n++; if ($4 * 64 > 1.25 * macs[$1 + 1]) { print; bad = 1 } }
    END { exit bad || n != 7 }' stdout >far || fail "more than 1.25 times the limit: $(cat far)"

# alike NAME LINE...: the lines are an .ir file; the reference's bytes with tensors that stay on the chip.
alike() {
    printf '%s\n' 'heddle-ir 1' "graph name=\"$1\"" "${@:2}" >"$1.ir"
    "$heddle" run "$1.ir" --target=jacquard,c >stdout 2>stderr || fail "$1: $(cat stdout stderr)"
    grep -q '^verdict: match: 2 of 2 layers and 1 output equal' stdout || fail "$1: $(head -1 stdout)"
}
# The mean of a pool stays, with padding of its zero point.
alike mean 'row 0 name="0_pool" op="AVERAGE_POOL_2D" tensor="y" shape=""' \
    'row 1 name="1_conv" op="CONV_2D" tensor="z" shape=""' 'tensor 0 i8 [1,4,4,16] input name="x" scale=(0.5) zero=(50)' \
    'tensor 1 i8 [1,2,2,16] value name="y" scale=(0.5) zero=(50)' \
    'tensor 2 i8 [16,3,3,16] const name="w" scale=(0.01) zero=(0) fill=3' 'tensor 3 i8 [1,2,2,16] value name="z" scale=(0.5) zero=(0)' \
    'op average_pool_2d row=0 in=(0) out=(1) stride_h=2 stride_w=2 kernel_h=2 kernel_w=2' \
    'op conv2d row=1 in=(1,2) out=(3) stride_h=1 stride_w=1 dilation_h=1 dilation_w=1 kernel_h=3 kernel_w=3 pad_top=1 pad_left=1 pad_bottom=1 pad_right=1' \
    'border in=(0) out=(3)'
# A dense layer writes rows of its own, which the window's are not.
alike dense 'row 0 name="0_dense" op="FULLY_CONNECTED" tensor="y" shape=""' \
    'row 1 name="1_conv" op="CONV_2D" tensor="z" shape=""' 'tensor 0 i8 [1,4,4,16] input name="x" scale=(0.5) zero=(50)' \
    'tensor 1 i8 [1,4,4,16] value name="y" scale=(0.5) zero=(50)' 'tensor 2 i8 [16,16] const name="v" scale=(0.01) zero=(0) fill=5' \
    'tensor 3 i8 [16,3,3,16] const name="w" scale=(0.01) zero=(0) fill=3' 'tensor 4 i8 [1,4,4,16] value name="z" scale=(0.5) zero=(0)' \
    'op fully_connected row=0 in=(0,2) out=(1)' \
    'op conv2d row=1 in=(1,3) out=(4) stride_h=1 stride_w=1 dilation_h=1 dilation_w=1 kernel_h=3 kernel_w=3 pad_top=1 pad_left=1 pad_bottom=1 pad_right=1' \
    'border in=(0) out=(4)'

# Each mistake is one for a number in JACQUARD_BUG.
copy_target jacquard planted
planted <<'PY'
from plant_text import change
change("jacquard_core.sv", [
    ("  logic [31:0]       r_q[16];", """  logic [7:0] bug_q;
  always_ff @(posedge clk_i) if (begins) bug_q <= pwdata_i[7:0];
  logic [31:0]       r_q[16];"""),
    ("lines_q[{load_to_q, 1'(k)}]", "lines_q[{load_to_q, 1'(k) ^ (bug_q == 1)}]"),    # halves of a word exchanged
    ("[64*load_to_q[0]+:64]", "[64*(load_to_q[0] && bug_q != 2)+:64]"),                # lower half alone
    ("slice_q == 23 ? '0", "slice_q == (bug_q == 3 ? 22 : 23) ? '0"),                  # an entry too short
    ("(!head[Bits-1] || !ahead[15])", "(!head[Bits-1] || !ahead[15] || bug_q == 4)"),  # no waits
    ("row_at_q + d.from_row[14:0]", "row_at_q + (bug_q == 5 ? d.from_column[14:0] : d.from_row[14:0])"),
    ("tap_row_at_q + d.tap_row[14:0]", "tap_row_at_q + (bug_q == 6 ? d.tap_column[14:0] : d.tap_row[14:0])"),
    ("dot_valid_q.first ?", "dot_valid_q.first && bug_q != 7 ?"),                      # sums of the window before
    ("kind == CONVOLVE ? 15'(Depth)", "kind == CONVOLVE || bug_q == 8 ? 15'(Depth)"),  # weights of a depthwise one
    ("32'(x) <<< 4", "32'(x) <<< (bug_q == 9 ? 3 : 4)"),                               # pool
    ("read_q.side ? d.scale_1", "read_q.side && bug_q != 10 ? d.scale_1"),             # both operands by one scale
    ("y > 32'($signed(limits[7:0])) ?", "bug_q != 11 && y > 32'($signed(limits[7:0])) ?"),
    ("32'(x[31]));", "32'(x[31] ^ (bug_q == 12)));"),                                  # ties the other way
    ("result_q[127:64];", "bug_q == 13 ? result_q[63:0] : result_q[127:64];"),         # the first beat twice
    ("ended_q && pending_q == 0;", "ended_q && (pending_q == 0 || bug_q == 14);"),     # answers are not waited for
])
change("jacquard.c", [
    ("    set(dev, BEGIN, 0);", "    set(dev, BEGIN, bug());"),
    ("#include \"hd.h\"", '#include <stdlib.h>\n\n#include "hd.h"\n\nstatic uint32_t bug(void)\n{\n'
     '    return getenv("JACQUARD_BUG") ? (uint32_t)atoi(getenv("JACQUARD_BUG")) : 0;\n}'),
    ("(add ? 2 : i->taps.columns)", "(add && bug() != 15 ? 2 : i->taps.columns)"),     # one operand
    ("halves(count, (uint32_t)(count > 0) << 1 |", "halves(count, (uint32_t)(count > 0 && bug() != 16) << 1 |"),
])
PY
export HEDDLE_CXX="$HEDDLE_HOME/tests/e2e/o0 g++"
found() { # found BUG TEXT
    JACQUARD_BUG=$1 "$heddle" check-target planted --allow-native-targets >stdout 2>stderr && fail "bug $1 passes"
    grep -Eq "^FAIL $2" stdout || fail "bug $1: expected $2, found $(grep FAIL stdout)"
}
one='instruction [0-9]+ on the Verilated core:' piece='(layer|keep) of a'
found 1 "$one lines_in \(.*: lines 0x"
found 2 "$one filters_in \(.*: filters 0x"
found 3 "$one channels_in \(.*: channels 0x"
for bug in 5 7 11 12; do found $bug "$one $piece.* \(.*: (outside|lines) 0x"; done
found 6 "$one $piece .*(convolution|pool) \(.*tap_rows .*: (outside|lines) 0x"
found 8 "$one $piece depthwise convolution \("
found 9 "$one $piece pool \("
for bug in 10 15; do found $bug "$one ${piece}n addition \(.*, operand 1 zero .*: (outside|lines) 0x"; done
for bug in 13 14; do found $bug "$one layer of a.* \(.*: outside 0x"; done
for bug in 4 16; do found $bug '.* on the Verilated core, with a wait for '; done
finish
