/* onnx_index.c - Gather and Scatter operators: one Gather of the flat elements, of the data and then of the
 * updates, by texts of onnx_expand.c. Those of computed indices only gather. */
#include "compiler/import/onnx/onnx_import.h"

#include <string.h>

struct flat {
    struct ox_shape x, index, y; /* of the data, of the indices, of the result */
    const struct ox_const *at;
};

/* Where indices are computed, by operators of int64: the place in the data of each. `size` and `stride`
 * are of the dimension that an index counts, one number or one of each index of a tuple. */
#define COMPUTED_PLACES                                                                            \
    "i64 = Cast($1; to=7); low = Less(i64, 0); up = Add(i64, size); i = Where(low, up, i64);"      \
    "far = Mul(i, stride);"

static bool is_computed(const struct ox *m, uint32_t input)
{
    return ox_in(m, input) && ox_in(m, input)->kind == OX_TENSOR;
}

static struct ox_shape shape_of(const struct ox *m, const struct ox_value *v)
{
    struct ox_shape s = {.rank = v ? ox_rank(m, v) : 0};

    if (v)
        memcpy(s.dim, ox_dim(m, v), sizeof s.dim);
    return s;
}

static enum status read(struct ox *m, struct flat *f)
{
    const struct ox_value *x = ox_in(m, 0);

    if (!x)
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    f->x = shape_of(m, x);
    TRY(ox_want_const(m, 1, "indices", &f->at));
    f->index = (struct ox_shape){.rank = f->at->rank};
    memcpy(f->index.dim, f->at->dim, sizeof f->index.dim);
    if (f->at->n == 0 || f->at->rank == 0 || f->x.rank == 0 ||
        (f->at->type != OX_INT64 && f->at->type != OX_INT32))
        return FAIL(m->d, ST_UNSUPPORTED, "indices: expected integers, found %llu of %s",
                    (unsigned long long)f->at->n, ox_type_name(f->at->type));
    return ST_OK;
}

/* Index `i` of a dimension of `n`, which may count from the end. */
static enum status wrap(struct ox *m, int64_t *i, int32_t n)
{
    if (*i < -(int64_t)n || *i >= n)
        return FAIL(m->d, ST_MODEL, "index %lld is outside a dimension of %d", (long long)*i, n);
    *i += *i < 0 ? n : 0;
    return ST_OK;
}

static int64_t elements(const struct ox_shape *s, uint32_t from)
{
    int64_t n = 1;

    for (uint32_t i = from; i < s->rank; i++)
        n *= s->dim[i];
    return n;
}

static int64_t *inner_values(struct ox *m, const char *name, uint32_t rank, const int32_t *dim)
{
    struct ox_const c;
    int64_t *to = ox_new_const(m, &c, OX_INT64, rank, dim);

    ox_inner_const(m, name, &c);
    return to;
}

static int64_t *places(struct ox *m, int64_t n)
{
    return inner_values(m, "places", 1, (const int32_t[]){(int32_t)n});
}

/* The place of each element of the indices along the dimensions other than `axis`, each of which counts
 * its own. */
static void other_places(const struct flat *f, uint32_t axis, int64_t *to)
{
    for (int64_t k = 0; k < elements(&f->index, 0); k++) {
        int64_t rest = k, stride = 1;

        to[k] = 0;
        for (uint32_t d = f->x.rank; d-- > 0; rest /= f->index.dim[d], stride *= f->x.dim[d])
            to[k] += d == axis ? 0 : rest % f->index.dim[d] * stride;
    }
}

/* Places in the data of the elements that the indices of GatherElements or ScatterElements name. */
static enum status element_places(struct ox *m, const struct flat *f, int64_t *to)
{
    uint32_t axis;

    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", 0), f->x.rank, &axis));
    if (f->index.rank != f->x.rank)
        return FAIL(m->d, ST_MODEL, "indices: expected %u dimensions, found %u", f->x.rank,
                    f->index.rank);
    other_places(f, axis, to);
    for (uint64_t k = 0; k < f->at->n; k++) {
        int64_t i = ox_int(f->at, k);

        TRY(wrap(m, &i, f->x.dim[axis]));
        to[k] += i * elements(&f->x, axis + 1);
    }
    return ST_OK;
}

