/* kernels_int16.c - host kernels of int16 and of windows over terms: sums as polynomials, what is made of them opaque. */
#include "kernels.h"

#include <string.h>

#include "kernels/hdk.h"
#include "walk.h"

/* --- sums of products --- */

/* A convolution of any kind. `deep`: weights [kernel_h, kernel_w, out_c], each output of one channel. */
struct windows {
    uint32_t batch, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w;
    uint32_t stride_y, stride_x, dilation_y, dilation_x;
    int32_t pad_top, pad_left, low, high;
    uint32_t part, each; /* channels that an output reads; outputs that read the same */
    bool deep;
    const struct hdk_scale *scale;
};

static struct prove_sum sum_of(const struct windows *w, const prove_uwide *x,
                               const uint32_t *weight, uint64_t i)
{
    const uint64_t oc = i % w->out_c, pixel = i / w->out_c,
                   taps = (uint64_t)w->kernel_h * w->kernel_w;
    const int64_t top = (int64_t)(pixel / w->out_w % w->out_h * w->stride_y) - w->pad_top,
                  left = (int64_t)(pixel % w->out_w * w->stride_x) - w->pad_left;
    struct prove_sum s = {0};

    x += pixel / w->out_w / w->out_h * w->in_h * w->in_w * w->in_c + oc / w->each * w->part;
    for (uint64_t k = 0; k < taps; k++) {
        const int64_t iy = top + (int64_t)(k / w->kernel_w * w->dilation_y),
                      ix = left + (int64_t)(k % w->kernel_w * w->dilation_x);

        if (iy < 0 || iy >= w->in_h || ix < 0 || ix >= w->in_w)
            continue;
        const prove_uwide *from = x + (iy * w->in_w + ix) * w->in_c;
        const uint32_t *by = weight + (w->deep ? k * w->out_c + oc : (oc * taps + k) * w->part);
        for (uint32_t c = 0; c < w->part; c++)
            prove_add_i16(&s, from[c], (int32_t)by[c] - 128);
    }
    return s;
}

/* The constant of 8 bytes at t, as it is in memory. */
static int64_t number(const uint32_t *t)
{
    uint8_t byte[8];
    int64_t v;

    for (uint32_t b = 0; b < 8; b++)
        byte[b] = (uint8_t)(t[b] - 128);
    memcpy(&v, byte, sizeof v);
    return v;
}

static bool constants(const uint32_t *t, uint64_t n)
{
    for (uint64_t i = 0; t && i < n; i++)
        if (!prove_is_constant(t[i]))
            return false;
    return true;
}

static void convolve(struct prove_package *k, const struct windows *w, void *const *arg)
{
    const uint64_t n_x = (uint64_t)w->batch * w->in_h * w->in_w * w->in_c,
                   n_w = (uint64_t)w->kernel_h * w->kernel_w * w->part * w->out_c,
                   n = (uint64_t)w->batch * w->out_h * w->out_w * w->out_c;
    const prove_uwide *x = prove_i16s(k->p, prove_read(k, arg[0], n_x * 2), n_x);
    const uint32_t *weight = prove_read(k, arg[1], n_w),
                   *bias = arg[3] ? prove_read(k, arg[3], w->out_c * UINT64_C(8)) : NULL;
    uint32_t *y = prove_write(k, arg[2], n * 2);

    if (!constants(weight, n_w) || !constants(bias, w->out_c * UINT64_C(8))) {
        prove_package_fault(k, "weights or a bias that are computed");
        return;
    }
    for (uint64_t i = 0; y && i < n; i++) {
        const uint32_t channel = (uint32_t)(i % w->out_c), at = w->scale->per_channel ? channel : 0;
        struct prove_sum s = sum_of(w, x, weight, i);

        if (bias)
            s.part[0] += number(bias + (size_t)channel * 8);
        const struct prove_sum16 by = {w->scale->narrow != 0, w->scale->multiplier[at],
                                       w->scale->shift[at], w->low, w->high};
        prove_sum16(k->p, &by, prove_value(&s), y + 2 * i);
    }
}

/* What the parameters of both convolutions have under one name. */
#define OF_LAYER(p)                                                                                \
    .batch = (p)->batch, .in_h = (p)->in_h, .in_w = (p)->in_w, .in_c = (p)->in_c,                  \
    .out_h = (p)->out_h, .out_w = (p)->out_w, .kernel_h = (p)->kernel_h,                           \
    .kernel_w = (p)->kernel_w, .stride_y = (p)->stride_y, .stride_x = (p)->stride_x,               \
    .dilation_y = (p)->dilation_y, .dilation_x = (p)->dilation_x, .pad_top = (p)->pad_top,         \
    .pad_left = (p)->pad_left, .low = (p)->act_min, .high = (p)->act_max

