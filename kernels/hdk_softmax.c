/* hdk_softmax.c - SOFTMAX in fixed point, as TFLite's reference: exp of negative Q5.26 numbers by a
 * Taylor polynomial on [-1/4, 0) and one multiplication per set bit of the rest; division by
 * Newton's method. Qm.n names a format: m integer bits, n = 31 - m fraction bits, one sign. Pinned
 * by tests/kernels/test_softmax.c against a softmax in double. */
#include "hdk.h"
#include "hdk_math.h"

/* x * 2^e, saturating; e >= 0. */
static int32_t shift_left(int32_t x, uint32_t e)
{
    int64_t wide = (int64_t)x * ((int64_t)1 << e);

    if (wide > INT32_MAX)
        return INT32_MAX;
    return wide < INT32_MIN ? INT32_MIN : (int32_t)wide;
}

/* exp(a) for a in [-1/4, 0), Q0.31: the Taylor polynomial of degree 4 around -1/8. */
static int32_t exp_small(int32_t a)
{
    const int32_t exp_eighth = 1895147668; /* exp(-1/8) */
    const int32_t third = 715827883;       /* 1/3 */
    int32_t x = a + (1 << 28);
    int32_t x2 = hdk_high_mul(x, x);
    int32_t x3 = hdk_high_mul(x2, x);
    int32_t x4 = hdk_high_mul(x2, x2);
    int32_t rest = hdk_high_mul(hdk_round_shift(x4, 2) + x3, third) + x2; /* x4/12 + x3/3 + x2 */

    return exp_eighth + hdk_high_mul(exp_eighth, x + hdk_round_shift(rest, 1));
}

/* exp(a) for a <= 0, Q5.26 to Q0.31. */
static int32_t exp_negative(int32_t a)
{
    /* exp(-2^k), k from -2 to 4, Q0.31 */
    static const int32_t factor[7] = {1672461947, 1302514674, 790015084, 290630308,
                                      39332535,   720401,     242};
    const int32_t quarter = 1 << 24;
    int32_t small = (a & (quarter - 1)) - quarter; /* a modulo 1/4, in [-1/4, 0) */
    int32_t rest = small - a;                      /* a multiple of 1/4 */
    int32_t result = exp_small(shift_left(small, 5));

    if (a == 0)
        return INT32_MAX;
    for (uint32_t k = 0; k < 7; k++)
        if (rest & (quarter << k))
            result = hdk_high_mul(result, factor[k]);
    return result;
}

/* 1 / (1 + a) for a in [0, 1), Q0.31: Newton on half the denominator, x in Q2.29. */
int32_t hdk_reciprocal_1p(int32_t a)
{
    const int32_t k48_17 = 1515870810, k32_17 = -1010580540; /* 48/17, -32/17 */
    int32_t half = (int32_t)(((int64_t)a + INT32_MAX + 1) / 2);
    int32_t x = k48_17 + hdk_high_mul(half, k32_17);

    for (uint32_t i = 0; i < 3; i++) {
        int32_t error = (1 << 29) - hdk_high_mul(half, x);
        x += shift_left(hdk_high_mul(x, error), 2);
    }
    return shift_left(x, 1);
}

int32_t hdk_softmax_exp(const struct hdk_softmax *p, int32_t diff)
{
    if (diff < p->diff_min)
        return 0;
    return exp_negative(hdk_rescale(diff, p->input_multiplier, p->input_left_shift));
}

static int32_t row_max(const int8_t *x, uint32_t n)
{
    int32_t max = -128;

    for (uint32_t i = 0; i < n; i++)
        max = x[i] > max ? x[i] : max;
    return max;
}

/* Exponentials by difference 0, -1, .. -255, made when first asked for: long rows need each value
 * once only, short ones few of them. */
#define UNKNOWN (-1)
struct exponentials {
    int32_t of[256];
};

static int32_t look_up(const struct hdk_softmax *p, struct exponentials *e, int32_t below)
{
    if (e->of[below] == UNKNOWN)
        e->of[below] = hdk_softmax_exp(p, -below);
    return e->of[below];
}

/* Divisor of one row, and its maximum. */
struct divisor {
    int32_t max, scale, shift;
};

/* `bits`: of the result. */
static struct divisor divisor_of(const struct hdk_softmax *p, struct exponentials *table,
                                 const int8_t *x, int32_t bits)
{
    struct divisor d = {.max = row_max(x, p->cols)};
    int32_t sum = 0; /* Q12.19 */
    uint32_t zeros;

    for (uint32_t i = 0; i < p->cols; i++)
        sum += hdk_round_shift(look_up(p, table, d.max - x[i]), 12);
    zeros = (uint32_t)hdk_leading_zeros((uint32_t)sum);
    d.scale = hdk_reciprocal_1p((int32_t)(((uint32_t)sum << zeros) - 0x80000000u));
    d.shift = 12 - (int32_t)zeros + 31 - bits;
    return d;
}

