# host_ends.sh - sourced by tests of --host=$host, on tiny: the host alone, C of an own target, programs that go wrong. Their
# text is the same on every host.
# --- the host alone, and a user's C ---
head -c 64 in_0.bin >one.bin
head -c 128 in_0.bin >two.bin
"$heddle" run digits --hw=tiny --target=c --host=$host -i one.bin >stdout 2>stderr || fail "c: $(cat stderr)"
grep -q "^verdict: match: .* equal" stdout || fail "c: $(cat stdout)"
"$heddle" new-target mine >/dev/null 2>stderr || fail "new-target: $(cat stderr)"
cp mine/mine.c good.c

# own [OPTION...]: runs digits with its fully connected layer in mine.c
own() {
    "$heddle" run digits --hw=tiny -i one.bin --target-dir=mine --target=mine,systolic --partition=priority --allow-native-targets \
        --host=$host "$@" >stdout 2>stderr
}
own || fail "own target: $(cat stderr)"
grep -q "^verdict: match: " stdout || fail "own target: $(cat stdout)"

# --- packages: as the network itself; with what is in the folder now ---
# parts FILE: its cycles end to end, and what they were spent on
parts() { grep -oE "[0-9]+\.[0-9] cycles each|end to end .*" "$1"; }
"$heddle" run digits --hw=tiny --host=$host -i two.bin -o network >stdout 2>stderr || fail "network: $(cat stderr)"
for package in net.tar net; do
    "$heddle" compile digits --hw=tiny -o $package 2>stderr || fail "compile: $(cat stderr)"
    "$heddle" run $package --host=$host --allow-native-targets -i two.bin --expect network/out_0.bin >stdout 2>stderr ||
        fail "$package: $(cat stderr)"
    grep -q "^verdict: match" stdout || fail "$package: $(cat stdout)"
    parts stdout >of_package
    python3 - of_package network/stats.json <<'END' || fail "$package: $(cat of_package)"
import json, re, sys
cycles, total, host, driver, waiting = map(float, re.findall(r"(\d+\.\d)", open(sys.argv[1]).read()))
s = json.load(open(sys.argv[2]))
want = [s[k] for k in ("cycles", "total_cycles", "host_cycles", "driver_cycles", "waiting_cycles")]
got = [cycles, total, host + driver, driver, waiting]
assert all(abs(a - b) < 0.11 for a, b in zip(got, want)), (got, want)
END
done
sed -i 's|^    return HD_OK;|    call->out[0][0] ^= 1;\n&|' net/model.c
"$heddle" run net --host=$host --allow-native-targets -i two.bin --expect network/out_0.bin >stdout 2>stderr
[ $? = 1 ] || fail "a package that was changed: $(cat stdout stderr)"

# --- cores of targets, and libraries ---
for target in vanilla strawberry; do
    options="--target=$target,systolic --partition=priority --allow-native-targets"
    "$heddle" run digits --hw=tiny --host=$host -i one.bin $options >stdout 2>stderr || fail "$target: $(cat stderr)"
    grep -q "^verdict: match: " stdout || fail "$target: $(cat stdout)"
done
"$heddle" run digits --hw=tiny --host=$host -i one.bin $options --max-cycles=20 >stdout 2>stderr
[ $? = 4 ] || fail "a core that is too slow: $(cat stdout stderr)"
"$heddle" compile digits --hw=tiny -o core.tar $options 2>stderr || fail "compile: $(cat stderr)"
"$heddle" run core.tar --host=$host -i one.bin --allow-native-targets >stdout 2>stderr || fail "core.tar: $(cat stderr)"
grep -q "^end to end " stdout || fail "core.tar: $(cat stdout)"
cp mine/target.json good.json
sed -i 's/"sources"/"libraries": ["m"], &/' mine/target.json
own
[ $? = 3 ] && grep -qx "heddle: --host=$host: library 'm' of a target: the processor has no libraries" stderr ||
    fail "library: $(cat stderr)"
"$heddle" compile digits --hw=tiny -o library.tar --target-dir=mine --target=mine,systolic --partition=priority 2>stderr ||
    fail "compile: $(cat stderr)"
expect 3 "heddle: --host=$host: library 'm' of a target: the processor has no libraries" \
    "$heddle" run library.tar --host=$host --allow-native-targets -i one.bin
cp good.json mine/target.json

