# shellcheck shell=bash
# plant.sh - a copy of the shuttle example with a bug in its core for each number in SHUTTLE_BUG; 0: none.
# plant FOLDER: makes it. Each line: a place in shuttle_core.sv, and what it becomes.
# copy_target TARGET FOLDER: the example under the folder's name. planted: python with plant_text.py's change.
copy_target() {
    cp -r "$HEDDLE_HOME/targets/$1" "$2"
    sed -i "s/\"name\": \"$1\"/\"name\": \"$2\"/" "$2/target.json"
}
planted() { PYTHONPATH=$HEDDLE_HOME/tests/app/described python3 -B - "$@"; }
plant() {
    copy_target shuttle "$1"
    planted "$1" <<'PY'
import sys
from plant_text import change
change("shuttle_core.sv", [
    # 1 pixels_in: one word too few
    ("{ask_q, left_q} <= {2{for_load.columns}};",
     "{ask_q, left_q} <= {2{for_load.columns - 16'(bug_q == 1 && for_load.kind[1:0] == 0 && for_load.columns > 1)}};"),
    # 2 filters_in: the words of a pair exchanged
    ("filters_q[load_to_q[11:0]] <=", "filters_q[load_to_q[11:0] ^ 12'(bug_q == 2)] <="),
    # 3 channels_in: an address of 9 bits
    ("channels_q[load_to_q[9:0]] <=", "channels_q[{load_to_q[9] && bug_q != 3, load_to_q[8:0]}] <="),
    # 4 preload: always the first set of weights
    ("{diagonal_q, set_q} <= for_preload.kind[1:0];",
     "{diagonal_q, set_q} <= for_preload.kind[1:0] & {1'b1, bug_q != 4};"),
    # 5 preload: the last row is left
    ("    if (filter_valid_q)\n      weights_q", "    if (filter_valid_q && !(bug_q == 5 && filter_row_q == 15))\n      weights_q"),
    # 6 compute: the stride of columns for rows
    ("<= for_array.row_stride[12:0];", "<= bug_q == 6 ? for_array.column_stride[12:0] : for_array.row_stride[12:0];"),
    # 7 compute: one row too few
    ("<= {for_array.rows, for_array.columns};",
     "<= {for_array.rows - 16'(bug_q == 7 && for_array.rows > 1), for_array.columns};"),
    # 8 compute: accumulation ignored
    ("{add_q, use_q}       <= for_array.kind[1:0];", "{add_q, use_q}       <= for_array.kind[1:0] & {bug_q != 8 || for_array.kind[2], 1'b1};"),
    # 9 move_out: no lower limit
    ("y < 32'($signed(low)) ?", "bug_q != 9 && y < 32'($signed(low)) ?"),
    # 10 move_out: results one after the other
    ("{12'd0, store_stride_q, 4'd0};", "{12'd0, bug_q == 10 ? 16'd1 : store_stride_q, 4'd0};"),
    # 11 move_out: ties the other way
    ("32'((x & mask) > (mask >> 1) + 32'(x[31]))", "32'((x & mask) > (mask >> 1) + 32'(x[31] ^ (bug_q == 11)))"),
    # 12 move_out: no shift to the left
    ("a = $signed(shift) > 0 ? x << shift[4:0] : x;", "a = $signed(shift) > 0 && bug_q != 12 ? x << shift[4:0] : x;"),
    # 14 keep: rows one after the other
    ("store_row_q    <= for_store.row_stride;", "store_row_q    <= bug_q == 14 ? for_store.column_stride : for_store.row_stride;"),
    # 13 widen: no zero point
    ("- 9'($signed(mul_zero));", "- (bug_q == 13 ? 9'd0 : 9'($signed(mul_zero)));"),
    # 15 spread: every row has the whole word
    ("diagonal_q ? filter_q & 128'd255", "diagonal_q && bug_q != 15 ? filter_q & 128'd255"),
    # 16 spread: as many words as preload
    ("12'(!diagonal_q)", "12'(!diagonal_q || bug_q == 16)"),
    ("  logic [31:0]  r_q[8];", """  logic [7:0] bug_q;
  always_ff @(posedge clk_i) if (reg_write_i && reg_addr_i[15:2] == 14'd15) bug_q <= reg_wdata_i[7:0];
  logic [31:0]  r_q[8];"""),
], sys.argv[1])
change("shuttle.c", [
    ("    set(dev, BEGIN, 0);", '    set(dev, 15, getenv("SHUTTLE_BUG") ? (uint32_t)atoi(getenv("SHUTTLE_BUG")) : 0);\n    set(dev, BEGIN, 0);'),
    ('#include "hd.h"', '#include <stdlib.h>\n\n#include "hd.h"'),
], sys.argv[1])
PY
}
