/* requant.c - fill op->fixed of every operator: multipliers, shifts, clamps.
 * in: scales in the tensors' quant, float32.  out: integers; nothing after this pass (but lut.c,
 * for tables) looks at a scale again. Each formula is NUMERICS.md's, "Operators"; the goldens of
 * tests/reference/test_quick_models.c pin them. */
#include <math.h>
#include <string.h>

#include "compiler/ir/float_numbers.h"
#include "new_ops.h"
#include "table16.h"

static float scale_of(const struct ir_tensor *t)
{
    return t->quant.scale[0];
}

static void set_one(struct ir_graph *g, struct ir_op *op, double real)
{
    const struct lgl_fixed_scale scale = lgl_fixed_scale(real);

    lgl_set_scales(g, op, 1, &scale);
}

/* MBQM shifts an int32 left by it at most; a difference of quantised values, where no bit is lost. */
enum { MOST_SHIFT = 30, MOST_CODE_SHIFT = 22 };

/* An operator whose constants are made. */
struct fixing {
    struct ir_graph *g;
    struct ir_op *op;
    const struct lgl_options *o;
    struct diag *d;
};

/* Per channel, in double: s_in * s_w[c] / s_out. uint8 kernels take the product in float32. */
static enum status fixed_weights(const struct fixing *f)
{
    struct ir_graph *g = f->g;
    struct ir_op *op = f->op;
    const struct ir_tensor *x = ir_in(g, op, 0), *w = ir_in(g, op, 1), *y = ir_out(g, op, 0);
    struct lgl_fixed_scale *scale = ARENA_ARRAY(g->arena, struct lgl_fixed_scale, w->quant.n);

    for (uint32_t i = 0; i < w->quant.n; i++) {
        double product = (double)scale_of(x) * (double)w->quant.scale[i];

        if (x->type == IR_U8)
            product = (double)(scale_of(x) * w->quant.scale[i]);
        scale[i] = lgl_fixed_scale(product / (double)scale_of(y));
    }
    lgl_set_scales(g, op, w->quant.n, scale);
    return ST_OK;
}

/* LiteRT: round_half_away(acc * scale), a double; here as three floats whose sum it is. */
static enum status real_dense(const struct fixing *f)
{
    struct ir_graph *g = f->g;
    struct ir_op *op = f->op;
    const struct ir_tensor *x = ir_in(g, op, 0), *w = ir_in(g, op, 1), *y = ir_out(g, op, 0);
    float *real = ARENA_ARRAY(g->arena, float, 3 * (size_t)w->quant.n);

    if (x->type == IR_I16)
        return FAIL(f->d, ST_UNSUPPORTED, "--fc-scale=litert: expected int8 or uint8, found int16");
    for (uint32_t i = 0; i < w->quant.n; i++) {
        double rest = (double)scale_of(x) * (double)w->quant.scale[i] / (double)scale_of(y);

        for (uint32_t k = 0; k < 3; k++) {
            real[3 * i + k] = (float)rest;
            rest -= (double)real[3 * i + k];
        }
    }
    op->attr[IR_HALF_AWAY] = 1;
    op->fixed.n_real = 3 * w->quant.n;
    op->fixed.real = real;
    return ST_OK;
}

static enum status fixed_dense(const struct fixing *f)
{
    struct ir_graph *g = f->g;
    struct ir_op *op = f->op;
    const struct ir_tensor *x = ir_in(g, op, 0), *w = ir_in(g, op, 1), *y = ir_out(g, op, 0);
    const float narrow = scale_of(x) * scale_of(w);
    const double wide = (double)scale_of(x) * (double)scale_of(w);

    if (f->o->fc_scale == LGL_FC_LITERT)
        return real_dense(f);
    if (w->quant.n > 1)
        return fixed_weights(f);
    set_one(g, op, (f->o->fc_scale == LGL_FC_TFLM ? wide : (double)narrow) / (double)scale_of(y));
    return ST_OK;
}

/* Operands are brought to 2 * max(s1, s2) / 2^20 (int16: 2^15), added, brought to s_out. With one
 * scale for both, one step of them fills 8 bits long before the last factor is 1/2. */
