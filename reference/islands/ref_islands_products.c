/* ref_islands_products.c - products of quantised values whose result stays float32: the sums of int32, in float32
 * times s_x * s_w, plus the bias. Float32 weights are three digits to the base 128, each with its own sums. */
#include <math.h>
#include <string.h>

#include "ref_islands_own.h"

/* Numbers for each output channel. */
static uint32_t channel_const(struct isl *s, const char *name, int32_t n, const float *v)
{
    return isl_const(s, name, IR_F32, 1, &n, v, NULL);
}

static size_t terms(const struct isl_weights *w)
{
    return (size_t)w->dim[1] * (size_t)w->dim[2] * (size_t)w->dim[3];
}

/* Two computed matrices of one scale each. */
static bool are_matrices(const struct isl *s, const struct isl_deferred *p)
{
    const struct ir_tensor *a = s->to->tensor[p->in[0]], *b = s->to->tensor[p->in[p->n_in - 1]];

    return p->n_in == 2 && !isl_reads_wide(s, p) && a->quant.n == 1 && b->quant.n == 1 &&
           (int64_t)a->dim[a->rank - 1] * 255 * 255 <= INT32_MAX;
}

/* The float32 weights may be digits. */
static bool has_real_weights(const struct isl *s, const struct isl_deferred *p)
{
    const size_t n = terms(&p->w), all = n * (size_t)p->w.dim[0];
    const struct ir_tensor *x = s->to->tensor[p->in[0]];

    if (x->type == IR_F32 || x->type == IR_I16 || x->quant.n != 1 || n < 16 || n > 33025 ||
        p->copies > 1 || !ir_op_has(p->opcode, IR_DIGITS))
        return false;
    for (size_t i = 0; i < all; i++)
        if (!isfinite(((const float *)p->w.data)[i]))
            return false;
    return true;
}

bool isl_stays_float(const struct isl *s, const struct isl_deferred *p)
{
    if (!s->exact && p->has_weights && p->w.type == IR_F32)
        return has_real_weights(s, p);
    if (s->exact || isl_is_float(s, p) || !ir_op_info(p->opcode)->has_macs)
        return false;
    if (!p->has_weights)
        return are_matrices(s, p);
    if (!ir_op_has(p->opcode, IR_DIGITS) || p->copies > 1 ||
        s->to->tensor[p->in[0]]->quant.n != 1 || p->w.n_scale == 0)
        return false;
    for (uint32_t c = 1; c < p->w.n_scale; c++)
        if (p->w.zero[c] != p->w.zero[0])
            return false;
    return terms(&p->w) * 255 * 255 <= INT32_MAX;
}

/* Dense weights as [K,OC], those of images as [OC,KH,KW,C/G]. */
static uint32_t ordered_weights(struct isl *s, const struct isl_deferred *p, bool image)
{
    const struct isl_weights *w = &p->w;
    const int32_t dense[2] = {w->dim[1], w->dim[0]},
                  images[4] = {w->dim[0], w->dim[2], w->dim[3], w->dim[1]};
    const size_t n = terms(w), cells = (size_t)w->dim[2] * (size_t)w->dim[3],
                 deep = (size_t)w->dim[1], channels = (size_t)w->dim[0];
    const struct ir_quant q = isl_one_scale(s, w->scale[0], w->zero[0]);
    uint8_t *to = arena_alloc(s->arena, n * channels);

    for (size_t c = 0; c < channels; c++)
        for (size_t k = 0; k < n; k++) {
            const uint8_t v = ((const uint8_t *)w->data)[c * n + k];

            if (image)
                to[c * n + k % cells * deep + k / cells] = v;
            else
                to[k * channels + c] = v;
        }
    return isl_const(s, isl_inner(s, p->y->name, "weights"), w->type, image ? 4 : 2,
                     image ? images : dense, to, &q);
}

static uint32_t zero_of(struct isl *s, uint32_t id)
{
    const struct ir_tensor *t = s->to->tensor[id];
    uint8_t *code = arena_alloc(s->arena, 1);

    *code = (uint8_t)t->quant.zero_point[0];
    return isl_const(s, isl_inner(s, t->name, "zero"), t->type, 0, NULL, code, &t->quant);
}

