#!/bin/bash
# simulate.sh HEX [FOLDER [CYCLES]] - the top that route.sh routes, ulx3s, with the program HEX (program/build.sh) in
# Verilator: the bytes of the serial line on stdout (simulate.cpp). The model is built in FOLDER (default soc) once, by
# Verilator with every warning on; it is run for at most CYCLES (default 10,000,000).
# Environment: shared.sh.   Exit 1: the program failed; 77: the processor or Verilator is missing.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: simulate.sh HEX [FOLDER [CYCLES]]" >&2; exit 2; }
. "$(dirname "$0")/shared.sh"
verilator=$(tool verilator)
cpu=$(processor)
divisor=8 # cycles of a bit of the serial line, instead of 217

folder=${2:-soc} cycles=${3:-10000000}
config "$folder/config"
cp "$1" "$folder/soc.hex"
cd "$folder"
if [ ! -x obj/Vsoc ]; then
    rtl=(-y "$root/hw/rtl")
    for room in "$root"/hw/rtl/*/; do rtl+=(-y "${room%/}"); done
    "$verilator" --cc --exe --prefix Vsoc --top-module ulx3s -O3 -Wall --timescale 1ns/1ps --x-assign fast \
        --x-initial fast --output-split 20000 --output-split-cfuncs 5000 "-I$build/gen" -Iconfig \
        "${rtl[@]}" -y "$root/hw/fpga" -GDivisor=$divisor -CFLAGS "-std=c++17 -DSOC_DIVISOR=$divisor" \
        --Mdir obj "$root/hw/fpga/waivers.vlt" "$root/hw/fpga/ulx3s.sv" "$cpu" "$root/hw/fpga/simulate.cpp"
    # A simulation takes a second; compiling faster code would take longer.
    make -s -C obj -f Vsoc.mk -j2 OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0 Vsoc >make.log 2>&1 ||
        { tail -20 make.log >&2; exit 1; }
fi
exec obj/Vsoc "$cycles"
