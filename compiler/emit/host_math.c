/* host_math.c - host operators of hdk_ops.h; see emit_host.h. */
#include <math.h>

#include "compiler/ir/float_numbers.h"
#include "compiler/ir/rules.h"
#include "emit_host.h"

enum status emit_reduce(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    if (ir_in(u->graph, op, 0)->type != IR_BOOL)
        TRY(emit_need_int8(u, op, d));
    return emit_reduced(u, t, op, d);
}

enum status emit_arg(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);

    (void)d;
    emit_axis(t, "n", x, (uint32_t)op->attr[IR_AXIS]);
    emit_field(t, "wide", ir_out(u->graph, op, 0)->type == IR_I64);
    return ST_OK;
}

/* Write input and output as images, with the pads and strides of the window. */
static void images(struct emit_unit *u, struct text *t, const struct ir_op *op,
                   const char *channels)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *y = ir_out(u->graph, op, 0);

    emit_field(t, "batch", x->dim[0]);
    emit_field(t, "in_h", x->dim[1]);
    emit_field(t, "in_w", x->dim[2]);
    emit_field(t, channels, x->dim[3]);
    emit_field(t, "out_h", y->dim[1]);
    emit_field(t, "out_w", y->dim[2]);
}

enum status emit_transpose_conv(struct emit_unit *u, struct text *t, const struct ir_op *op,
                                struct diag *d)
{
    TRY(emit_need_int8(u, op, d));
    images(u, t, op, "in_c");
    emit_field(t, "out_c", ir_out(u->graph, op, 0)->dim[3]);
    emit_field(t, "kernel_h", op->attr[IR_KERNEL_H]);
    emit_field(t, "kernel_w", op->attr[IR_KERNEL_W]);
    emit_field(t, "stride_y", op->attr[IR_STRIDE_H]);
    emit_field(t, "stride_x", op->attr[IR_STRIDE_W]);
    emit_field(t, "pad_top", op->attr[IR_PAD_TOP]);
    emit_field(t, "pad_left", op->attr[IR_PAD_LEFT]);
    emit_field(t, "z_in", ir_zero_point(ir_in(u->graph, op, 0)));
    emit_field(t, "z_w", ir_zero_point(ir_in(u->graph, op, 1)));
    emit_field(t, "z_out", ir_zero_point(ir_out(u->graph, op, 0)));
    emit_clamps(t, op);
    emit_scales(u, t, op);
    return ST_OK;
}

enum status emit_matmul(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    TRY(emit_need_int8(u, op, d));
    emit_matrices(u, t, op);
    emit_field(t, "z_a", ir_zero_point(ir_in(u->graph, op, 0)));
    emit_field(t, "z_b", ir_zero_point(ir_in(u->graph, op, 1)));
    emit_field(t, "z_out", ir_zero_point(ir_out(u->graph, op, 0)));
    emit_clamps(t, op);
    emit_field(t, "multiplier", op->fixed.multiplier[0]);
    emit_field(t, "shift", op->fixed.shift[0]);
    return ST_OK;
}

enum status emit_resize_bilinear(struct emit_unit *u, struct text *t, const struct ir_op *op,
                                 struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *y = ir_out(u->graph, op, 0);
    int32_t step_y = ir_resize_step(op, x->dim[1], y->dim[1]),
            step_x = ir_resize_step(op, x->dim[2], y->dim[2]);

    TRY(emit_need_int8(u, op, d));
    images(u, t, op, "channels");
    emit_field(t, "step_y", step_y);
    emit_field(t, "step_x", step_x);
    emit_field(t, "start_y", op->attr[IR_HALF_PIXEL] ? step_y / 2 - 512 : 0);
    emit_field(t, "start_x", op->attr[IR_HALF_PIXEL] ? step_x / 2 - 512 : 0);
    return ST_OK;
}

