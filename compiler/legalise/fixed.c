/* fixed.c - float scales to fixed point: the only place besides requant.c and lut.c where the
 * compiler computes with floats. Formulas: NUMERICS.md, "Building blocks". */
#include <math.h>

#include "legalise.h"

/* m = round_half_away(q * 2^31) of d = q * 2^shift, 0.5 <= q < 1. */
struct lgl_fixed_scale lgl_fixed_scale(double real)
{
    int shift;
    int64_t m;

    if (!(real > 0))
        return (struct lgl_fixed_scale){0, 0};
    if (isinf(real)) /* a product of scales may; no operator takes such a shift */
        return (struct lgl_fixed_scale){1 << 30, 127};
    m = (int64_t)round(frexp(real, &shift) * 2147483648.0);
    if (m == INT64_C(1) << 31) {
        m /= 2;
        shift++;
    }
    if (shift < -31)
        return (struct lgl_fixed_scale){0, 0};
    return (struct lgl_fixed_scale){(int32_t)m, (int8_t)(shift > 127 ? 127 : shift)};
}

/* zero point + x / scale in float32, within the type's range; halves go away from zero, or to even
 * as ONNX rounds. */
static int32_t code_of(const struct ir_tensor *t, enum lgl_rounding rounding, float x, int32_t low,
                       int32_t high)
{
    const float steps = x / t->quant.scale[0];
    const float code =
        (float)t->quant.zero_point[0] + (rounding == LGL_ROUND_ONNX ? rintf(steps) : roundf(steps));

    return code < (float)low ? low : code > (float)high ? high : (int32_t)code;
}

static int32_t least_code(const struct ir_tensor *t)
{
    return t->type == IR_U8 ? 0 : t->type == IR_I16 ? -32768 : -128;
}

static int32_t most_code(const struct ir_tensor *t)
{
    return t->type == IR_U8 ? 255 : t->type == IR_I16 ? 32767 : 127;
}

void lgl_clamp(const struct ir_tensor *t, struct ir_two_floats bounds, enum lgl_rounding rounding,
               int32_t *act_min, int32_t *act_max)
{
    const int32_t least = least_code(t), most = most_code(t);

    *act_min = bounds.a > -INFINITY ? code_of(t, rounding, bounds.a, least, most) : least;
    *act_max = bounds.b < INFINITY ? code_of(t, rounding, bounds.b, least, most) : most;
}

static float scale_of(const struct ir_tensor *t)
{
    return t->quant.scale[0];
}

/* Gates are 2^-12; products, the reference's float32. The last one brings a gate (2^-15) times the
 * tanh of the cell (2^-15) to the output. */
void lgl_lstm_scales(const struct ir_graph *g, const struct ir_op *op,
                     struct lgl_fixed_scale scale[9])
{
    const struct ir_tensor *w = ir_in(g, op, 1), *r = ir_in(g, op, 2);
    const float x = scale_of(ir_in(g, op, 0)), h = scale_of(ir_in(g, op, 4));
    const double unit = 1.0 / 32768;

    for (uint32_t i = 0; i < 4; i++) {
        scale[i] = lgl_fixed_scale((double)(w->quant.scale[i] * x * 4096));
        scale[4 + i] = lgl_fixed_scale((double)(r->quant.scale[i] * h * 4096));
    }
    scale[8] = lgl_fixed_scale((double)(float)(unit / (double)scale_of(ir_out(g, op, 0)) * unit));
}

/* x times feature weights to the state, state times time weights to the output; the reference's
 * float32 products. */
void lgl_svdf_scales(const struct ir_graph *g, const struct ir_op *op,
                     struct lgl_fixed_scale scale[2])
{
    const float x = scale_of(ir_in(g, op, 0)), state = scale_of(ir_in(g, op, 4));
    const float feature = x * scale_of(ir_in(g, op, 1)), time = state * scale_of(ir_in(g, op, 2));

    scale[0] = lgl_fixed_scale((double)(feature / state));
    scale[1] = lgl_fixed_scale((double)(time / scale_of(ir_out(g, op, 0))));
}
