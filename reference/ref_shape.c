/* ref_shape.c - arg max and min, bilinear resizing, L2 normalisation. */
#include <string.h>

#include "ref_kernels.h"

static double value_at(const struct ir_tensor *t, const uint8_t *p, size_t i)
{
    float f;

    if (t->type != IR_F32)
        return t->type == IR_U8 ? p[i] : ref_i8(p)[i];
    memcpy(&f, p + i * 4, 4);
    return (double)f;
}

/* The first place of the largest (smallest) element along the axis. */
enum status ref_arg(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0];
    const uint32_t axis = (uint32_t)c->op->attr[IR_AXIS], size = ir_type_bytes(c->out[0]->type);
    const size_t n = (size_t)x->dim[axis];
    size_t inner = 1, outer;

    (void)d;
    for (uint32_t i = axis + 1; i < x->rank; i++)
        inner *= (size_t)x->dim[i];
    outer = (size_t)ir_elements(x) / n / inner;
    for (size_t o = 0; o < outer * inner; o++) {
        const size_t base = o / inner * n * inner + o % inner;
        int64_t best = 0;

        for (size_t i = 1; i < n; i++) {
            const double v = value_at(x, c->x[0], base + i * inner);
            const double b = value_at(x, c->x[0], base + (size_t)best * inner);

            if (c->op->opcode == IR_OP_ARG_MIN ? v < b : v > b)
                best = (int64_t)i;
        }
        memcpy(c->y[0] + o * size, &best, size);
    }
    return ST_OK;
}

/* Position of an output in the input, 10 bits of fraction, and its two neighbours. */
struct place {
    int32_t at, low, high;
};

static struct place place_of(const struct ref_call *c, int32_t i, int32_t in, int32_t out)
{
    const bool align = c->op->attr[IR_ALIGN_CORNERS] != 0 && out > 1;
    const int32_t step =
        align ? (1024 * (in - 1) + (out - 1) / 2) / (out - 1) : (1024 * in + out / 2) / out;
    struct place p = {i * step, 0, 0};

    if (c->op->attr[IR_HALF_PIXEL] != 0)
        p.at += step / 2 - 512;
    p.low = p.at / 1024 > 0 ? p.at / 1024 : 0;
    p.low = p.low < in - 1 ? p.low : in - 1;
    p.high = (p.at + 1023) / 1024 < in - 1 ? (p.at + 1023) / 1024 : in - 1;
    return p;
}

/* Four cells weighted in 20 bits, halves away from zero. */
static int32_t blend(const struct ref_call *c, size_t image, struct place v, struct place h,
                     int32_t channel)
{
    const int32_t w = c->in[0]->dim[2], n = c->in[0]->dim[3];
    const size_t from = image + (size_t)channel;
    const int64_t fy = v.at - 1024 * v.low, fx = h.at - 1024 * h.low;
    int64_t sum = 0;

    sum += ref_at(c->in[0], c->x[0], from + (size_t)((v.low * w + h.low) * n)) * (1024 - fy) *
           (1024 - fx);
    sum += ref_at(c->in[0], c->x[0], from + (size_t)((v.high * w + h.low) * n)) * fy * (1024 - fx);
    sum += ref_at(c->in[0], c->x[0], from + (size_t)((v.low * w + h.high) * n)) * (1024 - fy) * fx;
    sum += ref_at(c->in[0], c->x[0], from + (size_t)((v.high * w + h.high) * n)) * fy * fx;
    return (int32_t)((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
}

/* element i = MBQM(sum over t of weight[i, t] * (x[index[i, t]] - z_in)) + z_out */
enum status ref_interpolate(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0];
    const int32_t *index = (const int32_t *)(const void *)c->x[1];
    const int16_t *weight = (const int16_t *)(const void *)c->x[2];
    const uint32_t axis = (uint32_t)c->op->attr[IR_AXIS];
    const size_t n = (size_t)c->in[1]->dim[0], taps = (size_t)c->in[1]->dim[1];
    size_t inner = 1;

    (void)d;
    for (uint32_t k = axis + 1; k < x->rank; k++)
        inner *= (size_t)x->dim[k];
    for (size_t e = 0; e < (size_t)ir_elements(c->out[0]); e++) {
        const size_t first = e / inner / n * (size_t)x->dim[axis], i = e / inner % n;
        int32_t sum = 0;

        for (size_t t = i * taps; t < (i + 1) * taps; t++)
            sum += weight[t] * (ref_at(x, c->x[0], (first + (size_t)index[t]) * inner + e % inner) -
                                x->quant.zero_point[0]);
        ref_put(c->out[0], c->y[0], e,
                ref_value(c, ref_mbqm(sum, c->k->multiplier[0], c->k->shift[0])));
    }
    return ST_OK;
}

enum status ref_resize_bilinear(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0], *y = c->out[0];
    const size_t image = (size_t)x->dim[1] * (size_t)x->dim[2] * (size_t)x->dim[3];
    size_t at = 0;

    if (x->type == IR_U8 || c->op->attr[IR_FROM_U8])
        return ref_resize_u8(c, d);
    for (int32_t n = 0; n < y->dim[0]; n++)
        for (int32_t oy = 0; oy < y->dim[1]; oy++)
            for (int32_t ox = 0; ox < y->dim[2]; ox++)
                for (int32_t i = 0; i < y->dim[3]; i++)
                    ref_put(y, c->y[0], at++,
                            blend(c, (size_t)n * image, place_of(c, oy, x->dim[1], y->dim[1]),
                                  place_of(c, ox, x->dim[2], y->dim[2]), i));
    return ST_OK;
}

