#!/bin/bash
# Ctrl-C while waves are written: the trace and the writer's own file beside it go too.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"
. "$here/interrupt.sh"
command -v verilator >/dev/null || { echo "verilator is not there"; exit 77; }

"$heddle" build --hw=tiny >/dev/null 2>stderr || fail "build: $(cat stderr)"
interrupted waves INT --engine=rtl --hw=tiny --waves=all
finish
