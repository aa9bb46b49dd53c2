/* tune.c - run the trials. Trial 0 has compile's choice without tuning. The others come in
 * generations: each trial depends only on the trials of earlier generations and on its number. The
 * results thus depend neither on -j nor on interruptions. One process per trial proposes, builds,
 * measures and verifies; only this process writes the file. */
#define _GNU_SOURCE
#include "tune.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/compare/expected.h"
#include "app/engine/device.h"
#include "app/inputs/inputs.h"
#include "app/job/job.h"
#include "app/job/monotonic.h"
#include "app/job/pool.h"
#include "app/run/answer.h"
#include "base/home.h"
#include "base/interrupt.h"
#include "measure.h"
#include "propose.h"
#include "sim/build/evict.h"

enum { GENERATION = 8, MAX_ATTRS = 64 };

/* The report of a process, in memory shared with this one. */
struct slot {
    uint32_t number;
    enum status status;
    bool nothing_new; /* no unmeasured knobs were found */
    char message[4096];
    struct measured m;
    int64_t value[MAX_ATTRS];
    struct sched_knobs knobs[];
};

struct tune {
    struct arena *arena;
    const struct options *o;
    struct options run; /* options with which trials are measured */
    struct pipeline p;
    struct job job;
    struct run_measured measured;
    struct store *store;
    int64_t id;
    struct knob_shape shape;
    uint32_t n_trial;          /* at least o->trials */
    struct store_trial *trial; /* by number; knobs NULL: not measured */
    const char *folder;
    struct pool *pool;
    uint32_t now; /* trials measured in this run */
    double begun;
};

/* --- one trial, in its own process ------------------------------------------------------------ */

/* Collect the trials of the generations before that of `number`. */
static uint32_t before(const struct tune *t, uint32_t number, struct store_trial *to)
{
    uint32_t first = number ? (number - 1) / GENERATION * GENERATION + 1 : 0, n = 0;

    for (uint32_t i = 0; i < first; i++)
        if (t->trial[i].knobs)
            to[n++] = t->trial[i];
    return n;
}

static const struct store_trial *fastest(const struct store_trial *trial, uint32_t n)
{
    const struct store_trial *best = trial;

    for (uint32_t i = 1; i < n; i++)
        best = trial[i].cycles < best->cycles ? &trial[i] : best;
    return best;
}

/* Propose knobs of external targets in addition to the fastest trial's knobs of operators: those of
 * their native code, otherwise random steps. */
static enum status propose_values(struct tune *t, const struct store_trial *known, uint32_t n,
                                  struct store_trial *to, bool *new, struct diag *d)
{
    const int64_t **value = ARENA_ARRAY(t->arena, const int64_t *, n + 1u);
    uint64_t *cycles = ARENA_ARRAY(t->arena, uint64_t, n + 1u);
    uint64_t random = 0x9e3779b97f4a7c15u * (to->number + 1u);
    bool any;

    for (uint32_t i = 0; i < n; i++) {
        value[i] = known[i].value;
        cycles[i] = known[i].cycles;
    }
    TRY(tune_attrs_ask(&t->p, &t->shape.attrs, to->number, value, cycles, n, to->value, &any, d));
    *new = (any && tune_attrs_new(&t->shape.attrs, value, n, to->value)) ||
           tune_attrs_propose(&t->shape.attrs, value, n, &random, to->value);
    return ST_OK;
}

/* Return true if operators have knobs. */
static bool has_operators(const struct tune *t)
{
    bool any = t->p.program->n_stream > 0;

    for (uint32_t i = 0; i < t->shape.n_op; i++)
        any = any || t->shape.most[i].band;
    return any;
}

/* Propose knobs and values for trial to->number. *new false: nothing is left to try. */
static enum status propose(struct tune *t, struct store_trial *to, bool *new, struct diag *d)
{
    const uint32_t n_op = t->p.graph->n_op, n_attr = t->shape.attrs.n;
    const struct tune_space space = tune_space_of(&t->p, t->o, t->shape.most);
    struct store_trial *known = ARENA_ARRAY(t->arena, struct store_trial, to->number + 1u);
    uint32_t n = before(t, to->number, known);