/* The same for GatherND and ScatterND: index tuples, each naming a slice. */
static enum status tuple_places(struct ox *m, const struct flat *f, uint32_t batch, int64_t *to)
{
    const uint32_t last = f->index.rank - 1, n = (uint32_t)f->index.dim[last];
    const int64_t tuples = (int64_t)f->at->n / n;
    int64_t inner, per_batch = 1;

    if (batch + n > f->x.rank || batch > last)
        return FAIL(m->d, ST_MODEL, "indices: tuples of %u, expected at most %u", n,
                    f->x.rank - batch);
    inner = elements(&f->x, batch + n);
    for (uint32_t i = batch; i < last; i++)
        per_batch *= f->index.dim[i];
    for (int64_t k = 0; k < tuples; k++) {
        int64_t at = k / per_batch;

        at = batch ? at : 0;
        for (uint32_t d = 0; d < n; d++) {
            int64_t i = ox_int(f->at, (uint64_t)(k * n + d));

            TRY(wrap(m, &i, f->x.dim[batch + d]));
            at = at * f->x.dim[batch + d] + i;
        }
        for (int64_t j = 0; j < inner; j++)
            *to++ = at * inner + j;
    }
    return ST_OK;
}

static enum status gather_elements_computed(struct ox *m)
{
    struct flat f = {shape_of(m, ox_in(m, 0)), shape_of(m, ox_in(m, 1)), {0}, NULL};
    uint32_t axis;

    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", 0), f.x.rank, &axis));
    if (f.index.rank != f.x.rank)
        return FAIL(m->d, ST_MODEL, "indices: expected %u dimensions, found %u", f.x.rank,
                    f.index.rank);
    *inner_values(m, "size", 0, NULL) = f.x.dim[axis];
    *inner_values(m, "stride", 0, NULL) = elements(&f.x, axis + 1);
    other_places(&f, axis, inner_values(m, "others", f.index.rank, f.index.dim));
    return ox_expand(m, COMPUTED_PLACES
                     "at = Add(far, others); flat = Reshape($0, [-1]); %0 = Gather(flat, at)");
}

/* Tuples count in all dimensions before those of their slices: batch_dims is 0. */
static enum status gather_nd_computed(struct ox *m)
{
    const struct flat f = {shape_of(m, ox_in(m, 0)), shape_of(m, ox_in(m, 1)), {0}, NULL};
    const uint32_t n = f.index.rank ? (uint32_t)f.index.dim[f.index.rank - 1] : 0;
    struct ox_shape rows = {f.x.rank - n + 1, {1}};

    if (ox_attr_int(m, "batch_dims", 0) != 0)
        return FAIL(m->d, ST_UNSUPPORTED, "computed indices: expected batch_dims 0");
    if (n < 1 || n > f.x.rank)
        return FAIL(m->d, ST_MODEL, "indices: tuples of %u: expected 1 to %u", n, f.x.rank);
    int64_t *size = inner_values(m, "size", 1, (const int32_t[]){(int32_t)n});
    int64_t *stride = inner_values(m, "stride", 1, (const int32_t[]){(int32_t)n});
    for (uint32_t d = n; d-- > 0;) {
        size[d] = f.x.dim[d];
        stride[d] = rows.dim[0];
        rows.dim[0] *= f.x.dim[d];
    }
    memcpy(rows.dim + 1, f.x.dim + n, (f.x.rank - n) * sizeof *rows.dim);
    return ox_expandf(m,
                      COMPUTED_PLACES "at = ReduceSum(far, [-1]; keepdims=0);"
                                      "flat = Reshape($0, %s); %%0 = Gather(flat, at)",
                      ox_shape_list(m, &rows));
}

enum status ox_gather_elements(struct ox *m)
{
    struct flat f;

    if (is_computed(m, 1))
        return gather_elements_computed(m);
    TRY(read(m, &f));
    TRY(element_places(m, &f, places(m, (int64_t)f.at->n)));
    return ox_expandf(m, "flat = Reshape($0, [-1]); g = Gather(flat, places); %%0 = Reshape(g, %s)",
                      ox_shape_list(m, &f.index));
}

