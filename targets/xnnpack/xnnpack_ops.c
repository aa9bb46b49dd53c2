/* xnnpack_ops.c - see xnnpack_ops.h. The library packs weights when it makes an operator, so
 * operators are cached by a full comparison of their parameters, because memory may be reused for
 * other weights. It reads up to XNN_EXTRA_BYTES beyond the end of an input, which is therefore
 * copied. */
#include "xnnpack_ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xnnpack.h>

enum { FAILED = -10, PARTS = 4 };

/* The library accepts no scale of 0; any sum times this rounds to 0. */
#define LEAST 0x1p-32f

struct part {
    const void *data;
    size_t n;
};
struct kept {
    struct kept *next;
    xnn_operator_t op;
    int8_t *at[2]; /* inputs, or input and output */
    size_t n;
    uint8_t made_of[];
};

static struct kept *all;

static struct kept *find(const struct part *p)
{
    for (struct kept *k = all; k; k = k->next) {
        size_t at = 0;
        int i = 0;
        for (; i < PARTS && at + p[i].n <= k->n &&
               (p[i].n == 0 || memcmp(k->made_of + at, p[i].data, p[i].n) == 0);
             i++)
            at += p[i].n;
        if (i == PARTS && at == k->n)
            return k;
    }
    return NULL;
}

/* Make an entry without operator, with two buffers of bytes_a and bytes_b; NULL: out of memory. */
static struct kept *new_entry(const struct part *p, size_t bytes_a, size_t bytes_b)
{
    size_t n = 0;
    for (int i = 0; i < PARTS; i++)
        n += p[i].n;
    struct kept *k = calloc(1, sizeof *k + n);
    int8_t *at = calloc(bytes_a + bytes_b + 2 * (size_t)XNN_EXTRA_BYTES, 1);
    if (!k || !at || xnn_initialize(NULL) != xnn_status_success) {
        free(k);
        free(at);
        return NULL;
    }
    for (int i = 0; i < PARTS; i++) {
        if (p[i].n)
            memcpy(k->made_of + k->n, p[i].data, p[i].n);
        k->n += p[i].n;
    }
    k->at[0] = at;
    k->at[1] = at + bytes_a + XNN_EXTRA_BYTES;
    return k;
}

static struct kept *keep(struct kept *k, enum xnn_status made)
{
    if (made != xnn_status_success) {
        free(k->at[0]);
        free(k);
        return NULL;
    }
    k->next = all;
    return all = k;
}

/* Handle clamps that leave one value, which the library refuses. */
static int constant(int32_t low, int32_t high, int8_t *y, size_t n)
{
    if (low == high)
        memset(y, low, n);
    return low == high;
}

static int run(const struct kept *k, enum xnn_status set_up)
{
    return set_up == xnn_status_success && xnn_run_operator(k->op, NULL) == xnn_status_success
               ? 0
               : FAILED;
}

/* Convert int8 to uint8 with the zero point 128 higher, and back. */
static void flip(int8_t *to, const int8_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (int8_t)(from[i] ^ -128);
}

/* The start of both kinds of product. */
#define WINDOW(s, groups)                                                                          \
    (uint32_t)(s)->pad_top, (uint32_t)(s)->pad_right, (uint32_t)(s)->pad_bottom,                   \
        (uint32_t)(s)->pad_left, (uint32_t)(s)->kernel_h, (uint32_t)(s)->kernel_w,                 \
        (uint32_t)(s)->stride_h, (uint32_t)(s)->stride_w, (uint32_t)(s)->dilation_h,               \
        (uint32_t)(s)->dilation_w, (uint32_t)(groups), (size_t)(s)->in_c / (groups),               \
        (size_t)(s)->out_c / (groups), (size_t)(s)->in_c, (size_t)(s)->out_c

static enum xnn_status make_int8(const struct xnnpack_sizes *s, const int8_t *w,
                                 const int32_t *bias, const float *scale, xnn_operator_t *op)
{
    const size_t groups = s->depthwise ? (size_t)s->in_c : 1, out_c = (size_t)s->out_c;
    float *each = malloc(out_c * sizeof *each);
    enum xnn_status made = xnn_status_out_of_memory;
    for (size_t i = 0; each && i < out_c; i++)
        each[i] = fmaxf(scale[s->scales > 1 ? i : 0], LEAST);
    if (each)
        made = xnn_create_convolution2d_nhwc_qc8(
            WINDOW(s, groups), (int8_t)s->z_in, 1.0f, each, w, bias, (int8_t)s->z_out, 1.0f,
            (int8_t)s->act_min, (int8_t)s->act_max,
            s->depthwise ? XNN_FLAG_DEPTHWISE_CONVOLUTION : 0, op);
    free(each);
    return made;
}