enum status emit_interpolate(struct emit_unit *u, struct text *t, const struct ir_op *op,
                             struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *p = ir_in(u->graph, op, 1),
                           *w = ir_in(u->graph, op, 2);

    TRY(emit_need_int8(u, op, d));
    emit_axis(t, "size", x, (uint32_t)op->attr[IR_AXIS]);
    emit_field(t, "n", p->dim[0]);
    emit_field(t, "taps", p->dim[1]);
    text_printf(t, "    .index = (const int32_t *)(const void *)(model_constants + 0x%x),\n",
                emit_host_constant(u, p->data, (size_t)ir_bytes(p)));
    text_printf(t, "    .weight = (const int16_t *)(const void *)(model_constants + 0x%x),\n",
                emit_host_constant(u, w->data, (size_t)ir_bytes(w)));
    emit_field(t, "z_in", ir_zero_point(x));
    emit_field(t, "z_out", ir_zero_point(ir_out(u->graph, op, 0)));
    emit_clamps(t, op);
    emit_field(t, "multiplier", op->fixed.multiplier[0]);
    emit_field(t, "shift", op->fixed.shift[0]);
    return ST_OK;
}

static float scale_of(const struct ir_op *op, int32_t in, int32_t out)
{
    if (op->attr[IR_ALIGN_CORNERS] && out > 1)
        return (float)(in - 1) / (float)(out - 1);
    return (float)in / (float)out;
}

enum status emit_resize_u8(struct emit_unit *u, struct text *t, const struct ir_op *op,
                           struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *y = ir_out(u->graph, op, 0);

    TRY(emit_need_int8(u, op, d));
    images(u, t, op, "channels");
    text_printf(t, "    .scale_y = %af,\n    .scale_x = %af,\n",
                (double)scale_of(op, x->dim[1], y->dim[1]),
                (double)scale_of(op, x->dim[2], y->dim[2]));
    emit_field(t, "half_pixel", op->attr[IR_HALF_PIXEL]);
    return ST_OK;
}

enum status emit_l2_norm(struct emit_unit *u, struct text *t, const struct ir_op *op,
                         struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);

    TRY(emit_need_int8(u, op, d));
    emit_field(t, "rows", (int64_t)(ir_elements(x) / (uint64_t)ir_dim_back(x, 0)));
    emit_field(t, "cols", ir_dim_back(x, 0));
    emit_field(t, "z_in", ir_zero_point(x));
    return ST_OK;
}

/* Zero points are operands of the call. */
enum status emit_matmul_integer(struct emit_unit *u, struct text *t, const struct ir_op *op,
                                struct diag *d)
{
    (void)d;
    emit_matrices(u, t, op);
    emit_field(t, "z_a", ir_elements(ir_in(u->graph, op, 2)) > 1);
    emit_field(t, "z_b", ir_elements(ir_in(u->graph, op, 3)) > 1);
    return ST_OK;
}

enum status emit_conv_integer(struct emit_unit *u, struct text *t, const struct ir_op *op,
                              struct diag *d)
{
    const int32_t *a = op->attr, channels = ir_in(u->graph, op, 0)->dim[3];

    (void)d;
    images(u, t, op, "in_c");
    emit_field(t, "out_c", ir_out(u->graph, op, 0)->dim[3]);
    emit_field(t, "kernel_h", a[IR_KERNEL_H]);
    emit_field(t, "kernel_w", a[IR_KERNEL_W]);
    emit_field(t, "groups", channels / ir_in(u->graph, op, 1)->dim[3]);
    emit_field(t, "stride_y", a[IR_STRIDE_H]);
    emit_field(t, "stride_x", a[IR_STRIDE_W]);
    emit_field(t, "dilation_y", a[IR_DILATION_H]);
    emit_field(t, "dilation_x", a[IR_DILATION_W]);
    emit_field(t, "pad_top", a[IR_PAD_TOP]);
    emit_field(t, "pad_left", a[IR_PAD_LEFT]);
    emit_field(t, "z_in", ir_elements(ir_in(u->graph, op, 2)) > 1);
    return ST_OK;
}

enum status emit_join_digits(struct emit_unit *u, struct text *t, const struct ir_op *op,
                             struct diag *d)
{
    const struct ir_tensor *taps = ir_in(u->graph, op, 2), *y = ir_out(u->graph, op, 0);

