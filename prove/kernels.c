/* kernels.c - host kernels over terms. Kernels of one byte or of two are called themselves, for all
 * bytes, and their results are the function; movers are written out. */
#include "kernels.h"

#include <string.h>

#include "compared.h"
#include "kernels/hdk.h"
#include "walk.h"

struct call {
    struct prove_package *k;
    const char *name;
    const void *p;
    void *const *arg; /* x, b, y, bias */
};

static uint64_t product(const uint32_t *n, uint32_t count)
{
    uint64_t all = 1;

    for (uint32_t i = 0; i < count; i++)
        all *= n[i];
    return all;
}

/* --- movers --- */

static void copy(const struct call *c)
{
    const struct hdk_copy *p = c->p;
    const uint32_t *x = prove_read(c->k, c->arg[0], p->n_bytes);
    uint32_t *y = prove_write(c->k, c->arg[2], p->n_bytes);

    if (y)
        memmove(y, x, p->n_bytes * sizeof *y);
}

/* Bytes of the lowest and beyond the highest element that a transpose reads, from x on. */
static void reach(const struct hdk_transpose *p, int64_t *low, int64_t *high)
{
    *low = *high = p->offset;
    for (uint32_t i = 0; i < HDK_DIMS; i++) {
        const int64_t last = (int64_t)(p->shape[i] - 1) * p->stride[i];

        *(last < 0 ? low : high) += last;
    }
    *high += p->element_bytes;
}

static void transpose(const struct call *c)
{
    const struct hdk_transpose *p = c->p;
    const uint64_t n = product(p->shape, HDK_DIMS);
    int64_t low, high;

    reach(p, &low, &high);
    const uint32_t *x = prove_read(c->k, (const uint8_t *)c->arg[0] + low, (uint64_t)(high - low));
    uint32_t *y = prove_write(c->k, c->arg[2], n * p->element_bytes);
    for (uint64_t e = 0; y && e < n; e++) {
        int64_t at = p->offset - low;
        uint64_t rest = e;

        for (uint32_t i = HDK_DIMS; i-- > 0; rest /= p->shape[i])
            at += (int64_t)(rest % p->shape[i]) * p->stride[i];
        for (uint32_t b = 0; b < p->element_bytes; b++)
            y[e * p->element_bytes + b] = x[at + b];
    }
}

static void pad(const struct call *c)
{
    const struct hdk_pad *p = c->p;
    const uint32_t width = p->element_bytes;
    uint32_t to[HDK_DIMS];

    for (uint32_t i = 0; i < HDK_DIMS; i++)
        to[i] = p->before[i] + p->shape[i] + p->after[i];
    const uint64_t n = product(to, HDK_DIMS);
    const uint32_t *x = prove_read(c->k, c->arg[0], product(p->shape, HDK_DIMS) * width);
    uint32_t *y = prove_write(c->k, c->arg[2], n * width);
    for (uint64_t e = 0; y && e < n; e++) {
        uint64_t rest = e, from = 0, step = 1;
        bool inside = true;

        for (uint32_t i = HDK_DIMS; i-- > 0; rest /= to[i]) {
            const uint64_t at = rest % to[i];

            inside = inside && at >= p->before[i] && at < p->before[i] + p->shape[i];
            from += inside ? (at - p->before[i]) * step : 0;
            step *= p->shape[i];
        }
        for (uint32_t b = 0; b < width; b++)
            y[e * width + b] =
                inside ? x[from * width + b] : prove_constant((int8_t)(uint8_t)(p->value >> 8 * b));
    }
}

static void concat(const struct call *c)
{
    const struct hdk_concat *p = c->p;
    const void *const *x = c->arg[0];
    uint64_t row = 0, at = 0;

    for (uint32_t i = 0; i < p->n_inputs; i++)
        row += p->bytes[i];
    uint32_t *y = prove_write(c->k, c->arg[2], row * p->outer);
    for (uint32_t i = 0; y && i < p->n_inputs; at += p->bytes[i], i++) {
        const uint32_t *from = prove_read(c->k, x[i], (uint64_t)p->outer * p->bytes[i]);

        for (uint32_t o = 0; o < p->outer; o++)
            memmove(y + o * row + at, from + (uint64_t)o * p->bytes[i], p->bytes[i] * sizeof *y);
    }
}

