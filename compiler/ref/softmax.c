/* softmax.c - the fixed-point softmax of TFLite's reference kernels, in 32-bit integers.
 * After the published algorithm of gemmlowp's fixedpoint (exp on negative values by a barrel of
 * multiplications, 1/(1+x) by Newton-Raphson). Qm.n: m integer bits, n fraction bits, one sign. */
#include <math.h>

#include "float_math.h"
#include "kernels.h"

/* x * 2^shift, saturating. */
static int32_t shift_saturating(int32_t x, int shift)
{
    const int64_t wide = (int64_t)x * (INT64_C(1) << shift);

    return wide > INT32_MAX ? INT32_MAX : wide < INT32_MIN ? INT32_MIN : (int32_t)wide;
}

/* e^x for x in [-1/4, 0), Q0.31: Taylor of order 4 around -1/8. */
static int32_t exp_quarter(int32_t x)
{
    const int32_t exp_eighth = 1895147668; /* e^(-1/8) */
    const int32_t third = 715827883;
    const int32_t t = x + (1 << 28);
    const int32_t t2 = ref_srdhm(t, t);
    const int32_t t3 = ref_srdhm(t2, t);
    const int32_t t4_4 = ref_rdbpot(ref_srdhm(t2, t2), 2);
    const int32_t rest = ref_rdbpot(ref_srdhm(t4_4 + t3, third) + t2, 1);

    return exp_eighth + ref_srdhm(exp_eighth, t + rest);
}

/* e^x for x <= 0 in Q5.26, result Q0.31. */
static int32_t exp_negative(int32_t x)
{
    /* e^(-2^k) in Q0.31 for k = -2 .. 4 */
    static const int32_t factor[] = {1672461947, 1302514674, 790015084, 290630308,
                                     39332535,   720401,     242};
    const int32_t quarter = 1 << 24;
    const int32_t low = (x & (quarter - 1)) - quarter;
    const int32_t rest = low - x;
    int32_t result = exp_quarter(shift_saturating(low, 5));

    for (int k = 0; k < 7; k++)
        if ((rest & (1 << (24 + k))) != 0)
            result = ref_srdhm(result, factor[k]);
    return x == 0 ? INT32_MAX : result;
}

/* 1 / (1 + x) for x in [0, 1), Q0.31: three Newton-Raphson steps on the half denominator. */
static int32_t one_over_one_plus(int32_t x)
{
    const int32_t half = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
    int32_t r = 1515870810 + ref_srdhm(half, -1010580540); /* 48/17 - 32/17 half, Q2.29 */

    for (int i = 0; i < 3; i++) {
        const int32_t error = (1 << 29) - ref_srdhm(half, r);

        r += shift_saturating(ref_srdhm(r, error), 2);
    }
    return shift_saturating(r, 1);
}

struct row {
    int32_t multiplier, shift, diff_min, max;
};

/* Differences below diff_min are 0: their scaled value leaves Q5.26. */
static int32_t exp_of(const struct row *r, int32_t x)
{
    const int32_t diff = x - r->max;
    const int32_t scaled = (int32_t)((uint32_t)diff << r->shift);

    return diff < r->diff_min ? 0 : exp_negative(ref_srdhm(scaled, r->multiplier));
}

/* Outputs from..from+n: 1/256 from the lowest value on, or rescaled from there. */
static void softmax_row(const struct ref_call *c, struct row *r, size_t from, size_t n)
{
    const int32_t lowest = c->k->inner_zero;
    uint32_t sum = 0; /* Q12.19 */
    int32_t headroom = 0, scale, exponent;

    r->max = INT32_MIN;
    for (size_t i = from; i < from + n; i++)
        r->max = ref_at(c->in[0], c->x[0], i) > r->max ? ref_at(c->in[0], c->x[0], i) : r->max;
    for (size_t i = from; i < from + n; i++)
        sum += (uint32_t)ref_rdbpot(exp_of(r, ref_at(c->in[0], c->x[0], i)), 12);
    while (headroom < 31 && (sum << headroom & 0x80000000u) == 0)
        headroom++;
    exponent = 12 - headroom + 31 - 8; /* above 31 the reference is undefined; here it gives 0 */
    scale = one_over_one_plus((int32_t)((sum << headroom) - 0x80000000u));
    for (size_t i = from; i < from + n; i++) {
        const int32_t x = ref_at(c->in[0], c->x[0], i);
        const int32_t e = ref_srdhm(scale, exp_of(r, x));
        int32_t v = exponent > 31 || x - r->max < r->diff_min ? 0 : ref_rdbpot(e, exponent);

        v = lowest + (v > 255 ? 255 : v);
        ref_put(c->out[0], c->y[0], i, c->k->rescale ? ref_rescaled(c, v) : v);
    }
}

static void fixed_softmax(const struct ref_call *c)
{
    const size_t n = (size_t)ir_dim_back(c->in[0], 0), all = (size_t)ir_elements(c->in[0]);
    const int32_t shift = c->k->shift[0];
    struct row r = {c->k->multiplier[0], shift, -(int32_t)((INT64_C(31) << 26) >> shift), 0};

    for (size_t from = 0; from < all; from += n)
        softmax_row(c, &r, from, n);
}

/* The reference's float32, step by step: sum of e[max - x] from the left, its logarithm, then
 * rint(scale * x - (s_in * max + log) / s_out) + z_out. k->real: constants.c. */
static void log_softmax_row(const struct ref_call *c, size_t from, size_t n)
{
    const float *real = c->k->real;
    const int32_t z = c->out[0]->quant.zero_point[0];
    float sum = 0, least;
    int32_t max = INT32_MIN;

    for (size_t i = from; i < from + n; i++)
        max = ref_at(c->in[0], c->x[0], i) > max ? ref_at(c->in[0], c->x[0], i) : max;
    for (size_t i = from; i < from + n; i++)
        sum += real[4 + max - ref_at(c->in[0], c->x[0], i)];
    least = (real[1] * ((float)max + real[3]) + ref_log(sum)) / real[2];
    for (size_t i = from; i < from + n; i++) {
        const float x = (float)ref_at(c->in[0], c->x[0], i) + real[3];
        const float v = rintf(real[0] * x - least);

        ref_put(c->out[0], c->y[0], i, z + (v < -255 ? -255 : v > 0 ? 0 : (int32_t)v));
    }
}

enum status ref_log_softmax(const struct ref_call *c, struct diag *d)
{
    const size_t n = (size_t)ir_dim_back(c->in[0], 0), all = (size_t)ir_elements(c->in[0]);

    (void)d;
    for (size_t from = 0; from < all; from += n)
        log_softmax_row(c, from, n);
    return ST_OK;
}

enum status ref_softmax(const struct ref_call *c, struct diag *d)
{
    if (c->in[0]->type == IR_I16)
        return ref_softmax_i16(c, d);
    if (c->k->n_real != 0)
        return ref_real_softmax(c, d);
    fixed_softmax(c);
    return ST_OK;
}
