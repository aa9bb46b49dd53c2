/* ref_elementwise.c - add, sub, mul, maximum, minimum, tables, float borders (NUMERICS.md). */
#include <math.h>
#include <string.h>

#include "ref_kernels.h"

/* Walks the output of a broadcast: offset of the element in each operand, of halves of its upper byte. */
struct walk {
    uint32_t rank;
    int32_t dim[IR_MAX_RANK], at[IR_MAX_RANK];
    size_t stride[2][IR_MAX_RANK], offset[2];
};

static void walk_init(struct walk *w, const struct ref_call *c)
{
    memset(w, 0, sizeof *w);
    w->rank = c->out[0]->rank;
    for (uint32_t k = 0; k < 2; k++) {
        size_t stride = 1;

        for (uint32_t back = 0; back < w->rank; back++) {
            const int32_t parts = c->op->attr[IR_HALVES] && back == 1 ? 2 : 1,
                          n = ir_dim_back(c->in[k], back) / parts;

            w->dim[w->rank - 1 - back] = c->out[0]->dim[w->rank - 1 - back] / parts;
            w->stride[k][w->rank - 1 - back] = n == 1 ? 0 : stride;
            stride *= (size_t)(n * parts);
        }
    }
}

static void walk_next(struct walk *w)
{
    for (uint32_t i = w->rank; i-- > 0;) {
        w->offset[0] += w->stride[0][i];
        w->offset[1] += w->stride[1][i];
        if (++w->at[i] < w->dim[i])
            return;
        w->offset[0] -= w->stride[0][i] * (size_t)w->dim[i];
        w->offset[1] -= w->stride[1][i] * (size_t)w->dim[i];
        w->at[i] = 0;
    }
}

/* y_i = MBQM((x_i - z_i) << 20, i);  out = MBQM(y1 +- y2, 2) + z_out; int16: << 15. */
static int32_t add_one(const struct ref_call *c, int32_t a, int32_t b)
{
    const struct ref_constants *f = c->k;
    const bool wide = c->in[0]->type == IR_I16 || c->op->attr[IR_HALVES];
    const int32_t up = wide ? 1 << 15 : 1 << 20;
    const int32_t ya = ref_mbqm(a * up, f->multiplier[0], f->shift[0]);
    const int32_t yb = ref_mbqm(b * up, f->multiplier[1], f->shift[1]);
    const int32_t sum = c->op->opcode == IR_OP_SUB ? ya - yb : ya + yb;

    return ref_value(c, ref_mbqm(sum, f->multiplier[2], f->shift[2]));
}

static int32_t mul_one(const struct ref_call *c, int32_t a, int32_t b)
{
    return ref_value(c, ref_mbqm(a * b, c->k->multiplier[0], c->k->shift[0]));
}

static int32_t extremum_one(const struct ref_call *c, int32_t a, int32_t b)
{
    const struct ref_constants *f = c->k;
    const bool larger = c->op->opcode == IR_OP_MAXIMUM;
    const bool first = larger ? a > b : a < b;

    if (f->n == 3) { /* of other scales: legalise made it so */
        const int32_t ya = ref_mbqm(a * (1 << 20), f->multiplier[0], f->shift[0]);
        const int32_t yb = ref_mbqm(b * (1 << 20), f->multiplier[1], f->shift[1]);

        return ref_value(c, ref_mbqm((ya > yb) == larger ? ya : yb, f->multiplier[2], f->shift[2]));
    }
    return (first ? a : b) + c->out[0]->quant.zero_point[0];
}

static int32_t prelu_one(const struct ref_call *c, int32_t a, int32_t b)
{
    const struct ref_constants *f = c->k;

    if (a >= 0)
        return ref_value(c, ref_mbqm(a, f->multiplier[0], f->shift[0]));
    return ref_value(c, ref_mbqm(a * b, f->multiplier[1], f->shift[1]));
}

