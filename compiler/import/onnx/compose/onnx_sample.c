/* onnx_sample.c - GridSample, AffineGrid and DeformConv, by texts of onnx_expand.c: for each cell of the
 * interpolation one Gather of the flat pixels, times its weight. */
#include "compiler/import/onnx/onnx_import.h"

#include <string.h>

struct grid {
    struct text text;
    uint32_t n;       /* spatial dimensions */
    const int32_t *x; /* their sizes */
    int32_t first;    /* offset of the first cell along each axis */
    uint32_t cells;   /* along each axis: 1 nearest, 2 linear, 4 cubic */
    bool corners;     /* align_corners */
    enum { ZEROS, BORDER, REFLECTION } padding;
};

static enum status read_modes(struct ox *m, struct grid *g)
{
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    const char *mode = ox_attr_text(m, "mode", "linear");
    const char *padding = ox_attr_text(m, "padding_mode", "zeros");
    uint32_t p = 0;

    g->cells = strcmp(mode, "nearest") == 0                                               ? 1
               : strcmp(mode, "linear") == 0 || strcmp(mode, "bilinear") == 0             ? 2
               : (strcmp(mode, "cubic") == 0 || strcmp(mode, "bicubic") == 0) && g->n < 3 ? 4
                                                                                          : 0;
    while (p < 3 && strcmp(padding, paddings[p]) != 0)
        p++;
    if (g->cells == 0 || p == 3)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "expected mode nearest, linear or (of 2 dimensions) cubic, padding_mode zeros, "
                    "border or reflection, found %.80s and %.80s",
                    mode, padding);
    g->first = g->cells == 4 ? -1 : 0;
    g->padding = p;
    g->corners = ox_attr_int(m, "align_corners", 0) != 0;
    return ST_OK;
}

/* "to": place "from" along axis `i`, mirrored at both borders until it is between them. */
static void reflect(struct grid *g, uint32_t i, const char *from, const char *to)
{
    const int32_t range = g->x[i] - (g->corners ? 1 : 0);
    const char *low = g->corners ? "0.0" : "-0.5";

    if (range == 0)
        text_printf(&g->text, "%s = Mul(%s, 0.0);", to, from);
    else
        text_printf(&g->text,
                    "%s_d = Sub(%s, %s); %s_e = Abs(%s_d); %s_m = Mod(%s_e, %d.0; fmod=1);"
                    "%s_k = Sub(%s_m, %d.0); %s_l = Abs(%s_k); %s_n = Sub(%d.0, %s_l);"
                    "%s = Add(%s_n, %s);",
                    to, from, low, to, to, to, to, 2 * range, to, to, range, to, to, to, range, to,
                    to, to, low);
}

/* "v_i": places along axis `i`; "b_i": the pixel at or before them, "t_i": the distance to it. */
static void places_of(struct grid *g, uint32_t i)
{
    const int32_t last = g->x[i] - 1;

    text_printf(&g->text,
                "g_%u = Slice($1, [%u], [%u], [-1]); f_%u = Reshape(g_%u, [-1]);"
                "e_%u = Add(f_%u, 1.0);",
                i, g->n - 1 - i, g->n - i, i, i, i, i);
    if (g->corners)
        text_printf(&g->text, "h_%u = Mul(e_%u, 0.5); u_%u = Mul(h_%u, %d.0);", i, i, i, i, last);
    else
        text_printf(&g->text,
                    "h_%u = Mul(e_%u, %d.0); s_%u = Sub(h_%u, 1.0); u_%u = Mul(s_%u, 0.5);", i, i,
                    last + 1, i, i, i, i);
    text_printf(&g->text, "r_%u = %s(u_%u);", i, g->cells == 1 ? "Round" : "Identity", i);
    if (g->padding == REFLECTION)
        reflect(g, i, arena_printf(g->text.arena, "r_%u", i),
                arena_printf(g->text.arena, "v_%u", i));
    else
        text_printf(&g->text, "v_%u = Identity(r_%u);", i, i);
    text_printf(&g->text, "b_%u = Floor(v_%u); t_%u = Sub(v_%u, b_%u);", i, i, i, i, i);
}

