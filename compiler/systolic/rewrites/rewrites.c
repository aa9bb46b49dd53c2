/* rewrites.c - one driver for all rewrites of the array's back end. */
#include "rewrites.h"

#include "compiler/systolic/schedule/sched.h"

/* Each added operator is visited in the next round. */
enum { MOST_ROUNDS = 16 };

static void lower(uint32_t *least, uint32_t n, bool first)
{
    if (first || n < *least)
        *least = n;
}

/* Return the cycles of the graph if the accelerator runs all of it. */
static uint64_t busy(struct ir_graph *g, const struct hd_config *hw)
{
    const struct sched_options by_rule = {.no_search = true};
    struct sched_alone alone;
    struct diag d = {0};

    if (lgl_weights_ko(g, NULL, &d) != ST_OK || ir_link(g, &d) != ST_OK ||
        !sched_alone(g, hw, &by_rule, &alone))
        return UINT64_MAX;
    return alone.busy;
}

static uint64_t cycles(const struct hd_config *hw, const struct ir_graph *g, const struct ir_op *op)
{
    struct arena *own = arena_beside(g->arena);
    const uint64_t n = busy(sched_alone_graph(own, g, op), hw);

    arena_free(own);
    return n;
}

/* Return true if the operator alone takes more than `gain` times the cycles of the operators that
 * the rewrite makes. */
static bool gains(const struct ir_graph *g, const struct ir_op *op, sys_rewrite *rewrite,
                  uint32_t gain, const struct lgl_options *o)
{
    struct arena *own = arena_beside(g->arena);
    struct ir_graph *one = sched_alone_graph(own, g, op);
    uint64_t after = UINT64_MAX;

    rewrite(one, one->op[0], o);
    if (one->op[0]->dead || one->op[0]->opcode != op->opcode)
        after = busy(one, o->hw);
    arena_free(own);
    return after < UINT64_MAX / gain && gain * after < cycles(o->hw, g, op);
}

void sys_for_accelerator(struct lgl_options *o, const struct hd_config *hw)
{
    const bool first = o->array_rows == 0;
    const uint32_t side = least(hw->rows, hw->columns);

    if (first || side < o->array_rows)
        o->hw = hw;
    o->cycles = cycles;
    lower(&o->array_rows, side, first);
    lower(&o->ports, hw->ports, first);
    lower(&o->accumulators, hw->acc_depth, first);
    lower(&o->tables, hd_config_tables(hw), first);
}

enum status sys_rewrite_all(struct ir_graph *g, sys_rewrite *rewrite, enum ir_opcode code,
                            uint32_t gain, const struct lgl_options *o, struct diag *d)
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
            if (!g->op[i]->dead && (code == IR_OP_ANY || g->op[i]->opcode == code) &&
                (gain == 0 || gains(g, g->op[i], rewrite, gain, o)))
                rewrite(g, g->op[i], o);
        from = n_op;
    }
    return ir_link(g, d);
}

#define REWRITE(name, code, gain)                                                                  \
    enum status sys_pass_##name(struct ir_graph *g, const struct lgl_options *o, struct diag *d)   \
    {                                                                                              \
        return sys_rewrite_all(g, sys_##name, IR_OP_##code, gain, o, d);                           \
    }
#include "compiler/passes.def"
