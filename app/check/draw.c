/* draw.c - random operators of products, sums and pools, edges preferred: a value is drawn for each
 * size. The other operators are in others.c. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "draw.h"

static uint64_t next(struct check_cases *c)
{
    return random_next(&c->rng);
}

uint32_t check_random(struct check_cases *c, uint32_t n)
{
    return (uint32_t)(next(c) >> 33) % n;
}

float check_random_real(struct check_cases *c)
{
    return (float)((double)(next(c) >> 40) / (1 << 23) - 1);
}

static int64_t bound(const struct draw *w, const struct describe_bound *b, int64_t fallback)
{
    if (!b->given ||
        b->value != TARGET_VALUE_COUNT) /* by another value: refused if it does not fit */
        return fallback;
    return b->attr ? w->target->setting[b->attr - w->target->desc->attr].number : b->number;
}

static int64_t pick(struct draw *w, int64_t low, int64_t high)
{
    switch (check_random(w->c, 6)) {
    case 0: return low;
    case 1: return low < high ? low + 1 : low;
    case 2: return high;
    case 3: return high > low ? high - 1 : high;
    default: return low + check_random(w->c, (uint32_t)(high - low) + 1);
    }
}

/* The size that a given operand requires: of windows, rows and reductions by IN_*, of
 * elementwise operators by OUT_*. */
static int64_t given_size(const struct draw *w, enum target_value value)
{
    const struct ir_tensor *t = w->given[0] ? w->given[0] : w->given[1];
    const bool window = describe_has_weights(w->p->opcode) ||
                        ir_op_has(w->p->opcode, IR_KERNEL_H) ||
                        ir_op_has(w->p->opcode, IR_KEEP_DIMS);
    static const enum target_value of[2][4] = {
        {TARGET_OUT_C, TARGET_OUT_W, TARGET_OUT_H, TARGET_BATCH},
        {TARGET_IN_C, TARGET_IN_W, TARGET_IN_H, TARGET_BATCH}};

    for (uint32_t i = 0; i < 4 && t; i++)
        if (of[window][i] == value)
            return ir_dim_back(t, i);
    return -1;
}

int64_t draw_value(struct draw *w, enum target_value value, int64_t low, int64_t high)
{
    const int64_t given = given_size(w, value);

    if (given >= 0)
        return w->v[value] = given;
    for (uint32_t i = 0; i < w->p->n_limit; i++) {
        const struct describe_limit *l = &w->p->limit[i];
        if (l->value != value)
            continue;
        if (l->n_one_of)
            return w->v[value] = l->one_of[check_random(w->c, l->n_one_of)];
        int64_t least = bound(w, &l->low, low), most = bound(w, &l->high, high);
        int64_t unit = bound(w, &l->multiple, 1);
        low = least > low || !l->low.given ? least : low < least ? least : low;
        high = most < high ? most : high < low ? low : high;
        unit = unit > 0 ? unit : 1;
        if (high < unit && unit > 1)
            high = most < unit ? high : unit * 2;
        high = high < low ? low : high;
        return w->v[value] =
                   unit > 1 ? (pick(w, low, high) + unit - 1) / unit * unit : pick(w, low, high);
    }
    return w->v[value] = pick(w, low, high);
}

/* --- one operator --- */

static struct ir_tensor *tensor(struct ir_graph *g, enum ir_type type, uint32_t rank,
                                const int32_t *dim, uint32_t n_scale, const float *scale,
                                const int32_t *zero)
{
    struct ir_tensor *t = ir_tensor_new(g, "t", type, rank, dim);

    t->quant = (struct ir_quant){.n = n_scale, .scale = scale, .zero_point = zero};
    return t;
}

/* The zero point for `value`; for weights, which have one scale and none, the middle. */
static int32_t zero_point(struct draw *w, enum target_value value, bool may, bool of_weights)
{
    static const int32_t edges[] = {-128, 127, 0, -1};
    const int32_t more = w->p->dtype == IR_U8 ? 128 : 0;

    if (!may || w->p->dtype == IR_I16)
        return (int32_t)(w->v[value] = of_weights ? more : 0);
    int64_t z = check_random(w->c, 2) ? edges[check_random(w->c, 4)]
                                      : (int64_t)check_random(w->c, 256) - 128;
    return (int32_t)(w->v[value] = z + more);
}

