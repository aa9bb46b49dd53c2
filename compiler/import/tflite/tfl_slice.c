/* tfl_slice.c - operators that pick parts of a tensor or put parts together, as slices, gathers,
 * concatenations and reshapes: SPLIT, SPLIT_V, PACK, UNPACK, STRIDED_SLICE, GATHER, TILE,
 * REVERSE_SEQUENCE and SCATTER_ND of known places. */
#include <string.h>

#include "compiler/import/common/import_fold.h"
#include "compiler/ir/rules.h"
#include "tfl_import.h"

enum status tfl_part(struct tfl_importer *m, uint32_t row, uint32_t x, const int32_t *begin,
                     const int32_t *step, uint32_t y)
{
    const uint32_t rank = m->g->tensor[x]->rank;
    uint32_t in[3] = {x, tfl_vector(m, rank, begin), IR_NONE};

    if (step != NULL)
        in[2] = tfl_vector(m, rank, step);
    return tfl_make_slice(m, row, step != NULL ? 3 : 2, in, y, NULL);
}

/* Return true for an empty part (Keras' GRU without reset_after has one). Operators that read it
 * are refused. */
static bool is_empty(const struct tfl_importer *m, int32_t tensor)
{
    bool empty = false;

    if (tensor < 0 || (uint32_t)tensor >= m->file->n_tensor)
        return false;
    const struct tfl_ints *shape = &m->file->tensor[tensor].shape;
    for (uint32_t i = 0; i < shape->n; i++)
        empty = empty || shape->v[i] == 0;
    return empty;
}

/* Give output k the next size[k] elements of dimension `axis`. */
static enum status split(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row,
                         uint32_t x_index, int32_t axis_value, const int32_t *size)
{
    const struct ir_tensor *x;
    int32_t begin[IR_MAX_RANK] = {0};
    uint32_t id, axis;
    int64_t sum = 0;

    TRY(tfl_value(m, src, x_index, &id));
    x = m->g->tensor[id];
    TRY(tfl_axis(m, axis_value, x->rank, &axis));
    for (uint32_t k = 0; k < src->out.n; k++) {
        const struct ir_tensor *y;
        uint32_t y_id;

        if (is_empty(m, src->out.v[k]))
            continue;
        TRY(tfl_result(m, src, k, &y_id));
        y = m->g->tensor[y_id];
        if (y->rank != x->rank || (size != NULL && size[k] != -1 && size[k] != y->dim[axis]))
            return FAIL(m->d, ST_MODEL, "output %u '%.80s': shape %s does not match the sizes", k,
                        y->name, ir_shape_text(m->arena, y->rank, y->dim));
        begin[axis] = (int32_t)sum;
        sum += y->dim[axis];
        if (sum > x->dim[axis])
            break;
        TRY(tfl_part(m, row, id, begin, NULL, y_id));
    }
    if (sum != x->dim[axis])
        return FAIL(m->d, ST_MODEL, "the parts of dimension %u: expected %d together, found %lld",
                    axis, x->dim[axis], (long long)sum);
    return ST_OK;
}

enum status tfl_split(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    int32_t axis;

    TRY(tfl_scalar(m, src, 0, "axis", &axis));
    TRY(tfl_want_outputs(m, src, (uint32_t)src->options.number));
    return split(m, src, row, 1, axis, NULL);
}

enum status tfl_split_v(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    const int32_t *size;
    int32_t axis;
    uint32_t n;

    TRY(tfl_param(m, src->in.v[1], "sizes", &n, &size));
    TRY(tfl_scalar(m, src, 2, "axis", &axis));
    TRY(tfl_want_outputs(m, src, n));
    return split(m, src, row, 0, axis, size);
}

/* Compute x's shape with a 1 inserted before dimension `axis`, or with dimension `axis` removed. */
static uint32_t with_one(const struct ir_tensor *x, uint32_t axis, int32_t *dim)
{
    for (uint32_t i = 0; i < x->rank + 1; i++)
        dim[i] = i < axis ? x->dim[i] : i == axis ? 1 : x->dim[i - 1];
    return x->rank + 1;
}

