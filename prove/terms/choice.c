/* choice.c - one of two terms, by a condition. If c is 127 where the condition is true and -128 where it is false, and d is the
 * opposite, the choice is max(min(a, c), min(b, d)); with a number of -128 or 127 in place of b, min(a, c) or max(a, d). */
#include <string.h>

#include "rules.h"

static uint32_t by_condition(struct prove *p, uint32_t condition, int32_t yes, int32_t no)
{
    int8_t table[256];

    memset(table, yes, sizeof table);
    table[128] = (int8_t)no;
    return prove_table(p, table, condition);
}

/* t where the condition is as `truth` says, -128 elsewhere. */
static uint32_t kept(struct prove *p, uint32_t condition, uint32_t t, bool truth)
{
    const int32_t most = prove_is_constant(t) ? p->term[t].low : INT8_MAX;
    const uint32_t both[2] = {t, truth ? by_condition(p, condition, most, -128)
                                       : by_condition(p, condition, -128, most)};

    return prove_is_constant(t) ? both[1] : prove_extremum(p, PROVE_LEAST, both, 2);
}

/* The number -128 or 127 where the condition is as `truth` says, t elsewhere. */
static uint32_t filled(struct prove *p, uint32_t condition, uint32_t number, uint32_t t, bool truth)
{
    const int32_t v = p->term[number].low;
    const uint32_t both[2] = {t, truth ? by_condition(p, condition, v, ~v)
                                       : by_condition(p, condition, ~v, v)};

    return prove_extremum(p, v > 0 ? PROVE_GREATEST : PROVE_LEAST, both, 2);
}

uint32_t prove_choice(struct prove *p, uint32_t condition, uint32_t a, uint32_t b)
{
    const uint32_t ends[2] = {prove_constant(-128), prove_constant(127)};

    if (prove_is_constant(condition))
        return condition == prove_constant(0) ? b : a;
    if (prove_is_constant(a) && prove_is_constant(b))
        return by_condition(p, condition, p->term[a].low, p->term[b].low);
    if (a == ends[0] || a == ends[1])
        return filled(p, condition, a, b, true);
    if (b == ends[0] || b == ends[1])
        return filled(p, condition, b, a, false);
    const uint32_t both[2] = {kept(p, condition, a, true), kept(p, condition, b, false)};
    return prove_extremum(p, PROVE_GREATEST, both, 2);
}
