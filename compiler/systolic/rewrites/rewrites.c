/* rewrites.c - one driver for all rewrites of the array's back end. */
#include "rewrites.h"

#include "hw/gen/config.h"

/* Each operator that is added is visited in the next round. */
enum { MOST_ROUNDS = 16 };

static void lower(uint32_t *least, uint32_t n, bool first)
{
    if (first || n < *least)
        *least = n;
}

void sys_for_accelerator(struct lgl_options *o, const struct hd_config *hw)
{
    const bool first = o->array_rows == 0;

    lower(&o->array_rows, hw->n, first);
    lower(&o->ports, hw->ports, first);
    lower(&o->accumulators, hw->acc_depth, first);
    lower(&o->tables, hd_config_tables(hw), first);
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

#define REWRITE(name, code)                                                                        \
    enum status sys_pass_##name(struct ir_graph *g, const struct lgl_options *o, struct diag *d)   \
    {                                                                                              \
        return sys_rewrite_all(g, sys_##name, IR_OP_##code, o, d);                                 \
    }
#include "compiler/passes.def"
