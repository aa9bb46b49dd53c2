/* lut.c - every unary int8 function becomes LUT with a table of 256 values, index code + 128.
 * Formulas: NUMERICS.md, "Operators". in: int8 operators after u8_to_i8. out: IR_OP_LUT. */
#include <math.h>
#include <string.h>

#include "fixed_math.h"
#include "hard_swish.h"
#include "legalise.h"

/* What one entry is made of. */
struct unary {
    enum ir_opcode opcode;
    float s_in, s_out, alpha;
    int32_t z_in, z_out, act_min, act_max;
    struct lgl_fixed_scale positive, negative;
    struct lgl_hard_swish swish;
    bool approximate;
};

/* A zero multiplier or one that int32 cannot be shifted by. */
static bool usable(struct lgl_fixed_scale s)
{
    return s.shift >= -31 && s.shift <= 22; /* |x - z| < 2^8: x << 22 stays in int32 */
}

/* The function in real numbers; what ONNX's rounding quantises. */
static double real_of(const struct unary *u, double x)
{
    switch (u->opcode) {
    case IR_OP_LOGISTIC: return 1 / (1 + exp(-x));
    case IR_OP_TANH: return tanh(x);
    case IR_OP_HARD_SWISH: return x * fmin(fmax(x / 6 + 0.5, 0), 1);
    case IR_OP_LEAKY_RELU: return x < 0 ? x * (double)u->alpha : x;
    default: return x;
    }
}

/* rint(f(s_in * (x - z_in)) / s_out) + z_out, each step rounded to float32. */
static int32_t onnx_entry(const struct unary *u, int32_t x)
{
    const float real = (float)real_of(u, (double)(u->s_in * (float)(x - u->z_in)));
    const float code = rintf(real / u->s_out);

    return (int32_t)fminf(fmaxf(code, -1000), 1000) + u->z_out;
}

/* What LOGISTIC, TANH, EXP, LOG, ELU and GELU compute, in float32 as the reference does. */
static float function_of(const struct unary *u, float x)
{
    const float root_2_over_pi = 0.797884583f;

    switch (u->opcode) {
    case IR_OP_LOGISTIC: return 1 / (1 + expf(-x));
    case IR_OP_TANH: return tanhf(x);
    case IR_OP_EXP: return expf(x);
    case IR_OP_LOG: return x > 0 ? logf(x) : -INFINITY;
    case IR_OP_ELU: return x < 0 ? expm1f(x) : x;
    default:
        if (u->approximate)
            return 0.5f * x * (1 + tanhf(root_2_over_pi * (x + 0.044715f * x * x * x)));
        return 0.5f * x * erfcf(-x * 0.707106769f);
    }
}

/* z_out + round_half_away(f(s_in (x - z_in)) / s_out) in float32, as far as int8 can tell. */
static int32_t float_entry(const struct unary *u, int32_t diff)
{
    const float code = roundf(function_of(u, u->s_in * (float)diff) * (1 / u->s_out));

    return (int32_t)fmaxf(fminf(code, 1000), -1000) + u->z_out;
}

/* Quantised values as uint8, the shift is exact in float32 only there. */
static int32_t rescaled(const struct unary *u, int32_t x)
{
    const float scale = u->s_in * (1 / u->s_out), bias = -(float)(u->z_in + 128) * scale;

    return (int32_t)fmaxf(fminf(roundf((float)(x + 128) * scale + bias), 1000), -1000) + u->z_out;
}

/* 2^20 / sqrt(diff), then scaled. Quantised values below the zero point have no root: the reference
 * refuses them, here they are as the zero point. */
static int32_t rsqrt_entry(const struct unary *u, int32_t diff)
{
    int32_t shift, multiplier, root;

    if (diff <= 0)
        return 127;
    multiplier = lgl_inverse_root(diff, &shift);
    root = lgl_mbqm(1, multiplier, 20 - shift);
    return lgl_mbqm(root, u->positive.multiplier, u->positive.shift - 20) + u->z_out;
}

static int32_t entry_of(const struct unary *u, int32_t x)
{
    const int32_t diff = x - u->z_in;
    const struct lgl_fixed_scale s = diff < 0 ? u->negative : u->positive;

    switch (u->opcode) {
    case IR_OP_HARD_SWISH: return lgl_hard_swish_code(&u->swish, diff) + u->z_out;
    case IR_OP_LOGISTIC:
    case IR_OP_TANH:
    case IR_OP_EXP:
    case IR_OP_LOG:
    case IR_OP_ELU:
    case IR_OP_GELU: return float_entry(u, diff);
    case IR_OP_RESCALE: return rescaled(u, x);
    case IR_OP_RSQRT: return rsqrt_entry(u, diff);
    case IR_OP_ABS: return lgl_mbqm(diff < 0 ? -diff : diff, s.multiplier, s.shift) + u->z_out;
    default: return lgl_mbqm(diff, s.multiplier, s.shift) + u->z_out;
    }
}

/* The ratio is taken in double by QUANTIZE, in float32 by the others (classic's kernels). */
static enum status set_scales(struct unary *u, struct diag *d)
{
    const float alpha = u->alpha;

