/* ref_islands_wide.c - results of quantised values of 16 bits with zero point 0, under the conditions of docs/ONNX.md's
 * rule: operators of TFLite's int16x8. Quantised 8 bits among the operands are brought to int16. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ref_islands_own.h"

enum { GROUPS = 1024, POOL_WEIGHTS = 1 << 24, MEAN_VALUES = 65535, COPIES = 3 /* of 255 */ };

static const struct ir_tensor *operand(const struct isl *s, const struct isl_deferred *p,
                                       uint32_t i)
{
    return s->to->tensor[p->in[i]];
}

static double scale(const struct ir_tensor *t)
{
    return (double)t->quant.scale[0];
}

bool isl_is_far(const struct ir_tensor *x, const struct ir_quant *q)
{
    return !(scale(x) / (double)q->scale[0] < 16384);
}

static bool is_pool(const struct isl_deferred *p)
{
    return !p->has_weights && ir_op_has(p->opcode, IR_KERNEL_H);
}

/* --- conditions --- */

/* The largest result in steps of q is below 2^30, and its sum below 2^46. */
static bool reaches(double value, double sum, const struct ir_quant *q)
{
    return value < 1073741824.0 * (double)q->scale[0] && sum < 70368744177664.0;
}

static bool product_fits(const struct isl *s, const struct isl_deferred *p,
                         const struct ir_quant *q)
{
    const size_t each = (size_t)p->w.dim[1] * (size_t)p->w.dim[2] * (size_t)p->w.dim[3];

    for (int32_t c = 0; c < p->w.dim[0]; c++) {
        const int8_t *w = (const int8_t *)p->w.data + (size_t)c * each;
        int64_t all = 0;
        double sum;

        for (size_t i = 0; i < each; i++)
            all += abs(w[i]);
        sum = (double)all * 32768;
        if (p->bias != NULL || p->sums != NULL)
            sum += fabs(rint(isl_bias_units(s, p, c)));
        if (!reaches(sum * (scale(operand(s, p, 0)) * (double)p->w.scale[p->w.n_scale > 1 ? c : 0]),
                     sum, q))
            return false;
    }
    return true;
}

static bool mean_fits(const struct isl *s, const struct isl_deferred *p)
{
    if (is_pool(p))
        return (int64_t)p->attr[IR_KERNEL_H] * p->attr[IR_KERNEL_W] <= MEAN_VALUES;
    return !ir_op_has(p->opcode, IR_KEEP_DIMS) ||
           ir_elements(operand(s, p, 0)) / ir_elements(p->y) <= MEAN_VALUES;
}

static bool fits(const struct isl *s, const struct isl_deferred *p, const struct ir_quant *q)
{
    const struct ir_tensor *a = operand(s, p, 0);

    if (p->has_weights)
        return product_fits(s, p, q);
    if (p->n_in == 1)
        return reaches(scale(a) * 32768, 0, q) && mean_fits(s, p);
    const struct ir_tensor *b = operand(s, p, 1);
    if (ir_op_info(p->opcode)->sum != 0)
        return reaches(fmax(scale(a), scale(b)) * 65536, 0, q);
    const double terms = ir_op_info(p->opcode)->has_macs ? a->dim[a->rank - 1] : 1;
    return reaches(scale(a) * scale(b) * (1073741824.0 * terms), 1073741824.0 * terms, q);
}

static bool has_shape(const struct isl *s, const struct isl_deferred *p, const struct ir_quant *q)
{
    const bool same = isl_same_quant(operand(s, p, 0), IR_I16, q);

    if (ir_op_has(p->opcode, IR_DIGITS) && ir_op_has(p->opcode, IR_KERNEL_H) &&
        isl_groups(s, p) > GROUPS && isl_groups(s, p) != operand(s, p, 0)->dim[1])
        return false;
    return !is_pool(p) || (isl_has_pads(p) ? !p->counts_pads : same) ||
           (int64_t)p->attr[IR_KERNEL_H] * p->attr[IR_KERNEL_W] <= POOL_WEIGHTS / p->y->dim[1];
}

/* --- operands --- */

static int32_t value_at(const struct ir_tensor *t, size_t i)
{
    const int32_t v = t->type == IR_U8 ? t->data[i] : ((const int8_t *)t->data)[i];

    return v - t->quant.zero_point[0];
}

/* A constant of 8 bits: as fine as int16 holds it, by a power of two of at most 2^14. */
static uint32_t wide_const(struct isl *s, const struct ir_tensor *t)
{
    const size_t n = (size_t)ir_elements(t);
    int16_t *v = ARENA_ARRAY(s->arena, int16_t, n);
    float unit = t->quant.scale[0];
    int32_t times = 1, greatest = 0;
    struct ir_quant q;

    for (size_t i = 0; i < n; i++)
        if (abs(value_at(t, i)) > greatest)
            greatest = abs(value_at(t, i));
    while (times < 16384 && 2 * times * greatest <= 32767 && unit / 2 >= 0x1p-126f) {
        times *= 2;
        unit /= 2;
    }
    for (size_t i = 0; i < n; i++)
        v[i] = (int16_t)(times * value_at(t, i));
    q = isl_one_scale(s, unit, 0);
    return isl_const(s, t->name, IR_I16, t->rank, t->dim, v, &q);
}

static uint32_t as_wide(struct isl *s, uint32_t id)
{
    const struct ir_tensor *t = s->to->tensor[id];
    const struct ir_quant q = isl_one_scale(s, t->quant.scale[0], 0);

    if (t->type != IR_I16 && t->role == IR_CONST)
        return wide_const(s, t);
    return isl_rescale(s, isl_inner(s, t->name, "wide"), id, IR_I16, &q);
}