/* "w_i_k": weight of cell `k` along axis `i`: of cubic cells by Keys, with -0.75. */
static void weight_of(struct grid *g, uint32_t i, uint32_t k)
{
    const char *d = arena_printf(g->text.arena, "%u_%u", i, k);

    if (g->cells == 1)
        text_printf(&g->text, "w_%s = Add(t_%u, 1.0);", d, i); /* t is 0 */
    else if (g->cells == 2 && k == 0)
        text_printf(&g->text, "w_%s = Sub(1.0, t_%u);", d, i);
    else if (g->cells == 2)
        text_printf(&g->text, "w_%s = Identity(t_%u);", d, i);
    else if (k < 2)
        text_printf(&g->text, "d_%s = Add(t_%u, %u.0);", d, i, 1 - k);
    else
        text_printf(&g->text, "d_%s = Sub(%u.0, t_%u);", d, k - 1, i);
    if (g->cells == 4 && k % 3 == 0)
        text_printf(&g->text,
                    "c1_%s = Mul(d_%s, -0.75); c2_%s = Add(c1_%s, 3.75); c3_%s = Mul(c2_%s, d_%s);"
                    "c4_%s = Sub(c3_%s, 6.0); c5_%s = Mul(c4_%s, d_%s); w_%s = Add(c5_%s, 3.0);",
                    d, d, d, d, d, d, d, d, d, d, d, d, d, d);
    else if (g->cells == 4)
        text_printf(&g->text,
                    "c1_%s = Mul(d_%s, 1.25); c2_%s = Sub(c1_%s, 2.25); c3_%s = Mul(c2_%s, d_%s);"
                    "c4_%s = Mul(c3_%s, d_%s); w_%s = Add(c4_%s, 1.0);",
                    d, d, d, d, d, d, d, d, d, d, d, d);
}

/* "y_i_k": weight of the cell, 0 outside of zeros; "n_i_k": what its pixel adds to the flat place. */
static void cell_of(struct grid *g, uint32_t i, uint32_t k)
{
    long long stride = 1;

    for (uint32_t d = i + 1; d < g->n; d++)
        stride *= g->x[d];
    weight_of(g, i, k);
    text_printf(&g->text, "o_%u_%u = Add(b_%u, %d.0);", i, k, i, (int)k + g->first);
    if (g->padding == REFLECTION)
        reflect(g, i, arena_printf(g->text.arena, "o_%u_%u", i, k),
                arena_printf(g->text.arena, "p_%u_%u", i, k));
    else
        text_printf(&g->text, "p_%u_%u = Identity(o_%u_%u);", i, k, i, k);
    text_printf(&g->text, "q_%u_%u = Clip(p_%u_%u, 0.0, %d.0);", i, k, i, k, g->x[i] - 1);
    if (g->padding == ZEROS)
        text_printf(&g->text,
                    "z_%u_%u = Equal(p_%u_%u, q_%u_%u); y_%u_%u = Where(z_%u_%u, w_%u_%u, 0.0);", i,
                    k, i, k, i, k, i, k, i, k, i, k);
    else
        text_printf(&g->text, "y_%u_%u = Identity(w_%u_%u);", i, k, i, k);
    text_printf(&g->text, "i_%u_%u = Cast(q_%u_%u; to=7); n_%u_%u = Mul(i_%u_%u, %lld);", i, k, i,
                k, i, k, i, k, stride);
}

