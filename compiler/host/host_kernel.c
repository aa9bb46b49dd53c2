/* host_kernel.c - see host_kernel.h. */
#include "host_kernel.h"

static const struct {
    const char *of[FORM_COUNT];
} kernels[] = {
#define OPERATOR(code, name, columns)              {.of = {columns}},
#define KERNEL(form, kernel, params, writer, args) [FORM_##form] = #kernel,
#include "operators/operators.def"
};

static bool has(enum ir_opcode opcode, enum kernel_form form)
{
    return kernels[opcode].of[form] != NULL;
}

static enum kernel_form form_of_type(enum ir_opcode opcode, enum ir_type type)
{
    static const enum kernel_form forms[] = {
        [IR_I8] = FORM_I8,   [IR_U8] = FORM_U8,   [IR_I16] = FORM_ANY,  [IR_I32] = FORM_I32,
        [IR_I64] = FORM_I32, [IR_F32] = FORM_F32, [IR_BOOL] = FORM_BOOL};

    return has(opcode, forms[type]) ? forms[type] : has(opcode, FORM_ANY) ? FORM_ANY : FORM_COUNT;
}

static enum kernel_form form_of_rounded(const struct ir_op *op)
{
    const enum kernel_form form = op->attr[IR_HALF_AWAY] ? FORM_HALF_AWAY
                                  : op->attr[IR_QLINEAR] && has(op->opcode, FORM_QLINEAR)
                                      ? FORM_QLINEAR
                                      : FORM_ROUNDED;

    return has(op->opcode, form) ? form : FORM_COUNT;
}

static enum kernel_form form_of_i16(enum ir_opcode opcode, enum ir_type in, enum ir_type out)
{
    const enum kernel_form form = in == IR_F32    ? FORM_F32_TO_I16
                                  : out != IR_I16 ? FORM_I16
                                  : in == IR_I8   ? FORM_I8_TO_I16
                                                  : FORM_TO_I16;

    if (has(opcode, form))
        return form;
    return in == IR_I16 && has(opcode, FORM_I16) ? FORM_I16 : FORM_COUNT;
}

/* Return true if flipping the top bit of each byte leaves its real value unchanged. */
static bool flips(const struct ir_op *op, const struct ir_tensor *x, const struct ir_tensor *y)
{
    const bool down = x->type == IR_U8 && y->type == IR_I8;
    const int32_t less = down ? 128 : -128;

    return has(op->opcode, FORM_FLIP) && (down || (x->type == IR_I8 && y->type == IR_U8)) &&
           x->quant.n == 1 && y->quant.n == 1 && x->quant.scale[0] == y->quant.scale[0] &&
           ir_zero_point(x) - less == ir_zero_point(y) &&
           op->fixed.act_min == (down ? INT8_MIN : 0) &&
           op->fixed.act_max == (down ? INT8_MAX : UINT8_MAX);
}

enum kernel_form host_kernel_form(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    enum kernel_form form = FORM_COUNT;

    if (op->attr[IR_HALVES])
        return FORM_COUNT; /* the array's alone */
    if (op->fixed.n_real && (op->opcode != IR_OP_QUANTIZE || x->type == IR_F32))
        return form_of_rounded(op);
    if (x->type == IR_I8 && ir_dim_back(x, 0) == 1 && has(op->opcode, FORM_ONE_CHANNEL))
        return FORM_ONE_CHANNEL;
    if (flips(op, x, y))
        return FORM_FLIP;
    if (op->attr[IR_FROM_U8] && has(op->opcode, FORM_WAS_U8))
        return FORM_WAS_U8;
    if (x->type == IR_I16 || y->type == IR_I16)
        form = form_of_i16(op->opcode, x->type, y->type);
    return form < FORM_COUNT ? form : form_of_type(op->opcode, x->type);
}

const char *host_kernel_of(const struct ir_graph *g, const struct ir_op *op)
{
    const enum kernel_form form = host_kernel_form(g, op);

    return form < FORM_COUNT ? kernels[op->opcode].of[form] : NULL;
}

const char *host_kernel(enum ir_opcode opcode)
{
    for (int form = 0; form < FORM_I16; form++)
        if (has(opcode, (enum kernel_form)form))
            return kernels[opcode].of[form];
    return NULL;
}

bool host_dequantize_looks_up(const struct ir_tensor *x)
{
    return x->type != IR_I16 && ir_elements(x) >= 256;
}
