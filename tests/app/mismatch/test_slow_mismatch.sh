#!/bin/bash
# A wrong byte of the RTL: what heddle prints and which files it writes. The fault changes the bytes at 128 scratchpad
# addresses, which one layer of digits writes first in this schedule. Alone that layer is placed elsewhere and is right;
# a separate convolution covers these addresses even alone. The fault's lines also contain a harmless assignment with a
# Verilator warning.
. "$(dirname "$0")/../../e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
head -c 64 "$models/digits/in_0.bin" >'in put.bin'

# A tree like heddle's except for hw/rtl.
mkdir -p tree/hw
for part in "$HEDDLE_HOME"/*; do
    [ "${part##*/}" = hw ] || ln -s "$part" "tree/${part##*/}"
done
ln -s "$HEDDLE_HOME"/hw/accel.json "$HEDDLE_HOME"/hw/gen tree/hw/
cp -r "$HEDDLE_HOME/hw/rtl" tree/hw/rtl
chmod -R u+w tree/hw/rtl
sed -i -e 's/^\( *\)\.qw_data_o,/\1.qw_data_o       (qw_raw),/' \
    -e "s/^  localparam int EntryBits .*/&\n  logic [WordBits-1:0] qw_raw; logic [7:0] narrow;\n\
  assign qw_data_o = 32'(qw_addr_o) >= 2432 \&\& 32'(qw_addr_o) < 2560 ? ~qw_raw : qw_raw;\n\
  assign narrow = 32'(qw_addr_o);/" tree/hw/rtl/hd_compute.sv
cmp -s tree/hw/rtl/hd_compute.sv "$HEDDLE_HOME/hw/rtl/hd_compute.sv" && fail "no fault was planted"

good() {
    "$heddle" "$@" >stdout 2>stderr
}
faulty() {
    HEDDLE_HOME=$work/tree XDG_CACHE_HOME=$work/cache HEDDLE_CXX="$HEDDLE_HOME/tests/e2e/o0 g++" "$heddle" "$@" >stdout 2>stderr
}
says() { # REGEX: a whole line of stderr
    grep -qxE -- "$1" stderr || fail "no line '$1' in: $(cat stderr)"
}
next_of() { # REGEX: the line below the one it matches, without its indent
    grep -xE -A1 -- "$1" stderr | sed -n 's/^    //p'
}

faulty run digits --hw=tiny -i 'in put.bin' -o 'o ut'
status=$?
layer=$(sed -n 's/^  replay: \([0-9]*_[a-z_0-9]*\) alone is .*/\1/p' stderr)
case $layer in 0[0-9]_*conv2d) ;; *) fail "no layer is replayed: $(cat stderr)" ;; esac
[ $status = 1 ] || fail "a wrong answer does not end with 1: $(cat stderr)"
says 'heddle: 1 of 1 inferences differ from the CPU reference'
says '  RTL and functional model first differ at submission 0, command [0-9]*: array, '"$layer"' \(rows [0-9]-[0-9], channels 0-15\)'
says '    scratchpad 0x980: row [0-9], column [0-9], channel 0; tile 0, block 0; cycle [0-9]*'
says '    expected 0x[0-9a-f]{2} \(-?[0-9]*\), found 0x[0-9a-f]{2} \(-?[0-9]*\); 128 bytes of the command differ'
# Verilator's warning, when each of the two models is built.
[ "$(grep -c '^heddle: Verilator warning: rtl/hd_compute.sv:[0-9]*:[0-9]*: WIDTH[A-Z]*: .* 8 bits' stderr)" = 2 ] ||
    fail "the width is not warned of: $(cat stderr)"
