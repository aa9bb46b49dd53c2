/* host_f32.c - host operators in float32 ; see emit_host.h. */
#include "emit_host.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "compiler/ir/float_numbers.h"
#include "kernels/hdk_f32.h"

static void real(struct text *t, const char *name, float v)
{
    if (isinf(v))
        text_printf(t, "    .%s = %sHDK_F32_INFINITY,\n", name, v < 0 ? "-" : "");
    else if (v != 0)
        text_printf(t, "    .%s = %af,\n", name, (double)v);
}

static void clamp(struct text *t, const struct ir_op *op)
{
    const struct ir_two_floats b = ir_fused_bounds(op);

    real(t, "low", b.a);
    real(t, "high", b.b);
}

static void array(struct text *t, const char *name, uint32_t offset)
{
    text_printf(t, "    .%s = (const float *)(const void *)(model_constants + 0x%x),\n", name,
                offset);
}

/* Reorder [OC,taps] into panels [taps, lanes], one for each HDK_F32_LANES channels of each
 * group. */
static uint32_t panels(struct emit_unit *u, const struct ir_tensor *w, size_t groups)
{
    const size_t oc = (size_t)w->dim[0], taps = (size_t)ir_elements(w) / oc, each = oc / groups;
    const size_t blocks = (each + HDK_F32_LANES - 1) / HDK_F32_LANES;
    const size_t n = groups * blocks * taps * HDK_F32_LANES;
    uint32_t *to = ARENA_ARRAY(u->arena, uint32_t, n); /* the floats' bits */

    for (size_t g = 0; g < groups; g++)
        for (size_t c = 0; c < each; c++)
            for (size_t k = 0; k < taps; k++)
                memcpy(&to[((g * blocks + c / HDK_F32_LANES) * taps + k) * HDK_F32_LANES +
                           c % HDK_F32_LANES],
                       w->data + ((g * each + c) * taps + k) * 4, 4);
    return emit_host_constant(u, to, n * 4);
}

static void bias(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    const struct ir_tensor *b = ir_in(u->graph, op, 2);

    if (b)
        array(t, "bias", emit_host_constant(u, b->data, (size_t)ir_bytes(b)));
}

static void images(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *y = ir_out(u->graph, op, 0);

    emit_field(t, "batch", x->dim[0]);
    emit_field(t, "in_h", x->dim[1]);
    emit_field(t, "in_w", x->dim[2]);
    emit_field(t, "out_h", y->dim[1]);
    emit_field(t, "out_w", y->dim[2]);
    emit_field(t, "kernel_h", op->attr[IR_KERNEL_H]);
    emit_field(t, "kernel_w", op->attr[IR_KERNEL_W]);
    emit_field(t, "stride_y", op->attr[IR_STRIDE_H]);
    emit_field(t, "stride_x", op->attr[IR_STRIDE_W]);
    emit_field(t, "pad_top", op->attr[IR_PAD_TOP]);
    emit_field(t, "pad_left", op->attr[IR_PAD_LEFT]);
}

static void channels(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    const int32_t *a = op->attr;

    images(u, t, op);
    emit_field(t, "in_c", ir_in(u->graph, op, 0)->dim[3]);
    emit_field(t, "out_c", ir_out(u->graph, op, 0)->dim[3]);
    emit_field(t, "dilation_y", a[IR_DILATION_H] ? a[IR_DILATION_H] : 1);
    emit_field(t, "dilation_x", a[IR_DILATION_W] ? a[IR_DILATION_W] : 1);
    clamp(t, op);
    bias(u, t, op);
}

enum status emit_f32_conv2d(struct emit_unit *u, struct text *t, const struct ir_op *op,
                            struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *w = ir_in(u->graph, op, 1);
    const int32_t groups = x->dim[3] / w->dim[3];

    (void)d;
    channels(u, t, op);
    emit_field(t, "groups", groups);
    array(t, "w", panels(u, w, (size_t)groups));
    return ST_OK;
}

