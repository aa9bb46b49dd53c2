/* onnx_slice.c - nodes that cut, fill and shuffle quantised values: Slice, Split, Pad, Gather,
 * DepthToSpace, SpaceToDepth. DequantizeLinear before one holds after it. */
#include "compiler/import/onnx/onnx_import.h"

#include <string.h>

/* Input 0: a tensor of 8-bit values or float32. */
static enum status want_moved(struct ox *m, const struct ox_value **x, const struct ir_tensor **t)
{
    struct ox_value *v;

    TRY(ox_moved(m, &v));
    *x = v;
    *t = m->g->tensor[v->tensor];
    return ST_OK;
}

/* One axis of a Slice: numpy's rules for starts and ends. */
static enum status slice_axis(struct ox *m, int64_t from, int64_t to, int64_t step, int32_t dim,
                              int32_t *begin, int32_t *size)
{
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? dim : dim - 1;

    if (step == 0 || step < -INT32_MAX || step > INT32_MAX)
        return FAIL(m->d, ST_MODEL, "steps: found %lld", (long long)step);
    from = from < 0 ? (from < -dim ? low : from + dim) : from;
    to = to < 0 ? (to < -(int64_t)dim ? low : to + dim) : to;
    from = from < low ? low : from > high ? high : from;
    to = to < low ? low : to > high ? high : to;
    *size = (int32_t)(step > 0 ? (to - from + step - 1) / step : (from - to - step - 1) / -step);
    *begin = (int32_t)from;
    if (*size < 0)
        *size = 0;
    return ST_OK;
}

enum status ox_slice_node(struct ox *m)
{
    int32_t begin[IR_MAX_RANK] = {0}, size[IR_MAX_RANK], step[IR_MAX_RANK];
    uint32_t n, n_end, n_axis, n_step, k;
    int64_t *from, *to, *axis, *by;
    struct ox_value *x = ox_in(m, 0);
    bool stepped = false, known;
    uint32_t rank;

    TRY(ox_ints(m, 1, "starts", &n, &from));
    TRY(ox_ints(m, 2, "ends", &n_end, &to));
    TRY(ox_ints(m, 3, "axes", &n_axis, &axis));
    TRY(ox_ints(m, 4, "steps", &n_step, &by));
    if (n_end != n || (n_axis != 0 && n_axis != n) || (n_step != 0 && n_step != n))
        return FAIL(m->d, ST_MODEL, "starts, ends, axes, steps: found %u, %u, %u, %u numbers", n,
                    n_end, n_axis, n_step);
    known = x && x->kind == OX_CONST;
    if (!known)
        TRY(ox_moved(m, &x));
    rank = ox_rank(m, x);
    memcpy(size, ox_dim(m, x), sizeof size);
    for (uint32_t i = 0; i < IR_MAX_RANK; i++)
        step[i] = 1;
    for (uint32_t i = 0; i < n; i++) {
        TRY(ox_axis(m, "axes", n_axis ? axis[i] : (int64_t)i, rank, &k));
        TRY(slice_axis(m, from[i], to[i], n_step ? by[i] : 1, ox_dim(m, x)[k], &begin[k],
                       &size[k]));
        if (size[k] == 0 && !known)
            return FAIL(m->d, ST_UNSUPPORTED, "starts and ends leave nothing of a dimension of %d",
                        ox_dim(m, x)[k]);
        step[k] = n_step ? (int32_t)by[i] : 1;
        stepped = stepped || step[k] != 1;
    }
    if (known)
        return ox_slice_const(m, x, begin, size, step);
    ox_set_tensor(m, 0,
                  ox_slice(m, ox_out(m, 0)->name, x->tensor, begin, size, stepped ? step : NULL),
                  x->real);
    return ST_OK;
}

/* Output `i` is an empty part of `t`, which only a concatenation can read. */
static void set_empty(struct ox *m, uint32_t i, const struct ir_tensor *t, uint32_t axis)
{
    struct ox_const c = {.type = OX_FLOAT, .rank = t->rank, .data = ""};

    memcpy(c.dim, t->dim, sizeof c.dim);
    c.dim[axis] = 0;
    ox_set_const(m, i, &c);
}

