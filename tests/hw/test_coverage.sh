#!/bin/bash
# coverage.py: shares by module over all files, what is below the bar, waivers, and those that waive nothing any more.
. "$(dirname "$0")/../e2e/common.sh"
export PYTHONDONTWRITEBYTECODE=1

point() { # point FILE LINE PAGE COMMENT COUNT: as verilator_coverage writes them
    printf "C '\1f\2%s\1l\2%s\1n\0029\1page\2%s\1o\2%s\1h\2top' %s\n" "/any/hw/rtl/$1" "$2" "$3" "$4" "$5"
}
share() { python3 "$HEDDLE_HOME/tests/hw/coverage.py" "$@" >stdout 2>&1; }

for bit in {0..98}; do point hd_acc.sv 30 v_toggle/hd_acc "sum_q[$bit]" 1; done >all.dat
point hd_acc.sv 12 v_line/hd_acc block 3 >>all.dat
point hd_acc_bench.sv 12 v_line/hd_acc_bench block 0 >>all.dat
: >none
share none all.dat || fail "all reached: $(cat stdout)"
grep -q '^hd_acc  *1/1  *100.0%  *99/99  *100.0%  0$' stdout || fail "all reached: $(cat stdout)"
grep -q bench stdout && fail "a bench counts: $(cat stdout)"

{ point hd_acc.sv 12 v_line/hd_acc block 0; for bit in {0..98}; do point hd_acc.sv 30 v_toggle/hd_acc "sum_q[$bit]" 0; done; } >other.dat
share none all.dat other.dat || fail "reached in one of two files: $(cat stdout)"

for bit in {0..19}; do point hd_acc.sv 31 v_toggle/hd_acc "index_q[$bit]" 0; done >>all.dat
share none all.dat && fail "83 % of the toggles pass: $(cat stdout)"
grep -q '^toggles: 83.19 % reached, expected at least ' stdout || fail "83 % of the toggles: $(cat stdout)"
grep -q '^not reached: 20 points' stdout || fail "points: $(cat stdout)"
share --part none all.dat || fail "a part is held to the bar: $(cat stdout)"

echo 'hd_acc toggle ^index_q constant here' >waivers
share waivers all.dat || fail "waived: $(cat stdout)"
grep -q '^hd_acc  *1/1  *100.0%  *99/99  *100.0%  20$' stdout || fail "waived: $(cat stdout)"
echo 'hd_acc toggle ^sum_q is reached' >>waivers
share waivers all.dat && fail "a waiver that waives nothing passes: $(cat stdout)"
grep -qxF 'waivers:2: waives no toggle of hd_acc: ^sum_q' stdout || fail "a waiver that waives nothing: $(cat stdout)"
echo 'hd_acc toggle ^index_q' >waivers
share waivers all.dat && fail "a waiver without a reason passes: $(cat stdout)"
grep -qxF 'waivers:1: expected MODULE line|toggle PATTERN REASON' stdout || fail "without a reason: $(cat stdout)"
finish
