/* lstm_model.h - a cell of VECTOR's lstm as gemmlowp states its functions: quotients that truncate,
 * numbers in fixed point with their integer bits. For the benches of VECTOR, of the functional model
 * and of the host kernel: none shares code with it. C and C++. */
#ifndef HEDDLE_TESTS_KERNELS_LSTM_MODEL_H
#define HEDDLE_TESTS_KERNELS_LSTM_MODEL_H

#include <stdint.h>

static inline int64_t lstm_saturated(int64_t x)
{
    return x < -32768 ? -32768 : x > 32767 ? 32767 : x;
}

/* x / 2^e, halves away from zero. */
static inline int64_t lstm_rounded(int64_t x, int e)
{
    const int64_t half = e > 0 ? INT64_C(1) << (e - 1) : 0;

    return x < 0 ? -((-x + half) >> e) : (x + half) >> e;
}

/* SaturatingRoundingDoublingHighMul of 16 bits. */
static inline int64_t lstm_high(int64_t a, int64_t b)
{
    return lstm_saturated((2 * a * b + (a * b >= 0 ? 32768 : -32767)) / 65536);
}

/* e^x of x <= 0 with `bits` integer bits, Q0.15. */
static inline int64_t lstm_exp(int64_t x, int bits)
{
    static const int64_t by[] = {25520, 19875, 12055, 4435, 600, 11, 0};
    const int64_t quarter = INT64_C(1) << (13 - bits);
    const int64_t in_quarter = ((x % quarter) + quarter) % quarter - quarter;
    const int64_t eighth = in_quarter * (INT64_C(1) << bits) + 4096;
    const int64_t square = lstm_high(eighth, eighth), cube = lstm_high(square, eighth);
    const int64_t fourth = lstm_rounded(lstm_high(square, square), 2);
    const int64_t poly =
        eighth + lstm_rounded(lstm_high(fourth + cube, 10923) + square, 1); /* e^(x + 1/8) - 1 */
    int64_t e = 28918 + lstm_high(28918, poly), quarters = (in_quarter - x) / quarter;

    if (x == 0)
        return 32767;
    for (int k = 0; k < 7 && quarters >> k; k++)
        if (quarters >> k & 1)
            e = lstm_high(e, by[k]);
    return quarters >= 128 ? 0 : e;
}

/* 2 / (1 + e), Q2.13. */
static inline int64_t lstm_reciprocal(int64_t e)
{
    const int64_t half = (e + 32768) / 2;
    int64_t r = 23130 + lstm_high(half, -15420);

    for (int k = 0; k < 3; k++)
        r += 4 * lstm_high(r, 8192 - lstm_high(half, r));
    return r;
}

static inline int64_t lstm_sigmoid(int64_t x)
{
    if (x < 0)
        return 32767 - lstm_sigmoid(-x);
    return x == 0 ? 16384 : lstm_saturated(2 * lstm_reciprocal(lstm_exp(-x, 3)));
}

/* x has `bits` integer bits. */
static inline int64_t lstm_tanh(int64_t x, int bits)
{
    if (x < 0)
        return -lstm_tanh(-x, bits);
    return x == 0 ? 0 : lstm_saturated(4 * (lstm_reciprocal(lstm_exp(-x, bits + 1)) - 8192));
}

/* Return o * tanh(state) of gates i, f, g, o before their functions; *state, with `bits` integer
 * bits, becomes the new one, within +-clip. */
static inline int64_t lstm_cell(const int64_t gate[4], int bits, int64_t clip, int64_t *state)
{
    const int64_t kept = lstm_rounded(lstm_sigmoid(gate[1]) * *state, 15);
    const int64_t added = lstm_rounded(lstm_sigmoid(gate[0]) * lstm_tanh(gate[2], 3), 15 + bits);
    const int64_t next = lstm_saturated(kept + added);

    *state = next > clip ? clip : next < -clip ? -clip : next;
    return lstm_sigmoid(gate[3]) * lstm_tanh(*state, bits);
}

#endif
