/* generate.c - see generate.h. Values are integers until the last step, so that they are equal on
 * every machine: 16 bits, with -32768 to 32767 for the whole range. */
#include "generate.h"

#include <string.h>

#include "base/random.h"
#include "coverage.h"

enum kind { UNIFORM, SMOOTH, EXTREMES, SCALED, KINDS };

/* Candidates per inference, and the multiply-adds of the reference for four inferences: about a
 * third of a second. More candidates are tried if those take less than a tenth. */
enum { TRIES = 5, MOST_TRIES = 24 };
#define TRIES_WORK      256000000u
#define MOST_TRIES_WORK 64000000u

/* With fewer products per weight and inference, few inferences reveal a fault of a weight. */
enum { FEW_PRODUCTS = 4, SOME_PRODUCTS = 32 };

/* How the 16 bits become values. cell: 0, each value is independent; otherwise a smooth field whose
 * lattice spacing is this fraction of the longer side. ends: the lowest value, the highest and the
 * zero point. Otherwise values are scaled by 1 / 2^shift around the middle of the range or the zero
 * point. */
struct form {
    uint32_t cell, shift;
    bool middle, ends;
};

enum { MOST_FORMS = 12 };

/* Candidates of each kind in the order in which they are tried, as far as the work allows; then
 * again with other bits. */
static const struct forms {
    uint32_t n;
    struct form form[MOST_FORMS];
} forms[KINDS] = {
    [UNIFORM] = {1, {{.middle = true}}},
    [SMOOTH] = {5,
                {{.cell = 4, .middle = true},
                 {.cell = 8, .middle = true},
                 {.cell = 2, .middle = true},
                 {.cell = 16, .middle = true},
                 {.cell = 8}}},
    [EXTREMES] = {5,
                  {{.ends = true},
                   {.ends = true, .cell = 8},
                   {.ends = true, .cell = 4},
                   {.ends = true, .cell = 2},
                   {.ends = true, .cell = 16}}},
    [SCALED] = {12,
                {{.cell = 4, .shift = 2},
                 {.shift = 3},
                 {.shift = 5},
                 {.cell = 4, .shift = 1, .middle = true},
                 {.shift = 2, .middle = true},
                 {.cell = 4, .shift = 4},
                 {.shift = 1},
                 {.shift = 6},
                 {.cell = 4, .shift = 3, .middle = true},
                 {.shift = 4, .middle = true},
                 {.cell = 4},
                 {.shift = 2}}},
};

struct generator {
    const struct job *job;
    const struct ir_graph *g; /* the network as imported; for a package only its inputs */
    uint64_t seed;
};

static uint64_t weight_bytes(const struct ir_graph *g, const struct ir_op *o)
{
    uint64_t bytes = 0;

    for (uint32_t k = 0; k < o->n_in; k++) {
        const struct ir_tensor *t = o->in[k] == IR_NONE ? NULL : g->tensor[o->in[k]];
        if (t && t->role == IR_CONST && ir_is_code(t->type))
            bytes += ir_bytes(t);
    }
    return bytes;
}

/* Return the number of inferences from the products per inference of a byte of the weights, 1 in a
 * fully connected layer. rare: bytes with few products. */
static uint32_t count_of(const struct ir_graph *g)
{
    const uint64_t macs = ir_graph_macs(g);
    uint64_t bytes = 0, rare = 0;

    for (uint32_t i = 0; i < g->n_op; i++) {
        const uint64_t of = g->op[i]->dead ? 0 : weight_bytes(g, g->op[i]);
        bytes += of;
        rare += ir_macs(g, g->op[i]) < FEW_PRODUCTS * of ? of : 0;
    }
    if (2 * rare > bytes)
        return GENERATE_MANY;
    return macs < SOME_PRODUCTS * bytes && GENERATE_INFERENCES * macs < MOST_TRIES_WORK
               ? GENERATE_SOME
               : GENERATE_INFERENCES;
}

uint32_t generate_count(const struct job *job)
{
    const struct options *o = job->options;

    if (o->inferences)
        return o->inferences;
    if (o->command == COMMAND_BENCH || job->package || o->fill != FILL_RANDOM)
        return 1;
    return job->p->reference ? count_of(job->p->reference) : GENERATE_INFERENCES;
}

/* --- one value --- */

/* Return a hash of the two numbers. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t state = a ^ (b * 0xd1342543de82ef95u);

    return random_next(&state);
}

static int32_t bits16(uint64_t random)
{
    return (int32_t)(random >> 48) - 32768;
}

/* Return the random value of a field at a lattice corner. */
static int32_t corner(uint64_t seed, uint64_t y, uint64_t x)
{
    return bits16(mix(mix(seed, y), x));
}

static uint64_t lattice(uint64_t h, uint64_t w, uint32_t part)
{
    const uint64_t side = h > w ? h : w, cell = (side + part - 1) / part;

    return cell < 2 ? 2 : cell;
}

