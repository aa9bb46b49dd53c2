/* ref_islands_layer.c - QUANTIZE of a normalisation of quantised values is LAYER_NORM, under the
 * conditions of docs/ONNX.md. The file has it as float operators: ONNX's own nodes are the same ones. */
#include <math.h>
#include <string.h>

#include "compiler/ir/formula.h"
#include "ref_islands_own.h"

/* Values of a row: of one group of an image; of several, of 128 pixels at least; of any other. */
enum { MOST_OF_ONE = 2000000, MOST_OF_SEVERAL = 1000000, ENOUGH_PIXELS = 128, MOST = 65535 };

struct found {
    uint32_t x, gamma, beta, epsilon; /* of the file; those without may be IR_NONE */
    bool uncentred;
    uint32_t axis;  /* of gamma and beta, and the rows' if there are no groups */
    int32_t length; /* of a row */
    int32_t groups; /* of channels: a row is the pixels of one */
};

static bool is_constant(const struct ir_match *m, uint32_t file_id)
{
    return isl_is_const(m->ctx, file_id);
}

static bool takes(const struct ir_match *m, const struct ir_op *op)
{
    (void)m;
    return !ir_op_has(op->opcode, IR_KEEP_DIMS) || op->attr[IR_KEEP_DIMS] != 0;
}

/* Return true if the file's tensor has `n` values, all along dimension `axis` of `rank`. */
static bool has_values(const struct isl *s, uint32_t file_id, uint64_t n, uint32_t rank,
                       uint32_t axis)
{
    const struct ir_tensor *t = s->from->tensor[file_id];

    return ir_elements(t) == n && (n == 1 || (uint64_t)ir_dim_back(t, rank - 1 - axis) == n);
}

/* Return true if the file's tensor is absent or this number. */
static bool may_be(const struct isl *s, uint32_t file_id, float number)
{
    const struct ir_tensor *t = file_id == IR_NONE ? NULL : s->from->tensor[file_id];

    return t == NULL ||
           (t->type == IR_F32 && ir_elements(t) == 1 && memcmp(t->data, &number, 4) == 0);
}

/* The file's constant number; NaN: it is not one. Without a tensor 0. */
static double number_of(const struct isl *s, uint32_t file_id)
{
    float v;

    if (file_id == IR_NONE)
        return 0;
    if (s->from->tensor[file_id]->type != IR_F32 || ir_elements(s->from->tensor[file_id]) != 1)
        return (double)NAN;
    memcpy(&v, s->from->tensor[file_id]->data, sizeof v);
    return (double)v;
}

/* A norm of quantised values is 0 or at least their step. Return true if a bound of it is below
 * that, and if what is added to it has no weight. */
static bool is_norm_alone(const struct isl *s, const struct ir_match *m)
{
    const struct isl_value *x = &s->value[ir_matched(m, 'x')];
    const double more = number_of(s, ir_matched(m, 'a'));
    double floor = number_of(s, ir_matched(m, 'm')), step = 0;
    float bound[2] = {0, INFINITY};

    if (x->kind == ISL_QUANTISED && s->to->tensor[x->id]->quant.n == 1)
        step = (double)s->to->tensor[x->id]->quant.scale[0];
    for (uint32_t i = 0; i < m->n_op; i++)
        if (ir_op_info(m->op[i]->opcode)->activation == IR_ACT_CLIP) {
            memcpy(&bound[0], &m->op[i]->attr[IR_CLIP_LOW_BITS], sizeof bound[0]);
            memcpy(&bound[1], &m->op[i]->attr[IR_CLIP_HIGH_BITS], sizeof bound[1]);
            floor = (double)bound[0];
        }
    return bound[1] == INFINITY && floor >= 0 && floor <= step && more >= 0 &&
           more * 1048576 <= step;
}

/* The dimensions that the formula's first mean or sum is over; the others must be over them too. */
static uint32_t reduced(const struct ir_match *m)
{
    uint32_t axes = 0;

    for (uint32_t i = m->n_op; i-- > 0;) {
        const struct ir_op *op = m->op[i];

        if (!ir_op_has(op->opcode, IR_KEEP_DIMS))
            continue;
        if (axes != 0 && (uint32_t)op->attr[IR_AXIS] != axes)
            return 0;
        axes = (uint32_t)op->attr[IR_AXIS];
    }
    return axes;
}

