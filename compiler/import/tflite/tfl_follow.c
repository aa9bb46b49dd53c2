/* tfl_follow.c - sizes that a file leaves open, or of inputs other than the file's (--input-shapes): the shape of what an
 * operator computes follows from its inputs, as in LiteRT's Prepare functions. The operators' rules check it later as
 * they check a file's. in: file->sizes. out: shapes of file->tensor replaced, or a refusal. */
#include "compiler/import/common/import_sizes.h"
#include "tfl_import.h"

#include <string.h>

struct follow {
    struct tfl_importer *m;
    const struct tfl_operator *src;
    const struct tfl_options *o;
    const struct ir_tensor *x; /* input 0 */
    struct tfl_ints file;      /* the file's shape of output 0 */
    uint32_t n;                /* the shape that follows; a rule finds x's here */
    int64_t dim[2 * IR_MAX_RANK];
};

typedef enum status follow_rule(struct follow *f);

static enum status input(struct follow *f, uint32_t i, const struct ir_tensor **x)
{
    uint32_t id;

    if (i >= f->src->in.n)
        return FAIL(f->m->d, ST_MODEL, "expected more than %u inputs, found %u", i, f->src->in.n);
    TRY(tfl_tensor(f->m, f->src->in.v[i], &id));
    *x = f->m->g->tensor[id];
    return ST_OK;
}

/* Read parameter `i`, at most `most` integers. */
static enum status numbers(struct follow *f, uint32_t i, uint32_t most, uint32_t *n,
                           const int32_t **v)
{
    const struct ir_tensor *t;

    TRY(input(f, i, &t));
    TRY(tfl_param(f->m, f->src->in.v[i], "parameter", n, v));
    *n = *n < most ? *n : most; /* the operator's rule refuses more */
    return ST_OK;
}

static void add(struct follow *f, uint32_t n, const int32_t *dim)
{
    for (uint32_t i = 0; i < n; i++)
        f->dim[f->n++] = dim[i];
}

static void drop(struct follow *f, uint32_t axis)
{
    memmove(f->dim + axis, f->dim + axis + 1, (--f->n - axis) * sizeof *f->dim);
}

static void insert(struct follow *f, uint32_t axis, int64_t size)
{
    memmove(f->dim + axis + 1, f->dim + axis, (f->n++ - axis) * sizeof *f->dim);
    f->dim[axis] = size;
}

/* Broadcast with the `n` sizes of `dim`, aligned at the last. */
static void broadcast(struct follow *f, uint32_t n, const int32_t *dim)
{
    while (f->n < n)
        insert(f, 0, 1);
    for (uint32_t i = 1; i <= n; i++)
        if (f->dim[f->n - i] == 1)
            f->dim[f->n - i] = dim[n - i];
}

static enum status follow_first(struct follow *f)
{
    (void)f;
    return ST_OK;
}

static enum status follow_file(struct follow *f)
{
    f->n = 0;
    add(f, f->file.n, f->file.v);
    return ST_OK;
}

static enum status follow_broadcast(struct follow *f)
{
    const struct ir_tensor *x;

    for (uint32_t i = 1; i < f->src->in.n; i++) {
        TRY(input(f, i, &x));
        broadcast(f, x->rank, x->dim);
    }
    return ST_OK;
}

static int64_t windows(int64_t size, int64_t kernel, int64_t stride, int64_t dilation, bool same)
{
    return (size + stride - 1 - (same ? 0 : (kernel - 1) * dilation)) / stride;
}

/* The kernel is an option of pools, and weights [.., height, width, channels] of convolutions. */
static enum status follow_window(struct follow *f)
{
    const struct tfl_options *o = f->o;
    const bool conv = f->src->in.n > 1, same = o->padding == 0;
    const struct ir_tensor *w = f->x;