enum status ox_gather_nd(struct ox *m)
{
    const uint32_t batch = (uint32_t)ox_attr_int(m, "batch_dims", 0);
    struct flat f;
    uint32_t n;

    if (is_computed(m, 1))
        return gather_nd_computed(m);
    TRY(read(m, &f));
    n = batch + (uint32_t)f.index.dim[f.index.rank - 1];
    f.y.rank = f.index.rank - 1;
    memcpy(f.y.dim, f.index.dim, sizeof f.y.dim);
    if (n > f.x.rank || f.y.rank + f.x.rank - n > IR_MAX_RANK)
        return FAIL(m->d, ST_UNSUPPORTED, "indices: tuples of %u: expected at most %u", n,
                    f.x.rank);
    for (uint32_t i = n; i < f.x.rank; i++)
        f.y.dim[f.y.rank++] = f.x.dim[i];
    TRY(tuple_places(m, &f, batch, places(m, elements(&f.y, 0))));
    return ox_expandf(m, "flat = Reshape($0, [-1]); g = Gather(flat, places); %%0 = Reshape(g, %s)",
                      ox_shape_list(m, &f.y));
}

/* The updates one after another: a round takes for each element at most one of them. Without a
 * reduction the last one is left. */
static enum status scatter(struct ox *m, const struct flat *f, const int64_t *to, int64_t n)
{
    const char *reduction = ox_attr_text(m, "reduction", "none"), *last = "data";
    const int64_t size = elements(&f->x, 0);
    const bool none = strcmp(reduction, "none") == 0;
    const char *op = strcmp(reduction, "add") == 0   ? "Add"
                     : strcmp(reduction, "mul") == 0 ? "Mul"
                     : strcmp(reduction, "max") == 0 ? "Max"
                                                     : "Min";
    int64_t *count = ARENA_ARRAY(m->arena, int64_t, (size_t)size);
    int64_t rounds = 0;
    struct text t;

    text_init(&t, m->arena);
    text_printf(&t,
                "data = Reshape($0, [-1]); updates = Reshape($%d, [-1]);"
                "all = Concat(data, updates; axis=0);",
                strcmp(m->op, "TensorScatter") == 0 ? 1 : 2);
    for (int64_t k = 0; k < n; k++) {
        count[to[k]]++;
        rounds = count[to[k]] > rounds ? count[to[k]] : rounds;
    }
    rounds = none ? 1 : rounds;
    if (rounds > 64)
        return FAIL(m->d, ST_UNSUPPORTED, "indices name one element %lld times: at most 64",
                    (long long)rounds);
    for (int64_t r = 0; r < rounds; r++) {
        struct ox_const take, is;
        int64_t *from = ox_new_const(m, &take, OX_INT64, 1, (const int32_t[]){(int32_t)size});
        uint8_t *taken = ox_new_const(m, &is, OX_BOOL, 1, (const int32_t[]){(int32_t)size});

        memset(count, 0, (size_t)size * sizeof *count);
        memset(taken, 0, (size_t)size);
        for (int64_t k = 0; k < size; k++)
            from[k] = k;
        for (int64_t k = 0; k < n; k++)
            if (count[to[k]]++ == r || none) {
                from[to[k]] = size + k;
                taken[to[k]] = 1;
            }
        ox_inner_const(m, arena_printf(m->arena, "from_%lld", (long long)r), &take);
        ox_inner_const(m, arena_printf(m->arena, "taken_%lld", (long long)r), &is);
        text_printf(&t, "part_%lld = Gather(all, from_%lld);", (long long)r, (long long)r);
        if (none) {
            last = "part_0";
            break;
        }
        text_printf(&t, "sum_%lld = %s(%s, part_%lld); y_%lld = Where(taken_%lld, sum_%lld, %s);",
                    (long long)r, op, last, (long long)r, (long long)r, (long long)r, (long long)r,
                    last);
        last = arena_printf(m->arena, "y_%lld", (long long)r);
    }
    text_printf(&t, "%%0 = Reshape(%s, %s)", last, ox_shape_list(m, &f->x));
    return ox_expand(m, t.data);
}

enum status ox_scatter_elements(struct ox *m)
{
    struct flat f;
    int64_t *to;

