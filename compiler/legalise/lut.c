/* lut.c - rewrite every unary int8 function as LUT with a table of 256 values, index value + 128.
 * Formulas: NUMERICS.md, "Operators". in: int8 operators after u8_to_i8. out: LUT. */
#include <math.h>

#include "compiler/ir/float_numbers.h"
#include "fixed_math.h"
#include "hard_swish.h"
#include "legalise.h"
#include "new_ops.h"

/* The inputs of one entry's formula. */
struct unary {
    float s_in, s_out, alpha;
    int32_t z_in, z_out, act_min, act_max;
    bool falls; /* what is below the zero point rises: alpha is negative */
    struct lgl_fixed_scale positive, negative;
    struct lgl_hard_swish swish;
    bool approximate;
};

/* Return true if int32 can be shifted by the shift of the scale. */
static bool usable(struct lgl_fixed_scale s)
{
    return s.shift >= -31 && s.shift <= 22; /* |x - z| < 2^8: x << 22 stays in int32 */
}

/* --- the function in real numbers; what ONNX's rounding quantises --- */

static double real_identity(const struct unary *u, double x)
{
    (void)u;
    return x;
}

static double real_logistic(const struct unary *u, double x)
{
    (void)u;
    return 1 / (1 + exp(-x));
}

static double real_tanh(const struct unary *u, double x)
{
    (void)u;
    return tanh(x);
}

static double real_hard_swish(const struct unary *u, double x)
{
    (void)u;
    return x * fmin(fmax(x / 6 + 0.5, 0), 1);
}

static double real_leaky_relu(const struct unary *u, double x)
{
    return x < 0 ? x * (double)u->alpha : x;
}

static double real_rsqrt(const struct unary *u, double x)
{
    (void)u;
    return x > 0 ? 1 / sqrt(x) : INFINITY;
}

static double real_abs(const struct unary *u, double x)
{
    (void)u;
    return fabs(x);
}

/* --- one entry each, from the code x; of LOGISTIC, TANH, EXP, LOG, ELU and GELU in float32 as the
 * reference has it --- */

/* z_out + round_half_away(v / s_out) in float32, clamped far outside int8. */
static int32_t float_entry(const struct unary *u, float v)
{
    const float code = roundf(v * (1 / u->s_out));

    return (int32_t)fmaxf(fminf(code, 1000), -1000) + u->z_out;
}

static float input_of(const struct unary *u, int32_t x)
{
    return u->s_in * (float)(x - u->z_in);
}

static int32_t entry_logistic(const struct unary *u, int32_t x)
{
    const float v = input_of(u, x);

    return float_entry(u, 1 / (1 + expf(-v)));
}

static int32_t entry_tanh(const struct unary *u, int32_t x)
{
    const float v = input_of(u, x);

    return float_entry(u, tanhf(v));
}

static int32_t entry_exp(const struct unary *u, int32_t x)
{
    const float v = input_of(u, x);

    return float_entry(u, expf(v));
}

static int32_t entry_log(const struct unary *u, int32_t x)
{
    const float v = input_of(u, x);

    return float_entry(u, v > 0 ? logf(v) : -INFINITY);
}

static int32_t entry_elu(const struct unary *u, int32_t x)
{
    const float v = input_of(u, x);

    return float_entry(u, v < 0 ? expm1f(v) : v);
}

static int32_t entry_gelu(const struct unary *u, int32_t x)
{
    const float root_2_over_pi = 0.797884583f, v = input_of(u, x);

    if (u->approximate)
        return float_entry(u, 0.5f * v * (1 + tanhf(root_2_over_pi * (v + 0.044715f * v * v * v))));
    return float_entry(u, 0.5f * v * erfcf(-v * 0.707106769f));
}

/* Quantised values as uint8, the shift is exact in float32 only there. */
static int32_t entry_rescale(const struct unary *u, int32_t x)
{
    const float scale = u->s_in * (1 / u->s_out), bias = -(float)(u->z_in + 128) * scale;

    return (int32_t)fmaxf(fminf(roundf((float)(x + 128) * scale + bias), 1000), -1000) + u->z_out;
}

/* 2^20 / sqrt(diff), then scaled. Quantised values below the zero point have no root: the reference
 * refuses them, here they are as the zero point. */
static int32_t entry_rsqrt(const struct unary *u, int32_t x)
{
    const int32_t diff = x - u->z_in;
    int32_t shift, multiplier, root;

    if (diff <= 0)
        return 127;
    multiplier = lgl_inverse_root(diff, &shift);
    root = lgl_mbqm(1, multiplier, 20 - shift);
    return lgl_mbqm(root, u->positive.multiplier, u->positive.shift - 20) + u->z_out;
}

static int32_t entry_hard_swish(const struct unary *u, int32_t x)
{
    return lgl_hard_swish_code(&u->swish, x - u->z_in) + u->z_out;
}

