/* onnx.h - ONNX files into the IR. */
#ifndef HEDDLE_COMPILER_IMPORT_ONNX_ONNX_H
#define HEDDLE_COMPILER_IMPORT_ONNX_ONNX_H

#include "compiler/ir/ir.h"

struct Onnx__ModelProto;

/* An input that is the output of the step before; at first `initial`, or zeros if that is NULL. */
struct onnx_state {
    const char *input, *output;
    const uint8_t *initial;
};

struct onnx_options {
    const struct Onnx__ModelProto *unpacked; /* the model, instead of a file's bytes; or NULL */
    const struct onnx_state *state;          /* inputs and outputs that become variables */
    uint32_t n_state;
    const char *input_shapes; /* --input-shapes "data:[1,3,224,224],b:[1]", or NULL */
    const char *folder;       /* external data is opened beneath it; NULL: refused */
    bool exact;               /* --onnx-rounding=onnx: only QuantizeLinear rounds; what int8
                                 computes only nearly is computed in float32 */
    bool fallback;            /* --host-fallback=onnxruntime: nodes that are refused otherwise */
    bool literal;             /* each node as in the file, for the reference (onnx_literal.c) */
};

/* Import the ONNX file of `n_bytes` at `data` as graph `name`, in arena `a`. ST_MODEL: the file is
 * malformed; ST_UNSUPPORTED: well formed, but not something heddle does; ST_USAGE: the options do
 * not fit the file. Images keep the file's order (NCHW) at the graph's border; operators on images
 * are NHWC between two TRANSPOSEs, which legalise/movers/nhwc.c cancels. Rows are filled, types and
 * shapes are checked (ir_infer), pads are explicit. */
enum status onnx_import(struct arena *a, const char *name, const uint8_t *data, size_t n_bytes,
                        const struct onnx_options *o, struct ir_graph **graph, struct diag *d);

/* With `literal` the graph is what the reference reads islands from (ref_islands.h): QuantizeLinear
 * is QUANTIZE, DequantizeLinear is DEQUANTIZE, of constants too; all between is float32, and no
 * node is part of another. Convolutions and pools keep the file's order [N,C,..] and [OC,C/G,..],
 * so the graph is for ref_islands only. A row's operator is its node's; a QLinear node is
 * DEQUANTIZE, the operator and QUANTIZE in one row. */

/* Number i of the operators that come in and its domain ("": ONNX's own); NULL after the last. */
const char *onnx_operator_name(uint32_t i, const char **domain);

#endif
