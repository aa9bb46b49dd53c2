/* ref_constants.c - multipliers, shifts and clamps of an operator, from the scales as the file has
 * them. The formulas are NUMERICS.md's, "Operators", and are written here a second time on
 * purpose: legalise has its own, and a mistake in one of the two ends in a mismatch. */
#include "reference/ref_constants.h"

#include <math.h>
#include <string.h>

static void set_one(const struct ref_maker *m, double d)
{
    ref_set_fixed(m, 1, &d);
}

/* --- clamps --- */

/* The quotient is a float32. TFLite's halves go away from zero, ONNX's to the even neighbour. */
static int32_t quantised(const struct ref_maker *m, const struct ir_tensor *t, float v)
{
    const double steps = (double)(v / ref_scale(t)), below = floor(fabs(steps));
    const double rest = fabs(steps) - below;
    const bool odd = fmod(below, 2) == 1;
    const bool up = rest > 0.5 || (rest == 0.5 && (odd || !m->o->onnx_rounding));
    const double value = t->quant.zero_point[0] + copysign(below + (up ? 1 : 0), steps);

    return (int32_t)fmax(fmin(value, ref_highest(t->type)), ref_lowest(t->type));
}

/* The activation that the operator is, or that is fused into it. */
static enum ir_activation activation_of(const struct ir_op *op)
{
    const enum ir_activation own = ir_op_info(op->opcode)->activation;

    return own != IR_ACT_NONE ? own : (enum ir_activation)op->attr[IR_ACTIVATION];
}

static void set_clamp(const struct ref_maker *m, const struct ir_tensor *t)
{
    float low = -INFINITY, high = INFINITY;

    if (t->quant.n != 1 || !ir_is_code(t->type))
        return;
    switch (activation_of(m->op)) {
    case IR_ACT_RELU: low = 0; break;
    case IR_ACT_RELU6: low = 0, high = 6; break;
    case IR_ACT_RELU_N1_TO_1: low = -1, high = 1; break;
    case IR_ACT_RELU_0_TO_1: low = 0, high = 1; break;
    case IR_ACT_CLIP:
        low = ref_attr_float(m->op, IR_CLIP_LOW_BITS);
        high = ref_attr_float(m->op, IR_CLIP_HIGH_BITS);
        break;
    default: break;
    }
    m->k->low = low > -INFINITY ? quantised(m, t, low) : ref_lowest(t->type);
    m->k->high = high < INFINITY ? quantised(m, t, high) : ref_highest(t->type);
}

/* --- operators --- */

/* Sums of products are in s_x * s_w: exact in double, but uint8's kernels round it to float32. */
static double product_scale(const struct ref_maker *m, float s_w)
{
    if (m->x->type == IR_U8)
        return (double)(ref_scale(m->x) * s_w);
    return (double)ref_scale(m->x) * (double)s_w;
}

static void fixed_weights(const struct ref_maker *m)
{
    const struct ir_quant *w = &m->b->quant;
    double *d = ARENA_ARRAY(m->arena, double, w->n);

    for (uint32_t i = 0; i < w->n; i++)
        d[i] = product_scale(m, w->scale[i]) / (double)ref_scale(m->y);
    ref_set_fixed(m, w->n, d);
}

/* One scale: the product is a float32 (classic), or not (tflite-micro); LiteRT stays in double. */
static void fixed_dense(const struct ref_maker *m)
{
    const struct ir_quant *w = &m->b->quant;
    const float out = ref_scale(m->y);
    double *d = ARENA_ARRAY(m->arena, double, w->n);

    for (uint32_t i = 0; i < w->n; i++)
        d[i] = (double)ref_scale(m->x) * (double)w->scale[i] / (double)out;
    if (m->o->fc_scale == REF_FC_LITERT) {
        m->k->litert = d;
        m->k->n_litert = w->n;
        return;
    }
    if (w->n > 1) {
        fixed_weights(m);
        return;
    }
    if (m->o->fc_scale == REF_FC_CLASSIC)
        d[0] = (double)(ref_scale(m->x) * w->scale[0]) / (double)out;
    set_one(m, d[0]);
}

/* Both operands in twice the larger scale, 2^-up of it; then back. */
static void common_scale(const struct ref_maker *m, int up, bool squared)
{
    const double a = (double)ref_scale(m->x), b = (double)ref_scale(m->b);
    const double common = 2 * fmax(a, b);
    const double back = squared ? ldexp(common * common, -2 * up) : ldexp(common, -up);
    const double d[3] = {a / common, b / common, back / (double)ref_scale(m->y)};

    ref_set_fixed(m, 3, d);
}

