/* onnx_resize.c - Resize and Upsample, axis by axis: nearest gathers, linear and cubic interpolate
 * in float32 with constant taps. */
#include "compiler/import/onnx/onnx_import.h"

#include <math.h>
#include <string.h>

enum kind { NEAREST, LINEAR, CUBIC };
enum {
    MAX_CELLS = 1 << 20, /* of an image */
    MAX_SUPPORT = 2048,  /* taps on one side of a filter */
};

struct resize {
    enum kind kind;
    const char *coordinates, *nearest;
    float cubic;
    bool exclude_outside, antialias;
};

/* One axis: sizes, and the scale of the file (out / in where it gives sizes). */
struct axis {
    int32_t in, out;
    float scale;
};

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static enum status read_modes(struct ox *m, struct resize *r)
{
    static const char *const known[] = {"half_pixel", "pytorch_half_pixel", "align_corners",
                                        "asymmetric", "half_pixel_symmetric"};
    const char *mode = ox_attr_text(m, "mode", "nearest");
    const bool old = m->opset < 11 || is(m->op, "Upsample");
    bool found = false;

    *r = (struct resize){
        is(mode, "nearest") ? NEAREST
        : is(mode, "cubic") ? CUBIC
                            : LINEAR,
        ox_attr_text(m, "coordinate_transformation_mode", old ? "asymmetric" : "half_pixel"),
        ox_attr_text(m, "nearest_mode", old ? "by_scale" : "round_prefer_floor"),
        ox_attr_float(m, "cubic_coeff_a", -0.75f),
        ox_attr_int(m, "exclude_outside", 0) != 0,
        ox_attr_int(m, "antialias", 0) != 0};
    for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
        found = found || is(r->coordinates, known[i]);
    if (!found)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "coordinate_transformation_mode: expected half_pixel, pytorch_half_pixel, "
                    "align_corners, asymmetric or half_pixel_symmetric, found '%.40s'",
                    r->coordinates);
    if (!is(mode, "nearest") && !is(mode, "linear") && !is(mode, "cubic"))
        return FAIL(m->d, ST_UNSUPPORTED, "mode: expected nearest, linear or cubic, found '%.40s'",
                    mode);
    return ST_OK;
}

/* Place of output i in the input, in float32 as the format writes it. */
static float place_of(const struct resize *r, const struct axis *a, int32_t i)
{
    const float at = (float)i;

    if (is(r->coordinates, "align_corners"))
        return a->out == 1 ? 0 : at * (float)(a->in - 1) / (float)(a->out - 1);
    if (is(r->coordinates, "asymmetric"))
        return at / a->scale;
    if (is(r->coordinates, "pytorch_half_pixel") && a->out == 1)
        return 0;
    if (is(r->coordinates, "half_pixel_symmetric")) {
        const float adjust = (float)a->out / (a->scale * (float)a->in);
        const float moved = (float)a->in / 2 * (1 - adjust);

        return (float)((double)moved + ((double)at + 0.5) / (double)a->scale - 0.5); /* in double */
    }
    return (at + 0.5f) / a->scale - 0.5f;
}

static int32_t clamped(float v, int32_t n)
{
    return v < 0 ? 0 : v > (float)(n - 1) ? n - 1 : (int32_t)v;
}

/* The cell that place `v` of axis `a` is nearest to. A place is a rounded float32: one within 1e-6
 * of the middle of two cells is the middle, as for ONNX Runtime. */
static int32_t nearest_to(const struct resize *r, const struct axis *a, float v)
{
    const float below = floorf(v);
    const double past_middle = (double)v - (double)below - 0.5;
    const bool is_middle = fabs(past_middle) < 1e-6;

    if (is(r->nearest, "ceil") || (is(r->nearest, "by_scale") && a->scale < 1))
        return clamped(ceilf(v), a->in);
    if (is(r->nearest, "floor") || is(r->nearest, "by_scale"))
        return clamped(below, a->in);
    if (is_middle)
        return clamped(below + (is(r->nearest, "round_prefer_ceil") ? 1 : 0), a->in);
    return clamped(below + (past_middle > 0 ? 1 : 0), a->in);
}

