#!/bin/bash
# The checkers of AXI4 against models that heddle did not write: random traffic of cocotbext-axi breaks no rule, and each
# rule that is broken in its trace is found. $HEDDLE_COCOTB: a Python with tests/sim/core/requirements-outside.txt.
. "$HEDDLE_HOME/tests/e2e/common.sh"
python=${HEDDLE_COCOTB:-python3}
"$python" -c 'import cocotb.runner, cocotbext.axi' 2>/dev/null || { echo "SKIPPED: no cocotbext-axi"; exit 77; }
command -v iverilog >/dev/null || { echo "SKIPPED: no iverilog"; exit 77; }
outside=$HEDDLE_HOME/tests/sim/core/outside
core=$HEDDLE_HOME/sim/core
g++ -std=gnu++17 -Wall -Wextra -Werror -O1 -I"$HEDDLE_HOME/sim" -I"$core" -I"$HEDDLE_HOME/sim/ports" -o replay "$outside/replay.cpp" "$core/core_check.cpp" \
    "$core/core.cpp" || fail "replay.cpp"
for seed in 1 "${SEED:-$RANDOM}"; do
    "$python" "$outside/run_traffic.py" "sim$seed" trace "$seed" >log 2>&1 || fail "seed $seed: $(tail -5 log)"
    ./replay trace >out || fail "seed $seed: $(cat out)"
    echo "seed $seed: $(cat out)"
done
n=0
python3 "$outside/breaches.py" trace >breaches || fail "breaches.py"
while read -r cycle signal value text; do
    ./replay trace "$cycle" "$signal" "$value" >out
    grep -qF "$text" out || fail "$signal = $value in cycle $cycle: expected '$text', found '$(cat out)'"
    n=$((n + 1))
done <breaches
[ $n -ge 20 ] || fail "$n breaches, expected 20"
echo "$n breaches found"
finish
