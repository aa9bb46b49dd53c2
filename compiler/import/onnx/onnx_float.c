/* onnx_float.c - float32 arithmetic: values that no QuantizeLinear gives a scale are computed as
 * the file specifies, in float32, on the host. Quantised values and constants that such an operator
 * reads are dequantised first. */
#include "onnx_make.h"

#include <string.h>

uint32_t ox_f32_const(struct ox *m, const char *name, uint32_t rank, const int32_t *dim,
                      const float *value)
{
    return ox_ir_const(m, name, IR_F32, rank, dim, value);
}

uint32_t ox_number_tensor(struct ox *m, const char *name, float v)
{
    return ox_f32_const(m, ox_inner(m, name, "number"), 0, NULL, &v);
}

/* Values of constant quantised values. */
static uint32_t const_values(struct ox *m, const struct ir_tensor *t)
{
    const size_t n = (size_t)ir_elements(t);
    float *value = ARENA_ARRAY(m->arena, float, n);

    for (size_t i = 0; i < n; i++)
        value[i] = t->quant.scale[0] * (float)(ir_code_at(t, i) - t->quant.zero_point[0]);
    return ox_f32_const(m, t->name, t->rank, t->dim, value);
}

/* Tensor + 1 that has the values of `id`, or 0. */
static uint32_t *float_slot(struct ox *m, uint32_t id)
{
    if (id >= m->cap_float) {
        const uint32_t cap = id * 2 + 64;
        uint32_t *grown = ARENA_ARRAY(m->arena, uint32_t, cap);

        if (m->cap_float != 0)
            memcpy(grown, m->float_of, m->cap_float * sizeof *grown);
        m->float_of = grown;
        m->cap_float = cap;
    }
    return &m->float_of[id];
}

uint32_t ox_as_float(struct ox *m, uint32_t id)
{
    const struct ir_tensor *t = m->g->tensor[id];
    uint32_t out;

    if (t->type == IR_F32)
        return id;
    if (t->role == IR_CONST)
        return const_values(m, t);
    out = *float_slot(m, id);
    if (out != 0)
        return out - 1;
    out = ox_dequantized(m, ox_inner(m, t->name, "float"), id);
    *float_slot(m, id) = out + 1;
    return out;
}

struct ox_const ox_const_values(struct ox *m, const struct ox_const *c, const struct ir_quant *q)
{
    struct ox_const to;
    float *value = ox_new_const(m, &to, OX_FLOAT, c->rank, c->dim);
    uint64_t inner = 1;

    for (uint32_t k = q->n > 1 ? q->axis + 1 : c->rank; k < c->rank; k++)
        inner *= (uint64_t)c->dim[k];
    for (uint64_t i = 0; i < c->n; i++) {
        const uint64_t k = q->n > 1 ? i / inner % q->n : 0;

        value[i] = c->type == OX_FLOAT    ? ((const float *)c->data)[i]
                   : c->type == OX_DOUBLE ? (float)((const double *)c->data)[i]
                                          : q->scale[k] * (float)(ox_int(c, i) - q->zero_point[k]);
    }
    return to;
}

bool ox_is_of_wide(const struct ox *m, const struct ox_deferred *p)
{
    bool wide = false;

    for (uint32_t i = 0; i < p->n_in; i++)
        wide = wide || m->g->tensor[p->in[i]]->type == IR_I16;
    for (uint32_t i = 0; i < p->n_part; i++)
        wide = wide || m->g->tensor[p->part[i]]->type == IR_I16;
    return wide;
}

bool ox_has_wide_form(const struct ox_deferred *p)
{
    const struct ir_op_info *info = ir_op_info(p->opcode);

    return (info->types & TYPE_I16) != 0 || info->activation == IR_ACT_CLIP;
}

bool ox_is_float(const struct ox *m, const struct ox_deferred *p)
{
    bool found = p->float_only || (p->weight.n != 0 && p->weight.type == OX_FLOAT) ||
                 (ox_is_of_wide(m, p) && !ox_has_wide_form(p));

    for (uint32_t i = 0; i < p->n_in; i++)
        found = found || m->g->tensor[p->in[i]]->type == IR_F32;
    for (uint32_t i = 0; i < p->n_part; i++)
        found = found || m->g->tensor[p->part[i]]->type == IR_F32;
    return found;
}

bool ox_may_grow(const struct ox *m, const struct ox_value *v)
{
    return v->kind == OX_PENDING && (v->n_use < 2 || !ox_is_float(m, v->deferred));
}

/* The bias in real numbers. */
static const double *real_bias(struct ox *m, const struct ox_deferred *p)
{
    const double s_in = p->bias_integers ? (double)m->g->tensor[p->in[0]]->quant.scale[0] : 0;
    const size_t n = (size_t)p->weight.dim[0];
    double *bias;

    if (!p->bias_integers)
        return p->bias;
    bias = ARENA_ARRAY(m->arena, double, n);
    for (size_t c = 0; c < n; c++)
        bias[c] = p->bias_integers[c] * s_in *
                  (double)p->weight_quant.scale[p->weight_quant.n > 1 ? c : 0];
    return bias;
}

struct ox_deferred ox_float_pending(struct ox *m, const struct ox_deferred *p)
{
    struct ox_deferred f = *p;
    uint32_t *part = ARENA_ARRAY(m->arena, uint32_t, p->n_part + 1);

    f.bias = real_bias(m, p);
    f.bias_integers = NULL;
    for (uint32_t i = 0; i < p->n_in; i++)
        f.in[i] = ox_as_float(m, p->in[i]);
    for (uint32_t i = 0; i < p->n_part; i++)
        part[i] = ox_as_float(m, p->part[i]);
    f.part = part;
    if (p->n_part != 0)
        f.in[0] = part[0];
    if (p->weight.n != 0 && p->weight.type != OX_FLOAT) {
        f.weight = ox_const_values(m, &p->weight, &p->weight_quant);
        f.weight_quant = (struct ir_quant){0};
    }
    f.attr[IR_QLINEAR] = 0;
    return f;
}

enum status ox_f32_unary(struct ox *m, enum ir_opcode opcode, const char *name, uint32_t x,
                         uint32_t *id)
{
    *id = ox_tensor(m, name, IR_F32, ox_shape_of(m, x), NULL);
    ox_op(m, opcode, 1, &x, *id);
    return ST_OK;
}

enum status ox_f32_binary(struct ox *m, enum ir_opcode opcode, const char *name, uint32_t a,
                          uint32_t b, uint32_t *id)
{
    const struct ox_shape x = ox_shape_of(m, a), z = ox_shape_of(m, b);
    const uint32_t in[2] = {a, b};
    struct ox_shape y;

    TRY(ox_common_shape(m, &x, &z, &y));
    *id = ox_tensor(m, name, IR_F32, y, NULL);
    ox_op(m, opcode, 2, in, *id);
    return ST_OK;
}