static enum status fixed_add(const struct fixing *f)
{
    struct ir_graph *g = f->g;
    struct ir_op *op = f->op;
    const float s1 = scale_of(ir_in(g, op, 0)), s2 = scale_of(ir_in(g, op, 1));
    const double twice_max = 2 * (double)(s1 > s2 ? s1 : s2);
    const int32_t up = ir_in(g, op, 0)->type == IR_I16 ? 15 : 20;
    const double real = twice_max / ((double)(1 << up) * (double)scale_of(ir_out(g, op, 0)));
    const double last = s1 == s2 && up == 20 ? fmin(real, 0.5) : real;
    const struct lgl_fixed_scale scale[3] = {lgl_fixed_scale((double)s1 / twice_max),
                                             lgl_fixed_scale((double)s2 / twice_max),
                                             lgl_fixed_scale(last)};

    lgl_set_scales(g, op, 3, scale);
    return ST_OK;
}

/* (m, e) of s_in / s_out, then m is divided by n with all extra bits that it can carry. */
static enum status fixed_mean(const struct fixing *f)
{
    struct ir_graph *g = f->g;
    struct ir_op *op = f->op;
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    struct lgl_fixed_scale scale = lgl_fixed_scale((double)scale_of(x) / (double)scale_of(y));
    const int64_t n = (int64_t)(ir_elements(x) / ir_elements(y));
    int sh = 0;

    while (n >> (sh + 1) != 0)
        sh++;
    if (sh > 32)
        sh = 32;
    if (sh > 31 + scale.shift)
        sh = 31 + scale.shift;
    scale.multiplier = (int32_t)(((int64_t)scale.multiplier << sh) / n);
    scale.shift = (int8_t)(scale.shift - sh);
    lgl_set_scales(g, op, 1, &scale);
    return ST_OK;
}

/* True if no shift brings quantised values of scale `from` to `to`: QUANTIZE rounds them in float32. */
static bool far_apart(double from, const struct ir_tensor *to)
{
    return lgl_fixed_scale(from / (double)scale_of(to)).shift > MOST_CODE_SHIFT;
}

/* The operator writes a tensor in `quant`, which a QUANTIZE after it brings to its result. */
static void split(struct ir_graph *g, struct ir_op *op, struct ir_quant quant)
{
    struct ir_tensor *y = ir_out(g, op, 0);
    struct ir_tensor *inner =
        ir_tensor_new(g, arena_printf(g->arena, "%s/inner", y->name), y->type, y->rank, y->dim);
    struct ir_op *after = ir_make_quantize(g, op->row, 1, 1);

    inner->quant = quant;
    inner->producer = op->id;
    after->in[0] = inner->id;
    after->out[0] = y->id;
    op->out[0] = inner->id;
}

/* Give SOFTMAX the only output scale of TFLite's algorithm, 1/256 with the lowest value for 0; add a
 * QUANTIZE to any other scale (ONNX). */
static void split_softmax(struct ir_graph *g, struct ir_op *op)
{
    static const float scale = 1.0f / 256;
    static const int32_t lowest[2] = {-128, 0};
    const struct ir_tensor *y = ir_out(g, op, 0);
    const int32_t *zero = &lowest[y->type == IR_U8];

    if (y->type == IR_I16 || (y->quant.scale[0] == scale && y->quant.zero_point[0] == *zero) ||
        far_apart((double)scale, y))
        return;
    split(g, op, (struct ir_quant){1, 0, &scale, zero});
}

/* Non-negative values by s_in / s_out, negative ones times alpha by s_in * s_alpha / s_out; the
 * ratios are taken in float32. */
static enum status fixed_prelu(const struct fixing *f)
{
    struct ir_graph *g = f->g;
    struct ir_op *op = f->op;
    const float x = scale_of(ir_in(g, op, 0)), alpha = scale_of(ir_in(g, op, 1));
    const float y = scale_of(ir_out(g, op, 0));
    const struct lgl_fixed_scale scale[3] = {
        lgl_fixed_scale((double)(x / y)), lgl_fixed_scale((double)(x * alpha / y)), {0, 0}};

    lgl_set_scales(g, op, 3, scale);
    return ST_OK;
}

/* As ADD with 7 bits of headroom; the square has the square of the common scale. */
static enum status fixed_squared(const struct fixing *f)
{
    struct ir_graph *g = f->g;
    struct ir_op *op = f->op;
    const double s1 = (double)scale_of(ir_in(g, op, 0)), s2 = (double)scale_of(ir_in(g, op, 1));
    const double twice_max = 2 * fmax(s1, s2);
    const struct lgl_fixed_scale scale[3] = {
        lgl_fixed_scale(s1 / twice_max), lgl_fixed_scale(s2 / twice_max),
        lgl_fixed_scale(twice_max * twice_max / (16384.0 * (double)scale_of(ir_out(g, op, 0))))};

