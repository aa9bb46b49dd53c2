/* infer_move.c - rules of operators that move bytes without computing. */
#include "rules.h"

#include <math.h>
#include <string.h>

enum status infer_reshape(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);

    const bool truth = op->attr[IR_RECODE] && x->type == IR_BOOL && y->type == IR_I8; /* 0 or 1 */

    TRY(ir_want_type(y, "output", truth ? IR_I8 : x->type, d));
    if (ir_elements(x) != ir_elements(y))
        return FAIL(d, ST_MODEL, "output '%.80s': expected %llu elements, found %llu", y->name,
                    (unsigned long long)ir_elements(x), (unsigned long long)ir_elements(y));
    return op->attr[IR_RECODE] ? ST_OK : ir_want_moved(x, y, d);
}

/* PAD's fill value: one constant of x's type and scale. */
static enum status want_fill(const struct ir_tensor *v, const struct ir_tensor *x, struct diag *d)
{
    if (v->role != IR_CONST || ir_elements(v) != 1)
        return FAIL(d, ST_UNSUPPORTED, "pad value '%.80s': expected a constant with one element",
                    v->name);
    return ir_want_moved(x, v, d);
}

enum status infer_pad(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *p = ir_in(g, op, 1), *y = ir_out(g, op, 0);
    int32_t dim[IR_MAX_RANK];

    TRY(ir_want_moved(x, y, d));
    TRY(ir_want_const_i32(p, "paddings", 2 * (uint64_t)x->rank, d));
    if (op->n_in > 2)
        TRY(want_fill(ir_in(g, op, 2), x, d));
    for (uint32_t i = 0; i < x->rank; i++) {
        const int32_t before = ir_const_i32(p, 2 * i), after = ir_const_i32(p, 2 * i + 1);
        const int64_t size = (int64_t)x->dim[i] + before + after;

        if (before < 0 || after < 0 || size > INT32_MAX)
            return FAIL(d, ST_MODEL, "paddings '%.80s': %d and %d are not usable", p->name, before,
                        after);
        dim[i] = (int32_t)size;
    }
    return ir_want_shape(g, y, "output", x->rank, dim, d);
}

enum status infer_concat(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *first = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    const uint32_t axis = (uint32_t)op->attr[IR_AXIS];
    int32_t dim[IR_MAX_RANK];
    int64_t size = 0;

    if (axis >= first->rank)
        return FAIL(d, ST_MODEL, "axis %d: '%.80s' has %u dimensions", op->attr[IR_AXIS],
                    first->name, first->rank);
    memcpy(dim, first->dim, sizeof dim);
    for (uint32_t i = 0; i < op->n_in; i++) {
        const struct ir_tensor *x = ir_in(g, op, i);

        TRY(ir_want_moved(x, y, d));
        TRY(ir_want_rank(x, "input", first->rank, d));
        dim[axis] = x->dim[axis];
        TRY(ir_want_shape(g, x, "input", first->rank, dim, d));
        size += x->dim[axis];
    }
    dim[axis] = size > INT32_MAX ? 0 : (int32_t)size;
    return ir_want_shape(g, y, "output", first->rank, dim, d);
}

enum status infer_transpose(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *p = ir_in(g, op, 1), *y = ir_out(g, op, 0);
    int32_t dim[IR_MAX_RANK];
    uint32_t seen = 0;

    TRY(ir_want_moved(x, y, d));
    TRY(ir_want_const_i32(p, "permutation", x->rank, d));
    for (uint32_t i = 0; i < x->rank; i++) {
        const int32_t from = ir_const_i32(p, i);

        if (from < 0 || from >= (int32_t)x->rank || (seen >> from & 1) != 0)
            return FAIL(d, ST_MODEL, "permutation '%.80s': entry %u is %d", p->name, i, from);
        seen |= 1u << from;
        dim[i] = x->dim[from];
    }
    return ir_want_shape(g, y, "output", x->rank, dim, d);
}

