/* hdk_onnx.c - operators in ONNX's rounding: float32 constants, half to even. Plain loops: this is
 * the form that is compared with ONNX Runtime bit for bit, not the fast one. */
#include <stddef.h>

#include "hdk.h"
#include "hdk_index.h"
#include "hdk_math.h"
#include "hdk_nearest.h"

/* Nearest integer, ties to even; beyond +-65536 all values clamp alike. NaN: 0. */
static int32_t nearest(float x)
{
    int32_t i;
    float rest;

    if (!(x > -65536.0f))
        return x <= -65536.0f ? -65536 : 0;
    if (x > 65536.0f)
        return 65536;
    i = (int32_t)x;
    rest = x - (float)i; /* exact */
    if (rest > 0.5f || (rest == 0.5f && (i & 1) != 0))
        return i + 1;
    return rest < -0.5f || (rest == -0.5f && (i & 1) != 0) ? i - 1 : i;
}

static int8_t code_of(int32_t v, int32_t low, int32_t high)
{
    return (int8_t)(v < low ? low : v > high ? high : v);
}

/* a * b + c rounded once: the product is exact in double, and a tie of the last step that double's
 * rounding made up is found by its remainder. */
static float fused(float a, float b, float c)
{
    const double product = (double)a * (double)b, sum = product + (double)c;
    const double part = sum - product;
    const double rest = (product - (sum - part)) + ((double)c - part);
    union {
        double v;
        uint64_t bits;
    } s = {sum};

    if (rest != 0 && (s.bits & 0x1fffffff) == 0x10000000) /* halfway between two floats */
        s.bits += (rest > 0) == (sum > 0) ? 1 : (uint64_t)-1;
    return (float)s.v;
}

/* Sum over one window for one output channel: weight (ky, kx, c) at w[(ky * kw + kx) * step_k + c
 * * step_c], `n` channels from x's channel c0. */
struct tap_sum {
    uint32_t in_h, in_w, in_c, kernel_h, kernel_w, dilation_y, dilation_x, n;
    size_t step_k, step_c;
    int32_t z_in, z_w;
};

static int32_t sum_taps(const struct tap_sum *t, const int8_t *x, const int8_t *w, int32_t y0,
                        int32_t x0)
{
    uint32_t acc = 0;

    for (uint32_t ky = 0; ky < t->kernel_h; ky++)
        for (uint32_t kx = 0; kx < t->kernel_w; kx++) {
            const int32_t iy = y0 + (int32_t)(ky * t->dilation_y);
            const int32_t ix = x0 + (int32_t)(kx * t->dilation_x);
            const int8_t *v, *k = w + (ky * t->kernel_w + kx) * t->step_k;

            if (iy < 0 || ix < 0 || iy >= (int32_t)t->in_h || ix >= (int32_t)t->in_w)
                continue;
            v = x + ((size_t)iy * t->in_w + (size_t)ix) * t->in_c;
            for (uint32_t c = 0; c < t->n; c++)
                acc += (uint32_t)((v[c] - t->z_in) * (k[c * t->step_c] - t->z_w));
        }
    return (int32_t)acc;
}

static int8_t scaled(const struct hdk_onnx_weights *s, int32_t acc, uint32_t channel, int32_t z_out,
                     int32_t low, int32_t high)
{
    const float real = s->real[s->per_channel ? channel : 0];

    if (s->bias)
        acc = (int32_t)((uint32_t)acc + (uint32_t)s->bias[channel]);
    return code_of(nearest((float)acc * real) + z_out, low, high);
}

void hdk_onnx_conv2d(const struct hdk_onnx_conv2d *q, const int8_t *x, int8_t *y)
{
    const struct hdk_conv2d *p = &q->layer;
    const uint32_t group_c = p->in_c / p->groups, group_oc = p->out_c / p->groups;
    const struct tap_sum t = {p->in_h,       p->in_w,       p->in_c, p->kernel_h, p->kernel_w,
                              p->dilation_y, p->dilation_x, group_c, group_c,     1,
                              p->z_in,       p->z_w};
    const size_t image = (size_t)p->in_h * p->in_w * p->in_c;
    const size_t filter = (size_t)p->kernel_h * p->kernel_w * group_c;

    for (uint32_t i = 0; i < p->batch * p->out_h * p->out_w; i++) {
        const uint32_t oy = i / p->out_w % p->out_h, ox = i % p->out_w;
        const int8_t *from = x + i / (p->out_h * p->out_w) * image;

        for (uint32_t oc = 0; oc < p->out_c; oc++) {
            const int32_t acc =
                sum_taps(&t, from + oc / group_oc * group_c, q->weights.w + oc * filter,
                         (int32_t)(oy * p->stride_y) - p->pad_top,
                         (int32_t)(ox * p->stride_x) - p->pad_left);

            *y++ = scaled(&q->weights, acc, oc, p->z_out, p->act_min, p->act_max);
        }
    }
}

