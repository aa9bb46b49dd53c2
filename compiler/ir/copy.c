/* copy.c - copy a graph; see ir.h. */
#include "ir.h"

static struct ir_tensor *copy_tensor(struct arena *a, const struct ir_tensor *t)
{
    struct ir_tensor *c = arena_memdup(a, t, sizeof *t);

    if (t->quant.n != 0) {
        c->quant.scale = arena_memdup(a, t->quant.scale, t->quant.n * sizeof *t->quant.scale);
        c->quant.zero_point =
            arena_memdup(a, t->quant.zero_point, t->quant.n * sizeof *t->quant.zero_point);
    }
    return c;
}

static uint32_t *copy_ids(struct arena *a, const uint32_t *id, uint32_t n)
{
    return n == 0 ? NULL : arena_memdup(a, id, n * sizeof *id);
}

static struct ir_op *copy_op(struct arena *a, const struct ir_op *op)
{
    struct ir_op *c = arena_memdup(a, op, sizeof *op);

    c->in = copy_ids(a, op->in, op->n_in);
    c->out = copy_ids(a, op->out, op->n_out);
    return c;
}

struct ir_graph *ir_copy(struct arena *a, const struct ir_graph *g)
{
    struct ir_graph *c = arena_memdup(a, g, sizeof *g);

    c->arena = a;
    c->cap_tensor = g->n_tensor;
    c->cap_op = g->n_op;
    c->tensor = ARENA_ARRAY(a, struct ir_tensor *, g->n_tensor + 1);
    c->op = ARENA_ARRAY(a, struct ir_op *, g->n_op + 1);
    for (uint32_t i = 0; i < g->n_tensor; i++)
        c->tensor[i] = copy_tensor(a, g->tensor[i]);
    for (uint32_t i = 0; i < g->n_op; i++)
        c->op[i] = copy_op(a, g->op[i]);
    c->in = copy_ids(a, g->in, g->n_in);
    c->out = copy_ids(a, g->out, g->n_out);
    c->row = ARENA_ARRAY(a, struct ir_row, g->n_row + 1);
    for (uint32_t i = 0; i < g->n_row; i++)
        c->row[i] = g->row[i];
    return c;
}
