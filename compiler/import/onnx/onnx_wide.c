/* onnx_wide.c - results of operators on quantised values of 16 bits, zero point 0 (docs/ONNX.md, rule 23). in: a waiting
 * result that is int16 or has an operand of int16. out: the operator of TFLite's int16x8 arithmetic. Operands of 8 bits
 * become int16 in their own scale; a result of 8 bits is int16 in 1/128 of its scale before. */
#include "onnx_make.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FINER = 14, FINER_RESULT = 128, MOST_VALUES = 65535 };

static const int32_t none = 0;

static struct ir_quant one_scale(struct ox *m, float scale)
{
    return (struct ir_quant){1, 0, arena_memdup(m->arena, &scale, sizeof scale), &none};
}

/* --- operands --- */

static int32_t code_at(const struct ir_tensor *t, uint64_t i)
{
    return ir_code_at(t, i) - t->quant.zero_point[0];
}

/* Constant `t` of 8 bits as int16, its values times the greatest power of two that they leave room for. */
static uint32_t wide_const(struct ox *m, const struct ir_tensor *t)
{
    const uint64_t n = ir_elements(t);
    int16_t *to = ARENA_ARRAY(m->arena, int16_t, n);
    int32_t most = 0, finer = 0;
    struct ir_quant q;
    uint32_t id;

    for (uint64_t i = 0; i < n; i++)
        most = abs(code_at(t, i)) > most ? abs(code_at(t, i)) : most;
    while (finer < MOST_FINER && most << (finer + 1) <= INT16_MAX &&
           ldexpf(t->quant.scale[0], -finer - 1) >= FLT_MIN)
        finer++;
    for (uint64_t i = 0; i < n; i++)
        to[i] = (int16_t)(code_at(t, i) * (1 << finer));
    q = one_scale(m, ldexpf(t->quant.scale[0], -finer));
    id = ox_ir_const(m, t->name, IR_I16, t->rank, t->dim, to);
    m->g->tensor[id]->quant = q;
    return id;
}

static uint32_t widened(struct ox *m, uint32_t id)
{
    const struct ir_tensor *t = m->g->tensor[id];
    const struct ir_quant q = {1, 0, t->quant.scale, &none};

    if (t->type == IR_I16)
        return id;
    return t->role == IR_CONST ? wide_const(m, t)
                               : ox_quantized(m, ox_inner(m, t->name, "int16"), id, IR_I16, &q);
}

static int32_t weight_at(const struct ox_deferred *p, uint64_t i)
{
    const struct ir_quant *q = &p->weight_quant;
    const uint64_t each = p->weight.n / (uint64_t)p->weight.dim[0];

    return (int32_t)ox_int(&p->weight, i) - q->zero_point[q->n > 1 ? i / each : 0];
}

static int32_t in_byte(int32_t v)
{
    return v < INT8_MIN ? INT8_MIN : v > INT8_MAX ? INT8_MAX : v;
}

/* Make the weights int8 of zero point 0. Where they have no room there, the rest of each is for copies of the input's
 * channels; false: there are none. */
static bool centre_weights(struct ox *m, struct ox_deferred *p)
{
    const struct ox_deferred from = *p;
    const size_t each = (size_t)(from.weight.n / (uint64_t)from.weight.dim[0]);
    int32_t dim[4] = {0}, copies = 1;
    int8_t *to;

    for (uint64_t i = 0; i < from.weight.n; i++)
        while (weight_at(&from, i) > copies * INT8_MAX || weight_at(&from, i) < copies * INT8_MIN)
            copies++;
    if (copies > 1 && (p->group != 1 || p->copies != 1))
        return false;
    for (uint32_t i = 0; i < from.weight.rank; i++)
        dim[i] = from.weight.dim[i] * (i == 1 ? copies : 1);
    to = ox_new_const(m, &p->weight, OX_INT8, from.weight.rank, dim);
    for (size_t i = 0; i < (size_t)from.weight.n; i++) {
        int8_t *at = to + i / each * each * (size_t)copies + i % each;
        int32_t rest = weight_at(&from, i);

        for (int32_t k = 0; k < copies; k++, at += each) {
            *at = (int8_t)in_byte(rest);
            rest -= *at;
        }
    }
    p->weight_quant.zero_point = ARENA_ARRAY(m->arena, int32_t, p->weight_quant.n);
    p->copies *= copies;
    p->taps_filled *= copies;
    return true;
}

