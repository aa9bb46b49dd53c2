/* float_table.c - what float32 functions make of the values of one int8 tensor is a table.
 * in: DEQUANTIZE, operators of one value, QUANTIZE.  out: LUT of the tensor that DEQUANTIZE reads;
 * operators that nobody else reads go. Each entry is computed by the host's kernels, so that it is
 * the byte that they would write (the reference has its own text of each function). */
#include <math.h>

#include "compiler/ir/float_numbers.h"
#include "kernels/hdk.h"
#include "legalise.h"

typedef void kernel(void);
typedef void unary(const struct hdk_f32_unary *p, const float *x, float *y);

static const struct {
    kernel *of[FORM_COUNT];
} kernels[] = {
#define OPERATOR(code, name, columns)            {.of = {columns}},
#define KERNEL(form, name, params, writer, args) [FORM_##form] = (kernel *)hdk_##name,
#include "operators/operators.def"
};

static const struct {
    bool yes;
} is_unary[] = {
#define OPERATOR(code, name, columns) {columns},
#define F32_UNARY(fn)                 true
#include "operators/operators.def"
};

static float function(const struct ir_op *op, float v)
{
    const struct ir_two_floats numbers = ir_unary_numbers(op);
    const struct hdk_f32_unary p = {.n = 1, .a = numbers.a, .b = numbers.b};
    float y;

    ((unary *)kernels[op->opcode].of[FORM_F32])(&p, &v, &y);
    return y;
}

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
        if (!is_unary[op->opcode].yes)
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
        v = function(c->op[i], v);
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
