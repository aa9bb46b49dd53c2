#!/bin/bash
# Random RV32IM programs: final registers and memory of heddle's simulator and of qemu-riscv32, an emulator that is not
# ours, are equal. HD_SEED, printed, and HD_PROGRAMS, their number, repeat a run.
set -u
command -v qemu-riscv32 >/dev/null || { echo "qemu-riscv32 not found (make test installs it: qemu-user)"; exit 77; }
seed=${HD_SEED:-1} programs=${HD_PROGRAMS:-10000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
random=$HEDDLE_BUILD/random_programs slot=384
echo "seed $seed, $programs programs"

compared=0
for ((i = 0; compared < programs; i++)); do
    "$random" make $((seed + i)) 2500 "$work/elf" && chmod +x "$work/elf" || exit 1
    "$random" run "$work/elf" "$work/ours" >/dev/null || exit 1
    timeout 120 qemu-riscv32 "$work/elf" >"$work/theirs" || { echo "qemu-riscv32: exit $?"; exit 1; }
    [ "$(stat -c %s "$work/ours")" = $((2500 * slot)) ] || { echo "expected $((2500 * slot)) bytes"; exit 1; }
    if ! cmp "$work/ours" "$work/theirs" >"$work/log"; then
        byte=$(sed -n 's/.* byte \([0-9]*\).*/\1/p' "$work/log")
        byte=$((byte - 1))
        echo "seed $((seed + i)), program $((byte / slot)), byte $((byte % slot)) of its memory (registers: from 256, 4 each)"
        exit 1
    fi
    compared=$((compared + 2500))
done
echo "$compared programs equal"
