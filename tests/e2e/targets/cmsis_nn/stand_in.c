/* stand_in.c - NOT CMSIS-NN, and no oracle for its bytes: plain loops with the arithmetic that its
 * documentation specifies (TFLite's, double rounding), so that tests can check what
 * targets/cmsis_nn passes: order of arguments, sizes, signs of offsets, buffers. Each function
 * fills the buffer that it requested, so that one that is too small is detected.
 * -DSTAND_IN_SUMS_OF_4 and _6: with the arm_vector_sum_s8 of versions 5 and 6.
 * -DSTAND_IN_WRONG: dense layers are wrong. */
#include "arm_nnfunctions.h"

static int32_t rounded(int64_t product)
{
    const int32_t high = (int32_t)((product + (1LL << 30)) >> 31);

    return high;
}

/* Return v * multiplier * 2^(shift - 31), rounded at 2^-31 and again at the shift. */
static int32_t scaled(int32_t v, int32_t multiplier, int32_t shift)
{
    const int32_t left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : -shift;
    const int32_t high = rounded((int64_t)(int32_t)((uint32_t)v << left) * multiplier);
    const int64_t half = right ? 1LL << (right - 1) : 0;

    return (int32_t)((high + half - (right && high < 0)) >> right);
}

static int8_t clamped(int32_t v, int32_t low, int32_t high)
{
    return (int8_t)(v < low ? low : v > high ? high : v);
}

static void spoil(const cmsis_nn_context *c)
{
    for (int32_t i = 0; i < c->size; i++)
        ((uint8_t *)c->buf)[i] = 0xa5;
}

/* --- windows --- */

struct window {
    cmsis_nn_tile stride, padding, dilation;
    const cmsis_nn_dims *in, *filter;
};

/* Return the index of the input's element under tap (ky, kx) of output pixel (y, x); -1:
 * outside. */
static int32_t under(const struct window *w, int32_t y, int32_t x, int32_t ky, int32_t kx)
{
    const int32_t row = y * w->stride.h - w->padding.h + ky * w->dilation.h,
                  column = x * w->stride.w - w->padding.w + kx * w->dilation.w;

    return row < 0 || row >= w->in->h || column < 0 || column >= w->in->w
               ? -1
               : (row * w->in->w + column) * w->in->c;
}

int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params *p,
                                                const cmsis_nn_dims *in,
                                                const cmsis_nn_dims *filter,
                                                const cmsis_nn_dims *out)
{
    (void)p;
    (void)out;
    return 4 * ((filter->h * filter->w * in->c + 15) / 16 * 16); /* the documented maximum */
}

static int32_t dot(const struct window *w, int32_t offset, const int8_t *x, const int8_t *weights,
                   int32_t oy, int32_t ox)
{
    int32_t sum = 0;

    for (int32_t ky = 0; ky < w->filter->h; ky++)
        for (int32_t kx = 0; kx < w->filter->w; kx++) {
            const int32_t at = under(w, oy, ox, ky, kx);
            for (int32_t c = 0; at >= 0 && c < w->in->c; c++)
                sum += (x[at + c] + offset) * weights[(ky * w->filter->w + kx) * w->in->c + c];
        }
    return sum;
}

arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context *ctx,
                                            const cmsis_nn_conv_params *p,
                                            const cmsis_nn_per_channel_quant_params *q,
                                            const cmsis_nn_dims *in, const int8_t *x,
                                            const cmsis_nn_dims *filter, const int8_t *w,
                                            const cmsis_nn_dims *bias_dims, const int32_t *bias,
                                            const cmsis_nn_dims *out, int8_t *y)
{
    const struct window window = {p->stride, p->padding, p->dilation, in, filter};
    const int32_t taps = filter->h * filter->w * in->c;

    spoil(ctx);
    if (in->n != 1 || filter->n != out->c || filter->c != in->c || bias_dims->c != out->c)
        return ARM_CMSIS_NN_ARG_ERROR;
    for (int32_t i = 0; i < out->h * out->w * out->c; i++) {
        const int32_t c = i % out->c, pixel = i / out->c;
        const int32_t sum = (bias ? bias[c] : 0) + dot(&window, p->input_offset, x, w + c * taps,
                                                       pixel / out->w, pixel % out->w);
        y[i] = clamped(scaled(sum, q->multiplier[c], q->shift[c]) + p->output_offset,
                       p->activation.min, p->activation.max);
    }
    return ARM_CMSIS_NN_SUCCESS;
}