    TRY(read(m, &f));
    to = ARENA_ARRAY(m->arena, int64_t, f.at->n);
    TRY(element_places(m, &f, to));
    return scatter(m, &f, to, (int64_t)f.at->n);
}

enum status ox_scatter_nd(struct ox *m)
{
    struct flat f;
    int64_t *to, n, tuple;

    TRY(read(m, &f));
    tuple = f.index.dim[f.index.rank - 1];
    if (tuple < 1 || tuple > (int64_t)f.x.rank)
        return FAIL(m->d, ST_MODEL, "indices: tuples of %lld: expected 1 to %u", (long long)tuple,
                    f.x.rank);
    n = (int64_t)f.at->n / tuple * elements(&f.x, (uint32_t)tuple);
    to = ARENA_ARRAY(m->arena, int64_t, (size_t)n);
    TRY(tuple_places(m, &f, 0, to));
    return scatter(m, &f, to, n);
}

/* The place is computed: an update of a slice, [0,..,place,..,0]. */
static enum status scatter_computed(struct ox *m, uint32_t place, uint32_t axis, bool circular)
{
    const uint32_t zero =
        ox_ir_const(m, ox_inner(m, ox_out(m, 0)->name, "zero"), m->g->tensor[place]->type, 1,
                    (const int32_t[]){1}, (const int64_t[]){0});
    uint32_t in[3], start[IR_MAX_RANK], out;

    TRY(ox_operand(m, 0, "cache", &in[0]));
    TRY(ox_operand(m, 1, "update", &in[1]));
    if (circular || m->g->tensor[in[0]]->dim[0] != 1 || !ir_is_int(m->g->tensor[place]->type) ||
        ir_elements(m->g->tensor[place]) != 1)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "computed write_indices: expected mode linear and a batch of 1");
    for (uint32_t i = 0; i < m->g->tensor[in[0]]->rank; i++)
        start[i] = i == axis ? ox_reshape(m, ox_inner(m, ox_out(m, 0)->name, "place"), place,
                                          (struct ox_shape){1, {1}})
                             : zero;
    in[2] =
        ox_concat(m, ox_inner(m, ox_out(m, 0)->name, "start"), m->g->tensor[in[0]]->rank, start, 0);
    out = ox_like(m, ox_out(m, 0)->name, in[0], ox_shape_of(m, in[0]));
    ox_make_update_slice(m, 3, in, out);
    ox_set_tensor(m, 0, out, ox_in(m, 0)->real);
    return ST_OK;
}

/* Rows written into a cache from the place of each batch on. */
enum status ox_tensor_scatter(struct ox *m)
{
    const bool circular = strcmp(ox_attr_text(m, "mode", "linear"), "circular") == 0;
    const struct ox_value *x = ox_in(m, 0), *u = ox_in(m, 1);
    const struct ox_const *begin = NULL;
    struct flat f = {0};
    int64_t *to, n = 1, inner;
    uint32_t axis;

    if (!x || !u || ox_rank(m, x) != ox_rank(m, u))
        return FAIL(m->d, ST_MODEL, "cache and update: expected the same number of dimensions");
    f.x = shape_of(m, x);
    f.y = shape_of(m, u);
    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", -2), f.x.rank, &axis));
    if (is_computed(m, 2))
        return scatter_computed(m, ox_in(m, 2)->tensor, axis, circular);
    if (ox_in(m, 2))
        TRY(ox_want_const(m, 2, "write_indices", &begin));
    n = elements(&f.y, 0);
    inner = elements(&f.y, axis + 1);
    to = ARENA_ARRAY(m->arena, int64_t, (size_t)n);
    for (int64_t k = 0; k < n; k++) {
        const int64_t row = k / inner / f.y.dim[axis],
                      batch = row / (elements(&f.y, 1) / inner / f.y.dim[axis]);
        int64_t i = k / inner % f.y.dim[axis] +
                    (begin && begin->n > (uint64_t)batch ? ox_int(begin, (uint64_t)batch) : 0);

        i = circular ? i % f.x.dim[axis] : i;
        TRY(wrap(m, &i, f.x.dim[axis]));
        to[k] = (row * f.x.dim[axis] + i) * inner + k % inner;
    }
    return scatter(m, &f, to, n);
}

