/* onnx_interpolate.c - linear and cubic Resize between DequantizeLinear and QuantizeLinear. in: the
 * imported graph: DEQUANTIZE, INTERPOLATE of one axis after the other, QUANTIZE. out: INTERPOLATE of
 * the quantised values with weights of int16, where docs/ONNX.md's rule allows; operators without
 * readers go. */
#include <math.h>
#include <string.h>

#include "compiler/import/onnx/onnx_import.h"
#include "compiler/ir/formula.h"

enum {
    MOST_AXES = IR_MAX_RANK,
    FEW = 64,   /* parts of 1 that weights are, if they are whole numbers of them; */
    MANY = 1016 /* else of these */
};

struct axis {
    const struct ir_op *op;
    double span; /* the largest sum of a result's absolute weights */
};

struct chain {
    const struct ir_tensor *x; /* quantised */
    uint32_t n;
    struct axis axis[MOST_AXES]; /* the first axis is last */
};

static const float *weights_of(const struct ir_graph *g, const struct ir_op *op)
{
    return (const float *)(const void *)ir_in(g, op, 2)->data;
}

/* Set the span of an axis; false if the weights of a result do not add up to 1. */
static bool find_span(const struct ir_graph *g, struct axis *a)
{
    const struct ir_tensor *w = ir_in(g, a->op, 2);
    const float *weight = weights_of(g, a->op);

    for (int32_t i = 0; i < w->dim[0]; i++) {
        double sum = 0, magnitude = 0;

        for (int32_t t = 0; t < w->dim[1]; t++) {
            sum += (double)weight[i * w->dim[1] + t];
            magnitude += fabs((double)weight[i * w->dim[1] + t]);
        }
        if (!(fabs(sum - 1) < 0x1p-10))
            return false;
        a->span = fmax(a->span, magnitude);
    }
    return a->span < 2;
}

/* Find the operators between two quantised tensors of one type. */
static bool find_chain(const struct ir_graph *g, const struct ir_op *quantize, struct chain *c)
{
    struct ir_match m = {.g = g};
    uint32_t id = quantize->in[0];

    *c = (struct chain){0};
    while (!ir_match(&m, id, "dequantize(x)")) {
        if (c->n == MOST_AXES || !ir_match(&m, id, "interpolate(x, #i, #w)"))
            return false;
        c->axis[c->n] = (struct axis){.op = m.op[0]};
        if (!find_span(g, &c->axis[c->n++]))
            return false;
        id = ir_matched(&m, 'x');
    }
    c->x = g->tensor[ir_matched(&m, 'x')];
    return c->n > 0 && c->x->type == ir_out(g, quantize, 0)->type && c->x->quant.n == 1 &&
           (c->x->type == IR_I8 || c->x->type == IR_U8) && c->x->role != IR_CONST;
}

/* Return the steps of y that the results of all axes but the last are rounded by, at most. */
static double rounded_by(const struct chain *c, const struct ir_tensor *y)
{
    double step = (double)c->x->quant.scale[0] / (double)y->quant.scale[0], sum = 0;

    for (uint32_t i = c->n - 1; i > 0; i--) {
        step *= c->axis[i].span;
        sum = sum * c->axis[i].span + step / 2;
    }
    return sum * c->axis[0].span;
}

/* Return the parts of 1 that weights are. */
static int32_t parts_of(const float *weight, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)weight[i] - round((double)weight[i] * FEW) / FEW) < 0x1p-12))
            return MANY;
    return FEW;
}

/* Return the weights in parts; the largest of a result takes what rounding leaves. */
static uint32_t integer_weights(struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *w = ir_in(g, op, 2);
    const size_t taps = (size_t)w->dim[1], n = (size_t)w->dim[0] * taps;
    const float *weight = weights_of(g, op);
    const int32_t parts = parts_of(weight, n);
    int16_t *to = ARENA_ARRAY(g->arena, int16_t, n);
    float *scale = ARENA_ARRAY(g->arena, float, 1);
    struct ir_tensor *t = ir_tensor_new(g, w->name, IR_I16, 2, w->dim);

    for (size_t i = 0; i < n; i += taps) {
        size_t most = i;
        int32_t rest = parts;

        for (size_t k = i; k < i + taps; k++) {
            to[k] = (int16_t)lround((double)weight[k] * parts);
            rest -= to[k];
            most = fabsf(weight[k]) > fabsf(weight[most]) ? k : most;
        }
        to[most] = (int16_t)(to[most] + rest);
    }
    *scale = (float)(1.0 / parts);
    t->quant = (struct ir_quant){1, 0, scale, ARENA_ARRAY(g->arena, int32_t, 1)};
    t->role = IR_CONST;
    t->data = (const uint8_t *)to;
    return t->id;
}

/* The quantisation of an axis' result, within which its span of x's values is. */
static struct ir_quant spanned(struct ir_graph *g, const struct ir_tensor *x, double span)
{
    const double middle = x->type == IR_I8 ? -0.5 : 127.5;
    float *scale = ARENA_ARRAY(g->arena, float, 1);
    int32_t *zero = ARENA_ARRAY(g->arena, int32_t, 1);

    if (span < 1 + 0x1p-10)
        return x->quant;
    *scale = (float)((double)x->quant.scale[0] * span);
    *zero = (int32_t)lround((x->quant.zero_point[0] - middle) / span + middle);
    return (struct ir_quant){1, 0, scale, zero};
}

static void rewrite(struct ir_graph *g, struct ir_op *quantize, const struct chain *c)
{
    const uint32_t row = c->axis[0].op->row;
    const struct ir_tensor *x = c->x;

    for (uint32_t i = c->n; i-- > 0;) {
        const struct ir_op *from = c->axis[i].op;
        const struct ir_tensor *y = ir_out(g, i > 0 ? from : quantize, 0);
        struct ir_op *op = ir_make_interpolate(g, from->row, 3, 1);

        op->in[0] = x->id;
        op->in[1] = from->in[1];
        op->in[2] = integer_weights(g, from);
        op->attr[IR_AXIS] = from->attr[IR_AXIS];
        if (i > 0) {
            struct ir_tensor *between = ir_tensor_new(g, y->name, x->type, y->rank, y->dim);

            between->quant = spanned(g, x, c->axis[i].span);
            y = between;
        }
        op->out[0] = y->id;
        x = y;
    }
    if (quantize->row != row)
        g->row[quantize->row].fused_into = row;
    quantize->dead = true;
}

enum status ox_interpolations(struct ox *m)
{
    struct ir_graph *g = m->g;
    const uint32_t n_op = g->n_op;
    uint32_t *done = ARENA_ARRAY(m->arena, uint32_t, n_op), n = 0;

    for (uint32_t i = 0; i < n_op; i++) {
        struct ir_match quantize = {.g = g};
        struct chain c;

        if (!ir_match(&quantize, g->op[i]->out[0], "quantize(x)") || !find_chain(g, g->op[i], &c) ||
            rounded_by(&c, ir_out(g, g->op[i], 0)) >= 1)
            continue;
        rewrite(g, g->op[i], &c);
        done[n++] = ir_matched(&quantize, 'x');
    }
    if (n == 0)
        return ST_OK;
    uint32_t *row = ARENA_ARRAY(m->arena, uint32_t, g->n_tensor);
    for (uint32_t i = 0; i < g->n_tensor; i++)
        row[i] = IR_NONE;
    for (uint32_t i = 0; i < n; i++)
        row[done[i]] = g->op[g->tensor[done[i]]->producer]->row;
    ox_drop_unread(g, row);
    return ir_link(g, m->d);
}
