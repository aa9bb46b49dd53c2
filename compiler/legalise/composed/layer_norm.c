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
 * values are those of the row repeated: FULLY_CONNECTED with an identity for each time. */
#include <math.h>
#include <string.h>

#include "compiler/ir/float_numbers.h"
#include "compiler/legalise/legalise.h"
#include "compiler/legalise/new_ops.h"

enum {
    OCTAVES = 16,      /* of a variance; */
    MOST_OCTAVES = 19, /* of squares that no mean is taken from, up to MOST_SQUARE */
    MOST_SQUARE = 255 * 255,
    STEPS = 256,
    UNIT = 840, /* of the inverse's sum in its coarse part, which is at most MOST */
    MOST = 127,
    FINE = 254,   /* of a rest in a coarse part */
    LEAST = 64,   /* values of a row: those of a shorter one count several times, */
    ENOUGH = 512, /* this many at least */
    LONG = 1016,  /* its sums need several weights for one value beyond these */
    TERMS = 7     /* of the last sum */
};

/* Where the table begins, in squares of x's step. */
static const double least_variance = 0.25;

static const int8_t term[TERMS] = {86, 85, 85, 2, 1, -1, -1};

struct norm {
    struct ir_graph *g;
    uint32_t row;
    const char *name;
    int32_t r, c;           /* rows and their values; last those of the result */
    int32_t groups;         /* of channels, if the rows are these */
    int32_t copies, shares; /* of one value that shares a weight beyond 127; of the rest's square */
    double epsilon, greatest;
    int32_t octaves, low[MOST_OCTAVES], bias;
    int8_t weight[MOST_OCTAVES], table[MOST_OCTAVES * STEPS];
};

/* --- what the scales and epsilon give --- */

static double inverse_at(const struct norm *k, double sum)
{
    return UNIT * MOST / k->greatest / sqrt(sum / k->c + k->epsilon);
}

static void make_octave(struct norm *k, int32_t j, int32_t *above)
{
    const double low = k->low[j];
    const int32_t weight = (int32_t)fmax(1, ceil((inverse_at(k, low) - *above) / (STEPS - 1)));

    k->weight[j] = (int8_t)weight;
    k->table[j * STEPS + STEPS - 1] = INT8_MIN; /* 0: all above it is there as well */
    for (int32_t i = 0; i < STEPS - 1; i++) {
        const double v = inverse_at(k, low + low * i / (STEPS - 1)) - *above;

        k->table[j * STEPS + i] = (int8_t)(fmin(fmax(round(v / weight), 0), STEPS - 1) + INT8_MIN);
    }
    *above += weight * (k->table[j * STEPS] - INT8_MIN);
}

static void make_constants(struct norm *k, const struct ir_op *op)
{
    const double scale = (double)ir_in(k->g, op, 0)->quant.scale[0];
    int32_t above;

    k->epsilon = (double)ir_attr_float(op, IR_EPSILON_BITS) / (scale * scale);
    k->greatest = 1 / sqrt(least_variance + k->epsilon);
    k->low[0] = (int32_t)round(k->c * least_variance);
    k->octaves = op->attr[IR_UNCENTRED] ? 1 : OCTAVES;
    while (op->attr[IR_UNCENTRED] && ldexp(k->low[0], k->octaves) < (double)MOST_SQUARE * k->c)
        k->octaves++;
    for (int32_t j = 1; j < k->octaves; j++)
        k->low[j] = 2 * k->low[j - 1];
    above = k->bias = (int32_t)round(inverse_at(k, 2.0 * k->low[k->octaves - 1]));
    for (int32_t j = k->octaves; j-- > 0;)
        make_octave(k, j, &above);
}

/* --- tensors and operators --- */

static struct ir_tensor *bytes_of(struct norm *k, const char *what, int32_t rows, int32_t columns,
                                  int32_t zero)
{
    const int32_t dim[2] = {rows, columns};
    struct ir_tensor *t =
        ir_tensor_new(k->g, arena_printf(k->g->arena, "%s/%s", k->name, what), IR_I8, 2, dim);

    t->quant = lgl_new_quant(k->g, 1, zero);
    return t;
}

static struct ir_tensor *rows_of(struct norm *k, const char *what, int32_t columns, int32_t zero)
{
    return bytes_of(k, what, k->r, columns, zero);
}

