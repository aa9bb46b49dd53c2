#!/bin/bash
# Cycles of the networks of tests/models, estimated and on the RTL, are at most what tests/models/bars.csv records;
# UPDATE=1 records what they are now.
. "$(dirname "$0")/../common.sh"
python3 "$HEDDLE_HOME/tests/e2e/numbers/bars.py" estimated_cycles || fail "estimated cycles"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
python3 "$HEDDLE_HOME/tests/e2e/numbers/bars.py" cycles || fail "cycles"
finish