/* "a_j": the sum of the first j + 1 products of cells and weights, of pixels "flat". */
static void sum_cells(struct grid *g)
{
    uint32_t count = 1;

    for (uint32_t i = 0; i < g->n; i++)
        count *= g->cells;
    for (uint32_t j = 0; j < count; j++) {
        const char *place = "batch", *weight = NULL;
        uint32_t rest = j;

        for (uint32_t i = g->n; i-- > 0; rest /= g->cells) {
            const uint32_t k = rest % g->cells;

            text_printf(&g->text, "pl_%u_%u = Add(%s, n_%u_%u);", j, i, place, i, k);
            place = arena_printf(g->text.arena, "pl_%u_%u", j, i);
            if (weight)
                text_printf(&g->text, "we_%u_%u = Mul(%s, y_%u_%u);", j, i, weight, i, k);
            weight = arena_printf(g->text.arena, weight ? "we_%u_%u" : "y_%u_%u", weight ? j : i,
                                  weight ? i : k);
        }
        text_printf(
            &g->text,
            "pix_%u = Gather(flat, %s); col_%u = Reshape(%s, [-1,1]); pr_%u = Mul(pix_%u, col_%u);",
            j, place, j, weight, j, j, j);
        text_printf(&g->text, j ? "a_%u = Add(a_%u, pr_%u);" : "a_%u = Identity(pr_%u);", j,
                    j ? j - 1 : j, j);
    }
    text_printf(&g->text, "rows = Identity(a_%u);", count - 1);
}

enum status ox_grid_sample(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0), *at = ox_in(m, 1);
    const int32_t *dim = x ? ox_dim(m, x) : NULL, *to = at ? ox_dim(m, at) : NULL;
    struct grid g = {.n = x ? ox_rank(m, x) - 2 : 0, .x = dim ? dim + 2 : NULL};
    int64_t pixels = 1, points = 1, y[IR_MAX_RANK], *batch;
    int64_t last[IR_MAX_RANK] = {0}, first[IR_MAX_RANK] = {0}; /* the channels */
    struct ox_const c;

    if (!x || !at || ox_rank(m, x) < 3 || ox_rank(m, at) != g.n + 2 || to[0] != dim[0] ||
        to[g.n + 1] != (int32_t)g.n || g.n > 3)
        return FAIL(
            m->d, ST_MODEL,
            "expected an input [N,C,H,W], or of 1 or 3 dimensions, and places of it [N,..,2]");
    TRY(read_modes(m, &g));
    for (uint32_t i = 0; i < g.n; i++) {
        pixels *= g.x[i];
        points *= to[i + 1];
        y[i + 1] = to[i + 1];
        last[i + 1] = i + 2;
        first[i + 2] = i + 1;
    }
    y[0] = dim[0];
    y[g.n + 1] = dim[1];
    last[g.n + 1] = 1;
    first[1] = g.n + 1;
    batch = ox_new_const(m, &c, OX_INT64, 1, (const int32_t[]){(int32_t)(dim[0] * points)});
    for (int64_t i = 0; i < (int64_t)c.n; i++)
        batch[i] = i / points * pixels;
    ox_inner_const(m, "batch", &c);
    text_init(&g.text, m->arena);
    text_printf(&g.text, "last = Transpose($0; perm=%s); flat = Reshape(last, [%lld,%d]);",
                ox_list(m, g.n + 2, last), (long long)(dim[0] * pixels), dim[1]);
    for (uint32_t i = 0; i < g.n; i++) {
        places_of(&g, i);
        for (uint32_t k = 0; k < g.cells; k++)
            cell_of(&g, i, k);
    }
    sum_cells(&g);
    text_printf(&g.text, "image = Reshape(rows, %s); %%0 = Transpose(image; perm=%s)",
                ox_list(m, g.n + 2, y), ox_list(m, g.n + 2, first));
    return ox_expand(m, g.text.data);
}

/* Places -1 .. 1 of the result's pixels, times theta of each batch. */
enum status ox_affine_grid(struct ox *m)
{
    const bool corners = ox_attr_int(m, "align_corners", 0) != 0;
    const struct ox_value *theta = ox_in(m, 0);
    const struct ox_const *size;
    int64_t points = 1, y[IR_MAX_RANK];
    struct ox_const c;
    uint32_t n;
    float *base;

