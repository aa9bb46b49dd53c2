/* float_numbers.c - see float_numbers.h. */
#include "float_numbers.h"

#include <math.h>
#include <string.h>

float ir_attr_float(const struct ir_op *op, enum ir_attr attr)
{
    float v;

    memcpy(&v, &op->attr[attr], sizeof v);
    return v;
}

static struct ir_two_floats bounds(const struct ir_op *op, enum ir_activation activation)
{
    switch (activation) {
    case IR_ACT_RELU: return (struct ir_two_floats){0, INFINITY};
    case IR_ACT_RELU6: return (struct ir_two_floats){0, 6};
    case IR_ACT_RELU_N1_TO_1: return (struct ir_two_floats){-1, 1};
    case IR_ACT_RELU_0_TO_1: return (struct ir_two_floats){0, 1};
    case IR_ACT_CLIP:
        return (struct ir_two_floats){ir_attr_float(op, IR_CLIP_LOW_BITS),
                                      ir_attr_float(op, IR_CLIP_HIGH_BITS)};
    default: return (struct ir_two_floats){-INFINITY, INFINITY};
    }
}

struct ir_two_floats ir_fused_bounds(const struct ir_op *op)
{
    return bounds(op, (enum ir_activation)op->attr[IR_ACTIVATION]);
}

struct ir_two_floats ir_unary_numbers(const struct ir_op *op)
{
    const enum ir_activation activation = ir_op_info(op->opcode)->activation;

    if (activation != IR_ACT_NONE)
        return bounds(op, activation);
    if (op->opcode == IR_OP_GELU)
        return (struct ir_two_floats){op->attr[IR_APPROXIMATE] ? 1.0f : 0.0f, 0};
    return (struct ir_two_floats){ir_attr_float(op, IR_ALPHA_BITS),
                                  ir_attr_float(op, IR_BETA_BITS)};
}