    if (to->number == 0) {
        memcpy(to->knobs, t->p.program->knobs, n_op * sizeof *to->knobs);
        to->value = tune_attrs_values(&t->p, &t->shape.attrs);
        *new = true;
        return ST_OK;
    }
    memcpy(to->knobs, fastest(known, n)->knobs, n_op * sizeof *to->knobs);
    memcpy(to->value, fastest(known, n)->value, n_attr * sizeof *to->value);
    const bool operators = has_operators(t);
    *new = false;
    if (n_attr > 0 && (!operators || to->number % 2))
        TRY(propose_values(t, known, n, to, new, d));
    *new = *new || (operators && tune_propose(&space, known, n, to->number, to->knobs));
    return ST_OK;
}

static enum status one_trial(struct tune *t, struct slot *s, struct diag *d)
{
    struct store_trial to = {.number = s->number};

    to.knobs = ARENA_ARRAY(t->arena, struct sched_knobs, t->p.graph->n_op + 1);
    to.value = ARENA_ARRAY(t->arena, int64_t, t->shape.attrs.n + 1);
    bool new;
    TRY(propose(t, &to, &new, d));
    if (!new) {
        s->nothing_new = true;
        return ST_OK;
    }
    memcpy(s->knobs, to.knobs, t->p.graph->n_op * sizeof *s->knobs);
    memcpy(s->value, to.value, t->shape.attrs.n * sizeof *s->value);
    return tune_measure(&t->job, &t->measured, &t->shape, &to,
                        arena_printf(t->arena, "%s/%u", t->folder, s->number), &s->m, d);
}

static void child(void *ctx, void *slot)
{
    struct slot *s = slot;
    struct diag d = {0};

    s->status = one_trial(ctx, s, &d);
    snprintf(s->message, sizeof s->message, "%s", d.text);
}

/* --- the processes ---------------------------------------------------------------------------- */

static uint32_t best_of(const struct tune *t)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < t->n_trial; i++)
        if (t->trial[i].knobs && t->trial[i].cycles < t->trial[best].cycles)
            best = i;
    return best;
}

static void progress(const struct tune *t, uint32_t number, bool better)
{
    const struct store_trial *s = &t->trial[number], *best = &t->trial[best_of(t)];

    if (better)
        output_printf(t->o->output, OUTPUT_RESULT, "trial %u: %llu cycles, estimate %llu\n", number,
                      (unsigned long long)s->cycles, (unsigned long long)s->estimate);
    output_printf(t->o->output, OUTPUT_PROGRESS,
                  "%u trials measured, best of %u: %llu cycles, %.0f s", t->now, t->o->trials,
                  (unsigned long long)best->cycles, monotonic_seconds() - t->begun);
}

/* Store the result of the process in slot `s`, which ended in `state`. */
static enum status finish(struct tune *t, struct slot *s, int state, struct diag *d)
{
    const uint32_t n_op = t->p.graph->n_op;

    evict_tree(arena_printf(t->arena, "%s/%u", t->folder, s->number));
    if (state != 0)
        return FAIL(d, ST_INTERNAL, "trial %u: its process crashed (%s)", s->number,
                    WIFSIGNALED(state) ? strsignal(WTERMSIG(state)) : "exit");
    if (s->status != ST_OK)
        return FAIL(d, s->status, "trial %u: %s", s->number, s->message);
    if (s->nothing_new)
        return ST_OK;
    uint64_t best = s->number ? t->trial[best_of(t)].cycles : UINT64_MAX;
    t->trial[s->number] =
        (struct store_trial){.number = s->number,
                             .estimate = s->m.estimate,
                             .cycles = s->m.cycles,
                             .knobs = arena_memdup(t->arena, s->knobs, n_op * sizeof *s->knobs),
                             .value = arena_memdup(t->arena, s->value, sizeof s->value)};
    t->now++;
    TRY(store_add(t->store, t->id, &t->trial[s->number], &t->shape, d));
    progress(t, s->number, s->m.cycles < best);
    return ST_OK;
}

