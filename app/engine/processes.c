/* processes.c - the processes of a run: one child, which starts the other processes of -j, so that
 * the parent has one process to watch and kill. Each has its results in memory shared with the
 * parent; the sums do not depend on their number. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/job/shared.h"
#include "base/interrupt.h"
#include "child.h"
#include "core_targets.h"
#include "processes.h"
#include "progress.h"
#include "waves.h"

/* Return the number of processes: one if an inference continues from the state of the previous
 * one. */
static uint32_t how_many(const struct job *job)
{
    const struct ir_graph *g = job->p->graph;

    for (uint32_t i = 0; i < g->n_tensor && !job->options->reset_state; i++)
        if (g->tensor[i]->role == IR_VARIABLE)
            return 1;
    uint32_t most = job->n ? job->n : 1;
    return job->options->jobs < most ? job->options->jobs : most;
}

/* Leave a process that has finished its share; only its results count, not its exit code. */
static void leave(void)
{
    fflush(NULL);
    _exit(0);
}

/* Run the share of one process. Exhausted memory ends this process only. */
static void own_share(const struct job *job, struct run_measured *m, uint32_t process,
                      const char *so_path, const struct sim_model *sim)
{
    jmp_buf *handler = arena_handler(job->arena);

    interrupt_leave();
    if (handler && setjmp(*handler)) {
        struct run_shared *r = run_results(job, m, process);
        r->status = ST_NO_MEMORY;
        snprintf(r->message, sizeof r->message, "out of memory in the process that runs it");
        return;
    }
    child_run(job, m, process, so_path, sim);
}

static void wait_for(pid_t pid, int *state)
{
    while (pid > 0 && waitpid(pid, state, 0) < 0 && errno == EINTR)
        continue;
}

/* Run inferences for their records alone. A failure is left to the process that runs them again. */
static void fill(const struct job *job, const struct run_measured *to, const char *so_path,
                 const struct sim_model *sim)
{
    struct options o = *job->options;
    struct job alone = *job;
    struct run_measured m = {.n_process = 1};
    struct diag ignored = {0};

    o.fill_store = true;
    alone.options = &o;
    alone.watcher = NULL;
    if (o.reuse == REUSE_CYCLES) /* others have its cycles */
        alone.n = 1;
    run_outputs(&alone, &m);
    if (run_share(&alone, &m, &ignored) != ST_OK)
        return;
    own_share(&alone, &m, 0, so_path, sim);
    __atomic_fetch_add(&to->shared->reuse.filled,
                       m.shared->reuse.submissions - m.shared->reuse.stored -
                           m.shared->reuse.skipped,
                       __ATOMIC_RELAXED);
}

/* With -j more processes than inferences, or with inferences that take the same cycles: fill the
 * store by that number of processes, before the inferences run. */
static void fill_store(const struct job *job, const struct run_measured *m, const char *so_path,
                       const struct sim_model *sim)
{
    const uint32_t n = job->options->jobs;
    pid_t *const pid = ARENA_ARRAY(job->arena, pid_t, n);
    int ignored;

    if (n == 1 || job->options->reuse == REUSE_OFF || job->options->reuse == REUSE_CHECK ||
        (job->options->reuse == REUSE_SAME && m->n_process == n) || (m->cores && m->cores->n))
        return;
    for (uint32_t k = 0; k < n; k++) {
        pid[k] = fork();
        if (pid[k] == 0) {
            fill(job, m, so_path, sim);
            leave();
        }
    }
    for (uint32_t k = 0; k < n; k++)
        wait_for(pid[k], &ignored);
}

/* In the first child: start the others, run its share, wait for them. */
static void all_processes(const struct job *job, struct run_measured *m, const char *so_path,
                          const struct sim_model *sim)
{
    pid_t *pid = ARENA_ARRAY(job->arena, pid_t, m->n_process);

    fill_store(job, m, so_path, sim);
    for (uint32_t k = 1; k < m->n_process; k++) {
        pid[k] = fork();
        if (pid[k] == 0) {
            own_share(job, m, k, so_path, sim);
            leave();
        }
    }
    own_share(job, m, 0, so_path, sim);
    for (uint32_t k = 1; k < m->n_process; k++) {
        struct run_shared *r = run_results(job, m, k);
        int state = 0;
        wait_for(pid[k], &state);
        if (pid[k] < 0) {
            r->status = ST_NO_MEMORY;
            snprintf(r->message, sizeof r->message, "no child process could be started");
        }
        r->state = state;
    }
}

static enum status crashed(const struct job *job, const struct run_shared *r, struct diag *d)
{
    const struct ir_graph *g = job->p->graph;
    uint32_t layer = r->layer;
    const struct target *own = r->submission ? NULL : core_targets_outside(job, layer);

