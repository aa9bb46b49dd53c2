/* wide_table.c - float32 functions of one tensor of int16, or of int8 into int16, as a table.
 * in: DEQUANTIZE, operators of one value or of values and numbers, QUANTIZE; one of both tensors is int16.
 * out: CAST to int32, GATHER from a constant: the results of 0, 1, .., then of the negative values, which count from
 * the end. Each is computed by the host's kernels, so that it has the bytes that they would write. A table of 65,536 values is made
 * for LEAST_VALUES or more. */
#include <math.h>

#include "compiler/legalise/legalise.h"
#include "compiler/legalise/new_ops.h"
#include "kernels/hdk.h"

enum { LEAST_VALUES = 1024, MOST_DEPTH = 12 };

/* Return true for DEQUANTIZE: it keeps values, as CAST does, which has attributes. */
static bool dequantises(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_op_info *info = ir_op_info(op->opcode);

    return info->keeps_values && info->attributes == NULL && ir_is_code(ir_in(g, op, 0)->type) &&
           ir_out(g, op, 0)->type == IR_F32;
}

/* The tensor that has the values of quantised `x` as they are stored first, in any scale and shape. */
static const struct ir_tensor *stored_first(const struct ir_graph *g, const struct ir_tensor *x)
{
    while (x->producer != IR_NONE && ir_is_reshape(g->op[x->producer]))
        x = ir_in(g, g->op[x->producer], 0);
    return x;
}

/* Find in *of the quantised tensor that float32 `y` is a function of; false: it is none of one tensor. Numbers have none. */
static bool find_argument(const struct ir_graph *g, const struct ir_tensor *y, int depth,
                          const struct ir_tensor **of)
{
    const struct ir_op *op;

    if (y->role == IR_CONST)
        return y->type == IR_F32 && lgl_is_number(y);
    if (y->producer == IR_NONE || y->type != IR_F32 || depth == MOST_DEPTH)
        return false;
    op = g->op[y->producer];
    if (dequantises(g, op)) {
        const struct ir_tensor *x = stored_first(g, ir_in(g, op, 0));

        if (*of && *of != x)
            return false;
        *of = x;
        return x->role != IR_CONST && ir_in(g, op, 0)->quant.n == 1;
    }
    if (ir_is_reshape(op))
        return find_argument(g, ir_in(g, op, 0), depth + 1, of);
    const uint32_t n = lgl_float_operands(op);
    for (uint32_t i = 0; i < n; i++)
        if (!find_argument(g, ir_in(g, op, i), depth + 1, of))
            return false;
    return n == 1 || n == 2;
}

/* The number that float32 `y` is where the quantised value is `code`. */
static float value_at(const struct ir_graph *g, const struct ir_tensor *y, int32_t code)
{
    const struct ir_op *op = y->role == IR_CONST ? NULL : g->op[y->producer];
    float x[2] = {0, 0};

    if (!op)
        return *(const float *)(const void *)y->data;
    if (dequantises(g, op)) {
        const struct ir_quant *q = &ir_in(g, op, 0)->quant;

        return q->scale[0] * (float)(code - q->zero_point[0]);
    }
    if (ir_is_reshape(op))
        return value_at(g, ir_in(g, op, 0), code);
    for (uint32_t i = 0; i < lgl_float_operands(op); i++)
        x[i] = value_at(g, ir_in(g, op, i), code);
    return lgl_float_applied(op, x);
}

/* Write the code that QUANTIZE into y makes of v, entry i of the table. */
static void put_code(const struct ir_op *quantize, const struct ir_tensor *y, float v, void *table,
                     uint32_t i)
{
    const struct hdk_quantize p = {.n = 1, .scale = y->quant.scale[0]};

    if (y->type == IR_I16)
        hdk_i16_quantize(&p, &v, (int16_t *)table + i);
    else
        ((int8_t *)table)[i] = lgl_quantized(quantize, y, v);
}

/* The table of QUANTIZE's results for each quantised value of x. */
static uint32_t new_table(struct ir_graph *g, const struct ir_op *quantize,
                          const struct ir_tensor *x)
{
    const struct ir_tensor *y = ir_out(g, quantize, 0), *real = ir_in(g, quantize, 0);
    const int32_t half = x->type == IR_I16 ? 32768 : 128, n = 2 * half;
    uint8_t *table = arena_alloc(g->arena, (size_t)n * ir_type_bytes(y->type));

    for (int32_t i = 0; i < n; i++) {
        const int32_t code = i < half ? i : i - n;

        put_code(quantize, y, value_at(g, real, code), table, (uint32_t)i);
    }
    return lgl_constant_like(g, y, 1, &n, table)->id;
}

static void tabulate(struct ir_graph *g, struct ir_op *quantize, const struct ir_tensor *x)
{
    const struct ir_tensor *y = ir_out(g, quantize, 0);
    struct ir_tensor *index = ir_tensor_new(g, y->name, IR_I32, y->rank, y->dim);
    const uint32_t code = lgl_in_shape(g, quantize->row, x, y),
                   in[2] = {new_table(g, quantize, x), index->id};

    (void)lgl_make_cast(g, quantize->row, 1, &code, index);
    (void)lgl_make_gather(g, quantize->row, 2, in, ir_out(g, quantize, 0));
    quantize->dead = true;
}

/* Return the quantised tensor whose function `quantize` makes, or NULL. */
static const struct ir_tensor *tabulated(const struct ir_graph *g, const struct ir_op *quantize)
{
    const struct ir_tensor *y = ir_out(g, quantize, 0), *x = NULL;
    const struct ir_tensor *real = ir_in(g, quantize, 0);

    if (real->type != IR_F32 || !find_argument(g, real, 0, &x) || !x)
        return NULL;
    if ((x->type == IR_I16 || y->type == IR_I16) && x->type != IR_U8 && y->type != IR_U8 &&
        x->quant.n == 1 && ir_elements(x) == ir_elements(y) &&
        (x->type != IR_I16 || ir_elements(y) >= LEAST_VALUES))
        return x;
    return NULL;
}

enum status lgl_wide_table(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    uint32_t *row = lgl_rows(g);
    const uint32_t n_op = g->n_op;

    (void)o;
    for (uint32_t i = 0; i < n_op; i++) {
        struct ir_op *op = g->op[i];

        const struct ir_tensor *x = NULL;

        if (!op->dead && op->opcode == IR_OP_QUANTIZE && op->fixed.n_real == 0)
            x = tabulated(g, op);
        if (!x)
            continue;
        row[op->in[0]] = op->row;
        tabulate(g, op, x);
    }
    lgl_fuse_unread(g, row);
    return ir_link(g, d);
}
