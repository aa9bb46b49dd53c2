/* onnx_taps.c - convolutions and pools that the IR has no operator for. Computed weights, and pools of
 * three dimensions: one slice of the padded input for each cell of the window, summed or compared.
 * Constant weights of three dimensions: depth as batch, its cells of the window as channels. */
#include "compiler/import/onnx/rewrites/onnx_rewrites.h"

#include <string.h>

enum { MAX_TAPS = 1024, MOST_CELLS = 256 };

struct taps {
    uint32_t n; /* spatial dimensions */
    int64_t kernel[4], stride[4], dilation[4], before[4], after[4], out[4], count;
    int64_t end[4]; /* of the padded input, without what ceil_mode adds */
};

static enum status sizes(struct ox *m, const char *name, uint32_t n, int64_t otherwise,
                         int64_t *value)
{
    const Onnx__AttributeProto *a = ox_attr(m, name);

    if (a && a->n_ints != 0 && a->n_ints != n)
        return FAIL(m->d, ST_MODEL, "attribute %s: expected %u numbers, found %zu", name, n,
                    a->n_ints);
    for (uint32_t i = 0; i < n; i++) {
        value[i] = a && a->n_ints ? a->ints[i] : otherwise;
        if (value[i] < 0 || value[i] > 1 << 20)
            return FAIL(m->d, ST_UNSUPPORTED, "attribute %s: expected 0 to 1048576, found %lld",
                        name, (long long)value[i]);
    }
    return ST_OK;
}

/* The window of the node's attributes over input 0; t->kernel is set. */
static enum status read_window(struct ox *m, struct taps *t)
{
    const char *mode = ox_attr_text(m, "auto_pad", "NOTSET");
    const bool upper = strcmp(mode, "SAME_UPPER") == 0, ceil = ox_attr_int(m, "ceil_mode", 0) != 0;
    const int32_t *x = ox_dim(m, ox_in(m, 0)) + 2;
    int64_t pads[8];

    TRY(sizes(m, "strides", t->n, 1, t->stride));
    TRY(sizes(m, "dilations", t->n, 1, t->dilation));
    TRY(sizes(m, "pads", 2 * t->n, 0, pads));
    t->count = 1;
    for (uint32_t i = 0; i < t->n; i++) {
        const int64_t span = (t->kernel[i] - 1) * t->dilation[i] + 1;
        int64_t room, fill;

        if (t->kernel[i] < 1 || t->stride[i] < 1 || t->dilation[i] < 1)
            return FAIL(m->d, ST_MODEL, "window: expected sizes of at least 1");
        t->before[i] = pads[i];
        t->after[i] = pads[t->n + i];
        if (upper || strcmp(mode, "SAME_LOWER") == 0) {
            fill = ((x[i] + t->stride[i] - 1) / t->stride[i] - 1) * t->stride[i] + span - x[i];
            fill = fill < 0 ? 0 : fill;
            t->before[i] = upper ? fill / 2 : fill - fill / 2;
            t->after[i] = fill - t->before[i];
        }
        t->end[i] = x[i] + t->after[i];
        room = x[i] + t->before[i] + t->after[i] - span;
        if (room < 0)
            return FAIL(m->d, ST_MODEL, "axis %u: the window of %lld does not fit", i + 2,
                        (long long)span);
        t->out[i] = room / t->stride[i] + 1;
        if (ceil && room % t->stride[i] != 0 && t->out[i] * t->stride[i] < x[i] + t->before[i]) {
            t->after[i] += t->stride[i] - room % t->stride[i];
            t->out[i]++;
        }
        t->count *= t->kernel[i];
    }
    if (t->count > MAX_TAPS)
        return FAIL(m->d, ST_UNSUPPORTED, "window of %lld cells: expected at most %d",
                    (long long)t->count, MAX_TAPS);
    return ST_OK;
}

