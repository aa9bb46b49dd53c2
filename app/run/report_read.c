/* report_read.c - members of a stats file; see report.h. */
#include "report.h"

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
