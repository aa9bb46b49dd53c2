/* qdq_ops.c - write operators without weights as ONNX nodes: unary, binary, movers, reductions. */
#include <string.h>

#include "qdq_own.h"

static float bits(int32_t v)
{
    float f;

    memcpy(&f, &v, sizeof f);
    return f;
}

/* --- unary and binary --- */

static void attributes_of(const struct ir_op *op, struct text *t)
{
    if (ir_op_has(op->opcode, IR_ALPHA_BITS))
        onnx_attr_float(t, "alpha", bits(op->attr[IR_ALPHA_BITS]));
    if (ir_op_has(op->opcode, IR_BETA_BITS))
        onnx_attr_float(t, "beta", bits(op->attr[IR_BETA_BITS]));
    if (op->attr[IR_APPROXIMATE])
        onnx_attr_text(t, "approximate", "tanh");
}

/* Write the ONNX operator of the same meaning. */
static void qdq_plain(struct qdq *w, const char *node)
{
    const struct ir_op *op = w->op;
    const enum qdq_form form = qdq_found(w);
    const char *in[3] = {NULL, NULL, NULL};
    struct text attributes;

    text_init(&attributes, w->arena);
    attributes_of(op, &attributes);
    for (uint32_t i = 0; i < op->n_in; i++)
        in[i] = qdq_read(w, op->in[i], form);
    const char *out = qdq_result(w, op->out[0], form), *from = qdq_unclamped(w, out);

    qdq_node(w, node, from, in[0], in[1], in[2], &attributes);
    qdq_clamp(w, from, out);
    qdq_made(w, op->out[0], form, out);
}

/* Write only the operator's clamp; its bounds choose the node. */
static void qdq_clamped(struct qdq *w, const char *node)
{
    (void)node;

    const enum qdq_form form = qdq_found(w);
    const char *in = qdq_read(w, w->op->in[0], form);
    const char *out = qdq_result(w, w->op->out[0], form);

    qdq_clamp(w, in, out);
    qdq_made(w, w->op->out[0], form, out);
}

/* --- over dimensions --- */

static void qdq_softmax(struct qdq *w, const char *node)
{
    const struct ir_op *op = w->op;
    const float beta = ir_op_has(op->opcode, IR_BETA_BITS) ? bits(op->attr[IR_BETA_BITS]) : 1;
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
    qdq_node(w, node, out, in, NULL, NULL, &attributes);
    qdq_made(w, op->out[0], QDQ_PLAIN, out);
}

static void qdq_reduction(struct qdq *w, const char *node)
{
    const struct ir_op *op = w->op;
    const bool keep = op->attr[IR_KEEP_DIMS] != 0;
    const bool either = ir_in(w->g, op, 0)->rank == 4 && keep;
    const enum qdq_form form = either ? qdq_found(w) : QDQ_PLAIN;
    int64_t axis[IR_MAX_RANK];
    uint32_t n = 0;
    struct text attributes;

    for (uint32_t i = 0; i < IR_MAX_RANK; i++)
        if (op->attr[IR_AXIS] >> i & 1)
            axis[n++] = qdq_axis(form, i);
    const char *in = qdq_read(w, op->in[0], form), *out = qdq_result(w, op->out[0], form);

    text_init(&attributes, w->arena);
    onnx_attr_int(&attributes, "keepdims", keep);
    qdq_node(w, node, out, in, qdq_ints(w, n, axis), NULL, &attributes);
    qdq_made(w, op->out[0], form, out);
}

/* Write the mean of each channel of an image, dimensions kept, as a pool. */
static void qdq_mean(struct qdq *w, const char *node)
{
    const struct ir_op *op = w->op;

    if (op->attr[IR_AXIS] != (1 << 1 | 1 << 2) || !op->attr[IR_KEEP_DIMS] ||
        ir_in(w->g, op, 0)->rank != 4) {
        qdq_reduction(w, node);
        return;
    }
    const char *in = qdq_read(w, op->in[0], QDQ_NCHW), *out = qdq_result(w, op->out[0], QDQ_NCHW);

    qdq_node(w, "GlobalAveragePool", out, in, NULL, NULL, NULL);
    qdq_made(w, op->out[0], QDQ_NCHW, out);
}

/* Cast the indices, which are int64 in ONNX. */
static void qdq_place(struct qdq *w, const char *node)
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
    qdq_node(w, node, found, in, NULL, NULL, &attributes);
    if (type != IR_I64)
        qdq_node(w, "Cast", out, found, NULL, NULL, &to);
    qdq_made(w, op->out[0], QDQ_PLAIN, out);
}

static void qdq_cast(struct qdq *w, const char *node)
{
    const enum qdq_form form = qdq_found(w);
    const char *in = qdq_read(w, w->op->in[0], form);
    const char *out = qdq_result(w, w->op->out[0], form);
    struct text attributes;

    text_init(&attributes, w->arena);
    onnx_attr_int(&attributes, "to", onnx_type(ir_out(w->g, w->op, 0)->type));
    qdq_node(w, node, out, in, NULL, NULL, &attributes);
    qdq_made(w, w->op->out[0], form, out);
}

static void qdq_cumsum(struct qdq *w, const char *node)
{
    const struct ir_op *op = w->op;
    const int64_t axis = op->attr[IR_AXIS];
    const char *in = qdq_read(w, op->in[0], QDQ_PLAIN);
    const char *out = qdq_result(w, op->out[0], QDQ_PLAIN);
    struct text attributes;

    text_init(&attributes, w->arena);
    onnx_attr_int(&attributes, "exclusive", op->attr[IR_EXCLUSIVE]);
    onnx_attr_int(&attributes, "reverse", op->attr[IR_REVERSE]);
    qdq_node(w, node, out, in, qdq_ints(w, 1, &axis), NULL, &attributes);
    qdq_made(w, op->out[0], QDQ_PLAIN, out);
}

/* The writer of each operator. */
static const struct {
    qdq_writer *write;
    const char *node;
} forms[] = {
#define OPERATOR(code, name, columns) {columns},
#define TO_ONNX(fn, node)             qdq_##fn, #node
#include "operators/operators.def"
};

enum status qdq_op(struct qdq *w, struct diag *d)
{
    const struct ir_op *op = w->op;
    const struct ir_row *row = &w->g->row[op->row];

    if (!forms[op->opcode].write || op->attr[IR_BATCH_DIMS]) /* ONNX's Gather has no batch
                                                              * dimensions */
        return FAIL(d, ST_UNSUPPORTED, "layer '%s' (%.40s): %s cannot be written as ONNX by heddle",
                    row->name, row->op, ir_op_info(op->opcode)->name);
    forms[op->opcode].write(w, forms[op->opcode].node);
    return ST_OK;
}