/* Wait for one process and store its result; *any: false if none runs. */
static enum status wait_one(struct tune *t, bool *any, struct diag *d)
{
    void *slot;
    int state;

    TRY(pool_wait(t->pool, &slot, &state, d));
    *any = slot != NULL;
    return slot ? finish(t, slot, state, d) : ST_OK;
}

static bool time_left(const struct tune *t)
{
    return t->o->seconds == 0 || monotonic_seconds() - t->begun < t->o->seconds;
}

/* Run the missing trials of [from, to); *complete: all were done. */
static enum status generation(struct tune *t, uint32_t from, uint32_t to, bool *complete,
                              struct diag *d)
{
    bool any = true;

    *complete = true;
    for (uint32_t i = from; i < to; i++) {
        if (t->trial[i].knobs)
            continue;
        if (!time_left(t)) {
            *complete = false;
            break;
        }
        struct slot *s = pool_slot(t->pool);
        if (!s) {
            TRY(wait_one(t, &any, d));
            s = pool_slot(t->pool);
        }
        s->number = i;
        TRY(pool_start(t->pool, s, child, t, d));
    }
    while (any)
        TRY(wait_one(t, &any, d));
    return ST_OK;
}

static enum status all_trials(struct tune *t, struct diag *d)
{
    bool more = true;

    TRY(generation(t, 0, 1, &more, d));
    for (uint32_t i = 1; i < t->o->trials && more; i += GENERATION) {
        uint32_t end = i + GENERATION;
        TRY(generation(t, i, end < t->o->trials ? end : t->o->trials, &more, d));
    }
    return ST_OK;
}

/* --- set-up and end --------------------------------------------------------------------------- */

/* Prepare what every trial needs: network, reference answer, and the Verilated model. */
static enum status set_up(struct tune *t, struct diag *d)
{
    const char *name;
    struct sim_model sim;
    const struct sched_program *program;

    t->run = *t->o;
    t->run.output = NULL; /* hide the progress of single inferences */
    t->run.tuned = NULL;
    t->run.jobs = 1;
    t->run.stall_seed = 0;
    t->job.options = &t->run;
    t->job.p = &t->p;
    t->job.arena = t->arena;
    t->p.arena = t->arena;
    TRY(run_find_model(t->arena, t->o, &t->job, &name, d));
    t->p.options = options_pipeline(&t->run);
    TRY(pipeline_front(&t->p, t->job.model_path, name, d));
    t->run.inferences = 1;
    TRY(run_inputs(&t->job, d));
    run_outputs(&t->job, &t->measured);
    t->job.n = 1;
    TRY(pipeline_back(&t->p, d));
    t->shape = knob_shape_of(&t->p);
    if (!has_operators(t) && t->shape.attrs.n == 0)
        return FAIL(d, ST_USAGE,
                    "tune: nothing of %s runs on an accelerator with knobs that can be measured",
                    name);
    if (t->shape.attrs.n > MAX_ATTRS)
        return FAIL(d, ST_USAGE, "tune: the targets have %u knobs, at most %d can be tuned",
                    t->shape.attrs.n, MAX_ATTRS);
    TRY(run_trusted(&t->job, d));
    t->job.expected = ARENA_ARRAY(t->arena, struct run_data, t->p.graph->n_out + 1);
    struct run_results unused = {0};
    TRY(run_with_reference(&t->job, &t->measured, &unused, t->job.expected, d));
    program = t->p.program;
    for (uint32_t k = 0; k < program->n_device && program->n_stream;
         k++) /* once, instead of in each trial's process */
        TRY(device_model(t->arena, &t->run, program->device[k].hw, &sim, d));
    return ST_OK;
}