    if (conv)
        TRY(input(f, 1, &w));
    if (f->n != 4 || f->file.n != 4 || o->stride_h < 1 || o->stride_w < 1)
        return follow_file(f); /* the operator's rule refuses it */
    f->dim[1] = windows(f->dim[1], conv ? ir_dim_back(w, 2) : o->filter_h, o->stride_h,
                        conv ? o->dilation_h : 1, same);
    f->dim[2] = windows(f->dim[2], conv ? ir_dim_back(w, 1) : o->filter_w, o->stride_w,
                        conv ? o->dilation_w : 1, same);
    f->dim[3] = conv ? f->file.v[3] : f->dim[3];
    return ST_OK;
}

/* The output has the leading dimensions, or is a matrix. */
static enum status follow_dense(struct follow *f)
{
    const struct ir_tensor *w;

    TRY(input(f, 1, &w));
    if (f->file.n == 2) /* a remainder is refused later */
        f->dim[0] = (int64_t)ir_elements(f->x) / ir_dim_back(w, 0);
    f->n = f->file.n == 2 ? 2 : f->n;
    f->dim[f->n == 0 ? 0 : f->n - 1] = ir_dim_back(w, 1);
    return ST_OK;
}

static enum status follow_matmul(struct follow *f)
{
    const struct ir_tensor *b;

    TRY(input(f, 1, &b));
    if (f->n < 2 || b->rank < 2)
        return follow_file(f);
    f->n -= 2;
    broadcast(f, b->rank - 2, b->dim);
    add(f, 1, &f->x->dim[f->x->rank - (f->o->adjoint_x ? 1 : 2)]);
    add(f, 1, &b->dim[b->rank - (f->o->adjoint_y ? 2 : 1)]);
    return ST_OK;
}

static enum status follow_concat(struct follow *f)
{
    const struct ir_tensor *x;
    uint32_t axis;

    TRY(tfl_axis(f->m, f->o->axis, f->n, &axis));
    for (uint32_t i = 1; i < f->src->in.n; i++) {
        TRY(input(f, i, &x));
        f->dim[axis] += axis < x->rank ? x->dim[axis] : 0;
    }
    return ST_OK;
}

static enum status follow_pack(struct follow *f)
{
    uint32_t axis;

    TRY(tfl_axis(f->m, f->o->axis, f->n + 1, &axis));
    insert(f, axis, f->src->in.n);
    return ST_OK;
}

static enum status follow_unpack(struct follow *f)
{
    uint32_t axis;

    TRY(tfl_axis(f->m, f->o->axis, f->n, &axis));
    drop(f, axis);
    return ST_OK;
}

static enum status follow_expand(struct follow *f)
{
    const int32_t *axis;
    uint32_t n, k;

    TRY(numbers(f, 1, 1, &n, &axis));
    TRY(tfl_axis(f->m, n ? axis[0] : 0, f->n + 1, &k));
    insert(f, k, 1);
    return ST_OK;
}

static enum status follow_squeeze(struct follow *f)
{
    const struct tfl_ints named = f->o->squeezed;
    uint32_t k;

    for (uint32_t i = 0; i < named.n; i++) {
        TRY(tfl_axis(f->m, named.v[i], f->n, &k));
        f->dim[k] = f->dim[k] == 1 ? 0 : f->dim[k];
    }
    for (uint32_t i = f->n; i-- > 0;)
        if (f->dim[i] == (named.n == 0 ? 1 : 0))
            drop(f, i);
    return f->n == f->file.n ? ST_OK
                             : FAIL(f->m->d, ST_UNSUPPORTED,
                                    "expected %u sizes other than 1 after --input-shapes, found %u",
                                    f->file.n, f->n);
}

static enum status follow_split(struct follow *f)
{
    const int64_t parts = f->src->out.n;
    const struct ir_tensor *x;
    const int32_t *axis;
    uint32_t n, k;

    TRY(numbers(f, 0, 1, &n, &axis));
    TRY(input(f, 1, &x));
    f->n = 0;
    add(f, x->rank, x->dim);
    TRY(tfl_axis(f->m, n ? axis[0] : 0, f->n, &k));
    if (f->dim[k] % parts != 0)
        return FAIL(f->m->d, ST_UNSUPPORTED, "dimension %u: expected a multiple of %lld, found %d",
                    k, (long long)parts, x->dim[k]);
    f->dim[k] /= parts;
    return ST_OK;
}