void prove_i16_conv2d(struct prove_package *k, const void *params, void *const *arg)
{
    const struct hdk_i16_conv2d *q = params;
    const struct hdk_conv2d *p = &q->layer;
    const struct windows w = {OF_LAYER(p), .out_c = p->out_c, .part = p->in_c / p->groups,
                              .each = p->out_c / p->groups, .scale = &q->scale};

    convolve(k, &w, arg);
}

void prove_i16_depthwise(struct prove_package *k, const void *params, void *const *arg)
{
    const struct hdk_i16_depthwise_conv2d *q = params;
    const struct hdk_depthwise_conv2d *p = &q->layer;
    const struct windows w = {OF_LAYER(p),  .out_c = p->in_c * p->depth_multiplier,
                              .part = 1,    .each = p->depth_multiplier,
                              .deep = true, .scale = &q->scale};

    convolve(k, &w, arg);
}

void prove_i16_dense(struct prove_package *k, const void *params, void *const *arg)
{
    const struct hdk_i16_fully_connected *q = params;
    const struct hdk_fully_connected *p = &q->layer;
    const struct windows w = {.batch = p->batch,
                              .in_h = 1,
                              .in_w = 1,
                              .in_c = p->in_c,
                              .out_h = 1,
                              .out_w = 1,
                              .out_c = p->out_c,
                              .kernel_h = 1,
                              .kernel_w = 1,
                              .stride_y = 1,
                              .stride_x = 1,
                              .dilation_y = 1,
                              .dilation_x = 1,
                              .low = p->act_min,
                              .high = p->act_max,
                              .part = p->in_c,
                              .each = p->out_c,
                              .scale = &q->scale};

    convolve(k, &w, arg);
}

/* --- elements --- */

/* Each element of two operands. */
static void each_pair(struct prove_package *k, const struct hdk_walk2 *w, struct prove_opaque *q,
                      const int64_t bounds[2], void *const *arg)
{
    const uint64_t n = (uint64_t)w->shape[0] * w->shape[1] * w->shape[2] * w->shape[3],
                   n_a = prove_walk_values(w->shape, w->a_stride),
                   n_b = prove_walk_values(w->shape, w->b_stride);
    const prove_uwide *a = prove_i16s(k->p, prove_read(k, arg[0], n_a * 2), n_a),
                      *b = prove_i16s(k->p, prove_read(k, arg[1], n_b * 2), n_b);
    uint32_t *y = prove_write(k, arg[2], n * 2);
    for (uint64_t e = 0; y && e < n; e++) {
        q->of[0] = a[prove_walk_at(w->shape, w->a_stride, e)];
        q->of[1] = b[prove_walk_at(w->shape, w->b_stride, e)];
        prove_pair16(k->p, q, bounds[0], bounds[1], y + 2 * e);
    }
}

void prove_i16_add(struct prove_package *k, const void *params, void *const *arg, bool subtract)
{
    const struct hdk_add *p = params;
    struct prove_opaque q = {subtract ? PROVE_SUB_16 : PROVE_ADD_16,
                             {p->multiplier_a, p->multiplier_b, p->multiplier_out, p->shift_a,
                              p->shift_b, p->shift_out, p->act_min, p->act_max},
                             {0}};

    each_pair(k, &p->walk, &q, q.parameter + 6, arg);
}

void prove_i16_mul(struct prove_package *k, const void *params, void *const *arg)
{
    const struct hdk_mul *p = params;
    struct prove_opaque q = {PROVE_MUL_16, {p->multiplier, p->shift, p->act_min, p->act_max}, {0}};

    each_pair(k, &p->walk, &q, q.parameter + 2, arg);
}

void prove_i16_extremum(struct prove_package *k, const void *params, void *const *arg, bool largest)
{
    struct prove_opaque q = {largest ? PROVE_LARGEST_16 : PROVE_SMALLEST_16, {0}, {0}};
    const int64_t bounds[2] = {INT16_MIN, INT16_MAX};

    each_pair(k, params, &q, bounds, arg); /* its walk is the first field */
}

void prove_i16_unary(struct prove_package *k, const void *params, void *const *arg)
{
    const struct hdk_i16_unary *p = params;
    const uint32_t *x = prove_read(k, arg[0], p->n * UINT64_C(2));
    uint32_t *y = prove_write(k, arg[2], p->n * UINT64_C(2));
    struct prove_opaque q = {PROVE_UNARY_16,
                             {p->absolute != 0, p->multiplier[0], p->multiplier[1], p->shift[0],
                              p->shift[1], p->act_min, p->act_max},
                             {0}};

    for (uint32_t i = 0; y && i < p->n; i++) {
        q.of[0] = prove_i16(k->p, x + (size_t)i * 2);
        prove_opaque16(k->p, &q, p->act_min, p->act_max, y + (size_t)i * 2);
    }
}

