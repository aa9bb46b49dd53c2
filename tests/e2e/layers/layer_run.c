/* layer_run.c - see layer_run.h. */
#include "layer_run.h"

#include <stdio.h>
#include <string.h>

#include "compiler/graph_passes.h"
#include "compiler/pipeline.h"
#include "compiler/systolic/lower/disasm.h"
#include "compiler/systolic/rewrites/rewrites.h"
#include "compiler/systolic/schedule/sched.h"
#include "driver/hd_crc.h"

enum { GAP = 64, POISON = 0xa5 };

/* --- compiling ------------------------------------------------------------------------------- */

/* Run the reference on the original graph. */
static enum status reference_graph(struct layer *l, struct diag *d)
{
    l->original = layers_make(l->arena, l->setup->seed, &l->setup->hw);
    return ir_verify(l->original, "the generator", d);
}

static const char *refusal(const struct layer *l)
{
    for (uint32_t i = 0; i < l->graph->n_op; i++) {
        const struct ir_op *op = l->graph->op[i];
        if (!op->dead && op->region == IR_NONE)
            return arena_printf(l->arena, "%s: %s", ir_op_info(op->opcode)->name, op->reason);
    }
    return NULL;
}

static enum status schedule(struct layer *l, struct diag *d)
{
    const struct options *o = &l->setup->options;
    const struct sched_options s = {
        .no_overlap = o->no_overlap,
        .mem_latency = o->mem_latency,
        .mem_bytes = o->mem_bytes,
        .knob_seed = o->segments || l->setup->seed % 2 ? l->setup->seed : 0, /* or searched */
        .segments = o->segments,
    };
    const struct target_list targets = {2, {&target_systolic, &target_host_c}};
    const struct partition_options first = {.mode = PARTITION_PRIORITY};
    struct lgl_options legalise = o->legalise;
    struct partition partition;

    sys_for_accelerator(&legalise, &l->setup->hw);
    legalise.table_pixels = 1; /* otherwise none of these small layers would gain */
    l->graph = layers_make(l->arena, l->setup->seed, &l->setup->hw);
    TRY(passes_run(l->graph, &legalise, d));
    TRY(partition_with(l->graph, &targets, &l->setup->hw, &first, &partition, d));
    l->refused = refusal(l);
    if (l->refused)
        return ST_OK;
    l->pipeline = (struct pipeline){.arena = l->arena,
                                    .options.schedule = s,
                                    .graph = l->graph,
                                    .hw = l->setup->hw,
                                    .targets = targets};
    TRY(pipeline_schedule(&l->pipeline, d));
    l->program = l->pipeline.program;
    return ST_OK;
}

/* Write one stream as the device reads it, with commands in `order` (NULL: unchanged). */
static void put_stream(const struct layer *l, const struct sched_stream *s, const uint32_t *order,
                       uint8_t *to)
{
    struct hd_header h = {.magic = HD_MAGIC,
                          .version = HD_STREAM_VERSION,
                          .config_hash = l->setup->hw.hash,
                          .length = s->n_bytes,
                          .region_count = l->n_region,
                          .command_count = s->n};

    memcpy(to, &h, sizeof h);
    to += sizeof h;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct sched_command *c = &s->cmd[order ? order[i] : i];
        memcpy(to, c->w.word, c->w.common.length * (size_t)16);
        to += c->w.common.length * (size_t)16;
    }
    to -= s->n_bytes;
    h.crc = hd_stream_crc(to, s->n_bytes);
    memcpy(to, &h, sizeof h);
}

static void put_commands(const struct layer *l, bool shuffle, uint8_t *to)
{
    for (uint32_t k = 0; k < l->program->n_stream; k++) {
        const struct sched_stream *s = &l->program->stream[k];
        uint32_t *order = shuffle ? ARENA_ARRAY(l->arena, uint32_t, s->n) : NULL;
        if (shuffle)
            layer_shuffle(l->arena, l->setup->seed + k, s, order);
        put_stream(l, s, order, to + s->offset);
    }
}

static void add_region(struct layer *l, uint32_t i, const void *bytes, uint64_t n)
{
    l->n_bytes[i] = (uint32_t)n;
    l->bytes[i] = arena_alloc(l->arena, (size_t)n + 1);
    if (bytes && n)
        memcpy(l->bytes[i], bytes, (size_t)n);
    else
        memset(l->bytes[i], POISON, (size_t)n);
    l->at[i] = l->memory_bytes;
    l->memory_bytes += ((uint32_t)n + GAP + 63) / 64 * 64;
}

