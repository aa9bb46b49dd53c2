/* norm_pieces.c - the sums of a row in two levels (NUMERICS.md, "LAYER_NORM"). in: rows of more
 * values than one product has weights for, or so few that each counts several times. out: the sum of each piece of at most 255 values as two
 * bytes, and the pieces' bytes as one row. Their weights are 1, 256 and 65536, and 2^16 of a
 * variance has two windows: of the sum V
 *   remainder  V modulo 128 units, in units: of octaves from low[0]
 *   count      of 128 units, in one byte: the other part of those octaves
 *   octaves    the others: from V in 32 units.
 * A weight beyond 127 is several columns of the same byte. */
#include <string.h>

#include "norm_ops.h"

enum {
    PIECE = 255,            /* values, whose sum has two bytes */
    PIECES = 8000,          /* whose bytes are one row, at most */
    VALUES = 4096,          /* for each of which a unit has 1 */
    MOST_UNIT = 9,          /* log2 of it */
    COUNTS = 2,             /* columns of a count */
    CARRIES = 5,            /* columns of a carry's upper digit, of weight 512 */
    FINE_VALUES = 254 * 128 /* units that a count and a remainder hold */
};

/* The columns of a carry: of 32 units, from V modulo 2^(log_unit + 14) and all above. */
enum { REMAINDER, QUARTERS, LOWER, UPPER, CARRY = UPPER + CARRIES };

/* The longest length that all pieces of `c` values have; PIECE with a rest if none is long enough. */
static int32_t length_of(int32_t c, int32_t least)
{
    int32_t length = PIECE;

    while (length >= least && c % length != 0)
        length--;
    return length >= least ? length : PIECE;
}

/* Exchange the first two dimensions of x, `a` by `b` of its rows. */
static const struct ir_tensor *exchanged(struct lgl_norm *k, struct ir_tensor *x, int32_t a,
                                         int32_t b)
{
    const int32_t perm[4] = {0, 2, 1, 3}, rest = (int32_t)(ir_elements(x) / (uint64_t)(a * b));
    struct ir_tensor *y = lgl_new_image(k->g, x, x->quant, (const int32_t[]){1, a, b, rest});

    lgl_new_reshape(k->g, k->row, x, y);
    return lgl_transposed(k->g, k->row, y, "pieces", perm);
}

/* Columns `from` to `from` + n of each row; of one row, and of the pixels of groups, rows. */
static const struct ir_tensor *cut(struct lgl_norm *k, const struct ir_tensor *q, int32_t from,
                                   int32_t n, bool rows)
{
    struct ir_tensor *y = lgl_norm_bytes(k, "part", rows ? n : q->dim[0], rows ? q->dim[1] : n, 0);

    if (n == q->dim[rows ? 0 : 1])
        return q;
    lgl_new_slice(k->g, k->row, q, (const int32_t[]){rows ? from : 0, rows ? 0 : from}, NULL, y);
    return y;
}

/* The pixels of each channel, `n` blocks of them, as rows. */
static const struct ir_tensor *channels_of(struct lgl_norm *k, const struct ir_tensor *q, int32_t n)
{
    const int32_t perm[4] = {0, 1, 3, 2}, dim[4] = {1, n, q->dim[0] / n, q->dim[1]};
    struct ir_tensor *y = lgl_new_image(k->g, q, q->quant, dim);

    lgl_new_reshape(k->g, k->row, q, y);
    return lgl_transposed(k->g, k->row, y, "channels", perm);
}

void lgl_norm_cut(struct lgl_norm *k, struct ir_tensor *q, bool pixels)
{
    const int32_t each = pixels ? q->dim[1] / k->r : 1, c = k->c / each;
    const int32_t length = length_of(c, k->c / PIECES < FEWEST ? FEWEST : k->c / PIECES + 1);
    const struct ir_tensor *x = k->r == 1 ? lgl_norm_recoded(k, "values", q, 1) : q;

    for (int32_t from = 0; from < c;) {
        struct lgl_norm_part *p = &k->part[k->parts++];
        const int32_t n = c - from < length ? 1 : (c - from) / length;
        const int32_t size = c - from < length ? c - from : length;
        const struct ir_tensor *y = cut(k, x, from, n * size, pixels || k->r == 1);

        p->blocks = pixels ? n : 1;
        p->n = n * each;
        p->rows = lgl_norm_recoded(k, "pieces", pixels ? channels_of(k, y, n) : y, size);
        from += n * size;
    }
}

/* Shares of the times, each with a weight of which a sum has two bytes. */
void lgl_norm_repeat(struct lgl_norm *k, struct ir_tensor *q, int32_t times)
{
    struct lgl_norm_part *p = &k->part[k->parts++];
    const int32_t most = PIECE / q->dim[1] < INT8_MAX ? PIECE / q->dim[1] : INT8_MAX;

    p->rows = q;
    for (; times > 0; times -= most)
        p->weight[p->n++] = (int8_t)(times < most ? times : most);
}

