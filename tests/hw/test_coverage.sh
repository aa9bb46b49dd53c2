#!/bin/bash
# coverage.py: shares by module over all files, what is below the bar, waivers, and those that waive nothing any longer.
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

grep -qxF 'hd_acc:31 toggle index_q[19:0]' missing.txt || fail "not reached: $(cat missing.txt)"

echo 'hd_acc toggle index_q[19:10,9:0] constant here' >waivers
share waivers all.dat || fail "waived: $(cat stdout)"
grep -q '^hd_acc  *1/1  *100.0%  *99/99  *100.0%  20$' stdout || fail "waived: $(cat stdout)"
echo 'hd_acc toggle index_q constant here' >waivers
share waivers all.dat || fail "waived as a whole: $(cat stdout)"

# Wrong waivers next to a right one.
cat >waivers <<END
hd_acc toggle index_q[18:0] constant here
hd_acc toggle none[3:0] not found
hd_add toggle index_q[19] another module
hd_acc toggle sum_q[3] is reached
hd_acc toggle index_q[20:19] too wide
hd_acc line . is reached
END
share waivers all.dat && fail "wrong waivers pass: $(cat stdout)"
sed -n 's/^waivers://p' stdout >found
diff - found <<END || fail "wrong waivers"
2: waives no toggle of hd_acc: none[3:0]
3: waives no toggle of hd_add: index_q[19]
4: waives 1 that toggled of hd_acc: sum_q[3]
5: hd_acc has no index_q[20:19]: bit 20
6: waives no line of hd_acc: .
END

point hd_acc.sv 32 v_toggle/hd_acc 'element[0][2]' 0 >>all.dat
point hd_acc.sv 32 v_toggle/hd_acc 'element[1][2]' 0 >>all.dat
printf '%s\n' 'hd_acc toggle index_q constant here' 'hd_acc toggle element[*][2] of all elements' >waivers
share waivers all.dat || fail "elements: $(cat stdout)"
grep -q '^hd_acc .*100.0%  22$' stdout || fail "elements: $(cat stdout)"

echo 'hd_acc toggle index_q' >waivers
share waivers all.dat && fail "a waiver without a reason passes: $(cat stdout)"
grep -qxF 'waivers:1: expected MODULE line|toggle WHAT REASON' stdout || fail "without a reason: $(cat stdout)"
echo 'hd_acc toggle ^index_q+ a pattern' >waivers
share waivers all.dat && fail "a pattern of a signal passes: $(cat stdout)"
grep -qxF 'waivers:1: expected SIGNAL[BITS]: ^index_q+' stdout || fail "a pattern of a signal: $(cat stdout)"
finish
