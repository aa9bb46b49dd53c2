/* ref_islands_make.c - the operators of a deferred result: integers where docs/ONNX.md's rule
 * allows, else float32. Images are [N,H,W,C] inside. */
#include <math.h>
#include <string.h>

#include "ref_islands_own.h"

enum { MAX_GROUPS = 1024, MAX_POOL_WEIGHTS = 1 << 24 };

/* Return true if integers would round a float32 intermediate; only asked in ONNX's own rounding. */
static bool rounds_more(const struct isl *s, const struct isl_deferred *p)
{
    int exponent;

    if (p->opcode == IR_OP_TRANSPOSE_CONV)
        return true;
    for (int32_t c = 0; p->bias != NULL && p->sums == NULL && c < p->w.dim[0]; c++) {
        const double v = isl_bias_units(s, p, c);

        if (fabs(v - rint(v)) > 1.0 / 1024)
            return true;
    }
    return p->opcode == IR_OP_AVERAGE_POOL2D && !p->whole_image &&
           frexpf(s->to->tensor[p->in[0]]->quant.scale[0], &exponent) != 0.5f;
}

static bool fits_integers(const struct isl *s, const struct isl_deferred *p)
{
    const int64_t cells = (int64_t)p->attr[IR_KERNEL_H] * p->attr[IR_KERNEL_W];

    for (int32_t c = 0; p->bias != NULL && p->sums == NULL && c < p->w.dim[0]; c++)
        if (!(fabs(rint(isl_bias_units(s, p, c))) <= INT32_MAX))
            return false;
    if (p->opcode == IR_OP_CONV2D && isl_groups(s, p) > MAX_GROUPS &&
        isl_groups(s, p) != s->to->tensor[p->in[0]]->dim[1])
        return false;
    if (p->opcode == IR_OP_AVERAGE_POOL2D && p->counts_pads && isl_has_pads(p) &&
        cells > MAX_POOL_WEIGHTS / p->y->dim[1])
        return false;
    for (uint32_t i = 0; i < p->n_in && (p->opcode == IR_OP_MAXIMUM || p->opcode == IR_OP_MINIMUM);
         i++)
        if (s->to->tensor[p->in[i]]->role == IR_CONST)
            return false;
    return true;
}

/* --- one function a kind of operator; images are in ref_islands_image.c --- */

uint32_t isl_make_dense(struct isl *s, const struct isl_deferred *p, const struct isl_want *want)
{
    uint32_t in[3] = {isl_result_operand(s, p, want, 0), isl_weights_const(s, p, want, false),
                      isl_bias_const(s, p, want)};
    const uint32_t out = isl_tensor(s, want->name, want->type, p->y->rank, p->y->dim, want->q);

    isl_set_attributes(isl_op(s, p->opcode, in[2] == IR_NONE ? 2 : 3, in, out), p);
    return out;
}

/* Make an operator whose operands must have the result's scale: joined parts, compared values. */
static uint32_t make_of_one_scale(struct isl *s, const struct isl_deferred *p,
                                  const struct isl_want *want)
{
    uint32_t *in = ARENA_ARRAY(s->arena, uint32_t, p->n_in), out;

    for (uint32_t i = 0; i < p->n_in; i++) {
        in[i] = isl_result_operand(s, p, want, i);
        if (want->type != IR_F32)
            in[i] = isl_rescale(s, isl_inner(s, s->to->tensor[in[i]]->name, "rescaled"), in[i],
                                want->type, want->q);
    }
    out = isl_tensor(s, want->name, want->type, p->y->rank, p->y->dim, want->q);
    isl_set_attributes(isl_op(s, p->opcode, p->n_in, in, out), p);
    return out;
}

uint32_t isl_make_concat(struct isl *s, const struct isl_deferred *p, const struct isl_want *want)
{
    return make_of_one_scale(s, p, want);
}

uint32_t isl_make_extremum(struct isl *s, const struct isl_deferred *p, const struct isl_want *want)
{
    return make_of_one_scale(s, p, want);
}

/* Along dimension IR_AXIS; the operators want it last. */
uint32_t isl_make_softmax(struct isl *s, const struct isl_deferred *p, const struct isl_want *want)
{
    const uint32_t rank = p->y->rank, axis = (uint32_t)p->attr[IR_AXIS];
    struct isl_deferred plain = *p;
    uint32_t x = isl_result_operand(s, p, want, 0), out;
    int32_t perm[IR_MAX_RANK];

    plain.attr[IR_AXIS] = 0;
    for (uint32_t i = 0; i < rank; i++)
        perm[i] = (int32_t)i;
    perm[axis] = (int32_t)rank - 1;
    perm[rank - 1] = (int32_t)axis;
    if (axis != rank - 1)
        x = isl_transpose(s, isl_inner(s, want->name, "last"), x, perm);
    out = isl_tensor(s, axis == rank - 1 ? want->name : isl_inner(s, want->name, "last"),
                     want->type, rank, s->to->tensor[x]->dim, want->q);
    isl_set_attributes(isl_op(s, p->opcode, 1, &x, out), &plain);
    return axis == rank - 1 ? out : isl_transpose(s, want->name, out, perm);
}

/* One operand, or two of one type. */
static uint32_t make_plain(struct isl *s, const struct isl_deferred *p, const struct isl_want *want)
{
    uint32_t in[2] = {isl_result_operand(s, p, want, 0)}, out;
    const struct ir_tensor *a = s->to->tensor[in[0]], *b;

    if (p->n_in > 1) {
        in[1] = isl_result_operand(s, p, want, 1);
        b = s->to->tensor[in[1]];
        if (b->type != a->type) {
            const struct ir_quant q = isl_one_scale(
                s, b->quant.scale[0], b->quant.zero_point[0] + (a->type == IR_U8 ? 128 : -128));

            in[1] = isl_rescale(s, isl_inner(s, b->name, "moved"), in[1], a->type, &q);
        }
    }
    out = isl_tensor(s, want->name, want->type, p->y->rank, p->y->dim, want->q);
    isl_set_attributes(isl_op(s, p->opcode, p->n_in, in, out), p);
    return out;
}

