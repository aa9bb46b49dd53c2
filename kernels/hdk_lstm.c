/* hdk_lstm.c - LSTM with int8 activations and an int16 cell. Sigmoid and tanh are the algorithm of
 * hdk_softmax.c in 16 bits, each constant the 32-bit one / 2^16, rounded. */
#include <stddef.h>

#include "hdk.h"
#include "hdk_math.h"

static int32_t clamp16(int32_t x)
{
    return x < -32768 ? -32768 : x > 32767 ? 32767 : x;
}

static int32_t wrap16(int32_t x)
{
    return (int16_t)(uint16_t)x;
}

/* a * b / 2^15, rounded, saturating. */
static int32_t product(int32_t a, int32_t b)
{
    return clamp16((a * b + (1 << 14)) >> 15);
}

/* e^x for x <= 0 with `bits` integer bits, Q0.15: Taylor's polynomial around -1/8 for x modulo 1/4,
 * then one multiplication per set bit of the rest. */
static int32_t exp_negative(int32_t x, int32_t bits)
{
    static const int32_t factor[7] = {25520, 19875, 12055, 4435, 600, 11, 0}; /* e^-2^(k - 2) */
    const int32_t eighth = 28918, third = 10923;                              /* e^(-1/8), 1/3 */
    int32_t quarter = 1 << (13 - bits), low = (x & (quarter - 1)) - quarter, rest = low - x;
    int32_t t = low * (1 << bits) + (1 << 12), t2 = product(t, t), t3 = product(t2, t);
    int32_t cubic = product(wrap16(hdk_round_shift(product(t2, t2), 2) + t3), third);
    int32_t result;

    if (x == 0)
        return 32767;
    if (bits > 5 && x < -(1 << (20 - bits))) /* below -32 */
        return 0;
    result = clamp16(eighth + product(eighth, wrap16(t + hdk_round_shift(wrap16(cubic + t2), 1))));
    for (int32_t k = 0; k < bits + 2 && k < 7; k++)
        if (rest & (quarter << k))
            result = product(result, factor[k]);
    return result;
}

/* 2 / (1 + a), Q2.13, of a in [0, 1), Q0.15: Newton's method on half the denominator. */
static int32_t quotient(int32_t a)
{
    int32_t half = (a + 32768) / 2, x = wrap16(23130 + product(half, -15420));

    for (uint32_t i = 0; i < 3; i++)
        x = wrap16(x + clamp16(4 * product(x, wrap16((1 << 13) - product(half, x)))));
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
    int32_t y = clamp16(4 * wrap16(quotient(exp_negative(x > 0 ? -x : x, bits + 1)) - (1 << 13)));

    return x == 0 ? 0 : x > 0 ? y : -y;
}

static int32_t dot(const int8_t *w, const int8_t *x, uint32_t n, int32_t bias)
{
    uint32_t sum = (uint32_t)bias;

    for (uint32_t i = 0; i < n; i++)
        sum += (uint32_t)(w[i] * x[i]);
    return (int32_t)sum;
}

/* The sum that the digits of row `row` are. */
static int32_t from_digits(const struct hdk_lstm *p, const int8_t *x, uint32_t row)
{
    int32_t sum = 0;

    for (uint32_t k = p->digits; k-- > 0;)
        sum = sum * 128 + x[k * 4 * p->cells + row];
    return sum;
}

/* Gate `g` of cell j before its function, 2^-12. */
static int32_t gate(const struct hdk_lstm *p, uint32_t g, uint32_t j, const int8_t *x,
                    const int8_t *h)
{
    const int32_t *m = p->scale.multiplier;
    const int8_t *s = p->scale.shift;
    const uint32_t row = g * p->cells + j;
    const int32_t of_x = p->digits ? from_digits(p, x, row)
                                   : dot(p->w + (size_t)row * p->in_c, x, p->in_c, p->bias[row]);
    const int32_t of_h =
        dot(p->r + (size_t)row * p->cells, h, p->cells, p->bias[4 * p->cells + row]);

    return clamp16(clamp16(hdk_rescale(of_x, m[g], s[g])) + hdk_rescale(of_h, m[4 + g], s[4 + g]));
}

static void step(const struct hdk_lstm *p, const int8_t *x, const int8_t *h, int16_t *c, int8_t *y)
{
    for (uint32_t j = 0; j < p->cells; j++) {
        const int32_t in = sigmoid(gate(p, 0, j, x, h)), forget = sigmoid(gate(p, 1, j, x, h));
        const int32_t value = hyperbolic_tangent(gate(p, 2, j, x, h), 3);
        const int32_t out = sigmoid(gate(p, 3, j, x, h));
        int32_t cell = wrap16(hdk_round_shift(forget * c[j], 15));

        cell = clamp16(cell + wrap16(hdk_round_shift(in * value, 15 + p->cell_bits)));
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

        for (uint32_t t = 0; t < p->steps; t++) {
            const size_t at = p->time_major ? (size_t)t * p->batch + b : (size_t)b * p->steps + t;

            step(p, x + at * p->in_c, before, c, y + at * p->cells);
            before = y + at * p->cells;
        }
        for (uint32_t j = 0; j < p->cells; j++)
            h[j] = before[j];
    }
}