/* The indices must be constants: otherwise the rule is missing. */
static void gather(const struct call *c)
{
    const struct hdk_gather *p = c->p;
    const uint32_t width = p->wide ? 8 : 4;
    const uint64_t all = (uint64_t)p->batch * p->n;
    const uint32_t *index = prove_read(c->k, c->arg[1], all * width),
                   *x = prove_read(c->k, c->arg[0],
                                   (uint64_t)p->batch * p->outer * p->size * p->inner_bytes);
    uint32_t *y = prove_write(c->k, c->arg[2], all * p->outer * p->inner_bytes);

    for (uint64_t e = 0; y && e < all * p->outer; e++) {
        const uint64_t batch = e / p->n / p->outer, i = batch * p->n + e % p->n;
        uint64_t v = 0;
        bool known = true;

        for (uint32_t b = 0; b < width; b++) {
            const uint32_t t = index[i * width + b];
            known = known && prove_is_constant(t);
            v |= (uint64_t)(uint8_t)(t - 128) << 8 * b;
        }
        int64_t at = p->wide ? (int64_t)v : (int32_t)(uint32_t)v;
        at += at < 0 ? p->size : 0;
        at = at < 0 ? 0 : at >= p->size ? p->size - 1 : at;
        const uint64_t from = (e / p->n * p->size + (uint64_t)at) * p->inner_bytes;
        for (uint32_t b = 0; b < p->inner_bytes; b++)
            y[e * p->inner_bytes + b] =
                known ? x[from + b] : prove_unknown(c->k->p, "gather by computed indices");
    }
}

/* --- one byte --- */

static void by_table(const struct call *c, const int8_t *table, uint32_t channels, uint32_t n)
{
    const uint32_t *x = prove_read(c->k, c->arg[0], n);
    uint32_t *y = prove_write(c->k, c->arg[2], n);

    for (uint32_t i = 0; y && i < n; i++)
        y[i] = prove_table(c->k->p, table + (size_t)(i % channels) * 256, x[i]);
}

static void flip(const struct call *c)
{
    int8_t table[256];

    for (int32_t v = -128; v < 128; v++)
        table[v + 128] = (int8_t)(v < 0 ? v + 128 : v - 128);
    by_table(c, table, 1, ((const struct hdk_flip *)c->p)->n);
}

static void lut(const struct call *c)
{
    const struct hdk_lut *p = c->p;

    by_table(c, p->table, p->channels, p->n);
}

static void all_bytes(int8_t x[256])
{
    for (int32_t v = -128; v < 128; v++)
        x[v + 128] = (int8_t)v;
}

static void requantize(const struct call *c)
{
    struct hdk_requantize p = *(const struct hdk_requantize *)c->p;
    const uint32_t n = p.n;
    int8_t x[256], y[256];

    p.n = 256;
    all_bytes(x);
    hdk_requantize(&p, x, y);
    by_table(c, y, 1, n);
}

/* n results of `wide` bytes, each a function of the byte that is read. of: these bytes, for each that all_bytes has. */
static void bytes_by_table(const struct call *c, const void *of, uint32_t wide, uint32_t n)
{
    const uint32_t *x = prove_read(c->k, c->arg[0], n);
    uint32_t *y = prove_write(c->k, c->arg[2], (uint64_t)n * wide);
    const int8_t *byte = of;
    int8_t table[4][256];

    for (uint32_t i = 0; i < 256 * wide; i++)
        table[i % wide][i / wide] = byte[i];
    for (uint32_t i = 0; y && i < n * wide; i++)
        y[i] = prove_table(c->k->p, table[i % wide], x[i / wide]);
}

static void dequantize(const struct call *c)
{
    struct hdk_dequantize p = *(const struct hdk_dequantize *)c->p;
    const uint32_t n = p.n;
    int8_t from[256];
    float to[256];

    p.n = 256;
    all_bytes(from);
    hdk_dequantize(&p, from, to);
    bytes_by_table(c, to, sizeof *to, n);
}

/* Return true for int16 without a zero point, and int8. */
static bool is_plain(const struct call *c, int32_t zero)
{
    const struct hdk_requantize *p = c->p;

    if (!p->flip_in && !p->flip_out && !zero)
        return true;
    prove_package_fault(c->k, "int16 of a uint8, or with a zero point");
    return false;
}

static void i8_to_int16(const struct call *c)
{
    struct hdk_requantize p = *(const struct hdk_requantize *)c->p;
    const uint32_t n = p.n;
    int8_t from[256];
    int16_t to[256];

    if (!is_plain(c, p.z_out))
        return;
    p.n = 256;
    all_bytes(from);
    hdk_i8_to_int16(&p, from, to);
    bytes_by_table(c, to, sizeof *to, n);
}

