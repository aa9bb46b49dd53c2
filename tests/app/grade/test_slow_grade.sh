#!/bin/bash
# grade-target: what it finds of the copy template's mutants, that it continues, and its refusals.
. "$(dirname "$0")/../../e2e/common.sh"
for tool in yosys verilator; do
    command -v $tool >/dev/null || { echo "no $tool: SKIPPED"; exit 77; }
done
export XDG_CONFIG_HOME=$work/config HEDDLE_CXX="$HEDDLE_HOME/tests/e2e/o0 g++"
"$heddle" new-target mover --template=copy >/dev/null || fail "new-target"
echo "// $RANDOM $$" >>mover/mover_core.sv # no results of an earlier test

# --- refusals ---
"$heddle" new-target plain >/dev/null || fail "new-target"
expect 3 "heddle: target plain has no \"core\": only Verilog has mutants, 'heddle check-target' checks the C" \
    "$heddle" grade-target plain --allow-native-targets
export HEDDLE_YOSYS=/nowhere/yosys
expect 5 "heddle: cannot find '/nowhere/yosys', needed to build the simulator: install the package yosys" \
    "$heddle" grade-target mover --allow-native-targets
unset HEDDLE_YOSYS
expect 2 "heddle: --minutes: found '0', expected a whole number from 1 to 100000" \
    "$heddle" grade-target mover --allow-native-targets --minutes=0
cp -r mover odd
sed -i 's/"name": "mover"/"name": "odd"/' odd/target.json
sed -i 's/left_q < 8/int'"'"'(left_q) < 8/' odd/mover_core.sv
"$heddle" grade-target odd --allow-native-targets >stdout 2>stderr
[ $? = 5 ] && grep -q 'mover_core.sv:[0-9]*: ERROR: syntax error' stderr &&
    grep -qF "yosys reads a part of SystemVerilog: 0.23 takes no arrays as ports (pack them) and no -9'(x) (write 9'd0 - x); HEDDLE_YOSYS names a newer one" stderr ||
    fail "what yosys cannot read: $(cat stderr)"
cp -r mover wrong
sed -i 's/"name": "mover"/"name": "wrong"/' wrong/target.json
sed -i 's/mem_wdata_o = mem_rdata_i;/mem_wdata_o = mem_rdata_i ^ 64'"'"'d1;/' wrong/mover_core.sv
"$heddle" grade-target wrong --allow-native-targets --mutants=4 >stdout 2>stderr
[ $? = 1 ] && grep -q "^heddle: target wrong fails without a mutant: .*expected .*, found .*; 'heddle check-target wrong' is to pass first" stderr ||
    fail "a wrong core: $(cat stderr)"

# --- mutants: most are found, and each is one of a kind ---
"$heddle" grade-target mover --allow-native-targets --mutants=16 --minutes=4 >stdout 2>stderr || fail "grade: $(cat stderr)"
grep -q "^heddle: digits: no operator of it goes to mover" stderr || fail "networks: $(cat stderr)"
grep -q "^branches and lines that ran: 15 of 15$" stdout || fail "lines: $(grep lines stdout)"
grep -qE "^bits that toggled: [0-9]+ of 352; not: .*mem_addr_o\[29\]" stdout || fail "toggles: $(grep toggled stdout)"
python3 - <<'PY' || fail "numbers: $(cat stdout)"
import re
text = open("stdout").read()
n = [int(i) for i in re.search(r"^(\d+) mutants of mover_core: check-target finds (\d+), networks (\d+), further seeds (\d+); no output "
                               r"depends on (\d+), (\d+) never had an effect, (\d+) survive, (\d+) not tried$", text, re.M).groups()]
assert n[0] == 16 == sum(n[1:]) and n[1] >= 8 and n[2] == 0 and n[7] == 0, n
killed, decided = map(int, re.search(r"^(\d+) of (\d+) decided mutants found: ", text, re.M).groups())
assert killed == n[1] + n[2] + n[3] and decided == killed + n[6], text
assert 20 * killed >= 19 * decided, text
listed = re.findall(r"^  mover_core\.sv:\d+: [^ ]+.*: (?:always [01]|inverted(?: while bit \d+ is [01])?)(?:: found by .*|; .*)?$", text, re.M)
assert len(listed) == n[3] + n[5] + n[6], (listed, n)
PY
# --- the next call knows all ---
cp stdout first
"$heddle" grade-target mover --allow-native-targets --mutants=16 --minutes=4 --seed=1 >stdout 2>stderr || fail "again: $(cat stderr)"
same first stdout "the second call"
finish
