/* host_kernel.h - which kernel computes an operator on the host: column KERNEL of operators.def. */
#ifndef HEDDLE_COMPILER_HOSTCYCLES_HOST_KERNEL_H
#define HEDDLE_COMPILER_HOSTCYCLES_HOST_KERNEL_H

#include "compiler/ir/ir.h"

/* The first input's type, and what else tells kernels apart. */
enum kernel_form {
    FORM_I8,
    FORM_U8,
    FORM_ANY, /* moves bytes */
    FORM_I32, /* int64 too */
    FORM_BOOL,
    FORM_F32,
    FORM_I16,
    FORM_TO_I16,      /* from other quantised values */
    FORM_F32_TO_I16,  /* from float32 */
    FORM_WAS_U8,      /* was uint8, which has an arithmetic of its own */
    FORM_ONE_CHANNEL, /* a depthwise convolution of one input channel is a plain one */
    FORM_ROUNDED,     /* float32 constants: ONNX's rounding */
    FORM_QLINEAR,     /* as ONNX Runtime's QLinear operators have it */
    FORM_HALF_AWAY,   /* as LiteRT has it */
    FORM_COUNT
};

/* The form of a legalised operator, by its types, attributes and shape; FORM_COUNT: no kernel. */
enum kernel_form host_kernel_form(const struct ir_graph *g, const struct ir_op *op);
/* Its kernel, "hdk_<name>" without the prefix; NULL if there is none. */
const char *host_kernel_of(const struct ir_graph *g, const struct ir_op *op);
/* The first kernel that operators of this kind have, or NULL. */
const char *host_kernel(enum ir_opcode opcode);

#endif