/* Read the measurements of an earlier run. */
static enum status resume(struct tune *t, struct diag *d)
{
    struct tune_key key;
    struct store_trial *old;
    uint32_t n;

    TRY(tune_key_of(&t->p, t->o, &key, d));
    TRY(store_make(t->store, &key, t->p.graph->name, t->p.hw.name, &t->id, d));
    TRY(store_trials(t->store, t->id, &t->shape, &old, &n, d)); /* by number */
    t->n_trial = n && old[n - 1].number >= t->o->trials ? old[n - 1].number + 1 : t->o->trials;
    t->trial = ARENA_ARRAY(t->arena, struct store_trial, (size_t)t->n_trial + 1);
    for (uint32_t i = 0; i < n; i++)
        t->trial[old[i].number] = old[i];
    if (n)
        output_printf(t->o->output, OUTPUT_RESULT, "%s has %u trials of %s on %s: continuing\n",
                      t->o->tuned, n, t->p.graph->name, t->p.hw.name);
    return ST_OK;
}

/* Remove folders of runs that were killed. */
static void sweep(struct arena *a, const char *cache)
{
    glob_t found = {0};
    if (glob(arena_printf(a, "%s/tune.*", cache), 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            long pid = strtol(strrchr(found.gl_pathv[i], '.') + 1, NULL, 10);
            if (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH)
                evict_tree(found.gl_pathv[i]);
        }
    globfree(&found);
}

static enum status set_up_trials(struct tune *t, struct diag *d)
{
    const char *cache;

    TRY(pool_new(t->arena, t->o->jobs,
                 sizeof(struct slot) + t->p.graph->n_op * sizeof(struct sched_knobs), &t->pool, d));
    TRY(home_cache(t->arena, &cache, d));
    sweep(t->arena, cache);
    t->folder = arena_printf(t->arena, "%s/tune.%ld-%ld", cache, (long)getpid(), (long)gettid());
    interrupt_folder(t->folder);
    return ST_OK;
}

static void summary(const struct tune *t)
{
    const struct store_trial *first = &t->trial[0], *best = &t->trial[best_of(t)];

    output_text(t->o->output, OUTPUT_PROGRESS, "");
    if (!first->knobs) {
        output_printf(t->o->output, OUTPUT_RESULT, "%s on %s: no time for a trial\n",
                      t->p.graph->name, t->p.hw.name);
        return;
    }
    output_printf(
        t->o->output, OUTPUT_RESULT,
        "%s on %s: %llu cycles before, %llu after (%+.2f %%, trial %u); %u trials measured in "
        "%.0f s, each verified\n",
        t->p.graph->name, t->p.hw.name, (unsigned long long)first->cycles,
        (unsigned long long)best->cycles, 100 * ((double)best->cycles / (double)first->cycles - 1),
        best->number, t->now, monotonic_seconds() - t->begun);
}

static enum status tune_all(struct tune *t, struct diag *d)
{
    TRY(resume(t, d));
    TRY(set_up_trials(t, d));
    enum status st = all_trials(t, d);
    pool_stop(t->pool);
    evict_tree(t->folder);
    interrupt_folder(NULL);
    if (st == ST_OK)
        summary(t);
    return st;
}

enum status tune_command(struct arena *a, const struct options *o, struct diag *d)
{
    struct tune *t = ARENA_NEW(a, struct tune);

    if (!o->tuned)
        return FAIL(d, ST_USAGE, "tune: no file for the results; expected --tuned=FILE");
    if (o->engine != ENGINE_RTL)
        return FAIL(d, ST_USAGE, "tune: measures on the RTL; expected --engine=rtl");
    t->arena = a;
    t->o = o;
    t->begun = monotonic_seconds();
    enum status st = store_open(a, o->tuned, STORE_WRITE, &t->store, d);
    if (st == ST_OK)
        st = set_up(t, d);
    if (st == ST_OK)
        st = tune_all(t, d);
    store_close(t->store);
    return st;
}
