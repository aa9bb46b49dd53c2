/* timing_read.c - see timing_read.h. Not hashed: the same stream runs with any timing. */
#include "timing_read.h"

#include <string.h>

enum { MAX_TIMING = 65535 };

static enum status read_one(struct arena *a, const cJSON *item, const char *where,
                            struct accel_timing *t, struct diag *d)
{
    TRY(json_only(item, where, "name value parameter module bench doc", d));
    TRY(json_identifier(a, item, where, "name", &t->name, d));
    TRY(json_uint(item, where, "value", 1, MAX_TIMING, &t->value, d));
    TRY(json_bool_or(item, where, "parameter", false, &t->parameter, d));
    TRY(json_identifier(a, item, where, "module", &t->module, d));
    TRY(json_identifier(a, item, where, "bench", &t->bench, d));
    return json_string(a, item, where, "doc", &t->doc, d);
}

enum status timing_read(struct arena *a, struct accel *acc, const cJSON *root, const char *where,
                        struct diag *d)
{
    const cJSON *array, *item;
    struct accel_timing *t;
    uint32_t i = 0;

    TRY(json_child(root, where, "timing", true, &array, &acc->n_timing, d));
    t = ARENA_ARRAY(a, struct accel_timing, acc->n_timing);
    acc->timing = t;
    cJSON_ArrayForEach(item, array)
    {
        const char *path = arena_printf(a, "%s: timing[%u]", where, i);

        TRY(read_one(a, item, path, &t[i], d));
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(t[k].name, t[i].name) == 0)
                return FAIL(d, ST_USAGE, "%s: \"name\": duplicate '%s', also timing[%u]", path,
                            t[i].name, k);
        i++;
    }
    return ST_OK;
}
