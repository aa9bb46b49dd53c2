/* tfl_move.c - operators that only move bytes, as reshapes, transposes, pads, slices and
 * gathers: SPACE_TO_DEPTH, DEPTH_TO_SPACE, SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND, MIRROR_PAD,
 * RESIZE_NEAREST_NEIGHBOR, REVERSE_V2, BROADCAST_TO, FILL; SHAPE and RANGE, constants. */
#include <math.h>
#include <string.h>

#include "tfl_import.h"

/* Return the one input and the one output of `src`; x must have `rank` dimensions (0: any). */
static enum status ends(struct tfl_importer *m, const struct tfl_operator *src, uint32_t rank,
                        uint32_t *x, uint32_t *y)
{
    TRY(tfl_value(m, src, 0, x));
    TRY(tfl_result(m, src, 0, y));
    if (rank != 0 && m->g->tensor[*x]->rank != rank)
        return FAIL(m->d, ST_UNSUPPORTED, "input '%.80s': expected %u dimensions, found %u",
                    m->g->tensor[*x]->name, rank, m->g->tensor[*x]->rank);
    return ST_OK;
}

/* View x with dimensions `dim`, transpose it by `from` and write it to y. */
enum status tfl_shuffle(struct tfl_importer *m, uint32_t row, uint32_t x, uint32_t rank,
                        const int32_t *dim, const int32_t *from, uint32_t y)
{
    const struct ir_tensor *like = m->g->tensor[x];
    uint32_t cut, transposed;
    int32_t transposed_dim[IR_MAX_RANK];

    for (uint32_t i = 0; i < rank; i++)
        transposed_dim[i] = dim[from[i]];
    TRY(tfl_between(m, like, rank, dim, &cut));
    TRY(tfl_between(m, like, rank, transposed_dim, &transposed));
    TRY(tfl_reshape(m, row, x, cut));
    TRY(tfl_make_transpose(m, row, 2, (const uint32_t[]){cut, tfl_vector(m, rank, from)},
                           transposed, NULL));
    return tfl_reshape(m, row, transposed, y);
}

static enum status want_block(struct tfl_importer *m, int32_t block, int32_t size, const char *what)
{
    if (block >= 1 && size % block == 0)
        return ST_OK;
    return FAIL(m->d, ST_MODEL, "block size %d does not divide the %s %d", block, what, size);
}

/* Check that y's shape in the file equals the computed one. */
static enum status want_result(struct tfl_importer *m, uint32_t y, uint32_t rank,
                               const int32_t *dim)
{
    const struct ir_tensor *t = m->g->tensor[y];

    if (t->rank == rank && memcmp(t->dim, dim, rank * sizeof *dim) == 0)
        return ST_OK;
    return FAIL(m->d, ST_MODEL, "output '%.80s': expected shape %s, found %s", t->name,
                ir_shape_text(m->arena, rank, dim), ir_shape_text(m->arena, t->rank, t->dim));
}

enum status tfl_space_to_depth(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    static const int32_t from[6] = {0, 1, 3, 2, 4, 5};
    const int32_t b = src->options.block;
    const int32_t *d;
    uint32_t x, y;

    TRY(ends(m, src, 4, &x, &y));
    d = m->g->tensor[x]->dim;
    TRY(want_block(m, b, d[1], "height"));
    TRY(want_block(m, b, d[2], "width"));
    TRY(want_result(m, y, 4, (const int32_t[]){d[0], d[1] / b, d[2] / b, d[3] * b * b}));
    return tfl_shuffle(m, row, x, 6, (const int32_t[]){d[0], d[1] / b, b, d[2] / b, b, d[3]}, from,
                       y);
}

enum status tfl_depth_to_space(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    static const int32_t from[6] = {0, 1, 3, 2, 4, 5};
    const int32_t b = src->options.block;
    const int32_t *d;
    uint32_t x, y;

    TRY(ends(m, src, 4, &x, &y));
    d = m->g->tensor[x]->dim;
    TRY(want_block(m, b > 0 && b < 32768 ? b * b : 0, d[3], "channels"));
    TRY(want_result(m, y, 4, (const int32_t[]){d[0], d[1] * b, d[2] * b, d[3] / (b * b)}));
    return tfl_shuffle(m, row, x, 6, (const int32_t[]){d[0], d[1], d[2], b, b, d[3] / (b * b)},
                       from, y);
}