static struct ir_fixed fixed(struct norm *k, uint32_t n, const struct lgl_fixed_scale *scale)
{
    int32_t *multiplier = ARENA_ARRAY(k->g->arena, int32_t, n);
    int8_t *shift = ARENA_ARRAY(k->g->arena, int8_t, n);

    for (uint32_t i = 0; i < n; i++) {
        multiplier[i] = scale[i].multiplier;
        shift[i] = scale[i].shift;
    }
    return (struct ir_fixed){
        .n = n, .multiplier = multiplier, .shift = shift, .act_min = INT8_MIN, .act_max = INT8_MAX};
}

static struct ir_tensor *two(struct norm *k, enum ir_opcode code, const struct ir_tensor *a,
                             const struct ir_tensor *b, uint32_t n,
                             const struct lgl_fixed_scale *scale, struct ir_tensor *y)
{
    const uint32_t in[2] = {a->id, b->id};

    lgl_new_op(k->g, code, k->row, 2, in, y)->fixed = fixed(k, n, scale);
    return y;
}

/* The part of a * b, at most 2^14, that `scale` takes. */
static struct ir_tensor *times(struct norm *k, const char *what, const struct ir_tensor *a,
                               const struct ir_tensor *b, struct lgl_fixed_scale scale)
{
    return two(k, IR_OP_MUL, a, b, 1, &scale, bytes_of(k, what, a->dim[0], ir_dim_back(a, 0), 0));
}

static struct ir_tensor *less(struct norm *k, const char *what, const struct ir_tensor *a,
                              const struct ir_tensor *b)
{
    const struct lgl_fixed_scale scale[3] = {lgl_fixed_scale(0.5), lgl_fixed_scale(0.5),
                                             lgl_fixed_scale(ldexp(1, -19))};

    return two(k, IR_OP_SUB, a, b, 3, scale, rows_of(k, what, k->c, 0));
}

/* y[i] = requantised sum of x[j] * weights[i][j] + bias[i]; `scale`: one, or one of each i. The
 * weights are written [j][i], as weights_ko has them. */
static struct ir_tensor *sums(struct norm *k, const struct ir_tensor *x, const int8_t *weights,
                              const int32_t *bias, uint32_t n_scale,
                              const struct lgl_fixed_scale *scale, struct ir_tensor *y)
{
    const int32_t n = y->dim[1], of = x->dim[1], dim[2] = {of, n};
    struct ir_tensor *w = lgl_new_constant(k->g, "", IR_I8, 2, dim, NULL);
    const struct ir_tensor *b = lgl_new_constant(k->g, "", IR_I32, 1, &n, bias);
    const uint32_t in[3] = {x->id, w->id, b->id};

    w->quant = lgl_new_quant(k->g, 1, 0);
    for (int32_t i = 0; i < n * of; i++)
        ((int8_t *)(uintptr_t)w->data)[i % of * n + i / of] = weights[i];
    struct ir_op *op = lgl_make_fully_connected(k->g, k->row, 3, in, y);
    op->fixed = fixed(k, n_scale, scale);
    op->attr[IR_WEIGHTS_KO] = 1;
    return y;
}

/* The same sum for every column of y. */
static struct ir_tensor *sum(struct norm *k, const struct ir_tensor *x, const int8_t *weights,
                             int32_t bias, double scale, struct ir_tensor *y)
{
    const size_t n = (size_t)y->dim[1], of = (size_t)x->dim[1];
    const struct lgl_fixed_scale f = lgl_fixed_scale(scale);
    int8_t *w = ARENA_ARRAY(k->g->arena, int8_t, n * of);
    int32_t *b = ARENA_ARRAY(k->g->arena, int32_t, n);

    for (size_t i = 0; i < n; i++) {
        memcpy(w + i * of, weights, of);
        b[i] = bias;
    }
    return sums(k, x, w, b, 1, &f, y);
}

/* Side by side, the bytes as they are. */
static struct ir_tensor *joined(struct norm *k, const char *what, uint32_t n,
                                struct ir_tensor *const *part)
{
    uint32_t *id = ARENA_ARRAY(k->g->arena, uint32_t, n);
    int32_t columns = 0;

