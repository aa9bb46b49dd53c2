/* ref_byte_table.c - unary functions of 8-bit values as a table of 256, in the model's own type.
 * Functions of real numbers are taken of s_x * (x - z_x) in float32, as TFLite's reference kernels
 * take them (NUMERICS.md); the others in its fixed point. */
#include <math.h>

#include "reference/ref_kernels.h"

/* One table in the making; diff: x - z_x. */
struct unary {
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

/* The real-valued function that ONNX's rounding quantises. */
static double real_identity(const struct unary *u, double x)
{
    (void)u;
    return x;
}

/* By sigmoid(x) = (1 + tanh(x / 2)) / 2. */
static double real_logistic(const struct unary *u, double x)
{
    (void)u;
    return 0.5 + 0.5 * tanh(x / 2);
}

static double real_tanh(const struct unary *u, double x)
{
    (void)u;
    return tanh(x);
}

static double real_hard_swish(const struct unary *u, double x)
{
    (void)u;
    return x <= -3 ? 0 : x >= 3 ? x : x * (x / 6 + 0.5);
}

static double real_leaky_relu(const struct unary *u, double x)
{
    return x < 0 ? x * (double)u->alpha : x;
}

static double real_rsqrt(const struct unary *u, double x)
{
    (void)u;
    return x > 0 ? 1 / sqrt(x) : HUGE_VAL;
}

static double real_abs(const struct unary *u, double x)
{
    (void)u;
    return fabs(x);
}

/* Steps of s_y, limited far beyond any clamp; NaN is 0. */
static int32_t steps(double v)
{
    return isnan(v) ? 0 : (int32_t)fmax(fmin(v, 1000), -1000);
}

/* float32 throughout, as a C++ function of float is; the quotient is a product there. */
static int32_t float_steps(const struct unary *u, float v)
{
    return steps((double)roundf(v * (1 / u->s_y)));
}

static int32_t entry_logistic(const struct unary *u, int32_t diff)
{
    const float x = u->s_x * (float)diff;

    return float_steps(u, 1 / (1 + expf(-x)));
}

static int32_t entry_tanh(const struct unary *u, int32_t diff)
{
    const float x = u->s_x * (float)diff;

    return float_steps(u, tanhf(x));
}

static int32_t entry_exp(const struct unary *u, int32_t diff)
{
    const float x = u->s_x * (float)diff;

    return float_steps(u, expf(x));
}

static int32_t entry_log(const struct unary *u, int32_t diff)
{
    const float x = u->s_x * (float)diff;

    return float_steps(u, x > 0 ? logf(x) : -INFINITY);
}

static int32_t entry_elu(const struct unary *u, int32_t diff)
{
    const float x = u->s_x * (float)diff;

    return float_steps(u, x >= 0 ? x : expm1f(x));
}

static int32_t entry_gelu(const struct unary *u, int32_t diff)
{
    const float x = u->s_x * (float)diff;

    if (u->approximate)
        return float_steps(u, 0.5f * x * (1 + tanhf(0.797884583f * (x + 0.044715f * x * x * x))));
    return float_steps(u, 0.5f * x * erfcf(-x * 0.707106769f));
}

/* uint8's own: x and z_x scaled apart. */
static int32_t entry_rescale(const struct unary *u, int32_t diff)
{
    const float ratio = u->s_x * (1 / u->s_y);

    return steps((double)roundf((float)(diff + u->z_x) * ratio + -(float)u->z_x * ratio));
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
static int32_t entry_hard_swish(const struct unary *u, int32_t diff)
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
static int32_t entry_rsqrt(const struct unary *u, int32_t diff)
{
    int32_t shift, multiplier, root;

    if (diff < 1)
        return 1000;
    multiplier = ref_inverse_root(diff, &shift);
    root = ref_mbqm(1, multiplier, 20 - shift);
    return ref_mbqm(root, u->multiplier[0], u->shift[0] - 20);
}

static int32_t entry_abs(const struct unary *u, int32_t diff)
{
    return ref_mbqm(diff < 0 ? -diff : diff, u->multiplier[0], u->shift[0]);
}

static int32_t entry_linear(const struct unary *u, int32_t diff)
{
    return ref_mbqm(diff, u->multiplier[diff < 0], u->shift[diff < 0]);
}

/* --- their scales; false: beyond what the fixed point holds --- */

static bool scales_none(struct unary *u)
{
    (void)u;
    return true;
}

/* Shift differences of quantised values by up to 22, within 31 bits. */
static bool two_sided(struct unary *u, float above, float below)
{
    fixed_point(u, 0, (double)above);
    fixed_point(u, 1, (double)fabsf(below));
    if (below < 0)
        u->multiplier[1] = -u->multiplier[1];
    return u->shift[0] <= 22 && u->shift[1] <= 22;
}

static bool scales_ratio(struct unary *u)
{
    return two_sided(u, u->s_x / u->s_y, u->s_x / u->s_y);
}

static bool scales_leaky_relu(struct unary *u)
{
    return two_sided(u, u->s_x / u->s_y, u->s_x * u->alpha / u->s_y);
}

static bool scales_hard_swish(struct unary *u)
{
    const float fine = u->s_x * 0.0078125f; /* of 7 bits more */

    fixed_point(u, 0, (double)(fine / u->s_y));
    fixed_point(u, 1, (double)(fine / (3.0f / 32768)));
    return u->shift[0] <= 0;
}

/* RSQRT: root and product in float32. */
static bool scales_rsqrt(struct unary *u)
{
    fixed_point(u, 0, 1 / (double)(sqrtf(u->s_x) * u->s_y));
    return u->shift[0] >= -11 && u->shift[0] <= 30;
}

/* --- the table --- */

/* entry: what x - z_x = diff becomes, less the output's zero point. */
static const struct form {
    bool (*scales)(struct unary *u);
    int32_t (*entry)(const struct unary *u, int32_t diff);
    double (*real)(const struct unary *u, double x);
} forms[] = {
#define OPERATOR(code, name, columns) {columns},
#define TABLE(scales, entry, real)    scales_##scales, entry_##entry, real_##real
#include "operators/operators.def"
};

/* ONNX's rounding, and that of scales too far apart: each step a float32, half to even. */
static int32_t real_entry(const struct form *form, const struct unary *u, int32_t diff)
{
    const float v = (float)form->real(u, (double)(u->s_x * (float)diff));

    return steps((double)rintf(v / u->s_y));
}

bool ref_byte_table(const struct ref_maker *m)
{
    const struct form *form = &forms[m->op->opcode];
    struct unary u = {0};
    uint8_t *table;

    if (form->entry == NULL || (m->x->type != IR_I8 && m->x->type != IR_U8))
        return false;
    u.s_x = ref_scale(m->x);
    u.s_y = ref_scale(m->y);
    u.z_x = m->x->quant.zero_point[0];
    u.alpha = ref_attr_float(m->op, IR_ALPHA_BITS);
    u.approximate = m->op->attr[IR_APPROXIMATE] != 0;
    const bool fixed = form->scales(&u) && !m->o->onnx_rounding;
    table = ARENA_ARRAY(m->arena, uint8_t, 256);
    for (int32_t x = ref_lowest(m->x->type); x <= ref_highest(m->x->type); x++) {
        const int32_t d = x - u.z_x;
        const int32_t v = fixed ? form->entry(&u, d) : real_entry(form, &u, d);
        const int32_t y = v + m->y->quant.zero_point[0];

        table[(uint8_t)x] = (uint8_t)(y < m->k->low ? m->k->low : y > m->k->high ? m->k->high : y);
    }
    m->k->table = table;
    return true;
}
