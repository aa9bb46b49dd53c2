/* infer_shape.c - rules of elementwise operators and of those that move or reduce data. */
#include "rules.h"

#include <math.h>
#include <string.h>

/* Check that x and y have quantised values of one type and shape. */
static enum status want_unary(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);

    TRY(ir_want_act(x, "input", d));
    TRY(ir_want_act(y, "output", d));
    TRY(ir_want_type(y, "output", x->type, d));
    TRY(ir_want_halves(g, op, x, y, d));
    return ir_want_shape(g, y, "output", x->rank, x->dim, d);
}

enum status infer_unary(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    return want_unary(g, op, d);
}

/* Check a SOFTMAX from 8 bits to 16: a scale within a thousandth of 1/65536, as the format's kernels accept. */
static enum status want_wide_softmax(const struct ir_tensor *x, const struct ir_tensor *y,
                                     struct diag *d)
{
    TRY(ir_want_coded(y, "output", d));
    if (!ir_is_code(x->type))
        return ir_want_type(y, "output", x->type, d);
    if (fabsf(y->quant.scale[0] * 65536 - 1) <= 0.001f && y->quant.zero_point[0] == -32768)
        return ST_OK;
    return FAIL(d, ST_UNSUPPORTED,
                "output '%.80s': expected scale 1/65536 and zero point -32768, found %.9g and %d",
                y->name, (double)y->quant.scale[0], y->quant.zero_point[0]);
}

/* Accept any output scale; legalise leaves 1/256 with zero point at the lowest value, or ONNX's
 * rounding. */
enum status infer_softmax(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);

    TRY(ir_want_act(x, "input", d));
    if (y->type == IR_I16 && x->type != IR_I16)
        TRY(want_wide_softmax(x, y, d));
    else {
        TRY(ir_want_act(y, "output", d));
        TRY(ir_want_type(y, "output", x->type, d));
    }
    if (ir_elements(x) != ir_elements(y) || ir_dim_back(x, 0) != ir_dim_back(y, 0))
        TRY(ir_want_shape(g, y, "output", x->rank, x->dim, d));
    return ST_OK;
}

enum status infer_log_softmax(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *y = ir_out(g, op, 0);
    const int32_t zero = y->type == IR_U8 ? 255 : 127;

    TRY(infer_softmax(g, op, d));
    if (y->type == IR_F32 || (y->quant.scale[0] == 1.0f / 16 && y->quant.zero_point[0] == zero))
        return ST_OK;
    return FAIL(d, ST_UNSUPPORTED,
                "output '%.80s': expected scale 1/16 and zero point %d, found %.9g and %d", y->name,
                zero, (double)y->quant.scale[0], y->quant.zero_point[0]);
}

/* Two columns of halves are one of int16. */
static int32_t dim_of(const struct ir_op *op, const struct ir_tensor *t, uint32_t back)
{
    return ir_dim_back(t, back) / (op->attr[IR_HALVES] && back == 1 ? 2 : 1);
}

static bool broadcasts(const struct ir_op *op, const struct ir_tensor *a, const struct ir_tensor *b)
{
    for (uint32_t back = 0; back < a->rank && back < b->rank; back++) {
        const int32_t m = dim_of(op, a, back), n = dim_of(op, b, back);

        if (m != n && m != 1 && n != 1)
            return false;
    }
    return true;
}

/* Check that the output has the shape that all operands broadcast to. */
static enum status want_broadcast(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    int32_t dim[IR_MAX_RANK];
    uint32_t rank = 0;

    for (uint32_t i = 0; i < op->n_in; i++) {
        const struct ir_tensor *b = ir_in(g, op, i);

        rank = b->rank > rank ? b->rank : rank;
        for (uint32_t k = 0; k < i; k++) {
            const struct ir_tensor *a = ir_in(g, op, k);

            if (!broadcasts(op, a, b))
                return FAIL(d, ST_MODEL, "shapes %s of '%.80s' and %s of '%.80s' do not broadcast",
                            ir_shape_text(g->arena, a->rank, a->dim), a->name,
                            ir_shape_text(g->arena, b->rank, b->dim), b->name);
        }
    }
    for (uint32_t back = 0; back < rank; back++) {
        int32_t *n = &dim[rank - 1 - back];

        *n = 1;
        for (uint32_t i = 0; i < op->n_in; i++)
            *n = dim_of(op, ir_in(g, op, i), back) > *n ? dim_of(op, ir_in(g, op, i), back) : *n;
    }
    if (op->attr[IR_HALVES])
        dim[rank - 2] *= 2;
    return ir_want_shape(g, ir_out(g, op, 0), "output", rank, dim, d);
}