/* --- conditions --- */

/* Return the greatest magnitude of a product's results in real numbers, and in *sum that of its sums in their units. */
static double reach_of_weights(const struct ox *m, const struct ox_deferred *p, double *sum)
{
    const uint64_t each = p->weight.n / (uint64_t)p->weight.dim[0];
    const double s_in = (double)m->g->tensor[p->in[0]]->quant.scale[0];
    double reach = 0;

    for (int32_t c = 0; c < p->weight.dim[0]; c++) {
        const double unit = s_in * (double)p->weight_quant.scale[p->weight_quant.n > 1 ? c : 0];
        double most = 0;

        for (uint64_t i = (uint64_t)c * each; i < ((uint64_t)c + 1) * each; i++)
            most += fabs((double)ox_int(&p->weight, i)) * 32768;
        most += fabs(ox_bias_code(m, p, c));
        reach = fmax(reach, most * unit);
        *sum = fmax(*sum, most);
    }
    return reach;
}

static double reach_of(const struct ox *m, const struct ox_deferred *p, double *sum)
{
    const struct ir_tensor *a = m->g->tensor[p->in[0]];
    const double s_a = (double)a->quant.scale[0];
    const struct ir_op_info *info = ir_op_info(p->opcode);

    if (p->weight.n != 0)
        return reach_of_weights(m, p, sum);
    if (p->n_in < 2)
        return s_a * 32768;
    const double s_b = (double)m->g->tensor[p->in[1]]->quant.scale[0];

    if (info->sum != 0)
        return fmax(s_a, s_b) * 65536;
    *sum = 0x1p30 * (info->has_macs ? a->dim[a->rank - 1] : 1);
    return s_a * s_b * *sum;
}

/* Values that one of the result is the mean of. */
static uint64_t values_each(const struct ox *m, const struct ox_deferred *p)
{
    uint64_t n = 1;

    for (uint32_t i = 0; i < p->shape.rank; i++)
        n *= (uint64_t)p->shape.dim[i];
    return ir_op_has(p->opcode, IR_KEEP_DIMS) ? ir_elements(m->g->tensor[p->in[0]]) / n
           : ir_op_has(p->opcode, IR_KERNEL_H)
               ? (uint64_t)p->attr[IR_KERNEL_H] * (uint64_t)p->attr[IR_KERNEL_W]
               : 1;
}

enum status ox_check_step(struct ox *m, uint32_t id, const struct ir_quant *q)
{
    const double ratio = (double)m->g->tensor[id]->quant.scale[0] / (double)q->scale[0];

    if (ratio < 0x1p14)
        return ST_OK;
    return ST_UNSUPPORTED;
}

static enum status check_reach(struct ox *m, const struct ox_deferred *p, const struct ir_quant *q)
{
    double sum = 0;
    const double reach = reach_of(m, p, &sum);

    if (reach < 0x1p30 * (double)q->scale[0] && sum < 0x1p46 &&
        (p->weight.n != 0 || values_each(m, p) <= MOST_VALUES))
        return ST_OK;
    return ST_UNSUPPORTED;
}

/* --- results --- */

/* x times 1, clamped: in another scale. */
static enum status clamped(struct ox *m, const struct ox_deferred *p, const char *name, uint32_t x,
                           const struct ir_quant *q, uint32_t *id)
{
    static const int16_t number = 1 << MOST_FINER;
    uint32_t in[2] = {x, ox_ir_const(m, ox_inner(m, name, "one"), IR_I16, 0, NULL, &number)};
    struct ir_op *op;

    m->g->tensor[in[1]]->quant = one_scale(m, 1.0F / (float)number);
    TRY(ox_check_step(m, x, q));
    *id = ox_tensor(m, name, IR_I16, ox_shape_of(m, x), q);
    op = ox_make_mul(m, 2, in, *id);
    op->attr[IR_ACTIVATION] = IR_ACT_CLIP;
    memcpy(&op->attr[IR_CLIP_LOW_BITS], &p->low, sizeof p->low);
    memcpy(&op->attr[IR_CLIP_HIGH_BITS], &p->high, sizeof p->high);
    return ST_OK;
}