/* Raw fixed point times 2^n, saturating. */
static int32_t shift_up(int32_t x, int32_t n)
{
    const int64_t v = (int64_t)x * (INT64_C(1) << n);

    return (int32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}

/* 1 / sqrt(v) = multiplier * 2^(-31 - shift): five Newton steps x = 1.5 x - v/2 x^3 in Q3.28. */
int32_t ref_inverse_root(int32_t v, int32_t *shift)
{
    int32_t pairs, half, x = 1 << 28;

    *shift = 0;
    if (v <= 1)
        return INT32_MAX;
    for (*shift = 11; v >= 1 << 29; v /= 4)
        ++*shift;
    pairs = (__builtin_clz((uint32_t)v) - 1) / 2 - 1;
    *shift -= pairs;
    v *= 1 << (2 * pairs);
    half = ref_rdbpot(v >> 1, 1);
    for (uint32_t i = 0; i < 5; i++) {
        const int32_t cube = shift_up(ref_srdhm(ref_srdhm(x, x), x), 6);

        x = shift_up(ref_srdhm((1 << 28) + (1 << 27), x) - ref_srdhm(half, cube), 3);
    }
    x = ref_srdhm(x, 1518500250); /* sqrt(2) / 2 */
    if (*shift < 0) {
        x = (int32_t)((uint32_t)x << -*shift);
        *shift = 0;
    }
    return x;
}

/* y = 128 (x - z) / sqrt(sum (x - z)^2) over the innermost dimension. */
enum status ref_l2_norm(const struct ref_call *c, struct diag *d)
{
    const int32_t z = c->in[0]->quant.zero_point[0];
    const size_t n = (size_t)ir_dim_back(c->in[0], 0);
    const size_t rows = (size_t)ir_elements(c->in[0]) / n;

    (void)d;
    for (size_t r = 0; r < rows; r++) {
        int32_t sum = 0, shift, multiplier;

        for (size_t i = r * n; i < (r + 1) * n; i++) {
            const int32_t x = ref_at(c->in[0], c->x[0], i) - z;

            sum += x * x;
        }
        multiplier = ref_inverse_root(sum, &shift);
        for (size_t i = r * n; i < (r + 1) * n; i++)
            ref_put(
                c->out[0], c->y[0], i,
                ref_value(c, ref_mbqm(ref_at(c->in[0], c->x[0], i) - z, multiplier, 7 - shift)));
    }
    return ST_OK;
}