enum status infer_binary(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *a = ir_in(g, op, 0), *b = ir_in(g, op, 1), *y = ir_out(g, op, 0);

    if (!ir_is_int(a->type) || !ir_op_info(op->opcode)->has_int) {
        TRY(ir_want_act(a, "first input", d));
        TRY(ir_want_act(b, "second input", d));
        TRY(ir_want_act(y, "output", d));
    }
    TRY(ir_want_type(b, "second input", a->type, d));
    TRY(ir_want_type(y, "output", a->type, d));
    TRY(ir_want_halves(g, op, a, b, d));
    return want_broadcast(g, op, d);
}

/* Accept any two scales for 8-bit values; 16-bit values are compared as stored. */
enum status infer_compare(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *a = ir_in(g, op, 0), *b = ir_in(g, op, 1);
    const bool equal = (ir_op_info(op->opcode)->types & TYPE_BOOL) != 0;

    TRY(ir_want_type(b, "second input", a->type, d));
    TRY(ir_want_type(ir_out(g, op, 0), "output", IR_BOOL, d));
    if (a->type == IR_BOOL && !equal)
        return FAIL(d, ST_UNSUPPORTED, "input '%.80s': expected numbers, found bool", a->name);
    if (ir_is_code(a->type)) {
        TRY(ir_want_quantised(a, "first input", d));
        TRY(ir_want_quantised(b, "second input", d));
    }
    if (a->type == IR_I16)
        TRY(ir_want_same_quant(a, b, d));
    return want_broadcast(g, op, d);
}

enum status infer_logical(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        TRY(ir_want_type(ir_in(g, op, i), "input", IR_BOOL, d));
    TRY(ir_want_type(ir_out(g, op, 0), "output", IR_BOOL, d));
    return want_broadcast(g, op, d);
}

enum status infer_select(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    TRY(ir_want_type(ir_in(g, op, 0), "condition", IR_BOOL, d));
    TRY(ir_want_moved(ir_in(g, op, 1), ir_out(g, op, 0), d));
    TRY(ir_want_moved(ir_in(g, op, 2), ir_out(g, op, 0), d));
    return want_broadcast(g, op, d);
}

enum status infer_binary_same(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    TRY(infer_binary(g, op, d));
    if (op->fixed.n == 3) /* legalise/extremum.c: operands of different scales */
        return ST_OK;
    TRY(ir_want_same_quant(ir_in(g, op, 0), ir_out(g, op, 0), d));
    return ir_want_same_quant(ir_in(g, op, 1), ir_out(g, op, 0), d);
}

/* Check that y has x's type and its dimensions without those of `axis`. */
static enum status want_reduced(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    const uint32_t mask = (uint32_t)op->attr[IR_AXIS];
    int32_t dim[IR_MAX_RANK];
    uint32_t rank = 0;

    TRY(ir_want_type(y, "output", x->type, d));
    if (mask >> x->rank != 0)
        return FAIL(d, ST_MODEL, "axes 0x%x: '%.80s' has %u dimensions", mask, x->name, x->rank);
    for (uint32_t i = 0; i < x->rank; i++) {
        if ((mask >> i & 1) == 0)
            dim[rank++] = x->dim[i];
        else if (op->attr[IR_KEEP_DIMS] != 0)
            dim[rank++] = 1;
    }
    return ir_want_shape(g, y, "output", rank, dim, d);
}

enum status infer_mean(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    if (!ir_is_int(ir_in(g, op, 0)->type) || !ir_op_info(op->opcode)->has_int) {
        TRY(ir_want_act(ir_in(g, op, 0), "input", d));
        TRY(ir_want_act(ir_out(g, op, 0), "output", d));
    }
    return want_reduced(g, op, d);
}

enum status infer_quantize(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);

    if (x->type != IR_F32)
        TRY(ir_want_coded(x, "input", d));
    TRY(ir_want_quantised(y, "output", d));
    return ir_want_shape(g, y, "output", x->rank, x->dim, d);
}

enum status infer_dequantize(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);

    TRY(ir_want_coded(x, "input", d));
    TRY(ir_want_type(y, "output", IR_F32, d));
    return ir_want_shape(g, y, "output", x->rank, x->dim, d);
}

enum status infer_reduce(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    if (ir_in(g, op, 0)->type == IR_BOOL)
        return want_reduced(g, op, d);
    TRY(infer_mean(g, op, d));
    if (ir_is_int(ir_in(g, op, 0)->type))
        return ST_OK;
    return ir_want_same_quant(ir_in(g, op, 0), ir_out(g, op, 0), d);
}

