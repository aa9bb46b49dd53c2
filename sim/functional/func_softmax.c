/* func_softmax.c - VECTOR's softmax: for row, column: the largest of its channels, the sum of their
 * exponentials (a table by difference), then each result.
 * in: a command, scratchpad, memory of exponentials.   out: scratchpad. Formula: docs/NUMERICS.md.
 */
#include "func.h"
#include "func_math.h"

enum { MOST_CHANNELS = 4096 }; /* the sum's 32 bits */

/* Entry (byte - maximum) modulo 256; one a word. */
static int32_t exponential(const struct hd_func *f, int32_t difference)
{
    const uint8_t *at = f->space[HD_SPACE_EXP] + ((uint32_t)difference & 255u) * f->config.n;

    return (int32_t)(at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
}

struct softmax_scale {
    int32_t max, multiplier, shift;
};

/* Newton's steps for 1 / half in Q2.29; half in Q0.31, at least 1/2. */
static int32_t inverse(int32_t half)
{
    int32_t r = 1515870810 + func_high_mul(half, -1010580540); /* 48/17 - 32/17 half */

    for (uint32_t i = 0; i < 3; i++)
        r += 4 * func_high_mul(r, (1 << 29) - func_high_mul(half, r));
    return r;
}

/* sum: Q12.19. From 2^28 on the result's shift is more than 31, and the result 0. */
static void scale_of_sum(uint32_t sum, struct softmax_scale *s)
{
    int32_t zeros = 0, r;

    while (zeros < 31 && !(sum << zeros & 0x80000000u))
        zeros++;
    r = inverse((int32_t)(sum << zeros >> 1));
    s->multiplier = zeros < 4 ? 0 : r >= 1 << 30 ? INT32_MAX : 2 * r;
    s->shift = (zeros < 4 ? 4 : zeros) - 35;
}

static struct softmax_scale scale_of_row(const struct hd_func *f, const int8_t *x, uint32_t n)
{
    struct softmax_scale s = {.max = x[0]};
    uint32_t sum = 0;

    for (uint32_t i = 1; i < n; i++)
        s.max = x[i] > s.max ? x[i] : s.max;
    for (uint32_t i = 0; i < n; i++)
        sum += (uint32_t)func_round_shift(exponential(f, x[i] - s.max), 12);
    scale_of_sum(sum, &s);
    return s;
}

static const char *nonsense(const struct hd_func *f, const struct hd_cmd_vector *c)
{
    if (!f->config.softmax_rows)
        return "vector: this configuration has no softmax";
    if (!c->rows || !c->cols || !c->channels)
        return "vector: an empty loop";
    if (c->kernel_h != 1 || c->kernel_w != 1 || c->y_start || c->x_start || c->a_splat ||
        c->b_splat)
        return "vector: softmax has a 1 x 1 window and splats nothing";
    if ((uint32_t)c->rows * c->cols > f->config.softmax_rows)
        return "vector: more rows of a softmax than the unit keeps";
    if (c->channels > MOST_CHANNELS)
        return "vector: a row of softmax with more than 4096 channels";
    if (exponential(f, 0) != INT32_MAX)
        return "vector: e^0 of the table of exponentials is not 2^31 - 1";
    return 0;
}

static int run_row(struct hd_func *f, const struct hd_cmd_vector *c, uint32_t from, uint32_t to)
{
    const int8_t *x = (const int8_t *)f->space[HD_SPACE_SCRATCHPAD] + from;
    const uint32_t size = f->n_bytes[HD_SPACE_SCRATCHPAD];
    struct softmax_scale s;

    if ((uint64_t)from + c->channels > size)
        return hd_func_stop(f, HD_FAULT_BAD_FIELD, HD_UNIT_VECTOR, from,
                            "vector: an operand is outside the scratchpad");
    if ((uint64_t)to + c->channels > size)
        return hd_func_stop(f, HD_FAULT_BAD_FIELD, HD_UNIT_VECTOR, to,
                            "vector: the output is outside the scratchpad");
    s = scale_of_row(f, x, c->channels);
    for (uint32_t i = 0; i < c->channels; i += f->config.n) {
        uint32_t n = c->channels - i < f->config.n ? c->channels - i : f->config.n;
        int8_t y[HD_FUNC_MAX_N];

        for (uint32_t k = 0; k < n; k++)
            y[k] = func_clamp(func_mbqm(exponential(f, x[i + k] - s.max), s.multiplier, s.shift),
                              c->z_out, c->act_min, c->act_max);
        hd_func_put(f, HD_UNIT_VECTOR, HD_SPACE_SCRATCHPAD, to + i, y, n);
    }
    return 0;
}

int hd_func_softmax(struct hd_func *f, const struct hd_cmd_vector *c)
{
    const char *why = nonsense(f, c);

    if (why)
        return hd_func_stop(f, HD_FAULT_BAD_FIELD, HD_UNIT_VECTOR, 0, why);
    for (uint32_t row = 0; row < c->rows; row++)
        for (uint32_t col = 0; col < c->cols; col++)
            if (run_row(f, c, (uint32_t)c->a_base + row * c->a_row + col * c->a_col,
                        c->out_base + row * c->out_row + col * c->out_col))
                return -1;
    return 0;
}
