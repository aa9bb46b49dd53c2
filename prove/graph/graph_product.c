/* graph_product.c - sums of products: convolutions, dense layers, products of matrices. A weight is a
 * constant or a term, like the other factor. */
#include <string.h>

#include "graph.h"

/* Both factors as int8 terms, zero points subtracted: x - zx, w - zw. Of int16: the elements. */
struct factors {
    const uint32_t *x, *w;
    int32_t zx, zw;
    const prove_uwide *wide_x, *wide_w;
};

static void add(const struct prove_op *o, const struct factors *f, struct prove_sum *s, size_t x,
                size_t w)
{
    const uint32_t t = f->wide_w ? 0 : f->w[w];

    if (f->wide_w)
        prove_add_i16(s, prove_times(f->wide_x[x], f->wide_w[w]), 1);
    else if (f->wide_x && prove_is_constant(t))
        prove_add_i16(s, f->wide_x[x], (int32_t)t - 128);
    else if (f->wide_x)
        prove_add_i16(s, prove_times(f->wide_x[x], o->p->term[t].element), 1);
    else if (prove_is_constant(t))
        prove_add(s, o->p, f->x[x], -f->zx, (int32_t)t - 128 - f->zw);
    else
        prove_add_product(s, o->p, f->x[x], -f->zx, t, -f->zw);
}

/* The bias of a channel, a constant; false if it is computed. */
static bool bias(const struct prove_op *o, size_t channel, struct prove_sum *s)
{
    const bool wide = o->in[0]->type == IR_I16;
    int64_t b = 0;
    int32_t narrow;

    *s = (struct prove_sum){0};
    if (o->op->n_in < 3 || !o->in[2])
        return true;
    if (o->in[2]->role != IR_CONST || o->in[2]->type != (wide ? IR_I64 : IR_I32))
        return false;
    if (wide) {
        memcpy(&b, o->in[2]->data + channel * 8, 8);
        s->part[0] += b;
        return true;
    }
    memcpy(&narrow, o->in[2]->data + channel * 4, 4);
    prove_shift(s, narrow);
    return true;
}

/* Output i, of a channel's scale. */
static void round_to(const struct prove_op *o, const struct prove_sum *s, size_t i,
                     uint32_t channel)
{
    const struct ref_constants *k = o->k;

    if (o->in[0]->type != IR_I16) {
        o->y[i] = prove_rounded(o, s, channel);
        return;
    }
    const uint32_t at = k->n > 1 ? channel : 0;
    const struct prove_sum16 by = {o->op->attr[IR_NARROW] != 0, k->multiplier[at], k->shift[at],
                                   k->low, k->high};
    prove_sum16(o->p, &by, prove_value(s), o->y + 2 * i);
}

/* Output channel oc reads `part` input channels from first on; weight k of it is at base + k * step. */
static bool window(const struct prove_op *o, const struct factors *f, size_t i, int32_t part,
                   int32_t first, size_t base, size_t step)
{
    const struct ir_tensor *x = o->in[0], *y = o->out;
    const int32_t *a = o->op->attr;
    const size_t pixel = i / (size_t)y->dim[3];
    const int32_t oc = (int32_t)(i % (size_t)y->dim[3]), ox = (int32_t)(pixel % (size_t)y->dim[2]),
                  oy = (int32_t)(pixel / (size_t)y->dim[2] % (size_t)y->dim[1]),
                  n = (int32_t)(pixel / (size_t)y->dim[2] / (size_t)y->dim[1]);
    struct prove_sum s;

    if (!bias(o, (size_t)oc, &s))
        return false;
    for (int32_t ky = 0; ky < a[IR_KERNEL_H]; ky++)
        for (int32_t kx = 0; kx < a[IR_KERNEL_W]; kx++) {
            const int32_t iy = oy * a[IR_STRIDE_H] - o->k->pad_top + ky * a[IR_DILATION_H],
                          ix = ox * a[IR_STRIDE_W] - o->k->pad_left + kx * a[IR_DILATION_W];

            if (iy < 0 || iy >= x->dim[1] || ix < 0 || ix >= x->dim[2])
                continue;
            const size_t from = ((size_t)(n * x->dim[1] + iy) * (size_t)x->dim[2] + (size_t)ix) *
                                    (size_t)x->dim[3] +
                                (size_t)first,
                         k = (size_t)(ky * a[IR_KERNEL_W] + kx) * (size_t)part;
            for (int32_t c = 0; c < part; c++)
                add(o, f, &s, from + (size_t)c, base + (k + (size_t)c) * step);
        }
    round_to(o, &s, i, (uint32_t)oc);
    return true;
}

static bool convolve(const struct prove_op *o, const struct factors *f)
{
    const size_t n = (size_t)ir_elements(o->out), oc = (size_t)o->out->dim[3];
    const bool deep = o->op->opcode == IR_OP_DEPTHWISE_CONV2D;
    const int32_t part = deep ? 1 : o->in[1]->dim[3];
    const size_t k =
        (size_t)o->op->attr[IR_KERNEL_H] * (size_t)o->op->attr[IR_KERNEL_W] * (size_t)part;
    const int32_t each =
        deep ? o->op->attr[IR_MULTIPLIER] : o->out->dim[3] / (o->in[0]->dim[3] / part);

    for (size_t i = 0; i < n; i++)
        if (!window(o, f, i, part, (int32_t)(i % oc) / each * part, deep ? i % oc : i % oc * k,
                    deep ? oc : 1))
            return false;
    return true;
}

