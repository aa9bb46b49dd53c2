/* corrupted.c - streams of random layers with wrong bits: each must end with a named fault or in a
 * bounded wait, write only bytes that its regions' rights allow, and leave a device that runs the
 * next job correctly.
 *
 *     corrupted --hw tiny --engine rtl --count 40000 --seed 1
 *
 * Each time one of: a bit, a burst of up to 32 bits, a word, four words. --sealed: with the right
 * CRC
 * for what is wrong, as of a program that makes nonsense: rights and the next job only.
 * Exit status 0: all of that; 1: not; 2: usage. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/home.h"
#include "driver/hd_crc.h"
#include "hd_accel_tables.h"
#include "layer_run.h"

enum { EACH = 50, MAX_SHOWN = 5 }; /* EACH corruptions of a layer */

struct bench {
    const char *hw;
    enum options_engine engine;
    bool sealed;
    uint32_t count, done;
    uint64_t seed;
    struct hd_config config;
    struct sim_model so;
    uint32_t faults[HD_FAULT_COUNT], unnamed, stuck, timeouts, unnoticed, silent, written, next;
};

/* A layer on a device. */
struct trial {
    struct bench *bench;
    const struct layer *l;
    struct device v;
    uint8_t *good; /* all of the device's memory before a run */
    struct layers_rng rng;
};

static const struct argp_option table[] = {
    {"hw", 'w', "NAME", 0, "configuration (default tiny)", 0},
    {"engine", 'e', "NAME", 0, "func or rtl (default func)", 0},
    {"count", 'n', "N", 0, "corruptions (default 1000)", 0},
    {"seed", 's', "N", 0, "of the first layer (default 1)", 0},
    {"sealed", 'c', NULL, 0, "with the CRC of what is wrong", 0},
    {0}};

