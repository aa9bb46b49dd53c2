/* emit_host.h - shared by the files that emit host operators: one row per kernel, by operator and
 * type.
 */
#ifndef HEDDLE_EMIT_HOST_H
#define HEDDLE_EMIT_HOST_H

#include "compiler/layout/geometry.h"
#include "emit.h"

/* What stands between the parameter struct and the output in a kernel's call. */
enum host_args {
    HOST_ONE,     /* the first input */
    HOST_TWO,     /* the first two */
    HOST_WEIGHTS, /* the input, weights, bias or NULL */
    HOST_ALL,     /* three inputs, NULL for an absent one */
    HOST_LIST,    /* an array of all inputs */
    HOST_STATE,   /* the first input, the variables after the fourth */
    HOST_ASSIGN,  /* the first input; the output is the second, a variable */
};

struct host_op {
    enum ir_opcode opcode;
    enum ir_type type;  /* of the first input; IR_TYPE_COUNT: any */
    const char *kernel; /* hdk_<kernel> */
    const char *params; /* struct hdk_<params> */
    enum status (*write)(struct emit_unit *u, struct text *t, const struct ir_op *op,
                         struct diag *d);
    enum host_args args;
};

#define HOST_MOVES 10
#define HOST_MATH  37
#define HOST_F32   55
extern const struct host_op emit_host_moves[HOST_MOVES]; /* host_move.c */
extern const struct host_op emit_host_math[HOST_MATH];   /* host_math.c */
extern const struct host_op emit_host_f32[HOST_F32];     /* host_f32.c */

extern const struct host_op emit_host_resize_u8; /* of what was uint8 */

/* "    .name = value,\n" unless it is 0. */
void emit_field(struct text *t, const char *name, int64_t value);
/* Elements outside of dimension `axis`, along it (as `name`) and inside of it. */
void emit_axis(struct text *t, const char *name, const struct ir_tensor *x, uint32_t axis);
void emit_clamps(struct text *t, const struct ir_op *op);
/* int8 in and out, or a message. */
enum status emit_need_int8(const struct emit_unit *u, const struct ir_op *op, struct diag *d);
/* The walk of two operands. */
enum status emit_walk_only(struct emit_unit *u, struct text *t, const struct ir_op *op,
                           struct diag *d);
/* Sizes and strides of BATCH_MATMUL. */
void emit_matrices(struct emit_unit *u, struct text *t, const struct ir_op *op);
/* The walk and all zero points and clamps. */
enum status emit_walk(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d);
/* The same of int8, and a multiplier and a shift for a, b and the output. */
enum status emit_scaled_walk(struct emit_unit *u, struct text *t, const struct ir_op *op,
                             struct diag *d);
/* Shape and reduced axes of MEAN and its kin. */
enum status emit_reduced(struct emit_unit *u, struct text *t, const struct ir_op *op,
                         struct diag *d);
/* "    .scale = {...}," of op->fixed. */
void emit_scales(struct emit_unit *u, struct text *t, const struct ir_op *op);
/* The clamp of a float32 operator's fused activation; infinite where there is none. */
void emit_f32_bounds(const struct ir_op *op, float *low, float *high);
/* Array of 4 dimensions, outermost first. */
void emit_shape4(struct text *t, const char *name, const struct ir_tensor *x);
/* What the operator's int8 kernel has in its parameter struct. */
enum status emit_int8_fields(struct emit_unit *u, struct text *t, const struct ir_op *op,
                             struct diag *d);
/* From float32: the output's scale and zero point. */
enum status emit_quantize(struct emit_unit *u, struct text *t, const struct ir_op *op,
                          struct diag *d);
/* Between quantised types: both zero points, scale and clamps. */
enum status emit_requantize(struct emit_unit *u, struct text *t, const struct ir_op *op,
                            struct diag *d);
/* host_int16.c: the row of an operator on int16, NULL where that of other types serves. */
const struct host_op *emit_host_int16(enum ir_opcode opcode, enum ir_type in, enum ir_type out);
/* host_onnx.c: the row of an operator with fixed.real, NULL if there is none. */
const struct host_op *emit_host_real(const struct ir_op *op);

#endif
