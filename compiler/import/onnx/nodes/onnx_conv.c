/* onnx_conv.c - convolutions and pools: windows, weights, bias. */
#include "onnx_window.h"

#include <math.h>
#include <string.h>

enum { MAX_SPAN = 4096 }; /* of a dilated kernel that is written out */

/* Real values of p's bias: dequantised values or floats. */
static enum status read_bias(struct ox *m, struct ox_deferred *p, uint32_t i)
{
    const int32_t channels = p->weight.dim[0];
    const struct ox_value *v = ox_in(m, i);
    double *b;

    if (!v)
        return ST_OK;
    if (v->kind != OX_CONST)
        return FAIL(m->d, ST_UNSUPPORTED, "bias '%.80s': expected a constant", v->name);
    if (v->c.n != (uint64_t)channels && v->c.n != 1)
        return FAIL(m->d, ST_MODEL, "bias '%.80s': expected %d values, found %llu", v->name,
                    channels, (unsigned long long)v->c.n);
    b = ARENA_ARRAY(m->arena, double, (size_t)channels);
    for (int32_t c = 0; c < channels; c++) {
        const uint64_t k = v->c.n == 1 ? 0 : (uint64_t)c;
        const uint32_t s = v->quant.n > 1 ? (uint32_t)k : 0;

        b[c] = v->real
                   ? (double)v->quant.scale[s] * ((double)ox_int(&v->c, k) - v->quant.zero_point[s])
                   : ox_number(&v->c, k);
        if (!isfinite(b[c]))
            return FAIL(m->d, ST_MODEL, "bias '%.80s': value %d is not a number", v->name, c);
    }
    p->bias = b;
    p->bias_quant = v->real ? v->quant : (struct ir_quant){0};
    return ST_OK;
}

enum status ox_conv_geometry(struct ox *m, struct ox_deferred *p, const struct ox_const *c,
                             const struct ir_quant *q)
{
    const struct ir_tensor *x = m->g->tensor[p->in[0]];
    const int64_t group = ox_attr_int(m, "group", 1);
    struct ox_window w;

    if (c->rank != x->rank || c->rank < 3 || c->n == 0)
        return FAIL(m->d, ST_MODEL,
                    "weights: expected %u dimensions as the input has, found shape %s", x->rank,
                    ir_shape_text(m->arena, c->rank, c->dim));
    if (c->type != OX_INT8 && c->type != OX_UINT8 && c->type != OX_FLOAT)
        return FAIL(m->d, ST_UNSUPPORTED, "weights: expected float32, int8 or uint8, found %s",
                    ox_type_name(c->type));
    if (group < 1 || group > x->dim[1] || x->dim[1] % group != 0 || c->dim[0] % group != 0 ||
        c->dim[1] != x->dim[1] / group)
        return FAIL(m->d, ST_MODEL, "group %lld does not fit weights %s and %d input channels",
                    (long long)group, ir_shape_text(m->arena, c->rank, c->dim), x->dim[1]);
    TRY(ox_window_read(m, x->rank, x->dim, c->dim + 2, &w));
    ox_window_set(&w, true, p->attr);
    p->shape = ox_window_shape(&w, x->dim[0], c->dim[0]);
    p->group = (int32_t)group;
    p->weight = *c;
    p->weight_quant = *q;
    if (q->n > 1 && q->axis != 0) { /* within one sum: no arithmetic on quantised values */
        p->weight = ox_const_values(m, c, q);
        p->weight_quant = (struct ir_quant){0};
    }
    if (c->rank == 3) {
        p->weight.rank = 4;
        p->weight.dim[3] = c->dim[2];
        p->weight.dim[2] = 1;
    }
    return ST_OK;
}

enum status ox_conv(struct ox *m)
{
    struct ox_deferred *p = ox_deferred_new(m, m->opcode, (struct ox_shape){0});
    const struct ox_value *w = ox_in(m, 1);

