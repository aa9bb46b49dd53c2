#!/bin/bash
# make check-rtl: a bench runs once, and again after a change of a module that it contains, not of others; one that
# fails is reported and runs again. In a copy of the tree.
. "$(dirname "$0")/../e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
mkdir -p tree/tests tree/build
cp -r "$HEDDLE_HOME/hw" tree/hw
cp -r "$HEDDLE_HOME/tests/hw" tree/tests/hw
cp -r "$HEDDLE_BUILD/gen" tree/build/gen
check() { HEDDLE_BUILD=$work/tree/build CHECK_RTL_BENCHES="skew 16,acc 16" bash tree/tests/hw/check_rtl.sh "$@" >stdout 2>&1; }
expect 2 'run_bench.sh: no tests/hw/*/none_tb.cpp' bash tree/tests/hw/run_bench.sh none 4
ran() { grep -c ' passed, ' stdout; }

check --list || fail "--list: $(cat stdout)"
[ "$(grep -c ': has not passed yet$' stdout)" = 2 ] || fail "at first: $(cat stdout)"
check || fail "at first: $(cat stdout)"
[ "$(ran)" = 2 ] || fail "at first: $(cat stdout)"
check || fail "again: $(cat stdout)"
[ "$(cat stdout)" = "no bench is built from what changed" ] || fail "again: $(cat stdout)"
sed -i "1s|:|: $work/gone.h|" tree/build/hw/acc_n16-O1/acc_tb.d
HEDDLE_BUILD=$work/tree/build bash tree/tests/hw/run_bench.sh acc 16 >stdout 2>&1 || fail "built from a header that is gone: $(tail -n 3 stdout)"
echo "// changed" >>tree/hw/rtl/vector/hd_vector.sv
check || fail "another module: $(cat stdout)"
[ "$(cat stdout)" = "no bench is built from what changed" ] || fail "another module: $(cat stdout)"
echo "// changed" >>tree/hw/rtl/array/hd_acc.sv
check --list
[ "$(cat stdout)" = "acc 16: hd_acc.sv" ] || fail "a comment in hd_acc: $(cat stdout)"
check || fail "a comment in hd_acc: $(cat stdout)"
[ "$(ran)" = 1 ] || fail "a comment in hd_acc: $(cat stdout)"
sed -i 's/<= \(.*\);/<= ~(\1);/' tree/hw/rtl/array/hd_skew.sv
check && fail "a bug in hd_skew passes: $(cat stdout)"
grep -q '^skew 16: FAILED, .*; again: tests/hw/run_bench.sh skew 16$' stdout || fail "a bug in hd_skew: $(cat stdout)"
check --list
[ "$(cat stdout)" = "skew 16: has not passed yet" ] || fail "after a failure: $(cat stdout)"
finish
