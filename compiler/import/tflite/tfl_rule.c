/* tfl_rule.c - the rules of column TFLITE of operators.def: the options and parameters of an operator
 * that becomes one ir_op. */
#include <math.h>
#include <string.h>

#include "compiler/ir/rules.h"
#include "tfl_import.h"

enum status tfl_rule_plain(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op)
{
    (void)m;
    (void)src;
    (void)op;
    return ST_OK;
}

/* A float16 is read as float32. */
enum status tfl_rule_dequantize(struct tfl_importer *m, const struct tfl_operator *src,
                                struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(m->g, op, 0);

    (void)src;
    if (x->type == IR_F32 && x->role == IR_CONST)
        op->opcode = IR_OP_RESHAPE;
    return ST_OK;
}

enum status tfl_rule_activation(struct tfl_importer *m, const struct tfl_operator *src,
                                struct ir_op *op)
{
    return tfl_activation(m, src, op);
}

static bool power_of_two(const struct ir_tensor *t)
{
    int exponent;

    return t != NULL && t->quant.n == 1 && ir_power_of_two(t->quant.scale[0], &exponent);
}

/* For int16 the format's default is an older arithmetic that only shifts and needs scales that are
 * powers of two. */
enum status tfl_rule_sum(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op)
{
    const struct ir_tensor *a = ir_in(m->g, op, 0), *b = ir_in(m->g, op, 1);

    if (a != NULL && a->type == IR_I16 && src->options.pot_scale && power_of_two(a) &&
        power_of_two(b) && power_of_two(ir_out(m->g, op, 0)))
        return FAIL(m->d, ST_UNSUPPORTED,
                    "int16 with scales that are powers of two: expected pot_scale_int16 false");
    return tfl_activation(m, src, op);
}

static enum status window(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op,
                          int32_t kernel_h, int32_t kernel_w)
{
    const struct tfl_options *o = &src->options;
    const bool dilates = ir_op_has(op->opcode, IR_DILATION_H);
    const int32_t dh = dilates ? o->dilation_h : 1, dw = dilates ? o->dilation_w : 1;
    int32_t *a = op->attr;

    if (o->stride_h < 1 || o->stride_w < 1 || dh < 1 || dw < 1 || kernel_h < 1 || kernel_w < 1)
        return FAIL(m->d, ST_MODEL,
                    "expected kernel, stride and dilation of at least 1, found %dx%d, %dx%d, %dx%d",
                    kernel_h, kernel_w, o->stride_h, o->stride_w, dh, dw);
    if (o->padding != 0 && o->padding != 1)
        return FAIL(m->d, ST_MODEL, "padding: expected SAME (0) or VALID (1), found %d",
                    o->padding);
    a[IR_KERNEL_H] = kernel_h;
    a[IR_KERNEL_W] = kernel_w;
    a[IR_STRIDE_H] = o->stride_h;
    a[IR_STRIDE_W] = o->stride_w;
    if (dilates) {
        a[IR_DILATION_H] = dh;
        a[IR_DILATION_W] = dw;
    }
    a[IR_PADDING] = o->padding == 0 ? IR_PADDING_SAME : IR_PADDING_EXPLICIT;
    return tfl_activation(m, src, op);
}

enum status tfl_rule_conv(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op)
{
    const struct ir_tensor *w = ir_in(m->g, op, 1);

    if (w == NULL)
        return FAIL(m->d, ST_MODEL, "weights are absent");
    TRY(tfl_want_symmetric(m, w));
    if (tfl_is_dynamic(ir_in(m->g, op, 0), w)) {
        TRY(window(m, src, op, ir_dim_back(w, 2), ir_dim_back(w, 1)));
        return tfl_dynamic_conv(m, op);
    }
    TRY(tfl_want_static(m, ir_in(m->g, op, 0), w));
    if (!ir_is_depthwise(op))
        TRY(tfl_sum_width(m, src, op));
    TRY(window(m, src, op, ir_dim_back(w, 2), ir_dim_back(w, 1)));
    return tfl_dilate(m, src, op);
}

/* Ignore the option depth_multiplier: old files have it wrong, and the shapes decide. */
enum status tfl_rule_depthwise(struct tfl_importer *m, const struct tfl_operator *src,
                               struct ir_op *op)
{
    TRY(tfl_rule_conv(m, src, op));
    op->attr[IR_MULTIPLIER] =
        ir_dim_back(ir_in(m->g, op, 1), 0) / ir_dim_back(ir_in(m->g, op, 0), 0);
    return ST_OK;
}