    if (own)
        return FAIL(d, ST_DEVICE,
                    "inference %u: the code of target %s crashed (%s) in %s; 'heddle check-target "
                    "%s' tests it alone",
                    r->inference, own->name,
                    WIFSIGNALED(r->state) ? strsignal(WTERMSIG(r->state)) : "exit",
                    g->row[layer].name, own->desc->origin);
    return FAIL(d, ST_INTERNAL, "inference %u: emitted code or its device crashed (%s) in %s %s",
                r->inference, WIFSIGNALED(r->state) ? strsignal(WTERMSIG(r->state)) : "exit",
                r->submission ? "the submission at" : "host operator",
                layer < g->n_row ? g->row[layer].name : "?");
}

/* Return the failure of the first inference that failed. */
static enum status first_failure(const struct job *job, const struct run_measured *m,
                                 struct diag *d)
{
    const struct run_shared *first = NULL;

    for (uint32_t k = 0; k < m->n_process; k++) {
        const struct run_shared *r = run_results(job, m, k);
        if ((r->state || r->status != ST_OK) && (!first || r->inference < first->inference))
            first = r;
    }
    if (!first)
        return ST_OK;
    return first->state ? crashed(job, first, d) : FAIL(d, first->status, "%s", first->message);
}

/* Merge into the first process's results. Time is that of the longest process, as they ran in
 * parallel. */
static void merge(const struct job *job, struct run_measured *m)
{
    struct run_shared *to = m->shared;

    for (uint32_t k = 1; k < m->n_process; k++) {
        const struct run_shared *r = run_results(job, m, k);
        to->inferences += r->inferences;
        to->cycles += r->cycles;
        to->submissions += r->submissions;
        to->read_bytes += r->read_bytes;
        to->write_bytes += r->write_bytes;
        to->fault_happened = to->fault_happened || r->fault_happened;
        if (to->fault_beats < r->fault_beats)
            to->fault_beats = r->fault_beats;
        to->sim_cycles += r->sim_cycles;
        to->reuse.submissions += r->reuse.submissions;
        to->reuse.stored += r->reuse.stored;
        to->reuse.skipped += r->reuse.skipped;
        to->host.total += r->host.total;
        to->host.operators += r->host.operators;
        to->host.driver += r->host.driver;
        to->host.waiting += r->host.waiting;
        to->host.accesses += r->host.accesses;
        for (uint32_t i = 0; i < sizeof to->host.split / sizeof *to->host.split; i++)
            to->host.split[i] += r->host.split[i];
        if (r->wall_seconds > to->wall_seconds)
            to->wall_seconds = r->wall_seconds;
        for (uint32_t i = 0; i < job->p->graph->n_row; i++) {
            struct run_row *sum = &to->row[i];
            sum->cycles += r->row[i].cycles;
            sum->compare.compared += r->row[i].compare.compared;
            sum->compare.wrong += r->row[i].compare.wrong;
            sum->array_cycles += r->row[i].array_cycles;
            sum->host_cycles += r->row[i].host_cycles;
            sum->driver_cycles += r->row[i].driver_cycles;
            sum->vector_cycles += r->row[i].vector_cycles;
            sum->read_bytes += r->row[i].read_bytes;
            sum->write_bytes += r->row[i].write_bytes;
            for (uint32_t u = 0; u < HD_SIM_UNITS; u++)
                for (uint32_t n = 0; n < HD_SIM_KINDS; n++)
                    sum->counter[u][n] += r->row[i].counter[u][n];
            for (uint32_t u = 0; u < TARGET_MAX; u++)
                for (uint32_t n = 0; n < HD_SIM_COUNTERS; n++)
                    sum->core_counter[u][n] += r->row[i].core_counter[u][n];
        }
    }
}

enum status run_engine(const struct job *job, struct run_measured *m, const char *so_path,
                       struct diag *d)
{
    const struct sched_program *program = job->p->program;
    struct sim_model sim[SCHED_MAX_DEVICES] = {{0}};

    TRY(device_check_reuse(job->options, d));
    for (uint32_t k = 0; k < program->n_device; k++)
        if (job->options->engine == ENGINE_RTL && program->n_stream)
            TRY(device_model(job->arena, job->options, program->device[k].hw, &sim[k], d));
    if (job->options->engine == ENGINE_RTL) {
        if (!m->cores) {
            m->cores = ARENA_NEW(job->arena, struct core_targets);
            core_targets_find(job, m->cores);
        }
        TRY(core_targets_build(job, m->cores, d));
        waves_note(job, m->cores);
    }
    m->n_process = how_many(job);
    TRY(run_share(job, m, d));
    fflush(NULL);
    waves_partial(job, true);
    pid_t pid = fork();
    if (pid < 0)
        return FAIL(d, ST_NO_MEMORY, "no child process could be started");
    if (pid == 0) {
        all_processes(job, m, so_path, sim);
        leave();
    }
    m->shared->state = run_watch(job, m, pid);
    waves_partial(job, false);
    TRY(first_failure(job, m, d));
    merge(job, m);
    return device_want_fault(job->options, m->shared, d);
}
