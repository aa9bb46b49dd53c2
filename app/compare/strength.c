/* strength.c - see strength.h. */
#define _GNU_SOURCE
#include "strength.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/build/object.h"
#include "app/engine/runner.h"
#include "app/inputs/generate.h"
#include "base/interrupt.h"
#include "compare_layers.h"
#include "compare_parts.h"
#include "expected.h"
#include "plant.h"
#include "sim/build/cached.h"
#include "sim/build/hash.h"

enum { SECONDS = 600 }; /* time limit of one fault; a run that exceeds it hangs */

struct strength {
    struct run *run;
    struct run more; /* further inferences of the same package */
    const char *so_path;
    uint32_t n;
    const struct fault *fault;
    enum strength_found *found;
    struct hash128 *want; /* the results of each inference, this run's first */
};

static const char *symbol_of(struct arena *a, uint32_t fault)
{
    return arena_printf(a, "hd_model_%u", fault);
}

/* --- the package with its faults --- */

/* Compile model.c once for each fault of a host argument, all into one object. */
static enum status compile(struct strength *s, struct diag *d)
{
    struct arena *a = s->run->job.arena;
    struct emit_unit *u = arena_memdup(a, s->run->job.p->emitted, sizeof *u);

    for (uint32_t i = 0; i < s->n; i++)
        if (s->fault[i].kind == FAULT_ARGUMENT)
            text_add(emit_new_file(u, arena_printf(a, "fault_%u.c", i)),
                     fault_source(a, u, &s->fault[i], symbol_of(a, i)));
    return run_compile(a, u, &s->so_path, d);
}

/* Make bytes of the object a private, writable copy of this process. */
static bool open_bytes(const uint8_t *bytes, size_t n)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)bytes / page * page;

    return n == 0 ||
           mprotect((void *)from, (uintptr_t)bytes + n - from, PROT_READ | PROT_WRITE) == 0;
}

static enum status plant(const struct strength *s, uint32_t i, const struct hd_model **model,
                         struct diag *d)
{
    const struct sched_program *p = s->run->job.p->program;
    const struct fault *f = &s->fault[i];
    void *so;

    TRY(cached_load(s->so_path, "emitted code", &so, d));
    *model = dlsym(so, f->kind == FAULT_ARGUMENT ? symbol_of(s->run->job.arena, i) : "hd_model");
    if (!*model)
        return FAIL(d, ST_INTERNAL, "%s: fault %u not found", s->so_path, i);
    if (f->kind == FAULT_ARGUMENT)
        return ST_OK;
    if (!open_bytes((*model)->constants, p->constants.length) ||
        !open_bytes((*model)->commands, (*model)->command_bytes))
        return FAIL(d, ST_NO_MEMORY, "no memory for a package with a fault");
    fault_apply(f, p, (uint8_t *)(uintptr_t)(*model)->constants,
                (uint8_t *)(uintptr_t)(*model)->commands);
    return ST_OK;
}

/* --- what an inference computes --- */

static void enter(void *ctx, uint32_t layer, uint32_t submission)
{
    struct compare *compare = ctx;

    (void)layer;
    if (compare)
        compare_enter(compare, submission);
}

/* Run an inference; *wrong: a layer differs from the reference. */
static enum status infer(struct runner *p, struct compare *c, uint32_t k, struct hash128 *h,
                         bool *wrong, struct diag *d)
{
    if (c)
        TRY(compare_begin(c, k, d));
    const int rc = runner_infer(p, k);
    if (c && rc == HD_OK) {
        compare_end(c);
        *wrong = c->shared->first.found;
    }
    if (rc != HD_OK)
        return FAIL(d, ST_DEVICE, "%s", hd_error_text(rc));
    hash_init(h);
    for (uint32_t i = 0; i < p->model->n_outputs; i++)
        hash_large(h, p->call.out[i], p->model->outputs[i].n_bytes);
    return ST_OK;
}

/* Run all inferences of one of the two jobs until one differs from `want`. want NULL: record their
 * results. */