enum status tfl_pack(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    uint32_t *part = ARENA_ARRAY(m->arena, uint32_t, src->in.n), y, axis;
    struct ir_op *concat;

    TRY(tfl_result(m, src, 0, &y));
    TRY(tfl_axis(m, src->options.axis, m->g->tensor[y]->rank, &axis));
    for (uint32_t i = 0; i < src->in.n; i++) {
        int32_t dim[IR_MAX_RANK + 1];
        uint32_t x;

        TRY(tfl_value(m, src, i, &x));
        if (m->g->tensor[x]->rank + 1 != m->g->tensor[y]->rank)
            return FAIL(m->d, ST_MODEL, "output '%.80s': expected %u dimensions, found %u",
                        m->g->tensor[y]->name, m->g->tensor[x]->rank + 1, m->g->tensor[y]->rank);
        TRY(tfl_between(m, m->g->tensor[x], with_one(m->g->tensor[x], axis, dim), dim, &part[i]));
        TRY(tfl_reshape(m, row, x, part[i]));
    }
    TRY(tfl_make_concatenation(m, row, src->in.n, part, y, &concat));
    concat->attr[IR_AXIS] = (int32_t)axis;
    return import_fold(m->g, concat, m->d);
}

enum status tfl_unpack(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    int32_t begin[IR_MAX_RANK] = {0}, dim[IR_MAX_RANK];
    const struct ir_tensor *x;
    uint32_t id, axis;

    TRY(tfl_value(m, src, 0, &id));
    x = m->g->tensor[id];
    TRY(tfl_axis(m, src->options.axis, x->rank, &axis));
    TRY(tfl_want_outputs(m, src, (uint32_t)x->dim[axis]));
    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = 1;
    for (uint32_t k = 0; k < src->out.n; k++) {
        uint32_t part, y;

        TRY(tfl_result(m, src, k, &y));
        TRY(tfl_between(m, x, x->rank, dim, &part));
        begin[axis] = (int32_t)k;
        TRY(tfl_part(m, row, id, begin, NULL, part));
        TRY(tfl_reshape(m, row, part, y));
    }
    return ST_OK;
}

/* One dimension of a STRIDED_SLICE: first index, step, number of elements. */
struct range {
    int32_t begin, step, n;
};

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Resolve the range as the format specifies: negative positions count from the end; a masked bound
 * is the end in the direction of the step; both are clamped to the dimension. */
static struct range range_of(int32_t size, int64_t begin, int64_t end, int32_t step, bool no_begin,
                             bool no_end, bool shrink)
{
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    const int64_t stride = step > 0 ? step : -(int64_t)step;
    int64_t span;

    begin = no_begin ? (step > 0 ? low : high) : clamp(begin < 0 ? begin + size : begin, low, high);
    end = no_end ? (step > 0 ? high : low) : clamp(end < 0 ? end + size : end, low, high);
    span = step > 0 ? end - begin : begin - end;
    return (struct range){(int32_t)begin, step,
                          (int32_t)(shrink ? 1 : (span + stride - 1) / stride)};
}

static bool has(int32_t mask, uint32_t i)
{
    return i < 32 && (mask >> i & 1) != 0;
}

/* The begin, end and step of a STRIDED_SLICE, n entries each. */
struct spec {
    uint32_t n;
    const int32_t *begin, *end, *step;
};

static enum status spec_of(struct tfl_importer *m, const struct tfl_operator *src, struct spec *s)
{
    uint32_t n_end, n_step;

    TRY(tfl_param(m, src->in.v[1], "begin", &s->n, &s->begin));
    TRY(tfl_param(m, src->in.v[2], "end", &n_end, &s->end));
    TRY(tfl_param(m, src->in.v[3], "strides", &n_step, &s->step));
    if (s->n == n_end && s->n == n_step && s->n <= 31)
        return ST_OK;
    return FAIL(m->d, ST_MODEL,
                "begin, end and strides: expected the same number of each, found %u, %u, %u", s->n,
                n_end, n_step);
}

/* Apply entry i of the parameters to dimension `k` of x. */
static enum status one_range(struct tfl_importer *m, const struct tfl_options *o,
                             const struct spec *s, uint32_t i, const struct ir_tensor *x,
                             uint32_t k, struct range *r)
{
    const bool shrink = has(o->shrink_axis_mask, i);

    if (k >= x->rank)
        return FAIL(m->d, ST_MODEL, "begin: more entries than '%.80s' has dimensions (%u)", x->name,
                    x->rank);
    if (s->step[i] == 0 || (shrink && s->step[i] < 0))
        return FAIL(m->d, ST_MODEL, "stride %u: expected %s, found %d", i,
                    shrink ? "1 (its axis is dropped)" : "any number but 0", s->step[i]);
    if (shrink && (s->begin[i] >= x->dim[k] || s->begin[i] < -x->dim[k]))
        return FAIL(m->d, ST_MODEL, "begin %u: expected below %d, found %d", i, x->dim[k],
                    s->begin[i]);
    *r = range_of(x->dim[k], s->begin[i], s->end[i] + (o->offset ? (int64_t)s->begin[i] : 0),
                  s->step[i], !shrink && has(o->begin_mask, i), has(o->end_mask, i), shrink);
    if (r->n < 1)
        return FAIL(m->d, ST_UNSUPPORTED, "dimension %u: the slice is empty", k);
    return ST_OK;
}

