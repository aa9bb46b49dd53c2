/* onnx_raw.c - products of quantised values whose result stays float32, as exporters leave it that quantise operands
 * alone: sums of int32, which the array makes, times the product of the scales, plus the bias. The sums are exact;
 * float32 rounds the two that follow once each. */
#include "onnx_make.h"

#include <math.h>

enum { MOST_TERMS = INT32_MAX / (255 * 255) }; /* of a sum */

/* Weights [OC,K] as [K,OC]. */
static struct ox_const turned(struct ox *m, const struct ox_const *w)
{
    const size_t oc = (size_t)w->dim[0], k = (size_t)w->dim[1];
    struct ox_const c;
    uint8_t *to = ox_new_const(m, &c, w->type, 2, (const int32_t[]){w->dim[1], w->dim[0]});

    for (size_t i = 0; i < oc * k; i++)
        to[i % k * oc + i / k] = ((const uint8_t *)w->data)[i];
    return c;
}

/* One number of 8 bits, the zero point `z` of tensor `of`. */
static uint32_t zero_const(struct ox *m, uint32_t of, int32_t z)
{
    const struct ir_tensor *t = m->g->tensor[of];
    const uint8_t code = (uint8_t)z;
    const uint32_t id = ox_ir_const(m, ox_inner(m, t->name, "zero"), t->type, 0, NULL, &code);

    m->g->tensor[id]->quant = t->quant;
    return id;
}

/* Two computed matrices, quantised with one scale each. */
static bool are_matrices(const struct ox *m, const struct ox_deferred *p)
{
    const struct ir_tensor *a = m->g->tensor[p->in[0]], *b = m->g->tensor[p->in[1]];

    return p->n_in == 2 && ir_op_info(p->opcode)->has_macs && a->quant.n == 1 && b->quant.n == 1 &&
           a->dim[a->rank - 1] <= MOST_TERMS;
}

bool ox_has_sums(const struct ox *m, const struct ox_deferred *p)
{
    const struct ir_quant *q = &m->g->tensor[p->in[0]]->quant, *w = &p->weight_quant;

    if (m->options->exact || m->options->literal || ox_is_float(m, p))
        return false;
    if (p->weight.n == 0)
        return are_matrices(m, p);
    if (!ir_op_has(p->opcode, IR_DIGITS) || q->n != 1 || p->copies != 1 ||
        p->weight.n / (uint64_t)p->weight.dim[0] > MOST_TERMS)
        return false;
    for (uint32_t i = 0; i < w->n; i++)
        if (w->zero_point[i] != w->zero_point[0])
            return false;
    return w->n != 0;
}

/* The product of two matrices. */
static uint32_t matrix_sums(struct ox *m, const struct ox_deferred *p, const char *name)
{
    const uint32_t out = ox_tensor(m, ox_inner(m, name, "sums"), IR_I32, p->shape, NULL);
    uint32_t in[4] = {p->in[0], p->in[1]};

    for (uint32_t i = 0; i < 2; i++)
        in[2 + i] = zero_const(m, in[i], m->g->tensor[in[i]]->quant.zero_point[0]);
    ox_count_macs(m, ox_make_matmul_integer(m, 4, in, out), 1, 1);
    return out;
}

/* The sums of product `p`, channels last. */
static uint32_t sums(struct ox *m, const struct ox_deferred *p, const char *name)
{
    const bool conv = ir_op_has(p->opcode, IR_KERNEL_H);
    const struct ox_const w = conv ? ox_transposed(m, &p->weight) : turned(m, &p->weight);
    const uint32_t x = conv ? ox_to_nhwc(m, p->in[0]) : p->in[0];
    const uint32_t out = ox_tensor(m, ox_inner(m, name, "sums"), IR_I32,
                                   conv ? ox_nhwc_shape(p->shape) : p->shape, NULL);
    const struct ir_quant one = {1, 0, p->weight_quant.scale, p->weight_quant.zero_point};
    uint32_t in[4] = {x};
    struct ir_op *op;

    in[1] = ox_code_const(m, ox_inner(m, name, "weights"), &w, &one, ox_ir_type(w.type));
    in[2] = zero_const(m, x, m->g->tensor[x]->quant.zero_point[0]);
    in[3] = zero_const(m, in[1], one.zero_point[0]);
    op = conv ? ox_make_conv_integer(m, 4, in, out) : ox_make_matmul_integer(m, 4, in, out);
    for (uint32_t i = 0; conv && i < IR_ATTR_COUNT; i++)
        op->attr[i] = p->attr[i];
    ox_count_macs(m, op, p->taps, p->taps_filled);
    return out;
}

enum status ox_scaled_sums(struct ox *m, const struct ox_deferred *p, const char *name,
                           uint32_t *id)
{
    const bool matrices = p->weight.n == 0;
    const int32_t channels = matrices ? 1 : p->weight.dim[0];
    const float s_in = m->g->tensor[p->in[0]]->quant.scale[0];
    const struct ir_quant *q = matrices ? &m->g->tensor[p->in[1]]->quant : &p->weight_quant;
    const struct ox_deferred f = ox_float_pending(m, p);
    float *value = ARENA_ARRAY(m->arena, float, (size_t)channels);

    *id = ox_number_as(m, ox_inner(m, name, "real"),
                       matrices ? matrix_sums(m, p, name) : sums(m, p, name), IR_F32);
    for (int32_t c = 0; c < channels; c++)
        value[c] = s_in * q->scale[q->n > 1 ? c : 0];
    TRY(ox_f32_mul(m, ox_inner(m, name, "scaled"), *id,
                   ox_f32_const(m, ox_inner(m, name, "scale"), 1, &channels, value), id));
    if (f.bias) {
        float *bias = ARENA_ARRAY(m->arena, float, (size_t)channels);

        for (int32_t c = 0; c < channels; c++)
            bias[c] = (float)f.bias[c];
        TRY(ox_f32_add(m, ox_inner(m, name, "biased"), *id,
                       ox_f32_const(m, ox_inner(m, name, "bias"), 1, &channels, bias), id));
    }
    if (p->low != -INFINITY || p->high != INFINITY)
        *id = ox_clipped(m, ox_inner(m, name, "clamped"), *id, p->low, p->high);
    if (ir_op_has(p->opcode, IR_KERNEL_H))
        *id = ox_from_nhwc(m, name, *id, p->shape.rank);
    else
        m->g->tensor[*id]->name = name;
    return ST_OK;
}
