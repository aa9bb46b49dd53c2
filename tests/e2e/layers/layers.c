/* layers.c - see layers.h. */
#include "layers.h"

#include <math.h>
#include <string.h>

enum {
    MAX_CHANNELS = 70,
    MAX_OPS = 5,
    MACS = 300000,        /* of one operator, mostly */
    MACS_LARGE = 2000000, /* of some */
};

struct make {
    struct arena *a;
    struct ir_graph *g;
    struct layers_rng r;
    const struct hd_config *hw;
    struct ir_tensor *x; /* the tensor that the next operator reads */
    uint64_t macs;
};

uint64_t layers_next(struct layers_rng *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int32_t layers_range(struct layers_rng *r, int32_t lo, int32_t hi)
{
    uint64_t z = layers_next(r);

    return hi <= lo ? lo : lo + (int32_t)(z % (uint64_t)(hi - lo + 1));
}

bool layers_chance(struct layers_rng *r, uint32_t percent)
{
    return layers_next(r) % 100 < percent;
}

static int32_t range(struct make *m, int32_t lo, int32_t hi)
{
    return layers_range(&m->r, lo, hi);
}

static bool chance(struct make *m, uint32_t percent)
{
    return layers_chance(&m->r, percent);
}

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* Return a size up to `most` near a multiple of N, a tiny one, or any. */
static int32_t size(struct make *m, int32_t most)
{
    int32_t n = (int32_t)m->hw->n, v;

    if (chance(m, 40))
        v = n * range(m, 1, 3) + range(m, -1, 1);
    else if (chance(m, 35))
        v = range(m, 1, 4);
    else
        v = range(m, 1, most);
    return v < 1 ? 1 : least(v, most);
}

static float power(int exponent)
{
    return ldexpf(1.0f, exponent);
}

/* Return a scale: sometimes a power of two, so that multipliers of exactly 2^30 occur. */
static float scale(struct make *m)
{
    if (chance(m, 40))
        return power(range(m, -8, 0));
    return (float)range(m, 1000, 60000) / 1000000.0f;
}

static int32_t zero_point(struct make *m)
{
    switch (range(m, 0, 5)) {
    case 0: return 0;
    case 1: return -128;
    case 2: return 127;
    default: return range(m, -128, 127);
    }
}

static void set_quant(struct make *m, struct ir_tensor *t, uint32_t n, uint32_t axis)
{
    float *s = ARENA_ARRAY(m->a, float, n);
    int32_t *z = ARENA_ARRAY(m->a, int32_t, n);

    t->quant = (struct ir_quant){n, axis, s, z};
}

static void quantise(struct make *m, struct ir_tensor *t, float s, int32_t z)
{
    set_quant(m, t, 1, 0);
    *(float *)(uintptr_t)t->quant.scale = s;
    *(int32_t *)(uintptr_t)t->quant.zero_point = z;
}

static struct ir_tensor *tensor(struct make *m, const char *what, enum ir_type type, uint32_t rank,
                                const int32_t *dim)
{
    return ir_tensor_new(m->g, arena_printf(m->a, "%s%u", what, m->g->n_tensor), type, rank, dim);
}

/* Fill int8 data: any values, only the extremes, small ones, mostly one value, or constant. */
static void fill(struct make *m, uint8_t *p, size_t n)
{
    int32_t mode = range(m, 0, 9), value = range(m, -128, 127);

    for (size_t i = 0; i < n; i++) {
        uint64_t z = layers_next(&m->r);
        switch (mode) {
        case 0: p[i] = z & 1 ? 127 : 128; break;
        case 1: p[i] = (uint8_t)(z % 5 - 2); break;
        case 2: p[i] = (uint8_t)(z % 8 ? value : (int32_t)(z >> 8)); break;
        case 3: p[i] = (uint8_t)value; break;
        default: p[i] = (uint8_t)z;
        }
    }
}

static struct ir_tensor *constant(struct make *m, const char *what, uint32_t rank,
                                  const int32_t *dim)
{
    struct ir_tensor *t = tensor(m, what, IR_I8, rank, dim);
    uint8_t *data = arena_alloc(m->a, (size_t)ir_bytes(t));

    fill(m, data, (size_t)ir_bytes(t));
    t->role = IR_CONST;
    t->data = data;
    return t;
}

static struct ir_tensor *input(struct make *m, uint32_t rank, const int32_t *dim)
{
    struct ir_tensor *t = tensor(m, "in", IR_I8, rank, dim);
    uint32_t *all = ARENA_ARRAY(m->a, uint32_t, m->g->n_in + 1);

    t->role = IR_INPUT;
    quantise(m, t, scale(m), zero_point(m));
    for (uint32_t i = 0; i < m->g->n_in; i++)
        all[i] = m->g->in[i];
    all[m->g->n_in++] = t->id;
    m->g->in = all;
    return t;
}

static void output(struct make *m, struct ir_tensor *t)
{
    uint32_t *all = ARENA_ARRAY(m->a, uint32_t, m->g->n_out + 1);

    if (t->is_output)
        return;
    t->is_output = true;
    for (uint32_t i = 0; i < m->g->n_out; i++)
        all[i] = m->g->out[i];
    all[m->g->n_out++] = t->id;
    m->g->out = all;
}

/* Add an operator x... -> y with its row. */
static struct ir_op *add_op(struct make *m, enum ir_opcode opcode, uint32_t n_in,
                            struct ir_tensor *const *in, struct ir_tensor *y)
{
    struct ir_graph *g = m->g;
    struct ir_row *rows = ARENA_ARRAY(m->a, struct ir_row, g->n_row + 1);
    const char *name = ir_op_info(opcode)->name;

    for (uint32_t i = 0; i < g->n_row; i++)
        rows[i] = g->row[i];
    g->row = rows;
    g->row[g->n_row] = (struct ir_row){.name = arena_printf(m->a, "%02u_%s", g->n_row, name),
                                       .op = name,
                                       .tensor = y->name,
                                       .shape = ir_shape_text(m->a, y->rank, y->dim),
                                       .fused_into = IR_NONE};
    struct ir_op *op = ir_op_new(g, opcode, g->n_row++, n_in, 1);
    for (uint32_t i = 0; i < n_in; i++)
        op->in[i] = in[i] ? in[i]->id : IR_NONE;
    op->out[0] = y->id;
    y->producer = op->id;
    m->x = y;
    return op;
}

/* --- operators with weights ------------------------------------------------------------------ */

/* One dimension of a window. */
struct span {
    int32_t in, kernel, stride, dilation, before, after, out;
};

static bool fit(struct span *s)
{
    int32_t room = s->in + s->before + s->after - (s->kernel - 1) * s->dilation - 1;

    s->out = room < 0 ? 0 : room / s->stride + 1;
    return s->out > 0;
}

static void same_padding(struct span *s)
{
    int32_t out = (s->in + s->stride - 1) / s->stride;
    int32_t pad = (out - 1) * s->stride + (s->kernel - 1) * s->dilation + 1 - s->in;

    s->before = pad > 0 ? pad / 2 : 0;
    s->after = pad > 0 ? pad - pad / 2 : 0;
}

/* Draw kernel, stride, dilation and padding for `in` positions: SAME, VALID or odd explicit ones.
 * Pools have no dilation, and each window has a cell inside. */
static struct span window(struct make *m, int32_t in, bool pool)
{
    struct span s = {.in = in, .dilation = 1};

    do {
        s.kernel = chance(m, 30) ? 1 : chance(m, 60) ? range(m, 2, 3) : range(m, 1, 9);
        s.stride = chance(m, 50) ? 1 : range(m, 1, 3);
        s.dilation = pool || chance(m, 65) ? 1 : range(m, 2, 3);
        s.before = s.after = 0;
        if (chance(m, 50))
            same_padding(&s);
        else if (chance(m, 40)) {
            int32_t most = pool ? s.kernel - 1 : (s.kernel - 1) * s.dilation + 2;
            s.before = range(m, 0, most);
            s.after = range(m, 0, most);
        }
    } while (!fit(&s));
    return s;
}

static void set_window(struct ir_op *op, const struct span *y, const struct span *x, bool dilated)
{
    op->attr[IR_KERNEL_H] = y->kernel;
    op->attr[IR_KERNEL_W] = x->kernel;
    op->attr[IR_STRIDE_H] = y->stride;
    op->attr[IR_STRIDE_W] = x->stride;
    op->attr[IR_PAD_TOP] = y->before;
    op->attr[IR_PAD_BOTTOM] = y->after;
    op->attr[IR_PAD_LEFT] = x->before;
    op->attr[IR_PAD_RIGHT] = x->after;
    if (dilated) {
        op->attr[IR_DILATION_H] = y->dilation;
        op->attr[IR_DILATION_W] = x->dilation;
    }
}

/* Return the factor from accumulator to quantised output for sums of `k` products: plausible, an
 * exact power of two or 3/4 of one (multipliers 2^30 and 3 * 2^29, where rounding ties occur), far
 * too small, or so large that nearly everything clamps. |acc| * factor stays below 2^30. */
static double factor(struct make *m, double k, bool *exact)
{
    double spread = sqrt(k) * 5000, most = 1073741824.0 / (k * 65536 + 4194304), d;
    int32_t mode = range(m, 0, 19);

    *exact = false;
    if (mode < 12)
        d = range(m, 4, 120) / spread;
    else if (mode < 17) {
        *exact = true;
        d = ldexp(chance(m, 50) ? 1 : 0.75, -(int)log2(spread / range(m, 20, 200)));
    } else if (mode < 18)
        d = ldexp(1 + range(m, 0, 1000) / 1001.0, -range(m, 18, 45));
    else
        d = range(m, 300, 3000) / spread;
    return d < most ? d : most / 2;
}

/* Set the scales of weights and output for one sum of k products. */
static void set_scales(struct make *m, struct ir_tensor *w, struct ir_tensor *y, double k,
                       uint32_t n, uint32_t axis)
{
    bool exact;
    double s_in = (double)m->x->quant.scale[0];
    float s_out = scale(m);
    int32_t z_w = chance(m, 75) ? 0 : range(m, -128, 127);

    set_quant(m, w, n, axis);
    for (uint32_t i = 0; i < n; i++) {
        double d = factor(m, k, &exact);
        if (exact && i == 0)
            s_out = power(range(m, -8, 0));
        ((float *)(uintptr_t)w->quant.scale)[i] = (float)(d * (double)s_out / s_in);
        ((int32_t *)(uintptr_t)w->quant.zero_point)[i] = z_w;
    }
    quantise(m, y, s_out, zero_point(m));
}

/* Draw int32 biases near the range of the sums; sometimes NULL. */
static struct ir_tensor *bias(struct make *m, int32_t channels, double k)
{
    if (chance(m, 12))
        return NULL;
    int32_t most = (int32_t)fmin(sqrt(k) * 20000, 4194303);
    struct ir_tensor *b = tensor(m, "b", IR_I32, 1, &channels);
    uint8_t *data = arena_alloc(m->a, (size_t)ir_bytes(b));
    for (int32_t i = 0; i < channels; i++)
        memcpy(data + 4 * i, &(int32_t){range(m, -most, most)}, 4);
    b->role = IR_CONST;
    b->data = data;
    return b;
}

/* Return true if the scratchpad can hold two copies of a window row and two output rows. */
static bool fits(const struct make *m, int32_t rows, int64_t row, int64_t out_row)
{
    int64_t padded = row + 9 * m->hw->n, out_padded = out_row + m->hw->n;

    return 2 * (least(rows, m->x->dim[1]) * padded + out_padded) <= m->hw->scratchpad_bytes;
}

/* Add a convolution of m->x: `oc` output channels with one `multiplier` each. */
static void add_convolution(struct make *m, bool depthwise, const struct span *y,
                            const struct span *x, int32_t oc, int32_t multiplier)
{
    const int32_t c = m->x->dim[3];
    const double k = (double)y->kernel * x->kernel * (depthwise ? 1 : c);

    oc *= multiplier;
    int32_t f[4] = {depthwise ? 1 : oc, y->kernel, x->kernel, depthwise ? oc : c};
    struct ir_tensor *weights = constant(m, "w", 4, f);
    struct ir_tensor *out = tensor(m, "y", IR_I8, 4, (const int32_t[]){1, y->out, x->out, oc});
    bool per_channel = oc > 1 && chance(m, 70);
    set_scales(m, weights, out, k, per_channel ? (uint32_t)oc : 1,
               per_channel && depthwise ? 3 : 0);
    struct ir_tensor *b = bias(m, oc, k), *in[3] = {m->x, weights, b};
    struct ir_op *op =
        add_op(m, depthwise ? IR_OP_DEPTHWISE_CONV2D : IR_OP_CONV2D, b ? 3 : 2, in, out);
    set_window(op, y, x, true);
    op->attr[IR_MULTIPLIER] = depthwise ? multiplier : 0;
    op->attr[IR_ACTIVATION] = range(m, 0, 3);
}

static void convolution(struct make *m, bool depthwise)
{
    const int32_t h = m->x->dim[1], w = m->x->dim[2], c = m->x->dim[3];
    struct span y = window(m, h, false), x = window(m, w, false);
    int32_t oc = depthwise ? c : size(m, MAX_CHANNELS);
    uint64_t budget = chance(m, 4) ? MACS_LARGE : MACS;
    int32_t multiplier = depthwise && chance(m, 4) ? range(m, 2, 3) : 1;

    for (;;) {
        int64_t k = (int64_t)y.kernel * x.kernel * (depthwise ? 1 : c);
        if ((uint64_t)(k * oc * y.out * x.out) <= budget && x.out <= (int32_t)m->hw->acc_depth &&
            fits(m, (y.kernel - 1) * y.dilation + 1, (int64_t)w * c, (int64_t)x.out * oc))
            break;
        if (!depthwise && oc > 1 && k * y.out * x.out > 1000)
            oc = (oc + 1) / 2;
        else if (y.kernel > 1 || y.before + y.after > 0)
            y = (struct span){.in = h, .kernel = 1, .stride = y.stride, .dilation = 1};
        else if (x.kernel > 1 || x.before + x.after > 0)
            x = (struct span){.in = w, .kernel = 1, .stride = x.stride, .dilation = 1};
        else if (oc > 1 && !depthwise)
            oc = (oc + 1) / 2;
        else
            break;
        (void)fit(&y);
        (void)fit(&x);
    }
    add_convolution(m, depthwise, &y, &x, oc, multiplier);
}

/* Add a dense layer over rows of k; y keeps leading dimensions or is [rows, channels]. */
static void dense(struct make *m)
{
    const struct ir_tensor *x = m->x;
    bool flat = x->rank == 4 && chance(m, 50);
    int32_t k = flat ? (int32_t)ir_elements(x) : ir_dim_back(x, 0);
    int32_t rows = (int32_t)ir_elements(x) / k, oc = size(m, 100), rank = 2;
    int32_t dim[4] = {rows, 0, 0, 0};

    oc = least(oc, 1 + MACS_LARGE / (k * rows));
    if (!flat && chance(m, 60)) {
        rank = (int32_t)x->rank;
        memcpy(dim, x->dim, sizeof dim);
    }
    dim[rank - 1] = oc;
    struct ir_tensor *w = constant(m, "w", 2, (const int32_t[]){oc, k});
    struct ir_tensor *y = tensor(m, "y", IR_I8, (uint32_t)rank, dim);
    bool per_channel = oc > 1 && chance(m, 25);
    set_scales(m, w, y, k, per_channel ? (uint32_t)oc : 1, 0);
    struct ir_tensor *b = bias(m, oc, k), *in[3] = {m->x, w, b};
    add_op(m, IR_OP_FULLY_CONNECTED, b ? 3 : 2, in, y)->attr[IR_ACTIVATION] = range(m, 0, 3);
}

/* --- other operators ------------------------------------------------------------------------- */

static struct ir_tensor *like(struct make *m, const struct ir_tensor *x)
{
    return tensor(m, "y", IR_I8, x->rank, x->dim);
}

/* Add a pool; whole: over all rows and columns. */
static void pool(struct make *m, bool whole)
{
    struct span y = window(m, m->x->dim[1], true), x = window(m, m->x->dim[2], true);
    int32_t c = m->x->dim[3], dim[4] = {1, y.out, x.out, c};

    if (whole || chance(m, 20)) {
        y = (struct span){.in = y.in, .kernel = y.in, .stride = 1, .dilation = 1, .out = 1};
        x = (struct span){.in = x.in, .kernel = x.in, .stride = 1, .dilation = 1, .out = 1};
        dim[1] = dim[2] = 1;
    }
    if (!fits(m, y.kernel, (int64_t)x.in * c, (int64_t)x.out * c))
        return;
    struct ir_tensor *out = tensor(m, "y", IR_I8, 4, dim);
    quantise(m, out, m->x->quant.scale[0], m->x->quant.zero_point[0]);
    struct ir_op *op = add_op(m, chance(m, 50) ? IR_OP_AVERAGE_POOL2D : IR_OP_MAX_POOL2D, 1,
                              &(struct ir_tensor *){m->x}, out);
    set_window(op, &y, &x, false);
    op->attr[IR_ACTIVATION] = chance(m, 60) ? 0 : range(m, 1, 3);
    if (op->opcode == IR_OP_AVERAGE_POOL2D && chance(m, 25))
        op->attr[IR_ROUND_UP] = 1; /* what was uint8 */
}

/* Add a mean over the dimensions of `mask`. */
static void mean_over(struct make *m, uint32_t mask, bool keep)
{
    const struct ir_tensor *x = m->x;
    int32_t dim[4], rank = 0;

    for (uint32_t i = 0; i < x->rank; i++)
        if (!(mask >> i & 1))
            dim[rank++] = x->dim[i];
        else if (keep)
            dim[rank++] = 1;
    struct ir_tensor *y = tensor(m, "y", IR_I8, (uint32_t)rank, dim);
    quantise(m, y, x->quant.scale[0] * power(range(m, -3, 1)), zero_point(m));
    struct ir_op *op = add_op(m, IR_OP_MEAN, 1, &(struct ir_tensor *){m->x}, y);
    op->attr[IR_AXIS] = (int32_t)mask;
    op->attr[IR_KEEP_DIMS] = keep;
}

static void mean(struct make *m)
{
    static const uint32_t masks[] = {6, 6, 6, 2, 4, 8, 12}; /* bit i: dimension i */
    const struct ir_tensor *x = m->x;
    const uint32_t mask = masks[range(m, 0, 6)];

    if (fits(m, mask & 2 ? x->dim[1] : 1, x->dim[2] * x->dim[3], x->dim[2] * x->dim[3]))
        mean_over(m, chance(m, 2) ? mask | 8 : mask, chance(m, 50));
}

/* Add DEQUANTIZE, functions of float32, QUANTIZE. */
static void float_island(struct make *m)
{
    static const enum ir_opcode all[] = {IR_OP_NEG, IR_OP_ABS, IR_OP_SQRT, IR_OP_EXP, IR_OP_FLOOR};
    struct ir_tensor *f = tensor(m, "f", IR_F32, m->x->rank, m->x->dim), *y = like(m, m->x);

    quantise(m, y, m->x->quant.scale[0] * (float)range(m, 20, 400) / 100.0f, zero_point(m));
    add_op(m, IR_OP_DEQUANTIZE, 1, &(struct ir_tensor *){m->x}, f);
    for (int32_t i = range(m, 0, 2); i > 0; i--) {
        struct ir_tensor *next = tensor(m, "f", IR_F32, f->rank, f->dim);

        add_op(m, all[range(m, 0, 4)], 1, &f, next);
        f = next;
    }
    add_op(m, IR_OP_QUANTIZE, 1, &f, y);
}

static void unary(struct make *m)
{
    static const enum ir_opcode all[] = {IR_OP_LOGISTIC, IR_OP_TANH,       IR_OP_LEAKY_RELU,
                                         IR_OP_RELU,     IR_OP_RELU6,      IR_OP_RELU_N1_TO_1,
                                         IR_OP_QUANTIZE, IR_OP_HARD_SWISH, IR_OP_LEAKY_RELU};
    enum ir_opcode opcode = all[range(m, 0, 8)];
    struct ir_tensor *y = like(m, m->x);
    float alpha = (float)range(m, 0, 300) / 200.0f;

    if (!fits(m, 1, (int64_t)y->dim[2] * y->dim[3], (int64_t)y->dim[2] * y->dim[3]))
        return;
    if (chance(m, 15)) {
        float_island(m);
        return;
    }
    if (opcode == IR_OP_LOGISTIC)
        quantise(m, y, 1.0f / 256, -128);
    else if (opcode == IR_OP_TANH)
        quantise(m, y, 1.0f / 128, 0);
    else
        quantise(m, y, m->x->quant.scale[0] * (float)range(m, 20, 400) / 100.0f, zero_point(m));
    struct ir_op *op = add_op(m, opcode, 1, &(struct ir_tensor *){m->x}, y);
    if (opcode == IR_OP_LEAKY_RELU)
        memcpy(&op->attr[IR_ALPHA_BITS], &alpha, sizeof alpha);
}

/* Return the scale of a binary operator's result, as the reference accepts it. */
static float binary_scale(struct make *m, enum ir_opcode opcode, float s1, float s2)
{
    if (opcode == IR_OP_MUL || opcode == IR_OP_PRELU)
        return s1 * s2 * power(range(m, 3, 9)) * (chance(m, 50) ? 1 : 1.3f);
    if (opcode == IR_OP_SQUARED_DIFFERENCE)
        return (s1 > s2 ? s1 * s1 : s2 * s2) * power(range(m, 3, 9)) * (chance(m, 50) ? 1 : 1.3f);
    return (s1 > s2 ? s1 : s2) * power(range(m, -3, 3)) * (chance(m, 50) ? 1 : 1.2f);
}

/* Return a second operand for x: an earlier tensor of its shape, an input, or a constant, sometimes
 * broadcast along rows, columns or all but channels. */
static struct ir_tensor *partner(struct make *m)
{
    const struct ir_tensor *x = m->x;
    int32_t dim[4];

    memcpy(dim, x->dim, sizeof dim);
    uint32_t first = (uint32_t)range(m, 0, (int32_t)m->g->n_tensor);
    for (uint32_t i = 0; i < m->g->n_tensor && chance(m, 80); i++) {
        struct ir_tensor *t = m->g->tensor[(first + i) % m->g->n_tensor];
        if (t->type == IR_I8 && t->role != IR_CONST && t->quant.n && t->rank == x->rank &&
            memcmp(t->dim, dim, x->rank * sizeof *dim) == 0 && (t != x || chance(m, 20)))
            return t;
    }
    if (x->rank == 4 && chance(m, 40)) {
        dim[1] = chance(m, 60) ? 1 : dim[1];
        dim[2] = chance(m, 60) ? 1 : dim[2];
        dim[3] = chance(m, 15) ? 1 : dim[3];
    }
    bool channels_only = x->rank == 4 && chance(m, 10);
    if (chance(m, 50))
        return input(m, channels_only ? 1 : x->rank, channels_only ? dim + 3 : dim);
    struct ir_tensor *t =
        constant(m, "k", channels_only ? 1 : x->rank, channels_only ? dim + 3 : dim);
    quantise(m, t, scale(m), zero_point(m));
    return t;
}

/* Combine m->x and `other`, in either order. */
static void binary_with(struct make *m, enum ir_opcode opcode, struct ir_tensor *other)
{
    bool extremum = opcode == IR_OP_MAXIMUM || opcode == IR_OP_MINIMUM;
    struct ir_tensor *x = m->x, *y = like(m, x), *in[2] = {x, other};

    if (extremum && other->role != IR_CONST &&
        (other->role != IR_INPUT || ir_uses(m->g, other->id) > 0)) /* its scale is fixed */
        in[1] = other = x;
    if (chance(m, 30) && opcode != IR_OP_PRELU) {
        in[0] = other;
        in[1] = x;
    }
    quantise(m, y, binary_scale(m, opcode, x->quant.scale[0], other->quant.scale[0]),
             zero_point(m));
    if (extremum)
        other->quant = y->quant = x->quant;
    struct ir_op *op = add_op(m, opcode, 2, in, y);
    if (ir_op_has(opcode, IR_ACTIVATION))
        op->attr[IR_ACTIVATION] = range(m, 0, 3);
}

static void binary(struct make *m, bool residual)
{
    static const enum ir_opcode all[] = {IR_OP_ADD,
                                         IR_OP_SUB,
                                         IR_OP_MUL,
                                         IR_OP_MAXIMUM,
                                         IR_OP_MINIMUM,
                                         IR_OP_PRELU,
                                         IR_OP_SQUARED_DIFFERENCE};
    enum ir_opcode opcode = residual ? IR_OP_ADD : all[range(m, 0, 6)];
    int64_t row = (int64_t)ir_dim_back(m->x, 1) * ir_dim_back(m->x, 0);

    if (!fits(m, 2, row, row))
        return;
    binary_with(m, opcode, partner(m));
}

/* Combine x with a function of x by one number per channel. */
static void by_channel(struct make *m)
{
    static const enum ir_opcode first[] = {IR_OP_MUL, IR_OP_ADD, IR_OP_SUB},
                                second[] = {IR_OP_ADD, IR_OP_SUB, IR_OP_MUL};
    struct ir_tensor *x = m->x;
    const int32_t dim[4] = {1, 1, 1, ir_dim_back(x, 0)};
    const int64_t row = (int64_t)ir_dim_back(x, 1) * ir_dim_back(x, 0);

    if (x->rank != 4 || !fits(m, 2, row, row))
        return;
    const uint32_t rank = chance(m, 50) ? 4 : 1;
    struct ir_tensor *k = constant(m, "k", rank, dim + 4 - rank);
    quantise(m, k, scale(m), zero_point(m));
    binary_with(m, first[range(m, 0, 2)], k);
    struct ir_tensor *made = m->x;
    m->x = x;
    binary_with(m, second[range(m, 0, 2)], made);
}

/* PAD along H and W before a convolution, which legalise folds into it. */
static void pad(struct make *m)
{
    int32_t p[8] = {0, 0, range(m, 0, 2), range(m, 0, 2), range(m, 0, 2), range(m, 0, 2), 0, 0};
    int32_t dim[4] = {1, m->x->dim[1] + p[2] + p[3], m->x->dim[2] + p[4] + p[5], m->x->dim[3]};
    struct ir_tensor *paddings = tensor(m, "p", IR_I32, 2, (const int32_t[]){4, 2});
    struct ir_tensor *y = tensor(m, "y", IR_I8, 4, dim);

    paddings->role = IR_CONST;
    paddings->data = arena_memdup(m->a, p, sizeof p);
    quantise(m, y, m->x->quant.scale[0], m->x->quant.zero_point[0]);
    add_op(m, IR_OP_PAD, 2, (struct ir_tensor *[]){m->x, paddings}, y);
}

static struct ir_tensor *fixed_numbers(struct make *m, uint32_t rank, const int32_t *dim,
                                       const int32_t *values)
{
    struct ir_tensor *t = tensor(m, "i", IR_I32, rank, dim);

    t->role = IR_CONST;
    t->data = arena_memdup(m->a, values, (size_t)ir_bytes(t));
    return t;
}

static struct ir_op *move(struct make *m, enum ir_opcode opcode, struct ir_tensor *how,
                          const int32_t *dim)
{
    struct ir_tensor *y = tensor(m, "y", IR_I8, 4, dim);

    quantise(m, y, m->x->quant.scale[0], m->x->quant.zero_point[0]);
    return add_op(m, opcode, 2, (struct ir_tensor *[]){m->x, how}, y);
}

/* Add a PAD in all dimensions of the image. */
static void pad_all(struct make *m)
{
    int32_t p[8] = {0}, dim[4];

    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t k = 0; k < 2 && i > 0; k++)
            p[2 * i + k] = chance(m, 50) ? range(m, 0, i == 3 ? 20 : 3) : 0;
        dim[i] = m->x->dim[i] + p[2 * i] + p[2 * i + 1];
    }
    if (!fits(m, 1, (int64_t)m->x->dim[2] * m->x->dim[3], (int64_t)dim[2] * dim[3]))
        return;
    move(m, IR_OP_PAD, fixed_numbers(m, 2, (const int32_t[]){4, 2}, p), dim);
}