enum status ox_split(struct ox *m)
{
    const uint32_t n_out = (uint32_t)m->node->n_output;
    int32_t begin[IR_MAX_RANK] = {0}, size[IR_MAX_RANK], each;
    const struct ir_tensor *t;
    const struct ox_value *x;
    int64_t *part;
    uint32_t n, axis;

    TRY(want_moved(m, &x, &t));
    TRY(ox_ints(m, 1, "split", &n, &part));
    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", 0), t->rank, &axis));
    if (n != 0 && n != n_out)
        return FAIL(m->d, ST_MODEL, "split: expected %u sizes, found %u", n_out, n);
    each = (t->dim[axis] + (int32_t)n_out - 1) / (int32_t)n_out;
    memcpy(size, t->dim, sizeof size);
    for (uint32_t i = 0; i < n_out; i++) {
        const int32_t left = t->dim[axis] - begin[axis];
        const int64_t want = n ? part[i] : each < left ? each : left;

        if (want < 0 || want > left)
            return FAIL(m->d, ST_MODEL, "split: part %u has size %lld of %d that are left", i,
                        (long long)want, left);
        size[axis] = (int32_t)want;
        if (want == 0)
            set_empty(m, i, t, axis);
        else
            ox_set_tensor(m, i, ox_slice(m, ox_out(m, i)->name, x->tensor, begin, size, NULL),
                          x->real);
        begin[axis] += size[axis];
    }
    if (begin[axis] != t->dim[axis])
        return FAIL(m->d, ST_MODEL, "split: the parts have %d of %d", begin[axis], t->dim[axis]);
    return ST_OK;
}

/* The number that Pad fills in. */
static enum status read_fill(struct ox *m, double *fill)
{
    const struct ox_value *v = ox_in(m, 2);

    *fill = (double)ox_attr_float(m, "value", 0);
    if (!v)
        return ST_OK;
    if (v->kind != OX_CONST || v->c.n != 1)
        return FAIL(m->d, ST_UNSUPPORTED, "constant_value: expected a constant number");
    *fill = v->real
                ? (double)v->quant.scale[0] * ((double)ox_int(&v->c, 0) - v->quant.zero_point[0])
                : ox_number(&v->c, 0);
    return ST_OK;
}

/* Pads of input 1 (opset 11) or of the attribute; axes that are not named have none. */
static enum status read_pads(struct ox *m, uint32_t rank, const int32_t *dim, int32_t *before,
                             int32_t *after)
{
    uint32_t n, n_axis, k;
    int64_t *pads, *axis;

    TRY(ox_ints(m, 1, "pads", &n, &pads));
    TRY(ox_ints(m, 3, "axes", &n_axis, &axis));
    if (n != 2 * (n_axis ? n_axis : rank))
        return FAIL(m->d, ST_MODEL, "pads: expected two for each axis, found %u", n);
    for (uint32_t i = 0; i < n / 2; i++) {
        const int64_t lo = pads[i], hi = pads[n / 2 + i];

        TRY(ox_axis(m, "axes", n_axis ? axis[i] : (int64_t)i, rank, &k));
        if (lo < -INT32_MAX / 4 || hi < -INT32_MAX / 4 || lo > INT32_MAX / 4 ||
            hi > INT32_MAX / 4 || (lo < 0 ? -lo : 0) + (hi < 0 ? -hi : 0) >= dim[k])
            return FAIL(m->d, ST_UNSUPPORTED,
                        "pads of axis %u: expected up to %d that leave an element, found %lld and "
                        "%lld",
                        k, INT32_MAX / 4, (long long)lo, (long long)hi);
        if (lo + hi + dim[k] > INT32_MAX)
            return FAIL(m->d, ST_MODEL, "pads of axis %u: %lld and %lld around %d are too many", k,
                        (long long)lo, (long long)hi, dim[k]);
        before[k] = (int32_t)lo;
        after[k] = (int32_t)hi;
    }
    return ST_OK;
}

/* Place in a dimension of n that stands for place i, which may be outside. */
static int32_t outside(int64_t i, int32_t n, char mode)
{
    const int64_t period = mode == 'r' ? 2 * ((int64_t)n - 1) : n;

    if (mode == 'e' || n == 1)
        return (int32_t)(i < 0 ? 0 : i >= n ? n - 1 : i);
    i = (i % period + period) % period;
    return (int32_t)(i < n ? i : period - i);
}