float draw_scale(const struct ir_tensor *t, float fallback)
{
    return t->quant.n ? t->quant.scale[0] : fallback;
}

struct ir_tensor *draw_activation(struct draw *w, struct ir_graph *g, const int32_t dim[4],
                                  float scale, enum target_value zero, bool input)
{
    struct ir_tensor *given = input && w->operand < 2 ? w->given[w->operand] : NULL;

    w->operand += input;
    if (given) {
        w->misfit = w->misfit || memcmp(given->dim, dim, 4 * sizeof *dim) != 0;
        return given;
    }
    float *s = ARENA_NEW(g->arena, float);
    int32_t *z = ARENA_NEW(g->arena, int32_t);

    *s = scale;
    *z = zero_point(w, zero, w->p->zero_points != ZERO_NONE, false);
    struct ir_tensor *t = w->p->dtype == IR_F32 ? tensor(g, IR_F32, 4, dim, 0, NULL, NULL)
                                                : tensor(g, w->p->dtype, 4, dim, 1, s, z);
    if (input)
        t->role = IR_INPUT;
    return t;
}

/* A scale such that products of `taps` quantised values fill the output's range; of the kind that
 * the pattern can compute exactly. */
static double output_scale(struct draw *w, double product, uint32_t taps)
{
    double real = 1.0 / (sqrt((double)taps) * 30 * (0.5 + check_random(w->c, 100) / 50.0));

    if (w->p->single_rounding && w->p->dtype != IR_I16)
        real = 0.5 + check_random(w->c, 100) / 64.0;
    if (w->p->requantise == REQUANTISE_SHIFT_BITS)
        real = exp2(round(log2(real)));
    return product / real;
}

uint8_t *draw_data(struct draw *w, const struct ir_tensor *t)
{
    uint64_t n = ir_bytes(t);
    uint8_t *data = arena_alloc(w->c->arena, (size_t)n);

    for (uint64_t i = 0; i < n && t->type != IR_F32; i++)
        data[i] = (uint8_t)check_random(w->c, 256);
    for (uint64_t i = 0; i < n && t->type == IR_F32; i += sizeof(float)) {
        float v = check_random_real(w->c);
        memcpy(data + i, &v, sizeof v);
    }
    return data;
}

static void random_bytes(struct check_cases *c, uint8_t *to, uint64_t n, bool symmetric)
{
    uint32_t kind = check_random(c, 5);

    for (uint64_t i = 0; i < n; i++)
        to[i] = kind == 0 ? 0x7f : kind == 1 ? (symmetric ? 0x81 : 0x80) : (uint8_t)next(c);
    for (uint64_t i = 0; i < n && symmetric; i++)
        if (to[i] == 0x80)
            to[i] = 0x81;
}

static struct ir_tensor *real_constant(struct draw *w, struct ir_graph *g, uint32_t rank,
                                       const int32_t *dim)
{
    struct ir_tensor *t = tensor(g, IR_F32, rank, dim, 0, NULL, NULL);

    t->role = IR_CONST;
    t->data = draw_data(w, t);
    return t;
}

static struct ir_tensor *weights(struct draw *w, struct ir_graph *g, const int32_t dim[4],
                                 uint32_t rank, uint32_t channels, uint32_t axis, float base)
{
    if (w->p->dtype == IR_F32)
        return real_constant(w, g, rank, dim);
    bool per_channel = !w->p->per_tensor && check_random(w->c, 2) && w->p->zero_points != ZERO_BOTH;
    uint32_t n = per_channel ? channels : 1;
    float *s = ARENA_ARRAY(g->arena, float, n);
    int32_t *z = ARENA_ARRAY(g->arena, int32_t, n);
    for (uint32_t i = 0; i < n; i++)
        s[i] = w->p->requantise == REQUANTISE_SHIFT_BITS
                   ? base * (float)(1u << check_random(w->c, 3))
                   : base * (1 + (float)check_random(w->c, 100) / 100);
    for (uint32_t i = 0; i < n; i++)
        z[i] = i == 0
                   ? zero_point(w, TARGET_Z_W, w->p->zero_points == ZERO_BOTH && !per_channel, true)
                   : z[0];
    struct ir_tensor *t =
        tensor(g, w->p->dtype == IR_I16 ? IR_I8 : w->p->dtype, rank, dim, n, s, z);
    uint8_t *data = arena_alloc(g->arena, (size_t)ir_bytes(t));
    random_bytes(w->c, data, ir_bytes(t), w->p->zero_points != ZERO_BOTH);
    for (uint64_t i = 0; i < ir_bytes(t) && t->type == IR_U8; i++)
        data[i] ^= 0x80;
    t->quant.axis = axis;
    t->role = IR_CONST;
    t->data = data;
    return t;
}

