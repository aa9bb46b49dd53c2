/* ref_islands_sum.c - sums of which one operand is a product that waits, under the conditions of
 * docs/ONNX.md: the product gets the scale in which it has just the values that the sum can show. */
#include <math.h>

#include "ref_islands_own.h"

static int32_t lowest(enum ir_type type)
{
    return type == IR_I16 ? -32768 : type == IR_I8 ? -128 : 0;
}

static int32_t highest(enum ir_type type)
{
    return type == IR_I16 ? 32767 : type == IR_I8 ? 127 : 255;
}

/* The least and the greatest value of quantised tensor `t`. */
static void extremes(const struct ir_tensor *t, double *least, double *greatest)
{
    int32_t low = lowest(t->type), high = highest(t->type);

    for (uint64_t i = 0; t->role == IR_CONST && i < ir_elements(t); i++) {
        int32_t v = t->type == IR_U8 ? t->data[i] : ((const int8_t *)t->data)[i];

        if (t->type == IR_I16)
            v = ((const int16_t *)(const void *)t->data)[i];
        if (i == 0 || v < low)
            low = v;
        if (i == 0 || v > high)
            high = v;
    }
    *least = (double)t->quant.scale[0] * (low - t->quant.zero_point[0]);
    *greatest = (double)t->quant.scale[0] * (high - t->quant.zero_point[0]);
}

static double clamped(const struct isl_deferred *p, double v)
{
    v = v < (double)p->low ? (double)p->low : v;
    return v > (double)p->high ? (double)p->high : v;
}

bool isl_product_scale(struct isl *s, const struct isl_deferred *p, const struct isl_want *want,
                       bool wide, struct ir_quant *q)
{
    const struct ir_tensor *c = s->to->tensor[p->in[0]];
    const bool subtracts = ir_op_info(p->opcode)->sum < 0;
    const double step = (double)want->q->scale[0];
    const int32_t zero = want->q->zero_point[0];
    const double low = clamped(p, step * (lowest(want->type) - zero));
    const double high = clamped(p, step * (highest(want->type) - zero));
    double least, greatest, from, to;
    float scale;

    extremes(c, &least, &greatest);
    if (!subtracts) {
        from = low - greatest;
        to = high - least;
    } else if (p->product_at == 0) {
        from = low + least;
        to = high + greatest;
    } else {
        from = least - high;
        to = greatest - low;
    }
    from = from > 0 ? 0 : from;
    to = to < 0 ? 0 : to;
    scale = wide ? (float)((to > -from ? to : -from) / 32767) : (float)((to - from) / 255);
    if (!(scale > 0) || (double)scale / 255 >= step / 128)
        return false;
    *q = isl_one_scale(
        s, scale, wide ? 0 : (int32_t)round((c->type == IR_U8 ? 0 : -128) - from / (double)scale));
    return true;
}