/* Weights less their zero point, which int8 has: as far as that goes in a first part of each channel's, the rest in
 * others if there is any, for copies of the input's channels. False: in groups there are none. */
static bool without_zero(struct isl *s, struct isl_deferred *p)
{
    struct isl_weights *w = &p->w;
    const size_t each = (size_t)w->dim[1] * (size_t)w->dim[2] * (size_t)w->dim[3],
                 n = (size_t)w->dim[0] * each;
    int32_t *left = ARENA_ARRAY(s->arena, int32_t, n), parts = 0;
    int8_t *part[COPIES], *to;

    for (size_t i = 0; i < n; i++)
        left[i] =
            (w->type == IR_U8 ? ((const uint8_t *)w->data)[i] : ((const int8_t *)w->data)[i]) -
            w->zero[w->n_scale > 1 ? i / each : 0];
    for (bool more = true; more; parts++) {
        part[parts] = arena_alloc(s->arena, n);
        more = false;
        for (size_t i = 0; i < n; i++) {
            part[parts][i] = (int8_t)(left[i] > 127 ? 127 : left[i] < -128 ? -128 : left[i]);
            left[i] -= part[parts][i];
            more = more || left[i] != 0;
        }
    }
    if (parts > 1 &&
        ((ir_op_has(p->opcode, IR_KERNEL_H) && isl_groups(s, p) != 1) || p->copies > 1))
        return false;
    to = arena_alloc(s->arena, n * (size_t)parts);
    for (size_t i = 0; i < n * (size_t)parts; i++)
        to[i] = part[i / each % (size_t)parts][i / each / (size_t)parts * each + i % each];
    p->copies = parts > 1 ? parts : p->copies;
    w->dim[1] *= parts;
    w->type = IR_I8;
    w->data = to;
    w->zero = ARENA_ARRAY(s->arena, int32_t, w->n_scale);
    return true;
}

/* --- results --- */

/* x times one in scale q, within the bounds of `p`. */
static uint32_t bounded(struct isl *s, const struct isl_deferred *p, const char *name, uint32_t x,
                        const struct ir_quant *q)
{
    static const int16_t one = 16384;
    const struct ir_quant unit = isl_one_scale(s, 1.0f / 16384, 0);
    const struct ir_tensor *t = s->to->tensor[x];
    uint32_t in[2] = {x, isl_const(s, isl_inner(s, name, "one"), IR_I16, 0, NULL, &one, &unit)};
    const uint32_t y = isl_tensor(s, name, IR_I16, t->rank, t->dim, q);
    struct ir_op *op = isl_op_mul(s, 2, in, y);

    op->attr[IR_ACTIVATION] = IR_ACT_CLIP;
    isl_set_bounds(op->attr, p);
    return y;
}

/* Parts to be joined or values to be compared, all in scale q of `type`. */
static bool make_joined(struct isl *s, const struct isl_deferred *p, const struct isl_want *want,
                        uint32_t *id)
{
    for (uint32_t i = 0; i < p->n_in; i++)
        if (isl_is_far(operand(s, p, i), want->q) ||
            (operand(s, p, i)->role == IR_CONST && ir_op_info(p->opcode)->commutes))
            return false;
    if (isl_is_clamped(p))
        return false;
    *id = isl_make_operator(s, p, want);
    return true;
}

/* The scale of what the operator itself makes. */
static struct ir_quant own_scale(struct isl *s, const struct isl_deferred *p,
                                 const struct ir_quant *q)
{
    if (ir_op_info(p->opcode)->wide_entries != 0)
        return isl_one_scale(s, 1.0f / 32768, 0);
    return is_pool(p) && isl_has_pads(p) && !p->counts_pads ? operand(s, p, 0)->quant : *q;
}

/* The operator and its clamp, in scale q of int16. */
static bool make_int16(struct isl *s, const struct isl_deferred *p, const char *name,
                       const struct ir_quant *q, uint32_t *id)
{
    const struct ir_quant own = own_scale(s, p, q);
    const bool clip = ir_op_info(p->opcode)->activation == IR_ACT_CLIP;
    const struct isl_want want = {isl_inner(s, name, "unclamped"), IR_I16, &own};

    *id = p->in[0];
    if (!clip) {
        if (!fits(s, p, &own) || !has_shape(s, p, &own))
            return false;
        *id = isl_make_operator(s, p, &want);
    }
    if (!clip && (!isl_is_clamped(p) || ir_op_info(p->opcode)->fuses_clamp))
        return true;
    if (!reaches(scale(s->to->tensor[*id]) * 65536, 0, q))
        return false;
    *id = bounded(s, p, isl_inner(s, name, "clamped"), *id, q);
    return true;
}

bool isl_make_wide(struct isl *s, const struct isl_deferred *p, const struct isl_want *want,
                   uint32_t *id)
{
    const struct ir_quant finer = isl_one_scale(s, want->q->scale[0] / 128, 0);
    struct isl_deferred *y = arena_memdup(s->arena, p, sizeof *p);

    if (!isl_can_be_wide(p))
        return false;
    if (ir_op_info(p->opcode)->onnx_one_scale)
        return make_joined(s, p, want, id);
    if (p->has_weights && !without_zero(s, y))
        return false;
    y->in = ARENA_ARRAY(s->arena, uint32_t, p->n_in);
    for (uint32_t i = 0; i < p->n_in; i++)
        y->in[i] = as_wide(s, p->in[i]);
    if (!make_int16(s, y, want->name, want->type == IR_I16 ? want->q : &finer, id) ||
        isl_is_far(s->to->tensor[*id], want->q))
        return false;
    *id = isl_rescale(s, want->name, *id, want->type, want->q);
    return true;
}
