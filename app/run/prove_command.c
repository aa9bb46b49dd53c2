/* prove_command.c - see prove_command.h. */
#include "prove_command.h"

#include <string.h>

#include "app/build/object.h"
#include "app/compare/compare_layers.h"
#include "app/run/answer.h"
#include "app/run/refute.h"
#include "app/run/run.h"
#include "app/run/run_prove.h"
#include "base/file.h"

/* "refuted: layer L: 1 of 10 values differ ..", with what a mismatch of `run` prints below. input: a file of the input
 * that shows it, or NULL: one of the run's own. */
static enum status refuted(struct run *run, const char *proof, const char *input, struct diag *d)
{
    struct arena *a = run->job.arena;
    const bool layer = run->results.layers.first.found;

    struct diag rest = {0};

    (void)run_mismatch(run, &rest);
    (void)FAIL(d, ST_MISMATCH, "refuted: %s",
               layer ? arena_printf(a, "layer %s", compare_first_text(&run->job, &run->results))
                     : "an output differs");
    diag_line(d, "the proof: %s", proof + strlen("unproven: "));
    if (input)
        diag_line(d, "the input that shows it: -i %s", input);
    for (char *at = rest.text, *end; at; at = end ? end + strspn(end + 1, " ") + 1 : NULL) {
        end = strchr(at, '\n');
        diag_line(d, "%.*s", (int)(end ? end - at : (ptrdiff_t)strlen(at)), at);
    }
    return ST_MISMATCH;
}

/* Write the input that was found; return the first file's name, NULL if no files are wanted. */
static const char *write_input(const struct run *run, const struct run_bytes *in, struct diag *d)
{
    const struct job *job = &run->job;
    const char *folder = job->out_dir ? job->out_dir : "heddle-mismatch", *first = NULL;

    if ((!job->writes && !job->out_dir) || file_make_dirs(folder, d) != ST_OK)
        return NULL;
    for (uint32_t i = 0; i < job->p->graph->n_in; i++) {
        const char *path = arena_printf(job->arena, "%s/refuted_in_%u.bin", folder, i);

        if (file_write(path, in[i].data, in[i].n_bytes, d) != ST_OK)
            return NULL;
        first = first ? first : path;
    }
    return first;
}

/* Look for an input that shows the difference, and run it as `run` would. */
static enum status search(struct run *run, const char *so, struct diag *d)
{
    struct run_bytes *in = ARENA_ARRAY(run->job.arena, struct run_bytes, OPTIONS_MAX_FILES);
    struct run *again = ARENA_NEW(run->job.arena, struct run);
    struct options *o = arena_memdup(run->job.arena, run->job.options, sizeof *o);
    bool found = false;

    if (run->job.p->graph->n_in <= OPTIONS_MAX_FILES)
        TRY(refute(run, so, in, &found, d));
    if (!found)
        return ST_OK;
    o->inferences = 0;
    again->job = run->job;
    again->job.options = o;
    again->job.given_in = in;
    again->job.expected = NULL;
    TRY(run_answer(again, d));
    if (again->results.verdict != VERDICT_MISMATCH)
        return ST_OK;
    return refuted(again, run->results.proof, write_input(again, in, d), d);
}

enum status prove_command(struct run *run, struct text *t, struct diag *d)
{
    TRY(prove_verdict(run, d));
    if (!run->results.proved) {
        const char *so;

        TRY(run_answer(run, d));
        if (run->results.verdict == VERDICT_MISMATCH)
            return refuted(run, run->results.proof, NULL, d);
        TRY(run_compile(run->job.arena, run->job.p->emitted, &so, d));
        TRY(search(run, so, d));
        TRY(prove_strict(run, d));
    }
    text_printf(t, "%s\n", run->results.proof);
    return ST_OK;
}