static bool dense(const struct prove_op *o, const struct factors *f)
{
    const size_t channels = (size_t)o->in[1]->dim[0], k = (size_t)o->in[1]->dim[1],
                 n = (size_t)ir_elements(o->in[0]) / k * channels;
    struct prove_sum s;

    for (size_t i = 0; i < n; i++) {
        if (!bias(o, i % channels, &s))
            return false;
        for (size_t c = 0; c < k; c++)
            add(o, f, &s, i / channels * k + c, i % channels * k + c);
        round_to(o, &s, i, (uint32_t)(i % channels));
    }
    return true;
}

static bool matmul(const struct prove_op *o, const struct factors *f)
{
    const struct ir_tensor *a = o->in[0], *b = o->in[1], *y = o->out;
    const bool adj_a = o->op->attr[IR_ADJ_A] != 0, adj_b = o->op->attr[IR_ADJ_B] != 0;
    const size_t m = (size_t)ir_dim_back(y, 1), n = (size_t)ir_dim_back(y, 0),
                 k = (size_t)ir_dim_back(a, adj_a), all = (size_t)ir_elements(y);
    struct prove_sum s;

    for (size_t i = 0; i < all; i++) {
        const size_t col = i % n, row = i / n % m, batch = i / n / m,
                     x = ref_matrix(a, y, batch) + (adj_a ? row : row * k),
                     w = ref_matrix(b, y, batch) + (adj_b ? col * k : col);

        if (!bias(o, col, &s))
            return false;
        for (size_t c = 0; c < k; c++)
            add(o, f, &s, x + c * (adj_a ? m : 1), w + c * (adj_b ? 1 : n));
        round_to(o, &s, i, 0);
    }
    return true;
}

/* y[oy, ox, oc]: the x whose window covers it. */
static bool transposed(const struct prove_op *o, const struct factors *f)
{
    const struct ir_tensor *x = o->in[0], *w = o->in[1], *y = o->out;
    const int32_t *a = o->op->attr;
    const size_t all = (size_t)ir_elements(y);
    struct prove_sum s;

    for (size_t i = 0; i < all; i++) {
        const int32_t oc = (int32_t)(i % (size_t)y->dim[3]),
                      pixel = (int32_t)(i / (size_t)y->dim[3]), ox = pixel % y->dim[2],
                      oy = pixel / y->dim[2] % y->dim[1], n = pixel / y->dim[2] / y->dim[1];

        if (!bias(o, (size_t)oc, &s))
            return false;
        for (int32_t ky = 0; ky < a[IR_KERNEL_H]; ky++)
            for (int32_t kx = 0; kx < a[IR_KERNEL_W]; kx++) {
                const int32_t ty = oy + o->k->pad_top - ky, tx = ox + o->k->pad_left - kx,
                              iy = ty / a[IR_STRIDE_H], ix = tx / a[IR_STRIDE_W];

                if (ty < 0 || tx < 0 || ty % a[IR_STRIDE_H] || tx % a[IR_STRIDE_W] ||
                    iy >= x->dim[1] || ix >= x->dim[2])
                    continue;
                for (int32_t c = 0; c < x->dim[3]; c++)
                    add(o, f, &s, (size_t)(((n * x->dim[1] + iy) * x->dim[2] + ix) * x->dim[3] + c),
                        (size_t)(((oc * w->dim[1] + ky) * w->dim[2] + kx) * w->dim[3] + c));
            }
        round_to(o, &s, i, (uint32_t)oc);
    }
    return true;
}

static bool is_byte(const struct ir_tensor *t)
{
    return t->type == IR_I8 || t->type == IR_U8;
}

bool prove_graph_product(const struct prove_op *o)
{
    const struct ir_tensor *x = o->in[0], *w = o->op->n_in > 1 ? o->in[1] : NULL;

    if (!w || !o->x[1] || o->out->type != x->type || o->op->attr[IR_WEIGHTS_KO])
        return false;
    const bool wide = x->type == IR_I16, wide_w = w->type == IR_I16;
    if (wide ? w->type != IR_I8 && !wide_w : !is_byte(x) || w->type != x->type)
        return false;
    if (wide && (!o->k || o->k->n == 0))
        return false;
    const struct factors f = {
        .x = prove_signed(o, x, o->x[0]),
        .w = prove_signed(o, w, o->x[1]),
        .zx = prove_zero(x),
        .zw = prove_zero(w),
        .wide_x = wide ? prove_i16s(o->p, o->x[0], (size_t)ir_elements(x)) : NULL,
        .wide_w = wide_w ? prove_i16s(o->p, o->x[1], (size_t)ir_elements(w)) : NULL};
    switch (o->op->opcode) {
    case IR_OP_CONV2D:
    case IR_OP_DEPTHWISE_CONV2D: return convolve(o, &f);
    case IR_OP_FULLY_CONNECTED: return dense(o, &f);
    case IR_OP_BATCH_MATMUL: return matmul(o, &f);
    case IR_OP_TRANSPOSE_CONV: return transposed(o, &f);
    default: return false;
    }
}