/* Modes reflect, edge and wrap: a gather for each axis. */
static enum status pad_by_gather(struct ox *m, const struct ox_value *x, const int32_t *before,
                                 const int32_t *after, char mode)
{
    const uint32_t rank = m->g->tensor[x->tensor]->rank;
    uint32_t id = x->tensor;

    for (uint32_t k = 0; k < rank; k++) {
        const int32_t n = m->g->tensor[id]->dim[k], size = n + before[k] + after[k];
        int32_t *index;

        if (size == n)
            continue;
        if (!ir_shape_ok(1, &size, IR_I32))
            return FAIL(m->d, ST_MODEL, "pads of axis %u: %d are too many", k, size);
        index = ARENA_ARRAY(m->arena, int32_t, (size_t)size);
        for (int32_t i = 0; i < size; i++)
            index[i] = outside((int64_t)i - before[k], n, mode);
        id = ox_gather(m, ox_inner(m, ox_out(m, 0)->name, "axis"), id, k, 1, &size, index);
    }
    ox_set_tensor(m, 0, id, x->real);
    return ST_OK;
}

/* The tensor of PAD's fill value: none for the zero point. `*id` is the padded tensor: quantised
 * values that cannot express the number are padded in float32. */
static uint32_t fill_tensor(struct ox *m, uint32_t *id, double fill)
{
    const struct ox_value *given = ox_in(m, 2);
    const struct ir_tensor *t = m->g->tensor[*id];
    const float value = (float)fill;

    if (fill == 0)
        return IR_NONE;
    if (m->options->literal && given && given->real)
        return ox_literal_quantised(m, given->name, &given->c, &given->quant);
    if (t->type != IR_F32) {
        const double code = fill / (double)t->quant.scale[0] + t->quant.zero_point[0];
        const int32_t low = ir_least_code(t->type), high = ir_greatest_code(t->type);
        const int32_t stored = (int32_t)(code >= low && code <= high ? code : 0);
        uint32_t v;

        if (code >= low && code <= high && code == (double)(int32_t)code) {
            v = ox_ir_const(m, ox_inner(m, t->name, "fill"), t->type, 0, NULL, &stored);
            m->g->tensor[v]->quant = t->quant;
            return v;
        }
        *id = ox_as_float(m, *id);
    }
    return ox_number_tensor(m, t->name, value);
}

/* Quantised values that no DequantizeLinear has read: the number is a code of the same scale. */
static enum status code_fill(struct ox *m, uint32_t id, double fill, uint32_t *value)
{
    const struct ir_tensor *t = m->g->tensor[id];
    const int32_t low = ir_least_code(t->type), high = ir_greatest_code(t->type);
    const int32_t stored = (int32_t)(fill >= low && fill <= high ? fill : 0);
    const struct ox_shape none = {0};

    if (!(fill >= low && fill <= high))
        return FAIL(m->d, ST_MODEL, "constant_value: expected a value of %s, found %.9g",
                    ir_type_name(t->type), fill);
    *value = ox_like(m, ox_inner(m, t->name, "fill"), id, none);
    m->g->tensor[*value]->role = IR_CONST;
    m->g->tensor[*value]->data = arena_memdup(m->arena, &stored, sizeof stored);
    return ST_OK;
}

/* Return the part of the tensor that negative pads leave; they become 0. */
static uint32_t cropped(struct ox *m, uint32_t id, int32_t *before, int32_t *after)
{
    const struct ox_shape s = ox_shape_of(m, id);
    int32_t begin[IR_MAX_RANK] = {0}, size[IR_MAX_RANK];
    bool crops = false;

    for (uint32_t i = 0; i < s.rank; i++) {
        begin[i] = before[i] < 0 ? -before[i] : 0;
        size[i] = s.dim[i] - begin[i] + (after[i] < 0 ? after[i] : 0);
        crops = crops || size[i] != s.dim[i];
        before[i] = before[i] < 0 ? 0 : before[i];
        after[i] = after[i] < 0 ? 0 : after[i];
    }
    if (!crops)
        return id;
    return ox_slice(m, ox_inner(m, ox_out(m, 0)->name, "cropped"), id, begin, size, NULL);
}

static bool has_negative(const int32_t *v)
{
    for (uint32_t i = 0; i < IR_MAX_RANK; i++)
        if (v[i] < 0)
            return true;
    return false;
}