int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(const cmsis_nn_dw_conv_params *p,
                                                      const cmsis_nn_dims *in,
                                                      const cmsis_nn_dims *filter,
                                                      const cmsis_nn_dims *out)
{
    (void)p;
    (void)out;
    const int32_t dsp = 2 * in->c, mve = 4 * 124; /* of a tap, as documented */

    return (dsp > mve ? dsp : mve) * filter->h * filter->w;
}

arm_cmsis_nn_status
arm_depthwise_conv_wrapper_s8(const cmsis_nn_context *ctx, const cmsis_nn_dw_conv_params *p,
                              const cmsis_nn_per_channel_quant_params *q, const cmsis_nn_dims *in,
                              const int8_t *x, const cmsis_nn_dims *filter, const int8_t *w,
                              const cmsis_nn_dims *bias_dims, const int32_t *bias,
                              const cmsis_nn_dims *out, int8_t *y)
{
    const struct window window = {p->stride, p->padding, p->dilation, in, filter};

    spoil(ctx);
    if (in->n != 1 || filter->n != 1 || filter->c != out->c || bias_dims->c != out->c ||
        in->c * p->ch_mult != out->c)
        return ARM_CMSIS_NN_ARG_ERROR;
    for (int32_t i = 0; i < out->h * out->w * out->c; i++) {
        const int32_t c = i % out->c, pixel = i / out->c;
        int32_t sum = bias ? bias[c] : 0;
        for (int32_t k = 0; k < filter->h * filter->w; k++) {
            const int32_t at =
                under(&window, pixel / out->w, pixel % out->w, k / filter->w, k % filter->w);
            if (at >= 0)
                sum += (x[at + c / p->ch_mult] + p->input_offset) * w[k * out->c + c];
        }
        y[i] = clamped(scaled(sum, q->multiplier[c], q->shift[c]) + p->output_offset,
                       p->activation.min, p->activation.max);
    }
    return ARM_CMSIS_NN_SUCCESS;
}

/* --- dense layers: what the buffer holds depends on the version --- */

int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims *filter)
{
    return 4 * filter->c;
}

static int32_t row_sum(const int8_t *row, int32_t n)
{
    int32_t sum = 0;

    for (int32_t i = 0; i < n; i++)
        sum += row[i];
    return sum;
}

#ifdef STAND_IN_SUMS_OF_4
arm_cmsis_nn_status arm_vector_sum_s8(int32_t *sums, const int32_t cols, const int32_t rows,
                                      const int8_t *w)
{
    for (int32_t i = 0; i < rows; i++)
        sums[i] = row_sum(w + i * cols, cols);
    return ARM_CMSIS_NN_SUCCESS;
}
#define START(sums, bias, offset, c) ((sums)[c] * (offset) + ((bias) ? (bias)[c] : 0))
#else
#ifdef STAND_IN_SUMS_OF_6
arm_cmsis_nn_status arm_vector_sum_s8(int32_t *sums, const int32_t cols, const int32_t rows,
                                      const int8_t *w, const int32_t offset, const int32_t *bias)
{
#else
arm_cmsis_nn_status arm_vector_sum_s8(int32_t *sums, const int32_t cols, const int32_t rows,
                                      const int8_t *w, const int32_t offset,
                                      const int32_t rhs_offset, const int32_t *bias)
{
    if (rhs_offset != 0)
        return ARM_CMSIS_NN_ARG_ERROR;
#endif
    for (int32_t i = 0; i < rows; i++)
        sums[i] = row_sum(w + i * cols, cols) * offset + (bias ? bias[i] : 0);
    return ARM_CMSIS_NN_SUCCESS;
}
#define START(sums, bias, offset, c) ((void)(bias), (sums)[c])
#endif

arm_cmsis_nn_status arm_fully_connected_s8(const cmsis_nn_context *ctx, const cmsis_nn_fc_params *p,
                                           const cmsis_nn_per_tensor_quant_params *q,
                                           const cmsis_nn_dims *in, const int8_t *x,
                                           const cmsis_nn_dims *filter, const int8_t *w,
                                           const cmsis_nn_dims *bias_dims, const int32_t *bias,
                                           const cmsis_nn_dims *out, int8_t *y)
{
    const int32_t *sums = ctx->buf;

    if (in->n != out->n || filter->c != out->c || bias_dims->c != out->c || p->filter_offset != 0)
        return ARM_CMSIS_NN_ARG_ERROR;
    for (int32_t i = 0; i < out->n * out->c; i++) {
        const int32_t c = i % out->c;
        int32_t sum = START(sums, bias, p->input_offset, c);
        for (int32_t k = 0; k < filter->n; k++)
            sum += x[i / out->c * filter->n + k] * w[c * filter->n + k];
#ifdef STAND_IN_WRONG
        sum = -sum;
#endif
        y[i] = clamped(scaled(sum, q->multiplier, q->shift) + p->output_offset, p->activation.min,
                       p->activation.max);
    }
    return ARM_CMSIS_NN_SUCCESS;
}

/* --- other functions --- */

arm_cmsis_nn_status arm_elementwise_add_s8(const int8_t *a, const int8_t *b, const int32_t a_offset,
                                           const int32_t a_mult, const int32_t a_shift,
                                           const int32_t b_offset, const int32_t b_mult,
                                           const int32_t b_shift, const int32_t left_shift,
                                           int8_t *y, const int32_t out_offset,
                                           const int32_t out_mult, const int32_t out_shift,
                                           const int32_t low, const int32_t high, const int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t one = scaled((a[i] + a_offset) * (1 << left_shift), a_mult, a_shift),
                      two = scaled((b[i] + b_offset) * (1 << left_shift), b_mult, b_shift);
        y[i] = clamped(scaled(one + two, out_mult, out_shift) + out_offset, low, high);
    }
    return ARM_CMSIS_NN_SUCCESS;
}

