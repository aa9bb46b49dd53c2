/* ref_layer_norm.c - LAYER_NORM of 8-bit values in integers (NUMERICS.md, "LAYER_NORM"): the deviation's
 * inverse in two parts of 8 bits from tables of 16 octaves, products of each part, one sum. */
#include <math.h>

#include "ref_kernels.h"

enum {
    LEAST = 64,
    ENOUGH = 512,
    LONG = 1016,
    OCTAVES = 16,
    ALL_OCTAVES = 19, /* of squares up to 2^16, without a mean */
    STEPS = 256,
    PART = 840,
    MOST = 127,
    FAR = 63, /* in its place where the row's farthest value may have the greatest inverse */
    FINE = 254
};

/* Where the table begins, in squares of x's step. */
static const double least_variance = 0.25;

/* Factor * x as the accelerator requantises it. */
struct fixed {
    int32_t multiplier;
    int8_t shift;
};

/* Constants from the scales, epsilon and the row's length. */
struct norm {
    int32_t length, times, n; /* of a row; how often its values count; their product */
    int32_t octaves, weight[ALL_OCTAVES], bias;  /* of n * variance */
    int64_t low[ALL_OCTAVES], unit[ALL_OCTAVES]; /* variances are rounded to whole units */
    int32_t step[ALL_OCTAVES][STEPS];
    struct fixed octave[ALL_OCTAVES], mean, rest, part, part_rest, product;
    double greatest; /* of the deviation's inverse */
    double epsilon;  /* in squares of x's scale */
};

static struct fixed fixed_of(double v)
{
    struct fixed f;

    ref_fixed_point(v, &f.multiplier, &f.shift);
    return f;
}

static int32_t times(struct fixed f, int32_t v)
{
    return ref_mbqm(v, f.multiplier, f.shift);
}

static int32_t between(int32_t v, int32_t low, int32_t high)
{
    return v < low ? low : v > high ? high : v;
}

static int32_t in_byte(int32_t v)
{
    return between(v, -128, 127);
}

/* The inverse deviation in units of which `greatest` has MOST * PART. */
static double inverse(const struct norm *k, double variances)
{
    return MOST * PART / k->greatest / sqrt(variances / k->n + k->epsilon);
}

/* A row of more than LONG values is summed in pieces, a short one several times, and an octave from `low`
 * on takes its sum in units that are less than 1/508 of `low`. */
static int64_t unit_of(const struct norm *k, double low)
{
    int64_t unit = 1;

    if (k->n <= LONG && k->times == 1)
        return 1;
    while (unit < 512 && unit * 4096 <= k->n)
        unit *= 2;
    return 2 * low <= (double)(254 * 128 * unit) ? unit : 32 * unit;
}

/* Round half up. */
static int32_t in_units(int64_t v, int64_t unit)
{
    return (int32_t)floor((double)v / (double)unit + 0.5);
}

/* Compute the octaves from the last to the first: each one's contribution to those after it. */
static void make_octaves(struct norm *k)
{
    int32_t sum;

    k->low[0] = (int64_t)round(k->n * least_variance);
    for (int j = 1; j < k->octaves; j++)
        k->low[j] = 2 * k->low[j - 1];
    sum = k->bias = (int32_t)round(inverse(k, 2.0 * (double)k->low[k->octaves - 1]));
    for (int j = k->octaves - 1; j >= 0; j--) {
        const double low = (double)k->low[j], most = ceil((inverse(k, low) - sum) / (STEPS - 1));

        k->unit[j] = unit_of(k, low);
        k->octave[j] = fixed_of((STEPS - 1) * (double)k->unit[j] / low);
        k->weight[j] = most < 1 ? 1 : (int32_t)most;
        for (int i = 0; i < STEPS - 1; i++) { /* the last one is all above it as well: 0 */
            const double v = inverse(k, low + low * i / (STEPS - 1)) - sum;

            k->step[j][i] = between((int32_t)round(v / k->weight[j]), 0, STEPS - 1);
        }
        sum += k->weight[j] * k->step[j][0];
    }
}

static void make_norm(const struct ref_call *c, struct norm *k)
{
    const double scale = (double)c->in[0]->quant.scale[0];

    k->length = ir_dim_back(c->in[0], 0);
    if (c->op->attr[IR_GROUPS] > 0)
        k->length = (int32_t)ir_elements(c->in[0]) / c->op->attr[IR_GROUPS];
    k->times = k->length < LEAST ? (ENOUGH + k->length - 1) / k->length : 1;
    k->n = k->length * k->times;
    k->epsilon = (double)ref_attr_float(c->op, IR_EPSILON_BITS) / (scale * scale);
    k->greatest = 1 / sqrt(least_variance + k->epsilon);
    if (k->epsilon > 1 && k->epsilon * 3 + 1.25 > 65025.0 / k->n)
        k->greatest = k->greatest * MOST / FAR;
    k->mean = fixed_of(1.0 / k->n);
    k->rest = fixed_of((double)FINE / k->n);
    k->part = fixed_of(1.0 / PART);
    k->part_rest = fixed_of((double)FINE / PART);
    k->product = fixed_of(1.0 / MOST);
    k->octaves = OCTAVES;
    if (c->op->attr[IR_UNCENTRED] != 0) {
        k->octaves = 0;
        while (pow(2, k->octaves) * round(k->n * least_variance) < 65025.0 * k->n)
            k->octaves++;
    }
    make_octaves(k);
}