static bool are_zeros(const int32_t *v)
{
    for (uint32_t i = 0; i < IR_MAX_RANK; i++)
        if (v[i] != 0)
            return false;
    return true;
}

enum status ox_pad_node(struct ox *m)
{
    const char *mode = ox_attr_text(m, "mode", "constant");
    int32_t before[IR_MAX_RANK] = {0}, after[IR_MAX_RANK] = {0};
    const struct ir_tensor *t;
    const struct ox_value *x = ox_in(m, 0);
    uint32_t id, kept, value = IR_NONE;
    double fill;

    if (x && x->kind != OX_CONST) {
        TRY(read_pads(m, ox_rank(m, x), ox_dim(m, x), before, after));
        if (are_zeros(before) && are_zeros(after))
            return ox_identity(m);
    }
    TRY(want_moved(m, &x, &t));
    TRY(read_fill(m, &fill));
    TRY(read_pads(m, t->rank, t->dim, before, after));
    if (strcmp(mode, "constant") != 0 && (has_negative(before) || has_negative(after)))
        return FAIL(m->d, ST_UNSUPPORTED, "negative pads: expected mode constant, found '%.40s'",
                    mode);
    if (strcmp(mode, "reflect") == 0 || strcmp(mode, "edge") == 0 || strcmp(mode, "wrap") == 0)
        return pad_by_gather(m, x, before, after, *mode);
    if (strcmp(mode, "constant") != 0)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "mode: expected constant, reflect, edge or wrap, found '%.40s'", mode);
    id = cropped(m, x->tensor, before, after);
    kept = id;
    if (!x->real && t->type != IR_F32)
        TRY(code_fill(m, id, fill, &value));
    else
        value = fill_tensor(m, &id, fill);
    ox_set_tensor(m, 0, ox_pad(m, ox_out(m, 0)->name, id, before, after, value),
                  x->real && id == kept);
    return ST_OK;
}

/* The table that Gather reads, which may be constant quantised values whose scale a later node
 * specifies. */
static enum status table_of(struct ox *m, uint32_t *id, bool *real)
{
    const struct ox_value *v = ox_in(m, 0);
    const struct ir_tensor *t;

    *real = false;
    if (v && v->kind == OX_CONST && !v->real && v->c.n != 0 &&
        (v->c.type == OX_INT8 || v->c.type == OX_UINT8)) {
        *id = ox_ir_const(m, v->name, ox_ir_type(v->c.type), v->c.rank, v->c.dim, v->c.data);
        return ST_OK;
    }
    TRY(want_moved(m, &v, &t));
    *id = v->tensor;
    *real = v->real;
    return ST_OK;
}

/* Rows that the graph's own values pick (an embedding). */
static enum status gather_computed(struct ox *m, uint32_t index)
{
    const struct ir_tensor *p = m->g->tensor[index], *t;
    struct ox_shape s = {0};
    uint32_t axis, in[2] = {0, index}, out;
    bool real;

    if (p->type != IR_I32 && p->type != IR_I64)
        return FAIL(m->d, ST_MODEL, "indices: expected int64 or int32, found %s",
                    ir_type_name(p->type));
    TRY(table_of(m, &in[0], &real));
    t = m->g->tensor[in[0]];
    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", 0), t->rank, &axis));
    if (t->rank - 1 + p->rank > IR_MAX_RANK)
        return FAIL(m->d, ST_UNSUPPORTED, "indices: found shape %s",
                    ir_shape_text(m->arena, p->rank, p->dim));
    for (uint32_t i = 0; i < t->rank; i++)
        for (uint32_t k = 0; k < (i == axis ? p->rank : 1); k++)
            s.dim[s.rank++] = i == axis ? p->dim[k] : t->dim[i];
    if (!ir_shape_ok(s.rank, s.dim, t->type))
        return FAIL(m->d, ST_MODEL, "result %s is too large",
                    ir_shape_text(m->arena, s.rank, s.dim));
    out = ox_like(m, ox_out(m, 0)->name, in[0], s);
    ox_op(m, m->opcode, 2, in, out)->attr[IR_AXIS] = (int32_t)axis;
    ox_set_tensor(m, 0, out, real);
    return ST_OK;
}

