/* ref_islands_result.c - deferred results as operands: in integers where docs/ONNX.md's rule allows,
 * else in float32. Images are [N,H,W,C] inside. */
#include <math.h>
#include <string.h>

#include "ref_islands_own.h"

enum { MAX_GROUPS = 1024, MAX_POOL_WEIGHTS = 1 << 24, MAX_DENSE_WEIGHTS = 1 << 24 };

/* Return true if integers would round a float32 intermediate; only asked in ONNX's own rounding. */
static bool rounds_more(const struct isl *s, const struct isl_deferred *p)
{
    int exponent;

    if (ir_op_info(p->opcode)->onnx_rounds_more)
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
    if (p->opcode == IR_OP_TRANSPOSE_CONV && isl_groups(s, p) > 1 &&
        (isl_groups(s, p) > MAX_GROUPS ||
         (int64_t)p->w.dim[0] * p->w.dim[1] * p->w.dim[2] * p->w.dim[3] >
             MAX_DENSE_WEIGHTS / isl_groups(s, p)))
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

/* The operator, and its clamp if it has no attribute for it. */
static uint32_t make_clamped(struct isl *s, const struct isl_deferred *p,
                             const struct isl_want *want)
{
    struct isl_want inside = *want;
    const struct ir_tensor *t;
    uint32_t x, y;

    if (!isl_is_clamped(p) || ir_op_info(p->opcode)->fuses_clamp ||
        ir_op_info(p->opcode)->activation == IR_ACT_CLIP)
        return isl_make_operator(s, p, want);
    inside.name = isl_inner(s, want->name, "unclamped");
    x = isl_make_operator(s, p, &inside);
    t = s->to->tensor[x];
    y = isl_tensor(s, want->name, t->type, t->rank, t->dim, &t->quant);
    isl_set_bounds(isl_op_clip(s, 1, &x, y)->attr, p);
    return y;
}

static enum status make_float(struct isl *s, const struct isl_deferred *p, uint32_t *id);

/* Make the product that waits for sum `p` with its result in `want`: in its own scale, or in
 * float32. */
static enum status sum_made(struct isl *s, const struct isl_deferred **p,
                            const struct isl_want *want)
{
    const struct isl_deferred *product = (*p)->product;
    struct isl_deferred *y;
    struct ir_quant q;

    if (product == NULL)
        return ST_OK;
    const bool wide = want->type == IR_I16 || isl_reads_wide(s, *p) || isl_reads_wide(s, product);

    y = arena_memdup(s->arena, *p, sizeof *y);
    y->in = arena_memdup(s->arena, y->in, y->n_in * sizeof *y->in);
    y->product = NULL;
    if (want->type != IR_F32 && isl_product_scale(s, *p, want, wide, &q))
        TRY(isl_make(s, product, product->y->name, wide ? IR_I16 : s->to->tensor[y->in[0]]->type,
                     &q, &y->in[y->product_at]));
    else
        TRY(make_float(s, product, &y->in[y->product_at]));
    *p = y;
    return ST_OK;
}

static enum status make_float(struct isl *s, const struct isl_deferred *p, uint32_t *id)
{
    const struct isl_want want = {p->y->name, IR_F32, NULL};
    const uint32_t row = s->row;

    TRY(sum_made(s, &p, &want));
    s->row = p->row;
    if (p->opcode == IR_OP_TRANSPOSE_CONV && isl_groups(s, p) > MAX_GROUPS)
        return FAIL(s->d, ST_UNSUPPORTED, "expected at most %d groups", MAX_GROUPS);
    *id = isl_stays_float(s, p) ? isl_make_scaled_sums(s, p) : make_clamped(s, p, &want);
    s->row = row;
    return ST_OK;
}

/* Make a result of 16 bits, or one that reads such. */
static enum status wide_or_float(struct isl *s, const struct isl_deferred *p,
                                 const struct isl_want *want, uint32_t *id)
{
    const struct isl_deferred *whole = isl_finer_weights(s, p);
    const uint32_t row = s->row;
    uint32_t real;

    s->row = p->row;
    if (isl_is_float(s, whole) || !isl_make_wide(s, whole, want, id)) {
        s->row = row;
        TRY(make_float(s, p, &real));
        *id = isl_rescale(s, want->name, real, want->type, want->q);
    }
    s->row = row;
    return ST_OK;
}

enum status isl_make(struct isl *s, const struct isl_deferred *p, const char *name,
                     enum ir_type type, const struct ir_quant *q, uint32_t *id)
{
    const bool rescales = ir_op_info(p->opcode)->onnx_one_scale;
    const enum ir_type own = rescales ? type : s->to->tensor[p->in[0]]->type;
    const uint32_t row = s->row;
    const struct isl_deferred *whole;
    struct ir_quant inside = *q;
    struct isl_want want = {name, type, q};
    uint32_t real;

    TRY(sum_made(s, &p, &want));
    if (type == IR_I16 || isl_reads_wide(s, p))
        return wide_or_float(s, p, &want, id);
    whole = isl_finer_weights(s, isl_whole_weights(s, p, q));
    want = (struct isl_want){name, own, &inside};
    if (isl_is_float(s, whole) || (s->exact && p->attr[IR_QLINEAR] == 0 && rounds_more(s, p)) ||
        (!s->exact && ir_op_info(p->opcode)->of_rows && q->scale[0] * 511 <= 1) ||
        !fits_integers(s, whole)) {
        TRY(make_float(s, p, &real));
        *id = isl_rescale(s, name, real, type, q);
        return ST_OK;
    }
    s->row = p->row;
    if (own != type) {
        inside = isl_one_scale(s, q->scale[0], q->zero_point[0] + (own == IR_U8 ? 128 : -128));
        want.name = isl_inner(s, name, ir_type_name(own));
    }
    *id = make_clamped(s, whole, &want);
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

/* x * c for quantised x and one constant number c keeps x's values: their scale is |c| times x's, and
 * a negative c mirrors them. Return the operand that is x; IR_NONE: it is another result. */
static uint32_t scaled_operand(struct isl *s, const struct isl_deferred *p, struct ir_quant *q)
{
    const struct ir_tensor *x, *c;
    double factor;

    if (s->exact || p->opcode != IR_OP_MUL || p->attr[IR_QLINEAR] != 0 || isl_is_clamped(p) ||
        isl_is_float(s, p))
        return IR_NONE;
    x = s->to->tensor[p->in[0]];
    c = s->to->tensor[p->in[1]];
    if (x->role == IR_CONST) {
        c = x;
        x = s->to->tensor[p->in[1]];
    }
    if (x->role == IR_CONST || c->role != IR_CONST || ir_elements(c) != 1 ||
        ir_elements(x) != ir_elements(p->y))
        return IR_NONE;
    factor = (double)isl_values(s, c)[0] * (double)x->quant.scale[0];
    *q = isl_one_scale(s, (float)fabs(factor), x->quant.zero_point[0]);
    if (factor < 0 && x->type != IR_I16)
        *q = isl_one_scale(s, q->scale[0], (x->type == IR_I8 ? -1 : 255) - x->quant.zero_point[0]);
    return q->scale[0] > 0 && isfinite(q->scale[0]) ? x->id : IR_NONE;
}

/* Return true if int16 is multiplied by a number above 0. */
static bool is_positive(struct isl *s, const struct isl_deferred *p)
{
    const uint32_t k = s->to->tensor[p->in[0]]->role == IR_CONST ? 0 : 1;

    return s->to->tensor[p->in[1 - k]]->type == IR_I16 &&
           isl_values(s, s->to->tensor[p->in[k]])[0] > 0;
}

/* The values of tensor `id` as they are stored, in scale q. */
static uint32_t recoded(struct isl *s, const struct ir_tensor *y, uint32_t id,
                        const struct ir_quant *q)
{
    const uint32_t out = isl_tensor(s, y->name, s->to->tensor[id]->type, y->rank, y->dim, q);

    isl_op_reshape(s, 1, &id, out)->attr[IR_RECODE] = 1;
    return out;
}

enum status isl_settle(struct isl *s, uint32_t file_id)
{
    const struct isl_value *v = isl_value(s, file_id);
    struct ir_quant q;
    uint32_t id;

    if (v->kind == ISL_UNKNOWN)
        return FAIL(s->d, ST_INTERNAL, "'%.80s' is read before it is computed",
                    s->from->tensor[file_id]->name);
    if (v->kind != ISL_DEFERRED)
        return ST_OK;
    id = scaled_operand(s, v->deferred, &q);
    if (id != IR_NONE) {
        if (isl_reads_wide(s, v->deferred) && is_positive(s, v->deferred))
            id = recoded(s, v->deferred->y, id, &q);
        else
            TRY(isl_make(s, v->deferred, v->deferred->y->name, s->to->tensor[id]->type, &q, &id));
        s->value[file_id] = (struct isl_value){.kind = ISL_QUANTISED, .id = id};
        return ST_OK;
    }
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
