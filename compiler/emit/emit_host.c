/* emit_host.c - writers of the parameter structs of int8's host kernels, and code that all
 * writers share. The kernels and their layouts are in kernels/hdk.h. */
#include <string.h>

#include "compiler/host/host_kernel.h"
#include "compiler/systolic/schedule/host_layer.h"
#include "emit_host.h"

void emit_field(struct text *t, const char *name, int64_t value)
{
    if (value != 0)
        text_printf(t, "    .%s = %lld,\n", name, (long long)value);
}

void emit_axis(struct text *t, const char *name, const struct ir_tensor *x, uint32_t axis)
{
    int64_t outer = 1, inner = 1;

    for (uint32_t i = 0; i < x->rank; i++)
        *(i < axis ? &outer : &inner) *= i == axis ? 1 : x->dim[i];
    emit_field(t, "outer", outer);
    emit_field(t, name, x->dim[axis]);
    emit_field(t, "inner", inner);
}

void emit_clamps(struct text *t, const struct ir_op *op)
{
    emit_field(t, "act_min", op->fixed.act_min);
    emit_field(t, "act_max", op->fixed.act_max);
}

enum status emit_need_int8(const struct emit_unit *u, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *y = ir_out(u->graph, op, 0);

    if (x->type == y->type && (x->type == IR_I8 || x->type == IR_I16))
        return ST_OK; /* the kernel table knows which of the two applies */
    return FAIL(d, ST_UNSUPPORTED,
                "operator %s (%s): the host kernel supports int8, found %s to %s; quantise the "
                "model to int8",
                u->graph->row[op->row].name, u->graph->row[op->row].op, ir_type_name(x->type),
                ir_type_name(y->type));
}

static void geometry(struct text *t, const struct geo *g, uint32_t batch)
{
    emit_field(t, "batch", batch);
    emit_field(t, "in_h", g->h);
    emit_field(t, "in_w", g->w);
    emit_field(t, "out_h", g->oh);
    emit_field(t, "out_w", g->ow);
    emit_field(t, "kernel_h", g->kh);
    emit_field(t, "kernel_w", g->kw);
    emit_field(t, "stride_y", g->sy);
    emit_field(t, "stride_x", g->sx);
    emit_field(t, "pad_top", g->pt);
    emit_field(t, "pad_left", g->pl);
}

/* Write a field that has the same name in host_layer.h's struct. */
#define SAME(name) emit_field(t, #name, p.name)

static enum status need_constant(const struct emit_unit *u, const struct geo *g, struct diag *d)
{
    const struct ir_row *row = &u->graph->row[g->op->row];

    if (g->filter && g->filter->data && (!g->bias || g->bias->data))
        return ST_OK;
    return FAIL(
        d, ST_UNSUPPORTED,
        "operator %s (%s): the host kernel needs constant weights and bias, found computed ones",
        row->name, row->op);
}

static void conv2d_fields(struct text *t, const struct geo *g)
{
    struct hdk_conv2d p;

    host_conv2d(g, &p);
    SAME(in_c);
    SAME(out_c);
    SAME(groups);
    SAME(dilation_y);
    SAME(dilation_x);
    SAME(z_in);
    SAME(z_w);
    SAME(z_out);
}

static void depthwise_fields(struct text *t, const struct geo *g)
{
    struct hdk_depthwise_conv2d p;

    host_depthwise_conv2d(g, &p);
    SAME(in_c);
    SAME(depth_multiplier);
    SAME(dilation_y);
    SAME(dilation_x);
    SAME(z_in);
    SAME(z_w);
    SAME(z_out);
}

enum status emit_conv2d(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    struct geo g;

    geo_of(u->graph, op, &g);
    TRY(emit_need_int8(u, op, d));
    TRY(need_constant(u, &g, d));
    geometry(t, &g, (uint32_t)ir_dim_back(g.x, 3));
    if (host_is_conv2d(&g))
        conv2d_fields(t, &g);
    else
        depthwise_fields(t, &g);
    emit_clamps(t, op);
    return ST_OK;
}

