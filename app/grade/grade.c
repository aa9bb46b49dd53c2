/* grade.c - the order of grade-target: mutants, check-target's usual cases, those at the ends of limits, networks, equal
 * ones, further seeds; see grade.h. */
#include "grade.h"

#include <string.h>

#include "app/job/monotonic.h"
#include "grade_parts.h"

enum { MOST_SEEDS = 3 }; /* further ones */

static bool over(const struct grade *g)
{
    return monotonic_seconds() > g->end;
}

/* Number of mutants that the stage can decide. */
static uint32_t waiting(const struct grade *g, uint32_t stage)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n; i++)
        n += g->mutant[i].verdict == GRADE_OPEN && g->mutant[i].stage == stage;
    return n;
}

static enum status run_stage(struct grade *g, uint32_t stage, struct diag *d)
{
    g->stage = stage;
    if (over(g) || waiting(g, stage) == 0)
        return ST_OK;
    output_printf(g->o->output, OUTPUT_PROGRESS, "%u mutants to try", waiting(g, stage));
    if (stage == GRADE_EQUALITY)
        return grade_equal(g, d);
    if (stage == GRADE_NETWORKS) {
        static const char *const usual[] = {"digits"};
        const char *const *const name = g->o->n_argument ? g->o->argument : usual;
        for (uint32_t i = 0; i < (g->o->n_argument ? g->o->n_argument : 1); i++)
            TRY(grade_network(g, name[i], d));
        return ST_OK;
    }
    const bool ends = stage == GRADE_ENDS || (stage > GRADE_SEEDS && (stage - GRADE_SEEDS) % 2);

    g->quiet.seed = g->o->seed + (stage < GRADE_SEEDS ? 0 : 1 + (stage - GRADE_SEEDS) / 2);
    return ends ? check_ends(&g->check, d) : check_usual(&g->check, true, d);
}

/* Networks run whole, so what none of them found is past them together. */
static void pass_networks(struct grade *g)
{
    for (uint32_t i = 0; i < g->n && !over(g); i++)
        if (g->mutant[i].verdict == GRADE_OPEN && g->mutant[i].stage == GRADE_NETWORKS)
            g->mutant[i].stage++;
}

static enum status begin(struct grade *g, struct arena *a, const struct options *o, struct diag *d)
{
    *g = (struct grade){.arena = a, .o = o, .quiet = *o};
    g->end = monotonic_seconds() + 60.0 * (o->minutes ? o->minutes : 10);
    g->quiet.output = &g->silent;
    TRY(check_begin(&g->check, a, &g->quiet, d));
    if (!g->check.desc->detail->core_top)
        return FAIL(d, ST_UNSUPPORTED,
                    "target %s has no \"core\": only Verilog has mutants, 'heddle check-target' "
                    "checks the C",
                    g->check.desc->name);
    g->check.judge = grade_kill;
    g->check.judge_ctx = g;
    TRY(grade_mutants(g, d));
    g->quiet.netlist = g->folder;
    return grade_load(g, d);
}

enum status grade_target(struct arena *a, const struct options *o, struct diag *d)
{
    struct grade *const g = ARENA_NEW(a, struct grade);

    TRY(begin(g, a, o, d));
    for (uint32_t stage = GRADE_USUAL; stage < GRADE_SEEDS + 2 * MOST_SEEDS && !over(g); stage++) {
        TRY(run_stage(g, stage, d));
        if (stage == GRADE_NETWORKS)
            pass_networks(g);
        TRY(grade_save(g, d));
    }
    g->quiet.netlist = NULL;
    TRY(grade_cover(g, d));
    (void)grade_print(g);
    return ST_OK;
}