enum status tfl_rule_pool(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(m->g, op, 0), *y = ir_out(m->g, op, 0);

    TRY(window(m, src, op, src->options.filter_h, src->options.filter_w));
    if (x->quant.n != 1 || y->quant.n != 1)
        return ST_OK; /* the rule of operators.def refuses it */
    return ir_want_same_quant(x, y, m->d);
}

/* The root of the mean of squares, float32 alone. It is never below 0. */
enum status tfl_rule_l2_pool(struct tfl_importer *m, const struct tfl_operator *src,
                             struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(m->g, op, 0), *y = ir_out(m->g, op, 0);
    const uint32_t in[2] = {x->id, x->id}, out = y->id;
    uint32_t mean;

    TRY(ir_want_type(x, "input", IR_F32, m->d));
    TRY(window(m, src, op, src->options.filter_h, src->options.filter_w));
    if (op->attr[IR_ACTIVATION] != IR_ACT_NONE && op->attr[IR_ACTIVATION] != IR_ACT_RELU)
        return FAIL(m->d, ST_UNSUPPORTED, "fused activation: expected NONE or RELU");
    TRY(tfl_between(m, x, x->rank, x->dim, &op->in[0]));
    TRY(tfl_make_mul(m, op->row, 2, in, op->in[0], NULL));
    TRY(tfl_between(m, y, y->rank, y->dim, &mean));
    op->out[0] = mean;
    m->g->tensor[mean]->producer = op->id;
    return tfl_make_sqrt(m, op->row, 1, &mean, out, NULL);
}

enum status tfl_rule_dense(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op)
{
    const struct ir_tensor *w = ir_in(m->g, op, 1);

    if (src->options.weights_format != 0)
        return FAIL(m->d, ST_UNSUPPORTED, "weights format: expected DEFAULT (0), found %d",
                    src->options.weights_format);
    TRY(tfl_activation(m, src, op));
    if (w == NULL)
        return ST_OK; /* the rule of operators.def refuses it */
    if (tfl_is_dynamic(ir_in(m->g, op, 0), w))
        return tfl_dynamic_dense(m, src, op);
    TRY(tfl_want_static(m, ir_in(m->g, op, 0), w));
    if (w->role != IR_CONST)
        return tfl_computed_weights(m, op);
    TRY(tfl_sum_width(m, src, op));
    return w->quant.n > 1 ? tfl_want_symmetric(m, w) : ST_OK;
}

/* Resolve an axis that may count from the end; return `rank` if it is out of range. */
static uint32_t wrap_axis(int32_t axis, uint32_t rank)
{
    const int64_t i = axis < 0 ? (int64_t)axis + rank : axis;

    return i < 0 || i >= rank ? rank : (uint32_t)i;
}

enum status tfl_rule_concat(struct tfl_importer *m, const struct tfl_operator *src,
                            struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(m->g, op, 0);
    const uint32_t axis = x == NULL ? 0 : wrap_axis(src->options.axis, x->rank);

    if (x == NULL || axis >= x->rank)
        return FAIL(m->d, ST_MODEL, "axis %d is out of range", src->options.axis);
    if (src->options.activation != 0)
        return FAIL(m->d, ST_UNSUPPORTED, "fused activation: expected NONE (0), found %d",
                    src->options.activation);
    op->attr[IR_AXIS] = (int32_t)axis;
    return tfl_rescale_parts(m, op);
}

enum status tfl_rule_arg(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op)
{
    uint32_t axis;
    int32_t value;

    TRY(tfl_scalar(m, src, 1, "axis", &value));
    TRY(tfl_axis(m, value, ir_in(m->g, op, 0)->rank, &axis));
    op->attr[IR_AXIS] = (int32_t)axis;
    return ST_OK;
}

/* Import SELECT. A condition of one dimension selects whole elements along the first dimension. */
enum status tfl_rule_select(struct tfl_importer *m, const struct tfl_operator *src,
                            struct ir_op *op)
{
    const struct ir_tensor *c = ir_in(m->g, op, 0), *y = ir_out(m->g, op, 0);
    int32_t dim[IR_MAX_RANK];
    uint32_t column;

    (void)src;
    if (c->rank != 1 || y->rank < 2)
        return ST_OK;
    for (uint32_t i = 0; i < y->rank; i++)
        dim[i] = i == 0 ? c->dim[0] : 1;
    TRY(tfl_between(m, c, y->rank, dim, &column));
    TRY(tfl_reshape(m, op->row, op->in[0], column));
    op->in[0] = column;
    return ST_OK;
}

