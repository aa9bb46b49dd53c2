/* onnx_narrow.c - arithmetic of integers: 8-bit numbers without a scale are computed in int64 and
 * wrap into their type; functions of one integer are made of those of two, softmax over several
 * axes of that over one. */
#include "compiler/import/onnx/onnx_import.h"
#include "compiler/import/onnx/rewrites/onnx_rewrites.h"

#include <string.h>

enum { MAX_PRODUCTS = 256 }; /* of CumProd, unrolled */

static bool listed(const char *list, const char *op)
{
    const size_t n = strlen(op);
    const char *p = strstr(list, op);

    return p && (p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0');
}

/* The 8-bit type of input `i`, if it is a tensor or constant of plain numbers; or 0. */
static int32_t narrow_type(const struct ox *m, uint32_t i)
{
    const struct ox_value *v = ox_in(m, i);
    const enum ir_type type =
        v && v->kind == OX_TENSOR ? m->g->tensor[v->tensor]->type : IR_TYPE_COUNT;

    if (!v || v->real)
        return 0;
    if (v->kind == OX_CONST)
        return v->c.type == OX_INT8 || v->c.type == OX_UINT8 ? v->c.type : 0;
    return type == IR_I8 ? OX_INT8 : type == IR_U8 ? OX_UINT8 : 0;
}

static bool is_integer(const struct ox *m, uint32_t i)
{
    return ox_is_integer(m, ox_in(m, i));
}

static bool is_known(const struct ox *m, uint32_t i)
{
    return ox_in(m, i) == NULL || ox_in(m, i)->kind == OX_CONST;
}

/* Attributes of the node, passed on. */
static const char *attributes(struct ox *m)
{
    struct text t;

    text_init(&t, m->arena);
    for (size_t i = 0; i < m->node->n_attribute; i++)
        text_printf(&t, "%s%s=@%s", i ? ", " : "; ", m->node->attribute[i]->name,
                    m->node->attribute[i]->name);
    return t.length ? t.data : "";
}

/* An operator of 8-bit numbers in int64. */
static enum status widened(struct ox *m, int32_t type, bool compares)
{
    struct text t;

    text_init(&t, m->arena);
    for (uint32_t i = 0; i < m->node->n_input; i++)
        if (ox_in(m, i))
            text_printf(&t, "x%u = Cast($%u; to=7);", i, i);
    text_printf(&t, "%s = %s(", compares ? "%0" : "y", m->op);
    for (uint32_t i = 0; i < m->node->n_input; i++)
        text_printf(&t, ox_in(m, i) ? "%sx%u" : "%s$%u", i ? ", " : "", i);
    text_printf(&t, "%s);", attributes(m));
    if (!compares && type == OX_INT8)
        text_add(&t, "s = Add(y, 128); w = Mod(s, 256); z = Sub(w, 128); %0 = Cast(z; to=3)");
    else if (!compares)
        text_add(&t, "w = Mod(y, 256); %0 = Cast(w; to=2)");
    return ox_expand(m, t.data);
}

/* Functions of one integer. */
static const char *unary_text(const char *op)
{
    static const char *const text[][2] = {
        {"Abs", "z = Sub($0, $0); n = Sub(z, $0); %0 = Max($0, n)"},
        {"Neg", "z = Sub($0, $0); %0 = Sub(z, $0)"},
        {"Relu", "z = Sub($0, $0); %0 = Max($0, z)"},
        {"Sign", "z = Sub($0, $0); p = Greater($0, z); n = Less($0, z); a = CastLike(p, $0);"
                 "b = CastLike(n, $0); %0 = Sub(a, b)"},
    };

    for (uint32_t i = 0; i < sizeof text / sizeof *text; i++)
        if (strcmp(text[i][0], op) == 0)
            return text[i][1];
    return NULL;
}

/* Maximum and minimum with bounds that are computed, or of integers. */
static enum status clip(struct ox *m)
{
    const bool low = ox_in(m, 1) != NULL, high = ox_in(m, 2) != NULL;

    return ox_expandf(m, "%s = %s($0%s); %s%s%s", low && high ? "a" : "%0",
                      low    ? "Max"
                      : high ? "Min"
                             : "Identity",
                      low    ? ", $1"
                      : high ? ", $2"
                             : "",
                      low && high ? "%0 = Min(a" : "", low && high ? ", $2" : "",
                      low && high ? ")" : "");
}

/* The code that bounds Clip at input `i`, `otherwise` without one; false if that is computed. */
static bool code_bound(const struct ox *m, uint32_t i, int32_t otherwise, int32_t *code)
{
    const struct ox_value *v = ox_in(m, i);

    *code = v && v->kind == OX_CONST && v->c.n == 1 ? (int32_t)ox_int(&v->c, 0) : otherwise;
    return !v || (v->kind == OX_CONST && v->c.n == 1);
}

/* Quantised values of `type` kept in fewer bits, as Brevitas exports them: a clamp at the values of the bounds. */
static bool clip_codes(struct ox *m, int32_t type)
{
    const struct ox_value *x = ox_in(m, 0);
    const struct ir_quant *q = &m->g->tensor[x->tensor]->quant;
    int32_t low, high;

    if (q->n != 1 || !code_bound(m, 1, ox_lowest(type), &low) ||
        !code_bound(m, 2, ox_highest(type), &high))
        return false;
    ox_set_tensor(m, 0,
                  ox_clipped(m, ox_out(m, 0)->name, x->tensor,
                             q->scale[0] * (float)(low - q->zero_point[0]),
                             q->scale[0] * (float)(high - q->zero_point[0])),
                  false);
    return true;
}

/* Clip of anything but float32 with bounds that are known. */
static bool clips(struct ox *m, int32_t type, enum status *st)
{
    if (type && ox_in(m, 0)->kind != OX_CONST && clip_codes(m, type))
        *st = ST_OK;
    else if (type && ox_in(m, 0)->kind != OX_CONST)
        *st = widened(m, type, false);
    else if (type ||
             (m->node->n_input > 1 && (is_integer(m, 0) || !is_known(m, 1) || !is_known(m, 2))))
        *st = clip(m);
    else
        return false;
    return true;
}

/* Compute Pow of a real base by an integer in float32. An integer base is refused: float32 has its
 * results up to 2^24 only. */
static enum status power(struct ox *m)
{
    if (is_integer(m, 0))
        return FAIL(m->d, ST_UNSUPPORTED, "base '%.80s': expected float32, found %s",
                    m->node->input[0], ir_type_name(m->g->tensor[ox_in(m, 0)->tensor]->type));
    return ox_expand(m, "e = Cast($1; to=1); %0 = Pow($0, e)");
}

/* x minus the multiple of y below it (or, fmod, next to it towards 0). */
static enum status real_mod(struct ox *m)
{
    if (ox_attr_int(m, "fmod", 0) == 0)
        return ox_expand(m, "q = Div($0, $1); f = Floor(q); p = Mul(f, $1); r = Sub($0, p);"
                            "b = Abs($1); i = Equal(b, inf); g = Sign($1); h = Mul($0, g);"
                            "n = Less(h, 0.0); e = Where(n, $1, $0);"
                            "%0 = Where(i, e, r)");
    return ox_expand(m, "a = Abs($0); b = Abs($1); q = Div(a, b); f = Floor(q); p = Mul(f, b);"
                        "r = Sub(a, p); s = Sign($0); t = Mul(s, r); i = Equal(b, inf);"
                        "%0 = Where(i, $0, t)");
}

static bool dilated(const struct ox *m)
{
    const Onnx__AttributeProto *a = ox_attr(m, "dilations");

    for (size_t i = 0; a && i < a->n_ints; i++)
        if (a->ints[i] != 1)
            return true;
    return false;
}

/* A normalisation whose parameters are computed. */
static enum status computed_norm(struct ox *m, uint32_t rank)
{
    const char *list = ox_channel_list(m, rank), *affine = "w = Mul(q, g); %0 = Add(w, b)";
    int64_t axes[IR_MAX_RANK];

    for (uint32_t i = 2; i < rank; i++)
        axes[i - 2] = i;
    if (listed("BatchNormalization", m->op))
        return ox_expandf(m,
                          "g = Reshape($1, %s); b = Reshape($2, %s); u = Reshape($3, %s);"
                          "v = Reshape($4, %s); d = Sub($0, u); e = Add(v, @epsilon|1e-5f);"
                          "r = Sqrt(e); q = Div(d, r); %s",
                          list, list, list, list, affine);
    if (listed("InstanceNormalization", m->op))
        return ox_expandf(m,
                          "g = Reshape($1, %s); b = Reshape($2, %s); u = ReduceMean($0, %s);"
                          "d = Sub($0, u); s = Mul(d, d); v = ReduceMean(s, %s);"
                          "e = Add(v, @epsilon|1e-5f); r = Sqrt(e); q = Div(d, r); %s",
                          list, list, ox_list(m, rank - 2, axes), ox_list(m, rank - 2, axes),
                          affine);
    return ox_expandf(
        m,
        "g = Reshape($1, %s); b = Reshape($2, %s); p = Reshape($0, [0,%lld,-1]);"
        "u = ReduceMean(p, [2]); d = Sub(p, u); s = Mul(d, d); v = ReduceMean(s, [2]);"
        "e = Add(v, @epsilon|1e-5f); r = Sqrt(e); n = Div(d, r); h = Shape($0);"
        "q = Reshape(n, h); %s",
        list, list, (long long)ox_attr_int(m, "num_groups", 1), affine);
}

/* The average or maximum of all cells of each channel, in a row. */
static enum status global_pool(struct ox *m, uint32_t rank)
{
    int64_t dim[IR_MAX_RANK] = {0, 0, 1, 1, 1, 1};

    return ox_expandf(m, "r = Reshape($0, [0,0,-1]); p = %s(r); %%0 = Reshape(p, %s)", m->op,
                      ox_list(m, rank, dim));
}

/* QLinearConcat of constants alone, as an exporter leaves it of weights; false: it is another. */
static bool concat_constants(struct ox *m, enum status *st)
{
    const uint32_t n = (uint32_t)(m->node->n_input - 2) / 3;
    struct text text;

    text_init(&text, m->arena);
    for (uint32_t i = 0; i < n; i++) {
        if (!ox_in(m, 2 + 3 * i) || !is_known(m, 2 + 3 * i))
            return false;
        text_printf(&text, "d_%u = DequantizeLinear($%u, $%u, $%u);", i, 2 + 3 * i, 3 + 3 * i,
                    4 + 3 * i);
    }
    text_add(&text, "c = Concat(");
    for (uint32_t i = 0; i < n; i++)
        text_printf(&text, "%sd_%u", i == 0 ? "" : ", ", i);
    text_add(&text, "; axis=@axis); %0 = QuantizeLinear(c, $0, $1)");
    *st = ox_expand(m, text.data);
    return true;
}

/* BatchNormalization of rows (after a dense layer) or of volumes, as one of images. */
static enum status norm_of_image(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    const uint32_t rank = ox_rank(m, x);
    int64_t dim[IR_MAX_RANK];
    struct text text;

    for (uint32_t i = 0; i < rank; i++)
        dim[i] = ox_dim(m, x)[i];
    text_init(&text, m->arena);
    text_add(&text, "r = Reshape($0, [0,0,-1]);"
                    "y = BatchNormalization(r, $1, $2, $3, $4; epsilon=@epsilon);");
    text_printf(&text, "%%0 = Reshape(%s, %s)", ox_quantise_inside(m, &text, "y"),
                ox_list(m, rank, dim));
    return ox_expand(m, text.data);
}

/* Operators of windows and channels whose own handlers want constants or images. */
static bool of_images(struct ox *m, enum status *st)
{
    const struct ox_value *x = ox_in(m, 0);
    const uint32_t rank = x ? ox_rank(m, x) : 0;

    if (listed("BatchNormalization", m->op) && rank > 1 && (rank < 3 || rank > 4) &&
        is_known(m, 1) && is_known(m, 2) && ox_attr_int(m, "spatial", 1) == 1 &&
        ox_attr_int(m, "training_mode", 0) == 0 && !m->options->exact && !ox_norm_after_dense(m))
        *st = norm_of_image(m);
    else if (rank < 3)
        return false;
    else if (listed("Conv", m->op) && (!is_known(m, 1) || !is_known(m, 2)))
        *st = ox_conv_taps(m);
    else if (listed("ConvTranspose", m->op) && rank < 6 &&
             (rank == 5 || !is_known(m, 1) || !is_known(m, 2)))
        *st = ox_transposed_taps(m);
    else if (listed("Conv ConvInteger QLinearConv", m->op) && rank == 5)
        *st = ox_conv_depths(m);
    else if (listed("AveragePool", m->op) && rank <= 4 && !dilated(m) &&
             ox_attr_int(m, "ceil_mode", 0) != 0 && ox_attr_int(m, "count_include_pad", 0) != 0)
        *st = ox_pool_counted(m);
    else if (listed("GlobalAveragePool GlobalMaxPool", m->op) && rank > 4)
        *st = global_pool(m, rank);
    else if (listed("AveragePool MaxPool", m->op) &&
             (rank > 4 || dilated(m) || ox_has_output(m, 1)))
        *st = ox_pool_taps(m);
    else if (listed("BatchNormalization GroupNormalization InstanceNormalization", m->op) &&
             !(is_known(m, 1) && is_known(m, 2) && is_known(m, 3) && is_known(m, 4)) &&
             ox_attr_int(m, "training_mode", 0) == 0 &&
             m->opset >= (listed("GroupNormalization", m->op) ? 21 : 9))
        *st = computed_norm(m, rank);
    else
        return false;
    return true;
}

/* ArgMax takes the first of equal values: reverse the elements to take the last. */
static enum status arg_last(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    uint32_t axis;

    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", 0), ox_rank(m, x), &axis));
    return ox_expandf(m,
                      "r = Slice($0, [-1], [-2147483648], [%u], [-1]);"
                      "p = %s(r; axis=%u, keepdims=@keepdims); %%0 = Sub(%d, p)",
                      axis, m->op, axis, ox_dim(m, x)[axis] - 1);
}

/* QLinear operators with a computed scale, as what they mean. */
static enum status computed_scales(struct ox *m)
{
    const bool conv = listed("QLinearConv", m->op);

    return ox_expandf(m,
                      "a = DequantizeLinear($0, $1, $2); b = DequantizeLinear($3, $4, $5);"
                      "y = %s(a, b%s); %%0 = QuantizeLinear(y, $6, $7)",
                      conv ? "Conv" : "MatMul", conv ? attributes(m) : "");
}

/* Pad with a computed number: zeros, and the number wherever ones are not padded. */
static enum status computed_pad(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    struct ox_const c;
    float *one = ox_new_const(m, &c, OX_FLOAT, ox_rank(m, x), ox_dim(m, x));

    for (uint64_t i = 0; i < c.n; i++)
        one[i] = 1;
    ox_inner_const(m, "ones", &c);
    return ox_expand(m, "f = Pad(ones, $1, 0.0, $3); in = Greater(f, 0.5); z = CastLike(0, $0);"
                        "p = Pad($0, $1, z, $3); %0 = Where(in, p, $2)");
}

/* Running sums or products along a computed axis: those along each axis, and the one selected. */
static enum status computed_axis(struct ox *m)
{
    const uint32_t rank = ox_rank(m, ox_in(m, 0));
    struct text t;

    text_init(&t, m->arena);
    text_printf(&t, "c = Cast($1; to=7); r = Reshape(c, [1]); k = Mod(r, %u);", rank);
    for (uint32_t i = 0; i < rank; i++) {
        text_printf(&t, "y%u = %s($0, %u%s);", i, m->op, i, attributes(m));
        text_printf(&t, "e%u = Equal(k, %u);", i, i);
        if (i == 0)
            text_add(&t, "s0 = Identity(y0);");
        else
            text_printf(&t, "s%u = Where(e%u, y%u, s%u);", i, i, i, i - 1);
    }
    text_printf(&t, "%%0 = Identity(s%u)", rank - 1);
    return ox_expand(m, t.data);
}

/* Running products, one after another. */
enum status ox_cumprod(struct ox *m)
{
    const bool exclusive = ox_attr_int(m, "exclusive", 0) != 0;
    const bool reverse = ox_attr_int(m, "reverse", 0) != 0;
    const struct ox_value *x = ox_in(m, 0);
    const struct ox_const *c;
    int32_t one[IR_MAX_RANK], n;
    struct text t, list;
    struct ox_const ones;
    uint32_t axis;
    float *value;

    TRY(ox_want_const(m, 1, "axis", &c));
    TRY(ox_axis(m, "axis", ox_int(c, 0), x ? ox_rank(m, x) : 0, &axis));
    memcpy(one, ox_dim(m, x), sizeof one);
    n = one[axis];
    one[axis] = 1;
    if (n > MAX_PRODUCTS)
        return FAIL(m->d, ST_UNSUPPORTED, "products of %d values: expected at most %d", n,
                    MAX_PRODUCTS);
    text_init(&t, m->arena);
    text_init(&list, m->arena);
    value = ox_new_const(m, &ones, OX_FLOAT, ox_rank(m, x), one);
    for (uint64_t i = 0; i < ones.n; i++)
        value[i] = 1;
    ox_inner_const(m, "ones", &ones);
    text_add(&t, "p_0 = CastLike(ones, $0);");
    for (int32_t i = 0; i < n; i++) {
        const int32_t at = reverse ? n - 1 - i : i;

        text_printf(&t, "x_%d = Slice($0, [%d], [%d], [%u]); p_%d = Mul(p_%d, x_%d);", i, at,
                    at + 1, axis, i + 1, i, i);
        text_printf(&list, "%sp_%d", i ? ", " : "", at + !exclusive); /* at, in the file's order */
    }
    return ox_expandf(m, "%s %%0 = Concat(%s; axis=%u)", t.data, list.data, axis);
}

bool ox_narrow(struct ox *m, enum status *st)
{
    static const char compared[] = "Equal Greater GreaterOrEqual Less LessOrEqual";
    static const char computed[] = "Abs Add BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor "
                                   "Div Max Min Mod Mul Neg Pow Relu Sign Sub Sum";
    const bool compares = listed(compared, m->op);
    const int32_t type = narrow_type(m, 0);

    if (of_images(m, st) || (listed("Clip", m->op) && clips(m, type, st)) ||
        (listed("QLinearConcat", m->op) && m->node->n_input > 4 && m->node->n_input % 3 == 2 &&
         concat_constants(m, st)))
        return true;
    if (listed("QLinearConv QLinearMatMul", m->op) &&
        !(is_known(m, 1) && is_known(m, 4) && is_known(m, 6)) && m->node->n_input == 8)
        return *st = computed_scales(m), true;
    if (listed("Pad", m->op) && ox_in(m, 0) && ox_in(m, 0)->kind != OX_CONST && !is_known(m, 2) &&
        strcmp(ox_attr_text(m, "mode", "constant"), "constant") == 0)
        return *st = computed_pad(m), true;
    if (listed("CumProd CumSum", m->op) && !is_known(m, 1) && ox_in(m, 0) &&
        ox_rank(m, ox_in(m, 0)) > 0)
        return *st = computed_axis(m), true;
    if (listed("ArgMax ArgMin", m->op) && ox_in(m, 0) &&
        ox_attr_int(m, "select_last_index", 0) != 0) {
        *st = arg_last(m);
        return true;
    }
    if (listed("MatMul", m->op) && ox_in(m, 0) && ox_in(m, 1) && ox_rank(m, ox_in(m, 0)) == 1)
        *st = ox_expandf(m, "a = Unsqueeze($0, [0]); y = MatMul(a, $1); %%0 = Squeeze(y, [%d])",
                         ox_rank(m, ox_in(m, 1)) > 1 ? -2 : 0);
    else if (listed("MatMul", m->op) && ox_in(m, 1) && ox_rank(m, ox_in(m, 1)) == 1)
        *st = ox_expand(m, "b = Unsqueeze($1, [1]); y = MatMul($0, b); %0 = Squeeze(y, [-1])");
    else if (type && (compares || listed(computed, m->op)))
        *st = widened(m, type, compares);
    else if (is_integer(m, 0) && unary_text(m->op))
        *st = ox_expand(m, unary_text(m->op));
    else if (listed("Pow", m->op) && (is_integer(m, 0) || is_integer(m, 1)))
        *st = power(m);
    else if (listed("Mod", m->op) && !type && !is_integer(m, 0) && !is_integer(m, 1))
        *st = real_mod(m);
    else if (listed("Mod", m->op) && is_integer(m, 0) && ox_attr_int(m, "fmod", 0) != 0)
        *st = ox_expand(m, "q = Div($0, $1); p = Mul(q, $1); %0 = Sub($0, p)");
    else if (listed("Max Min Sum", m->op) && is_integer(m, 0) && m->node->n_input > 2) {
        struct text t;

        text_init(&t, m->arena);
        text_printf(&t, "y1 = %s($0, $1);", m->op);
        for (uint32_t i = 2; i < m->node->n_input; i++)
            text_printf(&t, "y%u = %s(y%u, $%u);", i, m->op, i - 1, i);
        text_printf(&t, "%%0 = Identity(y%zu)", m->node->n_input - 1);
        *st = ox_expand(m, t.data);
    } else {
        return false;
    }
    return true;
}

/* By 2^k in two halves: products, or quotients rounded down. A shift outside 0 .. 63 leaves no bit but the sign. */
enum status ox_bit_shift(struct ox *m)
{
    const bool left = strcmp(ox_attr_text(m, "direction", ""), "LEFT") == 0;

    return ox_expandf(
        m,
        "x = Cast($0; to=7); k = Cast($1; to=7); n = Less(k, 0); g = Greater(k, 63);"
        "o = Or(n, g); z = Where(o, 0, k); a = Div(z, 2); b = Sub(z, a);"
        "fa = Cast(a; to=1); fb = Cast(b; to=1); ea = Pow(2.0, fa); eb = Pow(2.0, fb);"
        "pa = Cast(ea; to=7); pb = Cast(eb; to=7); s = Less(x, 0); i = Where(s, -1, 0);"
        "%s y = Where(o, %s, q); %%0 = CastLike(y, $0)",
        left ? "t = Mul(x, pa); q = Mul(t, pb);"
             : "ra = Mod(x, pa); da = Sub(x, ra); qa = Div(da, pa); rb = Mod(qa, pb);"
               "db = Sub(qa, rb); q = Div(db, pb);",
        left ? "0" : "i");
}

/* -1 - x, modulo the type's range at the border. */
enum status ox_bitwise_not(struct ox *m)
{
    return ox_expand(m, "o = CastLike(-1, $0); %0 = Sub(o, $0)");
}

/* Return true if more than one axis of size above 1 is in a row, which begins at axis *rows. */
static bool spans_axes(struct ox *m, const struct ox_shape *s, uint32_t *rows)
{
    const int64_t axis = ox_attr_int(m, "axis", 1);

    if (axis < -(int64_t)s->rank || axis >= (int64_t)s->rank)
        return false; /* refused below */
    *rows = (uint32_t)(axis < 0 ? axis + s->rank : axis);
    for (uint32_t i = *rows + 1; i < s->rank; i++)
        if (s->dim[i] != 1)
            return true;
    return false;
}

enum status ox_softmax(struct ox *m)
{
    struct ox_shape s;
    uint32_t id, rows;

    TRY(ox_operand(m, 0, "input", &id));
    s = ox_shape_of(m, id);
    if (m->opset < 13 && spans_axes(m, &s, &rows))
        return ox_expandf(m,
                          "rows = Flatten($0; axis=%u); s = %s(rows; axis=1); %%0 = Reshape(s, %s)",
                          rows, m->op, ox_shape_list(m, &s));
    return ox_softmax_row(m, id);
}