    (void)d;
    emit_field(t, "batch",
               (int64_t)(ir_elements(y) / (uint64_t)ir_dim_back(y, 0) /
                         (uint64_t)ir_dim_back(y, 1) / (uint64_t)ir_dim_back(y, 2)));
    emit_field(t, "out_h", ir_dim_back(y, 2));
    emit_field(t, "out_w", ir_dim_back(y, 1));
    emit_field(t, "out_c", ir_dim_back(y, 0));
    emit_field(t, "digits", op->attr[IR_DIGITS]);
    emit_field(t, "each", op->attr[IR_MULTIPLIER]);
    emit_field(t, "top", op->attr[IR_PAD_TOP]);
    emit_field(t, "left", op->attr[IR_PAD_LEFT]);
    emit_field(t, "bottom", op->attr[IR_PAD_BOTTOM]);
    emit_field(t, "right", op->attr[IR_PAD_RIGHT]);
    emit_field(t, "zeros", (int64_t)ir_elements(ir_in(u->graph, op, 1)));
    emit_field(t, "z_in", ir_zero_point(ir_in(u->graph, op, 1)));
    text_printf(t, "    .taps = (const int32_t *)(const void *)(model_constants + 0x%x),\n",
                emit_host_constant(u, taps->data, (size_t)ir_bytes(taps)));
    return ST_OK;
}

static const char *number(const struct ir_tensor *t)
{
    switch (t->type) {
    case IR_I8: return "HDK_I8";
    case IR_I16: return "HDK_I16";
    case IR_I32: return "HDK_I32";
    case IR_I64: return "HDK_I64";
    case IR_F32: return "HDK_F32";
    default: return "HDK_BOOL";
    }
}

enum status emit_compare(struct emit_unit *u, struct text *t, const struct ir_op *op,
                         struct diag *d)
{
    TRY(emit_walk_only(u, t, op, d));
    text_printf(t, "    .type = %s,\n    .relation = %s,\n", number(ir_in(u->graph, op, 0)),
                ir_op_info(op->opcode)->kernel_mode);
    if (op->fixed.n == 0)
        return ST_OK;
    emit_field(t, "z_a", ir_zero_point(ir_in(u->graph, op, 0)));
    emit_field(t, "z_b", ir_zero_point(ir_in(u->graph, op, 1)));
    emit_field(t, "multiplier_a", op->fixed.multiplier[0]);
    emit_field(t, "multiplier_b", op->fixed.multiplier[1]);
    emit_field(t, "shift_a", op->fixed.shift[0]);
    emit_field(t, "shift_b", op->fixed.shift[1]);
    return ST_OK;
}

enum status emit_arithmetic(struct emit_unit *u, struct text *t, const struct ir_op *op,
                            struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);
    const struct ir_two_floats clamp = ir_fused_bounds(op);

    TRY(emit_walk_only(u, t, op, d));
    text_printf(t, "    .type = %s,\n    .op = %s,\n", number(x),
                ir_op_info(op->opcode)->kernel_mode);
    if (isinf(clamp.a))
        text_add(t, "    .low = INT64_MIN,\n");
    else
        emit_field(t, "low", (int64_t)clamp.a);
    if (isinf(clamp.b))
        text_add(t, "    .high = INT64_MAX,\n");
    else
        emit_field(t, "high", (int64_t)clamp.b);
    return ST_OK;
}

static void number_fields(struct text *t, const struct ir_tensor *x, const struct ir_op *op)
{
    text_printf(t, "    .type = %s,\n    .op = %s,\n", number(x),
                ir_op_info(op->opcode)->kernel_mode);
}

enum status emit_fold(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    number_fields(t, ir_in(u->graph, op, 0), op);
    return emit_reduced(u, t, op, d);
}

enum status emit_scan(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);

    (void)d;
    number_fields(t, x, op);
    emit_axis(t, "n", x, (uint32_t)op->attr[IR_AXIS]);
    emit_field(t, "reverse", op->attr[IR_REVERSE]);
    emit_field(t, "exclusive", op->attr[IR_EXCLUSIVE]);
    return ST_OK;
}

