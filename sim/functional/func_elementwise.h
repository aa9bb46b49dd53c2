/* func_elementwise.h - VECTOR's operations of two operands, for one pair of bytes. Formulas:
 * docs/HARDWARE.md, NUMERICS.md. The functional model uses it, and the prover uses its 65,536
 * results as the operation. */
#ifndef HD_FUNC_ELEMENTWISE_H
#define HD_FUNC_ELEMENTWISE_H

#include "func_math.h"
#include "hd_accel.h"

enum {
    FUNC_SQUARED_SHIFT = 13
}; /* squared: shift_a and shift_b minus this are those for 7 bits of headroom */

/* add, sub, max, min, squared: rescale an operand by less than 1 after shifting it up by some bits
 * of headroom. */
static inline int32_t func_rescale(int32_t x, uint32_t up, int32_t multiplier, int32_t right)
{
    return func_round_shift(func_high_mul(x * (1 << up), multiplier), (uint32_t)right);
}

/* Return true if the window of a command with `half` has its bytes as cells, all in the image. */
static inline int func_halves_window(const struct hd_cmd_vector *c)
{
    return c->kernel_w == 2 && c->kernel_h == (c->op == HD_VOP_MUL ? 2 : 1) && !c->y_start &&
           !c->x_start && c->in_h >= c->kernel_h + (c->rows - UINT32_C(1)) * c->stride_y &&
           c->in_w >= c->kernel_w + (c->cols - UINT32_C(1)) * c->stride_x;
}

/* add, sub, mul, max, min of operands of two bytes: the result before it is clamped. */
static inline int32_t func_elementwise16(const struct hd_cmd_vector *c, int32_t a, int32_t b)
{
    if (c->op == HD_VOP_MUL)
        return func_mbqm(a * b, c->multiplier_out, c->shift_out);
    a = func_rescale(a, 15, c->multiplier_a, -c->shift_a);
    b = func_rescale(b, 15, c->multiplier_b, -c->shift_b);
    if (c->op == HD_VOP_MAX || c->op == HD_VOP_MIN)
        b = (a < b) == (c->op == HD_VOP_MAX) ? b : a;
    else
        b = (int32_t)(c->op == HD_VOP_ADD ? (uint32_t)a + (uint32_t)b : (uint32_t)a - (uint32_t)b);
    return func_mbqm(b, c->multiplier_out, c->shift_out);
}

enum { FUNC_CURVE_ENTRIES = 512 };

/* Return the entry of curve for `a`, and the rest of its rescaled value, in 2^-9 of an entry. */
static inline uint32_t func_curve_entry(const struct hd_cmd_vector *c, int32_t a, int32_t *rest)
{
    const int64_t v = (int64_t)func_rescale(a, 15, c->multiplier_a, 0) * (c->shift_a == -8 ? 2 : 1);
    const int64_t i = v >> 9, half = FUNC_CURVE_ENTRIES / 2;

    *rest = (int32_t)(v & 511);
    return (uint32_t)(i < -half ? -half : i >= half ? half - 1 : i) % FUNC_CURVE_ENTRIES;
}

/* curve: the result between `entry` {int16 base, int16 slope} and the next one, before it is clamped. */
static inline int32_t func_curve(const struct hd_cmd_vector *c, uint32_t at, uint32_t entry,
                                 int32_t rest)
{
    const int32_t slope = (int16_t)(entry >> 16), plain = c->shift_b != 0,
                  base = plain ? (int32_t)(entry & 0xffff) : (int16_t)(entry & 0xffff),
                  less = plain && at >= FUNC_CURVE_ENTRIES / 2 ? 511 : 0;

    return func_mbqm(2 * (512 * base + less + slope * rest), c->multiplier_out, c->shift_out);
}

/* Return the result of an operation of two operands (ADD, SUB, MUL, MAX, MIN, PRELU, SQUARED). */
static inline int8_t func_elementwise(const struct hd_cmd_vector *c, int32_t a, int32_t b)
{
    int32_t x = a - c->z_a, y = b - c->z_b, multiplier = c->multiplier_out, shift = c->shift_out;

    switch (c->op) {
    case HD_VOP_MUL: x = x * y; break;
    case HD_VOP_PRELU:
        if (x < 0) {
            x = x * y;
            multiplier = c->multiplier_b;
            shift = c->shift_b;
        }
        break;
    case HD_VOP_SQUARED:
        x = func_rescale(x, 7, c->multiplier_a, -FUNC_SQUARED_SHIFT - c->shift_a) -
            func_rescale(y, 7, c->multiplier_b, -FUNC_SQUARED_SHIFT - c->shift_b);
        x = (int32_t)((uint32_t)x * (uint32_t)x);
        break;
    default:
        x = func_rescale(x, 20, c->multiplier_a, -c->shift_a);
        y = func_rescale(y, 20, c->multiplier_b, -c->shift_b);
        if (c->op == HD_VOP_ADD)
            x += y;
        else if (c->op == HD_VOP_SUB)
            x -= y;
        else
            x = (x < y) == (c->op == HD_VOP_MAX) ? y : x;
    }
    return func_clamp(func_mbqm(x, multiplier, shift), c->z_out, c->act_min, c->act_max);
}

#endif