/* The four bytes of a float, its scale and zero point. */
static void quantize(const struct call *c)
{
    const struct hdk_quantize *p = c->p;
    const uint32_t *x = prove_read(c->k, c->arg[0], (uint64_t)p->n * 4);
    uint32_t *y = prove_write(c->k, c->arg[2], p->n);

    for (uint32_t i = 0; y && i < p->n; i++) {
        y[i] = prove_quantize(c->k->p, x + (size_t)i * 4, p->scale, p->zero);
        if (p->flip)
            y[i] = prove_flip(c->k->p, y[i]);
    }
}

/* --- two bytes --- */

static void all_pairs(int8_t *a, int8_t *b)
{
    for (uint32_t i = 0; i < 65536; i++) {
        a[i] = (int8_t)(i / 256 - 128);
        b[i] = (int8_t)(i % 256 - 128);
    }
}

static const struct hdk_walk2 flat = {{1, 1, 1, 65536}, {1, 1, 1, 1}, {1, 1, 1, 1}};

/* y = f(a, b) for all pairs of bytes. */
static bool pairs(const struct call *c, const int8_t *a, const int8_t *b, int8_t *y)
{
    struct hdk_add add;
    struct hdk_mul mul;
    struct hdk_extremum extremum;

    if (strcmp(c->name, "mul") == 0) {
        mul = *(const struct hdk_mul *)c->p;
        mul.walk = flat;
        hdk_mul(&mul, a, b, y);
    } else if (strcmp(c->name, "maximum") == 0 || strcmp(c->name, "minimum") == 0) {
        extremum = *(const struct hdk_extremum *)c->p;
        extremum.walk = flat;
        (c->name[1] == 'a' ? hdk_maximum : hdk_minimum)(&extremum, a, b, y);
    } else {
        add = *(const struct hdk_add *)c->p;
        add.walk = flat;
        (strcmp(c->name, "add") == 0 ? hdk_add : hdk_sub)(&add, a, b, y);
    }
    return true;
}

static void binary(const struct call *c)
{
    struct arena *m = c->k->p->arena;
    const struct hdk_walk2 *w = c->p; /* the first field of each */
    int8_t *a = arena_alloc(m, 65536), *b = arena_alloc(m, 65536), *t = arena_alloc(m, 65536);
    const uint64_t n = product(w->shape, 4);

    all_pairs(a, b);
    (void)pairs(c, a, b, t);
    const uint32_t *x = prove_read(c->k, c->arg[0], prove_walk_values(w->shape, w->a_stride)),
                   *o = prove_read(c->k, c->arg[1], prove_walk_values(w->shape, w->b_stride));
    uint32_t *y = prove_write(c->k, c->arg[2], n), *made = ARENA_ARRAY(m, uint32_t, n);
    for (uint64_t e = 0; y && e < n; e++)
        made[e] = prove_pair(c->k->p, t, x[prove_walk_at(w->shape, w->a_stride, e)],
                             o[prove_walk_at(w->shape, w->b_stride, e)]);
    if (y)
        memcpy(y, made, n * sizeof *y);
}

/* --- windows and rows --- */

static void pool(const struct call *c)
{
    const struct hdk_pool *p = c->p;
    const bool average = strcmp(c->name, "avg_pool") == 0;
    const uint32_t *x =
        prove_read(c->k, c->arg[0], (uint64_t)p->batch * p->in_h * p->in_w * p->channels);
    const uint64_t n = (uint64_t)p->batch * p->out_h * p->out_w * p->channels;
    uint32_t *y = prove_write(c->k, c->arg[2], n), *cell;
    struct prove *v = c->k->p;

    cell = ARENA_ARRAY(v->arena, uint32_t, (size_t)p->kernel_h * p->kernel_w);
    for (uint64_t e = 0; y && e < n; e++) {
        const uint32_t cells = prove_pool_cells(p, x, e, cell);

        if (average)
            y[e] = prove_mean_of(v, cell, cells, p->round_up, p->act_min, p->act_max);
        else
            y[e] = prove_most_of(v, cell, cells, p->act_min, p->act_max);
    }
}

static void mean(const struct call *c)
{
    const struct hdk_mean *p = c->p;
    const uint64_t all = product(p->shape, 4), n = prove_mean_cells(p);
    const uint32_t *x = prove_read(c->k, c->arg[0], all);
    uint32_t *y = prove_write(c->k, c->arg[2], n);
    struct prove_sum *sum = ARENA_ARRAY(c->k->p->arena, struct prove_sum, n);

    for (uint64_t e = 0; e < all; e++)
        prove_add(&sum[prove_mean_cell(p, e)], c->k->p, x[e], -p->z_in, 1);
    for (uint64_t e = 0; y && e < n; e++)
        y[e] = prove_requantise(c->k->p, &sum[e], p->multiplier, p->shift, p->z_out, p->act_min,
                                p->act_max);
}

