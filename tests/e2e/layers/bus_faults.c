/* bus_faults.c - a network whose memory has one fault (enum hd_sim_bus_kind), at each beat in turn.
 * A wrong answer or a burst of another length must be a fault that names the unit,
 * the command and the beat; a late one changes no byte; a missing one ends the bounded wait, names
 * unit and address, and a reset works once it has come. After each the network runs exactly.
 *
 *     bus_faults MODEL [--hw tiny] [--step 1] [--kind KIND]    every step-th beat of each kind
 *
 * A write's answer is a burst's: AXI has none for a beat, so the address is the burst's.
 * Exit status 0: all of that; 1: not; 2: usage. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/engine/device.h"
#include "compiler/pipeline.h"
#include "driver/hd_crc.h"
#include "hd_accel_tables.h"

static const char *const kinds[HD_SIM_BUS_KINDS] = {
    "none",      "read-slverr",  "read-decerr",  "read-late",  "read-missing",  "read-short",
    "read-long", "write-slverr", "write-decerr", "write-late", "write-missing", "write-early"};

enum { MAX_SHOWN = 10 };

struct bench {
    struct arena *arena;
    struct options options;
    struct sim_model so;
    char *model;
    uint64_t step;
    uint32_t kind; /* 0: all */
    struct sched_program *program;
    struct device v;
    uint64_t size[HD_REGIONS], at[HD_REGIONS];
    uint32_t n_region, wrong;
    uint8_t *good, *expected; /* all memory before and after a good run */
};

static const struct argp_option table[] = {
    {"hw", 'w', "NAME", 0, "configuration (default tiny)", 0},
    {"step", 's', "N", 0, "beats from one to the next (default 1)", 0},
    {"kind", 'k', "KIND", 0, "of --bus-fault of heddle run (default all)", 0},
    {0}};