static error_t option(int key, char *arg, struct argp_state *state)
{
    struct bench *b = state->input;

    switch (key) {
    case 'w': b->hw = arg; return 0;
    case 'e':
        if (strcmp(arg, "func") != 0 && strcmp(arg, "rtl") != 0)
            argp_error(state, "--engine: expected func or rtl");
        b->engine = arg[0] == 'r' ? ENGINE_RTL : ENGINE_FUNC;
        return 0;
    case 'n': b->count = (uint32_t)strtoul(arg, NULL, 0); return 0;
    case 's': b->seed = strtoull(arg, NULL, 0); return 0;
    case 'c': b->sealed = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void flip(uint8_t *bytes, uint32_t n_bytes, uint64_t at, uint32_t bits)
{
    for (uint32_t i = 0; i < 32 && (at + i) / 8 < n_bytes; i++)
        if (bits >> i & 1u)
            bytes[(at + i) / 8] ^= (uint8_t)(1u << (at + i) % 8);
}

/* Change one thing in a stream. */
static void corrupt(struct trial *j, uint8_t *stream, uint32_t n_bytes)
{
    struct layers_rng *r = &j->rng;
    const uint64_t bit = layers_next(r) % (n_bytes * 8);
    const uint32_t word = (uint32_t)layers_next(r) | 1u;

    switch (layers_range(r, 0, 3)) {
    case 0: flip(stream, n_bytes, bit, 1); return;
    case 1: flip(stream, n_bytes, bit, word); return;
    case 2: flip(stream, n_bytes, bit & ~UINT64_C(31), word); return;
    default:
        for (uint32_t i = 0; i < 4; i++)
            flip(stream, n_bytes, layers_next(r) % n_bytes * 8 & ~UINT64_C(31),
                 (uint32_t)layers_next(r) | 1u);
    }
}

static int submit_all(struct trial *j)
{
    int rc = HD_OK;

    for (uint32_t k = 0; rc == HD_OK && k < j->l->program->n_stream; k++)
        rc = hd_run(&j->v.dev, j->l->program->stream[k].offset, j->l->program->stream[k].n_bytes);
    return rc;
}

static bool outputs_right(const struct trial *j)
{
    const struct layer *l = j->l;

    for (uint32_t i = 0; i < l->graph->n_out; i++) {
        const uint32_t region = HD_REGION_IO + l->graph->n_in + i;
        if (memcmp(j->v.memory + l->at[region], l->expected[i], l->n_bytes[region]) != 0)
            return false;
    }
    return true;
}

/* Return true if all bytes outside writable regions equal those of `before`. */
static bool others_kept(const struct trial *j, const uint8_t *before)
{
    const struct layer *l = j->l;
    uint64_t at = 0;

    for (uint32_t i = 0; i <= l->n_region; i++) {
        const bool end = i == l->n_region;
        if (!end && !(layer_rights(l, i) & HD_WRITE))
            continue;
        const uint64_t to = end ? j->v.n_bytes : l->at[i];
        if (memcmp(j->v.memory + at, before + at, to - at) != 0)
            return false;
        at = end ? to : to + l->n_bytes[i];
    }
    return true;
}

static void show(const struct trial *j, uint32_t n, const char *what)
{
    if (n < MAX_SHOWN)
        printf("layer %llu, %s: --hw %s --engine %s --seed %llu --count %u%s\n",
               (unsigned long long)j->l->setup->seed, what, j->bench->hw,
               j->bench->engine == ENGINE_RTL ? "rtl" : "func",
               (unsigned long long)j->l->setup->seed, EACH, j->bench->sealed ? " --sealed" : "");
}

static void count_end(struct trial *j, int rc)
{
    struct bench *b = j->bench;
    const struct hd_fault_info *f = &j->v.dev.fault;

    if (rc == HD_ERROR_TIMEOUT) {
        b->timeouts++;
    } else if (rc == HD_ERROR_STUCK) {
        b->stuck++;
    } else if (rc == HD_ERROR_FAULT && f->code > 0 && f->code < HD_FAULT_COUNT &&
               f->unit < HD_UNIT_COUNT) {
        b->faults[f->code]++;
    } else if (rc != HD_OK) {
        show(j, b->unnamed++, hd_error_text(rc));
    } else if (!b->sealed) {
        show(j, b->unnoticed++, "unnoticed");
        if (!outputs_right(j))
            show(j, b->silent++, "silently wrong");
    }
}

static int corrupt_and_run(struct trial *j, uint8_t *before)
{
    const struct sched_program *p = j->l->program;
    struct device *v = &j->v;
    const struct sched_stream *s = &p->stream[layers_range(&j->rng, 0, (int32_t)p->n_stream - 1)];
    uint8_t *stream = v->memory + j->l->at[HD_REGION_COMMANDS] + s->offset;
    struct hd_header header;
    int rc;

    memcpy(v->memory, j->good, v->n_bytes);
    corrupt(j, stream, s->n_bytes);
    if (j->bench->sealed) {
        memcpy(&header, stream, sizeof header);
        header.crc = hd_stream_crc(stream, s->n_bytes);
        memcpy(stream, &header, sizeof header);
    }
    memcpy(before, v->memory, v->n_bytes);
    rc = submit_all(j);
    count_end(j, rc);
    if (!others_kept(j, before))
        show(j, j->bench->written++, "wrote without the right");
    if (rc == HD_ERROR_TIMEOUT || rc == HD_ERROR_STUCK)
        rc = hd_reset(&v->dev);
    return rc == HD_ERROR_FAULT ? HD_OK : rc;
}

static enum status run_trial(struct trial *j, struct diag *d)
{
    const struct layer *l = j->l;
    struct device *v = &j->v;
    struct options *o = arena_memdup(l->arena, &l->setup->options, sizeof *o);
    uint8_t *before;

    o->max_cycles = 5000 + 3 * l->program->est_cycles;
    TRY(device_open(v, l->arena, o, &l->setup->hw, j->bench->engine, &j->bench->so, NULL,
                    l->memory_bytes,
                    &(struct device_text){l->row_name, l->graph->n_row, NULL, NULL}, d));
    j->good = arena_alloc(l->arena, v->n_bytes);
    before = arena_alloc(l->arena, v->n_bytes);
    memset(j->good, 0xa5, v->n_bytes);
    for (uint32_t i = 0; i < l->n_region; i++) {
        memcpy(j->good + l->at[i], l->bytes[i], l->n_bytes[i]);
        if (hd_bind(&v->dev, i, v->memory + l->at[i], DEVICE_BASE + l->at[i], l->n_bytes[i],
                    layer_rights(l, i)) != HD_OK)
            return FAIL(d, ST_INTERNAL, "region %u is not bound", i);
    }
    for (uint32_t i = 0; i < EACH && j->bench->done < j->bench->count; i++, j->bench->done++) {
        int rc = corrupt_and_run(j, before);

        memcpy(v->memory, j->good, v->n_bytes);
        if (rc == HD_OK)
            rc = submit_all(j);
        if (rc != HD_OK || !outputs_right(j) || !others_kept(j, j->good))
            show(j, j->bench->next++, rc == HD_OK ? "next job wrong" : hd_error_text(rc));
    }
    device_close(v);
    return ST_OK;
}

static enum status run_layer(struct bench *b, uint64_t seed, struct diag *d)
{
    struct arena *a = arena_new(0);
    struct layer_setup s = {.seed = seed, .hw = b->config};
    struct trial *j = ARENA_NEW(a, struct trial);
    struct layer l;
    enum status st;

    s.options.mem_latency = 16;
    *j = (struct trial){.bench = b, .l = &l, .rng = {seed + 99}};
    st = layer_compile(a, &s, &l, d);
    if (st == ST_OK && !l.refused && l.program->n_stream > 0)
        st = run_trial(j, d);
    else if (st == ST_NO_SPACE)
        st = ST_OK;
    arena_free(a);
    return st;
}

static int report(const struct bench *b)
{
    printf("corrupted %s %s%s: %u streams from seed %llu: ", b->hw,
           b->engine == ENGINE_RTL ? "rtl" : "func", b->sealed ? " sealed" : "", b->done,
           (unsigned long long)b->seed);
    for (uint32_t i = 1; i < HD_FAULT_COUNT; i++)
        if (b->faults[i])
            printf("%u %s, ", b->faults[i], hd_fault_names[i]);
    printf("%u waits that never hold, %u too long; %u unnoticed, %u silently wrong, %u writes "
           "without the right, %u ends without a name, %u next jobs wrong\n",
           b->stuck, b->timeouts, b->unnoticed, b->silent, b->written, b->unnamed, b->next);
    return b->unnoticed || b->written || b->unnamed || b->next;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {table, option, NULL, "Streams with wrong bits: a fault each.",
                                     NULL,  NULL,   NULL};
    static struct bench b = {.hw = "tiny", .engine = ENGINE_FUNC, .count = 1000, .seed = 1};
    struct arena *a = arena_new(0);
    struct sim_paths paths = {0};
    struct diag d = {0};
    enum status st;

    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &b);
    st = pipeline_config(a, b.hw, &b.config, &d);
    if (st == ST_OK && b.engine == ENGINE_RTL) {
        st = home_find(a, &paths.home, &d);
        st = st == ST_OK ? home_cache(a, &paths.cache, &d) : st;
        st = st == ST_OK ? sim_build(a, &paths, &b.config, &b.so, &d) : st;
    }
    for (uint64_t i = 0; st == ST_OK && b.done < b.count; i++)
        st = run_layer(&b, b.seed + i, &d);
    arena_free(a);
    if (st != ST_OK) {
        printf("%s\n", d.text);
        return status_exit_code(d.status);
    }
    return report(&b);
}
