/* infer_conv.c - rules of operators with weights or windows. */
#include <string.h>

#include "rules.h"

/* Check weights: 8-bit constant, one scale or one per output channel, int8 weights symmetric. int16
 * activations need int8 weights with zero point 0. */
static enum status want_weights(const struct ir_tensor *w, const struct ir_tensor *x,
                                uint32_t oc_axis, struct diag *d)
{
    TRY(ir_want_type(w, "weights", x->type == IR_I16 ? IR_I8 : x->type, d));
    if (w->role != IR_CONST)
        return FAIL(d, ST_UNSUPPORTED, "weights '%.80s': expected a constant, found a %s", w->name,
                    "computed tensor");
    if (w->type == IR_F32)
        return ST_OK;
    if (w->quant.n == 0)
        return FAIL(d, ST_MODEL, "weights '%.80s': expected a scale, found none", w->name);
    if (w->quant.n > 1 && w->quant.axis != oc_axis)
        return FAIL(d, ST_UNSUPPORTED, "weights '%.80s': expected scales along axis %u, found %u",
                    w->name, oc_axis, w->quant.axis);
    for (uint32_t i = 1; i < w->quant.n; i++)
        if (w->quant.zero_point[i] != w->quant.zero_point[0])
            return FAIL(d, ST_UNSUPPORTED,
                        "weights '%.80s': expected one zero point, found %d and %d", w->name,
                        w->quant.zero_point[0], w->quant.zero_point[i]);
    if (x->type == IR_I16 && w->quant.zero_point[0] != 0)
        return FAIL(d, ST_UNSUPPORTED,
                    "weights '%.80s': expected zero point 0 with an input of i16, found %d",
                    w->name, w->quant.zero_point[0]);
    return ST_OK;
}

/* Check a bias: int32; int64 with int16 activations x, whose sums have 64 bits; float32 with
   floats. */
static enum status want_bias(const struct ir_tensor *b, const struct ir_tensor *x, int32_t channels,
                             struct diag *d)
{
    if (b == NULL)
        return ST_OK;
    if (x->type == IR_I16)
        return ir_want_const_i64(b, "bias", (uint64_t)channels, d);
    if (x->type == IR_F32) {
        TRY(ir_want_type(b, "bias", IR_F32, d));
        if (b->role != IR_CONST || ir_elements(b) != (uint64_t)channels)
            return FAIL(d, ST_MODEL, "bias '%.80s': expected a constant of %d values, found %llu",
                        b->name, channels, (unsigned long long)ir_elements(b));
        return ST_OK;
    }
    return ir_want_const_i32(b, "bias", (uint64_t)channels, d);
}

static enum status want_range(const struct ir_op *op, enum ir_attr attr, int32_t low, int32_t high,
                              struct diag *d)
{
    if (op->attr[attr] >= low && op->attr[attr] <= high)
        return ST_OK;
    return FAIL(d, ST_MODEL, "%s: expected %d to %d, found %d", ir_attr_name(attr), low, high,
                op->attr[attr]);
}

/* Output size along one dimension; 0 when the window does not fit. */
static int32_t window_out(int32_t in, int32_t before, int32_t after, int32_t kernel,
                          int32_t dilation, int32_t stride)
{
    const int64_t span = ((int64_t)kernel - 1) * dilation + 1;
    const int64_t room = (int64_t)in + before + after - span;

    return room < 0 ? 0 : (int32_t)(room / stride + 1);
}

enum { MAX_WINDOW = 65535 };

/* Check that pads are explicit, or that SAME determines them. */
static enum status want_padding(const struct ir_op *op, enum ir_attr last, int32_t most,
                                struct diag *d)
{
    const bool same = op->attr[IR_PADDING] == IR_PADDING_SAME;

    TRY(want_range(op, IR_PADDING, IR_PADDING_EXPLICIT, IR_PADDING_SAME, d));
    for (uint32_t i = IR_PAD_TOP; i <= last; i++)
        TRY(want_range(op, (enum ir_attr)i, 0, same ? 0 : most, d));
    return ST_OK;
}

/* Compute the output size of one dimension with SAME padding, of at most INT32_MAX / 4 cells on
 * each side. */