enum status infer_arg(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    const uint32_t axis = (uint32_t)op->attr[IR_AXIS];
    int32_t dim[IR_MAX_RANK];
    uint32_t rank = 0;

    if (x->type != IR_I8 && x->type != IR_U8)
        TRY(ir_want_type(x, "input", IR_F32, d));
    if (y->type != IR_I64)
        TRY(ir_want_type(y, "output", IR_I32, d));
    if (axis >= x->rank)
        return FAIL(d, ST_MODEL, "axis %d: '%.80s' has %u dimensions", op->attr[IR_AXIS], x->name,
                    x->rank);
    for (uint32_t i = 0; i < x->rank; i++)
        if (i != axis || op->attr[IR_KEEP_DIMS] != 0)
            dim[rank++] = i == axis ? 1 : x->dim[i];
    return ir_want_shape(g, y, "output", rank, dim, d);
}

enum status infer_resize(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);

    TRY(ir_want_act(x, "input", d));
    TRY(ir_want_act(y, "output", d));
    TRY(ir_want_type(y, "output", x->type, d));
    TRY(ir_want_rank(x, "input", 4, d));
    TRY(ir_want_rank(y, "output", 4, d));
    for (uint32_t i = 1; i < 3; i++) /* int32 with 10 fraction bits */
        if (x->dim[i] > 32767 || y->dim[i] > 32767)
            return FAIL(d, ST_UNSUPPORTED,
                        "expected at most 32767 rows and columns, found %d to %d", x->dim[i],
                        y->dim[i]);
    TRY(ir_want_shape(g, y, "output", 4,
                      (const int32_t[]){x->dim[0], y->dim[1], y->dim[2], x->dim[3]}, d));
    return ir_want_same_quant(x, y, d);
}

int32_t ir_resize_step(const struct ir_op *op, int32_t in, int32_t out)
{
    if (op->attr[IR_ALIGN_CORNERS] && out > 1)
        return (1024 * (in - 1) + (out - 1) / 2) / (out - 1);
    return (1024 * in + out / 2) / out;
}

enum status infer_l2_norm(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *y = ir_out(g, op, 0);

    TRY(want_unary(g, op, d));
    if (y->type == IR_F32)
        return ST_OK;
    TRY(ir_want_type(y, "output", IR_I8, d));
    if (y->quant.scale[0] != 1.0f / 128 || y->quant.zero_point[0] != 0)
        return FAIL(d, ST_UNSUPPORTED,
                    "output '%.80s': expected scale 1/128 and zero point 0, found %.9g and %d",
                    y->name, (double)y->quant.scale[0], y->quant.zero_point[0]);
    return ST_OK;
}

/* The pitch of the accelerator's rows has 16 bits: of the values, or, of groups, of their pieces'
 * sums (NUMERICS.md). */
int32_t ir_longest_norm(int32_t groups, uint64_t pixels)
{
    if (groups == 1)
        return 2000000;
    return groups > 1 && pixels >= 128 ? 1000000 : UINT16_MAX;
}

enum status infer_layer_norm(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    const int32_t n = ir_dim_back(x, 0), groups = op->attr[IR_GROUPS];
    const uint64_t pixels = ir_elements(x) / (uint64_t)n;
    uint64_t row = (uint64_t)n;

    TRY(want_unary(g, op, d));
    if (groups < 0 || (groups > 0 && n % groups != 0))
        return FAIL(d, ST_MODEL, "groups: expected a divisor of %d channels, found %d", n, groups);
    if (groups > 0)
        row = row / (uint64_t)groups * pixels;
    if (row > (uint64_t)ir_longest_norm(groups, pixels))
        return FAIL(d, ST_UNSUPPORTED,
                    "input '%.80s': expected 1 to %d values in a row, found %llu", x->name,
                    ir_longest_norm(groups, pixels), (unsigned long long)row);
    for (uint32_t i = 1; i < 3; i++) {
        const struct ir_tensor *t = ir_in(g, op, i);
        if (t->role != IR_CONST || t->type != IR_F32 || ir_elements(t) != (uint64_t)n)
            return FAIL(d, ST_MODEL,
                        "%s '%.80s': expected %d constant float32 values, found %llu of %s%s",
                        i == 1 ? "gamma" : "beta", t->name, n, (unsigned long long)ir_elements(t),
                        ir_type_name(t->type), t->role == IR_CONST ? "" : ", computed");
    }
    return ST_OK;
}

