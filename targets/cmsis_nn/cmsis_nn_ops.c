/* cmsis_nn_ops.c - see cmsis_nn_ops.h. Offsets are negative zero points of inputs, zero points of
 * outputs; a shift is positive to the left, as heddle's. Images are handed over one by one, which
 * every version supports. */
#include "cmsis_nn_ops.h"

#include <arm_nnfunctions.h>
#include <stddef.h>

enum { FAILED = -10 };

/* Memory of a call: what is left of it. */
struct memory {
    uint8_t *at;
    uint32_t n;
};

static void *take(struct memory *m, uint32_t n)
{
    void *p = m->at;

    if (n > m->n)
        return NULL;
    m->at += n;
    m->n -= n;
    return p;
}

/* Store a 32-bit multiplier and shift for each channel; return 0 if out of memory. */
static int channels(struct memory *m, const int32_t *multiplier, const int8_t *shift,
                    const struct cmsis_nn_sizes *s, cmsis_nn_per_channel_quant_params *q)
{
    const uint32_t n = 4 * (uint32_t)s->out_c;

    q->multiplier = take(m, n);
    q->shift = take(m, n);
    for (int32_t i = 0; q->shift && i < s->out_c; i++) {
        q->multiplier[i] = multiplier[s->scales > 1 ? i : 0];
        q->shift[i] = shift[s->scales > 1 ? i : 0];
    }
    return q->shift != NULL;
}

/* The library's buffer. 0: it wants more than there is. */
static int buffer(struct memory *m, int32_t want, cmsis_nn_context *c)
{
    *c = (cmsis_nn_context){want > 0 ? take(m, (uint32_t)want) : NULL, want};
    return want <= 0 || c->buf;
}

int cmsis_nn_conv2d(const int8_t *x, const int8_t *w, const int32_t *bias,
                    const int32_t *multiplier, const int8_t *shift, int8_t *y, void *scratch,
                    uint32_t n, const struct cmsis_nn_sizes *s)
{
    const cmsis_nn_conv_params p = {-s->z_in,
                                    s->z_out,
                                    {s->stride_w, s->stride_h},
                                    {s->pad_left, s->pad_top},
                                    {s->dilation_w, s->dilation_h},
                                    {s->act_min, s->act_max}};
    const cmsis_nn_dims in = {1, s->in_h, s->in_w, s->in_c},
                        filter = {s->out_c, s->kernel_h, s->kernel_w, s->in_c},
                        out = {1, s->out_h, s->out_w, s->out_c}, one = {1, 1, 1, s->out_c};
    struct memory m = {scratch, n};
    cmsis_nn_per_channel_quant_params q;
    cmsis_nn_context c;
    arm_cmsis_nn_status rc = ARM_CMSIS_NN_SUCCESS;

    if (!channels(&m, multiplier, shift, s, &q) ||
        !buffer(&m, arm_convolve_wrapper_s8_get_buffer_size(&p, &in, &filter, &out), &c))
        return FAILED;
    for (int32_t i = 0; i < s->batch && rc == ARM_CMSIS_NN_SUCCESS; i++)
        rc = arm_convolve_wrapper_s8(&c, &p, &q, &in, x + i * s->in_h * s->in_w * s->in_c, &filter,
                                     w, &one, bias, &out, y + i * s->out_h * s->out_w * s->out_c);
    return rc == ARM_CMSIS_NN_SUCCESS ? 0 : FAILED;
}

int cmsis_nn_depthwise(const int8_t *x, const int8_t *w, const int32_t *bias,
                       const int32_t *multiplier, const int8_t *shift, int8_t *y, void *scratch,
                       uint32_t n, const struct cmsis_nn_sizes *s)
{
    const cmsis_nn_dw_conv_params p = {-s->z_in,
                                       s->z_out,
                                       s->depth_multiplier,
                                       {s->stride_w, s->stride_h},
                                       {s->pad_left, s->pad_top},
                                       {s->dilation_w, s->dilation_h},
                                       {s->act_min, s->act_max}};
    const cmsis_nn_dims in = {1, s->in_h, s->in_w, s->in_c},
                        filter = {1, s->kernel_h, s->kernel_w, s->out_c},
                        out = {1, s->out_h, s->out_w, s->out_c}, one = {1, 1, 1, s->out_c};
    struct memory m = {scratch, n};
    cmsis_nn_per_channel_quant_params q;
    cmsis_nn_context c;
    arm_cmsis_nn_status rc = ARM_CMSIS_NN_SUCCESS;

    if (!channels(&m, multiplier, shift, s, &q) ||
        !buffer(&m, arm_depthwise_conv_wrapper_s8_get_buffer_size(&p, &in, &filter, &out), &c))
        return FAILED;
    for (int32_t i = 0; i < s->batch && rc == ARM_CMSIS_NN_SUCCESS; i++)
        rc = arm_depthwise_conv_wrapper_s8(&c, &p, &q, &in, x + i * s->in_h * s->in_w * s->in_c,
                                           &filter, w, &one, bias, &out,
                                           y + i * s->out_h * s->out_w * s->out_c);
    return rc == ARM_CMSIS_NN_SUCCESS ? 0 : FAILED;
}

/* Sums of the weights for the library's buffer, where it has one. Versions differ in how many
 * arguments they take; the type says which this is. */
