/* onnx_make.c - make the operator of a deferred result, one function per kind of operator (column
 * DEFERRED of operators.def). */
#include "onnx_make.h"

#include <math.h>
#include <string.h>

enum { MAX_GROUPS = 1024, MAX_POOL_WEIGHTS = 1 << 24, MAX_DENSE_WEIGHTS = 1 << 24 };

/* The clamp of `p` as an activation: one that the IR has a name for, or its bounds. */
static void set_activation(const struct ox_deferred *p, int32_t *attr)
{
    attr[IR_ACTIVATION] = IR_ACT_CLIP;
    if (p->low == -INFINITY && p->high == INFINITY)
        attr[IR_ACTIVATION] = IR_ACT_NONE;
    else if (p->low == 0 && p->high == INFINITY)
        attr[IR_ACTIVATION] = IR_ACT_RELU;
    else if (p->low == 0 && p->high == 6)
        attr[IR_ACTIVATION] = IR_ACT_RELU6;
    else if (p->low == -1 && p->high == 1)
        attr[IR_ACTIVATION] = IR_ACT_RELU_N1_TO_1;
    if (attr[IR_ACTIVATION] != IR_ACT_CLIP)
        return;
    memcpy(&attr[IR_CLIP_LOW_BITS], &p->low, 4);
    memcpy(&attr[IR_CLIP_HIGH_BITS], &p->high, 4);
}

static struct ir_op *finish_op(struct ox *m, const struct ox_deferred *p, enum ir_opcode opcode,
                               uint32_t n_in, const uint32_t *in, uint32_t out)
{
    struct ir_op *op = ox_op(m, opcode, n_in, in, out);

    memcpy(op->attr, p->attr, sizeof op->attr);
    if (ir_op_info(opcode)->fuses_clamp)
        set_activation(p, op->attr);
    ox_count_macs(m, op, p->taps, p->taps_filled);
    return op;
}

/* Bias in float32. */
static void float_bias(struct ox *m, const struct ox_deferred *p, const char *name,
                       int32_t channels, uint32_t *id)
{
    float *value = ARENA_ARRAY(m->arena, float, (size_t)channels);

    *id = IR_NONE;
    if (!p->bias)
        return;
    for (int32_t c = 0; c < channels; c++)
        value[c] = (float)p->bias[c];
    *id = ox_f32_const(m, ox_inner(m, name, "bias"), 1, &channels, value);
}

double ox_bias_code(const struct ox *m, const struct ox_deferred *p, int32_t c)
{
    const double s_in = (double)m->g->tensor[p->in[0]]->quant.scale[0];
    const double s_w = (double)p->weight_quant.scale[p->weight_quant.n > 1 ? c : 0];

    if (p->bias_integers)
        return (double)p->bias_integers[c];
    return p->bias ? nearbyint(p->bias[c] / (s_in * s_w)) : 0;
}

/* int64, for int16 x; within the bounds that onnx_wide.c checks. */
static uint32_t wide_bias(struct ox *m, const struct ox_deferred *p, const char *name,
                          int32_t channels)
{
    int64_t *values = ARENA_ARRAY(m->arena, int64_t, (size_t)channels);

    for (int32_t c = 0; c < channels; c++)
        values[c] = (int64_t)ox_bias_code(m, p, c);
    return ox_ir_const(m, ox_inner(m, name, "bias"), IR_I64, 1, &channels, values);
}

