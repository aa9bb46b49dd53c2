# host_ends.sh - sourced by tests of --host=$host: the host alone, C of an own target, programs that go wrong. Their text
# is the same whoever executes them.
# --- the host alone, and C of an own target ---
head -c 64 in_0.bin >one.bin
"$heddle" run digits --target=c --host=$host -i one.bin >stdout 2>stderr || fail "c: $(cat stderr)"
grep -q "^verdict: match: .* equal" stdout || fail "c: $(cat stdout)"
"$heddle" new-target mine >/dev/null 2>stderr || fail "new-target: $(cat stderr)"
cp mine/mine.c good.c

# own [OPTION...]: digits with its fully connected layer by mine.c
own() {
    "$heddle" run digits -i one.bin --target-dir=mine --target=mine,systolic --partition=priority --allow-native-targets \
        --host=$host "$@" >stdout 2>stderr
}
own || fail "own target: $(cat stderr)"
grep -q "^verdict: match: " stdout || fail "own target: $(cat stdout)"

# --- programs that go wrong: told with the function's name ---
# wrong CODE: mine_dense begins with CODE.
wrong() {
    sed "s|^    for (int32_t b = 0; b < batch; b++)|    $1\n&|" good.c >mine/mine.c
    cmp -s good.c mine/mine.c && fail "mine.c is as it was"
    own --max-cycles=4000000
    [ $? = 4 ] || fail "$1: exit $?: $(cat stderr)"
}
# told_as PATTERN
told_as() {
    grep -qE "^heddle: inference 0, in $1\$" stderr || fail "expected $1, found $(cat stderr)"
}
wrong 'for (volatile int k = 1; k;) {}'
told_as 'mine_dense \+ 0x[0-9a-f]+: no end after 4000000 cycles \(--max-cycles\)'
wrong '__asm__ volatile("wfi");'
told_as 'mine_dense \+ 0x[0-9a-f]+: the program waits for an interrupt, and nothing runs'
wrong '*(volatile int *)8 = 1;'
told_as 'mine_dense \+ 0x[0-9a-f]+: store access fault, 0x00000008'
wrong 'y[0] = (int8_t)*(volatile int *)((unsigned)x / 2 * 2 + 1);'
told_as 'mine_dense \+ 0x[0-9a-f]+: misaligned load, 0x[0-9a-f]+[13579bdf]'
wrong 'volatile char deep[16300]; for (int k = 0; k < 16300; k++) deep[k] = 1; if (deep[batch] == 2) return 1;'
told_as 'mine_dense \+ 0x[0-9a-f]+: store access fault, 0x80[0-9a-f]+: the stack is full \(STACK_BYTES of bare/riscv.ld\)'
wrong 'if (x) return -1;'
grep -q "the program ended with code 2: inference failed" stderr || fail "a failing call: $(cat stderr)"
wrong '__asm__ volatile("ecall");'
told_as 'mine_dense \+ 0x[0-9a-f]+: ecall: there is no system to call'
wrong '__asm__ volatile(".word 0");'
told_as 'mine_dense \+ 0x[0-9a-f]+: illegal instruction, 0x00000000'
wrong '((void (*)(void))0x90000000u)();'
told_as '.*0x[0-9a-f]+: fetch access fault, 0x90000000'
