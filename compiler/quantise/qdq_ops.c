/* qdq_ops.c - operators without weights as ONNX nodes: of one value, of two, movers, reductions. */
#include <string.h>

#include "qdq_own.h"

static float bits(int32_t v)
{
    float f;

    memcpy(&f, &v, sizeof f);
    return f;
}

/* --- of one value, of two --- */

/* The ONNX operator of the same meaning; NULL: more than a name is needed. */
static const char *name_of(enum ir_opcode opcode)
{
    static const struct {
        enum ir_opcode opcode;
        const char *name;
    } names[] = {
        {IR_OP_ADD, "Add"},
        {IR_OP_SUB, "Sub"},
        {IR_OP_MUL, "Mul"},
        {IR_OP_DIV, "Div"},
        {IR_OP_POW, "Pow"},
        {IR_OP_MAXIMUM, "Max"},
        {IR_OP_MINIMUM, "Min"},
        {IR_OP_PRELU, "PRelu"},
        {IR_OP_LOGISTIC, "Sigmoid"},
        {IR_OP_TANH, "Tanh"},
        {IR_OP_HARD_SWISH, "HardSwish"},
        {IR_OP_ABS, "Abs"},
        {IR_OP_EXP, "Exp"},
        {IR_OP_LOG, "Log"},
        {IR_OP_ELU, "Elu"},
        {IR_OP_NEG, "Neg"},
        {IR_OP_SQRT, "Sqrt"},
        {IR_OP_ERF, "Erf"},
        {IR_OP_ROUND, "Round"},
        {IR_OP_FLOOR, "Floor"},
        {IR_OP_CEIL, "Ceil"},
        {IR_OP_SIGN, "Sign"},
        {IR_OP_SIN, "Sin"},
        {IR_OP_COS, "Cos"},
        {IR_OP_LEAKY_RELU, "LeakyRelu"},
        {IR_OP_GELU, "Gelu"},
        {IR_OP_HARD_SIGMOID, "HardSigmoid"},
        {IR_OP_EQUAL, "Equal"},
        {IR_OP_LESS, "Less"},
        {IR_OP_LESS_EQUAL, "LessOrEqual"},
        {IR_OP_GREATER, "Greater"},
        {IR_OP_GREATER_EQUAL, "GreaterOrEqual"},
        {IR_OP_LOGICAL_AND, "And"},
        {IR_OP_LOGICAL_OR, "Or"},
        {IR_OP_LOGICAL_NOT, "Not"},
        {IR_OP_SELECT, "Where"},
        {IR_OP_FLOOR_MOD, "Mod"},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].opcode == opcode)
            return names[i].name;
    return NULL;
}

static void alike_attributes(const struct ir_op *op, struct text *t)
{
    if (op->opcode == IR_OP_LEAKY_RELU || op->opcode == IR_OP_HARD_SIGMOID)
        onnx_attr_float(t, "alpha", bits(op->attr[IR_ALPHA_BITS]));
    if (op->opcode == IR_OP_HARD_SIGMOID)
        onnx_attr_float(t, "beta", bits(op->attr[IR_BETA_BITS]));
    if (op->opcode == IR_OP_GELU && op->attr[IR_APPROXIMATE])
        onnx_attr_text(t, "approximate", "tanh");
}

static void alike(struct qdq *w, const char *name)
{
    const struct ir_op *op = w->op;
    const enum qdq_form form = qdq_found(w);
    const char *in[3] = {NULL, NULL, NULL};
    struct text attributes;

    text_init(&attributes, w->arena);
    alike_attributes(op, &attributes);
    for (uint32_t i = 0; i < op->n_in; i++)
        in[i] = qdq_read(w, op->in[i], form);
    const char *out = qdq_result(w, op->out[0], form), *from = qdq_unclamped(w, out);

    qdq_node(w, name, from, in[0], in[1], in[2], &attributes);
    qdq_clamp(w, from, out);
    qdq_made(w, op->out[0], form, out);
}

/* Only its clamp. */
static void clamp_alone(struct qdq *w)
{
    const enum qdq_form form = qdq_found(w);
    const char *in = qdq_read(w, w->op->in[0], form);
    const char *out = qdq_result(w, w->op->out[0], form);

    qdq_clamp(w, in, out);
    qdq_made(w, w->op->out[0], form, out);
}

/* --- over dimensions --- */

static void softmax(struct qdq *w, const char *name)
{
    const struct ir_op *op = w->op;
    const float beta = op->opcode == IR_OP_SOFTMAX ? bits(op->attr[IR_BETA_BITS]) : 1;
    const char *in = qdq_read(w, op->in[0], QDQ_PLAIN);
    const char *out = qdq_result(w, op->out[0], QDQ_PLAIN);
    struct text attributes;

    if (beta < 1 || beta > 1) {
        const char *scaled = qdq_unique(w, arena_printf(w->arena, "%s/scaled", out));

        qdq_node(w, "Mul", scaled, in, qdq_number(w, beta), NULL, NULL);
        in = scaled;
    }
    text_init(&attributes, w->arena);
    onnx_attr_int(&attributes, "axis", -1);
    qdq_node(w, name, out, in, NULL, NULL, &attributes);
    qdq_made(w, op->out[0], QDQ_PLAIN, out);
}

/* Return true for the mean of each channel of an image that exists as NCHW, dimensions kept. */
static bool is_global_pool(const struct qdq *w)
{
    const struct ir_op *op = w->op;

    return op->opcode == IR_OP_MEAN && op->attr[IR_AXIS] == (1 << 1 | 1 << 2) &&
           op->attr[IR_KEEP_DIMS] && ir_in(w->g, op, 0)->rank == 4;
}

