/* ref_lstm.c - LSTM with int8 activations and an int16 cell: tfl_lstm.c has the formulas.
 * Sigmoid and tanh are ref_softmax.c's algorithm (gemmlowp's) in 16 bits: each constant is the
 * 32-bit one / 2^16. */
#include <math.h>
#include <string.h>

#include "ref_kernels.h"

static int32_t wrap(int32_t x)
{
    return (int16_t)(uint16_t)x;
}

static int32_t clamp16(int32_t x)
{
    return x < -32768 ? -32768 : x > 32767 ? 32767 : x;
}

/* a * b / 2^15, rounded; -1 * -1 is the largest number. */
static int32_t product(int32_t a, int32_t b)
{
    const int32_t ab = a * b, nudge = ab >= 0 ? 1 << 14 : 1 - (1 << 14);

    return a == -32768 && b == -32768 ? 32767 : (ab + nudge) / 32768;
}

/* x * 2^shift, saturating. */
static int32_t up(int32_t x, int32_t shift)
{
    return clamp16(x * (1 << shift));
}

/* e^x for x in [-1/4, 0), Q0.15. */
static int32_t exp_quarter(int32_t x)
{
    const int32_t exp_eighth = 28918, third = 10923;
    const int32_t t = x + (1 << 12);
    const int32_t t2 = product(t, t), t3 = product(t2, t), t4_4 = ref_rdbpot(product(t2, t2), 2);
    const int32_t rest = ref_rdbpot(wrap(product(wrap(t4_4 + t3), third) + t2), 1);

    return clamp16(exp_eighth + product(exp_eighth, wrap(t + rest)));
}

/* e^x for x <= 0 with `bits` integer bits, result Q0.15. */
static int32_t exp_negative(int32_t x, int32_t bits)
{
    /* e^(-2^k) in Q0.15 for k = -2 .. 4 */
    static const int32_t factor[] = {25520, 19875, 12055, 4435, 600, 11, 0};
    const int32_t quarter = 1 << (13 - bits);
    const int32_t low = (x & (quarter - 1)) - quarter, rest = low - x;
    int32_t result = exp_quarter(up(low, bits));

    for (int32_t k = 0; k < bits + 2 && k < 7; k++)
        if ((rest & (quarter << k)) != 0)
            result = product(result, factor[k]);
    if (bits > 5 && x < -(1 << (20 - bits))) /* below -32 */
        return 0;
    return x == 0 ? 32767 : result;
}

/* 2 / (1 + x) for x in [0, 1), Q2.13: Newton-Raphson on the half denominator. */
static int32_t two_over_one_plus(int32_t x)
{
    const int32_t half = (x + 32767 + 1) / 2;
    int32_t r = wrap(23130 + product(half, -15420)); /* 48/17 - 32/17 half */

    for (int i = 0; i < 3; i++)
        r = wrap(r + up(product(r, wrap((1 << 13) - product(half, r))), 2));
    return r;
}

/* 1 / (1 + e^-x): Q3.12 to Q0.15. */
static int32_t sigmoid(int32_t x)
{
    const int32_t below = x > 0 ? -x : x;
    const int32_t y = up(two_over_one_plus(exp_negative(below, 3)), 1);

    return x == 0 ? 1 << 14 : x > 0 ? y : 32767 - y;
}

/* From `bits` integer bits to Q0.15: (1 - e^-2x) / (1 + e^-2x). */
static int32_t hyperbolic(int32_t x, int32_t bits)
{
    const int32_t below = x > 0 ? -x : x;
    const int32_t y = up(wrap(two_over_one_plus(exp_negative(below, bits + 1)) - (1 << 13)), 2);

    return x == 0 ? 0 : x > 0 ? y : -y;
}

/* Row `row` of the gates' weights [4,cells,columns], of which each n multiply the n values. */
static int32_t sum(const struct ir_tensor *gates, const uint8_t *w, const uint8_t *bias, size_t row,
                   const int8_t *x, size_t n)
{
    const size_t columns = (size_t)gates->dim[2];
    uint32_t acc;

    memcpy(&acc, bias, 4);
    for (size_t i = 0; i < columns; i++)
        acc += (uint32_t)(x[i % n] * (int8_t)w[row * columns + i]);
    return (int32_t)acc;
}

