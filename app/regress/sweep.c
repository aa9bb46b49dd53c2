/* sweep.c - see sweep.h. */
#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/pipeline.h"

const char *sweep_axis_name(enum sweep_axis axis)
{
    static const char *const names[SWEEP_AXES] = {"time", "multipliers", "memory", "LUT4",
                                                  "energy"};

    return names[axis];
}

const char *sweep_axis_unit(const struct sweep *s, enum sweep_axis axis, double *divisor)
{
    *divisor = 1;
    if (axis == SWEEP_TIME)
        return "ms";
    if (axis == SWEEP_MEMORY) {
        *divisor = 8 * 1024;
        return "KiB";
    }
    if (axis != SWEEP_ENERGY)
        return "";
    if (strcmp(s->energy_unit, "pJ") != 0)
        return s->energy_unit;
    *divisor = 1e6;
    return "uJ";
}

/* --- configurations --------------------------------------------------------------------------- */

static enum status take_hw(struct sweep *s, const struct suite_run *r, struct diag *d)
{
    struct sweep_hw *hw = &s->hw[s->n_hw++];
    struct diag own = {0};

    *hw = (struct sweep_hw){.name = r->configuration};
    if (pipeline_config(s->arena, r->hw, &hw->config, &own) == ST_OK)
        return area_of(s->arena, &hw->config, &hw->area, d);
    hw->wrong = arena_strdup(s->arena, own.text);
    hw->area = (struct area){-1, -1, -1, false};
    return ST_OK;
}

static const struct sweep_hw *find_hw(const struct sweep *s, const char *name)
{
    for (uint32_t i = 0; i < s->n_hw; i++)
        if (strcmp(s->hw[i].name, name) == 0)
            return &s->hw[i];
    return NULL;
}

/* --- points ----------------------------------------------------------------------------------- */

/* Return the cycles of accelerator and host; estimated if the RTL did not run. */
static double cycles_of(const struct suite_result *x)
{
    double cycles = x->number.cycles >= 0 ? x->number.cycles : x->number.estimated_cycles;

    return cycles < 0 ? -1 : cycles + (x->number.host_cycles > 0 ? x->number.host_cycles : 0);
}

/* Return true if the run's --target, the last one, has the array. */
static bool has_array(const struct suite_run *r)
{
    const char *targets = "systolic";

    for (const char *const *arg = r->argv; *arg; arg++)
        if (strncmp(*arg, "--target=", 9) == 0)
            targets = *arg;
    return strstr(targets, "systolic") != NULL;
}

static struct sweep_point point_of(const struct sweep *s, const struct suite_run *r)
{
    const struct sweep_hw *hw = find_hw(s, r->configuration);
    const double cycles = cycles_of(&r->result);
    const bool right = r->result.exit == 0 && cycles >= 0;
    const struct area area = has_array(r) ? hw->area : (struct area){-1, -1, -1, false};

    return (struct sweep_point){.hw = hw,
                                .run = r,
                                .v = {[SWEEP_TIME] = right ? cycles / (s->mhz * 1e3) : -1,
                                      [SWEEP_MULTIPLIERS] = area.multipliers,
                                      [SWEEP_MEMORY] = area.memory_bits,
                                      [SWEEP_LUT4] = area.lut4,
                                      [SWEEP_ENERGY] = r->result.energy}};
}

static bool beats(const struct sweep_point *p, const struct sweep_point *q, enum sweep_axis axis)
{
    if (p->v[SWEEP_TIME] < 0 || p->v[axis] < 0 || p->v[SWEEP_TIME] > q->v[SWEEP_TIME] ||
        p->v[axis] > q->v[axis])
        return false;
    return p->v[SWEEP_TIME] < q->v[SWEEP_TIME] || p->v[axis] < q->v[axis];
}

static void find_front(struct sweep_series *series, enum sweep_axis axis)
{
    for (uint32_t i = 0; i < series->n; i++) {
        struct sweep_point *q = &series->point[i];
        q->front[axis] = q->v[SWEEP_TIME] >= 0 && q->v[axis] >= 0;
        for (uint32_t k = 0; k < series->n && q->front[axis]; k++)
            q->front[axis] = !beats(&series->point[k], q, axis);
    }
}

/* Compare by time; runs without an answer come last, in the suite's order. */
static int by_time(const void *a, const void *b)
{
    const struct sweep_point *p = a, *q = b;
    const double x = p->v[SWEEP_TIME], y = q->v[SWEEP_TIME];

    if (x >= 0 && y >= 0 && x != y)
        return x < y ? -1 : 1;
    if ((x < 0) != (y < 0))
        return x < 0 ? 1 : -1;
    return p->hw < q->hw ? -1 : p->hw > q->hw;
}

