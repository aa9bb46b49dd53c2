#!/bin/bash
# One convolution on Icarus with cocotbext-axi's memory (README.md): the functional model's bytes whatever channel is
# held up; a fault is named, and the next run is right; planted bugs are seen. HD_SEED, printed, repeats a run.
. "$(dirname "$0")/../e2e/common.sh"
here=$HEDDLE_HOME/tests/icarus rtl=$HEDDLE_HOME/hw/rtl gen=$HEDDLE_BUILD/gen
command -v iverilog >/dev/null || { echo "SKIPPED: no iverilog (make test installs it)"; exit 77; }
venv=$(cd "$HEDDLE_HOME" && .ci/venv icarus) || { echo "SKIPPED: $venv"; exit 77; }
venv=$(cd "$HEDDLE_HOME" && cd "$venv" && pwd)
PATH=$venv/bin:$PATH
LIBPYTHON_LOC=$(cocotb-config --libpython 2>log) && [ -n "$LIBPYTHON_LOC" ] ||
    { echo "SKIPPED: cocotb finds no libpython: $(tail -1 log)"; exit 77; }
library=$(cocotb-config --lib-name vpi icarus) library_folder=$(cocotb-config --lib-dir)
SEED=${HD_SEED:-1}
echo "HD_SEED=$SEED"

# --- what is run, and the answer ---
layer=(bench conv 6x7x5 3x3x6 --hw=tiny --quiet)
base=0xab80001000 # needs all 40 bits of the address
python3 -c 'import random, sys
sys.stdout.buffer.write(random.Random(sys.argv[1]).randbytes(6 * 7 * 5))' "$SEED" >in.bin
"$heddle" "${layer[@]}" --engine=func -i in.bin -o func >log 2>&1 || fail "functional model: $(cat log)"
"$heddle" "${layer[@]}" --stall-seed="$((SEED + 1))" -i in.bin -o verilated >log 2>&1 ||
    fail "Verilated RTL: $(cat log)"
same func/out_0.bin verilated/out_0.bin "functional model, and Verilated RTL with stalls"
cc -std=c11 -Wall -Wextra -Werror -I func/emitted -I "$HEDDLE_HOME" -I "$HEDDLE_HOME/driver" -I "$gen" -o record \
    "$here/record.c" func/emitted/*.c "$HEDDLE_HOME"/driver/{hd,hd_model,port_record}.c || fail "record.c"
./record $base in.bin >trace || fail "record: exit $?"
input=$(grep '^to_device' trace | tail -1 | cut -d' ' -f2) output=$(sed -n 's/^from_device \([^ ]*\) .*/\1/p' trace)
# first REGION: the first command that moves bytes of a region
first() {
    awk -v region="$1" '/^ *\.c[0-9]+ = / { n = substr($1, 3) }
        $0 ~ "\\.region = " region "," { print n; exit }' func/emitted/commands.c
}
[ "$failures" = 0 ] || finish

# simulator RTL FILE
simulator() {
    iverilog -g2012 "-I$gen" "-I$gen/tiny" "-I$1" -f timescale -s hd_top -s start -o "$2" \
        "$1"/*.sv "$here/start.sv" >log 2>&1 || { fail "iverilog: $(tail -3 log)"; finish; }
}
echo "+timescale+1ns/1ps" >timescale

export SEED TRACE=$work/trace WANT=$work/func/out_0.bin VERDICT=$work/verdict
export LIBPYTHON_LOC PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1
export MODULE=replay TOPLEVEL=hd_top TOPLEVEL_LANG=verilog COCOTB_ANSI_OUTPUT=0 COCOTB_RESULTS_FILE=$work/results.xml

# replays SIMULATOR [VARIABLE=VALUE...]: 0 if all is as expected; $why: what was wrong.
replays() {
    local simulator=$1
    shift
    rm -f verdict
    env "$@" timeout 120 vvp -n -M "$library_folder" -m "$library" "$simulator" >log 2>&1
    why=$(grep -E '^ +[A-Za-z]*Error\b' log | tail -1 | sed 's/^ *//')
    [ "$why" != AssertionError ] || why=$(grep -E '^ +assert ' log | tail -1 | sed 's/^ *//')
    [ -e verdict ]
}

# expects NAME [VARIABLE=VALUE...]
expects() {
    local name=$1
    shift
    if replays rtl.vvp "$@"; then echo "$name: $(cat verdict)"; else fail "$name: ${why:-$(tail -1 log)}"; fi
}

# --- the bytes, with any stalls ---
mkdir rtl && cp "$rtl"/{,*/}*.sv "$rtl"/*.svh rtl
simulator rtl rtl.vvp
expects "no stalls"
bus=(ar r aw w b) registers=(s_ar s_r s_aw s_w s_b)
for channel in "${bus[@]}"; do expects "$channel 80 %" STALLS="$channel=80"; done
expects "registers 80 %" STALLS="$(printf '%s=80 ' "${registers[@]}")"
all=$(printf '%s=40 ' "${bus[@]}" "${registers[@]}")
expects "all 40 %" STALLS="$all"

# --- faults: the first byte of the input, of the output ---
expects "SLVERR on a read" FAULT="read $input" ERROR="code 7 unit 0 command $(first 3) address $input"
expects "SLVERR on a write" STALLS="$all" FAULT="write $output" ERROR="code 8 unit 4 command $(first 4) address $output"

# --- planted bugs, with stalls that show each ---
mutants=$(sed -n 's/^mutant //p' "$here/planted.txt")
[ "$(wc -w <<<"$mutants")" = 6 ] || fail "expected 6 planted bugs, found: $mutants"
for mutant in $mutants; do
    rm -rf bug && cp -r rtl bug
    PYTHONPATH=$HEDDLE_HOME/tests/mutants python3 - "$HEDDLE_HOME" "$mutant" <<'END' ||
import pathlib, sys
import planted
home = pathlib.Path(sys.argv[1])
bug = planted.find(home / "tests/icarus/planted.txt", sys.argv[2])
pathlib.Path("bug", pathlib.Path(bug.file).name).write_text(bug.changed((home / bug.file).read_text()))
END
        { fail "planted $mutant"; continue; }
    simulator bug bug.vvp
    if replays bug.vvp SEED=1 STALLS="$all ar=80 b=80"; then
        fail "planted $mutant was not seen: $(cat verdict)"
    else
        echo "planted $mutant: ${why:-$(tail -1 log)}"
    fi
done
finish