static int32_t step_of(const struct ir_tensor *steps, uint32_t i)
{
    return steps != NULL ? ir_const_i32(steps, i) : 1;
}

enum status infer_slice(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *p = ir_in(g, op, 1), *steps = ir_in(g, op, 2);
    const struct ir_tensor *y = ir_out(g, op, 0);

    TRY(ir_want_moved(x, y, d));
    TRY(ir_want_const_i32(p, "begin", x->rank, d));
    if (steps != NULL)
        TRY(ir_want_const_i32(steps, "steps", x->rank, d));
    TRY(ir_want_rank(y, "output", x->rank, d));
    for (uint32_t i = 0; i < x->rank; i++) {
        const int32_t begin = ir_const_i32(p, i);
        const int64_t last = begin + (int64_t)step_of(steps, i) * (y->dim[i] - 1);

        if (step_of(steps, i) == 0 || begin < 0 || begin >= x->dim[i] || last < 0 ||
            last >= x->dim[i])
            return FAIL(d, ST_MODEL, "begin '%.80s': %d with size %d exceeds dimension %u of %d",
                        p->name, begin, y->dim[i], i, x->dim[i]);
    }
    return ST_OK;
}

/* Check that the constant indices of both operators are within `size`; computed indices are checked
 * when they are known. */
static enum status want_indices(const struct ir_tensor *p, uint32_t i, int32_t size, struct diag *d)
{
    int64_t v = 0;

    if (p->role != IR_CONST)
        return ST_OK;
    if (p->type == IR_I32)
        v = ir_const_i32(p, i);
    else
        memcpy(&v, p->data + (size_t)i * 8, 8);
    if (v < 0 || v >= size)
        return FAIL(d, ST_MODEL, "index %u of '%.80s': expected 0 to %d, found %lld", i, p->name,
                    size - 1, (long long)v);
    return ST_OK;
}

static enum status want_batches(const struct ir_op *op, const struct ir_tensor *x,
                                const struct ir_tensor *p, struct diag *d)
{
    const int32_t n = op->attr[IR_BATCH_DIMS];

    if (n < 0 || n > op->attr[IR_AXIS] || n > (int32_t)p->rank)
        return FAIL(d, ST_MODEL,
                    "batch_dims: expected 0 to the axis %d and the indices' rank %u, "
                    "found %d",
                    op->attr[IR_AXIS], p->rank, n);
    for (int32_t i = 0; i < n; i++)
        if (p->dim[i] != x->dim[i])
            return FAIL(d, ST_MODEL, "dimension %d: '%.80s' has %d elements, '%.80s' %d", i,
                        x->name, x->dim[i], p->name, p->dim[i]);
    return ST_OK;
}

enum status infer_gather(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *p = ir_in(g, op, 1), *y = ir_out(g, op, 0);
    const uint32_t axis = (uint32_t)op->attr[IR_AXIS];
    int32_t dim[2 * IR_MAX_RANK];
    uint32_t rank = 0;

    TRY(ir_want_moved(x, y, d));
    if (axis >= x->rank)
        return FAIL(d, ST_MODEL, "axis %d: '%.80s' has %u dimensions", op->attr[IR_AXIS], x->name,
                    x->rank);
    if (p->type != IR_I64)
        TRY(ir_want_type(p, "indices", IR_I32, d));
    TRY(want_batches(op, x, p, d));
    for (uint32_t i = 0; i < x->rank; i++)
        for (uint32_t k = i == axis ? (uint32_t)op->attr[IR_BATCH_DIMS] : 0;
             k < (i == axis ? p->rank : 1); k++)
            dim[rank++] = i == axis ? p->dim[k] : x->dim[i];
    for (uint32_t i = 0, n = (uint32_t)ir_elements(p); i < n; i++)
        TRY(want_indices(p, i, x->dim[axis], d));
    return ir_want_shape(g, y, "output", rank, dim, d);
}

