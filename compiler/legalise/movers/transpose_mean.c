/* transpose_mean.c - push TRANSPOSE after the MEAN that reads it.
 * in: TRANSPOSE -> MEAN (some exporters average an NHWC image as NCHW).  out: MEAN over the mapped
 * axes, then a TRANSPOSE of the remaining dimensions, which fold.c drops when no dimension
 * changes place. The mean has the result's name only with the result's channels: tables of
 * constant channels go by name. */
#include "compiler/legalise/legalise.h"
#include "compiler/legalise/new_ops.h"

/* The TRANSPOSE that feeds `mean` and nothing else, or NULL. */
static struct ir_op *feeding_transpose(const struct ir_graph *g, const struct ir_op *mean)
{
    const struct ir_tensor *x = ir_in(g, mean, 0);

    if (x->producer == IR_NONE || x->is_output || ir_uses(g, x->id) != 1)
        return NULL;
    return g->op[x->producer]->opcode == IR_OP_TRANSPOSE ? g->op[x->producer] : NULL;
}

/* Place of x's dimension k once the dimensions of `gone` are dropped. */
static int32_t place_of(uint32_t gone, int32_t k)
{
    int32_t place = 0;

    for (int32_t i = 0; i < k; i++)
        place += (gone >> i & 1) == 0;
    return place;
}

static void swap(struct ir_graph *g, struct ir_op *transpose, struct ir_op *mean)
{
    const struct ir_tensor *x = ir_in(g, transpose, 0);
    struct ir_tensor *y = ir_out(g, mean, 0), *z;
    const uint32_t mask = (uint32_t)mean->attr[IR_AXIS];
    const bool keep = mean->attr[IR_KEEP_DIMS] != 0;
    int32_t dim[IR_MAX_RANK], from[IR_MAX_RANK] = {0};
    uint32_t mapped = 0, rank = 0;
    int32_t n_from = 0;
    bool same_channels;
    struct ir_op *after;

    for (uint32_t i = 0; i < x->rank; i++)
        if ((mask >> i & 1) != 0)
            mapped |= 1u << lgl_perm(g, transpose)[i];
    for (uint32_t k = 0; k < x->rank; k++)
        if (keep || (mapped >> k & 1) == 0)
            dim[rank++] = (mapped >> k & 1) != 0 ? 1 : x->dim[k];
    for (uint32_t i = 0; i < x->rank; i++)
        if (keep || (mask >> i & 1) == 0)
            from[n_from++] = place_of(keep ? 0 : mapped, lgl_perm(g, transpose)[i]);
    same_channels = rank == 0 || from[rank - 1] + 1 == (int32_t)rank;
    z = ir_tensor_new(g, same_channels ? y->name : arena_printf(g->arena, "%s/mean", y->name),
                      y->type, rank, dim);
    z->quant = y->quant;
    z->producer = mean->id;
    mean->in[0] = x->id;
    mean->out[0] = z->id;
    mean->attr[IR_AXIS] = (int32_t)mapped;
    after = ir_make_transpose(g, transpose->row, 2, 1);
    after->in[0] = z->id;
    after->in[1] = lgl_new_constant(g, y->name, IR_I32, 1, &n_from, from)->id;
    after->out[0] = y->id;
    after->fixed = transpose->fixed;
    y->producer = after->id;
    transpose->dead = true;
}

enum status lgl_transpose_mean(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    const uint32_t n_op = g->n_op;

    (void)o;
    for (uint32_t i = 0; i < n_op; i++) {
        struct ir_op *transpose;

        /* a scalar is left when every axis goes: nothing to move then */
        if (g->op[i]->opcode != IR_OP_MEAN || ir_out(g, g->op[i], 0)->rank == 0)
            continue;
        transpose = feeding_transpose(g, g->op[i]);
        if (transpose != NULL)
            swap(g, transpose, g->op[i]);
    }
    return ir_link(g, d);
}
