#!/bin/bash
# The same input gives the same bytes; emitted C, driver and kernels are freestanding C11 without a
# warning from gcc or clang.
. "$(dirname "$0")/../common.sh"

for model in digits resnet8_own dscnn_own; do
    for hw in tiny sys16; do
        for i in 1 2; do
            "$heddle" compile $model --hw=$hw -o $model-$hw-$i 2>stderr ||
                fail "compile $model --hw=$hw: $(cat stderr)"
        done
        same $model-$hw-1 $model-$hw-2 "compiled twice"
    done
done
"$heddle" compile digits --target=c -o digits-host 2>stderr || fail "compile --target=c"
(cd / && "$heddle" compile digits -o "$work/digits-elsewhere")
same digits-sys16-1 digits-elsewhere "compiled from another folder"
grep -rl -e "$HEDDLE_HOME" -e "$work" digits-sys16-1 && fail "a path of this machine in emitted C"

flags=(-std=c11 -ffreestanding -O1 -Wall -Wextra -Werror -fsyntax-only
    -I "$HEDDLE_HOME/driver" -I "$HEDDLE_HOME/kernels" -I "$HEDDLE_HOME" -I "$HEDDLE_BUILD/gen")
for cc in gcc clang; do
    command -v $cc >/dev/null || { echo "no $cc here"; continue; }
    for source in digits-host/*.c *-1/*.c; do # *-2 are the same
        "$cc" "${flags[@]}" "$source" 2>stderr || fail "$cc: $source: $(head -3 stderr)"
    done
    for source in "$HEDDLE_HOME"/driver/*.c "$HEDDLE_HOME"/kernels/{,*/}*.c \
        "$HEDDLE_HOME"/sim/functional/*.c "$HEDDLE_BUILD"/gen/hd_accel_tables.c; do
        "$cc" "${flags[@]}" "$source" 2>stderr || fail "$cc: $source: $(head -3 stderr)"
    done
done
finish