# --- a user's C program ---
"$heddle" run --prog="$HEDDLE_HOME/driver/examples/matmul.c" --host=$host --hw=tiny >stdout 2>stderr || fail "matmul: $(cat stderr)"
[ "$(head -c 7 stdout)" = "matmul:" ] && grep -qx "verdict: PASS" stdout || fail "matmul: $(cat stdout)"
"$heddle" run --prog="$HEDDLE_HOME/driver/examples/matmul.c" --hw=tiny >of_native 2>stderr || fail "matmul: $(cat stderr)"
[ "$(grep submissions of_native)" = "$(grep submissions stdout)" ] || fail "matmul: cycles $(cat of_native stdout)"
grep -qE "^end to end [0-9]+ cycles \($host\): program [0-9]+, driver [0-9]+, waiting [0-9]+$" stdout || fail "matmul: $(cat stdout)"
# program BODY
program() {
    { echo '#include <stdio.h>'
      echo '#include "driver/hd.h"'
      echo 'int hd_program(struct hd_device *dev, uint8_t *memory, uint64_t base, uint64_t bytes)'
      echo "{ (void)dev; (void)memory; (void)base; (void)bytes; $1 }"; } >own.c
}
program 'printf("%5d|%-5d|%05d|%s|%c|%llu|%x%%\n", -42, -42, -42, "text", 99, 12345678901234ull, 0xbeef); return 0;'
"$heddle" run --prog=own.c --hw=tiny --host=$host >stdout 2>stderr || fail "printf: $(cat stderr)"
[ "$(head -n 1 stdout)" = "  -42|-42  |-0042|text|c|12345678901234|beef%" ] || fail "printf: $(cat stdout)"
program 'return 7;'
expect 1 "heddle: own.c: hd_program returned 7" "$heddle" run --prog=own.c --hw=tiny --host=$host
program 'return HD_ERROR_FAULT;'
expect 4 "heddle: own.c: the device stopped on a fault" "$heddle" run --prog=own.c --hw=tiny --host=$host
program 'memory[bytes + 400] = 1; return 0;'
"$heddle" run --prog=own.c --hw=tiny --host=$host >stdout 2>stderr
[ $? = 4 ] && grep -qE "^heddle: own.c, in hd_program \+ 0x[0-9a-f]+ \(own.c:4\): store access fault, 0x51000190$" stderr || fail "beyond: $(cat stderr)"
program 'return nothing;'
"$heddle" run --prog=own.c --hw=tiny --host=$host >stdout 2>stderr
[ $? = 2 ] && grep -q "^heddle: compiling 'own.c' for rv32im failed (exit 1): .*error: .nothing. undeclared" stderr ||
    fail "syntax: $(cat stderr)"
expect 2 "heddle: 'none.c' cannot be read" "$heddle" run --prog=none.c --host=$host
expect 2 "heddle: --host=$host: only the RTL has cycles; expected --engine=rtl, found func" \
    "$heddle" run --prog=own.c --hw=tiny --host=$host --engine=func

# --- programs that go wrong: reported with the function's name ---
# wrong CODE: mine_dense begins with CODE, in line $line of mine.c.
wrong() {
    sed "s|^    for (int32_t b = 0; b < batch; b++)|    $1\n&|" good.c >mine/mine.c
    cmp -s good.c mine/mine.c && fail "mine.c is as it was"
    line=$(diff good.c mine/mine.c | sed -n '1s/.*a//p') opens=$((line - 1))
    own --max-cycles=1000000
    [ $? = 4 ] || fail "$1: exit $?: $(cat stderr)"
}
# told_as PATTERN
told_as() {
    grep -qE "^heddle: inference 0, in $1\$" stderr || fail "expected $1, found $(cat stderr)"
}
wrong 'for (volatile int k = 1; k;) {}'
told_as 'mine_dense \+ 0x[0-9a-f]+ \(mine.c:'$line'\): no end after 1000000 cycles \(--max-cycles\)'
wrong '__asm__ volatile("wfi");'
told_as 'mine_dense \+ 0x[0-9a-f]+ \(mine.c:'$line'\): the program waits for an interrupt, and nothing runs'
wrong 'volatile unsigned at = 8; *(volatile int *)at = 1;'
told_as 'mine_dense \+ 0x[0-9a-f]+ \(mine.c:'$line'\): store access fault, 0x00000008'
wrong 'y[0] = (int8_t)*(volatile int *)((unsigned)x / 2 * 2 + 1);'
told_as 'mine_dense \+ 0x[0-9a-f]+ \(mine.c:'$line'\): misaligned load, 0x[0-9a-f]+[13579bdf]'
wrong 'volatile char deep[16300]; for (int k = 0; k < 16300; k++) deep[k] = 1; if (deep[batch] == 2) return 1;'
told_as 'mine_dense \+ 0x[0-9a-f]+ \(mine.c:('$line'|'$opens')\): store access fault, 0x80[0-9a-f]+: the stack is full \(STACK_BYTES of bare/riscv.ld\)'
wrong 'if (x) return -1;'
grep -q "the program ended with code 2: inference failed" stderr || fail "a failing call: $(cat stderr)"
wrong '__asm__ volatile("ecall");'
told_as 'mine_dense \+ 0x[0-9a-f]+ \(mine.c:'$line'\): ecall: there is no system to call'
wrong '__asm__ volatile(".word 0");'
told_as 'mine_dense \+ 0x[0-9a-f]+ \(mine.c:('$line'|'$opens')\): illegal instruction, 0x00000000'
wrong '((void (*)(void))0x90000000u)();'
told_as '(0x90000000, called by )?mine_dense \+ 0x[0-9a-f]+ \(mine.c:'$line'\): fetch access fault, 0x90000000'
# Without binutils' addr2line only the function is reported.
cp -rs /usr/bin without && rm without/riscv64-unknown-elf-addr2line
wrong 'volatile unsigned at = 8; *(volatile int *)at = 1;'
PATH=$work/without own --max-cycles=1000000
told_as 'mine_dense \+ 0x[0-9a-f]+ \(its line is not known: riscv64-unknown-elf-addr2line was not found\): store access fault, 0x00000008'
