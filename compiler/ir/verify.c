/* verify.c - the definition of a legal graph (IR.md lists the same invariants as text). */
#include "rules.h"

#include <math.h>
#include <string.h>

static enum status verify_quant(const struct ir_tensor *t, struct diag *d)
{
    const struct ir_quant *q = &t->quant;

    if (q->n > 1 && (q->axis >= t->rank || (uint32_t)t->dim[q->axis] != q->n))
        return FAIL(d, ST_MODEL, "%u scales do not fit axis %u", q->n, q->axis);
    for (uint32_t i = 0; i < q->n; i++)
        if (!isfinite(q->scale[i]) || q->scale[i] <= 0)
            return FAIL(d, ST_MODEL, "scale %u: expected a positive number, found %.9g", i,
                        (double)q->scale[i]);
    for (uint32_t i = 0; i < q->n; i++) {
        const int32_t low = t->type == IR_U8 ? 0 : t->type == IR_I16 ? INT16_MIN : INT8_MIN;
        const int32_t high = low + (t->type == IR_I16 ? UINT16_MAX : UINT8_MAX);

        if (q->zero_point[i] < low || q->zero_point[i] > high)
            return FAIL(d, ST_MODEL, "zero point %u: expected %d to %d, found %d", i, low, high,
                        q->zero_point[i]);
    }
    return ST_OK;
}

static enum status verify_tensor(const struct ir_graph *g, uint32_t i, struct diag *d)
{
    const struct ir_tensor *t = g->tensor[i];

    if (t->id != i)
        return FAIL(d, ST_INTERNAL, "has id %u", t->id);
    if (!ir_shape_ok(t->rank, t->dim, t->type))
        return FAIL(d, ST_MODEL, "shape %s is not usable",
                    ir_shape_text(g->arena, t->rank <= IR_MAX_RANK ? t->rank : 0, t->dim));
    if (t->role == IR_CONST && t->data == NULL)
        return FAIL(d, ST_INTERNAL, "is a constant without data");
    if ((t->role == IR_VALUE || t->role == IR_INPUT) && t->data != NULL)
        return FAIL(d, ST_INTERNAL, "has data but is no constant");
    if (t->role == IR_VALUE && t->producer != IR_NONE && t->producer >= g->n_op)
        return FAIL(d, ST_INTERNAL, "has producer %u of %u operators", t->producer, g->n_op);
    return verify_quant(t, d);
}

/* Check that inputs exist and are computed before `op`, and that outputs have no other producer. */
static enum status verify_links(const struct ir_graph *g, const struct ir_op *op, bool *made,
                                struct diag *d)
{
    for (uint32_t i = 0; i < op->n_in; i++) {
        if (op->in[i] == IR_NONE)
            continue;
        if (op->in[i] >= g->n_tensor)
            return FAIL(d, ST_INTERNAL, "input %u is tensor %u of %u", i, op->in[i], g->n_tensor);
        if (g->tensor[op->in[i]]->role == IR_VALUE && !made[op->in[i]])
            return FAIL(d, ST_INTERNAL, "input %u, tensor %%%u, is used before it is computed", i,
                        op->in[i]);
    }
    for (uint32_t i = 0; i < op->n_out; i++) {
        if (op->out[i] >= g->n_tensor)
            return FAIL(d, ST_INTERNAL, "output %u is tensor %u of %u", i, op->out[i], g->n_tensor);
        if (made[op->out[i]] || g->tensor[op->out[i]]->role != IR_VALUE)
            return FAIL(d, ST_INTERNAL, "output %u, tensor %%%u, is made elsewhere", i, op->out[i]);
        if (g->tensor[op->out[i]]->producer != op->id)
            return FAIL(d, ST_INTERNAL, "output %u, tensor %%%u, names producer %u", i, op->out[i],
                        g->tensor[op->out[i]]->producer);
        made[op->out[i]] = true;
    }
    return ST_OK;
}

