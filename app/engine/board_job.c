/* board_job.c - see board_job.h. The board calls back; its reports go into the results of the
 * process. */
#include "board_job.h"

#include <string.h>

#include "app/job/shared.h"
#include "app/job/times.h"
#include "core_targets.h"
#include "host_core.h"
#include "runner.h"
#include "sim/board/board.h"
#include "waves.h"

struct board_user {
    const struct job *job;
    struct run_measured *to;
    struct run_shared *shared;
    uint32_t process, n_time; /* n_time: number of commands with recorded times */
    struct device device;     /* the accelerator, in the form that waves.h uses */
    struct waves waves;
    enum status waves_status;
    struct hd_sim_totals seen[BOARD_CORES]; /* when a core last rested */
    struct diag *d;
};

static enum status opened(void *ctx, const struct hd_sim_api *api, struct hd_sim *sim,
                          struct diag *d)
{
    struct board_user *const u = ctx;
    const struct job *job = u->job;

    u->device = (struct device){.engine = ENGINE_RTL, .sim = {.api = api, .sim = sim}};
    if (u->process == 0 && !job->program && !job->package) {
        TRY(waves_open(&u->waves, u->job, u->to->cores, &u->device, 1, d));
        if (u->waves.core)
            return FAIL(d, ST_USAGE, "--host=%s: --waves: only of the accelerator",
                        run_iss_name(job->options));
    }
    device_spoil_bus(job->options, api, sim, &u->device.bus_fault);
    return ST_OK;
}

static void closing(void *ctx, const struct hd_sim_totals *totals)
{
    struct board_user *const u = ctx;

    waves_submission_end(&u->waves);
    u->waves_status = waves_close(&u->waves, u->shared, u->d);
    device_note_fault(&u->device, u->job->p->program->device[0].hw, totals, u->shared);
}

static void submission(void *ctx, uint32_t row)
{
    struct board_user *const u = ctx;

    if (u->waves.v)
        waves_submission(&u->waves, row);
}

static void submission_ended(void *ctx)
{
    struct board_user *const u = ctx;
    const struct sim_port *const sim = &u->device.sim;
    const bool first = u->shared->inferences == 0 && u->process == 0;
    const struct hd_sim_row *from;
    const uint32_t n = sim->api->rows(sim->sim, &from);

    run_add_rows(u->job, u->shared, from, n);
    waves_submission_end(&u->waves);
    if (first && u->to->times)
        run_add_times(u->job, u->to, &u->n_time, sim->api, sim->sim);
    for (uint32_t i = 0; first && i < HD_SIM_UNITS * HD_SIM_KINDS; i++)
        u->shared->counter[i] += sim->api->read32(sim->sim, HD_REG_COUNTER(i));
}

static void inference(void *ctx, uint32_t k)
{
    struct board_user *const u = ctx;

    u->shared->inference = k;
}

static void inference_ended(void *ctx)
{
    struct board_user *const u = ctx;

    u->shared->inferences++;
    waves_inference_end(&u->waves);
}

static bool wanted(void *ctx)
{
    const struct waves *const w = &((const struct board_user *)ctx)->waves;

    return w->v && w->written && !w->stopped;
}

static void worked(void *ctx, uint32_t row, uint64_t cycles, bool driver)
{
    struct run_row *const to = &((struct board_user *)ctx)->shared->row[row];

    to->host_cycles += cycles;
    to->driver_cycles += driver ? cycles : 0;
}

static void core_rested(void *ctx, uint32_t row, uint32_t i, uint64_t cycles,
                        const struct hd_sim_totals *totals)
{
    struct board_user *const u = ctx;
    struct run_row *const to = &u->shared->row[row];
    struct hd_sim_totals *const seen = &u->seen[i];

    to->cycles += cycles;
    to->read_bytes += totals->read_bytes - seen->read_bytes;
    to->write_bytes += totals->write_bytes - seen->write_bytes;
    for (uint32_t k = 0; k < HD_SIM_COUNTERS; k++)
        to->core_counter[i][k] += totals->counter[k] - seen->counter[k];
    *seen = *totals;
}

