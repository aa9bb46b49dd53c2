/* float_table.c - what float32 functions make of the values of one int8 tensor is a table.
 * in: DEQUANTIZE, operators of one value, QUANTIZE.  out: LUT of the tensor that DEQUANTIZE reads;
 * operators that nobody else reads go. Each entry is computed as the host's kernels compute it, by
 * their functions, so that it is the byte that they would write (kernels/hdk_f32_ops.c; the
 * reference has its own text of each). */
#include <math.h>
#include <string.h>

#include "kernels/hdk_f32_math.h"
#include "legalise.h"

static float attr_float(const struct ir_op *op, enum ir_attr attr)
{
    float v;

    memcpy(&v, &op->attr[attr], sizeof v);
    return v;
}

/* [0, 1] of slope * x + offset. */
static float line(float x, float slope, float offset)
{
    const float product = x * slope;

    return hdk_f32_clamp(product + offset, 0, 1);
}

static float f32_gelu(const struct ir_op *op, float v)
{
    const float square = v * v, cube = 0.044715f * square * v, half = 0.5f * v;

    if (op->attr[IR_APPROXIMATE] != 0)
        return half * (1 + hdk_f32_tanh(0.797884583f * (v + cube)));
    return half * (1 + hdk_f32_erf(v * 0.707106769f));
}

#define FUNCTION(name, expr)                                                                       \
    static float f32_##name(const struct ir_op *op, float v)                                       \
    {                                                                                              \
        (void)op;                                                                                  \
        return expr;                                                                               \
    }

FUNCTION(relu, v < 0 ? 0 : v)
FUNCTION(relu6, hdk_f32_clamp(v, 0, 6))
FUNCTION(relu_n1_to_1, hdk_f32_clamp(v, -1, 1))
FUNCTION(relu_0_to_1, hdk_f32_clamp(v, 0, 1))
FUNCTION(clip,
         hdk_f32_clamp(v, attr_float(op, IR_CLIP_LOW_BITS), attr_float(op, IR_CLIP_HIGH_BITS)))
FUNCTION(leaky_relu, v < 0 ? v * attr_float(op, IR_ALPHA_BITS) : v)
FUNCTION(hard_sigmoid, line(v, attr_float(op, IR_ALPHA_BITS), attr_float(op, IR_BETA_BITS)))
FUNCTION(hard_swish, v *line(v, 1.0f / 6, 0.5f))
FUNCTION(logistic, hdk_f32_sigmoid(v))
FUNCTION(tanh, hdk_f32_tanh(v))
FUNCTION(abs, v < 0 ? -v : v)
FUNCTION(neg, -v)
FUNCTION(sign, v > 0 ? 1 : v < 0 ? -1 : v)
FUNCTION(sin, hdk_f32_sin(v))
FUNCTION(cos, hdk_f32_cos(v))
FUNCTION(sqrt, hdk_f32_sqrt(v))
FUNCTION(rsqrt, 1 / hdk_f32_sqrt(v))
FUNCTION(exp, hdk_f32_exp(v))
FUNCTION(log, hdk_f32_log(v))
FUNCTION(erf, hdk_f32_erf(v))
FUNCTION(elu, v < 0 ? hdk_f32_expm1(v) : v)
FUNCTION(round, hdk_f32_nearest(v))
FUNCTION(floor, hdk_f32_floor(v))
FUNCTION(ceil, hdk_f32_ceil(v))

static const struct {
    float (*of)(const struct ir_op *op, float v);
} functions[] = {
#define OPERATOR(code, name, columns) {columns},
#define F32_UNARY(fn)                 f32_##fn,
#include "operators/operators.def"
};

/* The operators before a QUANTIZE, the last one first: [n - 1] is the DEQUANTIZE. */
struct chain {
    uint32_t n;
    struct ir_op **op;
};

/* False unless a DEQUANTIZE of an int8 value is before functions of one value. */
static bool chain_of(const struct ir_graph *g, const struct ir_op *quantize, struct chain *c)
{
    const struct ir_tensor *x = ir_in(g, quantize, 0);

    c->n = 0;
    while (x->type == IR_F32 && x->producer != IR_NONE) {
        struct ir_op *op = c->op[c->n++] = g->op[x->producer];

        x = ir_in(g, op, 0);
        if (op->opcode == IR_OP_DEQUANTIZE)
            return x->type == IR_I8 && x->role != IR_CONST;
        if (!functions[op->opcode].of)
            return false;
    }
    return false;
}

/* What the chain makes of a quantised value. */
static float value_of(const struct ir_graph *g, const struct chain *c, int32_t code)
{
    const struct ir_tensor *x = ir_in(g, c->op[c->n - 1], 0);
    float v = x->quant.scale[0] * (float)(code - x->quant.zero_point[0]);

    for (uint32_t i = c->n - 1; i-- > 0;)
        v = functions[c->op[i]->opcode].of(c->op[i], v);
    return v;
}

/* QUANTIZE: halves away from zero, under ONNX's rounding to even; NaN is 0. */
static int8_t entry_of(const struct ir_op *quantize, const struct ir_tensor *y, float v)
{
    const float quotient = v / y->quant.scale[0];
    const float rounded =
        quantize->fixed.n_real != 0 ? hdk_f32_nearest(quotient) : roundf(quotient);
    const int32_t near = isnan(rounded) ? 0 : (int32_t)hdk_f32_clamp(rounded, -1000, 1000);
    const int32_t code = near + y->quant.zero_point[0];
    const struct ir_fixed *f = &quantize->fixed;

    return (int8_t)(code < f->act_min ? f->act_min : code > f->act_max ? f->act_max : code);
}

/* False: a value is NaN under ONNX's rounding, of which ONNX does not say what it becomes. */
static bool make_table(const struct ir_graph *g, const struct ir_op *quantize,
                       const struct chain *c, int8_t *table)
{
    for (int32_t code = -128; code < 128; code++) {
        const float v = value_of(g, c, code);

        if (isnan(v) && quantize->fixed.n_real != 0)
            return false;
        table[code + 128] = entry_of(quantize, ir_out(g, quantize, 0), v);
    }
    return true;
}

static void replace(struct ir_graph *g, struct ir_op *quantize, const struct chain *c,
                    const int8_t *table)
{
    quantize->opcode = IR_OP_LUT;
    quantize->in[0] = c->op[c->n - 1]->in[0];
    quantize->fixed = (struct ir_fixed){.act_min = -128, .act_max = 127, .table = table};
    for (uint32_t i = 0; i < c->n; i++) {
        struct ir_op *op = c->op[i];

        if (ir_out(g, op, 0)->is_output || ir_uses(g, op->out[0]) > 0)
            return;
        op->dead = true;
        if (op->row != quantize->row)
            g->row[op->row].fused_into = quantize->row;
    }
}

enum status lgl_float_table(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    struct chain c = {0, ARENA_ARRAY(g->arena, struct ir_op *, g->n_op)};

    (void)o;
    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *op = g->op[i];

        if (op->dead || op->opcode != IR_OP_QUANTIZE || ir_out(g, op, 0)->type != IR_I8 ||
            !chain_of(g, op, &c))
            continue;
        int8_t *table = ARENA_ARRAY(g->arena, int8_t, 256);
        if (make_table(g, op, &c, table))
            replace(g, op, &c, table);
    }
    return ir_link(g, d);
}
