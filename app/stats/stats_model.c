/* stats_model.c - members of a stats file that are models and are marked as such: time at a clock,
 * energy as counted actions times a table. docs/ENERGY.md. */
#include <string.h>

#include "accelergy.h"
#include "account.h"
#include "area.h"
#include "base/file.h"
#include "compiler/target/describe.h"
#include "energy.h"
#include "hw/gen/accel.h"
#include "stats_member.h"
#include "stats_model.h"

enum status stats_models(const struct job *job, struct run_measured *m, struct diag *d)
{
    struct energy_table *t = ARENA_NEW(job->arena, struct energy_table);

    TRY(energy_table(job->arena, job->options->energy ? job->options->energy : ENERGY_DEFAULT, t,
                     d));
    m->energy = t;
    return ST_OK;
}

const struct actions *stats_actions(const struct job *job, const struct run_measured *m)
{
    if (!m->energy || job->package || !job->p->program || !job->p->program->n_stream)
        return NULL;
    return actions_of(job->arena, job->p->program, job->p->graph->n_row);
}

static struct actions sum_of(const struct job *job, const struct actions *row)
{
    struct actions sum = {{0}};

    for (uint32_t i = 0; i < job->p->graph->n_row; i++)
        for (uint32_t k = 0; k < ACTION_COUNT; k++)
            sum.n[k] += row[i].n[k];
    return sum;
}

/* Return the cycles of an inference, on the accelerators or in total; -1: unknown. */
static double cycles(const cJSON *o, const char *name)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, name);

    if (cJSON_IsRaw(v)) { /* a whole number (stats_count) */
        cJSON *number = cJSON_Parse(v->valuestring);
        const double value = number ? number->valuedouble : -1;
        cJSON_Delete(number);
        return value;
    }
    return cJSON_IsNumber(v) ? v->valuedouble : -1;
}

/* Return clock_mhz and clock_origin of the clock in which cycles count; --clock states another. */
static struct hd_config clock_of(const struct job *job)
{
    struct hd_config c = *target_report_clock(&job->p->targets, &job->p->hw);

    if (job->options->clock_mhz) {
        c.clock_mhz = job->options->clock_mhz;
        c.clock_origin = HD_CLOCK_GIVEN;
    }
    return c;
}

/* Return the LUT4 of all accelerators, and whether they are counted or by the model; -1: there is
 * none, or one is from outside. */
static double lut4_of(const struct job *job, const char **by)
{
    const struct target_list *list = &job->p->targets;
    double sum = 0;

    *by = NULL;
    for (uint32_t i = 0; i < list->n; i++) {
        struct diag ignored = {.status = ST_OK}; /* "heddle hw" reports errors of area.csv */
        struct area area;
        if (!list->target[i]->desc->accelerator)
            continue;
        if (list->target[i]->desc->outside ||
            area_of(job->arena, target_hw(list->target[i], &job->p->hw), &area, &ignored) != ST_OK)
            return -1;
        sum += area.lut4;
        *by = !*by || !area.counted ? area_origin(&area) : *by;
    }
    return sum > 0 ? sum : -1;
}

/* Add the clocks of targets that state one, from which their cycles were converted. */
static void add_target_clocks(const struct job *job, cJSON *to)
{
    const struct target_list *list = &job->p->targets;
    cJSON *all = NULL;

    for (uint32_t i = 0; i < list->n; i++) {
        const struct describe *detail = list->target[i]->desc->detail;
        if (!detail || !detail->clock_mhz)
            continue;
        all = all ? all : cJSON_AddObjectToObject(to, "targets");
        stats_count(all, list->target[i]->name, detail->clock_mhz);
    }
}

static void add_time(const struct stats *s, cJSON *o)
{
    const struct hd_config clock = clock_of(s->job);
    const double known = cycles(o, "total_cycles"),
                 all = known > 0 ? known : cycles(o, "estimated_total_cycles"),
                 seconds = all / (clock.clock_mhz * 1e6);
    const char *by;
    const double lut4 = lut4_of(s->job, &by);
    const struct account *a = s->account;
    const double gops = 2e-9 * (double)(a->accelerator_macs + a->host_macs) / seconds;
    cJSON *time = cJSON_AddObjectToObject(o, "clock");

    stats_count(time, "mhz", clock.clock_mhz);
    cJSON_AddStringToObject(time, "origin", accel_clock_origins[clock.clock_origin]);
    add_target_clocks(s->job, time);
    if (all <= 0) {
        cJSON_AddNullToObject(o, "time");
        return;
    }
    time = cJSON_AddObjectToObject(o, "time");
    cJSON_AddNumberToObject(time, "milliseconds", 1e3 * seconds);
    cJSON_AddNumberToObject(time, "inferences_per_second", 1 / seconds);
    cJSON_AddNumberToObject(time, "gops", gops);
    if (lut4 > 0) {
        cJSON_AddNumberToObject(time, "gops_per_klut", 1e3 * gops / lut4);
        cJSON_AddStringToObject(time, "lut4_by", by);
    } else {
        cJSON_AddNullToObject(time, "gops_per_klut");
    }
    cJSON_AddBoolToObject(time, "estimated", known <= 0);
}

void stats_model(const struct stats *s, cJSON *o)
{
    const struct energy_table *t = s->measured->energy;

    add_time(s, o);
    if (!s->actions)
        return;
    const struct actions sum = sum_of(s->job, s->actions);
    cJSON *e = cJSON_AddObjectToObject(o, "energy");
    cJSON_AddStringToObject(e, "table", t->name);
    cJSON_AddStringToObject(e, "source", t->source);
    cJSON_AddStringToObject(e, "unit", t->unit);
    cJSON *costs = cJSON_AddObjectToObject(e, "costs");
    for (uint32_t k = 0; k < ACTION_COUNT; k++)
        cJSON_AddNumberToObject(costs, action_names[k], t->cost[k]);
    energy_add(e, t, &sum);
}

enum status stats_accelergy(const struct job *job, const struct run_measured *m, const char *path,
                            struct diag *d)
{
    const struct actions *row = stats_actions(job, m);
    struct text t;

    if (!row)
        return FAIL(d, ST_USAGE,
                    "--accelergy: no commands to count; expected a network with operators on the "
                    "built-in accelerator");
    const struct actions sum = sum_of(job, row);
    text_init(&t, job->arena);
    energy_accelergy(&t, &sum);
    return file_write(path, t.data, t.length, d);
}
