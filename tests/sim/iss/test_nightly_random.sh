#!/bin/bash
# test_random.sh with a million programs, from a fresh seed (HD_SEED repeats it).
HD_SEED=${HD_SEED:-${seed:-$(($(od -An -N4 -tu4 /dev/urandom) % 2000000000 + 1))}} HD_PROGRAMS=${HD_PROGRAMS:-1000000} \
    exec bash "$(dirname "$0")/test_random.sh"
