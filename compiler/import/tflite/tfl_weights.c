/* tfl_weights.c - refuse quantised weights that the format allows but its reference kernels do not
 * compute as specified; choose the width of int16's sums; make products of float32 activations and int8
 * weights sums of int32. in: an operator's activations, weights and bias. out: ST_OK or a refusal. */
#include "compiler/ir/rules.h"
#include "tfl_import.h"

#include <string.h>

enum status tfl_want_static(struct tfl_importer *m, const struct ir_tensor *x,
                            const struct ir_tensor *w)
{
    if (x->type != IR_F32 || (w->type != IR_I8 && w->type != IR_U8))
        return ST_OK;
    return FAIL(m->d, ST_UNSUPPORTED,
                "dynamic-range quantised weights: '%.80s' is float32, '%.80s' %s; quantise "
                "activations too",
                x->name, w->name, ir_type_name(w->type));
}

enum status tfl_want_symmetric(struct tfl_importer *m, const struct ir_tensor *w)
{
    for (uint32_t i = 0; w->type == IR_I8 && i < w->quant.n; i++)
        if (w->quant.zero_point[i] != 0)
            return FAIL(m->d, ST_UNSUPPORTED,
                        "int8 weights '%.80s': expected zero point 0, found %d, which the format's "
                        "reference does not subtract; quantise weights symmetrically",
                        w->name, w->quant.zero_point[i]);
    return ST_OK;
}

/* The bias as int64. */
static uint32_t widened(struct tfl_importer *m, const struct ir_tensor *b)
{
    struct ir_tensor *wide = ir_tensor_new(m->g, b->name, IR_I64, b->rank, b->dim);
    uint8_t *data = arena_alloc(m->arena, (size_t)ir_bytes(wide));

    for (uint32_t i = 0; i < ir_elements(b); i++) {
        const int64_t v = ir_const_i32(b, i);

        memcpy(data + 8 * (size_t)i, &v, 8);
    }
    wide->role = IR_CONST;
    wide->data = data;
    return wide->id;
}

enum status tfl_sum_width(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op)
{
    enum { INT32 = 2 };
    const struct ir_tensor *b = op->n_in > 2 ? ir_in(m->g, op, 2) : NULL;

    if (ir_in(m->g, op, 0)->type != IR_I16)
        return ST_OK;
    if (b == NULL)
        op->attr[IR_NARROW] = op->opcode != IR_OP_CONV2D || src->options.bias_type == INT32;
    else if (b->type == IR_I32 && b->role == IR_CONST) {
        op->attr[IR_NARROW] = 1;
        op->in[2] = widened(m, b);
    } else if (src->options.bias_type == INT32)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "quantized_bias_type: expected INT64 (4) with a bias of %s, found INT32 (2)",
                    ir_type_name(b->type));
    return ST_OK;
}

/* --- float32 activations, int8 weights --- */

bool tfl_is_dynamic(const struct ir_tensor *x, const struct ir_tensor *w)
{
    return x != NULL && x->type == IR_F32 && w->type == IR_I8 && w->role == IR_CONST &&
           w->quant.n > 0;
}

/* Return a new tensor that holds quantised values without a scale, or float32. */
static struct ir_tensor *tensor(struct tfl_importer *m, const char *name, enum ir_type type,
                                uint32_t rank, const int32_t *dim, const void *data)
{
    static const float one = 1;
    static const int32_t zero = 0;
    struct ir_tensor *t = ir_tensor_new(m->g, name, type, rank, dim);

    if (type == IR_I8)
        t->quant = (struct ir_quant){1, 0, &one, &zero};
    if (data != NULL)
        t->role = IR_CONST;
    t->data = data;
    return t;
}

/* Quantise x, `rows` equal parts of it, to a tensor of that shape: set m->rows. Its zero points are what
 * 0 becomes. */
