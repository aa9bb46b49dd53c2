/* ref_float.c - operators in float32 : plain loops, one sum per output, in the order
 * that IR.md states under "Float". Exponentials and the like: ref_float_math.c. */
#include <math.h>
#include <string.h>

#include "ref_float_math.h"
#include "reference/ref_kernels.h"

static float at(const uint8_t *p, size_t i)
{
    float v;

    memcpy(&v, p + i * 4, 4);
    return v;
}

static void put(const struct ref_call *c, size_t i, float v)
{
    memcpy(c->y[0] + i * 4, &v, 4);
}

/* The clamp of the operator's activation. */
float ref_activated(const struct ir_op *op, float v)
{
    switch ((enum ir_activation)op->attr[IR_ACTIVATION]) {
    case IR_ACT_RELU: return v < 0 ? 0 : v;
    case IR_ACT_RELU6: return ref_clamp(v, 0, 6);
    case IR_ACT_RELU_N1_TO_1: return ref_clamp(v, -1, 1);
    case IR_ACT_RELU_0_TO_1: return ref_clamp(v, 0, 1);
    case IR_ACT_CLIP:
        return ref_clamp(v, ref_attr_float(op, IR_CLIP_LOW_BITS),
                         ref_attr_float(op, IR_CLIP_HIGH_BITS));
    default: return v;
    }
}

/* Bias of a channel, 0 without one. */
static float bias_at(const struct ref_call *c, size_t channel)
{
    return c->op->n_in > 2 && c->x[2] != NULL ? at(c->x[2], channel) : 0;
}

/* Sum, then the next product. */
static float add(float sum, float a, float b)
{
    const float product = a * b;

    return sum + product;
}

/* Where output pixel (oy, ox) begins in an image, and which image it is. */
struct pixel {
    int32_t n, y, x;
};

static struct pixel pixel_of(const struct ref_call *c, size_t i)
{
    const int32_t *d = c->out[0]->dim, *a = c->op->attr;
    const int32_t ox = (int32_t)(i % (size_t)d[2]), oy = (int32_t)(i / (size_t)d[2] % (size_t)d[1]);

    return (struct pixel){(int32_t)(i / (size_t)d[2] / (size_t)d[1]),
                          oy * a[IR_STRIDE_H] - c->k->pad_top,
                          ox * a[IR_STRIDE_W] - c->k->pad_left};
}

/* Find the offset of channel 0 of a cell; false outside the image. */
static bool cell_at(const struct ir_tensor *x, int32_t n, int64_t iy, int64_t ix, size_t *offset)
{
    if (iy < 0 || ix < 0 || iy >= x->dim[1] || ix >= x->dim[2])
        return false;
    *offset = (((size_t)n * (size_t)x->dim[1] + (size_t)iy) * (size_t)x->dim[2] + (size_t)ix) *
              (size_t)x->dim[3];
    return true;
}

/* Weights [OC,KH,KW,C/G]. */
static float conv_one(const struct ref_call *c, struct pixel p, int32_t oc)
{
    const struct ir_tensor *x = c->in[0], *w = c->in[1];
    const int32_t *a = c->op->attr, part = w->dim[3], each = w->dim[0] / (x->dim[3] / part);
    const size_t taps = (size_t)w->dim[1] * (size_t)w->dim[2] * (size_t)part;
    float sum = 0;
    size_t from;

    for (int32_t ky = 0; ky < a[IR_KERNEL_H]; ky++)
        for (int32_t kx = 0; kx < a[IR_KERNEL_W]; kx++) {
            const size_t to = (size_t)oc * taps + (size_t)(ky * a[IR_KERNEL_W] + kx) * (size_t)part;

            if (!cell_at(x, p.n, p.y + (int64_t)ky * a[IR_DILATION_H],
                         p.x + (int64_t)kx * a[IR_DILATION_W], &from))
                continue;
            for (int32_t i = 0; i < part; i++)
                sum = add(sum, at(c->x[0], from + (size_t)(oc / each * part + i)),
                          at(c->x[1], to + (size_t)i));
        }
    return sum + bias_at(c, (size_t)oc);
}

enum status ref_f32_conv2d(const struct ref_call *c, struct diag *d)
{
    const int32_t channels = c->out[0]->dim[3];
    const size_t n = (size_t)ir_elements(c->out[0]);

    (void)d;
    for (size_t i = 0; i < n; i++)
        put(c, i,
            ref_activated(c->op, conv_one(c, pixel_of(c, i / (size_t)channels),
                                          (int32_t)(i % (size_t)channels))));
    return ST_OK;
}

