/* qdq_layers.c - layers with weights as ONNX nodes: convolutions, dense layers, matrix products. */
#include <string.h>

#include "qdq_own.h"

/* --- weights --- */

/* Return the index of element `i` in ONNX's order within the IR's data; `step`: stride of each ONNX
 * dimension. */
static size_t place(const int32_t *dim, const size_t *step, uint32_t rank, size_t i)
{
    size_t at = 0;

    for (uint32_t k = rank; k-- > 0; i /= (size_t)dim[k])
        at += i % (size_t)dim[k] * step[k];
    return at;
}

/* Weights in ONNX's order of dimensions. */
struct order {
    uint32_t rank, axis; /* axis: of output channels */
    int32_t dim[4];
    size_t step[4];
};

static const char *weights(struct qdq *w, struct order o)
{
    const struct ir_tensor *t = ir_in(w->g, w->op, 1);
    const struct quant_weights *q = &w->q->weights[w->op->id];
    const size_t n = (size_t)ir_elements(t), each = q->n ? 1 : sizeof(float);
    const uint8_t *from = q->n ? (const uint8_t *)q->code : t->data;
    uint8_t *to = arena_alloc(w->arena, n * each);

    for (size_t i = 0; i < n; i++)
        memcpy(to + i * each, from + place(o.dim, o.step, o.rank, i) * each, each);
    if (!q->n)
        return qdq_floats(w, t->name, o.rank, o.dim, (const float *)(const void *)to);

    struct qdq_quantised c = {.type = IR_I8,
                              .rank = o.rank,
                              .data = to,
                              .n_scale = q->n,
                              .axis = o.axis,
                              .scale = q->scale};

    memcpy(c.dim, o.dim, sizeof o.dim);
    return qdq_quantised(w, t->name, &c);
}

/* NULL: none. */
static const char *bias(struct qdq *w)
{
    const struct ir_tensor *t = ir_in(w->g, w->op, 2);
    const struct quant_weights *q = &w->q->weights[w->op->id];
    struct qdq_quantised c = {.type = IR_I32, .rank = 1, .n_scale = q->n};

    if (q->bias) {
        c.dim[0] = (int32_t)q->n;
        c.data = q->bias;
        c.scale = q->bias_scale;
        return qdq_quantised(w, t ? t->name : "bias", &c);
    }
    if (!t)
        return NULL;
    c.dim[0] = (int32_t)ir_elements(t);
    return qdq_floats(w, t->name, 1, c.dim, (const float *)(const void *)t->data);
}

/* --- layers --- */

/* Return the attributes of an image's window. */
static struct text window(const struct qdq *w)
{
    const enum ir_opcode opcode = w->op->opcode;
    const int32_t *a = w->op->attr;
    struct text t;

    text_init(&t, w->arena);
    onnx_attr_ints(&t, "kernel_shape", 2, (int64_t[]){a[IR_KERNEL_H], a[IR_KERNEL_W]});
    onnx_attr_ints(&t, "strides", 2, (int64_t[]){a[IR_STRIDE_H], a[IR_STRIDE_W]});
    if (ir_op_has(opcode, IR_DILATION_H))
        onnx_attr_ints(&t, "dilations", 2, (int64_t[]){a[IR_DILATION_H], a[IR_DILATION_W]});
    if (ir_op_has(opcode, IR_PAD_BOTTOM))
        onnx_attr_ints(
            &t, "pads", 4,
            (int64_t[]){a[IR_PAD_TOP], a[IR_PAD_LEFT], a[IR_PAD_BOTTOM], a[IR_PAD_RIGHT]});
    return t;
}

/* Set the values that the result lacks at its ends: removed as padding, or added. */
static void transposed_pads(const struct qdq *w, struct text *t)
{
    const struct ir_op *op = w->op;
    const int32_t *a = op->attr;
    const struct ir_tensor *x = ir_in(w->g, op, 0), *y = ir_out(w->g, op, 0);
    const int64_t h = (int64_t)(x->dim[1] - 1) * a[IR_STRIDE_H] + a[IR_KERNEL_H] - a[IR_PAD_TOP] -
                      y->dim[1],
                  v = (int64_t)(x->dim[2] - 1) * a[IR_STRIDE_W] + a[IR_KERNEL_W] - a[IR_PAD_LEFT] -
                      y->dim[2];

    onnx_attr_ints(t, "pads", 4,
                   (int64_t[]){a[IR_PAD_TOP], a[IR_PAD_LEFT], h > 0 ? h : 0, v > 0 ? v : 0});
    onnx_attr_ints(t, "output_padding", 2, (int64_t[]){h < 0 ? -h : 0, v < 0 ? -v : 0});
}

/* Write the node with weights in this order of dimensions; NULL if it has no weights. */
static void image_node(struct qdq *w, const char *node, const struct order *o,
                       const struct text *attributes)
{
    const uint32_t y = w->op->out[0];
    const char *x = qdq_read(w, w->op->in[0], QDQ_NCHW), *out = qdq_result(w, y, QDQ_NCHW);
    const char *from = qdq_unclamped(w, out);

    qdq_node(w, node, from, x, o ? weights(w, *o) : NULL, o ? bias(w) : NULL, attributes);
    qdq_clamp(w, from, out);
    qdq_made(w, y, QDQ_NCHW, out);
}

void qdq_conv2d(struct qdq *w, const char *node)
{
    const int32_t *d = ir_in(w->g, w->op, 1)->dim;
    const size_t row = (size_t)d[2] * (size_t)d[3];
    const struct order o = {
        4, 0, {d[0], d[3], d[1], d[2]}, {(size_t)d[1] * row, 1, row, (size_t)d[3]}};
    struct text attributes = window(w);

    onnx_attr_int(&attributes, "group", ir_in(w->g, w->op, 0)->dim[3] / d[3]);
    image_node(w, node, &o, &attributes);
}