    for (uint32_t i = 0; i < n; i++) {
        id[i] = part[i]->id;
        columns += part[i]->dim[1];
    }
    struct ir_tensor *y = rows_of(k, what, columns, 0);
    lgl_new_join(k->g, k->row, n, id, 1, y);
    return y;
}

static struct ir_tensor *recoded(struct norm *k, const char *what, const struct ir_tensor *x,
                                 int32_t columns)
{
    struct ir_tensor *y =
        bytes_of(k, what, (int32_t)(ir_elements(x) / (uint64_t)columns), columns, 0);

    lgl_new_reshape(k->g, k->row, x, y)->attr[IR_RECODE] = 1;
    return y;
}

/* -total in the weights of n copies. */
static void share(int32_t total, int32_t n, int8_t *weight)
{
    for (int32_t i = 0; i < n; i++)
        weight[i] = (int8_t) - (total / n + (i < total % n));
}

/* --- the steps --- */

struct parts {
    struct ir_tensor *coarse, *fine; /* [R,1] */
};

/* sum = bias + x * weights: sum / unit, and the rest in 1/254 of it. */
static struct parts divided(struct norm *k, const char *what, struct ir_tensor *x,
                            const int8_t *weights, int32_t bias, int32_t unit)
{
    int8_t *both = ARENA_ARRAY(k->g->arena, int8_t, (size_t)(x->dim[1] + k->copies));
    const char *copies = arena_printf(k->g->arena, "%s_copies", what);
    struct ir_tensor *part[2] = {x, rows_of(k, copies, k->copies, 0)};
    struct parts p;

    p.coarse = sum(k, x, weights, bias, 1.0 / unit, rows_of(k, what, 1, 0));
    (void)sum(k, x, weights, bias, 1.0 / unit, part[1]);
    memcpy(both, weights, (size_t)x->dim[1]);
    share(unit, k->copies, both + x->dim[1]);
    p.fine =
        sum(k, joined(k, arena_printf(k->g->arena, "%s_and_copies", what), 2, part), both, bias,
            (double)FINE / unit, rows_of(k, arena_printf(k->g->arena, "%s_rest", what), 1, 0));
    return p;
}

/* (q - mean)^2 = 256 hi + lo, hi with zero point -128. */
static struct ir_tensor *squares(struct norm *k, const struct ir_tensor *q,
                                 const struct ir_tensor *mean, bool high)
{
    const struct lgl_fixed_scale scale[3] = {lgl_fixed_scale(0.5), lgl_fixed_scale(0.5),
                                             high ? lgl_fixed_scale(ldexp(1, -20))
                                                  : (struct lgl_fixed_scale){128, 12}};
    const char *what = high ? "squares_high" : "squares_low";
    struct ir_tensor *y = two(k, IR_OP_SQUARED_DIFFERENCE, q, mean, 3, scale,
                              rows_of(k, what, k->c, high ? INT8_MIN : 0));

    return high ? recoded(k, "squares_high_bytes", y, k->c) : y;
}

/* round(C / shares * (rest / 254)^2) - 128 */
static struct ir_tensor *square_of_rest(struct norm *k, const struct ir_tensor *rest)
{
    int8_t *table = ARENA_ARRAY(k->g->arena, int8_t, STEPS);
    struct ir_tensor *y = rows_of(k, "rest_squared", 1, 0);

    for (int32_t i = 0; i < STEPS; i++)
        table[i] = (int8_t)(fmin(round((double)k->c / k->shares * (i + INT8_MIN) * (i + INT8_MIN) /
                                       (FINE * FINE)),
                                 255) +
                            INT8_MIN);
    lgl_become_table(lgl_make_lut(k->g, k->row, 1, &rest->id, y), rest->id, table);
    return y;
}

/* Where the sum of squares is between `low` and 2 `low` of each octave, in 256 steps from -128. */
static struct ir_tensor *octaves(struct norm *k, const struct ir_tensor *q, const struct parts *m)
{
    struct ir_tensor *part[5] = {squares(k, q, m->coarse, true), squares(k, q, m->coarse, true),
                                 squares(k, q, m->coarse, true), squares(k, q, m->coarse, false),
                                 square_of_rest(k, m->fine)};
    struct ir_tensor *x = joined(k, "squares", 5, part);
    int8_t *w = ARENA_ARRAY(k->g->arena, int8_t, (size_t)(k->octaves * x->dim[1]));
    struct lgl_fixed_scale scale[MOST_OCTAVES];
    int32_t bias[MOST_OCTAVES];