static void fill_regions(struct layer *l)
{
    const struct ir_graph *g = l->graph;
    const struct sched_program *p = l->program;
    struct layers_rng r = {l->setup->seed + 77};

    l->n_region = HD_REGION_IO + g->n_in + g->n_out;
    l->bytes = ARENA_ARRAY(l->arena, uint8_t *, l->n_region);
    l->n_bytes = ARENA_ARRAY(l->arena, uint32_t, l->n_region);
    l->at = ARENA_ARRAY(l->arena, uint32_t, l->n_region);
    add_region(l, HD_REGION_COMMANDS, NULL, p->command_bytes);
    put_commands(l, false, l->bytes[HD_REGION_COMMANDS]);
    add_region(l, HD_REGION_CONSTANTS, p->constants.data, p->constants.length);
    add_region(l, HD_REGION_ARENA, NULL, p->arena_bytes);
    for (uint32_t i = 0; i < g->n_in; i++) {
        uint64_t n = ir_bytes(g->tensor[g->in[i]]);
        uint32_t mode = (uint32_t)layers_range(&r, 0, 5);
        add_region(l, HD_REGION_IO + i, NULL, n);
        for (uint64_t k = 0; k < n; k++) {
            uint64_t z = layers_next(&r);
            l->bytes[HD_REGION_IO + i][k] = mode == 0 ? (z & 1 ? 127 : 128) : (uint8_t)z;
        }
    }
    for (uint32_t i = 0; i < g->n_out; i++)
        add_region(l, HD_REGION_IO + g->n_in + i, NULL, ir_border_bytes(g->tensor[g->out[i]]));
}

/* --- constant channels proved by legalise --- */

struct promise {
    const struct layer *l;
    enum status st;
    struct diag *d;
};

/* Check on the original network that no value contradicts a channel proved constant. */
static void hold_promise(void *ctx, const struct ir_op *op, const uint8_t *out)
{
    struct promise *p = ctx;
    const struct ir_constant *c =
        lgl_contradicted(p->l->graph, op->row, ir_out(p->l->original, op, 0), out);

    if (c && p->st == ST_OK)
        p->st = FAIL(p->d, ST_INTERNAL, "%s: channel %u was proven to be %d and is not",
                     p->l->original->row[op->row].name, c->channel, c->value);
}

static enum status run_reference(struct layer *l, struct diag *d)
{
    const struct ir_graph *g = l->original;
    const uint8_t **in = ARENA_ARRAY(l->arena, const uint8_t *, g->n_in + 1);

    l->expected = ARENA_ARRAY(l->arena, uint8_t *, g->n_out + 1);
    for (uint32_t i = 0; i < g->n_in; i++)
        in[i] = l->bytes[HD_REGION_IO + i];
    for (uint32_t i = 0; i < g->n_out; i++)
        l->expected[i] = arena_alloc(l->arena, (size_t)ir_bytes(g->tensor[g->out[i]]));
    const struct ref_options options = pipeline_ref_options(&l->setup->options.legalise);
    struct ref *r = ref_new(l->arena, g, &options);
    struct promise promise = {.l = l, .d = d};
    ref_set_tap(r, hold_promise, &promise);
    TRY(ref_run(r, in, l->expected, d));
    return promise.st;
}

enum status layer_compile(struct arena *a, const struct layer_setup *setup, struct layer *l,
                          struct diag *d)
{
    *l = (struct layer){.arena = a, .setup = setup};
    TRY(reference_graph(l, d));
    TRY(schedule(l, d));
    if (l->refused)
        return ST_OK;
    l->row_name = ARENA_ARRAY(a, const char *, l->graph->n_row + 1);
    for (uint32_t i = 0; i < l->graph->n_row; i++)
        l->row_name[i] = l->graph->row[i].name;
    fill_regions(l);
    return run_reference(l, d);
}

/* --- running --------------------------------------------------------------------------------- */