/* |b| = (1 + f) * 2^e, so that a / |b| = a * (1 / (1 + f)) / 2^e; a is brought up to 31 bits before. */
static int32_t div_one(const struct ref_call *c, int32_t a, int32_t b)
{
    const int32_t size = b < 0 ? -b : b;
    const int64_t signed_a = b < 0 ? -(int64_t)a : a;
    int32_t e = 0, up = 0;

    if (b == 0)
        return ref_value(c, 0);
    while (size >> e > 1)
        e++;
    while (up < 31 && signed_a * (INT64_C(2) << up) <= INT32_MAX &&
           signed_a * (INT64_C(2) << up) >= INT32_MIN)
        up++;
    const int32_t f = (int32_t)(((int64_t)size << (31 - e)) - (INT64_C(1) << 31));
    const int32_t v = ref_srdhm((int32_t)(signed_a * (INT64_C(1) << up)), ref_one_over_one_plus(f));
    const int32_t right = e + up - c->k->shift[0];

    return ref_value(c, right > 31 ? 0 : ref_rdbpot(ref_srdhm(v, c->k->multiplier[0]), right));
}

/* As ADD, with 7 bits of headroom, then squared. */
static int32_t squared_one(const struct ref_call *c, int32_t a, int32_t b)
{
    const struct ref_constants *f = c->k;
    const int32_t diff = ref_mbqm(a * (1 << 7), f->multiplier[0], f->shift[0]) -
                         ref_mbqm(b * (1 << 7), f->multiplier[1], f->shift[1]);

    return ref_value(c, ref_mbqm(diff * diff, f->multiplier[2], f->shift[2]));
}

static enum status binary(const struct ref_call *c,
                          int32_t one(const struct ref_call *c, int32_t a, int32_t b))
{
    const int32_t za = c->in[0]->quant.zero_point[0], zb = c->in[1]->quant.zero_point[0];
    const size_t n = (size_t)ir_elements(c->out[0]);
    struct walk w;

    walk_init(&w, c);
    for (size_t i = 0; i < n; i++) {
        const int32_t a = ref_at(c->in[0], c->x[0], w.offset[0]) - za;
        const int32_t b = ref_at(c->in[1], c->x[1], w.offset[1]) - zb;

        ref_put(c->out[0], c->y[0], i, one(c, a, b));
        walk_next(&w);
    }
    return ST_OK;
}

/* Operands and result are int16 as halves; low and high are the upper byte's. */
static enum status binary_halves(const struct ref_call *c,
                                 int32_t one(const struct ref_call *c, int32_t a, int32_t b))
{
    const struct ir_tensor *y = c->out[0];
    const size_t n = (size_t)ir_elements(y) / 2, row = ref_halves_apart(y);
    struct ref_constants k = *c->k;
    struct ref_call two = *c;
    struct walk w;

    k.low *= 256;
    k.high = k.high * 256 + 255;
    two.k = &k;
    walk_init(&w, c);
    for (size_t i = 0; i < n; i++) {
        const int32_t v = one(&two, ref_at_halves(c->in[0], c->x[0], w.offset[0]),
                              ref_at_halves(c->in[1], c->x[1], w.offset[1]));

        ref_put_halves(y, c->y[0], i / row * 2 * row + i % row, v);
        walk_next(&w);
    }
    return ST_OK;
}

enum status ref_add(const struct ref_call *c, struct diag *d)
{
    if (c->op->attr[IR_HALVES])
        return binary_halves(c, add_one);
    if (c->k->n_real != 0)
        return ref_real_binary(c, d);
    return binary(c, add_one);
}

enum status ref_mul(const struct ref_call *c, struct diag *d)
{
    if (c->op->attr[IR_HALVES])
        return binary_halves(c, mul_one);
    if (c->k->n_real != 0)
        return ref_real_binary(c, d);
    return binary(c, mul_one);
}

enum status ref_div(const struct ref_call *c, struct diag *d)
{
    (void)d;
    return binary(c, div_one);
}

