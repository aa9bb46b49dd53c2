#!/bin/bash
# Configurations at the limits of all ranges: Verilator's -Wall must not warn. A vector of zero width, which it would
# report, is a wrong answer.
. "$(dirname "$0")/../e2e/common.sh"
command -v verilator >/dev/null || { echo "verilator not found"; exit 77; }
mkdir gen && cp "$HEDDLE_BUILD/gen/hd_accel.svh" gen/ || exit 1
# edge NAME BASE SIZES
edge() { "$HEDDLE_BUILD/hdgen" "$HEDDLE_HOME/hw/accel.json" --config "{\"base\": \"$2\", $3}" --svh "gen/$1" || fail "$1"; }
least='"acc_depth": 16, "axi_addr_bits": 32, "axi_bytes": 4, "param_entries": 2, "ports": 1, "read_bursts": 1'
most='"acc_depth": 4096, "axi_addr_bits": 63, "axi_bytes": 64, "param_entries": 4096, "ports": 4, "read_bursts": 64'
edge least4 tiny "$least, \"rows\": 2, \"columns\": 2, \"scratchpad_bytes\": 64, \"weight_bytes\": 132"
edge least32 sys32 "$least, \"rows\": 24, \"columns\": 3, \"scratchpad_bytes\": 512, \"weight_bytes\": 1056"
edge most4 tiny "$most, \"scratchpad_bytes\": 2097152, \"weight_bytes\": 262144"
edge most32 sys32 "$most, \"scratchpad_bytes\": 16777216, \"weight_bytes\": 2097152"
HEDDLE_BUILD=$work LINT_TOOLS=verilator bash "$HEDDLE_HOME/tests/hw/lint_rtl.sh" >lint || fail "$(grep -v ^ok lint)"
[ "$(grep -c "^ok  *verilator" lint)" = 8 ] || fail "$(cat lint)"
finish
