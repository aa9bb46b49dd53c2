#!/bin/bash
# hw/REGISTERS.md and hw/registers.rdl are what hdgen writes from hw/accel.json now.
set -eu
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$HEDDLE_BUILD/hdgen" hw/accel.json --doc "$made/REGISTERS.md" --rdl "$made/registers.rdl"
for file in REGISTERS.md registers.rdl; do
    diff -u "hw/$file" "$made/$file" || {
        echo "hw/$file has drifted from hw/accel.json: make registers"
        exit 1
    }
done
