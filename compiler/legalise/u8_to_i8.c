/* u8_to_i8.c - uint8 becomes int8: the top bit is flipped, the zero point loses 128.
 * in: tensors of both types.  out: uint8 only at graph inputs and outputs, where a QUANTIZE with
 * multiplier 1 (exact) flips the bit. Weights keep their distance from their zero point, so that
 * `w - z_w` is the same 9-bit number as before. */
#include <string.h>

#include "legalise.h"
#include "new_ops.h"

/* The same real values as int8. */
static void make_signed(struct ir_graph *g, struct ir_tensor *t)
{
    int32_t *zero_point = ARENA_ARRAY(g->arena, int32_t, t->quant.n);

    for (uint32_t i = 0; i < t->quant.n; i++)
        zero_point[i] = t->quant.zero_point[i] - 128;
    t->quant.zero_point = zero_point;
    t->type = IR_I8;
    if (t->role == IR_VARIABLE && t->data == NULL) /* code 0, as uint8 */
        t->data = arena_alloc(g->arena, (size_t)ir_bytes(t));
    if (t->data != NULL) {
        const size_t n = (size_t)ir_bytes(t);
        uint8_t *data = arena_memdup(g->arena, t->data, n);

        for (size_t i = 0; i < n; i++)
            data[i] ^= 0x80;
        t->data = data;
    }
}

static struct ir_tensor *int8_copy(struct ir_graph *g, const struct ir_tensor *t)
{
    struct ir_tensor *copy = ir_tensor_new(g, t->name, t->type, t->rank, t->dim);

    copy->quant = t->quant;
    make_signed(g, copy);
    return copy;
}

static void replace_reads(struct ir_graph *g, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in; k++)
            if (g->op[i]->in[k] == from)
                g->op[i]->in[k] = to;
}

/* Plain numbers, which CAST makes and reads, are quantised values of scale 1. */
static void give_scale(struct ir_graph *g, struct ir_tensor *t)
{
    if (t->quant.n == 0)
        t->quant = lgl_new_quant(g, 1, 0);
}

/* Operators that compute with the uint8 value itself. */
static void mark_u8(struct ir_graph *g)
{
    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *op = g->op[i];

        if (op->opcode != IR_OP_CAST && op->opcode != IR_OP_RESIZE_BILINEAR)
            continue;
        if (ir_in(g, op, 0)->type == IR_U8)
            op->attr[IR_FROM_U8] = 1;
        if (op->opcode == IR_OP_CAST && ir_out(g, op, 0)->type == IR_U8)
            op->attr[IR_TO_U8] = 1;
    }
}

/* from -> QUANTIZE -> to, equal scales: MBQM(x, 2^30, 1) is x. */
static void add_flip(struct ir_graph *g, uint32_t row, const struct ir_tensor *from,
                     const struct ir_tensor *to)
{
    struct ir_op *op = ir_make_quantize(g, row, 1, 1);

    op->in[0] = from->id;
    op->out[0] = to->id;
    lgl_set_scales(g, op, 1, &(struct lgl_fixed_scale){1 << 30, 1});
    lgl_clamp(to, ir_fused_bounds(op), LGL_ROUND_TFLITE, &op->fixed.act_min, &op->fixed.act_max);
}

/* IR_NONE if no operator reads the tensor. */
static uint32_t first_reader_row(const struct ir_graph *g, uint32_t id)
{
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in; k++)
            if (g->op[i]->in[k] == id)
                return g->op[i]->row;
    return IR_NONE;
}

static void flip_input(struct ir_graph *g, struct ir_tensor *t)
{
    const uint32_t row = first_reader_row(g, t->id);

    if (row == IR_NONE)
        return;

    const struct ir_tensor *copy = int8_copy(g, t);

    replace_reads(g, t->id, copy->id);
    add_flip(g, row, t, copy);
}

static void flip_output(struct ir_graph *g, struct ir_tensor *t)
{
    struct ir_op *producer = g->op[t->producer];
    const struct ir_tensor *copy = int8_copy(g, t);

    replace_reads(g, t->id, copy->id);
    for (uint32_t k = 0; k < producer->n_out; k++)
        if (producer->out[k] == t->id)
            producer->out[k] = copy->id;
    add_flip(g, producer->row, copy, t);
}

/* Clamps follow the type of the output. */
static void shift_clamps(struct ir_graph *g)
{
    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *op = g->op[i];

        if (ir_out(g, op, 0)->type != IR_U8)
            continue;
        op->fixed.act_min -= 128;
        op->fixed.act_max -= 128;
        if (op->opcode == IR_OP_AVERAGE_POOL2D)
            op->attr[IR_ROUND_UP] = 1;
    }
}

enum status lgl_u8_to_i8(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    const uint32_t n_tensor = g->n_tensor;

    (void)o;
    shift_clamps(g);
    mark_u8(g);
    for (uint32_t i = 0; i < n_tensor; i++) {
        struct ir_tensor *t = g->tensor[i];

        if (t->type != IR_U8)
            continue;
        give_scale(g, t);
        if (t->role == IR_INPUT)
            flip_input(g, t);
        else if (t->is_output)
            flip_output(g, t);
        else
            make_signed(g, t);
    }
    return ir_link(g, d);
}
