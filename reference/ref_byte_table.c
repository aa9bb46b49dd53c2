/* ref_byte_table.c - unary functions of 8-bit values as a table of 256, in the model's own type.
 * Functions of real numbers are taken of s_x * (x - z_x) in float32, as TFLite's reference kernels
 * take them (NUMERICS.md); the others in its fixed point. */
#include <math.h>

#include "ref_kernels.h"

/* One table in the making; diff: x - z_x. */
struct unary {
    enum ir_opcode opcode;
    float s_x, s_y, alpha;
    int32_t z_x;
    bool approximate;
    int32_t multiplier[2], shift[2]; /* of diff at least 0, and below */
};

static void fixed_point(struct unary *u, uint32_t i, double d)
{
    int8_t shift;

    ref_fixed_point(d, &u->multiplier[i], &shift);
    u->shift[i] = shift;
}

/* --- in real numbers --- */

/* What ONNX's rounding quantises; by sigmoid(x) = (1 + tanh(x / 2)) / 2. */
static double real_of(const struct unary *u, double x)
{
    switch (u->opcode) {
    case IR_OP_LOGISTIC: return 0.5 + 0.5 * tanh(x / 2);
    case IR_OP_TANH: return tanh(x);
    case IR_OP_HARD_SWISH: return x <= -3 ? 0 : x >= 3 ? x : x * (x / 6 + 0.5);
    case IR_OP_LEAKY_RELU: return x < 0 ? x * (double)u->alpha : x;
    case IR_OP_ABS: return fabs(x);
    default: return x;
    }
}

/* Steps of s_y, no further than any clamp can tell; NaN is 0. */
static int32_t steps(double v)
{
    return isnan(v) ? 0 : (int32_t)fmax(fmin(v, 1000), -1000);
}

/* float32 throughout, as a C++ function of float is; the quotient is a product there. */
static int32_t float_steps(const struct unary *u, int32_t diff)
{
    const float x = u->s_x * (float)diff;
    float v;

    switch (u->opcode) {
    case IR_OP_LOGISTIC: v = 1 / (1 + expf(-x)); break;
    case IR_OP_TANH: v = tanhf(x); break;
    case IR_OP_EXP: v = expf(x); break;
    case IR_OP_LOG: v = x > 0 ? logf(x) : -INFINITY; break;
    case IR_OP_ELU: v = x >= 0 ? x : expm1f(x); break;
    default: /* GELU */
        if (u->approximate)
            v = 0.5f * x * (1 + tanhf(0.797884583f * (x + 0.044715f * x * x * x)));
        else
            v = 0.5f * x * erfcf(-x * 0.707106769f);
        break;
    }
    return steps((double)roundf(v * (1 / u->s_y)));
}

/* --- in TFLite's fixed point --- */

/* a * b / 2^15, halves away from zero, but toward zero where the product is negative. */
static int32_t high_product(int32_t a, int32_t b)
{
    const int32_t ab = a * b;

    return ab < 0 ? -((-ab + (1 << 14) - 1) >> 15) : (ab + (1 << 14)) >> 15;
}

static int32_t to_int16(int64_t v)
{
    return (int32_t)(v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : v);
}

/* x / 2^n of an int16, halves away from zero. From 16 on the reference's 16-bit mask is all ones,
 * and what is left is 1 or -1. */
static int32_t divided(int32_t x, int32_t n)
{
    if (n > 15)
        return x < 0 ? -1 : 1;
    return x < 0 ? -((-x + (1 << n >> 1)) >> n) : (x + (1 << n >> 1)) >> n;
}

static int32_t high_half(int32_t multiplier)
{
    const int64_t rounded = ((int64_t)multiplier + (1 << 15)) >> 16;

    return rounded > INT16_MAX ? INT16_MAX : (int32_t)rounded;
}

/* x * relu6(x + 3) / 6: x in 1/128 of its scale, times x / 6 + 1/2 saturated to [0, 1) in Q0.15.
 * multiplier[0] brings x to the output, [1] to 3 / 2^15. */
static int32_t hard_swish(const struct unary *u, int32_t diff)
{
    const int32_t fine = diff * 128, out = high_product(fine, high_half(u->multiplier[0]));
    const int32_t up = u->shift[1] < 17 ? u->shift[1] : 17;
    int32_t gate = fine, product;

    if (up > 0)
        gate = to_int16(gate * (INT64_C(1) << (up - 1)));
    gate = high_product(gate, high_half(u->multiplier[1]));
    if (up > 0)
        gate = to_int16((int64_t)gate * 2);
    if (up < 0)
        gate = divided(gate, -up);
    product = to_int16((int64_t)((gate + 32768) >> 1) * out / 32768);
    return u->shift[0] < 0 ? divided(product, -u->shift[0]) : product;
}

