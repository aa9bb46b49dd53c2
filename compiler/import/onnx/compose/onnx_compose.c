/* onnx_compose.c - operators as others, by texts of onnx_expand.c that depend on shapes. */
#include "compiler/import/onnx/onnx_import.h"

#include <math.h>
#include <string.h>

/* Type of the file's numbers that value `v` has, in the IR's terms. */
static int32_t type_of(const struct ox *m, const struct ox_value *v)
{
    static const int32_t types[IR_TYPE_COUNT] = {
        [IR_I8] = OX_INT8,   [IR_U8] = OX_UINT8,  [IR_I32] = OX_INT32,
        [IR_I64] = OX_INT64, [IR_F32] = OX_FLOAT, [IR_BOOL] = OX_BOOL};

    if (v->real || v->kind == OX_PENDING)
        return OX_FLOAT;
    return v->kind == OX_CONST ? v->c.type : types[m->g->tensor[v->tensor]->type];
}

enum status ox_cast_like(struct ox *m)
{
    if (!ox_in(m, 0) || !ox_in(m, 1))
        return FAIL(m->d, ST_MODEL, "input %d is absent", ox_in(m, 0) != NULL);
    return ox_expandf(m, "%%0 = Cast($0; to=%d)", type_of(m, ox_in(m, 1)));
}

/* Axes `from` to the last, as a list. */
static const char *last_axes(struct ox *m, uint32_t from, uint32_t rank)
{
    int64_t axes[IR_MAX_RANK];

    for (uint32_t i = from; i < rank; i++)
        axes[i - from] = i;
    return ox_list(m, rank - from, axes);
}

enum status ox_rms_norm(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    uint32_t axis;

    if (!x)
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", -1), ox_rank(m, x), &axis));
    return ox_expandf(m,
                      "s = Mul($0, $0); v = ReduceMean(s, %s); e = Add(v, @epsilon|1e-5f);"
                      "r = Sqrt(e); n = Div($0, r); %%0 = Mul(n, $1)",
                      last_axes(m, axis, ox_rank(m, x)));
}

/* 1 at the first of the largest along the axis. */
enum status ox_hardmax(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    uint32_t axis;

    if (!x)
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    if (m->opset < 13)
        return FAIL(m->d, ST_UNSUPPORTED, "before opset 13: rows of several axes");
    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", -1), ox_rank(m, x), &axis));
    ox_inner_places(m, ox_rank(m, x), axis, ox_dim(m, x)[axis]);
    return ox_expandf(m,
                      "p = ArgMax($0; axis=%u, keepdims=1); h = Equal(p, places);"
                      "%%0 = CastLike(h, $0)",
                      axis);
}

/* The diagonal of each place of the last two dimensions, compared with a computed one. */
static enum status computed_trilu(struct ox *m, bool upper, const int32_t *dim)
{
    struct ox_const c;
    int64_t *diagonal = ox_new_const(m, &c, OX_INT64, 2, dim);

    for (int64_t i = 0; i < (int64_t)c.n; i++)
        diagonal[i] = i % dim[1] - i / dim[1];
    ox_inner_const(m, "diagonal", &c);
    return ox_expandf(m,
                      "k = Reshape($1, [1]); keep = %sOrEqual(diagonal, k); z = CastLike(0, $0);"
                      "%%0 = Where(keep, $0, z)",
                      upper ? "Greater" : "Less");
}

/* 1 - what is kept, as bool of the last two dimensions. */
enum status ox_trilu(struct ox *m)
{
    const bool upper = ox_attr_int(m, "upper", 1) != 0;
    const struct ox_value *x = ox_in(m, 0);
    const struct ox_const *diagonal;
    int64_t k = 0;
    struct ox_const c;
    uint8_t *keep;
    const int32_t *dim;

    if (!x || ox_rank(m, x) < 2)
        return FAIL(m->d, ST_MODEL, "input: expected at least 2 dimensions");
    if (ox_in(m, 1) && ox_in(m, 1)->kind != OX_CONST)
        return computed_trilu(m, upper, ox_dim(m, x) + ox_rank(m, x) - 2);
    if (ox_in(m, 1)) {
        TRY(ox_want_const(m, 1, "k", &diagonal));
        k = ox_int(diagonal, 0);
    }
    dim = ox_dim(m, x) + ox_rank(m, x) - 2;
    keep = ox_new_const(m, &c, OX_BOOL, 2, dim);
    for (int64_t i = 0; i < (int64_t)c.n; i++)
        keep[i] = (uint8_t)(upper ? i % dim[1] >= i / dim[1] + k : i % dim[1] <= i / dim[1] + k);
    ox_inner_const(m, "keep", &c);
    return ox_expandf(m, "z = CastLike(0, $0); %%0 = Where(keep, $0, z)");
}

