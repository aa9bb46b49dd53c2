/* changes_list.c - see changes.h. */
#include "app/report/report_read.h"
#include "changes.h"

static void add_number(cJSON *to, const char *name, double v)
{
    if (v > 0)
        cJSON_AddNumberToObject(to, name, v);
}

static void add_counters(cJSON *to, const cJSON *of)
{
    const cJSON *unit, *kind, *all = report_member(of, "counters");
    cJSON *units = all ? cJSON_AddObjectToObject(to, "counters") : NULL;

    cJSON_ArrayForEach(unit, all)
    {
        cJSON *kinds = cJSON_AddObjectToObject(units, unit->string);
        cJSON_ArrayForEach(kind, unit) add_number(kinds, kind->string, kind->valuedouble);
    }
}

/* Add a layer or group of a stats file. Cycles of 0 are kept: they were measured. */
static cJSON *add(cJSON *list, const char *name, const cJSON *of)
{
    const cJSON *actions = report_member(of, "actions");
    const char *tensor = report_word(of, "tensor");
    cJSON *to = cJSON_CreateObject();

    cJSON_AddStringToObject(to, "name", name);
    if (*tensor)
        cJSON_AddStringToObject(to, "tensor", tensor);
    if (report_number(of, "cycles") >= 0)
        cJSON_AddNumberToObject(to, "cycles", report_number(of, "cycles"));
    if (report_number(of, "estimated_cycles") >= 0)
        cJSON_AddNumberToObject(to, "estimate", report_number(of, "estimated_cycles"));
    add_number(to, "host", report_number(of, "host_cycles"));
    add_number(to, "commands", report_number(of, "commands"));
    add_number(to, "tiles", report_number(of, "tiles"));
    if (actions)
        add_number(to, "moved",
                   report_number(actions, "bus_read") + report_number(actions, "bus_written"));
    add_counters(to, of);
    cJSON_AddItemToArray(list, to);
    return to;
}

/* Return a group's name: those of its first and last layer. */
static const char *group_name(struct arena *a, const cJSON *layers, const cJSON *members)
{
    const cJSON *first = cJSON_GetArrayItem(members, 0),
                *last = cJSON_GetArrayItem(members, cJSON_GetArraySize(members) - 1);

    return arena_printf(
        a, "%s..%s", report_word(cJSON_GetArrayItem(layers, first ? first->valueint : 0), "name"),
        report_word(cJSON_GetArrayItem(layers, last ? last->valueint : 0), "name"));
}

cJSON *changes_list(struct arena *a, const cJSON *stats)
{
    const cJSON *layers = report_member(stats, "layers"), *o;
    cJSON *list = cJSON_CreateArray();

    cJSON_ArrayForEach(o, layers) add(list, report_word(o, "name"), o);
    cJSON_ArrayForEach(o, report_member(stats, "groups"))
    {
        const cJSON *members = report_member(o, "members");

        cJSON_AddItemToObject(add(list, group_name(a, layers, members), o), "members",
                              cJSON_Duplicate(members, 1));
    }
    return list;
}
