#!/usr/bin/env bash
# The same as test_measured.sh for every kernel.
set -u
for tool in riscv64-unknown-elf-gcc qemu-system-riscv32; do
    command -v "$tool" >/dev/null || { echo "$tool is not there (make test installs it)"; exit 77; }
done
exec timeout 1100 python3 tests/compiler/hostcycles/measure.py --check
