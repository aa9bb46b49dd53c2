/* newtarget_native.c - what target.json cannot express: further refusals, cost, another call.
 * cc -std=c11 -shared -fPIC -I HEDDLE/include newtarget_native.c -o newtarget_native.so */
#include <stdio.h>
#include <string.h>

#include "heddle_target.h"

static int64_t value(const struct heddle_question *q, const char *name)
{
    for (uint32_t i = 0; i < q->n_values; i++)
        if (strcmp(q->value_name[i], name) == 0)
            return q->value[i];
    return 0;
}

/* A rule over two values: the weights must fit the target's memory. */
static int supports(const struct heddle_question *q, char *why, size_t why_bytes)
{
    long long bytes = value(q, "in_c") * value(q, "out_c");
    if (bytes <= 65536)
        return 1;
    snprintf(why, why_bytes, "%lld bytes of weights, it has room for 65536", bytes);
    return 0;
}

/* Rows of eight outputs at a time. */
static double cost(const struct heddle_question *q)
{
    return 100 + (double)((value(q, "out_c") + 7) / 8 * value(q, "in_c") * value(q, "batch"));
}

const struct heddle_target_api heddle_target = {
    HEDDLE_TARGET_ABI, "newtarget", supports, cost, NULL, NULL, NULL, NULL};