static enum status all_of(const struct strength *s, struct run *run, const struct hd_model *model,
                          const struct hash128 *want, struct hash128 *to, bool *differs,
                          struct diag *d)
{
    struct runner *p = ARENA_NEW(run->job.arena, struct runner);
    struct hash128 h;
    struct run_shared *shared = arena_alloc(
        run->job.arena, sizeof *shared + run->job.p->graph->n_row * sizeof shared->row[0]);
    struct compare *compare = run->results.compare;
    const struct runner_setup setup = {&run->job, NULL, ENGINE_FUNC, s->so_path};
    bool wrong = false;
    enum status st = runner_open(p, &setup, NULL, enter, compare, d);

    p->model = model ? model : p->model;
    if (compare)
        compare_attach(compare, p, shared);
    for (uint32_t k = 0; st == ST_OK && k < run->job.n && !(want && *differs); k++) {
        st = infer(p, compare, k, to ? &to[k] : &h, &wrong, d);
        *differs = want && (st != ST_OK || wrong || memcmp(&h, &want[k], sizeof h) != 0);
    }
    runner_close(p);
    return want && *differs ? ST_OK : st;
}

/* --- one fault --- */

/* Run the fault and return its exit code; STRENGTH_KINDS is a failure. */
static enum strength_found try_fault(struct strength *s, uint32_t i)
{
    const struct hd_model *model;
    struct diag d = {0};
    bool differs = false;

    if (plant(s, i, &model, &d) != ST_OK)
        return STRENGTH_KINDS;
    if (all_of(s, s->run, model, s->want, NULL, &differs, &d) != ST_OK)
        return STRENGTH_KINDS;
    if (differs)
        return STRENGTH_IN_RUN;
    if (all_of(s, &s->more, model, s->want + s->run->job.n, NULL, &differs, &d) != ST_OK)
        return STRENGTH_KINDS;
    return differs ? STRENGTH_FURTHER : STRENGTH_NOTHING;
}

/* Run a fault in a process. One that crashes or hangs would also end a run, so it counts as
 * detected. */
static enum status run_fault(struct strength *s, uint32_t i, struct diag *d)
{
    int state = 0;
    const pid_t pid = fork();

    if (pid < 0)
        return FAIL(d, ST_NO_MEMORY, "no child process could be started");
    if (pid == 0) {
        interrupt_leave();
        (void)alarm(SECONDS);
        _exit((int)try_fault(s, i));
    }
    interrupt_child(pid);
    while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
        continue;
    interrupt_child(0);
    s->found[i] = WIFEXITED(state) ? (enum strength_found)WEXITSTATUS(state) : STRENGTH_IN_RUN;
    if (s->found[i] >= STRENGTH_KINDS)
        return FAIL(d, ST_INTERNAL, "fault %u (%s) could not be planted", i,
                    fault_text(s->run->job.arena, s->run->job.p->emitted, &s->fault[i]));
    return ST_OK;
}

static enum status more_inferences(struct strength *s, struct options *o, struct diag *d)
{
    struct job *more = &s->more.job;
    struct run_measured *m = &s->more.measured;

    *o = *s->run->job.options;
    o->inferences = STRENGTH_MORE;
    o->seed++;
    o->n_input = 0;
    *more = (struct job){.arena = s->run->job.arena,
                         .options = o,
                         .p = s->run->job.p,
                         .tolerance = s->run->job.tolerance};
    more->n = generate_count(more);
    more->in = ARENA_ARRAY(more->arena, struct run_data, more->p->graph->n_in + 1);
    m->out = s->run->measured.out;
    for (uint32_t i = 0; i < more->p->graph->n_in; i++)
        more->in[i].n_bytes = s->run->job.in[i].n_bytes;
    TRY(generate_inputs(more, d));
    o->compare = COMPARE_LAYERS; /* a changed layer is an effect, whatever this run compares */
    compare_open(more, &s->more.results);
    return run_with_reference(more, m, &s->more.results,
                              ARENA_ARRAY(more->arena, struct run_data, more->p->graph->n_out + 1),
                              d);
}

enum status strength_try(struct run *run, const struct fault *fault, uint32_t n,
                         enum strength_found *found, struct diag *d)
{
    struct strength *s = ARENA_NEW(run->job.arena, struct strength);
    struct options further;
    bool differs = false;

