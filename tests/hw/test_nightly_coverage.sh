#!/bin/bash
# The smallest step of `make coverage`: a bench on a model that counts, its module's share, the annotated source. In a
# build folder of its own.
. "$(dirname "$0")/../e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
mkdir build
cp -r "$HEDDLE_BUILD/gen" build/gen
HEDDLE_BUILD=$work/build bash "$HEDDLE_HOME/tests/hw/coverage.sh" acc >stdout 2>&1 || fail "exit $?: $(cat stdout)"
grep -q '^hd_acc .*100.0% ' stdout || fail "$(cat stdout)"
[ -s build/coverage/annotated/hd_acc.sv ] || fail "no annotated source"
finish