static enum status quantise_rows(struct tfl_importer *m, uint32_t row, uint32_t x, int32_t rows,
                                 uint32_t rank, const int32_t *dim, bool asymmetric)
{
    const int32_t one = 1, scales[2] = {rows, 3};
    const char *name = m->g->tensor[x]->name;
    struct tfl_rows *r = &m->rows;
    const struct ir_tensor *codes = r->rows ? m->g->tensor[r->codes] : NULL;
    struct ir_op *op;

    if (codes != NULL && r->x == x && r->rows == (uint32_t)rows && r->asymmetric == asymmetric &&
        codes->rank == rank && memcmp(codes->dim, dim, rank * sizeof *dim) == 0)
        return ST_OK;
    TRY(tfl_want_size(m, m->g->tensor[x], 2, scales));
    *r = (struct tfl_rows){x, (uint32_t)rows, 0, 0, 0, asymmetric};
    r->scales = tensor(m, name, IR_F32, 2, scales, NULL)->id;
    TRY(tfl_make_row_scales(m, row, 1, &x, r->scales, &op));
    op->attr[IR_ASYMMETRIC] = asymmetric;
    r->codes = tensor(m, name, IR_I8, rank, dim, NULL)->id;
    TRY(tfl_make_quantize_rows(m, row, 2, (const uint32_t[]){x, r->scales}, r->codes, NULL));
    if (!asymmetric) {
        r->zero = tensor(m, name, IR_I8, 1, &one, "")->id;
        return ST_OK;
    }
    const uint32_t in[2] = {
        tensor(m, name, IR_F32, 1, &rows, ARENA_ARRAY(m->arena, float, (size_t)rows))->id,
        r->scales};
    r->zero = tensor(m, name, IR_I8, 1, &rows, NULL)->id;
    return tfl_make_quantize_rows(m, row, 2, in, r->zero, NULL);
}

/* Give the product `made` its operands and sums of that shape, and scale these to the result of `op`. */
static enum status scaled(struct tfl_importer *m, struct ir_op *op, struct ir_op *made,
                          const struct ir_tensor *w, uint32_t rank, const int32_t *dim,
                          bool channels_first)
{
    const struct ir_tensor *from = ir_in(m->g, op, 1), *y = ir_out(m->g, op, 0);
    const int32_t one = 1, n = (int32_t)from->quant.n;
    const bool bias = op->n_in > 2 && op->in[2] != IR_NONE;
    const struct ir_tensor *sums = tensor(m, y->name, IR_I32, rank, dim, NULL);
    const uint32_t in[4] = {sums->id, m->rows.scales,
                            tensor(m, from->name, IR_F32, 1, &n, from->quant.scale)->id,
                            bias ? op->in[2] : IR_NONE};
    struct ir_op *scale;

    made->in[0] = m->rows.codes;
    made->in[1] = w->id;
    made->in[2] = m->rows.zero;
    made->in[3] = tensor(m, from->name, IR_I8, 1, &one, "")->id;
    made->out[0] = sums->id;
    m->g->tensor[sums->id]->producer = made->id;
    TRY(tfl_make_scale_sums(m, op->row, bias ? 4 : 3, in, op->out[0], &scale));
    scale->attr[IR_ACTIVATION] = op->attr[IR_ACTIVATION];
    scale->attr[IR_CHANNELS_FIRST] = channels_first;
    op->dead = true;
    return ST_OK;
}

/* Return the int8 matrix [rows,cols] as [cols,rows], of shape `dim`. */
static const struct ir_tensor *turned(struct tfl_importer *m, const struct ir_tensor *w,
                                      size_t rows, size_t cols, uint32_t rank, const int32_t *dim)
{
    uint8_t *to = arena_alloc(m->arena, rows * cols);

    for (size_t i = 0; i < rows * cols; i++)
        to[i % cols * rows + i / cols] = w->data[i];
    return tensor(m, w->name, IR_I8, rank, dim, to);
}

/* Set explicit paddings. */
static void pad(const struct ir_tensor *x, const struct ir_tensor *y, int32_t *a)
{
    for (uint32_t i = 0; i < 2 && a[IR_PADDING] == IR_PADDING_SAME; i++) {
        const int64_t all = (int64_t)(y->dim[1 + i] - 1) * a[IR_STRIDE_H + i] +
                            (int64_t)(a[IR_KERNEL_H + i] - 1) * a[IR_DILATION_H + i] + 1 -
                            x->dim[1 + i];

        a[IR_PAD_TOP + i] = (int32_t)(all > 0 && all < INT32_MAX ? all / 2 : 0);
        a[IR_PAD_BOTTOM + i] = (int32_t)(all > 0 && all < INT32_MAX ? all - all / 2 : 0);
    }
    a[IR_PADDING] = IR_PADDING_EXPLICIT;
}