/* Add a GATHER along one dimension: nearest pixels, mirrored borders, any indices. */
static void pick(struct make *m)
{
    int32_t axis = range(m, 1, 3), size_in = m->x->dim[axis], n, dim[4], index[512];
    int32_t mode = range(m, 0, 3), pad = least(range(m, 0, 4), size_in - 1);

    n = mode == 0 ? size_in * range(m, 1, 3) : mode == 1 ? size_in + 2 * pad : range(m, 1, 20);
    n = least(n, 512);
    for (int32_t i = 0; i < n; i++) {
        int32_t at = i - pad;
        at = at < 0 ? -at : at >= size_in ? 2 * size_in - 2 - at : at;
        index[i] = mode == 0   ? i * size_in / n
                   : mode == 1 ? at
                   : mode == 2 ? range(m, 0, size_in - 1)
                               : i * 3 % size_in;
    }
    memcpy(dim, m->x->dim, sizeof dim);
    dim[axis] = n;
    if (!fits(m, 6, (int64_t)m->x->dim[2] * m->x->dim[3], (int64_t)dim[2] * dim[3]) ||
        (int64_t)dim[1] * dim[2] * dim[3] > 40000)
        return;
    move(m, IR_OP_GATHER, fixed_numbers(m, 1, &n, index), dim)->attr[IR_AXIS] = axis;
}