    p->n_in = 1;
    TRY(ox_operand(m, 0, "input", &p->in[0]));
    if (!w || w->kind != OX_CONST || !(w->real || w->c.type == OX_FLOAT))
        return FAIL(
            m->d, ST_UNSUPPORTED,
            "weights '%.80s': expected constant float32, or quantised values from DequantizeLinear",
            w ? w->name : "");
    TRY(ox_conv_geometry(m, p, &w->c, &w->quant));
    TRY(read_bias(m, p, 2));
    TRY(ox_literal_input(m, p, 1, 1));
    TRY(ox_literal_input(m, p, 2, 1));
    ox_set_deferred(m, p);
    return ST_OK;
}

enum status ox_bias_integers(struct ox *m, struct ox_deferred *p, uint32_t i)
{
    const int32_t channels = p->weight.dim[0];
    const struct ox_const *b;

    if (!ox_in(m, i))
        return ST_OK;
    TRY(ox_want_const(m, i, "bias", &b));
    if (b->type != OX_INT32 || b->n != (uint64_t)channels)
        return FAIL(m->d, ST_MODEL, "bias: expected %d int32 values, found %llu of %s", channels,
                    (unsigned long long)b->n, ox_type_name(b->type));
    p->bias_integers = b->data;
    if (!m->options->literal)
        return ST_OK;
    return ox_literal_add(m, p, ox_ir_const(m, ox_in(m, i)->name, IR_I32, b->rank, b->dim, b->data),
                          1);
}

/* x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias */
enum status ox_qlinear_conv(struct ox *m)
{
    struct ox_deferred *p = ox_deferred_new(m, m->opcode, (struct ox_shape){0});
    const struct ox_const *w;
    struct ir_quant q;

    TRY(ox_qlinear_operands(m, p, 0, &w, &q));
    TRY(ox_conv_geometry(m, p, w, &q));
    TRY(ox_bias_integers(m, p, 8));
    return ox_qlinear_result(m, p, 6);
}

/* Cells that a dilated kernel spans. */
static int64_t span_of(const struct ox_window *w, uint32_t i)
{
    return ((int64_t)w->kernel[i] - 1) * w->dilation[i] + 1;
}

/* Pads of ConvTranspose from output_shape or auto_pad; out = stride * (in - 1) + output_padding +
 * span - pads. */
static enum status transposed_size(struct ox *m, struct ox_window *w, uint32_t i, int32_t extra,
                                   int64_t wanted)
{
    const char *auto_pad = ox_attr_text(m, "auto_pad", "NOTSET");
    const int64_t full = (int64_t)w->stride[i] * (w->in[i] - 1) + extra + span_of(w, i);
    int64_t out = full - w->before[i] - w->after[i], total;

    if (wanted == 0 && strncmp(auto_pad, "SAME", 4) == 0)
        wanted = (int64_t)w->in[i] * w->stride[i];
    if (wanted != 0) {
        total = full > wanted ? full - wanted : 0;
        w->before[i] =
            (int32_t)(strcmp(auto_pad, "SAME_UPPER") == 0 ? total / 2 : total - total / 2);
        out = wanted;
    }
    if (out < 1 || out > INT32_MAX / 4)
        return FAIL(m->d, ST_MODEL, "output size %lld of dimension %u", (long long)out, i);
    w->out[i] = (int32_t)out;
    return ST_OK;
}

static enum status transposed_window(struct ox *m, const struct ir_tensor *x, const int32_t *kernel,
                                     struct ox_window *w)
{
    int32_t pads[4], extra[2];
    uint32_t n_wanted;
    int64_t *wanted;

