#!/bin/bash
# The waves of digits on tiny: what each --waves writes, how much of it, and that GTKWave itself finds
# every signal of the save file and of waves/array.tcl. Slow: it may build the model of tiny.
. "$(dirname "$0")/../e2e/common.sh"
for tool in fst2vcd gtkwave xvfb-run verilator; do
    command -v "$tool" >/dev/null || { echo "SKIPPED: no $tool"; exit 77; }
done
samples=2
head -c $((samples * 64)) "$models/digits/in_0.bin" >in.bin
head -c $((samples * 10)) "$models/digits/out_0.bin" >out.bin

# waves NAME OPTION...: into the folder NAME.
waves() {
    local name=$1
    shift
    "$heddle" run digits --hw tiny -i in.bin --expect out.bin -o "$name" "$@" >"$name.txt" 2>&1 ||
        fail "$name: exit $?: $(tail -1 "$name.txt")"
    [ -s "$name/waves.fst" ] && [ -s "$name/waves.gtkw" ] || fail "$name: no waves"
    cycles "$name/waves.fst" >"$name.cycles"
}

# Values of "cycle since the doorbell" of every cycle in the file.
cycles() {
    fst2vcd "$1" | awk '!id && $1 == "$var" && $5 == "cycle" { id = $4; next }
        id && $2 == id && $1 ~ /^b/ { n = 0; v = substr($1, 2)
            for (i = 1; i <= length(v); i++) n = 2 * n + substr(v, i, 1)
            print n }'
}

# covers NAME FIRST LAST: no cycle outside, and both ends there (the names of a window's first cycle are
# set with it, the last one is written whole or not at all).
covers() {
    local first last
    first=$(sort -n "$1.cycles" | head -1)
    last=$(sort -n "$1.cycles" | tail -1)
    [ "$first" -ge "$2" ] && [ "$first" -le $(($2 + 1)) ] && [ "$last" -le "$3" ] && [ "$last" -ge $(($3 - 1)) ] ||
        fail "$1: cycles $first to $last, expected $2 to $3"
}

waves plain --waves=first
total=$(sed -n 's/.*inferences, \([0-9]*\)\..* cycles each.*/\1/p' plain.txt)
n=$(wc -l <plain.cycles)
# About 45 more for registers before the doorbell, a few for those after the interrupt.
[ "$n" -ge "$total" ] && [ "$n" -le $((total + 300)) ] || fail "first: $n cycles of $total"
# The clock ticks in every cycle, also where units rest (and GTKWave misreads a file whose first signal is still for a block).
fst2vcd plain/waves.fst >plain.vcd
ticks=$(awk '!id && $1 == "$var" && $5 == "clk_i" { id = $4 } id && $0 == "1" id { n++ } END { print n + 0 }' plain.vcd)
[ "$ticks" -ge "$n" ] && [ "$ticks" -le $((n + 1)) ] || fail "first: the clock rises $ticks times in $n cycles"
waves every --waves=all
n=$(wc -l <every.cycles)
[ "$n" -ge $((samples * total)) ] && [ "$n" -le $((samples * (total + 300))) ] || fail "all: $n of $samples * $total"
waves window --waves=cycles:100-299
covers window 100 299

# The cost of a window of 1,000 cycles in a run of 61,000 is far below the cost of the waves of all of them (about a
# tenth on one machine; a fixed share of a short run is noise on another): processor time, the better of two of each.
least() {
    local TIMEFORMAT=%U i
    for i in 1 2; do
        { time "$heddle" run digits --hw tiny -i in.bin -o cost "$@" >cost.txt 2>&1; } 2>&1
    done | sort -g | head -1
}
without=$(least)
window=$(least --waves=cycles:1000-1999)
all=$(least --waves=all)
awk -v a="$without" -v b="$window" -v c="$all" 'BEGIN { exit !(b - a <= (c - a) / 3) }' ||
    fail "a window of 1,000 cycles: $window s; no waves $without s, all $all s"
