/* onnx_layer.c - normalisations over parts of a tensor, in float32: LayerNormalization,
 * InstanceNormalization, GroupNormalization, LpNormalization. */
#include "compiler/import/onnx/onnx_import.h"

#include <string.h>

/* The result of a normalisation. */
struct normal {
    uint32_t mean, deviation, value;
};

/* (x - mean) / sqrt(mean of squares + epsilon) over the dimensions from `axis` on. */
static enum status normalise(struct ox *m, uint32_t x, uint32_t axis, float epsilon,
                             struct normal *n)
{
    const char *name = ox_out(m, 0)->name;
    const uint32_t mask = ((1u << m->g->tensor[x]->rank) - 1) & ~((1u << axis) - 1);
    uint32_t part, square;

    n->mean = ox_f32_mean(m, ox_inner(m, name, "mean"), x, mask, true);
    TRY(ox_f32_sub(m, ox_inner(m, name, "centred"), x, n->mean, &part));
    TRY(ox_f32_mul(m, ox_inner(m, name, "squares"), part, part, &square));
    square = ox_f32_mean(m, ox_inner(m, name, "variance"), square, mask, true);
    TRY(ox_f32_add(m, ox_inner(m, name, "positive"), square, ox_number_tensor(m, name, epsilon),
                   &square));
    TRY(ox_f32_sqrt(m, ox_inner(m, name, "deviation"), square, &n->deviation));
    return ox_f32_div(m, ox_inner(m, name, "normal"), part, n->deviation, &n->value);
}

enum status ox_layer_norm(struct ox *m)
{
    const char *name = ox_out(m, 0)->name;
    uint32_t x, axis, scale, bias, y;
    struct normal n;

    TRY(ox_float_input(m, 0, "input", &x));
    TRY(ox_float_input(m, 1, "scale", &scale));
    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", -1), m->g->tensor[x]->rank, &axis));
    TRY(normalise(m, x, axis, ox_attr_float(m, "epsilon", 1e-5f), &n));
    TRY(ox_f32_mul(m, ox_inner(m, name, "scaled"), n.value, scale, &y));
    if (ox_in(m, 2)) {
        TRY(ox_float_input(m, 2, "bias", &bias));
        TRY(ox_f32_add(m, name, y, bias, &y));
    }
    ox_set_tensor(m, 0, y, false);
    if (ox_has_output(m, 1))
        ox_set_tensor(m, 1, n.mean, false);
    if (m->node->n_output > 2 && *m->node->output[2]) {
        TRY(ox_f32_div(m, ox_out(m, 2)->name, ox_number_tensor(m, name, 1), n.deviation, &y));
        ox_set_tensor(m, 2, y, false);
    }
    return ST_OK;
}

/* Input `i`, a number for each of n channels (or each group of them), as [n,1,..,1]. */
static enum status channel_tensor(struct ox *m, uint32_t i, int32_t n, uint32_t rank, uint32_t *id)
{
    int32_t dim[IR_MAX_RANK] = {n, 1, 1, 1, 1, 1};
    struct ox_const c;
    float *value;

    TRY(ox_const_input(m, i, &c));
    if (c.type != OX_FLOAT || c.n == 0 || (uint64_t)n % c.n != 0)
        return FAIL(m->d, ST_MODEL, "input %u: expected %d float32 values, found %llu of %s", i, n,
                    (unsigned long long)c.n, ox_type_name(c.type));
    value = ARENA_ARRAY(m->arena, float, (size_t)n);
    for (uint64_t k = 0; k < (uint64_t)n; k++)
        value[k] = ((const float *)c.data)[k / ((uint64_t)n / c.n)];
    *id = ox_f32_const(m, ox_in(m, i)->name, rank - 1, dim, value);
    return ST_OK;
}

/* Output 0 is x times input 1 plus input 2, for each channel. */
static enum status scale_channels(struct ox *m, uint32_t x)
{
    const char *name = ox_out(m, 0)->name;
    const struct ir_tensor *t = m->g->tensor[x];
    uint32_t scale, bias, y;

    TRY(channel_tensor(m, 1, t->dim[1], t->rank, &scale));
    TRY(channel_tensor(m, 2, t->dim[1], t->rank, &bias));
    TRY(ox_f32_mul(m, ox_inner(m, name, "scaled"), x, scale, &y));
    TRY(ox_f32_add(m, name, y, bias, &y));
    ox_set_tensor(m, 0, y, false);
    return ST_OK;
}

/* Input 0 in float32, [N,C,...]. */
static enum status image(struct ox *m, uint32_t *x)
{
    TRY(ox_float_input(m, 0, "input", x));
    if (m->g->tensor[*x]->rank < 3)
        return FAIL(m->d, ST_MODEL, "input: expected at least 3 dimensions, found %u",
                    m->g->tensor[*x]->rank);
    return ST_OK;
}

enum status ox_instance_norm(struct ox *m)
{
    struct normal n;
    uint32_t x;

    TRY(image(m, &x));
    TRY(normalise(m, x, 2, ox_attr_float(m, "epsilon", 1e-5f), &n));
    return scale_channels(m, n.value);
}

/* Before opset 21 scale and bias have a number for each group. */
enum status ox_group_norm(struct ox *m)
{
    const int64_t groups = ox_attr_int(m, "num_groups", 0);
    const char *name = ox_out(m, 0)->name;
    struct ox_shape s, parts;
    struct normal n;
    uint32_t x;

    TRY(image(m, &x));
    s = ox_shape_of(m, x);
    if (groups < 1 || groups > s.dim[1] || s.dim[1] % groups != 0)
        return FAIL(m->d, ST_MODEL, "num_groups: %lld does not divide %d channels",
                    (long long)groups, s.dim[1]);
    parts = (struct ox_shape){3, {s.dim[0], (int32_t)groups, s.dim[1] / (int32_t)groups}};
    for (uint32_t i = 2; i < s.rank; i++)
        parts.dim[2] *= s.dim[i];
    TRY(normalise(m, ox_reshape(m, ox_inner(m, name, "groups"), x, parts), 2,
                  ox_attr_float(m, "epsilon", 1e-5f), &n));
    return scale_channels(m, ox_reshape(m, ox_inner(m, name, "channels"), n.value, s));
}

enum status ox_lp_norm(struct ox *m)
{
    const int64_t p = ox_attr_int(m, "p", 2);
    const char *name = ox_out(m, 0)->name;
    uint32_t x, axis, y, quotient;

    TRY(ox_float_input(m, 0, "input", &x));
    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", -1), m->g->tensor[x]->rank, &axis));
    if (p != 1 && p != 2)
        return FAIL(m->d, ST_MODEL, "p: expected 1 or 2, found %lld", (long long)p);
    if (p == 1)
        TRY(ox_f32_abs(m, ox_inner(m, name, "magnitudes"), x, &y));
    else
        TRY(ox_f32_mul(m, ox_inner(m, name, "squares"), x, x, &y));
    y = ox_f32_sum(m, ox_inner(m, name, "sum"), y, 1u << axis, true);
    if (p == 2)
        TRY(ox_f32_sqrt(m, ox_inner(m, name, "norm"), y, &y));
    TRY(ox_f32_div(m, ox_inner(m, name, "quotient"), x, y, &quotient));
    TRY(ox_where_not_zero(m, name, y, quotient, &y)); /* a vector of norm 0 becomes 0 */
    ox_set_tensor(m, 0, y, false);
    return ST_OK;
}