void qdq_depthwise(struct qdq *w, const char *node)
{
    const int32_t *d = ir_in(w->g, w->op, 1)->dim;
    const size_t row = (size_t)d[2] * (size_t)d[3];
    const struct order o = {4, 0, {d[3], 1, d[1], d[2]}, {1, 0, row, (size_t)d[3]}};
    struct text attributes = window(w);

    onnx_attr_int(&attributes, "group", ir_in(w->g, w->op, 0)->dim[3]);
    image_node(w, node, &o, &attributes);
}

void qdq_transpose_conv(struct qdq *w, const char *node)
{
    const int32_t *d = ir_in(w->g, w->op, 1)->dim;
    const size_t row = (size_t)d[2] * (size_t)d[3];
    const struct order o = {
        4, 1, {d[3], d[0], d[1], d[2]}, {1, (size_t)d[1] * row, row, (size_t)d[3]}};
    struct text attributes = window(w);

    transposed_pads(w, &attributes);
    image_node(w, node, &o, &attributes);
}

void qdq_pool(struct qdq *w, const char *node)
{
    const struct text attributes = window(w);

    image_node(w, node, NULL, &attributes);
}

/* Reshape `from` to `out`, quantised if the operator is. */
static void reshape(struct qdq *w, const char *from, uint32_t rank, const int32_t *dim,
                    const char *out)
{
    int64_t shape[IR_MAX_RANK];

    for (uint32_t i = 0; i < rank; i++)
        shape[i] = dim[i];
    qdq_node(w, "Reshape", out, from, qdq_ints(w, rank, shape), NULL, NULL);
}

/* Quantise `from` with the scale of `id` and dequantise it, if the operator is quantised. */
static const char *rounded(struct qdq *w, const char *from, uint32_t id)
{
    const char *to;

    if (!w->q->op[w->op->id])
        return from;
    to = qdq_unique(w, arena_printf(w->arena, "%s/dq", from));
    qdq_pair(w, from, w->q->scale[id], to);
    return to;
}

/* Gemm takes matrices: other shapes are reshaped before and after it. */
void qdq_dense(struct qdq *w, const char *node)
{
    const struct ir_op *op = w->op;
    const struct ir_tensor *x = ir_in(w->g, op, 0), *y = ir_out(w->g, op, 0),
                           *k = ir_in(w->g, op, 1);
    const int32_t rows = (int32_t)(ir_elements(x) / (uint64_t)k->dim[1]);
    const char *in = qdq_read(w, x->id, QDQ_PLAIN), *out = qdq_result(w, y->id, QDQ_PLAIN);
    const struct order o = {2, 0, {k->dim[0], k->dim[1]}, {(size_t)k->dim[1], 1}};
    const bool flat = y->rank == 2;
    struct text attributes;

    text_init(&attributes, w->arena);
    onnx_attr_int(&attributes, "transB", 1);
    if (x->rank != 2 || x->dim[1] != k->dim[1]) {
        const char *matrix = qdq_unique(w, arena_printf(w->arena, "%s/matrix", in));

        reshape(w, in, 2, (int32_t[]){rows, k->dim[1]}, matrix);
        in = rounded(w, matrix, x->id);
    }
    const char *to = flat ? out : qdq_unique(w, arena_printf(w->arena, "%s/matrix", out));
    const char *from = qdq_unclamped(w, to);

    qdq_node(w, node, from, in, weights(w, o), bias(w), &attributes);
    qdq_clamp(w, from, to);
    if (!flat)
        reshape(w, rounded(w, to, y->id), y->rank, y->dim, out);
    qdq_made(w, y->id, QDQ_PLAIN, out);
}

/* Return operand `i` with its last two dimensions exchanged. */
static const char *exchanged(struct qdq *w, uint32_t i)
{
    const struct ir_tensor *t = ir_in(w->g, w->op, i);
    const char *in = qdq_read(w, t->id, QDQ_PLAIN);
    const char *out = qdq_unique(w, arena_printf(w->arena, "%s/exchanged", in));
    int64_t perm[IR_MAX_RANK];
    struct text attributes;

    for (uint32_t k = 0; k < t->rank; k++)
        perm[k] = k + 2 < t->rank ? k : 2 * t->rank - 3 - k;
    text_init(&attributes, w->arena);
    onnx_attr_ints(&attributes, "perm", t->rank, perm);
    qdq_node(w, "Transpose", out, in, NULL, NULL, &attributes);
    return rounded(w, out, t->id);
}

void qdq_product(struct qdq *w, const char *node)
{
    const struct ir_op *op = w->op;
    const uint32_t y = op->out[0];
    const char *a = op->attr[IR_ADJ_A] ? exchanged(w, 0) : qdq_read(w, op->in[0], QDQ_PLAIN);
    const char *b = op->attr[IR_ADJ_B] ? exchanged(w, 1) : qdq_read(w, op->in[1], QDQ_PLAIN);
    const char *out = qdq_result(w, y, QDQ_PLAIN), *from = qdq_unclamped(w, out);

    if (ir_in(w->g, op, 2)) {
        const char *sum = qdq_unique(w, arena_printf(w->arena, "%s/product", out));

        qdq_node(w, node, sum, a, b, NULL, NULL);
        qdq_node(w, "Add", from, sum, qdq_read(w, op->in[2], QDQ_PLAIN), NULL, NULL);
    } else {
        qdq_node(w, node, from, a, b, NULL, NULL);
    }
    qdq_clamp(w, from, out);
    qdq_made(w, y, QDQ_PLAIN, out);
}
