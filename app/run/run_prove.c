/* run_prove.c - compile, and prove in a process of its own. */
#define _GNU_SOURCE
#include "run_prove.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/build/object.h"
#include "app/run/answer.h"
#include "base/home.h"
#include "compiler/systolic/program/sched_program.h"

/* The child's result, in shared memory. */
struct answer {
    enum status status;
    struct prove_verdict verdict;
    char message[1024];
};

static enum status devices_of(struct arena *a, const struct pipeline *p, struct prove_question *q)
{
    const struct sched_program *s = p->program;
    const uint32_t n = q->model->command_bytes ? s->n_device : 0;
    const struct hd_config **hw = ARENA_ARRAY(a, const struct hd_config *, n + 1);

    for (uint32_t i = 0; i < n; i++)
        hw[i] = s->device[i].hw;
    q->hw = hw;
    q->n_device = n;
    return ST_OK;
}

/* The place of each variable in the package's state, by its name. */
static const uint32_t *state_of(struct arena *a, const struct pipeline *p)
{
    const struct ir_graph *g = p->reference, *made = p->graph;
    uint32_t *at = ARENA_ARRAY(a, uint32_t, g->n_tensor + 1);

    for (uint32_t i = 0; i < g->n_tensor; i++) {
        at[i] = UINT32_MAX;
        for (uint32_t k = 0; k < made->n_tensor && g->tensor[i]->role == IR_VARIABLE; k++)
            if (made->tensor[k]->role == IR_VARIABLE &&
                strcmp(made->tensor[k]->name, g->tensor[i]->name) == 0)
                at[i] = (uint32_t)sched_state_offset(made, k);
    }
    return at;
}

/* By layer: its external target's name, or NULL. */
static const char *const *targets_of(struct arena *a, const struct pipeline *p)
{
    const struct ir_graph *g = p->graph;
    const char **name = ARENA_ARRAY(a, const char *, g->n_row + 1);

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        const struct target *t =
            !op->dead && op->target < p->targets.n ? p->targets.target[op->target] : NULL;

        if (t && t->desc->outside)
            name[g->op[i]->row] = t->name;
    }
    return name;
}

enum status prove_load(struct arena *a, const struct pipeline *p, const char *so,
                       struct prove_question *q, struct prove_verdict *v, struct diag *d)
{
    struct ref_options *options = ARENA_NEW(a, struct ref_options);
    const char *path;
    void *kernels, *object;

    TRY(home_prover(a, &path, d));
    kernels = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!kernels)
        return FAIL(d, ST_INTERNAL, "the prover's kernels do not load: %s", dlerror());
    *options = pipeline_ref_options(&p->options.legalise);
    q->hook = dlsym(kernels, "prove_hook");
    q->graph = p->reference;
    q->options = options;
    q->state_at = state_of(a, p);
    q->target = targets_of(a, p);
    object = dlopen(so, RTLD_NOW);
    if (!object) {
        const char *error = dlerror(), *name = strstr(error, "undefined symbol: ");

        if (!name)
            return FAIL(d, ST_INTERNAL, "emitted code does not load: %s", error);
        *v = (struct prove_verdict){.layer = UINT32_MAX};
        (void)snprintf(v->why, sizeof v->why, "no rule for kernel %s",
                       name + strlen("undefined symbol: "));
        return ST_OK;
    }
    q->model = dlsym(object, "hd_model");
    if (!q->model || !q->hook || q->model->abi != HD_MODEL_ABI)
        return FAIL(d, ST_INTERNAL, "%s: found no hd_model of version %u", so, HD_MODEL_ABI);
    return devices_of(a, p, q);
}

static void child(const struct job *job, const char *so, struct answer *to)
{
    struct prove_question q = {.seed = (uint64_t)getpid() << 32 ^ job->options->seed};
    struct diag d = {0};

    to->status = prove_load(job->arena, job->p, so, &q, &to->verdict, &d);
    if (to->status == ST_OK && q.model)
        prove_ask(job->arena, &q, &to->verdict);
    memcpy(to->message, d.text, sizeof to->message - 1);
    _exit(0);
}

static enum status ask(const struct job *job, const char *so, struct prove_verdict *v,
                       struct diag *d)
{
    struct answer *to =
        mmap(NULL, sizeof *to, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int state = 0;

    if (to == MAP_FAILED)
        return FAIL(d, ST_NO_MEMORY, "no memory for the proof");
    to->status = ST_INTERNAL;
    const pid_t pid = fork();
    if (pid < 0)
        return FAIL(d, ST_NO_MEMORY, "no process for the proof");
    if (pid == 0)
        child(job, so, to);
    (void)waitpid(pid, &state, 0);
    const struct answer got = *to;
    (void)munmap(to, sizeof *to);
    if (!WIFEXITED(state) || got.status != ST_OK)
        return FAIL(d, got.status == ST_OK ? ST_INTERNAL : got.status, "the proof ended early: %s",
                    WIFEXITED(state) ? got.message : strsignal(WTERMSIG(state)));
    *v = got.verdict;
    return ST_OK;
}

/* "layer 03_add: why". */
static const char *reason(const struct job *job, const struct prove_verdict *v)
{
    const struct ir_graph *g = job->p->graph;

    return v->layer < g->n_row
               ? arena_printf(job->arena, "layer %s: %s", g->row[v->layer].name, v->why)
               : v->why;
}

static const char *proved(const struct job *job, const struct prove_verdict *v)
{
    const char *compared =
        v->n_compared == 0
            ? ""
            : arena_printf(job->arena, " and for %u call%s that only samples compare (%s)",
                           v->n_compared, v->n_compared == 1 ? "" : "s", v->compared);

    return arena_printf(
        job->arena,
        "proved: all %u layers, for every input, except for a chance below 2^-%d%s (%u commands "
        "in their order, %u host calls, %u values)",
        job->p->graph->n_row, v->bits, compared, v->n_command, v->n_call, v->n_term);
}

enum status prove_verdict(struct run *run, struct diag *d)
{
    const struct job *job = &run->job;
    const char *so;
    struct prove_verdict v;

    if (job->options->engine == ENGINE_REF)
        return FAIL(d, ST_USAGE,
                    "--prove: found --engine=ref, expected func or rtl: ref runs no package");
    if (!job->p->emitted)
        TRY(pipeline_back(job->p, d));
    TRY(run_trusted(job, d));
    TRY(run_compile(job->arena, job->p->emitted, &so, d));
    TRY(ask(job, so, &v, d));
    run->results.proved = v.proved;
    run->results.proof =
        v.proved ? proved(job, &v) : arena_printf(job->arena, "unproven: %s", reason(job, &v));
    return ST_OK;
}

enum status prove_strict(const struct run *run, struct diag *d)
{
    if (run->job.options->strict && !run->results.proved)
        return FAIL(d, ST_MISMATCH, "%s", run->results.proof);
    return ST_OK;
}