    lgl_set_scales(g, op, 3, scale);
    return ST_OK;
}

/* Each operand, 8 bits up, by its own scale; by a power of two of both that keeps them in int32. */
static enum status fixed_compare(const struct fixing *f)
{
    const struct ir_tensor *a = ir_in(f->g, f->op, 0), *b = ir_in(f->g, f->op, 1);
    double down = 1;

    if (a->type != IR_I8 && a->type != IR_U8)
        return ST_OK;
    const double most = fmax((double)scale_of(a), (double)scale_of(b));
    while (lgl_fixed_scale(most * down).shift > 15)
        down /= 2;
    lgl_set_scales(f->g, f->op, 2,
                   (const struct lgl_fixed_scale[]){lgl_fixed_scale((double)scale_of(a) * down),
                                                    lgl_fixed_scale((double)scale_of(b) * down)});
    return ST_OK;
}

static bool padded(const int32_t *a)
{
    return a[IR_PAD_TOP] != 0 || a[IR_PAD_LEFT] != 0 || a[IR_PAD_BOTTOM] != 0 ||
           a[IR_PAD_RIGHT] != 0;
}

enum { MAX_POOL_WEIGHTS = 1 << 20 };

/* TFLite's average has the scale of its input: another one (ONNX) is a mean, a convolution, or,
 * where the border has fewer cells, a QUANTIZE after it. */
static void split_pool(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    const int64_t cells = (int64_t)op->attr[IR_KERNEL_H] * op->attr[IR_KERNEL_W];

    if ((y->quant.scale[0] == x->quant.scale[0] &&
         y->quant.zero_point[0] == x->quant.zero_point[0]) ||
        far_apart((double)scale_of(x), y))
        return;
    if (!padded(op->attr) && cells * x->dim[3] <= MAX_POOL_WEIGHTS) { /* one rounding */
        if (!lgl_become_mean(g, op))
            lgl_become_sums(g, op);
        return;
    }
    split(g, op, x->quant);
}

/* A scale in Q5.26: 1, by which all differences of quantised values are as good as 0, to 2^31 - 1. */
static double q5_26(double scale)
{
    return fmax(fmin(scale * 67108864.0, 2147483647.0), 1);
}

/* beta * s_in */
static enum status fixed_softmax(const struct fixing *f)
{
    struct ir_graph *g = f->g;
    struct ir_op *op = f->op;
    const double beta = (double)ir_attr_float(op, IR_BETA_BITS);

    if (ir_out(g, op, 0)->type != IR_I16 && far_apart(1.0 / 256, ir_out(g, op, 0)) &&
        lgl_float_requant(g, op))
        return ST_OK;
    set_one(g, op, q5_26(beta * (double)scale_of(ir_in(g, op, 0))));
    return ST_OK;
}

/* s_in in Q5.26 as SOFTMAX has it, and its reciprocal, by which the logarithm of the sum becomes a
 * difference of quantised values. */
static enum status fixed_log_softmax(const struct fixing *f)
{
    struct ir_graph *g = f->g;
    struct ir_op *op = f->op;
    const struct lgl_fixed_scale in = lgl_fixed_scale(q5_26((double)scale_of(ir_in(g, op, 0))));
    const struct lgl_fixed_scale scale[2] = {
        in, lgl_fixed_scale(ldexp(1, 31 - in.shift) / (double)in.multiplier)};

    lgl_set_scales(g, op, 2, scale);
    return ST_OK;
}

static enum status fixed_lstm(const struct fixing *f)
{
    struct lgl_fixed_scale scale[9];

    lgl_lstm_scales(f->g, f->op, scale);
    lgl_set_scales(f->g, f->op, 9, scale);
    return ST_OK;
}

static enum status fixed_svdf(const struct fixing *f)
{
    struct lgl_fixed_scale scale[2];

    lgl_svdf_scales(f->g, f->op, scale);
    lgl_set_scales(f->g, f->op, 2, scale);
    return ST_OK;
}

static void set_clamp(struct ir_op *op, const struct ir_tensor *y, enum lgl_rounding rounding)
{
    const enum ir_activation own = ir_op_info(op->opcode)->activation;
    const bool alone = y->type == IR_I16 && (own == IR_ACT_RELU || own == IR_ACT_RELU6);

    if (y->quant.n == 1 && ir_is_code(y->type))
        lgl_clamp(y, alone ? ir_unary_numbers(op) : ir_fused_bounds(op), rounding,
                  &op->fixed.act_min, &op->fixed.act_max);
}