void hdk_onnx_depthwise_conv2d(const struct hdk_onnx_depthwise_conv2d *q, const int8_t *x,
                               int8_t *y)
{
    const struct hdk_depthwise_conv2d *p = &q->layer;
    const uint32_t out_c = p->in_c * p->depth_multiplier;
    const struct tap_sum t = {p->in_h,       p->in_w,       p->in_c, p->kernel_h, p->kernel_w,
                              p->dilation_y, p->dilation_x, 1,       out_c,       1,
                              p->z_in,       p->z_w};
    const size_t image = (size_t)p->in_h * p->in_w * p->in_c;

    for (uint32_t i = 0; i < p->batch * p->out_h * p->out_w; i++) {
        const uint32_t oy = i / p->out_w % p->out_h, ox = i % p->out_w;
        const int8_t *from = x + i / (p->out_h * p->out_w) * image;

        for (uint32_t oc = 0; oc < out_c; oc++) {
            const int32_t acc = sum_taps(&t, from + oc / p->depth_multiplier, q->weights.w + oc,
                                         (int32_t)(oy * p->stride_y) - p->pad_top,
                                         (int32_t)(ox * p->stride_x) - p->pad_left);

            *y++ = scaled(&q->weights, acc, oc, p->z_out, p->act_min, p->act_max);
        }
    }
}

void hdk_onnx_fully_connected(const struct hdk_onnx_fully_connected *q, const int8_t *x, int8_t *y)
{
    const struct hdk_fully_connected *p = &q->layer;
    const struct tap_sum t = {1, 1, p->in_c, 1, 1, 1, 1, p->in_c, p->in_c, 1, p->z_in, p->z_w};

    for (uint32_t row = 0; row < p->batch; row++)
        for (uint32_t oc = 0; oc < p->out_c; oc++) {
            const int32_t acc =
                sum_taps(&t, x + (size_t)row * p->in_c, q->weights.w + (size_t)oc * p->in_c, 0, 0);

            *y++ = scaled(&q->weights, acc, oc, p->z_out, p->act_min, p->act_max);
        }
}

void hdk_litert_fully_connected(const struct hdk_onnx_fully_connected *q, const int8_t *x,
                                int8_t *y)
{
    const struct hdk_fully_connected *p = &q->layer;
    const struct hdk_onnx_weights *s = &q->weights;
    const struct tap_sum t = {1, 1, p->in_c, 1, 1, 1, 1, p->in_c, p->in_c, 1, p->z_in, p->z_w};

    for (uint32_t row = 0; row < p->batch; row++)
        for (uint32_t oc = 0; oc < p->out_c; oc++) {
            const int32_t acc =
                sum_taps(&t, x + (size_t)row * p->in_c, s->w + (size_t)oc * p->in_c, 0, 0);
            const uint32_t bias = s->bias ? (uint32_t)s->bias[oc] : 0;
            const float *r = s->real + (s->per_channel ? 3 * oc : 0);
            const double v =
                (int32_t)((uint32_t)acc + bias) * ((double)r[0] + (double)r[1] + (double)r[2]);
            const int32_t code = v < -1000 ? -1000 : v > 1000 ? 1000 : (int32_t)v;
            const double rest = v - code; /* exact; beyond +-1000 all values clamp alike */

            *y++ =
                code_of(code + (rest >= 0.5) - (rest <= -0.5) + p->z_out, p->act_min, p->act_max);
        }
}

enum binary_kind { ADD, SUB, MUL, QLINEAR_ADD, QLINEAR_MUL };

static int32_t binary_one(const struct hdk_onnx_binary *p, enum binary_kind kind, int8_t a,
                          int8_t b)
{
    const float *r = p->real;
    const float va = r[0] * (float)(a - p->z_a), vb = r[1] * (float)(b - p->z_b);

    switch (kind) {
    case ADD: return nearest((va + vb) / r[2]) + p->z_out;
    case SUB: return nearest((va - vb) / r[2]) + p->z_out;
    case MUL: return nearest(va * vb / r[2]) + p->z_out;
    case QLINEAR_MUL: return nearest((float)((a - p->z_a) * (b - p->z_b)) * r[0]) + p->z_out;
    default:
        return nearest(fused(r[0], (float)a + r[3], fused(r[1], (float)b + r[3], r[2]))) -
               (int32_t)r[3];
    }
}

static void binary(const struct hdk_onnx_binary *p, enum binary_kind kind, const int8_t *a,
                   const int8_t *b, int8_t *y)
{
    const struct hdk_walk2 *w = &p->walk;
    const uint32_t n = w->shape[0] * w->shape[1] * w->shape[2] * w->shape[3];

    for (uint32_t i = 0; i < n; i++) {
        uint32_t rest = i, at_a = 0, at_b = 0;

        for (uint32_t d = 4; d-- > 0;) {
            at_a += rest % w->shape[d] * w->a_stride[d];
            at_b += rest % w->shape[d] * w->b_stride[d];
            rest /= w->shape[d];
        }
        y[i] = code_of(binary_one(p, kind, a[at_a], b[at_b]), p->act_min, p->act_max);
    }
}