static enum status verify_fixed(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_fixed *f = &op->fixed;

    if (f->act_min > f->act_max)
        return FAIL(d, ST_MODEL, "clamp %d to %d is empty", f->act_min, f->act_max);
    if ((f->n != 0) != (f->multiplier != NULL && f->shift != NULL))
        return FAIL(d, ST_INTERNAL, "%u multipliers and no data, or the reverse", f->n);
    if (f->n > 3 && op->opcode != IR_OP_LSTM && f->n != (uint32_t)ir_dim_back(ir_out(g, op, 0), 0))
        return FAIL(d, ST_INTERNAL, "%u multipliers for %d channels", f->n,
                    ir_dim_back(ir_out(g, op, 0), 0));
    for (uint32_t i = 0; i < f->n; i++)
        if ((f->multiplier[i] < 0 && !ir_op_has(op->opcode, IR_ALPHA_BITS)) || f->shift[i] < -31 ||
            f->shift[i] > 31)
            return FAIL(d, ST_INTERNAL, "multiplier %u is %d with shift %d", i, f->multiplier[i],
                        f->shift[i]);
    if ((op->opcode == IR_OP_LUT && op->n_in == 1) != (f->table != NULL))
        return FAIL(d, ST_INTERNAL, "a table belongs to lut, and only to it");
    const uint32_t entries =
        op->attr[IR_HALVES] ? 2 * IR_CURVE_ENTRIES : ir_op_info(op->opcode)->wide_entries;
    if (f->n_wide != 0 && f->n_wide != entries)
        return FAIL(d, ST_MODEL, "expected %u entries of int16, found %u", entries, f->n_wide);
    return ST_OK;
}

static enum status verify_attrs(const struct ir_op *op, struct diag *d)
{
    for (uint32_t i = 0; i < IR_ATTR_COUNT; i++)
        if (op->attr[i] != 0 && !ir_op_has(op->opcode, (enum ir_attr)i))
            return FAIL(d, ST_INTERNAL, "has no attribute %s (found %d)",
                        ir_attr_name((enum ir_attr)i), op->attr[i]);
    return ST_OK;
}

static enum status verify_op(const struct ir_graph *g, uint32_t i, bool *made, struct diag *d)
{
    const struct ir_op *op = g->op[i];

    if (op->dead)
        return FAIL(d, ST_INTERNAL, "operator %u is dead but listed", i);
    if (op->opcode >= IR_OPCODES || op->id != i)
        return FAIL(d, ST_INTERNAL, "operator %u has id %u and opcode %d", i, op->id,
                    (int)op->opcode);
    if (op->row != IR_NONE && op->row >= g->n_row)
        return FAIL(d, ST_INTERNAL, "operator %u is of row %u of %u", i, op->row, g->n_row);
    TRY(verify_attrs(op, d));
    TRY(verify_links(g, op, made, d));
    return verify_fixed(g, op, d);
}

static enum status verify_borders(const struct ir_graph *g, const bool *made, struct diag *d)
{
    for (uint32_t i = 0; i < g->n_in; i++)
        if (g->in[i] >= g->n_tensor || g->tensor[g->in[i]]->role != IR_INPUT)
            return FAIL(d, ST_INTERNAL, "graph input %u is tensor %u, not an input", i, g->in[i]);
    for (uint32_t i = 0; i < g->n_out; i++)
        if (g->out[i] >= g->n_tensor || !made[g->out[i]] || !g->tensor[g->out[i]]->is_output)
            return FAIL(d, ST_INTERNAL, "graph output %u is tensor %u, not made or not marked", i,
                        g->out[i]);
    return ST_OK;
}

static enum status verify_all(const struct ir_graph *g, struct diag *d)
{
    bool *made = ARENA_ARRAY(g->arena, bool, g->n_tensor);

    for (uint32_t i = 0; i < g->n_tensor; i++) {
        const enum status st = verify_tensor(g, i, d);

        if (st != ST_OK) {
            diag_prefix(d, "tensor %%%u '%.80s'", i, g->tensor[i]->name);
            return st;
        }
    }
    for (uint32_t i = 0; i < g->n_op; i++) {
        const enum status st = verify_op(g, i, made, d);

        if (st != ST_OK) {
            diag_prefix(d, "operator %u (%s)", i, ir_op_info(g->op[i]->opcode)->name);
            return st;
        }
        TRY(ir_check_op(g, g->op[i], d));
    }
    return verify_borders(g, made, d);
}

enum status ir_verify(const struct ir_graph *g, const char *stage, struct diag *d)
{
    const enum status st = verify_all(g, d);

    if (st != ST_OK)
        diag_prefix(d, "after %s", stage);
    return st;
}