enum status emit_fully_connected(struct emit_unit *u, struct text *t, const struct ir_op *op,
                                 struct diag *d)
{
    struct geo g;
    struct hdk_fully_connected p;

    geo_of(u->graph, op, &g);
    TRY(emit_need_int8(u, op, d));
    TRY(need_constant(u, &g, d));
    host_fully_connected(&g, &p);
    SAME(batch);
    SAME(in_c);
    SAME(out_c);
    SAME(z_in);
    SAME(z_w);
    SAME(z_out);
    emit_clamps(t, op);
    return ST_OK;
}

static void array4(struct text *t, const char *open, const uint32_t v[4], const char *close)
{
    text_printf(t, "%s = {%u, %u, %u, %u}%s", open, v[0], v[1], v[2], v[3], close);
}

enum status emit_walk_only(struct emit_unit *u, struct text *t, const struct ir_op *op,
                           struct diag *d)
{
    struct hdk_walk2 w;

    if (!host_walk(u->graph, op, &w))
        return FAIL(d, ST_UNSUPPORTED,
                    "operator %s: its broadcast needs more than four loops on the host",
                    u->graph->row[op->row].name);
    array4(t, "    .walk = {.shape", w.shape, ",\n");
    array4(t, "             .a_stride", w.a_stride, ",\n");
    array4(t, "             .b_stride", w.b_stride, "},\n");
    return ST_OK;
}

enum status emit_walk(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    TRY(emit_walk_only(u, t, op, d));
    emit_field(t, "z_a", ir_zero_point(ir_in(u->graph, op, 0)));
    emit_field(t, "z_b", ir_zero_point(ir_in(u->graph, op, 1)));
    emit_field(t, "z_out", ir_zero_point(ir_out(u->graph, op, 0)));
    emit_clamps(t, op);
    return ST_OK;
}

enum status emit_extremum(struct emit_unit *u, struct text *t, const struct ir_op *op,
                          struct diag *d)
{
    TRY(emit_need_int8(u, op, d));
    TRY(emit_walk_only(u, t, op, d));
    if (op->fixed.n != 3)
        return ST_OK;
    emit_field(t, "z_a", ir_zero_point(ir_in(u->graph, op, 0)));
    emit_field(t, "z_b", ir_zero_point(ir_in(u->graph, op, 1)));
    emit_field(t, "z_out", ir_zero_point(ir_out(u->graph, op, 0)));
    emit_field(t, "multiplier_a", op->fixed.multiplier[0]);
    emit_field(t, "multiplier_b", op->fixed.multiplier[1]);
    emit_field(t, "multiplier_out", op->fixed.multiplier[2]);
    emit_field(t, "shift_out", op->fixed.shift[2]);
    return ST_OK;
}

enum status emit_scaled_walk(struct emit_unit *u, struct text *t, const struct ir_op *op,
                             struct diag *d)
{
    static const char *const suffix[3] = {"a", "b", "out"};

    TRY(emit_need_int8(u, op, d));
    TRY(emit_walk(u, t, op, d));
    for (uint32_t i = 0; i < 3; i++) {
        emit_field(t, arena_printf(u->arena, "multiplier_%s", suffix[i]), op->fixed.multiplier[i]);
        emit_field(t, arena_printf(u->arena, "shift_%s", suffix[i]), op->fixed.shift[i]);
    }
    return ST_OK;
}

static void one_scale(struct text *t, const struct ir_op *op)
{
    emit_field(t, "multiplier", op->fixed.multiplier[0]);
    emit_field(t, "shift", op->fixed.shift[0]);
}

enum status emit_mul(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    TRY(emit_need_int8(u, op, d));
    TRY(emit_walk(u, t, op, d));
    one_scale(t, op);
    return ST_OK;
}

enum status emit_pool(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    struct geo g;

    geo_of(u->graph, op, &g);
    TRY(emit_need_int8(u, op, d));
    geometry(t, &g, (uint32_t)ir_dim_back(g.x, 3));
    emit_field(t, "channels", g.c);
    emit_field(t, "round_up", op->attr[IR_ROUND_UP]);
    emit_clamps(t, op);
    return ST_OK;
}

