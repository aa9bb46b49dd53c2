#!/bin/bash
# build.sh PACKAGE INPUT HEX - the program of hd_soc as a file for $readmemh: a package of `heddle compile` for the same
# configuration, its main.c and the driver over port_mmio, and INPUT, the bytes of in_0.bin. A file that PACKAGE has
# instead of main.c is taken, too (port.h says what it may use). Environment: ../shared.sh; RAM_BYTES (default 131072,
# as the parameter of ulx3s); DEVICE_MEMORY, where the accelerator's part of the memory begins (default: the half).
set -euo pipefail
[ $# = 3 ] || { echo "usage: build.sh PACKAGE INPUT HEX" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../shared.sh"
package=$1 input=$(realpath "$2") hex=$3
ram=${RAM_BYTES:-131072}
device=${DEVICE_MEMORY:-$((ram / 2))}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
config "$work"
word=$(sed -n 's/.*CfgAxiBytes = \([0-9]*\);.*/\1/p' "$work/hd_config.svh") # of the memory
[ "$word" = 4 ] || [ "$word" = 8 ] || { echo "build.sh: $HW: expected a bus of 4 or 8 bytes, found $word" >&2; exit 2; }

sources=()
for source in "$package"/*.[cS] "$package"/runtime/*.c "$package"/runtime/kernels/*.c \
    "$package"/runtime/kernels/described/*.c; do
    case $source in */port_hosted.c | *'*'*) ;; *) sources+=("$source") ;; esac
done
cat >"$work/input.S" <<END
    .section .rodata
    .balign 8
    .global soc_input, soc_input_end
soc_input:
    .incbin "$input"
soc_input_end:
END
riscv64-unknown-elf-gcc -march=rv32im -mabi=ilp32 -std=c11 -Os -ffreestanding -fno-tree-loop-distribute-patterns \
    -ffunction-sections -fdata-sections -Wall -Werror -nostdlib -Wl,--gc-sections,--no-warn-rwx-segments \
    -Wl,--defsym=DEVICE_MEMORY="$device" -T "$here/soc.ld" -DHD_IRQ -DHD_REGISTERS=0x40000000 \
    -DHD_MEMORY="$device" -DHD_MEMORY_BYTES=$((ram - device)) -I "$package" -I "$package/runtime" -Wa,-I"$package" \
    -o "$work/soc.elf" "${sources[@]}" "$root/driver/package/bare/memory.c" "$here/soc.c" "$work/input.S" -lgcc
riscv64-unknown-elf-objcopy -O binary "$work/soc.elf" "$work/soc.bin"
od -An -v -tx"$word" -w"$word" "$work/soc.bin" | tr -d ' ' >"$hex"
riscv64-unknown-elf-size "$work/soc.elf" | awk 'NR == 2 { print "program: " $1 + $2 " bytes, " $3 " more of memory" }'
