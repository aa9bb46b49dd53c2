/* onnx_raw.c - products of quantised values whose result stays float32, as exporters leave it that quantise operands
 * alone: sums of int32, which the array makes, times the product of the scales, plus the bias. The sums are exact;
 * float32 rounds the two that follow once each. Weights of float32 are integers of three digits, each of which has sums
 * of its own (docs/ONNX.md, rule 16). */
#include "onnx_make.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    MOST_TERMS = INT32_MAX / (255 * 255), /* of a sum */
    LEAST_TERMS = 16,                     /* of one by float32 weights: float32 is as cheap */
    BASE = 128,
    DIGITS = 3,
    GREATEST = INT8_MAX * BASE * BASE
};

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

/* One number of 8 bits, the zero point of tensor `of`. */
static uint32_t zero_const(struct ox *m, uint32_t of)
{
    const struct ir_tensor *t = m->g->tensor[of];
    const uint8_t code = (uint8_t)t->quant.zero_point[0];
    const uint32_t id = ox_ir_const(m, ox_inner(m, t->name, "zero"), t->type, 0, NULL, &code);

    m->g->tensor[id]->quant = t->quant;
    return id;
}

/* Two computed matrices, quantised with one scale each. */
static bool are_matrices(const struct ox *m, const struct ox_deferred *p)
{
    const struct ir_tensor *a = m->g->tensor[p->in[0]], *b = m->g->tensor[p->in[1]];

    return p->n_in == 2 && ir_op_info(p->opcode)->has_macs && !ox_is_of_wide(m, p) &&
           a->quant.n == 1 && b->quant.n == 1 && a->dim[a->rank - 1] <= MOST_TERMS;
}

/* A product of one scale by constant weights, of sums that int32 holds (of int16: of each byte). */
static bool has_few_terms(const struct ox *m, const struct ox_deferred *p)
{
    return ir_op_has(p->opcode, IR_DIGITS) && m->g->tensor[p->in[0]]->quant.n == 1 &&
           p->copies == 1 && p->weight.n / (uint64_t)p->weight.dim[0] <= MOST_TERMS;
}

/* Return true if the float32 weights of `p` can be digits. */
static bool have_digits(const struct ox *m, const struct ox_deferred *p)
{
    const float *w = p->weight.data;

    if (p->float_only || !has_few_terms(m, p) || m->g->tensor[p->in[0]]->type == IR_F32 ||
        ox_is_of_wide(m, p) || p->weight.n < (uint64_t)LEAST_TERMS * (uint64_t)p->weight.dim[0])
        return false;
    for (uint64_t i = 0; i < p->weight.n; i++)
        if (!isfinite(w[i]))
            return false;
    return true;
}

bool ox_has_sums(const struct ox *m, const struct ox_deferred *p)
{
    const struct ir_quant *w = &p->weight_quant;

    if (m->options->exact || m->options->literal)
        return false;
    if (p->weight.n != 0 && p->weight.type == OX_FLOAT)
        return have_digits(m, p);
    if (ox_is_float(m, p))
        return false;
    if (p->weight.n == 0)
        return are_matrices(m, p);
    if (!has_few_terms(m, p))
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
        in[2 + i] = zero_const(m, in[i]);
    ox_count_macs(m, ox_make_matmul_integer(m, 4, in, out), 1, 1);
    return out;
}

/* The sums of input `x`, channels last for images, by `weight` of scales `q`, of one zero point. */
static uint32_t sums(struct ox *m, const struct ox_deferred *p, uint32_t x,
                     const struct ox_const *weight, const struct ir_quant *q, const char *name)
{
    const bool conv = ir_op_has(p->opcode, IR_KERNEL_H);
    const struct ox_const w = conv ? ox_transposed(m, weight) : turned(m, weight);
    const uint32_t out = ox_tensor(m, ox_inner(m, name, "sums"), IR_I32,
                                   conv ? ox_nhwc_shape(p->shape) : p->shape, NULL);
    const struct ir_quant one = {1, 0, q->scale, q->zero_point};
    uint32_t in[4] = {x};
    struct ir_op *op;

    in[1] = ox_code_const(m, ox_inner(m, name, "weights"), &w, &one, ox_ir_type(w.type));
    in[2] = zero_const(m, x);
    in[3] = zero_const(m, in[1]);
    op = conv ? ox_make_conv_integer(m, 4, in, out) : ox_make_matmul_integer(m, 4, in, out);
    if (conv)
        memcpy(op->attr, p->attr, sizeof op->attr);
    if (m->g->row[m->row].macs == 0) /* those of a further digit are not the file's */
        ox_count_macs(m, op, p->taps, p->taps_filled);
    return out;
}

/* Write the scale of each output channel of float32 weights; they are whole numbers of it, up to GREATEST. */
static void set_scales(const struct ox_deferred *p, float *scale)
{
    const size_t each = (size_t)p->weight.n / (size_t)p->weight.dim[0];
    const float *w = p->weight.data;

    for (size_t c = 0; c < (size_t)p->weight.dim[0]; c++) {
        double most = 0;

        for (size_t i = 0; i < each; i++)
            most = fmax(most, fabs((double)w[c * each + i]));
        scale[c] = (float)(most / GREATEST);
        if (!(scale[c] >= FLT_MIN))
            scale[c] = 1;
    }
}

