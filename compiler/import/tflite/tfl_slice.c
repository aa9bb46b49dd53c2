/* tfl_slice.c - operators that pick parts of a tensor or put parts together, as slices, gathers,
 * concatenations and reshapes: SPLIT, SPLIT_V, PACK, UNPACK, STRIDED_SLICE, GATHER, TILE. */
#include <string.h>

#include "compiler/import/common/import_fold.h"
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

/* Rows of a table, input 1, by their indices, input 0. */
enum status tfl_embedding(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    uint32_t in[2], y;

    TRY(tfl_value(m, src, 1, &in[0]));
    TRY(tfl_value(m, src, 0, &in[1]));
    TRY(tfl_result(m, src, 0, &y));
    return tfl_make_gather(m, row, 2, in, y, NULL);
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
