#!/bin/bash
# hw/registers.rdl as PeakRDL's compiler (PyPI systemrdl-compiler) reads it: every register and field as in accel.json
# and in the C header (read_rdl.py); changes of the file are seen.
. "$(dirname "$0")/../e2e/common.sh"
venv=$(cd "$HEDDLE_HOME" && .ci/venv fpga) || { echo "SKIPPED: $venv"; exit 77; }
case $venv in /*) ;; *) venv=$HEDDLE_HOME/$venv ;; esac
reads() { # reads RDL
    "$venv/bin/python" "$HEDDLE_HOME/tests/fpga/read_rdl.py" "$1" "$HEDDLE_HOME/hw/accel.json" \
        "$HEDDLE_BUILD/gen/hd_accel.h" "$HEDDLE_HOME/hw/REGISTERS.md" >log 2>&1
}
reads "$HEDDLE_HOME/hw/registers.rdl" || fail "$(cat log)"
tail -1 log

# An address, an access, a reset, a field's bits, an enum's value, a count, the step of an array.
for change in 's/@ 0x018/@ 0x1f8/' 's/onwrite = woclr;//' 's/0x454c4448/0x454c4449/' 's/code\[7:0\]/code[6:0]/' \
    's/bad_opcode = 4;/bad_opcode = 14;/' 's/counter\[48\]/counter[47]/' 's/@ 0x0ec += 4/@ 0x0ec += 8/'; do
    sed "$change" "$HEDDLE_HOME/hw/registers.rdl" >changed.rdl
    cmp -s "$HEDDLE_HOME/hw/registers.rdl" changed.rdl && fail "$change: changes nothing"
    reads changed.rdl && fail "$change was not seen"
    grep -q . log || fail "$change: nothing is said"
done
finish
