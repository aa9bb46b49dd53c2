/* generate.c - see generate.h. Values are whole numbers until the last step, so that they are the same on
 * every machine: 16 bits, -32768 to 32767 for the whole range. */
#include "generate.h"

#include <string.h>

#include "base/random.h"
#include "coverage.h"

enum kind { UNIFORM, SMOOTH, EXTREMES, SCALED, KINDS };

/* Multiply-adds of the reference that a choice of amplitudes may take: about a third of a second. */
#define CHOICE_WORK 256000000u

/* With fewer products per weight and inference, a fault of a weight shows in few of them. */
#define FEW_PRODUCTS 4

/* The 16 bits, times 1 / 2^shift, around the zero point or the middle of the range. */
struct amplitude {
    uint32_t shift;
    bool smooth, middle;
};

/* In the order in which they are tried, while the work allows. */
static const struct amplitude amplitudes[] = {
    {2, true, false}, {3, false, false}, {5, false, false}, {1, true, true},
    {2, false, true}, {4, true, false},  {1, false, false}, {6, false, false},
    {3, true, true},  {4, false, true},  {0, true, false},  {2, false, false},
};

enum { AMPLITUDES = sizeof amplitudes / sizeof amplitudes[0] };

struct generator {
    struct run_job *job;
    const struct ir_graph *g; /* the network as imported; of a package, its inputs alone */
    uint64_t seed;
};

/* Products per inference of a byte of the network's weights: 1 where all layers are fully connected. */
static uint64_t reuse(const struct ir_graph *g)
{
    uint64_t macs = 0, bytes = 0;

    for (uint32_t i = 0; i < g->n_op; i++)
        macs += g->op[i]->dead ? 0 : ir_macs(g, g->op[i]);
    for (uint32_t i = 0; i < g->n_tensor; i++)
        if (g->tensor[i]->role == IR_CONST && ir_is_code(g->tensor[i]->type))
            bytes += ir_bytes(g->tensor[i]);
    return bytes ? macs / bytes : UINT64_MAX;
}

uint32_t generate_count(const struct run_job *job)
{
    const struct options *o = job->options;

    if (o->inferences)
        return o->inferences;
    if (o->command == COMMAND_BENCH || job->package || o->fill != FILL_RANDOM)
        return 1;
    return job->p->reference && reuse(job->p->reference) < FEW_PRODUCTS ? GENERATE_MANY
                                                                        : GENERATE_INFERENCES;
}

/* --- one value --- */

/* A number that follows from all that it is given. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t state = a ^ (b * 0xd1342543de82ef95u);

    return random_next(&state);
}

static int32_t bits16(uint64_t random)
{
    return (int32_t)(random >> 48) - 32768;
}

/* The random value of a field at a corner of the lattice. */
static int32_t corner(uint64_t seed, uint64_t y, uint64_t x)
{
    return bits16(mix(mix(seed, y), x));
}

/* A quarter of the longer side, so that most windows see a slope. */
static uint64_t lattice(uint64_t h, uint64_t w)
{
    const uint64_t side = h > w ? h : w;

    return side < 8 ? 2 : (side + 3) / 4;
}

/* Value i of a smooth field over the tensor's rows and columns, another one for each channel. */
static int32_t field(uint64_t seed, const struct ir_tensor *t, uint64_t i)
{
    const uint64_t c = t->rank > 2 ? (uint64_t)ir_dim_back(t, 0) : 1,
                   w = (uint64_t)ir_dim_back(t, t->rank > 2 ? 1 : 0), h = ir_elements(t) / (c * w),
                   cell = lattice(h, w), x = i / c % w, y = i / c / w;
    const int64_t fx = (int64_t)(x % cell), fy = (int64_t)(y % cell), n = (int64_t)cell;
    const uint64_t own = mix(seed, i % c);
    int64_t top = corner(own, y / cell, x / cell) * (n - fx) +
                  corner(own, y / cell, x / cell + 1) * fx,
            below = corner(own, y / cell + 1, x / cell) * (n - fx) +
                    corner(own, y / cell + 1, x / cell + 1) * fx;

    return (int32_t)((top * (n - fy) + below * fy) / (n * n));
}

static int32_t extreme(uint64_t seed, uint64_t i)
{
    static const int32_t of[] = {-32768, 32767, 0, -32768, 32767, -32768, 32767, 0};

    return of[mix(seed, i) % 8];
}

/* --- from 16 bits to the tensor's type --- */

static void bounds(const struct ir_tensor *t, int32_t *low, int32_t *high)
{
    *low = t->type == IR_I8 ? -128 : t->type == IR_I16 ? -32768 : 0;
    *high = t->type == IR_I8 ? 127 : t->type == IR_I16 ? 32767 : t->type == IR_BOOL ? 1 : 255;
}