static void turn(struct make *m)
{
    static const int32_t all[6][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 1, 3},
                                      {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 3, 2, 1}};
    const int32_t *order = all[range(m, 0, 5)];
    int32_t dim[4];

    for (uint32_t i = 0; i < 4; i++)
        dim[i] = m->x->dim[order[i]];
    move(m, IR_OP_TRANSPOSE, fixed_numbers(m, 1, (const int32_t[]){4}, order), dim);
}

static void reshape(struct make *m)
{
    struct ir_tensor *y =
        tensor(m, "y", IR_I8, 2, (const int32_t[]){1, (int32_t)ir_elements(m->x)});

    quantise(m, y, m->x->quant.scale[0], m->x->quant.zero_point[0]);
    add_op(m, IR_OP_RESHAPE, 1, &(struct ir_tensor *){m->x}, y);
}

/* --- graphs ---------------------------------------------------------------------------------- */

static struct ir_tensor *image(struct make *m)
{
    int32_t c = size(m, MAX_CHANNELS), h = size(m, 20), w = size(m, 20);

    if (chance(m, 6))
        w = range(m, 1, 100);
    if (chance(m, 6))
        h = range(m, 1, 100);
    int32_t most = chance(m, 5) ? 3 * (int32_t)m->hw->scratchpad_bytes : 12000;
    if (most > 300000)
        most = 300000;
    while (h * w * c > most || w * c * 6 > (int32_t)m->hw->scratchpad_bytes) {
        if (w > 8)
            w = w * 3 / 4;
        else if (c > 4)
            c = c * 3 / 4;
        else
            h = h * 3 / 4;
        h = h < 1 ? 1 : h;
    }
    return input(m, 4, (const int32_t[]){1, h, w, c});
}