/* Bias in units of s_in * s_w[c]. */
static enum status bias_const(struct ox *m, const struct ox_deferred *p, const char *name,
                              int32_t channels, uint32_t *id)
{
    const struct ir_tensor *x = m->g->tensor[p->in[0]];
    int32_t *values = ARENA_ARRAY(m->arena, int32_t, (size_t)channels);
    float s_in;

    *id = IR_NONE;
    if (x->type == IR_F32) {
        float_bias(m, p, name, channels, id);
        return ST_OK;
    }
    s_in = x->quant.scale[0];
    if (!p->bias && !p->bias_integers)
        return ST_OK;
    if (x->type == IR_I16) {
        *id = wide_bias(m, p, name, channels);
        return ST_OK;
    }
    for (int32_t c = 0; c < channels; c++) {
        const float s_w = p->weight_quant.scale[p->weight_quant.n > 1 ? c : 0];
        const double code = ox_bias_code(m, p, c);

        if (!(fabs(code) <= 2147483647.0))
            return FAIL(
                m->d, ST_UNSUPPORTED,
                "bias %d is %.9g: expected at most 2^31 times the product of the scales %.9g "
                "and %.9g",
                c, p->bias ? p->bias[c] : code, (double)s_in, (double)s_w);
        values[c] = (int32_t)code;
    }
    *id = ox_ir_const(m, ox_inner(m, name, "bias"), IR_I32, 1, &channels, values);
    return ST_OK;
}

/* Constant weights: quantised values with their scales in the type of the input, or float32. */
static uint32_t weight_const(struct ox *m, const char *name, const struct ox_const *w,
                             const struct ir_quant *q, enum ir_type type)
{
    name = ox_inner(m, name, "weights");
    if (type == IR_F32)
        return ox_f32_const(m, name, w->rank, w->dim, w->data);
    return ox_code_const(m, name, w, q, type == IR_I16 ? IR_I8 : type);
}

/* Weights [O,C,KH,KW] as [O,KH,KW,C], or for a depthwise one as [1,KH,KW,O]. */
static struct ox_const transposed(struct ox *m, const struct ox_const *w, bool depthwise)
{
    const int32_t *d = w->dim;
    const int32_t dim[4] = {depthwise ? 1 : d[0], d[2], d[3], depthwise ? d[0] : d[1]};
    const size_t kk = (size_t)d[2] * (size_t)d[3], size = ox_type_bytes(w->type);
    const uint8_t *from = w->data;
    struct ox_const c;
    uint8_t *to = ox_new_const(m, &c, w->type, 4, dim);

    for (size_t o = 0; o < (size_t)d[0]; o++)
        for (size_t i = 0; i < (size_t)d[1]; i++)
            for (size_t k = 0; k < kk; k++) {
                const size_t at =
                    depthwise ? k * (size_t)d[0] + o : (o * kk + k) * (size_t)d[1] + i;

                memcpy(to + at * size, from + ((o * (size_t)d[1] + i) * kk + k) * size, size);
            }
    return c;
}

/* A graph input may have any type, and so may an initializer. */
static enum status want_weights(struct ox *m, const struct ir_tensor *x, const struct ox_const *w)
{
    const bool quantised = ir_is_code(x->type);

    if (quantised ? w->type == OX_INT8 || w->type == OX_UINT8
                  : x->type == IR_F32 && w->type == OX_FLOAT)
        return ST_OK;
    return FAIL(m->d, ST_UNSUPPORTED,
                "'%.80s' is %s, its weights are %s: expected int8 or uint8, or both float32",
                x->name, ir_type_name(x->type), ox_type_name(w->type));
}

struct ox_const ox_transposed(struct ox *m, const struct ox_const *w)
{
    return transposed(m, w, false);
}

/* One convolution, ordinary or depthwise, on NHWC tensor `x`. */
static enum status one_conv(struct ox *m, const struct ox_deferred *p, const char *name, uint32_t x,
                            bool depthwise, struct ox_shape y, const struct ir_quant *q,
                            uint32_t *id)
{
    const struct ir_tensor *t = m->g->tensor[x];
    struct ir_quant wq = p->weight_quant;
    uint32_t in[3] = {x};
    struct ox_const w;
    struct ir_op *op;

    TRY(want_weights(m, t, &p->weight));
    w = transposed(m, &p->weight, depthwise);
    wq.axis = wq.n > 1 && depthwise ? 3 : 0;
    in[1] = weight_const(m, name, &w, &wq, t->type);
    TRY(bias_const(m, p, name, y.dim[3], &in[2]));
    *id = ox_tensor(m, ox_inner(m, name, "nhwc"), t->type, y, q);
    op = finish_op(m, p, depthwise ? IR_OP_DEPTHWISE_CONV2D : IR_OP_CONV2D,
                   in[2] == IR_NONE ? 2 : 3, in, *id);
    if (depthwise)
        op->attr[IR_MULTIPLIER] = y.dim[3] / t->dim[3];
    return ST_OK;
}

