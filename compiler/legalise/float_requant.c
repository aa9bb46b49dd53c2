/* float_requant.c - ONNX's own rounding: float32 constants in op->fixed.real instead of integers.
 * Their meaning by operator; rint is half to even, all in float32:
 *   conv2d, depthwise, fully connected   real[c] = s_in * s_w[c] / s_out
 *       rint(acc * real[c]) + z_out
 *   add, sub   {s_a, s_b, s_out}   rint((s_a * (a - z_a) +- s_b * (b - z_b)) / s_out) + z_out
 *   mul        {s_a, s_b, s_out}   rint((s_a * (a - z_a)) * (s_b * (b - z_b)) / s_out) + z_out
 *   add, sub with `qlinear` (com.microsoft QLinearAdd)   {r_a, r_b, fixed, offset}
 *       rint(fma(r_a, a + offset, fma(r_b, b + offset, fixed))) - offset, r = s / s_out,
 *       fixed = z_out - (r_a * z_a + r_b * z_b), zero points and quantised values those of the file
 *   mul with `qlinear`   {s_a * s_b / s_out}   rint((a - z_a) * (b - z_b) * real) + z_out
 *   average pool, mean   {s_in, s_out}   rint((sum of s_in * (x - z_in), in order) / n / s_out) + z_out;
 *       with `qlinear` the sum is of integers, times s_in / (s_out * n)
 *   softmax    {s_out, e^0, e^-s, .. e^-255s}   rint(e[max - x] / sum / s_out) + z_out
 *   quantize   {s_in or 1, s_out}   rint(s_in * (x - z_in) / s_out) + z_out
 * Checked against ONNX Runtime without optimisations: tests/oracle/onnx/rand_onnx.py. */
#include <math.h>

#include "compiler/ir/float_numbers.h"
#include "legalise.h"

static float scale_of(const struct ir_tensor *t)
{
    return t->quant.scale[0];
}

static float *new_real(struct ir_graph *g, struct ir_op *op, uint32_t n)
{
    float *real = ARENA_ARRAY(g->arena, float, n);

    op->fixed.n_real = n;
    op->fixed.real = real;
    return real;
}

static void real_weights(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *w = ir_in(g, op, 1), *y = ir_out(g, op, 0);
    float *real = new_real(g, op, w->quant.n);

    for (uint32_t i = 0; i < w->quant.n; i++)
        real[i] = scale_of(x) * w->quant.scale[i] / scale_of(y);
}

static void real_binary(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *a = ir_in(g, op, 0), *b = ir_in(g, op, 1), *y = ir_out(g, op, 0);
    const bool qlinear = op->attr[IR_QLINEAR] != 0;
    float *real = new_real(g, op, 4);

    real[0] = scale_of(a);
    real[1] = scale_of(b);
    real[2] = scale_of(y);
    if (!qlinear)
        return;
    if (op->opcode == IR_OP_MUL) {
        real[0] = scale_of(a) * scale_of(b) / scale_of(y);
        return;
    }
    real[0] = scale_of(a) / scale_of(y);
    real[1] = scale_of(b) / scale_of(y);
    real[2] = real[0] * (float)a->quant.zero_point[0];
    real[2] = (float)y->quant.zero_point[0] - (real[2] + real[1] * (float)b->quant.zero_point[0]);
    real[3] = y->type == IR_U8 ? 128 : 0;
}

static void real_pair(struct ir_graph *g, struct ir_op *op)
{
    float *real = new_real(g, op, 2);

    real[0] = ir_in(g, op, 0)->type == IR_F32 ? 1 : scale_of(ir_in(g, op, 0));
    real[1] = scale_of(ir_out(g, op, 0));
}

static void real_softmax(struct ir_graph *g, struct ir_op *op)
{
    float *real = new_real(g, op, 257);
    const float beta = ir_attr_float(op, IR_BETA_BITS);

    real[0] = scale_of(ir_out(g, op, 0));
    for (int i = 0; i < 256; i++)
        real[1 + i] = (float)exp(-(double)beta * (double)scale_of(ir_in(g, op, 0)) * i);
}

static const struct {
    void (*real)(struct ir_graph *g, struct ir_op *op);
} makers[] = {
#define OPERATOR(code, name, columns) {columns},
#define FIXED_ONNX(fn)                real_##fn
#include "operators/operators.def"
};

bool lgl_float_requant(struct ir_graph *g, struct ir_op *op)
{
    if (makers[op->opcode].real == NULL)
        return false;
    makers[op->opcode].real(g, op);
    return true;
}
