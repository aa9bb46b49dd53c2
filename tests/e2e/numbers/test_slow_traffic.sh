#!/bin/bash
# Bytes of the bus counters: never below the compulsory traffic, and what the report divides.
. "$(dirname "$0")/../common.sh"

"$heddle" run "$models/digits/model.tflite" -n1 --hw tiny --stats s.json >report 2>stderr || fail "digits: $(cat stderr)"
# of the whole, whose keys are in the second column of the file
number() { sed -n "s/^\t\"$1\":[[:space:]]*\([0-9]*\).*/\1/p" s.json; }
read -r _ _ moved _ _ least _ <<<"$(grep '^memory traffic' report)" # memory traffic: N bytes, compulsory N
[ "$moved" = $(($(number dram_read_bytes) + $(number dram_write_bytes))) ] ||
    fail "moved $moved, stats: $(number dram_read_bytes) and $(number dram_write_bytes)"
[ "${least:-0}" = 23730 ] || fail "compulsory: $(grep '^memory traffic' report)"
[ "${moved:-0}" -ge 23730 ] || fail "moved: $(grep '^memory traffic' report)"
finish
