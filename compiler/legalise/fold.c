/* fold.c - remove operators that move no data or compute nothing.
 * Operators that leave every byte where it is become RESHAPE. A RESHAPE whose readers do not look
 * at the shape is removed; one that stays shares its input's memory (ir_storage), row target
 * "none", of a constant is a constant. Operators without readers are dropped. */
#include "compiler/ir/rules.h"
#include "legalise.h"

static bool same_quant(const struct ir_tensor *a, const struct ir_tensor *b)
{
    return a->type == b->type && a->quant.n == 1 && b->quant.n == 1 &&
           a->quant.scale[0] == b->quant.scale[0] &&
           a->quant.zero_point[0] == b->quant.zero_point[0];
}

/* Return true if dimensions above 1 keep their order. */
static bool idle_transpose(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    const int32_t *from = (const int32_t *)(const void *)ir_in(g, op, 1)->data;
    int32_t last = -1;

    for (uint32_t i = 0; i < x->rank; i++) {
        if (x->dim[from[i]] == 1)
            continue;
        if (from[i] < last)
            return false;
        last = from[i];
    }
    return true;
}

static bool idle_shape(const struct ir_graph *g, const struct ir_op *op)
{
    return ir_same_shape(ir_in(g, op, 0), ir_out(g, op, 0));
}

uint32_t lgl_backwards(const struct ir_graph *g, const struct ir_op *slice)
{
    const struct ir_tensor *steps = ir_in(g, slice, 2);
    uint32_t all = 0;

    for (uint32_t i = 0; steps != NULL && i < ir_elements(steps); i++)
        all |= ir_const_i32(steps, i) < 0 ? 1u << i : 0;
    return all;
}

static bool idle_slice(const struct ir_graph *g, const struct ir_op *op)
{
    return idle_shape(g, op) && lgl_backwards(g, op) == 0;
}

static bool idle_single(const struct ir_graph *g, const struct ir_op *op)
{
    (void)g;
    return op->n_in == 1;
}

/* Input i of `op` reads `from`; it may read `to`, the same bytes in another shape, if the rule
 * holds. */
struct reshaped {
    uint32_t i;
    const struct ir_tensor *from, *to;
};

static bool reads_any(const struct reshaped *r)
{
    (void)r;
    return true;
}

static bool reads_first(const struct reshaped *r)
{
    return r->i == 0;
}

/* An image's; of fewer dimensions than four each row is one pixel. */
static int32_t columns(const struct ir_tensor *t)
{
    return t->rank < 4 ? 1 : ir_dim_back(t, 1);
}

/* Return true if the images of both shapes have the same columns and channels, by which the
 * accelerator reads them. */
static bool reads_rows(const struct reshaped *r)
{
    return ir_dim_back(r->from, 0) == ir_dim_back(r->to, 0) && columns(r->from) == columns(r->to);
}

static const struct {
    /* Every byte of the output is the input's byte at the same place. */
    bool (*idle)(const struct ir_graph *g, const struct ir_op *op);
    bool (*reads)(const struct reshaped *r);
} rules[] = {
#define OPERATOR(code, name, columns) {columns},
#define IDLE(rule)                    .idle = idle_##rule,
#define RESHAPED(rule)                .reads = reads_##rule,
#include "operators/operators.def"
};

static bool moves_nothing(const struct ir_graph *g, const struct ir_op *op)
{
    return rules[op->opcode].idle && rules[op->opcode].idle(g, op);
}

static void make_reshape(struct ir_op *op)
{
    op->opcode = IR_OP_RESHAPE;
    op->n_in = 1;
    op->attr[IR_AXIS] = 0;
    op->fixed = (struct ir_fixed){.act_min = op->fixed.act_min, .act_max = op->fixed.act_max};
}

/* Return true if the accelerator does not see the shape; it reads at most four dimensions. */
static bool ignores_shape(const struct ir_op *op, const struct reshaped *r)
{
    if (r->from->rank <= 4 && r->to->rank > 4)
        return false;
    return ir_same_shape(r->from, r->to) || (rules[op->opcode].reads && rules[op->opcode].reads(r));
}

/* Make the RESHAPE's result a constant if its input is one. */
static bool reshaped_constant(struct ir_graph *g, struct ir_op *reshape)
{
    const struct ir_tensor *x = ir_in(g, reshape, 0);
    struct ir_tensor *y = ir_out(g, reshape, 0);

    if (x->role != IR_CONST || x->type != y->type || y->is_output)
        return false;
    y->role = IR_CONST;
    y->data = x->data;
    reshape->dead = true;
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
            if (op->in[k] == y->id && ignores_shape(op, &(struct reshaped){k, y, x}))
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
    (void)o;
    for (uint32_t i = 0; i < g->n_op; i++) {
        if (moves_nothing(g, g->op[i]))
            make_reshape(g->op[i]);
        if (ir_is_reshape(g->op[i]) && !reshaped_constant(g, g->op[i]))
            bypass(g, g->op[i]);
    }
    drop_unread(g);
    mark_rows(g);
    return ir_link(g, d);
}
