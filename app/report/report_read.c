/* report_read.c - see report_read.h. */
#include "report_read.h"

#include <string.h>

const cJSON *report_member(const cJSON *o, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(o, name);
}

const char *report_word(const cJSON *o, const char *name)
{
    const cJSON *v = report_member(o, name);

    return cJSON_IsString(v) ? v->valuestring : "";
}

double report_number(const cJSON *o, const char *name)
{
    const cJSON *v = report_member(o, name);

    return cJSON_IsNumber(v) ? v->valuedouble : -1;
}

const cJSON *report_busier(const cJSON *l)
{
    const cJSON *units = report_member(l, "counters");
    const cJSON *array = report_member(units, "array"), *vector = report_member(units, "vector");

    return report_number(vector, "busy") > report_number(array, "busy") ? vector : array;
}

const cJSON *report_worst_wait(const cJSON *unit)
{
    const cJSON *kind, *worst = NULL;

    cJSON_ArrayForEach(kind, unit)
    {
        if (strcmp(kind->string, "busy") != 0 && kind->valuedouble > 0 &&
            (!worst || kind->valuedouble > worst->valuedouble))
            worst = kind;
    }
    return worst;
}

/* Add at most `n` columns of a text from the model, bytes outside ASCII as '?'. */
void report_name(struct text *t, const char *s, int n)
{
    int i = 0;

    for (; s[i] && i < n; i++)
        text_add_n(t, s[i] >= 0x20 && s[i] < 0x7f ? &s[i] : "?", 1);
    text_printf(t, "%*s ", n - i, "");
}
