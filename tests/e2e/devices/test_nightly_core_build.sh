#!/bin/bash
# Mistakes in a target's core are reported when its model is built: ports that are missing, of another direction or
# width, or that nothing drives, before any C++ is compiled; Verilator's warnings as notes, once. Its waves.
. "$(dirname "$0")/../common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
head -c 64 "$models/digits/in_0.bin" >in.bin
export XDG_CACHE_HOME=$work/cache

# core NAME SED: the vanilla example under another name, with a change.
core() {
    cp -r "$HEDDLE_HOME/targets/vanilla" "$1"
    sed -i "s/\"name\": \"vanilla\"/\"name\": \"$1\"/" "$1/target.json"
    sed -i "$2" "$1/vanilla_core.sv"
    cmp -s "$1/vanilla_core.sv" "$HEDDLE_HOME/targets/vanilla/vanilla_core.sv" && fail "nothing changed: $2"
    "$heddle" run digits --target-dir="$1" --target="$1" --allow-native-targets -i in.bin >stdout 2>stderr
}

# ports NAME SED WHAT
ports() {
    core "$1" "$2"
    local got=$?
    [ $got = 2 ] || fail "$1: exit $got, expected 2: $(head -c 400 stderr)"
    [ "$(wc -l <stderr)" -le 3 ] || fail "$1: more than three lines: $(head -c 400 stderr)"
    grep -qE "^heddle: target $1: core vanilla_core: $3\$" stderr && grep -q '^  sim/core/README.md has the buses' stderr ||
        fail "$1: expected '$3', found '$(head -c 800 stderr)'"
    [ -z "$(find cache -name 'hd_core.o' -o -name 'sim_hd_core.o')" ] || fail "$1: C++ was compiled"
}
ports misspelt 's/\birq_o\b/flag/' "port irq_o missing \(output, 1 bit\)"
ports turned 's/output logic\( *\)\(.*\)irq_o/input  logic\1\2irq_o/; s/assign irq_o = .*//' \
    "port irq_o: expected output of 1 bit, found input of 1"
ports wide 's/\[15:0\]\( *\)reg_addr_i/[19:0]\1reg_addr_i/' \
    "port reg_addr_i: expected input of 16 bits, found input of 20"
ports second 's/^\( *\)input\( *wire logic *\)clk_i,/&\n\1input\2mode_i,/' \
    "port mode_i \(input, 1 bit\): nothing drives it"

# Counters: ports that target.json names are added up for each layer; a wrong one is reported like any other port.
counted() { # NAME PORT: json of one counter
    sed -i "s/\(\"memory_bytes\": [0-9]*\)/\1, \"counters\": [$2]/" "$1/target.json"
}
copied() {
    "$heddle" run "$1/copy.ir" --hw=tiny --target-dir="$1" --target="$1" --allow-native-targets --stats stats.json >stdout 2>stderr
}
"$heddle" new-target ticks --template=copy >/dev/null
sed -i 's/^  output logic  *irq_o/  output logic busy_o,\n  output logic [3:0] bytes_o,\n  output logic [32:0] far_o,\n&/
    s/^  assign irq_o .*/&\n  assign busy_o = mem_read_o || mem_write_o;\n  assign far_o = 0;\n  assign bytes_o = mem_write_o ? 4'"'"'($countones(mem_wstrb_o)) : 0;/' \
    ticks/ticks_core.sv
for bad in gone:"port gone_o missing \(output, 1 to 32 bits\)" far:"port far_o: expected output of 1 to 32 bits, found output of 33" \
    clk:"port clk_i: expected output of 1 to 32 bits, found input of 1"; do
    name=${bad%%:*}
    cp -r ticks bad_$name
    sed -i "s/\"ticks\"/\"bad_$name\"/" bad_$name/target.json
    port=${name}_o
    [ "$name" = clk ] && port=clk_i
    counted bad_$name "{\"name\": \"n\", \"port\": \"$port\"}"
    copied bad_$name
    [ $? = 2 ] || fail "counter $name: expected exit 2: $(cat stderr)"
    grep -qE "^heddle: target bad_$name: core ticks_core: counter n: ${bad#*:}\$" stderr || fail "counter $name: $(cat stderr)"