static void image_op(struct make *m, bool residual)
{
    int32_t kind = residual && chance(m, 25) ? 9 : range(m, 0, 16);

    if (kind < 5 && chance(m, 8))
        pad(m);
    if (kind < 4)
        convolution(m, false);
    else if (kind < 8)
        convolution(m, true);
    else if (kind < 9 && chance(m, 50))
        by_channel(m);
    else if (kind < 10)
        binary(m, residual);
    else if (kind < 12)
        pool(m, false);
    else if (kind < 13)
        unary(m);
    else if (kind < 14)
        mean(m);
    else if (kind < 15)
        pad_all(m);
    else if (kind < 16)
        pick(m);
    else
        turn(m);
}

static void single_dense(struct make *m)
{
    int32_t rows = chance(m, 50) ? 1 : range(m, 1, 4);
    int32_t k = chance(m, 20) ? range(m, 500, 5000) : size(m, 500);

    if (k > (int32_t)m->hw->scratchpad_bytes / 5)
        k = (int32_t)m->hw->scratchpad_bytes / 5 - range(m, 0, 3);
    bool middle = chance(m, 15);
    const int32_t deep[3] = {1, rows, k}, flat[2] = {rows, k};
    m->x = input(m, middle ? 3 : 2, middle ? deep : flat);
    dense(m);
}

static void chain(struct make *m)
{
    int32_t n = range(m, 2, MAX_OPS);

    m->x = image(m);
    for (int32_t i = 0; i < n && m->x->rank == 4; i++) {
        if (i + 1 == n && chance(m, 30)) {
            if (chance(m, 50))
                reshape(m);
            dense(m);
        } else {
            image_op(m, i > 0);
        }
        if (m->x->role == IR_VALUE && chance(m, 10))
            output(m, m->x);
    }
}

static void single(struct make *m)
{
    if (chance(m, 12)) {
        single_dense(m);
        return;
    }
    m->x = image(m);
    if (chance(m, 5))
        dense(m);
    else
        image_op(m, false);
}

/* --- residual blocks -------------------------------------------------------------------------- */

static struct span same_window(struct make *m, int32_t in, bool one, int32_t stride)
{
    struct span s = {.in = in, .kernel = 1, .stride = stride, .dilation = 1};

    if (!one) {
        s.kernel = range(m, 0, 2) * 2 + 1;
        s.dilation = chance(m, 10) ? 2 : 1;
    }
    same_padding(&s);
    (void)fit(&s);
    return s;
}

static void same_convolution(struct make *m, bool depthwise, int32_t stride)
{
    const bool one = !depthwise || chance(m, 10);
    const struct span y = same_window(m, m->x->dim[1], one, stride),
                      x = same_window(m, m->x->dim[2], one, stride);

    add_convolution(m, depthwise, &y, &x, m->x->dim[3], 1);
}

/* Pass x through some operators, and add (multiply, subtract) x and the result. */
static void block(struct make *m, int32_t stride)
{
    static const enum ir_opcode sums[] = {IR_OP_ADD, IR_OP_ADD, IR_OP_SUB, IR_OP_MUL};
    struct ir_tensor *x = m->x, *around = x;

    for (int32_t i = 0, n = range(m, 1, 3); i < n; i++)
        same_convolution(m, chance(m, 60), i == 0 ? stride : 1);
    if (stride > 1) {
        struct ir_tensor *body = m->x;
        m->x = x;
        same_convolution(m, chance(m, 50), stride);
        around = m->x;
        m->x = body;
    }
    binary_with(m, sums[range(m, 0, 3)], around);
}

/* Add consecutive residual blocks: what bypasses a block waits for what passes through it. Often
 * the scratchpad holds only some rows of each tensor. */
static void blocks(struct make *m)
{
    const int32_t h = range(m, 5, 24), c = size(m, 24), most = (int32_t)m->hw->scratchpad_bytes;
    int32_t w = range(m, most / 16, most / 2) / (h * c);

    w = w < 1 ? 1 : least(w, least((int32_t)m->hw->acc_depth, most / (12 * c)));
    m->x = input(m, 4, (const int32_t[]){1, h, w, c});
    for (int32_t i = 0, n = range(m, 1, 3); i < n; i++)
        if (chance(m, 70))
            block(m, chance(m, 75) ? 1 : 2);
        else
            same_convolution(m, chance(m, 50), 1);
}