/* The sum of each row of `x` as 256 a + b: a in `high` columns, b in `low`; then the rows' pieces
 * side by side. */
static struct ir_tensor *digits(struct lgl_norm *k, const struct lgl_norm_part *p,
                                const struct ir_tensor *x, const char *what, int32_t high,
                                int32_t low)
{
    const bool whole = p->weight[0] != 0;
    const int32_t each = high + low, n = whole ? p->n * each : each, length = x->dim[1];
    struct ir_tensor *y = lgl_norm_bytes(k, what, x->dim[0], n, 0);
    int8_t *weights = ARENA_ARRAY(k->g->arena, int8_t, (size_t)(n * length));
    int32_t *none = ARENA_ARRAY(k->g->arena, int32_t, (size_t)n);
    struct lgl_fixed_scale *scale = ARENA_ARRAY(k->g->arena, struct lgl_fixed_scale, (size_t)n);

    for (int32_t i = 0; i < n; i++) {
        memset(weights + i * length, whole ? p->weight[i / each] : 1, (size_t)length);
        scale[i] = i % each < high ? (struct lgl_fixed_scale){1 << 23, 0}
                                   : (struct lgl_fixed_scale){1 << 7, 24};
    }
    (void)lgl_norm_sums(k, x, weights, none, (uint32_t)n, scale, y);
    return whole ? y : lgl_norm_recoded(k, what, exchanged(k, y, p->blocks, k->r), n * p->n);
}

/* Write n times: `high` in shares, `low` in shares. */
static int8_t *put(int8_t *weight, int32_t n, int32_t high, int32_t high_columns, int32_t low,
                   int32_t low_columns)
{
    for (int32_t i = 0; i < n; i++, weight += high_columns + low_columns) {
        lgl_norm_share(high, high_columns, weight);
        lgl_norm_share(low, low_columns, weight + high_columns);
    }
    return weight;
}

struct lgl_norm_parts lgl_norm_mean_of_pieces(struct lgl_norm *k, int32_t weight, int32_t bias)
{
    struct ir_tensor *part[2] = {NULL}, *x;
    int8_t *weights, *to;

    for (uint32_t i = 0; i < k->parts; i++)
        part[i] = digits(k, &k->part[i], k->part[i].rows, "sums", 3, 1);
    x = lgl_norm_joined(k, "all_sums", k->parts, part);
    to = weights = ARENA_ARRAY(k->g->arena, int8_t, (size_t)x->dim[1]);
    for (uint32_t i = 0; i < k->parts; i++)
        to = put(to, k->part[i].n, 256 * weight, 3, weight, 1);
    return lgl_norm_divided(k, "mean", x, weights, bias, k->c);
}

/* The bytes of all squares in a row, [R,..]: of each part those of the upper bytes' sums, `high`
 * times, and of the lower bytes'; of the rest's square, `shares` times. */
struct row {
    int32_t high, shares;
    int32_t log_unit;
    struct ir_tensor *x;
};

static void make_row(struct lgl_norm *k, const struct lgl_norm_parts *mean, struct row *r)
{
    struct ir_tensor *part[5] = {NULL};
    uint32_t n = 0;

    while (r->log_unit < MOST_UNIT && k->c >> r->log_unit >= VALUES)
        r->log_unit++;
    r->high = ((512 << 2 >> r->log_unit) + INT8_MAX - 1) / INT8_MAX;
    r->shares = (k->shares + INT8_MAX - 1) / INT8_MAX;
    for (uint32_t i = 0; i < k->parts; i++) {
        const struct lgl_norm_part *p = &k->part[i];
        struct ir_tensor *m = mean->coarse;

        if (p->weight[0] == 0)
            m = lgl_norm_recoded(
                k, "means_of_pieces",
                exchanged(k, lgl_norm_spread(k, "means", m, p->n), k->r, p->blocks), 1);
        part[n++] = digits(k, p, lgl_norm_squares(k, p->rows, m, true), "sums_high", r->high, 3);
        part[n++] = digits(k, p, lgl_norm_squares(k, p->rows, m, false), "sums_low", 3, 1);
    }
    part[n++] =
        lgl_norm_spread(k, "rests_squared", lgl_norm_square_of_rest(k, mean->fine), r->shares);
    r->x = lgl_norm_joined(k, "all_squares", n, part);
}

/* Weights of the row's bytes: `upper` of the upper bytes' upper digits; of the others 256 times
 * `middle`, `middle`, and of the rest's square -shares times it. */
static int8_t *put_row(const struct lgl_norm *k, const struct row *r, int32_t upper, int32_t middle,
                       int8_t *to)
{
    for (uint32_t i = 0; i < k->parts; i++) {
        to = put(to, k->part[i].n, upper, r->high, 256 * middle, 3);
        to = put(to, k->part[i].n, 256 * middle, 3, middle, 1);
    }
    lgl_norm_share(-k->shares * middle, r->shares, to);
    return to + r->shares;
}

