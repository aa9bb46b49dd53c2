/* wide_table.c - float32 functions of one tensor of int16, or of int8 into int16, as a table.
 * in: DEQUANTIZE, operators of one value or of values and numbers, QUANTIZE; one of both tensors is int16.
 * out: CAST to int32, GATHER from a constant: the results of codes 0, 1, .., then of the negative ones, which count from
 * the end. Each is computed by the host's kernels, so that it is the code that they would write. A table of 65,536 values is made
 * for LEAST_VALUES or more. */
#include <math.h>

#include "compiler/legalise/legalise.h"
#include "compiler/legalise/new_ops.h"
#include "kernels/hdk.h"

enum { LEAST_VALUES = 1024, MOST_DEPTH = 12 };

/* Find in *of the dequantised tensor that float32 `y` is a function of; false: it is none of one tensor. Numbers have none. */
static bool find_argument(const struct ir_graph *g, const struct ir_tensor *y, int depth,
                          const struct ir_tensor **of)
{
    const struct ir_op *op;

    if (y->role == IR_CONST)
        return y->type == IR_F32 && lgl_is_number(y);
    if (y->producer == IR_NONE || y->type != IR_F32 || depth == MOST_DEPTH)
        return false;
    op = g->op[y->producer];
    if (op->opcode == IR_OP_DEQUANTIZE) {
        if (*of && *of != y)
            return false;
        *of = y;
        return ir_in(g, op, 0)->role != IR_CONST;
    }
    if (ir_is_reshape(op))
        return find_argument(g, ir_in(g, op, 0), depth + 1, of);
    const uint32_t n = lgl_float_operands(op);
    for (uint32_t i = 0; i < n; i++)
        if (!find_argument(g, ir_in(g, op, i), depth + 1, of))
            return false;
    return n == 1 || n == 2;
}

/* Write the code of QUANTIZE of v to y, and return its place's end. */
static void put_code(const struct ir_op *quantize, const struct ir_tensor *y, float v, void *table,
                     uint32_t i)
{
    const struct hdk_quantize p = {.n = 1, .scale = y->quant.scale[0]};

    if (y->type == IR_I16)
        hdk_i16_quantize(&p, &v, (int16_t *)table + i);
    else
        ((int8_t *)table)[i] = lgl_quantized(quantize, y, v);
}

/* The table of `y`, QUANTIZE of `real`, for the codes of x, which DEQUANTIZE makes `of`. */
static uint32_t new_table(struct ir_graph *g, const struct ir_op *quantize,
                          const struct ir_tensor *x, const struct ir_tensor *of)
{
    const struct ir_tensor *y = ir_out(g, quantize, 0), *real = ir_in(g, quantize, 0);
    const int32_t half = x->type == IR_I16 ? 32768 : 128, n = 2 * half;
    uint8_t *table = arena_alloc(g->arena, (size_t)n * ir_type_bytes(y->type));

    for (int32_t i = 0; i < n; i++) {
        const int32_t code = i < half ? i : i - n;
        const float v = x->quant.scale[0] * (float)(code - x->quant.zero_point[0]);

        put_code(quantize, y, lgl_float_at(g, real, of, v), table, (uint32_t)i);
    }
    return lgl_constant_like(g, y, 1, &n, table)->id;
}

static void tabulate(struct ir_graph *g, struct ir_op *quantize, const struct ir_tensor *of)
{
    const struct ir_tensor *x = ir_in(g, g->op[of->producer], 0), *y = ir_out(g, quantize, 0);
    struct ir_tensor *index = ir_tensor_new(g, y->name, IR_I32, y->rank, y->dim);
    const uint32_t code = lgl_in_shape(g, quantize->row, x, y),
                   in[2] = {new_table(g, quantize, x, of), index->id};

    (void)lgl_make_cast(g, quantize->row, 1, &code, index);
    (void)lgl_make_gather(g, quantize->row, 2, in, ir_out(g, quantize, 0));
    quantize->dead = true;
}

static bool is_table(const struct ir_graph *g, const struct ir_op *quantize,
                     const struct ir_tensor **of)
{
    const struct ir_tensor *y = ir_out(g, quantize, 0), *x;

    *of = NULL;
    if (ir_in(g, quantize, 0)->type != IR_F32 ||
        !find_argument(g, ir_in(g, quantize, 0), 0, of) || !*of || *of == ir_in(g, quantize, 0))
        return false;
    x = ir_in(g, g->op[(*of)->producer], 0);
    return (x->type == IR_I16 || y->type == IR_I16) && x->type != IR_U8 && y->type != IR_U8 &&
           x->quant.n == 1 && ir_elements(x) == ir_elements(y) &&
           (x->type != IR_I16 || ir_elements(y) >= LEAST_VALUES);
}

enum status lgl_wide_table(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    uint32_t *row = lgl_rows(g);
    const uint32_t n_op = g->n_op;
    const struct ir_tensor *of;

    (void)o;
    for (uint32_t i = 0; i < n_op; i++) {
        struct ir_op *op = g->op[i];

        if (op->dead || op->opcode != IR_OP_QUANTIZE || op->fixed.n_real != 0 ||
            !is_table(g, op, &of))
            continue;
        row[op->in[0]] = op->row;
        tabulate(g, op, of);
    }
    lgl_fuse_unread(g, row);
    return ir_link(g, d);
}
