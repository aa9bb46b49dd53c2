/* repeated_operands.c - repeat an operand that is broadcast along too many dimensions in memory.
 * in: operators of two operands of any type.  out: the same, whose result the host's kernels walk in at most
 * four loops (struct hdk_walk2): a constant is written out, another operand gathers itself. */
#include <string.h>

#include "compiler/legalise/legalise.h"
#include "compiler/legalise/new_ops.h"

enum { LOOPS = 4, OPERANDS = 2 };

static const bool two_operands[] = {
#define OPERATOR(code, name, columns) [IR_OP_##code] = false columns,
#define F32_BINARY(fn)                || true
#define RELATION(fn)                  || true
#include "operators/operators.def"
};

/* The dimension of `x` that is dimension i of `y`, whose innermost are those of `x`. */
static int32_t dim_of(const struct ir_tensor *x, const struct ir_tensor *y, uint32_t i)
{
    return ir_dim_back(x, y->rank - 1 - i);
}

/* Loops over y: neighbours along which each operand advances, or does not, are one. */
static uint32_t loops(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(g, op, 0);
    uint32_t n = 0, before = 0;

    for (uint32_t i = 0; i < y->rank; i++) {
        uint32_t advance = 0;

        for (uint32_t k = 0; k < OPERANDS; k++)
            advance |= (uint32_t)(dim_of(ir_in(g, op, k), y, i) > 1) << k;
        if (y->dim[i] == 1)
            continue;
        n += n == 0 || advance != before;
        before = advance;
    }
    return n;
}

/* `x`, of y's rank, in a shape with dimension `axis` of y. */
static const struct ir_tensor *repeated(struct ir_graph *g, uint32_t row, const struct ir_tensor *x,
                                        const struct ir_tensor *y, uint32_t axis)
{
    const int32_t n = y->dim[axis];
    int32_t dim[IR_MAX_RANK];
    size_t inner = ir_type_bytes(x->type), outer = 1;

    for (uint32_t i = 0; i < y->rank; i++) {
        dim[i] = i == axis ? n : dim_of(x, y, i);
        *(i < axis ? &outer : &inner) *= i == axis ? 1 : (size_t)dim[i];
    }
    if (x->role == IR_CONST) {
        uint8_t *data = arena_alloc(g->arena, outer * (size_t)n * inner);

        for (size_t k = 0; k < outer * (size_t)n; k++)
            memcpy(data + k * inner, x->data + k / (size_t)n * inner, inner);
        return lgl_constant_like(g, x, y->rank, dim, data);
    }
    struct ir_tensor *all = ir_tensor_new(g, x->name, x->type, y->rank, dim), *same;
    all->quant = x->quant;
    dim[axis] = 1;
    same = ir_tensor_new(g, x->name, x->type, y->rank, dim);
    same->quant = x->quant;
    (void)lgl_new_reshape(g, row, x, same);
    lgl_new_gather(g, row, same, axis, ARENA_ARRAY(g->arena, int32_t, (size_t)n), all);
    return all;
}

/* Repeat the operand that is broadcast along the outermost dimension of all. */
static void repeat_one(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(g, op, 0);

    for (uint32_t i = 0; i < y->rank; i++)
        for (uint32_t k = 0; k < OPERANDS; k++)
            if (y->dim[i] > 1 && dim_of(ir_in(g, op, k), y, i) == 1) {
                op->in[k] = repeated(g, op->row, ir_in(g, op, k), y, i)->id;
                return;
            }
}

enum status lgl_repeated_operands(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    const uint32_t n_op = g->n_op;

    (void)o;
    for (uint32_t i = 0; i < n_op; i++)
        while (!g->op[i]->dead && two_operands[g->op[i]->opcode] && g->op[i]->n_in == OPERANDS &&
               loops(g, g->op[i]) > LOOPS)
            repeat_one(g, g->op[i]);
    return ir_link(g, d);
}
