/* child.c - run the inferences of one process: load the emitted object, open the device, call
 * run(). Results go through memory shared with the parent. The layer being executed is there too,
 * so that a crash of emitted code is reported with the operator's name. */
#define _GNU_SOURCE
#include "child.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/job/monotonic.h"
#include "app/job/shared.h"
#include "board_job.h"
#include "core_targets.h"
#include "hang.h"
#include "runner.h"
#include "watcher.h"
#include "waves.h"

struct child {
    const struct job *job;
    struct run_measured *to;
    struct run_shared *shared;
    struct runner play;
    struct device *v; /* the device of the last submission, or the first; NULL if there is none */
    bool pending;     /* the times of a submission are not yet collected */
    uint32_t process, inference;
    uint32_t n_time; /* number of commands with recorded times */
    struct waves waves;
    struct diag d;
};

/* Add the rows of the submission that has just ended. */
static void add_rows(struct child *c)
{
    const struct hd_sim_row *from;
    uint32_t n = c->v->sim.api->rows(c->v->sim.sim, &from);

    run_add_rows(c->job, c->shared, from, n);
}

static void read_counters(struct child *c)
{
    for (uint32_t i = 0; i < HD_SIM_UNITS * HD_SIM_KINDS; i++)
        c->shared->counter[i] += c->v->port.read32(c->v->port.ctx, HD_REG_COUNTER(i));
}

static void collect(struct child *c)
{
    if (!c->pending)
        return;
    c->pending = false;
    c->shared->cycles += c->v->dev.cycles;
    if (c->v->engine != ENGINE_RTL)
        return;
    add_rows(c);
    if (c->inference == 0 && c->to->times)
        run_add_times(c->job, c->to, &c->n_time, c->v->sim.api, c->v->sim.sim);
    waves_submission_end(&c->waves);
    if (c->inference == 0)
        read_counters(c);
}

/* Add the cores' work during the row that ends. */
static void collect_cores(struct child *c)
{
    if (c->play.call.ports && c->shared->layer < c->job->p->graph->n_row)
        core_targets_collect(c->to->cores, c->shared, c->shared->layer);
}

static const char *row_name(const struct child *c)
{
    return c->shared->layer < c->play.model->n_layers ? c->play.model->layer_names[c->shared->layer]
                                                      : "?";
}

enum { HANG_SECONDS = 60 }; /* unless --seconds specifies otherwise */

/* Watch a call. An external target's code may never return. */
static void watch(struct child *c, uint32_t layer)
{
    const struct options *o = c->job->options;
    const struct target *own = core_targets_outside(c->job, layer);

    if (c->pending || !own) {
        hang_end();
        return;
    }
    hang_begin(c->shared, c->play.call.ports ? c->to->cores : NULL, row_name(c), own->name,
               o->seconds ? o->seconds : HANG_SECONDS);
}

static void enter(void *ctx, uint32_t layer, uint32_t submission)
{
    struct child *c = ctx;

    collect(c);
    collect_cores(c);
    if (c->job->watcher)
        c->job->watcher->enter(c->job->watcher->ctx, submission);
    c->shared->layer = c->shared->working = layer;
    c->shared->submission = submission;
    c->pending = submission && submission <= c->play.n_device;
    c->v = c->pending ? &c->play.v[submission - 1] : c->v;
    if (c->pending && c->v->engine == ENGINE_RTL && c->v == c->waves.v)
        waves_submission(&c->waves, layer);
    waves_call(&c->waves, layer);
    watch(c, layer);
}

/* Record the layer of the last command started, for the progress line. */
static void look(void *ctx)
{
    struct child *c = ctx;
    const struct hd_sim_command *cmd;
    uint32_t n = c->v->sim.api->commands(c->v->sim.sim, &cmd);
    uint64_t latest = 0;

    for (uint32_t i = 0; i < n; i++)
        if (cmd[i].unit != HD_UNIT_FETCH && cmd[i].done == 0 && cmd[i].start > latest) {
            latest = cmd[i].start;
            c->shared->working = cmd[i].layer;
        }
}

static enum status set_up(struct child *c, const char *so_path, const struct sim_model *sim)
{
    const struct runner_setup setup = {c->job, c->to->cores, c->job->options->engine, so_path};

    TRY(runner_open(&c->play, &setup, sim, enter, c, &c->d));
    c->v = c->play.n_device ? &c->play.v[0] : NULL;
    if (c->job->watcher)
        c->job->watcher->attach(c->job->watcher->ctx, &c->play, c->shared);
    for (uint32_t k = 0; k < c->play.n_device; k++)
        if (output_wants(c->job->options->output, OUTPUT_PROGRESS) && c->play.v[k].sim.sim &&
            c->process == 0) {
            c->play.v[k].sim.look = look;
            c->play.v[k].sim.look_ctx = c;
        }
    if (c->process != 0)
        return ST_OK;
    if (c->play.call.ports)
        core_targets_note(c->to->cores, c->job->options);
    return waves_open(&c->waves, c->job, c->to->cores, c->play.v, c->play.n_device, &c->d);
}

/* Report that the C function of an external target returned an error. The core itself says whether it
 * hangs or did something wrong. */
static enum status target_failure(struct child *c, int rc)
{
    const char *detail = c->play.call.ports ? core_targets_detail(c->to->cores) : "";
    const struct target *own = core_targets_outside(c->job, c->shared->layer);

    const char *const what = rc == HD_ERROR_STUCK && *detail ? "" : hd_error_text(rc);

    const char *const limit =
        rc == HD_ERROR_TIMEOUT
            ? arena_printf(c->job->arena, ": its own limit, or the %llu of --max-cycles",
                           (unsigned long long)c->job->options->max_cycles)
            : "";

