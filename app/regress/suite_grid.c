/* suite_grid.c - configurations of a suite. An object expands to several: its `base` with every
 * combination of the sizes that its other members list; the last member varies fastest. A
 * configuration that cannot be built appears in its runs, as a row with the reason. */
#include "suite_parts.h"

#include <string.h>

#include "app/report/report_read.h"
#include "base/text.h"
#include "sim/build/hash.h"

enum { MAX_CONFIGURATIONS = 10000 };

static uint32_t values_of(const cJSON *size)
{
    return cJSON_IsArray(size) ? (uint32_t)cJSON_GetArraySize(size) : 1;
}

static double value_of(const cJSON *size, uint32_t i)
{
    return cJSON_IsArray(size) ? cJSON_GetArrayItem(size, (int)i)->valuedouble : size->valuedouble;
}

static bool is_base(const cJSON *member)
{
    return strcmp(member->string, "base") == 0;
}

/* Return the number of combinations of one element of the list; MAX_CONFIGURATIONS + 1 if there are
 * more. */
static uint32_t combinations(const cJSON *one)
{
    const cJSON *member;
    uint64_t n = 1;

    if (cJSON_IsObject(one))
        cJSON_ArrayForEach(member, one)
        {
            n *= is_base(member) ? 1 : values_of(member);
            n = n > MAX_CONFIGURATIONS ? MAX_CONFIGURATIONS + 1 : n;
        }
    return (uint32_t)n;
}

/* Make combination `number`, with the last member varying fastest: its name and its value for
 * --hw. */
static void combine(struct arena *a, const cJSON *one, uint32_t number, struct suite_part *part)
{
    const char *base = report_word(one, "base");
    const char **argv = ARENA_ARRAY(a, const char *, 1);
    uint32_t behind = combinations(one);
    const cJSON *member;
    struct text name, json;
    struct hash128 h;

    text_init(&name, a);
    text_init(&json, a);
    text_add(&name, base);
    text_add(&json, "--hw={\"base\":");
    text_add_json(&json, base);
    cJSON_ArrayForEach(member, one)
    {
        if (is_base(member))
            continue;
        behind /= values_of(member);
        double value = value_of(member, number / behind % values_of(member));
        text_printf(&json, ",\"%s\":%.0f", member->string, value);
        text_printf(&name, ",%s=%.0f", member->string, value);
    }
    text_add(&json, "}");
    argv[0] = json.data;
    hash_init(&h);
    hash_string(&h, json.data);
    *part = (struct suite_part){name.data, hash_text(a, &h), argv, 1};
}

enum status suite_read_configurations(struct suite_planner *p, const cJSON *list, const char *at,
                                      struct suite_part **part, uint32_t *n)
{
    struct arena *a = p->s->arena;
    const cJSON *one;
    uint32_t most = list ? 0 : 1, i = 0;

    cJSON_ArrayForEach(one, list)
    {
        most += combinations(one);
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
        for (uint32_t k = 0; cJSON_IsObject(one) && k < combinations(one); k++)
            combine(a, one, k, &(*part)[(*n)++]);
    }
    return ST_OK;
}
