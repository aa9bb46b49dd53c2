#!/bin/bash
# The checkers of AXI4, Wishbone and APB against models that heddle did not write: random traffic of cocotbext-axi, -wishbone
# and -apb breaks no rule, and each rule that is broken in its trace is found.
. "$HEDDLE_HOME/tests/e2e/common.sh"
venv=$("$HEDDLE_HOME/.ci/venv" outside) || { echo "SKIPPED: $venv"; exit 77; }
command -v iverilog >/dev/null || { echo "SKIPPED: no iverilog"; exit 77; }
python=$(cd "$HEDDLE_HOME" && realpath -s "$venv")/bin/python
outside=$HEDDLE_HOME/tests/sim/core/outside
core=$HEDDLE_HOME/sim/core
g++ -std=gnu++17 -Wall -Wextra -Werror -O1 -I"$HEDDLE_HOME/sim" -I"$core" -I"$HEDDLE_HOME/sim/ports" -o replay "$outside/replay.cpp" "$core/core_check.cpp" \
    "$core/core.cpp" || fail "replay.cpp"
for bus in axi wishbone apb; do
    for seed in 1 "${SEED:-$RANDOM}"; do
        timeout 120 "$python" "$outside/run_traffic.py" $bus "$bus$seed" $bus.trace "$seed" >log 2>&1 || fail "$bus, seed $seed: $(tail -5 log)"
        ./replay $bus $bus.trace >out || fail "$bus, seed $seed: $(cat out)"
        echo "$bus, seed $seed: $(cat out)"
        [ "$(sed 's/.* cycles, \([0-9]*\) handshakes.*/\1/' out)" -ge 100 ] || fail "$bus, seed $seed: hardly any traffic: $(cat out)"
    done
    n=0
    python3 "$outside/breaches.py" $bus $bus.trace >breaches || fail "breaches.py $bus"
    while read -r cycle signal value text; do
        ./replay $bus $bus.trace "$cycle" "$signal" "$value" >out
        grep -qF "$text" out || fail "$bus: $signal = $value in cycle $cycle: expected '$text', found '$(cat out)'"
        n=$((n + 1))
    done <breaches
    [ $n -ge 5 ] || fail "$bus: $n breaches, expected 5"
    echo "$bus: $n breaches found"
done
finish
