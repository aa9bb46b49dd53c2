/* infer.c - run the rules of ops.def. */
#include "rules.h"

static ir_rule *const rule_table[] = {
#define IR_OP(code, name, min_in, max_in, min_out, max_out, attrs, infer, ref) infer,
#include "ops.def"
#undef IR_OP
};

bool ir_has_float(enum ir_opcode opcode)
{
    switch (opcode) {
#define IR_FLOAT(code, ref) case IR_OP_##code:
#include "float.def"
#undef IR_FLOAT
        return true;
    default: return false;
    }
}

bool ir_has_int(enum ir_opcode opcode)
{
    switch (opcode) {
    case IR_OP_ADD:
    case IR_OP_SUB:
    case IR_OP_MUL:
    case IR_OP_DIV:
    case IR_OP_FLOOR_DIV:
    case IR_OP_FLOOR_MOD:
    case IR_OP_MAXIMUM:
    case IR_OP_MINIMUM:
    case IR_OP_SQUARED_DIFFERENCE: return true;
    default: return false;
    }
}

/* Movers and borders take what they are given; other rules accept float32 where float.def does. */
static enum status check_float(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    static const enum ir_opcode any[] = {
        IR_OP_RESHAPE,       IR_OP_QUANTIZE,        IR_OP_PAD,
        IR_OP_CONCATENATION, IR_OP_TRANSPOSE,       IR_OP_SLICE,
        IR_OP_GATHER,        IR_OP_READ_VARIABLE,   IR_OP_ARG_MAX,
        IR_OP_ARG_MIN,       IR_OP_ASSIGN_VARIABLE, IR_OP_CAST,
        IR_OP_EQUAL,         IR_OP_NOT_EQUAL,       IR_OP_LESS,
        IR_OP_LESS_EQUAL,    IR_OP_GREATER,         IR_OP_GREATER_EQUAL,
        IR_OP_GATHER_ND};
    const struct ir_tensor *x = ir_in(g, op, 0);
    bool takes = ir_has_float(op->opcode);

    for (uint32_t i = 0; i < sizeof any / sizeof *any; i++)
        takes = takes || any[i] == op->opcode;
    if (x->type == IR_F32 && !takes)
        return FAIL(
            d, ST_UNSUPPORTED,
            "input '%.80s' is float32: %s computes on quantised values only; quantise the model to "
            "int8",
            x->name, ir_op_info(op->opcode)->name);
    return ST_OK;
}

/* These have no arithmetic on quantised values. */
static enum status check_codes(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    static const enum ir_opcode only[] = {
        IR_OP_DIV,         IR_OP_INTERPOLATE, IR_OP_HARD_SIGMOID, IR_OP_NEG,       IR_OP_SQRT,
        IR_OP_ERF,         IR_OP_ROUND,       IR_OP_FLOOR,        IR_OP_CEIL,      IR_OP_POW,
        IR_OP_REDUCE_PROD, IR_OP_CUMSUM,      IR_OP_FLOOR_DIV,    IR_OP_FLOOR_MOD, IR_OP_SIGN,
        IR_OP_SIN,         IR_OP_COS,         IR_OP_DETECTION};
    const struct ir_tensor *x = ir_in(g, op, 0);

    for (uint32_t i = 0; i < sizeof only / sizeof *only; i++)
        if (op->opcode == only[i] && !(ir_is_int(x->type) && ir_has_int(op->opcode)))
            return ir_want_type(x, "input", ir_has_float(op->opcode) ? IR_F32 : IR_I32, d);
    return ST_OK;
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

    TRY(want_count("inputs", info->min_in, info->max_in, op->n_in, d));
    TRY(want_count("outputs", info->min_out, info->max_out, op->n_out, d));
    for (uint32_t i = 0; i < op->n_in; i++)
        if ((i < info->min_in || info->max_in > 3) && op->in[i] == IR_NONE)
            return FAIL(d, ST_MODEL, "input %u is absent", i);
    return ST_OK;
}

/* Operators that compute and have no int16 form: TFLite's reference has none either. */
static bool only_8_bit(enum ir_opcode opcode)
{
    switch (opcode) {
    case IR_OP_SUM:
    case IR_OP_ARG_MAX:
    case IR_OP_ARG_MIN:
    case IR_OP_TOP_K:
    case IR_OP_PRELU:
    case IR_OP_SQUARED_DIFFERENCE:
    case IR_OP_L2_NORMALIZATION:
    case IR_OP_RELU_N1_TO_1:
    case IR_OP_RELU_0_TO_1:
    case IR_OP_CLIP:
    case IR_OP_HARD_SWISH:
    case IR_OP_EXP:
    case IR_OP_LSTM:
    case IR_OP_SVDF:
    case IR_OP_LOG:
    case IR_OP_LOG_SOFTMAX:
    case IR_OP_RSQRT:
    case IR_OP_ELU:
    case IR_OP_GELU:
    case IR_OP_RESCALE:
    case IR_OP_LUT: return true;
    default: return false;
    }
}

static enum status check_width(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0);

    if (x == NULL || x->type != IR_I16 || !only_8_bit(op->opcode))
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
        st = check_codes(g, op, d);
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
