/* host_onnx.c - host operators with float constants (op->fixed.real): those that round as ONNX does
 * (legalise/float_requant.c), and the one of a node that ONNX Runtime computes. */
#include "emit_host.h"

/* Write the layer's fields as for its integer kernel, then weights, bias and scales. */
enum status emit_onnx_layer(struct emit_unit *u, struct text *t, const struct ir_op *op,
                            struct diag *d)
{
    struct geo g;

    geo_of(u->graph, op, &g);
    text_add(t, "    .layer = {\n");
    TRY(g.kind == GEO_DENSE ? emit_fully_connected(u, t, op, d) : emit_conv2d(u, t, op, d));
    size_t n = (size_t)ir_bytes(g.filter), k = n / g.oc;
    uint8_t *w = arena_memdup(u->arena, g.filter->data, n);
    for (size_t i = 0; i < k && g.kind != GEO_DEPTHWISE; i++) /* [K, OC] to [OC, K] */
        for (size_t c = 0; c < g.oc; c++)
            w[c * k + i] = g.filter->data[i * g.oc + c];
    text_printf(t,
                "    },\n    .weights = {.w = (const int8_t *)(model_constants + 0x%x),\n"
                "                .real = (const float *)(const void *)(model_constants + 0x%x),\n",
                emit_host_constant(u, w, n),
                emit_host_constant(u, op->fixed.real, (size_t)op->fixed.n_real * 4));
    if (g.bias)
        text_printf(
            t, "                .bias = (const int32_t *)(const void *)(model_constants + 0x%x),\n",
            emit_host_constant(u, g.bias->data, (size_t)ir_bytes(g.bias)));
    text_printf(t, "                .per_channel = %d},\n",
                op->fixed.n_real > (op->attr[IR_HALF_AWAY] ? 3 : 1));
    return ST_OK;
}

enum status emit_onnx_binary(struct emit_unit *u, struct text *t, const struct ir_op *op,
                             struct diag *d)
{
    const float *r = op->fixed.real;

    TRY(emit_walk(u, t, op, d));
    text_printf(t, "    .real = {%af, %af, %af, %af},\n", (double)r[0], (double)r[1], (double)r[2],
                (double)r[3]);
    return ST_OK;
}

static void average(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    text_printf(t, "    .average = {.s_in = %af, .s_out = %af,\n", (double)op->fixed.real[0],
                (double)op->fixed.real[1]);
    emit_field(t, "z_in", ir_zero_point(ir_in(u->graph, op, 0)));
    emit_field(t, "z_out", ir_zero_point(ir_out(u->graph, op, 0)));
    emit_clamps(t, op);
    emit_field(t, "qlinear", op->attr[IR_QLINEAR]);
    text_add(t, "    },\n");
}

enum status emit_onnx_pool(struct emit_unit *u, struct text *t, const struct ir_op *op,
                           struct diag *d)
{
    text_add(t, "    .pool = {\n");
    TRY(emit_pool(u, t, op, d));
    text_add(t, "    },\n");
    average(u, t, op);
    return ST_OK;
}

enum status emit_onnx_mean(struct emit_unit *u, struct text *t, const struct ir_op *op,
                           struct diag *d)
{
    TRY(emit_reduced(u, t, op, d));
    average(u, t, op);
    return ST_OK;
}

enum status emit_onnx_softmax(struct emit_unit *u, struct text *t, const struct ir_op *op,
                              struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);

    (void)d;
    emit_field(t, "rows", (int64_t)(ir_elements(x) / (uint64_t)ir_dim_back(x, 0)));
    emit_field(t, "cols", ir_dim_back(x, 0));
    text_printf(t, "    .s_out = %af,\n", (double)op->fixed.real[0]);
    emit_field(t, "z_out", ir_zero_point(ir_out(u->graph, op, 0)));
    text_printf(t, "    .e = (const float *)(const void *)(model_constants + 0x%x),\n",
                emit_host_constant(u, op->fixed.real + 1, 256 * 4));
    return ST_OK;
}

enum status emit_onnx_matmul(struct emit_unit *u, struct text *t, const struct ir_op *op,
                             struct diag *d)
{
    (void)d;
    text_add(t, "    .layer = {\n");
    emit_matrices(u, t, op);
    emit_field(t, "z_a", ir_zero_point(ir_in(u->graph, op, 0)));
    emit_field(t, "z_b", ir_zero_point(ir_in(u->graph, op, 1)));
    emit_field(t, "z_out", ir_zero_point(ir_out(u->graph, op, 0)));
    emit_clamps(t, op);
    text_printf(t, "    },\n    .real = %af,\n", (double)op->fixed.real[0]);
    return ST_OK;
}

enum status emit_onnx_node(struct emit_unit *u, struct text *t, const struct ir_op *op,
                           struct diag *d)
{
    (void)d;
    emit_field(t, "n_bytes", (int64_t)ir_bytes(ir_in(u->graph, op, 0)));
    emit_field(t, "n_in", op->n_in - 1);
    emit_field(t, "y_bytes", (int64_t)ir_bytes(ir_out(u->graph, op, 0)));
    return ST_OK;
}