enum status tfl_rule_matmul(struct tfl_importer *m, const struct tfl_operator *src,
                            struct ir_op *op)
{
    const struct ir_tensor *w = ir_in(m->g, op, 1);

    if (w != NULL && tfl_is_dynamic(ir_in(m->g, op, 0), w))
        return tfl_dynamic_matmul(m, src, op);
    if (w != NULL)
        TRY(tfl_want_static(m, ir_in(m->g, op, 0), w));
    op->attr[IR_ADJ_A] = src->options.adjoint_x;
    op->attr[IR_ADJ_B] = src->options.adjoint_y;
    return ST_OK;
}

enum status tfl_rule_gelu(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op)
{
    (void)m;
    op->attr[IR_APPROXIMATE] = src->options.approximate;
    return ST_OK;
}

enum status tfl_rule_l2_norm(struct tfl_importer *m, const struct tfl_operator *src,
                             struct ir_op *op)
{
    (void)op;
    if (src->options.activation != 0)
        return FAIL(m->d, ST_UNSUPPORTED, "fused activation: expected NONE (0), found %d",
                    src->options.activation);
    return ST_OK;
}

/* Check the fixed output scale of SOFTMAX, LOGISTIC and TANH; `zero_point`: int8's. */
static enum status want_output(struct tfl_importer *m, const struct ir_op *op, int32_t over,
                               int32_t zero_point)
{
    const struct ir_tensor *y = ir_out(m->g, op, 0);
    const int32_t zero = zero_point + (y->type == IR_U8 ? 128 : 0);

    if (y->type == IR_I16 && y->quant.n == 1 && ir_in(m->g, op, 0)->type == IR_I16) {
        if (y->quant.scale[0] == 1.0f / 32768)
            return ST_OK;
        return FAIL(m->d, ST_UNSUPPORTED, "output '%.80s': expected scale 1/32768, found %.9g",
                    y->name, (double)y->quant.scale[0]);
    }
    if ((y->type != IR_I8 && y->type != IR_U8) || y->quant.n != 1)
        return ST_OK; /* the rule of operators.def refuses it */
    if (y->quant.scale[0] == 1.0f / (float)over && y->quant.zero_point[0] == zero)
        return ST_OK;
    return FAIL(m->d, ST_UNSUPPORTED,
                "output '%.80s': expected scale 1/%d and zero point %d, found %.9g and %d", y->name,
                over, zero, (double)y->quant.scale[0], y->quant.zero_point[0]);
}

enum status tfl_rule_logistic(struct tfl_importer *m, const struct tfl_operator *src,
                              struct ir_op *op)
{
    (void)src;
    return want_output(m, op, 256, -128);
}

enum status tfl_rule_tanh(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op)
{
    (void)src;
    return want_output(m, op, 128, 0);
}

enum status tfl_rule_softmax(struct tfl_importer *m, const struct tfl_operator *src,
                             struct ir_op *op)
{
    if (!isfinite(src->options.beta) || src->options.beta <= 0)
        return FAIL(m->d, ST_MODEL, "beta: expected a positive number, found %.9g",
                    (double)src->options.beta);
    memcpy(&op->attr[IR_BETA_BITS], &src->options.beta, 4);
    return want_output(m, op, 256, -128);
}

enum status tfl_rule_leaky(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op)
{
    if (!isfinite(src->options.alpha))
        return FAIL(m->d, ST_MODEL, "alpha: expected a number, found %.9g",
                    (double)src->options.alpha);
    memcpy(&op->attr[IR_ALPHA_BITS], &src->options.alpha, 4);
    return ST_OK;
}

enum status tfl_rule_mean(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(m->g, op, 0);
    const int32_t *axis;
    uint32_t n, mask = 0;

    TRY(tfl_param(m, src->in.v[1], "axes", &n, &axis));
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = x == NULL ? 0 : wrap_axis(axis[i], x->rank);

        if (x == NULL || k >= x->rank)
            return FAIL(m->d, ST_MODEL, "axis %d is out of range", axis[i]);
        mask |= 1u << k;
    }
    op->attr[IR_AXIS] = (int32_t)mask;
    op->attr[IR_KEEP_DIMS] = src->options.keep_dims;
    return ST_OK;
}

