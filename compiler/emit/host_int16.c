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

enum status emit_i16_conv(struct emit_unit *u, struct text *t, const struct ir_op *op,
                          struct diag *d)
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
    if (ir_is_depthwise(op)) {
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

enum status emit_i16_dense(struct emit_unit *u, struct text *t, const struct ir_op *op,
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

enum status emit_i16_pool(struct emit_unit *u, struct text *t, const struct ir_op *op,
                          struct diag *d)
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

enum status emit_i16_unary(struct emit_unit *u, struct text *t, const struct ir_op *op,
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

enum status emit_i16_sigmoid(struct emit_unit *u, struct text *t, const struct ir_op *op,
                             struct diag *d)
{
    (void)d;
    emit_field(t, "n", (int64_t)ir_elements(ir_in(u->graph, op, 0)));
    emit_field(t, "multiplier", op->fixed.multiplier[0]);
    emit_field(t, "shift", op->fixed.shift[0]);
    table(u, t, "table", "uint16_t", op->fixed.wide, op->fixed.n_wide);
    return ST_OK;
}

enum status emit_i16_softmax(struct emit_unit *u, struct text *t, const struct ir_op *op,
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

enum status emit_i16_dequantize(struct emit_unit *u, struct text *t, const struct ir_op *op,
                                struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);

    (void)d;
    emit_field(t, "n", (int64_t)ir_elements(x));
    text_printf(t, "    .scale = %af,\n", (double)x->quant.scale[0]);
    emit_field(t, "zero", ir_zero_point(x));
    return ST_OK;
}

enum status emit_byte_of(struct emit_unit *u, struct text *t, const struct ir_op *op,
                         struct diag *d)
{
    (void)d;
    emit_field(t, "n", (int64_t)ir_elements(ir_in(u->graph, op, 0)));
    emit_field(t, "high", op->attr[IR_HIGH]);
    return ST_OK;
}

enum status emit_halves(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);
    int32_t dim[4];

    (void)d;
    ir_halves_shape(x->type == IR_I16 ? x : ir_out(u->graph, op, 0), dim);
    emit_field(t, "rows", (int64_t)dim[0] * dim[1]);
    emit_field(t, "n", (int64_t)dim[2] / 2 * dim[3]);
    return ST_OK;
}

enum status emit_join_wide(struct emit_unit *u, struct text *t, const struct ir_op *op,
                           struct diag *d)
{
    const struct ir_tensor *y = ir_out(u->graph, op, 0);
    const int32_t sums = ir_in_blocks(op->attr[IR_MULTIPLIER], ir_dim_back(y, 0));

    (void)d;
    emit_field(t, "pixels", (int64_t)(ir_elements(y) / (uint64_t)ir_dim_back(y, 0)));
    emit_field(t, "out_c", ir_dim_back(y, 0));
    emit_field(t, "each", op->attr[IR_MULTIPLIER]);
    emit_field(t, "digits_upper", ir_dim_back(ir_in(u->graph, op, 0), 0) / sums);
    emit_field(t, "digits_lower", ir_dim_back(ir_in(u->graph, op, 1), 0) / sums);
    emit_clamps(t, op);
    emit_scales(u, t, op);
    return ST_OK;
}