/* The sum that n digits of gate row `row` are, 128 to the power of 0, 1 ..; `each` rows at a time. */
static int32_t digits(const int8_t *x, size_t row, size_t each, int32_t n)
{
    int32_t s = 0;

    for (int32_t p = n; p-- > 0;)
        s = s * 128 + x[(row / each * (size_t)n + (size_t)p) * each + row % each];
    return s;
}

struct lstm {
    size_t cells, in;
    int32_t exponent, clip; /* the cell's scale is 2^exponent; clip 0: none */
};

/* One step: h and c are of one batch; the new h goes to y. */
static void step(const struct ref_call *k, const struct lstm *l, const int8_t *x, const int8_t *h,
                 int16_t *c, int8_t *y)
{
    const struct ref_constants *f = k->k;
    const int32_t n_digit = k->op->attr[IR_DIGITS];
    const size_t each = (size_t)k->op->attr[IR_MULTIPLIER];

    for (size_t j = 0; j < l->cells; j++) {
        int32_t gate[4], cell, code;

        for (size_t q = 0; q < 4; q++) {
            const size_t row = q * l->cells + j;
            const int32_t a = n_digit ? digits(x, row, each, n_digit)
                                      : sum(k->in[1], k->x[1], k->x[3] + 4 * row, row, x, l->in);
            const int32_t b =
                sum(k->in[2], k->x[2], k->x[3] + 4 * (4 * l->cells + row), row, h, l->cells);
            const int32_t in = clamp16(ref_mbqm(a, f->multiplier[q], f->shift[q]));
            const int32_t all = clamp16(in + ref_mbqm(b, f->multiplier[4 + q], f->shift[4 + q]));

            gate[q] = q == 2 ? hyperbolic(all, 3) : sigmoid(all);
        }
        cell = clamp16(wrap(ref_rdbpot(gate[1] * c[j], 15)) +
                       wrap(ref_rdbpot(gate[0] * gate[2], 30 + l->exponent)));
        if (l->clip > 0)
            cell = cell > l->clip ? l->clip : cell < -l->clip ? -l->clip : cell;
        c[j] = (int16_t)cell;
        code =
            ref_mbqm(gate[3] * hyperbolic(cell, 15 + l->exponent), f->multiplier[8], f->shift[8]) +
            k->out[0]->quant.zero_point[0];
        y[j] = (int8_t)(code < -128 ? -128 : code > 127 ? 127 : code);
    }
}

static int32_t clip_code(const struct ir_op *op, float scale)
{
    float clip;

    memcpy(&clip, &op->attr[IR_CLIP_HIGH_BITS], 4);
    return (int32_t)fminf(clip / scale, 32767);
}

enum status ref_lstm(const struct ref_call *k, struct diag *d)
{
    const struct ir_tensor *x = k->in[0];
    const size_t time = (size_t)k->op->attr[IR_AXIS], steps = (size_t)x->dim[time];
    const size_t batches = (size_t)x->dim[1 - time];
    struct lstm l = {(size_t)k->in[2]->dim[1], (size_t)x->dim[2], 0, 0};

    (void)d;
    (void)frexpf(k->in[5]->quant.scale[0], &l.exponent);
    l.exponent--;
    l.clip = clip_code(k->op, k->in[5]->quant.scale[0]);
    for (size_t b = 0; b < batches; b++) {
        int8_t *h = (int8_t *)(uintptr_t)k->x[4] + b * l.cells;
        int16_t *c = (int16_t *)(uintptr_t)k->x[5] + b * l.cells;

        for (size_t j = 0; j < l.cells && k->op->attr[IR_RESET] != 0; j++) {
            h[j] = (int8_t)k->in[4]->quant.zero_point[0];
            c[j] = 0;
        }
        for (size_t t = 0; t < steps; t++) {
            const size_t at = time == 1 ? b * steps + t : t * batches + b;
            int8_t *y = (int8_t *)k->y[0] + at * l.cells;

            step(k, &l, ref_i8(k->x[0]) + at * l.in, h, c, y);
            memcpy(h, y, l.cells);
        }
    }
    return ST_OK;
}
