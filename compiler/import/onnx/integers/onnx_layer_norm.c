/* onnx_layer_norm.c - LayerNormalization, or the operators that exporters write in its place,
 * between DequantizeLinear and QuantizeLinear; RMSNormalization, LpNormalization of p 2,
 * InstanceNormalization and GroupNormalization of one image. in: the imported graph: DEQUANTIZE,
 * MEAN, SUB, MUL by itself, MEAN, ADD, SQRT, DIV, MUL, ADD, QUANTIZE. out: LAYER_NORM of the
 * quantised values, where docs/ONNX.md's rule allows; operators without readers go. */
#include <math.h>

#include <string.h>

#include "compiler/import/onnx/onnx_import.h"
#include "compiler/ir/float_numbers.h"
#include "compiler/ir/formula.h"
#include "compiler/ir/rules.h"

struct layer_norm {
    const struct ir_op *last; /* before QUANTIZE */
    const struct ir_tensor *x, *gamma,
        *beta;      /* gamma NULL: all alike, 1 / sqrt of a row's values */
    int32_t row;    /* its values */
    int32_t axis;   /* the row is along it, if groups is 0 */
    int32_t groups; /* of these channels, each a row; or 0 */
    float epsilon;
    bool uncentred; /* no mean is taken from x */
};

/* Without a clamp of its own; a mean or sum keeps its dimensions. */
static bool takes(const struct ir_match *m, const struct ir_op *op)
{
    (void)m;
    return (!ir_op_info(op->opcode)->fuses_clamp || op->attr[IR_ACTIVATION] == IR_ACT_NONE) &&
           (!ir_op_has(op->opcode, IR_KEEP_DIMS) || op->attr[IR_KEEP_DIMS] != 0);
}

/* Return the dimensions that all means and sums of the match are over; 0: not the same ones. */
static uint32_t common_axes(const struct ir_match *m)
{
    uint32_t axes = 0;

    for (uint32_t i = 0; i < m->n_op; i++)
        if (ir_op_has(m->op[i]->opcode, IR_KEEP_DIMS)) {
            if (axes != 0 && axes != (uint32_t)m->op[i]->attr[IR_AXIS])
                return 0;
            axes = (uint32_t)m->op[i]->attr[IR_AXIS];
        }
    return axes;
}

static bool is_number(const struct ir_tensor *t, float v)
{
    return t->type == IR_F32 && ir_elements(t) == 1 && *(const float *)(const void *)t->data == v;
}

/* A float32 constant of `n` values along dimension `back` from the end. */
static bool has_values(const struct ir_tensor *t, int32_t n, uint32_t back)
{
    return t->type == IR_F32 && ir_elements(t) == (uint64_t)n &&
           (n == 1 || ir_dim_back(t, back) == n);
}

#define NORMAL(x) "div(d = sub(" x ", mean(x)), sqrt(add(mean(mul(d, d)), #e)))"
#define SCALED    "mul(" NORMAL("x = dequantize(q)") ", #g)"
#define GROUPED   "mul(reshape(" NORMAL("x = reshape(dequantize(q))") "), #g)"
#define ROOT      "sqrt(add(mean(mul(x, x)), #e))"
#define NORM      "sqrt(sum(mul(x, x)))"

static const struct form {
    const char *formula;
    bool uncentred, grouped;
} form[] = {
    {"add(" SCALED ", #b)", false, false},
    {SCALED, false, false},
    {"add(" GROUPED ", #b)", false, true},
    {"mul(div(x = dequantize(q), " ROOT "), #g)", true, false},
    {"mul(mul(x = dequantize(q), div(#o, " ROOT ")), #g)", true, false},
    {"select(not_equal(r = " NORM ", #z), div(x = dequantize(q), r), #y)", true, false},
    {"div(x = dequantize(q), " NORM ")", true, false},
    {"div(x = dequantize(q), clip(" NORM "))", true, false},
    {"div(x = dequantize(q), gather(clip(" NORM "), #i))", true,
     false}, /* expanded along the row */
    {"div(x = dequantize(q), maximum(" NORM ", #m))", true, false},
    {"div(x = dequantize(q), add(" NORM ", #a))", true, false},
};
enum { FORMS = sizeof form / sizeof *form };

static double number_of(const struct ir_match *m, char letter, double otherwise)
{
    const uint32_t id = ir_matched(m, letter);

    if (id == IR_NONE)
        return otherwise;
    return has_values(m->g->tensor[id], 1, 0)
               ? (double)*(const float *)(const void *)m->g->tensor[id]->data
               : (double)INFINITY;
}