/* Return value i of a smooth field over the tensor's rows and columns, different for each
 * channel. */
static int32_t field(uint64_t seed, const struct ir_tensor *t, uint32_t part, uint64_t i)
{
    const uint64_t c = t->rank > 2 ? (uint64_t)ir_dim_back(t, 0) : 1,
                   w = (uint64_t)ir_dim_back(t, t->rank > 2 ? 1 : 0), h = ir_elements(t) / (c * w),
                   cell = lattice(h, w, part), x = i / c % w, y = i / c / w;
    const int64_t fx = (int64_t)(x % cell), fy = (int64_t)(y % cell), n = (int64_t)cell;
    const uint64_t own = mix(seed, i % c);
    int64_t top = corner(own, y / cell, x / cell) * (n - fx) +
                  corner(own, y / cell, x / cell + 1) * fx,
            below = corner(own, y / cell + 1, x / cell) * (n - fx) +
                    corner(own, y / cell + 1, x / cell + 1) * fx;

    return (int32_t)((top * (n - fy) + below * fy) / (n * n));
}

static int32_t extreme(uint64_t random)
{
    static const int32_t of[] = {-32768, 32767, 0, -32768, 32767, -32768, 32767, 0};

    return of[random % 8];
}

/* The same for a field: areas instead of pixels. */
static int32_t extreme_of_field(int32_t v)
{
    return v < -4096 ? -32768 : v > 4096 ? 32767 : 0;
}

/* --- from 16 bits to the tensor's type --- */

static void bounds(const struct ir_tensor *t, int32_t *low, int32_t *high)
{
    *low = t->type == IR_I8 ? -128 : t->type == IR_I16 ? -32768 : 0;
    *high = t->type == IR_I8 ? 127 : t->type == IR_I16 ? 32767 : t->type == IR_BOOL ? 1 : 255;
}

/* Return the largest magnitude of a float32 input: from the QUANTIZE that reads it, otherwise 1. */
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

/* Return the number of values that an index may have: the size of the dimension that the GATHER
 * selects from; 0: it is not an index. */
static uint64_t index_range(const struct ir_graph *g, uint32_t tensor)
{
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (op->dead)
            continue;
        if (ir_gathers(op) && op->in[1] == tensor)
            return (uint64_t)ir_in(g, op, 0)->dim[op->attr[IR_AXIS]];
        if ((ir_is_reshape(op) || op->opcode == IR_OP_CAST) && op->in[0] == tensor)
            return index_range(g, op->out[0]);
    }
    return 0;
}

/* The form of an input's values. */
struct values {
    const struct ir_tensor *t;
    struct form form;
    float magnitude;
    uint64_t indices;
};

static void put(const struct values *f, uint8_t *bytes, uint64_t i, int32_t v)
{
    const uint32_t size = ir_type_bytes(f->t->type);
    int32_t low, high;
    int64_t code;

    if (f->t->type == IR_F32) {
        float value = (float)v / (float)(32768 << f->form.shift) * f->magnitude;
        memcpy(bytes + 4 * i, &value, 4);
        return;
    }
    bounds(f->t, &low, &high);
    const int32_t middle =
        f->form.middle || f->t->quant.n == 0 ? low + (high - low + 1) / 2 : ir_zero_point(f->t);
    code = middle + (int64_t)v * (high - low) / (32768 << f->form.shift);
    code = code < low ? low : code > high ? high : code;
    if (f->indices)
        code = (int64_t)((uint64_t)(v + 32768) * f->indices >> 16);
    else if (ir_is_int(f->t->type))
        code = v;
    memcpy(bytes + i * size, &code, size); /* little-endian, as everywhere in heddle */
}

/* --- one inference --- */

/* Fill an inference as earlier versions did: uniform bytes, or float32 in [-1, 1). */
static void uniform(const struct values *f, uint8_t *bytes, uint64_t n_bytes, uint64_t *state)
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

static int32_t value(const struct values *f, uint64_t seed, uint64_t i)
{
    if (f->form.cell == 0)
        return f->form.ends ? extreme(mix(seed, i)) : bits16(mix(seed, i));
    const int32_t v = field(seed, f->t, f->form.cell, i);
    return f->form.ends ? extreme_of_field(v) : v;
}

/* Make input `index` of inference k: candidate `at` of a kind. */
static void input(const struct generator *of, uint32_t index, uint32_t k, enum kind kind,
                  uint32_t at, uint64_t *state)
{
    const struct ir_graph *g = of->g;
    const struct run_data *data = &of->job->in[index];
    const struct ir_tensor *t = g->tensor[g->in[index]];
    uint8_t *bytes = data->bytes + k * data->n_bytes;
    const struct values f = {t, forms[kind].form[at % forms[kind].n], magnitude(g, t->id),
                             index_range(g, t->id)};
    const uint64_t seed = mix(mix(of->seed, k + ((uint64_t)at << 32)), index);

    if (kind == UNIFORM)
        uniform(&f, bytes, data->n_bytes, state);
    for (uint64_t i = 0; kind != UNIFORM && i < ir_elements(t); i++)
        put(&f, bytes, i, value(&f, seed, i));
}

