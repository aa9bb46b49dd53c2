/* bench.c - see bench.h. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

/* Maximum sizes of a tensor on the accelerator, and maximum bytes for this machine. */
enum { MOST = 65535, MOST_BYTES = 256 << 20 };

struct layer {
    const char *op; /* of operators.def */
    uint32_t batch; /* of batch_matmul */
    uint32_t h, w, c, kh, kw, n, stride;
};

/* Read sizes such as "56x56x64" into `count` numbers. */
static bool sizes(const char *text, uint32_t *to, int count)
{
    for (int i = 0; i < count; i++) {
        char *end;
        unsigned long v = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
        if (v == 0 || v > MOST || *end != (i + 1 < count ? 'x' : '\0'))
            return false;
        to[i] = (uint32_t)v;
        text = end + 1;
    }
    return true;
}

static bool gemm_layer(const struct options *o, struct layer *l)
{
    l->op = "fully_connected";
    l->w = l->kh = l->kw = l->stride = 1;
    return o->n_argument == 3 && sizes(o->argument[0], &l->h, 1) &&
           sizes(o->argument[1], &l->c, 1) && sizes(o->argument[2], &l->n, 1);
}

static bool bmm_layer(const struct options *o, struct layer *l)
{
    l->op = "batch_matmul";
    l->kh = l->kw = l->stride = l->w = 1;
    return o->n_argument == 4 && sizes(o->argument[0], &l->batch, 1) &&
           sizes(o->argument[1], &l->h, 1) && sizes(o->argument[2], &l->c, 1) &&
           sizes(o->argument[3], &l->n, 1);
}

static bool window_layer(const struct options *o, struct layer *l, bool depthwise)
{
    uint32_t in[3], kernel[3] = {0};

    l->op = depthwise ? "depthwise_conv2d" : "conv2d";
    l->stride = 1;
    if (o->n_argument < 2 || o->n_argument > 3 || !sizes(o->argument[0], in, 3) ||
        !sizes(o->argument[1], kernel, depthwise ? 2 : 3) ||
        (o->n_argument == 3 && !sizes(o->argument[2], &l->stride, 1)))
        return false;
    l->h = in[0], l->w = in[1], l->c = in[2];
    l->kh = kernel[0], l->kw = kernel[1];
    l->n = depthwise ? l->c : kernel[2];
    return true;
}

static enum status parse(const struct options *o, struct layer *l, struct diag *d)
{
    const char *kind = o->model;
    bool good = false;

    if (strcmp(kind, "gemm") == 0)
        good = gemm_layer(o, l);
    else if (strcmp(kind, "bmm") == 0)
        good = bmm_layer(o, l);
    else if (strcmp(kind, "conv") == 0 || strcmp(kind, "depthwise") == 0)
        good = window_layer(o, l, kind[0] == 'd');
    if (!good)
        return FAIL(d, ST_USAGE,
                    "bench %s: expected gemm M K N, bmm B M K N, conv HxWxC KHxKWxN [STRIDE] or "
                    "depthwise HxWxC KHxKW [STRIDE], sizes from 1 to %d",
                    kind, MOST);
    double bytes = (double)l->h * l->w * l->c + (double)l->h * l->w * l->n +
                   (double)l->kh * l->kw * l->c * (l->op[0] == 'd' ? 1 : l->n);
    if (l->batch)
        bytes *= l->batch;
    if (bytes > MOST_BYTES)
        return FAIL(d, ST_USAGE, "bench %s: input, weights and output have %.0f bytes, at most %d",
                    kind, bytes, MOST_BYTES);
    return ST_OK;
}

/* Add weights in -127..127, as two hexadecimal digits each. */
static void add_weights(struct text *t, uint64_t n, uint64_t *state)
{
    static const char digit[] = "0123456789abcdef";

    for (uint64_t i = 0; i < n; i++) {
        uint8_t v = (uint8_t)((int)(random_next(state) % 255) - 127);
        const char pair[2] = {digit[v >> 4], digit[v & 15]};
        if (i % 48 == 0)
            text_add(t, i ? "\n  data=" : "  data=");
        text_add_n(t, pair, 2);
    }
    text_add(t, "\n");
}

static void add_bias(struct text *t, uint32_t n, uint64_t *state)
{
    for (uint32_t i = 0; i < n; i++)
        text_printf(t, "%s%d", i ? "," : "", (int)(random_next(state) % 8193) - 4096);
}

static void add_padding(struct text *t, const char *before, const char *after, uint32_t in,
                        uint32_t kernel, uint32_t stride)
{
    uint32_t out = (in + stride - 1) / stride, reach = (out - 1) * stride + kernel;
    uint32_t all = reach > in ? reach - in : 0;

    if (all / 2)
        text_printf(t, " %s=%u", before, all / 2);
    if (all - all / 2)
        text_printf(t, " %s=%u", after, all - all / 2);
}