/* Return true if no result depends on the lower bound of the norm, or on what is added to it: a norm
 * is 0, as all values are, or a step of x or more. */
static bool is_plain_norm(const struct ir_match *m, const struct ir_tensor *x)
{
    const double step = x->quant.n == 1 ? (double)x->quant.scale[0] : 0;
    const double added = number_of(m, 'a', 0);
    double low = number_of(m, 'm', 0);

    for (uint32_t i = 0; i < m->n_op; i++)
        if (ir_op_info(m->op[i]->opcode)->activation == IR_ACT_CLIP) {
            low = (double)ir_attr_float(m->op[i], IR_CLIP_LOW_BITS);
            if (ir_attr_float(m->op[i], IR_CLIP_HIGH_BITS) != INFINITY)
                return false;
        }
    return low >= 0 && low <= step && added >= 0 && added <= ldexp(step, -20);
}

/* Set the rows of `n`: of one axis, or of the pixels of an image's channels; false: others. */
static bool find_rows(const struct ir_match *m, const struct form *f, const struct ir_tensor *y,
                      struct layer_norm *n)
{
    const struct ir_tensor *x = m->g->tensor[ir_matched(m, 'x')];
    const uint32_t axes = common_axes(m), all = (1u << x->rank) - 1;

    n->row = 1;
    for (uint32_t i = 0; i < x->rank; i++)
        n->row *= axes >> i & 1 ? x->dim[i] : 1;
    if (axes != 0 && (axes & (axes - 1)) == 0 && !f->grouped) {
        while (1u << n->axis != axes)
            n->axis++;
        if (n->gamma == NULL || ir_dim_back(n->gamma, x->rank - 1 - (uint32_t)n->axis) == n->row)
            return y->rank == x->rank;
    }
    n->groups = x->dim[1];
    return axes == (all & ~3u) && axes != 0 && !f->uncentred && n->gamma != NULL &&
           n->beta != NULL && (y->rank == 3 || y->rank == 4) && y->dim[0] == 1 && x->dim[0] == 1;
}

static bool matches(const struct ir_graph *g, const struct ir_op *quantize, struct layer_norm *n)
{
    const struct ir_tensor *y = ir_out(g, quantize, 0), *epsilon;
    struct ir_match m = {.g = g, .takes = takes};
    const struct form *f = form;

    while (f < form + FORMS && !ir_match(&m, quantize->in[0], f->formula))
        f++;
    if (f == form + FORMS)
        return false;
    *n = (struct layer_norm){
        .last = m.op[0], .x = g->tensor[ir_matched(&m, 'q')], .uncentred = f->uncentred};
    if (ir_matched(&m, 'g') != IR_NONE)
        n->gamma = g->tensor[ir_matched(&m, 'g')];
    if (ir_matched(&m, 'b') != IR_NONE)
        n->beta = g->tensor[ir_matched(&m, 'b')];
    if (ir_matched(&m, 'o') != IR_NONE && !is_number(g->tensor[ir_matched(&m, 'o')], 1))
        return false;
    if ((ir_matched(&m, 'z') != IR_NONE && !is_number(g->tensor[ir_matched(&m, 'z')], 0)) ||
        (ir_matched(&m, 'y') != IR_NONE && !is_number(g->tensor[ir_matched(&m, 'y')], 0)))
        return false;
    if (!find_rows(&m, f, y, n) || !is_plain_norm(&m, n->x))
        return false;
    const int32_t c = n->groups ? y->dim[1] : n->row;
    const uint32_t back = y->rank - 1 - (n->groups ? 1 : (uint32_t)n->axis);
    if ((n->gamma && !has_values(n->gamma, c, back)) || (n->beta && !has_values(n->beta, c, back)))
        return false;
    if (ir_matched(&m, 'e') == IR_NONE)
        return true;
    epsilon = g->tensor[ir_matched(&m, 'e')];
    if (!has_values(epsilon, 1, 0))
        return false;
    n->epsilon = *(const float *)(const void *)epsilon->data;
    return true;
}

/* The limit of docs/ONNX.md's rule that keeps it in float32; NULL: LAYER_NORM is at most one
 * step off. */
