#!/bin/bash
# test_slow_cpu_trace.sh with more programs, from a fresh seed (HD_SEED repeats it).
seed=${HD_SEED:-${seed:-$(($(od -An -N4 -tu4 /dev/urandom) % 2000000000 + 1))}}
for ((i = 0; i < 20; i++)); do
    HD_SEED=$((seed + i)) HD_PROGRAMS=4000 bash "$(dirname "$0")/test_slow_cpu_trace.sh" || exit
done
