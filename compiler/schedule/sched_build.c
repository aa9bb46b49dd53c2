/* sched_build.c - see sched_build.h. */
#include "sched_build.h"

#include "compiler/layout/layout.h"
#include "compiler/lower/lower.h"
#include "compiler/plan/arena_plan.h"
#include "compiler/timing/estimate.h"

static const struct {
    enum status (*run)(struct sched_program *p, struct diag *d);
    enum status (*check)(const struct sched_program *p, struct diag *d); /* or NULL */
} steps[] = {
#define BUILD(name, run, each, check, dump, needs, leaves) {run, check},
#include "compiler/passes.def"
};

enum status sched_build(struct sched_program *p, struct diag *d)
{
    for (uint32_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        TRY(steps[i].run(p, d));
        if (steps[i].check && !p->dry)
            TRY(steps[i].check(p, d));
    }
    return ST_OK;
}
