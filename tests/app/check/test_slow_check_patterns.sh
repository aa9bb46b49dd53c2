#!/bin/bash
# check-target generates operators of every kind that a pattern accepts. A pattern that no operator matches is a
# failure, as is code that leaves the output unchanged.
. "$(dirname "$0")/../../e2e/common.sh"
export XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache
kinds="maximum minimum lut concatenation squared_difference prelu mean sum reduce_max reduce_min \
resize_bilinear batch_matmul softmax l2_normalization"
mkdir many
cat >many/many.h <<'END'
#include <stdint.h>
int many_larger(const int8_t *x, const int8_t *x2, int8_t *y, int n, int sign);
int many_lut(const int8_t *x, const int8_t *table, int8_t *y, int n);
int many_nothing(int8_t *y);
END
cat >many/many.c <<'END'
#include "many.h"
int many_larger(const int8_t *x, const int8_t *x2, int8_t *y, int n, int sign)
{
    for (int i = 0; i < n; i++)
        y[i] = sign * x[i] > sign * x2[i] ? x[i] : x2[i];
    return 0;
}
int many_lut(const int8_t *x, const int8_t *table, int8_t *y, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = table[x[i] + 128];
    return 0;
}
int many_nothing(int8_t *y)
{
    (void)y;
    return 0;
}
END
operators=
for kind in $kinds; do
    call='many_nothing($y)'
    case $kind in
        maximum) call='many_larger($x, $x2, $y, $elements, 1)' ;;
        minimum) call='many_larger($x, $x2, $y, $elements, -1)' ;;
        lut) call='many_lut($x, $table, $y, $elements)' ;;
    esac
    operators="$operators    {\"op\": \"$kind\", \"cost\": {\"fixed\": 1}, \"call\": \"$call\"},
"
done
manifest() { # manifest OPERATORS
    cat >many/target.json <<END
{"heddle_target": 1, "name": "many", "version": "1.0", "requires_heddle": "0.1", "help": "x",
 "headers": ["many.h"], "sources": ["many.c"],
 "operators": [
${1%,
}
]}
END
}
manifest "$operators"
"$heddle" check-target many --allow-native-targets >stdout 2>stderr && fail "empty calls pass"
for kind in $kinds; do
    grep -q "^ok   pattern $kind: supports 24 of the operators generated" stdout || fail "$kind: $(grep "$kind" stdout)"
done
grep -q "this byte may be unwritten" stdout || fail "no complaint of what is not written: $(tail -n 3 stdout)"
grep -q "^     2[56][0-9] of 336 operators differ" stdout || fail "three kinds are right: $(tail -n 3 stdout)"

manifest "$(printf '%s' "$operators" | grep -E '"(maximum|minimum|lut)"')
"
sed -i '$!N;s/},\n\]}/}\n]}/;P;D' many/target.json
"$heddle" check-target many --allow-native-targets >stdout 2>stderr || fail "what is right fails: $(cat stdout stderr)"
for kind in tanh quantize arg_max pad; do
    manifest "{\"op\": \"$kind\", \"cost\": {\"fixed\": 1}, \"call\": \"many_nothing(\$y)\"}"
    "$heddle" check-target many --allow-native-targets >stdout 2>stderr && fail "$kind passes"
    grep -q "^FAIL pattern $kind: no $kind reaches it" stdout || fail "$kind: $(cat stdout)"
done
finish
