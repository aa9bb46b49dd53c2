/* coverage.c - see coverage.h. Keeps one set of 256 values per channel; for int16 of the upper
 * byte. All arithmetic is on integers, so results are equal on every machine. */
#include "coverage.h"

#include <string.h>

struct set {
    uint64_t bits[4];
};

/* An operator with constant weights. */
struct layer {
    uint32_t in;           /* tensor */
    uint32_t n_in, n_out;  /* channels */
    uint32_t group;        /* input channels per output channel; */
    uint32_t outs;         /* output channels per group */
    uint32_t taps;         /* weights per pair of channels */
    const uint64_t *scale; /* by output channel: scale of a product, in results times 2^32 */
    uint32_t first;        /* index of its first exposure: [n_out][group] */
};

struct coverage {
    const struct ir_graph *g;
    struct ref *ref;
    uint32_t n;      /* sets in all */
    uint32_t *first; /* by tensor: index of its channels' sets, or IR_NONE */
    struct set *set;
    uint64_t n_ends;
    uint32_t n_layer, n_exposure;
    struct layer *layer;
    uint32_t *of_op;    /* by operator: index of its layer, or IR_NONE */
    uint32_t *exposure; /* in results / EXPOSURE_ONE, at most EXPOSURE_MOST */
    /* By channel: the current operator's results that do not saturate; sums of its operands. */
    uint64_t *free, *sum;
};

enum { EXPOSURE_ONE = 256, EXPOSURE_MOST = 1 << 24 };

static uint32_t channels(const struct ir_tensor *t)
{
    return (uint32_t)ir_dim_back(t, 0);
}

/* --- layers --- */

static const uint64_t *scales(struct arena *a, const struct ir_tensor *in,
                              const struct ir_tensor *w, const struct ir_tensor *out, uint32_t n)
{
    uint64_t *scale = ARENA_ARRAY(a, uint64_t, n + 1);

    for (uint32_t i = 0; i < n; i++) {
        const double s = (double)in->quant.scale[0] *
                         (double)w->quant.scale[w->quant.n == n ? i : 0] /
                         (double)out->quant.scale[0];
        scale[i] = s > 0 && s < 1 ? (uint64_t)(s * 4294967296.0) : 0;
    }
    return scale;
}

static bool quantised(const struct ir_tensor *t)
{
    return t && ir_is_code(t->type) && t->quant.n > 0;
}

/* Return false if `op` does not multiply a quantised operand by constant weights. */
static bool layer_of(struct coverage *c, struct arena *a, const struct ir_op *op, struct layer *l)
{
    const struct ir_graph *g = c->g;
    const struct ir_tensor *in = ir_in(g, op, 0), *w = ir_in(g, op, 1),
                           *out = op->n_out ? ir_out(g, op, 0) : NULL;

    if (op->dead || ir_macs(g, op) == 0 || w->role != IR_CONST || in->role == IR_CONST ||
        !quantised(in) || !quantised(w) || !quantised(out))
        return false;
    *l = (struct layer){.in = in->id,
                        .n_in = channels(in),
                        .n_out = channels(out),
                        .group = ir_op_info(op->opcode)->depthwise ? 1 : channels(w),
                        .first = c->n_exposure};
    const uint64_t pairs = (uint64_t)l->n_out * l->group;
    if (l->n_in % l->group || l->n_out % (l->n_in / l->group) || ir_elements(w) % pairs ||
        pairs > UINT32_MAX / 8 - c->n_exposure)
        return false;
    l->outs = l->n_out / (l->n_in / l->group);
    l->taps = (uint32_t)(ir_elements(w) / pairs);
    l->scale = scales(a, in, w, out, l->n_out);
    c->n_exposure += (uint32_t)pairs;
    return true;
}

static void find_layers(struct coverage *c, struct arena *a)
{
    const struct ir_graph *g = c->g;

    c->layer = ARENA_ARRAY(a, struct layer, g->n_op + 1);
    c->of_op = ARENA_ARRAY(a, uint32_t, g->n_op + 1);
    for (uint32_t i = 0; i < g->n_op; i++) {
        const bool is = layer_of(c, a, g->op[i], &c->layer[c->n_layer]);
        c->of_op[g->op[i]->id] = is ? c->n_layer++ : IR_NONE;
    }
    c->exposure = ARENA_ARRAY(a, uint32_t, c->n_exposure + 1);
}

struct coverage *coverage_new(struct arena *a, const struct ir_graph *g)
{
    struct coverage *c = ARENA_NEW(a, struct coverage);
    uint32_t most = 0;

    c->g = g;
    c->first = ARENA_ARRAY(a, uint32_t, g->n_tensor + 1);
    for (uint32_t i = 0; i < g->n_tensor; i++) {
        c->first[i] = IR_NONE;
        if (!ir_is_code(g->tensor[i]->type) || g->tensor[i]->role == IR_CONST)
            continue;
        const uint32_t n = channels(g->tensor[i]);
        c->first[i] = c->n;
        c->n += n;
        most = n > most ? n : most;
    }
    c->set = ARENA_ARRAY(a, struct set, c->n + 1);
    c->free = ARENA_ARRAY(a, uint64_t, most + 1);
    c->sum = ARENA_ARRAY(a, uint64_t, most + 1);
    find_layers(c, a);
    return c;
}