/* Record the processor's activity in the first inference. */
static void did(void *ctx, uint32_t row, enum board_doing doing, uint64_t begin, uint64_t end,
                uint64_t doorbell)
{
    static const enum trace_doing as[] = {TRACE_WORKS, TRACE_DRIVES, TRACE_WAITS};
    const struct board_user *const u = ctx;
    struct trace_host_time *const t = u->to->host_times;

    if (!t || u->shared->inference != 0)
        return;
    if (t->n && t->slice[t->n - 1].row == row && t->slice[t->n - 1].doing == as[doing])
        t->slice[t->n - 1].end = end;
    else if (t->n < t->most)
        t->slice[t->n++] = (struct trace_host_slice){begin, end, doorbell, row, as[doing]};
}

static const char *model_source(const struct job *job)
{
    const struct emit_unit *const u = job->p->emitted;

    for (uint32_t i = 0; !job->program && !job->package && i < u->n; i++)
        if (strcmp(u->file[i].name, "model.c") == 0)
            return u->file[i].text.data;
    return NULL;
}

/* List the files, layers and cores of the job. */
static void add_lists(const struct job *job, struct run_measured *m, struct board_setup *s)
{
    const struct ir_graph *const g = job->p->graph;
    struct board_file *const file =
        ARENA_ARRAY(job->arena, struct board_file, g->n_in + g->n_out + 1);
    const char **const names = ARENA_ARRAY(job->arena, const char *, g->n_row + 1);
    const struct core_targets *const cores = m->cores;
    struct board_device *const core = ARENA_ARRAY(job->arena, struct board_device, BOARD_CORES);

    for (uint32_t i = 0; i < g->n_in + g->n_out; i++) {
        const struct run_data *const data = i < g->n_in ? &job->in[i] : &m->out[i - g->n_in];
        file[i] = (struct board_file){data->bytes, data->n_bytes};
    }
    for (uint32_t i = 0; i < g->n_row; i++)
        names[i] = g->row[i].name;
    for (uint32_t i = 0; cores && i < cores->n; i++)
        core[i] = (struct board_device){cores->core[i].name, cores->core[i].memory_bytes,
                                        &cores->core[i].so, cores->core[i].opened.clock};
    s->n_in = g->n_in;
    s->n_out = g->n_out;
    s->file = file;
    s->n_row = g->n_row;
    s->row_name = names;
    s->n_core = cores ? cores->n : 0;
    s->core = core;
}

/* Add the board's sums, and its processor's cycles by row, to the process's results. */
static void take_result(struct board_user *u, const struct board_result *r, const uint32_t clock[2])
{
    struct run_shared *const to = u->shared;

    to->code = (int32_t)r->code;
    to->submissions += r->submissions;
    to->cycles += r->cycles;
    to->read_bytes += r->read_bytes;
    to->write_bytes += r->write_bytes;
    to->sim_cycles = r->sim_cycles;
    to->wall_seconds = r->wall_seconds;
    to->host = r->host;
    for (uint32_t i = 0; i < u->job->p->graph->n_row; i++) {
        to->row[i].host_cycles = board_scaled(clock, to->row[i].host_cycles);
        to->row[i].driver_cycles = board_scaled(clock, to->row[i].driver_cycles);
    }
}

enum status board_job(const struct job *job, struct run_measured *m, uint32_t process,
                      const char *elf, const struct sim_model *sim, struct diag *d)
{
    const struct options *const o = job->options;
    struct board_user *const u = ARENA_NEW(job->arena, struct board_user);
    const struct board_watch watch = {
        u,      opened, closing,     submission, submission_ended, inference, inference_ended,
        wanted, worked, core_rested, did};
    struct board_setup s = {.arena = job->arena,
                            .elf = elf,
                            .program = job->program ? o->prog : NULL,
                            .source = model_source(job),
                            .n = job->n,
                            .first = process,
                            .step = m->n_process,
                            .cost = *run_iss_core(o),
                            .cpu = m->cpu,
                            .sim = sim,
                            .hash = sim->path ? job->p->program->device[0].hw->hash : 0,
                            .tile = runner_tile,
                            .tile_ctx = job->p->program,
                            .memory_latency = o->mem_latency,
                            .memory_bytes = o->mem_bytes,
                            .stall_seed = o->stall_seed,
                            .max_cycles = o->max_cycles,
                            .clock = {o->host_clock[0], o->host_clock[1]},
                            .bus = o->host_bus,
                            .ram = o->host_memory,
                            .watch = &watch};
    struct board_result result;

    *u = (struct board_user){
        .job = job, .to = m, .shared = run_results(job, m, process), .process = process, .d = d};
    add_lists(job, m, &s);
    const enum status st = board_run(&s, &result, d);
    take_result(u, &result, s.clock);
    return st != ST_OK ? st : u->waves_status;
}