/* Pads of the input, outermost dimension first. */
static const char *pad_list(struct ox *m, const struct taps *t, const int64_t *after)
{
    int64_t pads[2 * IR_MAX_RANK] = {0};

    for (uint32_t i = 0; i < t->n; i++) {
        pads[i + 2] = t->before[i];
        pads[t->n + 2 + i + 2] = after[i];
    }
    return ox_list(m, 2 * t->n + 4, pads);
}

/* "padded", and a slice "x_k" of it for each cell. */
static void slices(struct ox *m, const struct taps *t, const char *fill, struct text *text)
{
    int64_t axes[4], from[4], to[4];

    for (uint32_t i = 0; i < t->n; i++)
        axes[i] = i + 2;
    text_printf(text, "padded = Pad($0, %s, %s);", pad_list(m, t, t->after), fill);
    for (int64_t k = 0; k < t->count; k++) {
        int64_t rest = k;

        for (uint32_t i = t->n; i-- > 0; rest /= t->kernel[i]) {
            from[i] = rest % t->kernel[i] * t->dilation[i];
            to[i] = from[i] + (t->out[i] - 1) * t->stride[i] + 1;
        }
        text_printf(text, "x_%lld = Slice(padded, %s, %s, %s, %s);", (long long)k,
                    ox_list(m, t->n, from), ox_list(m, t->n, to), ox_list(m, t->n, axes),
                    ox_list(m, t->n, t->stride));
    }
}

/* Constant "depths": for each output depth, the depths of the padded input under its window. */
static void depth_places(struct ox *m, const struct taps *t)
{
    const int32_t n = (int32_t)(t->out[0] * t->kernel[0]);
    struct ox_const c;
    int64_t *place = ox_new_const(m, &c, OX_INT64, 1, &n);

    for (int64_t i = 0; i < n; i++)
        place[i] = i / t->kernel[0] * t->stride[0] + i % t->kernel[0] * t->dilation[0];
    ox_inner_const(m, "depths", &c);
}

enum status ox_conv_depths(struct ox *m)
{
    const bool qlinear = strcmp(m->op, "QLinearConv") == 0;
    const bool integer = strcmp(m->op, "ConvInteger") == 0;
    const struct ox_value *x = ox_in(m, 0), *w = ox_in(m, qlinear ? 3 : 1);
    const long long group = ox_attr_int(m, "group", 1);
    const int32_t *dim = ox_dim(m, x), *of = w ? ox_dim(m, w) : NULL;
    struct taps t = {.n = 3};
    struct text text;

    if (!w || ox_rank(m, w) != 5 || group < 1 || dim[1] % group != 0 || of[1] != dim[1] / group)
        return FAIL(m->d, ST_MODEL, "weights: expected 5 dimensions for input %s, %lld groups",
                    ir_shape_text(m->arena, 5, dim), group);
    for (uint32_t i = 0; i < 3; i++)
        t.kernel[i] = of[i + 2];
    TRY(read_window(m, &t));
    depth_places(m, &t);
    text_init(&text, m->arena);
    text_printf(&text,
                "s = Reshape($0, [%d,%d,%d,-1]); p = Pad(s, [0,0,%lld,0,0,0,%lld,0], %s);"
                "g = Gather(p, depths; axis=2);"
                "r = Reshape(g, [%d,%d,%lld,%lld,%lld]); t = Transpose(r; perm=[0,2,1,3,4]);"
                "f = Reshape(t, [%lld,%lld,%d,%d]); w = Reshape($%d, [%d,%lld,%d,%d]);",
                dim[0], dim[1], dim[2], (long long)t.before[0], (long long)t.after[0],
                qlinear || (integer && ox_in(m, 2)) ? "$2"
                : integer                           ? ""
                                                    : "0.0",
                dim[0], dim[1], (long long)t.out[0], (long long)t.kernel[0],
                (long long)dim[3] * dim[4], (long long)dim[0] * t.out[0],
                (long long)dim[1] * t.kernel[0], dim[3], dim[4], qlinear ? 3 : 1, of[0],
                (long long)of[1] * t.kernel[0], of[3], of[4]);
    text_printf(&text, qlinear   ? "y = QLinearConv(f, $1, $2, w, $4, $5, $6, $7, $8;"
                       : integer ? "y = ConvInteger(f, w, $2, $3;"
                                 : "y = Conv(f, w, $2;");
    text_printf(&text, "group=%lld, strides=%s, dilations=%s, pads=[%lld,%lld,%lld,%lld]);", group,
                ox_list(m, 2, t.stride + 1), ox_list(m, 2, t.dilation + 1), (long long)t.before[1],
                (long long)t.before[2], (long long)t.after[1], (long long)t.after[2]);
    text_printf(&text,
                "u = Reshape(%s, [%d,%lld,%d,%lld]); v = Transpose(u; perm=[0,2,1,3]);"
                "%%0 = Reshape(v, [%d,%d,%lld,%lld,%lld])",
                qlinear || integer ? "y" : ox_quantise_inside(m, &text, "y"), dim[0],
                (long long)t.out[0], of[0], (long long)(t.out[1] * t.out[2]), dim[0], of[0],
                (long long)t.out[0], (long long)t.out[1], (long long)t.out[2]);
    return ox_expand(m, text.data);
}

