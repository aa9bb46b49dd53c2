/* qdq_export.c - a network of int8 as an ONNX file of the same values: a graph of the real numbers
 * that its integers stand for, and their scales, which qdq_write writes as for heddle quantise.
 * in: the graph as imported. out: the file, or the operator or tensor that ONNX cannot say so. */
#include <assert.h>
#include <string.h>

#include "quant_own.h"

static enum status check(const struct ir_tensor *t, struct diag *d)
{
    if (t->role == IR_VARIABLE)
        return FAIL(d, ST_UNSUPPORTED,
                    "tensor '%.80s': is a state, which is kept from inference to inference and "
                    "which ONNX has not",
                    t->name);
    if (t->type == IR_U8 || t->type == IR_I16 || (t->type == IR_I8 && t->quant.n == 0))
        return FAIL(d, ST_UNSUPPORTED,
                    "tensor '%.80s' is %s: --format=onnx writes int8 with a scale, float32 and "
                    "integers",
                    t->name, ir_type_name(t->type));
    return ST_OK;
}

/* Make `t` float32. Constants are those of one scale; weights follow. */
static void make_real(struct quant *q, struct ir_tensor *t)
{
    const uint8_t *from = t->data;

    q->tensor[t->id] = t->quant.n == 1;
    q->scale[t->id] = (struct quant_scale){t->quant.scale[0], t->quant.zero_point[0]};
    if (t->role == IR_CONST && t->quant.n == 1) {
        float *to = ARENA_ARRAY(q->arena, float, (size_t)ir_elements(t));

        for (size_t i = 0; i < ir_elements(t); i++)
            to[i] = t->quant.scale[0] * (float)((int8_t)from[i] - t->quant.zero_point[0]);
        t->data = (const uint8_t *)to;
    }
    t->type = IR_F32;
}

/* Keep the weights of `op` as they are in `from`, with a scale for each output channel. */
static enum status set_weights(struct quant *q, const struct ir_graph *from, const struct ir_op *op,
                               struct diag *d)
{
    const struct ir_tensor *x = ir_in(from, op, 0), *w = ir_in(from, op, 1),
                           *b = ir_in(from, op, 2);
    const uint32_t n = (uint32_t)(ir_is_depthwise(op) ? w->dim[3] : w->dim[0]);
    float *scale = ARENA_ARRAY(q->arena, float, n), *sum = ARENA_ARRAY(q->arena, float, n);

    assert(x->quant.n == 1 && (w->quant.n == 1 || w->quant.n == n)); /* the operator's rule */
    for (uint32_t i = 0; i < w->quant.n; i++)
        if (w->quant.zero_point[i] != 0)
            return FAIL(d, ST_UNSUPPORTED,
                        "layer '%s': expected weights with zero point 0, found %d",
                        from->row[op->row].name, w->quant.zero_point[i]);
    for (uint32_t i = 0; i < n; i++) {
        scale[i] = w->quant.scale[w->quant.n > 1 ? i : 0];
        sum[i] = x->quant.scale[0] * scale[i];
    }
    q->weights[op->id] = (struct quant_weights){
        .n = n,
        .scale = scale,
        .code = (const int8_t *)w->data,
        .bias_scale = sum,
        .bias = b ? (const int32_t *)(const void *)b->data : NULL,
    };
    return ST_OK;
}

/* The operator computes on quantised values if an operand or its result has a scale. */
static enum status set_operator(struct quant *q, const struct ir_graph *from,
                                const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *w = ir_in(from, op, 1);

    q->op[op->id] = q->tensor[op->out[0]];
    for (uint32_t i = 0; i < op->n_in; i++)
        q->op[op->id] = q->op[op->id] || (op->in[i] != IR_NONE && q->tensor[op->in[i]]);
    if (quant_form_of(q->g, op) == QUANT_PRODUCES && w->type == IR_I8 && w->role == IR_CONST)
        return set_weights(q, from, op, d);
    return ST_OK;
}

enum status qdq_export(struct arena *a, const struct ir_graph *graph, const uint8_t **file,
                       size_t *n_bytes, struct diag *d)
{
    struct ir_graph *from = ir_copy(a, graph), *g;
    struct quant q = {.arena = a};

    TRY(ir_link(from, d));
    g = ir_copy(a, from);
    q.g = g;
    q.op = ARENA_ARRAY(a, bool, g->n_op + 1);
    q.tensor = ARENA_ARRAY(a, bool, g->n_tensor + 1);
    q.scale = ARENA_ARRAY(a, struct quant_scale, g->n_tensor + 1);
    q.weights = ARENA_ARRAY(a, struct quant_weights, g->n_op + 1);
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k <= g->op[i]->n_in; k++) {
            const uint32_t id = k < g->op[i]->n_in ? g->op[i]->in[k] : g->op[i]->out[0];

            if (id == IR_NONE)
                continue;
            TRY(check(g->tensor[id], d));
            if (g->tensor[id]->type == IR_I8)
                make_real(&q, g->tensor[id]);
        }
    for (uint32_t i = 0; i < g->n_op; i++)
        TRY(set_operator(&q, from, g->op[i], d));
    return qdq_write(&q, file, n_bytes, d);
}
