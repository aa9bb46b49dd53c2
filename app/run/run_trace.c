/* run_trace.c - trace.json of a run: the times that its process kept of the first inference. */
#include <string.h>

#include "app/report/trace.h"
#include "base/file.h"
#include "run.h"

bool run_traced(const struct run_job *job)
{
    return job->out_dir && !job->options->no_report && job->options->engine == ENGINE_RTL &&
           !job->package; /* whose commands are nobody's here */
}

uint32_t run_trace_commands(const struct run_job *job)
{
    return trace_first(job->p, job->p->program->n_stream);
}

enum status run_trace(const struct run_job *job, struct diag *d)
{
    const uint32_t n_row = job->p->graph->n_row;
    uint64_t *cycles = ARENA_ARRAY(job->arena, uint64_t, n_row + 1);
    struct text t;

    if (!job->times)
        return ST_OK;
    for (uint32_t i = 0; i < n_row; i++)
        cycles[i] = job->shared->row[i].cycles / job->n;
    text_init(&t, job->arena);
    trace_json(trace_build(job->arena, job->p, account_of(job->arena, job->p), job->times, cycles),
               &t);
    return file_write(arena_printf(job->arena, "%s/trace.json", job->out_dir), t.data, t.length, d);
}
