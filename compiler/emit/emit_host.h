/* emit_host.h - shared by the files that emit host operators: one row per kernel, by operator and
 * type.
 */
#ifndef HEDDLE_COMPILER_EMIT_EMIT_HOST_H
#define HEDDLE_COMPILER_EMIT_EMIT_HOST_H

#include "compiler/systolic/layout/geometry.h"
#include "emit.h"

/* The arguments between the parameter struct and the output in a kernel's call. */
enum host_args {
    HOST_ONE,     /* the first input */
    HOST_TWO,     /* the first two */
    HOST_WEIGHTS, /* the input, weights, bias or NULL */
    HOST_ALL,     /* three inputs, NULL for an absent one */
    HOST_LIST,    /* an array of all inputs */
    HOST_STATE,   /* the first input, then the variables that follow the fourth input */
    HOST_UPDATE,  /* three inputs; the first is a variable and also the output */
    HOST_ASSIGN,  /* the first input; the second is a variable and also the output */
};

typedef enum status host_writer(struct emit_unit *u, struct text *t, const struct ir_op *op,
                                struct diag *d);

struct host_op {
    const char *kernel; /* hdk_<kernel> */
    const char *params; /* struct hdk_<params> */
    host_writer *write; /* writes the fields of params */
    enum host_args args;
};

/* Return the kernel that computes `op`, or NULL if there is none (host_rows.c). */
const struct host_op *emit_host_row(const struct ir_graph *g, const struct ir_op *op);

/* The writers that column KERNEL names. */
#define KERNEL(form, kernel, params, writer, args) host_writer emit_##writer;
#include "operators/operators.def"

/* Write " .name = value,\n" unless the value is 0. */
void emit_field(struct text *t, const char *name, int64_t value);
/* Write the number of elements outside dimension `axis`, along it (as `name`) and inside it. */
void emit_axis(struct text *t, const char *name, const struct ir_tensor *x, uint32_t axis);
void emit_clamps(struct text *t, const struct ir_op *op);
/* Fail unless input and output are int8. */
enum status emit_need_int8(const struct emit_unit *u, const struct ir_op *op, struct diag *d);
/* Write the strides of two operands. */
enum status emit_walk_only(struct emit_unit *u, struct text *t, const struct ir_op *op,
                           struct diag *d);
/* Write the sizes and strides of BATCH_MATMUL. */
void emit_matrices(struct emit_unit *u, struct text *t, const struct ir_op *op);
/* Write the strides of two operands, all zero points and clamps. */
enum status emit_walk(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d);
/* Write " .scale = {...}," from op->fixed. */
void emit_scales(struct emit_unit *u, struct text *t, const struct ir_op *op);

#endif
