/* ref_islands.h - meaning of QuantizeLinear and DequantizeLinear around float operators. */
#ifndef HEDDLE_REFERENCE_ISLANDS_REF_ISLANDS_H
#define HEDDLE_REFERENCE_ISLANDS_REF_ISLANDS_H

#include "compiler/ir/ir.h"

/* `file` is an ONNX file node by node (onnx_options.literal). *graph is the graph that the
 * reference runs: each island DEQUANTIZE .. operator .. QUANTIZE as the operator on quantised
 * values that docs/ONNX.md states, the rest in float32. Own code: it shares nothing with the
 * importer's way to the same operators, and its result is compared with the importer's. `exact`:
 * --onnx-rounding=onnx. Rows are those of `file`. */
enum status ref_islands(struct arena *a, const struct ir_graph *file, bool exact,
                        struct ir_graph **graph, struct diag *d);
/* Give the operators of `g` the rows of `like`, the compiler's graph of the same file, for reports:
 * by the names of tensors. */
void ref_islands_rows(struct ir_graph *g, const struct ir_graph *like);

#endif
