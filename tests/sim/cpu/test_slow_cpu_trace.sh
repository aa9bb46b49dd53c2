#!/bin/bash
# Random RV32IM programs on PicoRV32's Verilog and on heddle's simulator: every instruction, what it writes and its cycles
# are equal, whatever the memory's latency; the table of cycles is what the Verilog takes (UPDATE=1 writes it). HD_SEED,
# printed, and HD_PROGRAMS repeat a run.
set -u
venv=$("$HEDDLE_HOME/.ci/venv" cores) || { echo "$venv"; exit 77; }
seed=${HD_SEED:-1} programs=${HD_PROGRAMS:-1000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
table=$HEDDLE_HOME/sim/iss/picorv32.inc
echo "seed $seed, $programs programs"

"$HEDDLE_BUILD/random_programs" make "$seed" "$programs" "$work/elf" || exit 1
for latency in 1 2 5 16; do
    "$HEDDLE_BUILD/cpu_trace" compare "$work/elf" $latency && "$HEDDLE_BUILD/cpu_trace" compare - $latency || exit 1
done
{ head -2 "$table"; "$HEDDLE_BUILD/cpu_trace" table "$work/elf" || exit 1; } >"$work/table"
[ -z "${UPDATE:-}" ] || cp "$work/table" "$table"
diff "$table" "$work/table"
