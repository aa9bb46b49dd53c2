/* changes.c - see changes.h. Rows of a block (changes_match.h) make one layer of the result, so the
 * changes of layers add up to the change of the whole. */
#include "changes.h"

#include <string.h>

#include "app/report/report_read.h"
#include "app/stats/columns.h"
#include "changes_match.h"

struct comparison {
    const struct changes_side *side[2];
    struct changes_row *row;
    uint32_t n;
    bool estimated; /* not both runs were measured: cycles are those of the schedules' estimates */
};

/* Sums over the layers and groups of a block, in one run. */
struct sums {
    double cycles, host_cycles, commands, tiles, moved;
};

static void add_pair(cJSON *to, const char *name, double before, double after)
{
    const double pair[] = {before, after};

    if (before != 0 || after != 0)
        cJSON_AddItemToObject(to, name, cJSON_CreateDoubleArray(pair, 2));
}

static double known(double v)
{
    return v > 0 ? v : 0;
}

static void sum_up(const struct comparison *c, const cJSON *item, struct sums *to)
{
    const double cycles = report_number(item, "cycles");

    to->cycles += known(c->estimated || cycles < 0 ? report_number(item, "estimate") : cycles);
    to->host_cycles += known(report_number(item, "host"));
    to->commands += known(report_number(item, "commands"));
    to->tiles += known(report_number(item, "tiles"));
    to->moved += known(report_number(item, "moved"));
}

static void add_sums(cJSON *to, const struct sums sum[2])
{
    add_pair(to, "cycles", sum[0].cycles, sum[1].cycles);
    add_pair(to, "host_cycles", sum[0].host_cycles, sum[1].host_cycles);
    add_pair(to, "commands", sum[0].commands, sum[1].commands);
    add_pair(to, "tiles", sum[0].tiles, sum[1].tiles);
    add_pair(to, "moved", sum[0].moved, sum[1].moved);
}

/* Return true if the item of a run's list is a layer of the block, or a group of its layers. */
static bool in_block(const struct comparison *c, uint32_t block, int side, const cJSON *item)
{
    const cJSON *first = cJSON_GetArrayItem(report_member(item, "members"), 0);
    const cJSON *layer = first ? cJSON_GetArrayItem(c->side[side]->list, first->valueint) : item;

    for (uint32_t i = 0; i < c->n; i++)
        if (c->row[i].block == block && c->row[i].of[side] == layer)
            return layer != NULL;
    return false;
}

/* Add the counters of an item to `to`, an array with a line for each unit and kind. */
static void add_counters(cJSON *to, const cJSON *item, int side)
{
    const cJSON *unit, *kind;

    cJSON_ArrayForEach(unit, report_member(item, "counters")) cJSON_ArrayForEach(kind, unit)
    {
        const double none[] = {0, 0};
        cJSON *line, *pair;

        cJSON_ArrayForEach(line,
                           to) if (strcmp(report_word(line, "unit"), unit->string) == 0 &&
                                   strcmp(report_word(line, "kind"), kind->string) == 0) break;
        if (!line) {
            line = cJSON_CreateObject();
            cJSON_AddStringToObject(line, "unit", unit->string);
            cJSON_AddStringToObject(line, "kind", kind->string);
            cJSON_AddItemToObject(line, "cycles", cJSON_CreateDoubleArray(none, 2));
            cJSON_AddItemToArray(to, line);
        }
        pair = cJSON_GetArrayItem(report_member(line, "cycles"), side);
        cJSON_SetNumberValue(pair, pair->valuedouble + kind->valuedouble);
    }
}

/* Return the change of a counter in the direction of `sign`. */
static double grown(const cJSON *line, double sign)
{
    const cJSON *pair = report_member(line, "cycles");

    return sign *
           (cJSON_GetArrayItem(pair, 1)->valuedouble - cJSON_GetArrayItem(pair, 0)->valuedouble);
}