/* Merge neighbouring dimensions that are all kept or all reduced; at most four are left. */
enum status emit_reduced(struct emit_unit *u, struct text *t, const struct ir_op *op,
                         struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);
    uint32_t shape[4] = {1, 1, 1, 1}, reduce[4] = {0}, at = 4;

    for (uint32_t i = x->rank; i-- > 0;) {
        const uint32_t gone = (uint32_t)op->attr[IR_AXIS] >> i & 1;
        if (x->dim[i] == 1)
            continue;
        if (at == 4 || reduce[at] != gone) {
            if (at == 0)
                return FAIL(d, ST_UNSUPPORTED,
                            "operator %s: its axes need more than four loops on the host",
                            u->graph->row[op->row].name);
            reduce[--at] = gone;
        }
        shape[at] *= (uint32_t)x->dim[i];
    }
    array4(t, "    .shape", shape, ",\n");
    array4(t, "    .reduce", reduce, ",\n");
    return ST_OK;
}

enum status emit_mean(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    TRY(emit_need_int8(u, op, d));
    TRY(emit_reduced(u, t, op, d));
    emit_field(t, "z_in", ir_zero_point(ir_in(u->graph, op, 0)));
    emit_field(t, "z_out", ir_zero_point(ir_out(u->graph, op, 0)));
    emit_clamps(t, op);
    one_scale(t, op);
    return ST_OK;
}

enum status emit_softmax(struct emit_unit *u, struct text *t, const struct ir_op *op,
                         struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);
    int64_t left = op->fixed.shift[0], reach = (int64_t)31 << 26;

    if (ir_out(u->graph, op, 0)->type != IR_I16)
        TRY(emit_need_int8(u, op, d));
    emit_field(t, "rows", (int64_t)(ir_elements(x) / (uint64_t)ir_dim_back(x, 0)));
    emit_field(t, "cols", ir_dim_back(x, 0));
    emit_field(t, "input_multiplier", op->fixed.multiplier[0]);
    emit_field(t, "input_left_shift", left);
    emit_field(t, "diff_min",
               left >= 0 ? -(reach >> left)
                         : -(reach << -left)); /* exp is 0 in Q5.26 for all differences beyond this
                                                * one */
    return ST_OK;
}

enum status emit_log_softmax(struct emit_unit *u, struct text *t, const struct ir_op *op,
                             struct diag *d)
{
    text_add(t, "    .exp = {\n");
    TRY(emit_softmax(u, t, op, d));
    text_add(t, "    },\n");
    emit_field(t, "reverse_multiplier", op->fixed.multiplier[1]);
    emit_field(t, "reverse_shift", op->fixed.shift[1]);
    return ST_OK;
}

enum status emit_lut(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    TRY(emit_need_int8(u, op, d));
    const struct ir_tensor *tables = op->n_in == 2 ? ir_in(u->graph, op, 1) : NULL;

    emit_field(t, "n", (int64_t)ir_elements(ir_in(u->graph, op, 0)));
    emit_field(t, "channels", tables ? (int64_t)ir_elements(tables) / 256 : 1);
    text_printf(t, "    .table = (const int8_t *)(model_constants + 0x%x),\n",
                tables ? emit_host_constant(u, tables->data, (size_t)ir_elements(tables))
                       : emit_host_constant(u, op->fixed.table, 256));
    return ST_OK;
}

/* Requantise between 8-bit types. uint8 bytes are flipped to int8 and back, with zero points and
 * clamps adjusted. */
enum status emit_requantize(struct emit_unit *u, struct text *t, const struct ir_op *op,
                            struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *y = ir_out(u->graph, op, 0);
    int32_t less_in = x->type == IR_U8 ? 128 : 0, less_out = y->type == IR_U8 ? 128 : 0;

    (void)d;
    emit_field(t, "n", (int64_t)ir_elements(x));
    emit_field(t, "z_in", ir_zero_point(x) - less_in);
    emit_field(t, "z_out", ir_zero_point(y) - less_out);
    emit_field(t, "act_min", op->fixed.act_min - less_out);
    emit_field(t, "act_max", op->fixed.act_max - less_out);
    one_scale(t, op);
    emit_field(t, "flip_in", less_in);
    emit_field(t, "flip_out", less_out);
    return ST_OK;
}