/* Shift values to another zero point by subtracting a constant of the same scale. */
static void recentre(struct make *m)
{
    const int32_t zero = m->x->quant.zero_point[0];
    struct ir_tensor *y = like(m, m->x), *k = constant(m, "k", 1, (const int32_t[]){1});
    int32_t code = range(m, 0, 255) - 128 - zero;

    code = code < -128 ? -128 : code > 127 ? 127 : code;
    *(int8_t *)(void *)k->data = (int8_t)code;
    quantise(m, k, m->x->quant.scale[0], 0);
    quantise(m, y, m->x->quant.scale[0], zero + code);
    add_op(m, IR_OP_SUB, 2, (struct ir_tensor *[]){m->x, k}, y);
}

/* Make a small network: its input transformed, a convolution, perhaps a sum or a table, the mean or
 * the maximum of each channel of that, and a matrix product of these. */
static void whole_image(struct make *m)
{
    m->x = input(m, 4, (const int32_t[]){1, range(m, 1, 9), range(m, 1, 9), size(m, 40)});
    if (chance(m, 50))
        recentre(m);
    convolution(m, chance(m, 30));
    if (chance(m, 40))
        binary(m, true);
    if (chance(m, 20))
        unary(m);
    if (chance(m, 50))
        mean(m);
    else
        pool(m, true);
    if (chance(m, 70))
        dense(m);
}

/* --- extreme sizes: long rows, large strides, kernels and channel counts ---------------------- */

static int32_t far(struct make *m, int32_t most)
{
    static const int32_t edge[] = {15,  16,  31,  32,  63,  64,   127,
                                   128, 255, 256, 511, 512, 2047, 4095};
    int32_t v = edge[range(m, 0, 13)] + range(m, -1, 1);

    return chance(m, 40) ? range(m, 1, 4) : least(v, most);
}

static struct span far_window(struct make *m, int32_t in)
{
    struct span s = {.in = in};

    do {
        s.kernel = chance(m, 50) ? 1 : far(m, 300);
        s.stride = far(m, 300);
        s.dilation = s.kernel > 1 && chance(m, 50) ? far(m, 300) : 1;
        s.before = chance(m, 70) ? 0 : far(m, 300);
        s.after = chance(m, 70) ? 0 : far(m, 300);
    } while (!fit(&s));
    return s;
}

static void pool_into(struct make *m, const struct span *y, const struct span *x,
                      struct ir_tensor *out)
{
    const enum ir_opcode opcode = chance(m, 50) ? IR_OP_AVERAGE_POOL2D : IR_OP_MAX_POOL2D;

    set_window(add_op(m, opcode, 1, &(struct ir_tensor *){m->x}, out), y, x, false);
}

/* Add a convolution, or a depthwise one with an output per channel; `biased`: with a bias. */
static void convolve_into(struct make *m, bool depthwise, const struct span *y,
                          const struct span *x, bool biased, struct ir_tensor *out)
{
    const int32_t c = m->x->dim[3], oc = out->dim[3];
    const double k = (double)y->kernel * x->kernel * (depthwise ? 1 : c);
    struct ir_tensor *weights = constant(
        m, "w", 4, (const int32_t[]){depthwise ? 1 : oc, y->kernel, x->kernel, depthwise ? oc : c});

    set_scales(m, weights, out, k, 1, 0);
    struct ir_tensor *b = biased ? bias(m, oc, k) : NULL, *in[3] = {m->x, weights, b};
    struct ir_op *op =
        add_op(m, depthwise ? IR_OP_DEPTHWISE_CONV2D : IR_OP_CONV2D, b ? 3 : 2, in, out);
    set_window(op, y, x, true);
    op->attr[IR_MULTIPLIER] = depthwise;
}

/* Make one convolution or pool of sizes that only a few operators allow, so the budget is
 * larger. */
static void far_op(struct make *m)
{
    int32_t kind = range(m, 0, 2), h, w, c, oc;
    struct span y, x;

    do {
        h = chance(m, 60) ? range(m, 1, 5) : far(m, 4096);
        w = far(m, 4096);
        c = far(m, 1024);
        oc = kind == 0 ? far(m, 1024) : c;
        y = far_window(m, h);
        x = far_window(m, w);
    } while ((int64_t)h * w * c > 100000 || (int64_t)y.out * x.out * oc > 100000 ||
             (int64_t)y.kernel * x.kernel * oc * (kind ? 1 : c) > 400000 ||
             (double)y.kernel * x.kernel * (kind ? 1 : c) * y.out * x.out * oc > 4e6);
    m->x = input(m, 4, (const int32_t[]){1, h, w, c});
    struct ir_tensor *out = tensor(m, "y", IR_I8, 4, (const int32_t[]){1, y.out, x.out, oc});
    if (kind == 2) {
        y.dilation = x.dilation = 1;
        quantise(m, out, m->x->quant.scale[0], m->x->quant.zero_point[0]);
        if (y.before >= y.kernel || x.before >= x.kernel || y.after >= y.kernel ||
            x.after >= x.kernel || !fit(&y) || !fit(&x) || y.out != out->dim[1] ||
            x.out != out->dim[2])
            return;
        pool_into(m, &y, &x, out);
        return;
    }
    convolve_into(m, kind != 0, &y, &x, false, out);
}

/* Make a depthwise convolution over one column, whose rows may be treated as one row. */
static void column_op(struct make *m)
{
    int32_t c = range(m, 1, 100), h = range(m, 1, 60);
    struct span x = {.in = 1, .kernel = 1, .stride = 1, .dilation = 1, .out = 1}, y = {.in = h};

    do {
        y.kernel = range(m, 1, 20);
        y.stride = chance(m, 50) ? 1 : range(m, 2, 4);
        y.dilation = chance(m, 80) ? 1 : 2;
        y.before = chance(m, 40) ? 0 : range(m, 1, 8);
        y.after = chance(m, 40) ? 0 : range(m, 1, 8);
    } while (!fit(&y));
    m->x = input(m, 4, (const int32_t[]){1, h, 1, c});
    struct ir_tensor *weights = constant(m, "w", 4, (const int32_t[]){1, y.kernel, 1, c});
    struct ir_tensor *out = tensor(m, "y", IR_I8, 4, (const int32_t[]){1, y.out, 1, c});
    set_scales(m, weights, out, y.kernel, 1, 0);
    struct ir_tensor *b = bias(m, c, y.kernel), *in[3] = {m->x, weights, b};
    struct ir_op *op = add_op(m, IR_OP_DEPTHWISE_CONV2D, b ? 3 : 2, in, out);
    set_window(op, &y, &x, true);
    op->attr[IR_MULTIPLIER] = 1;
}

static void token_table(struct make *m)
{
    struct ir_tensor *y = like(m, m->x);

    quantise(m, y, 1.0f / 256, -128);
    add_op(m, IR_OP_LOGISTIC, 1, &(struct ir_tensor *){m->x}, y);
}

/* Add or multiply by a tensor of the same shape, one row, or one value per channel. */
static void token_sum(struct make *m)
{
    static const enum ir_opcode all[] = {IR_OP_ADD, IR_OP_SUB, IR_OP_MUL, IR_OP_SQUARED_DIFFERENCE};
    enum ir_opcode opcode = all[range(m, 0, 3)];
    struct ir_tensor *x = m->x, *y = like(m, x), *other = x;
    const int32_t row[3] = {1, 1, ir_dim_back(x, 0)};
    uint32_t rank = (uint32_t)range(m, 1, (int32_t)x->rank);

    if (chance(m, 50))
        other = chance(m, 50) ? input(m, x->rank, x->dim) : constant(m, "k", x->rank, x->dim);
    else if (chance(m, 80))
        other = constant(m, "k", rank, row + 3 - rank);
    if (other->role == IR_CONST)
        quantise(m, other, scale(m), zero_point(m));
    struct ir_tensor *in[2] = {x, other};
    if (chance(m, 30)) {
        in[0] = other;
        in[1] = x;
    }
    quantise(m, y, binary_scale(m, opcode, x->quant.scale[0], other->quant.scale[0]),
             zero_point(m));
    struct ir_op *op = add_op(m, opcode, 2, in, y);
    if (ir_op_has(opcode, IR_ACTIVATION))
        op->attr[IR_ACTIVATION] = range(m, 0, 3);
}

/* Combine two tensors with a value per token or channel, otherwise as large as `whole`. */
static struct ir_tensor *token_pair(struct make *m, enum ir_opcode opcode, struct ir_tensor *a,
                                    struct ir_tensor *b, const struct ir_tensor *whole)
{
    struct ir_tensor *y = like(m, whole);

