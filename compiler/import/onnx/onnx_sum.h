/* onnx_sum.h - sums of which one operand is a product that waits for the sum's scale. */
#ifndef HEDDLE_COMPILER_IMPORT_ONNX_ONNX_SUM_H
#define HEDDLE_COMPILER_IMPORT_ONNX_ONNX_SUM_H

#include "onnx_import.h"

/* Return the place of the operand of a sum that may wait for its scale: a product of quantised
 * values without other readers; 2: none. */
uint32_t ox_waiting_operand(const struct ox *m, enum ir_opcode opcode,
                            const struct ox_value *const v[2]);
/* Find the scale of the operand that waits, for a result of `type` in scale `q`: its values are
 * those that the result's range allows, of int16 if `wide`. Return the limit that is missed, or NULL. */
const char *ox_waiting_scale(struct ox *m, const struct ox_deferred *p, enum ir_type type,
                             const struct ir_quant *q, bool wide, struct ir_quant *own);
/* Output 0 of the node is the sum of `late` at place `at` and quantised tensor `other`
 * (onnx_deferred.c). */
enum status ox_waiting_sum(struct ox *m, enum ir_opcode opcode, const struct ox_value *late,
                           uint32_t at, uint32_t other);
/* Number `v` as a quantised constant: 1, -1 or 0 of the scale that is its magnitude
 * (onnx_value.c). */
uint32_t ox_number_const(struct ox *m, const char *name, double v);

#endif
