/* float_numbers.h - the numbers that a float32 operator's attributes hold. */
#ifndef HEDDLE_COMPILER_IR_FLOAT_NUMBERS_H
#define HEDDLE_COMPILER_IR_FLOAT_NUMBERS_H

#include "ir.h"

struct ir_two_floats {
    float a, b;
};

/* Return the float whose bits attribute `attr` holds. */
float ir_attr_float(const struct ir_op *op, enum ir_attr attr);
/* Return the least and largest value under the fused activation; infinite where there is no
 * bound. */
struct ir_two_floats ir_fused_bounds(const struct ir_op *op);
/* Return parameters a and b of struct hdk_f32_unary for a function of one value. */
struct ir_two_floats ir_unary_numbers(const struct ir_op *op);

#endif
