/* weights_ko.c - one form for operators with weights: K x OC, output channels innermost.
 *   CONV2D           [OC,KH,KW,C] becomes [KH,KW,C,OC], scales along axis 3
 *   FULLY_CONNECTED  [OC,K] becomes [K,OC], scales along axis 1
 *   DEPTHWISE_CONV2D [1,KH,KW,C*M] is already so; with C = 1 it is a CONV2D [KH,KW,1,M]
 * A convolution in groups becomes one over all channels whose other weights are the zero point,
 * and so add nothing: what the array and the host's kernels take.
 * weights_ko states that it was done. A bias is always there after this pass. */
#include <string.h>

#include "legalise.h"
#include "new_ops.h"

/* A constant like `w` with another shape; scales along the last axis. */
static struct ir_tensor *like(struct ir_graph *g, const struct ir_tensor *w, uint32_t rank,
                              const int32_t *dim, const uint8_t *data)
{
    struct ir_tensor *t = lgl_constant_like(g, w, rank, dim, data);

    t->quant.axis = w->quant.n > 1 ? rank - 1 : 0;
    return t;
}

/* [OC,KH,KW,C/G] to [OC,KH,KW,C]. */
static enum status fill_groups(struct ir_graph *g, struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *w = ir_in(g, op, 1);
    const int32_t part = w->dim[3], c = ir_in(g, op, 0)->dim[3];
    const int32_t dim[4] = {w->dim[0], w->dim[1], w->dim[2], c};
    const size_t taps = (size_t)w->dim[1] * (size_t)w->dim[2];
    struct ir_tensor *full;
    uint8_t *data;

    if (part == c)
        return ST_OK;
    if (!ir_shape_ok(4, dim, w->type) || w->type != IR_I8)
        return FAIL(d, ST_UNSUPPORTED, "operator of row %u: %d groups of channels are too many",
                    op->row, c / part);
    data = arena_alloc(g->arena, (size_t)w->dim[0] * taps * (size_t)c);
    memset(data, w->quant.zero_point[0], (size_t)w->dim[0] * taps * (size_t)c);
    for (size_t oc = 0; oc < (size_t)w->dim[0]; oc++) {
        const size_t group = oc / ((size_t)w->dim[0] / (size_t)(c / part));

        for (size_t k = 0; k < taps; k++)
            memcpy(data + (oc * taps + k) * (size_t)c + group * (size_t)part,
                   w->data + (oc * taps + k) * (size_t)part, (size_t)part);
    }
    full = like(g, w, 4, dim, data);
    full->quant.axis = w->quant.axis;
    op->in[1] = full->id;
    return ST_OK;
}

/* Output channels, outermost, become innermost. */
static void turn_weights(struct ir_graph *g, struct ir_op *op, uint32_t rank, const int32_t *dim)
{
    const struct ir_tensor *w = ir_in(g, op, 1);
    const size_t oc = (size_t)w->dim[0], k = (size_t)ir_elements(w) / oc;

    op->in[1] = like(g, w, rank, dim, lgl_turned(g, w->data, oc, k))->id;
}

static void depthwise_to_conv(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *w = ir_in(g, op, 1);
    const int32_t dim[4] = {w->dim[1], w->dim[2], 1, w->dim[3]};

    op->in[1] = like(g, w, 4, dim, w->data)->id;
    lgl_become_conv(op);
}

static void want_bias(struct ir_graph *g, struct ir_op *op)
{
    const int32_t channels = ir_dim_back(ir_out(g, op, 0), 0);
    struct ir_tensor *b;

    if (ir_in(g, op, 2) != NULL)
        return;
    b = lgl_new_constant(g, "", IR_I32, 1, &channels, NULL);
    op->in =
        arena_memdup(g->arena, (const uint32_t[]){op->in[0], op->in[1], b->id}, 3 * sizeof *op->in);
    op->n_in = 3;
}

static enum status ko_conv(struct ir_graph *g, struct ir_op *op, struct diag *d)
{
    TRY(fill_groups(g, op, d));
    const struct ir_tensor *w = ir_in(g, op, 1);
    const int32_t dim[4] = {w->dim[1], w->dim[2], w->dim[3], w->dim[0]};
    turn_weights(g, op, 4, dim);
    return ST_OK;
}

static enum status ko_dense(struct ir_graph *g, struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *w = ir_in(g, op, 1);

    (void)d;
    turn_weights(g, op, 2, (const int32_t[]){w->dim[1], w->dim[0]});
    return ST_OK;
}

/* A depthwise convolution with one input channel becomes a convolution. */
static enum status ko_depthwise(struct ir_graph *g, struct ir_op *op, struct diag *d)
{
    (void)d;
    if (ir_dim_back(ir_in(g, op, 0), 0) == 1)
        depthwise_to_conv(g, op);
    return ST_OK;
}

static const struct {
    enum status (*turn)(struct ir_graph *g, struct ir_op *op, struct diag *d);
} kinds[] = {
#define OPERATOR(code, name, columns) {columns},
#define WEIGHTS_KO(fn)                .turn = ko_##fn,
#include "operators/operators.def"
};

static enum status normalise(struct ir_graph *g, struct ir_op *op, struct diag *d)
{
    if (ir_in(g, op, 0) == NULL || ir_in(g, op, 0)->type != IR_I8 || !kinds[op->opcode].turn)
        return ST_OK;
    TRY(kinds[op->opcode].turn(g, op, d));
    op->attr[IR_WEIGHTS_KO] = 1;
    want_bias(g, op);
    return ST_OK;
}

enum status lgl_weights_ko(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    (void)o;
    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead && g->op[i]->attr[IR_WEIGHTS_KO] == 0)
            TRY(normalise(g, g->op[i], d));
    return ST_OK;
}
