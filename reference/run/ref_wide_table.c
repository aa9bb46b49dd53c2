/* ref_wide_table.c - tables of the int16 kernels, linear between their entries (NUMERICS.md,
 * "int16x8"). Every entry gives half of the error that the line to the next one has in its middle.
 *   SOFTMAX: 513 entries of e^x on [-10, 0], then 513 of 1 / (1 + x) on [0, 1], one for 128 values
 *   LOGISTIC, TANH: 256 uint16 entries of 65536 sigmoid(i / 24) */
#include <math.h>
#include <string.h>

#include "reference/ref_constants.h"

enum { STEPS = 512, SIGMOID = 256 };

/* f in units of 1/32768, at even places the entries, at odd ones the middles between. */
static void interpolated(double f(double x), double low, double high, int16_t table[STEPS + 1])
{
    double at[2 * STEPS + 1];

    for (int i = 0; i <= 2 * STEPS; i++)
        at[i] = 32768 * f(low + (high - low) * i / (2 * STEPS));
    for (int i = 0; i <= STEPS; i++) {
        const double here = round(at[2 * i]);
        double error = 0;

        if (i < STEPS)
            error = round((here + at[2 * i + 2]) / 2) - round(at[2 * i + 1]);
        table[i] = (int16_t)fmin(fmax(here - round(error / 2), INT16_MIN), INT16_MAX);
    }
}

static double of_one_plus(double x)
{
    return 1 / (1 + x);
}

static double sigmoid(double i)
{
    return 32768 + 32768 * tanh(i / 48);
}

static void sigmoids(int16_t table[SIGMOID])
{
    for (int i = 0; i < SIGMOID; i++) {
        const double a = sigmoid(i), b = sigmoid(i + 1), middle = sigmoid(i + 0.5);
        const double v = a + (2 * middle - a - b) / 4;
        const uint16_t entry = (uint16_t)(i == SIGMOID - 1 ? 65535 : floor(v + 0.5));

        memcpy(&table[i], &entry, sizeof entry);
    }
}

/* Return true if x is 2^*exponent. The reference asks it in float32, within a thousandth. */
static bool is_power(float x, int *exponent)
{
    const float log2 = logf(x) * (1 / logf(2));

    *exponent = (int)roundf(log2);
    return fabsf(log2 - (float)*exponent) < 1e-3f;
}

/* Values times multiplier / 2^shift are in 1/12288. A power of two from 2^-12 to 2^-12 * 2^most has
 * the multiplier 3 * 2^k, every other scale one of at least 15 bits, cut off. */
static void to_twelfths(const struct ref_maker *m, int most)
{
    int32_t *multiplier = ARENA_ARRAY(m->arena, int32_t, 1);
    int8_t *shift = ARENA_ARRAY(m->arena, int8_t, 1);
    double real = (double)ref_scale(m->x) * 12288;
    int k;

    m->k->n = 1;
    m->k->multiplier = multiplier;
    m->k->shift = shift;
    if (is_power(ref_scale(m->x), &k) && k >= -12 && k + 12 <= most) {
        *multiplier = 3 * (1 << (k + 12));
        return;
    }
    for (; *shift <= 30 && 2 * real <= 32767; real *= 2)
        ++*shift;
    *multiplier = (int32_t)fmin(real, INT32_MAX);
}

void ref_wide_table(const struct ref_maker *m)
{
    const enum ir_opcode opcode = m->op->opcode;
    int16_t *wide;
    double d;

    m->k->n_wide = opcode == IR_OP_SOFTMAX ? 2 * (STEPS + 1) : SIGMOID;
    m->k->wide = wide = ARENA_ARRAY(m->arena, int16_t, m->k->n_wide);
    if (opcode == IR_OP_SOFTMAX) {
        interpolated(exp, -10, 0, wide);
        interpolated(of_one_plus, 0, 1, wide + STEPS + 1);
        d = (double)(ref_scale(m->x) * ref_attr_float(m->op, IR_BETA_BITS)) / (10.0 / 65535);
        ref_set_fixed(m, 1, &d);
        return;
    }
    sigmoids(wide);
    to_twelfths(m, opcode == IR_OP_TANH ? 1 : 0);
}