/* Weights of the four neighbours of a position `f` past the second. */
static void cubic_weights(float a, float f, float w[4])
{
    const float b = f + 1, c = 1 - f, d = 2 - f;

    w[0] = ((a * b - 5 * a) * b + 8 * a) * b - 4 * a;
    w[1] = ((a + 2) * f - (a + 3)) * f * f + 1;
    w[2] = ((a + 2) * c - (a + 3)) * c * c + 1;
    w[3] = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

/* Weight of a cell `d` from the place: a triangle, or the cubic of cubic_weights. */
static float filter(const struct resize *r, float d)
{
    const float b = fabsf(d), a = r->cubic;

    if (r->kind == LINEAR)
        return b < 1 ? 1 - b : 0;
    if (b < 1)
        return ((a + 2) * b - (a + 3)) * b * b + 1;
    return b < 2 ? (((b - 5) * b + 8) * b - 4) * a : 0;
}

/* Cells on each side that the filter of an axis spans: when shrinking, it is as wide as 1 / scale. */
static float support_of(const struct resize *r, const struct axis *a)
{
    return (r->kind == LINEAR ? 1.0f : 2.0f) * (a->scale < 1 ? 1 / a->scale : 1);
}

static int32_t taps_count(const struct resize *r, const struct axis *a)
{
    if (!r->antialias)
        return r->kind == LINEAR ? 2 : 4;
    return a->in < 2 * (int32_t)support_of(r, a) + 3 ? a->in : 2 * (int32_t)support_of(r, a) + 3;
}

/* Weights of all cells that the filter covers, their sum 1; those outside count for the edge. */
static void antialias_taps(const struct resize *r, const struct axis *a, int32_t i, int32_t n_taps,
                           int32_t *index, float *weight)
{
    const float centre = 0.5f + (a->scale == 1 ? (float)i : place_of(r, a, i));
    const float support = support_of(r, a), narrow = a->scale < 1 ? a->scale : 1;
    const float low = floorf(centre - support + 0.5f), high = floorf(centre + support + 0.5f);
    const int32_t first = clamped(low, a->in);
    float sum = 0;

    for (int32_t k = 0; k < n_taps; k++) {
        index[k] = clamped((float)(first + k), a->in);
        weight[k] = 0;
    }
    for (float at = low; at < high; at++) {
        const float w = filter(r, (at - centre + 0.5f) * narrow);

        if (r->exclude_outside && (at < 0 || at > (float)(a->in - 1)))
            continue;
        weight[clamped(at, a->in) - first] += w;
        sum += w;
    }
    for (int32_t k = 0; k < n_taps && sum != 0; k++)
        weight[k] /= sum;
}

static void taps_of(const struct resize *r, const struct axis *a, int32_t i, int32_t *index,
                    float *weight)
{
    const float v = place_of(r, a, i), low = floorf(v);
    float sum = 0;

    if (r->kind == LINEAR) {
        const float inside = v < 0 ? 0 : v > (float)(a->in - 1) ? (float)(a->in - 1) : v;

        index[0] = clamped(floorf(inside), a->in);
        index[1] = clamped(floorf(inside) + 1, a->in);
        weight[1] = inside - floorf(inside);
        weight[0] = 1 - weight[1];
        return;
    }
    cubic_weights(r->cubic, v - low, weight);
    for (int k = 0; k < 4; k++) {
        const float at = low + (float)(k - 1);

        if (r->exclude_outside && (at < 0 || at > (float)(a->in - 1)))
            weight[k] = 0;
        index[k] = clamped(at, a->in);
        sum += weight[k];
    }
    for (int k = 0; k < 4 && r->exclude_outside; k++)
        weight[k] /= sum;
}

static uint32_t interpolate(struct ox *m, const struct resize *r, const struct axis *a,
                            uint32_t axis, uint32_t id, const char *name)
{
    const int32_t n_taps = taps_count(r, a), dim[2] = {a->out, n_taps};
    const size_t n = (size_t)a->out * (size_t)n_taps;
    int32_t *index = ARENA_ARRAY(m->arena, int32_t, n);
    float *weight = ARENA_ARRAY(m->arena, float, n);
    struct ox_shape s = ox_shape_of(m, id);
    uint32_t in[3] = {id}, out;

    for (int32_t i = 0; i < a->out; i++)
        if (r->antialias)
            antialias_taps(r, a, i, n_taps, index + i * n_taps, weight + i * n_taps);
        else
            taps_of(r, a, i, index + i * n_taps, weight + i * n_taps);
    in[1] = ox_ir_const(m, ox_inner(m, name, "index"), IR_I32, 2, dim, index);
    in[2] = ox_f32_const(m, ox_inner(m, name, "weight"), 2, dim, weight);
    s.dim[axis] = a->out;
    out = ox_tensor(m, name, IR_F32, s, NULL);
    ox_make_interpolate(m, 3, in, out)->attr[IR_AXIS] = (int32_t)axis;
    return out;
}

static uint32_t gather(struct ox *m, const struct resize *r, const struct axis *a, uint32_t axis,
                       uint32_t id, const char *name)
{
    int32_t *index = ARENA_ARRAY(m->arena, int32_t, (size_t)a->out);

    for (int32_t i = 0; i < a->out; i++)
        index[i] = nearest_to(r, a, place_of(r, a, i));
    return ox_gather(m, name, id, axis, 1, &a->out, index);
}

/* Give the named axes (all without names) the smallest (largest) of their scales, and the size that
 * it makes. */
static void one_scale(struct axis *a, uint32_t rank, uint32_t n_axis, const int64_t *axes,
                      bool smallest)
{
    const uint32_t n = n_axis ? n_axis : rank;
    float scale = smallest ? INFINITY : 0;

    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < n; i++) {
            const int64_t axis = n_axis ? axes[i] : i;
            struct axis *k = &a[axis < 0 ? axis + rank : axis];

            if (pass == 0) {
                scale = smallest ? fminf(scale, k->scale) : fmaxf(scale, k->scale);
                continue;
            }
            k->scale = scale;
            k->out = (int32_t)fmaxf(roundf(scale * (float)k->in), 1);
        }
}