void prove_i16_pool(struct prove_package *k, const void *params, void *const *arg, bool average)
{
    const struct hdk_pool *p = params;
    const uint64_t n_x = (uint64_t)p->batch * p->in_h * p->in_w * p->channels,
                   n = (uint64_t)p->batch * p->out_h * p->out_w * p->channels;
    const size_t most = (size_t)p->kernel_h * p->kernel_w;
    const prove_uwide *x = prove_i16s(k->p, prove_read(k, arg[0], 2 * n_x), n_x);
    uint32_t *y = prove_write(k, arg[2], 2 * n), *at = ARENA_ARRAY(k->p->arena, uint32_t, n_x),
             *cell = ARENA_ARRAY(k->p->arena, uint32_t, most);
    prove_uwide *m = ARENA_ARRAY(k->p->arena, prove_uwide, most);

    if (!average && (p->act_min > INT16_MIN || p->act_max < INT16_MAX)) {
        prove_package_fault(k, "a max pool of int16 with a clamp");
        return;
    }
    for (uint64_t i = 0; i < n_x; i++)
        at[i] = (uint32_t)i;
    for (uint64_t e = 0; y && e < n; e++) {
        const uint32_t cells = prove_pool_cells(p, at, e, cell);

        for (uint32_t i = 0; i < cells; i++)
            m[i] = x[cell[i]];
        if (average)
            prove_average16(k->p, m, cells, p->act_min, p->act_max, y + 2 * e);
        else
            prove_extremum16(k->p, PROVE_LARGEST_16, m, cells, y + 2 * e);
    }
}

void prove_i16_sigmoid(struct prove_package *k, const void *params, void *const *arg, bool tanh)
{
    const struct hdk_i16_sigmoid *p = params;
    const uint32_t *x = prove_read(k, arg[0], p->n * UINT64_C(2));
    uint32_t *y = prove_write(k, arg[2], p->n * UINT64_C(2));
    int16_t *table = ARENA_ARRAY(k->p->arena, int16_t, PROVE_CODES_16);
    struct hdk_i16_sigmoid all = *p;
    struct prove_opaque q;

    all.n = PROVE_CODES_16;
    for (int32_t i = 0; i < PROVE_CODES_16; i++)
        table[i] = (int16_t)(i - PROVE_CODES_16 / 2);
    (tanh ? hdk_i16_tanh : hdk_i16_logistic)(&all, table, table);
    prove_table16(k->p, table, &q);
    for (uint32_t i = 0; y && i < p->n; i++) {
        q.of[0] = prove_i16(k->p, x + (size_t)i * 2);
        prove_tabled16(k->p, &q, y + (size_t)i * 2);
    }
}

void prove_i16_to_int8(struct prove_package *k, const void *params, void *const *arg)
{
    const struct hdk_requantize *p = params;
    const uint32_t *x = prove_read(k, arg[0], p->n * UINT64_C(2));
    uint32_t *y = prove_write(k, arg[2], p->n);
    struct prove_narrow16 by;

    prove_narrow_by(k->p, p->multiplier, p->shift,
                    (const int32_t[]){p->z_out, p->act_min, p->act_max}, &by);
    for (uint32_t i = 0; y && i < p->n; i++)
        y[i] = prove_narrow(k->p, &by, prove_i16(k->p, x + (size_t)i * 2));
}

void prove_i16_mean(struct prove_package *k, const void *params, void *const *arg)
{
    const struct hdk_mean *p = params;
    const uint64_t all = (uint64_t)p->shape[0] * p->shape[1] * p->shape[2] * p->shape[3],
                   n = prove_mean_cells(p);
    const struct prove_sum16 by = {true, p->multiplier, p->shift, p->act_min, p->act_max};

    const uint32_t *x = prove_read(k, arg[0], all * 2);
    struct prove_sum *sum = ARENA_ARRAY(k->p->arena, struct prove_sum, n);
    uint32_t *y = prove_write(k, arg[2], n * 2);
    for (uint64_t e = 0; e < all; e++)
        prove_add_i16(&sum[prove_mean_cell(p, e)], prove_i16(k->p, x + 2 * e), 1);
    for (uint64_t e = 0; y && e < n; e++)
        prove_sum16(k->p, &by, prove_value(&sum[e]), y + 2 * e);
}

/* --- bytes, and sums of bytes --- */

void prove_byte_of(struct prove_package *k, const void *params, void *const *arg)
{
    const struct hdk_byte_of *p = params;
    const uint32_t *x = prove_read(k, arg[0], p->n * UINT64_C(2));
    uint32_t *y = prove_write(k, arg[2], p->n);

    for (uint32_t i = 0; y && i < p->n; i++)
        y[i] = p->high ? x[(size_t)i * 2 + 1] : prove_flip(k->p, x[(size_t)i * 2]);
}