/* values[1] at the index along a new axis, values[0] elsewhere. */
enum status ox_one_hot(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    const struct ox_const *depth;
    uint32_t axis;
    int32_t n;

    TRY(ox_want_const(m, 1, "depth", &depth));
    if (!x || depth->n != 1 || ox_number(depth, 0) < 1 || ox_number(depth, 0) > 1 << 20)
        return FAIL(m->d, ST_UNSUPPORTED, "depth: expected one number of 1 to 1048576");
    if (ox_rank(m, x) + 1 > IR_MAX_RANK)
        return FAIL(m->d, ST_UNSUPPORTED, "indices: expected at most %d dimensions, found %u",
                    IR_MAX_RANK - 1, ox_rank(m, x));
    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", -1), ox_rank(m, x) + 1, &axis));
    n = (int32_t)ox_number(depth, 0);
    ox_inner_places(m, ox_rank(m, x) + 1, axis, n);
    return ox_expandf(m,
                      "i64 = Cast($0; to=7); i = Mod(i64, %d); u = Unsqueeze(i, [%u]);"
                      "low = Less(i64, -%d); high = GreaterOrEqual(i64, %d); out = Or(low, high);"
                      "outu = Unsqueeze(out, [%u]); in = Not(outu); e0 = Equal(u, places);"
                      "e = And(e0, in); off = Slice($2, [0], [1]); on = Slice($2, [1], [2]);"
                      "%%0 = Where(e, on, off)",
                      n, axis, n, n, axis);
}

/* Axes 0 and 1 are batch and time, in any order: read their elements as rows, and gather the rows of each batch's first
 * `length` times backwards. */
static enum status reverse_rows(struct ox *m, const struct ox_shape *x,
                                const struct ox_const *length, uint32_t batch, uint32_t time)
{
    const int32_t stride[2] = {x->dim[1], 1};
    int64_t *place = places(m, (int64_t)x->dim[0] * x->dim[1]);
    int64_t rows[IR_MAX_RANK];

    for (int32_t b = 0; b < x->dim[batch]; b++)
        for (int64_t t = 0; t < x->dim[time]; t++) {
            const int64_t n = ox_int(length, (uint64_t)b);

            place[b * stride[batch] + t * stride[time]] =
                b * stride[batch] + (t < n ? n - 1 - t : t) * stride[time];
        }
    rows[0] = (int64_t)x->dim[0] * x->dim[1];
    for (uint32_t k = 2; k < x->rank; k++)
        rows[k - 1] = x->dim[k];
    return ox_expandf(m, "r = Reshape($0, %s); g = Gather(r, places; axis=0); %%0 = Reshape(g, %s)",
                      ox_list(m, x->rank - 1, rows), ox_shape_list(m, x));
}

enum status ox_reverse_sequence(struct ox *m)
{
    const int64_t batch = ox_attr_int(m, "batch_axis", 1), time = ox_attr_int(m, "time_axis", 0);
    const struct ox_const *length;
    struct ox_shape x;
    bool all = true;

    if (!ox_in(m, 0))
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    x = shape_of(m, ox_in(m, 0));
    TRY(ox_want_const(m, 1, "sequence_lens", &length));
    if (x.rank < 2 || batch < 0 || batch > 1 || time != 1 - batch)
        return FAIL(m->d, ST_MODEL, "expected batch and time as axes 0 and 1, found %lld and %lld",
                    (long long)batch, (long long)time);
    if (length->type != OX_INT64 || length->n != (uint64_t)x.dim[batch])
        return FAIL(m->d, ST_MODEL, "sequence_lens: expected %d int64, found %llu of %s",
                    x.dim[batch], (unsigned long long)length->n, ox_type_name(length->type));
    for (uint64_t i = 0; i < length->n; i++) {
        if (ox_int(length, i) < 0 || ox_int(length, i) > x.dim[time])
            return FAIL(m->d, ST_MODEL, "sequence_lens: expected 0 to %d, found %lld", x.dim[time],
                        (long long)ox_int(length, i));
        all = all && ox_int(length, i) == x.dim[time];
    }
    return all ? ox_expandf(m, "%%0 = Slice($0, [-1], [-2147483648], [%lld], [-1])",
                            (long long)time)
               : reverse_rows(m, &x, length, (uint32_t)batch, (uint32_t)time);
}
