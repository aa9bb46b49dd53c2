#!/bin/bash
# The target synth of heddle.core: yosys makes a netlist of hd_top of tiny for an ECP5, without a latch; four minutes.
. "$(dirname "$0")/../e2e/common.sh"
command -v yosys >/dev/null || { echo "SKIPPED: no yosys (make test installs it)"; exit 77; }
venv=$(cd "$HEDDLE_HOME" && .ci/venv fpga) || { echo "SKIPPED: $venv"; exit 77; }
case $venv in /*) ;; *) venv=$HEDDLE_HOME/$venv ;; esac
mkdir -p tree/build/gen tree/hw
cp "$HEDDLE_HOME/heddle.core" tree && cp -r "$HEDDLE_HOME/hw/rtl" tree/hw
cp -r "$HEDDLE_BUILD"/gen/hd_accel.svh "$HEDDLE_BUILD"/gen/{tiny,sys8,sys16,sys32} tree/build/gen
"$venv/bin/fusesoc" --cores-root=tree run --work-root=synth --target=synth heddle >log 2>&1 || fail "$(tail -5 log)"
python3 - synth/*.json <<'END' || fail "the netlist"
import collections
import json
import sys
with open(sys.argv[1], encoding="utf-8") as file:
    cells = collections.Counter(c["type"] for c in json.load(file)["modules"]["hd_top"]["cells"].values())
print(dict(sorted(cells.items())))
assert cells["LUT4"] > 20000 and cells["MULT18X18D"] > 40 and cells["DP16KD"] > 10
assert not [t for t in cells if t.startswith("$")], "cells that the device does not have"
END
finish
