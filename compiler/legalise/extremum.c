/* extremum.c - fuse a LUT that only rescales an operand of MAXIMUM or MINIMUM into it (PReLU
 * written out).
 * in: int8 operators after code_table.c.  out: fewer of them; MAXIMUM and MINIMUM in a common scale. */
#include "fixed_math.h"
#include "legalise.h"

/* One operand in the common scale, shifted left by 20 bits. */
static int32_t scaled(const struct ir_fixed *f, uint32_t i, int32_t diff)
{
    return lgl_mbqm(diff * (1 << 20), f->multiplier[i], f->shift[i]);
}

/* An operand of MAXIMUM or MINIMUM: the table that makes it, or NULL, and that table's input. */
struct operand {
    struct ir_op *lut;
    const struct ir_tensor *from;
};

static struct operand operand_of(const struct ir_graph *g, const struct ir_op *op, uint32_t i)
{
    const struct ir_tensor *x = ir_in(g, op, i);
    struct operand o = {NULL, x};

    if (x->is_output || x->role == IR_CONST || ir_uses(g, x->id) != 1)
        return o;
    for (uint32_t k = 0; k < g->n_op; k++)
        if (!g->op[k]->dead && g->op[k]->fixed.table && g->op[k]->out[0] == x->id)
            o = (struct operand){g->op[k], ir_in(g, g->op[k], 0)};
    return o;
}

/* Return true if the operator's fixed point maps each quantised value as the table does, or
 * leaves it as it is without a table. */
static bool equals_table(const struct ir_op *op, uint32_t i, const struct operand *o,
                         const struct ir_tensor *y)
{
    const struct ir_fixed *f = &op->fixed;

    for (int32_t code = -128; code < 128; code++) {
        int32_t v =
            lgl_mbqm(scaled(f, i, code - ir_zero_point(o->from)), f->multiplier[2], f->shift[2]) +
            ir_zero_point(y);
        v = v < -128 ? -128 : v > 127 ? 127 : v;
        if (v != (o->lut ? o->lut->fixed.table[code + 128] : code))
            return false;
    }
    return true;
}

/* Rewrite MAXIMUM and MINIMUM of two tables that only rescale as that of the tables' inputs, in
 * a common scale. As both are monotonous, the larger result is that of the larger value. */
static void join_rescales(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(g, op, 0);

    if ((op->opcode != IR_OP_MAXIMUM && op->opcode != IR_OP_MINIMUM) || op->dead ||
        op->fixed.n != 0 || y->type != IR_I8 || op->in[0] == op->in[1])
        return;
    const struct operand in[2] = {operand_of(g, op, 0), operand_of(g, op, 1)};
    if ((!in[0].lut && !in[1].lut) || in[0].from->role == IR_CONST || in[1].from->role == IR_CONST)
        return;
    const double a = (double)in[0].from->quant.scale[0], b = (double)in[1].from->quant.scale[0];
    const double common = 2 * (a > b ? a : b);
    const struct lgl_fixed_scale back =
        lgl_fixed_scale(common / (1048576.0 * (double)y->quant.scale[0]));
    const int32_t multiplier[3] = {(int32_t)(a / common * 2147483648.0 + 0.5),
                                   (int32_t)(b / common * 2147483648.0 + 0.5), back.multiplier};
    const int8_t shift[3] = {0, 0, back.shift};
    const struct ir_fixed before = op->fixed;
    op->fixed.n = 3;
    op->fixed.multiplier = arena_memdup(g->arena, multiplier, sizeof multiplier);
    op->fixed.shift = arena_memdup(g->arena, shift, sizeof shift);
    if (back.multiplier == 0 || back.shift > 0 || !equals_table(op, 0, &in[0], y) ||
        !equals_table(op, 1, &in[1], y)) {
        op->fixed = before;
        return;
    }
    for (uint32_t i = 0; i < 2; i++) {
        op->in[i] = in[i].from->id;
        if (!in[i].lut)
            continue;
        in[i].lut->dead = true;
        if (in[i].lut->row != op->row)
            g->row[in[i].lut->row].fused_into = op->row;
    }
}

enum status lgl_extremum(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    (void)o;
    for (uint32_t i = 0; i < g->n_op; i++)
        join_rescales(g, g->op[i]);
    return ir_link(g, d);
}