/* One scale for all weights, except in a depthwise convolution, is an older arithmetic: no zero points. */
enum status tfl_dynamic_conv(struct tfl_importer *m, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(m->g, op, 0), *w = ir_in(m->g, op, 1),
                           *y = ir_out(m->g, op, 0);
    const bool depthwise = ir_is_depthwise(op), each = w->quant.n > 1;
    struct ir_op *made;

    TRY(ir_want_rank(x, "input", 4, m->d));
    TRY(ir_want_rank(w, "weights", 4, m->d));
    TRY(ir_want_rank(y, "output", 4, m->d));
    TRY(quantise_rows(m, op->row, op->in[0], x->dim[0], 4, x->dim, depthwise || each));
    if (depthwise)
        w = turned(m, w, (size_t)(w->dim[0] * w->dim[1] * w->dim[2]), (size_t)w->dim[3], 4,
                   (const int32_t[]){w->dim[3], w->dim[1], w->dim[2], w->dim[0]});
    else
        w = tensor(m, w->name, IR_I8, 4, w->dim, w->data);
    made = ir_make_conv_integer(m->g, op->row, 4, 1);
    memcpy(made->attr, op->attr, sizeof op->attr);
    made->attr[IR_ACTIVATION] = 0;
    pad(x, y, made->attr);
    return scaled(m, op, made, w, 4, y->dim, each && !depthwise);
}

/* Weights are one matrix, [N,K] or with `deep` [K,N]. */
static enum status dynamic_rows(struct tfl_importer *m, const struct tfl_operator *src,
                                struct ir_op *op, bool deep)
{
    const struct ir_tensor *x = ir_in(m->g, op, 0), *w = ir_in(m->g, op, 1),
                           *y = ir_out(m->g, op, 0);
    const int32_t n = ir_dim_back(w, deep ? 0 : 1), k = ir_dim_back(w, deep ? 1 : 0),
                  rows = (int32_t)(ir_elements(x) / (uint64_t)k), matrix[2] = {k, n};

    TRY(tfl_want_symmetric(m, w));
    if (ir_elements(w) != (uint64_t)k * (uint64_t)n ||
        (uint64_t)rows * (uint64_t)k != ir_elements(x) ||
        (uint64_t)rows * (uint64_t)n != ir_elements(y))
        return FAIL(m->d, ST_MODEL, "'%.80s' and '%.80s' do not fit the weights %s", x->name,
                    y->name, ir_shape_text(m->arena, w->rank, w->dim));
    TRY(quantise_rows(m, op->row, op->in[0], rows, 2, (const int32_t[]){rows, k},
                      src->options.asymmetric));
    w = deep ? tensor(m, w->name, IR_I8, 2, matrix, w->data)
             : turned(m, w, (size_t)n, (size_t)k, 2, matrix);
    return scaled(m, op, ir_make_matmul_integer(m->g, op->row, 4, 1), w, 2,
                  (const int32_t[]){rows, n}, false);
}

enum status tfl_dynamic_dense(struct tfl_importer *m, const struct tfl_operator *src,
                              struct ir_op *op)
{
    return dynamic_rows(m, src, op, false);
}

enum status tfl_dynamic_matmul(struct tfl_importer *m, const struct tfl_operator *src,
                               struct ir_op *op)
{
    const struct ir_tensor *w = ir_in(m->g, op, 1);

    if (src->options.adjoint_x || w->quant.n > 1 ||
        ir_elements(w) != (uint64_t)ir_dim_back(w, 0) * (uint64_t)ir_dim_back(w, 1))
        return FAIL(m->d, ST_UNSUPPORTED,
                    "float32 by int8 '%.80s': expected one matrix with one scale, adj_x false",
                    w->name);
    return dynamic_rows(m, src, op, !src->options.adjoint_y);
}