/* Return input `at`, or the constant that Upsample's attribute is before opset 9. */
static const struct ox_value *scales_of(struct ox *m, uint32_t at)
{
    const Onnx__AttributeProto *a = is(m->op, "Upsample") ? ox_attr(m, "scales") : NULL;
    struct ox_value *v;

    if (!a)
        return ox_in(m, at);
    v = ARENA_NEW(m->arena, struct ox_value);
    v->kind = OX_CONST;
    memcpy(ox_new_const(m, &v->c, OX_FLOAT, 1, (const int32_t[]){(int32_t)a->n_floats}), a->floats,
           a->n_floats * sizeof *a->floats);
    return v;
}

/* `scales` or `sizes` for the axes of attribute axes, or for all. */
static enum status read_sizes(struct ox *m, uint32_t rank, const int32_t *dim, struct axis *a)
{
    const uint32_t at = m->opset < 11 || is(m->op, "Upsample") ? 1 : 2;
    const struct ox_value *scales = scales_of(m, at), *sizes = ox_in(m, 3);
    const struct ox_value *v = sizes && sizes->kind == OX_CONST && sizes->c.n != 0 ? sizes : scales;
    const char *policy = ox_attr_text(m, "keep_aspect_ratio_policy", "stretch");
    uint32_t n_axis, k;
    int64_t *axes;

    if (!is(policy, "stretch") && !is(policy, "not_larger") && !is(policy, "not_smaller"))
        return FAIL(m->d, ST_UNSUPPORTED,
                    "keep_aspect_ratio_policy: expected stretch, not_larger or not_smaller");
    for (uint32_t i = 0; i < rank; i++)
        a[i] = (struct axis){dim[i], dim[i], 1};
    TRY(ox_ints(m, IR_NONE, "axes", &n_axis, &axes));
    if (!v || v->kind != OX_CONST || v->real || v->c.n != (n_axis ? n_axis : rank))
        return FAIL(m->d, ST_UNSUPPORTED,
                    "scales or sizes: expected a constant with a number for each axis");
    for (uint32_t i = 0; i < v->c.n; i++) {
        const double x = ox_number(&v->c, i);
        double out;

        TRY(ox_axis(m, "axes", n_axis ? axes[i] : (int64_t)i, rank, &k));
        out = v == sizes ? x : (double)floorf((float)x * (float)dim[k]);
        if (!(out >= 1) || out > INT32_MAX / 4 || !(x > 0))
            return FAIL(m->d, ST_MODEL, "axis %u: %.9g of %d leaves nothing, or too much", k, x,
                        dim[k]);
        a[k].out = (int32_t)out;
        a[k].scale = v == sizes ? (float)a[k].out / (float)a[k].in : (float)x;
    }
    if (v == sizes && !is(policy, "stretch"))
        one_scale(a, rank, n_axis, axes, is(policy, "not_larger"));
    return ST_OK;
}

/* Both neighbours of output i and their weights, as ONNX Runtime has them: a half each where they
 * are one cell. */