    if (x->rank != 3 && x->rank != 4)
        return FAIL(m->d, ST_UNSUPPORTED, "input: expected 3 or 4 dimensions, found %u", x->rank);
    *w = (struct ox_window){.n = x->rank - 2};
    memcpy(w->in, x->dim + 2, w->n * sizeof *w->in);
    memcpy(w->kernel, kernel, w->n * sizeof *kernel);
    TRY(ox_attr_sizes(m, "strides", w->n, 1, w->stride));
    TRY(ox_attr_sizes(m, "dilations", w->n, 1, w->dilation));
    TRY(ox_attr_sizes(m, "pads", 2 * w->n, 0, pads));
    TRY(ox_attr_sizes(m, "output_padding", w->n, 0, extra));
    TRY(ox_ints(m, IR_NONE, "output_shape", &n_wanted, &wanted));
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->dilation[i] < 1 || w->stride[i] < 1 || span_of(w, i) > MAX_SPAN)
            return FAIL(m->d, ST_UNSUPPORTED,
                        "expected dilations and strides of at least 1 and a kernel that spans at "
                        "most %d, found %d, %d and %lld",
                        MAX_SPAN, w->dilation[i], w->stride[i], (long long)span_of(w, i));
        w->before[i] = pads[i];
        w->after[i] = pads[w->n + i];
        TRY(transposed_size(m, w, i, extra[i], n_wanted >= w->n ? wanted[n_wanted - w->n + i] : 0));
    }
    return ST_OK;
}

/* Return true if a transposed convolution may keep quantised weights: a scale for each output channel
 * (of a group; the groups share them) or one for all, and one zero point. */
static bool keeps_quantised(const struct ox_value *w)
{
    if (!w->real || (w->c.type != OX_INT8 && w->c.type != OX_UINT8) ||
        (w->quant.n > 1 && w->quant.axis != 1))
        return false;
    for (uint32_t i = 1; i < w->quant.n; i++)
        if (w->quant.zero_point[i] != w->quant.zero_point[0])
            return false;
    return true;
}

/* Give each group the scales of one. */
static void repeat_scales(struct ox *m, struct ox_deferred *p)
{
    const uint32_t each = p->weight_quant.n, n = each * (uint32_t)p->group;
    float *scale = ARENA_ARRAY(m->arena, float, n);
    int32_t *zero = ARENA_ARRAY(m->arena, int32_t, n);

    for (uint32_t i = 0; i < n; i++) {
        scale[i] = p->weight_quant.scale[i % each];
        zero[i] = p->weight_quant.zero_point[i % each];
    }
    p->weight_quant = (struct ir_quant){n, 0, scale, zero};
}

/* Weights [C,OC/group,KH,KW] become [OC,C/group,KH,KW] with zeros between the taps of a dilated
 * kernel; in float32 where they cannot stay quantised. */
static enum status transposed_weights(struct ox *m, struct ox_deferred *p, const struct ox_value *w,
                                      const struct ox_window *v)
{
    const bool quantised = keeps_quantised(w);
    const struct ox_const c = quantised ? w->c : ox_const_values(m, &w->c, &w->quant);
    const size_t size = ox_type_bytes(c.type);
    const bool image = v->n == 2;
    const int32_t *k = v->kernel, *gap = v->dilation, each = c.dim[1], in = c.dim[0] / p->group;
    const int32_t dim[4] = {each * p->group, in, image ? (int32_t)span_of(v, 0) : 1,
                            (int32_t)span_of(v, v->n - 1)};
    const size_t rows = image ? (size_t)k[0] : 1, cols = (size_t)k[v->n - 1];
    const uint8_t *from = c.data;
    uint8_t *to;

    if (!ir_shape_ok(4, dim, IR_F32))
        return FAIL(m->d, ST_UNSUPPORTED, "weights: dilated to %s they are too many",
                    ir_shape_text(m->arena, 4, dim));
    to = ox_new_const(m, &p->weight, c.type, 4, dim);
    memset(to, quantised ? w->quant.zero_point[0] : 0, (size_t)p->weight.n * size);
    if (quantised) {
        p->weight_quant = w->quant;
        p->weight_quant.axis = 0;
        if (w->quant.n > 1 && p->group > 1)
            repeat_scales(m, p);
    }
    for (size_t i = 0; i < (size_t)c.dim[0]; i++)
        for (size_t o = 0; o < (size_t)each; o++)
            for (size_t at = 0; at < rows * cols; at++) {
                const size_t y = at / cols * (size_t)(image ? gap[0] : 1);
                const size_t x = at % cols * (size_t)gap[v->n - 1];
                const size_t oc = i / (size_t)in * (size_t)each + o;

                const size_t row = (oc * (size_t)in + i % (size_t)in) * (size_t)dim[2] + y;

                memcpy(to + (row * (size_t)dim[3] + x) * size, from, size);
                from += size;
            }
    return ST_OK;
}