/* One dimension's values are a row (gamma's own, if there is one), or all pixels of a channel or a
 * group of channels of one image. */
static bool is_of_rows(const struct isl *s, const struct ir_match *m, const struct ir_tensor *y,
                       bool reshaped, struct found *f)
{
    const struct ir_tensor *x = s->from->tensor[ir_matched(m, 'x')];
    const uint32_t axes = reduced(m), rank = x->rank;

    f->length = 1;
    for (uint32_t i = 0; i < rank; i++)
        if ((axes >> i & 1) != 0) {
            f->length *= x->dim[i];
            f->axis = i;
        }
    if (axes == 0)
        return false;
    if (!reshaped && axes == 1u << f->axis &&
        (f->gamma == IR_NONE ||
         ir_dim_back(s->from->tensor[f->gamma], rank - 1 - f->axis) == f->length))
        return y->rank == rank;
    f->axis = 1;
    f->groups = x->dim[1];
    return axes == (1u << rank) - 4 && f->beta != IR_NONE && !f->uncentred && y->dim[0] == 1 &&
           x->dim[0] == 1 && (y->rank == 3 || y->rank == 4);
}

/* (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * gamma, and beta perhaps; or x in place of x
 * - mean(x), divided by the root or times one over it; or x divided by the root of its sum of
 * squares, and 0 for 0. */
static bool is_layer_norm(const struct isl *s, const struct ir_op *quantise, struct found *f)
{
#define CENTRED(x) "div(c = sub(" x ", mean(x)), sqrt(add(mean(mul(c, c)), #e)))"
    static const char *const formula[] = {
        "add(mul(" CENTRED("x") ", #g), #b)",
        "mul(" CENTRED("x") ", #g)",
        "add(mul(reshape(" CENTRED("x = reshape(q)") "), #g), #b)",
        "mul(#g, div(x, sqrt(add(#e, mean(mul(x, x))))))",
        "mul(#g, mul(x, div(#n, sqrt(add(#e, mean(mul(x, x)))))))",
        "div(x, sqrt(sum(mul(x, x))))",
        "select(not_equal(l = sqrt(sum(mul(x, x))), #o), div(x, l), #p)",
        "div(x, clip(sqrt(sum(mul(x, x)))))",
        "div(x, gather(clip(sqrt(sum(mul(x, x)))), #i))",
        "div(x, maximum(#m, sqrt(sum(mul(x, x)))))",
        "div(x, add(#a, sqrt(sum(mul(x, x)))))",
        NULL};
#undef CENTRED
    const struct ir_tensor *y = ir_out(s->from, quantise, 0);
    struct ir_match m = {.g = s->plain, .ctx = s, .takes = takes, .is_constant = is_constant};
    uint32_t i = 0;
    uint64_t n;

    while (formula[i] != NULL && !ir_match(&m, s->plain->op[quantise->id]->in[0], formula[i]))
        i++;
    if (formula[i] == NULL || !may_be(s, ir_matched(&m, 'n'), 1) ||
        !may_be(s, ir_matched(&m, 'o'), 0) || !may_be(s, ir_matched(&m, 'p'), 0))
        return false;
    *f = (struct found){.x = ir_matched(&m, i == 2 ? 'q' : 'x'),
                        .gamma = ir_matched(&m, 'g'),
                        .beta = ir_matched(&m, 'b'),
                        .epsilon = ir_matched(&m, 'e'),
                        .uncentred = i > 2};
    if (!is_of_rows(s, &m, y, i == 2, f) || !is_norm_alone(s, &m))
        return false;
    n = (uint64_t)y->dim[f->axis];
    return (f->epsilon == IR_NONE || has_values(s, f->epsilon, 1, 1, 0)) &&
           (f->gamma == IR_NONE || has_values(s, f->gamma, n, y->rank, f->axis)) &&
           (f->beta == IR_NONE || has_values(s, f->beta, n, y->rank, f->axis));
}

/* The file's constant as float32 [n]; NULL: a value is not finite. IR_NONE: all
 * are `otherwise`. */
