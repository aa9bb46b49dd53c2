/* onnx_layer_norm.c - LayerNormalization, or the operators that exporters write in its place,
 * between DequantizeLinear and QuantizeLinear. in: the imported graph: DEQUANTIZE, MEAN, SUB,
 * MUL by itself, MEAN, ADD, SQRT, DIV, MUL, ADD, QUANTIZE. out: LAYER_NORM of the quantised
 * values, where docs/ONNX.md's rule allows; operators without readers go. */
#include <math.h>

#include <string.h>

#include "compiler/ir/formula.h"
#include "onnx_import.h"

struct layer_norm {
    const struct ir_op *last; /* before QUANTIZE */
    const struct ir_tensor *x, *gamma, *beta;
    float epsilon;
    bool uncentred; /* no mean is taken from x */
};

/* Without a clamp of its own; a mean is over the innermost dimension alone. */
static bool takes(const struct ir_match *m, const struct ir_op *op)
{
    if (ir_op_info(op->opcode)->fuses_clamp && op->attr[IR_ACTIVATION] != IR_ACT_NONE)
        return false;
    return !ir_op_has(op->opcode, IR_KEEP_DIMS) ||
           (op->attr[IR_KEEP_DIMS] != 0 &&
            op->attr[IR_AXIS] == 1 << (ir_in(m->g, op, 0)->rank - 1));
}

/* A float32 constant of n values along the innermost dimension. */
static bool has_values(const struct ir_tensor *t, int32_t n)
{
    return t->type == IR_F32 && ir_elements(t) == (uint64_t)n && (n == 1 || ir_dim_back(t, 0) == n);
}

static bool is_number(const struct ir_tensor *t, float v)
{
    return has_values(t, 1) && *(const float *)(const void *)t->data == v;
}

/* With a mean and beta, with a mean, without both, with a reciprocal. */
static bool matches(const struct ir_graph *g, const struct ir_op *quantize, struct layer_norm *n)
{
#define SCALED "mul(div(d = sub(x = dequantize(q), mean(x)), sqrt(add(mean(mul(d, d)), #e))), #g)"
#define ROOT   "sqrt(add(mean(mul(x, x)), #e))"
    static const char *const formula[] = {"add(" SCALED ", #b)", SCALED,
                                          "mul(div(x = dequantize(q), " ROOT "), #g)",
                                          "mul(mul(x = dequantize(q), div(#o, " ROOT ")), #g)"};
#undef SCALED
#undef ROOT
    const int32_t c = ir_dim_back(ir_out(g, quantize, 0), 0);
    struct ir_match m = {.g = g, .takes = takes};
    uint32_t k = 0;

    while (k < 4 && !ir_match(&m, quantize->in[0], formula[k]))
        k++;
    if (k == 4 || (k == 3 && !is_number(g->tensor[ir_matched(&m, 'o')], 1)))
        return false;
    const struct ir_tensor *epsilon = g->tensor[ir_matched(&m, 'e')];
    *n = (struct layer_norm){.last = m.op[0],
                             .x = g->tensor[ir_matched(&m, 'q')],
                             .gamma = g->tensor[ir_matched(&m, 'g')],
                             .beta = k == 0 ? g->tensor[ir_matched(&m, 'b')] : NULL,
                             .uncentred = k > 1};
    if (!has_values(epsilon, 1) || !has_values(n->gamma, c) || (n->beta && !has_values(n->beta, c)))
        return false;
    n->epsilon = *(const float *)(const void *)epsilon->data;
    return true;
}

/* The limit of docs/ONNX.md's rule that keeps it in float32; NULL: LAYER_NORM is at most one
 * step off. */