/* Largest magnitude of a float32 input: of the QUANTIZE that reads it, else 1. */
static float magnitude(const struct ir_graph *g, uint32_t tensor)
{
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        const struct ir_quant *q = &ir_out(g, op, 0)->quant;
        if (!op->dead && op->opcode == IR_OP_QUANTIZE && op->in[0] == tensor && q->n == 1)
            return q->scale[0] * (ir_out(g, op, 0)->type == IR_I16 ? 32768.0f : 256.0f);
    }
    return 1;
}

/* Number of values that an index may have: the size of the dimension from which GATHER selects
 * by it; 0: it is no index. */
static uint64_t index_range(const struct ir_graph *g, uint32_t tensor)
{
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (op->dead)
            continue;
        if (op->opcode == IR_OP_GATHER && op->in[1] == tensor)
            return (uint64_t)ir_in(g, op, 0)->dim[op->attr[IR_AXIS]];
        if ((ir_is_reshape(op) || op->opcode == IR_OP_CAST) && op->in[0] == tensor)
            return index_range(g, op->out[0]);
    }
    return 0;
}

/* The form of an input's values. */
struct form {
    const struct ir_tensor *t;
    struct amplitude amplitude;
    float magnitude;
    uint64_t indices;
};

static void put(const struct form *f, uint8_t *bytes, uint64_t i, int32_t v)
{
    const uint32_t size = ir_type_bytes(f->t->type);
    int32_t low, high;
    int64_t code;

    if (f->t->type == IR_F32) {
        float value = (float)v / (float)(32768 << f->amplitude.shift) * f->magnitude;
        memcpy(bytes + 4 * i, &value, 4);
        return;
    }
    bounds(f->t, &low, &high);
    const int32_t middle = f->amplitude.middle || f->t->quant.n == 0 ? low + (high - low + 1) / 2
                                                                     : ir_zero_point(f->t);
    code = middle + (int64_t)v * (high - low) / (32768 << f->amplitude.shift);
    code = code < low ? low : code > high ? high : code;
    if (f->indices)
        code = (int64_t)((uint64_t)(v + 32768) * f->indices >> 16);
    else if (ir_is_int(f->t->type))
        code = v;
    memcpy(bytes + i * size, &code, size); /* little-endian, as all of heddle */
}

/* --- one inference --- */

/* As every run before this one had them: bytes, or float32 of [-1, 1). */
static void uniform(const struct form *f, uint8_t *bytes, uint64_t n_bytes, uint64_t *state)
{
    for (uint64_t i = 0; i < n_bytes; i++)
        bytes[i] = (uint8_t)(random_next(state) >> 24);
    for (uint64_t i = 0; f->t->type == IR_F32 && i < n_bytes / 4; i++) {
        float value = (float)(random_next(state) >> 40) / 8388608.0f - 1.0f;
        memcpy(bytes + 4 * i, &value, 4);
    }
    for (uint64_t i = 0; f->indices && i < ir_elements(f->t); i++)
        put(f, bytes, i, bits16(random_next(state)));
    for (uint64_t i = 0; f->t->type == IR_BOOL && i < n_bytes; i++)
        bytes[i] &= 1;
}

static void fill(enum options_fill mode, const struct ir_tensor *t, uint8_t *bytes)
{
    const float one = 1;

    memset(bytes, 0, ir_bytes(t));
    for (uint64_t i = 0; mode == FILL_ONES && i < ir_elements(t); i++)
        if (t->type == IR_F32)
            memcpy(bytes + 4 * i, &one, 4);
        else
            bytes[i * ir_type_bytes(t->type)] = 1;
}

/* Input `index` of inference k, by a kind. */
static void input(const struct generator *of, uint32_t index, uint32_t k, enum kind kind,
                  struct amplitude amplitude, uint64_t *state)
{
    const struct ir_graph *g = of->g;
    const struct run_data *data = &of->job->in[index];
    const struct ir_tensor *t = g->tensor[g->in[index]];
    uint8_t *bytes = data->bytes + k * data->n_bytes;
    const struct form f = {t, amplitude, magnitude(g, t->id), index_range(g, t->id)};
    const uint64_t seed = mix(mix(of->seed, k), index);

    if (kind == UNIFORM)
        uniform(&f, bytes, data->n_bytes, state);
    for (uint64_t i = 0; kind != UNIFORM && i < ir_elements(t); i++)
        put(&f, bytes, i,
            kind == EXTREMES                                         ? extreme(seed, i)
            : kind == SMOOTH || (kind == SCALED && amplitude.smooth) ? field(seed, t, i)
                                                                     : bits16(mix(seed, i)));
}