/* All of V but the upper digits' 65536, and what of 2^15 C no multiple of 128 units is: the carry. */
static struct ir_tensor *carry(struct lgl_norm *k, const struct row *r)
{
    const int8_t top = (int8_t)(32 - r->log_unit - 7); /* shift that leaves 128 units */
    const struct lgl_fixed_scale scale[CARRY] = {
        [REMAINDER] = {64, top},
        [QUARTERS] = {2, top},
        [LOWER] = {64, (int8_t)(top - 7)},
        [UPPER] = {1 << (31 - r->log_unit - 14), 0},
    };
    struct lgl_fixed_scale all[CARRY];
    int8_t *w = ARENA_ARRAY(k->g->arena, int8_t, (size_t)(CARRY * r->x->dim[1])), *to = w;
    int32_t bias[CARRY];

    for (int32_t i = 0; i < CARRY; i++) {
        to = put_row(k, r, 0, 1, to);
        all[i] = scale[i < UPPER ? i : UPPER];
        bias[i] = (int32_t)(((int64_t)k->c << 15) % (128ll << r->log_unit)) - 128 * k->shares;
    }
    return lgl_norm_sums(k, r->x, w, bias, CARRY, all, lgl_norm_rows(k, "carry", CARRY, 0));
}

static int32_t in_units(int64_t v, int32_t log_unit)
{
    return (int32_t)((v + (1ll << log_unit) / 2) >> log_unit);
}

/* Sums of V in 32 units, each less `low` and scaled: of the row and the carry side by side.
 * Without `low` whole multiples of 128 units, in 128. */
static struct ir_tensor *upper_sums(struct lgl_norm *k, const struct row *r, struct ir_tensor *x,
                                    const char *what, int32_t n, const int64_t *low)
{
    const int32_t log = r->log_unit + 5;
    struct lgl_fixed_scale *scale = ARENA_ARRAY(k->g->arena, struct lgl_fixed_scale, (size_t)n);
    int32_t *bias = ARENA_ARRAY(k->g->arena, int32_t, (size_t)n);
    int8_t *w = ARENA_ARRAY(k->g->arena, int8_t, (size_t)(n * x->dim[1])), *to = w;

    for (int32_t i = 0; i < n; i++) {
        int8_t *of = put_row(k, r, 1 << (16 - log), 0, to);

        of[QUARTERS] = low != NULL;
        of[LOWER] = 4;
        lgl_norm_share(512, CARRIES, of + UPPER);
        to += x->dim[1];
        bias[i] =
            (int32_t)(((int64_t)k->c << 15 >> (log + 2)) * 4 - (low ? in_units(low[i], log) : 0));
        scale[i] = low ? lgl_fixed_scale((double)(STEPS - 1) / (double)low[i] * (double)(1 << log))
                       : (struct lgl_fixed_scale){1 << 29, 0};
    }
    return lgl_norm_sums(k, x, w, bias, (uint32_t)n, scale, lgl_norm_rows(k, what, n, INT8_MIN));
}

/* Sums of V in units, each less `low` and scaled. */
static struct ir_tensor *lower_sums(struct lgl_norm *k, const struct row *r,
                                    struct ir_tensor *count, struct ir_tensor *carries, int32_t n)
{
    struct ir_tensor *part[2] = {count, carries},
                     *x = lgl_norm_joined(k, "count_and_carry", 2, part);
    struct lgl_fixed_scale scale[MOST_OCTAVES];
    int8_t *w = ARENA_ARRAY(k->g->arena, int8_t, (size_t)(n * x->dim[1])), *to = w;
    int32_t bias[MOST_OCTAVES];

    for (int32_t i = 0; i < n; i++, to += x->dim[1]) {
        lgl_norm_share(128, COUNTS, to);
        to[COUNTS + REMAINDER] = 1;
        bias[i] = 128 * 128 - in_units(k->low[i], r->log_unit);
        scale[i] =
            lgl_fixed_scale((double)(STEPS - 1) / (double)k->low[i] * (double)(1 << r->log_unit));
    }
    return lgl_norm_sums(k, x, w, bias, (uint32_t)n, scale,
                         lgl_norm_rows(k, "lower_octaves", n, INT8_MIN));
}

struct ir_tensor *lgl_norm_octaves_of_pieces(struct lgl_norm *k, const struct lgl_norm_parts *mean)
{
    struct ir_tensor *part[2], *x, *count;
    struct row r = {.log_unit = 0};
    int32_t n = 0;

    make_row(k, mean, &r);
    while (2 * k->low[n] <= (int64_t)FINE_VALUES << r.log_unit)
        n++;
    part[0] = r.x;
    part[1] = carry(k, &r);
    x = lgl_norm_joined(k, "squares_and_carry", 2, part);
    count = upper_sums(k, &r, x, "count", COUNTS, NULL);
    part[0] = lower_sums(k, &r, count, part[1], n);
    part[1] = upper_sums(k, &r, x, "upper_octaves", k->octaves - n, k->low + n);
    return lgl_norm_joined(k, "octaves", 2, part);
}