static enum status same_out(int32_t in, int32_t kernel, int32_t dilation, int32_t stride,
                            int32_t *out, struct diag *d)
{
    const int64_t n = ((int64_t)in + stride - 1) / stride;
    const int64_t total = (n - 1) * stride + ((int64_t)kernel - 1) * dilation + 1 - in;

    *out = (int32_t)n;
    if (total <= 2 * (int64_t)(INT32_MAX / 4))
        return ST_OK;
    return FAIL(d, ST_MODEL, "SAME padding: expected at most %d cells, found %lld",
                2 * (INT32_MAX / 4), (long long)total);
}

static enum status want_window(const struct ir_graph *g, const struct ir_op *op,
                               const struct ir_tensor *x, int32_t channels, struct diag *d)
{
    const int32_t *a = op->attr;
    const bool dilated = ir_op_has(op->opcode, IR_DILATION_H);
    const int32_t halves = a[IR_HALVES] ? 2 : 1, columns = x->dim[2] / halves;
    int32_t dim[4] = {x->dim[0], 0, 0, channels};

    for (uint32_t i = IR_STRIDE_H; i <= IR_STRIDE_W; i++)
        TRY(want_range(op, (enum ir_attr)i, 1, MAX_WINDOW, d));
    for (uint32_t i = IR_DILATION_H; dilated && i <= IR_DILATION_W; i++)
        TRY(want_range(op, (enum ir_attr)i, 1, MAX_WINDOW, d));
    TRY(want_padding(op, IR_PAD_RIGHT, INT32_MAX / 4, d));
    for (uint32_t i = IR_KERNEL_H; i <= IR_KERNEL_W; i++)
        TRY(want_range(op, (enum ir_attr)i, 1, INT32_MAX / 4, d));
    if (a[IR_PADDING] == IR_PADDING_SAME) {
        TRY(same_out(x->dim[1], a[IR_KERNEL_H], dilated ? a[IR_DILATION_H] : 1, a[IR_STRIDE_H],
                     &dim[1], d));
        TRY(same_out(columns, a[IR_KERNEL_W], dilated ? a[IR_DILATION_W] : 1, a[IR_STRIDE_W],
                     &dim[2], d));
        dim[2] *= halves;
        return ir_want_shape(g, ir_out(g, op, 0), "output", 4, dim, d);
    }
    dim[1] = window_out(x->dim[1], a[IR_PAD_TOP], a[IR_PAD_BOTTOM], a[IR_KERNEL_H],
                        dilated ? a[IR_DILATION_H] : 1, a[IR_STRIDE_H]);
    dim[2] = halves * window_out(columns, a[IR_PAD_LEFT], a[IR_PAD_RIGHT], a[IR_KERNEL_W],
                                 dilated ? a[IR_DILATION_W] : 1, a[IR_STRIDE_W]);
    if (dim[1] == 0 || dim[2] == 0)
        return FAIL(d, ST_MODEL, "the %dx%d kernel is larger than its padded input", a[IR_KERNEL_H],
                    a[IR_KERNEL_W]);
    return ir_want_shape(g, ir_out(g, op, 0), "output", 4, dim, d);
}

/* Check that x and y hold quantised values of one type and x is [N,H,W,C]. */
static enum status want_image(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);

    TRY(ir_want_act(x, "input", d));
    TRY(ir_want_act(y, "output", d));
    TRY(ir_want_type(y, "output", x->type, d));
    return ir_want_rank(x, "input", 4, d);
}

enum status infer_conv2d(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *w = ir_in(g, op, 1);
    const bool ko = op->attr[IR_WEIGHTS_KO] != 0;
    int32_t dim[4];

    TRY(want_image(g, op, d));
    TRY(ir_want_rank(w, "weights", 4, d));
    TRY(want_weights(w, x, ko ? 3 : 0, d));
    dim[ko ? 0 : 1] = op->attr[IR_KERNEL_H];
    dim[ko ? 1 : 2] = op->attr[IR_KERNEL_W];
    dim[ko ? 2 : 3] = x->dim[3];
    dim[ko ? 3 : 0] = w->dim[ko ? 3 : 0];
    if (!ko && x->dim[3] % w->dim[3] == 0 && w->dim[0] % (x->dim[3] / w->dim[3]) == 0)
        dim[3] = w->dim[3]; /* groups of channels; legalise makes them one dense convolution */
    TRY(ir_want_shape(g, w, "weights", 4, dim, d));
    TRY(want_bias(ir_in(g, op, 2), x, w->dim[ko ? 3 : 0], d));
    return want_window(g, op, x, w->dim[ko ? 3 : 0], d);
}