enum status tfl_blocks_of(struct tfl_importer *m, const struct tfl_operator *src,
                          const struct ir_tensor *x, struct tfl_blocks *b)
{
    const int32_t *block, *edge;
    uint32_t n_edge;

    TRY(tfl_param(m, src->in.v[1], "block shape", &b->n, &block));
    TRY(tfl_param(m, src->in.v[2], "paddings or crops", &n_edge, &edge));
    if (b->n < 1 || b->n > 2 || n_edge != 2 * b->n || x->rank != b->n + 2)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "expected 1 or 2 block sizes, twice that number of edges and '%.80s' with 2 "
                    "more dimensions, found %u, %u, %u",
                    x->name, b->n, n_edge, x->rank);
    for (uint32_t i = 0; i < b->n; i++) {
        b->block[i] = block[i];
        b->edge[i][0] = edge[2 * i];
        b->edge[i][1] = edge[2 * i + 1];
        if (block[i] < 1 || block[i] > 65535 || edge[2 * i] < 0 || edge[2 * i + 1] < 0 ||
            edge[2 * i] > 65535 || edge[2 * i + 1] > 65535)
            return FAIL(m->d, ST_MODEL, "block size %d, edges %d and %d are not usable", block[i],
                        edge[2 * i], edge[2 * i + 1]);
    }
    return ST_OK;
}

static enum status pad_edges(struct tfl_importer *m, uint32_t row, const struct tfl_blocks *b,
                             uint32_t *x)
{
    const struct ir_tensor *t = m->g->tensor[*x];
    int32_t edge[2 * IR_MAX_RANK] = {0}, dim[IR_MAX_RANK];
    const int32_t shape[2] = {(int32_t)t->rank, 2};
    uint32_t in[2] = {*x, 0};

    memcpy(dim, t->dim, sizeof dim);
    for (uint32_t i = 0; i < b->n; i++) {
        edge[2 * i + 2] = b->edge[i][0];
        edge[2 * i + 3] = b->edge[i][1];
        if (dim[i + 1] > (1 << 29))
            return FAIL(m->d, ST_MODEL, "'%.80s' is too large to pad", t->name);
        dim[i + 1] += b->edge[i][0] + b->edge[i][1];
    }
    in[1] = tfl_new_const(m, t->name, 2, shape, edge);
    TRY(tfl_between(m, t, t->rank, dim, x));
    return tfl_make_pad(m, row, 2, in, *x, NULL);
}

enum status tfl_space_to_batch(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    static const int32_t from1[4] = {2, 0, 1, 3}, from2[6] = {2, 4, 0, 1, 3, 5};
    struct tfl_blocks b;
    const int32_t *d;
    uint32_t x, y;

    TRY(ends(m, src, 0, &x, &y));
    TRY(tfl_blocks_of(m, src, m->g->tensor[x], &b));
    TRY(pad_edges(m, row, &b, &x));
    d = m->g->tensor[x]->dim;
    for (uint32_t i = 0; i < b.n; i++)
        TRY(want_block(m, b.block[i], d[i + 1], "padded size"));
    if (b.n == 1)
        return tfl_shuffle(m, row, x, 4,
                           (const int32_t[]){d[0], d[1] / b.block[0], b.block[0], d[2]}, from1, y);
    return tfl_shuffle(
        m, row, x, 6,
        (const int32_t[]){d[0], d[1] / b.block[0], b.block[0], d[2] / b.block[1], b.block[1], d[3]},
        from2, y);
}

enum status tfl_batch_to_space(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    static const int32_t from1[4] = {1, 2, 0, 3}, from2[6] = {2, 3, 0, 4, 1, 5};
    const struct ir_tensor *t;
    int32_t begin[4] = {0}, dim[4];
    struct tfl_blocks b;
    uint32_t x, y, whole;
    int32_t n;

    TRY(ends(m, src, 0, &x, &y));
    t = m->g->tensor[x];
    TRY(tfl_blocks_of(m, src, t, &b));
    n = b.n == 1                                   ? b.block[0]
        : b.block[0] < 32768 && b.block[1] < 32768 ? b.block[0] * b.block[1]
                                                   : 0;
    TRY(want_block(m, n, t->dim[0], "batch"));
    memcpy(dim, t->dim, sizeof dim);
    dim[0] /= n;
    for (uint32_t i = 0; i < b.n; i++) {
        if (dim[i + 1] > (1 << 30) / b.block[i])
            return FAIL(m->d, ST_MODEL, "'%.80s' is too large for its block size", t->name);
        dim[i + 1] *= b.block[i];
        begin[i + 1] = b.edge[i][0];
    }
    TRY(tfl_between(m, t, t->rank, dim, &whole));
    if (b.n == 1)
        TRY(tfl_shuffle(m, row, x, 4, (const int32_t[]){b.block[0], dim[0], t->dim[1], t->dim[2]},
                        from1, whole));
    else
        TRY(tfl_shuffle(
            m, row, x, 6,
            (const int32_t[]){b.block[0], b.block[1], dim[0], t->dim[1], t->dim[2], t->dim[3]},
            from2, whole));
    return tfl_part(m, row, whole, begin, NULL, y);
}

