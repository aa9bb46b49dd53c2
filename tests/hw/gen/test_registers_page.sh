#!/bin/bash
# hw/REGISTERS.md is what hdgen writes from hw/accel.json now.
set -eu
page=$(mktemp)
trap 'rm -f "$page"' EXIT
"$HEDDLE_BUILD/hdgen" hw/accel.json --doc "$page"
diff -u hw/REGISTERS.md "$page" || {
    echo "hw/REGISTERS.md has drifted from hw/accel.json: make registers"
    exit 1
}
