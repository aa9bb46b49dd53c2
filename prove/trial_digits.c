/* trial_digits.c - the products of an LSTM's input as digits. A package may compute them before the call: sums of the
 * gates' weights and the input, each as digits of 7 bits, digit p of all gates after digit p - 1 (docs/NUMERICS.md). */
#include "compiler/ir/rules.h"
#include "sim/functional/func_math.h"
#include "trial.h"

enum { DIGITS = 4, SHIFT = 25, BITS = 7, MULTIPLIER = 64 };

/* Digit d is digit `place` of the sum over row `row` of the weights and values from x on. */
struct digit {
    const struct ir_tensor *w, *bias;
    uint32_t row, values;
    uint64_t x;
    int32_t shift;
};

static struct digit digit_of(const struct prove_operand *in, uint64_t d)
{
    const struct ir_tensor *w = in->op->in[1];
    const uint32_t values = (uint32_t)ir_dim_back(w, 0), rows = (uint32_t)ir_elements(w) / values;

    return (struct digit){w,
                          in->op->in[3],
                          (uint32_t)(d % rows),
                          values,
                          d / rows / DIGITS * values,
                          SHIFT - BITS * (int32_t)(d / rows % DIGITS)};
}

uint64_t prove_digits(const struct prove_op *o, uint32_t i)
{
    if (o->op->opcode != IR_OP_LSTM || i != 0 || o->op->n_in < 4 || !o->in[1] || !o->in[3] ||
        o->in[0]->type != IR_I8 || o->in[1]->type != IR_I8 || o->in[1]->role != IR_CONST ||
        o->in[3]->type != IR_I32 || o->in[3]->role != IR_CONST ||
        ir_dim_back(o->in[1], 0) != ir_dim_back(o->in[0], 0))
        return 0;
    const uint64_t values = (uint64_t)ir_dim_back(o->in[1], 0);
    return ir_elements(o->in[0]) / values * (ir_elements(o->in[1]) / values) * DIGITS;
}

uint32_t prove_digit_term(const struct prove_operand *in, uint64_t d)
{
    const struct digit g = digit_of(in, d);
    struct prove *p = in->op->p;
    struct prove_sum s = {0};

    for (uint32_t v = 0; v < g.values; v++)
        prove_add(&s, p, in->op->x[in->input][g.x + v], 0,
                  (int8_t)g.w->data[(uint64_t)g.row * g.values + v]);
    prove_shift(&s, ir_const_i32(g.bias, g.row));
    return prove_requantise(p, &s, MULTIPLIER, g.shift, 0, -128, 127);
}

uint8_t prove_digit_byte(const struct prove_operand *in, const uint8_t *x, uint64_t d)
{
    const struct digit g = digit_of(in, d);
    int32_t s = ir_const_i32(g.bias, g.row);

    for (uint32_t v = 0; v < g.values; v++)
        s += (int8_t)x[g.x + v] * (int8_t)g.w->data[(uint64_t)g.row * g.values + v];
    return (uint8_t)func_clamp(func_mbqm(s, MULTIPLIER, g.shift), 0, -128, 127);
}