static const char *limit(struct arena *a, const struct layer_norm *n, const struct ir_tensor *y)
{
    const int32_t c = ir_dim_back(y, 0);
    double scale, epsilon, least, greatest, most = 0;

    if (c > 8192)
        return arena_printf(a, "rows of %d values: expected 1 to 8192", c);
    if (n->x->type != y->type || (y->type != IR_I8 && y->type != IR_U8))
        return "input and result: expected one 8-bit type";
    if (n->x->quant.n != 1 || !(n->epsilon >= 0))
        return arena_printf(a, "%u input scales, epsilon %g: expected 1 scale, epsilon at least 0",
                            n->x->quant.n, (double)n->epsilon);
    scale = (double)n->x->quant.scale[0];
    epsilon = (double)n->epsilon / (scale * scale);
    least = fmax(0.5, sqrt(epsilon) / 2);
    greatest = 1 / sqrt(least * least + epsilon);
    for (int32_t i = 0; i < c; i++) {
        const double gamma = (double)((const float *)(const void *)n->gamma->data)[i];
        const double beta = n->beta ? (double)((const float *)(const void *)n->beta->data)[i] : 0;

        if (!isfinite(gamma) || !isfinite(beta))
            return arena_printf(a, "scale or bias of value %d: expected a finite number", i);
        most = fmax(most, fabs(gamma));
    }
    if (greatest < 0.25)
        return arena_printf(a, "epsilon is %.3g squared steps of the input: expected at most 12.8",
                            epsilon);
    if (most * greatest >= 127 * (double)y->quant.scale[0])
        return arena_printf(
            a, "a step of the input is up to %.3g steps of the result: expected less than 127",
            most * greatest / (double)y->quant.scale[0]);
    return NULL;
}

static uint32_t numbers(struct ir_graph *g, const struct ir_tensor *of, const char *name, int32_t n)
{
    struct ir_tensor *t = ir_tensor_new(g, of ? of->name : name, IR_F32, 1, &n);

    t->role = IR_CONST;
    t->data = of ? of->data : (const uint8_t *)ARENA_ARRAY(g->arena, float, (size_t)n);
    return t->id;
}

static void rewrite(struct ir_graph *g, struct ir_op *op, const struct layer_norm *n)
{
    const struct ir_tensor *y = ir_out(g, op, 0);
    const int32_t c = ir_dim_back(y, 0);
    const uint32_t in[3] = {n->x->id, numbers(g, n->gamma, "", c), numbers(g, n->beta, "beta", c)};

    if (op->row != n->last->row)
        g->row[op->row].fused_into = n->last->row;
    op->row = n->last->row;
    op->opcode = IR_OP_LAYER_NORM;
    op->n_in = 3;
    op->in = arena_memdup(g->arena, in, sizeof in);
    memcpy(&op->attr[IR_EPSILON_BITS], &n->epsilon, sizeof n->epsilon);
    op->attr[IR_UNCENTRED] = n->uncentred;
}

/* Drop float32 operators without readers; their rows are part of row[tensor]'s. */
void ox_drop_unread(struct ir_graph *g, uint32_t *row)
{
    for (uint32_t i = g->n_op; i-- > 0;) {
        struct ir_op *op = g->op[i];

        if (row[op->out[0]] == IR_NONE || ir_out(g, op, 0)->is_output || ir_uses(g, op->out[0]) > 0)
            continue;
        op->dead = true;
        if (op->row != row[op->out[0]])
            g->row[op->row].fused_into = row[op->out[0]];
        for (uint32_t k = 0; k < op->n_in; k++)
            row[op->in[k]] = row[op->out[0]];
    }
}

enum status ox_layer_norms(struct ox *m)
{
    struct ir_graph *g = m->g;
    uint32_t *row = ARENA_ARRAY(m->arena, uint32_t, g->n_tensor);
    bool any = false;

    for (uint32_t i = 0; i < g->n_tensor; i++)
        row[i] = IR_NONE;
    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *op = g->op[i];
        const uint32_t from = op->opcode == IR_OP_QUANTIZE ? op->in[0] : IR_NONE;
        struct layer_norm n;

        if (from == IR_NONE || !matches(g, op, &n))
            continue;
        if ((g->row[n.last->row].limit = limit(g->arena, &n, ir_out(g, op, 0))))
            continue;
        row[from] = n.last->row;
        rewrite(g, op, &n);
        any = true;
    }
    if (any)
        ox_drop_unread(g, row);
    return any ? ir_link(g, m->d) : ST_OK;
}