/* Resolve all ranges. An ellipsis covers the dimensions without an entry; a new axis corresponds to
 * no dimension of x. */
static enum status ranges_of(struct tfl_importer *m, const struct tfl_operator *src,
                             const struct ir_tensor *x, struct range *r)
{
    const struct tfl_options *o = &src->options;
    uint32_t named = 0, k = 0;
    struct spec s;

    TRY(spec_of(m, src, &s));
    for (uint32_t i = 0; i < x->rank; i++)
        r[i] = (struct range){0, 1, x->dim[i]};
    for (uint32_t i = 0; i < s.n; i++)
        named += !has(o->ellipsis_mask, i) && !has(o->new_axis_mask, i);
    for (uint32_t i = 0; i < s.n; i++) {
        if (has(o->ellipsis_mask, i)) {
            k += x->rank - (named < x->rank ? named : x->rank);
        } else if (!has(o->new_axis_mask, i)) {
            TRY(one_range(m, o, &s, i, x, k, r + k));
            k++;
        }
    }
    return ST_OK;
}

enum status tfl_slice_dims(struct tfl_importer *m, const struct tfl_operator *src,
                           const struct ir_tensor *x, uint32_t *n, int32_t *dim)
{
    const struct tfl_options *o = &src->options;
    struct range r[IR_MAX_RANK];
    uint32_t k = 0, named = 0;
    struct spec s;

    TRY(ranges_of(m, src, x, r));
    TRY(spec_of(m, src, &s));
    for (uint32_t i = 0; i < s.n; i++)
        named += !has(o->ellipsis_mask, i) && !has(o->new_axis_mask, i);
    *n = 0;
    for (uint32_t i = 0; i < s.n + x->rank && *n < IR_MAX_RANK; i++)
        if (i < s.n && has(o->ellipsis_mask, i))
            for (uint32_t rest = x->rank - named; rest > 0 && k < x->rank; rest--)
                dim[*n < IR_MAX_RANK ? (*n)++ : 0] = x->dim[k++];
        else if (i < s.n && has(o->new_axis_mask, i))
            dim[(*n)++] = 1;
        else if (i < s.n && has(o->shrink_axis_mask, i))
            k++;
        else if (k < x->rank)
            dim[(*n)++] = r[k++].n;
    return ST_OK;
}

enum status tfl_strided_slice(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    int32_t begin[IR_MAX_RANK], step[IR_MAX_RANK], dim[IR_MAX_RANK];
    struct range r[IR_MAX_RANK];
    const struct ir_tensor *x;
    uint32_t id, y, part;

    TRY(tfl_value(m, src, 0, &id));
    TRY(tfl_result(m, src, 0, &y));
    x = m->g->tensor[id];
    TRY(ranges_of(m, src, x, r));
    for (uint32_t i = 0; i < x->rank; i++) {
        begin[i] = r[i].begin;
        step[i] = r[i].step;
        dim[i] = r[i].n;
    }
    TRY(tfl_between(m, x, x->rank, dim, &part));
    TRY(tfl_part(m, row, id, begin, step, part));
    return tfl_reshape(m, row, part, y); /* drop the dimensions that shrink */
}

enum status tfl_gather(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    uint32_t in[2], y, axis;
    struct ir_op *op;

    TRY(tfl_value(m, src, 0, &in[0]));
    TRY(tfl_value(m, src, 1, &in[1]));
    TRY(tfl_result(m, src, 0, &y));
    TRY(tfl_axis(m, src->options.axis, m->g->tensor[in[0]]->rank, &axis));
    TRY(tfl_make_gather(m, row, 2, in, y, &op));
    op->attr[IR_AXIS] = (int32_t)axis;
    op->attr[IR_BATCH_DIMS] = src->options.batch_dims;
    if (src->options.batch_dims < 0)
        op->attr[IR_BATCH_DIMS] += (int32_t)m->g->tensor[in[1]]->rank;
    return import_fold(m->g, op, m->d);
}