static void softmax(const struct call *c)
{
    const struct hdk_softmax *p = c->p;
    const uint64_t n = (uint64_t)p->rows * p->cols;
    const uint32_t *x = prove_read(c->k, c->arg[0], n);
    uint32_t *y = prove_write(c->k, c->arg[2], n);
    int32_t e[256];

    for (int32_t i = 0; i < 256; i++)
        e[(256 - i) % 256] = hdk_softmax_exp(p, -i);
    for (uint32_t row = 0; y && row < p->rows; row++)
        prove_softmax(c->k->p, e, x + (size_t)row * p->cols, p->cols, y + (size_t)row * p->cols);
}

static void transpose_conv(const struct call *c)
{
    prove_transpose_conv(c->k, c->p, c->arg);
}

/* --- int16 --- */

#define INT16(rule)                                                                                \
    static void i16_##rule(const struct call *c)                                                   \
    {                                                                                              \
        prove_i16_##rule(c->k, c->p, c->arg);                                                      \
    }
INT16(conv2d)
INT16(depthwise)
INT16(dense)
INT16(mul)
INT16(unary)
INT16(mean)

static void byte_of(const struct call *c)
{
    prove_byte_of(c->k, c->p, c->arg);
}

static void halves(const struct call *c)
{
    prove_halves(c->k, c->p, c->arg, strcmp(c->name, "split_halves") == 0);
}

static void join_wide(const struct call *c)
{
    prove_join_wide(c->k, c->p, c->arg);
}

static void join_digits(const struct call *c)
{
    prove_join_digits(c->k, c->p, c->arg);
}

static void i16_sigmoid(const struct call *c)
{
    prove_i16_sigmoid(c->k, c->p, c->arg, strcmp(c->name, "i16_tanh") == 0);
}

static void i16_sum(const struct call *c)
{
    prove_i16_add(c->k, c->p, c->arg, strcmp(c->name, "i16_sub") == 0);
}

static void i16_pool(const struct call *c)
{
    prove_i16_pool(c->k, c->p, c->arg, strcmp(c->name, "i16_avg_pool") == 0);
}

static void i16_extremum(const struct call *c)
{
    prove_i16_extremum(c->k, c->p, c->arg, strcmp(c->name, "i16_maximum") == 0);
}

static void i16_to_int8(const struct call *c)
{
    const struct hdk_requantize *p = c->p;

    if (is_plain(c, p->z_in))
        prove_i16_to_int8(c->k, p, c->arg);
}

static const struct {
    const char *name;
    void (*model)(const struct call *c);
} models[] = {
    {"copy", copy},
    {"transpose", transpose},
    {"pad", pad},
    {"concat", concat},
    {"gather", gather},
    {"flip", flip},
    {"lut", lut},
    {"requantize", requantize},
    {"dequantize", dequantize},
    {"quantize", quantize},
    {"add", binary},
    {"sub", binary},
    {"mul", binary},
    {"maximum", binary},
    {"minimum", binary},
    {"avg_pool", pool},
    {"max_pool", pool},
    {"mean", mean},
    {"softmax", softmax},
    {"transpose_conv", transpose_conv},
    {"i16_conv2d", i16_conv2d},
    {"i16_depthwise_conv2d", i16_depthwise},
    {"i16_fully_connected", i16_dense},
    {"i16_add", i16_sum},
    {"i16_sub", i16_sum},
    {"i16_mul", i16_mul},
    {"i16_maximum", i16_extremum},
    {"i16_minimum", i16_extremum},
    {"i16_avg_pool", i16_pool},
    {"i16_max_pool", i16_pool},
    {"i16_unary", i16_unary},
    {"i16_logistic", i16_sigmoid},
    {"i16_tanh", i16_sigmoid},
    {"i16_to_int8", i16_to_int8},
    {"i8_to_int16", i8_to_int16},
    {"i16_mean", i16_mean},
    {"byte_of", byte_of},
    {"split_halves", halves},
    {"join_halves", halves},
    {"join_wide", join_wide},
    {"join_digits", join_digits},
};

void prove_kernel_call(void *ctx, const char *name, const void *p, void *const *arg)
{
    struct prove_package *k = ctx;
    const struct call c = {k, name, p, arg};

    if (k->trial)
        return;
    k->n_call++;
    for (uint32_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].name, name) == 0) {
            models[i].model(&c);
            return;
        }
    if (!prove_compared(k, name, p, arg))
        prove_package_fault(
            k, arena_printf(k->p->arena, "no rule for kernel hdk_%s, and no operator alike", name));
}
