/* views.h - which tensors share their bytes. A slice is a part of its input, the operands of a
 * concatenation are parts of its result: neither needs a command where the tensors are places in
 * one image, the root's. The bytes that an operator writes are in one place only; where an operand
 * would have to be in two, or cannot be read from among other channels, a copy is needed: an edge
 * that is loose. A LUT needs none where its input's maker can look up what it writes.
 * in:  a program with places in memory.   out: p->view, p->viewed, p->look_up. */
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

/* Fill p->view and p->viewed; returns the loose edges, in graph order. A trial may have some: then
 * what they would move is left out. */
struct views_edges views_find(struct sched_program *p);

/* Return true if the operator has a form without commands. */
bool views_form(enum ir_opcode code);

/* The value that keeps `op` from being a view on an accelerator, NULL if there is none. */
const char *views_refusal(struct arena *a, const struct ir_graph *g, const struct ir_op *op);

/* Return true if operand `in` of `op` may be among other channels, or among other columns. */
bool views_reads_parts(const struct ir_graph *g, const struct ir_op *op, uint32_t in);

#endif