enum status emit_flip(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    (void)d;
    emit_field(t, "n", (int64_t)ir_elements(ir_in(u->graph, op, 0)));
    return ST_OK;
}

/* Convert float32 to 8 bits (`coded` is the output) or back (`coded` is the input). */
static void float_border(struct text *t, const struct ir_tensor *coded)
{
    int32_t less = coded->type == IR_U8 ? 128 : 0;

    emit_field(t, "n", (int64_t)ir_elements(coded));
    text_printf(t, "    .scale = %af,\n", (double)coded->quant.scale[0]);
    emit_field(t, "zero", ir_zero_point(coded) - less);
    emit_field(t, "flip", less);
}

enum status emit_quantize(struct emit_unit *u, struct text *t, const struct ir_op *op,
                          struct diag *d)
{
    (void)d;
    float_border(t, ir_out(u->graph, op, 0));
    return ST_OK;
}

enum status emit_dequantize(struct emit_unit *u, struct text *t, const struct ir_op *op,
                            struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);
    float value[256];

    (void)d;
    float_border(t, x);
    if (!host_dequantize_looks_up(x))
        return ST_OK;
    for (int32_t code = 0; code < 256; code++) {
        const int32_t q = x->type == IR_U8 || code < 128 ? code : code - 256;

        value[code] = x->quant.scale[0] * (float)(q - ir_zero_point(x));
    }
    text_printf(t, "    .value = (const float *)(const void *)(model_constants + 0x%x),\n",
                emit_host_constant(u, value, sizeof value));
    return ST_OK;
}

void emit_scales(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    const struct ir_fixed *f = &op->fixed;
    uint32_t m = emit_host_constant(u, f->multiplier, (size_t)f->n * 4),
             s = emit_host_constant(u, f->shift, f->n);

    text_printf(t,
                "    .scale = {(const int32_t *)(const void *)(model_constants + 0x%x),\n"
                "              (const int8_t *)(model_constants + 0x%x), %d, %d},\n",
                m, s, f->n > 1, op->attr[IR_NARROW] != 0);
}

/* Write the strides of an operand's batch dimensions, outermost first; 0 where it is broadcast. */
static void batch_strides(struct text *t, const char *name, const struct ir_tensor *x)
{
    int64_t stride[4], size = (int64_t)ir_dim_back(x, 0) * ir_dim_back(x, 1);

    for (uint32_t i = 0; i < 4; i++) {
        stride[3 - i] = ir_dim_back(x, i + 2) > 1 ? size : 0;
        size *= ir_dim_back(x, i + 2);
    }
    text_printf(t, "    .%s = {%lld, %lld, %lld, %lld},\n", name, (long long)stride[0],
                (long long)stride[1], (long long)stride[2], (long long)stride[3]);
}

void emit_matrices(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    const struct ir_tensor *a = ir_in(u->graph, op, 0), *b = ir_in(u->graph, op, 1);
    const struct ir_tensor *y = ir_out(u->graph, op, 0);
    const bool adj_a = op->attr[IR_ADJ_A] != 0, adj_b = op->attr[IR_ADJ_B] != 0;

    emit_field(t, "rows", ir_dim_back(y, 1));
    emit_field(t, "cols", ir_dim_back(y, 0));
    emit_field(t, "depth", ir_dim_back(a, adj_a));
    emit_field(t, "a_row", adj_a ? 1 : ir_dim_back(a, 0));
    emit_field(t, "a_col", adj_a ? ir_dim_back(a, 0) : 1);
    emit_field(t, "b_row", adj_b ? 1 : ir_dim_back(b, 0));
    emit_field(t, "b_col", adj_b ? ir_dim_back(b, 0) : 1);
    text_printf(t, "    .batch = {%d, %d, %d, %d},\n", ir_dim_back(y, 5), ir_dim_back(y, 4),
                ir_dim_back(y, 3), ir_dim_back(y, 2));
    batch_strides(t, "a_batch", a);
    batch_strides(t, "b_batch", b);
}