enum status infer_depthwise(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *w = ir_in(g, op, 1);
    const int64_t channels = (int64_t)op->attr[IR_MULTIPLIER] * ir_dim_back(x, 0);
    int32_t dim[4] = {1, op->attr[IR_KERNEL_H], op->attr[IR_KERNEL_W], 0};

    TRY(want_image(g, op, d));
    TRY(ir_want_rank(w, "weights", 4, d));
    TRY(want_weights(w, x, 3, d));
    if (op->attr[IR_MULTIPLIER] < 1 || channels != w->dim[3])
        return FAIL(d, ST_MODEL,
                    "weights '%.80s': expected %d channels times a multiplier, found %d", w->name,
                    x->dim[3], w->dim[3]);
    dim[3] = w->dim[3];
    TRY(ir_want_shape(g, w, "weights", 4, dim, d));
    TRY(want_bias(ir_in(g, op, 2), x, dim[3], d));
    return want_window(g, op, x, dim[3], d);
}

enum status infer_dense(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *w = ir_in(g, op, 1), *y = ir_out(g, op, 0);
    const bool ko = op->attr[IR_WEIGHTS_KO] != 0;
    uint64_t k, channels, rows;

    TRY(ir_want_act(x, "input", d));
    TRY(ir_want_act(y, "output", d));
    TRY(ir_want_type(y, "output", x->type, d));
    TRY(ir_want_rank(w, "weights", 2, d));
    TRY(want_weights(w, x, ko ? 1 : 0, d));
    k = (uint64_t)w->dim[ko ? 0 : 1];
    channels = (uint64_t)w->dim[ko ? 1 : 0];
    if (ir_elements(x) % k != 0)
        return FAIL(d, ST_MODEL, "input '%.80s': expected a multiple of %llu elements, found %llu",
                    x->name, (unsigned long long)k, (unsigned long long)ir_elements(x));
    rows = ir_elements(x) / k;
    if (ir_elements(y) != rows * channels)
        return FAIL(d, ST_MODEL, "output '%.80s': expected %llu elements, found %llu", y->name,
                    (unsigned long long)(rows * channels), (unsigned long long)ir_elements(y));
    if ((uint64_t)ir_dim_back(y, 0) != channels)
        return FAIL(d, ST_MODEL, "output '%.80s': expected innermost dimension %llu, found %d",
                    y->name, (unsigned long long)channels, ir_dim_back(y, 0));
    return want_bias(ir_in(g, op, 2), x, (int32_t)channels, d);
}

enum status infer_pool(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0);

    TRY(want_image(g, op, d));
    if (op->opcode == IR_OP_MAX_POOL2D ||
        x->type == IR_I16) /* an average may have a different scale (ONNX) */
        TRY(ir_want_same_quant(x, ir_out(g, op, 0), d));
    return want_window(g, op, x, x->dim[3], d);
}