static enum status read_row(struct isl *s, uint32_t file_id, int32_t n, float otherwise,
                            const float **row)
{
    float *to = ARENA_ARRAY(s->arena, float, (size_t)n);
    const double *v = NULL;

    *row = to;
    for (int32_t i = 0; i < n; i++)
        to[i] = otherwise;
    if (file_id == IR_NONE)
        return ST_OK;
    TRY(isl_read_numbers(s, file_id, n, &v));
    for (int32_t i = 0; v != NULL && i < n; i++)
        to[i] = (float)v[i];
    for (int32_t i = 0; i < n; i++)
        if (v == NULL || !isfinite(to[i]))
            *row = NULL;
    return ST_OK;
}

/* Return true if half a unit of its sum, for the greatest gamma, is below half a step of y. */
static bool is_precise(const struct ir_tensor *x, const struct ir_tensor *y, const float *gamma,
                       int32_t n, float epsilon)
{
    const double s = (double)x->quant.scale[0], e = (double)epsilon / (s * s);
    const double inverse = 1 / sqrt(0.5 * 0.5 + e);
    double most = 0;

    for (int32_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)gamma[i]));
    return most * inverse < 127 * (double)y->quant.scale[0];
}

/* Return true if the row is short enough. */
static bool is_held(const struct ir_tensor *y, const struct found *f)
{
    if (f->groups == 1)
        return f->length <= MOST_OF_ONE;
    if (f->groups > 1 && ir_elements(y) / (uint64_t)y->dim[1] >= ENOUGH_PIXELS)
        return f->length <= MOST_OF_SEVERAL;
    return f->length <= MOST;
}

/* `id` with dimension `from` as dimension `to`. */
static uint32_t with_axis_at(struct isl *s, const char *name, uint32_t id, uint32_t from,
                             uint32_t to)
{
    const uint32_t rank = s->to->tensor[id]->rank;
    int32_t perm[IR_MAX_RANK];
    uint32_t n = 0;

    for (uint32_t i = 0; i < rank; i++) {
        if (n == to)
            perm[n++] = (int32_t)from;
        if (i != from)
            perm[n++] = (int32_t)i;
    }
    if (n == to)
        perm[n] = (int32_t)from;
    return from == to ? id : isl_transpose(s, name, id, perm);
}

enum status isl_layer_norm(struct isl *s, const struct ir_op *quantise, bool *done)
{
    const struct ir_tensor *y = ir_out(s->from, quantise, 0), *x;
    const float *gamma, *beta, *epsilon;
    struct found f;
    uint32_t in[3], id;
    struct ir_op *op;
    int32_t n;

    if (s->exact || !is_layer_norm(s, quantise, &f) || !is_held(y, &f) ||
        isl_value(s, f.x)->kind != ISL_QUANTISED)
        return ST_OK;
    x = s->to->tensor[isl_value(s, f.x)->id];
    n = y->dim[f.axis];
    TRY(read_row(s, f.gamma, n, (float)(1 / sqrt(f.length)), &gamma));
    TRY(read_row(s, f.beta, n, 0, &beta));
    TRY(read_row(s, f.epsilon, 1, 0, &epsilon));
    if (gamma == NULL || beta == NULL || epsilon == NULL || !(*epsilon >= 0) ||
        x->type != y->type || x->type == IR_I16 || x->role == IR_CONST ||
        !is_precise(x, y, gamma, n, *epsilon))
        return ST_OK;
    in[0] = with_axis_at(s, isl_inner(s, y->name, "rows"), x->id, f.axis, y->rank - 1);
    in[1] = isl_const(s, "gamma", IR_F32, 1, &n, gamma, NULL);
    in[2] = isl_const(s, "beta", IR_F32, 1, &n, beta, NULL);
    id = isl_tensor(s, f.axis + 1 == y->rank ? y->name : isl_inner(s, y->name, "normal"), y->type,
                    y->rank, s->to->tensor[in[0]]->dim, &y->quant);
    op = isl_op_layer_norm(s, 3, in, id);
    memcpy(&op->attr[IR_EPSILON_BITS], epsilon, sizeof *epsilon);
    op->attr[IR_UNCENTRED] = f.uncentred;
    op->attr[IR_GROUPS] = f.groups;
    id = with_axis_at(s, y->name, id, y->rank - 1, f.axis);
    s->value[quantise->out[0]] = (struct isl_value){.kind = ISL_TENSOR, .id = id};
    *done = true;
    return ST_OK;
}
