/* ref.h - the CPU reference: interprets a graph with plain kernels.
 * It takes the graph as an importer makes it and derives every multiplier, shift, clamp, table and
 * padding from the scales and attributes by itself; or, for tests of passes, a legalised one. */
#ifndef HEDDLE_REFERENCE_REF_H
#define HEDDLE_REFERENCE_REF_H

#include "compiler/ir/ir.h"

struct ref;

/* Whose arithmetic FULLY_CONNECTED's scale follows (NUMERICS.md). */
enum ref_fc_scale { REF_FC_CLASSIC, REF_FC_TFLM, REF_FC_LITERT };

/* All zero: the graph as imported, TFLite's rounding. */
struct ref_options {
    enum ref_fc_scale fc_scale;
    bool onnx_rounding; /* float32 scales, half to even */
    bool legalised;     /* constants are those of op->fixed: the graph has been through lgl_requant,
                           before or after the other passes */
};

/* Called after each operator, in execution order, with its first output's bytes, which are the
 * reference's own: a tap that changes them changes what the readers see. */
typedef void ref_tap(void *ctx, const struct ir_op *op, const uint8_t *out);

/* Buffers for every tensor of `g` and the constants of every operator, from `a`. The graph must not
 * change while it is used. */
struct ref *ref_new(struct arena *a, const struct ir_graph *g, const struct ref_options *o);
void ref_set_tap(struct ref *r, ref_tap *tap, void *ctx);
/* State tensors back to their initial values. */
void ref_reset(struct ref *r);
/* The bytes of tensor `id` of the graph, no constant, as the last ref_run left them. */
const uint8_t *ref_bytes(const struct ref *r, uint32_t id);
/* The bytes that an input of the network is inside (ir_tensor.quantised), of its float32 values. */
void ref_quantised(const struct ir_tensor *t, const uint8_t *x, uint8_t *y);
/* One inference: in[i], out[i] hold ir_bytes of graph input and output i. */
enum status ref_run(struct ref *r, const uint8_t *const *in, uint8_t *const *out, struct diag *d);

#endif
