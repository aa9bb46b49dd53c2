#!/bin/bash
# simulate.sh HEX [FOLDER [CYCLES]] - the top that route.sh routes, ulx3s, with the program HEX (program/build.sh) in
# Verilator: the bytes of the serial line on stdout (simulate.cpp). The model is built in FOLDER (default soc) once, by
# Verilator with every warning on; it is run for at most CYCLES (default 10,000,000).
# Environment: HEDDLE_PICORV32 the processor's Verilog (default: of build/venv-cores, `.ci/venv cores`); HEDDLE_BUILD build
# tree (default build).
# Exit 1: the program failed; 77: the processor or Verilator is missing.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: simulate.sh HEX [FOLDER [CYCLES]]" >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${HEDDLE_BUILD:-$root/build}
command -v verilator >/dev/null || { echo "no verilator: SKIPPED"; exit 77; }
cpu=${HEDDLE_PICORV32:-$(find "$build"/venv-cores/ -name picorv32.v 2>/dev/null | head -1)}
[ -e "$cpu" ] || { echo "no picorv32.v: .ci/venv cores, or HEDDLE_PICORV32: SKIPPED"; exit 77; }
divisor=8 # cycles of a bit of the serial line, instead of 217

hex=$(realpath "$1") folder=${2:-soc} cycles=${3:-10000000}
mkdir -p "$folder"
cd "$folder"
if [ ! -x obj/Vsoc ]; then
    verilator --cc --exe --prefix Vsoc --top-module ulx3s -O3 -Wall --timescale 1ns/1ps --x-assign fast \
        --x-initial fast --output-split 20000 --output-split-cfuncs 5000 "-I$build/gen" "-I$build/gen/tiny" \
        -y "$root/hw/rtl" -y "$root/hw/fpga" -GDivisor=$divisor -CFLAGS "-std=c++17 -DSOC_DIVISOR=$divisor" \
        --Mdir obj "$root/hw/fpga/waivers.vlt" "$root/hw/fpga/ulx3s.sv" "$cpu" "$root/hw/fpga/simulate.cpp"
    # A simulation takes a second: compiling faster code would take longer.
    make -s -C obj -f Vsoc.mk -j2 OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0 Vsoc >make.log 2>&1 ||
        { tail -20 make.log >&2; exit 1; }
fi
cp "$hex" soc.hex
exec obj/Vsoc "$cycles"