/* Pads that the average counts become a Pad; what ceil_mode adds stays outside. */
enum status ox_pool_counted(struct ox *m)
{
    struct taps t = {.n = ox_rank(m, ox_in(m, 0)) - 2};
    int64_t pads[8] = {0}, counted[4];

    TRY(sizes(m, "kernel_shape", t.n, 0, t.kernel));
    TRY(read_window(m, &t));
    for (uint32_t i = 0; i < t.n; i++) {
        counted[i] = t.end[i] - ox_dim(m, ox_in(m, 0))[i + 2];
        pads[t.n + i] = t.after[i] - counted[i];
    }
    return ox_expandf(m,
                      "p = Pad($0, %s, 0.0); %%0 = AveragePool(p; kernel_shape=@kernel_shape,"
                      "strides=@strides, pads=%s)",
                      pad_list(m, &t, counted), ox_list(m, 2 * t.n, pads));
}

enum status ox_conv_taps(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0), *w = ox_in(m, 1);
    const int64_t group = ox_attr_int(m, "group", 1);
    int64_t pixels = 1, y[IR_MAX_RANK];
    struct taps t = {.n = ox_rank(m, ox_in(m, 0)) - 2};
    struct text text;
    int32_t c, oc;

    if (!w || ox_rank(m, w) != t.n + 2 || group < 1 || ox_dim(m, x)[1] % group != 0 ||
        ox_dim(m, w)[0] % group != 0 || ox_dim(m, w)[1] != ox_dim(m, x)[1] / group)
        return FAIL(m->d, ST_MODEL, "weights and group %lld do not fit the input",
                    (long long)group);
    for (uint32_t i = 0; i < t.n; i++)
        t.kernel[i] = ox_dim(m, w)[i + 2];
    TRY(read_window(m, &t));
    c = ox_dim(m, w)[1];
    oc = ox_dim(m, w)[0];
    y[0] = ox_dim(m, x)[0];
    y[1] = oc;
    for (uint32_t i = 0; i < t.n; i++)
        pixels *= y[i + 2] = t.out[i];
    text_init(&text, m->arena);
    slices(m, &t, "0.0", &text);
    text_printf(&text, "w = Reshape($1, [%lld,%lld,%d,%lld]);", (long long)group,
                (long long)(oc / group), c, (long long)t.count);
    for (int64_t k = 0; k < t.count; k++) {
        const long long i = k;

        text_printf(
            &text,
            "r_%lld = Reshape(x_%lld, [%d,%lld,%d,%lld]); v_%lld = Slice(w, [%lld], [%lld], [3]);"
            "s_%lld = Squeeze(v_%lld, [3]); u_%lld = Unsqueeze(s_%lld, [0]);"
            "m_%lld = MatMul(u_%lld, r_%lld);",
            i, i, ox_dim(m, x)[0], (long long)group, c, (long long)pixels, i, i, i + 1, i, i, i, i,
            i, i, i);
        if (k == 0)
            text_add(&text, "a_0 = Identity(m_0);");
        else
            text_printf(&text, "a_%lld = Add(a_%lld, m_%lld);", i, i - 1, i);
    }
    text_printf(&text, "%s = Reshape(a_%lld, %s);", ox_in(m, 2) ? "y" : "%0",
                (long long)t.count - 1, ox_list(m, t.n + 2, y));
    if (ox_in(m, 2))
        text_printf(&text, "b = Reshape($2, %s); %%0 = Add(y, b)", ox_channel_list(m, t.n + 2));
    return ox_expand(m, text.data);
}