static void two_taps(const struct resize *r, const struct axis *a, int32_t i, int32_t *index,
                     float *weight)
{
    const float v = place_of(r, a, i);
    const float inside = v < 0 ? 0 : v > (float)(a->in - 1) ? (float)(a->in - 1) : v;

    index[0] = clamped(inside, a->in);
    index[1] = index[0] + 1 < a->in ? index[0] + 1 : index[0];
    weight[0] = index[0] == index[1] ? 0.5f : fabsf(inside - (float)index[1]);
    weight[1] = index[0] == index[1] ? 0.5f : fabsf(inside - (float)index[0]);
}

/* The last two axes at once, four taps in ONNX Runtime's order of additions: so that quantising
 * what is in the middle of two values goes the same way. */
static uint32_t bilinear(struct ox *m, const struct resize *r, const struct axis *y,
                         const struct axis *x, uint32_t id, const char *name)
{
    const struct ox_shape s = ox_shape_of(m, id);
    const int32_t dim[2] = {y->out * x->out, 4};
    int32_t *index = ARENA_ARRAY(m->arena, int32_t, (size_t)dim[0] * 4);
    float *weight = ARENA_ARRAY(m->arena, float, (size_t)dim[0] * 4);
    struct ox_shape flat = {3, {s.dim[0], s.dim[1], y->in * x->in}};
    uint32_t in[3], out;

    for (int32_t i = 0; i < dim[0]; i++) {
        int32_t iy[2], ix[2];
        float wy[2], wx[2];

        two_taps(r, y, i / x->out, iy, wy);
        two_taps(r, x, i % x->out, ix, wx);
        for (int k = 0; k < 4; k++) {
            index[i * 4 + k] = iy[k / 2] * x->in + ix[k % 2];
            weight[i * 4 + k] = wx[k % 2] * wy[k / 2];
        }
    }
    in[0] = ox_reshape(m, ox_inner(m, name, "flat"), id, flat);
    in[1] = ox_ir_const(m, ox_inner(m, name, "index"), IR_I32, 2, dim, index);
    in[2] = ox_f32_const(m, ox_inner(m, name, "weight"), 2, dim, weight);
    flat.dim[2] = dim[0];
    out = ox_tensor(m, ox_inner(m, name, "taps"), IR_F32, flat, NULL);
    ox_make_interpolate(m, 3, in, out)->attr[IR_AXIS] = 2;
    return ox_reshape(m, name, out, (struct ox_shape){4, {s.dim[0], s.dim[1], y->out, x->out}});
}

/* Return true for an image that is resized as such and small enough for a table of its cells. */
static bool is_bilinear(const struct ox *m, const struct resize *r, const struct ir_tensor *t,
                        const struct axis *a)
{
    return m->options->exact && r->kind == LINEAR && !r->antialias && t->rank == 4 &&
           a[0].out == a[0].in && a[1].out == a[1].in &&
           (int64_t)a[2].out * a[3].out <= MAX_CELLS && (int64_t)a[2].in * a[3].in <= INT32_MAX;
}

/* The quantised values of `id` themselves as float32, for ONNX Runtime's rounding: what DEQUANTIZE makes of
 * them is within a rounding of a multiple of the scale. */
static enum status quantised_as_float(struct ox *m, uint32_t *id, const char *name)
{
    const struct ir_quant *q = &m->g->tensor[*id]->quant;

    if (q->n == 1 && !m->options->exact)
        return ST_OK;
    if (q->n != 1)
        return FAIL(
            m->d, ST_UNSUPPORTED,
            "input '%.80s': expected quantised values whose scale is known here, or float32",
            m->g->tensor[*id]->name);
    TRY(ox_f32_div(m, ox_inner(m, name, "steps"), ox_as_float(m, *id),
                   ox_number_tensor(m, name, q->scale[0]), id));
    TRY(ox_f32_round(m, ox_inner(m, name, "whole"), *id, id));
    return ox_f32_add(m, ox_inner(m, name, "codes"), *id,
                      ox_number_tensor(m, name, (float)q->zero_point[0]), id);
}

/* Give float32 tensor `id`, of quantised values and values between them, the scale of `x` again,
 * rounded towards zero as ONNX Runtime does. */
static enum status quantised_again(struct ox *m, uint32_t x, uint32_t id, const char *name)
{
    const struct ir_tensor *t = m->g->tensor[x];
    const uint32_t zero = ox_number_tensor(m, name, 0);
    uint32_t above, below;

