/* graph_integer.c - MatMulInteger and ConvInteger of constant weights: sums of int32, opaque functions of their
 * integers. The zero point of x may be computed. */
#include "graph.h"

struct integer {
    const struct prove_op *o;
    const uint32_t *x, *w, *zero; /* zero: of x, one or one for each row or image */
    bool one;
    int32_t zw;
    int64_t weights; /* of the sum so far */
    struct prove_sum sum;
};

static bool add(struct integer *k, size_t x, size_t w)
{
    const int64_t weight = (int64_t)k->w[w] - 128 - k->zw;

    prove_add(&k->sum, k->o->p, k->x[x], 0, weight);
    k->weights += weight;
    return prove_is_constant(k->w[w]);
}

static void begin(struct integer *k)
{
    k->weights = 0;
    k->sum = (struct prove_sum){0};
}

/* Element i is the sum less the part of zero point `z`. */
static void finish(struct integer *k, size_t i, size_t z)
{
    prove_add(&k->sum, k->o->p, k->zero[k->one ? 0 : z], 0, -k->weights);
    prove_sum32(k->o->p, &k->sum, k->o->y + 4 * i);
}

static bool matmul(struct integer *k)
{
    const struct ir_tensor *a = k->o->in[0], *b = k->o->in[1], *y = k->o->out;
    const size_t m = (size_t)ir_dim_back(y, 1), n = (size_t)ir_dim_back(y, 0),
                 depth = (size_t)ir_dim_back(a, 0), all = (size_t)ir_elements(y);

    for (size_t i = 0; i < all; i++) {
        const size_t batch = i / n / m, x = ref_matrix(a, y, batch) + i / n % m * depth,
                     w = ref_matrix(b, y, batch) + i % n;

        begin(k);
        for (size_t c = 0; c < depth; c++)
            if (!add(k, x + c, w + c * n))
                return false;
        finish(k, i, i / n % m);
    }
    return true;
}

/* Add the window's row and column [ky,kx] of output [batch,oy,ox,oc], inside the image. */
static bool add_cell(struct integer *k, const int32_t at[4], int32_t ky, int32_t kx)
{
    const struct ir_tensor *x = k->o->in[0], *w = k->o->in[1];
    const int32_t *a = k->o->op->attr, part = w->dim[3],
                  first = at[3] / (w->dim[0] / (x->dim[3] / part)) * part,
                  iy = at[1] * a[IR_STRIDE_H] - a[IR_PAD_TOP] + ky * a[IR_DILATION_H],
                  ix = at[2] * a[IR_STRIDE_W] - a[IR_PAD_LEFT] + kx * a[IR_DILATION_W];

    if (iy < 0 || iy >= x->dim[1] || ix < 0 || ix >= x->dim[2])
        return true;
    for (int32_t c = 0; c < part; c++)
        if (!add(k, (size_t)(((at[0] * x->dim[1] + iy) * x->dim[2] + ix) * x->dim[3] + first + c),
                 (size_t)(((at[3] * w->dim[1] + ky) * w->dim[2] + kx) * part + c)))
            return false;
    return true;
}

static bool convolve(struct integer *k)
{
    const struct ir_tensor *y = k->o->out, *w = k->o->in[1];
    const size_t all = (size_t)ir_elements(y);

    for (size_t i = 0; i < all; i++) {
        size_t rest = i;
        int32_t at[4];

        for (uint32_t d = 4; d-- > 0; rest /= (size_t)y->dim[d])
            at[d] = (int32_t)(rest % (size_t)y->dim[d]);
        begin(k);
        for (int32_t ky = 0; ky < w->dim[1]; ky++)
            for (int32_t kx = 0; kx < w->dim[2]; kx++)
                if (!add_cell(k, at, ky, kx))
                    return false;
        finish(k, i, (size_t)at[0]);
    }
    return true;
}

bool prove_graph_integer(const struct prove_op *o)
{
    struct integer k = {.o = o};

    if (o->op->opcode != IR_OP_MATMUL_INTEGER && o->op->opcode != IR_OP_CONV_INTEGER)
        return false;
    const uint32_t *zw = prove_signed(o, o->in[3], o->x[3]);

    for (uint64_t i = 0; i < ir_elements(o->in[3]); i++)
        if (zw[i] != zw[0] || !prove_is_constant(zw[i]))
            return false;
    k.x = prove_signed(o, o->in[0], o->x[0]);
    k.w = prove_signed(o, o->in[1], o->x[1]);
    k.zero = prove_signed(o, o->in[2], o->x[2]);
    k.one = ir_elements(o->in[2]) == 1;
    k.zw = (int32_t)*zw - 128;
    return o->op->opcode == IR_OP_MATMUL_INTEGER ? matmul(&k) : convolve(&k);
}
