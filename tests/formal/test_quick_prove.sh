#!/bin/bash
# make formal reports an open proof, a property that is wrong, a planted bug that passes, and one that no longer
# applies; the README lists every proof with its planted bugs.
. "$(dirname "$0")/../e2e/common.sh"
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
run="python3 $HEDDLE_HOME/tests/formal/prove.py"

$run --list >list || fail "--list: exit $?"
while read -r name module rest; do
    row=$(grep "^| \`$name\` | \`$module\` |" "$HEDDLE_HOME/tests/formal/README.md") || fail "README.md: no proof $name"
    for word in $rest; do
        grep -q "[ \`]$word[\`, ]" <<<"$row" || fail "README.md: proof $name: expected $word"
    done
done <list
expect 2 'prove: no proof is called nothing' $run --list nothing

# says PATTERN WHAT: a line of what was printed last
says() { grep -q "$1" stdout || fail "$2: $(cat stdout)"; }

# list EDIT: a list of one proof of hd_fifo whose planted bug is EDIT ("- OLD", "+ NEW")
list() { printf 'proof p\nmodule hd_fifo\nsizes Width=1 Depth=2\nsteps 3\nholds x\nmutant m\n%s\n%s\n' "$1" "$2" >one.txt; }
list '- no such line' '+ another'
expect 2 'prove: m: expected once in hd_fifo.sv, found 0 times: no such line' $run --from one.txt
printf 'proof p\nmodule hd_fifo\nsteps 3\nholds x\n' >none.txt
expect 2 'prove: p: expected module, steps, holds and a mutant' $run --from none.txt

command -v yosys >/dev/null || { echo "SKIPPED: no yosys"; exit 77; }
list '- assign pop     = valid_q && ready_i;' '+ assign pop     = ready_i && valid_q;'
expect 1 '' $run --from one.txt
says '^    mutant m .* NOT REJECTED: open: no proof and no counterexample within 3 steps$' "a planted bug that is none"
list '- assign pop     = valid_q && ready_i;' '+ assign pop     = ready_i;'
expect 0 '' $run --from one.txt
says '^    mutant m .* rejected$' "a planted bug"

# By parts: proven, rejected, a property that there is not.
sed 's/^steps.*/alone a_order a_stable\nsteps 4/' one.txt >alone.txt
expect 0 '' $run --from alone.txt
says '^p .* proven, in 3 parts$' "a proof by parts"
sed 's/^+ .*/+ assign pop     = ready_i \&\& valid_q;/' alone.txt >none.txt
expect 1 '' $run --from none.txt
says '^    mutant m .* NOT REJECTED: open: no proof and no counterexample within 4 steps$' "by parts, a planted bug that is none"
sed 's/^alone.*/alone none/' alone.txt >none.txt
expect 1 '' $run --from none.txt
says '^p .* failed: alone: no property none$' "no such property"

# A clock that may stop, and one that may not.
sed 's/^steps/rests valid_i || ready_i\nmoves head_q\n&/; s/^+ .*/+ assign pop     = valid_q;/' one.txt >rests.txt
expect 0 '' $run --from rests.txt
says '^p .* proven, length 1$' "a queue at rest"
sed 's/^steps/rests valid_i\n&/' one.txt >rests.txt
expect 1 '' $run --from rests.txt
says '^p .* counterexample$' "a queue that is emptied at rest"
sed 's/^steps/rests valid_i\nmoves none\n&/' one.txt >rests.txt
expect 1 '' $run --from rests.txt
says '^p .* failed: moves: no register none$' "no such register"

# Properties that do not hold, in a copy.
mkdir -p tree/tests tree/hw
cp -r "$HEDDLE_HOME/tests/formal" tree/tests/formal
mkdir tree/tests/mutants && cp "$HEDDLE_HOME/tests/mutants/planted.py" tree/tests/mutants/
cp -r "$HEDDLE_HOME/hw/rtl" tree/hw/rtl
copy="python3 tree/tests/formal/prove.py --from one.txt --build $HEDDLE_BUILD"
sed -i 's/count_q <= Depth/count_q < Depth/' tree/tests/formal/holds_hd_fifo.sv
expect 1 '' $copy
says '^p .* counterexample$' "a wrong property"
cp "$HEDDLE_HOME/tests/formal/holds_hd_fifo.sv" tree/tests/formal/
sed -i '/a_kept:/d' tree/tests/formal/holds_hd_fifo.sv
sed -i 's/Depth=2/Depth=4/' one.txt
sed 's/^steps/alone a_order\n&/' one.txt >alone.txt
expect 1 '' ${copy/one.txt/alone.txt}
says '^p .* open: 1 of 2 parts$' "an open part"
expect 1 '' $copy
says '^p .* open: no proof and no counterexample within 3 steps$' "an open proof"
sed -i 's/Depth=4/Depth=2/; s/^steps 3/cases valid_i\n&/' one.txt
expect 1 '' $copy
says '^p .* open: length 3, and a case is one of a single cycle$' "a case of several cycles"
finish