# The first column of cells and the first lane are there, the second ones are not.
awk '/enddefinitions/ { exit }
    $1 == "$scope" { path[++depth] = $3 } $1 == "$upscope" { depth-- }
    $1 == "$var" { for (i = 1; i <= depth; i++) if (path[i] ~ /^gen_col(umn)?\[/) print path[i] }' plain.vcd | sort -u >repeated
[ "$(tr '\n' ' ' <repeated)" = "gen_col[0] gen_column[0] " ] || fail "names of $(tr '\n' ' ' <repeated)"

waves commands --waves=commands:5-9
waves layer --waves=layer:02_depthwise_conv2d
n=$(wc -l <layer.cycles)
[ "$n" -gt 100 ] && [ "$n" -lt "$total" ] || fail "layer: $n cycles of $total"
n=$(wc -l <commands.cycles)
[ "$n" -gt 100 ] && [ "$n" -lt "$total" ] || fail "commands: $n cycles of $total"
awk 'NR > 1 && $1 != last + 1 { bad = 1 } { last = $1 } END { exit bad }' layer.cycles || fail "layer: a gap"

# The limit holds, and is said.
waves limited --waves=all --waves-limit=1
[ "$(stat -c %s limited/waves.fst)" -le 1000000 ] || fail "limit: $(stat -c %s limited/waves.fst) bytes"
grep -q 'size limit' limited.txt || fail "limit: not said: $(cat limited.txt)"
grep -q 'size limit' plain.txt && fail "a limit that was not reached"

# A program of one's own is traced whole.
"$heddle" run --prog "$HEDDLE_HOME/driver/examples/matmul.c" --hw tiny --waves=first --waves-limit=2 -o prog >prog.txt 2>&1 ||
    fail "prog: $(tail -1 prog.txt)"
[ -s prog/waves.gtkw ] && [ "$(stat -c %s prog/waves.fst)" -le 2000000 ] || fail "prog: waves"

# A layer that does not exist, or not on the accelerator.
expect 2 "heddle: --waves: no layer 'x'; the first is 00_conv2d, heddle inspect lists them all" \
    "$heddle" run digits --hw tiny --waves=layer:x
expect 2 "heddle: --waves: 12_reshape runs no command on the accelerator" \
    "$heddle" run digits --hw tiny -i in.bin --waves=layer:12_reshape -o none

# The names of the layers are in the file, packed ASCII.
for name in 00_conv2d 02_depthwise_conv2d 13_fully_connected; do
    bits=$(printf '%s' "$name" | od -An -v -tu1 -w1 |
        awk '{ for (b = 128; b >= 1; b /= 2) printf "%d", int($1 / b) % 2 }' | sed 's/^0*//')
    grep -q "^b0*$bits " plain.vcd || fail "no layer name $name in the waves"
    grep -q "^\[markername\] .\(group [0-9]*: \)\?$name" plain/waves.gtkw || fail "no marker $name"
done

# So are tiles, as heddle disasm writes them, and what a unit does, without the unit's name.
text_bits() {
    printf '%s' "$1" | od -An -v -tu1 -w1 | awk '{ for (b = 128; b >= 1; b /= 2) printf "%d", int($1 / b) % 2 }' | sed 's/^0*//'
}
tile=$("$heddle" disasm digits --hw tiny | sed -n 's/^.* array  *01_conv2d  *(\([^)]*\)).*/\1/p' | tail -1)
[ -n "$tile" ] || fail "no tile in heddle disasm"
grep -q "^b0*$(text_bits "$tile") " plain.vcd || fail "no tile '$tile' in the waves"
grep -q '^-array' plain/waves.gtkw && grep -q 'u_array.tile\[255:0\]$' plain/waves.gtkw || fail "no tile in the save file"
fst2vcd -e plain/waves.fst | grep -a '^\$attrbegin' | grep -q ' busy wait_token wait_weight conflict drain idle ' ||
    fail "the values of array's does begin with its name"

# With the processor simulated: its functions by name in the same file, from the input's read to the output's, without a gap;
# no number of the run depends on the waves.
if command -v riscv64-unknown-elf-gcc >/dev/null; then
    "$heddle" run "$models/digits/model.tflite" -n 1 '--keep-on-host=14*' --hw tiny --host=iss -o iss >iss.txt 2>&1 || fail "iss: $(tail -1 iss.txt)"
    "$heddle" run "$models/digits/model.tflite" -n 1 '--keep-on-host=14*' --hw tiny --host=iss --waves=first -o host >host.txt 2>&1 || fail "host: $(tail -1 host.txt)"
    grep -q '^TOP.hd_sim_top.u_host.executes\[255:0\]$' host/waves.gtkw || fail "no processor in the save file"
    grep -q u_host plain/waves.gtkw && fail "a processor in the waves of --host=native"
    fst2vcd host/waves.fst | python3 "$HEDDLE_HOME/tests/waves/host_names.py" iss/stats.json host/stats.json || fail "the processor's waves"
    expect 2 "heddle: --host=iss: not with --waves and --prog" \
        "$heddle" run --prog "$HEDDLE_HOME/driver/examples/matmul.c" --host=iss --waves=first
fi

# In addition to a target's own core: first is the accelerator's, and a note states how to get the core's; a layer of it gives those.
beside() {
    "$heddle" run digits --hw tiny -i in.bin --target=vanilla,systolic --offload=05*=vanilla --offload=06*=systolic -o "$@" >beside.txt 2>beside.err ||
        fail "beside a core: $(cat beside.err)"
}
beside both --waves=first
grep -qx 'heddle: --waves=first traces the accelerator; --waves=layer:NAME with a layer on vanilla traces that target.s core' beside.err ||
    fail "beside a core: $(cat beside.err)"
grep -q u_array.tile both/waves.gtkw || fail "beside a core: not the accelerator's waves"
beside one --waves=layer:05_conv2d
[ ! -s beside.err ] && grep -q vanilla_core.irq_o one/waves.gtkw || fail "the core's layer: $(cat beside.err)"

# GTKWave: from another folder, moved, by the save file alone.
mv plain "a folder"
cat >ask.tcl <<TCL
source {$HEDDLE_HOME/waves/array.tcl}
set f [open "$work/shown" w]
foreach s [gtkwave::getDisplayedSignals] { puts \$f \$s }
close \$f
set f [open "$work/missing" w]
puts \$f \$missing
close \$f
gtkwave::/File/Quit
TCL
(cd / && timeout 400 xvfb-run -a gtkwave "$work/a folder/waves.gtkw" -S "$work/ask.tcl") >gtkwave.log 2>&1
[ -s shown ] || fail "GTKWave: $(tail -3 gtkwave.log)"
grep '^TOP' "a folder/waves.gtkw" | sort -u >wanted
grep '^TOP' shown | sort -u >found
[ "$(wc -l <wanted)" -ge 50 ] || fail "the save file lists $(wc -l <wanted) signals"
[ -z "$(comm -23 wanted found)" ] || fail "not in the waves: $(comm -23 wanted found)"
[ -z "$(cat missing)" ] || fail "array.tcl: not in the waves: $(cat missing)"
[ "$(wc -l <found)" -ge $(($(wc -l <wanted) + 25)) ] || fail "array.tcl added too little"
finish