static enum status follow_reduce(struct follow *f)
{
    const int32_t *axis;
    uint32_t n, k;

    TRY(numbers(f, 1, UINT32_MAX, &n, &axis));
    for (uint32_t i = 0; i < n; i++) {
        TRY(tfl_axis(f->m, axis[i], f->n, &k));
        f->dim[k] = -1;
    }
    for (uint32_t i = f->n; i-- > 0;)
        if (f->dim[i] == -1 && !f->o->keep_dims)
            drop(f, i);
        else if (f->dim[i] == -1)
            f->dim[i] = 1;
    return ST_OK;
}

static enum status follow_pad(struct follow *f)
{
    const int32_t *edge;
    uint32_t n;

    TRY(numbers(f, 1, 2 * f->n, &n, &edge));
    for (uint32_t i = 0; i < n; i++)
        f->dim[i / 2] += edge[i];
    return ST_OK;
}

static enum status follow_blocks(struct follow *f, bool to_batch)
{
    const struct ir_tensor *edge;
    struct tfl_blocks b;

    TRY(input(f, 2, &edge));
    TRY(tfl_blocks_of(f->m, f->src, f->x, &b));
    for (uint32_t i = 0; i < b.n; i++) {
        const int32_t edges = b.edge[i][0] + b.edge[i][1];

        f->dim[0] = to_batch ? f->dim[0] * b.block[i] : f->dim[0] / b.block[i];
        f->dim[i + 1] =
            to_batch ? (f->dim[i + 1] + edges) / b.block[i] : f->dim[i + 1] * b.block[i] - edges;
    }
    return ST_OK;
}

static enum status follow_to_batch(struct follow *f)
{
    return follow_blocks(f, true);
}

static enum status follow_from_batch(struct follow *f)
{
    return follow_blocks(f, false);
}

static enum status follow_transpose(struct follow *f)
{
    const int32_t *from;
    uint32_t n, k;

    TRY(numbers(f, 1, f->n, &n, &from));
    for (uint32_t i = 0; i < n; i++) {
        TRY(tfl_axis(f->m, from[i], f->n, &k));
        f->dim[i] = f->x->dim[k];
    }
    return ST_OK;
}

/* The rest of a dimension, size -1, must be what it is in the file: LiteRT refuses others. */
static enum status follow_slice(struct follow *f)
{
    const int32_t *begin, *size;
    uint32_t n, n_size;

    TRY(numbers(f, 1, f->n, &n, &begin));
    TRY(numbers(f, 2, n, &n_size, &size));
    for (uint32_t i = 0; i < n_size && i < f->file.n; i++)
        if (size[i] == -1 && f->dim[i] - begin[i] != f->file.v[i])
            return FAIL(f->m->d, ST_UNSUPPORTED,
                        "dimension %u: takes the rest, %d in the file, %lld after --input-shapes; "
                        "export the model with this shape",
                        i, f->file.v[i], (long long)(f->dim[i] - begin[i]));
    return follow_file(f);
}

static enum status follow_strided_slice(struct follow *f)
{
    const struct ir_tensor *step;
    int32_t dim[IR_MAX_RANK];
    uint32_t n;

    TRY(input(f, 3, &step));
    TRY(tfl_slice_dims(f->m, f->src, f->x, &n, dim));
    f->n = 0;
    add(f, n, dim);
    return ST_OK;
}

/* A shape of the file holds as it is; -1 in it is what remains. */
static enum status follow_reshape(struct follow *f)
{
    struct tfl_ints shape = f->o->new_shape;
    uint64_t product = 1, all = ir_elements(f->x);
    uint32_t open = IR_NONE;

