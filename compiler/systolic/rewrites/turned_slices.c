/* turned_slices.c - rewrite a SLICE with a negative step (REVERSE_V2, STRIDED_SLICE) as a GATHER,
 * which reads in any order.
 * in: SLICE of int8 whose step is below 0 along some dimensions.  out: SLICE along the others, then GATHER along
 * each of these. */
#include <string.h>

#include "compiler/ir/rules.h"
#include "compiler/legalise/new_ops.h"
#include "rewrites.h"

/* x's elements begin, begin + step ... along dimension `axis`, as y or, if that is NULL, a new tensor. */
static struct ir_tensor *gather(struct ir_graph *g, const struct ir_op *op,
                                const struct ir_tensor *x, uint32_t axis, struct ir_tensor *y)
{
    const int32_t n = ir_out(g, op, 0)->dim[axis];
    int32_t *from = ARENA_ARRAY(g->arena, int32_t, (size_t)n), dim[IR_MAX_RANK];

    for (int32_t i = 0; i < n; i++)
        from[i] = ir_const_i32(ir_in(g, op, 1), axis) + i * ir_const_i32(ir_in(g, op, 2), axis);
    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = n;
    if (y == NULL) {
        y = ir_tensor_new(g, x->name, x->type, x->rank, dim);
        y->quant = x->quant;
    }
    lgl_new_gather(g, op->row, x, axis, from, y);
    return y;
}

static void rewrite(struct ir_graph *g, struct ir_op *op, uint32_t all)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    struct ir_tensor *y = ir_out(g, op, 0);
    int32_t begin[IR_MAX_RANK], step[IR_MAX_RANK], dim[IR_MAX_RANK];
    bool whole = true;

    for (uint32_t i = 0; i < x->rank; i++) {
        const bool back = (all >> i & 1) != 0;

        begin[i] = back ? 0 : ir_const_i32(ir_in(g, op, 1), i);
        step[i] = back ? 1 : ir_const_i32(ir_in(g, op, 2), i);
        dim[i] = back ? x->dim[i] : y->dim[i];
        whole = whole && dim[i] == x->dim[i];
    }
    if (!whole) {
        struct ir_tensor *part = ir_tensor_new(g, x->name, x->type, x->rank, dim);
        const uint32_t in[3] = {x->id, lgl_new_numbers(g, x->rank, begin),
                                lgl_new_numbers(g, x->rank, step)};

        part->quant = x->quant;
        (void)lgl_new_op(g, op->opcode, op->row, 3, in, part);
        x = part;
    }
    for (uint32_t i = 0; all != 0; i++) {
        if ((all >> i & 1) == 0)
            continue;
        all &= ~(1u << i);
        x = gather(g, op, x, i, all == 0 ? y : NULL);
    }
    op->dead = true;
}

void sys_turned_slices(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    const uint32_t all = lgl_backwards(g, op);

    (void)o;
    if (ir_in(g, op, 0)->type == IR_I8 && all != 0)
        rewrite(g, op, all);
}
