/* tfl_math.c - operators that compute and are not a single ir_op: TRANSPOSE_CONV, CONV_3D, FULLY_CONNECTED
 * with computed weights, uint8 CONCATENATION of several scales, SQUARE, ADD_N, TOPK_V2, ONE_HOT. */
#include "compiler/ir/rules.h"
#include "tfl_import.h"

enum status tfl_transpose_conv(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    const struct tfl_options *o = &src->options;
    const bool bias = src->in.n > 3 && src->in.v[3] != -1;
    const struct ir_tensor *w, *y;
    const int32_t *shape;
    uint32_t in[3], out, n;
    struct ir_op *op;

    TRY(tfl_value(m, src, 2, &in[0]));
    TRY(tfl_value(m, src, 1, &in[1]));
    if (bias)
        TRY(tfl_value(m, src, 3, &in[2]));
    TRY(tfl_result(m, src, 0, &out));
    w = m->g->tensor[in[1]];
    y = m->g->tensor[out];
    TRY(tfl_want_static(m, m->g->tensor[in[0]], w));
    TRY(tfl_want_symmetric(m, w));
    TRY(tfl_param(m, src->in.v[0], "output shape", &n, &shape));
    for (uint32_t i = 0; i < n && n == y->rank; i++)
        if (shape[i] != y->dim[i])
            n = UINT32_MAX;
    if (n != 4 || y->rank != 4 || w->rank != 4)
        return FAIL(m->d, ST_MODEL, "output '%.80s': shape %s does not match the parameter",
                    y->name, ir_shape_text(m->arena, y->rank, y->dim));
    if (o->stride_h < 1 || o->stride_w < 1 || (o->padding != 0 && o->padding != 1))
        return FAIL(m->d, ST_MODEL, "strides %d and %d, padding %d: not usable", o->stride_h,
                    o->stride_w, o->padding);
    TRY(tfl_make_transpose_conv(m, row, bias ? 3 : 2, in, out, &op));
    op->attr[IR_KERNEL_H] = w->dim[1];
    op->attr[IR_KERNEL_W] = w->dim[2];
    op->attr[IR_STRIDE_H] = o->stride_h;
    op->attr[IR_STRIDE_W] = o->stride_w;
    op->attr[IR_PADDING] = o->padding == 0 ? IR_PADDING_SAME : IR_PADDING_EXPLICIT;
    TRY(tfl_sum_width(m, src, op));
    return tfl_activation(m, src, op);
}

enum { MAX_DEPTHS = 1 << 20 };

/* Depth of a volume under its windows: pads, and the place of each depth that a window reads. */
static enum status depth_window(struct tfl_importer *m, const struct tfl_options *o, int32_t size,
                                int32_t kernel, int32_t out, int32_t *pad)
{
    const int64_t span = (int64_t)(kernel - 1) * o->dilation_d + 1;
    int64_t want, total;

    if (o->stride_d < 1 || o->stride_h < 1 || o->stride_w < 1 || o->dilation_d < 1 ||
        o->dilation_h < 1 || o->dilation_w < 1 || kernel < 1 ||
        (o->padding != 0 && o->padding != 1))
        return FAIL(m->d, ST_MODEL, "expected kernel, stride and dilation of at least 1");
    if (span > MAX_DEPTHS || (int64_t)out * kernel > MAX_DEPTHS)
        return FAIL(m->d, ST_UNSUPPORTED, "expected windows of at most %d depths in all",
                    MAX_DEPTHS);
    want = o->padding == 0 ? ((int64_t)size + o->stride_d - 1) / o->stride_d
                           : (size - span) / o->stride_d + 1;
    if (want != out || (o->padding == 1 && size < span))
        return FAIL(m->d, ST_MODEL, "depth of the output: expected %lld, found %d", (long long)want,
                    out);
    total = (want - 1) * o->stride_d + span - size;
    pad[0] = total > 0 && o->padding == 0 ? (int32_t)(total / 2) : 0;
    pad[1] = total > 0 && o->padding == 0 ? (int32_t)(total - total / 2) : 0;
    return ST_OK;
}

