/* host_kernel.h - the kernel that computes an operator on the host: column KERNEL of
 * operators.def. */
#ifndef HEDDLE_COMPILER_HOST_HOST_KERNEL_H
#define HEDDLE_COMPILER_HOST_HOST_KERNEL_H

#include "compiler/ir/ir.h"

/* Return the form of a legalised operator, from its types, attributes and shape; FORM_COUNT if no
 * kernel has it. */
enum kernel_form host_kernel_form(const struct ir_graph *g, const struct ir_op *op);
/* Return the operator's kernel as "hdk_<name>" without the prefix; NULL if there is none. */
const char *host_kernel_of(const struct ir_graph *g, const struct ir_op *op);
/* Return the first kernel for operators of this kind, or NULL. */
const char *host_kernel(enum ir_opcode opcode);

/* Return true if DEQUANTIZE of 8-bit values looks its results up in a table of 256: it has at least
 * that number of elements. */
bool host_dequantize_looks_up(const struct ir_tensor *x);

#endif