/* Part `k` of `n` of the output channels: weights, scales, bias. */
static struct ox_deferred part_of(struct ox *m, const struct ox_deferred *p, int32_t k, int32_t n)
{
    struct ox_deferred part = *p;
    const int32_t oc = p->weight.dim[0] / n;
    const size_t each = (size_t)p->weight.n / (size_t)n;
    const size_t bytes = each * ox_type_bytes(p->weight.type);

    part.weight.dim[0] = oc;
    part.weight.n = each;
    part.weight.data =
        arena_memdup(m->arena, (const uint8_t *)p->weight.data + (size_t)k * bytes, bytes);
    if (p->weight_quant.n > 1) {
        part.weight_quant.n = (uint32_t)oc;
        part.weight_quant.scale += k * oc;
        part.weight_quant.zero_point += k * oc;
    }
    if (p->bias)
        part.bias += k * oc;
    if (p->bias_integers)
        part.bias_integers += k * oc;
    return part;
}

static enum status grouped_conv(struct ox *m, const struct ox_deferred *p, const char *name,
                                uint32_t x, struct ox_shape y, const struct ir_quant *q,
                                uint32_t *id)
{
    uint32_t *part = ARENA_ARRAY(m->arena, uint32_t, (size_t)p->group);
    struct ox_shape s = ox_shape_of(m, x);

    if (p->group > MAX_GROUPS)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "group: expected at most %d that are not depthwise, found %d", MAX_GROUPS,
                    p->group);
    s.dim[3] /= p->group;
    y.dim[3] /= p->group;
    for (int32_t k = 0; k < p->group; k++) {
        const struct ox_deferred one = part_of(m, p, k, p->group);
        const int32_t begin[4] = {0, 0, 0, k * s.dim[3]};
        const char *inner = ox_inner(m, name, arena_printf(m->arena, "group%d", k));

        TRY(one_conv(m, &one, inner, ox_slice(m, ox_inner(m, inner, "x"), x, begin, s.dim, NULL),
                     false, y, q, &part[k]));
    }
    *id = ox_concat(m, ox_inner(m, name, "nhwc"), (uint32_t)p->group, part, 3);
    return ST_OK;
}

struct ox_shape ox_nhwc_shape(struct ox_shape s)
{
    if (s.rank == 3)
        return (struct ox_shape){4, {s.dim[0], 1, s.dim[2], s.dim[1]}};
    return (struct ox_shape){4, {s.dim[0], s.dim[2], s.dim[3], s.dim[1]}};
}

static enum status make_conv(struct ox *m, const struct ox_deferred *p, const char *name,
                             enum ir_type type, const struct ir_quant *q, uint32_t *id)
{
    const uint32_t x = ox_to_nhwc(m, p->in[0]);
    const struct ox_shape y = ox_nhwc_shape(p->shape);
    const bool depthwise = p->group > 1 && p->group == m->g->tensor[x]->dim[3];

    (void)type;
    if (p->group == 1 || depthwise || m->g->tensor[x]->type == IR_F32)
        TRY(one_conv(m, p, name, x, depthwise, y, q, id));
    else
        TRY(grouped_conv(m, p, name, x, y, q, id));
    *id = ox_from_nhwc(m, name, *id, p->shape.rank);
    return ST_OK;
}

