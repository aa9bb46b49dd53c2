/* layer_norm.c - LAYER_NORM as operators of int8 (NUMERICS.md, "LAYER_NORM").
 * in: LAYER_NORM.  out: rows [R,C] of the quantised values q, zero point 0, and of each row
 *   mean       round(sum q / C), and the rest in 1/254: FULLY_CONNECTED with ones
 *   squares    (q - mean)^2 as 256 hi + lo: SQUARED_DIFFERENCE, lo by the shift left that wraps
 *   octaves    their sum between low and 2 low, of 16 octaves: FULLY_CONNECTED
 *   steps      what each octave adds to the deviation's inverse: LUT of each channel
 *   inverse    their sum, coarse and a rest in 1/254: FULLY_CONNECTED
 *   products   q * inverse = 128 hi + lo, less those of the mean, and the rests': MUL, SUB
 * and the sum of the products times gamma plus beta: DEPTHWISE_CONV2D over them as rows of an image.
 * A weight of 256 is three tensors with 86, 85 and 85. Mean and squares of a row with fewer than 64
 * values are those of the row repeated: FULLY_CONNECTED with an identity for each time. Those of more
 * than 1016 are summed in pieces (norm_pieces.c). */
#include <math.h>
#include <string.h>

#include "compiler/ir/float_numbers.h"
#include "norm_ops.h"

enum {
    UNIT = 840, /* of the inverse's sum in its coarse part, which is at most MOST */
    MOST = 127,
    MOST_FAR = 63, /* where a value can be 255 steps from the mean beside that */
    LEAST = 64,    /* values of a row: those of a shorter one count several times, */
    ENOUGH = 512,  /* this many at least */
    WIDE = 512,    /* pixels of fewer channels are side by side in a row of the result */
    TERMS = 7      /* of the last sum */
};

/* Where the table begins, in squares of x's step. */
static const double least_variance = 0.25;

static const int8_t term[TERMS] = {86, 85, 85, 2, 1, -1, -1};

/* --- what the scales and epsilon give --- */

static double inverse_at(const struct lgl_norm *k, double sum)
{
    return UNIT * MOST / k->greatest / sqrt(sum / k->c + k->epsilon);
}

static void make_octave(struct lgl_norm *k, int32_t j, int32_t *above)
{
    const double low = (double)k->low[j];
    const int32_t weight = (int32_t)fmax(1, ceil((inverse_at(k, low) - *above) / (STEPS - 1)));

    k->weight[j] = (int8_t)weight;
    k->table[j * STEPS + STEPS - 1] = INT8_MIN; /* 0: all above it is there as well */
    for (int32_t i = 0; i < STEPS - 1; i++) {
        const double v = inverse_at(k, low + low * i / (STEPS - 1)) - *above;

        k->table[j * STEPS + i] = (int8_t)(fmin(fmax(round(v / weight), 0), STEPS - 1) + INT8_MIN);
    }
    *above += weight * (k->table[j * STEPS] - INT8_MIN);
}

static void make_constants(struct lgl_norm *k, const struct ir_op *op)
{
    const double scale = (double)ir_in(k->g, op, 0)->quant.scale[0];
    int32_t above;

    k->epsilon = (double)ir_attr_float(op, IR_EPSILON_BITS) / (scale * scale);
    k->greatest = 1 / sqrt(least_variance + k->epsilon);
    if (k->epsilon > 1 && 3 * k->epsilon > (double)MOST_SQUARE / k->c - 1.25)
        k->greatest *= (double)MOST / MOST_FAR;
    k->low[0] = (int64_t)round(k->c * least_variance);
    k->octaves = op->attr[IR_UNCENTRED] ? 1 : OCTAVES;
    while (op->attr[IR_UNCENTRED] &&
           ldexp((double)k->low[0], k->octaves) < (double)MOST_SQUARE * k->c)
        k->octaves++;
    for (int32_t j = 1; j < k->octaves; j++)
        k->low[j] = 2 * k->low[j - 1];
    above = k->bias = (int32_t)round(inverse_at(k, 2 * (double)k->low[k->octaves - 1]));
    for (int32_t j = k->octaves; j-- > 0;)
        make_octave(k, j, &above);
}

/* The part of a * b, at most 2^14, that `scale` takes. */
static struct ir_tensor *times(struct lgl_norm *k, const char *what, const struct ir_tensor *a,
                               const struct ir_tensor *b, struct lgl_fixed_scale scale)
{
    return lgl_norm_two(k, IR_OP_MUL, a, b, 1, &scale,
                        lgl_norm_bytes(k, what, a->dim[0], ir_dim_back(a, 0), 0));
}