/* Rows of a table, input 1, by their indices, input 0. Rows of an int8 table with a scale can be float32. */
enum status tfl_embedding(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    const struct ir_tensor *t, *to;
    uint32_t in[2], y, codes;

    TRY(tfl_value(m, src, 1, &in[0]));
    TRY(tfl_value(m, src, 0, &in[1]));
    TRY(tfl_result(m, src, 0, &y));
    t = m->g->tensor[in[0]];
    to = m->g->tensor[y];
    if (t->type != IR_I8 || to->type != IR_F32)
        return tfl_make_gather(m, row, 2, in, y, NULL);
    TRY(tfl_between(m, t, to->rank, to->dim, &codes));
    TRY(tfl_make_gather(m, row, 2, in, codes, NULL));
    return tfl_make_dequantize(m, row, 1, &codes, y, NULL);
}

/* Make y the n rows index[..] of x [rows,inner], whose scale y may not have. */
static enum status pick_rows(struct tfl_importer *m, uint32_t row, uint32_t x, uint32_t n,
                             const int32_t *index, uint32_t y)
{
    TRY(tfl_pick(m, row, &x, 0, n, index));
    return tfl_recode(m, row, x, y);
}

/* Make *x a matrix of `rows` rows. */
static enum status matrix(struct tfl_importer *m, uint32_t row, int32_t rows, uint32_t *x)
{
    const struct ir_tensor *t = m->g->tensor[*x];
    const int32_t dim[2] = {rows, (int32_t)(ir_elements(t) / (uint64_t)rows)};
    uint32_t y;

    TRY(tfl_between(m, t, 2, dim, &y));
    TRY(tfl_reshape(m, row, *x, y));
    *x = y;
    return ST_OK;
}

static int32_t product(const int32_t *dim, uint32_t n)
{
    int32_t p = 1;

    for (uint32_t i = 0; i < n; i++)
        p *= dim[i];
    return p;
}

/* Import REVERSE_SEQUENCE as a gather of rows: of each sequence the first values, backwards. */
enum status tfl_reverse_sequence(struct tfl_importer *m, const struct tfl_operator *src,
                                 uint32_t row)
{
    const int32_t *length;
    const struct ir_tensor *t;
    uint32_t x, y, n, seq, batch;

    TRY(tfl_value(m, src, 0, &x));
    TRY(tfl_result(m, src, 0, &y));
    t = m->g->tensor[x];
    if (t->type == IR_I8 || t->type == IR_BOOL)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "input '%.80s': expected type f32, u8, i16, i32 or i64, "
                    "found %s",
                    t->name, ir_type_name(t->type));
    TRY(tfl_param(m, src->in.v[1], "lengths", &n, &length));
    TRY(tfl_axis(m, src->options.axis, t->rank, &seq));
    TRY(tfl_axis(m, src->options.batch_dims, t->rank, &batch));
    if (seq == batch || (int32_t)n != t->dim[batch])
        return FAIL(m->d, ST_MODEL,
                    "lengths: expected one for each of %d elements of a dimension "
                    "other than the sequence's, found %u",
                    t->dim[batch], n);
    const uint32_t outer = (seq > batch ? seq : batch) + 1;
    const int32_t rows = product(t->dim, outer), step = product(t->dim + seq + 1, outer - seq - 1),
                  apart = product(t->dim + batch + 1, outer - batch - 1);
    int32_t *index = ARENA_ARRAY(m->arena, int32_t, (size_t)rows);
    for (int32_t i = 0; i < rows; i++) {
        const int32_t at = i / step % t->dim[seq], of = length[i / apart % t->dim[batch]];

        if (of < 0 || of > t->dim[seq])
            return FAIL(m->d, ST_MODEL, "lengths: expected 0 to %d, found %d", t->dim[seq], of);
        index[i] = at < of ? i + (of - 1 - 2 * at) * step : i;
    }
    TRY(matrix(m, row, rows, &x));
    return pick_rows(m, row, x, (uint32_t)rows, index, y);
}

/* Fill the rows of the result with the updates that they take; `none` where there is none. */
static enum status find_updates(struct tfl_importer *m, const struct tfl_operator *src,
                                const struct ir_tensor *y, uint32_t depth, int32_t none,
                                int32_t *from)
{
    const int32_t *index;
    uint32_t n;

    TRY(tfl_param(m, src->in.v[0], "indices", &n, &index));
    for (int32_t i = 0; i < none; i++) {
        int32_t at = 0;

        for (uint32_t k = 0; k < depth; k++) {
            const int32_t v = index[(uint32_t)i * depth + k];

            if (v < 0 || v >= y->dim[k])
                return FAIL(m->d, ST_MODEL, "indices: expected 0 to %d, found %d", y->dim[k] - 1,
                            v);
            at = at * y->dim[k] + v;
        }
        if (from[at] != none)
            return FAIL(m->d, ST_UNSUPPORTED,
                        "indices: expected each once, found element %d again "
                        "(its updates would be added)",
                        at);
        from[at] = i;
    }
    return ST_OK;
}

