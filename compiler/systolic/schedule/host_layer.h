/* host_layer.h - operators as the host kernels with scratch and panels take them: the one place
 * that fills their parameters, for the plan (how much scratch) and for emission (the same as C). */
#ifndef HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_HOST_LAYER_H
#define HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_HOST_LAYER_H

#include "compiler/systolic/layout/geometry.h"
#include "kernels/hdk.h"

/* Return true for a depthwise convolution over one channel, which is faster as a convolution. */
bool host_is_conv2d(const struct geo *g);
void host_conv2d(const struct geo *g, struct hdk_conv2d *p);
void host_depthwise_conv2d(const struct geo *g, struct hdk_depthwise_conv2d *p);
void host_fully_connected(const struct geo *g, struct hdk_fully_connected *p);

/* Bytes of scratch that the host kernel of `op` wants; 0 if `op` is not the host's. */
uint32_t host_scratch(const struct ir_graph *g, const struct ir_op *op);
/* The same of all operators, by position. */
uint32_t *host_scratches(struct arena *a, const struct ir_graph *g);

/* Weights, biases and scales as panels, in `a`. */
uint8_t *host_panels(struct arena *a, const struct geo *g, uint32_t *n_bytes);

/* Make a walk over `out` with the fewest dimensions that the operands allow: neighbours along
 * which both advance as one array are merged. Outermost first; stride 0 where an operand is
 * broadcast. False if more than four remain. */
bool host_walk(const struct ir_graph *g, const struct ir_op *op, struct hdk_walk2 *w);

#endif