    for (int32_t j = 0; j < k->octaves; j++) {
        for (int32_t i = 0; i < x->dim[1]; i++)
            w[j * x->dim[1] + i] = i < 3 * k->c   ? term[i / k->c]
                                   : i < 4 * k->c ? 1
                                                  : (int8_t)-k->shares;
        bias[j] = 256 * 128 * k->c - 128 * k->shares - k->low[j];
        scale[j] = lgl_fixed_scale((double)(STEPS - 1) / k->low[j]);
    }
    return sums(k, x, w, bias, (uint32_t)k->octaves, scale,
                rows_of(k, "octaves", k->octaves, INT8_MIN));
}

static struct parts inverse(struct norm *k, const struct ir_tensor *octave)
{
    const int32_t dim[2] = {k->octaves, STEPS};
    const struct ir_tensor *table = lgl_new_constant(k->g, "", IR_I8, 2, dim, k->table);
    struct ir_tensor *y = rows_of(k, "steps", k->octaves, 0);
    const uint32_t in[2] = {octave->id, table->id};
    int32_t bias = k->bias;

    lgl_make_lut(k->g, k->row, 2, in, y);
    for (int32_t j = 0; j < k->octaves; j++)
        bias += k->weight[j] * 128;
    return divided(k, "inverse", y, k->weight, bias, UNIT);
}

/* The value of each row in all columns, or with groups that of each channel in all pixels: q times 0
 * plus it. */
static struct ir_tensor *spread(struct norm *k, const char *what, const struct ir_tensor *q,
                                const struct ir_tensor *x)
{
    const struct lgl_fixed_scale scale[3] = {
        {0, 0}, lgl_fixed_scale(0.5), lgl_fixed_scale(ldexp(1, -19))};
    const int8_t one = 1;

    if (k->groups > 0) {
        const uint32_t in[2] = {q->id, x->id};
        struct ir_tensor *y = rows_of(k, what, k->c, 0);

        lgl_make_add(k->g, k->row, 2, in, y)->fixed = fixed(k, 3, scale);
        return y;
    }
    return sum(k, x, &one, 0, 1, rows_of(k, what, k->c, 0));
}

/* (q - mean) * inverse as terms of one sum. */
static void make_terms(struct norm *k, const struct ir_tensor *q, const struct parts *m,
                       const struct parts *v, struct ir_tensor *of[TERMS])
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
static struct lgl_fixed_scale channel(const struct norm *k, float gamma, float beta, double scale,
                                      int32_t *sign, int32_t *bias)
{
    const double unit = fabs((double)gamma) * k->greatest / FINE, units = (double)beta / unit;

    *sign = !(fabs(units) < 0x1p30) ? 0 : gamma < 0 ? -1 : 1;
    *bias = (int32_t)round(*sign ? units : fmax(-512, fmin(512, (double)beta / scale)));
    return lgl_fixed_scale(*sign ? unit / scale : 1);
}

static struct ir_tensor *image(struct norm *k, const struct ir_tensor *x)
{
    struct ir_tensor *y = lgl_new_image(k->g, x, x->quant, (const int32_t[]){1, 1, k->r, k->c});

    lgl_new_reshape(k->g, k->row, x, y);
    return y;
}

/* The terms as rows of an image under one depthwise window. */
static struct ir_tensor *summed(struct norm *k, struct ir_op *op, struct ir_tensor *of[TERMS])
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

        scale[c] = channel(k, gamma[c], beta[c], (double)y->quant.scale[0], &sign,
                           &((int32_t *)(uintptr_t)b->data)[c]);
        for (int32_t i = 0; i < TERMS; i++)
            ((int8_t *)(uintptr_t)w->data)[i * k->c + c] = (int8_t)(sign * term[i]);
    }
    for (int32_t i = 0; i < TERMS; i++)
        part[i] = image(k, of[i])->id;
    lgl_new_join(k->g, k->row, TERMS, part, 1, x);
    const uint32_t in[3] = {x->id, w->id, b->id};
    struct ir_op *sum = lgl_make_depthwise_conv2d(k->g, k->row, 3, in, z);
    sum->fixed = fixed(k, (uint32_t)k->c, scale);
    for (uint32_t i = IR_STRIDE_H; i <= IR_DILATION_W; i++)
        sum->attr[i] = 1;
    sum->attr[IR_KERNEL_H] = TERMS;
    sum->attr[IR_KERNEL_W] = sum->attr[IR_MULTIPLIER] = sum->attr[IR_WEIGHTS_KO] = 1;
    return z;
}

