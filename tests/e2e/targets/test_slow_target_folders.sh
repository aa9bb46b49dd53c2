#!/bin/bash
# Libraries and headers of a target in a folder that an environment variable names, and scratch memory of its calls:
# run, check-target and package find them, and report which variable or folder is missing.
. "$(dirname "$0")/../common.sh"
export XDG_CONFIG_HOME=$work/config
export CC="$HEDDLE_HOME/tests/e2e/o0 ${CC:-cc}" # its package runs once
unset HEDDLE_TARGET_PATH UMA_BACKENDS OWN_LIBRARY
mkdir -p own "lib/include" lib/lib
cat >lib/include/mover.h <<'END'
void mover_move(const signed char *from, signed char *to, int n);
END
cat >lib/mover.c <<'END'
#include "include/mover.h"
void mover_move(const signed char *from, signed char *to, int n) { for (int i = 0; i < n; i++) to[i] = from[i]; }
END
library() { # library FLAGS...: built again
    rm -f lib/lib/*
    ${CC:-cc} -fPIC "$@" -c lib/mover.c -o lib/mover.o && ar rcs lib/lib/libmover.a lib/mover.o || fail "no library"
}
library
cat >own/target.json <<'END'
{"heddle_target": 1, "name": "own", "version": "1.0", "requires_heddle": "0.1", "help": "x",
 "attributes": [{"name": "more", "type": "int", "range": [0, 9], "default": 3, "help": "x"}],
 "headers": ["own.h"], "sources": ["own.c"], "libraries": ["mover"],
 "include_dirs": ["$OWN_LIBRARY/include"], "library_dirs": ["$OWN_LIBRARY/lib"],
 "operators": [
  {"op": "max_pool_2d", "where": {"batch": 1}, "cost": {"fixed": 1}, "scratch": "2 * (in_bytes + more) - in_bytes / 1",
   "call": "own_pool($x, $y, $scratch, $scratch_bytes, $in_bytes, $more, $params)"}]}
END
cat >own/own.h <<'END'
#include "kernels/hdk.h"
int own_pool(const int8_t *x, int8_t *y, void *scratch, uint32_t n, uint32_t in_bytes, uint32_t more, const struct hdk_pool *p);
END
cat >own/own.c <<'END'
#include "own.h"
#include <mover.h>
int own_pool(const int8_t *x, int8_t *y, void *scratch, uint32_t n, uint32_t in_bytes, uint32_t more, const struct hdk_pool *p)
{
    int8_t *copy = scratch;
    if (n != in_bytes + 2 * more || (uintptr_t)scratch % 16)
        return -10;
    mover_move(x, copy, (int)in_bytes);
    for (uint32_t i = in_bytes; i < n; i++)
        copy[i] = 0x55; /* all of it may be written */
    for (uint32_t i = 0, c = p->channels; i < p->out_h * p->out_w * c; i++) {
        y[i] = -128;
        for (uint32_t k = 0; k < p->kernel_h * p->kernel_w; k++) {
            int32_t row = (int32_t)(i / c / p->out_w * p->stride_y + k / p->kernel_w) - p->pad_top;
            int32_t column = (int32_t)(i / c % p->out_w * p->stride_x + k % p->kernel_w) - p->pad_left;
            if (row < 0 || row >= (int32_t)p->in_h || column < 0 || column >= (int32_t)p->in_w)
                continue;
            int8_t v = copy[((uint32_t)row * p->in_w + (uint32_t)column) * c + i % c];
            y[i] = v > y[i] ? v : y[i];
        }
        y[i] = y[i] < p->act_min ? (int8_t)p->act_min : y[i] > p->act_max ? (int8_t)p->act_max : y[i];
    }
    return 0;
}
END
run() { "$heddle" run pool.ir --engine=func --target-dir=own --target=own --allow-native-targets "$@"; }
cat >pool.ir <<'END'
heddle-ir 1
graph name="pool"
row 0 name="00_pool" op="MAX_POOL_2D" tensor="y" shape="1x3x3x5"
row 1 name="01_pool" op="MAX_POOL_2D" tensor="z" shape="1x1x1x5"
tensor 0 i8 [1,6,6,5] input name="x" scale=(0.5) zero=(3)
tensor 1 i8 [1,3,3,5] value name="y" scale=(0.5) zero=(3)
tensor 2 i8 [1,1,1,5] value name="z" scale=(0.5) zero=(3)
op max_pool_2d row=0 in=(0) out=(1) kernel_h=2 kernel_w=2 stride_h=2 stride_w=2
op max_pool_2d row=1 in=(1) out=(2) kernel_h=3 kernel_w=3 stride_h=1 stride_w=1
border in=(0) out=(2)
END
# --- missing ---
expect 2 "heddle: include_dirs: '\$OWN_LIBRARY/include': environment variable OWN_LIBRARY is not set" run
expect 2 "heddle: include_dirs: '\$OWN_LIBRARY/include': environment variable OWN_LIBRARY is not set" \
    "$heddle" check-target own --allow-native-targets