/* 2^20 / sqrt(diff), then into the output's scale; no root below 1. */
static int32_t inverse_root(const struct unary *u, int32_t diff)
{
    int32_t shift, multiplier, root;

    if (diff < 1)
        return 1000;
    multiplier = ref_inverse_root(diff, &shift);
    root = ref_mbqm(1, multiplier, 20 - shift);
    return ref_mbqm(root, u->multiplier[0], u->shift[0] - 20);
}

/* --- the table --- */

static void scales(struct unary *u)
{
    const float fine = u->s_x * 0.0078125f; /* of 7 bits more */

    switch (u->opcode) {
    case IR_OP_HARD_SWISH:
        fixed_point(u, 0, (double)(fine / u->s_y));
        fixed_point(u, 1, (double)(fine / (3.0f / 32768)));
        return;
    case IR_OP_RSQRT: /* root and product in float32 */
        fixed_point(u, 0, 1 / (double)(sqrtf(u->s_x) * u->s_y));
        return;
    default:
        fixed_point(u, 0, (double)(u->s_x / u->s_y));
        fixed_point(
            u, 1,
            (double)(u->opcode == IR_OP_LEAKY_RELU ? u->s_x * u->alpha / u->s_y : u->s_x / u->s_y));
        return;
    }
}

/* What x - z_x = diff becomes, less the output's zero point. */
static int32_t entry(const struct unary *u, int32_t diff)
{
    const uint32_t side = diff < 0;
    const float ratio = u->s_x * (1 / u->s_y);

    switch (u->opcode) {
    case IR_OP_LOGISTIC:
    case IR_OP_TANH:
    case IR_OP_EXP:
    case IR_OP_LOG:
    case IR_OP_ELU:
    case IR_OP_GELU: return float_steps(u, diff);
    case IR_OP_RESCALE: /* uint8's own: x and z_x scaled apart */
        return steps((double)roundf((float)(diff + u->z_x) * ratio + -(float)u->z_x * ratio));
    case IR_OP_HARD_SWISH: return hard_swish(u, diff);
    case IR_OP_RSQRT: return inverse_root(u, diff);
    case IR_OP_ABS: return ref_mbqm(diff < 0 ? -diff : diff, u->multiplier[0], u->shift[0]);
    default: return ref_mbqm(diff, u->multiplier[side], u->shift[side]);
    }
}

/* ONNX's rounding: each step a float32, half to even. */
static int32_t onnx_entry(const struct unary *u, int32_t diff)
{
    const float v = (float)real_of(u, (double)(u->s_x * (float)diff));

    return steps((double)rintf(v / u->s_y));
}

static bool is_unary(enum ir_opcode opcode)
{
    switch (opcode) {
    case IR_OP_LOGISTIC:
    case IR_OP_TANH:
    case IR_OP_LEAKY_RELU:
    case IR_OP_RELU:
    case IR_OP_RELU6:
    case IR_OP_RELU_N1_TO_1:
    case IR_OP_RELU_0_TO_1:
    case IR_OP_CLIP:
    case IR_OP_ABS:
    case IR_OP_EXP:
    case IR_OP_LOG:
    case IR_OP_RSQRT:
    case IR_OP_ELU:
    case IR_OP_GELU:
    case IR_OP_RESCALE:
    case IR_OP_HARD_SWISH: return true;
    default: return false;
    }
}

bool ref_byte_table(const struct ref_maker *m)
{
    struct unary u = {.opcode = m->op->opcode};
    uint8_t *table;

    if (!is_unary(u.opcode) || (m->x->type != IR_I8 && m->x->type != IR_U8))
        return false;
    u.s_x = ref_scale(m->x);
    u.s_y = ref_scale(m->y);
    u.z_x = m->x->quant.zero_point[0];
    u.alpha = ref_attr_float(m->op, IR_ALPHA_BITS);
    u.approximate = m->op->attr[IR_APPROXIMATE] != 0;
    scales(&u);
    table = ARENA_ARRAY(m->arena, uint8_t, 256);
    for (int32_t x = ref_lowest(m->x->type); x <= ref_highest(m->x->type); x++) {
        const int32_t d = x - u.z_x, v = m->o->onnx_rounding ? onnx_entry(&u, d) : entry(&u, d);
        const int32_t y = v + m->y->quant.zero_point[0];

        table[(uint8_t)x] = (uint8_t)(y < m->k->low ? m->k->low : y > m->k->high ? m->k->high : y);
    }
    m->k->table = table;
    return true;
}