/* Import SCATTER_ND as a gather of rows of the updates and of a row of zeros. */
enum status tfl_scatter_nd(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    const struct ir_tensor *at, *to;
    const int32_t *shape;
    struct ir_tensor *zeros;
    uint32_t in[2], y, index, rank;
    struct ir_op *op;

    TRY(tfl_value(m, src, 0, &index));
    TRY(tfl_value(m, src, 1, &in[0]));
    TRY(tfl_result(m, src, 0, &y));
    at = m->g->tensor[index];
    to = m->g->tensor[y];
    if (to->type == IR_I16)
        return ir_want_type(to, "output", IR_I8, m->d);
    TRY(tfl_param(m, src->in.v[2], "shape", &rank, &shape));
    if (rank != to->rank || memcmp(shape, to->dim, rank * sizeof *shape) != 0)
        return FAIL(m->d, ST_MODEL, "shape: expected the output's");
    const uint32_t depth = at->rank > 0 ? (uint32_t)ir_dim_back(at, 0) : 0;
    if (depth < 1 || depth > to->rank)
        return FAIL(m->d, ST_MODEL, "indices '%.80s': expected 1 to %u in a tuple, found %u",
                    at->name, to->rank, depth);
    const int32_t n = (int32_t)(ir_elements(at) / depth), rows = product(to->dim, depth),
                  inner = product(to->dim + depth, to->rank - depth);
    if (ir_elements(m->g->tensor[in[0]]) != (uint64_t)n * (uint64_t)inner)
        return FAIL(m->d, ST_MODEL, "updates '%.80s': expected %d of %d elements",
                    m->g->tensor[in[0]]->name, n, inner);
    int32_t *from = ARENA_ARRAY(m->arena, int32_t, (size_t)rows);
    for (int32_t i = 0; i < rows; i++)
        from[i] = n;
    TRY(find_updates(m, src, to, depth, n, from));
    TRY(matrix(m, row, n, &in[0]));
    zeros = ir_tensor_new(m->g, "zeros", to->type, 2, (const int32_t[]){1, inner});
    zeros->role = IR_CONST;
    zeros->quant = m->g->tensor[in[0]]->quant;
    zeros->data = arena_alloc(m->arena, (size_t)ir_bytes(zeros));
    in[1] = zeros->id;
    TRY(tfl_between(m, zeros, 2, (const int32_t[]){n + 1, inner}, &index));
    TRY(tfl_make_concatenation(m, row, 2, in, index, &op));
    TRY(import_fold(m->g, op, m->d));
    return pick_rows(m, row, index, (uint32_t)rows, from, y);
}

/* Import TILE as one gather per dimension, with the indices 0 .. n-1 repeated. */
enum status tfl_tile(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    const int32_t *times;
    int32_t dim[IR_MAX_RANK];
    uint32_t x, y, n;

    TRY(tfl_value(m, src, 0, &x));
    TRY(tfl_result(m, src, 0, &y));
    TRY(tfl_param(m, src->in.v[1], "multiples", &n, &times));
    if (n != m->g->tensor[x]->rank)
        return FAIL(m->d, ST_MODEL, "multiples: expected %u, found %u", m->g->tensor[x]->rank, n);
    for (uint32_t i = 0; i < n; i++) {
        const int32_t size = m->g->tensor[x]->dim[i];

        if (times[i] < 1 || times[i] > (1 << 24) / size)
            return FAIL(m->d, ST_MODEL, "multiple %u: found %d", i, times[i]);
        dim[i] = times[i] * size;
    }
    TRY(tfl_want_size(m, m->g->tensor[x], n, dim)); /* before the indices are made */
    for (uint32_t i = 0; i < n; i++)
        if (times[i] > 1) {
            const int32_t size = m->g->tensor[x]->dim[i];
            int32_t *index = ARENA_ARRAY(m->arena, int32_t, (size_t)dim[i]);

            for (int32_t k = 0; k < dim[i]; k++)
                index[k] = k % size;
            TRY(tfl_pick(m, row, &x, i, (uint32_t)dim[i], index));
        }
    return tfl_reshape(m, row, x, y);
}
