/* qdq_move.c - write operators that only move values as ONNX nodes. */
#include "qdq_own.h"

static const int32_t *numbers(const struct qdq *w, uint32_t i)
{
    const struct ir_tensor *t = ir_in(w->g, w->op, i);

    return t && t->data ? (const int32_t *)(const void *)t->data : NULL;
}

/* Write one node with the first operand and two more. */
static void made(struct qdq *w, const char *op, enum qdq_form form, const char *b, const char *c,
                 const struct text *attributes)
{
    const uint32_t y = w->op->out[0];
    const char *in = qdq_read(w, w->op->in[0], form), *out = qdq_result(w, y, form);

    qdq_node(w, op, out, in, b, c, attributes);
    qdq_made(w, y, form, out);
}

void qdq_reshape(struct qdq *w, const char *node)
{
    const struct ir_tensor *y = ir_out(w->g, w->op, 0);
    int64_t shape[IR_MAX_RANK];

    for (uint32_t i = 0; i < y->rank; i++)
        shape[i] = y->dim[i];
    made(w, node, QDQ_PLAIN, qdq_ints(w, y->rank, shape), NULL, NULL);
}

/* Make the tensor's other form, NHWC or NCHW, unless it exists. */
void qdq_transpose(struct qdq *w, const char *node)
{
    const uint32_t x = w->op->in[0], y = w->op->out[0], rank = w->g->tensor[x]->rank;
    const int32_t *perm = numbers(w, 1);
    int64_t order[IR_MAX_RANK];
    enum qdq_form form;
    struct text attributes;

    if (qdq_turns(w->g, w->op, &form) && w->value[form][x] == w->value[!form][y]) {
        (void)qdq_read(w, x, form);
        return;
    }
    for (uint32_t i = 0; i < rank; i++)
        order[i] = perm[i];
    text_init(&attributes, w->arena);
    onnx_attr_ints(&attributes, "perm", rank, order);
    made(w, node, QDQ_PLAIN, NULL, NULL, &attributes);
}

void qdq_concatenation(struct qdq *w, const char *node)
{
    const struct ir_op *op = w->op;
    const enum qdq_form form = qdq_found(w);
    const char **in = ARENA_ARRAY(w->arena, const char *, op->n_in);
    struct text attributes;

    text_init(&attributes, w->arena);
    onnx_attr_int(&attributes, "axis", qdq_axis(form, (uint32_t)op->attr[IR_AXIS]));
    for (uint32_t i = 0; i < op->n_in; i++)
        in[i] = qdq_read(w, op->in[i], form);
    const char *out = qdq_result(w, op->out[0], form);

    onnx_node(
        &w->nodes,
        &(struct onnx_node){
            .op = node, .n_more = op->n_in, .more = in, .out = out, .attributes = &attributes});
    qdq_made(w, op->out[0], form, out);
}

/* Write a SLICE. With a negative step the end is before the begin. */
void qdq_slice(struct qdq *w, const char *node)
{
    const struct ir_tensor *y = ir_out(w->g, w->op, 0);
    const int32_t *begin = numbers(w, 1), *step = w->op->n_in > 2 ? numbers(w, 2) : NULL;
    const enum qdq_form form = qdq_found(w);
    int64_t start[IR_MAX_RANK], end[IR_MAX_RANK], axis[IR_MAX_RANK], steps[IR_MAX_RANK];

    for (uint32_t i = 0; i < y->rank; i++) {
        const int64_t by = step ? step[i] : 1, last = begin[i] + by * (y->dim[i] - 1);

        axis[i] = qdq_axis(form, i);
        start[i] = begin[i];
        steps[i] = by;
        end[i] = by > 0 ? last + 1 : last > 0 ? last - 1 : INT64_MIN + 1;
    }
    const char *in = qdq_read(w, w->op->in[0], form), *out = qdq_result(w, y->id, form);
    const char *more[] = {in, qdq_ints(w, y->rank, start), qdq_ints(w, y->rank, end),
                          qdq_ints(w, y->rank, axis), qdq_ints(w, y->rank, steps)};

    onnx_node(&w->nodes, &(struct onnx_node){.op = node, .n_more = 5, .more = more, .out = out});
    qdq_made(w, y->id, form, out);
}

void qdq_pad(struct qdq *w, const char *node)
{
    const struct ir_op *op = w->op;
    const uint32_t rank = ir_out(w->g, op, 0)->rank;
    const int32_t *pads = numbers(w, 1);
    const enum qdq_form form = qdq_found(w);
    int64_t all[2 * IR_MAX_RANK];

    for (uint32_t i = 0; i < rank; i++) {
        all[qdq_axis(form, i)] = pads[2 * i];
        all[rank + qdq_axis(form, i)] = pads[2 * i + 1];
    }
    made(w, node, form, qdq_ints(w, 2 * rank, all),
         op->n_in > 2 && ir_in(w->g, op, 2) ? qdq_read(w, op->in[2], QDQ_PLAIN) : NULL, NULL);
}

void qdq_gather(struct qdq *w, const char *node)
{
    struct text attributes;

    text_init(&attributes, w->arena);
    onnx_attr_int(&attributes, "axis", w->op->attr[IR_AXIS]);
    made(w, node, QDQ_PLAIN, qdq_read(w, w->op->in[1], QDQ_PLAIN), NULL, &attributes);
}