static struct ir_tensor *bias(struct draw *w, struct ir_graph *g, const struct ir_tensor *filter,
                              float in_scale, uint32_t channels)
{
    const int32_t dim = (int32_t)channels;

    if (w->p->dtype == IR_F32)
        return w->p->bias == BIAS_NONE ? NULL : real_constant(w, g, 1, &dim);
    float *s = ARENA_ARRAY(g->arena, float, filter->quant.n);
    int32_t *z = ARENA_ARRAY(g->arena, int32_t, filter->quant.n);
    const bool wide = w->p->dtype == IR_I16;
    uint8_t *data = arena_alloc(g->arena, (size_t)channels * (wide ? 8 : 4));
    for (uint32_t i = 0; i < filter->quant.n; i++)
        s[i] = in_scale * filter->quant.scale[i];
    struct ir_tensor *t = tensor(g, wide ? IR_I64 : IR_I32, 1, &dim, filter->quant.n, s, z);
    for (uint32_t i = 0; i < channels && w->p->bias != BIAS_NONE; i++) {
        const int64_t v = ((int64_t)check_random(w->c, 20001) - 10000) * (wide ? 256 : 1);
        memcpy(data + (size_t)i * (wide ? 8 : 4), &v, wide ? 8 : 4); /* little-endian */
    }
    t->role = IR_CONST;
    t->data = data;
    return t;
}

static int32_t activation_of(struct draw *w)
{
    uint32_t a;

    do
        a = check_random(w->c, 4);
    while (!(w->p->activations >> a & 1));
    return (int32_t)a;
}

struct ir_op *draw_finish(struct draw *w, struct ir_graph *g, struct ir_tensor *const *in,
                          uint32_t n_in, struct ir_tensor *y)
{
    struct ir_op *op = ir_op_new(g, w->p->opcode, g->n_row, n_in, 1);

    for (uint32_t i = 0; i < n_in; i++)
        op->in[i] = in[i] ? in[i]->id : IR_NONE;
    op->out[0] = y->id;
    y->producer = op->id;
    y->is_output = true;
    return op;
}

/* Sizes of a window over the image, shared by convolutions and pools. */
static void window(struct draw *w, bool pads, int32_t x[4], int32_t y[4], int32_t *attr)
{
    int64_t kh = draw_value(w, TARGET_KERNEL_H, 1, 5), kw = draw_value(w, TARGET_KERNEL_W, 1, 5);
    int64_t sy = draw_value(w, TARGET_STRIDE_H, 1, 3), sx = draw_value(w, TARGET_STRIDE_W, 1, 3);
    int64_t dy = pads ? draw_value(w, TARGET_DILATION_H, 1, 2) : 1;
    int64_t dx = pads ? draw_value(w, TARGET_DILATION_W, 1, 2) : 1;
    int64_t h = draw_value(w, TARGET_IN_H, 1, 12), v = draw_value(w, TARGET_IN_W, 1, 12);
    int64_t pt = draw_value(w, TARGET_PAD_TOP, 0, kh / 2),
            pl = draw_value(w, TARGET_PAD_LEFT, 0, kw / 2);
    int64_t pb = draw_value(w, TARGET_PAD_BOTTOM, 0, kh / 2),
            pr = draw_value(w, TARGET_PAD_RIGHT, 0, kw / 2);
    if (w->keeps_shape) {
        kh |= 1;
        kw |= 1;
        sy = sx = dy = dx = 1;
        pt = pb = kh / 2;
        pl = pr = kw / 2;
    }
    int64_t spare_h = h + pt + pb - ((kh - 1) * dy + 1),
            spare_w = v + pl + pr - ((kw - 1) * dx + 1);

    x[0] = y[0] = (int32_t)draw_value(w, TARGET_BATCH, 1, 2);
    x[1] = (int32_t)h;
    x[2] = (int32_t)v;
    y[1] = spare_h < 0 ? 0 : (int32_t)(spare_h / sy + 1);
    y[2] = spare_w < 0 ? 0 : (int32_t)(spare_w / sx + 1);
    const int64_t all[][2] = {{IR_KERNEL_H, kh},   {IR_KERNEL_W, kw}, {IR_STRIDE_H, sy},
                              {IR_STRIDE_W, sx},   {IR_PAD_TOP, pt},  {IR_PAD_LEFT, pl},
                              {IR_PAD_BOTTOM, pb}, {IR_PAD_RIGHT, pr}};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
        attr[all[i][0]] = (int32_t)all[i][1];
    if (pads) {
        attr[IR_DILATION_H] = (int32_t)dy;
        attr[IR_DILATION_W] = (int32_t)dx;
    }
}

