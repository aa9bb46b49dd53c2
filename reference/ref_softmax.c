/* ref_softmax.c - the fixed-point softmax of TFLite's reference kernels, in 32-bit integers.
 * After the published algorithm of gemmlowp's fixedpoint (exp on negative values by a barrel of
 * multiplications, 1/(1+x) by Newton-Raphson). Qm.n: m integer bits, n fraction bits, one sign. */
#include <math.h>

#include "ref_kernels.h"

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
    int32_t result = exp_quarter(ref_shift_saturating(low, 5));

    for (int k = 0; k < 7; k++)
        if ((rest & (1 << (24 + k))) != 0)
            result = ref_srdhm(result, factor[k]);
    return x == 0 ? INT32_MAX : result;
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

/* Outputs from..from+n: 1/256 (int16: 1/65536) from the lowest value on, or rescaled from there. */
static void softmax_row(const struct ref_call *c, struct row *r, size_t from, size_t n)
{
    const int32_t lowest = c->k->inner_zero, bits = c->out[0]->type == IR_I16 ? 16 : 8;
    uint32_t sum = 0; /* Q12.19 */
    int32_t headroom = 0, scale, exponent;

    r->max = INT32_MIN;
    for (size_t i = from; i < from + n; i++)
        r->max = ref_at(c->in[0], c->x[0], i) > r->max ? ref_at(c->in[0], c->x[0], i) : r->max;
    for (size_t i = from; i < from + n; i++)
        sum += (uint32_t)ref_rdbpot(exp_of(r, ref_at(c->in[0], c->x[0], i)), 12);
    while (headroom < 31 && (sum << headroom & 0x80000000u) == 0)
        headroom++;
    exponent = 12 - headroom + 31 - bits; /* above 31 the reference is undefined; here it gives 0 */
    scale = ref_one_over_one_plus((int32_t)((sum << headroom) - 0x80000000u));
    for (size_t i = from; i < from + n; i++) {
        const int32_t x = ref_at(c->in[0], c->x[0], i);
        const int32_t e = ref_srdhm(scale, exp_of(r, x));
        int32_t v = exponent > 31 || x - r->max < r->diff_min ? 0 : ref_rdbpot(e, exponent);

        v = lowest + (v >> bits != 0 ? (1 << bits) - 1 : v);
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

static int32_t leading_zeros(uint32_t x)
{
    int32_t n = 0;

    while (n < 32 && (x << n & 0x80000000u) == 0)
        n++;
    return n;
}

static int32_t power(int32_t n) /* n in Q6.25 */
{
    return ref_shift_saturating(n, 25);
}

/* log(x) of x >= 1, Q12.19, as Q5.26: x = r 2^z with r around 2^(-1/4), where z is a whole number +
 * or
 * - 1/4; log r is a quotient of polynomials in 2 (r - 2^(-1/4)). */
static int32_t logarithm(int32_t x)
{
    const int32_t log_2 = 1488522236, fourth_root = 1805811301; /* of 1/2 */
    const int32_t root = 1518500250, quarter = 1 << 23;         /* of 1/2; 1/4 in Q6.25 */
    const int32_t zeros = leading_zeros((uint32_t)x);
    const int32_t high = ref_shift_saturating(x, zeros - 1),
                  below = leading_zeros((uint32_t)ref_srdhm(x, root)) - 1;
    const int32_t a = ref_shift_saturating(ref_srdhm(high, root), 1),
                  b = ref_shift_saturating(x, below);
    const int32_t z_a = power(12 - zeros) + quarter, z_b = power(12 - below) - quarter;
    const int32_t r = a < b ? a : b, z = z_a > z_b ? z_a : z_b;
    const int32_t p = (int32_t)(((int64_t)r + fourth_root + 1) / 2), q = 2 * (r - fourth_root);
    const int32_t q2 = ref_srdhm(q, q);
    const int32_t above = ref_srdhm(q, r) + ref_srdhm(ref_srdhm(q, q2), 117049297);
    const int32_t under =
        ref_srdhm(p, 1057819769 + q + ref_srdhm(127690142, q2)) + ref_srdhm(638450708, q);
    const int32_t fraction = ref_srdhm(ref_rdbpot(above, 6), ref_one_over_one_plus(under));

    return ref_shift_saturating(ref_srdhm(z, log_2) + fraction, 1);
}

static void log_softmax_row(const struct ref_call *c, struct row *r, size_t from, size_t n)
{
    const int32_t top = c->out[0]->quant.zero_point[0];
    uint32_t sum = 0; /* Q12.19 */
    int32_t log_sum, least;

    r->max = INT32_MIN;
    for (size_t i = from; i < from + n; i++)
        r->max = ref_at(c->in[0], c->x[0], i) > r->max ? ref_at(c->in[0], c->x[0], i) : r->max;
    for (size_t i = from; i < from + n; i++)
        sum += (uint32_t)ref_rdbpot(exp_of(r, ref_at(c->in[0], c->x[0], i)), 12);
    log_sum = logarithm((int32_t)sum);
    least = ref_mbqm(INT32_MIN + log_sum, c->k->multiplier[1], c->k->shift[1]);
    least = least > r->diff_min - 1 ? least : r->diff_min - 1;
    for (size_t i = from; i < from + n; i++) {
        const int32_t diff = ref_at(c->in[0], c->x[0], i) - r->max;
        int32_t v = -255;

        if (diff > least)
            v = ref_rdbpot(ref_mbqm(diff, r->multiplier, r->shift) - log_sum, 22);
        ref_put(c->out[0], c->y[0], i, top + (v > 0 ? 0 : v < -255 ? -255 : v));
    }
}

enum status ref_log_softmax(const struct ref_call *c, struct diag *d)
{
    const size_t n = (size_t)ir_dim_back(c->in[0], 0), all = (size_t)ir_elements(c->in[0]);
    const int32_t shift = c->k->shift[0];
    struct row r = {c->k->multiplier[0], shift, -(int32_t)((INT64_C(31) << 26) >> shift), 0};

    (void)d;
    for (size_t from = 0; from < all; from += n)
        log_softmax_row(c, &r, from, n);
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