enum status ox_conv_transpose(struct ox *m)
{
    struct ox_deferred *p = ox_deferred_new(m, m->opcode, (struct ox_shape){0});
    const int64_t group = ox_attr_int(m, "group", 1);
    const struct ox_value *w = ox_in(m, 1);
    const struct ir_tensor *x;
    struct ox_window v;

    p->n_in = 1;
    TRY(ox_operand(m, 0, "input", &p->in[0]));
    x = m->g->tensor[p->in[0]];
    if (!w || w->kind != OX_CONST || !(w->real || w->c.type == OX_FLOAT))
        return FAIL(
            m->d, ST_UNSUPPORTED,
            "weights '%.80s': expected constant float32, or quantised values from DequantizeLinear",
            w ? w->name : "");
    if (group < 1 || group > INT32_MAX || w->c.rank != x->rank || w->c.rank < 3 || w->c.n == 0 ||
        w->c.dim[0] != x->dim[1] || x->dim[1] % group != 0)
        return FAIL(m->d, ST_MODEL, "weights %s do not fit input %s",
                    ir_shape_text(m->arena, w->c.rank, w->c.dim),
                    ir_shape_text(m->arena, x->rank, x->dim));
    p->group = (int32_t)group;
    TRY(transposed_window(m, x, w->c.dim + 2, &v));
    TRY(transposed_weights(m, p, w, &v));
    ox_window_set(&v, false, p->attr);
    p->taps = v.kernel[0] * (v.n == 2 ? v.kernel[1] : 1);
    p->taps_filled = p->weight.dim[2] * p->weight.dim[3];
    p->attr[IR_KERNEL_H] = p->weight.dim[2];
    p->attr[IR_KERNEL_W] = p->weight.dim[3];
    p->attr[IR_PAD_BOTTOM] = p->attr[IR_PAD_RIGHT] = 0;
    p->shape = ox_window_shape(&v, x->dim[0], p->weight.dim[0]);
    TRY(read_bias(m, p, 2));
    if (m->options->literal)
        TRY(ox_literal_add(
            m, p,
            p->weight.type == OX_FLOAT
                ? ox_f32_const(m, w->name, 4, p->weight.dim, (const float *)p->weight.data)
                : ox_literal_quantised(m, w->name, &p->weight, &p->weight_quant),
            1));
    TRY(ox_literal_input(m, p, 2, 1));
    ox_set_deferred(m, p);
    return ST_OK;
}

static enum status check_cells(struct ox *m, const struct ox_window *w)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (w->before[i] >= w->kernel[i] || w->after[i] >= w->kernel[i] + w->stride[i])
            return FAIL(m->d, ST_UNSUPPORTED, "pads %d and %d: expected less than the kernel of %d",
                        w->before[i], w->after[i], w->kernel[i]);
    return ST_OK;
}

/* The window of a pool over the tensor of rank `rank`; the whole image if `global`. */
static enum status pool_window(struct ox *m, const struct ir_tensor *x, bool global,
                               struct ox_window *w)
{
    if (!global) {
        TRY(ox_window_read(m, x->rank, x->dim, NULL, w));
        return check_cells(m, w);
    }
    if (x->rank != 3 && x->rank != 4)
        return FAIL(m->d, ST_UNSUPPORTED, "input: expected 3 or 4 dimensions, found %u", x->rank);
    *w = (struct ox_window){.n = x->rank - 2, .out = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    memcpy(w->in, x->dim + 2, w->n * sizeof *w->in);
    memcpy(w->kernel, w->in, sizeof w->in);
    return ST_OK;
}

static enum status average_pool(struct ox *m, uint32_t id, struct ox_deferred **result)
{
    const struct ir_tensor *x = m->g->tensor[id];
    const bool global = strstr(m->op, "Global") != NULL;
    struct ox_deferred *p;
    struct ox_window w;

