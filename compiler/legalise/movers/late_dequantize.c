/* late_dequantize.c - push DEQUANTIZE after movers of its values, and QUANTIZE before: bytes are
 * moved, and the operators between become a table (float_table.c). in: DEQUANTIZE of int8 whose
 * readers all move it (SPLIT, RESHAPE, TRANSPOSE, ..) or choose from it (REDUCE_MAX); QUANTIZE of what is
 * moved, or joined, for it alone (rotary embeddings).  out: they move the int8 values; a DEQUANTIZE each
 * after them, a QUANTIZE of each part. */
#include "compiler/legalise/legalise.h"
#include "compiler/legalise/new_ops.h"

static bool pads(const struct ir_op *op)
{
    return op->opcode == IR_OP_PAD;
}

/* Return true for an operator of one tensor of data, whose values are the output's. */
static bool moves_one(const struct ir_op *op)
{
    const struct ir_op_info *info = ir_op_info(op->opcode);

    return (info->moves && !pads(op) && op->opcode != IR_OP_CONCATENATION) || info->chooses;
}

static bool all_move(const struct ir_graph *g, uint32_t tensor)
{
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in; k++)
            if (!g->op[i]->dead && g->op[i]->in[k] == tensor && (k > 0 || !moves_one(g->op[i])))
                return false;
    return !g->tensor[tensor]->is_output;
}

/* `op` moves bytes from x to y. */
static void move_bytes(struct ir_op *op, const struct ir_tensor *x, struct ir_tensor *y)
{
    op->in[0] = x->id;
    op->out[0] = y->id;
    y->producer = op->id;
    op->fixed.act_min = INT8_MIN;
    op->fixed.act_max = INT8_MAX;
}

/* Let the operator move x instead of its values through `from`. */
static void move_quantised(struct ir_graph *g, struct ir_op *op, const struct ir_op *from)
{
    const struct ir_tensor *x = ir_in(g, from, 0);
    struct ir_tensor *y = ir_out(g, op, 0);
    struct ir_tensor *quantised = ir_tensor_new(g, y->name, IR_I8, y->rank, y->dim);

    quantised->quant = x->quant;
    move_bytes(op, x, quantised);
    (void)lgl_make_dequantize(g, from->row, 1, &quantised->id, y);
}

static bool dequantizes(const struct ir_graph *g, const struct ir_op *op)
{
    return ir_dequantises_i8(g, op) && ir_in(g, op, 0)->role != IR_CONST;
}

/* A PAD with zeros or a constant number. */
static bool pads_number(const struct ir_graph *g, const struct ir_op *op)
{
    return pads(op) && (op->n_in == 2 || ir_in(g, op, 2)->role == IR_CONST);
}

/* Return true if what `op` moves may be quantised first: a constant, what it alone reads of what is computed, or an
 * input of the network all of which it moves, for LOAD may quantise it. */
static bool is_quantised_first(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0);

    if (x->type != IR_F32)
        return false;
    if (x->role == IR_CONST)
        return !pads(op);
    if (x->is_output || ir_uses(g, x->id) != 1)
        return false;
    return x->producer != IR_NONE ||
           (x->role == IR_INPUT && ir_elements(x) <= ir_elements(ir_out(g, op, 0)));
}

/* The mover whose float32 result only QUANTIZE reads; NULL: none. */
static struct ir_op *moved_before(const struct ir_graph *g, const struct ir_op *quantize)
{
    const struct ir_tensor *x = ir_in(g, quantize, 0);
    struct ir_op *op = x->producer == IR_NONE ? NULL : g->op[x->producer];

    if (!op || op->dead || !(moves_one(op) || pads_number(g, op)) || x->is_output ||
        ir_uses(g, x->id) != 1 || !is_quantised_first(g, op))
        return NULL;
    return op;
}

/* PAD's number becomes one of y's. */
static void quantize_number(struct ir_graph *g, const struct ir_op *quantize, struct ir_op *pad,
                            const struct ir_tensor *y)
{
    const float *v = (const float *)(const void *)ir_in(g, pad, 2)->data;
    const int8_t code = lgl_quantized(quantize, y, *v);
    struct ir_tensor *number = lgl_new_constant(g, "", IR_I8, 1, (const int32_t[]){1}, &code);

    number->quant = y->quant;
    pad->in[2] = number->id;
}

/* The mover moves values of a constant that are quantised already. */
static void quantize_table(struct ir_graph *g, struct ir_op *quantize, struct ir_op *move)
{
    const struct ir_tensor *x = ir_in(g, move, 0);
    struct ir_tensor *y = ir_out(g, quantize, 0);
    struct ir_tensor *table = lgl_new_constant(g, x->name, IR_I8, x->rank, x->dim, NULL);

    for (uint64_t i = 0; i < ir_elements(x); i++)
        ((int8_t *)(uintptr_t)table->data)[i] =
            lgl_quantized(quantize, y, ((const float *)(const void *)x->data)[i]);
    table->quant = y->quant;
    move_bytes(move, table, y);
    quantize->dead = true;
}