/* How far the sum of squares is above octave j's begin, in its units. */
static int32_t above(const struct norm *k, int j, int64_t squares)
{
    return in_units(squares, k->unit[j]) - in_units(k->low[j], k->unit[j]);
}

/* A row's mean and inverse deviation, each a coarse part and a fine one in 1/254 of its unit. */
struct row {
    int32_t mean, mean_rest, inverse, inverse_rest;
};

/* The place of value i of row r: rows are one after the other, or (groups) the pixels of some
 * channels. */
static size_t place(const struct ref_call *c, const struct norm *k, size_t r, size_t i)
{
    const size_t channels = (size_t)ir_dim_back(c->in[0], 0),
                 groups = (size_t)c->op->attr[IR_GROUPS];
    const size_t each = groups > 0 ? channels / groups : channels;

    return groups > 0 ? i / each * channels + r * each + i % each : r * (size_t)k->length + i;
}

static int32_t code(const struct ref_call *c, size_t i)
{
    return ref_at(c->in[0], c->x[0], i) - (c->in[0]->type == IR_U8 ? 128 : 0);
}

static struct row row_of(const struct ref_call *c, const struct norm *k, size_t n)
{
    const int32_t shares = (k->n + LONG - 1) / LONG;
    int32_t sum = 0, inverse = k->bias;
    int64_t squares = 0;
    struct row r;

    for (size_t i = 0; i < (size_t)k->length; i++)
        sum += k->times * code(c, place(c, k, n, i));
    if (c->op->attr[IR_UNCENTRED] != 0)
        sum = k->n * (c->in[0]->quant.zero_point[0] - (c->in[0]->type == IR_U8 ? 128 : 0));
    r.mean = in_byte(times(k->mean, sum));
    r.mean_rest = in_byte(times(k->rest, sum - k->n * r.mean));
    for (size_t i = 0; i < (size_t)k->length; i++) {
        const int32_t centred = code(c, place(c, k, n, i)) - r.mean;

        squares += (int64_t)k->times * centred * centred;
    }
    squares -=
        shares * (int64_t)round((double)k->n / shares * r.mean_rest * r.mean_rest / (FINE * FINE));
    for (int j = 0; j < k->octaves; j++)
        inverse += k->weight[j] *
                   k->step[j][in_byte(times(k->octave[j], above(k, j, squares)) - 128) + 128];
    r.inverse = in_byte(times(k->part, inverse));
    r.inverse_rest = in_byte(times(k->part_rest, inverse - PART * r.inverse));
    return r;
}

/* a - b, each as a digit in 128ths, which saturates, and what is left. */
static int32_t difference(int32_t a, int32_t b)
{
    const int32_t high_a = (a + 64) >> 7, high_b = (b + 64) >> 7;

    return 128 * in_byte(high_a - high_b) + (a - 128 * high_a) - (b - 128 * high_b);
}

/* (q - mean) * inverse in half units of the inverse's coarse part. */
static int32_t normal(const struct norm *k, const struct row *r, int32_t q)
{
    return 2 * difference(q * r->inverse, r->mean * r->inverse) +
           in_byte(times(k->product, q * r->inverse_rest)) -
           in_byte(times(k->product, r->mean * r->inverse_rest)) -
           in_byte(times(k->product, r->mean_rest * r->inverse));
}

/* y of normalised value v at place `at`, scaled by its channel's gamma and moved by its beta. */
static void put(const struct ref_call *c, const struct norm *k, size_t at, int32_t v)
{
    const size_t channel = at % (size_t)ir_dim_back(c->in[0], 0);
    const float gamma = ((const float *)(const void *)c->x[1])[channel];
    const float beta = ((const float *)(const void *)c->x[2])[channel];
    const double scale = (double)c->out[0]->quant.scale[0];
    const double unit = fabs((double)gamma) * k->greatest / FINE, units = (double)beta / unit;
    const int sign = !(fabs(units) < 0x1p30) ? 0 : gamma < 0 ? -1 : 1;
    const struct fixed f = fixed_of(sign == 0 ? 1 : unit / scale);
    const int32_t bias =
        (int32_t)round(sign == 0 ? fmax(-512, fmin(512, (double)beta / scale)) : units);

    ref_put(c->out[0], c->y[0], at, ref_value(c, times(f, sign * v + bias)));
}

enum status ref_layer_norm(const struct ref_call *c, struct diag *d)
{
    struct norm k = {0};

    (void)d;
    make_norm(c, &k);
    for (size_t n = 0; n < ir_elements(c->in[0]) / (size_t)k.length; n++) {
        const struct row r = row_of(c, &k, n);

        for (size_t i = 0; i < (size_t)k.length; i++) {
            const size_t at = place(c, &k, n, i);

            put(c, &k, at, normal(&k, &r, code(c, at)));
        }
    }
    return ST_OK;
}