enum status infer_transpose_conv(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *w = ir_in(g, op, 1), *y = ir_out(g, op, 0);
    int32_t dim[4] = {0, op->attr[IR_KERNEL_H], op->attr[IR_KERNEL_W], 0};

    TRY(want_image(g, op, d));
    TRY(ir_want_rank(w, "weights", 4, d));
    TRY(ir_want_rank(y, "output", 4, d));
    TRY(want_weights(w, x, 0, d));
    for (uint32_t i = IR_STRIDE_H; i <= IR_STRIDE_W; i++)
        TRY(want_range(op, (enum ir_attr)i, 1, MAX_WINDOW, d));
    TRY(want_padding(op, IR_PAD_LEFT, MAX_WINDOW, d));
    for (uint32_t i = IR_KERNEL_H; i <= IR_KERNEL_W; i++)
        TRY(want_range(op, (enum ir_attr)i, 1, MAX_WINDOW, d));
    if (x->dim[1] > MAX_WINDOW || x->dim[2] > MAX_WINDOW)
        return FAIL(d, ST_UNSUPPORTED, "input '%.80s': expected at most %d rows and columns",
                    x->name, MAX_WINDOW);
    dim[0] = y->dim[3];
    dim[3] = x->dim[3];
    TRY(ir_want_shape(g, w, "weights", 4, dim, d));
    TRY(want_bias(ir_in(g, op, 2), x, y->dim[3], d));
    dim[0] = x->dim[0];
    for (uint32_t i = 1; i < 3; i++)
        dim[i] = y->dim[i]; /* the file chooses */
    dim[3] = y->dim[3];
    TRY(ir_want_halves(g, op, x, y, d));
    return ir_want_shape(g, y, "output", 4, dim, d);
}

/* Check the shapes of matrices: a [..,M,K] and b [..,K,N], transposed if adj_a and adj_b are set,
 * and y. */
static enum status want_matrices(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *a = ir_in(g, op, 0), *b = ir_in(g, op, 1), *y = ir_out(g, op, 0);
    const uint32_t adj_a = op->attr[IR_ADJ_A] != 0, adj_b = op->attr[IR_ADJ_B] != 0;
    int32_t dim[IR_MAX_RANK];

    if (a->rank < 2 || b->rank < 2 || y->rank < 2)
        return FAIL(d, ST_MODEL, "expected matrices, found %u, %u and %u dimensions", a->rank,
                    b->rank, y->rank);
    if (ir_dim_back(a, adj_a) != ir_dim_back(b, 1 - adj_b))
        return FAIL(d, ST_MODEL, "'%.80s' has %d columns, '%.80s' %d rows", a->name,
                    ir_dim_back(a, adj_a), b->name, ir_dim_back(b, 1 - adj_b));
    for (uint32_t i = 0; i < y->rank; i++) {
        const int32_t m = ir_dim_back(a, i), n = ir_dim_back(b, i);

        dim[y->rank - 1 - i] = m == 1 ? n : m;
        if (i >= 2 && m != n && m != 1 && n != 1)
            return FAIL(d, ST_MODEL, "shapes %s of '%.80s' and %s of '%.80s' do not broadcast",
                        ir_shape_text(g->arena, a->rank, a->dim), a->name,
                        ir_shape_text(g->arena, b->rank, b->dim), b->name);
    }
    dim[y->rank - 1] = ir_dim_back(b, adj_b);
    dim[y->rank - 2] = ir_dim_back(a, 1 - adj_a);
    if (a->rank > y->rank || b->rank > y->rank)
        return FAIL(d, ST_MODEL,
                    "output '%.80s': expected as many dimensions as the inputs, found %u", y->name,
                    y->rank);
    return ir_want_shape(g, y, "output", y->rank, dim, d);
}

enum status infer_matmul(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *a = ir_in(g, op, 0), *b = ir_in(g, op, 1), *y = ir_out(g, op, 0);

    TRY(ir_want_act(a, "first input", d));
    TRY(ir_want_act(b, "second input", d));
    TRY(ir_want_act(y, "output", d));
    TRY(ir_want_type(b, "second input", a->type, d));
    TRY(ir_want_type(y, "output", a->type, d));
    TRY(want_matrices(g, op, d));
    return want_bias(ir_in(g, op, 2), a, ir_dim_back(y, 0), d);
}

/* Check two 8-bit operands, each with its zero point (or n[i] of them), and an int32 output. */
static enum status want_integers(const struct ir_graph *g, const struct ir_op *op,
                                 const uint64_t *n, struct diag *d)
{
    for (uint32_t i = 0; i < 2; i++) {
        const struct ir_tensor *x = ir_in(g, op, i), *z = ir_in(g, op, i + 2);

        if (x->type != IR_I8 && x->type != IR_U8)
            return FAIL(d, ST_UNSUPPORTED, "input '%.80s': expected type i8 or u8, found %s",
                        x->name, ir_type_name(x->type));
        TRY(ir_want_type(z, "zero point", x->type, d));
        if (ir_elements(z) != 1 && ir_elements(z) != n[i])
            return FAIL(d, ST_UNSUPPORTED, "zero point '%.80s': expected one%s, found %llu",
                        z->name, n[i] > 1 ? " or one for each row, column or image" : "",
                        (unsigned long long)ir_elements(z));
    }
    return ir_want_type(ir_out(g, op, 0), "output", IR_I32, d);
}