    TRY(pool_window(m, x, global, &w));
    for (uint32_t i = 0; i < w.n; i++)
        if (w.dilation[i] != 1)
            return FAIL(m->d, ST_UNSUPPORTED, "dilations: expected 1, found %d", w.dilation[i]);
    p = ox_deferred_new(m, m->opcode, ox_window_shape(&w, x->dim[0], x->dim[1]));
    p->n_in = 1;
    p->in[0] = id;
    ox_window_set(&w, false, p->attr);
    p->global = global;
    p->count_pad = !global && ox_attr_int(m, "count_include_pad", 0) != 0;
    if (p->count_pad && ox_attr_int(m, "ceil_mode", 0) != 0) /* AveragePool: ox_pool_counted */
        return FAIL(m->d, ST_UNSUPPORTED, "ceil_mode together with count_include_pad");
    *result = p;
    return ST_OK;
}

enum status ox_average_pool(struct ox *m)
{
    struct ox_deferred *p;
    uint32_t id;

    TRY(ox_operand(m, 0, "input", &id));
    TRY(average_pool(m, id, &p));
    ox_set_deferred(m, p);
    return ST_OK;
}

/* x, x_scale, x_zero, y_scale, y_zero */
enum status ox_qlinear_pool(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    struct ox_deferred *p;
    struct ir_quant q;
    int32_t type;

    if (!x || x->kind != OX_TENSOR)
        return FAIL(m->d, ST_UNSUPPORTED, "input: expected a computed tensor");
    if (ox_attr_int(m, "channels_last", 0) != 0)
        return FAIL(m->d, ST_UNSUPPORTED, "channels_last: expected 0, found 1");
    TRY(ox_scale(m, 1, 2, 0, NULL, 0, &q, &type));
    TRY(ox_set_quant(m, x->tensor, &q));
    TRY(average_pool(m, ox_qlinear_quantised(m, x->tensor), &p));
    p->attr[IR_QLINEAR] = 1;
    return ox_qlinear_result(m, p, 3);
}

/* MaxPool and GlobalMaxPool move quantised values: what DequantizeLinear did before holds after
 * it. */
enum status ox_max_pool(struct ox *m)
{
    struct ox_value *x = ox_in(m, 0);
    const bool global = strstr(m->op, "Global") != NULL;
    struct ox_window w;
    struct ir_tensor *t;
    struct ir_op *op;
    uint32_t in, out;

    TRY(ox_values(m, &x));
    t = m->g->tensor[x->tensor];
    TRY(pool_window(m, t, global, &w));
    for (uint32_t i = 0; i < w.n; i++)
        if (w.dilation[i] != 1)
            return FAIL(m->d, ST_UNSUPPORTED, "dilations: expected 1, found %d", w.dilation[i]);
    if (m->options->literal) {
        out = ox_like(m, ox_out(m, 0)->name, x->tensor, ox_window_shape(&w, t->dim[0], t->dim[1]));
        ox_window_set(&w, false, ox_op(m, m->opcode, 1, &x->tensor, out)->attr);
        ox_set_tensor(m, 0, out, false);
        return ST_OK;
    }
    in = ox_to_nhwc(m, x->tensor);
    out = ox_like(
        m, ox_inner(m, ox_out(m, 0)->name, "nhwc"), in,
        (struct ox_shape){4, {t->dim[0], w.n == 2 ? w.out[0] : 1, w.out[w.n - 1], t->dim[1]}});
    op = ox_op(m, m->opcode, 1, &in, out);
    ox_window_set(&w, false, op->attr);
    ox_set_tensor(m, 0, ox_from_nhwc(m, ox_out(m, 0)->name, out, t->rank), x->real);
    return ST_OK;
}
