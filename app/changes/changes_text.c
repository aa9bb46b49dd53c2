/* changes_text.c - a comparison as text; see changes.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/report/report_read.h"
#include "changes.h"

enum { NAME = 30 };

/* Numbers that say how the schedules of a layer differ. */
static const char *const schedule[] = {"commands", "tiles", "moved"};

static double at(const cJSON *o, const char *name, int side)
{
    const cJSON *v = cJSON_GetArrayItem(report_member(o, name), side);

    return v ? v->valuedouble : 0;
}

static double cycles(const cJSON *layer, int side)
{
    return at(layer, "cycles", side) + at(layer, "host_cycles", side);
}

static double change(const cJSON *layer)
{
    return cycles(layer, 1) - cycles(layer, 0);
}

/* Return true if the layer takes the same cycles, by the same schedule. */
static bool is_same(const cJSON *layer)
{
    const cJSON *groups = report_member(layer, "groups");
    bool same = fabs(change(layer)) < 0.05 && strcmp(report_word(layer, "state"), "both") == 0 &&
                cJSON_Compare(cJSON_GetArrayItem(groups, 0), cJSON_GetArrayItem(groups, 1), 1);

    for (size_t i = 0; i < sizeof schedule / sizeof *schedule; i++)
        same = same && at(layer, schedule[i], 0) == at(layer, schedule[i], 1);
    return same;
}

static void add_groups(struct text *t, const cJSON *names)
{
    const cJSON *name;

    if (!cJSON_GetArraySize(names))
        text_add(t, " no group");
    cJSON_ArrayForEach(name, names) text_printf(t, " %s", name->valuestring);
}

/* Print why, after `separator`: which run has it, the counter, the schedule. */
static void add_why(struct text *t, const cJSON *layer, const char *separator)
{
    const char *state = report_word(layer, "state"), *old = report_word(layer, "before_name");
    const cJSON *cause = report_member(layer, "mostly"), *groups = report_member(layer, "groups");

    if (strcmp(state, "both") != 0) {
        text_printf(t, "%s%s", separator, state);
        return;
    }
    if (*old) {
        text_printf(t, "%swas %s", separator, old);
        separator = ", ";
    }
    if (cause) {
        text_printf(t, "%s%s %s %+.1f", separator, report_word(cause, "unit"),
                    report_word(cause, "kind"), report_member(cause, "by")->valuedouble);
        separator = ", ";
    }
    for (size_t i = 0; i < sizeof schedule / sizeof *schedule; i++)
        if (at(layer, schedule[i], 0) != at(layer, schedule[i], 1)) {
            text_printf(t, "%s%s%s %.0f -> %.0f", separator, i == 2 ? "bytes " : "", schedule[i],
                        at(layer, schedule[i], 0), at(layer, schedule[i], 1));
            separator = ", ";
        }
    if (cJSON_Compare(cJSON_GetArrayItem(groups, 0), cJSON_GetArrayItem(groups, 1), 1))
        return;
    text_printf(t, "%sgroups:", separator);
    add_groups(t, cJSON_GetArrayItem(groups, 0));
    text_add(t, " ->");
    add_groups(t, cJSON_GetArrayItem(groups, 1));
}

static void add_percent(struct text *t, double before, double after)
{
    if (before > 0)
        text_printf(t, " %+7.2f%%", 100 * (after / before - 1));
    else
        text_printf(t, " %8s", "-");
}

static int by_change(const void *x, const void *y)
{
    const double p = fabs(change(*(const cJSON *const *)x)),
                 q = fabs(change(*(const cJSON *const *)y));

    return p < q ? 1 : p > q ? -1 : 0;
}

/* Return the layers that differ, those that changed the most first. */
static const cJSON **differing(struct text *t, const cJSON *changes, uint32_t *n)
{
    const cJSON *layers = report_member(changes, "layers"), *l;
    const cJSON **list =
        ARENA_ARRAY(t->arena, const cJSON *, (size_t)cJSON_GetArraySize(layers) + 1);

    *n = 0;
    cJSON_ArrayForEach(l, layers) if (!is_same(l)) list[(*n)++] = l;
    qsort(list, *n, sizeof(const cJSON *), by_change);
    return list;
}

static void add_head(struct text *t, const cJSON *changes, const char *side)
{
    const cJSON *o = report_member(changes, side);

    text_printf(t, "%-7s %s: %s on %s, engine %s: %s\n", side, report_word(o, "name"),
                report_word(o, "model"), report_word(o, "hw"), report_word(o, "engine"),
                report_word(o, "verdict"));
}

static void add_numbers(struct text *t, const cJSON *changes)
{
    const cJSON *line;
    uint32_t n = 0;

    cJSON_ArrayForEach(line, report_member(changes, "numbers"))
    {
        const double x = report_number(line, "before"), y = report_number(line, "after");
        const int digits = x < 1 && y < 1 ? 4 : 1;

        if (x == y)
            continue;
        if (!n++)
            text_printf(t, "%-*s %14s %14s %12s\n", NAME, "of an inference", "before", "after",
                        "change");
        text_printf(t, "%-*s %14.*f %14.*f %+12.*f", NAME, report_word(line, "name"), digits, x,
                    digits, y, digits, y - x);
        add_percent(t, x, y);
        text_add(t, "\n");
    }
}

void changes_text(struct text *t, const cJSON *changes)
{
    const bool estimated = cJSON_IsTrue(report_member(changes, "estimated"));
    uint32_t n, slower = 0, faster = 0;
    const cJSON **list = differing(t, changes, &n);

    add_head(t, changes, "before");
    add_head(t, changes, "after");
    add_numbers(t, changes);
    if (n)
        text_printf(t, "%-*s %14s %14s %12s %8s%s\n", NAME, "layer", "before", "after", "change",
                    "", estimated ? "  cycles are estimates" : "  mostly");
    for (uint32_t i = 0; i < n; i++) {
        text_printf(t, "%-*.*s %14.1f %14.1f %+12.1f", NAME, NAME, report_word(list[i], "name"),
                    cycles(list[i], 0), cycles(list[i], 1), change(list[i]));
        add_percent(t, cycles(list[i], 0), cycles(list[i], 1));
        add_why(t, list[i], "  ");
        text_add(t, "\n");
        slower += change(list[i]) >= 0.05;
        faster += change(list[i]) <= -0.05;
    }
    text_printf(
        t,
        "%u layers or groups slower, %u faster, %u by another schedule in the same time, %u the "
        "same\n",
        slower, faster, n - slower - faster,
        (uint32_t)cJSON_GetArraySize(report_member(changes, "layers")) - n);
}

void changes_causes(struct text *t, const cJSON *changes, uint32_t most)
{
    const cJSON *all = cJSON_GetArrayItem(report_member(changes, "numbers"), 0);
    const double sign = report_number(all, "after") < report_number(all, "before") ? -1 : 1;
    uint32_t n;
    const cJSON **list = differing(t, changes, &n);

    for (uint32_t i = 0; i < n && most; i++) {
        if (sign * change(list[i]) < 0.05)
            continue;
        text_printf(t, "    %-30.30s %+12.1f cycles", report_word(list[i], "name"),
                    change(list[i]));
        add_why(t, list[i], ", ");
        text_add(t, "\n");
        most--;
    }
}