/* Weights [1,KH,KW,OC]. */
static float depthwise_one(const struct ref_call *c, struct pixel p, int32_t oc)
{
    const int32_t *a = c->op->attr;
    const size_t channels = (size_t)c->out[0]->dim[3];
    float sum = 0;
    size_t from;

    for (int32_t ky = 0; ky < a[IR_KERNEL_H]; ky++)
        for (int32_t kx = 0; kx < a[IR_KERNEL_W]; kx++)
            if (cell_at(c->in[0], p.n, p.y + (int64_t)ky * a[IR_DILATION_H],
                        p.x + (int64_t)kx * a[IR_DILATION_W], &from))
                sum = add(sum, at(c->x[0], from + (size_t)(oc / a[IR_MULTIPLIER])),
                          at(c->x[1], (size_t)(ky * a[IR_KERNEL_W] + kx) * channels + (size_t)oc));
    return sum + bias_at(c, (size_t)oc);
}

enum status ref_f32_depthwise(const struct ref_call *c, struct diag *d)
{
    const int32_t channels = c->out[0]->dim[3];
    const size_t n = (size_t)ir_elements(c->out[0]);

    (void)d;
    for (size_t i = 0; i < n; i++)
        put(c, i,
            ref_activated(c->op, depthwise_one(c, pixel_of(c, i / (size_t)channels),
                                               (int32_t)(i % (size_t)channels))));
    return ST_OK;
}

/* Weights [OC,K]. */
enum status ref_f32_dense(const struct ref_call *c, struct diag *d)
{
    const size_t channels = (size_t)c->in[1]->dim[0], k_n = (size_t)c->in[1]->dim[1];
    const size_t n = (size_t)ir_elements(c->out[0]);

    (void)d;
    for (size_t i = 0; i < n; i++) {
        const size_t oc = i % channels, row = i / channels;
        float sum = 0;

        for (size_t k = 0; k < k_n; k++)
            sum = add(sum, at(c->x[0], row * k_n + k), at(c->x[1], oc * k_n + k));
        put(c, i, ref_activated(c->op, sum + bias_at(c, oc)));
    }
    return ST_OK;
}

static float transpose_conv_one(const struct ref_call *c, int32_t n, int32_t oy, int32_t ox,
                                size_t oc)
{
    const struct ir_tensor *x = c->in[0];
    const int32_t *a = c->op->attr;
    const size_t depth = (size_t)x->dim[3];
    float sum = 0;
    size_t from;

    for (int32_t ky = 0; ky < a[IR_KERNEL_H]; ky++)
        for (int32_t kx = 0; kx < a[IR_KERNEL_W]; kx++) {
            const int32_t ty = oy + c->k->pad_top - ky, tx = ox + c->k->pad_left - kx;
            const size_t to =
                ((oc * (size_t)a[IR_KERNEL_H] + (size_t)ky) * (size_t)a[IR_KERNEL_W] + (size_t)kx) *
                depth;

            if (ty < 0 || tx < 0 || ty % a[IR_STRIDE_H] != 0 || tx % a[IR_STRIDE_W] != 0 ||
                !cell_at(x, n, ty / a[IR_STRIDE_H], tx / a[IR_STRIDE_W], &from))
                continue;
            for (size_t i = 0; i < depth; i++)
                sum = add(sum, at(c->x[0], from + i), at(c->x[1], to + i));
        }
    return sum + bias_at(c, (size_t)oc);
}

enum status ref_f32_transpose_conv(const struct ref_call *c, struct diag *d)
{
    const int32_t *y = c->out[0]->dim;
    size_t i = 0;

    (void)d;
    for (int32_t n = 0; n < y[0]; n++)
        for (int32_t oy = 0; oy < y[1]; oy++)
            for (int32_t ox = 0; ox < y[2]; ox++)
                for (int32_t oc = 0; oc < y[3]; oc++)
                    put(c, i++, ref_activated(c->op, transpose_conv_one(c, n, oy, ox, (size_t)oc)));
    return ST_OK;
}