static void inference(const struct generator *of, uint32_t k, enum kind kind,
                      struct amplitude amplitude, uint64_t *state)
{
    for (uint32_t i = 0; i < of->g->n_in; i++)
        input(of, i, k, kind, amplitude, state);
}

/* --- the choice of an amplitude --- */

struct chooser {
    const struct ir_graph *g; /* of the reference */
    struct ref *ref;
    struct coverage *seen, *one;
    const uint8_t **in;
    uint8_t **out;
    uint32_t tries; /* amplitudes that the work allows; below 2: there is no choice */
};

static struct chooser chooser_of(const struct run_job *job)
{
    struct arena *a = job->arena;
    struct chooser c = {.g = job->p->reference};
    uint64_t work = 1;

    if (!c.g || job->n <= SCALED)
        return c;
    for (uint32_t i = 0; i < c.g->n_op; i++)
        if (!c.g->op[i]->dead)
            work += ir_macs(c.g, c.g->op[i]) + 4 * ir_elements(ir_out(c.g, c.g->op[i], 0));
    const uint64_t runs = CHOICE_WORK / work;
    if (runs < SCALED + 2)
        return c;
    const struct ref_options o = pipeline_ref_options(&job->options->legalise);
    c.tries = runs - SCALED < AMPLITUDES ? (uint32_t)runs - SCALED : AMPLITUDES;
    c.ref = ref_new(a, c.g, &o);
    c.seen = coverage_new(a, c.g);
    c.one = coverage_new(a, c.g);
    ref_set_tap(c.ref, coverage_tap, c.one);
    c.in = ARENA_ARRAY(a, const uint8_t *, c.g->n_in + 1);
    c.out = ARENA_ARRAY(a, uint8_t *, c.g->n_out + 1);
    for (uint32_t i = 0; i < c.g->n_out; i++)
        c.out[i] = arena_alloc(a, job->out[i].n_bytes);
    return c;
}

/* Record the values of the reference's tensors in inference k in c->one. */
static enum status look(const struct chooser *c, const struct run_job *job, uint32_t k,
                        struct diag *d)
{
    for (uint32_t i = 0; i < c->g->n_in; i++)
        c->in[i] = job->in[i].bytes + k * job->in[i].n_bytes;
    coverage_clear(c->one);
    return ref_run(c->ref, c->in, c->out, d);
}

/* Inference k with the amplitude that covers most values not covered by the inferences before. */
static enum status scaled(const struct generator *of, const struct chooser *c, uint32_t k,
                          struct diag *d)
{
    uint64_t most = 0, least_ends = UINT64_MAX;
    uint32_t best = 0;

    for (uint32_t i = 0; i < c->tries; i++) {
        inference(of, k, SCALED, amplitudes[i], NULL);
        TRY(look(c, of->job, k, d));
        const uint64_t score = coverage_score(c->seen, c->one), ends = coverage_ends(c->one);
        if (score < most || (score == most && ends >= least_ends))
            continue;
        most = score;
        least_ends = ends;
        best = i;
    }
    inference(of, k, SCALED, amplitudes[best], NULL);
    return ST_OK;
}

enum status generate_inputs(struct run_job *job, struct diag *d)
{
    static const struct amplitude whole[] = {
        [UNIFORM] = {0, false, true}, [SMOOTH] = {0, true, true}, [EXTREMES] = {0, false, false}};
    const struct ir_graph *g = job->p->reference ? job->p->reference : job->p->graph;
    struct generator of = {job, g, job->options->seed};
    uint64_t state = of.seed;

    for (uint32_t i = 0; i < g->n_in; i++)
        job->in[i].bytes = arena_alloc(job->arena, job->in[i].n_bytes * job->n);
    if (job->options->fill != FILL_RANDOM) {
        for (uint32_t k = 0; k < job->n; k++)
            for (uint32_t i = 0; i < g->n_in; i++)
                fill(job->options->fill, g->tensor[g->in[i]],
                     job->in[i].bytes + k * job->in[i].n_bytes);
        return ST_OK;
    }
    const struct chooser c = chooser_of(job);
    for (uint32_t k = 0; k < job->n; k++) {
        const enum kind kind = k % KINDS;
        if (kind == SCALED && c.tries)
            TRY(scaled(&of, &c, k, d));
        else
            inference(&of, k, kind, kind == SCALED ? amplitudes[0] : whole[kind], &state);
        if (!c.tries)
            continue;
        TRY(look(&c, job, k, d));
        coverage_add(c.seen, c.one);
    }
    return ST_OK;
}
