#!/bin/bash
# --prog: a user's C passes only if hd_program returns 0.
. "$(dirname "$0")/../../e2e/common.sh"
export XDG_CACHE_HOME=$work/cache
# program NAME BODY: writes its C file
program() {
    { echo '#include <stdlib.h>'
      echo '#include <string.h>'
      echo '#include <unistd.h>'
      echo '#include "driver/hd.h"'
      echo 'int hd_program(struct hd_device *dev, uint8_t *memory, uint64_t base, uint64_t bytes)'
      echo "{ (void)dev; (void)memory; (void)base; (void)bytes; $2 }"; } >"$1.c"
}
run() { "$heddle" run --prog="$1.c" --engine=func "${@:2}"; }
# bad NAME BODY CODE MESSAGE: expects the message after "heddle: NAME.c: ", and no claim of a pass on stdout
bad() {
    program "$1" "$2"
    expect "$3" "heddle: $1.c: $4" timeout 60 "$heddle" run --prog="$1.c" --engine=func --seconds=2
    grep -q PASS stdout && fail "$1: $(cat stdout)"
}

program good 'memset(memory, 1, bytes); return 0;'
run good >stdout 2>stderr || fail "good: $(cat stderr)"
grep -qx "verdict: PASS" stdout || fail "good: $(cat stdout)"
"$heddle" run --prog="$HEDDLE_HOME/driver/examples/matmul.c" --engine=func --hw=tiny >stdout 2>stderr ||
    fail "matmul: $(cat stderr)"
[ "$(head -c 7 stdout)" = "matmul:" ] || fail "what a program prints is lost: $(cat stdout)"

bad value 'return 7;' 1 "hd_program returned 7"
bad exit0 'exit(0);' 1 "hd_program ended its process with exit code 0, expected it to return"
bad exit3 '_exit(3);' 1 "hd_program ended its process with exit code 3, expected it to return"
bad loop 'for (volatile int i = 0;; i = !i) continue; return 0;' 1 \
    "hd_program did not return within 2 seconds and was stopped; --seconds=N gives it more"
bad quiet_loop 'for (int i = 3; i < 256; i++) close(i); for (volatile int i = 0;; i = !i) continue; return 0;' 1 \
    "hd_program did not return within 2 seconds and was stopped; --seconds=N gives it more"
bad null '*(volatile int *)16 = 1; return 0;' 1 "hd_program crashed: Segmentation fault at address 0x10"
bad abort 'abort();' 1 "hd_program crashed: Aborted"
bad after 'memset(memory, 0, bytes + 1); return 0;' 1 \
    "hd_program crashed: Segmentation fault, 0 bytes after the end of its memory (16777216 bytes)"
bad far 'memory[bytes + 400] = 1; return 0;' 1 \
    "hd_program crashed: Segmentation fault, 400 bytes after the end of its memory (16777216 bytes)"
bad before 'memory[-16] = 1; return 0;' 1 "hd_program crashed: Segmentation fault, 16 bytes before its memory"
bad fault 'return HD_ERROR_FAULT;' 4 "the device stopped on a fault"
bad misaligned 'return hd_bind(dev, 5, memory, base + 8, 64, HD_READ);' 4 \
    "a region, offset or size is out of range: region 5, 0x80000008, expected a multiple of 64"
bad stream 'int rc = hd_bind(dev, 0, memory, base, 64, HD_READ); return rc ? rc : hd_submit(dev, 0, 20);' 4 \
    "a region, offset or size is out of range: region 0, 0x14, expected a multiple of 16"
bad beyond 'int rc = hd_bind(dev, 2, memory, base, 64, HD_READ); return rc ? rc : hd_copy_in(dev, 2, 96, 4);' 4 \
    "a region, offset or size is out of range: region 2, 0x60"
program smash 'char own[16]; volatile int n = 400; memset(own, 1, (size_t)n); return own[n % 16] - 1;'
run smash >stdout 2>stderr
[ $? = 1 ] && grep -q "^heddle: smash.c: hd_program crashed: Aborted$" stderr || fail "smash: $(cat stderr)"
program syntax 'return nothing;'
run syntax >stdout 2>stderr
[ $? = 2 ] && grep -q "^heddle: compiling 'syntax.c' failed (exit 1): .*error: .nothing. undeclared" stderr ||
    fail "syntax: $(cat stderr)"
echo 'int other;' >none.c
expect 2 "heddle: none.c: expected a function int hd_program(struct hd_device *dev, uint8_t *memory, uint64_t base, \
uint64_t bytes), found none" "$heddle" run --prog=none.c --engine=func
echo '__attribute__((constructor)) static void f(void) { __builtin_exit(0); } int hd_program(void) { return 0; }' >early.c
expect 1 "heddle: early.c: its process ended before hd_program was called, exit code 0" \
    "$heddle" run --prog=early.c --engine=func
finish