static struct ir_tensor *less(struct lgl_norm *k, const char *what, const struct ir_tensor *a,
                              const struct ir_tensor *b)
{
    const struct lgl_fixed_scale scale[3] = {lgl_fixed_scale(0.5), lgl_fixed_scale(0.5),
                                             lgl_fixed_scale(ldexp(1, -19))};

    return lgl_norm_two(k, IR_OP_SUB, a, b, 3, scale, lgl_norm_rows(k, what, k->c, 0));
}

/* --- the steps --- */

/* The mean of each row if its values have the `weight` 1. */
static struct lgl_norm_parts mean(struct lgl_norm *k, struct ir_tensor *q, int8_t weight,
                                  int32_t bias)
{
    int8_t *weights = ARENA_ARRAY(k->g->arena, int8_t, (size_t)k->c);

    if (k->parts > 0)
        return lgl_norm_mean_of_pieces(k, weight, bias);
    memset(weights, weight, (size_t)k->c);
    return lgl_norm_divided(k, "mean", q, weights, bias, k->c);
}

/* Where the sum of squares is between `low` and 2 `low` of each octave, in 256 steps from -128. */
static struct ir_tensor *octaves(struct lgl_norm *k, struct ir_tensor *q,
                                 const struct lgl_norm_parts *m)
{
    if (k->parts > 0)
        return lgl_norm_octaves_of_pieces(k, m);
    struct ir_tensor *part[5] = {
        lgl_norm_squares(k, q, m->coarse, true), lgl_norm_squares(k, q, m->coarse, true),
        lgl_norm_squares(k, q, m->coarse, true), lgl_norm_squares(k, q, m->coarse, false),
        lgl_norm_square_of_rest(k, m->fine)};
    struct ir_tensor *x = lgl_norm_joined(k, "squares", 5, part);
    int8_t *w = ARENA_ARRAY(k->g->arena, int8_t, (size_t)(k->octaves * x->dim[1]));
    struct lgl_fixed_scale scale[MOST_OCTAVES];
    int32_t bias[MOST_OCTAVES];

    for (int32_t j = 0; j < k->octaves; j++) {
        for (int32_t i = 0; i < x->dim[1]; i++)
            w[j * x->dim[1] + i] = i < 3 * k->c ? term[i / k->c] : i < 4 * k->c ? 1 : -1;
        bias[j] = 256 * 128 * k->c - 128 - (int32_t)k->low[j];
        scale[j] = lgl_fixed_scale((double)(STEPS - 1) / (double)k->low[j]);
    }
    return lgl_norm_sums(k, x, w, bias, (uint32_t)k->octaves, scale,
                         lgl_norm_rows(k, "octaves", k->octaves, INT8_MIN));
}

static struct lgl_norm_parts inverse(struct lgl_norm *k, const struct ir_tensor *octave)
{
    const int32_t dim[2] = {k->octaves, STEPS};
    const struct ir_tensor *table = lgl_new_constant(k->g, "", IR_I8, 2, dim, k->table);
    struct ir_tensor *y = lgl_norm_rows(k, "steps", k->octaves, 0);
    const uint32_t in[2] = {octave->id, table->id};
    int32_t bias = k->bias;

    lgl_make_lut(k->g, k->row, 2, in, y);
    for (int32_t j = 0; j < k->octaves; j++)
        bias += k->weight[j] * 128;
    return lgl_norm_divided(k, "inverse", y, k->weight, bias, UNIT);
}

/* The value of each row in all columns, or with groups that of each channel in all pixels: q times 0
 * plus it. */
static struct ir_tensor *spread(struct lgl_norm *k, const char *what, const struct ir_tensor *q,
                                const struct ir_tensor *x)
{
    const struct lgl_fixed_scale scale[3] = {
        {0, 0}, lgl_fixed_scale(0.5), lgl_fixed_scale(ldexp(1, -19))};
    const int8_t one = 1;

    if (k->groups > 0) {
        const uint32_t in[2] = {q->id, x->id};
        struct ir_tensor *y = lgl_norm_rows(k, what, k->c, 0);

        lgl_set_scales(k->g, lgl_make_add(k->g, k->row, 2, in, y), 3, scale);
        return y;
    }
    return lgl_norm_sum(k, x, &one, 0, 1, lgl_norm_rows(k, what, k->c, 0));
}