/* Fix an int16 operator that has no table form: scale non-negative values by the first multiplier and
 * negative ones by the second, both from ratios in float32. */
static enum status fixed_i16_two_sided(const struct fixing *f)
{
    struct ir_graph *g = f->g;
    struct ir_op *op = f->op;
    const float x = scale_of(ir_in(g, op, 0)), y = scale_of(ir_out(g, op, 0));
    const float alpha = ir_op_has(op->opcode, IR_ALPHA_BITS) ? ir_attr_float(op, IR_ALPHA_BITS) : 1;
    struct lgl_fixed_scale scale[3] = {lgl_fixed_scale((double)(x / y)), {0, 0}, {0, 0}};

    scale[1] = lgl_fixed_scale((double)fabsf(x * alpha / y));
    if (alpha < 0)
        scale[1].multiplier = -scale[1].multiplier;
    lgl_set_scales(g, op, 3, scale);
    return ST_OK;
}

static enum status fixed_i16_table(const struct fixing *f)
{
    lgl_table16(f->g, f->op, scale_of(ir_in(f->g, f->op, 0)), ir_attr_float(f->op, IR_BETA_BITS));
    return ST_OK;
}

static enum status fixed_mul(const struct fixing *f)
{
    const float a = scale_of(ir_in(f->g, f->op, 0)), b = scale_of(ir_in(f->g, f->op, 1));

    set_one(f->g, f->op, (double)(a * b / scale_of(ir_out(f->g, f->op, 0))));
    return ST_OK;
}

/* The product of the two lower scales is float32, as the reference's. */
static enum status fixed_div(const struct fixing *f)
{
    const float a = scale_of(ir_in(f->g, f->op, 0)), b = scale_of(ir_in(f->g, f->op, 1));

    set_one(f->g, f->op, (double)(a / (b * scale_of(ir_out(f->g, f->op, 0)))));
    return ST_OK;
}

/* s_in / s_out^(1/n): each of the n factors is scaled, so that the product stays in int32. */
static enum status fixed_prod(const struct fixing *f)
{
    const struct ir_tensor *x = ir_in(f->g, f->op, 0), *y = ir_out(f->g, f->op, 0);
    const double n = (double)(ir_elements(x) / ir_elements(y));

    set_one(f->g, f->op, (double)scale_of(x) / pow((double)scale_of(y), 1.0 / n));
    return ST_OK;
}

static enum status fixed_product(const struct fixing *f)
{
    const float a = scale_of(ir_in(f->g, f->op, 0)), b = scale_of(ir_in(f->g, f->op, 1));

    set_one(f->g, f->op, (double)(a * b) / (double)scale_of(ir_out(f->g, f->op, 0)));
    return ST_OK;
}

/* The sum of products is in steps of s_in * s_w. */
static enum status fixed_of_weights(const struct fixing *f)
{
    const double in = (double)scale_of(ir_in(f->g, f->op, 0)),
                 weight = (double)scale_of(ir_in(f->g, f->op, 2));

    set_one(f->g, f->op, in * weight / (double)scale_of(ir_out(f->g, f->op, 0)));
    return ST_OK;
}

static enum status fixed_ratio(const struct fixing *f)
{
    const struct ir_tensor *x = ir_in(f->g, f->op, 0), *y = ir_out(f->g, f->op, 0);

    if (x->type != IR_F32)
        set_one(f->g, f->op, (double)scale_of(x) / (double)scale_of(y));
    return ST_OK;
}

/* In the scale of its input by now (split_pool), unless that is too far from it. */
static enum status fixed_average(const struct fixing *f)
{
    if (far_apart((double)scale_of(ir_in(f->g, f->op, 0)), ir_out(f->g, f->op, 0)))
        (void)lgl_float_requant(f->g, f->op);
    return ST_OK;
}

/* Column SHIFTS, and the largest left shift of each. */
enum shifts { SHIFTS_else, SHIFTS_sum, SHIFTS_table, SHIFTS_softmax, SHIFTS_product };
static const int32_t most_shifts[] = {MOST_SHIFT, 0, MOST_CODE_SHIFT, 31, 14};