enum status emit_logical_not(struct emit_unit *u, struct text *t, const struct ir_op *op,
                             struct diag *d)
{
    (void)d;
    emit_field(t, "n", (int64_t)ir_elements(ir_in(u->graph, op, 0)));
    return ST_OK;
}

enum status emit_cast(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);

    (void)d;
    emit_field(t, "n", (int64_t)ir_elements(x));
    text_printf(t, "    .from = %s,\n    .to = %s,\n", number(x), number(ir_out(u->graph, op, 0)));
    emit_field(t, "add_in", op->attr[IR_FROM_U8] ? 128 : 0);
    emit_field(t, "less_out", op->attr[IR_TO_U8] ? 128 : 0);
    return ST_OK;
}

enum status emit_lstm(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *w = ir_in(u->graph, op, 1),
                           *r = ir_in(u->graph, op, 2), *b = ir_in(u->graph, op, 3);
    const float cell = ir_in(u->graph, op, 5)->quant.scale[0];
    const float clip = ir_attr_float(op, IR_CLIP_HIGH_BITS);
    int bits;

    (void)d;
    (void)frexpf(cell, &bits); /* 2^(bits - 1) */
    emit_field(t, "batch", x->dim[1 - op->attr[IR_AXIS]]);
    emit_field(t, "steps", x->dim[op->attr[IR_AXIS]]);
    emit_field(t, "in_c", x->dim[2]);
    emit_field(t, "cells", r->dim[1]);
    emit_field(t, "x_parts", op->attr[IR_DIGITS] ? 1 : w->dim[2] / x->dim[2]);
    emit_field(t, "h_parts", r->dim[2] / r->dim[1]);
    emit_field(t, "time_major", op->attr[IR_AXIS] == 0);
    emit_field(t, "reset", op->attr[IR_RESET]);
    emit_field(t, "digits", op->attr[IR_DIGITS]);
    emit_field(t, "each", op->attr[IR_MULTIPLIER]);
    emit_field(t, "cell_bits", bits + 14);
    emit_field(t, "clip", (int64_t)fminf(clip / cell, 32767));
    emit_field(t, "z_out", ir_zero_point(ir_out(u->graph, op, 0)));
    if (op->attr[IR_DIGITS] == 0)
        text_printf(t, "    .w = (const int8_t *)(model_constants + 0x%x),\n",
                    emit_host_constant(u, w->data, (size_t)ir_bytes(w)));
    text_printf(t,
                "    .r = (const int8_t *)(model_constants + 0x%x),\n"
                "    .bias = (const int32_t *)(const void *)(model_constants + 0x%x),\n",
                emit_host_constant(u, r->data, (size_t)ir_bytes(r)),
                emit_host_constant(u, b->data, (size_t)ir_bytes(b)));
    emit_scales(u, t, op);
    return ST_OK;
}

enum status emit_svdf(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *feature = ir_in(u->graph, op, 1),
                           *time = ir_in(u->graph, op, 2), *bias = ir_in(u->graph, op, 3);

    (void)d;
    emit_field(t, "batch", x->dim[0]);
    emit_field(t, "in_c", x->dim[1]);
    emit_field(t, "filters", feature->dim[0]);
    emit_field(t, "memory", time->dim[1]);
    emit_field(t, "units", ir_dim_back(ir_out(u->graph, op, 0), 0));
    emit_field(t, "z_in", ir_zero_point(x));
    emit_field(t, "z_out", ir_zero_point(ir_out(u->graph, op, 0)));
    text_printf(t,
                "    .feature = (const int8_t *)(model_constants + 0x%x),\n"
                "    .time = (const int16_t *)(const void *)(model_constants + 0x%x),\n"
                "    .bias = (const int32_t *)(const void *)(model_constants + 0x%x),\n",
                emit_host_constant(u, feature->data, (size_t)ir_bytes(feature)),
                emit_host_constant(u, time->data, (size_t)ir_bytes(time)),
                emit_host_constant(u, bias->data, (size_t)ir_bytes(bias)));
    emit_scales(u, t, op);
    return ST_OK;
}