/* Pads along axis `i` for a transposed convolution whose input has zeros between its values. */
static enum status transposed_pads(struct ox *m, const struct taps *t, uint32_t i, int64_t extra,
                                   int64_t wanted, int64_t *before, int64_t *after)
{
    const char *mode = ox_attr_text(m, "auto_pad", "NOTSET");
    const int64_t span = (t->kernel[i] - 1) * t->dilation[i] + 1, d = ox_dim(m, ox_in(m, 0))[i + 2];
    const int64_t full = t->stride[i] * (d - 1) + extra + span;
    int64_t from = t->before[i], out = full - from - t->after[i];

    if (wanted == 0 && strncmp(mode, "SAME", 4) == 0)
        wanted = d * t->stride[i];
    if (wanted != 0) {
        const int64_t total = full > wanted ? full - wanted : 0;

        from = strcmp(mode, "SAME_UPPER") == 0 ? total / 2 : total - total / 2;
        out = wanted;
    }
    if (t->stride[i] < 1 || t->dilation[i] < 1 || out < 1)
        return FAIL(m->d, ST_MODEL, "axis %u: stride %lld, dilation %lld, output size %lld", i + 2,
                    (long long)t->stride[i], (long long)t->dilation[i], (long long)out);
    *before = span - 1 - from;
    *after = out + span - 1 - *before - d * t->stride[i];
    return ST_OK;
}

/* Return true if no output cell is of two input cells: a window has the strides' size. */
static bool is_apart(struct ox *m, const struct taps *t, long long group, const int64_t *extra,
                     const int64_t *pads)
{
    bool apart = t->n == 3 && group == 1 && !ox_attr(m, "output_shape") &&
                 strcmp(ox_attr_text(m, "auto_pad", "NOTSET"), "NOTSET") == 0;

    for (uint32_t i = 0; i < t->n; i++)
        apart = apart && ox_dim(m, ox_in(m, 1))[i + 2] == t->stride[i] && t->dilation[i] == 1 &&
                extra[i] == 0 && pads[i] == 0 && pads[t->n + i] == 0;
    return apart && t->stride[0] * t->stride[1] * t->stride[2] <= MOST_CELLS;
}

/* A product for each cell of the window, as channels; then these are put between the rows and columns. */
static enum status apart_cells(struct ox *m, const struct taps *t)
{
    const int32_t *x = ox_dim(m, ox_in(m, 0)), out = ox_dim(m, ox_in(m, 1))[1];
    const int64_t *k = t->stride, images = (int64_t)x[0] * out, each = k[0] * k[1] * k[2];
    const char *y;
    struct text text;