/* x [N,D,H,W,C] as images [N*OD,H,W,KD*C]: the depths of each window are channels. */
static enum status depths_as_channels(struct tfl_importer *m, const struct tfl_options *o,
                                      uint32_t row, int32_t kernel, int32_t out, uint32_t *x)
{
    static const int32_t from[4] = {0, 2, 1, 3}, shape[2] = {3, 2};
    const struct ir_tensor *t = m->g->tensor[*x];
    const int32_t *d = t->dim, cells = d[2] * d[3];
    const int32_t n = out * kernel, image[4] = {d[0] * out, d[2], d[3], kernel * d[4]};
    int32_t edge[6] = {0}, *place;
    uint32_t in[2];

    TRY(depth_window(m, o, d[1], kernel, out, edge + 2));
    TRY(tfl_want_size(m, t, 4, image));
    TRY(tfl_between(m, t, 3, (const int32_t[]){d[0], d[1], cells * d[4]}, &in[0]));
    TRY(tfl_reshape(m, row, *x, in[0]));
    in[1] = tfl_new_const(m, t->name, 2, shape, edge);
    TRY(tfl_between(m, t, 3, (const int32_t[]){d[0], d[1] + edge[2] + edge[3], cells * d[4]}, x));
    TRY(tfl_make_pad(m, row, 2, in, *x, NULL));
    place = ARENA_ARRAY(m->arena, int32_t, (size_t)n);
    for (int32_t i = 0; i < n; i++)
        place[i] = i / kernel * o->stride_d + i % kernel * o->dilation_d;
    TRY(tfl_pick(m, row, x, 1, (uint32_t)n, place));
    in[0] = *x;
    TRY(tfl_between(m, t, 4, image, x));
    return tfl_shuffle(m, row, in[0], 4, (const int32_t[]){image[0], kernel, cells, d[4]}, from,
                       *x);
}

/* A convolution of volumes of float32 as one of images. Weights [KD,KH,KW,C,OC] become [OC,KH,KW,KD*C]. */
enum status tfl_conv_3d(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    static const int32_t from[4] = {3, 1, 0, 2};
    const struct tfl_options *o = &src->options;
    const struct ir_tensor *x, *w, *y;
    uint32_t in[3] = {0}, weights, out, images;
    struct ir_op *op;
    const int32_t *k;

    TRY(tfl_value(m, src, 0, &in[0]));
    TRY(tfl_value(m, src, 1, &weights));
    if (src->in.n > 2 && src->in.v[2] != -1)
        TRY(tfl_value(m, src, 2, &in[2]));
    TRY(tfl_result(m, src, 0, &out));
    x = m->g->tensor[in[0]];
    w = m->g->tensor[weights];
    y = m->g->tensor[out];
    k = w->dim;
    TRY(ir_want_type(x, "input", IR_F32, m->d));
    TRY(ir_want_type(w, "weights", IR_F32, m->d));
    if (x->rank != 5 || w->rank != 5 || y->rank != 5 || k[3] != x->dim[4] || y->dim[0] != x->dim[0])
        return FAIL(m->d, ST_MODEL, "input %s, weights %s, output %s: expected volumes that fit",
                    ir_shape_text(m->arena, x->rank, x->dim), ir_shape_text(m->arena, w->rank, k),
                    ir_shape_text(m->arena, y->rank, y->dim));
    TRY(depths_as_channels(m, o, row, k[0], y->dim[1], &in[0]));
    TRY(tfl_between(m, w, 4, (const int32_t[]){k[4], k[1], k[2], k[0] * k[3]}, &in[1]));
    TRY(tfl_shuffle(m, row, weights, 4, (const int32_t[]){k[0], k[1] * k[2], k[3], k[4]}, from,
                    in[1]));
    TRY(tfl_between(m, y, 4,
                    (const int32_t[]){y->dim[0] * y->dim[1], y->dim[2], y->dim[3], y->dim[4]},
                    &images));
    TRY(tfl_make_conv2d(m, row, src->in.n > 2 && src->in.v[2] != -1 ? 3 : 2, in, images, &op));
    op->attr[IR_KERNEL_H] = k[1];
    op->attr[IR_KERNEL_W] = k[2];
    op->attr[IR_STRIDE_H] = o->stride_h;
    op->attr[IR_STRIDE_W] = o->stride_w;
    op->attr[IR_DILATION_H] = o->dilation_h;
    op->attr[IR_DILATION_W] = o->dilation_w;
    op->attr[IR_PADDING] = o->padding == 0 ? IR_PADDING_SAME : IR_PADDING_EXPLICIT;
    TRY(tfl_activation(m, src, op));
    return tfl_reshape(m, row, images, out);
}