done
copied ticks || fail "ticks: $(cat stderr)"
grep -q core_counters stats.json && fail "counters of a core that has none"
counted ticks '{"name": "busy", "port": "busy_o"}, {"name": "bytes", "port": "bytes_o"}'
copied ticks || fail "ticks: $(cat stderr)"
grep -qE '^00_copy .*  busy 192, bytes 768$' stdout || fail "no counters of the layer: $(cat stdout)"
grep -q '^core of ticks: busy 192, bytes 768$' stdout || fail "no counters of the core: $(cat stdout)"
"$HEDDLE_BUILD"/schema_check "$HEDDLE_HOME/docs/stats.v2.schema.json" stats.json || fail "stats.json is not as its schema"
"$heddle" report stats.json | grep -q '^core of ticks: busy 192, bytes 768$' || fail "report has no counters"

# A warning does not stop the build, and is printed when the model is built, not when it is found.
core warned 's/^endmodule/  logic [7:0] narrow; assign narrow = reg_wdata_i;\nendmodule/' ||
    fail "a warning ends the run: $(head -c 600 stderr)"
grep -qE "^heddle: Verilator warning: rtl/vanilla_core.sv:[0-9]*:[0-9]*: WIDTH[A-Z]*: .* 8 bits" stderr ||
    fail "no warning: $(cat stderr)"
log=$(sed -n "s/^heddle: 1 warning of Verilator: '\(.*\)'\$/\1/p" stderr)
grep -q '^%Warning-WIDTH' "$log" || fail "'$log' is not the log: $(cat stderr)"
expect 0 "" "$heddle" run digits --target-dir=warned --target=warned --allow-native-targets -i in.bin
# Waves of a core: its ports, all its calls of the first inference or those of one layer.
core_waves() { # FOLDER WHAT
    "$heddle" run digits --target-dir=warned --target=warned --allow-native-targets -i in.bin -o "$1" --waves="$2" >stdout 2>stderr ||
        fail "--waves=$2: $(cat stderr)"
    grep -q "^waves: $1/waves.fst, [1-9][0-9]* cycles" stdout || fail "--waves=$2: $(grep ^waves stdout)"
}
core_waves whole first
core_waves one layer:05_conv2d
cycles() {
    sed -n 's/^waves: .*, \([0-9]*\) cycles.*/\1/p' stdout
}
one=$(cycles)
core_waves again layer:05_conv2d
[ "$(cycles)" = "$one" ] || fail "one layer: $(cycles) cycles and $one"
[ "$(sed -n 's/^05_conv2d  *[^ ]*  *warned  *\([0-9]*\).*/\1/p' stdout)" = "$one" ] ||
    fail "one layer: $one cycles in the waves, another number in the table: $(grep ^05 stdout)"
if command -v fst2vcd >/dev/null; then
    fst2vcd whole/waves.fst | awk '/enddefinitions/ { exit } $1 == "$scope" { path[++depth] = $3 } $1 == "$upscope" { depth-- }
        $1 == "$var" { s = ""; for (i = 1; i <= depth; i++) s = s path[i] "."; print s $5 ($6 == "$end" ? "" : $6) }' | sort -u >names
    grep '^TOP' whole/waves.gtkw | sort -u >wanted
    [ "$(wc -l <wanted)" = 13 ] || fail "the save file: $(cat whole/waves.gtkw)"
    [ -z "$(comm -13 names wanted)" ] || fail "not in the waves: $(comm -13 names wanted)"
fi
expect 2 "heddle: --waves=cycles:1-9 counts in a submission of the accelerator; the core of target warned has none: expected first, all or layer:NAME" \
    "$heddle" run digits --target-dir=warned --target=warned --allow-native-targets -i in.bin --waves=cycles:1-9 -o none
expect 2 "heddle: --waves: no layer of this network runs on an accelerator or a core, and nothing else has signals" \
    "$heddle" run digits --target=c -i in.bin --waves=first -o none
expect 2 "heddle: --waves: 14_softmax runs on no accelerator and no core" \
    "$heddle" run digits --target-dir=warned --target=warned --allow-native-targets -i in.bin --waves=layer:14_softmax -o none
for name in vanilla strawberry; do # the examples have none
    verilator --lint-only -sv "$HEDDLE_HOME/targets/$name/${name}_core.sv" >lint 2>&1 && [ ! -s lint ] || fail "$name: $(cat lint)"
done
finish