    text_init(&text, m->arena);
    text_printf(&text, "e = Transpose($1; perm=[1,2,3,4,0]); w = Reshape(e, [%lld,%d,1,1]);",
                (long long)(out * each), x[1]);
    if (ox_in(m, 2)) { /* Concat of a constant is one */
        text_add(&text, "b1 = Reshape($2, [-1,1]); b2 = Concat(b1");
        for (int64_t i = 1; i < each; i++)
            text_add(&text, ", b1");
        text_add(&text, "; axis=1); b = Reshape(b2, [-1]);");
    }
    text_printf(&text, "v = Reshape($0, [%d,%d,%d,-1]); c = Conv(v, w%s);", x[0], x[1], x[2],
                ox_in(m, 2) ? ", b" : "");
    y = ox_quantise_inside(m, &text, "c");
    text_printf(
        &text,
        "d1 = Reshape(%s, %s); d2 = Transpose(d1; perm=[0,3,1,2,4]); d3 = Reshape(d2, %s);"
        "d4 = Transpose(d3; perm=[0,3,1,4,2]); %%0 = Reshape(d4, %s)",
        y, ox_list(m, 5, (const int64_t[]){images, k[0], k[1] * k[2], x[2], (int64_t)x[3] * x[4]}),
        ox_list(m, 5, (const int64_t[]){images * x[2] * k[0], k[1], k[2], x[3], x[4]}),
        ox_list(m, 5, (const int64_t[]){x[0], out, x[2] * k[0], x[3] * k[1], x[4] * k[2]}));
    return ox_expand(m, text.data);
}

/* Zeros between the input's values, its borders padded; weights with input and output channels
 * exchanged, turned around; then a convolution. */
enum status ox_transposed_taps(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0), *w = ox_in(m, 1);
    const long long group = ox_attr_int(m, "group", 1);
    struct taps t = {.n = ox_rank(m, ox_in(m, 0)) - 2};
    int64_t pads[2 * IR_MAX_RANK] = {0}, shape[IR_MAX_RANK], axes[3], back[3], last[3], extra[3];
    int64_t wanted[IR_MAX_RANK], all[6], *value, before;
    uint32_t n;
    struct text text;

    if (!w || ox_rank(m, w) != t.n + 2 || group < 1 || ox_dim(m, x)[1] != ox_dim(m, w)[0] ||
        ox_dim(m, w)[0] % group != 0)
        return FAIL(m->d, ST_MODEL, "weights and group %lld do not fit the input", group);
    TRY(sizes(m, "strides", t.n, 1, t.stride));
    TRY(sizes(m, "dilations", t.n, 1, t.dilation));
    TRY(sizes(m, "output_padding", t.n, 0, extra));
    TRY(sizes(m, "pads", 2 * t.n, 0, all));
    if (is_apart(m, &t, group, extra, all))
        return apart_cells(m, &t);
    TRY(ox_ints(m, IR_NONE, "output_shape", &n, &value));
    memset(wanted, 0, sizeof wanted);
    for (uint32_t i = 0; i < t.n && n >= t.n; i++)
        wanted[i] = value[n - t.n + i];
    text_init(&text, m->arena);
    text_add(&text, "x_0 = Identity($0);");
    for (uint32_t i = 0; i < t.n + 2; i++)
        shape[i] = ox_dim(m, x)[i];
    before = shape[0] * shape[1];
    for (uint32_t i = 0; i < t.n; i++) {
        const int64_t d = shape[i + 2];

        t.kernel[i] = ox_dim(m, w)[i + 2];
        t.before[i] = all[i];
        t.after[i] = all[t.n + i];
        axes[i] = i + 2;
        back[i] = -1;
        last[i] = INT32_MIN;
        TRY(transposed_pads(m, &t, i, extra[i], wanted[i], &pads[i + 2], &pads[t.n + 4 + i]));
        shape[i + 2] = d * t.stride[i];
        text_printf(
            &text,
            "r_%u = Reshape(x_%u, [%lld,%lld,1,-1]); p_%u = Pad(r_%u, [0,0,0,0,0,0,%lld,0], 0.0);"
            "x_%u = Reshape(p_%u, %s);",
            i, i, (long long)before, (long long)d, i, i, (long long)t.stride[i] - 1, i + 1, i,
            ox_list(m, t.n + 2, shape));
        before *= shape[i + 2];
    }
    text_printf(&text, "padded = Pad(x_%u, %s, 0.0); turned = Slice($1, %s, %s, %s, %s);", t.n,
                ox_list(m, 2 * t.n + 4, pads), ox_list(m, t.n, back), ox_list(m, t.n, last),
                ox_list(m, t.n, axes), ox_list(m, t.n, back));
    shape[0] = ox_dim(m, w)[1] * group;
    shape[1] = ox_dim(m, w)[0] / group;
    memcpy(shape + 2, t.kernel, t.n * sizeof *shape);
    text_printf(&text,
                "g = Reshape(turned, [%lld,%lld,%d,-1]); e = Transpose(g; perm=[0,2,1,3]);"
                "w = Reshape(e, %s); %%0 = Conv(padded, w, $2; group=%lld, dilations=@dilations)",
                group, (long long)shape[1], ox_dim(m, w)[1], ox_list(m, t.n + 2, shape), group);
    return ox_expand(m, text.data);
}