/* All in float32. */
static void fixed_mul(const struct ref_maker *m)
{
    const float product = ref_scale(m->x) * ref_scale(m->b);

    set_one(m, (double)(product / ref_scale(m->y)));
}

static void fixed_div(const struct ref_maker *m)
{
    const float below = ref_scale(m->b) * ref_scale(m->y);

    set_one(m, (double)(ref_scale(m->x) / below));
}

/* Each factor has the n-th root of y's scale. */
static void fixed_prod(const struct ref_maker *m)
{
    const double n = (double)(ir_elements(m->x) / ir_elements(m->y));

    set_one(m, (double)ref_scale(m->x) / pow((double)ref_scale(m->y), 1 / n));
}

/* x < 0 has a scale of its own. */
static void two_sided(const struct ref_maker *m, float negative)
{
    const float x = ref_scale(m->x), y = ref_scale(m->y);
    const double d[3] = {(double)(x / y), (double)(x * negative / y), 0};

    ref_set_fixed(m, 3, d);
}

/* s_x / s_y of n elements: the multiplier over n, with all extra bits for which 63 leave room. */
static void fixed_mean(const struct ref_maker *m)
{
    const uint64_t n = ir_elements(m->x) / ir_elements(m->y);
    int32_t *multiplier;
    int8_t *shift;
    int bits = 63 - __builtin_clzll(n);

    set_one(m, (double)ref_scale(m->x) / (double)ref_scale(m->y));
    multiplier = (int32_t *)(uintptr_t)m->k->multiplier;
    shift = (int8_t *)(uintptr_t)m->k->shift;
    bits = bits < 32 ? bits : 32;
    bits = bits < 31 + shift[0] ? bits : 31 + shift[0];
    multiplier[0] = (int32_t)(((uint64_t)multiplier[0] << bits) / n);
    shift[0] = (int8_t)(shift[0] - bits);
}

static bool same_quant(const struct ir_tensor *a, const struct ir_tensor *b)
{
    return ref_scale(a) == ref_scale(b) && a->quant.zero_point[0] == b->quant.zero_point[0];
}

/* The average has the scale of its input. Another one (ONNX): the sum over full windows goes into
 * it at once, by 1/n as a float32; where windows are cut off, the average does. */
static void fixed_average(const struct ref_maker *m)
{
    const int64_t cells = (int64_t)m->op->attr[IR_KERNEL_H] * m->op->attr[IR_KERNEL_W];
    int32_t pad[4];

    if (same_quant(m->x, m->y))
        return;
    ref_pads(m, pad);
    if ((pad[0] | pad[1] | pad[2] | pad[3]) == 0 && cells * m->x->dim[3] <= 1 << 20) {
        set_one(m, product_scale(m, 1 / (float)cells) / (double)ref_scale(m->y));
        return;
    }
    set_clamp(m, m->x);
    m->k->rescale = true;
    m->k->inner_zero = m->x->quant.zero_point[0];
    set_one(m, (double)ref_scale(m->x) / (double)ref_scale(m->y));
}

/* Return a scale in units of 2^-26, at least 1: at less all differences of values are as good as 0. */
static double in_2_26(double scale)
{
    return fmin(fmax(ldexp(scale, 26), 1), INT32_MAX);
}

/* beta * s_x in 2^-26; the result is in 1/256 from the lowest value on, whatever y's scale is. */
static void fixed_softmax(const struct ref_maker *m)
{
    const double beta = (double)ref_attr_float(m->op, IR_BETA_BITS);
    const double d[2] = {in_2_26(beta * (double)ref_scale(m->x)),
                         1 / (256 * (double)ref_scale(m->y))};

    m->k->inner_zero = ref_lowest(m->y->type);
    m->k->rescale =
        m->y->type != IR_I16 && (d[1] != 1 || m->y->quant.zero_point[0] != m->k->inner_zero);
    ref_set_fixed(m, 2, d);
}

/* s_x in 2^-26, and from there back to quantised values: one over the first number. */
static void fixed_log_softmax(const struct ref_maker *m)
{
    const double real = in_2_26((double)ref_scale(m->x));
    int32_t multiplier;
    int8_t shift;

    ref_fixed_point(real, &multiplier, &shift);
    ref_set_fixed(m, 2, (const double[]){real, 1 / ldexp((double)multiplier, shift - 31)});
}