static error_t option(int key, char *arg, struct argp_state *state)
{
    struct bench *b = state->input;

    switch (key) {
    case 'w': b->options.hw = arg; return 0;
    case 's':
        b->step = strtoull(arg, NULL, 0);
        if (b->step == 0)
            argp_error(state, "a step of '%s' beats", arg);
        return 0;
    case 'k':
        while (++b->kind < HD_SIM_BUS_KINDS && strcmp(kinds[b->kind], arg) != 0)
            ;
        if (b->kind == HD_SIM_BUS_KINDS)
            argp_error(state, "no kind '%s'", arg);
        return 0;
    case ARGP_KEY_ARG: b->model = arg; return state->arg_num ? ARGP_ERR_UNKNOWN : 0;
    case ARGP_KEY_NO_ARGS: argp_usage(state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void put_stream(const struct sched_program *p, const struct sched_stream *s, uint8_t *to)
{
    struct hd_header h = {.magic = HD_MAGIC,
                          .version = HD_STREAM_VERSION,
                          .config_hash = p->hw->hash,
                          .length = s->n_bytes,
                          .command_count = s->n};
    uint8_t *at = to + sizeof h;

    memcpy(to, &h, sizeof h);
    for (uint32_t i = 0; i < s->n; i++) {
        const size_t n = s->cmd[i].w.common.length * (size_t)HD_COMMAND_ALIGN;
        memcpy(at, s->cmd[i].w.word, n);
        at += n;
    }
    h.crc = hd_stream_crc(to, s->n_bytes);
    memcpy(to, &h, sizeof h);
}

static void region_sizes(struct bench *b)
{
    const struct ir_graph *g = b->program->graph;

    b->n_region = HD_REGION_IO;
    b->size[HD_REGION_COMMANDS] = b->program->command_bytes;
    b->size[HD_REGION_CONSTANTS] = b->program->constants.length;
    b->size[HD_REGION_ARENA] = b->program->arena_bytes;
    for (uint32_t i = 0; i < g->n_in; i++)
        b->size[b->n_region++] = ir_border_bytes(g->tensor[g->in[i]]);
    for (uint32_t i = 0; i < g->n_out; i++)
        b->size[b->n_region++] = ir_border_bytes(g->tensor[g->out[i]]);
    for (uint32_t i = 1; i < b->n_region; i++)
        b->at[i] = (b->at[i - 1] + b->size[i - 1] + HD_REGION_ALIGN - 1) / HD_REGION_ALIGN *
                   HD_REGION_ALIGN;
}

static int submit_all(struct bench *b)
{
    int rc = HD_OK;

    for (uint32_t k = 0; rc == HD_OK && k < b->program->n_stream; k++)
        rc = hd_run(&b->v.dev, b->program->stream[k].offset, b->program->stream[k].n_bytes);
    return rc;
}

static bool run_is_exact(struct bench *b)
{
    memcpy(b->v.memory, b->good, b->v.n_bytes);
    return submit_all(b) == HD_OK && memcmp(b->v.memory, b->expected, b->v.n_bytes) == 0;
}

/* Return true if command `index` of a stream touches the beat that went wrong. */
static bool touches(const struct bench *b, uint32_t index, const struct hd_sim_bus_fault *f)
{
    const uint64_t width = b->program->hw->axi_bytes;

    for (uint32_t k = 0; k < b->program->n_stream; k++) {
        const struct sched_stream *s = &b->program->stream[k];
        uint64_t at = DEVICE_BASE + s->offset + sizeof(struct hd_header);

        for (uint32_t i = 0; i < s->n; i++) {
            const union sched_words *w = &s->cmd[i].w;
            const uint64_t n = w->common.length * (uint64_t)HD_COMMAND_ALIGN;
            const uint64_t from = i == 0 ? at - sizeof(struct hd_header) : at;

            if (f->unit == HD_UNIT_FETCH && i == index && f->address < at + n &&
                f->address + width > from)
                return true;
            at += n;
            if (i != index || f->unit == HD_UNIT_FETCH || s->cmd[i].unit != f->unit)
                continue;
            const bool store = f->unit == HD_UNIT_STORE;
            const uint32_t region = store ? w->store.region : w->dma_read.region;
            const uint64_t offset = store ? w->store.offset : w->dma_read.offset,
                           pitch = store ? w->store.run_pitch : w->dma_read.run_pitch,
                           bytes = store ? w->store.run_bytes : w->dma_read.run_bytes,
                           runs = store ? w->store.runs : w->dma_read.runs;
            for (uint64_t r = 0; r < runs; r++) {
                const uint64_t run = DEVICE_BASE + b->at[region] + offset + r * pitch;
                if (f->address < run + bytes && f->address + width > run)
                    return true;
            }
        }
    }
    return false;
}

static void complain(struct bench *b, const struct hd_sim_bus_fault *f, int rc, const char *what)
{
    char text[256];

    if (b->wrong++ < MAX_SHOWN)
        printf("%s:%" PRIu64 ": %s: beat at 0x%" PRIx64 " of unit %u: %s; %s\n", kinds[f->kind],
               f->beat, what, f->address, f->unit,
               hd_describe(&b->v.dev, rc, NULL, 0, NULL, 0, text, sizeof text),
               device_detail(&b->v));
}

/* Check the device's response to a wrong beat. */
static void check_fault(struct bench *b, const struct hd_sim_bus_fault *f, int rc)
{
    const struct hd_fault_info *found = &b->v.dev.fault;
    const bool write = f->kind >= HD_SIM_BUS_WRITE_SLVERR;
    const uint64_t width = b->program->hw->axi_bytes;

    if (rc != HD_ERROR_FAULT || found->code != (write ? HD_FAULT_BUS_WRITE : HD_FAULT_BUS_READ))
        complain(b, f, rc, "another end");
    else if (found->unit != f->unit)
        complain(b, f, rc, "another unit");
    else if (write ? found->address != f->burst : found->address / width != f->address / width)
        complain(b, f, rc, "another address");
    else if (!touches(b, found->command, f))
        complain(b, f, rc, "another command");
}

/* Check the end of a bounded wait, which the simulator explains. */
static void check_missing(struct bench *b, const struct hd_sim_bus_fault *f, int rc)
{
    const bool write = f->kind == HD_SIM_BUS_WRITE_MISSING;
    char where[64];

    (void)snprintf(where, sizeof where, write ? "%s's burst at 0x%08llx" : "%s's beat at 0x%08llx",
                   hd_unit_names[f->unit], (unsigned long long)(write ? f->burst : f->address));
    if (rc != HD_ERROR_STUCK || !strstr(device_detail(&b->v), where))
        complain(b, f, rc, "not named");
    b->v.sim.api->bus_fault(b->v.sim.sim, NULL);
    rc = hd_reset(&b->v.dev);
    if (rc != HD_OK)
        complain(b, f, rc, "no reset");
}

static uint64_t one_kind(struct bench *b, uint32_t kind, uint64_t beats)
{
    uint64_t n = 0;

    for (uint64_t beat = 0; beat < beats; beat += b->step) {
        struct hd_sim_bus_fault f = {.kind = kind, .beat = beat};

        memcpy(b->v.memory, b->good, b->v.n_bytes);
        b->v.sim.api->bus_fault(b->v.sim.sim, &f);
        int rc = submit_all(b);
        if (!f.happened || kind == HD_SIM_BUS_READ_LATE || kind == HD_SIM_BUS_WRITE_LATE) {
            if (rc != HD_OK || memcmp(b->v.memory, b->expected, b->v.n_bytes) != 0)
                complain(b, &f, rc, "not exact");
        } else if (kind == HD_SIM_BUS_READ_MISSING || kind == HD_SIM_BUS_WRITE_MISSING) {
            check_missing(b, &f, rc);
        } else {
            check_fault(b, &f, rc);
        }
        n += f.happened;
        b->v.sim.api->bus_fault(b->v.sim.sim, NULL);
        if (f.happened && !run_is_exact(b))
            complain(b, &f, HD_OK, "the next run is not exact");
    }
    return n;
}

static enum status run_model(struct bench *b, struct diag *d)
{
    struct pipeline p = {.arena = b->arena, .options = options_pipeline(&b->options)};
    struct hd_sim_totals before, after;

    TRY(pipeline_front(&p, b->model, b->model, d));
    TRY(pipeline_back(&p, d));
    TRY(device_model(b->arena, &b->options, &p.hw, &b->so, d));
    b->program = p.program;
    region_sizes(b);
    TRY(device_open(&b->v, b->arena, &b->options, &p.hw, ENGINE_RTL, &b->so, NULL,
                    b->at[b->n_region - 1] + b->size[b->n_region - 1], &(struct device_text){0},
                    d));
    b->good = arena_alloc(b->arena, b->v.n_bytes);
    memset(b->good, 0, b->v.n_bytes);
    memcpy(b->good + b->at[HD_REGION_CONSTANTS], p.program->constants.data,
           p.program->constants.length);
    for (uint32_t k = 0; k < p.program->n_stream; k++)
        put_stream(p.program, &p.program->stream[k], b->good + p.program->stream[k].offset);
    for (uint32_t i = 0; i < b->n_region; i++)
        if (hd_bind(&b->v.dev, i, b->v.memory + b->at[i], DEVICE_BASE + b->at[i],
                    (uint32_t)b->size[i], HD_READ | HD_WRITE) != HD_OK)
            return FAIL(d, ST_INTERNAL, "region %u cannot be bound", i);
    memcpy(b->v.memory, b->good, b->v.n_bytes);
    b->v.sim.api->totals(b->v.sim.sim, &before);
    int rc = submit_all(b);
    if (rc != HD_OK)
        return FAIL(d, ST_DEVICE, "%s; %s", hd_error_text(rc), device_detail(&b->v));
    b->v.sim.api->totals(b->v.sim.sim, &after);
    b->expected = arena_memdup(b->arena, b->v.memory, b->v.n_bytes);
    b->v.dev.wait_cycles = 20 * (after.cycles - before.cycles) + 1000000;
    const uint64_t width = p.hw.axi_bytes, reads = (after.read_bytes - before.read_bytes) / width,
                   writes = (after.write_bytes - before.write_bytes) / width;
    printf("bus_faults %s: %" PRIu64 " cycles, %" PRIu64 " beats read, %" PRIu64
           " written, every %" PRIu64 "\n",
           p.hw.name, after.cycles - before.cycles, reads, writes, b->step);
    for (uint32_t kind = 1; kind < HD_SIM_BUS_KINDS; kind++) {
        if (b->kind && kind != b->kind)
            continue;
        const uint32_t wrong = b->wrong;
        const uint64_t n = one_kind(b, kind, kind < HD_SIM_BUS_WRITE_SLVERR ? reads : writes);
        printf("  %-14s %" PRIu64 " happened, %u wrong\n", kinds[kind], n, b->wrong - wrong);
        fflush(stdout);
    }
    device_close(&b->v);
    return ST_OK;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        table, option, "MODEL", "Wrong answers of the bus, beat by beat.", NULL, NULL, NULL};
    static struct bench b = {.step = 1,
                             .options = {.hw = "tiny",
                                         .target = {2, {&target_systolic, &target_host_c}},
                                         .mem_latency = 16,
                                         .max_cycles = 2000000000}};
    struct diag d = {0};

    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &b);
    b.arena = arena_new(0);
    if (run_model(&b, &d) != ST_OK) {
        printf("%s: %s\n", b.model, d.text);
        return status_exit_code(d.status);
    }
    arena_free(b.arena);
    return b.wrong != 0;
}