static const struct {
    enum status (*fixed)(const struct fixing *f);
    enum status (*of_i16)(const struct fixing *f); /* where int16 differs from 8 bits */
    enum shifts shifts;
    void (*split)(struct ir_graph *g, struct ir_op *op);
} makers[] = {
#define OPERATOR(code, name, columns) {columns},
#define FIXED(fn)                     .fixed = fixed_##fn,
#define FIXED_I16(fn)                 .of_i16 = fixed_i16_##fn,
#define SHIFTS(most)                  .shifts = SHIFTS_##most,
#define SPLIT(fn)                     .split = split_##fn,
#include "operators/operators.def"
};

static enum status requant_op(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o,
                              struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    const struct fixing f = {g, op, o, d};

    set_clamp(op, ir_out(g, op, 0), op->fixed.n ? LGL_ROUND_TFLITE : o->rounding);
    if (op->fixed.n)
        return ST_OK; /* the file states them (TOSA) */
    if (x != NULL && x->type == IR_F32 && op->opcode != IR_OP_QUANTIZE)
        return ST_OK; /* float arithmetic: nothing is fixed */
    if (x != NULL && ir_is_int(x->type) && ir_op_info(op->opcode)->has_int)
        return ST_OK;
    if (x != NULL && x->type == IR_I16 && makers[op->opcode].of_i16)
        return makers[op->opcode].of_i16(&f);
    if (o->rounding == LGL_ROUND_ONNX && x->type != IR_I16 && lgl_float_requant(g, op))
        return ST_OK;
    return makers[op->opcode].fixed ? makers[op->opcode].fixed(&f) : ST_OK;
}

/* The largest shift of the operator's constants. MBQM shifts an int32 left by it: beyond 30 (31 for SOFTMAX and
 * LOG_SOFTMAX, where it shifts 0 alone)
 * the reference is undefined; beyond 14 where the sums are int64, int16's (it means up to 7, but computes
 * these as well). A sum of two operands is brought down to its output alone; a table that only
 * requantised ends at 22 (lut.c). */
static int32_t most_shift(const struct ir_op *op, enum ir_type type)
{
    const enum shifts shifts = makers[op->opcode].shifts;

    if (type == IR_I16 && shifts != SHIFTS_sum && shifts != SHIFTS_product)
        return ir_op_info(op->opcode)->has_macs ? 14 : 15;
    return most_shifts[shifts];
}

/* (The second scale of LOG_SOFTMAX is one over the first.) */
static int32_t largest_shift(const struct ir_op *op)
{
    const uint32_t n = op->fixed.n - (op->opcode == IR_OP_LOG_SOFTMAX && op->fixed.n == 2);
    int32_t largest = INT8_MIN;

    for (uint32_t i = 0; i < n && op->fixed.n_wide != LGL_SIGMOID; i++)
        largest = op->fixed.shift[i] > largest ? op->fixed.shift[i] : largest;
    return largest;
}

/* Use float32 for scales that fixed point cannot hold, as in ONNX's rounding. Refuse operators
 * that have no such form. */
static enum status check_shifts(struct ir_graph *g, struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    const int32_t most = most_shift(op, x ? x->type : IR_I8), found = largest_shift(op);

    if (found <= most)
        return ST_OK;
    if (x && x->type != IR_I16 && lgl_float_requant(g, op)) {
        op->fixed.n = 0;
        op->fixed.multiplier = NULL;
        op->fixed.shift = NULL;
        return ST_OK;
    }
    return FAIL(d, ST_UNSUPPORTED, "the ratio of its scales: expected up to 2^%d, found about 2^%d",
                most, found);
}

enum status lgl_requant(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    const uint32_t n_op = g->n_op;

    for (uint32_t i = 0; i < n_op && o->rounding == LGL_ROUND_TFLITE; i++) {
        if (g->op[i]->dead || ir_out(g, g->op[i], 0)->type == IR_F32)
            continue;
        if (makers[g->op[i]->opcode].split)
            makers[g->op[i]->opcode].split(g, g->op[i]);
    }
    if (g->n_op != n_op)
        TRY(ir_link(g, d));
    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *op = g->op[i];
        enum status st = op->dead ? ST_OK : requant_op(g, op, o, d);

        if (st == ST_OK && !op->dead)
            st = check_shifts(g, op, d);
        if (st != ST_OK) {
            diag_prefix(d, "operator %u %s", op->row, op->row < g->n_row ? g->row[op->row].op : "");
            return st;
        }
    }
    return ST_OK;
}