    return FAIL(&c->d, ST_DEVICE, "inference %u, %s on %s: %s%s%s%s", c->inference, row_name(c),
                own ? own->name : "c", what, limit, *what && *detail ? "; " : "", detail);
}

static enum status device_failure(struct child *c, int rc)
{
    if (!c->shared->submission)
        return target_failure(c, rc);
    char text[1024];
    const char *detail =
        c->v && (rc == HD_ERROR_STUCK || rc == HD_ERROR_FAULT) ? device_detail(c->v) : "";
    hd_describe(&c->v->dev, rc, NULL, 0, c->play.model->layer_names, c->play.model->n_layers, text,
                sizeof text);
    return FAIL(&c->d, ST_DEVICE, "inference %u, submission at %s: %s%s%s", c->inference,
                row_name(c), text, *detail ? "; " : "", detail);
}

/* Seed random stalls, so that those of an inference do not depend on earlier ones of this
 * process. */
static void seed_stalls(struct child *c)
{
    uint64_t seed = c->job->options->stall_seed;

    if (seed == 0 || c->job->options->engine != ENGINE_RTL)
        return;
    for (uint32_t k = 0; k < c->play.n_device; k++)
        c->play.v[k].sim.api->seed(c->play.v[k].sim.sim, seed + c->inference);
    if (c->play.call.ports)
        core_targets_seed(c->to->cores, seed + c->inference);
}

static enum status infer(struct child *c)
{
    const struct job *job = c->job;
    const struct hd_model *m = c->play.model;

    c->shared->inference = c->inference;
    if (job->watcher)
        TRY(job->watcher->begin(job->watcher->ctx, c->inference, &c->d));
    seed_stalls(c);
    int rc = runner_infer(&c->play, c->inference);
    hang_end();
    if (rc != HD_OK)
        return device_failure(c, rc);
    if (c->play.call.ports && *core_targets_detail(c->to->cores)) /* after its last wait */
        return target_failure(c, HD_ERROR_STUCK);
    collect(c);
    collect_cores(c);
    waves_inference_end(&c->waves);
    if (job->watcher)
        job->watcher->end(job->watcher->ctx);
    for (uint32_t i = 0; i < m->n_outputs; i++)
        memcpy(c->to->out[i].bytes + c->inference * c->to->out[i].n_bytes, c->play.call.out[i],
               c->to->out[i].n_bytes);
    if (job->feeder)
        job->feeder->next(job->feeder->ctx, c->inference, c->play.call.out[0]);
    c->shared->inferences++;
    return ST_OK;
}

/* Count what came from the store. A record that was simulated again must have the same cycles. */
static enum status count_reuse(struct child *c)
{
    struct reuse_counts *const sum = &c->shared->reuse;

    for (uint32_t k = 0; k < c->play.n_device; k++) {
        const struct reuse *const r = c->play.v[k].reuse;
        const struct reuse_counts n = r ? reuse_counts(r) : (struct reuse_counts){0};
        sum->submissions += n.submissions;
        sum->stored += n.stored;
        sum->skipped += n.skipped;
        if (n.off)
            return FAIL(&c->d, ST_INTERNAL,
                        "--reuse=check: %u submissions took other cycles than those stored; cycles "
                        "depend on data",
                        n.off);
    }
    return ST_OK;
}

static void totals(struct child *c)
{
    struct run_shared *r = c->shared;
    double wall_seconds = 0;

    if (c->job->options->engine != ENGINE_RTL || !(c->play.n_device || c->play.call.ports))
        return;
    r->read_bytes = r->core_read_bytes;
    r->write_bytes = r->core_write_bytes;
    r->sim_cycles = r->core_cycles;
    for (uint32_t k = 0; k < c->play.n_device; k++) {
        struct hd_sim_totals t = {0};
        c->play.v[k].sim.api->totals(c->play.v[k].sim.sim, &t);
        device_note_fault(&c->play.v[k], c->play.v[k].hw, &t, r);
        r->read_bytes += t.read_bytes;
        r->write_bytes += t.write_bytes;
        r->sim_cycles += t.cycles;
        wall_seconds += t.wall_seconds;
    }
    if (!c->play.call.ports)
        r->wall_seconds = wall_seconds;
}

static enum status all_inferences(struct child *c)
{
    for (c->inference = c->process; c->inference < c->job->n; c->inference += c->to->n_process)
        TRY(infer(c));
    return ST_OK;
}

/* Close waves also after a failure, when they are needed most. */
static enum status child_main(struct child *c, const char *so_path, const struct sim_model *sim)
{
    TRY(set_up(c, so_path, sim));
    double start = monotonic_seconds();
    enum status st = all_inferences(c);
    c->shared->wall_seconds = monotonic_seconds() - start;
    totals(c);
    waves_submission_end(&c->waves);
    if (st == ST_OK)
        st = count_reuse(c);
    enum status waves = waves_close(&c->waves, c->shared, &c->d);
    runner_close(&c->play);
    if (c->play.call.ports)
        core_targets_close(c->to->cores);
    return st != ST_OK ? st : waves;
}

void child_run(const struct job *job, struct run_measured *m, uint32_t process, const char *so_path,
               const struct sim_model *sim)
{
    struct child *c = ARENA_NEW(job->arena, struct child);

    c->job = job;
    c->to = m;
    c->process = process;
    c->shared = run_results(job, m, process);
    c->shared->status = job->options->host != HOST_NATIVE
                            ? board_job(job, m, process, so_path, sim, &c->d)
                            : child_main(c, so_path, sim);
    snprintf(c->shared->message, sizeof c->shared->message, "%s", c->d.text);
    fflush(NULL);
}