/* Import reductions of bools: the maximum is true if any is true, the minimum if all are. */
enum status tfl_rule_bools(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op)
{
    TRY(ir_want_type(ir_in(m->g, op, 0), "input", IR_BOOL, m->d));
    return tfl_rule_mean(m, src, op);
}

enum status tfl_rule_cumsum(struct tfl_importer *m, const struct tfl_operator *src,
                            struct ir_op *op)
{
    TRY(tfl_rule_arg(m, src, op));
    op->attr[IR_EXCLUSIVE] = src->options.exclusive;
    op->attr[IR_REVERSE] = src->options.reverse;
    return ST_OK;
}

/* Use the output tensor's shape; the parameter must agree with it. */
/* The shape is an input, or an option if that input is absent. */
enum status tfl_rule_reshape(struct tfl_importer *m, const struct tfl_operator *src,
                             struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(m->g, op, 0);
    const int32_t *shape = src->options.new_shape.v;
    uint32_t n = src->options.new_shape.n;

    if (src->in.n > 1 && src->in.v[1] >= 0)
        TRY(tfl_param(m, src->in.v[1], "shape", &n, &shape));
    else if (n == 0 || (n == 1 && shape[0] == 0)) /* old files encode a scalar like this */
        return ST_OK;
    for (uint32_t i = 0; i < n && n == y->rank; i++)
        if (shape[i] != y->dim[i] && shape[i] != -1)
            n = UINT32_MAX;
    if (n != y->rank)
        return FAIL(m->d, ST_MODEL, "output '%.80s': shape %s does not match the parameter",
                    y->name, ir_shape_text(m->arena, y->rank, y->dim));
    return ST_OK;
}

static void set_param(struct tfl_importer *m, struct ir_op *op, const struct ir_tensor *like,
                      uint32_t rank, const int32_t *dim, const int32_t *value)
{
    op->n_in = 2;
    op->in = arena_memdup(m->arena, (const uint32_t[]){op->in[0], IR_NONE}, 8);
    op->in[1] = tfl_new_const(m, like->name, rank, dim, value);
}

enum status tfl_rule_pad(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(m->g, op, 0);
    const int32_t *value;
    uint32_t n;

    TRY(tfl_param(m, src->in.v[1], "paddings", &n, &value));
    if (x == NULL || n != 2 * x->rank)
        return FAIL(m->d, ST_MODEL, "paddings: expected two for each dimension, found %u", n);
    set_param(m, op, x, 2, (const int32_t[]){(int32_t)x->rank, 2}, value);
    return ST_OK;
}

enum status tfl_rule_pad_value(struct tfl_importer *m, const struct tfl_operator *src,
                               struct ir_op *op)
{
    uint32_t value;

    TRY(tfl_rule_pad(m, src, op));
    TRY(tfl_value(m, src, 2, &value));
    op->in = arena_memdup(m->arena, (const uint32_t[]){op->in[0], op->in[1], value}, 12);
    op->n_in = 3;
    return ST_OK;
}

enum status tfl_rule_transpose(struct tfl_importer *m, const struct tfl_operator *src,
                               struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(m->g, op, 0);
    const int32_t *value;
    uint32_t n;

    TRY(tfl_param(m, src->in.v[1], "permutation", &n, &value));
    if (x == NULL || n != x->rank)
        return FAIL(m->d, ST_MODEL, "permutation: expected one entry for each dimension, found %u",
                    n);
    set_param(m, op, x, 1, (const int32_t[]){(int32_t)n}, value);
    return ST_OK;
}

enum status tfl_rule_slice(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(m->g, op, 0), *y = ir_out(m->g, op, 0);
    const int32_t *begin, *size;
    uint32_t n, n_size;

    TRY(tfl_param(m, src->in.v[1], "begin", &n, &begin));
    TRY(tfl_param(m, src->in.v[2], "size", &n_size, &size));
    if (x == NULL || n != x->rank || n_size != n || y->rank != n)
        return FAIL(m->d, ST_MODEL, "begin and size: expected one for each dimension, found %u, %u",
                    n, n_size);
    for (uint32_t i = 0; i < n; i++)
        if (size[i] != y->dim[i] && (size[i] != -1 || (int64_t)begin[i] + y->dim[i] != x->dim[i]))
            return FAIL(m->d, ST_MODEL, "size %u: expected %d, found %d", i, y->dim[i], size[i]);
    set_param(m, op, x, 1, (const int32_t[]){(int32_t)n}, begin);
    return ST_OK;
}
