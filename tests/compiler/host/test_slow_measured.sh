#!/usr/bin/env bash
# host_cycles.def compared with the emulator, at sizes that were not used for fitting: two of the networks here, all in
# .ci/nightly. Needs the cross compiler and qemu.
set -u
for tool in riscv64-unknown-elf-gcc qemu-system-riscv32; do
    command -v "$tool" >/dev/null || { echo "$tool not found (make test installs it)"; exit 77; }
done
exec timeout 250 python3 tests/compiler/host/measure.py --check --only int8,qlinear
