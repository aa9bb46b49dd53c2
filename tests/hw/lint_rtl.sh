#!/bin/bash
# lint_rtl.sh [CONFIG...] - files of at most 350 lines (hd_top 400) and 100 columns, no array of structs, and three readers of the RTL:
# Verilator's -Wall without a warning, elaboration by Icarus, reading, hierarchy and no latch by yosys; hd_top, for each
# configuration (default: all in the build tree).
# Environment: HEDDLE_BUILD build tree (default build), LINT_TOP another top module, LINT_TOOLS which tools.
# A tool that does not exist is named and left out; with none of the three the exit code is 77.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${HEDDLE_BUILD:-$root/build}
top=${LINT_TOP:-hd_top}
tools=${LINT_TOOLS:-verilator iverilog yosys}
rtl=$root/hw/rtl files=("$root"/hw/rtl/{,*/}*.sv) headers=("$root"/hw/rtl/*.svh)
failed=0 ran=0

[ -e "$rtl/$top.sv" ] || { echo "lint_rtl.sh: no $top.sv yet: SKIPPED"; exit 77; }
configs=("$@")
if [ ${#configs[@]} = 0 ]; then
    for f in "$build"/gen/*/hd_config.svh; do configs+=("$(basename "$(dirname "$f")")"); done
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Warnings about correct code: yosys makes registers of small arrays; Icarus is sensitive to a whole vector if
# always_comb reads part of it, and does not synthesise a loop whose bound is a loop variable.
harmless='^Warning: Replacing memory|sorry: constant selects in always_|warning: A for statement must compare against'

# report NAME COMMAND... : silence and success, or the output.
report() {
    local name=$1
    shift
    ran=$((ran + 1))
    if "$@" >"$log" 2>&1 && ! grep -Ev "$harmless" "$log" | grep -q .; then
        echo "ok    $name"
    else
        echo "WRONG $name"
        grep -Ev "$harmless" "$log" | head -12
        failed=1
    fi
}

sizes() {
    awk 'length > 100 { print FILENAME ":" FNR ": " length " columns: at most 100" }
        FNR == (FILENAME ~ /hd_top/ ? 400 : 350) + 1 { print FILENAME ": more than " FNR - 1 " lines" }' "${files[@]}" "${headers[@]}"
}

# yosys 0.23 silently treats the index of an array of structs as a bit index, as happened in hd_requant.
structs() {
    ! grep -nE '^ *[a-z_]+_t +[^;()=]*\[' "${files[@]}"
}

verilator_lint() { # verilator_lint CONFIG FLAG...
    local flags=(--lint-only -Wall -DHD_ASSERT --assert "${@:2}")
    [ ! -e "$root/hw/lint/waivers.vlt" ] || flags+=("$root/hw/lint/waivers.vlt")
    for room in "$rtl" "$rtl"/*/; do flags+=(-y "${room%/}"); done
    verilator "${flags[@]}" "-I$build/gen" "-I$build/gen/$1" --top-module "$top" "$rtl/$top.sv"
}

iverilog_elaborate() {
    iverilog -g2012 "-I$build/gen" "-I$build/gen/$1" "-I$rtl" -t null -s "$top" "${files[@]}"
}

# From the RTL's folder: yosys splits its -I at spaces.
yosys_read() (
    local tmp
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
    cp "${files[@]}" "${headers[@]}" "$build/gen/hd_accel.svh" "$build/gen/$1/hd_config.svh" "$tmp/"
    cd "$tmp" && yosys -q -p "read_verilog -sv -I. *.sv; hierarchy -check -top $top; proc
        select -assert-none t:\$dlatch t:\$adlatch t:\$sr"
)

report "sizes of files" sizes
report "no array of structs" structs
ran=0
for tool in $tools; do
    command -v "$tool" >/dev/null || { echo "no $tool: SKIPPED"; continue; }
    for c in "${configs[@]}"; do
        case $tool in
            verilator)
                report "verilator $top $c" verilator_lint "$c"
                [ "$top" != hd_top ] || report "verilator $top $c, Trace=0" verilator_lint "$c" -GTrace=0
                ;;
            iverilog) report "iverilog $top $c" iverilog_elaborate "$c" ;;
            yosys) report "yosys $top $c" yosys_read "$c" ;;
        esac
    done
done
[ $ran -gt 0 ] || exit 77
exit $failed
