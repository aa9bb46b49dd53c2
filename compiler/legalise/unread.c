/* unread.c - drop operators that a pass has left without readers. */
#include "legalise.h"

uint32_t *lgl_rows(const struct ir_graph *g)
{
    const uint32_t n = g->n_tensor + LGL_ADDED * g->n_op;
    uint32_t *row = ARENA_ARRAY(g->arena, uint32_t, n);

    for (uint32_t i = 0; i < n; i++)
        row[i] = IR_NONE;
    return row;
}

void lgl_fuse_unread(struct ir_graph *g, uint32_t *row)
{
    for (uint32_t i = g->n_op; i-- > 0;) {
        struct ir_op *op = g->op[i];
        const struct ir_tensor *y = ir_out(g, op, 0);

        if (op->dead || row[y->id] == IR_NONE || y->is_output || ir_uses(g, y->id) > 0)
            continue;
        op->dead = true;
        if (op->row != row[y->id])
            g->row[op->row].fused_into = row[y->id];
        for (uint32_t k = 0; k < op->n_in; k++)
            if (op->in[k] != IR_NONE)
                row[op->in[k]] = row[y->id];
    }
}