/* (q - mean) * inverse as terms of one sum. */
static void make_terms(struct lgl_norm *k, const struct ir_tensor *q,
                       const struct lgl_norm_parts *m, const struct lgl_norm_parts *v,
                       struct ir_tensor *of[TERMS])
{
    const struct lgl_fixed_scale high = {1 << 14, 10}, low = {64, 25};
    const struct lgl_fixed_scale fine = lgl_fixed_scale(1.0 / MOST);
    const struct ir_tensor *q_high = times(k, "product_high", q, v->coarse, high);
    const struct ir_tensor *m_high = times(k, "mean_high", m->coarse, v->coarse, high);

    for (int32_t i = 0; i < 3; i++)
        of[i] = less(k, "centred_high", q_high, m_high);
    of[3] = less(k, "centred_low", times(k, "product_low", q, v->coarse, low),
                 times(k, "mean_low", m->coarse, v->coarse, low));
    of[4] = times(k, "product_rest", q, v->fine, fine);
    of[5] = spread(k, "mean_rest", q, times(k, "mean_inverse_rest", m->coarse, v->fine, fine));
    of[6] = spread(k, "rest_mean", q, times(k, "rest_inverse", m->fine, v->coarse, fine));
}

/* gamma and beta of channel c: the terms' weights, the bias and the scale. */
static struct lgl_fixed_scale channel(const struct lgl_norm *k, float gamma, float beta,
                                      double scale, int32_t *sign, int32_t *bias)
{
    const double unit = fabs((double)gamma) * k->greatest / FINE, units = (double)beta / unit;

    *sign = !(fabs(units) < 0x1p30) ? 0 : gamma < 0 ? -1 : 1;
    *bias = (int32_t)round(*sign ? units : fmax(-512, fmin(512, (double)beta / scale)));
    return lgl_fixed_scale(*sign ? unit / scale : 1);
}

static struct ir_tensor *image(struct lgl_norm *k, const struct ir_tensor *x)
{
    struct ir_tensor *y = lgl_new_image(k->g, x, x->quant, (const int32_t[]){1, 1, k->r, k->c});

    lgl_new_reshape(k->g, k->row, x, y);
    return y;
}

/* The terms as rows of an image under one depthwise window. */
static struct ir_tensor *summed(struct lgl_norm *k, struct ir_op *op, struct ir_tensor *of[TERMS])
{
    const struct ir_tensor *y = ir_out(k->g, op, 0);
    const float *gamma = (const float *)(const void *)ir_in(k->g, op, 1)->data;
    const float *beta = (const float *)(const void *)ir_in(k->g, op, 2)->data;
    const int32_t dim[4] = {1, TERMS, 1, k->c};
    struct ir_tensor *w = lgl_new_constant(k->g, "", IR_I8, 4, dim, NULL);
    struct ir_tensor *b = lgl_new_constant(k->g, "", IR_I32, 1, &k->c, NULL);
    struct lgl_fixed_scale *scale = ARENA_ARRAY(k->g->arena, struct lgl_fixed_scale, (size_t)k->c);
    struct ir_tensor *x =
        lgl_new_image(k->g, of[0], of[0]->quant, (const int32_t[]){1, TERMS, k->r, k->c});
    struct ir_tensor *z = lgl_new_image(k->g, y, y->quant, (const int32_t[]){1, 1, k->r, k->c});
    uint32_t part[TERMS];

    w->quant = lgl_new_quant(k->g, 1, 0);
    for (int32_t c = 0; c < k->c; c++) {
        int32_t sign;

        const int32_t at = c % ir_dim_back(ir_in(k->g, op, 0), 0);

        scale[c] = channel(k, gamma[at], beta[at], (double)y->quant.scale[0], &sign,
                           &((int32_t *)(uintptr_t)b->data)[c]);
        for (int32_t i = 0; i < TERMS; i++)
            ((int8_t *)(uintptr_t)w->data)[i * k->c + c] = (int8_t)(sign * term[i]);
    }
    for (int32_t i = 0; i < TERMS; i++)
        part[i] = image(k, of[i])->id;
    lgl_new_join(k->g, k->row, TERMS, part, 1, x);
    const uint32_t in[3] = {x->id, w->id, b->id};
    lgl_set_scales(k->g, lgl_new_column_sum(k->g, k->row, in, z), (uint32_t)k->c, scale);
    return z;
}

/* The pixels of each group's channels as a row. */
static struct ir_tensor *rows_of_groups(struct lgl_norm *k, const struct ir_tensor *q)
{
    const int32_t perm[2] = {1, 0};