/* TRANSPOSE_CONV on NHWC tensor `x`. */
static enum status one_transposed(struct ox *m, const struct ox_deferred *p, const char *name,
                                  uint32_t x, const struct ir_quant *q, uint32_t *id)
{
    const struct ir_tensor *t = m->g->tensor[x];
    const struct ox_const w = transposed(m, &p->weight, false);
    struct ox_shape y = ox_nhwc_shape(p->shape);
    uint32_t in[3] = {x};

    TRY(want_weights(m, t, &p->weight));
    y.dim[3] = p->weight.dim[0];
    in[1] = weight_const(m, name, &w, &p->weight_quant, t->type);
    TRY(bias_const(m, p, name, y.dim[3], &in[2]));
    *id = ox_tensor(m, ox_inner(m, name, "nhwc"), t->type, y, q);
    finish_op(m, p, p->opcode, in[2] == IR_NONE ? 2 : 3, in, *id);
    return ST_OK;
}

static enum status make_transposed(struct ox *m, const struct ox_deferred *p, const char *name,
                                   enum ir_type type, const struct ir_quant *q, uint32_t *id)
{
    const uint32_t x = ox_to_nhwc(m, p->in[0]), n = (uint32_t)p->group;
    struct ox_shape s = ox_shape_of(m, x);
    struct ox_deferred whole;
    uint32_t part[MAX_GROUPS];

    (void)type;
    if (n > MAX_GROUPS)
        return FAIL(m->d, ST_UNSUPPORTED, "group: expected at most %d, found %u", MAX_GROUPS, n);
    if (n > 1 && m->g->tensor[x]->type != IR_F32) {
        if (p->weight.n > MAX_DENSE_WEIGHTS / n)
            return ST_UNSUPPORTED; /* float32 serves instead */
        whole = ox_in_one_group(m, p);
        return make_transposed(m, &whole, name, type, q, id);
    }
    s.dim[3] /= (int32_t)n;
    for (uint32_t k = 0; k < n; k++) {
        const struct ox_deferred one = part_of(m, p, (int32_t)k, (int32_t)n);
        const int32_t begin[4] = {0, 0, 0, (int32_t)k * s.dim[3]};
        const char *inner = ox_inner(m, name, arena_printf(m->arena, "group%u", k));

        TRY(one_transposed(m, &one, inner,
                           n == 1 ? x : ox_slice(m, ox_inner(m, inner, "x"), x, begin, s.dim, NULL),
                           q, &part[k]));
    }
    *id = n == 1 ? part[0] : ox_concat(m, ox_inner(m, name, "nhwc"), n, part, 3);
    *id = ox_from_nhwc(m, name, *id, p->shape.rank);
    return ST_OK;
}

static enum status make_dense(struct ox *m, const struct ox_deferred *p, const char *name,
                              enum ir_type type, const struct ir_quant *q, uint32_t *id)
{
    const struct ir_tensor *x = m->g->tensor[p->in[0]];
    uint32_t in[3] = {p->in[0]};

    (void)type;
    TRY(want_weights(m, x, &p->weight));
    in[1] = weight_const(m, name, &p->weight, &p->weight_quant, x->type);
    TRY(bias_const(m, p, name, p->weight.dim[0], &in[2]));
    *id = ox_tensor(m, name, x->type, p->shape, q);
    finish_op(m, p, p->opcode, in[2] == IR_NONE ? 2 : 3, in, *id);
    return ST_OK;
}

/* Cells outside the image count as zero: a depthwise convolution with ones of scale 1/n. */
static enum status pool_as_conv(struct ox *m, const struct ox_deferred *p, const char *name,
                                const struct ir_quant *q, uint32_t *id)
{
    const int32_t channels = m->g->tensor[p->in[0]]->dim[1];
    const int32_t dim[4] = {channels, 1, p->attr[IR_KERNEL_H], p->attr[IR_KERNEL_W]};
    struct ox_deferred conv = *p;
    float *scale = ARENA_ARRAY(m->arena, float, 1);
    int8_t *ones;

    if ((int64_t)dim[2] * dim[3] > MAX_POOL_WEIGHTS / channels)
        return FAIL(m->d, ST_UNSUPPORTED, "%dx%d kernel over %d channels with another output scale",
                    dim[2], dim[3], channels);
    *scale = 1.0f / (float)(dim[2] * dim[3]);
    ones = ox_new_const(m, &conv.weight, OX_INT8, 4, dim);
    memset(ones, 1, (size_t)conv.weight.n);
    conv.weight_quant = (struct ir_quant){1, 0, scale, ARENA_ARRAY(m->arena, int32_t, 1)};
    conv.group = channels;
    conv.taps = 0;
    conv.attr[IR_DILATION_H] = conv.attr[IR_DILATION_W] = 1;
    conv.attr[IR_QLINEAR] = 0;
    return make_conv(m, &conv, name, m->g->tensor[p->in[0]]->type, q, id);
}

