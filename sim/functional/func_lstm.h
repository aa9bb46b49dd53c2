/* func_lstm.h - one cell of an LSTM, as hd_lstm computes it: docs/NUMERICS.md. */
#ifndef HD_FUNC_LSTM_H
#define HD_FUNC_LSTM_H

#include "func_math.h"
#include "hd_accel.h"

enum { FUNC_LSTM_GATES = 4 };

static inline int32_t func_int16(const uint8_t *b)
{
    return (int16_t)(uint16_t)(b[0] | b[1] << 8);
}

static inline int32_t func_clamp16(int32_t x)
{
    return x < -32768 ? -32768 : x > 32767 ? 32767 : x;
}

/* a * b / 2^15, halves up. */
static inline int32_t func_product16(int32_t a, int32_t b)
{
    return (a * b + (1 << 14)) >> 15;
}

/* 2 / (1 + e^-|x|), Q2.13, of x * 2^shift in 2^-12; x is not 0. */
static inline int32_t func_lstm_quotient(int32_t x, int32_t shift)
{
    static const int32_t factor[] = {25520, 19875, 12055, 4435, 600, 11};
    const int32_t below = (x > 0 ? -x : x) * (1 << shift), rest = ~(below >> 10);
    const int32_t t = (below & 1023) * 8 - 4096, t2 = func_product16(t, t);
    int32_t e = func_round_shift(func_product16(t2, t2), 2) + func_product16(t2, t), half, r;

    e = t + func_round_shift(func_product16(e, 10923) + t2, 1);
    e = 28918 + func_product16(e, 28918);
    for (int32_t k = 0; k < 6; k++)
        e = rest >> k & 1 ? func_product16(e, factor[k]) : e;
    e = rest >> 6 ? 0 : e;
    half = 16384 + e / 2;
    r = 23130 + func_product16(half, -15420);
    for (int32_t k = 0; k < 3; k++)
        r += 4 * func_product16(r, 8192 - func_product16(half, r));
    return r;
}

static inline int32_t func_lstm_sigmoid(int32_t x)
{
    const int32_t y = x ? func_clamp16(2 * func_lstm_quotient(x, 0)) : 16384;

    return x >= 0 ? y : 32767 - y;
}

/* tanh of x * 2^shift in 2^-13. */
static inline int32_t func_lstm_tanh(int32_t x, int32_t shift)
{
    const int32_t y = x ? func_clamp16(4 * (func_lstm_quotient(x, shift) - 8192)) : 0;

    return x >= 0 ? y : -y;
}

/* Return the output of a cell from the sums of its gates, of x and of h, and the bytes of the old
 * state; set the bytes of the new one. */
static inline int8_t func_lstm(const struct hd_cmd_vector *c, const int32_t x[FUNC_LSTM_GATES],
                               const int32_t h[FUNC_LSTM_GATES], const uint8_t *old,
                               int8_t state[2])
{
    int32_t gate[FUNC_LSTM_GATES], cell;

    for (uint32_t g = 0; g < FUNC_LSTM_GATES; g++) {
        gate[g] = func_clamp16(x[g] + h[g]);
        gate[g] = g == 2 ? func_lstm_tanh(gate[g], 1) : func_lstm_sigmoid(gate[g]);
    }
    cell = func_clamp16(func_round_shift(gate[1] * func_int16(old), 15) +
                        func_round_shift(gate[0] * gate[2], 17 + (uint32_t)c->shift_a));
    cell = cell > c->multiplier_a ? c->multiplier_a : cell;
    cell = cell < -c->multiplier_a ? -c->multiplier_a : cell;
    state[0] = (int8_t)(uint8_t)cell;
    state[1] = (int8_t)(cell >> 8);
    return func_clamp(
        func_mbqm(gate[3] * func_lstm_tanh(cell, c->shift_a), c->multiplier_out, c->shift_out),
        c->z_out, c->act_min, c->act_max);
}

#endif
