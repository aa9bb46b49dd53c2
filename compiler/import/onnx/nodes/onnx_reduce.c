/* onnx_reduce.c - reductions along axes: ReduceMean and similar, ArgMax, ArgMin, CumSum, TopK. */
#include "compiler/import/onnx/onnx_import.h"

#include <math.h>
#include <string.h>

/* Bit i of *mask: axis i is reduced. Axes of input 1 (opset 18; of ReduceSum 13) or of the
 * attribute; none: all, or (noop_with_empty_axes) none. */
static enum status read_axes(struct ox *m, uint32_t rank, uint32_t *mask)
{
    int64_t *axes;
    uint32_t n, k;

    TRY(ox_ints(m, 1, "axes", &n, &axes));
    *mask = n != 0 || ox_attr_int(m, "noop_with_empty_axes", 0) != 0 ? 0 : (1u << rank) - 1;
    for (uint32_t i = 0; i < n; i++) {
        TRY(ox_axis(m, "axes", axes[i], rank, &k));
        *mask |= 1u << k;
    }
    return ST_OK;
}

static struct ox_shape reduced_shape(struct ox_shape x, uint32_t mask, bool keep)
{
    struct ox_shape y = {0};

    for (uint32_t i = 0; i < x.rank; i++)
        if ((mask >> i & 1) == 0 || keep)
            y.dim[y.rank++] = (mask >> i & 1) != 0 ? 1 : x.dim[i];
    return y;
}

static void set_axes(int32_t *attr, uint32_t mask, bool keep)
{
    attr[IR_AXIS] = (int32_t)mask;
    attr[IR_KEEP_DIMS] = keep;
}

uint32_t ox_f32_reduce(struct ox *m, enum ir_opcode opcode, const char *name, uint32_t x,
                       uint32_t mask, bool keep)
{
    const uint32_t out =
        ox_tensor(m, name, IR_F32, reduced_shape(ox_shape_of(m, x), mask, keep), NULL);

    set_axes(ox_op(m, opcode, 1, &x, out)->attr, mask, keep);
    return out;
}

/* --- of constants: known now --- */

/* Integers wrap. */
static int64_t with_integer(const char *op, int64_t a, int64_t v)
{
    if (strstr(op, "Max") || strstr(op, "Min"))
        return (v > a) == (strstr(op, "Max") != NULL) ? v : a;
    return (int64_t)(strstr(op, "Prod") ? (uint64_t)a * (uint64_t)v : (uint64_t)a + (uint64_t)v);
}

static double with_number(const char *op, double a, double v)
{
    if (strstr(op, "Max") || strstr(op, "Min"))
        return strstr(op, "Max") ? fmax(a, v) : fmin(a, v);
    return strstr(op, "Prod")                            ? a * v
           : strstr(op, "L2") || strstr(op, "SumSquare") ? a + v * v
           : strstr(op, "L1")                            ? a + fabs(v)
                                                         : a + v;
}

/* Element k of x belongs to this one of the result. */
static uint64_t place_of(const struct ox_shape *x, uint32_t mask, uint64_t k)
{
    uint64_t at = 0, stride = 1;

    for (uint32_t d = x->rank; d-- > 0; k /= (uint64_t)x->dim[d])
        if ((mask >> d & 1) == 0) {
            at += k % (uint64_t)x->dim[d] * stride;
            stride *= (uint64_t)x->dim[d];
        }
    return at;
}

static bool is_known(const struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);

    return x && x->kind == OX_CONST &&
           (x->real || x->c.type == OX_FLOAT ||
            (x->c.type == OX_INT64 && ir_op_info(m->opcode)->has_int));
}

static enum status reduce_known(struct ox *m)
{
    const bool keep = ox_attr_int(m, "keepdims", 1) != 0, most = strstr(m->op, "Max") != NULL;
    const double begin = strstr(m->op, "Prod") ? 1 : 0;
    struct ox_const c, to;
    struct ox_shape x = {0}, y;
    uint32_t mask;

    TRY(ox_const_input(m, 0, &c));
    TRY(read_axes(m, c.rank, &mask));
    x.rank = c.rank;
    memcpy(x.dim, c.dim, c.rank * sizeof *x.dim);
    y = reduced_shape(x, mask, keep);
    int64_t *whole = c.type == OX_INT64 ? ox_new_const(m, &to, OX_INT64, y.rank, y.dim) : NULL;
    float *real = whole ? NULL : ox_new_const(m, &to, OX_FLOAT, y.rank, y.dim);
    double *sum = ARENA_ARRAY(m->arena, double, to.n);
    const bool chooses = most || strstr(m->op, "Min");

