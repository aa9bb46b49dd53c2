/* graph_rounding.c - bytes as int8, zero points, and the rounding of sums as the graph has them. */
#include "graph.h"

const uint32_t *prove_signed(const struct prove_op *o, const struct ir_tensor *t, const uint32_t *x)
{
    const size_t n = (size_t)ir_elements(t);
    uint32_t *y;

    if (t->type != IR_U8)
        return x;
    y = ARENA_ARRAY(o->p->arena, uint32_t, n);
    for (size_t i = 0; i < n; i++)
        y[i] = prove_flip(o->p, x[i]);
    return y;
}

int32_t prove_zero(const struct ir_tensor *t)
{
    return ir_zero_point(t) - (t->type == IR_U8 ? 128 : 0);
}

/* --- the rounding of sums of products --- */

struct rounding {
    const struct ref_constants *k;
    uint32_t at;
    int32_t zero;
    bool real, away;
};

static int8_t rounded(const void *ctx, int64_t x)
{
    const struct rounding *r = ctx;
    const int64_t v =
        (int64_t)ref_mbqm((int32_t)x, r->k->multiplier[r->at], r->k->shift[r->at]) + r->zero;

    return (int8_t)(uint8_t)(v < r->k->low ? r->k->low : v > r->k->high ? r->k->high : v);
}

uint32_t prove_rounded(const struct prove_op *o, const struct prove_sum *s, uint32_t channel)
{
    const struct ref_constants *k = o->k;

    if (!k || k->n == 0 || k->n_real || k->n_litert || k->rescale)
        return prove_unknown(o->p, "rounding in floating point");
    const uint32_t at = k->n > 1 ? channel : 0;
    const struct rounding r = {.k = k, .at = at, .zero = ir_zero_point(o->out)};
    const struct prove_key key = {{12, k->multiplier[at], k->shift[at], r.zero, k->low, k->high}};
    const int32_t left = k->shift[at] > 0 ? k->shift[at] : 0;
    const int64_t limit = left > 30 ? 0 : (INT32_MAX - 256) >> left;

    if (s->low < -limit || s->high > limit || k->low > k->high)
        return prove_unknown(o->p, "a sum that may leave 32 bits");
    return prove_apply(o->p, rounded, &r, key, s, limit);
}