static uint32_t make_sums(struct isl *s, const struct isl_deferred *p)
{
    const bool image = ir_op_has(p->opcode, IR_KERNEL_H);
    const char *name = isl_inner(s, p->y->name, "int32");
    uint32_t in[4] = {p->in[0]}, y;
    int32_t dim[4];

    if (image) {
        in[0] = isl_to_nhwc(s, in[0]);
        isl_nhwc_shape(p->y, dim);
        y = isl_tensor(s, name, IR_I32, 4, dim, NULL);
    } else {
        y = isl_tensor(s, name, IR_I32, p->y->rank, p->y->dim, NULL);
    }
    in[1] = p->has_weights ? ordered_weights(s, p, image) : p->in[1];
    in[2] = zero_of(s, in[0]);
    in[3] = zero_of(s, in[1]);
    if (image)
        memcpy(isl_op_conv_integer(s, 4, in, y)->attr, p->attr, sizeof p->attr);
    else
        isl_op_matmul_integer(s, 4, in, y);
    return y;
}

/* A float32 tensor of the shape of `like`. */
static uint32_t real_like(struct isl *s, const struct isl_deferred *p, const char *what,
                          uint32_t like)
{
    const struct ir_tensor *t = s->to->tensor[like];

    return isl_tensor(s, isl_inner(s, p->y->name, what), IR_F32, t->rank, t->dim, NULL);
}

static uint32_t float_sums(struct isl *s, const struct isl_deferred *p)
{
    const uint32_t sums = make_sums(s, p), y = real_like(s, p, "float", sums);

    isl_op_cast(s, 1, &sums, y);
    return y;
}

/* --- int16 --- */

/* 256 times the sums of x's upper bytes, plus those of the lower ones, which are 128 above their int8. */
static uint32_t byte_sums(struct isl *s, const struct isl_deferred *p)
{
    static const float places = 256;
    const struct ir_tensor *x = s->to->tensor[p->in[0]];
    uint32_t sum = IR_NONE, in[2];

    for (int high = 1; high >= 0; high--) {
        const struct ir_quant q = isl_one_scale(s, x->quant.scale[0], high ? 0 : -128);
        const uint32_t byte = isl_tensor(s, isl_inner(s, x->name, high ? "first" : "second"), IR_I8,
                                         x->rank, x->dim, &q);
        struct isl_deferred y = *p;

        isl_op_byte_of(s, 1, p->in, byte)->attr[IR_HIGH] = high;
        y.in = arena_memdup(s->arena, &byte, sizeof byte);
        in[1] = float_sums(s, &y);
        if (high) {
            in[0] = in[1];
            in[1] = isl_const(s, isl_inner(s, x->name, "places"), IR_F32, 0, NULL, &places, NULL);
            sum = real_like(s, p, "upper", in[0]);
            isl_op_mul(s, 2, in, sum);
        }
    }
    in[0] = sum;
    sum = real_like(s, p, "both", in[0]);
    isl_op_add(s, 2, in, sum);
    return sum;
}

/* --- float32 weights --- */

/* The scale in which the greatest weight of channel `c` is 127 * 128^2. */
static float digit_scale(const struct isl_weights *w, size_t c)
{
    const float *v = (const float *)w->data + c * terms(w);
    float most = 0, scale;

    for (size_t i = 0; i < terms(w); i++)
        if (fabsf(v[i]) > most)
            most = fabsf(v[i]);
    scale = (float)((double)most / 2080768);
    return scale < 0x1p-126f ? 1 : scale;
}

/* The digit of v that counts 128^2, 128 or 1. */
static int8_t digit(double v, int of)
{
    const double high = floor((v + 8256) / 16384), rest = v - high * 16384,
                 middle = floor((rest + 64) / 128);

    return (int8_t)(of == 2 ? high : of == 1 ? middle : rest - middle * 128);
}

