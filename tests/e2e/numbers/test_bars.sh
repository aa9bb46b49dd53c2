#!/bin/bash
# The scheduler's estimate for the networks of tests/models is at most what tests/models/bars.csv records;
# UPDATE=1 records what it is now.
. "$(dirname "$0")/../common.sh"
python3 "$HEDDLE_HOME/tests/e2e/numbers/bars.py" estimated_cycles || fail "estimated cycles"
finish
