/* suite_grid.c - configurations of a suite. An object expands to several: its `base` with every
 * combination of the sizes that its other members list, and of the options of heddle run in
 * `options`; the last member varies fastest. A configuration that cannot be built appears in its
 * runs, as a row with the reason. */
#include "suite_parts.h"

#include <string.h>

#include "app/report/report_read.h"
#include "base/text.h"
#include "sim/build/hash.h"

enum { MAX_CONFIGURATIONS = 10000 };

/* One member whose values are combined: a size of --hw, or an option of heddle run. */
struct axis {
    const cJSON *values;
    bool is_option;
};

static uint32_t values_of(const cJSON *list)
{
    return cJSON_IsArray(list) ? (uint32_t)cJSON_GetArraySize(list) : 1;
}

static const cJSON *value_of(const cJSON *list, uint32_t i)
{
    return cJSON_IsArray(list) ? cJSON_GetArrayItem(list, (int)i) : list;
}

/* List the axes of one element, sizes and options in the file's order. Returns their number. */
static uint32_t axes_of(const cJSON *one, struct axis *axis)
{
    const cJSON *member, *option;
    uint32_t n = 0;

    cJSON_ArrayForEach(member, one)
    {
        const bool options = strcmp(member->string, "options") == 0;

        if (!options && strcmp(member->string, "base") != 0)
            axis[n++] = (struct axis){member, false};
        if (options)
            cJSON_ArrayForEach(option, member) axis[n++] = (struct axis){option, true};
    }
    return n;
}

static struct axis *new_axes(struct arena *a, const cJSON *one)
{
    const cJSON *options = report_member(one, "options");

    return ARENA_ARRAY(a, struct axis,
                       (size_t)cJSON_GetArraySize(one) + (size_t)cJSON_GetArraySize(options) + 1);
}

/* Return the number of combinations of one element of the list; MAX_CONFIGURATIONS + 1 if there are
 * more. */
static uint32_t combinations(struct arena *a, const cJSON *one)
{
    struct axis *axis;
    uint64_t n = 1;

    if (!cJSON_IsObject(one))
        return 1;
    axis = new_axes(a, one);
    for (uint32_t i = 0, n_axis = axes_of(one, axis); i < n_axis; i++) {
        n *= values_of(axis[i].values);
        n = n > MAX_CONFIGURATIONS ? MAX_CONFIGURATIONS + 1 : n;
    }
    return (uint32_t)n;
}

static const char *value_text(struct arena *a, const cJSON *value)
{
    return cJSON_IsString(value) ? value->valuestring : arena_printf(a, "%.0f", value->valuedouble);
}

/* Make combination `number`, with the last member varying fastest: its name, its value for --hw,
 * its further options. */
static void combine(struct arena *a, const cJSON *one, uint32_t number, struct suite_part *part)
{
    const char *base = report_word(one, "base");
    struct axis *axis = new_axes(a, one);
    const uint32_t n_axis = axes_of(one, axis);
    const char **argv = ARENA_ARRAY(a, const char *, n_axis + 1u);
    uint32_t behind = combinations(a, one), n_argv = 1;
    struct text name, json;
    struct hash128 h;

    text_init(&name, a);
    text_init(&json, a);
    text_add(&name, base);
    text_add(&json, "--hw={\"base\":");
    text_add_json(&json, base);
    hash_init(&h);
    for (uint32_t i = 0; i < n_axis; i++) {
        const cJSON *list = axis[i].values;
        behind /= values_of(list);
        const char *value = value_text(a, value_of(list, number / behind % values_of(list)));
        text_printf(&name, ",%s=%s", list->string, value);
        if (!axis[i].is_option)
            text_printf(&json, ",\"%s\":%s", list->string, value);
        else
            argv[n_argv++] = arena_printf(a, "--%s=%s", list->string, value);
    }
    text_add(&json, "}");
    argv[0] = json.data;
    hash_string(&h, name.data);
    hash_string(&h, json.data);
    *part = (struct suite_part){name.data, hash_text(a, &h), argv, n_argv};
}

/* Refuse options that regress gives itself, or that are none of heddle run. */
static enum status check_options(struct suite_planner *p, const cJSON *one, const char *at)
{
    const cJSON *option;

    cJSON_ArrayForEach(option, report_member(one, "options"))
        TRY(suite_check_option(p, arena_printf(p->s->arena, "--%s", option->string),
                               arena_printf(p->s->arena, "%s.options.%s", at, option->string)));
    return ST_OK;
}

enum status suite_read_configurations(struct suite_planner *p, const cJSON *list, const char *at,
                                      struct suite_part **part, uint32_t *n)
{
    struct arena *a = p->s->arena;
    const cJSON *one;
    uint32_t most = list ? 0 : 1, i = 0;

    cJSON_ArrayForEach(one, list)
    {
        most += combinations(a, one);
        if (most > MAX_CONFIGURATIONS)
            return json_doc_fail(&p->doc, arena_printf(a, "%s.configurations", at), p->d,
                                 "expected at most %d configurations", MAX_CONFIGURATIONS);
    }
    *part = ARENA_ARRAY(a, struct suite_part, most);
    *n = 0;
    if (!list)
        TRY(suite_read_configuration(p, "sys16", at, &(*part)[(*n)++]));
    cJSON_ArrayForEach(one, list)
    {
        const char *where = arena_printf(a, "%s.configurations[%u]", at, i++);
        if (cJSON_IsString(one))
            TRY(suite_read_configuration(p, one->valuestring, where, &(*part)[(*n)++]));
        TRY(check_options(p, one, where));
        for (uint32_t k = 0; cJSON_IsObject(one) && k < combinations(a, one); k++)
            combine(a, one, k, &(*part)[(*n)++]);
    }
    return ST_OK;
}