enum status ox_gather_node(struct ox *m)
{
    const struct ox_const *index;
    const struct ir_tensor *t;
    const struct ox_value *x = ox_in(m, 0), *places = ox_in(m, 1);
    int32_t *value;
    uint32_t axis;

    if (places && places->kind == OX_TENSOR && !places->real)
        return gather_computed(m, places->tensor);
    TRY(ox_want_const(m, 1, "indices", &index));
    if (index->type != OX_INT64 && index->type != OX_INT32)
        return FAIL(m->d, ST_MODEL, "indices: expected int64 or int32, found %s",
                    ox_type_name(index->type));
    if (x && x->kind == OX_CONST)
        return ox_gather_const(m, x, index);
    TRY(want_moved(m, &x, &t));
    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", 0), t->rank, &axis));
    if (t->rank - 1 + index->rank > IR_MAX_RANK || index->n == 0)
        return FAIL(m->d, ST_UNSUPPORTED, "indices: found shape %s",
                    ir_shape_text(m->arena, index->rank, index->dim));
    value = ARENA_ARRAY(m->arena, int32_t, index->n);
    for (uint64_t i = 0; i < index->n; i++) {
        const int64_t k = ox_int(index, i);

        if (k < -(int64_t)t->dim[axis] || k >= t->dim[axis])
            return FAIL(m->d, ST_MODEL, "index %lld is outside a dimension of %d", (long long)k,
                        t->dim[axis]);
        value[i] = (int32_t)(k < 0 ? k + t->dim[axis] : k);
    }
    ox_set_tensor(m, 0,
                  ox_gather(m, ox_out(m, 0)->name, x->tensor, axis, index->rank, index->dim, value),
                  x->real);
    return ST_OK;
}

/* As RESHAPE, TRANSPOSE, RESHAPE, as the format defines both. */
enum status ox_depth_space(struct ox *m)
{
    const bool to_space = strcmp(m->op, "DepthToSpace") == 0;
    const bool crd = strcmp(ox_attr_text(m, "mode", "DCR"), "CRD") == 0;
    const int64_t block = ox_attr_int(m, "blocksize", 0);
    const char *name = ox_out(m, 0)->name;
    static const int32_t dcr_perm[6] = {0, 3, 4, 1, 5, 2}, crd_perm[6] = {0, 1, 4, 2, 5, 3},
                         back_perm[6] = {0, 3, 5, 1, 2, 4}, back_crd[6] = {0, 1, 3, 5, 2, 4};
    const struct ir_tensor *t;
    const struct ox_value *x;
    struct ox_shape s, y;
    uint32_t id;
    int32_t b;

    TRY(want_moved(m, &x, &t));
    if (t->rank != 4 || block < 1 || block > 32767)
        return FAIL(m->d, ST_MODEL,
                    "expected 4 dimensions and a blocksize of 1 to 32767, found %u and "
                    "%lld",
                    t->rank, (long long)block);
    b = (int32_t)block;
    if (to_space ? t->dim[1] % (b * b) != 0 : t->dim[2] % b != 0 || t->dim[3] % b != 0)
        return FAIL(m->d, ST_MODEL, "blocksize %d does not divide %s", b,
                    ir_shape_text(m->arena, t->rank, t->dim));
    if (to_space) {
        const int32_t c = t->dim[1] / (b * b);

        s = crd ? (struct ox_shape){6, {t->dim[0], c, b, b, t->dim[2], t->dim[3]}}
                : (struct ox_shape){6, {t->dim[0], b, b, c, t->dim[2], t->dim[3]}};
        y = (struct ox_shape){4, {t->dim[0], c, t->dim[2] * b, t->dim[3] * b}};
    } else {
        s = (struct ox_shape){6, {t->dim[0], t->dim[1], t->dim[2] / b, b, t->dim[3] / b, b}};
        y = (struct ox_shape){4, {t->dim[0], t->dim[1] * b * b, t->dim[2] / b, t->dim[3] / b}};
    }
    id = ox_reshape(m, ox_inner(m, name, "blocks"), x->tensor, s);
    id = ox_transpose(m, ox_inner(m, name, "turned"), id,
                      !to_space ? crd ? back_crd : back_perm
                      : crd     ? crd_perm
                                : dcr_perm);
    ox_set_tensor(m, 0, ox_reshape(m, name, id, y), x->real);
    return ST_OK;
}