/* Reshape x [.., K] to [M, K], and y [M, N] to the shape in the file. */
enum status tfl_computed_weights(struct tfl_importer *m, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(m->g, op, 0), *w = ir_in(m->g, op, 1);
    const struct ir_tensor *y = ir_out(m->g, op, 0);
    const int32_t k = ir_dim_back(w, 0), n = ir_dim_back(w, 1);
    const uint32_t out = op->out[0];
    const int64_t rows = (int64_t)(ir_elements(x) / (uint64_t)k);
    uint32_t matrix;

    if (w->rank != 2 || ir_elements(x) % (uint64_t)k != 0)
        return FAIL(m->d, ST_MODEL, "'%.80s' does not fit the weights %s", x->name,
                    ir_shape_text(m->arena, w->rank, w->dim));
    TRY(tfl_between(m, x, 2, (const int32_t[]){(int32_t)rows, k}, &matrix));
    TRY(tfl_reshape(m, op->row, op->in[0], matrix));
    op->in[0] = matrix;
    TRY(tfl_between(m, y, 2, (const int32_t[]){(int32_t)rows, n}, &op->out[0]));
    m->g->tensor[op->out[0]]->producer = op->id;
    TRY(tfl_reshape(m, op->row, op->out[0], out));
    op->opcode = IR_OP_BATCH_MATMUL;
    op->attr[IR_ADJ_B] = 1;
    return ST_OK;
}

enum status tfl_rescale_parts(struct tfl_importer *m, struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(m->g, op, 0);

    if (y->type != IR_U8 || y->quant.n != 1)
        return ST_OK;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const struct ir_tensor *x = ir_in(m->g, op, i);
        uint32_t part;

        if (x == NULL || x->type != IR_U8 || x->quant.n != 1 ||
            (x->quant.scale[0] == y->quant.scale[0] &&
             x->quant.zero_point[0] == y->quant.zero_point[0]))
            continue;
        TRY(tfl_between(m, y, x->rank, x->dim, &part));
        TRY(tfl_make_rescale(m, op->row, 1, &op->in[i], part, NULL));
        op->in[i] = part;
    }
    return ST_OK;
}

/* Import SQUARE as x * x; the format has it for float32 only. */
enum status tfl_square(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    uint32_t in[2], out;

    TRY(tfl_value(m, src, 0, &in[0]));
    TRY(tfl_result(m, src, 0, &out));
    in[1] = in[0];
    TRY(ir_want_type(m->g->tensor[in[0]], "input", IR_F32, m->d));
    return tfl_make_mul(m, row, 2, in, out, NULL);
}

/* Import ADD_N as ADDs from left to right; the format has float32 and int32. */
enum status tfl_add_n(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    uint32_t in[2], out, y;

    TRY(tfl_value(m, src, 0, &in[0]));
    TRY(tfl_result(m, src, 0, &y));
    if (m->g->tensor[y]->type != IR_F32)
        TRY(ir_want_type(m->g->tensor[y], "output", IR_I32, m->d));
    if (src->in.n == 1)
        return tfl_reshape(m, row, in[0], y);
    for (uint32_t i = 1; i < src->in.n; i++) {
        const struct ir_tensor *t = m->g->tensor[y];

        TRY(tfl_value(m, src, i, &in[1]));
        out = y;
        if (i + 1 < src->in.n)
            TRY(tfl_between(m, t, t->rank, t->dim, &out));
        TRY(tfl_make_add(m, row, 2, in, out, NULL));
        in[0] = out;
    }
    return ST_OK;
}