    for (uint64_t k = 0; k < to.n; k++) {
        sum[k] = !chooses ? begin : most ? -INFINITY : INFINITY;
        if (whole)
            whole[k] = !chooses ? (int64_t)begin : most ? INT64_MIN : INT64_MAX;
    }
    for (uint64_t k = 0; k < c.n; k++) {
        const uint64_t at = place_of(&x, mask, k);

        sum[at] = with_number(m->op, sum[at], ox_number(&c, k));
        if (whole)
            whole[at] = with_integer(m->op, whole[at], ox_int(&c, k));
    }
    for (uint64_t k = 0; real && k < to.n; k++)
        real[k] = (float)(strstr(m->op, "L2")     ? sqrt(sum[k])
                          : strstr(m->op, "Mean") ? sum[k] / (double)(c.n / to.n)
                                                  : sum[k]);
    ox_set_const(m, 0, &to);
    return ST_OK;
}

/* --- of computed values --- */

/* Set *nothing if no axis is reduced: the node is its input then, which may still be waiting. */
static enum status find_nothing(struct ox *m, bool *nothing)
{
    const struct ox_value *x = ox_in(m, 0);
    uint32_t mask = 1;

    if (x && x->kind != OX_CONST)
        TRY(read_axes(m, ox_rank(m, x), &mask));
    *nothing = mask == 0;
    return ST_OK;
}

/* ReduceMax and ReduceMin select quantised values: what DequantizeLinear did before holds after.
 * Reductions of integers have integers, which wrap. */
enum status ox_select(struct ox *m)
{
    const bool keep = ox_attr_int(m, "keepdims", 1) != 0;
    const enum ir_opcode opcode = m->opcode;
    struct ox_value *x;
    struct ox_shape s;
    uint32_t mask, out;
    bool nothing;

    if (is_known(m))
        return reduce_known(m);
    TRY(find_nothing(m, &nothing));
    if (nothing)
        return ox_identity(m);
    TRY(ox_moved(m, &x));
    s = ox_shape_of(m, x->tensor);
    TRY(read_axes(m, s.rank, &mask));
    if (mask == 0)
        return ox_identity(m);
    out = ox_like(m, ox_out(m, 0)->name, x->tensor, reduced_shape(s, mask, keep));
    set_axes(ox_op(m, opcode, 1, &x->tensor, out)->attr, mask, keep);
    ox_set_tensor(m, 0, out, x->real);
    return ST_OK;
}

/* ReduceMean, ReduceSum, ReduceProd: on quantised values where they have arithmetic on quantised
 * values. */
enum status ox_reduce(struct ox *m)
{
    const bool keep = ox_attr_int(m, "keepdims", 1) != 0;
    struct ox_deferred *p;
    uint32_t id, mask;
    bool nothing;

    if (is_known(m))
        return reduce_known(m);
    TRY(find_nothing(m, &nothing));
    if (nothing)
        return ox_identity(m);
    if (ir_op_info(m->opcode)->has_int && ox_is_integer(m, ox_in(m, 0)))
        return ox_select(m);
    TRY(ox_operand(m, 0, "input", &id));
    TRY(read_axes(m, m->g->tensor[id]->rank, &mask));
    if (mask == 0)
        return ox_identity(m);
    p = ox_deferred_new(m, m->opcode, reduced_shape(ox_shape_of(m, id), mask, keep));
    p->float_only = !ir_op_info(m->opcode)->onnx_quantised;
    set_axes(p->attr, mask, keep);
    p->n_in = 1;
    p->in[0] = id;
    ox_set_deferred(m, p);
    return ST_OK;
}

/* ReduceLogSum, ReduceLogSumExp: log of the sum of x, or max + log of the sum of e^(x - max). */
enum status ox_reduce_log(struct ox *m)
{
    const bool keep = ox_attr_int(m, "keepdims", 1) != 0, exp = strstr(m->op, "Exp") != NULL;
    const char *name = ox_out(m, 0)->name;
    uint32_t x, mask, most = 0;

    TRY(ox_float_input(m, 0, "input", &x));
    TRY(read_axes(m, m->g->tensor[x]->rank, &mask));
    if (mask == 0)
        return FAIL(m->d, ST_UNSUPPORTED, "axes: expected at least one");
    if (exp) {
        most = ox_f32_reduce(m, IR_OP_REDUCE_MAX, ox_inner(m, name, "max"), x, mask, true);
        TRY(ox_f32_sub(m, ox_inner(m, name, "below"), x, most, &x));
        TRY(ox_f32_exp(m, ox_inner(m, name, "powers"), x, &x));
    }
    x = ox_f32_sum(m, ox_inner(m, name, "sum"), x, mask, keep);
    TRY(ox_f32_log(m, exp ? ox_inner(m, name, "log") : name, x, &x));
    if (exp) {
        most = ox_reshape(m, ox_inner(m, name, "most"), most, ox_shape_of(m, x));
        TRY(ox_f32_add(m, name, x, most, &x));
    }
    ox_set_tensor(m, 0, x, false);
    return ST_OK;
}

