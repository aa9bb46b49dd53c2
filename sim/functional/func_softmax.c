/* func_softmax.c - VECTOR's softmax: for each row and column: the maximum of its channels, the sum
 * of their exponentials (a table by difference), then each result. in: a command, scratchpad,
 * memory of exponentials. out: scratchpad. Formula: docs/NUMERICS.md. */
#include "func.h"
#include "func_math.h"

enum { MOST_CHANNELS = 4096 }; /* limited by the sum's 32 bits */

/* Return entry (byte - maximum) modulo 256; one per word. */
static int32_t exponential(const struct hd_func *f, int32_t difference)
{
    const uint8_t *at = f->space[HD_SPACE_EXP] + ((uint32_t)difference & 255u) * f->config.n;

    return (int32_t)func_word(at);
}

struct softmax_scale {
    int32_t max, multiplier, shift;
};

/* Compute 1 / half in Q2.29 by Newton's steps; half is Q0.31 and at least 1/2; smaller values wrap
 * as in the RTL. */
static int32_t inverse(int32_t half)
{
    uint32_t r = 1515870810u + (uint32_t)func_high_mul(half, -1010580540); /* 48/17 - 32/17 half */

    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t error = (1u << 29) - (uint32_t)func_high_mul(half, (int32_t)r);
        r += 4u * (uint32_t)func_high_mul((int32_t)r, (int32_t)error);
    }
    return (int32_t)r;
}

/* Compute the scale of a sum in Q12.19. The sum is at least e^0, except with a wrong maximum, where
 * this equals the RTL, which counts to 15. From 2^28 on the result's shift exceeds 31, and the
 * result is 0. */
static void scale_of_sum(uint32_t sum, struct softmax_scale *s)
{
    int32_t zeros = 0, r;

    while (zeros < 15 && !(sum << zeros & 0x80000000u))
        zeros++;
    r = inverse((int32_t)(sum << zeros >> 1));
    s->multiplier = zeros < 4                ? 0
                    : (uint32_t)r >> 30 & 1u ? INT32_MAX
                                             : (int32_t)((uint32_t)r << 1 & INT32_MAX);
    s->shift = (zeros < 4 ? 4 : zeros) - 35;
}

static int32_t largest(const int8_t *x, uint32_t n)
{
    int32_t max = x[0];

    for (uint32_t i = 1; i < n; i++)
        max = x[i] > max ? x[i] : max;
    return max;
}

static struct softmax_scale scale_of_row(const struct hd_func *f, const int8_t *x, uint32_t n,
                                         int32_t max)
{
    struct softmax_scale s = {.max = max};
    uint32_t sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += (uint32_t)func_round_shift(exponential(f, x[i] - max), 12);
    scale_of_sum(sum, &s);
    return s;
}

static int8_t result(const struct hd_func *f, const struct hd_cmd_vector *c, int8_t x,
                     const struct softmax_scale *s)
{
    return func_clamp(func_mbqm(exponential(f, x - s->max), s->multiplier, s->shift), c->z_out,
                      c->act_min, c->act_max);
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
    s = scale_of_row(f, x, c->channels, largest(x, c->channels));
    for (uint32_t i = 0; i < c->channels; i += f->config.n) {
        uint32_t n = c->channels - i < f->config.n ? c->channels - i : f->config.n;
        int8_t y[HD_FUNC_MAX_N];

        for (uint32_t k = 0; k < n; k++)
            y[k] = result(f, c, x[i + k], &s);
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

/* --- which pass went wrong --- */

static int row_is(const struct hd_func *f, const struct hd_cmd_vector *c, const int8_t *x,
                  const int8_t *found, int32_t max)
{
    const struct softmax_scale s = scale_of_row(f, x, c->channels, max);

    for (uint32_t i = 0; i < c->channels; i++)
        if (result(f, c, x[i], &s) != found[i])
            return 0;
    return 1;
}

/* Return true if one factor maps all exponentials to the found values. With y = found - z_out the
 * factor is between (y - 17/32) / e and (y + 17/32) / e: half a step, plus the error that rounding
 * twice may add. */
static int one_factor(const struct hd_func *f, const struct hd_cmd_vector *c, const int8_t *x,
                      const int8_t *found, int32_t max)
{
    struct {
        int64_t y, e; /* y / (32 e) */
    } low = {0, 1}, high = {1, 0};

    for (uint32_t i = 0; i < c->channels; i++) {
        const int64_t e = exponential(f, x[i] - max), y = 32 * (found[i] - (int64_t)c->z_out);

        if (found[i] > c->act_min && (y - 17) * low.e > low.y * e) {
            low.y = y - 17;
            low.e = e;
        }
        if (found[i] < c->act_max && (y + 17) * high.e < high.y * e) {
            high.y = y + 17;
            high.e = e;
        }
    }
    return low.y * high.e <= high.y * low.e;
}

enum hd_softmax_pass hd_func_softmax_pass(const struct hd_func *f, const struct hd_cmd_vector *c,
                                          const int8_t *x, const int8_t *found, int32_t *max,
                                          int32_t *other)
{
    *max = largest(x, c->channels);
    for (*other = -128; *other <= 127; ++*other)
        if (*other != *max && row_is(f, c, x, found, *other))
            return HD_SOFTMAX_MAXIMUM;
    return one_factor(f, c, x, found, *max) ? HD_SOFTMAX_SUM : HD_SOFTMAX_RESULT;
}