/* Return the unit that computes a block: ARRAY or VECTOR, whichever was busier after. */
static const char *computing_unit(const cJSON *counters)
{
    const char *unit = "array";
    const cJSON *line;
    double most = 0;

    cJSON_ArrayForEach(line, counters)
    {
        const double busy = cJSON_GetArrayItem(report_member(line, "cycles"), 1)->valuedouble;
        const char *of = report_word(line, "unit");

        if (strcmp(report_word(line, "kind"), "busy") == 0 && busy > most &&
            (strcmp(of, "array") == 0 || strcmp(of, "vector") == 0)) {
            most = busy;
            unit = of;
        }
    }
    return unit;
}

/* Add the counter that explains most of a change by `by` cycles. The counters of a unit add up to
 * the block's cycles, so those of the computing unit add up to the change. */
static void add_cause(cJSON *to, const cJSON *counters, double by)
{
    const char *unit = computing_unit(counters);
    const cJSON *line, *most = NULL;
    const double sign = by < 0 ? -1 : 1;

    cJSON_ArrayForEach(line, counters) if (strcmp(report_word(line, "unit"), unit) == 0 &&
                                           grown(line, sign) > (most ? grown(most, sign) : 0.05))
        most = line;
    if (!most || sign * by < 0.05)
        return;
    to = cJSON_AddObjectToObject(to, "mostly");
    cJSON_AddStringToObject(to, "unit", unit);
    cJSON_AddStringToObject(to, "kind", report_word(most, "kind"));
    cJSON_AddNumberToObject(to, "by", grown(most, 1));
}

/* Add what a row is called and in which runs it is. */
static void add_name(cJSON *to, const struct changes_row *r)
{
    const char *name = report_word(r->of[1] ? r->of[1] : r->of[0], "name");

    cJSON_AddStringToObject(to, "name", name);
    cJSON_AddStringToObject(to, "state",
                            r->of[0] && r->of[1] ? "both"
                            : r->of[1]           ? "added"
                                                 : "gone");
    if (r->of[0] && strcmp(report_word(r->of[0], "name"), name) != 0)
        cJSON_AddStringToObject(to, "before_name", report_word(r->of[0], "name"));
}

static cJSON *member_json(const struct comparison *c, const struct changes_row *r)
{
    cJSON *o = cJSON_CreateObject();
    struct sums sum[2] = {{0}};

    add_name(o, r);
    for (int side = 0; side < 2; side++)
        if (r->of[side])
            sum_up(c, r->of[side], &sum[side]);
    add_sums(o, sum);
    return o;
}

/* Add what both runs have of a block: sums, counters if measured, and the names of its groups. */
static void add_block(const struct comparison *c, uint32_t block, cJSON *o)
{
    struct sums sum[2] = {{0}};
    cJSON *counters = cJSON_CreateArray(), *groups = cJSON_CreateArray();

    for (int side = 0; side < 2; side++) {
        cJSON *names = cJSON_CreateArray();
        const cJSON *item;

        cJSON_ArrayForEach(item, c->side[side]->list)
        {
            if (!in_block(c, block, side, item))
                continue;
            sum_up(c, item, &sum[side]);
            if (!c->estimated)
                add_counters(counters, item, side);
            if (report_member(item, "members"))
                cJSON_AddItemToArray(names, cJSON_CreateString(report_word(item, "name")));
        }
        cJSON_AddItemToArray(groups, names);
    }
    add_sums(o, sum);
    add_cause(o, counters, sum[1].cycles - sum[0].cycles);
    cJSON_AddItemToObject(o, "counters", counters);
    cJSON_AddItemToObject(o, "groups", groups);
}