static int32_t entry_linear(const struct unary *u, int32_t x)
{
    const int32_t diff = x - u->z_in;
    const struct lgl_fixed_scale s = diff < 0 ? u->negative : u->positive;

    return lgl_mbqm(diff < 0 && u->falls ? -diff : diff, s.multiplier, s.shift) + u->z_out;
}

static int32_t entry_abs(const struct unary *u, int32_t x)
{
    const int32_t diff = x - u->z_in;

    return lgl_mbqm(diff < 0 ? -diff : diff, u->positive.multiplier, u->positive.shift) + u->z_out;
}

/* --- their scales; false: beyond what the fixed point holds --- */

static bool scales_none(struct unary *u)
{
    (void)u;
    return true;
}

static bool scales_hard_swish(struct unary *u)
{
    u->swish = lgl_hard_swish_scales(u->s_in, u->s_out);
    return u->swish.out_shift <= 0;
}

static bool scales_rsqrt(struct unary *u)
{
    const float root = sqrtf(u->s_in) * u->s_out; /* float32, as the reference has it */

    u->positive = lgl_fixed_scale(1 / (double)root);
    return u->positive.shift >= -11 && u->positive.shift <= 30;
}

static bool two_sided(struct unary *u, double positive, double negative)
{
    u->positive = lgl_fixed_scale(positive);
    u->negative = lgl_fixed_scale(negative);
    return usable(u->positive) && usable(u->negative);
}

/* Return true if the ratio is in double (QUANTIZE), false if in float32 (the others, in
 * classic's kernels). */
static bool scales_double_ratio(struct unary *u)
{
    const double ratio = (double)u->s_in / (double)u->s_out;

    return two_sided(u, ratio, ratio);
}

static bool scales_ratio(struct unary *u)
{
    const double ratio = (double)(u->s_in / u->s_out);

    return two_sided(u, ratio, ratio);
}

static bool scales_leaky_relu(struct unary *u)
{
    const float negative = u->s_in * u->alpha / u->s_out;

    u->falls = u->alpha < 0;
    return two_sided(u, (double)(u->s_in / u->s_out), (double)fabsf(negative));
}

/* --- the table --- */

struct form {
    bool (*scales)(struct unary *u);
    int32_t (*entry)(const struct unary *u, int32_t x);
    double (*real)(const struct unary *u, double x);
};

static const struct form forms[] = {
#define OPERATOR(code, name, columns) {columns},
#define TABLE(scales, entry, real)    scales_##scales, entry_##entry, real_##real
#define TABLE_I8(scales, entry, real) scales_##scales, entry_##entry, real_##real
#include "operators/operators.def"
};

/* rint(f(s_in * (x - z_in)) / s_out) + z_out, each step rounded to float32: ONNX's rounding, and that
 * of scales beyond the fixed point. */
static int32_t real_entry(const struct form *form, const struct unary *u, int32_t x)
{
    const float real = (float)form->real(u, (double)(u->s_in * (float)(x - u->z_in)));
    const float code = rintf(real / u->s_out);

    return (int32_t)fminf(fmaxf(code, -1000), 1000) + u->z_out;
}

static void make_lut(struct ir_graph *g, struct ir_op *op, bool onnx)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    const bool clamps = ir_op_info(op->opcode)->activation != IR_ACT_NONE;
    const struct form *form = &forms[op->opcode];
    struct unary u = {.s_in = x->quant.scale[0],
                      .s_out = y->quant.scale[0],
                      .z_in = x->quant.zero_point[0],
                      .z_out = y->quant.zero_point[0]};
    int8_t *table = ARENA_ARRAY(g->arena, int8_t, 256);

    u.alpha = ir_attr_float(op, IR_ALPHA_BITS);
    u.approximate = op->attr[IR_APPROXIMATE] != 0;
    lgl_clamp(y, clamps ? ir_unary_numbers(op) : ir_fused_bounds(op),
              onnx ? LGL_ROUND_ONNX : LGL_ROUND_TFLITE, &u.act_min, &u.act_max);
    const bool fixed = !onnx && form->scales(&u);
    for (int32_t x_code = -128; x_code < 128; x_code++) {
        const int32_t code = fixed ? form->entry(&u, x_code) : real_entry(form, &u, x_code);

        table[x_code + 128] = (int8_t)(code < u.act_min   ? u.act_min
                                       : code > u.act_max ? u.act_max
                                                          : code);
    }
    lgl_become_table(op, op->in[0], table);
}

static bool is_unary(const struct ir_graph *g, const struct ir_op *op)
{
    if (op->opcode == IR_OP_QUANTIZE)
        return ir_in(g, op, 0)->type == IR_I8 && ir_out(g, op, 0)->type == IR_I8;
    return ir_op_info(op->opcode)->becomes_lut && ir_in(g, op, 0)->type == IR_I8;
}

enum status lgl_lut(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    (void)d;
    for (uint32_t i = 0; i < g->n_op; i++)
        if (is_unary(g, g->op[i]))
            make_lut(g, g->op[i], o->rounding == LGL_ROUND_ONNX);
    return ST_OK;
}