/* Return the mirrored position. `skip` 1 omits the edge (REFLECT); 0 repeats it (SYMMETRIC). */
static int32_t mirrored(int32_t i, int32_t size, int32_t skip)
{
    if (i < 0)
        return -i - 1 + skip;
    return i < size ? i : 2 * size - 1 - skip - i;
}

enum status tfl_mirror_pad(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    const int32_t skip = src->options.mode == 0; /* REFLECT */
    const int32_t *edge;
    uint32_t x, y, n;

    TRY(ends(m, src, 0, &x, &y));
    TRY(tfl_param(m, src->in.v[1], "paddings", &n, &edge));
    if (n != 2 * m->g->tensor[x]->rank)
        return FAIL(m->d, ST_MODEL, "paddings: expected two for each dimension, found %u", n);
    for (uint32_t i = 0; i < n / 2; i++) {
        const int32_t size = m->g->tensor[x]->dim[i], before = edge[2 * i], after = edge[2 * i + 1];
        int32_t *index;

        if (before < 0 || after < 0 || before > size - skip || after > size - skip)
            return FAIL(m->d, ST_MODEL, "paddings of dimension %u: expected 0 to %d, found %d, %d",
                        i, size - skip, before, after);
        if (before + after == 0)
            continue;
        index = ARENA_ARRAY(m->arena, int32_t, (size_t)size + (size_t)before + (size_t)after);
        for (int32_t k = 0; k < before + size + after; k++)
            index[k] = mirrored(k - before, size, skip);
        TRY(tfl_pick(m, row, &x, i, (uint32_t)(before + size + after), index));
    }
    return tfl_reshape(m, row, x, y);
}

/* Return the source position of output i, computed in float32 as in the reference. */
static int32_t nearest(int32_t i, int32_t in, int32_t out, bool align, bool half)
{
    const float scale =
        align && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
    const float at = ((float)i + (half ? 0.5f : 0.0f)) * scale;
    int32_t k = (int32_t)(align ? roundf(at) : floorf(at));

    k = k < in - 1 ? k : in - 1;
    return half && k < 0 ? 0 : k;
}

enum status tfl_resize_nearest(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    const struct tfl_options *o = &src->options;
    const int32_t *size;
    uint32_t x, y, n;

    TRY(ends(m, src, 4, &x, &y));
    TRY(tfl_param(m, src->in.v[1], "size", &n, &size));
    if (n != 2 || size[0] < 1 || size[1] < 1 || size[0] > (1 << 24) || size[1] > (1 << 24))
        return FAIL(m->d, ST_MODEL, "size: expected a height and a width");
    for (uint32_t i = 0; i < 2; i++) {
        int32_t *index = ARENA_ARRAY(m->arena, int32_t, (size_t)size[i]);
        const int32_t in = m->g->tensor[x]->dim[i + 1];

        for (int32_t k = 0; k < size[i]; k++)
            index[k] = nearest(k, in, size[i], o->align_corners, o->half_pixel_centers);
        if (size[i] != in)
            TRY(tfl_pick(m, row, &x, i + 1, (uint32_t)size[i], index));
    }
    return tfl_reshape(m, row, x, y);
}

/* Return true if y holds x's bytes under another scale. */
static bool rescaled(const struct ir_tensor *x, const struct ir_tensor *y)
{
    return x->quant.n == 1 && y->quant.n == 1 && x->type == y->type &&
           (x->quant.scale[0] != y->quant.scale[0] || ir_zero_point(x) != ir_zero_point(y));
}

enum status tfl_reverse(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    int32_t begin[IR_MAX_RANK] = {0}, step[IR_MAX_RANK];
    const struct ir_tensor *t;
    const int32_t *axis;
    uint32_t x, y, n, k;

    TRY(ends(m, src, 0, &x, &y));
    TRY(tfl_param(m, src->in.v[1], "axes", &n, &axis));
    t = m->g->tensor[x];
    for (uint32_t i = 0; i < IR_MAX_RANK; i++)
        step[i] = 1;
    for (uint32_t i = 0; i < n; i++) {
        TRY(tfl_axis(m, axis[i], t->rank, &k));
        begin[k] = t->dim[k] - 1;
        step[k] = -1;
    }
    if (!rescaled(t, m->g->tensor[y]))
        return tfl_part(m, row, x, begin, step, y);
    TRY(tfl_between(m, t, t->rank, t->dim, &k));
    TRY(tfl_part(m, row, x, begin, step, k));
    return tfl_recode(m, row, k, y);
}