int32_t arm_avgpool_s8_get_buffer_size(const int width, const int channels)
{
    (void)width;
    return 4 * channels;
}

static arm_cmsis_nn_status pool(const cmsis_nn_pool_params *p, const cmsis_nn_dims *in,
                                const int8_t *x, const cmsis_nn_dims *filter,
                                const cmsis_nn_dims *out, int8_t *y, int mean)
{
    const struct window window = {p->stride, p->padding, {1, 1}, in, filter};

    if (in->n != 1 || in->c != out->c)
        return ARM_CMSIS_NN_ARG_ERROR;
    for (int32_t i = 0; i < out->h * out->w * out->c; i++) {
        const int32_t pixel = i / out->c;
        int32_t sum = 0, most = -128, n = 0;
        for (int32_t k = 0; k < filter->h * filter->w; k++) {
            const int32_t at =
                under(&window, pixel / out->w, pixel % out->w, k / filter->w, k % filter->w);
            if (at < 0)
                continue;
            const int32_t v = x[at + i % out->c];
            sum += v;
            most = v > most ? v : most;
            n++;
        }
        const int32_t average = n ? (sum > 0 ? sum + n / 2 : sum - n / 2) / n : 0;
        y[i] = clamped(mean ? average : most, p->activation.min, p->activation.max);
    }
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *ctx, const cmsis_nn_pool_params *p,
                                   const cmsis_nn_dims *in, const int8_t *x,
                                   const cmsis_nn_dims *filter, const cmsis_nn_dims *out, int8_t *y)
{
    spoil(ctx);
    return pool(p, in, x, filter, out, y, 1);
}

arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context *ctx, const cmsis_nn_pool_params *p,
                                    const cmsis_nn_dims *in, const int8_t *x,
                                    const cmsis_nn_dims *filter, const cmsis_nn_dims *out,
                                    int8_t *y)
{
    (void)ctx;
    return pool(p, in, x, filter, out, y, 0);
}

/* Return e^-t for t >= 0: a power of that of its 1024th part, from the series. */
static double decay(double t)
{
    const double x = -t / 1024;
    double e = 1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5))));

    for (int i = 0; i < 10; i++)
        e *= e;
    return e;
}

/* Computed in real numbers and rounded at the end, which the documented fixed point equals
 * (docs/NUMERICS.md). */
void arm_softmax_s8(const int8_t *x, const int32_t rows, const int32_t cols, const int32_t mult,
                    const int32_t shift, const int32_t diff_min, int8_t *y)
{
    const double scale = (double)mult * (double)(1LL << shift) / 2147483648.0 / (double)(1 << 26);

    for (int32_t r = 0; r < rows; r++, x += cols, y += cols) {
        int32_t most = -128;
        double sum = 0;
        for (int32_t i = 0; i < cols; i++)
            most = x[i] > most ? x[i] : most;
        for (int32_t i = 0; i < cols; i++)
            sum += x[i] - most >= diff_min ? decay((most - x[i]) * scale) : 0;
        for (int32_t i = 0; i < cols; i++) {
            const double part = x[i] - most >= diff_min ? decay((most - x[i]) * scale) / sum : 0;
            y[i] = clamped((int32_t)(256 * part + 0.5) - 128, -128, 127);
        }
    }
}