static int wrong(struct layer_result *r, const char *what, uint32_t i, uint32_t at, uint8_t want,
                 uint8_t got)
{
    r->ok = false;
    (void)snprintf(r->text, sizeof r->text, "%s %u, byte %u: expected %d, found %d", what, i, at,
                   (int8_t)want, (int8_t)got);
    return -1;
}

/* Compare outputs with the reference, and all other bytes with their previous values. */
static int compare(const struct layer *l, const struct device *v, uint8_t *const *host,
                   const uint8_t *commands, struct layer_result *r)
{
    for (uint32_t i = 0; i < l->n_region; i++) {
        uint32_t output = i - HD_REGION_IO - l->graph->n_in;
        bool is_output = i >= HD_REGION_IO + l->graph->n_in;
        const uint8_t *want = is_output                 ? l->expected[output]
                              : i == HD_REGION_COMMANDS ? commands
                                                        : l->bytes[i];
        for (uint32_t k = 0; k < l->n_bytes[i] && i != HD_REGION_ARENA; k++)
            if (host[i][k] != want[k])
                return is_output ? wrong(r, "output", output, k, want[k], host[i][k])
                                 : wrong(r, "overwritten region", i, k, want[k], host[i][k]);
        uint32_t end = i + 1 < l->n_region ? l->at[i + 1] : l->memory_bytes;
        for (uint32_t k = l->at[i] + l->n_bytes[i]; k < end; k++)
            if (v->memory[k] != POISON)
                return wrong(r, "overwritten byte after region", i, k - l->at[i], POISON,
                             v->memory[k]);
    }
    return 0;
}

uint32_t layer_rights(const struct layer *l, uint32_t region)
{
    const bool written = region == HD_REGION_ARENA || region >= HD_REGION_IO + l->graph->n_in;

    return written ? HD_READ | HD_WRITE : HD_READ;
}

/* Bind all regions; with shared memory the host works in the device's window. */
static int bind(const struct layer *l, struct device *v, const uint8_t *commands, uint8_t **host)
{
    uint32_t first_out = HD_REGION_IO + l->graph->n_in;

    for (uint32_t i = 0; i < l->n_region; i++) {
        const uint8_t *from = i == HD_REGION_COMMANDS ? commands : l->bytes[i];
        host[i] = v->port.window ? v->port.window + l->at[i]
                                 : arena_alloc(l->arena, (size_t)l->n_bytes[i] + 1);
        memcpy(host[i], from, l->n_bytes[i]);
        int rc =
            hd_bind(&v->dev, i, host[i], DEVICE_BASE + l->at[i], l->n_bytes[i], layer_rights(l, i));
        if (rc == HD_OK && i < first_out && l->n_bytes[i])
            rc = hd_copy_in(&v->dev, i, 0, l->n_bytes[i]);
        if (rc != HD_OK)
            return rc;
    }
    return HD_OK;
}

static int submit_all(const struct layer *l, struct device *v, const struct layer_watch *watch,
                      struct layer_result *r)
{
    for (uint32_t k = 0; k < l->program->n_stream; k++) {
        const struct sched_stream *s = &l->program->stream[k];
        if (watch && watch->submission)
            watch->submission(watch->ctx);
        int rc = hd_run(&v->dev, s->offset, s->n_bytes);
        if (rc != HD_OK)
            return rc;
        r->cycles += v->dev.cycles;
    }
    for (uint32_t i = HD_REGION_IO + l->graph->n_in; i < l->n_region; i++) {
        int rc = hd_copy_out(&v->dev, i, 0, l->n_bytes[i]);
        if (rc != HD_OK)
            return rc;
    }
    return HD_OK;
}

/* Fill the memories, which are undefined after reset. */
static void poison(struct device *v, uint64_t seed)
{
    struct layers_rng r = {seed + 5};

    for (uint32_t i = 0; i < HD_SPACE_COUNT; i++)
        for (uint32_t k = 0; k < v->func.n_bytes[i]; k += 8) {
            uint64_t z = layers_next(&r);
            memcpy(v->func.space[i] + k, &z,
                   v->func.n_bytes[i] - k < 8 ? v->func.n_bytes[i] - k : 8);
        }
}

static void watch_commits(struct device *v, const struct layer_watch *watch)
{
    if (v->engine == ENGINE_FUNC)
        hd_func_commits(&v->func, watch->sink, watch->ctx);
    else
        v->sim.api->commits(v->sim.sim, watch->sink, watch->ctx);
}