    TRY(ox_want_const(m, 1, "size", &size));
    n = size->n >= 2 ? (uint32_t)size->n - 2 : 0;
    if (!theta || ox_rank(m, theta) != 3 || n < 2 || n > 3 || ox_dim(m, theta)[1] != (int32_t)n ||
        ox_dim(m, theta)[2] != (int32_t)n + 1 || ox_dim(m, theta)[0] != ox_int(size, 0))
        return FAIL(m->d, ST_MODEL,
                    "expected theta [N,2,3] and size [N,C,H,W], or of 3 dimensions");
    y[0] = ox_int(size, 0);
    for (uint32_t i = 0; i < n; i++) {
        y[i + 1] = ox_int(size, i + 2);
        points *= y[i + 1] < 1 || y[i + 1] > 1 << 13 ? 1 << 14 : y[i + 1];
    }
    if (points > 1 << 26)
        return FAIL(m->d, ST_UNSUPPORTED, "size: expected 1 to 8192 each, 2^26 points in all");
    y[n + 1] = n;
    base = ox_new_const(m, &c, OX_FLOAT, 2, (const int32_t[]){(int32_t)points, (int32_t)n + 1});
    for (int64_t p = 0; p < points; p++) {
        int64_t rest = p;

        for (uint32_t i = 0; i < n; i++) {
            const int64_t of = y[n - i], at = rest % of;

            base[p * (n + 1) + i] = !corners ? (float)((2.0 * (double)at + 1) / (double)of - 1)
                                    : of > 1 ? (float)(2.0 * (double)at / (double)(of - 1) - 1)
                                             : -1.0f;
            rest /= of;
        }
        base[p * (n + 1) + n] = 1;
    }
    ox_inner_const(m, "base", &c);
    return ox_expandf(m,
                      "t = Transpose($0; perm=[0,2,1]); g = MatMul(base, t); %%0 = Reshape(g, %s)",
                      ox_list(m, n + 2, y));
}

/* A convolution whose window's cells are moved by offsets. */
struct deform {
    int32_t stride[2], dilation[2], pads[4], kernel[2], out[2], cells,
        parts; /* parts: offset_group */
};

static enum status read_deform(struct ox *m, struct deform *f)
{
    const struct ox_value *x = ox_in(m, 0), *w = ox_in(m, 1), *o = ox_in(m, 2), *mask = ox_in(m, 4);
    const int64_t parts = ox_attr_int(m, "offset_group", 1);
    bool fits;

    if (!x || !w || !o || ox_rank(m, x) != 4 || ox_rank(m, w) != 4 || ox_rank(m, o) != 4 ||
        (mask && ox_rank(m, mask) != 4))
        return FAIL(m->d, ST_UNSUPPORTED,
                    "expected images, weights, offsets and a mask of 4 dimensions");
    TRY(ox_attr_sizes(m, "strides", 2, 1, f->stride));
    TRY(ox_attr_sizes(m, "dilations", 2, 1, f->dilation));
    TRY(ox_attr_sizes(m, "pads", 4, 0, f->pads));
    memcpy(f->kernel, ox_dim(m, w) + 2, sizeof f->kernel);
    memcpy(f->out, ox_dim(m, o) + 2, sizeof f->out);
    fits = parts > 0 && ox_dim(m, x)[1] % parts == 0 && ox_dim(m, o)[0] == ox_dim(m, x)[0];
    f->parts = fits ? (int32_t)parts : 1;
    for (uint32_t i = 0; i < 2; i++) {
        const int64_t room = (int64_t)ox_dim(m, x)[i + 2] + f->pads[i] + f->pads[i + 2] -
                             (int64_t)(f->kernel[i] - 1) * f->dilation[i] - 1;

        fits = fits && f->stride[i] > 0 && room >= 0 && f->out[i] == room / f->stride[i] + 1;
    }
    f->cells = f->kernel[0] * f->kernel[1];
    if (!fits || ox_dim(m, o)[1] != (int64_t)2 * f->parts * f->cells ||
        (mask && ox_dim(m, mask)[1] != (int64_t)f->parts * f->cells))
        return FAIL(m->d, ST_MODEL, "offsets %s do not fit %s, weights %s, offset_group %lld",
                    ir_shape_text(m->arena, 4, ox_dim(m, o)),
                    ir_shape_text(m->arena, 4, ox_dim(m, x)),
                    ir_shape_text(m->arena, 4, ox_dim(m, w)), (long long)parts);
    if ((int64_t)ox_dim(m, x)[0] * ox_dim(m, x)[1] * f->cells * f->out[0] * f->out[1] >
        INT32_MAX / 4)
        return FAIL(m->d, ST_UNSUPPORTED, "expected at most 2^29 values of all windows");
    return ST_OK;
}