static bool of_blocks(const struct draw *w)
{
    return !w->p->call && describe_of(w->target)->blocks;
}

/* Where the compiler cuts the depth of a product (blocks), many channels are wanted. */
bool draw_convolution(struct draw *w, struct ir_graph *g)
{
    bool depthwise = ir_op_info(w->p->opcode)->depthwise;
    int32_t x[4], y[4], attr[IR_ATTR_COUNT] = {0}, c, oc;
    const int64_t most = of_blocks(w) ? 150 : 19;

    window(w, true, x, y, attr);
    if (y[1] < 1 || y[2] < 1)
        return false;
    c = (int32_t)draw_value(w, TARGET_IN_C, 1, most);
    int64_t m = depthwise ? draw_value(w, TARGET_MULTIPLIER, 1, 2) : 1;
    oc = depthwise        ? (int32_t)(c * m)
         : w->keeps_shape ? c
                          : (int32_t)draw_value(w, TARGET_OUT_C, 1, 19);
    x[3] = c;
    y[3] = oc;
    const int32_t f[4] = {depthwise ? 1 : oc, attr[IR_KERNEL_H], attr[IR_KERNEL_W],
                          depthwise ? oc : c};
    float sx, sw = 0.03125f;
    uint32_t taps = (uint32_t)(f[1] * f[2] * (depthwise ? 1 : c));
    struct ir_tensor *in[3];
    in[0] = draw_activation(w, g, x, 0.5f, TARGET_Z_IN, true);
    sx = draw_scale(in[0], 0.5f);
    in[1] = weights(w, g, f, 4, (uint32_t)oc, depthwise ? 3 : 0, sw);
    in[2] = bias(w, g, in[1], sx, (uint32_t)oc);
    struct ir_tensor *out = draw_activation(
        w, g, y, (float)output_scale(w, (double)sx * (double)sw, taps), TARGET_Z_OUT, false);
    struct ir_op *op = draw_finish(w, g, in, 3, out);
    memcpy(op->attr, attr, sizeof attr);
    op->attr[IR_MULTIPLIER] = depthwise ? (int32_t)m : 0;
    op->attr[IR_ACTIVATION] = activation_of(w);
    return true;
}

bool draw_dense(struct draw *w, struct ir_graph *g)
{
    const struct ir_tensor *given = w->given[0];
    int32_t rows = (int32_t)draw_value(w, TARGET_BATCH, 1, 3),
            k = given ? (int32_t)(ir_elements(given) / (uint64_t)rows)
                      : (int32_t)draw_value(w, TARGET_IN_C, 1, of_blocks(w) ? 700 : 70),
            oc = (int32_t)draw_value(w, TARGET_OUT_C, 1, 19);
    const int32_t x[2] = {rows, k}, y[2] = {rows, oc}, f[4] = {oc, k, 1, 1};
    const int32_t x4[4] = {1, 1, rows, k}, y4[4] = {1, 1, rows, oc};
    float sx, sw = 0.03125f;
    struct ir_tensor *in[3];

    in[0] = given ? w->given[0] : draw_activation(w, g, x4, 0.5f, TARGET_Z_IN, true);
    sx = draw_scale(in[0], 0.5f);
    if (!given) {
        in[0]->rank = 2;
        memcpy(in[0]->dim, x, sizeof x);
    }
    in[1] = weights(w, g, f, 2, (uint32_t)oc, 0, sw);
    in[2] = bias(w, g, in[1], sx, (uint32_t)oc);
    struct ir_tensor *out =
        draw_activation(w, g, y4, (float)output_scale(w, (double)sx * (double)sw, (uint32_t)k),
                        TARGET_Z_OUT, false);
    out->rank = 2;
    memcpy(out->dim, y, sizeof y);
    draw_finish(w, g, in, 3, out)->attr[IR_ACTIVATION] = activation_of(w);
    return true;
}