enum status infer_interpolate(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *p = ir_in(g, op, 1), *w = ir_in(g, op, 2);
    const struct ir_tensor *y = ir_out(g, op, 0);
    const uint32_t axis = (uint32_t)op->attr[IR_AXIS];
    int32_t dim[IR_MAX_RANK];

    TRY(ir_want_type(y, "output", x->type, d));
    TRY(ir_want_type(w, "weights", x->type == IR_F32 ? IR_F32 : IR_I16, d));
    if (x->type != IR_F32) {
        TRY(ir_want_quantised(x, "input", d));
        TRY(ir_want_quantised(w, "weights", d));
        TRY(ir_want_quantised(y, "output", d));
    }
    TRY(ir_want_rank(p, "indices", 2, d));
    TRY(ir_want_const_i32(p, "indices", ir_elements(p), d));
    if (w->role != IR_CONST)
        return FAIL(d, ST_UNSUPPORTED, "weights '%.80s': expected a constant", w->name);
    TRY(ir_want_shape(g, w, "weights", p->rank, p->dim, d));
    if (axis >= x->rank)
        return FAIL(d, ST_MODEL, "axis %d: '%.80s' has %u dimensions", op->attr[IR_AXIS], x->name,
                    x->rank);
    for (uint32_t i = 0; i < ir_elements(p); i++)
        if (ir_const_i32(p, i) < 0 || ir_const_i32(p, i) >= x->dim[axis])
            return FAIL(d, ST_MODEL, "index %u of '%.80s': expected 0 to %d, found %d", i, p->name,
                        x->dim[axis] - 1, ir_const_i32(p, i));
    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = p->dim[0];
    return ir_want_shape(g, y, "output", x->rank, dim, d);
}

enum status infer_cast(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);

    return ir_want_shape(g, y, "output", x->rank, x->dim, d);
}

static enum status want_axis(const struct ir_op *op, const struct ir_tensor *x, struct diag *d)
{
    if ((uint32_t)op->attr[IR_AXIS] < x->rank)
        return ST_OK;
    return FAIL(d, ST_MODEL, "axis %d: '%.80s' has %u dimensions", op->attr[IR_AXIS], x->name,
                x->rank);
}

enum status infer_cumsum(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);

    TRY(want_axis(op, x, d));
    TRY(ir_want_type(y, "output", x->type, d));
    return ir_want_shape(g, y, "output", x->rank, x->dim, d);
}

enum status infer_top_k(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    const int32_t axis = op->attr[IR_AXIS];
    int32_t dim[IR_MAX_RANK];

    TRY(want_axis(op, x, d));
    TRY(ir_want_act(x, "input", d));
    if (!ir_is_int(y->type))
        TRY(ir_want_moved(x, y, d));
    memcpy(dim, x->dim, sizeof dim);
    if (y->rank == x->rank && y->dim[axis] <= x->dim[axis])
        dim[axis] = y->dim[axis];
    return ir_want_shape(g, y, "output", x->rank, dim, d);
}

/* Accept any shapes and numbers: they are the model's. */
enum status infer_onnx_node(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *model = ir_in(g, op, 0), *y = ir_out(g, op, 0);

    if (model->role != IR_CONST || model->rank != 1)
        return FAIL(d, ST_MODEL, "input '%.80s': expected a constant of one dimension",
                    model->name);
    if (y->type != IR_F32 && y->type != IR_BOOL && !ir_is_int(y->type))
        return FAIL(d, ST_MODEL, "output '%.80s': expected f32, i32, i64 or bool, found %s",
                    y->name, ir_type_name(y->type));
    return ST_OK;
}

enum status infer_detection(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *box = ir_in(g, op, 0), *score = ir_in(g, op, 1);
    const struct ir_tensor *anchor = ir_in(g, op, 2), *y = ir_out(g, op, 0);
    const int32_t each = op->attr[IR_CLASSES_EACH], background = ir_dim_back(score, 0);

    for (uint32_t i = 0; i < 4; i++)
        TRY(ir_want_type(ir_in(g, op, i), "input", IR_F32, d));
    if (box->rank != 3 || score->rank != 3 || box->dim[0] != 1 || score->dim[0] != 1 ||
        box->dim[2] < 4 || score->dim[1] != box->dim[1])
        return FAIL(d, ST_MODEL, "boxes %s and scores %s: expected 1xNx4 and 1xNxC",
                    ir_shape_text(g->arena, box->rank, box->dim),
                    ir_shape_text(g->arena, score->rank, score->dim));
    if (anchor->role != IR_CONST || ir_elements(anchor) != 4 * (uint64_t)box->dim[1] ||
        ir_in(g, op, 3)->role != IR_CONST || ir_elements(ir_in(g, op, 3)) != 6)
        return FAIL(d, ST_UNSUPPORTED, "anchors '%.80s': expected a constant of %d boxes",
                    anchor->name, box->dim[1]);
    if (op->attr[IR_CLASSES] < 1 || background < op->attr[IR_CLASSES] ||
        background > op->attr[IR_CLASSES] + 1)
        return FAIL(d, ST_MODEL, "%d scores a box: expected %d, or one more for the background",
                    background, op->attr[IR_CLASSES]);
    if (y->type != IR_F32 || y->rank != 2 || y->dim[0] != 1 || each < 1 || y->dim[1] % 6 != 1 ||
        y->dim[1] / 6 % each != 0)
        return FAIL(d, ST_MODEL,
                    "output '%.80s': expected 6 values for each result and one in addition",
                    y->name);
    return ST_OK;
}