    TRY(ox_f32_maximum(m, ox_inner(m, name, "positive"), id, zero, &above));
    TRY(ox_f32_floor(m, ox_inner(m, name, "above"), above, &above));
    TRY(ox_f32_minimum(m, ox_inner(m, name, "negative"), id, zero, &below));
    TRY(ox_f32_ceil(m, ox_inner(m, name, "below"), below, &below));
    TRY(ox_f32_add(m, ox_inner(m, name, "cut"), above, below, &id));
    TRY(ox_f32_sub(m, ox_inner(m, name, "offset"), id,
                   ox_number_tensor(m, name, (float)t->quant.zero_point[0]), &id));
    TRY(ox_f32_mul(m, ox_inner(m, name, "real"), id, ox_number_tensor(m, name, t->quant.scale[0]),
                   &id));
    ox_set_tensor(m, 0, ox_quantized(m, name, id, t->type, &t->quant), false);
    return ST_OK;
}

/* Return true if no axis has another size or scale: the values stay. */
static bool is_same(uint32_t rank, const struct axis *a)
{
    for (uint32_t i = 0; i < rank; i++)
        if (a[i].out != a[i].in || a[i].scale != 1)
            return false;
    return true;
}

/* Interpolated values are the result, or quantised values of `x` if that is where they come
 * from: rounded to the nearest, or as ONNX Runtime rounds them. */
static enum status set_result(struct ox *m, const struct ox_value *x, bool quantised, uint32_t id,
                              bool real)
{
    const struct ir_tensor *t = m->g->tensor[x->tensor];

    if (quantised && m->options->exact)
        return quantised_again(m, x->tensor, id, ox_out(m, 0)->name);
    if (quantised)
        id = ox_quantized(m, ox_out(m, 0)->name, id, t->type, &t->quant);
    ox_set_tensor(m, 0, id, real);
    return ST_OK;
}

static enum status check_antialias(struct ox *m, const struct resize *r, bool quantised,
                                   uint32_t rank, const struct axis *a)
{
    if (quantised)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "antialias of quantised values: expected the output of a DequantizeLinear");
    for (uint32_t i = 0; i < rank; i++)
        if (!(support_of(r, &a[i]) <= MAX_SUPPORT))
            return FAIL(m->d, ST_UNSUPPORTED,
                        "antialias: axis %u: a filter of %.9g cells: expected at most %d", i,
                        (double)support_of(r, &a[i]), MAX_SUPPORT);
    return ST_OK;
}

enum status ox_resize(struct ox *m)
{
    const char *name = ox_out(m, 0)->name;
    struct axis a[IR_MAX_RANK];
    struct ox_value *x;
    struct resize r;
    uint32_t id;
    bool real, quantised;

    TRY(read_modes(m, &r));
    if (!ox_in(m, 0))
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    TRY(read_sizes(m, ox_rank(m, ox_in(m, 0)), ox_dim(m, ox_in(m, 0)), a));
    if (is_same(ox_rank(m, ox_in(m, 0)), a))
        return ox_identity(m);
    TRY(ox_values(m, &x));
    id = x->tensor;
    real = x->real;
    quantised = r.kind != NEAREST && !real && m->g->tensor[id]->type != IR_F32;
    if (r.antialias && r.kind != NEAREST)
        TRY(check_antialias(m, &r, quantised, m->g->tensor[id]->rank, a));
    if (quantised)
        TRY(quantised_as_float(m, &id, name));
    if (r.kind != NEAREST) {
        id = ox_as_float(m, id);
        real = false;
    }
    if (is_bilinear(m, &r, m->g->tensor[x->tensor], a))
        return set_result(m, x, quantised,
                          bilinear(m, &r, &a[2], &a[3], id, ox_inner(m, name, "axes")), false);
    for (uint32_t i = 0; i < m->g->tensor[x->tensor]->rank; i++) {
        struct ox_shape s = ox_shape_of(m, id);
        const uint32_t k = r.antialias ? s.rank - 1 - i : i; /* rows first, as ONNX Runtime */

        s.dim[k] = a[k].out;
        if (!ir_shape_ok(s.rank, s.dim, m->g->tensor[id]->type))
            return FAIL(m->d, ST_MODEL, "axis %u: %d are too many", k, a[k].out);
        if (a[k].out == a[k].in && a[k].scale == 1)
            continue;
        id = r.kind == NEAREST ? gather(m, &r, &a[k], k, id, ox_inner(m, name, "axis"))
                               : interpolate(m, &r, &a[k], k, id, ox_inner(m, name, "axis"));
    }
    return set_result(m, x, quantised, id, real);
}