/* To the first operand's shape another that is broadcast to it, or that it is broadcast to. */
static void other_shape(struct draw *w, const int32_t a[4], int32_t b[4])
{
    const uint32_t kind = w->broadcast ? check_random(w->c, 3) : 0; /* alike, a channel, a number */

    for (uint32_t i = 0; i < 4; i++)
        b[i] = kind == 0 ? a[i] : 1;
    if (kind == 1)
        b[3] = a[3] > 1 ? a[3] : w->channels ? w->channels : 1 + (int32_t)check_random(w->c, 19);
}

void draw_two_shapes(struct draw *w, int32_t a[4], int32_t b[4], int32_t y[4])
{
    const struct ir_tensor *const *t = (const struct ir_tensor *const *)w->given;
    int32_t *known = !t[0] && t[1] ? b : a, *other = known == a ? b : a;

    known[0] = (int32_t)draw_value(w, TARGET_BATCH, 1, 2);
    known[1] = (int32_t)draw_value(w, TARGET_OUT_H, 1, 9);
    known[2] = (int32_t)draw_value(w, TARGET_OUT_W, 1, 9);
    known[3] = (int32_t)draw_value(w, TARGET_OUT_C, 1, 19);
    if (t[0] && t[1])
        memcpy(other, t[1]->dim, 4 * sizeof *other);
    else
        other_shape(w, known, other);
    for (uint32_t i = 0; i < 4; i++)
        y[i] = a[i] > b[i] ? a[i] : b[i];
}

bool draw_elementwise(struct draw *w, struct ir_graph *g)
{
    int32_t a[4] = {0}, b[4] = {0}, y[4];

    draw_two_shapes(w, a, b, y);
    float s[3] = {0.25f, 0.25f * (1 + (float)check_random(w->c, 100) / 50), 0.5f};

    struct ir_tensor *in[2];
    in[0] = draw_activation(w, g, a, s[0], TARGET_Z_IN, true);
    in[1] = draw_activation(w, g, b, s[1], TARGET_Z_IN2, true);
    if (w->given[0] || w->given[1])
        s[2] = draw_scale(in[0], s[0]) + draw_scale(in[1], s[1]);
    if (w->p->opcode == IR_OP_MUL)
        s[2] = draw_scale(in[0], s[0]) * draw_scale(in[1], s[1]) * 100;
    struct ir_tensor *out = draw_activation(w, g, y, s[2], TARGET_Z_OUT, false);
    draw_finish(w, g, in, 2, out)->attr[IR_ACTIVATION] = activation_of(w);
    return true;
}

bool draw_pool(struct draw *w, struct ir_graph *g)
{
    int32_t x[4], y[4], attr[IR_ATTR_COUNT] = {0};

    window(w, false, x, y, attr);
    if (y[1] < 1 || y[2] < 1)
        return false;
    x[3] = y[3] = (int32_t)draw_value(w, TARGET_IN_C, 1, 19);
    struct ir_tensor *in[1] = {draw_activation(w, g, x, 0.5f, TARGET_Z_IN, true)};
    struct ir_tensor *out = draw_activation(w, g, y, 0.5f, TARGET_Z_OUT, false);
    out->quant = in[0]->quant;
    struct ir_op *op = draw_finish(w, g, in, 1, out);
    memcpy(op->attr, attr, sizeof attr);
    op->attr[IR_ACTIVATION] = activation_of(w);
    return true;
}
