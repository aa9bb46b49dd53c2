/* onnx_exchange.h - QuantizeLinear before nodes that only move values. */
#ifndef HEDDLE_COMPILER_IMPORT_ONNX_COMPOSE_ONNX_EXCHANGE_H
#define HEDDLE_COMPILER_IMPORT_ONNX_COMPOSE_ONNX_EXCHANGE_H

#include "base/text.h"
#include "compiler/import/onnx/onnx_import.h"

/* Return the constant that the name is before any node is imported: an initializer, a Constant or an Identity of an
 * initializer; or NULL. */
const struct ox_const *ox_known_before(struct ox *m, const char *name);
/* Put each QuantizeLinear of one scale before the nodes that only move its values. Initializers are known. */
void ox_quantise_first(struct ox *m);
/* onnx_channels.c: give activations with a scale for each channel, which a depthwise convolution reads, one scale.
 * Initializers are known. */
void ox_single_scales(struct ox *m);
/* Add to the node's text (onnx_expand.c) that value `from` gets the clamp and the scale that the only reader of its
 * output 0 gives it. Return the dequantised value's name, or `from`. */
const char *ox_quantise_inside(struct ox *m, struct text *text, const char *from);

#endif