static const char *limit(struct arena *a, const struct layer_norm *n, const struct ir_tensor *y)
{
    const uint64_t c = n->gamma ? ir_elements(n->gamma) : 0;
    const int32_t longest =
        ir_longest_norm(n->groups, ir_elements(y) / (uint64_t)(n->groups ? y->dim[1] : n->row));
    double scale, epsilon, greatest, most = n->gamma ? 0 : 1 / sqrt(n->row);

    if (n->row > longest)
        return arena_printf(a, "rows of %d values: expected 1 to %d", n->row, longest);
    if (n->x->type != y->type || (y->type != IR_I8 && y->type != IR_U8))
        return "input and result: expected one 8-bit type";
    if (n->x->quant.n != 1 || !(n->epsilon >= 0))
        return arena_printf(a, "%u input scales, epsilon %g: expected 1 scale, epsilon at least 0",
                            n->x->quant.n, (double)n->epsilon);
    scale = (double)n->x->quant.scale[0];
    epsilon = (double)n->epsilon / (scale * scale);
    greatest = 1 / sqrt(0.25 + epsilon); /* of a deviation of half a step, the table's end */
    for (uint64_t i = 0; i < c; i++) {
        const double gamma = (double)((const float *)(const void *)n->gamma->data)[i];
        const double beta = n->beta ? (double)((const float *)(const void *)n->beta->data)[i] : 0;

        if (!isfinite(gamma) || !isfinite(beta))
            return arena_printf(a, "scale or bias of value %u: expected a finite number",
                                (unsigned)i);
        most = fmax(most, fabs(gamma));
    }
    if (most * greatest >= 127 * (double)y->quant.scale[0])
        return arena_printf(
            a, "a step of the input is up to %.3g steps of the result: expected less than 127",
            most * greatest / (double)y->quant.scale[0]);
    return NULL;
}

/* Float32 constant [n] of `of`'s values, or all `v`. */
static uint32_t numbers(struct ir_graph *g, const struct ir_tensor *of, const char *name, int32_t n,
                        float v)
{
    struct ir_tensor *t = ir_tensor_new(g, of ? of->name : name, IR_F32, 1, &n);
    float *value = of ? NULL : ARENA_ARRAY(g->arena, float, (size_t)n);

    for (int32_t i = 0; value && i < n; i++)
        value[i] = v;
    t->role = IR_CONST;
    t->data = of ? of->data : (const uint8_t *)value;
    return t->id;
}

/* Return the operator that moves dimension `from` of `x` to `to`. */
static struct ir_op *moved_axis(struct ir_graph *g, uint32_t row, const struct ir_tensor *x,
                                int32_t from, int32_t to)
{
    const int32_t rank = (int32_t)x->rank;
    int32_t *perm = ARENA_ARRAY(g->arena, int32_t, x->rank), dim[IR_MAX_RANK];
    struct ir_tensor *order = ir_tensor_new(g, "order", IR_I32, 1, &rank), *y;
    struct ir_op *op = ir_make_transpose(g, row, 2, 1);

    for (int32_t i = 0; i < rank; i++) {
        perm[i] = i == to ? from : i < to ? i + (i >= from) : i - (i <= from);
        dim[i] = x->dim[perm[i]];
    }
    order->role = IR_CONST;
    order->data = (const uint8_t *)perm;
    y = ir_tensor_new(g, x->name, x->type, x->rank, dim);
    y->quant = x->quant;
    op->in[0] = x->id;
    op->in[1] = order->id;
    op->out[0] = y->id;
    return op;
}

static void rewrite(struct ir_graph *g, struct ir_op *op, const struct layer_norm *n)
{
    struct ir_tensor *y = ir_out(g, op, 0);
    const int32_t last = (int32_t)y->rank - 1, axis = n->groups ? 1 : n->axis, c = y->dim[axis];
    uint32_t in[3] = {n->x->id, numbers(g, n->gamma, "gamma", c, (float)(1 / sqrt(n->row))),
                      numbers(g, n->beta, "beta", c, 0)};

    if (op->row != n->last->row)
        g->row[op->row].fused_into = n->last->row;
    op->row = n->last->row;
    if (axis != last) {
        const struct ir_op *x = moved_axis(g, op->row, n->x, axis, last);
        struct ir_tensor *z = ir_tensor_new(g, y->name, y->type, y->rank, ir_out(g, x, 0)->dim);
        struct ir_op *back;

        z->quant = y->quant;
        in[0] = x->out[0];
        op->out[0] = z->id;
        back = moved_axis(g, op->row, z, last, axis);
        back->out[0] = y->id;
    }
    op->opcode = IR_OP_LAYER_NORM;
    op->n_in = 3;
    op->in = arena_memdup(g->arena, in, sizeof in);
    memcpy(&op->attr[IR_EPSILON_BITS], &n->epsilon, sizeof n->epsilon);
    op->attr[IR_UNCENTRED] = n->uncentred;
    op->attr[IR_GROUPS] = n->groups;
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
