#!/bin/bash
# The list of planted bugs: every one applies to today's sources, and one that does not is reported by name.
. "$(dirname "$0")/../e2e/common.sh"
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
run="python3 $HEDDLE_HOME/tests/mutants/mutants.py"

$run --list >list || fail "--list: exit $?"
n=$(grep -c . list)
grep -q "^In: .mutants.txt., $n small bugs" "$HEDDLE_HOME/tests/mutants/README.md" || fail "README.md: expected $n small bugs"
for area in known legalise schedule plan emit kernels partition import; do
    [ "$(grep -c "^$area " list)" = 6 ] || fail "$area: expected 6, found $(grep -c "^$area " list)"
done
for area in onnx norm tables softmax masks oracle judge views rare; do grep -q "^$area " list || fail "$area: expected some, found none"; done
$run --list --from "$HEDDLE_HOME/tests/prove/mutants.txt" >prove || fail "--list of tests/prove/mutants.txt: exit $?"
n=$(grep -c . prove)
[ "$n" -ge 40 ] || fail "tests/prove/mutants.txt: expected at least 40, found $n"
grep -q " $n mistakes" "$HEDDLE_HOME/docs/PROOF.md" || fail "docs/PROOF.md: expected $n mistakes"
expect 2 'mutants: no mutant is called nothing' $run --list nothing
printf 'area x\nmutant gone\nfile Makefile\n- no such line\n+ another\nmismatch digits\n' >gone.txt
expect 2 'mutants: gone: expected once in Makefile, found 0 times: no such line' $run --list --from gone.txt
printf 'area x\nmutant half\nfile Makefile\n- SHELL\n' >half.txt
expect 2 "mutants: half: expected file, '-' and '+' lines, and what finds it" $run --list --from half.txt
finish