/* `p` with digit `of` of its weights, whole numbers of *scale. */
static struct isl_deferred with_digit(struct isl *s, const struct isl_deferred *p, int of,
                                      const float *scale)
{
    const size_t each = terms(&p->w), n = each * (size_t)p->w.dim[0];
    int8_t *to = arena_alloc(s->arena, n);
    struct isl_deferred y = *p;

    for (size_t i = 0; i < n; i++)
        to[i] = digit(rint((double)((const float *)p->w.data)[i] / (double)scale[i / each]), of);
    y.w.type = IR_I8;
    y.w.data = to;
    y.w.n_scale = (uint32_t)p->w.dim[0];
    y.w.scale = scale;
    y.w.zero = ARENA_ARRAY(s->arena, int32_t, (size_t)p->w.dim[0]);
    return y;
}

/* The sums in float32: (S2 * 128 + S1) * 128 + S0. *scale: of each channel. */
static uint32_t digit_sums(struct isl *s, const struct isl_deferred *p, float *scale)
{
    static const float base = 128;
    const uint32_t factor =
        isl_const(s, isl_inner(s, p->y->name, "base"), IR_F32, 0, NULL, &base, NULL);
    struct isl_deferred y;
    uint32_t sum;

    for (size_t c = 0; c < (size_t)p->w.dim[0]; c++)
        scale[c] = digit_scale(&p->w, c);
    y = with_digit(s, p, 2, scale);
    sum = float_sums(s, &y);
    for (int of = 1; of >= 0; of--) {
        uint32_t in[2] = {sum, factor};

        sum = real_like(s, p, "higher", in[0]);
        isl_op_mul(s, 2, in, sum);
        y = with_digit(s, p, of, scale);
        in[0] = sum;
        in[1] = float_sums(s, &y);
        sum = real_like(s, p, "digits", in[0]);
        isl_op_add(s, 2, in, sum);
    }
    return sum;
}

/* --- any weights --- */

/* The scale of output channel `c` of the second operand. */
static float second_scale(const struct isl *s, const struct isl_deferred *p, int32_t c)
{
    if (!p->has_weights)
        return s->to->tensor[p->in[1]]->quant.scale[0];
    return p->w.scale[p->w.n_scale > 1 ? c : 0];
}

static float bias_at(const struct isl_deferred *p, int32_t c, float s_x)
{
    if (p->sums == NULL)
        return (float)p->bias[c];
    return (float)(p->sums[c] * (double)s_x * (double)p->w.scale[p->w.n_scale > 1 ? c : 0]);
}

uint32_t isl_make_scaled_sums(struct isl *s, const struct isl_deferred *p)
{
    const int32_t n = p->has_weights ? p->w.dim[0] : 1;
    const float s_x = s->to->tensor[p->in[0]]->quant.scale[0];
    const bool real = p->has_weights && p->w.type == IR_F32;
    float *scale = ARENA_ARRAY(s->arena, float, (size_t)n),
          *b = ARENA_ARRAY(s->arena, float, (size_t)n);
    uint32_t in[2] = {real                   ? digit_sums(s, p, scale)
                      : isl_reads_wide(s, p) ? byte_sums(s, p)
                                             : float_sums(s, p)},
             y;

    for (int32_t c = 0; c < n; c++)
        scale[c] = s_x * (real ? scale[c] : second_scale(s, p, c));
    in[1] = channel_const(s, isl_inner(s, p->y->name, "scales"), n, scale);
    y = real_like(s, p, "times", in[0]);
    isl_op_mul(s, 2, in, y);
    if (p->bias != NULL || p->sums != NULL) {
        for (int32_t c = 0; c < n; c++)
            b[c] = bias_at(p, c, s_x);
        in[0] = y;
        in[1] = channel_const(s, isl_inner(s, p->y->name, "bias"), n, b);
        y = real_like(s, p, "plus", in[0]);
        isl_op_add(s, 2, in, y);
    }
    if (isl_is_clamped(p)) {
        in[0] = y;
        y = real_like(s, p, "clamped", in[0]);
        isl_set_bounds(isl_op_clip(s, 1, in, y)->attr, p);
    }
    if (ir_op_has(p->opcode, IR_KERNEL_H))
        return isl_from_nhwc(s, p->y->name, y, p->y->rank);
    s->to->tensor[y]->name = p->y->name;
    return y;
}
