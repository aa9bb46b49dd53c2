/* hdk_f32_ops.c - float32 operators without weights. */
#include <stddef.h>

#include "hdk_f32.h"
#include "hdk_index.h"

void hdk_f32_matmul(const struct hdk_f32_matmul *p, const float *a, const float *b,
                    const float *bias, float *y)
{
    const uint32_t n = p->batch[0] * p->batch[1] * p->batch[2] * p->batch[3];

    for (uint32_t m = 0; m < n * p->rows; m++, y += p->cols) {
        const float *from_a = a + (size_t)(m % p->rows) * p->a_row, *from_b = b;
        uint32_t rest = m / p->rows;

        for (uint32_t d = 4; d-- > 0; rest /= p->batch[d]) {
            from_a += (size_t)(rest % p->batch[d]) * p->a_batch[d];
            from_b += (size_t)(rest % p->batch[d]) * p->b_batch[d];
        }
        for (uint32_t j = 0; j < p->cols; j++)
            y[j] = 0;
        for (uint32_t k = 0; k < p->depth; k++) {
            const float v = from_a[(size_t)k * p->a_col], *w = from_b + (size_t)k * p->b_row;

            for (uint32_t j = 0; j < p->cols; j++) {
                const float product = v * w[(size_t)j * p->b_col];

                y[j] += product;
            }
        }
        for (uint32_t j = 0; j < p->cols; j++)
            y[j] = hdk_f32_clamp(bias ? y[j] + bias[j] : y[j], p->low, p->high);
    }
}

/* Beyond 2^52 all numbers are whole; whole ones keep the sign of their 0. */
static float floor_of(double v)
{
    if (!(v > -4503599627370496.0 && v < 4503599627370496.0) || (double)(int64_t)v == v)
        return (float)v;
    return (float)((double)(int64_t)v - ((double)(int64_t)v > v ? 1 : 0));
}

/* The rest of u by v with v's sign. At most 28 bits of the quotient at a time: every product is exact. */
static float rest_of(float u, float v)
{
    const double m = v < 0 ? -(double)v : (double)v, bits = 268435456.0;
    double r = u < 0 ? -(double)u : (double)u, step = m;
    float rest;

    if (!(r < (double)HDK_F32_INFINITY) || !(m > 0))
        return u * v / (u * v);
    while (step * bits <= r)
        step *= bits;
    for (; step >= m && r >= m; step /= bits) {
        r -= (double)(int64_t)(r / step) * step;
        if (r < 0)
            r += step;
    }
    rest = u < 0 ? -(float)r : (float)r;
    return rest != 0 && (v < 0) != (rest < 0) ? rest + v : rest;
}

/* A function over the walk of two operands; `expr` speaks of u and v. */
#define BINARY(name, expr)                                                                         \
    void hdk_f32_##name(const struct hdk_f32_binary *p, const float *a, const float *b, float *y)  \
    {                                                                                              \
        const struct hdk_walk2 *w = &p->walk;                                                      \
        for (uint32_t i = 0; i < w->shape[0] * w->shape[1] * w->shape[2]; i++) {                   \
            const uint32_t i2 = i % w->shape[2], i1 = i / w->shape[2] % w->shape[1],               \
                           i0 = i / w->shape[2] / w->shape[1];                                     \
            const float *x0 = a + i0 * w->a_stride[0] + i1 * w->a_stride[1] + i2 * w->a_stride[2]; \
            const float *x1 = b + i0 * w->b_stride[0] + i1 * w->b_stride[1] + i2 * w->b_stride[2]; \
            for (uint32_t k = 0; k < w->shape[3]; k++) {                                           \
                const float u = x0[k * w->a_stride[3]], v = x1[k * w->b_stride[3]];                \
                *y++ = hdk_f32_clamp(expr, p->low, p->high);                                       \
            }                                                                                      \
        }                                                                                          \
    }

BINARY(add, u + v)
BINARY(sub, u - v)
BINARY(mul, u *v)
BINARY(div, u / v)
BINARY(floor_div, floor_of((double)u / (double)v))
BINARY(floor_mod, rest_of(u, v))
BINARY(power, hdk_f32_pow(u, v))
BINARY(maximum, u < v ? v : u)
BINARY(minimum, u > v ? v : u)
BINARY(prelu, u < 0 ? u * v : u)
BINARY(squared_difference, (u - v) * (u - v))