/* Depthwise and transposed convolutions take the weights as they are. */
enum status emit_f32_plain_conv(struct emit_unit *u, struct text *t, const struct ir_op *op,
                                struct diag *d)
{
    const struct ir_tensor *w = ir_in(u->graph, op, 1);

    (void)d;
    channels(u, t, op);
    array(t, "w", emit_host_constant(u, w->data, (size_t)ir_bytes(w)));
    return ST_OK;
}

enum status emit_f32_dense(struct emit_unit *u, struct text *t, const struct ir_op *op,
                           struct diag *d)
{
    const struct ir_tensor *w = ir_in(u->graph, op, 1);
    const int64_t rows = (int64_t)(ir_elements(ir_out(u->graph, op, 0)) / (uint64_t)w->dim[0]);

    (void)d;
    text_printf(t,
                "    .batch = 1, .in_h = 1, .in_w = %lld, .in_c = %d, .out_h = 1, .out_w = %lld,\n"
                "    .out_c = %d, .kernel_h = 1, .kernel_w = 1, .groups = 1, .stride_y = 1,\n"
                "    .stride_x = 1, .dilation_y = 1, .dilation_x = 1,\n",
                (long long)rows, w->dim[1], (long long)rows, w->dim[0]);
    clamp(t, op);
    bias(u, t, op);
    array(t, "w", panels(u, w, 1));
    return ST_OK;
}

enum status emit_f32_matmul(struct emit_unit *u, struct text *t, const struct ir_op *op,
                            struct diag *d)
{
    (void)d;
    emit_matrices(u, t, op);
    clamp(t, op);
    return ST_OK;
}

enum status emit_f32_binary(struct emit_unit *u, struct text *t, const struct ir_op *op,
                            struct diag *d)
{
    TRY(emit_walk_only(u, t, op, d));
    clamp(t, op);
    return ST_OK;
}

enum status emit_f32_pool(struct emit_unit *u, struct text *t, const struct ir_op *op,
                          struct diag *d)
{
    (void)d;
    images(u, t, op);
    emit_field(t, "channels", ir_in(u->graph, op, 0)->dim[3]);
    clamp(t, op);
    return ST_OK;
}

enum status emit_f32_rows(struct emit_unit *u, struct text *t, const struct ir_op *op,
                          struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);

    (void)d;
    emit_field(t, "rows", (int64_t)(ir_elements(x) / (uint64_t)ir_dim_back(x, 0)));
    emit_field(t, "cols", ir_dim_back(x, 0));
    real(t, "beta", ir_attr_float(op, IR_BETA_BITS));
    return ST_OK;
}

enum status emit_f32_interpolate(struct emit_unit *u, struct text *t, const struct ir_op *op,
                                 struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *p = ir_in(u->graph, op, 1),
                           *w = ir_in(u->graph, op, 2);

    (void)d;
    emit_axis(t, "size", x, (uint32_t)op->attr[IR_AXIS]);
    emit_field(t, "n", p->dim[0]);
    emit_field(t, "taps", p->dim[1]);
    text_printf(t, "    .index = (const int32_t *)(const void *)(model_constants + 0x%x),\n",
                emit_host_constant(u, p->data, (size_t)ir_bytes(p)));
    array(t, "weight", emit_host_constant(u, w->data, (size_t)ir_bytes(w)));
    return ST_OK;
}

enum status emit_f32_detection(struct emit_unit *u, struct text *t, const struct ir_op *op,
                               struct diag *d)
{
    const struct ir_tensor *box = ir_in(u->graph, op, 0), *anchor = ir_in(u->graph, op, 2);
    float v[6];