/* The same in float32: zeros around the image, then a pool without padding. */
static enum status padded_pool(struct ox *m, const struct ox_deferred *p, const char *name,
                               uint32_t *id)
{
    const int32_t *a = p->attr;
    const int32_t before[4] = {0, a[IR_PAD_TOP], a[IR_PAD_LEFT], 0};
    const int32_t after[4] = {0, a[IR_PAD_BOTTOM], a[IR_PAD_RIGHT], 0};
    struct ox_deferred inside = *p;
    uint32_t in = ox_to_nhwc(m, p->in[0]), out;

    in = ox_pad(m, ox_inner(m, name, "padded"), in, before, after, IR_NONE);
    for (uint32_t i = IR_PAD_TOP; i <= IR_PAD_RIGHT; i++)
        inside.attr[i] = 0;
    out = ox_tensor(m, ox_inner(m, name, "nhwc"), IR_F32, ox_nhwc_shape(p->shape), NULL);
    finish_op(m, &inside, p->opcode, 1, &in, out);
    *id = ox_from_nhwc(m, name, out, p->shape.rank);
    return ST_OK;
}

static enum status make_pool(struct ox *m, const struct ox_deferred *p, const char *name,
                             enum ir_type type, const struct ir_quant *q, uint32_t *id)
{
    const struct ir_tensor *x = m->g->tensor[p->in[0]];
    const int32_t *a = p->attr;
    const bool padded =
        a[IR_PAD_TOP] != 0 || a[IR_PAD_LEFT] != 0 || a[IR_PAD_BOTTOM] != 0 || a[IR_PAD_RIGHT] != 0;
    const bool rescaled = x->type == IR_I16 && !ox_same_quant(q, &x->quant); /* whole windows */
    uint32_t in, out;

    (void)type;
    if (padded ? p->count_pad : rescaled)
        return x->type == IR_F32 ? padded_pool(m, p, name, id) : pool_as_conv(m, p, name, q, id);
    in = ox_to_nhwc(m, p->in[0]);
    out = ox_tensor(m, ox_inner(m, name, "nhwc"), x->type, ox_nhwc_shape(p->shape), q);
    finish_op(m, p, p->opcode, 1, &in, out);
    *id = ox_from_nhwc(m, name, out, p->shape.rank);
    return ST_OK;
}

static enum status make_concat(struct ox *m, const struct ox_deferred *p, const char *name,
                               enum ir_type type, const struct ir_quant *q, uint32_t *id)
{
    uint32_t *part = ARENA_ARRAY(m->arena, uint32_t, p->n_part);

    for (uint32_t i = 0; i < p->n_part; i++)
        part[i] = !q ? p->part[i]
                     : ox_rescale(m, ox_inner(m, m->g->tensor[p->part[i]]->name, "rescaled"),
                                  p->part[i], q, type);
    *id = ox_concat(m, name, p->n_part, part, (uint32_t)p->attr[IR_AXIS]);
    return ST_OK;
}

/* Over dimension IR_AXIS, which SOFTMAX and LOG_SOFTMAX want last. */
static enum status make_softmax(struct ox *m, const struct ox_deferred *p, const char *name,
                                enum ir_type type, const struct ir_quant *q, uint32_t *id)
{
    const uint32_t rank = p->shape.rank, axis = (uint32_t)p->attr[IR_AXIS];
    const bool last = axis + 1 == rank;
    struct ox_deferred plain = *p;
    int32_t perm[IR_MAX_RANK];
    uint32_t x = p->in[0];

