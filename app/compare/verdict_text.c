/* verdict_text.c - see verdict_text.h. */
#include "verdict_text.h"

#include "app/job/shared.h"

/* Return "14 of 14 layers" or "14 of 14 layers (in 160 inferences)". */
static const char *layers_text(const struct job *job, const struct run_results *results)
{
    const struct compare_sums *s = &results->layers;
    const char *part = s->n_inferences < job->n
                           ? arena_printf(job->arena, " (in %u inferences)", s->n_inferences)
                           : "";

    return arena_printf(job->arena, "%u of %u layers%s", s->n_equal, s->n_layers, part);
}

static const char *match_text(const struct job *job, const struct run_results *results)
{
    static const char reference[] = "the CPU reference, which runs the network as imported "
                                    "(decoding the file is common to both)";
    struct arena *a = job->arena;
    const uint32_t n_out = job->p->graph->n_out;
    const char *outputs = arena_printf(a, "%u output%s", n_out, n_out == 1 ? "" : "s"),
               *layers = results->layers.n_layers ? layers_text(job, results) : NULL,
               *both = layers ? arena_printf(a, "%s and %s", layers, outputs) : outputs,
               *n = arena_printf(a, "%u%s inference%s", job->n, job->generated ? " generated" : "",
                                 job->n == 1 ? "" : "s");

    if (job->expected_from)
        return arena_printf(a, "match: %s of %s equal, bit for bit, to the expected outputs (%s)%s",
                            outputs, n, job->expected_from,
                            layers ? arena_printf(a, ", and %s to the CPU reference", layers) : "");
    if (job->generated)
        return arena_printf(a, "match: %s equal, bit for bit, over %s (seed %llu), to %s", both, n,
                            (unsigned long long)job->options->seed, reference);
    return arena_printf(a, "match: %s of %s equal, bit for bit, to %s", both, n, reference);
}

const char *run_match_text(const struct job *job, const struct run_measured *m,
                           const struct run_results *results)
{
    const struct reuse_counts n = m->shared ? m->shared->reuse : (struct reuse_counts){0};
    const char *const text = match_text(job, results);
    const uint32_t stored = n.stored - n.filled;

    if (n.skipped)
        return arena_printf(job->arena,
                            "%s; the RTL ran %u of %u submissions%s, and the functional model the "
                            "others, without cycles",
                            text, n.submissions - n.skipped - n.stored, n.submissions,
                            job->options->fill_store ? "" : ", those with waves");
    if (stored == 0)
        return text;
    return arena_printf(
        job->arena,
        "%s; cycles of %u of %u submissions from the store, bytes of %u compared on "
        "the RTL",
        text, stored, n.submissions, n.submissions - stored);
}