/* The lowest digit of v to BASE: -64 .. 63. */
static int32_t low_digit(int32_t v)
{
    return ((v + BASE / 2) & (BASE - 1)) - BASE / 2;
}

/* Digit `k` of v, 0 is the lowest; the highest one goes up to 127 on both sides. */
static int8_t digit_of(int32_t v, uint32_t k)
{
    for (uint32_t i = 0; i < k; i++)
        v = (v - low_digit(v)) / BASE;
    return (int8_t)(k + 1 < DIGITS ? low_digit(v) : v);
}

/* The sums of float32 weights in units of `scale`, digit after digit in float32. */
static enum status digit_sums(struct ox *m, const struct ox_deferred *p, uint32_t x,
                              const float *scale, const char *name, uint32_t *id)
{
    const size_t each = (size_t)p->weight.n / (size_t)p->weight.dim[0];
    const struct ir_quant q = {1, 0, scale, ARENA_ARRAY(m->arena, int32_t, 1)};

    for (uint32_t k = DIGITS; k-- > 0;) {
        const char *of = arena_printf(m->arena, "%s/digit%u", name, k);
        struct ox_const w;
        int8_t *to = ox_new_const(m, &w, OX_INT8, p->weight.rank, p->weight.dim);
        uint32_t real;

        for (size_t i = 0; i < p->weight.n; i++)
            to[i] = digit_of((int32_t)lrint((double)((const float *)p->weight.data)[i] /
                                            (double)scale[i / each]),
                             k);
        real = ox_number_as(m, ox_inner(m, of, "real"), sums(m, p, x, &w, &q, of), IR_F32);
        if (k + 1 == DIGITS) {
            *id = real;
            continue;
        }
        TRY(ox_f32_mul(m, ox_inner(m, of, "higher"), *id, ox_number_tensor(m, of, BASE), id));
        TRY(ox_f32_add(m, ox_inner(m, of, "sum"), *id, real, id));
    }
    return ST_OK;
}

/* A byte of int16 x as int8: the upper one in steps of 256, or the lower one less 128. */
static uint32_t byte_of(struct ox *m, uint32_t x, bool high, const char *name)
{
    static const int32_t zero[2] = {-128, 0};
    const struct ir_quant q = {1, 0, m->g->tensor[x]->quant.scale, &zero[high]};
    const uint32_t out =
        ox_tensor(m, ox_inner(m, name, high ? "upper" : "lower"), IR_I8, ox_shape_of(m, x), &q);

    ox_make_byte_of(m, 1, &x, out)->attr[IR_HIGH] = high;
    return out;
}

/* The sums of int16 x in float32: 256 times those of its upper bytes, plus those of the lower ones. */
static enum status byte_sums(struct ox *m, const struct ox_deferred *p, uint32_t x,
                             const char *name, uint32_t *id)
{
    uint32_t real[2];

    for (int high = 1; high >= 0; high--) {
        const char *of = ox_inner(m, name, high ? "high" : "low");

        real[high] = ox_number_as(
            m, ox_inner(m, of, "real"),
            sums(m, p, byte_of(m, x, high, of), &p->weight, &p->weight_quant, of), IR_F32);
    }
    TRY(ox_f32_mul(m, ox_inner(m, name, "higher"), real[1], ox_number_tensor(m, name, 256), id));
    return ox_f32_add(m, ox_inner(m, name, "sum"), *id, real[0], id);
}

/* Make the sums in float32; *scale has one of the second operand for each channel or for all. */
static enum status real_sums(struct ox *m, const struct ox_deferred *p, const char *name,
                             const float **scale, uint32_t *n, uint32_t *id)
{
    const struct ir_quant *q = &p->weight_quant;
    uint32_t x = p->in[0], sum;

    if (p->weight.n != 0 && ir_op_has(p->opcode, IR_KERNEL_H))
        x = ox_to_nhwc(m, x);
    if (p->weight.n != 0 && p->weight.type == OX_FLOAT) {
        float *own = ARENA_ARRAY(m->arena, float, (size_t)p->weight.dim[0]);

        set_scales(p, own);
        *scale = own;
        *n = (uint32_t)p->weight.dim[0];
        return digit_sums(m, p, x, own, name, id);
    }
    *scale = q->scale;
    *n = q->n;
    if (m->g->tensor[x]->type == IR_I16)
        return byte_sums(m, p, x, name, id);
    if (p->weight.n == 0) {
        q = &m->g->tensor[p->in[1]]->quant;
        sum = matrix_sums(m, p, name);
    } else {
        sum = sums(m, p, x, &p->weight, q, name);
    }
    *scale = q->scale;
    *n = q->n;
    *id = ox_number_as(m, ox_inner(m, name, "real"), sum, IR_F32);
    return ST_OK;
}

enum status ox_scaled_sums(struct ox *m, const struct ox_deferred *p, const char *name,
                           uint32_t *id)
{
    const int32_t channels = p->weight.n == 0 ? 1 : p->weight.dim[0];
    const float s_in = m->g->tensor[p->in[0]]->quant.scale[0];
    const struct ox_deferred f = ox_float_pending(m, p);
    float *value = ARENA_ARRAY(m->arena, float, (size_t)channels);
    const float *scale;
    uint32_t n;

    TRY(real_sums(m, p, name, &scale, &n, id));
    for (int32_t c = 0; c < channels; c++)
        value[c] = s_in * scale[n > 1 ? c : 0];
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