    switch (u->opcode) {
    case IR_OP_LOGISTIC:
    case IR_OP_TANH:
    case IR_OP_EXP:
    case IR_OP_LOG:
    case IR_OP_ELU:
    case IR_OP_GELU:
    case IR_OP_RESCALE: return ST_OK;
    case IR_OP_HARD_SWISH:
        u->swish = lgl_hard_swish_scales(u->s_in, u->s_out);
        if (u->swish.out_shift > 0)
            return FAIL(d, ST_UNSUPPORTED,
                        "scales %.9g to %.9g: expected an output scale of at least 1/128 of the "
                        "input's",
                        (double)u->s_in, (double)u->s_out);
        return ST_OK;
    case IR_OP_RSQRT: {
        const float root = sqrtf(u->s_in) * u->s_out; /* float32, as the reference has it */

        u->positive = lgl_fixed_scale(1 / (double)root);
        if (u->positive.shift < -11 || u->positive.shift > 30)
            return FAIL(d, ST_UNSUPPORTED,
                        "scales %.9g to %.9g: expected 1 / (sqrt(in) out) "
                        "between 2^-11 and 2^30",
                        (double)u->s_in, (double)u->s_out);
        return ST_OK;
    }
    case IR_OP_QUANTIZE:
        u->positive = lgl_fixed_scale((double)u->s_in / (double)u->s_out);
        u->negative = u->positive;
        break;
    case IR_OP_LEAKY_RELU:
        if (alpha < 0)
            return FAIL(d, ST_UNSUPPORTED, "alpha: expected at least 0, found %.9g", (double)alpha);
        u->positive = lgl_fixed_scale((double)(u->s_in / u->s_out));
        u->negative = lgl_fixed_scale((double)(u->s_in * alpha / u->s_out));
        break;
    default:
        u->positive = lgl_fixed_scale((double)(u->s_in / u->s_out));
        u->negative = u->positive;
        break;
    }
    if (!usable(u->positive) || !usable(u->negative))
        return FAIL(d, ST_UNSUPPORTED, "scales %.9g to %.9g: expected a ratio below 2^22",
                    (double)u->s_in, (double)u->s_out);
    return ST_OK;
}

static enum ir_activation activation_of(enum ir_opcode opcode)
{
    switch (opcode) {
    case IR_OP_RELU: return IR_ACT_RELU;
    case IR_OP_RELU6: return IR_ACT_RELU6;
    case IR_OP_RELU_N1_TO_1: return IR_ACT_RELU_N1_TO_1;
    case IR_OP_RELU_0_TO_1: return IR_ACT_RELU_0_TO_1;
    default: return IR_ACT_NONE;
    }
}

static enum status make_lut(struct ir_graph *g, struct ir_op *op, bool onnx, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    struct unary u = {.opcode = op->opcode,
                      .s_in = x->quant.scale[0],
                      .s_out = y->quant.scale[0],
                      .z_in = x->quant.zero_point[0],
                      .z_out = y->quant.zero_point[0]};
    int8_t *table = ARENA_ARRAY(g->arena, int8_t, 256);

    memcpy(&u.alpha, &op->attr[IR_ALPHA_BITS], sizeof u.alpha);
    u.approximate = op->attr[IR_APPROXIMATE] != 0;
    if (op->opcode == IR_OP_CLIP)
        lgl_clip(op, y, &u.act_min, &u.act_max);
    else
        lgl_clamp(y, activation_of(op->opcode), &u.act_min, &u.act_max);
    if (!onnx)
        TRY(set_scales(&u, d));
    for (int32_t x_code = -128; x_code < 128; x_code++) {
        const int32_t code = onnx ? onnx_entry(&u, x_code) : entry_of(&u, x_code);

        table[x_code + 128] = (int8_t)(code < u.act_min   ? u.act_min
                                       : code > u.act_max ? u.act_max
                                                          : code);
    }
    memset(op->attr, 0, sizeof op->attr);
    op->opcode = IR_OP_LUT;
    op->fixed = (struct ir_fixed){.act_min = -128, .act_max = 127, .table = table};
    return ST_OK;
}

bool lgl_becomes_lut(enum ir_opcode opcode)
{
    switch (opcode) {
    case IR_OP_LOGISTIC:
    case IR_OP_TANH:
    case IR_OP_LEAKY_RELU:
    case IR_OP_RELU:
    case IR_OP_RELU6:
    case IR_OP_RELU_N1_TO_1:
    case IR_OP_CLIP:
    case IR_OP_RELU_0_TO_1:
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

static bool is_unary(const struct ir_graph *g, const struct ir_op *op)
{
    if (op->opcode == IR_OP_QUANTIZE)
        return ir_in(g, op, 0)->type == IR_I8 && ir_out(g, op, 0)->type == IR_I8;
    return lgl_becomes_lut(op->opcode) && ir_in(g, op, 0)->type == IR_I8;
}

enum status lgl_lut(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    const bool onnx = o->rounding == LGL_ROUND_ONNX;

    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *op = g->op[i];
        const enum status st = is_unary(g, op) ? make_lut(g, op, onnx, d) : ST_OK;

        if (st != ST_OK) {
            diag_prefix(d, "operator %u %s", op->row, op->row < g->n_row ? g->row[op->row].op : "");
            return st;
        }
    }
    return ST_OK;
}
