/* ref_real_scale.c - constants of ONNX's rounding: float32 scales, half to even. k->real by
 * operator, z and quantised values those of the file (of a legalised graph:
 * legalise/float_requant.c):
 *   weights   s_x * s_w[c] / s_y      rint(sum * real[c]) + z_y
 *   ADD, SUB, MUL   {s_a, s_b, s_y}   rint((s_a (a - z_a) o s_b (b - z_b)) / s_y) + z_y
 *   the same with `qlinear`   ADD, SUB {s_a / s_y, s_b / s_y, z_y - (r_a z_a + r_b z_b), 0}
 *       rint(fma(r_a, a, fma(r_b, b, fixed)));  MUL {s_a s_b / s_y}
 *   average pool, MEAN, QUANTIZE   {s_x (1 of float32), s_y}
 *   SOFTMAX   {s_y, e^0, e^-s, .. e^-255s}, s = beta * s_x */
#include <math.h>

#include "reference/ref_constants.h"

static float *reals(const struct ref_maker *m, uint32_t n)
{
    float *real = ARENA_ARRAY(m->arena, float, n);

    m->k->real = real;
    m->k->n_real = n;
    return real;
}

static void real_weights(const struct ref_maker *m)
{
    const struct ir_quant *w = &m->b->quant;
    float *real = reals(m, w->n);

    for (uint32_t i = 0; i < w->n; i++) {
        const float product = ref_scale(m->x) * w->scale[i];

        real[i] = product / ref_scale(m->y);
    }
}

static void real_binary(const struct ref_maker *m)
{
    const float a = ref_scale(m->x), b = ref_scale(m->b), y = ref_scale(m->y);
    float *real = reals(m, 4), shift_a, shift_b;

    real[0] = a;
    real[1] = b;
    real[2] = y;
    if (m->op->attr[IR_QLINEAR] == 0)
        return;
    if (m->op->opcode == IR_OP_MUL) {
        real[0] = a * b;
        real[0] = real[0] / y;
        return;
    }
    real[0] = a / y;
    real[1] = b / y;
    shift_a = real[0] * (float)m->x->quant.zero_point[0];
    shift_b = real[1] * (float)m->b->quant.zero_point[0];
    real[2] = (float)m->y->quant.zero_point[0] - (shift_a + shift_b);
}

static void real_pair(const struct ref_maker *m)
{
    float *real = reals(m, 2);

    real[0] = m->x->type == IR_F32 ? 1 : ref_scale(m->x);
    real[1] = ref_scale(m->y);
}

static void real_softmax(const struct ref_maker *m)
{
    const double s = (double)ref_attr_float(m->op, IR_BETA_BITS) * (double)ref_scale(m->x);
    float *real = reals(m, 257);

    real[0] = ref_scale(m->y);
    for (int i = 0; i < 256; i++)
        real[1 + i] = (float)exp(-i * s);
}

static const struct {
    void (*real)(const struct ref_maker *m);
} makers[] = {
#define OPERATOR(code, name, columns) {columns},
#define FIXED_ONNX(fn)                real_##fn
#include "operators/operators.def"
};

bool ref_real_scale(const struct ref_maker *m)
{
    if (makers[m->op->opcode].real == NULL)
        return false;
    makers[m->op->opcode].real(m);
    return true;
}