/* QUANTIZE comes before movers. */
static void quantize_early(struct ir_graph *g, struct ir_op *quantize)
{
    struct ir_op *move;

    while ((move = moved_before(g, quantize)) != NULL) {
        const struct ir_tensor *x = ir_in(g, move, 0);
        struct ir_tensor *y = ir_out(g, quantize, 0);

        if (x->role == IR_CONST) {
            quantize_table(g, quantize, move);
            return;
        }
        struct ir_tensor *quantised = ir_tensor_new(g, y->name, IR_I8, x->rank, x->dim);
        quantised->quant = y->quant;
        if (pads(move) && move->n_in == 3)
            quantize_number(g, quantize, move, y);
        quantize->in[0] = x->id;
        quantize->out[0] = quantised->id;
        move_bytes(move, quantised, y);
    }
}

/* The CONCATENATION whose float32 result QUANTIZE alone reads, or NULL. */
static struct ir_op *joined_before(const struct ir_graph *g, const struct ir_op *quantize)
{
    const struct ir_tensor *x = ir_in(g, quantize, 0);
    struct ir_op *op = x->producer == IR_NONE ? NULL : g->op[x->producer];

    if (!op || op->dead || op->opcode != IR_OP_CONCATENATION || x->is_output ||
        ir_uses(g, x->id) != 1)
        return NULL;
    return op;
}

/* Parts are quantised, then joined. */
static void quantize_parts(struct ir_graph *g, struct ir_op *quantize, struct ir_op *join)
{
    struct ir_tensor *y = ir_out(g, quantize, 0);

    for (uint32_t i = 0; i < join->n_in; i++) {
        const struct ir_tensor *x = ir_in(g, join, i);
        struct ir_tensor *quantised = ir_tensor_new(g, y->name, IR_I8, x->rank, x->dim);

        quantised->quant = y->quant;
        (void)lgl_again(g, quantize, x, quantised);
        join->in[i] = quantised->id;
    }
    join->out[0] = y->id;
    join->fixed.act_min = INT8_MIN;
    join->fixed.act_max = INT8_MAX;
    y->producer = join->id;
    quantize->dead = true;
}

/* Return true for a number, or a function of one int8 tensor, which becomes a table. */
static bool is_choice(const struct ir_graph *g, const struct ir_tensor *x)
{
    return x->role == IR_CONST ? lgl_is_number(x)
                               : x->producer != IR_NONE && dequantizes(g, g->op[x->producer]);
}

static const struct ir_tensor *quantised_choice(struct ir_graph *g, const struct ir_op *quantize,
                                                const struct ir_tensor *x)
{
    const struct ir_tensor *y = ir_out(g, quantize, 0);
    struct ir_tensor *t;

    if (x->role == IR_CONST) {
        const int8_t code = lgl_quantized(quantize, y, *(const float *)(const void *)x->data);

        t = lgl_new_constant(g, "", IR_I8, 1, (const int32_t[]){1}, &code);
    } else {
        t = ir_tensor_new(g, y->name, IR_I8, x->rank, x->dim);
        (void)lgl_again(g, quantize, x, t);
    }
    t->quant = y->quant;
    return t;
}

/* Quantise what a SELECT chooses from before it. */
static void quantize_choices(struct ir_graph *g, struct ir_op *quantize)
{
    const struct ir_tensor *x = ir_in(g, quantize, 0);
    struct ir_op *op = x->producer == IR_NONE ? NULL : g->op[x->producer];

    if (!op || lgl_float_operands(op) != 3 || x->is_output || ir_uses(g, x->id) != 1 ||
        !is_choice(g, ir_in(g, op, 1)) || !is_choice(g, ir_in(g, op, 2)))
        return;
    for (uint32_t i = 1; i < 3; i++)
        op->in[i] = quantised_choice(g, quantize, ir_in(g, op, i))->id;
    op->out[0] = quantize->out[0];
    op->fixed = quantize->fixed;
    op->fixed.n_real = 0;
    quantize->dead = true;
}

/* New operators come last and are seen too. */
enum status lgl_late_dequantize(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    (void)o;
    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *op = g->op[i];

        if (!dequantizes(g, op) || ir_uses(g, op->out[0]) == 0 || !all_move(g, op->out[0]))
            continue;
        for (uint32_t k = 0; k < g->n_op; k++)
            if (!g->op[k]->dead && g->op[k]->n_in > 0 && g->op[k]->in[0] == op->out[0])
                move_quantised(g, g->op[k], op);
        op->dead = true;
    }
    TRY(ir_link(g, d));
    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *op = g->op[i], *join;

        if (op->dead || op->opcode != IR_OP_QUANTIZE || ir_in(g, op, 0)->type != IR_F32 ||
            ir_out(g, op, 0)->type != IR_I8)
            continue;
        quantize_early(g, op);
        if (!op->dead && (join = joined_before(g, op)) != NULL)
            quantize_parts(g, op, join);
        if (!op->dead)
            quantize_choices(g, op);
    }
    return ir_link(g, d);
}
