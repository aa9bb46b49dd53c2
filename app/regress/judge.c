/* judge.c - see judge.h. */
#include "judge.h"

#include <math.h>
#include <string.h>

#include "app/regress/suite/result.h"
#include "app/report/report_read.h"

struct judging {
    struct suite *s;
    struct judge *j;
    uint32_t capacity, run;
};

/* Return the exception that allows `percent` for this kind; `layer` NULL: for the whole run. */
static const char *excepted(struct judging *g, const char *kind, const char *layer, double percent)
{
    for (uint32_t i = 0; i < g->s->n_exception; i++) {
        struct suite_exception *e = &g->s->exception[i];
        if (!suite_excepts(e, kind, &g->s->run[g->run]) ||
            (e->layer && (!layer || strcmp(e->layer, layer) != 0)))
            continue;
        if (e->percent >= 0 && percent > e->percent)
            continue;
        e->used = true;
        return e->why;
    }
    return NULL;
}

static void add(struct judging *g, const char *kind, const char *text, const char *why)
{
    struct judge *j = g->j;

    ARENA_GROW(g->s->arena, j->finding, j->n, &g->capacity);
    j->finding[j->n++] = (struct judge_finding){g->run, kind, text, why};
    j->n_count += !why;
}

static void judge_verdict(struct judging *g, const struct suite_run *r)
{
    struct arena *a = g->s->arena;

    if (strcmp(r->result.verdict, "mismatch") == 0)
        add(g, "bytes", r->result.message, NULL);
    else if (r->result.exit == 3)
        add(g, "refused", r->result.message, excepted(g, "refused", NULL, 0));
    else if (r->result.exit != 0 || strcmp(r->result.verdict, "failed") == 0)
        add(g, "failed",
            r->result.exit < 0 ? r->result.message
                               : arena_printf(a, "exit %d: %s", r->result.exit, r->result.message),
            NULL);
}

static double off(double found, double expected)
{
    return expected > 0 ? 100 * (found / expected - 1) : 0;
}

static void judge_cycles(struct judging *g, const struct suite_run *r)
{
    const struct suite_limits *most = &g->s->limits;
    const struct suite_result *x = &r->result;
    double slower = off(x->number.cycles, r->baseline),
           far = fabs(off(x->number.estimated_cycles, x->number.cycles));

    if (r->baseline > 0 && slower > most->cycles)
        add(g, "cycles",
            arena_printf(g->s->arena,
                         "%.1f cycles, %+.2f %% on the baseline of %.1f (at most %g %%)",
                         x->number.cycles, slower, r->baseline, most->cycles),
            excepted(g, "cycles", NULL, slower));
    if (x->number.cycles > 0 && x->number.estimated_cycles > 0 && far > most->estimate)
        add(g, "estimate",
            arena_printf(g->s->arena, "%.1f cycles, estimate %.0f: %.2f %% off (at most %g %%)",
                         x->number.cycles, x->number.estimated_cycles, far, most->estimate),
            excepted(g, "estimate", NULL, far));
}

static void judge_layers(struct judging *g, const struct suite_run *r)
{
    const struct suite_limits *most = &g->s->limits;
    cJSON *layers = result_layers(&r->result);
    const cJSON *l;

    cJSON_ArrayForEach(l, layers)
    {
        double cycles = report_number(l, "cycles"), estimate = report_number(l, "estimate");
        double far = fabs(off(estimate, cycles));
        const char *name = report_word(l, "name");
        if (cycles <= most->layer_cycles || estimate < 0 || far <= most->layer)
            continue;
        add(g, "layer",
            arena_printf(g->s->arena, "%s: %.1f cycles, estimate %.0f: %.2f %% off (at most %g %%)",
                         name, cycles, estimate, far, most->layer),
            excepted(g, "layer", name, far));
    }
    cJSON_Delete(layers);
}

void judge_suite(struct suite *s, struct judge *j)
{
    struct judging g = {.s = s, .j = j};

    *j = (struct judge){0};
    for (g.run = 0; g.run < s->n; g.run++) {
        const struct suite_run *r = &s->run[g.run];
        uint32_t before = j->n_count;
        if (!r->result.verdict)
            continue;
        if (s->sweeps && strcmp(r->result.verdict, "mismatch") != 0)
            continue;
        judge_verdict(&g, r);
        judge_cycles(&g, r);
        judge_layers(&g, r);
        j->n_bad_runs += j->n_count > before;
    }
}
