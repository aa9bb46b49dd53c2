/* quant_split.c - rewrite the graph in operators that ONNX has on quantised values. A
 * SQUARED_DIFFERENCE becomes a SUB and a MUL. Keras' layer normalisation,
 * x * (gamma / deviation) + (beta - mean * (gamma / deviation)),
 * of a number of values that the compiler accepts (docs/ONNX.md, 9.), becomes ONNX's,
 * (x - mean) / deviation * gamma + beta. */
#include <string.h>

#include "compiler/ir/formula.h"
#include "quant_own.h"

enum { LEAST = 64, MOST = 1016 };

/* --- Keras' layer normalisation --- */

/* Operators in the order of the formula. */
enum { SUM, SCALED, SCALE, INVERSE, POSITIVE, VARIANCE, SQUARE, MEAN, LEFT, SHIFT, NORM };

struct norm {
    struct ir_op *op[NORM];
    uint32_t gamma, beta; /* IR_NONE if absent */
};

/* Find the normalisation whose last operator is `last`. */
static bool find_norm(const struct ir_graph *g, const struct ir_op *last, struct norm *found)
{
    struct ir_match m = {.g = g};

    if (!ir_match(
            &m, last->out[0],
            "add(mul(x, s = mul(rsqrt(add(mean(squared_difference(x, m = mean(x))), #e)), #g)),"
            "    sub(#b, mul(m, s)))"))
        return false;
    const int32_t n = ir_dim_back(g->tensor[ir_matched(&m, 'x')], 0);

    for (uint32_t i = SUM + 1; i < NORM; i++)
        if (ir_out(g, m.op[i], 0)->is_output)
            return false;
    memcpy(found->op, m.op, sizeof found->op);
    found->gamma = ir_matched(&m, 'g');
    found->beta = ir_matched(&m, 'b');
    return n >= LEAST && n <= MOST && ir_uses(g, ir_matched(&m, 'm')) == 2 &&
           ir_uses(g, ir_matched(&m, 's')) == 2 && ir_uses(g, m.op[INVERSE]->out[0]) == 1;
}

static void become(struct ir_op *op, enum ir_opcode opcode, uint32_t a, uint32_t b)
{
    op->opcode = opcode;
    op->in[0] = a;
    if (op->n_in > 1)
        op->in[1] = b;
}

/* Write the normalisation. The square has been split: `part` is the result of its SUB. */
static void make_norm(const struct norm *n, uint32_t part)
{
    struct ir_op *const *o = n->op;

    become(o[SQUARE], IR_OP_SUB, o[MEAN]->in[0], o[MEAN]->out[0]);
    become(o[INVERSE], IR_OP_SQRT, o[POSITIVE]->out[0], 0);
    become(o[SCALE], IR_OP_DIV, part, o[INVERSE]->out[0]);
    become(o[SCALED], IR_OP_MUL, o[SCALE]->out[0], n->gamma);
    become(o[SUM], IR_OP_ADD, o[SCALED]->out[0], n->beta);
    o[SHIFT]->dead = o[LEFT]->dead = true;
}

/* --- squares --- */

/* Replace operator `at` by a SUB and insert the MUL after it; return the SUB's result. */
static uint32_t split(struct ir_graph *g, uint32_t at)
{
    struct ir_op *op = g->op[at];
    const struct ir_tensor *y = ir_out(g, op, 0);
    const struct ir_tensor *part =
        ir_tensor_new(g, arena_printf(g->arena, "%s/difference", y->name), IR_F32, y->rank, y->dim);
    struct ir_op *square = ir_make_mul(g, op->row, 2, 1);

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
    const uint32_t n = g->n_op;
    struct norm *norm = ARENA_ARRAY(a, struct norm, n + 1), found; /* by its SQUARED_DIFFERENCE */

    *to = g;
    for (uint32_t i = 0; i < n; i++)
        if (find_norm(g, g->op[i], &found))
            norm[found.op[SQUARE]->id] = found;
    for (uint32_t i = n; i-- > 0;) {
        if (g->op[i]->opcode != IR_OP_SQUARED_DIFFERENCE || ir_out(g, g->op[i], 0)->type != IR_F32)
            continue;
        const uint32_t part = split(g, i);

        if (norm[i].op[SUM])
            make_norm(&norm[i], part);
    }
    return ir_link(g, d);
}