/* The scale that the operator itself makes for a result in `q`: a table's is fixed, that of averages over cells that
 * exist alone the input's. */
static struct ir_quant made_scale(struct ox *m, const struct ox_deferred *p,
                                  const struct ir_quant *q)
{
    const int32_t *a = p->attr;

    if (ir_op_info(p->opcode)->wide_entries != 0)
        return one_scale(m, 0x1p-15f);
    if (p->weight.n == 0 && ir_op_has(p->opcode, IR_KERNEL_H) && !p->count_pad &&
        (a[IR_PAD_TOP] != 0 || a[IR_PAD_LEFT] != 0 || a[IR_PAD_BOTTOM] != 0 ||
         a[IR_PAD_RIGHT] != 0))
        return m->g->tensor[p->in[0]]->quant;
    return *q;
}

/* Each operand has the result's scale: joined parts, compared values. */
static enum status finish_of_one_scale(struct ox *m, const struct ox_deferred *p, const char *name,
                                       enum ir_type type, const struct ir_quant *q, uint32_t *id)
{
    for (uint32_t i = 0; i < p->n_in; i++)
        TRY(ox_check_step(m, p->in[i], q));
    for (uint32_t i = 0; i < p->n_part; i++)
        TRY(ox_check_step(m, p->part[i], q));
    if (ox_is_clipped_after(p))
        return ST_UNSUPPORTED;
    return ox_make_result(m, p, name, type, q, id);
}

/* Operands and weights as int16x8 has them. */
static enum status widen(struct ox *m, struct ox_deferred *p, const char *name)
{
    for (uint32_t i = 0; i < p->n_in; i++)
        p->in[i] = widened(m, p->in[i]);
    if (p->weight.n != 0 && !centre_weights(m, p))
        return ST_UNSUPPORTED;
    if (p->copies != 1)
        p->in[0] = ox_copied(m, p, name);
    return ST_OK;
}

static enum status make(struct ox *m, const struct ox_deferred *p, const char *name,
                        const struct ir_quant *q, uint32_t *id)
{
    TRY(check_reach(m, p, q));
    return ox_make_result(m, p, name, IR_I16, q, id);
}

enum status ox_finish_wide(struct ox *m, const struct ox_deferred *p, const char *name,
                           enum ir_type type, const struct ir_quant *q, uint32_t *id)
{
    const bool clips = ir_op_info(p->opcode)->activation == IR_ACT_CLIP;
    const bool clipped = !clips && ox_is_clipped_after(p);
    const struct ir_quant result = type == IR_I16 ? *q : one_scale(m, q->scale[0] / FINER_RESULT);
    struct ox_deferred w = *p;
    struct ir_quant made;
    const char *inner;

    if (!ox_has_wide_form(p))
        return ST_UNSUPPORTED;
    m->op = p->op;
    m->row = IR_NONE;
    if (ir_op_info(p->opcode)->onnx_one_scale)
        return finish_of_one_scale(m, p, name, type, q, id);
    TRY(widen(m, &w, name));
    made = made_scale(m, &w, &result);
    inner = type == IR_I16 ? name : ox_inner(m, name, "int16");
    if (clips)
        *id = w.in[0];
    else
        TRY(make(m, &w,
                 clipped || !ox_same_quant(&made, &result) ? ox_inner(m, name, "own") : inner,
                 &made, id));
    if (clips || clipped)
        TRY(clamped(m, &w, inner, *id, &result, id));
    TRY(ox_check_step(m, *id, q));
    *id = ox_rescale(m, name, *id, q, type);
    return ST_OK;
}