/* Import TOPK_V2: values and indices along the innermost dimension; k is taken from their
 * shapes. */
enum status tfl_top_k(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    struct ir_op *op;
    uint32_t x, y;
    int32_t k;

    TRY(tfl_value(m, src, 0, &x));
    TRY(tfl_scalar(m, src, 1, "k", &k));
    for (uint32_t i = 0; i < 2; i++) {
        TRY(tfl_result(m, src, i, &y));
        if (m->g->tensor[x]->rank == 0 || ir_dim_back(m->g->tensor[y], 0) != k)
            return FAIL(m->d, ST_MODEL, "k: expected %d, found %d", ir_dim_back(m->g->tensor[y], 0),
                        k);
        if (i == 1)
            TRY(ir_want_type(m->g->tensor[y], "output", IR_I32, m->d));
        TRY(tfl_make_top_k(m, row, 1, &x, y, &op));
        op->attr[IR_AXIS] = (int32_t)m->g->tensor[x]->rank - 1;
    }
    return ST_OK;
}

/* Return the constant 0 .. n-1 along dimension `axis` of `rank` dimensions. */
static uint32_t places(struct tfl_importer *m, uint32_t rank, uint32_t axis, int32_t n)
{
    int32_t dim[IR_MAX_RANK], *value = ARENA_ARRAY(m->arena, int32_t, (size_t)n);

    for (uint32_t i = 0; i < rank; i++)
        dim[i] = i == axis ? n : 1;
    for (int32_t i = 0; i < n; i++)
        value[i] = i;
    return tfl_new_const(m, "", rank, dim, value);
}

/* Return a constant whose scale differs from that of `like`, with its bytes unchanged, as in the
 * reference. */
static uint32_t code_as(struct tfl_importer *m, uint32_t id, const struct ir_tensor *like)
{
    const struct ir_tensor *t = m->g->tensor[id];
    struct ir_tensor *c;

    if (t->role != IR_CONST || t->type != like->type || !ir_is_code(t->type))
        return id;
    c = ir_tensor_new(m->g, t->name, t->type, t->rank, t->dim);
    c->role = IR_CONST;
    c->data = t->data;
    c->quant = like->quant;
    return c->id;
}

/* Import ONE_HOT: the on value where the position equals the index, the off value elsewhere. */
enum status tfl_one_hot(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    const int32_t axis = src->options.axis;
    const struct ir_tensor *t, *to;
    int32_t dim[IR_MAX_RANK], depth;
    uint32_t in[3], index[2], y, k, rank;
    struct ir_tensor *flag;

    TRY(tfl_value(m, src, 0, &index[0]));
    TRY(tfl_value(m, src, 2, &in[1]));
    TRY(tfl_value(m, src, 3, &in[2]));
    TRY(tfl_result(m, src, 0, &y));
    TRY(tfl_scalar(m, src, 1, "depth", &depth));
    t = m->g->tensor[index[0]];
    to = m->g->tensor[y];
    rank = t->rank + 1;
    TRY(tfl_axis(m, axis, rank, &k));
    TRY(ir_want_type(t, "indices", IR_I32, m->d));
    if (to->rank != rank || to->dim[k] != depth)
        return FAIL(m->d, ST_MODEL, "output '%.80s': expected %d elements in dimension %u of %u",
                    to->name, depth, k, rank);
    for (uint32_t i = 1; i < 3; i++)
        in[i] = code_as(m, in[i], to);
    for (uint32_t i = 0; i < rank; i++)
        dim[i] = i == k ? 1 : t->dim[i < k ? i : i - 1];
    TRY(tfl_between(m, t, rank, dim, &index[1]));
    TRY(tfl_reshape(m, row, index[0], index[1]));
    flag = ir_tensor_new(m->g, to->name, IR_BOOL, rank, to->dim);
    in[0] = flag->id;
    TRY(tfl_make_equal(m, row, 2, (const uint32_t[]){index[1], places(m, rank, k, depth)}, in[0],
                       NULL));
    return tfl_make_select(m, row, 3, in, y, NULL);
}