static enum status broadcast(struct tfl_importer *m, uint32_t row, uint32_t x, uint32_t y)
{
    const struct ir_tensor *t = m->g->tensor[x], *to = m->g->tensor[y];
    int32_t dim[IR_MAX_RANK];
    uint32_t wide;

    for (uint32_t i = 0; i < to->rank; i++) {
        dim[i] = ir_dim_back(t, to->rank - 1 - i);
        if (t->rank > to->rank || (dim[i] != 1 && dim[i] != to->dim[i]))
            return FAIL(m->d, ST_MODEL, "'%.80s' of shape %s does not broadcast to %s", t->name,
                        ir_shape_text(m->arena, t->rank, t->dim),
                        ir_shape_text(m->arena, to->rank, to->dim));
    }
    TRY(tfl_between(m, t, to->rank, dim, &wide));
    TRY(tfl_reshape(m, row, x, wide));
    for (uint32_t i = 0; i < to->rank; i++)
        if (dim[i] != to->dim[i]) {
            const uint32_t n = (uint32_t)to->dim[i];

            TRY(tfl_pick(m, row, &wide, i, n, ARENA_ARRAY(m->arena, int32_t, n)));
        }
    return tfl_reshape(m, row, wide, y);
}

enum status tfl_broadcast_to(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    uint32_t x, y;

    TRY(ends(m, src, 0, &x, &y));
    return broadcast(m, row, x, y);
}

/* Import FILL as BROADCAST_TO; the output's shape decides. */
enum status tfl_fill(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    uint32_t x, y;

    TRY(tfl_value(m, src, 1, &x));
    TRY(tfl_result(m, src, 0, &y));
    return broadcast(m, row, x, y);
}

/* Import a RANGE whose start, end and step are constants of one type. */
enum status tfl_range(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    const int32_t *number[3];
    struct ir_tensor *r;
    uint32_t y, n;
    int32_t *value;

    (void)row;
    for (uint32_t i = 0; i < 3; i++) {
        TRY(tfl_param(m, src->in.v[i], "range", &n, &number[i]));
        if (n != 1)
            return FAIL(m->d, ST_MODEL, "range: expected one value, found %u", n);
    }
    TRY(tfl_result(m, src, 0, &y));
    r = m->g->tensor[y];
    if (r->type != IR_I32 || r->rank != 1)
        return FAIL(m->d, ST_UNSUPPORTED, "output '%.80s': expected a vector of i32", r->name);
    value = ARENA_ARRAY(m->arena, int32_t, (size_t)r->dim[0]);
    for (int32_t i = 0; i < r->dim[0]; i++)
        value[i] = (int32_t)((uint32_t)*number[0] + (uint32_t)i * (uint32_t)*number[2]);
    r->role = IR_CONST;
    r->data = (const uint8_t *)value;
    return ST_OK;
}

/* Make the output a constant of `n` integers. */
static enum status known(struct tfl_importer *m, const struct tfl_operator *src, uint32_t n,
                         const int32_t *value)
{
    struct ir_tensor *r;
    uint8_t *data;
    uint32_t y;

    TRY(tfl_result(m, src, 0, &y));
    r = m->g->tensor[y];
    if ((r->type != IR_I32 && r->type != IR_I64) || ir_elements(r) != n)
        return FAIL(m->d, ST_MODEL, "output '%.80s': expected %u values of i32 or i64", r->name, n);
    data = arena_alloc(m->arena, (size_t)ir_bytes(r));
    for (uint32_t i = 0; i < n; i++) {
        const int64_t v = value[i];

        memcpy(data + (size_t)i * ir_type_bytes(r->type), &v, ir_type_bytes(r->type));
    }
    r->role = IR_CONST;
    r->data = data;
    return ST_OK;
}

/* Import SHAPE as a constant, since shapes are static. */
enum status tfl_shape(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    uint32_t x;

    (void)row;
    TRY(tfl_tensor(m, src->in.v[0], &x)); /* only its shape is used */
    return known(m, src, m->g->tensor[x]->rank, m->g->tensor[x]->dim);
}

/* Import RANK as a constant. */
enum status tfl_rank(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    int32_t rank;
    uint32_t x;

    (void)row;
    TRY(tfl_tensor(m, src->in.v[0], &x));
    rank = (int32_t)m->g->tensor[x]->rank;
    return known(m, src, 1, &rank);
}
