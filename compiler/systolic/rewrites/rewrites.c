/* rewrites.c - one driver for all rewrites of the array's back end. */
#include "rewrites.h"

/* Each operator that is added is visited in the next round. */
enum { MOST_ROUNDS = 16 };

void sys_for_accelerator(struct lgl_options *o, uint32_t array_rows, uint32_t accumulators,
                         uint32_t tables)
{
    const bool first = o->array_rows == 0;

    o->array_rows = first || array_rows < o->array_rows ? array_rows : o->array_rows;
    o->accumulators = first || accumulators < o->accumulators ? accumulators : o->accumulators;
    o->tables = first || tables < o->tables ? tables : o->tables;
}

enum status sys_rewrite_all(struct ir_graph *g, sys_rewrite *rewrite, enum ir_opcode code,
                            const struct lgl_options *o, struct diag *d)
{
    uint32_t from = 0;

    if (o->array_rows == 0)
        return ST_OK;
    for (uint32_t round = 0; from < g->n_op; round++) {
        const uint32_t n_op = g->n_op;

        if (round == MOST_ROUNDS)
            return FAIL(d, ST_INTERNAL, "a rewrite added operators in %d rounds, expected an end",
                        MOST_ROUNDS);
        for (uint32_t i = from; i < n_op; i++)
            if (!g->op[i]->dead && (code == IR_OP_ANY || g->op[i]->opcode == code))
                rewrite(g, g->op[i], o);
        from = n_op;
    }
    return ir_link(g, d);
}