uint64_t coverage_work(const struct coverage *c)
{
    return 2 * (uint64_t)c->n_exposure;
}

/* --- in a run --- */

static bool is_end(enum ir_type type, uint8_t upper)
{
    return type == IR_U8 ? upper == 0 || upper == 255 : upper == 0x80 || upper == 0x7f;
}

static void see_values(struct coverage *c, const struct ir_tensor *t, const uint8_t *out)
{
    const uint32_t size = ir_type_bytes(t->type), first = c->first[t->id], n = channels(t);

    memset(c->free, 0, n * sizeof *c->free);
    for (uint64_t i = 0, channel = 0; i < ir_elements(t); i++) {
        const uint8_t value = out[i * size + size - 1];
        const bool end = is_end(t->type, value);

        c->n_ends += end;
        c->free[channel] += !end;
        c->set[first + channel].bits[value / 64] |= UINT64_C(1) << value % 64;
        channel = channel + 1 == n ? 0 : channel + 1;
    }
}

/* Add the magnitudes of operands by channel. */
static void add_operands(struct coverage *c, const struct ir_tensor *t, const uint8_t *bytes)
{
    const uint32_t n = channels(t), size = ir_type_bytes(t->type);
    const int32_t zero = ir_zero_point(t);

    memset(c->sum, 0, n * sizeof *c->sum);
    for (uint64_t i = 0, channel = 0; i < ir_elements(t); i++) {
        const int32_t v = (size == 2          ? (int16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8)
                           : t->type == IR_U8 ? bytes[i]
                                              : (int8_t)bytes[i]) -
                          zero;
        c->sum[channel] += (uint64_t)(v < 0 ? -v : v);
        channel = channel + 1 == n ? 0 : channel + 1;
    }
}

static uint32_t bounded(uint32_t exposure, uint64_t more)
{
    return more < EXPOSURE_MOST - exposure ? exposure + (uint32_t)more : EXPOSURE_MOST;
}

/* Add the exposure of a layer. Called after see_values of its output, which counts c->free. */
static void expose(struct coverage *c, const struct layer *l)
{
    const struct ir_tensor *in = c->g->tensor[l->in];
    const uint64_t pixels = ir_elements(in) / l->n_in;
    uint32_t *e = c->exposure + l->first;

    add_operands(c, in, ref_bytes(c->ref, l->in));
    for (uint32_t o = 0; o < l->n_out; o++) {
        const uint64_t *sum = c->sum + o / l->outs * l->group;
        const uint64_t of_one = (c->free[o] * l->scale[o] / pixels) >> 16; /* results * 2^16 */
        for (uint32_t i = 0; i < l->group; i++) {
            *e = bounded(*e, sum[i] * of_one >> 8);
            e++;
        }
    }
}

static void see(void *ctx, const struct ir_op *op, const uint8_t *out)
{
    struct coverage *c = ctx;
    const struct ir_tensor *t = ir_out(c->g, op, 0);

    if (c->first[t->id] != IR_NONE)
        see_values(c, t, out);
    if (c->of_op[op->id] != IR_NONE)
        expose(c, &c->layer[c->of_op[op->id]]);
}

void coverage_watch(struct coverage *c, struct ref *ref)
{
    c->ref = ref;
    ref_set_tap(ref, see, c);
}

/* --- the score --- */

enum { WORTH_ONE = 64 }; /* score of a weight that is sure to show */

/* Return the score of a number of values: the second value counts 1, as do values 3 to 4 together,
 * 5 to 8, ... */
static uint64_t worth(uint32_t values)
{
    uint64_t steps = 0;

    for (; values > 1; values = (values + 1) / 2)
        steps++;
    return steps;
}

static uint64_t exposure_worth(const struct coverage *a, const struct coverage *b)
{
    uint64_t score = 0;

    for (uint32_t k = 0; k < a->n_layer; k++) {
        const struct layer *l = &a->layer[k];
        const uint32_t end = l->first + l->n_out * l->group;
        for (uint32_t i = l->first; i < end; i++) {
            const uint32_t e = a->exposure[i] + (b ? b->exposure[i] : 0);
            score += l->taps * (WORTH_ONE * (uint64_t)e / (e + EXPOSURE_ONE));
        }
    }
    return score;
}

uint64_t coverage_score(const struct coverage *a, const struct coverage *b)
{
    uint64_t score = exposure_worth(a, b);

    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t values = 0;
        for (uint32_t k = 0; k < 4; k++)
            values +=
                (uint32_t)__builtin_popcountll(a->set[i].bits[k] | (b ? b->set[i].bits[k] : 0));
        score += WORTH_ONE / 8 * worth(values);
    }
    return score;
}

uint64_t coverage_ends(const struct coverage *c)
{
    return c->n_ends;
}

void coverage_add(struct coverage *to, const struct coverage *from)
{
    for (uint32_t i = 0; i < to->n; i++)
        for (uint32_t k = 0; k < 4; k++)
            to->set[i].bits[k] |= from->set[i].bits[k];
    for (uint32_t i = 0; i < to->n_exposure; i++)
        to->exposure[i] = bounded(to->exposure[i], from->exposure[i]);
}

void coverage_clear(struct coverage *c)
{
    c->n_ends = 0;
    memset(c->set, 0, c->n * sizeof *c->set);
    memset(c->exposure, 0, c->n_exposure * sizeof *c->exposure);
}
