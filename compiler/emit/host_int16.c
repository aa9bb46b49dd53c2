/* host_int16.c - host operators on int16 activations (hdk_int16.h); see emit_host.h. */
#include "emit_host.h"

static void one_window(struct text *t, const struct ir_op *op)
{
    static const struct {
        const char *name;
        enum ir_attr attr;
    } fields[] = {{"kernel_h", IR_KERNEL_H},     {"kernel_w", IR_KERNEL_W},
                  {"stride_y", IR_STRIDE_H},     {"stride_x", IR_STRIDE_W},
                  {"dilation_y", IR_DILATION_H}, {"dilation_x", IR_DILATION_W},
                  {"pad_top", IR_PAD_TOP},       {"pad_left", IR_PAD_LEFT}};

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        emit_field(t, fields[i].name, op->attr[fields[i].attr]);
}

static enum status conv(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *y = ir_out(u->graph, op, 0);

    (void)d;
    text_add(t, "    .layer = {\n");
    emit_field(t, "batch", x->dim[0]);
    emit_field(t, "in_h", x->dim[1]);
    emit_field(t, "in_w", x->dim[2]);
    emit_field(t, "in_c", x->dim[3]);
    emit_field(t, "out_h", y->dim[1]);
    emit_field(t, "out_w", y->dim[2]);
    if (op->opcode == IR_OP_DEPTHWISE_CONV2D) {
        emit_field(t, "depth_multiplier", op->attr[IR_MULTIPLIER]);
    } else {
        emit_field(t, "out_c", y->dim[3]);
        emit_field(t, "groups", x->dim[3] / ir_in(u->graph, op, 1)->dim[3]);
    }
    one_window(t, op);
    emit_clamps(t, op);
    text_add(t, "    },\n");
    emit_scales(u, t, op);
    return ST_OK;
}

static enum status dense(struct emit_unit *u, struct text *t, const struct ir_op *op,
                         struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *w = ir_in(u->graph, op, 1);

    (void)d;
    text_add(t, "    .layer = {\n");
    emit_field(t, "batch", (int64_t)(ir_elements(x) / (uint64_t)w->dim[1]));
    emit_field(t, "in_c", w->dim[1]);
    emit_field(t, "out_c", w->dim[0]);
    emit_clamps(t, op);
    text_add(t, "    },\n");
    emit_scales(u, t, op);
    return ST_OK;
}

static enum status pool(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *y = ir_out(u->graph, op, 0);

    (void)d;
    emit_field(t, "batch", x->dim[0]);
    emit_field(t, "in_h", x->dim[1]);
    emit_field(t, "in_w", x->dim[2]);
    emit_field(t, "channels", x->dim[3]);
    emit_field(t, "out_h", y->dim[1]);
    emit_field(t, "out_w", y->dim[2]);
    one_window(t, op);
    emit_clamps(t, op);
    return ST_OK;
}

static enum status unary(struct emit_unit *u, struct text *t, const struct ir_op *op,
                         struct diag *d)
{
    const struct ir_fixed *f = &op->fixed;
    const uint32_t negative = f->n > 1; /* QUANTIZE has one scale for both signs */

    (void)d;
    emit_field(t, "n", (int64_t)ir_elements(ir_in(u->graph, op, 0)));
    emit_field(t, "absolute", op->opcode == IR_OP_ABS);
    emit_clamps(t, op);
    text_printf(t, "    .multiplier = {%d, %d},\n    .shift = {%d, %d},\n", f->multiplier[0],
                f->multiplier[negative], f->shift[0], f->shift[negative]);
    return ST_OK;
}

static void table(struct emit_unit *u, struct text *t, const char *name, const char *type,
                  const int16_t *data, uint32_t n)
{
    text_printf(t, "    .%s = (const %s *)(const void *)(model_constants + 0x%x),\n", name, type,
                emit_host_constant(u, data, (size_t)n * 2));
}

static enum status sigmoid(struct emit_unit *u, struct text *t, const struct ir_op *op,
                           struct diag *d)
{
    (void)d;
    emit_field(t, "n", (int64_t)ir_elements(ir_in(u->graph, op, 0)));
    emit_field(t, "multiplier", op->fixed.multiplier[0]);
    emit_field(t, "shift", op->fixed.shift[0]);
    table(u, t, "table", "uint16_t", op->fixed.wide, op->fixed.n_wide);
    return ST_OK;
}

static enum status softmax(struct emit_unit *u, struct text *t, const struct ir_op *op,
                           struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);
    const uint32_t half = op->fixed.n_wide / 2;

    (void)d;
    emit_field(t, "rows", (int64_t)(ir_elements(x) / (uint64_t)ir_dim_back(x, 0)));
    emit_field(t, "cols", ir_dim_back(x, 0));
    emit_field(t, "multiplier", op->fixed.multiplier[0]);
    emit_field(t, "shift", op->fixed.shift[0]);
    table(u, t, "exp", "int16_t", op->fixed.wide, half);
    table(u, t, "inverse", "int16_t", op->fixed.wide + half, half);
    return ST_OK;
}