enum status infer_gather_nd(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *p = ir_in(g, op, 1), *y = ir_out(g, op, 0);
    const uint32_t depth = (uint32_t)ir_dim_back(p, 0);
    int32_t dim[2 * IR_MAX_RANK];
    uint32_t rank = 0;

    TRY(ir_want_moved(x, y, d));
    if (p->type != IR_I64)
        TRY(ir_want_type(p, "indices", IR_I32, d));
    if (p->rank == 0 || depth > x->rank)
        return FAIL(d, ST_MODEL, "indices '%.80s': expected rows of 1 to %u, found shape %s",
                    p->name, x->rank, ir_shape_text(g->arena, p->rank, p->dim));
    for (uint32_t i = 0; i + 1 < p->rank; i++)
        dim[rank++] = p->dim[i];
    for (uint32_t i = depth; i < x->rank; i++)
        dim[rank++] = x->dim[i];
    for (uint32_t i = 0, n = (uint32_t)ir_elements(p); i < n; i++)
        TRY(want_indices(p, i, x->dim[i % depth], d));
    return ir_want_shape(g, y, "output", rank, dim, d);
}

/* Check a part of `x` and its start, which is n numbers. */
static enum status want_part(const struct ir_graph *g, const struct ir_op *op, int32_t n,
                             struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *part = ir_in(g, op, 1), *start = ir_in(g, op, 2);

    TRY(ir_want_type(part, "part", x->type, d));
    TRY(ir_want_moved(x, part, d));
    if (start->type != IR_I64)
        TRY(ir_want_type(start, "start", IR_I32, d));
    TRY(ir_want_shape(g, start, "start", 1, &n, d));
    TRY(ir_want_rank(part, "part", x->rank, d));
    for (uint32_t i = 0; i < x->rank; i++)
        if (part->dim[i] > x->dim[i])
            return FAIL(d, ST_MODEL, "dimension %u: part '%.80s' has %d elements, '%.80s' %d", i,
                        part->name, part->dim[i], x->name, x->dim[i]);
    return ST_OK;
}

enum status infer_update_slice(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0);

    TRY(ir_want_moved(x, ir_out(g, op, 0), d));
    TRY(want_part(g, op, (int32_t)x->rank, d));
    return ir_want_shape(g, ir_out(g, op, 0), "output", x->rank, x->dim, d);
}

enum status infer_update_variable(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *v = ir_in(g, op, 0), *start = ir_in(g, op, 2);
    const int32_t axis = op->attr[IR_AXIS], n = (int32_t)ir_elements(start);

    if (v->role != IR_VARIABLE)
        return FAIL(d, ST_MODEL, "'%.80s': expected a variable", v->name);
    if (axis < 0 || n > (int32_t)v->rank - axis)
        return FAIL(d, ST_MODEL, "start '%.80s': %d numbers from dimension %d on, '%.80s' has %u",
                    start->name, n, axis, v->name, v->rank);
    return want_part(g, op, n, d);
}

static enum status want_variable(const struct ir_tensor *v, const struct ir_tensor *like,
                                 const struct ir_graph *g, struct diag *d)
{
    if (v->role != IR_VARIABLE)
        return FAIL(d, ST_MODEL, "'%.80s': expected a variable", v->name);
    TRY(ir_want_moved(v, like, d));
    return ir_want_shape(g, like, "value", v->rank, v->dim, d);
}

enum status infer_read_variable(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    return want_variable(ir_in(g, op, 0), ir_out(g, op, 0), g, d);
}

enum status infer_assign_variable(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    return want_variable(ir_in(g, op, 1), ir_in(g, op, 0), g, d);
}

static enum status want_state(const struct ir_graph *g, const struct ir_tensor *t, const char *what,
                              enum ir_type type, const int32_t *dim, struct diag *d)
{
    TRY(ir_want_type(t, what, type, d));
    TRY(ir_want_quantised(t, what, d));
    if (t->role != IR_VARIABLE)
        return FAIL(d, ST_MODEL, "%s '%.80s': expected a variable", what, t->name);
    return ir_want_shape(g, t, what, 2, dim, d);
}