void prove_halves(struct prove_package *k, const void *params, void *const *arg, bool splits)
{
    const struct hdk_halves *p = params;
    const uint64_t n = (uint64_t)p->rows * p->n;
    const uint32_t *x = prove_read(k, arg[0], 2 * n);
    uint32_t *y = prove_write(k, arg[2], 2 * n);

    for (uint64_t i = 0; y && i < n; i++) {
        const uint64_t upper = i / p->n * 2 * p->n + i % p->n, lower = upper + p->n;

        if (splits) {
            y[upper] = x[2 * i + 1];
            y[lower] = prove_flip(k->p, x[2 * i]);
        } else {
            y[2 * i + 1] = x[upper];
            y[2 * i] = prove_flip(k->p, x[lower]);
        }
    }
}

/* Add factor times the sum whose n digits begin at x, `each` apart. */
static void add_digits(struct prove_sum *s, const struct prove *p, const uint32_t *x, uint32_t each,
                       uint32_t n, int64_t factor)
{
    for (uint32_t i = 0; i < n; i++)
        prove_add(s, p, x[(size_t)i * each], 0, factor << 7 * i);
}

void prove_join_wide(struct prove_package *k, const void *params, void *const *arg)
{
    const struct hdk_join_wide *p = params;
    const uint64_t n = (uint64_t)p->pixels * p->out_c,
                   blocks = p->each ? (p->out_c + p->each - 1) / p->each : 0,
                   all = blocks * p->each * p->pixels;
    const uint32_t *upper = prove_read(k, arg[0], all * p->digits_upper),
                   *lower = prove_read(k, arg[1], all * p->digits_lower),
                   *bias = arg[3] ? prove_read(k, arg[3], p->out_c * UINT64_C(8)) : NULL;
    uint32_t *y = prove_write(k, arg[2], n * 2);

    if (!constants(bias, p->out_c * UINT64_C(8)) || p->digits_upper > 4 || p->digits_lower > 4 ||
        !p->each) {
        prove_package_fault(k, "a bias that is computed, or more than 4 digits");
        return;
    }
    for (uint64_t i = 0; y && i < n; i++) {
        const uint32_t channel = (uint32_t)(i % p->out_c), in = channel % p->each,
                       at = p->scale.per_channel ? channel : 0;
        const uint64_t block = (i / p->out_c * blocks + channel / p->each) * p->each;
        struct prove_sum s = {0};

        add_digits(&s, k->p, upper + block * p->digits_upper + in, p->each, p->digits_upper, 256);
        add_digits(&s, k->p, lower + block * p->digits_lower + in, p->each, p->digits_lower, 1);
        if (bias)
            s.part[0] += number(bias + (size_t)channel * 8);
        const struct prove_sum16 by = {p->scale.narrow != 0, p->scale.multiplier[at],
                                       p->scale.shift[at], p->act_min, p->act_max};
        prove_sum16(k->p, &by, prove_value(&s), y + 2 * i);
    }
}

/* Number of row (column) i of n among the taps. */
static uint64_t tap_of(uint64_t i, uint64_t n, uint64_t before, uint64_t after)
{
    return i < before ? i : i + after < n ? before : before + 1 + i + after - n;
}

void prove_join_digits(struct prove_package *k, const void *params, void *const *arg)
{
    const struct hdk_join_digits *p = params;
    const uint64_t pixels = (uint64_t)p->batch * p->out_h * p->out_w, n = pixels * p->out_c,
                   blocks = p->each ? (p->out_c + p->each - 1) / p->each : 0,
                   all = blocks * p->each * pixels * p->digits;
    const uint32_t *x = prove_read(k, arg[0], all), *zero = prove_read(k, arg[1], p->zeros);
    uint32_t *y = prove_write(k, arg[2], n * 4);

    if (p->digits > 4 || !p->each || !p->zeros || pixels % p->zeros) {
        prove_package_fault(k, "sums of more than 4 digits");
        return;
    }
    for (uint64_t i = 0; y && i < n; i++) {
        const uint64_t channel = i % p->out_c, pixel = i / p->out_c,
                       row = tap_of(pixel / p->out_w % p->out_h, p->out_h, p->top, p->bottom),
                       column = tap_of(pixel % p->out_w, p->out_w, p->left, p->right),
                       block = (pixel * blocks + channel / p->each) * p->each * p->digits;
        const int32_t tap = p->taps[(row * (p->left + 1 + p->right) + column) * p->out_c + channel];
        struct prove_sum s = {0};

        add_digits(&s, k->p, x + block + channel % p->each, p->each, p->digits, 1);
        prove_add(&s, k->p, zero[pixel / (pixels / p->zeros)], -p->z_in, -(int64_t)tap);
        prove_sum32(k->p, &s, y + 4 * i);
    }
}
