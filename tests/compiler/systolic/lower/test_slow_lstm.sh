#!/bin/bash
# Random LSTMs of int8 run whole on the accelerator, states included, equal to the reference over several inferences: on the
# functional model in three configurations, small scratchpads among them, and on the RTL. The others stay on the host with a reason.
. "$(dirname "$0")/../../../e2e/common.sh"
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
net() { python3 "$HEDDLE_HOME/tests/compiler/systolic/lower/lstm_net.py" "$@"; }
sys8='{"base": "sys8", "lstm": 1}'
narrow='{"base": "sys8", "lstm": 1, "scratchpad_bytes": 4096, "softmax_rows": 0}'

# equal SEED HW [KEY=NUMBER...] [OPTION...]: all outputs and layers, and none on the host
equal() {
    local seed=$1 hw=$2 size=()
    shift 2
    while [[ ${1-} == [a-z]*=* ]]; do size+=("$1"); shift; done
    net "$seed" "${size[@]}" >net.ir
    "$heddle" run net.ir --hw="$hw" "$@" >report 2>stderr || fail "seed $seed on $hw $*: $(head -n 1 report stderr)"
    grep -q '^verdict: match' report || fail "seed $seed on $hw $*: $(head -n 1 report)"
    grep -qE '^00_lstm .* systolic ' report || fail "seed $seed on $hw $*: not on the accelerator: $(grep ^00 report)"
    expect 0 '' "$heddle" prove net.ir --hw="$hw" --strict
    grep -q '^proved: all 1 layers, for every input, except for a chance below 2^-[0-9]* (' stdout || fail "seed $seed: $(cat stdout)"
}
for seed in $(seq 1 8); do
    equal "$seed" sys16 --engine=func
    equal "$seed" "$sys8" --engine=func
done
equal 31 "$narrow" --engine=func
equal 32 sys16
equal 33 sys16 cells=20 inputs=7 x_parts=3 h_parts=2 steps=5 reset=1
equal 34 sys16 cells=140 inputs=20 steps=2 --engine=func # weights that memory does not hold
equal 35 '{"base": "sys8", "lstm": 1, "param_entries": 16}' cells=40 h_parts=4 steps=3 --engine=func

# refused HW REASON KEY=NUMBER...
refused() {
    local hw=$1 reason=$2
    shift 2
    net 7 "$@" >net.ir
    "$heddle" inspect net.ir --hw="$hw" >report 2>stderr || fail "inspect $*: $(cat stderr)"
    grep -q "^00_lstm .* c .*$reason" report || fail "$*: expected '$reason': $(grep ^00 report)"
    "$heddle" run net.ir --hw="$hw" --engine=func >report 2>stderr || fail "run $*: $(head -n 1 report stderr)"
}
refused sys16 'an LSTM of batch 2: the accelerator takes batch 1' batch=2
refused '{"base": "sys16", "weight_bytes": 4096}' 'a gate of an LSTM has 300 weights: .* has 256 words' cells=16 inputs=300
refused sys16 "an LSTM's weights have 256 parts: expected at most 255" cells=4 inputs=1 x_parts=256
refused sys16 "an LSTM's state of scale .*: the unit takes 2^-13 to 2^-6" state=-14
refused sys8 'sys8 has no lstm (lstm 0)'
finish