/* Cells of each window that the average counts, as a constant "cells". */
static void count_cells(struct ox *m, const struct taps *t, bool pads)
{
    const int32_t *x = ox_dim(m, ox_in(m, 0)) + 2;
    int32_t dim[IR_MAX_RANK] = {1, 1};
    struct ox_const c;
    float *cells;

    for (uint32_t i = 0; i < t->n; i++)
        dim[i + 2] = (int32_t)t->out[i];
    cells = ox_new_const(m, &c, OX_FLOAT, t->n + 2, dim);
    for (uint64_t k = 0; k < c.n; k++) {
        int64_t rest = (int64_t)k, n = 1;

        for (uint32_t i = t->n; i-- > 0; rest /= t->out[i]) {
            const int64_t begin = rest % t->out[i] * t->stride[i] - t->before[i];
            int64_t inside = 0;

            for (int64_t j = 0; j < t->kernel[i]; j++) {
                const int64_t at = begin + j * t->dilation[i];

                inside += pads ? at < t->end[i] : at >= 0 && at < x[i];
            }
            n *= inside;
        }
        cells[k] = (float)n;
    }
    ox_inner_const(m, "cells", &c);
}

/* The maximum of a volume's windows: of each slice's, then along the depth. */
static enum status maximum_of_volumes(struct ox *m, const struct taps *t)
{
    const int32_t *x = ox_dim(m, ox_in(m, 0));

    return ox_expandf(
        m,
        "a = Reshape($0, [%d,%lld,%d,%d]);"
        "b = MaxPool(a; kernel_shape=%s, strides=%s, pads=[%lld,%lld,%lld,%lld]);"
        "c = Reshape(b, [%d,%d,%d,-1]);"
        "d = MaxPool(c; kernel_shape=[%lld,1], strides=[%lld,1], pads=[%lld,0,%lld,0]);"
        "%%0 = Reshape(d, [%d,%d,%lld,%lld,%lld])",
        x[0], (long long)x[1] * x[2], x[3], x[4], ox_list(m, 2, t->kernel + 1),
        ox_list(m, 2, t->stride + 1), (long long)t->before[1], (long long)t->before[2],
        (long long)t->after[1], (long long)t->after[2], x[0], x[1], x[2], (long long)t->kernel[0],
        (long long)t->stride[0], (long long)t->before[0], (long long)t->after[0], x[0], x[1],
        (long long)t->out[0], (long long)t->out[1], (long long)t->out[2]);
}