enum status infer_matmul_integer(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *y = ir_out(g, op, 0);

    TRY(want_matrices(g, op, d));
    return want_integers(
        g, op, (const uint64_t[]){(uint64_t)ir_dim_back(y, 1), (uint64_t)ir_dim_back(y, 0)}, d);
}

enum status infer_conv_integer(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *w = ir_in(g, op, 1);

    TRY(want_integers(g, op, (const uint64_t[]){(uint64_t)x->dim[0], 1}, d));
    TRY(ir_want_rank(x, "input", 4, d));
    TRY(ir_want_rank(w, "weights", 4, d));
    if (x->dim[3] % w->dim[3] != 0 || w->dim[0] % (x->dim[3] / w->dim[3]) != 0)
        return FAIL(d, ST_MODEL, "weights %s do not fit %d input channels",
                    ir_shape_text(g->arena, 4, w->dim), x->dim[3]);
    TRY(ir_want_shape(
        g, w, "weights", 4,
        (const int32_t[]){w->dim[0], op->attr[IR_KERNEL_H], op->attr[IR_KERNEL_W], w->dim[3]}, d));
    return want_window(g, op, x, w->dim[0], d);
}

/* Check that `t` is n equal parts of whole rows of `row` elements. */
static enum status want_parts(const struct ir_tensor *t, uint64_t row, uint64_t n, struct diag *d)
{
    if (ir_elements(t) % (n * row) == 0)
        return ST_OK;
    return FAIL(d, ST_MODEL,
                "'%.80s': expected %llu equal parts of rows of %llu, found %llu elements", t->name,
                (unsigned long long)n, (unsigned long long)row, (unsigned long long)ir_elements(t));
}

enum status infer_join_digits(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    const int32_t *a = op->attr, oc = ir_dim_back(y, 0), digits = a[IR_DIGITS];
    const int32_t taps[3] = {a[IR_PAD_TOP] + 1 + a[IR_PAD_BOTTOM],
                             a[IR_PAD_LEFT] + 1 + a[IR_PAD_RIGHT], oc};
    int32_t dim[IR_MAX_RANK];

    TRY(ir_want_type(x, "input", IR_I8, d));
    TRY(ir_want_type(ir_in(g, op, 1), "zero point", IR_I8, d));
    TRY(want_parts(y, (uint64_t)oc, ir_elements(ir_in(g, op, 1)), d));
    TRY(ir_want_shape(g, ir_in(g, op, 2), "taps", 3, taps, d));
    TRY(ir_want_const_i32(ir_in(g, op, 2), "taps", ir_elements(ir_in(g, op, 2)), d));
    if (digits < 1 || digits > 4)
        return FAIL(d, ST_MODEL, "digits: expected 1 to 4, found %d", digits);
    if (a[IR_MULTIPLIER] < 1)
        return FAIL(d, ST_MODEL, "multiplier: expected at least 1, found %d", a[IR_MULTIPLIER]);
    TRY(ir_want_type(y, "output", IR_I32, d));
    memcpy(dim, y->dim, sizeof dim);
    dim[y->rank - 1] = digits * ir_in_blocks(op->attr[IR_MULTIPLIER], oc);
    return ir_want_shape(g, x, "input", y->rank, dim, d);
}

static enum status want_elements(const struct ir_tensor *t, uint64_t n, struct diag *d)
{
    if (ir_elements(t) == n)
        return ST_OK;
    return FAIL(d, ST_MODEL, "'%.80s': expected %llu elements, found %llu", t->name,
                (unsigned long long)n, (unsigned long long)ir_elements(t));
}