static void finish(struct sweep_series *series)
{
    qsort(series->point, series->n, sizeof *series->point, by_time);
    for (int axis = SWEEP_MULTIPLIERS; axis < SWEEP_AXES; axis++)
        find_front(series, (enum sweep_axis)axis);
}

/* Return the run's label without its configuration. */
static const char *series_name(struct arena *a, const struct suite_run *r)
{
    const char *name =
        arena_printf(a, "%s, %s%s%s", r->network, r->engine, *r->options ? " " : "", r->options);

    return r->seed ? arena_printf(a, "%s seed %llu", name, (unsigned long long)r->seed) : name;
}

static struct sweep_series *series_of(struct sweep *s, const struct suite_run *r)
{
    const char *name = series_name(s->arena, r);

    for (uint32_t i = 0; i < s->n; i++)
        if (strcmp(s->series[i].name, name) == 0)
            return &s->series[i];
    s->series[s->n] = (struct sweep_series){
        .name = name, .point = ARENA_ARRAY(s->arena, struct sweep_point, s->n_hw)};
    return &s->series[s->n++];
}

/* --- the mean of all networks ----------------------------------------------------------------- */

static const struct sweep_point *point_in(const struct sweep_series *series,
                                          const struct sweep_hw *hw)
{
    for (uint32_t i = 0; i < series->n; i++)
        if (series->point[i].hw == hw)
            return &series->point[i];
    return NULL;
}

/* Return the geometric mean over all series from the second on; -1: one of them has no value. */
static double mean_of(const struct sweep *s, const struct sweep_hw *hw, enum sweep_axis axis)
{
    double sum = 0;

    for (uint32_t i = 1; i < s->n; i++) {
        const struct sweep_point *p = point_in(&s->series[i], hw);
        if (!p || p->v[SWEEP_TIME] < 0 || p->v[axis] <= 0)
            return -1;
        sum += log(p->v[axis]);
    }
    return exp(sum / (s->n - 1));
}

static void add_means(struct sweep *s)
{
    struct sweep_series *all = &s->series[0];

    for (uint32_t i = 0; i < s->n_hw; i++) {
        const struct sweep_hw *hw = &s->hw[i];
        const struct sweep_point *one = point_in(&s->series[1], hw);
        all->point[all->n++] =
            (struct sweep_point){.hw = hw,
                                 .v = {[SWEEP_TIME] = mean_of(s, hw, SWEEP_TIME),
                                       [SWEEP_MULTIPLIERS] = one ? one->v[SWEEP_MULTIPLIERS] : -1,
                                       [SWEEP_MEMORY] = one ? one->v[SWEEP_MEMORY] : -1,
                                       [SWEEP_LUT4] = one ? one->v[SWEEP_LUT4] : -1,
                                       [SWEEP_ENERGY] = mean_of(s, hw, SWEEP_ENERGY)}};
    }
}

/* --- all -------------------------------------------------------------------------------------- */

static void add_runs(struct sweep *s)
{
    const struct suite *suite = &s->view->suite;

    for (uint32_t i = 0; i < suite->n; i++) {
        const struct suite_run *r = &suite->run[i];
        struct sweep_series *to = series_of(s, r);
        to->point[to->n++] = point_of(s, r);
        if (*r->result.energy_unit)
            s->energy_unit = r->result.energy_unit;
    }
}

enum status sweep_of(struct arena *a, const struct view *v, uint32_t clock_mhz, struct sweep *s,
                     struct diag *d)
{
    const struct suite *suite = &v->suite;

    *s = (struct sweep){.arena = a,
                        .view = v,
                        .mhz = clock_mhz ? clock_mhz : SWEEP_CLOCK_MHZ,
                        .clock_given = clock_mhz != 0,
                        .energy_unit = "",
                        .hw = ARENA_ARRAY(a, struct sweep_hw, suite->n + 1u),
                        .series = ARENA_ARRAY(a, struct sweep_series, suite->n + 1u)};
    for (uint32_t i = 0; i < suite->n; i++)
        if (!find_hw(s, suite->run[i].configuration))
            TRY(take_hw(s, &suite->run[i], d));
    s->series[s->n++] = (struct sweep_series){
        .name = "geometric mean of all", .point = ARENA_ARRAY(a, struct sweep_point, s->n_hw + 1u)};
    add_runs(s);
    if (s->n > 2) {
        add_means(s);
    } else {
        s->series++;
        s->n--;
    }
    for (uint32_t i = 0; i < s->n; i++)
        finish(&s->series[i]);
    return ST_OK;
}
