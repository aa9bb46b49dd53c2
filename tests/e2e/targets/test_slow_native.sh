#!/bin/bash
# A shared object next to target.json refuses, costs and writes calls after the patterns. It is loaded only with
# permission, and only if ABI and name are right.
. "$(dirname "$0")/../common.sh"
export XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache
"$heddle" new-target mine >/dev/null
sed -i 's/"headers"/"native": "mine_native.so",\n  "headers"/' mine/target.json
inspect() { "$heddle" inspect digits --target-dir=mine --target=mine "$@"; }
# native SUPPORTS NAME ABI CALL
native() {
    cat >native.c <<END
#include <stdio.h>
#include <string.h>
#include "heddle_target.h"
static int supports(const struct heddle_question *q, char *why, size_t n)
{
    for (uint32_t i = 0; i < q->n_values; i++)
        if (strcmp(q->value_name[i], "out_c") == 0 && q->value[i] > $1) {
            snprintf(why, n, "%s: out_c %d, unroll %s", q->op, (int)q->value[i], q->setting[0]);
            return 0;
        }
    return 1;
}
static double cost(const struct heddle_question *q) { return q->n_values ? 77 : 1; }
static int emit(const struct heddle_question *q, char *call, size_t n)
{
    (void)q;
    snprintf(call, n, "%s", "$4");
    return call[0] != 0;
}
const struct heddle_target_api heddle_target = {$3, "$2", supports, cost, emit};
END
    ${CC:-cc} -std=c11 -shared -fPIC -I "$HEDDLE_HOME/include" native.c -o mine/mine_native.so ||
        fail "native.c does not compile"
}
so=$work/mine/mine_native.so
expect 2 "heddle: target mine: file '$so' not found; build it first" inspect --allow-native-targets
native 100 mine 4u ""
expect 2 "heddle: target mine comes from '$work/mine', and this would execute its code: add \
--allow-native-targets, or that folder as a line of '$work/config/heddle/trusted'" inspect
inspect --allow-native-targets >stdout 2>&1
grep -q '^13_fully_connected .* mine 77, c ' stdout || fail "its cost: $(grep ^13 stdout)"
native 0 mine 4u ""
inspect --allow-native-targets >stdout 2>&1
grep -q '^13_.*; mine: fully_connected: out_c 10, unroll 4$' stdout || fail "its refusal: $(grep ^13 stdout)"
native 8 mine 4u "" # parts are asked about, too
inspect --allow-native-targets >stdout 2>&1
grep -q '^13_.* mine [0-9]* (2 parts of 5 channels: fully_connected: out_c 10, unroll 4), c ' stdout || fail "its parts: $(grep ^13 stdout)"
"$heddle" check-target mine --allow-native-targets >stdout 2>stderr || fail "what it refuses is drawn: $(cat stderr)"
grep -q '^ok   pattern fully_connected: supports 24 of the operators generated; refused, for example: fully_connected: out_c' stdout ||
    fail "its refusals: $(grep pattern stdout)"
native 100 mine 4u '$nothing)'
inspect --allow-native-targets >stdout 2>&1
grep -q "^13_.*; mine: its native code wrote an invalid call: " stdout || fail "a bad call: $(grep ^13 stdout)"
native 100 mine 4u 'mine_dense($x, $w, $bias, $y, $batch, $in_c, $out_c, $z_in, $z_out, $multiplier, $shift, $act_min, $act_max, 1 + 2)'
"$heddle" run digits --engine=func --target-dir=mine --target=mine --allow-native-targets -o out >/dev/null 2>stderr ||
    fail "$(cat stderr)"
grep -q "1 + 2))" out/emitted/model.c || fail "its call is not the one emitted"
native 100 yours 4u ""
expect 2 "heddle: $so: found name 'yours', expected 'mine' as in target.json" inspect --allow-native-targets
native 100 mine 1u ""
expect 2 "heddle: $so: ABI 1, this heddle has 4; compile it again" inspect --allow-native-targets

# The template builds as its README specifies, and passes.
"$heddle" new-target nat --template=native >stdout 2>stderr || fail "$(cat stderr)"
grep -E '^    cc ' nat/README.md | HEDDLE=$HEDDLE_HOME bash 2>stderr || fail "$(cat stderr)"
"$heddle" check-target nat --allow-native-targets >stdout 2>stderr || fail "nat: $(cat stdout stderr)"
"$heddle" inspect digits --target-dir=nat --target=nat --allow-native-targets |
    grep -q '^13_fully_connected .* nat 612, c ' || fail "nat's cost"
echo hello >mine/mine_native.so
inspect --allow-native-targets >/dev/null 2>stderr
[ $? = 2 ] && grep -q "^heddle: target mine: cannot load: " stderr || fail "not an object: $(cat stderr)"
# A product of two computed operands on the host.
"$heddle" run "$HEDDLE_HOME/tests/e2e/targets/host_product.ir" --target=c -q >stdout 2>stderr || fail "host_product.ir: $(cat stderr)"
grep -q '^verdict: match: ' stdout || fail "host_product.ir: $(cat stdout)"
finish