    (void)d;
    memcpy(v, ir_in(u->graph, op, 3)->data, sizeof v);
    emit_field(t, "boxes", box->dim[1]);
    emit_field(t, "encoding", box->dim[2]);
    emit_field(t, "scores", ir_dim_back(ir_in(u->graph, op, 1), 0));
    emit_field(t, "classes", op->attr[IR_CLASSES]);
    emit_field(t, "classes_each", op->attr[IR_CLASSES_EACH]);
    emit_field(t, "detections",
               ir_dim_back(ir_out(u->graph, op, 0), 0) / 6 / op->attr[IR_CLASSES_EACH]);
    array(t, "anchor", emit_host_constant(u, anchor->data, (size_t)ir_bytes(anchor)));
    text_printf(t, "    .scale = {%af, %af, %af, %af},\n", (double)v[0], (double)v[1], (double)v[2],
                (double)v[3]);
    real(t, "score_threshold", v[4]);
    real(t, "iou_threshold", v[5]);
    return ST_OK;
}

static void rows(struct emit_unit *u, struct text *t, const struct ir_op *op, int32_t n)
{
    emit_field(t, "rows", n);
    emit_field(t, "cols", (int64_t)ir_elements(ir_in(u->graph, op, 0)) / n);
}

enum status emit_row_scales(struct emit_unit *u, struct text *t, const struct ir_op *op,
                            struct diag *d)
{
    (void)d;
    rows(u, t, op, ir_out(u->graph, op, 0)->dim[0]);
    emit_field(t, "asymmetric", op->attr[IR_ASYMMETRIC]);
    return ST_OK;
}

enum status emit_quantize_rows(struct emit_unit *u, struct text *t, const struct ir_op *op,
                               struct diag *d)
{
    (void)d;
    rows(u, t, op, ir_in(u->graph, op, 1)->dim[0]);
    return ST_OK;
}

enum status emit_scale_sums(struct emit_unit *u, struct text *t, const struct ir_op *op,
                            struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *w = ir_in(u->graph, op, 2);
    const int32_t n = ir_in(u->graph, op, 1)->dim[0], channels = ir_dim_back(x, 0);

    (void)d;
    emit_field(t, "rows", n);
    emit_field(t, "cols", (int64_t)ir_elements(x) / n / channels);
    emit_field(t, "channels", channels);
    emit_field(t, "per_channel", ir_elements(w) > 1);
    emit_field(t, "channels_first", op->attr[IR_CHANNELS_FIRST]);
    array(t, "weight", emit_host_constant(u, w->data, (size_t)ir_bytes(w)));
    if (op->n_in > 3)
        array(t, "bias",
              emit_host_constant(u, ir_in(u->graph, op, 3)->data,
                                 (size_t)ir_bytes(ir_in(u->graph, op, 3))));
    clamp(t, op);
    return ST_OK;
}

enum status emit_f32_order(struct emit_unit *u, struct text *t, const struct ir_op *op,
                           struct diag *d)
{
    const struct ir_tensor *y = ir_out(u->graph, op, 0);

    (void)d;
    emit_axis(t, "n", ir_in(u->graph, op, 0), (uint32_t)op->attr[IR_AXIS]);
    emit_field(t, "k", op->opcode == IR_OP_TOP_K ? y->dim[op->attr[IR_AXIS]] : 0);
    emit_field(t, "reverse", op->attr[IR_REVERSE]);
    emit_field(t, "exclusive", op->attr[IR_EXCLUSIVE]);
    emit_field(t, "index_bytes", ir_is_int(y->type) ? ir_type_bytes(y->type) : 0);
    emit_field(t, "is_int8", ir_in(u->graph, op, 0)->type == IR_I8);
    return ST_OK;
}

enum status emit_f32_unary(struct emit_unit *u, struct text *t, const struct ir_op *op,
                           struct diag *d)
{
    const struct ir_two_floats b = ir_unary_numbers(op);

    (void)d;
    emit_field(t, "n", (int64_t)ir_elements(ir_in(u->graph, op, 0)));
    real(t, "a", b.a);
    real(t, "b", b.b);
    return ST_OK;
}