/* Constants "base": column and row of each cell of each window without offsets, -1 .. 1 over the image as GridSample
 * has it; "unit": a pixel in these. */
static void deform_places(struct ox *m, const struct deform *f)
{
    const int32_t *x = ox_dim(m, ox_in(m, 0)), dim[5] = {1, f->cells, f->out[0], f->out[1], 2},
                  two = 2;
    struct ox_const c;
    float *to = ox_new_const(m, &c, OX_FLOAT, 5, dim);

    for (int64_t i = 0; i < (int64_t)c.n; i++) {
        const uint32_t axis = i % 2 == 0; /* the column comes first */
        const int64_t out[2] = {i / 2 / f->out[1] % f->out[0], i / 2 % f->out[1]};
        const int64_t cell = i / 2 / f->out[1] / f->out[0];
        const int64_t k = axis == 0 ? cell / f->kernel[1] : cell % f->kernel[1];
        const double at =
            (double)(out[axis] * f->stride[axis] - f->pads[axis] + k * f->dilation[axis]);

        to[i] = (float)((2 * at + 1) / x[axis + 2] - 1);
    }
    ox_inner_const(m, "base", &c);
    to = ox_new_const(m, &c, OX_FLOAT, 1, &two);
    to[0] = 2.0f / (float)x[3];
    to[1] = 2.0f / (float)x[2];
    ox_inner_const(m, "unit", &c);
}

/* The cells of all windows by one GridSample, a part of the channels as an image; they are channels of a convolution of
 * one cell. */
enum status ox_deform_conv(struct ox *m)
{
    struct deform f;
    const int32_t *x, *w;

    TRY(read_deform(m, &f));
    x = ox_dim(m, ox_in(m, 0));
    w = ox_dim(m, ox_in(m, 1));
    deform_places(m, &f);
    const long long images = (long long)x[0] * f.parts, pixels = (long long)f.out[0] * f.out[1];

    return ox_expandf(
        m,
        "o1 = Reshape($2, [%lld,%d,2,%d,%d]); o2 = Transpose(o1; perm=[0,1,3,4,2]); o3 = "
        "Gather(o2, [1,0]; axis=4);"
        "o4 = Mul(o3, unit); o5 = Add(o4, base); grid = Reshape(o5, [%lld,%d,%d,2]);"
        "parts = Reshape($0, [%lld,%d,%d,%d]); s1 = GridSample(parts, grid; align_corners=0);"
        "s2 = Reshape(s1, [%d,%d,%d,%d,%lld]);%s s4 = Reshape(s3, [%d,%d,%d,%d]);"
        "v = Reshape($1, [%d,%d,1,1]); %%0 = Conv(s4, v, $3; group=@group)",
        images, f.cells, f.out[0], f.out[1], images, f.cells * f.out[0], f.out[1], images,
        x[1] / f.parts, x[2], x[3], x[0], f.parts, x[1] / f.parts, f.cells, pixels,
        ox_in(m, 4) ? arena_printf(m->arena, "k = Reshape($4, [%d,%d,1,%d,%lld]); s3 = Mul(s2, k);",
                                   x[0], f.parts, f.cells, pixels)
                    : "s3 = Identity(s2);",
        x[0], x[1] * f.cells, f.out[0], f.out[1], w[0], w[1] * f.cells);
}