    if (f->src->in.n > 1 && f->src->in.v[1] >= 0)
        TRY(numbers(f, 1, UINT32_MAX, &shape.n, &shape.v));
    if (shape.n != f->file.n)
        return follow_file(f); /* a scalar of old files, or the operator's rule refuses it */
    f->n = 0;
    add(f, shape.n, shape.v);
    for (uint32_t i = 0; i < f->n; i++)
        if (f->dim[i] < 0)
            open = i;
        else
            product *= product <= all ? (uint64_t)f->dim[i] : 1;
    if (open != IR_NONE && product != 0 && all % product == 0)
        f->dim[open] = (int64_t)(all / product);
    else if (product != all)
        return FAIL(f->m->d, ST_UNSUPPORTED,
                    "its constant shape %s does not fit the %llu elements of '%.80s' after "
                    "--input-shapes; export the model with this dimension open",
                    ir_shape_text(f->m->arena, shape.n, shape.v), (unsigned long long)all,
                    f->x->name);
    return ST_OK;
}

static enum status follow_gather(struct follow *f)
{
    const struct ir_tensor *index;
    int64_t batch = f->o->batch_dims;
    uint32_t axis;

    TRY(input(f, 1, &index));
    TRY(tfl_axis(f->m, f->o->axis, f->n, &axis));
    batch += batch < 0 ? index->rank : 0;
    if (batch < 0 || batch > index->rank)
        return follow_file(f);
    f->n = axis;
    add(f, index->rank - (uint32_t)batch, index->dim + batch);
    add(f, f->x->rank - axis - 1, f->x->dim + axis + 1);
    return ST_OK;
}

static enum status follow_resize(struct follow *f)
{
    const int32_t *size;
    uint32_t n;

    TRY(numbers(f, 1, 2, &n, &size));
    for (uint32_t i = 0; i < n && f->n == 4; i++)
        f->dim[i + 1] = size[i];
    return ST_OK;
}

static const struct {
    follow_rule *rule;
    const char *names; /* each between spaces */
} rules[] = {
    {follow_file, " SHAPE RANK SCATTER_ND "},
    {follow_first, " CUMSUM LOGISTIC TANH LEAKY_RELU RELU RELU6 RELU_N1_TO_1 RELU_0_TO_1 "
                   "HARD_SWISH EXP LOG RSQRT ELU GELU SQRT ROUND FLOOR CEIL SIN COS SOFTMAX "
                   "LOG_SOFTMAX L2_NORMALIZATION QUANTIZE DEQUANTIZE CAST LOGICAL_NOT NEG ABS SIGN "
                   "ZEROS_LIKE SQUARE REVERSE_V2 REVERSE_SEQUENCE DYNAMIC_UPDATE_SLICE "},
    {follow_broadcast, " ADD SUB MUL DIV FLOOR_DIV FLOOR_MOD BITWISE_XOR RIGHT_SHIFT POW MAXIMUM "
                       "MINIMUM EQUAL NOT_EQUAL LESS LESS_EQUAL GREATER GREATER_EQUAL LOGICAL_AND "
                       "LOGICAL_OR SELECT_V2 PRELU SQUARED_DIFFERENCE ADD_N "},
    {follow_window, " CONV_2D DEPTHWISE_CONV_2D AVERAGE_POOL_2D MAX_POOL_2D L2_POOL_2D "},
    {follow_dense, " FULLY_CONNECTED "},
    {follow_matmul, " BATCH_MATMUL "},
    {follow_concat, " CONCATENATION "},
    {follow_pack, " PACK "},
    {follow_unpack, " UNPACK "},
    {follow_split, " SPLIT "},
    {follow_expand, " EXPAND_DIMS "},
    {follow_squeeze, " SQUEEZE "},
    {follow_reduce, " MEAN SUM REDUCE_ANY REDUCE_MAX REDUCE_ALL REDUCE_MIN REDUCE_PROD ARG_MAX "
                    "ARG_MIN "},
    {follow_pad, " PAD PADV2 MIRROR_PAD "},
    {follow_to_batch, " SPACE_TO_BATCH_ND "},
    {follow_from_batch, " BATCH_TO_SPACE_ND "},
    {follow_transpose, " TRANSPOSE "},
    {follow_slice, " SLICE "},
    {follow_strided_slice, " STRIDED_SLICE "},
    {follow_reshape, " RESHAPE "},
    {follow_gather, " GATHER "},
    {follow_resize, " RESIZE_NEAREST_NEIGHBOR RESIZE_BILINEAR "},
};

