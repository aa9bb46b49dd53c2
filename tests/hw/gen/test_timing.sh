#!/bin/bash
# Every number of `timing` in hw/accel.json names a module that there is, the cycle model counts with it, and its bench
# measures it.
set -eu
bad=0

complain() {
    echo "hw/accel.json: timing: $*"
    bad=1
}

while IFS='|' read -r _ name _ _ module bench _; do
    name=${name//[\` ]/} module=${module//[\` ]/} bench=${bench//[\` ]/}
    constant=HD_TIMING_${name^^}
    [ -n "$(find hw/rtl -name "$module.sv")" ] || complain "$name: no $module.sv in hw/rtl"
    grep -qrw "$constant" compiler || complain "$name: no file of compiler/ has $constant"
    grep -qsw "$constant" tests/hw/*/"$bench.cpp" tests/hw/*/"${bench%_tb}"_*.h ||
        complain "$name: tests/hw/*/$bench.cpp does not have $constant"
    rows=$((${rows:-0} + 1))
done < <(sed -n '/^## Timing/,/^## Config/p' hw/REGISTERS.md | grep '^| `')
[ "${rows:-0}" -gt 30 ] || complain "found ${rows:-0} numbers in hw/REGISTERS.md, expected more than 30"
exit $bad