/* A shift beyond 31 (512 equal entries and more; undefined in the reference) leaves less than 1/2:
 * 0. */
static int32_t quotient(const struct divisor *d, int32_t e)
{
    return d->shift <= 31 ? hdk_round_shift(hdk_high_mul(d->scale, e), d->shift) : 0;
}

static void no_exponentials(struct exponentials *table)
{
    for (uint32_t i = 0; i < 256; i++)
        table->of[i] = UNKNOWN;
}

void hdk_softmax(const struct hdk_softmax *p, const int8_t *x, int8_t *y)
{
    struct exponentials table;

    no_exponentials(&table);
    for (uint32_t r = 0; r < p->rows; r++, x += p->cols, y += p->cols) {
        const struct divisor d = divisor_of(p, &table, x, 8);

        for (uint32_t i = 0; i < p->cols; i++)
            y[i] = hdk_clamp(quotient(&d, look_up(p, &table, d.max - x[i])), -128, -128, 127);
    }
}

void hdk_softmax_wide(const struct hdk_softmax *p, const int8_t *x, int16_t *y)
{
    struct exponentials table;

    no_exponentials(&table);
    for (uint32_t r = 0; r < p->rows; r++, x += p->cols, y += p->cols) {
        const struct divisor d = divisor_of(p, &table, x, 16);

        for (uint32_t i = 0; i < p->cols; i++) {
            const int32_t v = quotient(&d, look_up(p, &table, d.max - x[i]));

            y[i] = (int16_t)((v > 65535 ? 65535 : v) - 32768);
        }
    }
}

/* log x of x in [1, 4096), Q12.19 to Q5.26. x = m 2^z, m near 2^(-1/4): of the two ways, z a whole
 * number + 1/4 or - 1/4, the one with the smaller m. log m = (u m + c u^3) / (1 + p (i + u + d u^2)
 * + f u), u = 2 (m - 2^(-1/4)), p half the sum of m and 2^(-1/4). */
static int32_t log_of(int32_t x)
{
    const int32_t ln2 = 1488522236, root4 = 1805811301, root2 = 1518500250; /* 2^(-1/4), 2^(-1/2) */
    const int32_t c = 117049297, d = 127690142, i = 1057819769, f = 638450708;
    int32_t zeros = hdk_leading_zeros((uint32_t)x);
    int32_t zeros_b = hdk_leading_zeros((uint32_t)hdk_high_mul(x, root2)) - 1;
    int32_t m_b = shift_left(x, (uint32_t)zeros_b), z_b = (12 - zeros_b) * (1 << 25) - (1 << 23);
    int32_t m = shift_left(hdk_high_mul(shift_left(x, (uint32_t)zeros - 1), root2), 1);
    int32_t z = (12 - zeros) * (1 << 25) + (1 << 23);
    int32_t p, u, u2, top, bottom;

    m = m < m_b ? m : m_b;
    z = z > z_b ? z : z_b;
    p = (int32_t)(((int64_t)m + root4 + 1) / 2);
    u = 2 * (m - root4);
    u2 = hdk_high_mul(u, u);
    top = hdk_high_mul(u, m) + hdk_high_mul(hdk_high_mul(u, u2), c);
    bottom = hdk_high_mul(p, i + u + hdk_high_mul(d, u2)) + hdk_high_mul(f, u);
    top = hdk_high_mul(hdk_round_shift(top, 6), hdk_reciprocal_1p(bottom));
    return shift_left(hdk_high_mul(z, ln2) + top, 1);
}

static void log_softmax_row(const struct hdk_log_softmax *p, struct exponentials *table,
                            const int8_t *x, int8_t *y)
{
    const struct hdk_softmax *e = &p->exp;
    int32_t max = row_max(x, e->cols), sum = 0, log_sum, least;

    for (uint32_t i = 0; i < e->cols; i++)
        sum += hdk_round_shift(look_up(e, table, max - x[i]), 12);
    log_sum = log_of(sum);
    least = hdk_rescale(INT32_MIN + log_sum, p->reverse_multiplier, p->reverse_shift);
    least = least > e->diff_min - 1 ? least : e->diff_min - 1;
    for (uint32_t i = 0; i < e->cols; i++) {
        int32_t diff = x[i] - max, v = -255;
        if (diff > least)
            v = hdk_round_shift(
                hdk_rescale(diff, e->input_multiplier, e->input_left_shift) - log_sum, 22);
        y[i] = hdk_clamp(v, 127, -128, 127);
    }
}

void hdk_log_softmax(const struct hdk_log_softmax *p, const int8_t *x, int8_t *y)
{
    struct exponentials table;

    no_exponentials(&table);
    for (uint32_t r = 0; r < p->exp.rows; r++)
        log_softmax_row(p, &table, x + (uint64_t)r * p->exp.cols, y + (uint64_t)r * p->exp.cols);
}