static cJSON *layer_json(struct arena *a, const struct comparison *c, uint32_t block)
{
    cJSON *o = cJSON_CreateObject(), *members = cJSON_CreateArray();
    const char *last = "";

    add_name(o, &c->row[block]);
    for (uint32_t i = block; i < c->n; i++)
        if (c->row[i].block == block) {
            cJSON_AddItemToArray(members, member_json(c, &c->row[i]));
            last = report_word(c->row[i].of[1] ? c->row[i].of[1] : c->row[i].of[0], "name");
        }
    add_block(c, block, o);
    if (cJSON_GetArraySize(members) > 1) {
        cJSON_ReplaceItemInObject(
            o, "name", cJSON_CreateString(arena_printf(a, "%s..%s", report_word(o, "name"), last)));
        cJSON_ReplaceItemInObject(o, "state", cJSON_CreateString("both"));
        cJSON_AddItemToObject(o, "members", members);
    } else {
        cJSON_Delete(members);
    }
    return o;
}

/* --- the whole -------------------------------------------------------------------------------- */

static cJSON *side_json(const struct changes_side *s)
{
    const cJSON *hw = report_member(s->run, "hw");
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "name", s->name);
    cJSON_AddStringToObject(o, "model", report_word(s->run, "model"));
    cJSON_AddStringToObject(o, "engine", report_word(s->run, "engine"));
    cJSON_AddStringToObject(
        o, "hw",
        cJSON_IsString(hw)
            ? hw->valuestring
            : report_word(cJSON_IsArray(hw) ? cJSON_GetArrayItem(hw, 0) : hw, "name"));
    cJSON_AddStringToObject(o, "verdict", report_word(s->run, "verdict"));
    return o;
}

/* Return the cycles of an inference, of accelerators and host. */
static double whole(const struct comparison *c, const cJSON *run)
{
    const double measured = report_number(run, "total_cycles"),
                 partly = report_number(run, "estimated_total_cycles"),
                 host = known(report_number(run, "host_cycles"));

    if (c->estimated)
        return known(report_number(run, "estimated_cycles")) + host;
    return measured >= 0 ? measured
           : partly >= 0 ? partly
                         : known(report_number(run, "cycles")) + host;
}

static void add_line(cJSON *lines, const char *name, double before, double after)
{
    cJSON *line;

    if (before < 0 || after < 0)
        return;
    line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "name", name);
    cJSON_AddNumberToObject(line, "before", before);
    cJSON_AddNumberToObject(line, "after", after);
    cJSON_AddItemToArray(lines, line);
}

static void add_numbers(const struct comparison *c, cJSON *lines)
{
    const cJSON *x = c->side[0]->run, *y = c->side[1]->run, *m;

    add_line(lines, "total_cycles", whole(c, x), whole(c, y));
    for (const struct column *k = columns; k->name; k++)
        if (k->run)
            add_line(lines, k->name, report_number(x, k->name), report_number(y, k->name));
    cJSON_ArrayForEach(m, report_member(y, "memory")) if (cJSON_IsNumber(m)) add_line(
        lines, m->string, report_number(report_member(x, "memory"), m->string), m->valuedouble);
}

cJSON *changes_of(struct arena *a, const struct changes_side *before,
                  const struct changes_side *after)
{
    struct comparison c = {.side = {before, after}};
    cJSON *o = cJSON_CreateObject(), *layers;

    c.estimated =
        report_number(before->run, "cycles") < 0 || report_number(after->run, "cycles") < 0;
    c.n = changes_match(a, before->list, after->list, &c.row);
    cJSON_AddStringToObject(o, "schema", "heddle.diff.v1");
    cJSON_AddItemToObject(o, "before", side_json(before));
    cJSON_AddItemToObject(o, "after", side_json(after));
    cJSON_AddBoolToObject(o, "estimated", c.estimated);
    add_numbers(&c, cJSON_AddArrayToObject(o, "numbers"));
    layers = cJSON_AddArrayToObject(o, "layers");
    for (uint32_t i = 0; i < c.n; i++)
        if (c.row[i].block == i)
            cJSON_AddItemToArray(layers, layer_json(a, &c, i));
    return o;
}