    (void)type;
    for (uint32_t i = 0; i < rank; i++)
        perm[i] = (int32_t)(i == axis ? rank - 1 : i == rank - 1 ? axis : i);
    plain.attr[IR_AXIS] = 0;
    if (!last)
        x = ox_transpose(m, ox_inner(m, name, "turned_in"), x, perm);
    *id = ox_tensor(m, last ? name : ox_inner(m, name, "turned"), m->g->tensor[x]->type,
                    ox_shape_of(m, x), q);
    finish_op(m, &plain, p->opcode, 1, &x, *id);
    if (!last)
        *id = ox_transpose(m, name, *id, perm);
    return ST_OK;
}

/* Operands of one type; the second may be broadcast. */
static enum status make_plain(struct ox *m, const struct ox_deferred *p, const char *name,
                              enum ir_type type, const struct ir_quant *q, uint32_t *id)
{
    const struct ir_tensor *x = m->g->tensor[p->in[0]];
    uint32_t in[2] = {p->in[0], p->in[1]};

    (void)type;
    if (p->n_in > 1 && m->g->tensor[in[1]]->type != x->type) {
        const struct ir_tensor *b = m->g->tensor[in[1]];
        const int32_t zero = b->quant.zero_point[0] + (x->type == IR_I8 ? -128 : 128);
        const struct ir_quant moved = {1, 0, b->quant.scale,
                                       arena_memdup(m->arena, &zero, sizeof zero)};

        in[1] = ox_rescale(m, ox_inner(m, b->name, "moved"), in[1], &moved, x->type);
    }
    *id = ox_tensor(m, name, x->type, p->shape, q);
    finish_op(m, p, p->opcode, p->n_in, in, *id);
    return ST_OK;
}

/* Codes are compared, so both operands come in the output's scale. */
static enum status make_extremum(struct ox *m, const struct ox_deferred *p, const char *name,
                                 enum ir_type type, const struct ir_quant *q, uint32_t *id)
{
    uint32_t in[2];

    if (!q)
        return make_plain(m, p, name, type, q, id);
    for (uint32_t i = 0; i < 2; i++) {
        const char *inner = ox_inner(m, name, i == 0 ? "first" : "second");
        const struct ir_tensor *t = m->g->tensor[p->in[i]];

        if (t->role == IR_CONST)
            return FAIL(m->d, ST_UNSUPPORTED,
                        "operand '%.80s': expected a computed tensor; a "
                        "constant bound is Clip's",
                        t->name);
        in[i] = ox_rescale(m, inner, p->in[i], q, type);
    }
    *id = ox_tensor(m, name, type, p->shape, q);
    ox_op(m, p->opcode, 2, in, *id);
    return ST_OK;
}

static const struct {
    ox_maker *make;
} makers[] = {
#define OPERATOR(code, name, columns) {columns},
#define DEFERRED(fn)                  make_##fn
#include "operators/operators.def"
};

enum status ox_make_result(struct ox *m, const struct ox_deferred *p, const char *name,
                           enum ir_type type, const struct ir_quant *q, uint32_t *id)
{
    if (!makers[p->opcode].make)
        return make_plain(m, p, name, type, q, id);
    return makers[p->opcode].make(m, p, name, type, q, id);
}

bool ox_is_clipped_after(const struct ox_deferred *p)
{
    return (p->low != -INFINITY || p->high != INFINITY) && !ir_op_info(p->opcode)->fuses_clamp &&
           ir_op_info(p->opcode)->activation != IR_ACT_CLIP;
}

uint32_t ox_copied(struct ox *m, const struct ox_deferred *p, const char *name)
{
    uint32_t *copy = ARENA_ARRAY(m->arena, uint32_t, (size_t)p->copies);

    if (p->copies == 1)
        return p->in[0];
    for (int32_t k = 0; k < p->copies; k++)
        copy[k] = p->in[0];
    return ox_concat(m, ox_inner(m, name, "copies"), (uint32_t)p->copies, copy,
                     p->weight.rank == 2 ? p->shape.rank - 1 : 1);
}