enum status ref_f32_matmul(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *a = c->in[0], *b = c->in[1], *y = c->out[0];
    const bool adj_a = c->op->attr[IR_ADJ_A] != 0, adj_b = c->op->attr[IR_ADJ_B] != 0;
    const size_t rows = (size_t)ir_dim_back(y, 1), cols = (size_t)ir_dim_back(y, 0),
                 depth = (size_t)ir_dim_back(a, adj_a), n = (size_t)ir_elements(y);

    (void)d;
    for (size_t i = 0; i < n; i++) {
        const size_t m = i / cols / rows, row = i / cols % rows, col = i % cols;
        const size_t ma = ref_matrix(a, y, m), mb = ref_matrix(b, y, m);
        float sum = 0;

        for (size_t k = 0; k < depth; k++)
            sum = add(sum, at(c->x[0], ma + (adj_a ? k * rows + row : row * depth + k)),
                      at(c->x[1], mb + (adj_b ? col * depth + k : k * cols + col)));
        if (c->op->n_in > 2 && c->x[2] != NULL)
            sum += bias_at(c, col);
        put(c, i, ref_activated(c->op, sum));
    }
    return ST_OK;
}

static float f32_add(float a, float b)
{
    return a + b;
}

static float f32_sub(float a, float b)
{
    return a - b;
}

static float f32_mul(float a, float b)
{
    return a * b;
}

static float f32_div(float a, float b)
{
    return a / b;
}

static float f32_pow(float a, float b)
{
    return ref_pow(a, b);
}

static float f32_maximum(float a, float b)
{
    return a < b ? b : a;
}

static float f32_minimum(float a, float b)
{
    return a > b ? b : a;
}

static float f32_floor_div(float a, float b)
{
    return (float)floor((double)a / (double)b);
}

static float f32_floor_mod(float a, float b)
{
    const float rest = fmodf(a, b);

    return rest != 0 && signbit(rest) != signbit(b) ? rest + b : rest;
}

static float f32_prelu(float a, float b)
{
    return a < 0 ? a * b : a;
}

static float f32_squared_difference(float a, float b)
{
    return (a - b) * (a - b);
}

static const struct {
    float (*of)(float a, float b);
} binary[] = {
#define OPERATOR(code, name, columns) {columns},
#define F32_BINARY(fn)                f32_##fn
#include "operators/operators.def"
};

enum status ref_f32_binary(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *y = c->out[0];
    const size_t n = (size_t)ir_elements(y);

    (void)d;
    for (size_t i = 0; i < n; i++)
        put(c, i,
            ref_activated(c->op,
                          binary[c->op->opcode].of(at(c->x[0], ref_broadcast_at(c->in[0], y, i)),
                                                   at(c->x[1], ref_broadcast_at(c->in[1], y, i)))));
    return ST_OK;
}

static float pool_one(const struct ref_call *c, struct pixel p, size_t channel)
{
    const int32_t *a = c->op->attr;
    const bool max = c->op->opcode == IR_OP_MAX_POOL2D;
    float v = max ? -INFINITY : 0;
    uint32_t n = 0;
    size_t from;

    for (int32_t kx = 0; kx < a[IR_KERNEL_W]; kx++) {
        float column = 0;

        for (int32_t ky = 0; ky < a[IR_KERNEL_H]; ky++)
            if (cell_at(c->in[0], p.n, p.y + ky, p.x + kx, &from)) {
                const float cell = at(c->x[0], from + channel);

                column += cell;
                if (max && cell > v)
                    v = cell;
                n++;
            }
        if (!max)
            v += column;
    }
    return max || n == 0 ? v : v / (float)n;
}

enum status ref_f32_pool(const struct ref_call *c, struct diag *d)
{
    const size_t channels = (size_t)c->out[0]->dim[3], n = (size_t)ir_elements(c->out[0]);

    (void)d;
    for (size_t i = 0; i < n; i++)
        put(c, i, ref_activated(c->op, pool_one(c, pixel_of(c, i / channels), i % channels)));
    return ST_OK;
}

static float sum_of(float v, float cell)
{
    return v + cell;
}

static float product_of(float v, float cell)
{
    return v * cell;
}

static float larger_of(float v, float cell)
{
    return cell > v ? cell : v;
}

static float smaller_of(float v, float cell)
{
    return cell < v ? cell : v;
}

/* y = f(.. f(f(first, x0), x1) ..) over the dimensions IR_AXIS; with `from_one`, first is the first
 * element instead of `start`. */
static void reduce(const struct ref_call *c, float (*f)(float v, float cell), bool from_one,
                   float start)
{
    const struct ir_tensor *x = c->in[0];
    const uint32_t mask = (uint32_t)c->op->attr[IR_AXIS];
    const size_t n_out = (size_t)ir_elements(c->out[0]), n = (size_t)ir_elements(x) / n_out;

    for (size_t o = 0; o < n_out; o++) {
        const size_t base = ref_pick(x, ~mask, o);
        float v = from_one ? at(c->x[0], base) : start;

        for (size_t i = 0; i < n; i++)
            v = f(v, at(c->x[0], base + ref_pick(x, mask, i)));
        put(c, o, v);
    }
}

