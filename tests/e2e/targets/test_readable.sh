#!/bin/bash
# Verilog of the examples that heddle ships: Icarus and yosys read it, too, without a latch.
. "$(dirname "$0")/../common.sh"
command -v iverilog >/dev/null || { echo "SKIPPED: no iverilog"; exit 77; }
command -v yosys >/dev/null || { echo "SKIPPED: no yosys"; exit 77; }
# Ports and templates of whole systems have tests of their own.
read_by() { # read_by FILE: an empty line, or why not
    iverilog -g2012 -t null "$1" 2>&1 | grep -v '^Unable to get version' | grep -v 'sorry: constant selects'
    [ "${PIPESTATUS[0]}" = 0 ] || echo "$1: exit ${PIPESTATUS[0]}"
    yosys -q -p "read_verilog -sv $1; hierarchy -check -auto-top; proc; select -assert-none t:\$dlatch t:\$adlatch t:\$sr" 2>&1 |
        grep -v 'Replacing memory'
}
for file in "$HEDDLE_HOME"/targets/*/*_core.sv; do
    why=$(read_by "$file")
    [ -z "$why" ] || fail "$file: $why"
done
echo 'module a(input b, output reg c); always @* if (b) c = unknown; endmodule' >wrong.sv
grep -q 'wrong.sv:1: error: Unable to bind' <<<"$(read_by wrong.sv)" || fail "Icarus reads an unknown name"
echo 'module a(input b, input d, output reg c); always @* if (b) c = d; endmodule' >latch.sv
[ -n "$(read_by latch.sv)" ] || fail "yosys makes a latch"
finish
