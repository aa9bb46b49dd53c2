/* measure.c - see measure.h. As in every run, C is emitted, compiled, and run on the Verilated
 * model. */
#include "measure.h"

#include "app/build/object.h"
#include "app/engine/processes.h"
#include "app/job/job.h"
#include "app/job/shared.h"
#include "app/stats/account.h"
#include "compiler/systolic/schedule/sched.h"

#include <string.h>

static enum status wrong(const struct job *job, uint32_t output, struct diag *d)
{
    const struct ir_graph *g = job->p->graph;
    struct text t;

    text_init(&t, job->p->arena);
    text_add(&t, "");
    for (uint32_t i = 0; i < g->n_op; i++) {
        size_t before = t.length;
        text_printf(&t, " %s:", g->row[g->op[i]->row].name);
        size_t named = t.length;
        sched_print_knobs(&job->p->program->knobs[i], &t);
        if (t.length == named) /* by rule */
            t.data[t.length = before] = '\0';
    }
    return FAIL(d, ST_MISMATCH,
                "output %u differs from the reference with these knobs; please report it:%s",
                output, t.data);
}

enum status tune_measure(const struct job *base, const struct run_measured *shared,
                         const struct knob_shape *shape, const struct store_trial *trial,
                         const char *folder, struct measured *m, struct diag *d)
{
    const struct options *o = base->options;
    struct pipeline p = *base->p;
    struct job job = *base;
    struct run_measured of = *shared;
    const struct sched_options s = {
        .mem_latency = o->mem_latency, .mem_bytes = o->mem_bytes, .knobs = trial->knobs};
    const char *so_path;

    job.p = &p;
    of.out = arena_memdup(p.arena, shared->out, p.graph->n_out * sizeof *of.out);
    tune_attrs_set(&p, &shape->attrs, trial->value);
    p.options.schedule = s;
    p.legal = NULL; /* knobs that do not fit do not count as a trial */
    TRY(pipeline_schedule(&p, d));
    TRY(pipeline_emit(&p, d));
    TRY(run_compile_into(p.arena, p.emitted, folder, &so_path, d));
    TRY(run_engine(&job, &of, so_path, d));
    for (uint32_t i = 0; i < p.graph->n_out; i++)
        if (memcmp(of.out[i].bytes, job.expected[i].bytes, of.out[i].n_bytes) != 0)
            return wrong(&job, i, d);
    *m = (struct measured){.estimate = p.program->est_cycles +
                                       (uint64_t)account_outside(account_of(p.arena, &p)),
                           .cycles = of.shared->cycles};
    return ST_OK;
}