enum status ref_f32_sum(const struct ref_call *c, struct diag *d)
{
    (void)d;
    reduce(c, sum_of, false, 0);
    return ST_OK;
}

enum status ref_f32_mean(const struct ref_call *c, struct diag *d)
{
    const size_t n_out = (size_t)ir_elements(c->out[0]), n = (size_t)ir_elements(c->in[0]) / n_out;

    (void)d;
    reduce(c, sum_of, false, 0);
    for (size_t o = 0; o < n_out; o++)
        put(c, o, at(c->y[0], o) / (float)n);
    return ST_OK;
}

enum status ref_f32_product(const struct ref_call *c, struct diag *d)
{
    (void)d;
    reduce(c, product_of, false, 1);
    return ST_OK;
}

enum status ref_f32_largest(const struct ref_call *c, struct diag *d)
{
    (void)d;
    reduce(c, larger_of, true, 0);
    return ST_OK;
}

enum status ref_f32_smallest(const struct ref_call *c, struct diag *d)
{
    (void)d;
    reduce(c, smaller_of, true, 0);
    return ST_OK;
}

enum status ref_f32_softmax(const struct ref_call *c, struct diag *d)
{
    const size_t n = (size_t)ir_dim_back(c->in[0], 0), all = (size_t)ir_elements(c->in[0]);
    const float beta = ref_attr_float(c->op, IR_BETA_BITS);

    (void)d;
    for (size_t row = 0; row < all; row += n) {
        float most = at(c->x[0], row), sum = 0;

        for (size_t i = 1; i < n; i++)
            most = at(c->x[0], row + i) > most ? at(c->x[0], row + i) : most;
        for (size_t i = 0; i < n; i++)
            sum += ref_exp((at(c->x[0], row + i) - most) * beta);
        for (size_t i = 0; i < n; i++)
            put(c, row + i, ref_exp((at(c->x[0], row + i) - most) * beta) / sum);
    }
    return ST_OK;
}

/* (x - max) - log(sum of e^(x - max)). */
enum status ref_f32_log_softmax(const struct ref_call *c, struct diag *d)
{
    const size_t n = (size_t)ir_dim_back(c->in[0], 0), all = (size_t)ir_elements(c->in[0]);

    (void)d;
    for (size_t row = 0; row < all; row += n) {
        float most = at(c->x[0], row), sum = 0, log;

        for (size_t i = 1; i < n; i++)
            most = at(c->x[0], row + i) > most ? at(c->x[0], row + i) : most;
        for (size_t i = 0; i < n; i++)
            sum += ref_exp(at(c->x[0], row + i) - most);
        log = ref_log(sum);
        for (size_t i = 0; i < n; i++)
            put(c, row + i, at(c->x[0], row + i) - most - log);
    }
    return ST_OK;
}

enum status ref_f32_l2_norm(const struct ref_call *c, struct diag *d)
{
    const size_t n = (size_t)ir_dim_back(c->in[0], 0), all = (size_t)ir_elements(c->in[0]);

    (void)d;
    for (size_t row = 0; row < all; row += n) {
        float sum = 0, root;

        for (size_t i = 0; i < n; i++)
            sum = add(sum, at(c->x[0], row + i), at(c->x[0], row + i));
        root = sqrtf(sum < 1e-6f ? 1e-6f : sum);
        for (size_t i = 0; i < n; i++)
            put(c, row + i, at(c->x[0], row + i) / root);
    }
    return ST_OK;
}

enum status ref_f32_interpolate(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0], *p = c->in[1];
    const uint32_t axis = (uint32_t)c->op->attr[IR_AXIS];
    const size_t n = (size_t)p->dim[0], taps = (size_t)p->dim[1];
    const size_t all = (size_t)ir_elements(c->out[0]);
    size_t inner = 1;

    (void)d;
    for (uint32_t k = axis + 1; k < x->rank; k++)
        inner *= (size_t)x->dim[k];
    for (size_t e = 0; e < all; e++) {
        const size_t o = e / inner / n, i = e / inner % n;
        float sum = 0;

        for (size_t t = i * taps; t < (i + 1) * taps; t++) {
            const size_t index = (size_t)((const int32_t *)(const void *)c->x[1])[t];

            sum = add(sum, at(c->x[2], t),
                      at(c->x[0], (o * (size_t)x->dim[axis] + index) * inner + e % inner));
        }
        put(c, e, sum);
    }
    return ST_OK;
}