    return lgl_norm_recoded(k, "groups", lgl_transposed(k->g, k->row, q, "channels", perm),
                            q->dim[0] * q->dim[1] / k->groups);
}

/* The value of each group [G,1] in all its channels, [1,N] for N channels of one or more pixels. */
static struct ir_tensor *of_channels(struct lgl_norm *k, const char *what,
                                     const struct ir_tensor *x, int32_t channels)
{
    const int32_t groups = x->dim[0], each = channels / groups, n = k->c;
    const struct lgl_fixed_scale one = lgl_fixed_scale(1);
    int8_t *own = ARENA_ARRAY(k->g->arena, int8_t, (size_t)(groups * n));
    int32_t *none = ARENA_ARRAY(k->g->arena, int32_t, (size_t)n);
    struct ir_tensor *row = lgl_norm_bytes(k, what, 1, groups, 0);

    lgl_new_reshape(k->g, k->row, x, row);
    for (int32_t c = 0; c < n; c++)
        own[c * groups + c % channels / each] = 1;
    return groups == n
               ? row
               : lgl_norm_sums(k, row, own, none, 1, &one, lgl_norm_bytes(k, what, 1, n, 0));
}

static struct lgl_norm_parts parts_of_channels(struct lgl_norm *k, const char *what,
                                               const struct lgl_norm_parts *p, int32_t channels)
{
    return (struct lgl_norm_parts){of_channels(k, what, p->coarse, channels),
                                   of_channels(k, what, p->fine, channels)};
}

/* How many pixels side by side make rows of up to WIDE values. */
static int32_t pixels_of_row(int32_t pixels, int32_t channels)
{
    int32_t n = WIDE / channels;

    while (n > 1 && pixels % n != 0)
        n--;
    return n > 1 ? n : 1;
}

/* The rows as they are summed; in pieces, or several times. */
static struct ir_tensor *rows(struct lgl_norm *k, struct ir_tensor *q, int32_t times)
{
    const bool pieces = k->c > LONGEST, pixels = k->groups > 1 && q->dim[0] >= FEWEST;

    if (k->groups > 0 && !(pieces && (pixels || k->groups == 1)))
        q = rows_of_groups(k, q);
    if (pieces)
        lgl_norm_cut(k, q, pixels);
    else if (times > 1)
        lgl_norm_repeat(k, q, times);
    return q;
}

static void rewrite(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    const int32_t channels = ir_dim_back(x, 0), groups = op->attr[IR_GROUPS];
    const int32_t columns = groups ? (int32_t)(ir_elements(x) / (uint64_t)groups) : channels,
                  times = columns < LEAST ? (ENOUGH + columns - 1) / columns : 1;
    struct lgl_norm k = {.g = g, .row = op->row, .name = ir_out(g, op, 0)->name, .groups = groups};
    struct ir_tensor *of[TERMS];

    k.c = times * columns;
    k.r = (int32_t)(ir_elements(x) / (uint64_t)columns);
    k.shares = (k.c + LONGEST - 1) / LONGEST;
    k.copies = (LONGEST * k.shares) / INT8_MAX;
    make_constants(&k, op);
    struct ir_tensor *q = lgl_norm_recoded(&k, "bytes", x, channels), *row = rows(&k, q, times);
    const bool uncentred = op->attr[IR_UNCENTRED] != 0;
    struct lgl_norm_parts m = mean(&k, row, !uncentred, uncentred ? k.c * ir_zero_point(x) : 0);
    struct lgl_norm_parts inv = inverse(&k, octaves(&k, row, &m));
    k.c = channels;
    if (groups > 0) {
        k.c *= pixels_of_row(q->dim[0], channels);
        q = lgl_norm_recoded(&k, "pixels", q, k.c);
        m = parts_of_channels(&k, "channel_mean", &m, channels);
        inv = parts_of_channels(&k, "channel_inverse", &inv, channels);
    }
    k.r = q->dim[0];
    make_terms(&k, q, &m, &inv, of);
    (void)lgl_new_reshape(g, op->row, summed(&k, op, of), ir_out(g, op, 0));
    op->dead = true;
}

enum status lgl_layer_norm(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    const uint32_t n_op = g->n_op;

    (void)o;
    for (uint32_t i = 0; i < n_op; i++)
        if (!g->op[i]->dead && g->op[i]->opcode == IR_OP_LAYER_NORM)
            rewrite(g, g->op[i]);
    return g->n_op == n_op ? ST_OK : ir_link(g, d);
}
