/* gguf_wide.c - see gguf_wide.h. The norm is x times 1 / sqrt(mean of x * x + epsilon): int16 products on both sides of
 * a function of one value, which becomes a table. */
#include "gguf_wide.h"

#include <math.h>
#include <string.h>

#include "gguf_round.h"

void gguf_wide_constants(struct llama *m)
{
    const int64_t dim[2] = {m->width, 1};

    memset(gguf_constant(&m->net, "ones.byte", OX_INT8, 2, dim), 1, (size_t)m->width);
    gguf_scalar(m, "ones.step", 1 / (float)m->width);
    gguf_node(&m->net, "ones = DequantizeLinear ones.byte ones.step");
}

float gguf_wide_most(const struct llama *m, const char *name)
{
    const struct gguf_range *r = gguf_range(m->ranges, name);

    return 2 * fmaxf(-r->low, r->high);
}

void gguf_wide_rounded(struct llama *m, const char *name)
{
    gguf_round_wide(m, name, gguf_wide_most(m, name));
}

/* The constant y.epsilon, in whole steps of the mean's sum. */
static void epsilon_of(struct llama *m, const char *y)
{
    const float step = gguf_wide_most(m, NAMED(m, "%s.square", y)) / INT16_MAX / (float)m->width;

    gguf_scalar(m, NAMED(m, "%s.epsilon", y), rintf((float)m->epsilon / step) * step);
}

void gguf_wide_norm(struct llama *m, const char *y, const char *x)
{
    struct gguf_nodes *n = &m->net;

    epsilon_of(m, y);
    gguf_node(n, "%s.square = Mul %s %s", y, x, x);
    gguf_wide_rounded(m, NAMED(m, "%s.square", y));
    gguf_node(n, "%s.squares = MatMul %s.square ones", y, y);
    gguf_node(n, "%s.mean = Add %s.squares %s.epsilon", y, y, y);
    gguf_wide_rounded(m, NAMED(m, "%s.mean", y));
    gguf_node(n, "%s.root = Sqrt %s.mean", y, y);
    gguf_node(n, "%s.inverse = Reciprocal %s.root", y, y);
    gguf_wide_rounded(m, NAMED(m, "%s.inverse", y));
    gguf_node(n, "%s = Mul %s %s.inverse", y, x, y);
    gguf_rounded(m, y);
}
