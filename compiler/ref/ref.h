/* ref.h - the CPU reference: interprets a graph with plain integer kernels.
 * Takes any graph that has been through lgl_requant, before or after the other passes. */
#ifndef HEDDLE_REF_H
#define HEDDLE_REF_H

#include "../ir/ir.h"

struct ref;

/* Called after each operator, in execution order, with its first output's bytes, which are the
 * reference's own: a tap that changes them changes what the readers see. */
typedef void ref_tap(void *ctx, const struct ir_op *op, const uint8_t *out);

/* Buffers for every tensor of `g`, from `a`. The graph must not change while it is used. */
struct ref *ref_new(struct arena *a, const struct ir_graph *g);
void ref_set_tap(struct ref *r, ref_tap *tap, void *ctx);
/* State tensors back to their initial values. */
void ref_reset(struct ref *r);
/* One inference: in[i], out[i] hold ir_bytes of graph input and output i. */
enum status ref_run(struct ref *r, const uint8_t *const *in, uint8_t *const *out, struct diag *d);

#endif