    quantise(m, y, binary_scale(m, opcode, a->quant.scale[0], b->quant.scale[0]), zero_point(m));
    add_op(m, opcode, 2, (struct ir_tensor *[]){a, b}, y);
    return y;
}

/* Add a LayerNorm as TFLite's converter writes it: the mean, its negative in float32, the variance,
 * a root, and products with one value per token and one per channel. */
static void token_norm(struct make *m)
{
    struct ir_tensor *x = m->x, *average, *root, *gain = constant(m, "k", 1, x->dim + x->rank - 1);
    const uint32_t inner = 1u << (x->rank - 1);

    quantise(m, gain, scale(m), zero_point(m));
    mean_over(m, inner, true);
    average = m->x;
    if (chance(m, 20)) /* already normalised: means of almost 0 */
        quantise(m, average, x->quant.scale[0] * power(range(m, -25, -15)), zero_point(m));
    (void)token_pair(m, IR_OP_SQUARED_DIFFERENCE, x, average, x);
    mean_over(m, inner, true);
    root = like(m, m->x);
    quantise(m, root, 1.0f / 256, -128);
    add_op(m, IR_OP_LOGISTIC, 1, &(struct ir_tensor *){m->x}, root);
    if (chance(m, 50))
        root = token_pair(m, IR_OP_MUL, root, gain, x);
    m->x = average;
    float_island(m);
    average = m->x;
    x = token_pair(m, IR_OP_MUL, x, root, x);
    root = token_pair(m, IR_OP_MUL, average, root, root);
    (void)token_pair(m, chance(m, 50) ? IR_OP_ADD : IR_OP_SUB, x, root, x);
}

/* Add a mean over one dimension, or over all but the innermost. */
static void token_mean(struct make *m)
{
    const uint32_t inner = 1u << (m->x->rank - 1);

    uint32_t mask = m->x->rank == 2 ? 1 : chance(m, 60) ? 2 : (uint32_t)range(m, 1, 3);

    mask = chance(m, 30) ? inner : mask;
    mean_over(m, mask, chance(m, 50));
}

/* Make a graph of [S,D] or [A,S,D], as in transformers: matrix products, sums, tables, means. */
static void tokens(struct make *m)
{
    int32_t s = chance(m, 20) ? range(m, 1, 600) : range(m, 2, 40), d = size(m, 100);
    const int32_t dim[3] = {chance(m, 20) ? range(m, 2, 4) : 1, s, d};
    bool flat = chance(m, 40);

    m->x = input(m, flat ? 2 : 3, flat ? dim + 1 : dim);
    for (int32_t i = range(m, 1, 5); i > 0 && m->x->rank > 1; i--)
        if (chance(m, 50))
            dense(m);
        else if (chance(m, 60))
            token_sum(m);
        else if (chance(m, 50))
            token_table(m);
        else if (chance(m, 40))
            token_mean(m);
        else
            token_norm(m);
}

/* Draw one dimension of a transposed window: the output is what inputs reach, minus pads. */
static struct span grown(struct make *m, int32_t in)
{
    struct span s = {.in = in, .dilation = 1, .kernel = range(m, 1, 6)};

    s.stride = chance(m, 30) ? 1 : range(m, 2, 4);
    s.before = chance(m, 50) ? 0 : range(m, 0, s.kernel);
    s.out = (in - 1) * s.stride + s.kernel - s.before - (chance(m, 50) ? 0 : range(m, 0, 3));
    s.out += chance(m, 20) ? range(m, 1, 5) : 0;
    s.out = s.out < 1 ? 1 : s.out;
    return s;
}

/* Make a transposed convolution, perhaps among other operators. */
static void transposed_op(struct make *m)
{
    m->x = input(m, 4, (const int32_t[]){1, range(m, 1, 9), range(m, 1, 9), size(m, 40)});
    if (chance(m, 30))
        convolution(m, false);
    const int32_t c = m->x->dim[3];
    struct span y = grown(m, m->x->dim[1]), x = grown(m, m->x->dim[2]);
    int32_t oc = size(m, MAX_CHANNELS), taps = y.kernel * x.kernel;

    oc = least(oc, 1 + (int32_t)(MACS / (m->x->dim[1] * m->x->dim[2] * taps * c)));
    oc = x.out > (int32_t)m->hw->acc_depth || !fits(m, y.kernel, m->x->dim[2] * c, 2 * x.out * oc)
             ? 1
             : oc;
    struct ir_tensor *weights = constant(m, "w", 4, (const int32_t[]){oc, y.kernel, x.kernel, c});
    struct ir_tensor *out = tensor(m, "y", IR_I8, 4, (const int32_t[]){1, y.out, x.out, oc});
    set_scales(m, weights, out, (double)taps * c, chance(m, 70) ? (uint32_t)oc : 1, 0);
    struct ir_tensor *b = bias(m, oc, taps), *in[3] = {m->x, weights, b};
    struct ir_op *op = add_op(m, IR_OP_TRANSPOSE_CONV, b ? 3 : 2, in, out);
    op->attr[IR_KERNEL_H] = y.kernel;
    op->attr[IR_KERNEL_W] = x.kernel;
    op->attr[IR_STRIDE_H] = y.stride;
    op->attr[IR_STRIDE_W] = x.stride;
    op->attr[IR_PAD_TOP] = y.before;
    op->attr[IR_PAD_LEFT] = x.before;
    op->attr[IR_ACTIVATION] = range(m, 0, 3);
    if (chance(m, 40))
        image_op(m, false);
}

/* --- views: slices, concatenations and reshapes among operators that compute ------------------ */

enum { VIEW_OPS = 12 };

/* The tensors of rank 4 so far; the next operator reads any of them. */
struct values {
    struct ir_tensor *t[2 * VIEW_OPS + 4];
    int32_t n;
};

static struct ir_tensor *any_of(struct make *m, const struct values *v)
{
    return v->t[chance(m, 50) ? v->n - 1 : range(m, 0, v->n - 1)];
}

static struct ir_tensor *same_quant(struct make *m, const struct ir_tensor *x, const int32_t *dim)
{
    struct ir_tensor *y = tensor(m, "y", IR_I8, 4, dim);

    quantise(m, y, x->quant.scale[0], x->quant.zero_point[0]);
    return y;
}

static struct ir_tensor *numbers(struct make *m, uint32_t n, const int32_t *v)
{
    struct ir_tensor *t = tensor(m, "p", IR_I32, 1, (const int32_t[]){(int32_t)n});

    t->role = IR_CONST;
    t->data = arena_memdup(m->a, v, n * sizeof *v);
    return t;
}

/* Return a part of x: of one dimension or all, sometimes with steps. */
static struct ir_tensor *part(struct make *m, struct ir_tensor *x)
{
    int32_t begin[4] = {0}, step[4] = {1, 1, 1, 1}, dim[4], only = range(m, 0, 3);

    memcpy(dim, x->dim, sizeof dim);
    for (uint32_t i = 1; i < 4; i++) {
        if (only != 0 && (int32_t)i != only)
            continue;
        begin[i] = chance(m, 40) ? x->dim[i] / 2 : range(m, 0, x->dim[i] - 1);
        step[i] = i < 3 && chance(m, 20) ? range(m, 1, 3) : 1;
        dim[i] = range(m, 1, (x->dim[i] - begin[i] + step[i] - 1) / step[i]);
    }
    struct ir_tensor *y = same_quant(m, x, dim);
    struct ir_tensor *in[3] = {x, numbers(m, 4, begin), numbers(m, 4, step)};
    add_op(m, IR_OP_SLICE, 3, in, y);
    return y;
}

static bool joins(const struct ir_tensor *a, const struct ir_tensor *b, uint32_t axis)
{
    for (uint32_t i = 0; i < 4; i++)
        if (i != axis && a->dim[i] != b->dim[i])
            return false;
    return a->quant.scale[0] == b->quant.scale[0] &&
           a->quant.zero_point[0] == b->quant.zero_point[0];
}

/* Join two to four values along one dimension, some of them twice. */
static struct ir_tensor *joined(struct make *m, const struct values *v)
{
    struct ir_tensor *in[4] = {any_of(m, v)};
    const uint32_t axis = (uint32_t)range(m, 1, 3), most = (uint32_t)range(m, 2, 4);
    int32_t dim[4], n = 1;

    for (int32_t i = 0; i < 20 && n < (int32_t)most; i++) {
        struct ir_tensor *t = v->t[range(m, 0, v->n - 1)];
        if (joins(in[0], t, axis) && (t != in[0] || chance(m, 30)))
            in[n++] = t;
    }
    if (n > 1 && chance(m, 50)) {
        struct ir_tensor *first = in[0];
        in[0] = in[n - 1];
        in[n - 1] = first;
    }
    memcpy(dim, in[0]->dim, sizeof dim);
    for (int32_t i = 1; i < n; i++)
        dim[axis] += in[i]->dim[axis];
    if ((int64_t)dim[1] * dim[2] * dim[3] > 40000 ||
        (int64_t)dim[2] * dim[3] * 6 > (int64_t)m->hw->scratchpad_bytes)
        return in[0];
    struct ir_tensor *y = same_quant(m, in[0], dim);
    add_op(m, IR_OP_CONCATENATION, (uint32_t)n, in, y)->attr[IR_AXIS] = (int32_t)axis;
    return y;
}

