#!/bin/bash
# make synth-check names a unit that takes more cells, one that is slower, one that is new and one that is gone, with
# what synth.sh would print in its place. docs/AREA.md has the tables of hw/units.csv.
. "$(dirname "$0")/../e2e/common.sh"
cat >synth.sh <<'EOF'
#!/bin/bash
[ "$SYNTH_MODULES" = "hd_spad
hd_store" ] || { echo "SYNTH_MODULES: $SYNTH_MODULES"; exit 1; }
printf '%-6s %-14s %7d %6d %10d %10d %6d %7d %9d\n' tiny hd_array 345 256 656 16 0 0 0 tiny hd_spad 2447 24 21 0 8 0 65536 \
    tiny hd_store ${STORE:-3176} 419 ${FF:-1823} 0 0 88 0 ${NEW:-} tiny hd_top 32106 4857 19135 52 19 1422 116552 \
    sys8 hd_spad 6049 82 552 0 32 0 524288
echo "tiny hd_spad: Max frequency for clock 'clk_i': ${MHZ:-80.00} MHz (FAIL at 90.00 MHz)"
echo "tiny hd_spad:  cmd > hd_x"
echo 12,34 >>"${SYNTH_AREA:-area.csv}"
EOF
chmod +x synth.sh
export SYNTH=$PWD/synth.sh UNITS=$PWD/units.csv AREA=$PWD/AREA.md
check=$HEDDLE_HOME/hw/synth_check.sh
head='configuration,unit,lut4,carry,flip_flops,mult18x18d,dp16kd,dpr16x4,bits,mhz'
printf '%s\n' "$head" tiny,hd_spad,0,0,0,0,0,0,0, tiny,hd_store,0,0,0,0,0,0,0, sys16,hd_pe,57,16,41,1,0,0,0, >units.csv
printf '%s\n' text '' '| sys8 | LUT4 | carry |' '|---|' '| hd_old |' '' '| tiny | LUT4 | carry |' '| hd_old |' text >AREA.md
expect 0 '' "$check" --record
rm area.csv || fail "--record leaves hw/area.csv as it was"
diff units.csv - <<EOF || fail "--record"
$head
tiny,hd_array,345,256,656,16,0,0,0,
tiny,hd_spad,2447,24,21,0,8,0,65536,80.00
tiny,hd_store,3176,419,1823,0,0,88,0,
tiny,whole,32106,4857,19135,52,19,1422,116552,
sys8,hd_spad,6049,82,552,0,32,0,524288,
sys16,hd_pe,57,16,41,1,0,0,0,
EOF
diff AREA.md - <<'EOF' || fail "tables"
text

| sys8 | LUT4 | carry | flip-flops | MULT18X18D | DP16KD | DPR16X4 | bits |
|---|---|---|---|---|---|---|---|
| hd_spad | 6049 | 82 | 552 | 0 | 32 | 0 | 524288 |

| tiny | LUT4 | carry | flip-flops | MULT18X18D | DP16KD | DPR16X4 | bits | MHz |
|---|---|---|---|---|---|---|---|---|
| hd_array | 345 | 256 | 656 | 16 | 0 | 0 | | |
| hd_spad | 2447 | 24 | 21 | 0 | 8 | 0 | 65536 | 80.00 |
| hd_store | 3176 | 419 | 1823 | 0 | 0 | 88 | | |
| whole | 32106 | 4857 | 19135 | 52 | 19 | 1422 | 116552 | |
text
EOF
cp "$HEDDLE_HOME/docs/AREA.md" page.md
UNITS=$HEDDLE_HOME/hw/units.csv AREA=$PWD/page.md expect 0 '' "$check" --tables
same page.md "$HEDDLE_HOME/docs/AREA.md" "hw/synth_check.sh --tables writes what units.csv has"
says() { # says TEXT: the last run's line
    grep -qxF "$1" stdout || fail "expected '$1': $(cat stdout)"
}
expect 0 '' "$check"
says '5 units within their bounds'
[ ! -e area.csv ] || fail "a check writes hw/area.csv"
STORE=3215 FF=1849 MHZ=76.1 expect 0 '' "$check"
STORE=3216 expect 1 '' "$check"
says 'WRONG tiny hd_store: 3216 LUT4, recorded 3176'
FF=1850 expect 1 '' "$check"
says 'WRONG tiny hd_store: 1850 flip-flops, recorded 1823'
MHZ=75.9 expect 1 '' "$check"
says 'WRONG tiny hd_spad: 75.9 MHz, recorded 80.00'
NEW='tiny hd_new 1 1 1 1 1 1 1' expect 1 '' "$check"
says 'WRONG tiny hd_new: not in units.csv'
echo sys8,hd_gone,1,1,1,1,1,1,1, >>units.csv
expect 1 '' "$check"
says 'WRONG sys8 hd_gone: in units.csv, not found'
finish