typedef arm_cmsis_nn_status sums_of_4(int32_t *, int32_t, int32_t, const int8_t *);
typedef arm_cmsis_nn_status sums_of_6(int32_t *, int32_t, int32_t, const int8_t *, int32_t,
                                      const int32_t *);
typedef arm_cmsis_nn_status sums_of_7(int32_t *, int32_t, int32_t, const int8_t *, int32_t, int32_t,
                                      const int32_t *);
enum { SUMS = _Generic(&arm_vector_sum_s8, sums_of_4 * : 4, sums_of_6 * : 6, sums_of_7 * : 7) };

static arm_cmsis_nn_status sums(int32_t *to, const int8_t *w, const int32_t *bias,
                                const struct cmsis_nn_sizes *s)
{
    /* volatile: a compiler that knows the function rejects the calls that are not made */
    void (*volatile f)(void) = (void (*)(void))arm_vector_sum_s8;

    switch ((int)SUMS) {
    case 4: return ((sums_of_4 *)f)(to, s->in_c, s->out_c, w);
    case 6: return ((sums_of_6 *)f)(to, s->in_c, s->out_c, w, -s->z_in, bias);
    default: return ((sums_of_7 *)f)(to, s->in_c, s->out_c, w, -s->z_in, 0, bias);
    }
}

int cmsis_nn_dense(const int8_t *x, const int8_t *w, const int32_t *bias, int8_t *y, void *scratch,
                   uint32_t n, int32_t multiplier, int32_t shift, const struct cmsis_nn_sizes *s)
{
    const cmsis_nn_fc_params p = {-s->z_in, 0, s->z_out, {s->act_min, s->act_max}};
    const cmsis_nn_per_tensor_quant_params q = {multiplier, shift};
    const cmsis_nn_dims in = {s->batch, 1, 1, s->in_c}, filter = {s->in_c, 1, 1, s->out_c},
                        out = {s->batch, 1, 1, s->out_c}, one = {1, 1, 1, s->out_c};
    struct memory m = {scratch, n};
    cmsis_nn_context c;

    if (!buffer(&m, arm_fully_connected_s8_get_buffer_size(&filter), &c))
        return FAILED;
    if (c.buf && sums(c.buf, w, bias, s) != ARM_CMSIS_NN_SUCCESS)
        return FAILED;
    return arm_fully_connected_s8(&c, &p, &q, &in, x, &filter, w, &one, bias, &out, y) ==
                   ARM_CMSIS_NN_SUCCESS
               ? 0
               : FAILED;
}

int cmsis_nn_add(const struct hdk_add *p, const int8_t *a, const int8_t *b, int8_t *y,
                 int32_t elements)
{
    return arm_elementwise_add_s8(a, b, -p->z_a, p->multiplier_a, p->shift_a, -p->z_b,
                                  p->multiplier_b, p->shift_b, 20, y, p->z_out, p->multiplier_out,
                                  p->shift_out, p->act_min, p->act_max,
                                  elements) == ARM_CMSIS_NN_SUCCESS
               ? 0
               : FAILED;
}

typedef arm_cmsis_nn_status pool(const cmsis_nn_context *, const cmsis_nn_pool_params *,
                                 const cmsis_nn_dims *, const int8_t *, const cmsis_nn_dims *,
                                 const cmsis_nn_dims *, int8_t *);

static int each_image(pool *f, const struct hdk_pool *q, const cmsis_nn_context *c, const int8_t *x,
                      int8_t *y)
{
    const cmsis_nn_pool_params p = {{(int32_t)q->stride_x, (int32_t)q->stride_y},
                                    {q->pad_left, q->pad_top},
                                    {q->act_min, q->act_max}};
    const int32_t depth = (int32_t)q->channels;
    const cmsis_nn_dims in = {1, (int32_t)q->in_h, (int32_t)q->in_w, depth},
                        filter = {1, (int32_t)q->kernel_h, (int32_t)q->kernel_w, 1},
                        out = {1, (int32_t)q->out_h, (int32_t)q->out_w, depth};
    arm_cmsis_nn_status rc = ARM_CMSIS_NN_SUCCESS;

    for (uint32_t i = 0; i < q->batch && rc == ARM_CMSIS_NN_SUCCESS; i++)
        rc = f(c, &p, &in, x + i * q->in_h * q->in_w * q->channels, &filter, &out,
               y + i * q->out_h * q->out_w * q->channels);
    return rc == ARM_CMSIS_NN_SUCCESS ? 0 : FAILED;
}

int cmsis_nn_average_pool(const struct hdk_pool *p, const int8_t *x, int8_t *y, void *scratch,
                          uint32_t n)
{
    struct memory m = {scratch, n};
    cmsis_nn_context c;

    if (!buffer(&m, arm_avgpool_s8_get_buffer_size((int)p->out_w, (int)p->channels), &c))
        return FAILED;
    return each_image(arm_avgpool_s8, p, &c, x, y);
}

int cmsis_nn_max_pool(const struct hdk_pool *p, const int8_t *x, int8_t *y)
{
    const cmsis_nn_context none = {NULL, 0};

    return each_image(arm_max_pool_s8, p, &none, x, y);
}

int cmsis_nn_softmax(const struct hdk_softmax *p, const int8_t *x, int8_t *y)
{
    arm_softmax_s8(x, (int32_t)p->rows, (int32_t)p->cols, p->input_multiplier, p->input_left_shift,
                   p->diff_min, y);
    return 0;
}
