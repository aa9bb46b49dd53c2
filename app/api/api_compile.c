/* api_compile.c - "heddle compile": run the emitted package on the functional model, compare as
 * `heddle run` does, and write the package with the result. */
#include <string.h>

#include "app/build/object.h"
#include "app/compare/verdict_text.h"
#include "app/inputs/generate.h"
#include "app/run/answer.h"
#include "app/run/run.h"
#include "compiler/emit/package/mlf.h"
#include "context.h"

/* Maximum of multiplications and results for a check of less than 10 s on one core. Networks of 100
 * M and more took 65 M (depthwise) to 335 M per second, with C compiler, reference and functional
 * model together. */
#define MOST_WORK 500000000u

static uint64_t work(const struct ir_graph *g)
{
    uint64_t n = ir_graph_macs(g);

    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_out && !g->op[i]->dead; k++)
            n += ir_elements(ir_out(g, g->op[i], k));
    return n;
}

/* Set up the run of `compile`: generated inputs, engine func, no files written. */
static void prepare(struct heddle *h)
{
    struct options *o = arena_memdup(h->scratch, &h->o, sizeof h->o);

    o->engine = ENGINE_FUNC;
    o->out = NULL;
    context_begin_run(h);
    h->run.job.options = o;
    h->run.job.zoo = NULL; /* a zoo network's inputs are not generated */
}

static void not_done(struct heddle *h, struct emit_compared *c, const char *why)
{
    c->verdict = "unchecked";
    c->statement = arena_printf(h->p.arena, "not done: %s", why);
}

static void done(struct heddle *h, struct emit_compared *c)
{
    const struct job *job = &h->run.job;
    const struct run_results *results = &h->run.results;
    const bool within = results->verdict == VERDICT_WITHIN;

    *c = (struct emit_compared){.verdict = within ? "within" : "match",
                                .n_layers = results->layers.n_layers,
                                .n_outputs = h->p.graph->n_out,
                                .n_inferences = job->n,
                                .seed = h->o.seed};
    c->statement =
        within ? arena_printf(h->p.arena,
                              "within %.3g of the outputs' range of the CPU reference, over %u "
                              "generated inferences (seed %llu); allowed are %.3g",
                              results->difference, job->n, (unsigned long long)h->o.seed,
                              job->tolerance)
               : arena_strdup(h->p.arena, run_match_text(job, &h->run.measured, results));
}

/* Return ST_OK if the emitted C can run on this machine; otherwise report why it cannot. */
static enum status can_run(const struct job *job, struct diag *d)
{
    const char *so_path;

    TRY(run_trusted(job, d));
    return run_compile(job->arena, job->p->emitted, &so_path, d);
}

/* Return true if --check=auto skips the check, with the reason in `c`. */
static bool left_out(struct heddle *h, struct emit_compared *c)
{
    const uint64_t n = work(h->p.graph) * generate_count(&h->run.job);
    struct diag why = {0};

    if (n > MOST_WORK)
        not_done(h, c,
                 arena_printf(h->p.arena,
                              "%.0f M multiplications and results, more than %u M; --check=always "
                              "compares",
                              (double)n / 1e6, MOST_WORK / 1000000u));
    else if (can_run(&h->run.job, &why) != ST_OK) {
        why.text[strcspn(why.text, "\n")] = '\0';
        output_printf(&h->output, OUTPUT_NOTE, "note: the package was not compared: %s", why.text);
        not_done(h, c, "the package cannot run where it was compiled");
    } else
        return false;
    return true;
}

/* Report a difference and write the package nevertheless: results of targets that are not exact may
 * differ widely on generated inputs. */
static enum status differs(struct heddle *h, struct emit_compared *c)
{
    if (h->o.check == CHECK_ALWAYS || h->run.job.tolerance == 0)
        return run_mismatch(&h->run, &h->d);
    done(h, c);
    c->verdict = "differs";
    c->statement = arena_printf(
        h->p.arena,
        "%llu of %u generated inferences (seed %llu) differ from the CPU reference by more than "
        "%.3g of the outputs' range, which the targets' patterns allow",
        (unsigned long long)h->run.results.n_wrong, h->run.job.n, (unsigned long long)h->o.seed,
        h->run.job.tolerance);
    return ST_OK;
}

static enum status check(struct heddle *h, struct emit_compared *c)
{
    enum status st = ST_OK;

    if (h->o.check == CHECK_NEVER) {
        not_done(h, c, "--check=never");
        return ST_OK;
    }
    prepare(h);
    if (h->o.check == CHECK_ALWAYS || !left_out(h, c)) {
        st = run_answer(&h->run, &h->d);
        if (st == ST_OK && h->run.results.verdict == VERDICT_MISMATCH)
            st = differs(h, c);
        else if (st == ST_OK)
            done(h, c);
    }
    context_forget_run(h);
    return st;
}

enum status context_compile(struct heddle *h, const char *out)
{
    struct package *package;

    if (!out)
        return FAIL(&h->d, ST_USAGE,
                    "compile: no place for the package; expected -o DIR or -o NAME.tar");
    TRY(context_emitted(h));
    struct emit_compared *c = ARENA_NEW(h->p.arena, struct emit_compared);
    TRY(check(h, c));
    h->p.emitted->compared = c;
    TRY(package_make(h->p.emitted, &package, &h->d));
    if (h->o.format == FORMAT_MLF)
        TRY(mlf_make(h->p.emitted, package, &package, &h->d));
    TRY(package_write(package, out, &h->d));
    output_printf(&h->output, OUTPUT_RESULT, "check: %s\n", c->statement);
    return ST_OK;
}

static enum status compile(struct heddle *h, void *arg)
{
    return context_compile(h, arg);
}

enum heddle_code heddle_compile(struct heddle *h, const char *out)
{
    return context_call(h, compile, (void *)(uintptr_t)out);
}
