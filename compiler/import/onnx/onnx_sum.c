/* onnx_sum.c - sums of quantised values and a product that waits: a residual or a computed bias without
 * QuantizeLinear before it. in: a deferred sum with a deferred operand, and the scale of its result.
 * out: that operand in a scale of its own, in which its rounding keeps the sum within a step
 * (docs/ONNX.md, rule 12), or in float32. */
#include <math.h>

#include "onnx_sum.h"

struct range {
    double low, high;
};

/* Return true for values that are quantised, or one number. */
static bool is_quantised(const struct ox *m, const struct ox_value *v)
{
    return v && (v->kind != OX_CONST || v->real || v->wide || v->c.n == 1) &&
           (v->kind != OX_TENSOR || m->g->tensor[v->tensor]->type != IR_F32);
}

uint32_t ox_waiting_operand(const struct ox *m, enum ir_opcode opcode,
                            const struct ox_value *const v[2])
{
    uint32_t at = 2;

    if (ir_op_info(opcode)->sum == 0 || m->options->exact || m->options->literal)
        return 2;
    for (uint32_t i = 0; i < 2; i++) {
        if (!v[i] || v[i]->kind != OX_PENDING || v[i]->n_use != 1 ||
            !ir_op_info(v[i]->deferred->opcode)->has_macs || ox_is_float(m, v[i]->deferred))
            continue;
        if (at != 2)
            return 2; /* both: neither range is known */
        at = i;
    }
    return at < 2 && is_quantised(m, v[1 - at]) ? at : 2;
}

/* Return the real values that a quantised tensor can have. */
static struct range values_of(enum ir_type type, const struct ir_quant *q,
                              const struct ir_tensor *t)
{
    const int32_t lowest = ir_least_code(type), highest = ir_greatest_code(type);
    const double scale = (double)q->scale[0];
    int32_t low = lowest, high = highest;

    if (t && t->role == IR_CONST) {
        low = highest;
        high = lowest;
        for (uint64_t i = 0; i < ir_elements(t); i++) {
            const int32_t code = ir_code_at(t, i);
            low = code < low ? code : low;
            high = code > high ? code : high;
        }
    }
    return (struct range){scale * (low - q->zero_point[0]), scale * (high - q->zero_point[0])};
}

const char *ox_waiting_scale(struct ox *m, const struct ox_deferred *p, enum ir_type type,
                             const struct ir_quant *q, bool wide, struct ir_quant *own)
{
    const uint32_t at = p->late_at;
    const int32_t sign[2] = {1, ir_op_info(p->opcode)->sum};
    const struct ir_tensor *other = m->g->tensor[p->in[1 - at]];
    const struct range y = values_of(type, q, NULL),
                       c = values_of(other->type, &other->quant, other);
    const double first = fmin(fmax(y.low, (double)p->low), (double)p->high);
    const double last = fmin(fmax(y.high, (double)p->low), (double)p->high);
    struct range r = {first - (sign[1 - at] > 0 ? c.high : -c.low),
                      last - (sign[1 - at] > 0 ? c.low : -c.high)};
    float *scale = ARENA_ARRAY(m->arena, float, 1);
    int32_t *zero = ARENA_ARRAY(m->arena, int32_t, 1);

    if (sign[at] < 0)
        r = (struct range){-r.high, -r.low};
    r = (struct range){fmin(r.low, 0), fmax(r.high, 0)};
    *scale = (float)(wide ? fmax(-r.low, r.high) / INT16_MAX : (r.high - r.low) / UINT8_MAX);
    if (!(*scale > 0) || (double)*scale * 128 >= (double)q->scale[0] * 255)
        return arena_printf(m->arena,
                            "a step of the operand that is not a product is %.3g steps of the "
                            "result: expected less than 1",
                            (double)other->quant.scale[0] / (double)q->scale[0]);
    if (!wide)
        *zero = (int32_t)lround((other->type == IR_I8 ? -128 : 0) - r.low / (double)*scale);
    *own = (struct ir_quant){1, 0, scale, zero};
    return NULL;
}
