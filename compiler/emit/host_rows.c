/* host_rows.c - which kernel computes an operator on the host: a row an operator, by form, made of
 * column KERNEL of operators.def. */
#include "emit_host.h"

/* The first input's type, and what else tells kernels apart. */
enum form {
    FORM_I8,
    FORM_U8,
    FORM_ANY, /* moves bytes */
    FORM_I32, /* int64 too */
    FORM_BOOL,
    FORM_F32,
    FORM_I16,
    FORM_TO_I16,      /* from other quantised values */
    FORM_F32_TO_I16,  /* from float32 */
    FORM_WAS_U8,      /* was uint8, which has an arithmetic of its own */
    FORM_ONE_CHANNEL, /* a depthwise convolution of one input channel is a plain one */
    FORM_ROUNDED,     /* float32 constants: ONNX's rounding */
    FORM_QLINEAR,     /* as ONNX Runtime's QLinear operators have it */
    FORM_HALF_AWAY,   /* as LiteRT has it */
    FORM_COUNT
};

static const struct {
    struct host_op of[FORM_COUNT];
} rows[] = {
#define OPERATOR(code, name, columns) {.of = {columns}},
#define KERNEL(form, kernel, params, writer, args)                                                 \
    [FORM_##form] = {#kernel, #params, emit_##writer, HOST_##args},
#include "operators/operators.def"
};

static const struct host_op *row(enum ir_opcode opcode, enum form form)
{
    const struct host_op *h = &rows[opcode].of[form];

    return h->kernel != NULL ? h : NULL;
}

static const struct host_op *row_of_type(enum ir_opcode opcode, enum ir_type type)
{
    static const enum form forms[] = {
        [IR_I8] = FORM_I8,   [IR_U8] = FORM_U8,   [IR_I16] = FORM_ANY,  [IR_I32] = FORM_I32,
        [IR_I64] = FORM_I32, [IR_F32] = FORM_F32, [IR_BOOL] = FORM_BOOL};
    const struct host_op *h = row(opcode, forms[type]);

    return h ? h : row(opcode, FORM_ANY);
}

const char *emit_host_kernel(enum ir_opcode opcode)
{
    for (int form = 0; form < FORM_I16; form++)
        if (row(opcode, (enum form)form))
            return row(opcode, (enum form)form)->kernel;
    return NULL;
}

static const struct host_op *row_of_rounded(const struct ir_op *op)
{
    if (op->attr[IR_HALF_AWAY])
        return row(op->opcode, FORM_HALF_AWAY);
    if (op->attr[IR_QLINEAR] && row(op->opcode, FORM_QLINEAR))
        return row(op->opcode, FORM_QLINEAR);
    return row(op->opcode, FORM_ROUNDED);
}

static const struct host_op *row_of_i16(enum ir_opcode opcode, enum ir_type in, enum ir_type out)
{
    const enum form form = in == IR_F32 ? FORM_F32_TO_I16 : out == IR_I16 ? FORM_TO_I16 : FORM_I16;

    if (row(opcode, form))
        return row(opcode, form);
    return in == IR_I16 ? row(opcode, FORM_I16) : NULL;
}

const struct host_op *emit_host_row(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    const struct host_op *h = NULL;

    if (op->fixed.n_real && (op->opcode != IR_OP_QUANTIZE || x->type == IR_F32))
        return row_of_rounded(op);
    if (x->type == IR_I8 && ir_dim_back(x, 0) == 1)
        h = row(op->opcode, FORM_ONE_CHANNEL);
    if (!h && op->attr[IR_FROM_U8])
        h = row(op->opcode, FORM_WAS_U8);
    if (!h && (x->type == IR_I16 || y->type == IR_I16))
        h = row_of_i16(op->opcode, x->type, y->type);
    return h ? h : row_of_type(op->opcode, x->type);
}

const char *emit_host_kernel_of(const struct ir_graph *g, const struct ir_op *op)
{
    const struct host_op *h = emit_host_row(g, op);

    return h ? h->kernel : NULL;
}
