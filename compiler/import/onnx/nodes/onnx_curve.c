/* onnx_curve.c - functions of one operand that are made of several operators, in float32. */
#include "compiler/import/onnx/onnx_import.h"

#include <math.h>
#include <string.h>

/* x^2 and x^(1/2) as a product and a root. */
enum status ox_pow(struct ox *m)
{
    const struct ox_value *e = ox_in(m, 1);
    const char *name = ox_out(m, 0)->name;
    double power = (double)NAN;
    struct ox_const c;
    uint32_t x, y, id;

    if (e && e->kind == OX_CONST && e->c.n == 1) {
        TRY(ox_const_input(m, 1, &c));
        power = ox_number(&c, 0);
    }
    TRY(ox_float_input(m, 0, "input", &x));
    if (power == 2) {
        TRY(ox_f32_mul(m, name, x, x, &id));
    } else if (power == 0.5) {
        TRY(ox_f32_sqrt(m, name, x, &id));
    } else {
        if (isnan(power))
            TRY(ox_float_input(m, 1, "exponent", &y));
        else
            y = ox_number_tensor(m, name, (float)power);
        TRY(ox_f32_pow(m, name, x, y, &id));
    }
    ox_set_tensor(m, 0, id, false);
    return ST_OK;
}

/* gain * (max(x, 0) + alpha * (e^(min(x, 0) / width) - 1)): Elu, Celu and Selu. */
static enum status exponential_unit(struct ox *m, uint32_t x, float gain, float alpha, float width)
{
    const char *name = ox_out(m, 0)->name;
    uint32_t above, below;

    TRY(ox_f32_relu(m, ox_inner(m, name, "above"), x, &above));
    TRY(ox_f32_minimum(m, ox_inner(m, name, "below"), x, ox_number_tensor(m, name, 0), &below));
    if (width != 1)
        TRY(ox_f32_div(m, ox_inner(m, name, "steep"), below, ox_number_tensor(m, name, width),
                       &below));
    TRY(ox_f32_elu(m, ox_inner(m, name, "curve"), below, &below));
    TRY(ox_f32_mul(m, ox_inner(m, name, "scaled"), below, ox_number_tensor(m, name, alpha),
                   &below));
    TRY(ox_f32_add(m, ox_inner(m, name, "sum"), above, below, &x));
    if (gain != 1)
        TRY(ox_f32_mul(m, name, x, ox_number_tensor(m, name, gain), &x));
    ox_set_tensor(m, 0, x, false);
    return ST_OK;
}

/* max(x, 0) + log(1 + e^-|x|); Mish is x times its tanh. */
static enum status softplus(struct ox *m, uint32_t x, bool mish)
{
    const char *name = ox_out(m, 0)->name;
    uint32_t above, y;

    TRY(ox_f32_relu(m, ox_inner(m, name, "above"), x, &above));
    TRY(ox_f32_abs(m, ox_inner(m, name, "magnitude"), x, &y));
    TRY(ox_f32_neg(m, ox_inner(m, name, "negative"), y, &y));
    TRY(ox_f32_exp(m, ox_inner(m, name, "power"), y, &y));
    TRY(ox_f32_add(m, ox_inner(m, name, "sum"), y, ox_number_tensor(m, name, 1), &y));
    TRY(ox_f32_log(m, ox_inner(m, name, "log"), y, &y));
    TRY(ox_f32_add(m, mish ? ox_inner(m, name, "plus") : name, above, y, &y));
    if (mish) {
        TRY(ox_f32_tanh(m, ox_inner(m, name, "tanh"), y, &y));
        TRY(ox_f32_mul(m, name, x, y, &y));
    }
    ox_set_tensor(m, 0, y, false);
    return ST_OK;
}

/* Functions of one operand that are made of others, in float32. */
enum status ox_curve(struct ox *m)
{
    const bool selu = strcmp(m->op, "Selu") == 0;
    const char *name = ox_out(m, 0)->name;
    const float alpha = ox_attr_float(m, "alpha", selu ? 1.67326319f : 1);
    uint32_t x, below, one;

    if (!isfinite(alpha) || alpha == 0)
        return FAIL(m->d, ST_MODEL, "alpha: expected a number that is not 0, found %.9g",
                    (double)alpha);
    TRY(ox_float_input(m, 0, "input", &x));
    if (strcmp(m->op, "Softplus") == 0 || strcmp(m->op, "Mish") == 0)
        return softplus(m, x, *m->op == 'M');
    one = ox_number_tensor(m, name, 1);
    if (strcmp(m->op, "Elu") == 0 && alpha == 1) {
        TRY(ox_f32_elu(m, name, x, &x));
    } else if (strcmp(m->op, "Reciprocal") == 0) {
        TRY(ox_f32_div(m, name, one, x, &x));
    } else if (strcmp(m->op, "Softsign") == 0) {
        TRY(ox_f32_abs(m, ox_inner(m, name, "magnitude"), x, &below));
        TRY(ox_f32_add(m, ox_inner(m, name, "below"), below, one, &below));
        TRY(ox_f32_div(m, name, x, below, &x));
    } else {
        return exponential_unit(m, x, selu ? ox_attr_float(m, "gamma", 1.05070102f) : 1, alpha,
                                strcmp(m->op, "Celu") == 0 ? alpha : 1);
    }
    ox_set_tensor(m, 0, x, false);
    return ST_OK;
}
