/* hdk_lstm.c - LSTM with int8 activations and an int16 cell. Sigmoid and tanh are the algorithm of
 * hdk_softmax.c in 16 bits, each constant the 32-bit one / 2^16, rounded. */
#include <stddef.h>

#include "hdk.h"
#include "hdk_math.h"
#include "hdk_simd.h"

static int32_t clamp16(int32_t x)
{
    return x < -32768 ? -32768 : x > 32767 ? 32767 : x;
}

static int32_t wrap16(int32_t x)
{
    return (int16_t)(uint16_t)x;
}

/* a * b / 2^15, rounded; not both -32768, so it is in int16. */
static int32_t product(int32_t a, int32_t b)
{
    return (a * b + (1 << 14)) >> 15;
}

/* e^x for x <= 0 with `bits` integer bits, Q0.15: Taylor's polynomial around -1/8 for x modulo 1/4,
 * then one multiplication per set bit of the rest. */
static int32_t exp_negative(int32_t x, int32_t bits)
{
    static const int32_t factor[7] = {25520, 19875, 12055, 4435, 600, 11, 0}; /* e^-2^(k - 2) */
    const int32_t eighth = 28918, third = 10923;                              /* e^(-1/8), 1/3 */
    int32_t quarter = 1 << (13 - bits), low = (x & (quarter - 1)) - quarter, rest = low - x;
    int32_t t = low * (1 << bits) + (1 << 12), t2 = product(t, t), t3 = product(t2, t);
    int32_t cubic = product(hdk_round_shift(product(t2, t2), 2) + t3, third);
    int32_t result;

    if (x == 0)
        return 32767;
    if (bits > 5 && x < -(1 << (20 - bits))) /* below -32 */
        return 0;
    result = eighth + product(eighth, t + hdk_round_shift(cubic + t2, 1));
    rest >>= 13 - bits;
    for (const int32_t *f = factor; rest && f < factor + 7; f++, rest >>= 1)
        if (rest & 1)
            result = product(result, *f);
    return result;
}

/* 2 / (1 + a), Q2.13, of a in [0, 1), Q0.15: Newton's method on half the denominator. No step
 * leaves int16. */
static int32_t quotient(int32_t a)
{
    int32_t half = (a + 32768) / 2, x = 23130 + product(half, -15420);

    for (uint32_t i = 0; i < 3; i++)
        x += 4 * product(x, (1 << 13) - product(half, x));
    return x;
}

/* Q3.12 to Q0.15. */
static int32_t sigmoid(int32_t x)
{
    int32_t y = clamp16(2 * quotient(exp_negative(x > 0 ? -x : x, 3)));

    return x == 0 ? 1 << 14 : x > 0 ? y : 32767 - y;
}

/* `bits` integer bits to Q0.15. */
static int32_t hyperbolic_tangent(int32_t x, int32_t bits)
{
    int32_t y = clamp16(4 * (quotient(exp_negative(x > 0 ? -x : x, bits + 1)) - (1 << 13)));

    return x == 0 ? 0 : x > 0 ? y : -y;
}

/* Add row j of each gate's weights times n values to sum[gate]. Four sums share a value's load. */
HDK_INLINE void add_products(const int8_t *w, size_t gate, const int8_t *x, uint32_t n,
                             uint32_t sum[4])
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t g = 0; g < 4; g++)
            sum[g] += (uint32_t)(w[g * gate + i] * x[i]);
}

/* Each gate's row is `parts` parts of n weights. */
static void add_dots(const int8_t *w, size_t gate, uint32_t parts, const int8_t *x, uint32_t n,
                     uint32_t sum[4])
{
    uint32_t s[4] = {sum[0], sum[1], sum[2], sum[3]}, i;

    for (; parts-- > 0; w += n - i) {
        for (i = 0; i + 4 <= n; i += 4, w += 4)
            add_products(w, gate, x + i, 4, s);
        add_products(w, gate, x + i, n - i, s);
    }
    for (uint32_t g = 0; g < 4; g++)
        sum[g] = s[g];
}

