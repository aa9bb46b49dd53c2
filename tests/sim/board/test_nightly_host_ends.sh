#!/bin/bash
# --host=iss: the host alone, an own target's C, programs that hang, fault or overflow their stack.
. "$(dirname "$0")/../../e2e/common.sh"
for tool in riscv64-unknown-elf-gcc cmake; do
    command -v $tool >/dev/null || { echo "$tool not found (make test installs it)"; exit 77; }
done
head -c 128 "$models/digits/in_0.bin" >in_0.bin
host=iss
. "$HEDDLE_HOME/tests/e2e/host/host_ends.sh"
finish
