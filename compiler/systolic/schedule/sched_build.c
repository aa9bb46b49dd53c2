/* sched_build.c - see sched_build.h. */
#include "sched_build.h"

#include "compiler/plan/arena_plan.h"
#include "compiler/systolic/layout/layout.h"
#include "compiler/systolic/lower/lower.h"
#include "compiler/systolic/timing/estimate.h"

static const struct {
    enum status (*run)(struct sched_program *p, struct diag *d);
    enum status (*check)(const struct sched_program *p, struct diag *d); /* or NULL */
} steps[] = {
#define BUILD(name, run, each, check, dump) {run, check},
#include "compiler/passes.def"
};

enum { STEPS = sizeof steps / sizeof *steps };

static enum status run(struct sched_program *p, uint32_t first, uint32_t end, struct diag *d)
{
    for (uint32_t i = first; i < end; i++) {
        TRY(steps[i].run(p, d));
        if (steps[i].check && !p->dry)
            TRY(steps[i].check(p, d));
    }
    return ST_OK;
}

enum status sched_build_commands(struct sched_program *p, struct diag *d)
{
    return run(p, 0, STEPS - 1, d);
}

enum status sched_build(struct sched_program *p, struct diag *d)
{
    return run(p, 0, STEPS, d);
}

enum status sched_prepare(struct sched_program *p, struct diag *d)
{
    TRY(sched_places(p, d));
    return layout_prepare(p, d);
}
