/* expected.c - see expected.h. */
#include "expected.h"
#include "app/job/job.h"
#include "app/job/monotonic.h"
#include "compare_layers.h"

static const uint8_t *inference(const struct run_data *data, uint32_t k)
{
    return data->bytes + k * data->n_bytes;
}

enum status run_first_with_reference(const struct job *job, const struct run_measured *m,
                                     struct run_results *results, struct run_data *to, uint32_t n,
                                     struct diag *d)
{
    const struct ir_graph *g = job->p->reference;
    const struct ref_options o = pipeline_ref_options(&job->options->legalise);
    struct arena *a = job->arena;
    struct ref *r = ref_new(a, g, &o);
    const uint8_t **in = ARENA_ARRAY(a, const uint8_t *, g->n_in + 1);
    uint8_t **out = ARENA_ARRAY(a, uint8_t *, g->n_out + 1);
    double start = monotonic_seconds();

    for (uint32_t i = 0; i < g->n_out; i++)
        to[i] = (struct run_data){arena_alloc(a, m->out[i].n_bytes * n), m->out[i].n_bytes};
    for (uint32_t k = 0; k < n && k < job->n; k++) {
        for (uint32_t i = 0; i < g->n_in; i++)
            in[i] = inference(&job->in[i], k);
        for (uint32_t i = 0; i < g->n_out; i++)
            out[i] = to[i].bytes + k * to[i].n_bytes;
        if (job->options->reset_state)
            ref_reset(r);
        TRY(ref_run(r, in, out, d));
        if (job->feeder) {
            job->feeder->next(job->feeder->ctx, k, out[0]);
            if (job->options->engine == ENGINE_REF)
                job->feeder->say(job->feeder->ctx, k, out[0]);
        }
        if (results->compare)
            TRY(compare_reference(results->compare, r, k, d));
    }
    results->ref_seconds = monotonic_seconds() - start;
    return ST_OK;
}

enum status run_with_reference(const struct job *job, const struct run_measured *m,
                               struct run_results *results, struct run_data *to, struct diag *d)
{
    return run_first_with_reference(job, m, results, to, job->n, d);
}
