/* host_layer.h - operators in the form of the host kernels with scratch and panels: the one
 * place that fills their parameters, for the plan (scratch size) and for emission (the same
 * values as C). */
#ifndef HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_HOST_LAYER_H
#define HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_HOST_LAYER_H

#include "compiler/systolic/layout/geometry.h"
#include "kernels/hdk.h"

/* Return true for a depthwise convolution over one channel, which is faster as a convolution. */
bool host_is_conv2d(const struct geo *g);
void host_conv2d(const struct geo *g, struct hdk_conv2d *p);
void host_depthwise_conv2d(const struct geo *g, struct hdk_depthwise_conv2d *p);
void host_fully_connected(const struct geo *g, struct hdk_fully_connected *p);

/* Return the bytes of scratch that the host kernel of `op` needs; 0 if `op` is not on the host. */
uint32_t host_scratch(const struct ir_graph *g, const struct ir_op *op);
/* The same for all operators, by position. */
uint32_t *host_scratches(struct arena *a, const struct ir_graph *g);

/* Return weights, biases and scales as panels, allocated from `a`. */
uint8_t *host_panels(struct arena *a, const struct geo *g, uint32_t *n_bytes);

/* Make a loop nest over `out` with the fewest dimensions that the operands allow: adjacent
 * dimensions along which both operands are contiguous are merged. Outermost first; stride 0 where
 * an operand is broadcast. False if more than four remain. */
bool host_walk(const struct ir_graph *g, const struct ir_op *op, struct hdk_walk2 *w);

#endif
