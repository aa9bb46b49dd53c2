/* child.c - all inferences of a run in a child process: load the emitted object, open the device,
 * call run(). Results go through memory shared with the parent; the layer being executed stands
 * there too, so that a crash of emitted code is told with the operator's name. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/interrupt.h"
#include "cores.h"
#include "player.h"
#include "waves.h"

struct child {
    struct run_job *job;
    struct run_shared *shared;
    struct player play;
    bool pending; /* pending: a submission's times are not collected yet */
    uint32_t inference;
    struct waves waves;
    struct diag d;
};

/* Rows of the submission just ended. */
static void add_rows(struct child *c)
{
    const struct hd_sim_row *from;
    uint32_t n = c->play.v.sim.api->rows(c->play.v.sim.sim, &from);
    for (uint32_t i = 0; i < n; i++) {
        if (from[i].layer >= c->job->p->graph->n_row)
            continue;
        struct run_row *to = &c->shared->row[from[i].layer];
        to->cycles += from[i].cycles;
        to->read_bytes += from[i].read_bytes;
        to->write_bytes += from[i].write_bytes;
        for (uint32_t u = 0; u < HD_SIM_UNITS; u++)
            for (uint32_t k = 0; k < HD_SIM_KINDS; k++)
                to->counter[u][k] += from[i].counter[u][k];
    }
}

static void read_counters(struct child *c)
{
    for (uint32_t i = 0; i < HD_SIM_UNITS * HD_SIM_KINDS; i++)
        c->shared->counter[i] += c->play.v.port.read32(c->play.v.port.ctx, HD_REG_COUNTER(i));
}

static void collect(struct child *c)
{
    if (!c->pending)
        return;
    c->pending = false;
    c->shared->cycles += c->play.v.dev.cycles;
    if (c->play.v.engine != ENGINE_RTL)
        return;
    add_rows(c);
    waves_submission_end(&c->waves);
    if (c->inference == 0)
        read_counters(c);
}

/* What the cores of other targets did in the row that ends. */
static void collect_cores(struct child *c)
{
    if (c->play.call.ports && c->shared->layer < c->job->p->graph->n_row)
        cores_collect(c->job->cores, c->shared, c->shared->layer);
}

static void enter(void *ctx, uint32_t layer, uint32_t submission)
{
    struct child *c = ctx;
    collect(c);
    collect_cores(c);
    c->shared->layer = c->shared->working = layer;
    c->shared->submission = submission;
    c->pending = submission && c->play.has_device;
    if (c->pending && c->play.v.engine == ENGINE_RTL)
        waves_submission(&c->waves, layer);
}

/* For the progress line: the layer of the command started last. */
static void look(void *ctx)
{
    struct child *c = ctx;
    const struct hd_sim_command *cmd;
    uint32_t n = c->play.v.sim.api->commands(c->play.v.sim.sim, &cmd);
    uint64_t latest = 0;
    for (uint32_t i = 0; i < n; i++)
        if (cmd[i].unit != HD_UNIT_FETCH && cmd[i].done == 0 && cmd[i].start > latest) {
            latest = cmd[i].start;
            c->shared->working = cmd[i].layer;
        }
}

static enum status set_up(struct child *c, const char *so_path, const struct sim_model *sim)
{
    TRY(player_open(&c->play, c->job, c->job->options->engine, so_path, sim, enter, c, &c->d));
    if (isatty(STDERR_FILENO) && c->play.v.sim.sim) {
        c->play.v.sim.look = look;
        c->play.v.sim.look_ctx = c;
    }
    return waves_open(&c->waves, c->job, &c->play.v, c->play.has_device, &c->d);
}

static const char *row_name(const struct child *c)
{
    return c->shared->layer < c->play.model->n_layers ? c->play.model->layer_names[c->shared->layer]
                                                      : "?";
}

/* The C function of a target from outside returned an error. */
static enum status target_failure(struct child *c, int rc)
{
    const char *detail = c->play.call.ports ? cores_detail(c->job->cores) : "";
    return FAIL(&c->d, ST_DEVICE, "inference %u, %s on %s: %s%s%s", c->inference, row_name(c),
                c->job->p->graph->row[c->shared->layer].target, hd_error_text(rc),
                *detail ? "; " : "", detail);
}

static enum status device_failure(struct child *c, int rc)
{
    if (!c->shared->submission)
        return target_failure(c, rc);
    char text[1024];
    const char *detail = c->play.has_device && (rc == HD_ERROR_STUCK || rc == HD_ERROR_FAULT)
                             ? device_detail(&c->play.v)
                             : "";
    hd_describe(&c->play.v.dev, rc, NULL, 0, c->play.model->layer_names, c->play.model->n_layers,
                text, sizeof text);
    return FAIL(&c->d, ST_DEVICE, "inference %u, submission at %s: %s%s%s", c->inference,
                row_name(c), text, *detail ? "; " : "", detail);
}

