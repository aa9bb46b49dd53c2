#!/usr/bin/env bash
# The Cortex-M4's cycles of a float32 network: each operator ends (floating point is on) and takes fewer instructions than
# on RV32IM, which has none; every instruction takes a cycle, none more than 14.
set -u
for tool in riscv64-unknown-elf-gcc qemu-system-riscv32 arm-none-eabi-gcc qemu-system-arm; do
    command -v "$tool" >/dev/null || { echo "$tool not found (make test installs it)"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$HEDDLE_BUILD/heddle" compile tests/e2e/answers/float.ir --target=c -o "$work/package" >/dev/null || exit
PYTHONPATH=tests/compiler/host timeout 250 python3 - "$work" <<'END'
import sys

import cortex_m4
import rv32

package, counted = sys.argv[1] + "/package", []
for of in rv32, cortex_m4:
    counted.append(of.MACHINE.measure(package, of.MACHINE.compile_kernels(sys.argv[1], package)))
assert len(counted[0]) == len(counted[1]) > 0, counted
for riscv, arm in zip(*counted):
    assert arm["instructions"] < riscv["instructions"], (arm, riscv)
    assert arm["instructions"] < cortex_m4.cycles(arm) < 14 * arm["instructions"], arm
print(len(counted[1]), "operators")
END