/* Constants "places": in the input, of each window's first cell; "step_k": from there to cell k. */
static void window_places(struct ox *m, const struct taps *t, bool columns)
{
    const int32_t *x = ox_dim(m, ox_in(m, 0));
    int32_t dim[IR_MAX_RANK] = {x[0], x[1]};
    int64_t stride[4], all = 1, *place;
    struct ox_const c;

    for (uint32_t k = 0; k < t->n; k++) {
        const uint32_t i = columns ? k : t->n - 1 - k;

        stride[i] = all;
        all *= x[i + 2];
        dim[i + 2] = (int32_t)t->out[i];
    }
    place = ox_new_const(m, &c, OX_INT64, t->n + 2, dim);
    for (int64_t k = 0; k < (int64_t)c.n; k++) {
        int64_t rest = k;

        place[k] = 0;
        for (uint32_t i = t->n; i-- > 0; rest /= t->out[i])
            place[k] += (rest % t->out[i] * t->stride[i] - t->before[i]) * stride[i];
        place[k] += rest * all; /* image and channel */
    }
    ox_inner_const(m, "places", &c);
    for (int64_t k = 0; k < t->count; k++) {
        int64_t rest = k, *step = ox_new_const(m, &c, OX_INT64, 0, NULL);

        *step = 0;
        for (uint32_t i = t->n; i-- > 0; rest /= t->kernel[i])
            *step += rest % t->kernel[i] * t->dilation[i] * stride[i];
        ox_inner_const(m, arena_printf(m->arena, "step_%lld", (long long)k), &c);
    }
}

/* The maximum, and which cell of its window has it: the first one. */
static enum status maximum_with_places(struct ox *m, const struct taps *t)
{
    const bool columns = ox_attr_int(m, "storage_order", 0) != 0;
    struct text text;

    if (t->n > 3 || (columns && t->n != 2))
        return FAIL(m->d, ST_UNSUPPORTED, "output 1 (indices) of %u dimensions%s", t->n + 2,
                    columns ? " in storage_order 1" : "");
    window_places(m, t, columns);
    text_init(&text, m->arena);
    text_add(&text, "%0 = MaxPool($0; kernel_shape=@kernel_shape, strides=@strides, pads=@pads,"
                    "auto_pad=@auto_pad, dilations=@dilations, ceil_mode=@ceil_mode);");
    slices(m, t, "-inf", &text);
    text_printf(&text, "s_%lld = Identity(step_0);", (long long)t->count);
    for (int64_t k = t->count; k-- > 0;)
        text_printf(
            &text, "e_%lld = Equal(x_%lld, %%0); s_%lld = Where(e_%lld, step_%lld, s_%lld);",
            (long long)k, (long long)k, (long long)k, (long long)k, (long long)k, (long long)k + 1);
    text_add(&text, "%1 = Add(s_0, places)");
    return ox_expand(m, text.data);
}

enum status ox_pool_taps(struct ox *m)
{
    const bool max = strcmp(m->op, "MaxPool") == 0;
    struct taps t = {.n = ox_rank(m, ox_in(m, 0)) - 2};
    struct text text;

    TRY(sizes(m, "kernel_shape", t.n, 0, t.kernel));
    TRY(read_window(m, &t));
    if (ox_has_output(m, 1))
        return maximum_with_places(m, &t);
    if (max && t.n == 3 && t.dilation[0] * t.dilation[1] * t.dilation[2] == 1)
        return maximum_of_volumes(m, &t);
    text_init(&text, m->arena);
    slices(m, &t, max ? "-inf" : "0.0", &text);
    text_add(&text, "a_0 = Identity(x_0);");
    for (int64_t k = 1; k < t.count; k++)
        text_printf(&text, "a_%lld = %s(a_%lld, x_%lld);", (long long)k, max ? "Max" : "Add",
                    (long long)k - 1, (long long)k);
    if (!max)
        count_cells(m, &t, ox_attr_int(m, "count_include_pad", 0) != 0);
    text_printf(&text, max ? "%%0 = Identity(a_%lld)" : "%%0 = Div(a_%lld, cells)",
                (long long)t.count - 1);
    return ox_expand(m, text.data);
}
