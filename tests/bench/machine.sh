#!/bin/bash
# machine.sh - one line that states on what a figure was measured: cores, processor, compiler, Verilator. Every bench
# prints it first, and docs/PERFORMANCE.md has it next to its figures.
cpu=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
flags=$(grep -m 1 -oE '\bavx2\b|\bavx512_vnni\b' /proc/cpuinfo 2>/dev/null | sort -u | tr '\n' ' ')
verilator=$("${HEDDLE_VERILATOR:-verilator}" --version 2>/dev/null | head -n 1)
echo "machine: $(nproc) cores of ${cpu:-$(uname -m)} (${flags% }), $(${CC:-cc} --version | head -n 1)," \
    "${verilator:-no Verilator}, load $(cut -d' ' -f1 /proc/loadavg 2>/dev/null)"