enum status ref_extremum(const struct ref_call *c, struct diag *d)
{
    (void)d;
    return c->op->attr[IR_HALVES] ? binary_halves(c, extremum_one) : binary(c, extremum_one);
}

enum status ref_prelu(const struct ref_call *c, struct diag *d)
{
    (void)d;
    return binary(c, prelu_one);
}

enum status ref_squared(const struct ref_call *c, struct diag *d)
{
    (void)d;
    return binary(c, squared_one);
}

/* LUT from byte to byte. */
enum status ref_lut(const struct ref_call *c, struct diag *d)
{
    const size_t n = (size_t)ir_elements(c->out[0]);

    (void)d;
    if (c->op->n_in == 2) { /* a table of each channel */
        const size_t channels = (size_t)ir_elements(c->in[1]) / 256;
        for (size_t i = 0; i < n; i++)
            c->y[0][i] = c->x[1][i % channels * 256 + (c->x[0][i] ^ 0x80)];
        return ST_OK;
    }
    for (size_t i = 0; i < n; i++)
        c->y[0][i] = c->k->table[c->x[0][i]];
    return ST_OK;
}

/* round_half_away(x / s) + z in float32, clamped to [low, high]; NaN gives z. */
static int32_t quantize_float(const struct ir_quant *q, int32_t low, int32_t high,
                              const uint8_t *at)
{
    const int32_t z = q->zero_point[0];
    float x, r;

    memcpy(&x, at, 4);
    r = roundf(x / q->scale[0]);
    if (isnan(r))
        return z;
    if (r <= (float)(low - z))
        return low;
    return r >= (float)(high - z) ? high : (int32_t)r + z;
}

void ref_quantised(const struct ir_tensor *t, const uint8_t *x, uint8_t *y)
{
    for (size_t i = 0; i < ir_elements(t); i++)
        y[i] = (uint8_t)quantize_float(&t->quant, INT8_MIN, INT8_MAX, x + i * 4);
}

/* Between quantised types: MBQM(x - z_in) + z_out, clamped. */
static int32_t requantise(const struct ref_call *c, size_t i)
{
    const struct ref_constants *f = c->k;
    const int32_t x = ref_at(c->in[0], c->x[0], i) - c->in[0]->quant.zero_point[0];
    const int64_t v =
        (int64_t)ref_mbqm(x, f->multiplier[0], f->shift[0]) + c->out[0]->quant.zero_point[0];

    return (int32_t)(v < f->low ? f->low : v > f->high ? f->high : v);
}

enum status ref_quantize(const struct ref_call *c, struct diag *d)
{
    const size_t n = (size_t)ir_elements(c->out[0]);

    if (c->k->n_real != 0)
        return ref_real_quantize(c, d);
    for (size_t i = 0; i < n; i++)
        ref_put(c->out[0], c->y[0], i,
                c->in[0]->type == IR_F32
                    ? quantize_float(&c->out[0]->quant, c->k->low, c->k->high, c->x[0] + i * 4)
                    : requantise(c, i));
    return ST_OK;
}

/* (float)(s * (q - z)). */
enum status ref_dequantize(const struct ref_call *c, struct diag *d)
{
    const struct ir_quant *q = &c->in[0]->quant;
    const size_t n = (size_t)ir_elements(c->out[0]);

    (void)d;
    for (size_t i = 0; i < n; i++) {
        const int32_t code = ref_at(c->in[0], c->x[0], i) - q->zero_point[0];
        const float v = (float)((double)q->scale[0] * code);

        memcpy(c->y[0] + i * 4, &v, 4);
    }
    return ST_OK;
}

enum status ref_none(const struct ref_call *c, struct diag *d)
{
    if (c->k->table != NULL)
        return ref_lut(c, d);
    return FAIL(d, ST_INTERNAL, "%s of %s has no kernel", ir_op_info(c->op->opcode)->name,
                ir_type_name(c->in[0]->type));
}