    *s = (struct strength){.run = run, .n = n, .fault = fault, .found = found};
    TRY(more_inferences(s, &further, d));
    TRY(compile(s, d));
    s->want = ARENA_ARRAY(run->job.arena, struct hash128, run->job.n + s->more.job.n);
    TRY(all_of(s, run, NULL, NULL, s->want, &differs, d));
    TRY(all_of(s, &s->more, NULL, NULL, s->want + run->job.n, &differs, d));
    for (uint32_t i = 0; i < n; i++)
        TRY(run_fault(s, i, d));
    return ST_OK;
}

/* --- as text --- */

struct plan {
    const struct job *job;
    uint32_t n;
    struct fault fault[STRENGTH_FAULTS];
    enum strength_found found[STRENGTH_FAULTS];
};

static uint32_t count(const struct plan *p, uint32_t kind, enum strength_found found)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n; i++)
        n += (kind == FAULT_KINDS || p->fault[i].kind == kind) && p->found[i] == found;
    return n;
}

static void add_line(const struct plan *p, struct text *t, uint32_t kind, const char *name)
{
    const uint32_t nothing = count(p, kind, STRENGTH_NOTHING),
                   unread = count(p, kind, STRENGTH_UNREAD),
                   found = count(p, kind, STRENGTH_IN_RUN),
                   all = found + count(p, kind, STRENGTH_FURTHER);

    if (unread + nothing + all == 0)
        return;
    text_printf(t, "%-26s %8u %8u %10u %8u %8u", name, unread + nothing + all, unread, nothing, all,
                found);
    if (all)
        text_printf(t, " %7.1f%%\n", 100.0 * found / all);
    else
        text_add(t, "       -\n");
}

static void add_report(const struct plan *p, struct text *t)
{
    const uint32_t found = count(p, FAULT_KINDS, STRENGTH_IN_RUN);

    text_printf(t,
                "strength: %u of %u faults that change a compared byte are detected by this run "
                "(seed %llu)\n",
                found, found + count(p, FAULT_KINDS, STRENGTH_FURTHER),
                (unsigned long long)p->job->options->seed);
    text_printf(t, "%-26s %8s %8s %10s %8s %8s %8s\n", "fault", "planted", "unread", "no effect",
                "effect", "detected", "share");
    for (uint32_t kind = 0; kind < FAULT_KINDS; kind++)
        add_line(p, t, kind, fault_names[kind]);
    add_line(p, t, FAULT_KINDS, "all");
    for (uint32_t i = 0; p->job->options->verbose && i < p->n; i++)
        if (p->found[i] == STRENGTH_FURTHER)
            text_printf(t, "missed: %s\n",
                        fault_text(p->job->arena, p->job->p->emitted, &p->fault[i]));
}

enum status strength_check(const struct options *o, struct diag *d)
{
    if (o->engine == ENGINE_FUNC && o->host == HOST_NATIVE)
        return ST_OK;
    return FAIL(d, ST_USAGE,
                "--strength: found --engine=%s%s, expected --engine=func, on which its faults run",
                options_engines[o->engine], o->host == HOST_NATIVE ? "" : " with --host");
}

enum status strength_run(struct run *run, struct text *report, struct diag *d)
{
    struct plan *p = ARENA_NEW(run->job.arena, struct plan);
    struct fault *fault = ARENA_ARRAY(run->job.arena, struct fault, STRENGTH_FAULTS);
    enum strength_found found[STRENGTH_FAULTS];
    uint32_t n = 0;

    p->job = &run->job;
    p->n = fault_plan(run->job.arena, run->job.p->emitted, run->job.options->seed, STRENGTH_FAULTS,
                      p->fault);
    for (uint32_t i = 0; i < p->n; i++) {
        p->found[i] =
            fault_unread(run->job.p->emitted, &p->fault[i]) ? STRENGTH_UNREAD : STRENGTH_NOTHING;
        if (p->found[i] != STRENGTH_UNREAD)
            fault[n++] = p->fault[i];
    }
    TRY(strength_try(run, fault, n, found, d));
    n = 0;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->found[i] != STRENGTH_UNREAD)
            p->found[i] = found[n++];
    add_report(p, report);
    return ST_OK;
}
