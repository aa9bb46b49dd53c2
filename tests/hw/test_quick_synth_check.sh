#!/bin/bash
# make synth-check tells a unit that takes more cells, one that is slower, one that is new and one that is gone, with what synth.sh
# would print in its place.
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
EOF
chmod +x synth.sh
export SYNTH=$PWD/synth.sh UNITS=$PWD/units.csv
check=$HEDDLE_HOME/hw/synth_check.sh
printf 'tiny,hd_spad,0,0,\ntiny,hd_store,0,0,\n' >units.csv
expect 0 '' "$check" --record
diff units.csv - <<'EOF' || fail "--record"
configuration,unit,lut4,flip_flops,mhz
tiny,hd_array,345,656,
tiny,hd_spad,2447,21,80.00
tiny,hd_store,3176,1823,
tiny,whole,32106,19135,
sys8,hd_spad,6049,552,
EOF
says() { # says TEXT: the last run's line
    grep -qxF "$1" stdout || fail "expected '$1': $(cat stdout)"
}
expect 0 '' "$check"
says '5 units within their bounds'
STORE=3215 FF=1849 MHZ=76.1 expect 0 '' "$check"
STORE=3216 expect 1 '' "$check"
says 'WRONG tiny hd_store: 3216 LUT4, recorded 3176'
FF=1850 expect 1 '' "$check"
says 'WRONG tiny hd_store: 1850 flip-flops, recorded 1823'
MHZ=75.9 expect 1 '' "$check"
says 'WRONG tiny hd_spad: 75.9 MHz, recorded 80.00'
NEW='tiny hd_new 1 1 1 1 1 1 1' expect 1 '' "$check"
says 'WRONG tiny hd_new: not in units.csv'
echo sys8,hd_gone,1,1, >>units.csv
expect 1 '' "$check"
says 'WRONG sys8 hd_gone: in units.csv, not found'
finish
