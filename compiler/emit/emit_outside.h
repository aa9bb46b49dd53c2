/* emit_outside.h - C expressions for the words of an external target's call (external.c), used by
 * the files that write calls (emit_calls.c). */
#ifndef HEDDLE_COMPILER_EMIT_EMIT_OUTSIDE_H
#define HEDDLE_COMPILER_EMIT_EMIT_OUTSIDE_H

#include "compiler/target/describe.h"
#include "emit.h"

/* A part of an operator, of a separate graph: C of what its call has in place of tensors. x, y:
 * uint8_t *. sums: NULL without. */
struct emit_part {
    const char *x[2], *y, *dev, *sums_in, *sums_out;
    uint32_t scratch; /* bytes, and their place in the arena */
    uint32_t scratch_at;
    uint32_t n_constant, most_constants;
    struct emit_part_constant {
        uint32_t offset;
        size_t n_bytes;
    } * constant; /* of the operator's parts so far */
};

/* Return the cast from uint8_t *: "(const float *)(const void *)". is_const: "const " or "". */
const char *emit_outside_cast(struct emit_unit *u, const char *is_const, enum ir_type type);
const char *emit_outside_dev(struct emit_unit *u, const struct ir_op *op);
const char *emit_outside_pointer(struct emit_unit *u, const struct ir_op *op,
                                 const struct describe_pattern *p, enum describe_pointer what);
const char *emit_outside_setting(struct emit_unit *u, const struct target *t, uint32_t attr);

#endif