static void inference(const struct generator *of, uint32_t k, enum kind kind, uint32_t at,
                      uint64_t *state)
{
    for (uint32_t i = 0; i < of->g->n_in; i++)
        input(of, i, k, kind, at, state);
}

/* --- choose a candidate --- */

struct chooser {
    const struct ir_graph *g; /* of the reference */
    struct ref *ref;
    struct coverage *seen, *one, *best;
    const uint8_t **in;
    uint8_t **out;
    uint32_t tries; /* candidates per inference; 0: no choice */
};

/* Return the multiply-adds of one inference on the reference, and of its coverage. */
static uint64_t work_of(const struct ir_graph *g, const struct coverage *c)
{
    uint64_t work = coverage_work(c) + ir_graph_macs(g);

    for (uint32_t i = 0; i < g->n_op; i++)
        work += g->op[i]->dead ? 0 : 4 * ir_elements(ir_out(g, g->op[i], 0));
    return work + 1;
}

/* Return the candidates per inference if all of KINDS may take `work`, at most `most`; the uniform
 * one has none. */
static uint32_t tries_of(uint64_t work, uint64_t one, uint32_t most)
{
    const uint64_t runs = work / one, tries = runs > 1 ? (runs - 1) / (KINDS - 1) : 0;

    return tries < most ? (uint32_t)tries : most;
}

static struct chooser chooser_of(const struct job *job)
{
    struct arena *a = job->arena;
    struct chooser c = {.g = job->p->reference};

    if (!c.g || job->n == 1)
        return c;
    c.seen = coverage_new(a, c.g);
    const uint64_t one = work_of(c.g, c.seen);
    const uint32_t more = tries_of(MOST_TRIES_WORK, one, MOST_TRIES);
    c.tries = tries_of(TRIES_WORK, one, TRIES);
    c.tries = more > c.tries ? more : c.tries;
    if (c.tries == 0)
        return c;
    const struct ref_options o = pipeline_ref_options(&job->options->legalise);
    c.ref = ref_new(a, c.g, &o);
    c.one = coverage_new(a, c.g);
    c.best = coverage_new(a, c.g);
    c.in = ARENA_ARRAY(a, const uint8_t *, c.g->n_in + 1);
    c.out = ARENA_ARRAY(a, uint8_t *, c.g->n_out + 1);
    for (uint32_t i = 0; i < c.g->n_out; i++)
        c.out[i] = arena_alloc(a, (size_t)ir_bytes(c.g->tensor[c.g->out[i]]));
    return c;
}

/* Run the reference on inference k; its coverage goes into c->one. */
static enum status look(const struct chooser *c, const struct job *job, uint32_t k, struct diag *d)
{
    for (uint32_t i = 0; i < c->g->n_in; i++)
        c->in[i] = job->in[i].bytes + k * job->in[i].n_bytes;
    coverage_clear(c->one);
    coverage_watch(c->one, c->ref);
    return ref_run(c->ref, c->in, c->out, d);
}

static void swap(struct coverage **a, struct coverage **b)
{
    struct coverage *was = *a;

    *a = *b;
    *b = was;
}

/* Choose for inference k the candidate that reveals most of what no earlier inference has. */
static enum status choose(const struct generator *of, struct chooser *c, uint32_t k, enum kind kind,
                          struct diag *d)
{
    uint64_t most = 0, least_ends = UINT64_MAX;
    uint32_t best = 0;

    for (uint32_t i = 0; i < c->tries; i++) {
        inference(of, k, kind, i, NULL);
        TRY(look(c, of->job, k, d));
        const uint64_t score = coverage_score(c->seen, c->one), ends = coverage_ends(c->one);
        if (score < most || (score == most && ends >= least_ends))
            continue;
        most = score;
        least_ends = ends;
        best = i;
        swap(&c->one, &c->best);
    }
    inference(of, k, kind, best, NULL);
    coverage_add(c->seen, c->best);
    return ST_OK;
}

/* Make inference k, whose coverage later inferences extend. */
static enum status uniform_inference(const struct generator *of, struct chooser *c, uint32_t k,
                                     uint64_t *state, struct diag *d)
{
    inference(of, k, UNIFORM, 0, state);
    TRY(look(c, of->job, k, d));
    coverage_add(c->seen, c->one);
    return ST_OK;
}

enum status generate_inputs(const struct job *job, struct diag *d)
{
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
    struct chooser c = chooser_of(job);
    for (uint32_t k = 0; k < job->n; k++) {
        const enum kind kind = k % KINDS;
        if (c.tries == 0 || k >= GENERATE_MANY)
            inference(&of, k, kind, 0, &state);
        else if (kind == UNIFORM)
            TRY(uniform_inference(&of, &c, k, &state, d));
        else
            TRY(choose(&of, &c, k, kind, d));
    }
    return ST_OK;
}