void hdk_onnx_add(const struct hdk_onnx_binary *p, const int8_t *a, const int8_t *b, int8_t *y)
{
    binary(p, ADD, a, b, y);
}

void hdk_onnx_sub(const struct hdk_onnx_binary *p, const int8_t *a, const int8_t *b, int8_t *y)
{
    binary(p, SUB, a, b, y);
}

void hdk_onnx_mul(const struct hdk_onnx_binary *p, const int8_t *a, const int8_t *b, int8_t *y)
{
    binary(p, MUL, a, b, y);
}

void hdk_onnx_qlinear_add(const struct hdk_onnx_binary *p, const int8_t *a, const int8_t *b,
                          int8_t *y)
{
    binary(p, QLINEAR_ADD, a, b, y);
}

void hdk_onnx_qlinear_mul(const struct hdk_onnx_binary *p, const int8_t *a, const int8_t *b,
                          int8_t *y)
{
    binary(p, QLINEAR_MUL, a, b, y);
}

struct sum {
    float real;
    int32_t sum, n;
};

static void sum_add(struct sum *s, const struct hdk_onnx_average *p, int8_t x)
{
    s->real += p->s_in * (float)(x - p->z_in);
    s->sum += x - p->z_in;
    s->n++;
}

static int8_t sum_code(const struct sum *s, const struct hdk_onnx_average *p)
{
    float v = 0;

    if (s->n != 0 && p->qlinear)
        v = (float)s->sum * (p->s_in / (p->s_out * (float)s->n));
    else if (s->n != 0)
        v = s->real / (float)s->n / p->s_out;
    return code_of(nearest(v) + p->z_out, p->act_min, p->act_max);
}

void hdk_onnx_avg_pool(const struct hdk_onnx_pool *p, const int8_t *x, int8_t *y)
{
    const struct hdk_pool *g = &p->pool;
    const size_t image = (size_t)g->in_h * g->in_w * g->channels;

    for (uint32_t i = 0; i < g->batch * g->out_h * g->out_w * g->channels; i++) {
        const uint32_t c = i % g->channels, pixel = i / g->channels;
        const int32_t y0 = (int32_t)(pixel / g->out_w % g->out_h * g->stride_y) - g->pad_top;
        const int32_t x0 = (int32_t)(pixel % g->out_w * g->stride_x) - g->pad_left;
        const int8_t *from = x + pixel / (g->out_h * g->out_w) * image;
        struct sum s = {0};

        for (int32_t iy = y0; iy < y0 + (int32_t)g->kernel_h; iy++)
            for (int32_t ix = x0; ix < x0 + (int32_t)g->kernel_w; ix++)
                if (iy >= 0 && ix >= 0 && iy < (int32_t)g->in_h && ix < (int32_t)g->in_w)
                    sum_add(&s, &p->average,
                            from[((size_t)iy * g->in_w + (size_t)ix) * g->channels + c]);
        y[i] = sum_code(&s, &p->average);
    }
}

void hdk_onnx_mean(const struct hdk_onnx_mean *p, const int8_t *x, int8_t *y)
{
    uint32_t n[2];

    hdk_counts(p->shape, p->reduce, n);
    for (uint32_t o = 0; o < n[0]; o++) {
        struct sum s = {0};

        for (uint32_t i = 0; i < n[1]; i++)
            sum_add(&s, &p->average,
                    x[hdk_pick(p->shape, p->reduce, 0, o) + hdk_pick(p->shape, p->reduce, 1, i)]);
        y[o] = sum_code(&s, &p->average);
    }
}

void hdk_onnx_softmax(const struct hdk_onnx_softmax *p, const int8_t *x, int8_t *y)
{
    for (uint32_t row = 0; row < p->rows; row++, x += p->cols, y += p->cols) {
        int32_t most = -128;
        float sum = 0;

        for (uint32_t i = 0; i < p->cols; i++)
            most = x[i] > most ? x[i] : most;
        for (uint32_t i = 0; i < p->cols; i++)
            sum += p->e[most - x[i]];
        for (uint32_t i = 0; i < p->cols; i++)
            y[i] = code_of(nearest(p->e[most - x[i]] / sum / p->s_out) + p->z_out, -128, 127);
    }
}

static __attribute__((noinline)) int32_t divided(float x, float scale)
{
    return nearest(x / scale);
}

void hdk_onnx_quantize(const struct hdk_quantize *p, const float *x, int8_t *y)
{
    hdk_quantize_by(p, x, y, divided);
}
