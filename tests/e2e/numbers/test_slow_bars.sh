#!/bin/bash
# Cycles of the networks of tests/models on the RTL are at most what tests/models/bars.csv records; UPDATE=1 records
# what they are now.
. "$(dirname "$0")/../common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
python3 "$HEDDLE_HOME/tests/e2e/numbers/bars.py" cycles || fail "cycles"
finish
