/* quant_forms.c - the operators with a form on quantised values that docs/ONNX.md defines, and
 * the rules for their scales. */
#include <string.h>

#include "quant_own.h"

static enum quant_form form_of(enum ir_opcode opcode)
{
    switch (opcode) {
    case IR_OP_CONV2D:
    case IR_OP_DEPTHWISE_CONV2D:
    case IR_OP_FULLY_CONNECTED:
    case IR_OP_TRANSPOSE_CONV: return QUANT_PRODUCES;
    case IR_OP_ADD:
    case IR_OP_SUB:
    case IR_OP_MUL:
    case IR_OP_BATCH_MATMUL:
    case IR_OP_AVERAGE_POOL2D:
    case IR_OP_MEAN:
    case IR_OP_SOFTMAX:
    case IR_OP_LOGISTIC:
    case IR_OP_TANH:
    case IR_OP_LEAKY_RELU:
    case IR_OP_RELU:
    case IR_OP_RELU6:
    case IR_OP_RELU_N1_TO_1:
    case IR_OP_RELU_0_TO_1:
    case IR_OP_CLIP:
    case IR_OP_ABS:
    case IR_OP_ELU:
    case IR_OP_EXP:
    case IR_OP_LOG:
    case IR_OP_SQRT:
    case IR_OP_RSQRT:
    case IR_OP_ERF:
    case IR_OP_NEG:
    case IR_OP_GELU:
    case IR_OP_HARD_SIGMOID:
    case IR_OP_HARD_SWISH: return QUANT_COMPUTES;
    case IR_OP_MAXIMUM:
    case IR_OP_MINIMUM:
    case IR_OP_MAX_POOL2D:
    case IR_OP_CONCATENATION:
    case IR_OP_RESHAPE:
    case IR_OP_TRANSPOSE:
    case IR_OP_SLICE:
    case IR_OP_PAD:
    case IR_OP_GATHER: return QUANT_MOVES;
    default: return QUANT_NO_FORM;
    }
}

uint32_t quant_n_values(const struct ir_op *op)
{
    const uint32_t n = ir_op_info(op->opcode)->n_data;

    if (op->opcode == IR_OP_TRANSPOSE || op->opcode == IR_OP_GATHER)
        return 1;
    return n ? n : op->n_in;
}

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

/* For an extremum or a mover; parts of a concatenation may be constants. */
static bool odd_constant(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *value = op->opcode == IR_OP_PAD ? ir_in(g, op, 2) : NULL;
    float number = 0;

    if (value && value->data)
        memcpy(&number, value->data, sizeof number);
    if (number < 0 || number > 0)
        return true;
    for (uint32_t i = 0; i < quant_n_values(op) && op->opcode != IR_OP_CONCATENATION; i++)
        if (is_const(g, op, i))
            return true;
    return false;
}

enum quant_form quant_form_of(const struct ir_graph *g, const struct ir_op *op)
{
    const enum quant_form form = form_of(op->opcode);

    if (form == QUANT_NO_FORM || ir_out(g, op, 0)->type != IR_F32)
        return QUANT_NO_FORM;
    if (form == QUANT_PRODUCES &&
        (!is_const(g, op, 1) || (op->n_in > 2 && ir_in(g, op, 2) && !is_const(g, op, 2))))
        return QUANT_NO_FORM;
    if (form == QUANT_MOVES && odd_constant(g, op))
        return QUANT_NO_FORM;
    if (quant_negative_slope(op))
        return QUANT_NO_FORM;
    if (op->opcode == IR_OP_BATCH_MATMUL && op->n_in > 2 && ir_in(g, op, 2))
        return QUANT_NO_FORM;
    return form;
}

/* 256 values of 1/256 from 0 on and of 1/128 from -1 on: the scales of TFLite's operators. */
bool quant_fixed_range(const struct ir_op *op, float *low, float *high)
{
    if (op->opcode == IR_OP_SOFTMAX || op->opcode == IR_OP_LOGISTIC) {
        *low = 0;
        *high = 255.0f / 256;
        return true;
    }
    if (op->opcode == IR_OP_TANH) {
        *low = -1;
        *high = 127.0f / 128;
        return true;
    }
    return false;
}

uint32_t quant_channel(const struct ir_graph *g, const struct ir_op *op, size_t i)
{
    const struct ir_tensor *w = ir_in(g, op, 1);

    if (op->opcode == IR_OP_DEPTHWISE_CONV2D)
        return (uint32_t)(i % (size_t)w->dim[3]);
    return (uint32_t)(i / (size_t)(ir_elements(w) / (uint64_t)w->dim[0]));
}