export OWN_LIBRARY=$work/nowhere
expect 2 "heddle: include_dirs: '\$OWN_LIBRARY/include': folder '$work/nowhere/include' not found" run
"$heddle" inspect pool.ir --target-dir=own --target=own >stdout 2>stderr || fail "inspect needs no library: $(cat stderr)"
sed 's|"include_dirs": \[|&"/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9", "/10", "/11", "/12", "/13", "/14", "/15", "/16", |' \
    own/target.json >many.json
mkdir many && cp own/own.[ch] many && mv many.json many/target.json
expect 3 "heddle: target own: more than 16 libraries or folders in one network" \
    "$heddle" run pool.ir --engine=func --target-dir=many --target=own --allow-native-targets
cp -r "$HEDDLE_HOME/targets/strawberry" blocks
sed -i 's/"strawberry"/"blocks"/; s/{"op": "fully_connected"/&, "scratch": 8/' blocks/target.json
expect 2 "heddle: $work/blocks/target.json:16:42: operators[1].scratch: only a \"call\" has scratch memory" \
    "$heddle" targets --target-dir=blocks
# --- there ---
export OWN_LIBRARY=$work/lib
for more in 3 0; do
    run --target-own-more=$more -o out >stdout 2>stderr || fail "run with $more: $(cat stderr)"
    grep -q '^verdict: match' stdout && [ "$(grep -c '^0[01]_pool .* own ' stdout)" = 2 ] || fail "$(cat stdout)"
done
grep -q 'own_pool(.*(void \*)(call->arena + 0x[0-9a-f]*), 180, 180, 0' out/emitted/model.c ||
    fail "the call: $(grep own_pool out/emitted/model.c)"
"$heddle" check-target own --allow-native-targets >stdout 2>stderr || fail "check-target: $(cat stdout stderr)"
# A rebuilt library is linked again.
sed -i 's/= from\[i\]/= from[i] ^ 85/' lib/mover.c
library
run >stdout 2>stderr && fail "the library of before is still linked"
sed -i 's/ ^ 85//' lib/mover.c
library
run >stdout 2>stderr || fail "the library as it was: $(cat stderr)"
# --- a package keeps the variable ---
"$heddle" compile pool.ir --target-dir=own --target=own -o net 2>stderr || fail "compile: $(cat stderr)"
[ "$(cat net/include_dirs.txt net/library_dirs.txt)" = "\$OWN_LIBRARY/include
\$OWN_LIBRARY/lib" ] || fail "folders of the package: $(cat net/*_dirs.txt)"
grep -rl -e "$work" net && fail "a path of this machine in the package"
CC=cc cmake -S net -B built "-DCMAKE_C_COMPILER_LAUNCHER=$HEDDLE_HOME/tests/e2e/o0" >log 2>&1 && cmake --build built >>log 2>&1 || fail "the package does not build: $(grep -m 3 -i error log)"
env -u OWN_LIBRARY CC=cc cmake -S net -B other >log 2>&1 && fail "a package without its library"
grep -q "include_dirs.txt: environment variable OWN_LIBRARY is not set" log || fail "a package without: $(cat log)"
"$heddle" run net --engine=func --allow-native-targets >stdout 2>stderr || fail "run of the package: $(cat stderr)"
finish