/* The row of `q` in `times` times its columns. */
static struct ir_tensor *repeated(struct norm *k, struct ir_tensor *q, int32_t times)
{
    const int32_t columns = q->dim[1], n = times * columns;
    const struct lgl_fixed_scale one = lgl_fixed_scale(1);
    int8_t *identity = ARENA_ARRAY(k->g->arena, int8_t, (size_t)(n * columns));
    int32_t *none = ARENA_ARRAY(k->g->arena, int32_t, (size_t)n);

    for (int32_t i = 0; i < n; i++)
        identity[i * columns + i % columns] = 1;
    return times == 1 ? q : sums(k, q, identity, none, 1, &one, rows_of(k, "repeated", n, 0));
}

/* The pixels of each group's channels as a row. */
static struct ir_tensor *rows_of_groups(struct norm *k, const struct ir_tensor *q)
{
    const int32_t perm[2] = {1, 0};

    return recoded(k, "groups", lgl_transposed(k->g, k->row, q, "channels", perm),
                   q->dim[0] * q->dim[1] / k->groups);
}

/* The value of each group [G,1] in all its channels [1,C]. */
static struct ir_tensor *of_channels(struct norm *k, const char *what, const struct ir_tensor *x,
                                     int32_t channels)
{
    const int32_t groups = x->dim[0], each = channels / groups;
    const struct lgl_fixed_scale one = lgl_fixed_scale(1);
    int8_t *own = ARENA_ARRAY(k->g->arena, int8_t, (size_t)(groups * channels));
    int32_t *none = ARENA_ARRAY(k->g->arena, int32_t, (size_t)channels);
    struct ir_tensor *row = bytes_of(k, what, 1, groups, 0);

    lgl_new_reshape(k->g, k->row, x, row);
    for (int32_t c = 0; c < channels; c++)
        own[c * groups + c / each] = 1;
    return each == 1 ? row : sums(k, row, own, none, 1, &one, bytes_of(k, what, 1, channels, 0));
}

static struct parts parts_of_channels(struct norm *k, const char *what, const struct parts *p,
                                      int32_t channels)
{
    return (struct parts){of_channels(k, what, p->coarse, channels),
                          of_channels(k, what, p->fine, channels)};
}

static void rewrite(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    const int32_t channels = ir_dim_back(x, 0), groups = op->attr[IR_GROUPS];
    const int32_t columns = groups ? (int32_t)(ir_elements(x) / (uint64_t)groups) : channels,
                  times = columns < LEAST ? (ENOUGH + columns - 1) / columns : 1;
    struct norm k = {.g = g, .row = op->row, .name = ir_out(g, op, 0)->name, .groups = groups};
    struct ir_tensor *of[TERMS];

    k.c = times * columns;
    k.r = (int32_t)(ir_elements(x) / (uint64_t)columns);
    k.shares = (k.c + LONG - 1) / LONG;
    k.copies = (LONG * k.shares) / INT8_MAX;
    make_constants(&k, op);
    int8_t *ones = ARENA_ARRAY(g->arena, int8_t, (size_t)k.c);
    memset(ones, op->attr[IR_UNCENTRED] ? 0 : 1, (size_t)k.c);
    struct ir_tensor *q = recoded(&k, "bytes", x, channels),
                     *row = repeated(&k, groups ? rows_of_groups(&k, q) : q, times);
    const int32_t about = op->attr[IR_UNCENTRED] ? k.c * ir_zero_point(x) : 0;
    struct parts mean = divided(&k, "mean", row, ones, about, k.c);
    struct parts inv = inverse(&k, octaves(&k, row, &mean));
    k.c = channels;
    k.r = q->dim[0];
    if (groups > 0) {
        mean = parts_of_channels(&k, "channel_mean", &mean, channels);
        inv = parts_of_channels(&k, "channel_inverse", &inv, channels);
    }
    make_terms(&k, q, &mean, &inv, of);
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