enum status ox_is_inf(struct ox *m)
{
    const bool low = ox_attr_int(m, "detect_negative", 1) != 0;
    const bool high = ox_attr_int(m, "detect_positive", 1) != 0;

    if (!low && !high)
        return FAIL(m->d, ST_UNSUPPORTED, "expected detect_negative or detect_positive");
    return ox_expand(m, low && high ? "a = Abs($0); %0 = Equal(a, inf)"
                        : low       ? "%0 = Equal($0, -inf)"
                                    : "%0 = Equal(inf, $0)");
}

/* (count * average of |x|^p)^(1/p) */
enum status ox_lp_pool(struct ox *m)
{
    const double p = (double)ox_attr_int(m, "p", 2);
    const Onnx__AttributeProto *kernel = ox_attr(m, "kernel_shape");
    double count = 1;

    if (ox_attr_int(m, "ceil_mode", 0) != 0)
        return FAIL(m->d, ST_UNSUPPORTED, "ceil_mode: expected 0");
    for (size_t i = 0; kernel && i < kernel->n_ints; i++)
        count *= (double)kernel->ints[i];
    return ox_expandf(
        m,
        "a = Abs($0); q = Pow(a, %.1f); s = AveragePool(q; kernel_shape=@kernel_shape,"
        "strides=@strides, pads=@pads, auto_pad=@auto_pad, dilations=@dilations,"
        "count_include_pad=1); c = Mul(s, %.1f); %%0 = Pow(c, %.9ef)",
        p, count, 1 / p);
}

/* (sum of |x|^p)^(1/p) over all cells of each channel. */
enum status ox_global_lp_pool(struct ox *m)
{
    const double p = (double)ox_attr_int(m, "p", 2);
    const struct ox_value *x = ox_in(m, 0);

    if (!x || ox_rank(m, x) < 3 || p < 1)
        return FAIL(m->d, ST_MODEL, "expected at least 3 dimensions and p of at least 1");
    return ox_expandf(m, "a = Abs($0); q = Pow(a, %.1f); s = ReduceSum(q, %s); %%0 = Pow(s, %.9ef)",
                      p, last_axes(m, 2, ox_rank(m, x)), 1 / p);
}

/* Over `size` channels: their average by a pool of the channels as rows. */
enum status ox_lrn(struct ox *m)
{
    const int64_t size = ox_attr_int(m, "size", 1);
    const struct ox_value *x = ox_in(m, 0);
    struct ox_shape s = {0};

    if (!x || ox_rank(m, x) < 2)
        return FAIL(m->d, ST_MODEL, "input: expected at least 2 dimensions");
    s.rank = ox_rank(m, x);
    memcpy(s.dim, ox_dim(m, x), sizeof s.dim);
    return ox_expandf(
        m,
        "q = Mul($0, $0); r = Reshape(q, [%d,1,%d,-1]); a = AveragePool(r; kernel_shape=[%lld,1],"
        "pads=[%lld,0,%lld,0], count_include_pad=1); b = Reshape(a, %s);"
        "c = Mul(b, @alpha|1e-4f); d = Add(c, @bias|1.0); e = Pow(d, @beta|0.75f); %%0 = Div($0, "
        "e)",
        s.dim[0], s.dim[1], (long long)size, (long long)((size - 1) / 2), (long long)(size / 2),
        ox_shape_list(m, &s));
}

/* Sizes of input 1 along the axes: the middle of what is larger, zeros around what is smaller. */
enum status ox_center_crop_pad(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    int64_t from[IR_MAX_RANK], to[IR_MAX_RANK], pads[2 * IR_MAX_RANK] = {0}, *axes;
    const struct ox_const *sizes;
    uint32_t n, rank, k;

    if (!x)
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    TRY(ox_want_const(m, 1, "shape", &sizes));
    TRY(ox_ints(m, IR_NONE, "axes", &n, &axes));
    rank = ox_rank(m, x);
    for (uint32_t i = 0; i < rank; i++) {
        from[i] = 0;
        to[i] = ox_dim(m, x)[i];
    }
    if (sizes->n != (n ? n : rank))
        return FAIL(m->d, ST_MODEL, "shape: expected a size for each axis");
    for (uint32_t i = 0; i < sizes->n; i++) {
        int64_t size = ox_int(sizes, i), have;

        TRY(ox_axis(m, "axes", n ? axes[i] : (int64_t)i, rank, &k));
        have = to[k];
        if (size < 1)
            return FAIL(m->d, ST_UNSUPPORTED, "shape: size %lld", (long long)size);
        if (size < have) {
            from[k] = (have - size) / 2;
            to[k] = from[k] + size;
        } else {
            pads[k] = (size - have) / 2;
            pads[rank + k] = size - have - pads[k];
        }
    }
    return ox_expandf(m, "c = Slice($0, %s, %s); %%0 = Pad(c, %s)", ox_list(m, rank, from),
                      ox_list(m, rank, to), ox_list(m, 2 * rank, pads));
}
