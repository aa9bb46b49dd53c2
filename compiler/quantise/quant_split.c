/* quant_split.c - the graph in operators that ONNX has on quantised values: a SQUARED_DIFFERENCE
 * becomes a SUB and a MUL, and Keras' layer normalisation,
 *     x * (gamma / deviation) + (beta - mean * (gamma / deviation)),
 * of as many values as the compiler takes (docs/ONNX.md, 9.), that of ONNX,
 *     (x - mean) / deviation * gamma + beta. */
#include <string.h>

#include "quant_own.h"

enum { LEAST = 64, MOST = 1016 };

/* --- Keras' layer normalisation --- */

enum { MEAN, SQUARE, VARIANCE, POSITIVE, INVERSE, SCALE, SCALED, SHIFT, LEFT, SUM, NORM };

static bool reads(const struct ir_op *op, uint32_t a, uint32_t b)
{
    return op->n_in == 2 &&
           ((op->in[0] == a && op->in[1] == b) || (op->in[0] == b && op->in[1] == a));
}

/* The operand of `op` that is not `a`; a constant, or NULL. */
static const struct ir_tensor *constant_with(const struct ir_graph *g, const struct ir_op *op,
                                             uint32_t a)
{
    const struct ir_tensor *t = ir_in(g, op, op->in[0] == a ? 1 : 0);

    return t && (op->in[0] == a || op->in[1] == a) && t->role == IR_CONST ? t : NULL;
}

static bool is_norm(const struct ir_graph *g, struct ir_op *const *o)
{
    static const enum ir_opcode wanted[NORM] = {IR_OP_MEAN,  IR_OP_SQUARED_DIFFERENCE,
                                                IR_OP_MEAN,  IR_OP_ADD,
                                                IR_OP_RSQRT, IR_OP_MUL,
                                                IR_OP_MUL,   IR_OP_MUL,
                                                IR_OP_SUB,   IR_OP_ADD};
    const uint32_t x = o[MEAN]->in[0], mean = o[MEAN]->out[0], scale = o[SCALE]->out[0];
    const int32_t n = ir_dim_back(g->tensor[x], 0);

    for (int i = 0; i < NORM; i++)
        if (o[i]->opcode != wanted[i] || (i < SUM && ir_out(g, o[i], 0)->is_output))
            return false;
    return n >= LEAST && n <= MOST && reads(o[SQUARE], x, mean) &&
           o[VARIANCE]->in[0] == o[SQUARE]->out[0] &&
           constant_with(g, o[POSITIVE], o[VARIANCE]->out[0]) &&
           o[INVERSE]->in[0] == o[POSITIVE]->out[0] &&
           constant_with(g, o[SCALE], o[INVERSE]->out[0]) && reads(o[SCALED], x, scale) &&
           reads(o[SHIFT], mean, scale) && o[LEFT]->in[1] == o[SHIFT]->out[0] &&
           ir_in(g, o[LEFT], 0)->role == IR_CONST &&
           reads(o[SUM], o[SCALED]->out[0], o[LEFT]->out[0]) && ir_uses(g, mean) == 2 &&
           ir_uses(g, scale) == 2 && ir_uses(g, o[INVERSE]->out[0]) == 1;
}

static void become(struct ir_op *op, enum ir_opcode opcode, uint32_t a, uint32_t b)
{
    op->opcode = opcode;
    op->in[0] = a;
    if (op->n_in > 1)
        op->in[1] = b;
}

/* SQUARE is SUB by now, with its result `part`. */
static void make_norm(const struct ir_graph *g, struct ir_op *const *o, uint32_t part)
{
    const uint32_t gamma = constant_with(g, o[SCALE], o[INVERSE]->out[0])->id;
    const uint32_t beta = o[LEFT]->in[0];

    become(o[SQUARE], IR_OP_SUB, o[MEAN]->in[0], o[MEAN]->out[0]);
    become(o[INVERSE], IR_OP_SQRT, o[POSITIVE]->out[0], 0);
    become(o[SCALE], IR_OP_DIV, part, o[INVERSE]->out[0]);
    become(o[SCALED], IR_OP_MUL, o[SCALE]->out[0], gamma);
    become(o[SUM], IR_OP_ADD, o[SCALED]->out[0], beta);
    o[SHIFT]->dead = o[LEFT]->dead = true;
}

/* --- squares --- */

/* The SUB in place of operator `at`, and the MUL after it; returns the SUB's result. */
static uint32_t split(struct ir_graph *g, uint32_t at)
{
    struct ir_op *op = g->op[at];
    const struct ir_tensor *y = ir_out(g, op, 0);
    const struct ir_tensor *part =
        ir_tensor_new(g, arena_printf(g->arena, "%s/difference", y->name), IR_F32, y->rank, y->dim);
    struct ir_op *square = ir_op_new(g, IR_OP_MUL, op->row, 2, 1);

    memmove(g->op + at + 2, g->op + at + 1, (g->n_op - at - 2) * sizeof(struct ir_op *));
    g->op[at + 1] = square;
    square->in[0] = square->in[1] = part->id;
    square->out[0] = op->out[0];
    op->opcode = IR_OP_SUB;
    op->out[0] = part->id;
    return part->id;
}

enum status quant_split(struct arena *a, const struct ir_graph *from, struct ir_graph **to,
                        struct diag *d)
{
    struct ir_graph *g = ir_copy(a, from);

    *to = g;
    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *o[NORM];
        bool norm = false;

        if (g->op[i]->opcode != IR_OP_SQUARED_DIFFERENCE || ir_out(g, g->op[i], 0)->type != IR_F32)
            continue;
        if (i >= SQUARE && i - SQUARE + NORM <= g->n_op) {
            memcpy(o, g->op + i - SQUARE, sizeof o);
            norm = is_norm(g, o);
        }
        const uint32_t part = split(g, i);

        if (norm)
            make_norm(g, o, part);
    }
    return ir_link(g, d);
}