/* To the state and from it to y; products and quotients in float32. */
static void fixed_svdf(const struct ref_maker *m)
{
    const float state = ref_scale(ir_in(m->g, m->op, 4)), time = ref_scale(ir_in(m->g, m->op, 2));
    const double d[2] = {(double)(ref_scale(m->x) * ref_scale(m->b) / state),
                         (double)(state * time / ref_scale(m->y))};

    ref_set_fixed(m, 2, d);
}

/* Sums to gates of 2^-12, products in float32; then o * tanh(c), of 2^-15 each, to the output. */
static void fixed_lstm(const struct ref_maker *m)
{
    const struct ir_tensor *r = ir_in(m->g, m->op, 2), *h = ir_in(m->g, m->op, 4);
    double d[9];

    for (uint32_t i = 0; i < 4; i++) {
        d[i] = (double)ldexpf(m->b->quant.scale[i] * ref_scale(m->x), 12);
        d[4 + i] = (double)ldexpf(r->quant.scale[i] * ref_scale(h), 12);
    }
    d[8] = (double)(float)ldexp(1 / (double)ref_scale(m->y), -30);
    ref_set_fixed(m, 9, d);
}

/* Each operand in its own scale; other types are compared as they are. */
static void fixed_compare(const struct ref_maker *m)
{
    double d[2];

    if (m->x->type != IR_I8 && m->x->type != IR_U8)
        return;
    d[0] = (double)ref_scale(m->x);
    d[1] = (double)ref_scale(m->b);
    for (ref_set_fixed(m, 2, d); m->k->shift[0] > 15 || m->k->shift[1] > 15;) {
        d[0] /= 2; /* 16 bits shifted by more leave int32 */
        d[1] /= 2;
        ref_set_fixed(m, 2, d);
    }
}

static void fixed_product(const struct ref_maker *m)
{
    set_one(m, (double)(ref_scale(m->x) * ref_scale(m->b)) / (double)ref_scale(m->y));
}

static void fixed_add(const struct ref_maker *m)
{
    common_scale(m, m->x->type == IR_I16 ? 15 : 20, false);
}

static void fixed_squared(const struct ref_maker *m)
{
    common_scale(m, 7, true);
}

static void fixed_prelu(const struct ref_maker *m)
{
    two_sided(m, ref_scale(m->b));
}

static void fixed_of_weights(const struct ref_maker *m)
{
    const double unit = (double)ref_scale(m->x) * (double)ref_scale(ir_in(m->g, m->op, 2));

    set_one(m, unit / (double)ref_scale(m->y));
}

static void fixed_ratio(const struct ref_maker *m)
{
    if (m->x->type != IR_F32)
        set_one(m, (double)ref_scale(m->x) / (double)ref_scale(m->y));
}

static void fixed_i16_two_sided(const struct ref_maker *m)
{
    const bool leaky = ir_op_has(m->op->opcode, IR_ALPHA_BITS);
    const float alpha = leaky ? ref_attr_float(m->op, IR_ALPHA_BITS) : 1;
    int32_t *multiplier;

    two_sided(m, fabsf(alpha));
    multiplier = (int32_t *)(uintptr_t)m->k->multiplier;
    multiplier[1] = alpha < 0 ? -multiplier[1] : multiplier[1];
}

static void fixed_i16_table(const struct ref_maker *m)
{
    ref_wide_table(m);
}

/* The largest left shifts, by column SHIFTS. */
static const int32_t most_sum = 0, most_table = 22, most_softmax = 31, most_product = 14;

/* The scale that a result has before it is requantised. */
static float split_softmax(const struct ref_maker *m)
{
    (void)m;
    return 1.0f / 256;
}

static float split_pool(const struct ref_maker *m)
{
    return ref_scale(m->x);
}

static const struct {
    void (*fixed)(const struct ref_maker *m);
    void (*of_i16)(const struct ref_maker *m); /* where int16 differs from 8 bits */
    const int32_t *most_shift;                 /* NULL: 30 */
    float (*split)(const struct ref_maker *m);
} makers[] = {
#define OPERATOR(code, name, columns) {columns},
#define FIXED(fn)                     .fixed = fixed_##fn,
#define FIXED_I16(fn)                 .of_i16 = fixed_i16_##fn,
#define SHIFTS(most)                  .most_shift = &most_##most,
#define SPLIT(fn)                     .split = split_##fn,
#include "operators/operators.def"
};