static void reduction(struct qdq *w, const char *name)
{
    const struct ir_op *op = w->op;
    const bool pool = is_global_pool(w), keep = op->attr[IR_KEEP_DIMS] != 0;
    enum qdq_form form = qdq_found(w);
    int64_t axis[IR_MAX_RANK];
    uint32_t n = 0;
    struct text attributes;

    if (pool)
        form = QDQ_NCHW;
    if (ir_in(w->g, op, 0)->rank != 4 || !keep)
        form = QDQ_PLAIN;
    for (uint32_t i = 0; i < IR_MAX_RANK; i++)
        if (op->attr[IR_AXIS] >> i & 1)
            axis[n++] = qdq_axis(form, i);
    const char *in = qdq_read(w, op->in[0], form), *out = qdq_result(w, op->out[0], form);

    text_init(&attributes, w->arena);
    onnx_attr_int(&attributes, "keepdims", keep);
    if (pool)
        qdq_node(w, "GlobalAveragePool", out, in, NULL, NULL, NULL);
    else
        qdq_node(w, name, out, in, qdq_ints(w, n, axis), NULL, &attributes);
    qdq_made(w, op->out[0], form, out);
}

/* ONNX's places are int64. */
static void place(struct qdq *w, const char *name)
{
    const struct ir_op *op = w->op;
    const enum ir_type type = ir_out(w->g, op, 0)->type;
    const char *in = qdq_read(w, op->in[0], QDQ_PLAIN);
    const char *out = qdq_result(w, op->out[0], QDQ_PLAIN), *found = out;
    struct text attributes, to;

    text_init(&attributes, w->arena);
    text_init(&to, w->arena);
    onnx_attr_int(&attributes, "axis", op->attr[IR_AXIS]);
    onnx_attr_int(&attributes, "keepdims", op->attr[IR_KEEP_DIMS]);
    onnx_attr_int(&to, "to", onnx_type(type));
    if (type != IR_I64)
        found = qdq_unique(w, arena_printf(w->arena, "%s/int64", out));
    qdq_node(w, name, found, in, NULL, NULL, &attributes);
    if (type != IR_I64)
        qdq_node(w, "Cast", out, found, NULL, NULL, &to);
    qdq_made(w, op->out[0], QDQ_PLAIN, out);
}

static void cast(struct qdq *w)
{
    const enum qdq_form form = qdq_found(w);
    const char *in = qdq_read(w, w->op->in[0], form);
    const char *out = qdq_result(w, w->op->out[0], form);
    struct text attributes;

    text_init(&attributes, w->arena);
    onnx_attr_int(&attributes, "to", onnx_type(ir_out(w->g, w->op, 0)->type));
    qdq_node(w, "Cast", out, in, NULL, NULL, &attributes);
    qdq_made(w, w->op->out[0], form, out);
}

static void sums(struct qdq *w)
{
    const struct ir_op *op = w->op;
    const int64_t axis = op->attr[IR_AXIS];
    const char *in = qdq_read(w, op->in[0], QDQ_PLAIN);
    const char *out = qdq_result(w, op->out[0], QDQ_PLAIN);
    struct text attributes;

    text_init(&attributes, w->arena);
    onnx_attr_int(&attributes, "exclusive", op->attr[IR_EXCLUSIVE]);
    onnx_attr_int(&attributes, "reverse", op->attr[IR_REVERSE]);
    qdq_node(w, "CumSum", out, in, qdq_ints(w, 1, &axis), NULL, &attributes);
    qdq_made(w, op->out[0], QDQ_PLAIN, out);
}

enum status qdq_op(struct qdq *w, struct diag *d)
{
    const struct ir_op *op = w->op;
    const struct ir_row *row = &w->g->row[op->row];
    const char *name = name_of(op->opcode);

    if (qdq_layer(w) || qdq_mover(w) || qdq_parts(w))
        return ST_OK;
    if (name) {
        alike(w, name);
        return ST_OK;
    }
    switch (op->opcode) {
    case IR_OP_RELU:
    case IR_OP_RELU6:
    case IR_OP_RELU_N1_TO_1:
    case IR_OP_RELU_0_TO_1:
    case IR_OP_CLIP: clamp_alone(w); return ST_OK;
    case IR_OP_SOFTMAX: softmax(w, "Softmax"); return ST_OK;
    case IR_OP_LOG_SOFTMAX: softmax(w, "LogSoftmax"); return ST_OK;
    case IR_OP_MEAN: reduction(w, "ReduceMean"); return ST_OK;
    case IR_OP_SUM: reduction(w, "ReduceSum"); return ST_OK;
    case IR_OP_REDUCE_MAX: reduction(w, "ReduceMax"); return ST_OK;
    case IR_OP_REDUCE_MIN: reduction(w, "ReduceMin"); return ST_OK;
    case IR_OP_REDUCE_PROD: reduction(w, "ReduceProd"); return ST_OK;
    case IR_OP_ARG_MAX: place(w, "ArgMax"); return ST_OK;
    case IR_OP_ARG_MIN: place(w, "ArgMin"); return ST_OK;
    case IR_OP_CAST: cast(w); return ST_OK;
    case IR_OP_CUMSUM: sums(w); return ST_OK;
    default:
        return FAIL(d, ST_UNSUPPORTED,
                    "layer '%s' (%.40s): %s cannot be written as ONNX by heddle quantise",
                    row->name, row->op, ir_op_info(op->opcode)->name);
    }
}