static enum status infer(struct child *c)
{
    struct run_job *job = c->job;
    const struct hd_model *m = c->play.model;
    int rc = player_infer(&c->play, c->inference);
    if (rc != HD_OK)
        return device_failure(c, rc);
    collect(c);
    collect_cores(c);
    waves_inference_end(&c->waves);
    for (uint32_t i = 0; i < m->n_outputs; i++)
        memcpy(job->out[i].bytes + c->inference * job->out[i].n_bytes, c->play.call.out[i],
               job->out[i].n_bytes);
    c->shared->inferences = c->inference + 1;
    return ST_OK;
}

static void totals(struct child *c)
{
    struct hd_sim_totals t = {0};
    if (c->job->options->engine != ENGINE_RTL || !(c->play.has_device || c->play.call.ports))
        return;
    if (c->play.has_device)
        c->play.v.sim.api->totals(c->play.v.sim.sim, &t);
    c->shared->read_bytes = t.read_bytes + c->shared->core_read_bytes;
    c->shared->write_bytes = t.write_bytes + c->shared->core_write_bytes;
    c->shared->sim_cycles = t.cycles + c->shared->core_cycles;
    if (!c->play.call.ports)
        c->shared->wall_seconds = t.wall_seconds;
}

static enum status all_inferences(struct child *c)
{
    for (c->inference = 0; c->inference < c->job->n; c->inference++)
        TRY(infer(c));
    return ST_OK;
}

/* Waves are closed also after a failure: that is when they are wanted most. */
static enum status child_main(struct child *c, const char *so_path, const struct sim_model *sim)
{
    TRY(set_up(c, so_path, sim));
    double start = run_now();
    enum status st = all_inferences(c);
    c->shared->wall_seconds = run_now() - start;
    totals(c);
    waves_submission_end(&c->waves);
    enum status waves = waves_close(&c->waves, c->shared, &c->d);
    device_close(&c->play.v);
    if (c->play.call.ports)
        cores_close(c->job->cores);
    return st != ST_OK ? st : waves;
}

static void *share(size_t n)
{
    void *p = mmap(NULL, n ? n : 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static enum status share_results(struct run_job *job, struct diag *d)
{
    const struct ir_graph *g = job->p->graph;
    job->shared = share(sizeof *job->shared + g->n_row * sizeof(struct run_row));
    for (uint32_t i = 0; i < g->n_out; i++)
        if (!(job->out[i].bytes = share(job->out[i].n_bytes * job->n)))
            return FAIL(d, ST_NO_MEMORY, "no memory for %u inferences of output %u", job->n, i);
    return job->shared ? ST_OK : FAIL(d, ST_NO_MEMORY, "no memory to share with the child process");
}

static enum status crashed(const struct run_job *job, int state, struct diag *d)
{
    const struct ir_graph *g = job->p->graph;
    uint32_t layer = job->shared->layer;
    return FAIL(d, ST_INTERNAL, "inference %u: emitted code or its device crashed (%s) in %s %s",
                job->shared->inferences, WIFSIGNALED(state) ? strsignal(WTERMSIG(state)) : "exit",
                job->shared->submission ? "the submission at" : "host operator",
                layer < g->n_row ? g->row[layer].name : "?");
}

enum status run_engine(struct run_job *job, const char *so_path, struct diag *d)
{
    struct sim_model sim = {0};
    struct arena *a = job->p->arena;
    if (job->options->engine == ENGINE_RTL && job->p->program->n_stream)
        TRY(device_model(a, job->options, &job->p->hw, &sim, d));
    if (job->options->engine == ENGINE_RTL) {
        job->cores = ARENA_NEW(a, struct cores);
        TRY(cores_build(job, job->cores, d));
    }
    TRY(share_results(job, d));
    fflush(NULL);
    waves_partial(job, true);
    pid_t pid = fork();
    if (pid < 0)
        return FAIL(d, ST_NO_MEMORY, "no child process could be started");
    if (pid == 0) {
        interrupt_leave();
        struct child *c = ARENA_NEW(a, struct child);
        c->job = job;
        c->shared = job->shared;
        c->shared->status = child_main(c, so_path, &sim);
        snprintf(c->shared->message, sizeof c->shared->message, "%s", c->d.text);
        fflush(NULL);
        _exit(0);
    }
    int state = run_watch(job, pid);
    waves_partial(job, false);
    if (!WIFEXITED(state) || WEXITSTATUS(state) != 0)
        return crashed(job, state, d);
    if (job->shared->status != ST_OK)
        return FAIL(d, job->shared->status, "%s", job->shared->message);
    return ST_OK;
}