/* LUT is a table in the graph itself: x + 128 is the byte with its top bit flipped. */
static void given_table(const struct ref_maker *m)
{
    uint8_t *table = ARENA_ARRAY(m->arena, uint8_t, 256);

    for (uint32_t i = 0; i < 256 && m->op->fixed.table; i++)
        table[i ^ 0x80] = (uint8_t)m->op->fixed.table[i];
    m->k->table = table;
}

/* Return true for a left shift that the formulas leave undefined (NUMERICS.md, "Building
 * blocks"). */
static bool beyond_fixed_point(const struct ref_maker *m)
{
    const int32_t *own = makers[m->op->opcode].most_shift, most = own ? *own : 30;

    if (makers[m->op->opcode].split) { /* its result is requantised */
        const float from = makers[m->op->opcode].split(m);
        int32_t multiplier;
        int8_t shift;

        ref_fixed_point((double)from / (double)ref_scale(m->y), &multiplier, &shift);
        if (shift > 22)
            return true;
    }
    for (uint32_t i = 0; i < m->k->n; i++)
        if (m->k->shift[i] > most)
            return true;
    return false;
}

static void computed(const struct ref_maker *m)
{
    const enum ir_opcode opcode = m->op->opcode;
    const bool floats = m->x->type == IR_F32 && opcode != IR_OP_QUANTIZE;

    set_clamp(m, m->y);
    if (floats || (ir_is_int(m->x->type) && ir_op_info(m->op->opcode)->has_int))
        return;
    if (m->x->type == IR_I16 && makers[opcode].of_i16 != NULL) {
        makers[opcode].of_i16(m);
        return;
    }
    if (ref_byte_table(m))
        return;
    if (m->o->onnx_rounding && m->x->type != IR_I16 && ref_real_scale(m))
        return;
    if (makers[opcode].fixed != NULL)
        makers[opcode].fixed(m);
    if (m->x->type != IR_I16 && beyond_fixed_point(m) && ref_real_scale(m))
        m->k->n = 0;
}

/* Three float32 add up to the double that LiteRT multiplies with. */
static void given_litert(const struct ref_maker *m)
{
    const struct ir_fixed *f = &m->op->fixed;
    double *d = ARENA_ARRAY(m->arena, double, f->n_real / 3);

    for (uint32_t i = 0; i < f->n_real / 3; i++)
        d[i] = (double)f->real[3 * i] + (double)f->real[3 * i + 1] + (double)f->real[3 * i + 2];
    m->k->litert = d;
    m->k->n_litert = f->n_real / 3;
}

static void given(const struct ref_maker *m)
{
    const struct ir_fixed *f = &m->op->fixed;

    *m->k = (struct ref_constants){.n = f->n,
                                   .multiplier = f->multiplier,
                                   .shift = f->shift,
                                   .low = f->act_min,
                                   .high = f->act_max,
                                   .wide = f->wide,
                                   .n_wide = f->n_wide,
                                   .real = f->real,
                                   .n_real = f->n_real,
                                   .inner_zero = ref_lowest(m->y->type)};
    if (m->op->attr[IR_HALF_AWAY] != 0)
        given_litert(m);
}

const struct ref_constants *ref_constants_of(struct arena *a, const struct ir_graph *g,
                                             const struct ir_op *op, const struct ref_options *o)
{
    struct ref_constants *k = ARENA_NEW(a, struct ref_constants);
    const struct ref_maker m = {a, g, op, ir_in(g, op, 0), ir_in(g, op, 1), ir_out(g, op, 0), o, k};
    int32_t pad[4];

    if (o->legalised)
        given(&m);
    else
        computed(&m);
    if (op->opcode == IR_OP_LUT)
        given_table(&m);
    if (strcmp(ir_op_info(op->opcode)->name, "gru") == 0) /* sums, state, what is multiplied */
        k->work =
            ARENA_ARRAY(a, int32_t, 4 * (size_t)m.b->dim[0] + 3 * (size_t)ir_dim_back(m.y, 0));
    ref_pads(&m, pad);
    k->pad_top = pad[0];
    k->pad_left = pad[1];
    return k;
}