static enum status dequantize(struct emit_unit *u, struct text *t, const struct ir_op *op,
                              struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);

    (void)d;
    emit_field(t, "n", (int64_t)ir_elements(x));
    text_printf(t, "    .scale = %af,\n", (double)x->quant.scale[0]);
    return ST_OK;
}

/* Those whose parameters are written as for int8 share the writer. */
static const struct host_op table_i16[] = {
    {IR_OP_CONV2D, IR_I16, "i16_conv2d", "i16_conv2d", conv, HOST_ALL},
    {IR_OP_DEPTHWISE_CONV2D, IR_I16, "i16_depthwise_conv2d", "i16_depthwise_conv2d", conv,
     HOST_ALL},
    {IR_OP_FULLY_CONNECTED, IR_I16, "i16_fully_connected", "i16_fully_connected", dense, HOST_ALL},
    {IR_OP_TRANSPOSE_CONV, IR_I16, "i16_transpose_conv", "transpose_conv", emit_int8_fields,
     HOST_ALL},
    {IR_OP_BATCH_MATMUL, IR_I16, "i16_matmul", "matmul", emit_int8_fields, HOST_ALL},
    {IR_OP_ADD, IR_I16, "i16_add", "add", emit_int8_fields, HOST_TWO},
    {IR_OP_SUB, IR_I16, "i16_sub", "add", emit_int8_fields, HOST_TWO},
    {IR_OP_MUL, IR_I16, "i16_mul", "mul", emit_int8_fields, HOST_TWO},
    {IR_OP_MAXIMUM, IR_I16, "i16_maximum", "extremum", emit_int8_fields, HOST_TWO},
    {IR_OP_MINIMUM, IR_I16, "i16_minimum", "extremum", emit_int8_fields, HOST_TWO},
    {IR_OP_AVERAGE_POOL2D, IR_I16, "i16_avg_pool", "pool", pool, HOST_ONE},
    {IR_OP_MAX_POOL2D, IR_I16, "i16_max_pool", "pool", pool, HOST_ONE},
    {IR_OP_MEAN, IR_I16, "i16_mean", "mean", emit_int8_fields, HOST_ONE},
    {IR_OP_REDUCE_MAX, IR_I16, "i16_reduce_max", "mean", emit_int8_fields, HOST_ONE},
    {IR_OP_REDUCE_MIN, IR_I16, "i16_reduce_min", "mean", emit_int8_fields, HOST_ONE},
    {IR_OP_RESIZE_BILINEAR, IR_I16, "i16_resize_bilinear", "resize_bilinear", emit_int8_fields,
     HOST_ONE},
    {IR_OP_RELU, IR_I16, "i16_unary", "i16_unary", unary, HOST_ONE},
    {IR_OP_RELU6, IR_I16, "i16_unary", "i16_unary", unary, HOST_ONE},
    {IR_OP_LEAKY_RELU, IR_I16, "i16_unary", "i16_unary", unary, HOST_ONE},
    {IR_OP_ABS, IR_I16, "i16_unary", "i16_unary", unary, HOST_ONE},
    {IR_OP_LOGISTIC, IR_I16, "i16_logistic", "i16_sigmoid", sigmoid, HOST_ONE},
    {IR_OP_TANH, IR_I16, "i16_tanh", "i16_sigmoid", sigmoid, HOST_ONE},
    {IR_OP_SOFTMAX, IR_I16, "i16_softmax", "i16_softmax", softmax, HOST_ONE},
    {IR_OP_DEQUANTIZE, IR_I16, "i16_dequantize", "quantize", dequantize, HOST_ONE},
};

const struct host_op *emit_host_int16(enum ir_opcode opcode, enum ir_type in, enum ir_type out)
{
    static const struct host_op from_float = {IR_OP_QUANTIZE, IR_F32,        "i16_quantize",
                                              "quantize",     emit_quantize, HOST_ONE};
    static const struct host_op to_int8 = {IR_OP_QUANTIZE, IR_I16,          "i16_to_int8",
                                           "requantize",   emit_requantize, HOST_ONE};
    static const struct host_op to_int16 = {IR_OP_QUANTIZE, IR_I16, "i16_unary",
                                            "i16_unary",    unary,  HOST_ONE};

    if (opcode == IR_OP_QUANTIZE)
        return in == IR_F32 ? &from_float : out == IR_I16 ? &to_int16 : &to_int8;
    for (size_t i = 0; i < sizeof table_i16 / sizeof *table_i16; i++)
        if (table_i16[i].opcode == opcode && in == IR_I16)
            return &table_i16[i];
    return NULL;
}
