/* qdq_write.c - write the graph as an ONNX file: operators in order, each between QuantizeLinear
 * and DequantizeLinear if it is quantised. The same graph and scales give the same bytes. */
#include <string.h>

#include "qdq_own.h"

enum { OPSET = 20 };

static void inputs(struct qdq *w)
{
    for (uint32_t i = 0; i < w->g->n_in; i++) {
        const struct ir_tensor *t = w->g->tensor[w->g->in[i]];

        onnx_border(&w->borders, ONNX_INPUT, w->value[QDQ_PLAIN][t->id]->name, t->type, t->rank,
                    t->dim);
    }
}

/* Write the graph outputs; add an Identity if the value has another name in the file. */
static void outputs(struct qdq *w)
{
    w->op = NULL;
    for (uint32_t i = 0; i < w->g->n_out; i++) {
        const struct ir_tensor *t = w->g->tensor[w->g->out[i]];
        const char *name = w->value[QDQ_PLAIN][t->id]->name;
        const char *found = qdq_read(w, t->id, QDQ_PLAIN);

        if (strcmp(name, found) != 0)
            qdq_node(w, "Identity", name, found, NULL, NULL, NULL);
        onnx_border(&w->borders, ONNX_OUTPUT, name, t->type, t->rank, t->dim);
    }
}

enum status qdq_write(const struct quant *q, const uint8_t **file, size_t *n_bytes, struct diag *d)
{
    struct qdq w = {.arena = q->arena, .q = q, .g = q->g};
    struct text t;

    text_init(&w.nodes, q->arena);
    text_init(&w.initializers, q->arena);
    text_init(&w.borders, q->arena);
    text_init(&t, q->arena);
    qdq_values(&w);
    inputs(&w);
    for (uint32_t i = 0; i < q->g->n_op; i++) {
        w.op = q->g->op[i];
        TRY(qdq_op(&w, d));
    }
    outputs(&w);
    onnx_model(&t, q->g->name, OPSET, &w.nodes, &w.initializers, &w.borders);
    if (t.length > INT32_MAX)
        return FAIL(d, ST_UNSUPPORTED, "%zu bytes; an ONNX file has at most 2 GiB", t.length);
    *file = (const uint8_t *)t.data;
    *n_bytes = t.length;
    return ST_OK;
}
