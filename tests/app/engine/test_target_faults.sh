#!/bin/bash
# An external target's code that crashes or never returns ends the run with exit 4, its name and the command that tests
# it alone.
. "$(dirname "$0")/../../e2e/common.sh"
"$heddle" new-target mine >/dev/null || fail "new-target"
printf '%s\n' 'heddle-ir 1' 'graph name="g"' 'row 0 name="00_fully_connected" op="FULLY_CONNECTED" tensor="y" shape="1x4" macs=16' \
    'tensor 0 i8 [1,4] input name="x" scale=(0.5) zero=(3)' 'tensor 1 i8 [4,4] const name="w" scale=(0.25) zero=(0) fill=3' \
    'tensor 2 i32 [4] const name="b" fill=7' 'tensor 3 i8 [1,4] value name="y" scale=(1) zero=(-4)' \
    'op fully_connected row=0 in=(0,1,2) out=(3)' 'border in=(0) out=(3)' >dense.ir

# spoilt STATEMENT: the target with that in its function
spoilt() {
    rm -rf mine && "$heddle" new-target mine >/dev/null
    sed -i "/^int mine_dense/,/^{/s/^{/{\n    $1/" mine/mine.c
}
run() { # run CODE MESSAGE OPTION...
    expect "$1" "$2" "$heddle" run dense.ir --engine=func --target-dir=mine --target=mine --seed=1 --allow-native-targets "${@:3}"
}
run 0 ""
spoilt 'if (batch) __builtin_trap();'
run 4 "heddle: inference 0: the code of target mine crashed (Illegal instruction) in 00_fully_connected; 'heddle check-target $work/mine' tests it alone"
spoilt 'while (*(volatile const int8_t *)x + 1000) {}'
run 4 "heddle: inference 0, 00_fully_connected on mine: its code did nothing for 1 seconds and was stopped; --seconds=N gives it more, 'heddle check-target' tests it alone" \
    --seconds=1
finish
