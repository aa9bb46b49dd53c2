#!/bin/bash
# heddle.core with FuseSoC (PyPI fusesoc): it lists the RTL as it is, Verilator's lint from it is clean for tiny and sys8
# and sees a planted fault, and yosys is set up for hd_top of an ECP5. test_nightly_core_synth.sh runs that.
. "$(dirname "$0")/../e2e/common.sh"
command -v verilator >/dev/null || { echo "SKIPPED: no verilator (make test installs it)"; exit 77; }
venv=$(cd "$HEDDLE_HOME" && .ci/venv fpga) || { echo "SKIPPED: $venv"; exit 77; }
case $venv in /*) ;; *) venv=$HEDDLE_HOME/$venv ;; esac
export PATH=$venv/bin:$PATH

diff <(grep -o 'hw/rtl/[a-z0-9_/]*\.svh\?' "$HEDDLE_HOME/heddle.core" | sort) \
    <(cd "$HEDDLE_HOME" && find hw/rtl -name '*.sv*' | sort) >difference || fail "heddle.core, hw/rtl: $(cat difference)"

# The files that the core file names, alone: nothing else is needed.
mkdir -p tree/build/gen tree/hw
cp "$HEDDLE_HOME/heddle.core" tree && cp -r "$HEDDLE_HOME/hw/rtl" tree/hw
cp -r "$HEDDLE_BUILD"/gen/hd_accel.svh "$HEDDLE_BUILD"/gen/{tiny,sys8,sys16,sys32} tree/build/gen
runs() { # runs NAME ARGUMENT...
    rm -rf "$1"
    fusesoc --cores-root=tree run --work-root="$1" "${@:2}" heddle >log 2>&1
}
runs tiny --target=lint || fail "lint of tiny: $(cat log)"
runs sys8 --target=lint --flag=sys8 || fail "lint of sys8: $(cat log)"
grep -rq 'CfgN = 8;' sys8/src --include=hd_config.svh || fail "--flag=sys8 did not take sys8"

runs synth --target=synth --setup || fail "synth: $(cat log)"
procs=$(cat synth/*.tcl)
[[ $procs == *"synth_ecp5 -nowidelut"* && $procs == *"chparam -set Trace 0 hd_top"* && $procs == *hd_softmax_scale.sv* ]] ||
    fail "synth is not set up: $procs"

sed -i 's/localparam int LaneBits *=.*/&\n  logic [3:0] planted;\n  assign planted = 5'"'"'d3;/' tree/hw/rtl/spad/hd_ram.sv
grep -q planted tree/hw/rtl/spad/hd_ram.sv || fail "no fault was planted"
runs bad --target=lint && fail "a planted fault was not seen"
grep -q 'WIDTH' log || fail "a planted fault: $(cat log)"
finish