static enum status run_device(const struct layer *l, struct device *v, bool shuffle,
                              const struct layer_watch *watch, struct layer_result *r)
{
    uint8_t **host = ARENA_ARRAY(l->arena, uint8_t *, l->n_region);
    uint8_t *commands = arena_memdup(l->arena, l->bytes[0], l->n_bytes[0]);

    if (shuffle)
        put_commands(l, true, commands);
    memset(v->memory, POISON, v->n_bytes);
    if (v->engine == ENGINE_FUNC)
        poison(v, l->setup->seed);
    if (watch)
        watch_commits(v, watch);
    int rc = bind(l, v, commands, host);
    if (rc == HD_OK && l->setup->disturb) {
        rc = layer_disturb(l, v);
        memset(v->memory, POISON, v->n_bytes);
        rc = rc == HD_OK ? bind(l, v, commands, host) : rc;
    }
    if (rc == HD_OK)
        rc = submit_all(l, v, watch, r);
    r->ok = rc == HD_OK;
    if (rc == HD_OK) {
        (void)compare(l, v, host, commands, r);
        return ST_OK;
    }
    char words[512];
    (void)snprintf(r->text, sizeof r->text, "%s; %s",
                   hd_describe(&v->dev, rc, (const uint32_t *)(const void *)commands, l->n_bytes[0],
                               l->row_name, l->graph->n_row, words, sizeof words),
                   device_detail(v));
    return ST_OK;
}

enum status layer_execute(const struct layer *l, enum options_engine engine,
                          const struct sim_model *so, bool shuffle, const struct layer_watch *watch,
                          struct layer_result *result, struct diag *d)
{
    struct device *v = ARENA_NEW(l->arena, struct device);

    *result = (struct layer_result){.ok = false};
    struct options *o = arena_memdup(l->arena, &l->setup->options, sizeof *o);
    if (o->max_cycles == 0) /* far above the cost of stalls and slow memory */
        o->max_cycles = 50000 + 40 * l->program->est_cycles;
    TRY(device_open(v, l->arena, o, &l->setup->hw, engine, so, NULL, l->memory_bytes,
                    &(struct device_text){l->row_name, l->graph->n_row, NULL, NULL}, d));
    enum status st = run_device(l, v, shuffle, watch, result);
    device_close(v);
    return st;
}

/* --- the first difference of two engines ----------------------------------------------------- */

static enum status watch_both(const struct layer *l, const struct sim_model *so,
                              struct layer_watch watch[2], struct diag *d)
{
    struct layer_result r;

    TRY(layer_execute(l, ENGINE_FUNC, NULL, false, &watch[0], &r, d));
    return layer_execute(l, ENGINE_RTL, so, false, &watch[1], &r, d);
}

enum status layer_part(const struct layer *l, const struct sim_model *so, struct text *t,
                       struct diag *d)
{
    struct commit_log log[2] = {{.arena = l->arena}, {.arena = l->arena}};
    struct layer_watch watch[2] = {{commit_log_sink, commit_log_submission, &log[0]},
                                   {commit_log_sink, commit_log_submission, &log[1]}};
    struct commit_place place;
    struct mismatch m;

    TRY(watch_both(l, so, watch, d));
    if (!commit_log_first(&log[0], &log[1], &place)) {
        text_add(t, "RTL and functional model write the same bytes for every command: look at the "
                    "compiler");
        return ST_OK;
    }
    const struct sched_stream *s = &l->program->stream[place.submission];
    const struct sched_command *c = &s->cmd[place.command < s->n ? place.command : s->n - 1];
    struct commit_capture capture[2] = {{.arena = l->arena, .place = place},
                                        {.arena = l->arena, .place = place}};
    for (uint32_t k = 0; k < 2; k++)
        watch[k] =
            (struct layer_watch){commit_capture_sink, commit_capture_submission, &capture[k]};
    TRY(watch_both(l, so, watch, d));
    if (commit_capture_compare(&capture[0], &capture[1], &m)) {
        mismatch_locate(&m, c->w.word, l->setup->hw.n);
        text_add(t, mismatch_text(l->arena, &m, l->row_name[c->row]));
    }
    text_add(t, "\n    ");
    sched_print_command(l->program, c, t);
    return ST_OK;
}
