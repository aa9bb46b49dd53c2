#!/bin/bash
# "accumulate" and "overlap" of a target.json: which operators may have them, and the words that their calls need.
. "$(dirname "$0")/../../e2e/common.sh"
export XDG_CONFIG_HOME=$work/config
mkdir sums
touch sums/sums.h

# target OPERATOR ACCUMULATE CALL: a target.json with that pattern.
target() {
    cat >sums/target.json <<END
{
  "heddle_target": 1, "name": "sums", "version": "1.0", "requires_heddle": "0.1", "help": "x", "headers": ["sums.h"],
  "operators": [
    {"op": "$1", "accumulate": $2, "cost": {"fixed": 1}, "call": "$3"}
  ]
}
END
}

target fully_connected true 'sums_dense($x, $w, $sums_in, $sums_out, $y)'
expect 0 "" "$heddle" targets --target-dir=sums
target conv2d true 'sums_conv($x, $w, $sums_in, $y)'
"$heddle" targets --target-dir=sums >stdout 2>&1
grep -q 'target.json:4:.*operators\[0\].accumulate: its call needs $sums_in and $sums_out' stdout || fail "one word: $(cat stdout)"
for op in depthwise_conv2d add transpose_conv; do
    target $op true 'sums_it($x, $sums_in, $sums_out, $y)'
    "$heddle" targets --target-dir=sums >stdout 2>&1
    grep -q "operators\[0\].accumulate: $op does not add up input channels; only conv2d and fully_connected do" stdout ||
        fail "$op: $(cat stdout)"
done
target conv2d false 'sums_conv($x, $w, $sums_in, $sums_out, $y)'
"$heddle" targets --target-dir=sums >stdout 2>&1
grep -q 'operators\[0\].call: $sums_in and $sums_out need "accumulate": true' stdout || fail "without: $(cat stdout)"

# A limit of "depth", the multiplications for one output: only a call that leaves its sums is cut for it.
target fully_connected true 'sums_dense($x, $w, $sums_in, $sums_out, $y)'
sed -i 's/"accumulate": true/&, "where": {"depth": {"max": 100}}/' sums/target.json
"$heddle" inspect digits --target-dir=sums --target=sums >stdout 2>&1
grep -q '^13_.* sums .*(3 parts of 86 input channels: depth is 256, expected at most 100)' stdout || fail "cut: $(grep ^13_ stdout)"
sed -i 's/"accumulate": true, //' sums/target.json
sed -i 's/, \$sums_in, \$sums_out//' sums/target.json
"$heddle" inspect digits --target-dir=sums --target=sums >stdout 2>&1
grep -q '^13_.*; sums: depth is 256, expected at most 100$' stdout || fail "whole: $(grep ^13_ stdout)"

# staged MEMORY OVERLAP CALL
staged() {
    cat >sums/target.json <<END
{
  "heddle_target": 1, "name": "sums", "version": "1.0", "requires_heddle": "0.1", "help": "x", "headers": ["sums.h"], "memory": "$1",
  "operators": [
    {"op": "add", "overlap": $2, "cost": {"fixed": 1}, "call": "$3"}
  ]
}
END
}

staged separate true 'sums_add($stage, $half, $x, $x2, $y)'
expect 0 "" "$heddle" targets --target-dir=sums
while IFS='|' read -r memory overlap call message; do
    staged "$memory" "$overlap" "$call"
    "$heddle" targets --target-dir=sums >stdout 2>&1
    grep -qF "$message" stdout || fail "$memory $overlap $call: $(cat stdout)"
done <<'END'
shared|true|sums_add($stage, $half, $x, $x2, $y)|operators[0].overlap: nothing is copied with "memory": "shared"
separate|true|sums_add($stage, $x, $x2, $y)|operators[0].overlap: its call needs $stage and $half
separate|false|sums_add($stage, $x, $x2, $y)|operators[0].call: $stage and $half need "overlap": true
END
finish