/* The cells of one window of one channel, summed (each column, then the columns) or compared. */
static float window(const struct hdk_f32_pool *p, const float *x, uint32_t oy, uint32_t ox, int max)
{
    const int32_t y0 = (int32_t)(oy * p->stride_y) - p->pad_top;
    const int32_t x0 = (int32_t)(ox * p->stride_x) - p->pad_left;
    float v = max ? -HDK_F32_INFINITY : 0;
    uint32_t n = 0;

    for (int32_t ix = x0; ix < x0 + (int32_t)p->kernel_w; ix++) {
        float column = 0;

        for (int32_t iy = y0; iy < y0 + (int32_t)p->kernel_h; iy++) {
            float cell;

            if (iy < 0 || ix < 0 || iy >= (int32_t)p->in_h || ix >= (int32_t)p->in_w)
                continue;
            cell = x[((size_t)iy * p->in_w + (size_t)ix) * p->channels];
            column += cell;
            v = max && cell > v ? cell : v;
            n++;
        }
        v = max ? v : v + column;
    }
    v = max || n == 0 ? v : v / (float)n;
    return hdk_f32_clamp(v, p->low, p->high);
}

static void pool(const struct hdk_f32_pool *p, const float *x, float *y, int max)
{
    const size_t image = (size_t)p->in_h * p->in_w * p->channels;

    for (uint32_t i = 0; i < p->batch * p->out_h * p->out_w; i++)
        for (uint32_t c = 0; c < p->channels; c++)
            *y++ = window(p, x + i / p->out_w / p->out_h * image + c, i / p->out_w % p->out_h,
                          i % p->out_w, max);
}

void hdk_f32_avg_pool(const struct hdk_f32_pool *p, const float *x, float *y)
{
    pool(p, x, y, 0);
}

void hdk_f32_max_pool(const struct hdk_f32_pool *p, const float *x, float *y)
{
    pool(p, x, y, 1);
}

enum reduction { MEAN, SUM, MAX, MIN, PROD };

static void reduce(const struct hdk_f32_reduce *p, const float *x, float *y, enum reduction kind)
{
    uint32_t n[2];

    hdk_counts(p->shape, p->reduce, n);
    for (uint32_t o = 0; o < n[0]; o++) {
        const float *from = x + hdk_pick(p->shape, p->reduce, 0, o);
        float v = kind == MEAN || kind == SUM ? 0 : kind == PROD ? 1 : from[0];

        for (uint32_t i = 0; i < n[1]; i++) {
            const float cell = from[hdk_pick(p->shape, p->reduce, 1, i)];

            if (kind == MEAN || kind == SUM)
                v += cell;
            else if (kind == PROD)
                v *= cell;
            else if (kind == MAX ? cell > v : cell < v)
                v = cell;
        }
        y[o] = kind == MEAN ? v / (float)n[1] : v;
    }
}

void hdk_f32_mean(const struct hdk_f32_reduce *p, const float *x, float *y)
{
    reduce(p, x, y, MEAN);
}

void hdk_f32_sum(const struct hdk_f32_reduce *p, const float *x, float *y)
{
    reduce(p, x, y, SUM);
}

void hdk_f32_reduce_max(const struct hdk_f32_reduce *p, const float *x, float *y)
{
    reduce(p, x, y, MAX);
}

void hdk_f32_reduce_min(const struct hdk_f32_reduce *p, const float *x, float *y)
{
    reduce(p, x, y, MIN);
}

void hdk_f32_reduce_prod(const struct hdk_f32_reduce *p, const float *x, float *y)
{
    reduce(p, x, y, PROD);
}

void hdk_f32_softmax(const struct hdk_f32_rows *p, const float *x, float *y)
{
    for (uint32_t row = 0; row < p->rows; row++, x += p->cols, y += p->cols) {
        float most = x[0], sum = 0;

        for (uint32_t i = 1; i < p->cols; i++)
            most = x[i] > most ? x[i] : most;
        for (uint32_t i = 0; i < p->cols; i++) {
            y[i] = hdk_f32_exp((x[i] - most) * p->beta);
            sum += y[i];
        }
        for (uint32_t i = 0; i < p->cols; i++)
            y[i] = y[i] / sum;
    }
}

