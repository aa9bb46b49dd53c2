/* infer.c - run the rules of operators.def. */
#include "rules.h"

static ir_rule *const rule_table[] = {
#define OPERATOR(code, name, columns) columns,
#define INFER(rule)                   infer_##rule
#include "operators/operators.def"
};

/* Accept float32 only if the operator's types include it. */
static enum status check_float(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0);

    if (x->type == IR_F32 && !(ir_op_info(op->opcode)->types & TYPE_F32))
        return FAIL(
            d, ST_UNSUPPORTED,
            "input '%.80s' is float32: %s computes on quantised values only; quantise the model to "
            "int8",
            x->name, ir_op_info(op->opcode)->name);
    return ST_OK;
}

/* Some operators have no arithmetic on quantised values. */
static enum status check_quantised(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_op_info *info = ir_op_info(op->opcode);
    const struct ir_tensor *x = ir_in(g, op, 0);

    if (info->types & (TYPES_QUANTISED | TYPE_BOOL) || (ir_is_int(x->type) && info->has_int))
        return ST_OK;
    return ir_want_type(x, "input", info->has_float ? IR_F32 : IR_I32, d);
}

static enum status want_count(const char *what, uint32_t low, uint32_t high, uint32_t n,
                              struct diag *d)
{
    if (n >= low && n <= high)
        return ST_OK;
    if (low == high)
        return FAIL(d, ST_MODEL, "expected %u %s, found %u", low, what, n);
    return FAIL(d, ST_MODEL, "expected %u to %u %s, found %u", low, high, what, n);
}

static enum status check_arity(const struct ir_op *op, struct diag *d)
{
    const struct ir_op_info *info = ir_op_info(op->opcode);

    TRY(want_count("inputs", info->in.least, info->in.most, op->n_in, d));
    TRY(want_count("outputs", 1, 1, op->n_out, d));
    for (uint32_t i = 0; i < op->n_in; i++)
        if ((i < info->in.least || info->in.most > 3) && op->in[i] == IR_NONE)
            return FAIL(d, ST_MODEL, "input %u is absent", i);
    return ST_OK;
}

/* Refuse operators that compute and have no int16 form; TFLite's reference has none either. */
static enum status check_width(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const uint32_t types = ir_op_info(op->opcode)->types;
    const struct ir_tensor *x = ir_in(g, op, 0);

    if (x == NULL || x->type != IR_I16 || types & TYPE_I16 || !(types & TYPES_BYTES))
        return ST_OK;
    return FAIL(d, ST_UNSUPPORTED, "input '%.80s': expected type i8 or u8, found i16", x->name);
}

enum status ir_check_op(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    enum status st = check_arity(op, d);

    if (st == ST_OK)
        st = check_width(g, op, d);
    if (st == ST_OK)
        st = check_float(g, op, d);
    if (st == ST_OK)
        st = check_quantised(g, op, d);
    if (st == ST_OK)
        st = rule_table[op->opcode](g, op, d);
    if (st != ST_OK && op->row < g->n_row)
        diag_prefix(d, "operator %u %s", op->row, g->row[op->row].op);
    else if (st != ST_OK)
        diag_prefix(d, "operator %u (%s)", op->id, ir_op_info(op->opcode)->name);
    return st;
}

enum status ir_infer(struct ir_graph *g, struct diag *d)
{
    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead)
            TRY(ir_check_op(g, g->op[i], d));
    return ST_OK;
}