static enum status want_gates(const struct ir_graph *g, const struct ir_tensor *t, const char *what,
                              const int32_t *dim, struct diag *d)
{
    TRY(ir_want_type(t, what, IR_I8, d));
    TRY(ir_want_shape(g, t, what, 3, dim, d));
    if (t->role != IR_CONST || t->quant.n != 4 || t->quant.axis != 0)
        return FAIL(d, ST_UNSUPPORTED, "%s '%.80s': expected a constant with a scale for each gate",
                    what, t->name);
    return ST_OK;
}

enum status infer_lstm(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *c = ir_in(g, op, 5), *y = ir_out(g, op, 0);
    const int32_t h = ir_dim_back(y, 0), time = op->attr[IR_AXIS];
    const int32_t digits = op->attr[IR_DIGITS], in = ir_dim_back(ir_in(g, op, 1), 0),
                  columns = digits ? digits * ir_in_blocks(op->attr[IR_MULTIPLIER], 4 * h) : in;
    const int32_t parts = ir_dim_back(ir_in(g, op, 2), 0) / h;
    int exponent;

    TRY(ir_want_type(x, "input", IR_I8, d));
    TRY(ir_want_quantised(x, "input", d));
    TRY(ir_want_type(y, "output", IR_I8, d));
    TRY(ir_want_quantised(y, "output", d));
    TRY(ir_want_rank(x, "input", 3, d));
    if (time != 0 && time != 1)
        return FAIL(d, ST_MODEL, "axis: expected 0 or 1, found %d", time);
    if (digits < 0 || digits > 4 || (digits > 0 && op->attr[IR_MULTIPLIER] < 1))
        return FAIL(d, ST_MODEL, "digits: expected 0 to 4, with a multiplier, found %d", digits);
    TRY(want_gates(g, ir_in(g, op, 1), "weights", (const int32_t[]){4, h, in}, d));
    if (digits ? x->dim[2] != columns : in % x->dim[2] != 0)
        return FAIL(d, ST_MODEL, "input '%.80s': expected %d columns, found %d", x->name, columns,
                    x->dim[2]);
    TRY(want_gates(g, ir_in(g, op, 2), "recurrent weights",
                   (const int32_t[]){4, h, (parts ? parts : 1) * h}, d));
    TRY(ir_want_const_i32(ir_in(g, op, 3), "bias", 8 * (uint64_t)h, d));
    TRY(want_state(g, ir_in(g, op, 4), "output state", IR_I8,
                   (const int32_t[]){x->dim[1 - time], h}, d));
    TRY(want_state(g, c, "cell state", IR_I16, (const int32_t[]){x->dim[1 - time], h}, d));
    if (frexpf(c->quant.scale[0], &exponent) != 0.5f || exponent < -14 || exponent > -8)
        return FAIL(d, ST_UNSUPPORTED,
                    "cell state '%.80s': expected a scale that is a power of two from 2^-15 to "
                    "2^-9, found %.9g",
                    c->name, (double)c->quant.scale[0]);
    return ir_want_shape(g, y, "output", 3, (const int32_t[]){x->dim[0], x->dim[1], h}, d);
}

/* Check constant weights [F,..] of `type` with one scale and zero point 0. */
static enum status want_filters(const struct ir_tensor *t, const char *what, enum ir_type type,
                                struct diag *d)
{
    TRY(ir_want_type(t, what, type, d));
    TRY(ir_want_quantised(t, what, d));
    TRY(ir_want_rank(t, what, 2, d));
    if (t->role != IR_CONST || ir_zero_point(t) != 0)
        return FAIL(d, ST_UNSUPPORTED, "%s '%.80s': expected a constant with zero point 0", what,
                    t->name);
    return ST_OK;
}