/* Reshape to other rows, columns and channels. */
static struct ir_tensor *reshaped(struct make *m, struct ir_tensor *x)
{
    int32_t dim[4] = {1, x->dim[1], x->dim[2], x->dim[3]};

    for (int32_t i = 0; i < 2; i++) {
        const int32_t from = range(m, 1, 3), to = range(m, 1, 3), by = range(m, 2, 4);
        if (from != to && dim[from] % by == 0) {
            dim[from] /= by;
            dim[to] *= by;
        }
    }
    struct ir_tensor *y = same_quant(m, x, dim);
    add_op(m, IR_OP_RESHAPE, 1, &x, y);
    return y;
}

static void views(struct make *m)
{
    struct values v = {{image(m)}, 1};
    const int32_t n = range(m, 3, VIEW_OPS);

    m->x = v.t[0];
    if (chance(m, 60))
        image_op(m, false);
    for (int32_t i = 0; i < n; i++) {
        if (m->x->rank == 4 && m->x != v.t[v.n - 1])
            v.t[v.n++] = m->x;
        m->x = any_of(m, &v);
        const int32_t kind = range(m, 0, 9);
        if (kind < 3)
            v.t[v.n++] = part(m, m->x);
        else if (kind < 6)
            m->x = joined(m, &v);
        else if (kind < 7)
            m->x = reshaped(m, m->x);
        else
            image_op(m, false);
        if (m->x->role == IR_VALUE && chance(m, 10))
            output(m, m->x);
    }
    if (m->x->role != IR_VALUE)
        return;
    for (int32_t i = 1; i < v.n && m->g->n_out < 4; i++) /* a tensor without readers */
        if (v.t[i]->role == IR_VALUE && ir_uses(m->g, v.t[i]->id) == 0)
            output(m, v.t[i]);
}

/* --- constant channels ----------------------------------------------------------------------- */

/* Return the first weight of output channel `c`, and the distance between its weights. */
static int8_t *weights_of(const struct make *m, const struct ir_op *op, int32_t c, size_t *step,
                          size_t *k)
{
    const struct ir_tensor *w = ir_in(m->g, op, 1);
    const size_t channels = (size_t)ir_dim_back(ir_out(m->g, op, 0), 0);
    const bool innermost = op->opcode == IR_OP_DEPTHWISE_CONV2D;
    int8_t *data = (int8_t *)(uintptr_t)w->data;

    *k = (size_t)ir_elements(w) / channels;
    *step = innermost ? channels : 1;
    return data + (innermost ? (size_t)c : (size_t)c * *k);
}

/* Make a channel constant: small weights and a bias beyond their possible sum, so that the channel
 * clamps at one end or nearly does; or weights of 0. */
static void plant(struct make *m, const struct ir_op *op, int32_t c)
{
    const struct ir_tensor *w = ir_in(m->g, op, 1), *x = ir_in(m->g, op, 0);
    const uint32_t i = w->quant.n > 1 ? (uint32_t)c : 0;
    const double d = (double)x->quant.scale[0] * (double)w->quant.scale[i] /
                     (double)ir_out(m->g, op, 0)->quant.scale[0];
    const int32_t most = chance(m, 30) ? 0 : range(m, 1, 8), zero = w->quant.zero_point[i];
    size_t step, k;
    int8_t *data = weights_of(m, op, c, &step, &k);
    const double sum = (double)most * (double)k * 255, beyond = fmin(256 / d, (double)k * 50000);
    const double end = chance(m, 25) ? sum : sum + beyond;

    for (size_t j = 0; j < k; j++) {
        const int32_t v = zero + range(m, -most, most);
        data[j * step] = (int8_t)(v < -128 ? -128 : v > 127 ? 127 : v);
    }
    if (most > 0 && end < 1e9)
        memcpy((uint8_t *)(uintptr_t)ir_in(m->g, op, 2)->data + 4 * (size_t)c,
               &(int32_t){(int32_t)(chance(m, 60) ? -end : end)}, 4);
}

/* Make some channels of some layers constant. */
static void plant_some(struct make *m)
{
    for (uint32_t i = 0; i < m->g->n_op; i++) {
        const struct ir_op *op = m->g->op[i];
        if ((op->opcode != IR_OP_CONV2D && op->opcode != IR_OP_DEPTHWISE_CONV2D &&
             op->opcode != IR_OP_FULLY_CONNECTED) ||
            !ir_in(m->g, op, 2) || chance(m, 30))
            continue;
        for (int32_t c = 0; c < ir_dim_back(ir_out(m->g, op, 0), 0); c++)
            if (chance(m, 40))
                plant(m, op, c);
    }
}

/* --- any size: products, convolutions, pools, sums and tables, of batches too, up to 16 M MACs - */

/* Return 1 to `most`, all powers of two equally likely. */
static int32_t any(struct make *m, int32_t most)
{
    int32_t v = 1;

    while (v < most && chance(m, 85))
        v *= 2;
    v = range(m, v, 2 * v - 1);
    return v > most ? range(m, 1, most) : v;
}

static void large_product(struct make *m)
{
    int32_t rows, k, n;

    do {
        rows = chance(m, 30) ? 1 : any(m, 100000);
        k = any(m, 100000);
        n = any(m, 100000);
    } while ((double)rows * k * n > 16e6 || (double)k * n > 4e6 || (double)rows * (k + n) > 2e6);
    m->x = input(m, 2, (const int32_t[]){rows, k});
    struct ir_tensor *y = tensor(m, "y", IR_I8, 2, (const int32_t[]){rows, n});
    struct ir_tensor *w = constant(m, "w", 2, (const int32_t[]){n, k});
    set_scales(m, w, y, k, 1, 0);
    struct ir_tensor *b = bias(m, n, k), *in[3] = {m->x, w, b};
    add_op(m, IR_OP_FULLY_CONNECTED, b ? 3 : 2, in, y);
}

/* Make a window operator. kind 0: convolution, 1: depthwise, 2: pool. */
static void large_window(struct make *m, int32_t kind)
{
    int32_t images, h, w, c, oc;
    struct span y, x;

    do {
        images = chance(m, 70) ? 1 : range(m, 2, 4);
        h = any(m, 2000);
        w = any(m, 20000);
        c = any(m, 8000);
        oc = kind ? c : any(m, 8000);
        y = window(m, h, kind == 2);
        x = window(m, w, kind == 2);
    } while ((double)images * h * w * c > 1e6 || (double)images * y.out * x.out * oc > 1e6 ||
             (double)y.kernel * x.kernel * oc * (kind ? 1 : c) > 1e6 ||
             (double)images * y.out * x.out * oc * y.kernel * x.kernel * (kind ? 1 : c) > 16e6);
    m->x = input(m, 4, (const int32_t[]){images, h, w, c});
    struct ir_tensor *out = tensor(m, "y", IR_I8, 4, (const int32_t[]){images, y.out, x.out, oc});
    if (kind == 2) {
        quantise(m, out, m->x->quant.scale[0], m->x->quant.zero_point[0]);
        pool_into(m, &y, &x, out);
        return;
    }
    convolve_into(m, kind != 0, &y, &x, true, out);
}

/* Make a sum or a table. */
static void large_elements(struct make *m)
{
    int32_t dim[4];

    do {
        dim[0] = chance(m, 70) ? 1 : range(m, 2, 4);
        dim[1] = any(m, 100000);
        dim[2] = any(m, 100000);
        dim[3] = any(m, 100000);
    } while ((double)dim[0] * dim[1] * dim[2] * dim[3] > 1e6);
    m->x = input(m, 4, dim);
    if (chance(m, 50)) {
        token_table(m);
        return;
    }
    if (chance(m, 30))
        dim[0] = dim[1] = 1;
    if (dim[1] == 1 && dim[0] == 1 && chance(m, 30))
        dim[2] = 1;
    struct ir_tensor *other = input(m, 4, dim), *y = like(m, m->x);
    quantise(m, y, binary_scale(m, IR_OP_ADD, m->x->quant.scale[0], other->quant.scale[0]),
             zero_point(m));
    add_op(m, IR_OP_ADD, 2, (struct ir_tensor *[]){m->x, other}, y);
}

static void large(struct make *m)
{
    int32_t kind = range(m, 0, 9);

    if (kind < 4)
        large_product(m);
    else if (kind < 9)
        large_window(m, kind < 6 ? 0 : kind < 8 ? 1 : 2);
    else
        large_elements(m);
}

/* --- products of two computed operands ------------------------------------------------------- */

static const float soft_scale = 1.0f / 256;

