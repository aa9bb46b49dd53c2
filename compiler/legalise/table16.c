/* table16.c - see table16.h. After TFLite's reference kernels, restated in NUMERICS.md ("int16x8");
 * the random networks of tests/oracle and tests/reference/models pin every table. */
#include <math.h>
#include <string.h>

#include "new_ops.h"
#include "table16.h"

static double exponential(double x)
{
    return exp(x);
}

static double reciprocal(double x)
{
    return 1.0 / (1.0 + x);
}

static int16_t entry(double v)
{
    return (int16_t)fmin(fmax(v, -32768.0), 32767.0);
}

/* f on [low, high] in units of 1/32768 (1/32767.5, exactly). Every entry gives half of the error
 * that a line to the next one has in its middle. */
static void fill(double f(double x), double low, double high, int16_t table[LGL_TABLE16])
{
    const int steps = LGL_TABLE16 - 1;
    const double unit = 2.0 / 65535, step = (high - low) / steps;
    const double steps_per_unit = 65536.0 / (unit * 32767 - unit * -32768);

    for (int i = 0; i < steps; i++) {
        const double here = round(f(low + i * step) * steps_per_unit);
        const double middle = round(f(low + i * step + step / 2) * steps_per_unit);
        const double line = round((f(low + (i + 1) * step) * steps_per_unit + here) / 2);

        table[i] = entry(here - round((line - middle) / 2));
    }
    table[steps] = entry(round(f(high) * steps_per_unit));
}

static double sigmoid_at(double i)
{
    return 65536.0 / (1.0 + exp(-i / 24.0));
}

/* As above, rounded once; the last entry is the end of the range. */
static void sigmoid(int16_t table[LGL_SIGMOID])
{
    for (int i = 0; i < LGL_SIGMOID; i++) {
        const double line = (sigmoid_at(i) + sigmoid_at(i + 1)) / 2;
        const double v = round(sigmoid_at(i) + (sigmoid_at(i + 0.5) - line) / 2);
        const uint16_t code = i == LGL_SIGMOID - 1 ? 65535 : (uint16_t)v;

        memcpy(&table[i], &code, sizeof code);
    }
}

/* A code times multiplier / 2^shift is x in 1/12288: 3 * 2^k where s_in is 2^(k - 12), k at most
 * `most`, else 15 bits. */
static struct lgl_fixed_scale to_twelfths(float s_in, int most)
{
    int k;
    const bool power = ir_power_of_two(s_in, &k);
    double multiplier = (double)s_in * 4096.0 * 3.0;
    int8_t shift = 0;

    k += 12;
    if (power && k >= 0 && k <= most)
        return (struct lgl_fixed_scale){3 << k, 0};
    while (multiplier <= 32767.0 / 2.0 && shift <= 30) {
        shift++;
        multiplier *= 2;
    }
    return (struct lgl_fixed_scale){(int32_t)fmin(multiplier, 2147483647.0), shift};
}

static void set(struct ir_graph *g, struct ir_op *op, struct lgl_fixed_scale scale,
                const int16_t *wide, uint32_t n_wide)
{
    lgl_set_scales(g, op, 1, &scale);
    op->fixed.wide = wide;
    op->fixed.n_wide = n_wide;
}

void lgl_table16(struct ir_graph *g, struct ir_op *op, float in, float beta)
{
    int16_t *wide = ARENA_ARRAY(g->arena, int16_t, 2 * LGL_TABLE16);

    if (op->opcode == IR_OP_SOFTMAX) {
        fill(exponential, 10.0 / 65535 * -65535, 0, wide);
        fill(reciprocal, 0, 1.0 / 65535 * 65535, wide + LGL_TABLE16);
        set(g, op, lgl_fixed_scale((double)(in * beta) / (10.0 / 65535.0)), wide, 2 * LGL_TABLE16);
        return;
    }
    sigmoid(wide);
    set(g, op, to_twelfths(in, op->opcode == IR_OP_TANH ? 1 : 0), wide, LGL_SIGMOID);
}