/* ReduceL1, ReduceL2, ReduceSumSquare in float32: the sum of |x| or of x * x, its root. */
enum status ox_reduce_norm(struct ox *m)
{
    const bool keep = ox_attr_int(m, "keepdims", 1) != 0;
    const char *name = ox_out(m, 0)->name;
    uint32_t x, mask;

    if (is_known(m))
        return reduce_known(m);
    TRY(ox_float_input(m, 0, "input", &x));
    TRY(read_axes(m, m->g->tensor[x]->rank, &mask));
    if (strstr(m->op, "L1"))
        TRY(ox_f32_abs(m, ox_inner(m, name, "magnitudes"), x, &x));
    else
        TRY(ox_f32_mul(m, ox_inner(m, name, "squares"), x, x, &x));
    if (mask != 0)
        x = ox_f32_sum(m, ox_inner(m, name, "sum"), x, mask, keep);
    if (strstr(m->op, "L2"))
        TRY(ox_f32_sqrt(m, name, x, &x));
    ox_set_tensor(m, 0, x, false);
    return ST_OK;
}

/* Quantised values have the order of their values. */
enum status ox_arg(struct ox *m)
{
    const bool keep = ox_attr_int(m, "keepdims", 1) != 0;
    const enum ir_opcode opcode = m->opcode;
    struct ox_value *x;
    struct ir_op *op;
    uint32_t axis, out;

    TRY(ox_values(m, &x));
    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", 0), m->g->tensor[x->tensor]->rank, &axis));
    out = ox_tensor(m, ox_out(m, 0)->name, IR_I64,
                    reduced_shape(ox_shape_of(m, x->tensor), 1u << axis, keep), NULL);
    op = ox_op(m, opcode, 1, &x->tensor, out);
    op->attr[IR_AXIS] = (int32_t)axis;
    op->attr[IR_KEEP_DIMS] = keep;
    ox_set_tensor(m, 0, out, false);
    return ST_OK;
}

/* Input `i` as one constant integer. */
static enum status one_integer(struct ox *m, uint32_t i, const char *what, int64_t *v)
{
    const struct ox_const *c;

    TRY(ox_want_const(m, i, what, &c));
    if (c->n != 1 || (c->type != OX_INT64 && c->type != OX_INT32))
        return FAIL(m->d, ST_MODEL, "%s: expected one integer, found %llu of %s", what,
                    (unsigned long long)c->n, ox_type_name(c->type));
    *v = ox_int(c, 0);
    return ST_OK;
}

/* Sums of int32 and int64 wrap; all else is float32. */
enum status ox_cumsum(struct ox *m)
{
    const char *name = ox_out(m, 0)->name;
    uint32_t x, axis, out;
    struct ir_op *op;
    int64_t k;

    TRY(ox_number_input(m, 0, "input", &x));
    TRY(one_integer(m, 1, "axis", &k));
    TRY(ox_axis(m, "axis", k, m->g->tensor[x]->rank, &axis));
    out = ox_tensor(m, name, m->g->tensor[x]->type, ox_shape_of(m, x), NULL);
    op = ox_op(m, m->opcode, 1, &x, out);
    op->attr[IR_AXIS] = (int32_t)axis;
    op->attr[IR_EXCLUSIVE] = ox_attr_int(m, "exclusive", 0) != 0;
    op->attr[IR_REVERSE] = ox_attr_int(m, "reverse", 0) != 0;
    ox_set_tensor(m, 0, out, false);
    return ST_OK;
}

/* Values and places, always in order. Quantised values have the order of their values. */
enum status ox_top_k(struct ox *m)
{
    struct ox_value *x;
    struct ox_shape s;
    uint32_t axis;
    int64_t k;

    TRY(ox_values(m, &x));
    s = ox_shape_of(m, x->tensor);
    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", -1), s.rank, &axis));
    TRY(one_integer(m, 1, "k", &k));
    if (k < 1 || k > s.dim[axis])
        return FAIL(m->d, ST_MODEL, "k: expected 1 to %d, found %lld", s.dim[axis], (long long)k);
    s.dim[axis] = (int32_t)k;
    for (uint32_t i = 0; i < 2 && i < m->node->n_output; i++) {
        uint32_t out;
        struct ir_op *op;

        if (!*m->node->output[i])
            continue;
        out = i == 0 ? ox_like(m, ox_out(m, i)->name, x->tensor, s)
                     : ox_tensor(m, ox_out(m, i)->name, IR_I64, s, NULL);
        op = ox_op(m, m->opcode, 1, &x->tensor, out);
        op->attr[IR_AXIS] = (int32_t)axis;
        op->attr[IR_REVERSE] = ox_attr_int(m, "largest", 1) == 0;
        ox_set_tensor(m, i, out, i == 0 && x->real);
    }
    return ST_OK;
}