static const struct {
    isl_maker *make;
} makers[] = {
#define OPERATOR(code, name, columns) {columns},
#define DEFERRED(fn)                  isl_make_##fn
#include "operators/operators.def"
};

static uint32_t make(struct isl *s, const struct isl_deferred *p, const struct isl_want *want)
{
    isl_maker *of_kind = makers[p->opcode].make;

    return of_kind != NULL ? of_kind(s, p, want) : make_plain(s, p, want);
}

/* The operator, and its clamp if it has no attribute for it. */
static uint32_t make_clamped(struct isl *s, const struct isl_deferred *p,
                             const struct isl_want *want)
{
    struct isl_want inside = *want;
    const struct ir_tensor *t;
    uint32_t x, y;

    if (!isl_is_clamped(p) || ir_op_info(p->opcode)->fuses_clamp ||
        ir_op_info(p->opcode)->activation == IR_ACT_CLIP)
        return make(s, p, want);
    inside.name = isl_inner(s, want->name, "unclamped");
    x = make(s, p, &inside);
    t = s->to->tensor[x];
    y = isl_tensor(s, want->name, t->type, t->rank, t->dim, &t->quant);
    isl_set_bounds(isl_op_clip(s, 1, &x, y)->attr, p);
    return y;
}

static enum status make_float(struct isl *s, const struct isl_deferred *p, uint32_t *id)
{
    const struct isl_want want = {p->y->name, IR_F32, NULL};
    const uint32_t row = s->row;

    s->row = p->row;
    if (p->opcode == IR_OP_TRANSPOSE_CONV && isl_groups(s, p) > MAX_GROUPS)
        return FAIL(s->d, ST_UNSUPPORTED, "expected at most %d groups", MAX_GROUPS);
    *id = make_clamped(s, p, &want);
    s->row = row;
    return ST_OK;
}

enum status isl_make(struct isl *s, const struct isl_deferred *p, const char *name,
                     enum ir_type type, const struct ir_quant *q, uint32_t *id)
{
    const bool rescales = ir_op_info(p->opcode)->onnx_one_scale;
    const enum ir_type own = rescales ? type : s->to->tensor[p->in[0]]->type;
    struct ir_quant inside = *q;
    struct isl_want want = {name, own, &inside};
    const uint32_t row = s->row;
    uint32_t real;

    if (isl_is_float(s, p) || (s->exact && p->attr[IR_QLINEAR] == 0 && rounds_more(s, p)) ||
        !fits_integers(s, p)) {
        TRY(make_float(s, p, &real));
        *id = isl_rescale(s, name, real, type, q);
        return ST_OK;
    }
    s->row = p->row;
    if (own != type) {
        inside = isl_one_scale(s, q->scale[0], q->zero_point[0] + (own == IR_U8 ? 128 : -128));
        want.name = isl_inner(s, name, ir_type_name(own));
    }
    *id = make_clamped(s, p, &want);
    *id = isl_rescale(s, name, *id, type, q);
    s->row = row;
    return ST_OK;
}

/* --- values of the file as operands --- */

/* Code 1 or -1, or 0, of a scale of its own. */
static uint32_t number(struct isl *s, const struct ir_tensor *t, float v)
{
    const struct ir_quant q = isl_one_scale(s, v != 0 ? fabsf(v) : 1, 0);
    int8_t *one = arena_alloc(s->arena, 1);

    *one = (int8_t)((v > 0) - (v < 0));
    return isl_const(s, t->name, IR_I8, t->rank, t->dim, one, &q);
}

enum status isl_settle(struct isl *s, uint32_t file_id)
{
    const struct isl_value *v = isl_value(s, file_id);
    uint32_t id;

    if (v->kind == ISL_UNKNOWN)
        return FAIL(s->d, ST_INTERNAL, "'%.80s' is read before it is computed",
                    s->from->tensor[file_id]->name);
    if (v->kind != ISL_DEFERRED)
        return ST_OK;
    TRY(make_float(s, v->deferred, &id));
    isl_set_tensor(s, file_id, id);
    return ST_OK;
}

enum status isl_float(struct isl *s, uint32_t file_id, uint32_t *id)
{
    struct isl_value *v = isl_value(s, file_id);

    TRY(isl_settle(s, file_id));
    if (v->kind == ISL_QUANTISED && v->real == 0)
        v->real = isl_as_float(s, v->id) + 1;
    *id = v->kind == ISL_QUANTISED ? v->real - 1 : v->id;
    return ST_OK;
}

enum status isl_operand(struct isl *s, uint32_t file_id, uint32_t *id)
{
    const struct isl_value *v = isl_value(s, file_id);
    const struct ir_tensor *t;
    float f;

    TRY(isl_settle(s, file_id));
    *id = v->id;
    t = s->to->tensor[v->id];
    if (t->role != IR_CONST)
        return ST_OK;
    if (v->kind == ISL_QUANTISED && (t->quant.n != 1 || t->type == IR_I32)) {
        *id = isl_float_const(s, t);
    } else if (v->kind == ISL_TENSOR && t->type == IR_F32 && ir_elements(t) == 1) {
        memcpy(&f, t->data, sizeof f);
        if (isfinite(f))
            *id = number(s, t, f);
    }
    return ST_OK;
}