/* Make an operator of weights with a zero point and one scale, which the library supports for
 * uint8. */
static enum xnn_status make_uint8(const struct xnnpack_sizes *s, const int8_t *w, size_t n_w,
                                  const int32_t *bias, const float *scale, xnn_operator_t *op)
{
    const size_t groups = s->depthwise ? (size_t)s->in_c : 1;
    int8_t *flipped = malloc(n_w);
    enum xnn_status made = xnn_status_out_of_memory;
    if (flipped) {
        flip(flipped, w, n_w);
        made = xnn_create_convolution2d_nhwc_qu8(
            WINDOW(s, groups), (uint8_t)(s->z_in + 128), 1.0f, (uint8_t)(s->z_w + 128),
            fmaxf(scale[0], LEAST), (const uint8_t *)flipped, bias, (uint8_t)(s->z_out + 128), 1.0f,
            (uint8_t)(s->act_min + 128), (uint8_t)(s->act_max + 128),
            s->depthwise ? XNN_FLAG_DEPTHWISE_CONVOLUTION : 0, op);
    }
    free(flipped);
    return made;
}

static int run_product(struct kept *k, const struct xnnpack_sizes *s, const int8_t *x, int8_t *y)
{
    const size_t batch = (size_t)s->batch, h = (size_t)s->in_h, w = (size_t)s->in_w,
                 n = batch * h * w * (size_t)s->in_c,
                 n_out = batch * (size_t)s->out_h * (size_t)s->out_w * (size_t)s->out_c;
    if (s->z_w == 0) {
        memcpy(k->at[0], x, n);
        return run(k, xnn_setup_convolution2d_nhwc_qc8(k->op, batch, h, w, k->at[0], y, NULL));
    }
    flip(k->at[0], x, n);
    const int rc = run(k, xnn_setup_convolution2d_nhwc_qu8(k->op, batch, h, w, (uint8_t *)k->at[0],
                                                           (uint8_t *)y, NULL));
    flip(y, y, n_out);
    return rc;
}

int xnnpack_product(const int8_t *x, const int8_t *w, const int32_t *bias, const float *scale,
                    int8_t *y, const struct xnnpack_sizes *s)
{
    const size_t out_c = (size_t)s->out_c, taps = (size_t)s->kernel_h * (size_t)s->kernel_w;
    const struct part p[PARTS] = {{s, sizeof *s},
                                  {w, out_c * taps * (s->depthwise ? 1 : (size_t)s->in_c)},
                                  {bias, bias ? out_c * sizeof *bias : 0},
                                  {scale, (size_t)s->scales * sizeof *scale}};
    if (constant(s->act_min, s->act_max, y,
                 (size_t)s->batch * (size_t)s->out_h * (size_t)s->out_w * out_c))
        return 0;
    struct kept *k = find(p);
    if (!k && (k = new_entry(
                   p, (size_t)s->batch * (size_t)s->in_h * (size_t)s->in_w * (size_t)s->in_c, 0)))
        k = keep(k, s->z_w ? make_uint8(s, w, p[1].n, bias, scale, &k->op)
                           : make_int8(s, w, bias, scale, &k->op));
    return k ? run_product(k, s, x, y) : FAILED;
}

/* Return a dimension, or 1 if it is broadcast. */
static size_t shape_of(const uint32_t *shape, const uint32_t *stride, size_t *dim)
{
    size_t n = 1;
    for (int i = 0; i < 4; i++)
        n *= dim[i] = stride[i] ? shape[i] : 1;
    return n;
}

int xnnpack_add(const struct hdk_add *q, const int8_t *a, const int8_t *b, int8_t *y)
{
    const double out = ldexp(q->multiplier_out, q->shift_out - 31 + 20); /* a and b << 20 */
    const struct part p[PARTS] = {{q, sizeof *q}};
    size_t dim_a[4], dim_b[4];
    const size_t n_a = shape_of(q->walk.shape, q->walk.a_stride, dim_a),
                 n_b = shape_of(q->walk.shape, q->walk.b_stride, dim_b);
    const uint32_t *dim = q->walk.shape;
    if (constant(q->act_min, q->act_max, y, (size_t)dim[0] * dim[1] * dim[2] * dim[3]))
        return 0;
    struct kept *k = find(p);
    if (!k && (k = new_entry(p, n_a, n_b)))
        k = keep(k, xnn_create_add_nd_qs8(
                        (int8_t)q->z_a, (float)(out * ldexp(q->multiplier_a, q->shift_a - 31)),
                        (int8_t)q->z_b, (float)(out * ldexp(q->multiplier_b, q->shift_b - 31)),
                        (int8_t)q->z_out, 1.0f, (int8_t)q->act_min, (int8_t)q->act_max, 0, &k->op));
    if (!k)
        return FAILED;
    memcpy(k->at[0], a, n_a);
    memcpy(k->at[1], b, n_b);
    return run(k, xnn_setup_add_nd_qs8(k->op, 4, dim_a, 4, dim_b, k->at[0], k->at[1], y, NULL));
}