enum status infer_byte_of(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);

    TRY(want_range(op, IR_HIGH, 0, 1, d));
    TRY(ir_want_type(y, "output", IR_I8, d));
    if (ir_elements(x) == ir_elements(y))
        return ST_OK;
    return FAIL(d, ST_MODEL, "output '%.80s': expected as many elements as the input (%llu)",
                y->name, (unsigned long long)ir_elements(x));
}

enum status infer_halves(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    const bool splits = x->type == IR_I16;
    const struct ir_tensor *whole = splits ? x : y;
    int32_t dim[4];

    TRY(ir_want_type(y, "output", splits ? IR_I8 : IR_I16, d));
    ir_halves_shape(whole, dim);
    return ir_want_shape(g, splits ? y : x, splits ? "output" : "input", 4, dim, d);
}

/* Check that a tensor has 1 to 4 digits for each of `sums`. */
static enum status want_digits(const struct ir_graph *g, const struct ir_tensor *x,
                               const struct ir_tensor *y, int32_t sums, struct diag *d)
{
    const int32_t digits = ir_dim_back(x, 0) / sums;
    int32_t dim[IR_MAX_RANK];

    TRY(ir_want_type(x, "digits", IR_I8, d));
    if (digits < 1 || digits > 4)
        return FAIL(d, ST_MODEL, "'%.80s': expected 1 to 4 digits a sum, found %d", x->name,
                    digits);
    memcpy(dim, y->dim, sizeof dim);
    dim[y->rank - 1] = digits * sums;
    return ir_want_shape(g, x, "digits", y->rank, dim, d);
}

enum status infer_join_wide(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *y = ir_out(g, op, 0), *bias = op->n_in > 2 ? ir_in(g, op, 2) : NULL;
    const int32_t oc = ir_dim_back(y, 0), each = op->attr[IR_MULTIPLIER];

    TRY(ir_want_type(y, "output", IR_I16, d));
    if (each < 1)
        return FAIL(d, ST_MODEL, "multiplier: expected at least 1, found %d", each);
    TRY(want_digits(g, ir_in(g, op, 0), y, ir_in_blocks(each, oc), d));
    TRY(want_digits(g, ir_in(g, op, 1), y, ir_in_blocks(each, oc), d));
    if (bias)
        TRY(ir_want_const_i64(bias, "bias", (uint64_t)oc, d));
    if (op->fixed.n == 1 || op->fixed.n == (uint32_t)oc)
        return ST_OK;
    return FAIL(d, ST_MODEL, "scale_m: expected 1 or %d, found %u", oc, op->fixed.n);
}

/* Check the scales [N,3] of a tensor of N equal parts. */
static enum status want_row_scales(const struct ir_graph *g, const struct ir_tensor *scales,
                                   const struct ir_tensor *of, uint64_t row, struct diag *d)
{
    TRY(ir_want_type(scales, "scales", IR_F32, d));
    TRY(ir_want_shape(g, scales, "scales", 2, (const int32_t[]){scales->dim[0], 3}, d));
    return want_parts(of, row, (uint64_t)scales->dim[0], d);
}

enum status infer_row_scales(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    return want_row_scales(g, ir_out(g, op, 0), ir_in(g, op, 0), 1, d);
}

enum status infer_quantize_rows(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);

    TRY(want_row_scales(g, ir_in(g, op, 1), x, 1, d));
    TRY(ir_want_type(y, "output", IR_I8, d));
    return want_elements(y, ir_elements(x), d);
}

enum status infer_scale_sums(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    const uint64_t channels = (uint64_t)ir_dim_back(x, 0);

    TRY(ir_want_type(x, "sums", IR_I32, d));
    TRY(want_row_scales(g, ir_in(g, op, 1), x, channels, d));
    for (uint32_t i = 2; i < op->n_in; i++) {
        const struct ir_tensor *t = ir_in(g, op, i);

        TRY(ir_want_type(t, i == 2 ? "scales of weights" : "bias", IR_F32, d));
        if (t->role != IR_CONST)
            return FAIL(d, ST_UNSUPPORTED, "'%.80s': expected a constant", t->name);
        if (i == 3 || ir_elements(t) != 1)
            TRY(want_elements(t, channels, d));
    }
    TRY(ir_want_type(y, "output", IR_F32, d));
    return want_elements(y, ir_elements(x), d);
}
