/* qdq_parts.c - operators that are several nodes in ONNX. */
#include "qdq_own.h"

/* Write a node whose result only the next node reads. */
static const char *part(struct qdq *w, const char *op, const char *a, const char *b)
{
    const char *name = w->value[QDQ_PLAIN][w->op->out[0]]->name;
    const char *out = qdq_unique(w, arena_printf(w->arena, "%s/part", name));

    qdq_node(w, op, out, a, b, NULL, NULL);
    return out;
}

/* Write two nodes; the second reads the first's result. */
static void two(struct qdq *w, const char *first, const char *second)
{
    const enum qdq_form form = qdq_found(w);
    const char *in[2] = {NULL, NULL};

    for (uint32_t i = 0; i < w->op->n_in; i++)
        in[i] = qdq_read(w, w->op->in[i], form);
    const char *out = qdq_result(w, w->op->out[0], form);
    const char *half = qdq_unique(w, arena_printf(w->arena, "%s/first", out));

    qdq_node(w, first, half, in[0], in[1], NULL, NULL);
    qdq_node(w, second, out, half, NULL, NULL, NULL);
    qdq_made(w, w->op->out[0], form, out);
}

void qdq_not_equal(struct qdq *w, const char *node)
{
    two(w, "Equal", node);
}

void qdq_rsqrt(struct qdq *w, const char *node)
{
    two(w, "Sqrt", node);
}

/* Write x / sqrt(max(sum of squares, 1e-6)) of each row. */
void qdq_l2_normalization(struct qdq *w, const char *node)
{
    const struct ir_op *op = w->op;
    const char *x = qdq_read(w, op->in[0], QDQ_PLAIN);
    const char *sum = part(w, "ReduceSumSquare", x, qdq_ints(w, 1, &(int64_t){-1}));
    const char *length = part(w, "Sqrt", part(w, "Max", sum, qdq_number(w, 1e-6f)), NULL);
    const char *out = qdq_result(w, op->out[0], QDQ_PLAIN);

    qdq_node(w, node, out, x, length, NULL, NULL);
    qdq_made(w, op->out[0], QDQ_PLAIN, out);
}

/* Write tap `t` of an INTERPOLATE: elements of one dimension, each times its weight. */
static const char *tap(struct qdq *w, const char *x, uint32_t t)
{
    const struct ir_op *op = w->op;
    const struct ir_tensor *index = ir_in(w->g, op, 1), *weight = ir_in(w->g, op, 2);
    const uint32_t rank = ir_out(w->g, op, 0)->rank, axis = (uint32_t)op->attr[IR_AXIS];
    const size_t n = (size_t)index->dim[0], taps = (size_t)index->dim[1];
    int64_t *place = ARENA_ARRAY(w->arena, int64_t, n);
    float *factor = ARENA_ARRAY(w->arena, float, n);
    int32_t dim[IR_MAX_RANK];
    struct text attributes;

    for (size_t i = 0; i < n; i++) {
        place[i] = ((const int32_t *)(const void *)index->data)[i * taps + t];
        factor[i] = ((const float *)(const void *)weight->data)[i * taps + t];
    }
    for (uint32_t i = 0; i < rank; i++)
        dim[i] = i == axis ? (int32_t)n : 1;
    text_init(&attributes, w->arena);
    onnx_attr_int(&attributes, "axis", axis);
    const char *name = w->value[QDQ_PLAIN][op->out[0]]->name;
    const char *found = qdq_unique(w, arena_printf(w->arena, "%s/tap", name));

    qdq_node(w, "Gather", found, x, qdq_ints(w, (uint32_t)n, place), NULL, &attributes);
    return part(w, "Mul", found, qdq_floats(w, "factor", rank, dim, factor));
}

void qdq_interpolate(struct qdq *w, const char *node)
{
    const struct ir_op *op = w->op;
    const uint32_t taps = (uint32_t)ir_in(w->g, op, 1)->dim[1];
    const char *coordinates = quant_resize(w->g, op);

    if (coordinates) {
        qdq_resize(w, coordinates);
        return;
    }
    const char *x = qdq_read(w, op->in[0], QDQ_PLAIN), *sum = tap(w, x, 0);
    const char *out = qdq_result(w, op->out[0], QDQ_PLAIN);

    for (uint32_t t = 1; t < taps; t++)
        sum = part(w, "Add", sum, tap(w, x, t));
    qdq_node(w, node, out, sum, NULL, NULL, NULL);
    qdq_made(w, op->out[0], QDQ_PLAIN, out);
}
