#!/bin/bash
# SYNTH_FAMILY=xc7 hw/synth.sh adds up the cells of a Xilinx 7 series and says whether they fit an XC7K325T; with what yosys would
# count in its place.
. "$(dirname "$0")/../e2e/common.sh"
cat >yosys <<'END'
#!/bin/bash
printf '=== hd_ram ===\n   Number of memory bits: 64\n     $mem_v2 1\n=== hd_top ===\n     hd_spad 3\n=== hd_spad ===\n     hd_ram 2\n' >memory.stat
printf '=== hd_spad ===\n     LUT6 10\n     INV 1\n     RAM64M 2\n     RAM32X1D 1\n     RAMB18E1 1\n     FDSE 7\n' >top.stat
printf '=== hd_top ===\n     hd_spad 3\n     LUT2 5\n     CARRY4 6\n     FDRE 20\n     SRL16E 1\n     DSP48E1 %d\n' "${DSP:-840}" >>top.stat
END
chmod +x yosys
area=$(cat "$HEDDLE_HOME/hw/area.csv")
export YOSYS=$work/yosys SYNTH_FAMILY=xc7
says() { grep -qxF "$1" stdout || fail "expected '$1': $(cat stdout)"; }
expect 0 '' "$HEDDLE_HOME/hw/synth.sh" tiny
says 'config module             LUT CARRY4 flip-flops    DSP48E1 RAMB36E1 LUT-RAM      bits'
says 'tiny   hd_spad             33      0         21          0    1.5      30       384'
says 'tiny   hd_top              38      6         41        840    1.5      31       384'
says 'tiny: fits an XC7K325T: 69 of 203800 LUTs, 31 of 64000 LUT-RAM, 41 of 407600 flip-flops, 840 of 840 DSP48E1, 1.5 of 445 RAMB36E1'
# Newer yosys prints the number first.
cp stdout older
sed "s/Number of memory bits: 64/64 memory bits/; s/     \([A-Za-z_0-9\$]*\) \([0-9%][0-9d]*\)\\\\n/     \2 \1\\\\n/g" yosys >newer
chmod +x newer
grep -q ' 10 LUT6' newer || fail "no newer form: $(cat newer)"
YOSYS=$work/newer expect 0 '' "$HEDDLE_HOME/hw/synth.sh" tiny
cmp -s stdout older || fail "by numbers first: $(cat stdout)"
DSP=841 expect 0 '' "$HEDDLE_HOME/hw/synth.sh" tiny
grep -q '^tiny: does not fit an XC7K325T: .* 841 of 840 DSP48E1,' stdout || fail "a multiplier too many: $(cat stdout)"
[ "$area" = "$(cat "$HEDDLE_HOME/hw/area.csv")" ] || fail "hw/area.csv was written"
# An ECP5's multipliers are in another file of newer yosys.
cat >ecp5 <<'END'
#!/bin/bash
[ "$2" = -p ] && { [ "$3" = "read_verilog +/$DSP" ]; exit; }
cp top.ys "$OUT"
printf '=== hd_top ===\n     LUT4 5\n' | tee memory.stat >top.stat
END
chmod +x ecp5
cp "$HEDDLE_HOME/hw/area.csv" .
export OUT=$work/script
for DSP in ecp5/dsp_map.v lattice/dsp_map_18x18.v; do
    export DSP
    rm -f script
    YOSYS=$work/ecp5 SYNTH_FAMILY=ecp5 SYNTH_FMAX=none SYNTH_AREA=$work/area.csv expect 0 '' "$HEDDLE_HOME/hw/synth.sh" tiny
    grep -qF "techmap -map +/mul2dsp.v -map +/$DSP " script || fail "no $DSP: $(cat script)"
    grep -qF 'DSP_NAME=$__MUL18X18' script && grep -qF 'chtype -set $mul t:$__soft_mul' script || fail "names: $(cat script)"
done
# Black boxes; such a whole is not recorded.
cp area.csv before.csv
DSP=ecp5/dsp_map.v SYNTH_ONLY="hd_spad hd_store" YOSYS=$work/ecp5 SYNTH_FAMILY=ecp5 SYNTH_FMAX=none SYNTH_AREA=$work/area.csv \
    expect 0 '' "$HEDDLE_HOME/hw/synth.sh" tiny
[ "$(grep -c '^blackbox hd_' script)" = 11 ] || fail "black boxes: $(grep '^blackbox' script)"
! grep -qE '^blackbox hd_(spad|store) ' script || fail "a unit of SYNTH_ONLY is a black box"
cmp -s before.csv area.csv || fail "a part was recorded: $(diff before.csv area.csv)"
DSP=none YOSYS=$work/ecp5 SYNTH_FAMILY=ecp5 expect 1 \
    "synth.sh: $work/ecp5 has no +/ecp5/dsp_map.v and no +/lattice/dsp_map_18x18.v" "$HEDDLE_HOME/hw/synth.sh" tiny
SYNTH_FAMILY=ice40 expect 2 "synth.sh: SYNTH_FAMILY: expected ecp5 or xc7, found 'ice40'" "$HEDDLE_HOME/hw/synth.sh" tiny
finish
