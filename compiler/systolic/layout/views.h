/* views.h - tensors that share bytes. A slice is a part of its input, and the operands of a
 * concatenation are parts of its result: neither needs a command if the tensors are placed in one
 * image, the root's. Each written byte has one place only. If an operand would need two places, or
 * cannot be read from among other channels, it must be copied; that is a loose edge. A LUT needs no
 * command if its input's producer can apply it. in: a program with places in memory. out: p->view,
 * p->viewed, p->look_up. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LAYOUT_VIEWS_H
#define HEDDLE_COMPILER_SYSTOLIC_LAYOUT_VIEWS_H

#include "geometry.h"

#define VIEWS_RESULT UINT32_MAX

/* Operand `in` of operator `op` (VIEWS_RESULT: its result) must be copied. */
struct views_edge {
    uint32_t op, in;
};

struct views_edges {
    uint32_t n;
    struct views_edge *edge;
};

/* Fill in p->view and p->viewed; return the loose edges in graph order. A trial may have some;
 * their copies are then left out. */
struct views_edges views_find(struct sched_program *p);

/* Return true if the operator has a form without commands. */
bool views_form(enum ir_opcode code);

/* Return the value that prevents `op` from being a view on an accelerator, or NULL. */
const char *views_refusal(struct arena *a, const struct ir_graph *g, const struct ir_op *op);

/* Return true if operand `in` of `op` may be among other channels or other columns. */
bool views_reads_parts(const struct ir_graph *g, const struct ir_op *op, uint32_t in);

#endif
