#!/bin/bash
# No module uses the value that a memory with Apart reads of a word written in the same cycle: every network of
# tests/models and random layers on tiny (without softmax) and sys8 (with it) with that inverted (hd_ram). Inverted in
# every cycle that reads and writes, whatever the words, they are wrong.
. "$(dirname "$0")/../e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
collisions=$HEDDLE_HOME/tests/hw/collisions.sh
for config in tiny sys8; do
    (cd "$models" && ls -d digits *_own) | xargs "$collisions" "$config" 500 || fail "$config: exit $?"
done
COLLISIONS_PLANT=1 "$collisions" tiny 5 >planted 2>&1 && fail "inverted words that are used: $(cat planted)"
grep -q '^tiny: [1-9][0-9]* collisions$' planted || fail "planted, none is counted: $(tail -n 1 planted)"
finish
