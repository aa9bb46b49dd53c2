#!/bin/bash
# Words that are read and written in one cycle, by memory: every network of tests/models and random layers on tiny (without
# softmax) and sys8 (with it).
. "$(dirname "$0")/../e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
for config in tiny sys8; do
    (cd "$models" && ls -d digits *_own) | xargs "$HEDDLE_HOME/tests/hw/collisions.sh" "$config" 500 || fail "$config: exit $?"
done
finish
