/* estimate_errors.c - the schedule's estimate against the RTL: every layer above 500 cycles of the
 * networks given, interleaved ones as groups, within a bar.
 *
 *     estimate --hw sys16 --bar 5 tests/models/resnet8_own/model.tflite ...
 *
 * Only the accelerator's submissions run, on zeros: cycles depend on no data. --commands prints
 * start and end of each command, estimated and measured. Exit status 0: all within; 1: one is not;
 * 2: usage. */
#define _GNU_SOURCE
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/engine/device.h"
#include "compiler/pipeline.h"
#include "compiler/systolic/lower/disasm.h"
#include "driver/hd_crc.h"

enum { LEAST_CYCLES = 500 };

struct bench {
    struct options options;
    struct arena *arena;
    struct sim_model so;
    double bar;
    bool commands;
    char **model;
    uint32_t n_rows, n_off;
};

static const struct argp_option table[] = {
    {"hw", 'w', "NAME|FILE", 0, "configuration (default sys16)", 0},
    {"bar", 'b', "PERCENT", 0, "most that a layer or group may be off (default 5)", 0},
    {"mem-latency", 'l', "N", 0, "cycles (default 64)", 0},
    {"mem-bytes", 'm', "N", 0, "bytes a cycle (default the AXI width)", 0},
    {"commands", 'c', NULL, 0, "print every command", 0},
    {0}};

static error_t option(int key, char *arg, struct argp_state *state)
{
    struct bench *b = state->input;

    switch (key) {
    case 'w': b->options.hw = arg; return 0;
    case 'b': b->bar = atof(arg); return 0;
    case 'l': b->options.mem_latency = (uint32_t)strtoul(arg, NULL, 0); return 0;
    case 'm': b->options.mem_bytes = (uint32_t)strtoul(arg, NULL, 0); return 0;
    case 'c': b->commands = true; return 0;
    case ARGP_KEY_ARGS: b->model = state->argv + state->next; return 0;
    case ARGP_KEY_NO_ARGS: argp_usage(state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* --- running ---------------------------------------------------------------------------------- */

static void put_commands(const struct sched_program *p, uint8_t *to)
{
    for (uint32_t k = 0; k < p->n_stream; k++) {
        const struct sched_stream *s = &p->stream[k];
        struct hd_header h = {.magic = HD_MAGIC,
                              .version = HD_STREAM_VERSION,
                              .config_hash = p->hw->hash,
                              .length = s->n_bytes,
                              .command_count = s->n};
        uint8_t *at = to + s->offset;
        memcpy(at, &h, sizeof h);
        at += sizeof h;
        for (uint32_t i = 0; i < s->n; i++) {
            size_t n = s->cmd[i].w.common.length * (size_t)16;
            memcpy(at, s->cmd[i].w.word, n);
            at += n;
        }
        h.crc = hd_stream_crc(to + s->offset, s->n_bytes);
        memcpy(to + s->offset, &h, sizeof h);
    }
}

/* Return the sizes of all regions in the order of driver/hd_model.c, and their number. */
static uint32_t region_sizes(const struct sched_program *p, uint64_t size[16])
{
    const struct ir_graph *g = p->graph;
    uint32_t n = HD_REGION_IO;

    size[HD_REGION_COMMANDS] = p->command_bytes;
    size[HD_REGION_CONSTANTS] = p->constants.length;
    size[HD_REGION_ARENA] = p->arena_bytes;
    for (uint32_t i = 0; i < g->n_in && n < 16; i++)
        size[n++] = ir_border_bytes(g->tensor[g->in[i]]);
    for (uint32_t i = 0; i < g->n_out && n < 16; i++)
        size[n++] = ir_border_bytes(g->tensor[g->out[i]]);
    return n;
}

static int bind(struct device *v, const struct sched_program *p, const uint64_t *size, uint32_t n)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < n; i++) {
        int rc = hd_bind(&v->dev, i, v->memory + at, DEVICE_BASE + at, (uint32_t)size[i],
                         HD_READ | HD_WRITE);
        if (rc != HD_OK)
            return rc;
        at = (at + size[i] + HD_REGION_ALIGN - 1) / HD_REGION_ALIGN * HD_REGION_ALIGN;
    }
    put_commands(p, v->memory);
    return HD_OK;
}

/* --- comparing -------------------------------------------------------------------------------- */

static void print_commands(struct bench *b, const struct sched_program *p,
                           const struct sched_stream *s, const struct hd_sim_command *got)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct sched_command *c = &s->cmd[i];
        struct text t;
        text_init(&t, b->arena);
        sched_print_command(p, c, &t);
        printf("%5u est %7" PRIu64 " %7" PRIu64 "  rtl %7" PRIu64 " %7" PRIu64 " %+5" PRId64
               "  %.150s\n",
               i, c->est_start, c->est_done, got[i].start, got[i].done,
               (int64_t)(c->est_done - got[i].done), t.data);
    }
}