/* Multiply x by w, with k products per sum. */
static void product(struct make *m, struct ir_tensor *x, struct ir_tensor *w, const int32_t *dim,
                    uint32_t rank, int32_t k, bool adj_a, bool adj_b)
{
    struct ir_tensor *y = tensor(m, "y", IR_I8, rank, dim);
    const double spread = sqrt(k) * 5000 / range(m, 30, 120);
    const double s = (double)x->quant.scale[0] * (double)w->quant.scale[0] * spread;

    quantise(m, y, (float)s, zero_point(m));
    struct ir_tensor *b = chance(m, 80) ? NULL : bias(m, dim[rank - 1], k), *in[3] = {x, w, b};
    struct ir_op *op = add_op(m, IR_OP_BATCH_MATMUL, b ? 3 : 2, in, y);
    op->attr[IR_ADJ_A] = adj_a;
    op->attr[IR_ADJ_B] = adj_b;
    op->attr[IR_ACTIVATION] = chance(m, 80) ? 0 : range(m, 1, 3);
}

/* Return a matrix of `rank` dimensions; of the two leading dimensions some are 1, others as
 * `batch`. */
static struct ir_tensor *matrix(struct make *m, uint32_t rank, const int32_t *batch, int32_t rows,
                                int32_t columns, bool adj)
{
    int32_t dim[4] = {chance(m, 20) ? 1 : batch[0], chance(m, 20) ? 1 : batch[1],
                      adj ? columns : rows, adj ? rows : columns};

    if (chance(m, 80))
        return input(m, rank, dim + 4 - rank);
    struct ir_tensor *t = constant(m, "k", rank, dim + 4 - rank);
    quantise(m, t, scale(m), zero_point(m));
    return t;
}

static void lone_product(struct make *m)
{
    const bool adj_a = chance(m, 10), adj_b = chance(m, 50);
    const int32_t batch[2] = {chance(m, 75) ? 1 : range(m, 2, 3),
                              chance(m, 40) ? 1 : range(m, 2, 5)};
    int32_t rows, k, n, dim[4];

    do {
        rows = chance(m, 70) ? range(m, 1, 70) : range(m, 1, 600);
        k = chance(m, 70) ? range(m, 1, 70) : range(m, 1, 600);
        n = chance(m, 70) ? range(m, 1, 70) : range(m, 1, 300);
    } while ((double)rows * k * n * batch[0] * batch[1] > 4e6);
    const uint32_t rank_a = (uint32_t)range(m, 2, 4), rank_b = (uint32_t)range(m, 2, 4);
    struct ir_tensor *a = matrix(m, rank_a, batch, rows, k, adj_a),
                     *b = chance(m, 5) && rows == n && !adj_a
                              ? a
                              : matrix(m, rank_b, batch, k, n, adj_b);
    const uint32_t rank = rank_a > rank_b ? rank_a : rank_b;
    for (uint32_t i = 0; i < 2; i++)
        dim[i] = ir_dim_back(a, 3 - i) > 1 ? ir_dim_back(a, 3 - i) : ir_dim_back(b, 3 - i);
    dim[2] = rows;
    dim[3] = n;
    if (a == b) {
        product(m, a, b, dim + 4 - rank_a, rank_a, k, false, true);
        return;
    }
    product(m, a, b, dim + 4 - rank, rank, k, adj_a, adj_b);
}

static struct ir_tensor *swapped(struct make *m, struct ir_tensor *x)
{
    static const int32_t order[4] = {0, 2, 1, 3};

    m->x = x;
    move(m, IR_OP_TRANSPOSE, fixed_numbers(m, 1, (const int32_t[]){4}, order),
         (const int32_t[]){1, x->dim[2], x->dim[1], x->dim[3]});
    return m->x;
}

/* Split [1,S,H*D] into heads [1,H,S,D], of x itself or of a product with x. */
static struct ir_tensor *heads(struct make *m, struct ir_tensor *x, int32_t n)
{
    m->x = x;
    if (chance(m, 60)) {
        const int32_t k = ir_dim_back(x, 0);
        struct ir_tensor *w = constant(m, "w", 2, (const int32_t[]){k, k});
        struct ir_tensor *y = tensor(m, "y", IR_I8, 3, x->dim);
        set_scales(m, w, y, k, 1, 0);
        add_op(m, IR_OP_FULLY_CONNECTED, 2, (struct ir_tensor *[]){x, w}, y);
    }
    struct ir_tensor *y =
        same_quant(m, m->x, (const int32_t[]){1, x->dim[1], n, ir_dim_back(x, 0) / n});
    add_op(m, IR_OP_RESHAPE, 1, &(struct ir_tensor *){m->x}, y);
    return swapped(m, y);
}

static void softmax(struct make *m)
{
    static const float betas[] = {1, 1, 0.5f, 2.7f};
    struct ir_tensor *y = like(m, m->x);

    quantise(m, y, soft_scale, -128);
    struct ir_op *op = add_op(m, IR_OP_SOFTMAX, 1, &(struct ir_tensor *){m->x}, y);
    memcpy(&op->attr[IR_BETA_BITS], &betas[range(m, 0, 3)], sizeof *betas);
}

/* Make rows of any length; the reader of the result keeps it on the accelerator. */
static void lone_softmax(struct make *m)
{
    const int32_t c = chance(m, 60) ? size(m, 300) : range(m, 1, 4096);
    const int32_t dim[3] = {chance(m, 70) ? 1 : range(m, 2, 3), range(m, 1, 1 + 20000 / c), c};
    const uint32_t rank = dim[0] > 1 ? 3 : (uint32_t)range(m, 2, 3);

    m->x = input(m, rank, dim + 3 - rank);
    softmax(m);
    struct ir_tensor *y = like(m, m->x);
    quantise(m, y, scale(m), zero_point(m));
    add_op(m, IR_OP_RELU, 1, &(struct ir_tensor *){m->x}, y);
}

/* Make an attention block; between scores and weights there is sometimes another table, or
 * nothing. */
static void attention(struct make *m)
{
    const int32_t n = range(m, 1, 8), d = chance(m, 50) ? 8 * range(m, 1, 4) : range(m, 8, 80);
    int32_t s = chance(m, 60) ? range(m, 1, 40) : range(m, 1, 300);

    s = least(s, 1 + 4000000 / (n * d * s));
    struct ir_tensor *x = input(m, 3, (const int32_t[]){1, s, n * d});
    struct ir_tensor *q = heads(m, x, n), *k = heads(m, x, n), *v = heads(m, x, n);
    product(m, q, k, (const int32_t[]){1, n, s, s}, 4, d, false, true);
    if (chance(m, 70)) {
        softmax(m);
    } else if (chance(m, 50)) {
        struct ir_tensor *y = like(m, m->x);
        quantise(m, y, soft_scale, -128);
        add_op(m, IR_OP_LOGISTIC, 1, &(struct ir_tensor *){m->x}, y);
    }
    product(m, m->x, v, (const int32_t[]){1, n, s, d}, 4, s, false, false);
    struct ir_tensor *y = swapped(m, m->x);
    struct ir_tensor *flat = tensor(m, "y", IR_I8, 3, (const int32_t[]){1, s, n * d});
    quantise(m, flat, y->quant.scale[0], y->quant.zero_point[0]);
    add_op(m, IR_OP_RESHAPE, 1, &y, flat);
    if (chance(m, 60))
        dense(m);
}

struct ir_graph *layers_make(struct arena *a, uint64_t seed, const struct hd_config *hw)
{
    struct make m = {.a = a, .r = {seed * 0x9e3779b97f4a7c15u + 1}, .hw = hw};

    do {
        m.g = ir_graph_new(a, arena_printf(a, "layer_%llu", (unsigned long long)seed));
        if (seed >= LAYERS_PRODUCTS && chance(&m, 50))
            attention(&m);
        else if (seed >= LAYERS_PRODUCTS && chance(&m, 30))
            lone_softmax(&m);
        else if (seed >= LAYERS_PRODUCTS)
            lone_product(&m);
        else if (seed >= LAYERS_LARGE)
            large(&m);
        else if (seed % 50 == 49)
            far_op(&m);
        else if (seed % 25 == 24)
            column_op(&m);
        else if (seed % 25 == 22)
            tokens(&m);
        else if (seed % 25 == 23)
            whole_image(&m);
        else if (seed % 25 == 21)
            transposed_op(&m);
        else if (seed % 25 >= 18)
            views(&m);
        else if (seed % 25 == 17)
            blocks(&m);
        else if (chance(&m, 25))
            chain(&m);
        else
            single(&m);
    } while (m.g->n_op == 0 || m.x->role != IR_VALUE);
    output(&m, m.x);
    if (m.g->n_op > 1 && chance(&m, 50))
        plant_some(&m);
    for (uint32_t i = 0; i < m.g->n_op; i++)
        m.g->row[m.g->op[i]->row].macs += ir_macs(m.g, m.g->op[i]);
    return m.g;
}
