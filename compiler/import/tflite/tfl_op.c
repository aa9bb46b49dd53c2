/* tfl_op.c - one operator of a TFLite file: opcode, options, parameters, row. */
#include "compiler/ir/rules.h"
#include "tfl_import.h"
#include "tflite.h"

#include <math.h>
#include <string.h>

typedef enum status import_fn(struct tfl_importer *m, const struct tfl_operator *src,
                              struct ir_op *op);

/* The import rule of a builtin operator, from column TFLITE of operators.def. `options`: the
 * options table that it must carry; NONE if it needs none. `n_value`: the number of leading inputs
 * that become inputs of the ir_op, or ALL; the others are parameters. */
struct rule {
    const char *name, *options;
    uint32_t n_value, min_in, max_in;
    import_fn *fn;
};

enum { ALL = 255 };

#define TFLITE(name, options, n_value, min_in, max_in, fn) static import_fn import_##fn;
#include "operators/operators.def"

#define OPERATOR(code, name, columns) static const struct rule rules_##code[] = {columns{0}};
#define TFLITE(name, options, n_value, min_in, max_in, fn)                                         \
    {#name, #options, n_value, min_in, max_in, import_##fn},
#include "operators/operators.def"

static const struct rule *const rules[] = {
#define OPERATOR(code, name, columns) rules_##code,
#include "operators/operators.def"
};

enum { ANY = 0 }; /* ANY number of outputs: the builder checks it */

/* Operators made of several ir_ops, or of none. */
static const struct built {
    const char *name, *options;
    uint32_t min_in, max_in, n_out;
    tfl_builder *build;
} builts[] = {
    {"SPLIT", "SplitOptions", 2, 2, ANY, tfl_split},
    {"SPLIT_V", "SplitVOptions", 3, 3, ANY, tfl_split_v},
    {"PACK", "PackOptions", 1, 1024, 1, tfl_pack},
    {"UNPACK", "UnpackOptions", 1, 1, ANY, tfl_unpack},
    {"STRIDED_SLICE", "StridedSliceOptions", 4, 4, 1, tfl_strided_slice},
    {"GATHER", "GatherOptions", 2, 2, 1, tfl_gather},
    {"ADD_N", "NONE", 1, 1024, 1, tfl_add_n},
    {"TOPK_V2", "NONE", 2, 2, 2, tfl_top_k},
    {"ONE_HOT", "OneHotOptions", 4, 4, 1, tfl_one_hot},
    {"FILL", "NONE", 2, 2, 1, tfl_fill},
    {"RANGE", "NONE", 3, 3, 1, tfl_range},
    {"TILE", "NONE", 2, 2, 1, tfl_tile},
    {"SQUARE", "NONE", 1, 1, 1, tfl_square},
    {"SPACE_TO_DEPTH", "SpaceToDepthOptions", 1, 1, 1, tfl_space_to_depth},
    {"DEPTH_TO_SPACE", "DepthToSpaceOptions", 1, 1, 1, tfl_depth_to_space},
    {"SPACE_TO_BATCH_ND", "NONE", 3, 3, 1, tfl_space_to_batch},
    {"BATCH_TO_SPACE_ND", "NONE", 3, 3, 1, tfl_batch_to_space},
    {"TRANSPOSE_CONV", "TransposeConvOptions", 3, 4, 1, tfl_transpose_conv},
    {"MIRROR_PAD", "MirrorPadOptions", 2, 2, 1, tfl_mirror_pad},
    {"RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions", 2, 2, 1, tfl_resize_nearest},
    {"RESIZE_BILINEAR", "ResizeBilinearOptions", 2, 2, 1, tfl_resize_bilinear},
    {"REVERSE_V2", "NONE", 2, 2, 1, tfl_reverse},
    {"BROADCAST_TO", "NONE", 2, 2, 1, tfl_broadcast_to},
    {"SHAPE", "NONE", 1, 1, 1, tfl_shape},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", "UnidirectionalSequenceLSTMOptions", 20, 24, 1, tfl_lstm},
    {"SVDF", "SVDFOptions", 5, 5, 1, tfl_svdf},
    {"CUSTOM TFLite_Detection_PostProcess", "NONE", 3, 3, 4, tfl_detection_post_process},
    {"VAR_HANDLE", "VarHandleOptions", 0, 0, ANY, tfl_var_handle},
    {"READ_VARIABLE", "NONE", 1, 1, 1, tfl_read_variable},
    {"ASSIGN_VARIABLE", "NONE", 2, 2, ANY, tfl_assign_variable},
    {"CALL_ONCE", "CallOnceOptions", 0, 0, ANY, tfl_call_once},
};

const char *tfl_operator_name(uint32_t i)
{
    for (uint32_t code = 0; code < IR_OPCODES; code++)
        for (const struct rule *r = rules[code]; r->name != NULL; r++)
            if (i-- == 0)
                return r->name;
    return i < sizeof builts / sizeof *builts ? builts[i].name : NULL;
}

static const struct built *find_built(const char *name)
{
    for (uint32_t i = 0; i < sizeof builts / sizeof *builts; i++)
        if (strcmp(builts[i].name, name) == 0)
            return &builts[i];
    return NULL;
}

static const struct rule *find_rule(const char *name, enum ir_opcode *opcode)
{
    for (uint32_t code = 0; code < IR_OPCODES; code++)
        for (const struct rule *r = rules[code]; r->name != NULL; r++)
            if (strcmp(r->name, name) == 0) {
                *opcode = (enum ir_opcode)code;
                return r;
            }
    return NULL;
}

static enum status import_plain(struct tfl_importer *m, const struct tfl_operator *src,
                                struct ir_op *op)
{
    (void)m;
    (void)src;
    (void)op;
    return ST_OK;
}

/* What was float16 is float32 by now. */
static enum status import_dequantize(struct tfl_importer *m, const struct tfl_operator *src,
                                     struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(m->g, op, 0);

    (void)src;
    if (x->type == IR_F32 && x->role == IR_CONST)
        op->opcode = IR_OP_RESHAPE;
    return ST_OK;
}

static enum status import_activation(struct tfl_importer *m, const struct tfl_operator *src,
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
static enum status import_sum(struct tfl_importer *m, const struct tfl_operator *src,
                              struct ir_op *op)
{
    const struct ir_tensor *a = ir_in(m->g, op, 0), *b = ir_in(m->g, op, 1);

    if (a != NULL && a->type == IR_I16 && src->options.pot_scale && power_of_two(a) &&
        power_of_two(b) && power_of_two(ir_out(m->g, op, 0)))
        return FAIL(m->d, ST_UNSUPPORTED,
                    "int16 with scales that are powers of two: expected pot_scale_int16 false");
    return tfl_activation(m, src, op);
}

static enum status import_window(struct tfl_importer *m, const struct tfl_operator *src,
                                 struct ir_op *op, int32_t kernel_h, int32_t kernel_w)
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

static enum status import_conv(struct tfl_importer *m, const struct tfl_operator *src,
                               struct ir_op *op)
{
    const struct ir_tensor *w = ir_in(m->g, op, 1);

    if (w == NULL)
        return FAIL(m->d, ST_MODEL, "weights are absent");
    TRY(tfl_want_static(m, ir_in(m->g, op, 0), w));
    TRY(tfl_want_symmetric(m, w));
    TRY(tfl_want_wide(m, src, ir_in(m->g, op, 0)));
    TRY(import_window(m, src, op, ir_dim_back(w, 2), ir_dim_back(w, 1)));
    return tfl_dilate(m, src, op);
}

/* Ignore the option depth_multiplier: old files have it wrong, and the shapes decide. */
static enum status import_depthwise(struct tfl_importer *m, const struct tfl_operator *src,
                                    struct ir_op *op)
{
    TRY(import_conv(m, src, op));
    op->attr[IR_MULTIPLIER] =
        ir_dim_back(ir_in(m->g, op, 1), 0) / ir_dim_back(ir_in(m->g, op, 0), 0);
    return ST_OK;
}

static enum status import_pool(struct tfl_importer *m, const struct tfl_operator *src,
                               struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(m->g, op, 0), *y = ir_out(m->g, op, 0);

    TRY(import_window(m, src, op, src->options.filter_h, src->options.filter_w));
    if (x->quant.n != 1 || y->quant.n != 1)
        return ST_OK; /* the rule of operators.def refuses it */
    return ir_want_same_quant(x, y, m->d);
}

static enum status import_dense(struct tfl_importer *m, const struct tfl_operator *src,
                                struct ir_op *op)
{
    const struct ir_tensor *w = ir_in(m->g, op, 1);

    if (src->options.weights_format != 0)
        return FAIL(m->d, ST_UNSUPPORTED, "weights format: expected DEFAULT (0), found %d",
                    src->options.weights_format);
    TRY(tfl_activation(m, src, op));
    if (w == NULL)
        return ST_OK; /* the rule of operators.def refuses it */
    TRY(tfl_want_wide(m, src, ir_in(m->g, op, 0)));
    TRY(tfl_want_static(m, ir_in(m->g, op, 0), w));
    if (w->role != IR_CONST)
        return tfl_computed_weights(m, op);
    return w->quant.n > 1 ? tfl_want_symmetric(m, w) : ST_OK;
}

/* Resolve an axis that may count from the end; return `rank` if it is out of range. */
static uint32_t wrap_axis(int32_t axis, uint32_t rank)
{
    const int64_t i = axis < 0 ? (int64_t)axis + rank : axis;

    return i < 0 || i >= rank ? rank : (uint32_t)i;
}

static enum status import_concat(struct tfl_importer *m, const struct tfl_operator *src,
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

static enum status import_arg(struct tfl_importer *m, const struct tfl_operator *src,
                              struct ir_op *op)
{
    uint32_t axis;
    int32_t value;

    TRY(tfl_scalar(m, src, 1, "axis", &value));
    TRY(tfl_axis(m, value, ir_in(m->g, op, 0)->rank, &axis));
    op->attr[IR_AXIS] = (int32_t)axis;
    return ST_OK;
}

/* Import SELECT. A condition of one dimension selects whole elements along the first dimension. */
static enum status import_select(struct tfl_importer *m, const struct tfl_operator *src,
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

static enum status import_matmul(struct tfl_importer *m, const struct tfl_operator *src,
                                 struct ir_op *op)
{
    if (ir_in(m->g, op, 1) != NULL)
        TRY(tfl_want_static(m, ir_in(m->g, op, 0), ir_in(m->g, op, 1)));
    op->attr[IR_ADJ_A] = src->options.adjoint_x;
    op->attr[IR_ADJ_B] = src->options.adjoint_y;
    return ST_OK;
}

static enum status import_gelu(struct tfl_importer *m, const struct tfl_operator *src,
                               struct ir_op *op)
{
    (void)m;
    op->attr[IR_APPROXIMATE] = src->options.approximate;
    return ST_OK;
}

static enum status import_l2_norm(struct tfl_importer *m, const struct tfl_operator *src,
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

    if (y->type == IR_I16 && y->quant.n == 1) {
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

static enum status import_logistic(struct tfl_importer *m, const struct tfl_operator *src,
                                   struct ir_op *op)
{
    (void)src;
    return want_output(m, op, 256, -128);
}

static enum status import_tanh(struct tfl_importer *m, const struct tfl_operator *src,
                               struct ir_op *op)
{
    (void)src;
    return want_output(m, op, 128, 0);
}

static enum status import_softmax(struct tfl_importer *m, const struct tfl_operator *src,
                                  struct ir_op *op)
{
    if (!isfinite(src->options.beta) || src->options.beta <= 0)
        return FAIL(m->d, ST_MODEL, "beta: expected a positive number, found %.9g",
                    (double)src->options.beta);
    memcpy(&op->attr[IR_BETA_BITS], &src->options.beta, 4);
    return want_output(m, op, 256, -128);
}

static enum status import_leaky(struct tfl_importer *m, const struct tfl_operator *src,
                                struct ir_op *op)
{
    if (!isfinite(src->options.alpha))
        return FAIL(m->d, ST_MODEL, "alpha: expected a number, found %.9g",
                    (double)src->options.alpha);
    memcpy(&op->attr[IR_ALPHA_BITS], &src->options.alpha, 4);
    return ST_OK;
}

static enum status import_mean(struct tfl_importer *m, const struct tfl_operator *src,
                               struct ir_op *op)
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
static enum status import_bools(struct tfl_importer *m, const struct tfl_operator *src,
                                struct ir_op *op)
{
    TRY(ir_want_type(ir_in(m->g, op, 0), "input", IR_BOOL, m->d));
    return import_mean(m, src, op);
}

static enum status import_cumsum(struct tfl_importer *m, const struct tfl_operator *src,
                                 struct ir_op *op)
{
    TRY(import_arg(m, src, op));
    op->attr[IR_EXCLUSIVE] = src->options.exclusive;
    op->attr[IR_REVERSE] = src->options.reverse;
    return ST_OK;
}

/* Use the output tensor's shape; the parameter must agree with it. */
/* The shape is an input, or an option if that input is absent. */
static enum status import_reshape(struct tfl_importer *m, const struct tfl_operator *src,
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

static enum status import_pad(struct tfl_importer *m, const struct tfl_operator *src,
                              struct ir_op *op)
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

static enum status import_pad_value(struct tfl_importer *m, const struct tfl_operator *src,
                                    struct ir_op *op)
{
    uint32_t value;

    TRY(import_pad(m, src, op));
    TRY(tfl_value(m, src, 2, &value));
    op->in = arena_memdup(m->arena, (const uint32_t[]){op->in[0], op->in[1], value}, 12);
    op->n_in = 3;
    return ST_OK;
}

static enum status import_transpose(struct tfl_importer *m, const struct tfl_operator *src,
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

static enum status import_slice(struct tfl_importer *m, const struct tfl_operator *src,
                                struct ir_op *op)
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

static enum status op_inputs(struct tfl_importer *m, const struct tfl_operator *src,
                             struct ir_op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        if (src->in.v[i] != -1) /* else optional, absent */
            TRY(tfl_value(m, src, i, &op->in[i]));
    return ST_OK;
}

static enum status op_output(struct tfl_importer *m, const struct tfl_operator *src,
                             struct ir_op *op)
{
    TRY(tfl_want_outputs(m, src, 1));
    TRY(tfl_result(m, src, 0, &op->out[0]));
    m->g->tensor[op->out[0]]->producer = op->id;
    return ST_OK;
}

static void set_row(struct tfl_importer *m, const struct ir_op *op)
{
    struct ir_row *row = &m->g->row[op->row];
    const struct ir_tensor *y = ir_out(m->g, op, 0);

    row->name = arena_printf(m->arena, "%02u_%s", op->row, ir_op_info(op->opcode)->name);
    row->tensor = y->name;
    row->shape = ir_shape_text(m->arena, y->rank, y->dim);
    row->macs = ir_macs(m->g, op);
}

static enum status check_options(struct tfl_importer *m, const struct tfl_operator *src,
                                 const char *options, uint32_t min_in, uint32_t max_in)
{
    const char *found = src->options.present ? src->options.kind : "NONE";

    if (strcmp(options, "NONE") != 0 && strcmp(options, found) != 0)
        return FAIL(m->d, ST_MODEL, "options: expected %s, found %s", options, found);
    if (src->options.unknown != 0)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "options: field %u of %s is not known here: expected its default",
                    src->options.unknown, found);
    if (src->in.n < min_in || src->in.n > max_in)
        return FAIL(m->d, ST_UNSUPPORTED, "expected %u to %u inputs, found %u", min_in, max_in,
                    src->in.n);
    return ST_OK;
}

/* Name the row: "SPLIT_V" becomes "04_split_v", "CUSTOM Name" becomes "04_custom_name". The first
 * output names the row's tensor. */
static void name_row(struct tfl_importer *m, const struct tfl_operator *src, uint32_t index)
{
    struct ir_row *row = &m->g->row[index];
    char *name = arena_printf(m->arena, "%02u_%s", index, row->op);

    for (char *c = name; *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
        else if (*c == ' ')
            *c = '_';
    row->name = name;
    if (src->out.n > 0 && (uint32_t)src->out.v[0] < m->file->n_tensor &&
        m->tensor_id[src->out.v[0]] != IR_NONE) {
        const struct ir_tensor *y = m->g->tensor[m->tensor_id[src->out.v[0]]];

        row->tensor = y->name;
        row->shape = ir_shape_text(m->arena, y->rank, y->dim);
    }
}

static enum status build(struct tfl_importer *m, const struct built *b,
                         const struct tfl_operator *src, uint32_t index)
{
    TRY(check_options(m, src, b->options, b->min_in, b->max_in));
    if (b->n_out != ANY)
        TRY(tfl_want_outputs(m, src, b->n_out));
    if (!m->merged[index])
        TRY(b->build(m, src, index));
    name_row(m, src, index);
    return ST_OK;
}

enum status tfl_op(struct tfl_importer *m, uint32_t index)
{
    const struct tfl_operator *src = &m->file->op[index];
    const char *name = m->g->row[index].op;
    enum ir_opcode opcode;
    const struct rule *rule = find_rule(name, &opcode);
    struct ir_op *op;

    if (find_built(name) != NULL)
        return build(m, find_built(name), src, index);
    if (rule == NULL)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "this operator is not supported ('heddle ops' lists "
                    "those that are)");
    TRY(check_options(m, src, rule->options, rule->min_in, rule->max_in));
    op = ir_op_new(m->g, opcode, index, rule->n_value == ALL ? src->in.n : rule->n_value, 1);
    TRY(op_inputs(m, src, op));
    TRY(op_output(m, src, op));
    if (op->in[0] == IR_NONE)
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    TRY(rule->fn(m, src, op));
    set_row(m, op);
    return tfl_fold(m, op);
}
