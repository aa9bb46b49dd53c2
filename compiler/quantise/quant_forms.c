/* quant_forms.c - the operators with a form on quantised values that docs/ONNX.md defines, and
 * the rules for their scales. */
#include <string.h>

#include "quant_own.h"

/* Columns of operators.def. */
static const struct {
    enum quant_form form;
    bool fixed;
    float low, high;
} of_operator[] = {
#define OPERATOR(code, name, columns) {columns},
#define QUANTISE(how)                 .form = QUANT_##how,
#define QUANT_RANGE(least, most)      .fixed = true, .low = (least), .high = (most)
#include "operators/operators.def"
};

static bool is_const(const struct ir_graph *g, const struct ir_op *op, uint32_t i)
{
    const struct ir_tensor *t = ir_in(g, op, i);

    return t && t->role == IR_CONST;
}

static float bits(int32_t v)
{
    float f;

    memcpy(&f, &v, sizeof f);
    return f;
}

bool quant_negative_slope(const struct ir_op *op)
{
    return op->opcode == IR_OP_LEAKY_RELU && bits(op->attr[IR_ALPHA_BITS]) < 0;
}

/* Return true for an extremum or a mover with a constant operand; parts of a concatenation may be
 * constants. */
static bool odd_constant(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *value = op->opcode == IR_OP_PAD ? ir_in(g, op, 2) : NULL;
    float number = 0;

    if (value && value->data)
        memcpy(&number, value->data, sizeof number);
    if (number < 0 || number > 0)
        return true;
    for (uint32_t i = 0; i < ir_n_data(op) && op->opcode != IR_OP_CONCATENATION; i++)
        if (is_const(g, op, i))
            return true;
    return false;
}

enum quant_form quant_form_of(const struct ir_graph *g, const struct ir_op *op)
{
    const enum quant_form form = of_operator[op->opcode].form;

    if (form == QUANT_NO_FORM || ir_out(g, op, 0)->type != IR_F32)
        return QUANT_NO_FORM;
    if (form == QUANT_PRODUCES &&
        (!is_const(g, op, 1) || (op->n_in > 2 && ir_in(g, op, 2) && !is_const(g, op, 2))))
        return QUANT_NO_FORM;
    if (form == QUANT_MOVES && odd_constant(g, op))
        return QUANT_NO_FORM;
    if (op->opcode == IR_OP_INTERPOLATE && !quant_resize(g, op))
        return QUANT_NO_FORM;
    if (quant_negative_slope(op))
        return QUANT_NO_FORM;
    if (op->opcode == IR_OP_BATCH_MATMUL && op->n_in > 2 && ir_in(g, op, 2))
        return QUANT_NO_FORM;
    return form;
}

bool quant_fixed_range(const struct ir_op *op, float *low, float *high)
{
    *low = of_operator[op->opcode].low;
    *high = of_operator[op->opcode].high;
    return of_operator[op->opcode].fixed;
}

uint32_t quant_channel(const struct ir_graph *g, const struct ir_op *op, size_t i)
{
    const struct ir_tensor *w = ir_in(g, op, 1);

    if (ir_is_depthwise(op))
        return (uint32_t)(i % (size_t)w->dim[3]);
    return (uint32_t)(i / (size_t)(ir_elements(w) / (uint64_t)w->dim[0]));
}