/* Check constant weights [rows,..] for inputs of `columns` values; the input may count several times. */
static enum status want_products(const struct ir_tensor *t, const char *what, int32_t rows,
                                 int32_t columns, struct diag *d)
{
    TRY(want_filters(t, what, IR_I8, d));
    if (t->dim[0] != rows || t->dim[1] % columns != 0)
        return FAIL(d, ST_MODEL,
                    "%s '%.80s': expected %d rows of a multiple of %d values, found %dx%d", what,
                    t->name, rows, columns, t->dim[0], t->dim[1]);
    return ST_OK;
}

/* Check that steps of 8 / 127 to twice that are 2^3 to 2^30 units of both products' sums. */
static enum status want_sums(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const float *x = ir_in(g, op, 0)->quant.scale, *w = ir_in(g, op, 1)->quant.scale,
                *r = ir_in(g, op, 2)->quant.scale;
    const double most = log2(16.0 / 127), h_bits = floor(most - log2((double)*r / 126)),
                 x_bits = round(log2((double)*r / 126) + h_bits - log2((double)*x * (double)*w));

    if (h_bits < 3 || h_bits > 30 || x_bits < 3 || x_bits > 30)
        return FAIL(d, ST_UNSUPPORTED,
                    "scales: expected sums with 3 to 30 bits below a gate's step, found %g of the "
                    "input, %g of the state",
                    x_bits, h_bits);
    return ST_OK;
}

enum status infer_gru(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *w = ir_in(g, op, 1), *y = ir_out(g, op, 0);
    const int32_t h = ir_dim_back(y, 0), gates = w->rank == 2 && w->dim[0] == h ? 1 : 3;

    TRY(ir_want_type(x, "input", IR_I8, d));
    TRY(ir_want_quantised(x, "input", d));
    TRY(ir_want_rank(x, "input", 3, d));
    TRY(ir_want_type(y, "output", IR_I8, d));
    TRY(ir_want_quantised(y, "output", d));
    TRY(want_products(w, "weights", gates * h, x->dim[2], d));
    TRY(want_products(ir_in(g, op, 2), "recurrent weights", gates * h, h, d));
    TRY(ir_want_const_i32(ir_in(g, op, 3), "bias", 2 * (uint64_t)w->dim[0], d));
    TRY(want_sums(g, op, d));
    return ir_want_shape(g, y, "output", 3, (const int32_t[]){x->dim[0], 1, h}, d);
}

enum status infer_svdf(const struct ir_graph *g, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *feature = ir_in(g, op, 1),
                           *time = ir_in(g, op, 2);
    const struct ir_tensor *y = ir_out(g, op, 0);
    const int32_t units = ir_dim_back(y, 0);

    TRY(ir_want_type(x, "input", IR_I8, d));
    TRY(ir_want_quantised(x, "input", d));
    TRY(ir_want_rank(x, "input", 2, d));
    TRY(ir_want_type(y, "output", IR_I8, d));
    TRY(ir_want_quantised(y, "output", d));
    TRY(want_filters(feature, "feature weights", IR_I8, d));
    TRY(want_filters(time, "time weights", IR_I16, d));
    if (feature->dim[1] != x->dim[1] || time->dim[0] != feature->dim[0] ||
        feature->dim[0] % units != 0)
        return FAIL(d, ST_MODEL, "weights '%.80s' and '%.80s' do not fit '%.80s' and %d units",
                    feature->name, time->name, x->name, units);
    TRY(ir_want_const_i32(ir_in(g, op, 3), "bias", (uint64_t)units, d));
    TRY(want_state(g, ir_in(g, op, 4), "state", IR_I16,
                   (const int32_t[]){x->dim[0], (int32_t)ir_elements(time)}, d));
    return ir_want_shape(g, y, "output", 2, (const int32_t[]){x->dim[0], units}, d);
}
