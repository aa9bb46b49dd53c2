/* ref_float_unary.c - operators of one float32 value, f32_<fn> of column F32_UNARY. Exponentials and
 * the like: ref_float_math.c. */
#include <math.h>
#include <string.h>

#include "ref_float_math.h"
#include "reference/ref_kernels.h"

/* [0, 1] of slope * x + offset. */
static float line(float x, float slope, float offset)
{
    const float product = x * slope;

    return ref_clamp(offset + product, 0, 1);
}

static float f32_relu(const struct ir_op *op, float v)
{
    (void)op;
    return v < 0 ? 0 : v;
}

static float f32_relu6(const struct ir_op *op, float v)
{
    (void)op;
    return ref_clamp(v, 0, 6);
}

static float f32_relu_n1_to_1(const struct ir_op *op, float v)
{
    (void)op;
    return ref_clamp(v, -1, 1);
}

static float f32_relu_0_to_1(const struct ir_op *op, float v)
{
    (void)op;
    return ref_clamp(v, 0, 1);
}

static float f32_clip(const struct ir_op *op, float v)
{
    return ref_clamp(v, ref_attr_float(op, IR_CLIP_LOW_BITS),
                     ref_attr_float(op, IR_CLIP_HIGH_BITS));
}

static float f32_leaky_relu(const struct ir_op *op, float v)
{
    return v < 0 ? v * ref_attr_float(op, IR_ALPHA_BITS) : v;
}

static float f32_hard_sigmoid(const struct ir_op *op, float v)
{
    return line(v, ref_attr_float(op, IR_ALPHA_BITS), ref_attr_float(op, IR_BETA_BITS));
}

static float f32_hard_swish(const struct ir_op *op, float v)
{
    (void)op;
    return v * line(v, 1.0f / 6, 0.5f);
}

static float f32_logistic(const struct ir_op *op, float v)
{
    (void)op;
    return ref_sigmoid(v);
}

static float f32_tanh(const struct ir_op *op, float v)
{
    (void)op;
    return ref_tanh(v);
}

static float f32_abs(const struct ir_op *op, float v)
{
    (void)op;
    return v < 0 ? -v : v;
}

static float f32_neg(const struct ir_op *op, float v)
{
    (void)op;
    return -v;
}

static float f32_sqrt(const struct ir_op *op, float v)
{
    (void)op;
    return v < 0 ? NAN : sqrtf(v);
}

static float f32_exp(const struct ir_op *op, float v)
{
    (void)op;
    return ref_exp(v);
}

static float f32_round(const struct ir_op *op, float v)
{
    (void)op;
    return rintf(v);
}

static float f32_floor(const struct ir_op *op, float v)
{
    (void)op;
    return floorf(v);
}

static float f32_ceil(const struct ir_op *op, float v)
{
    (void)op;
    return ceilf(v);
}

static float f32_sign(const struct ir_op *op, float v)
{
    (void)op;
    return v > 0 ? 1 : v < 0 ? -1 : v;
}

static float f32_sin(const struct ir_op *op, float v)
{
    (void)op;
    return ref_sin(v);
}

static float f32_cos(const struct ir_op *op, float v)
{
    (void)op;
    return ref_cos(v);
}

static float f32_log(const struct ir_op *op, float v)
{
    (void)op;
    return ref_log(v);
}

static float f32_rsqrt(const struct ir_op *op, float v)
{
    return 1 / f32_sqrt(op, v);
}

static float f32_erf(const struct ir_op *op, float v)
{
    (void)op;
    return ref_erf(v);
}

static float f32_elu(const struct ir_op *op, float v)
{
    (void)op;
    return v < 0 ? ref_expm1(v) : v;
}

static float f32_gelu(const struct ir_op *op, float v)
{
    const float square = v * v, cube = 0.044715f * square * v, half = 0.5f * v;

    if (op->attr[IR_APPROXIMATE] != 0)
        return half * (1 + ref_tanh(0.797884583f * (v + cube)));
    return half * (1 + ref_erf(v * 0.707106769f));
}

static const struct {
    float (*of)(const struct ir_op *op, float v);
} unary[] = {
#define OPERATOR(code, name, columns) {columns},
#define F32_UNARY(fn)                 f32_##fn
#include "operators/operators.def"
};

enum status ref_f32_unary(const struct ref_call *c, struct diag *d)
{
    const size_t n = (size_t)ir_elements(c->out[0]);

    (void)d;
    for (size_t i = 0; i < n; i++) {
        float v;

        memcpy(&v, c->x[0] + i * 4, 4);
        v = unary[c->op->opcode].of(c->op, v);
        memcpy(c->y[0] + i * 4, &v, 4);
    }
    return ST_OK;
}