/* Return the rows or columns of padding after the image that the last window reads. */
static uint32_t pad_after(uint32_t in, uint32_t out, uint32_t kernel, uint32_t stride, int32_t pad)
{
    const int64_t more = (int64_t)(out - 1) * stride + kernel - pad - in;
    return more > 0 ? (uint32_t)more : 0;
}

/* The library averages only uint8, and its softmax is for uint8 only. */
int xnnpack_average_pool(const struct hdk_pool *q, const int8_t *x, int8_t *y)
{
    const struct part p[PARTS] = {{q, sizeof *q}, {"average", 7}};
    const size_t n = (size_t)q->batch * q->in_h * q->in_w * q->channels,
                 n_out = (size_t)q->batch * q->out_h * q->out_w * q->channels;
    if (constant(q->act_min, q->act_max, y, n_out))
        return 0;
    struct kept *k = find(p);
    if (!k && (k = new_entry(p, n, n_out)))
        k = keep(k, xnn_create_average_pooling2d_nhwc_qu8(
                        0, 0, 0, 0, q->kernel_h, q->kernel_w, q->stride_y, q->stride_x, q->channels,
                        q->channels, q->channels, 128, 1.0f, 128, 1.0f, (uint8_t)(q->act_min + 128),
                        (uint8_t)(q->act_max + 128), 0, &k->op));
    if (!k)
        return FAILED;
    flip(k->at[0], x, n);
    if (run(k, xnn_setup_average_pooling2d_nhwc_qu8(k->op, q->batch, q->in_h, q->in_w,
                                                    (uint8_t *)k->at[0], (uint8_t *)k->at[1],
                                                    NULL)) != 0)
        return FAILED;
    flip(y, k->at[1], n_out);
    return 0;
}

int xnnpack_softmax(const struct hdk_softmax *q, const int8_t *x, int8_t *y)
{
    const double scale = ldexp(q->input_multiplier, q->input_left_shift - 31 - 26);
    const struct part p[PARTS] = {{q, sizeof *q}};
    const size_t n = (size_t)q->rows * q->cols;
    struct kept *k = find(p);
    if (!k && (k = new_entry(p, n, n)))
        k = keep(k, xnn_create_softmax_nc_qu8(q->cols, q->cols, q->cols, (float)scale, 0,
                                              1.0f / 256, 0, &k->op));
    if (!k)
        return FAILED;
    flip(k->at[0], x, n);
    if (run(k, xnn_setup_softmax_nc_qu8(k->op, q->rows, (uint8_t *)k->at[0], (uint8_t *)k->at[1],
                                        NULL)) != 0)
        return FAILED;
    flip(y, k->at[1], n);
    return 0;
}

int xnnpack_max_pool(const struct hdk_pool *q, const int8_t *x, int8_t *y)
{
    const struct part p[PARTS] = {{q, sizeof *q}, {"max", 3}};
    const size_t n = (size_t)q->batch * q->in_h * q->in_w * q->channels,
                 n_out = (size_t)q->batch * q->out_h * q->out_w * q->channels;
    if (constant(q->act_min, q->act_max, y, n_out))
        return 0;
    struct kept *k = find(p);
    if (!k && (k = new_entry(p, n, n_out)))
        k = keep(k, xnn_create_max_pooling2d_nhwc_s8(
                        (uint32_t)q->pad_top,
                        pad_after(q->in_w, q->out_w, q->kernel_w, q->stride_x, q->pad_left),
                        pad_after(q->in_h, q->out_h, q->kernel_h, q->stride_y, q->pad_top),
                        (uint32_t)q->pad_left, q->kernel_h, q->kernel_w, q->stride_y, q->stride_x,
                        1, 1, q->channels, q->channels, q->channels, (int8_t)q->act_min,
                        (int8_t)q->act_max, 0, &k->op));
    if (!k)
        return FAILED;
    memcpy(k->at[0], x, n);
    if (run(k, xnn_setup_max_pooling2d_nhwc_s8(k->op, q->batch, q->in_h, q->in_w, k->at[0],
                                               k->at[1], NULL)) != 0)
        return FAILED;
    memcpy(y, k->at[1], n_out); /* the library reads it during creation, beyond its end */
    return 0;
}