static void compare_one(struct bench *b, const char *name, uint64_t cycles, uint64_t estimate)
{
    double off = 100.0 * ((double)estimate / (double)cycles - 1);

    if (cycles <= LEAST_CYCLES)
        return;
    b->n_rows++;
    if (off <= b->bar && off >= -b->bar)
        return;
    b->n_off++;
    printf("    %-28s %8" PRIu64 " cycles, estimate %8" PRIu64 ", %+.1f %%\n", name, cycles,
           estimate, off);
}

static void compare(struct bench *b, const char *name, const struct sched_program *p, uint64_t *row)
{
    uint32_t n_row = p->graph->n_row, *group = ARENA_ARRAY(b->arena, uint32_t, n_row + 1);
    uint64_t sum = 0, *of_group = ARENA_ARRAY(b->arena, uint64_t, n_row + 1),
             *estimate = ARENA_ARRAY(b->arena, uint64_t, n_row + 1);
    uint32_t n_group = sched_groups(p, group);

    for (uint32_t i = 0; i < n_row; i++) {
        sum += row[i];
        if (group[i] == IR_NONE) {
            compare_one(b, p->graph->row[i].name, row[i], p->row_estimate[i]);
            continue;
        }
        of_group[group[i]] += row[i];
        estimate[group[i]] += p->row_estimate[i];
    }
    for (uint32_t k = 0; k < n_group; k++)
        compare_one(b, arena_printf(b->arena, "group %u", k), of_group[k], estimate[k]);
    printf("%s on %s: %" PRIu64 " cycles, estimate %" PRIu64 ", %+.2f %%\n", name, p->hw->name, sum,
           p->est_cycles, sum ? 100.0 * ((double)p->est_cycles / (double)sum - 1) : 0);
}

static void add_rows(struct device *v, uint64_t *row)
{
    const struct hd_sim_row *from;
    uint32_t n = v->sim.api->rows(v->sim.sim, &from);

    for (uint32_t i = 0; i < n; i++)
        row[from[i].layer] += from[i].cycles;
}

static enum status run_streams(struct bench *b, struct device *v, const struct sched_program *p,
                               uint64_t *row, struct diag *d)
{
    for (uint32_t k = 0; k < p->n_stream; k++) {
        const struct sched_stream *s = &p->stream[k];
        const struct hd_sim_command *got;
        int rc = hd_run(&v->dev, s->offset, s->n_bytes);
        if (rc != HD_OK)
            return FAIL(d, ST_DEVICE, "submission %u: %s; %s", k, hd_error_text(rc),
                        device_detail(v));
        if (v->sim.api->commands(v->sim.sim, &got) != s->n)
            return FAIL(d, ST_INTERNAL, "submission %u: not %u commands", k, s->n);
        if (b->commands)
            print_commands(b, p, s, got);
        add_rows(v, row);
    }
    return ST_OK;
}

static enum status one_model(struct bench *b, const char *path, struct diag *d)
{
    struct pipeline p = {.arena = b->arena, .options = options_pipeline(&b->options)};
    struct device v;
    uint64_t size[16], n_bytes = 0;

    TRY(pipeline_front(&p, path, path, d));
    TRY(pipeline_back(&p, d));
    TRY(device_model(b->arena, &b->options, &p.hw, &b->so, d));
    uint32_t n = region_sizes(p.program, size);
    for (uint32_t i = 0; i < n; i++)
        n_bytes += size[i] + HD_REGION_ALIGN;
    uint64_t *row = ARENA_ARRAY(b->arena, uint64_t, p.graph->n_row + 1);
    TRY(device_open(&v, b->arena, &b->options, &p.hw, ENGINE_RTL, &b->so, NULL, n_bytes,
                    &(struct device_text){0}, d));
    enum status st = bind(&v, p.program, size, n) == HD_OK
                         ? run_streams(b, &v, p.program, row, d)
                         : FAIL(d, ST_INTERNAL, "the regions cannot be bound");
    device_close(&v);
    if (st == ST_OK)
        compare(b, path, p.program, row);
    return st;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        table, option, "MODEL...", "Estimated against measured cycles.", NULL, NULL, NULL};
    struct bench b = {.bar = 5,
                      .options = {.hw = "sys16",
                                  .target = {2, {&target_systolic, &target_host_c}},
                                  .mem_latency = 64,
                                  .max_cycles = 2000000000}};

    if (argp_parse(&argp, argc, argv, 0, NULL, &b) != 0)
        return 2;
    for (char **model = b.model; *model; model++) {
        struct diag d = {0};
        b.arena = arena_new(0);
        if (one_model(&b, *model, &d) != ST_OK) {
            printf("%s: %s\n", *model, d.text);
            b.n_off++;
        }
        arena_free(b.arena);
    }
    printf("%u layers and groups above %d cycles, %u off by more than %g %%\n", b.n_rows,
           LEAST_CYCLES, b.n_off, b.bar);
    return b.n_off != 0;
}