static void add_operator(struct text *t, const struct layer *l)
{
    text_printf(t, "op %s row=0 in=(0,1,2) out=(3)", l->op);
    if (l->op[0] != 'f') {
        text_printf(t, " stride_h=%u stride_w=%u dilation_h=1 dilation_w=1", l->stride, l->stride);
        add_padding(t, "pad_top", "pad_bottom", l->h, l->kh, l->stride);
        add_padding(t, "pad_left", "pad_right", l->w, l->kw, l->stride);
        text_printf(t, " kernel_h=%u kernel_w=%u%s", l->kh, l->kw,
                    l->op[0] == 'd' ? " multiplier=1" : "");
    }
    text_add(t, "\nborder in=(0) out=(3)\n");
}

/* Return the output scale. Inputs are uniform in -128..127, weights in -127..127: products have a
 * standard deviation of about 74 * 74, sums of k of them sqrt(k) times that. The scale maps three
 * standard deviations to 127. */
static double output_scale(uint64_t k)
{
    return 0.05 * 0.01 * 74 * 74 * sqrt((double)k) * 3 / 127;
}

static void add_graph(struct text *t, const struct layer *l, const char *name, uint64_t *state)
{
    bool dense = l->op[0] == 'f', depthwise = l->op[0] == 'd';
    uint32_t oh = (l->h + l->stride - 1) / l->stride, ow = (l->w + l->stride - 1) / l->stride;
    uint64_t k = (uint64_t)l->kh * l->kw * (depthwise ? 1 : l->c);
    uint64_t macs = k * l->n * oh * ow;
    char in[48], out[48], shape[48];

    (void)snprintf(in, sizeof in, dense ? "%u,%u" : "1,%u,%u,%u", l->h, dense ? l->c : l->w, l->c);
    (void)snprintf(out, sizeof out, dense ? "%u,%u" : "1,%u,%u,%u", oh, dense ? l->n : ow, l->n);
    (void)snprintf(shape, sizeof shape, dense ? "%ux%u" : "1x%ux%ux%u", oh, dense ? l->n : ow,
                   l->n);
    text_printf(t,
                "heddle-ir 1\ngraph name=\"%s\"\n"
                "row 0 name=\"00_%s\" op=\"%s\" tensor=\"y\" shape=\"%s\" macs=%llu\n",
                name, l->op, l->op, shape, (unsigned long long)macs);
    text_printf(t, "tensor 0 i8 [%s] input name=\"x\" scale=(0.05) zero=(-1)\ntensor 1 i8 ", in);
    if (dense)
        text_printf(t, "[%u,%u]", l->n, l->c);
    else
        text_printf(t, "[%u,%u,%u,%u]", depthwise ? 1 : l->n, l->kh, l->kw, l->c);
    text_add(t, " const name=\"w\" scale=(0.01) zero=(0)\n");
    add_weights(t, k * l->n, state);
    text_printf(t, "tensor 2 i32 [%u] const name=\"b\" values=(", l->n);
    add_bias(t, l->n, state);
    text_printf(t, ")\ntensor 3 i8 [%s] value name=\"y\" scale=(%.9g) zero=(2)\n", out,
                (double)(float)output_scale(k));
    add_operator(t, l);
}

/* Add a product of two inputs. */
static void add_product(struct text *t, const struct layer *l, const char *name, bool transpose_b)
{
    text_printf(t,
                "heddle-ir 1\ngraph name=\"%s\"\n"
                "row 0 name=\"00_%s\" op=\"%s\" tensor=\"y\" shape=\"%ux%ux%u\" macs=%.0f\n",
                name, l->op, l->op, l->batch, l->h, l->n, (double)l->batch * l->h * l->c * l->n);
    text_printf(t, "tensor 0 i8 [%u,%u,%u] input name=\"a\" scale=(0.05) zero=(-1)\n", l->batch,
                l->h, l->c);
    text_printf(t, "tensor 1 i8 [%u,%u,%u] input name=\"b\" scale=(0.01) zero=(3)\n", l->batch,
                transpose_b ? l->n : l->c, transpose_b ? l->c : l->n);
    text_printf(t, "tensor 2 i8 [%u,%u,%u] value name=\"y\" scale=(%.9g) zero=(2)\n", l->batch,
                l->h, l->n, (double)(float)output_scale(l->c));
    text_printf(t, "op %s row=0 in=(0,1) out=(2)%s\nborder in=(0,1) out=(2)\n", l->op,
                transpose_b ? " adj_b=1" : "");
}

enum status bench_graph(struct arena *a, const struct options *o, struct text *ir,
                        const char **name, struct diag *d)
{
    struct layer l = {0};
    struct text t;
    uint64_t state = o->seed;

    TRY(parse(o, &l, d));
    text_init(&t, a);
    text_add(&t, o->model);
    for (uint32_t i = 0; i < o->n_argument; i++)
        text_printf(&t, " %s", o->argument[i]);
    if (o->transpose_b && !l.batch)
        return FAIL(d, ST_USAGE, "bench %s: --transpose-b is for bmm only", o->model);
    if (o->transpose_b)
        text_add(&t, " --transpose-b");
    *name = t.data;
    text_init(ir, a);
    if (l.batch)
        add_product(ir, &l, *name, o->transpose_b);
    else
        add_graph(ir, &l, *name, &state);
    return ST_OK;
}
