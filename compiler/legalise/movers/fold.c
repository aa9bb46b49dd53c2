/* fold.c - remove operators that move no data or compute nothing.
 * Operators that leave every byte where it is, alone or together, become RESHAPE; those of constants are
 * constants. A RESHAPE whose readers do not look at the shape is removed; one that stays shares its
 * input's memory (ir_storage), row target "none". Operators without readers are dropped. */
#include "compiler/ir/map.h"
#include "compiler/ir/rules.h"
#include "compiler/legalise/legalise.h"

static bool same_quant(const struct ir_tensor *a, const struct ir_tensor *b)
{
    return a->type == b->type && a->quant.n == 1 && b->quant.n == 1 &&
           a->quant.scale[0] == b->quant.scale[0] &&
           a->quant.zero_point[0] == b->quant.zero_point[0];
}

/* An image's; of fewer dimensions than four each row is one pixel. */
static int32_t columns(const struct ir_tensor *t)
{
    return t->rank < 4 ? 1 : ir_dim_back(t, 1);
}

/* Return true if operand `k` of `op` may have the shape of `to` instead of that of `from`. The accelerator reads at most
 * four dimensions, and rows by their columns and channels. */
static bool ignores_shape(const struct ir_op *op, uint32_t k, const struct ir_tensor *from,
                          const struct ir_tensor *to)
{
    const struct ir_op_info *info = ir_op_info(op->opcode);

    if (from->rank <= 4 && to->rank > 4)
        return false;
    if (ir_same_shape(from, to))
        return true;
    return k == 0 &&
           (info->any_shape || (info->of_rows && ir_dim_back(from, 0) == ir_dim_back(to, 0) &&
                                columns(from) == columns(to)));
}

/* Make the operator a RESHAPE of the first of the movers' operands before it, if all of them together leave every byte
 * where it is, or of its own operand. */
static void find_idle(struct ir_graph *g, struct ir_op *op, struct ir_map **map)
{
    struct ir_map *own = ir_map_of(g, op, NULL);
    uint32_t from = op->in[0];

    if (!own)
        return;
    map[op->out[0]] = map[from] ? ir_map_of(g, op, map[from]) : own;
    if (map[op->out[0]] && ir_map_same_bytes(g, map[op->out[0]]))
        from = map[op->out[0]]->root;
    else if (!ir_map_same_bytes(g, own))
        return;
    if (ir_is_reshape(op))
        return;
    op->opcode = IR_OP_RESHAPE;
    op->in[0] = from;
    op->n_in = 1;
    op->attr[IR_AXIS] = 0;
    op->fixed = (struct ir_fixed){.act_min = op->fixed.act_min, .act_max = op->fixed.act_max};
}

/* Make the result a constant if the operator moves one. */
static bool moved_constant(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *fill = ir_in(g, op, 2);
    struct ir_tensor *y = ir_out(g, op, 0);
    const size_t size = ir_type_bytes(y->type);
    uint8_t zero[8] = {size == 1 ? (uint8_t)ir_zero_point(y) : 0};

    if (x->role != IR_CONST || x->type != y->type || y->is_output)
        return false;
    if (ir_is_reshape(op))
        y->data = x->data;
    else {
        const struct ir_map *m = ir_map_of(g, op, NULL);
        uint8_t *data;

        if (!m)
            return false;
        data = arena_alloc(g->arena, (size_t)ir_bytes(y));
        ir_map_copy(m, x->data, fill ? fill->data : zero, size, data);
        y->data = data;
    }
    y->role = IR_CONST;
    op->dead = true;
    return true;
}

/* Readers that can, read the RESHAPE's input. */
static void bypass(struct ir_graph *g, const struct ir_op *reshape)
{
    const struct ir_tensor *x = ir_in(g, reshape, 0), *y = ir_out(g, reshape, 0);

    if (x->type != y->type || (x->quant.n != 0 && !same_quant(x, y)))
        return;
    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *op = g->op[i];

        for (uint32_t k = 0; !op->dead && k < op->n_in; k++)
            if (op->in[k] == y->id && ignores_shape(op, k, y, x))
                op->in[k] = x->id;
    }
}

/* From the back, so that what fed only a dropped operator is dropped too. */
static void drop_unread(struct ir_graph *g)
{
    for (uint32_t i = g->n_op; i-- > 0;) {
        struct ir_op *op = g->op[i];
        bool needed = ir_op_info(op->opcode)->has_state;

        for (uint32_t k = 0; k < op->n_out; k++)
            needed = needed || ir_out(g, op, k)->is_output || ir_uses(g, op->out[k]) > 0;
        op->dead = op->dead || !needed;
    }
}

/* Rows without an operator that moves data go nowhere. */
static void mark_rows(struct ir_graph *g)
{
    bool *alive = ARENA_ARRAY(g->arena, bool, g->n_row);

    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead && !ir_is_reshape(g->op[i]) && g->op[i]->row < g->n_row)
            alive[g->op[i]->row] = true;
    for (uint32_t i = 0; i < g->n_row; i++)
        if (!alive[i] && g->row[i].fused_into == IR_NONE)
            g->row[i].target = "none";
}

enum status lgl_fold(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    struct ir_map **map = ARENA_ARRAY(g->arena, struct ir_map *, g->n_tensor + 1);

    (void)o;
    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *op = g->op[i];

        if (!ir_op_info(op->opcode)->moves)
            continue;
        find_idle(g, op, map);
        if (!moved_constant(g, op) && ir_is_reshape(op))
            bypass(g, op);
    }
    drop_unread(g);
    mark_rows(g);
    return ir_link(g, d);
}