/* The sum that the digits of row `row` are. */
static int32_t from_digits(const struct hdk_lstm *p, const int8_t *x, uint32_t row)
{
    int32_t sum = 0;

    x += row / p->each * (p->digits * p->each) + row % p->each;
    for (uint32_t k = p->digits; k-- > 0;)
        sum = sum * 128 + x[k * p->each];
    return sum;
}

/* The gates of cell j before their functions, 2^-12. */
static void gates(const struct hdk_lstm *p, uint32_t j, const int8_t *x, const int8_t *h,
                  int32_t gate[4])
{
    const int32_t *m = p->scale.multiplier;
    const int8_t *s = p->scale.shift;
    const size_t cells = p->cells, of_w = (size_t)p->x_parts * p->in_c, of_r = p->h_parts * cells;
    uint32_t of_x[4], of_h[4];

    for (uint32_t g = 0; g < 4; g++) {
        const uint32_t row = g * p->cells + j;

        of_x[g] = (uint32_t)(p->digits ? from_digits(p, x, row) : p->bias[row]);
        of_h[g] = (uint32_t)p->bias[4 * cells + row];
    }
    if (p->digits == 0)
        add_dots(p->w + j * of_w, cells * of_w, p->x_parts, x, p->in_c, of_x);
    add_dots(p->r + j * of_r, cells * of_r, p->h_parts, h, p->cells, of_h);
    for (uint32_t g = 0; g < 4; g++)
        gate[g] = clamp16(clamp16(hdk_rescale((int32_t)of_x[g], m[g], s[g])) +
                          hdk_rescale((int32_t)of_h[g], m[4 + g], s[4 + g]));
}

static void step(const struct hdk_lstm *p, const int8_t *x, const int8_t *h, int16_t *c, int8_t *y)
{
    enum { NEAR = 256 }; /* h is read once for each cell: it comes to the stack */
    int8_t near[NEAR];

    for (uint32_t i = 0; p->cells <= NEAR && i < p->cells; i++)
        near[i] = h[i];
    h = p->cells <= NEAR ? near : h;
    for (uint32_t j = 0; j < p->cells; j++) {
        int32_t gate[4], cell, out;

        gates(p, j, x, h, gate);
        out = sigmoid(gate[3]);
        cell = wrap16(hdk_round_shift(sigmoid(gate[1]) * c[j], 15));
        cell =
            clamp16(cell + wrap16(hdk_round_shift(sigmoid(gate[0]) * hyperbolic_tangent(gate[2], 3),
                                                  15 + p->cell_bits)));
        if (p->clip > 0)
            cell = cell > p->clip ? p->clip : cell < -p->clip ? -p->clip : cell;
        c[j] = (int16_t)cell;
        y[j] = hdk_clamp(hdk_rescale(out * hyperbolic_tangent(cell, p->cell_bits),
                                     p->scale.multiplier[8], p->scale.shift[8]),
                         p->z_out, -128, 127);
    }
}

void hdk_lstm(const struct hdk_lstm *p, const int8_t *x, int8_t *h, int16_t *c, int8_t *y)
{
    for (uint32_t b = 0; b < p->batch; b++, h += p->cells, c += p->cells) {
        const int8_t *before = h;

        for (uint32_t j = 0; p->reset && j < p->cells; j++) {
            h[j] = (int8_t)p->z_out;
            c[j] = 0;
        }
        for (uint32_t t = 0; t < p->steps; t++) {
            const size_t at = p->time_major ? (size_t)t * p->batch + b : (size_t)b * p->steps + t;

            step(p, x + at * p->in_c, before, c, y + at * p->cells);
            before = y + at * p->cells;
        }
        for (uint32_t j = 0; j < p->cells; j++)
            h[j] = before[j];
    }
}