says 'heddle: building the tiny simulator with waves for waves of the first wrong bytes \(once, about a minute\)'
waves_model=$(sed -n "s/^heddle: 1 warning of Verilator: '\(.*\)\/build.log'/\1/p" stderr | tail -1)
# Waves: a window around the byte, a marker on it; GTKWave's command as it is printed.
cycle=$(sed -n 's/^    scratchpad .*; cycle \([0-9]*\)$/\1/p' stderr)
says "  waves of that submission, cycles:$((cycle - 28))-$((cycle + 20)), marker A at the first wrong byte:"
[ "$(next_of '  waves of that submission.*')" = "gtkwave 'o ut/mismatch/waves.gtkw'" ] || fail "gtkwave's line: $(cat stderr)"
grep -q '^\[markername\] Afirst wrong byte' 'o ut/mismatch/waves.gtkw' || fail "no marker"
if command -v fst2vcd >/dev/null; then
    fst2vcd 'o ut/mismatch/waves.fst' | awk '!id && $1 == "$var" && $5 == "cycle" { id = $4; next }
        id && $2 == id && $1 ~ /^b/ { n = 0; v = substr($1, 2)
            for (i = 1; i <= length(v); i++) n = 2 * n + substr(v, i, 1)
            print n }' | sort -n >cycles
    [ "$(head -1 cycles)" -le $((cycle - 27)) ] && [ "$(tail -1 cycles)" -ge $((cycle + 19)) ] &&
        [ "$(wc -l <cycles)" -le 60 ] || fail "waves of cycles $(head -1 cycles) to $(tail -1 cycles)"
fi
# The layer alone uses other addresses, so it is right even on the faulty RTL, and heddle reports that.
says "  replay: $layer alone is right: the error needs the layers around it:"
replay=$(next_of '  replay: .*')
eval "faulty ${replay#heddle }" || fail "'$replay' is not right: $(cat stderr)"
eval "faulty run digits --hw=tiny -i 'in put.bin' -o 'o ut'"
checked=$(next_of "  with the RTL's assertions:")
[ "$checked" = "heddle run digits --hw=tiny '--input=in put.bin' '--output=o ut' --checked" ] || fail "'$checked'"

# A single layer is wrong alone, too; the printed command passes on the unchanged RTL.
faulty bench conv 12x12x16 1x1x16 --hw=tiny
[ $? = 1 ] || fail "bench: a wrong answer does not end with 1: $(cat stderr)"
says '  replay: 00_conv2d alone is wrong too:'
replay=$(next_of '  replay: .*')
[ -s heddle-mismatch/waves.gtkw ] && [ -s heddle-mismatch/waves.fst ] || fail "bench: no waves"
eval "faulty ${replay#heddle }"
[ $? = 1 ] || fail "'$replay' is right on the faulty RTL"
says '  RTL and functional model first differ at submission 0, command [0-9]*: array, 00_conv2d .*'
eval "good ${replay#heddle }" || fail "'$replay' on the RTL as it is: $(cat stderr)"
grep -q '^verdict: match' stdout || fail "'$replay': $(grep ^verdict stdout)"

# With --waves there are waves already; if they cannot be built or written, a line states why.
faulty run digits --hw=tiny -i 'in put.bin' -o own --waves=first
says '  waves \(--waves=first\):'
says "  Verilator warned of this RTL, 1 time: '.*/build.log'"
[ "$(next_of '  waves \(--waves=first\):')" = "gtkwave own/waves.gtkw" ] || fail "--waves: $(cat stderr)"
rm -r "$waves_model" "$waves_model.lock" && mkdir "$waves_model.lock"
faulty run digits --hw=tiny -i 'in put.bin' -o again
says "  waves: none: cannot write '.*\.lock': Is a directory"
says "  replay: $layer alone is right: the error needs the layers around it:"
printf 'x' >file
mkdir full && printf 'x' >full/mismatch
faulty run digits --hw=tiny -i 'in put.bin' -o full
says "  waves and replay of the layer: none: cannot make directory 'full/mismatch': .*"

# For a softmax: the row, the key and the pass. The fault keeps the largest byte of earlier rows.
cp "$HEDDLE_HOME/hw/rtl/hd_compute.sv" tree/hw/rtl/
sed -i.right 's/top_q <= first_q ?/top_q <= 1'"'"'b0 ?/' tree/hw/rtl/vector/hd_softmax.sv
cmp -s tree/hw/rtl/vector/hd_softmax.sv tree/hw/rtl/vector/hd_softmax.sv.right && fail "no fault was planted in softmax"
mkdir soft && printf 'x' >soft/mismatch # no waves, no replay
faulty run "$models/vit_own/model.tflite" -n1 '--hw={"base": "tiny", "name": "soft", "softmax_rows": 16}' -o soft
says '  RTL and functional model first differ at submission 0, command [0-9]*: vector, 21_softmax \(.*\)'
says '    softmax, row [0-9]*, key [0-9]*: the pass of the maximum: the row is right for -?[0-9]* as its largest byte, which is -?[0-9]*'
finish