static follow_rule *rule_of(struct arena *a, const char *name)
{
    const char *spaced = arena_printf(a, " %s ", name);

    for (uint32_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strstr(rules[i].names, spaced) != NULL)
            return rules[i].rule;
    return NULL;
}

static bool in_file(const struct tfl_importer *m, int32_t index)
{
    return index >= 0 && (uint32_t)index < m->file->n_tensor;
}

/* Replace the shape of file tensor `index`. */
static enum status resize(struct tfl_importer *m, int32_t index, uint32_t n, const int64_t *size)
{
    struct tfl_tensor *t = &m->file->tensor[index];
    int32_t *dim = ARENA_ARRAY(m->arena, int32_t, n + 1);

    for (uint32_t i = 0; i < n; i++) {
        if (size[i] < 1 || size[i] > INT32_MAX)
            return FAIL(m->d, ST_UNSUPPORTED,
                        "'%.80s': dimension %u would be %lld after --input-shapes", t->name, i,
                        (long long)size[i]);
        dim[i] = (int32_t)size[i];
    }
    if (n == t->shape.n && (n == 0 || memcmp(dim, t->shape.v, n * sizeof *dim) == 0))
        return ST_OK;
    t->shape = (struct tfl_ints){n, dim};
    m->resized[index] = true;
    return ST_OK;
}

enum status tfl_sizes(struct tfl_importer *m)
{
    const struct tfl_file *f = m->file;
    const char **name = ARENA_ARRAY(m->arena, const char *, f->in.n);
    int64_t size[IR_MAX_RANK];
    bool given;

    if (f->sizes || tfl_has_open_sizes(f))
        m->resized = ARENA_ARRAY(m->arena, bool, f->n_tensor + 1);
    if (f->sizes == NULL)
        return ST_OK;
    for (uint32_t i = 0; i < f->in.n; i++)
        name[i] = in_file(m, f->in.v[i]) ? f->tensor[f->in.v[i]].name : "";
    TRY(import_sizes_check(m->arena, f->sizes, f->in.n, name, m->d));
    for (uint32_t i = 0, n; i < f->in.n; i++) {
        TRY(import_sizes(f->sizes, name[i], &given, &n, size, m->d));
        if (!given || !in_file(m, f->in.v[i]))
            continue;
        if (n != f->tensor[f->in.v[i]].shape.n)
            return FAIL(m->d, ST_USAGE, "--input-shapes: '%.80s': expected %u numbers, found %u",
                        name[i], f->tensor[f->in.v[i]].shape.n, n);
        TRY(resize(m, f->in.v[i], n, size));
    }
    return ST_OK;
}

enum status tfl_follow(struct tfl_importer *m, uint32_t index)
{
    const struct tfl_operator *src = &m->file->op[index];
    follow_rule *const rule = m->resized ? rule_of(m->arena, m->g->row[index].op) : NULL;
    struct follow f = {.m = m, .src = src, .o = &src->options};

    for (uint32_t i = 0; m->resized && !rule && i < src->in.n; i++)
        if (in_file(m, src->in.v[i]) && m->resized[src->in.v[i]])
            return FAIL(m->d, ST_UNSUPPORTED,
                        "input '%.80s': its shape is not the file's, and the result's does not "
                        "follow; export the model with this shape",
                        m->file->tensor[src->in.v[i]].name);
    if (!rule || src->out.n == 0 || !in_file(m, src->out.v[0]))
        return ST_OK;
    f.file = m->file->tensor[src->out.v[0]].shape;
    if (f.file.n > IR_MAX_RANK)
        return ST_OK; /* its import refuses it */
    TRY(input(&f, 0, &f.x));
    add(&f, f.x->rank, f.x->dim);
    TRY(rule(&f));
    for (uint32_t i = 0; i < src->out.n; i++)
        if (in_file(m, src->out.v[i]))
            TRY(resize(m, src->out.v[i], f.n, f.dim));
    return ST_OK;
}