void hdk_f32_log_softmax(const struct hdk_f32_rows *p, const float *x, float *y)
{
    for (uint32_t row = 0; row < p->rows; row++, x += p->cols, y += p->cols) {
        float most = x[0], sum = 0, log;

        for (uint32_t i = 1; i < p->cols; i++)
            most = x[i] > most ? x[i] : most;
        for (uint32_t i = 0; i < p->cols; i++)
            sum += hdk_f32_exp(x[i] - most);
        log = hdk_f32_log(sum);
        for (uint32_t i = 0; i < p->cols; i++)
            y[i] = x[i] - most - log;
    }
}

void hdk_f32_l2_normalization(const struct hdk_f32_rows *p, const float *x, float *y)
{
    for (uint32_t row = 0; row < p->rows; row++, x += p->cols, y += p->cols) {
        float sum = 0, root;

        for (uint32_t i = 0; i < p->cols; i++) {
            const float square = x[i] * x[i];

            sum += square;
        }
        root = hdk_f32_sqrt(sum < 1e-6f ? 1e-6f : sum);
        for (uint32_t i = 0; i < p->cols; i++)
            y[i] = x[i] / root;
    }
}

void hdk_f32_interpolate(const struct hdk_f32_interpolate *p, const float *x, float *y)
{
    for (uint32_t o = 0; o < p->outer; o++)
        for (uint32_t i = 0; i < p->n; i++)
            for (uint32_t k = 0; k < p->inner; k++) {
                float sum = 0;

                for (uint32_t t = i * p->taps; t < (i + 1) * p->taps; t++) {
                    const size_t at = (size_t)o * p->size + (size_t)p->index[t];
                    const float product = p->weight[t] * x[at * p->inner + k];

                    sum += product;
                }
                *y++ = sum;
            }
}

/* A function of each element v with the parameters p->a and p->b. */
#define UNARY(name, expr)                                                                          \
    void hdk_f32_##name(const struct hdk_f32_unary *p, const float *x, float *y)                   \
    {                                                                                              \
        for (uint32_t i = 0; i < p->n; i++) {                                                      \
            const float v = x[i];                                                                  \
            y[i] = expr;                                                                           \
        }                                                                                          \
    }

static float line(float x, float slope, float offset)
{
    const float product = x * slope;

    return hdk_f32_clamp(product + offset, 0, 1);
}

static float gelu(float v, int approximate)
{
    const float square = v * v, cube = 0.044715f * square * v;
    const float half = 0.5f * v;

    if (approximate)
        return half * (1 + hdk_f32_tanh(0.797884583f * (v + cube)));
    return half * (1 + hdk_f32_erf(v * 0.707106769f));
}

UNARY(clip, hdk_f32_clamp(v, p->a, p->b))
UNARY(leaky_relu, v < 0 ? v * p->a : v)
UNARY(hard_sigmoid, line(v, p->a, p->b))
UNARY(hard_swish, v *line(v, 1.0f / 6, 0.5f))
UNARY(logistic, hdk_f32_sigmoid(v))
UNARY(hyperbolic_tangent, hdk_f32_tanh(v))
UNARY(absolute, v < 0 ? -v : v)
UNARY(negative, -v)
UNARY(sign, v > 0 ? 1 : v < 0 ? -1 : v)
UNARY(sine, hdk_f32_sin(v))
UNARY(cosine, hdk_f32_cos(v))
UNARY(square_root, hdk_f32_sqrt(v))
UNARY(exponential, hdk_f32_exp(v))
UNARY(error_function, hdk_f32_erf(v))
UNARY(round, hdk_f32_nearest(v))
UNARY(round_down, hdk_f32_floor(v))
UNARY(round_up, hdk_f32_ceil(v))
UNARY(logarithm, hdk_f32_log(v))
UNARY(inverse_root, 1 / hdk_f32_sqrt(v))
UNARY(elu, v < 0 ? hdk_f32_expm1(v) : v)
UNARY(gelu, gelu(v, p->a != 0))
