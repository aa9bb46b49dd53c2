/* resize_digits.c - rewrite RESIZE_BILINEAR by any factor as products with its weights. in:
 * RESIZE_BILINEAR of one int8 image. out: BATCH_MATMULs of constant weights and the image, along
 * its columns, then along its rows. The reference rounds T / 2^20, halves away from zero; T is a
 * sum of values times weights of 10 bits in each direction (NUMERICS.md). All is in digits to the
 * base of 128: weights are 128 high + low, low in -63..64, and the lowest digit of a sum is written
 * by a shift left that wraps, the rest as the sum / 128, rounded (lstm_input.c).
 *   columns:  low x = s0 + 128 c,  high x + c = s1 + 128 s2
 *   rows:     low s0 = p + 128 c,  -(high s0 + low s1 + c) = q + 128 d
 *             Q = high s1 + low s2 - d + 128 high s2,  T = 128^2 Q + p - 128 q
 * The last two terms of T decide ties of Q / 64 alone: the result is Q / 64, halves up, of Q - 1 if
 * they are below 0, or if they are 0 and Q is below 0. The two weights of a result add up to 1024,
 * so all that is written fits int8. */
#include "compiler/ir/rules.h"
#include "compiler/legalise/fixed_math.h"
#include "compiler/legalise/new_ops.h"
#include "rewrites.h"

enum { ONE = 1024, BASE = 128, MOST_TERMS = 5, MOST_BLOCKS = 16, MOST_VALUES = 3 };
enum part { LOW, HIGH, SAME };

/* One direction, or a block of its results: weight [out,in] in 1024ths, for images of a matrices of
 * `in` rows of q values. A block's first row is `from` of the image. */
struct direction {
    struct ir_graph *g;
    const struct ir_op *op;
    int32_t in, out, a, q;
    int32_t from;
    int32_t *weight;
};

/* Add the results of a block from its operands, images [1,a,in,q]. */
typedef void make_block(const struct direction *d, const struct ir_tensor *const *x,
                        const struct ir_tensor **y);

/* `times` the part of the weights, or the identity, times the rows of x. */
struct term {
    const struct ir_tensor *x;
    enum part part;
    int32_t times;
};

/* A product of weights and rows, by their ids. */
struct sum {
    const struct direction *d;
    uint32_t weights, x;
};

/* How a sum is written: exact within low..high, its lowest digit, twice that, or divided. */
struct form {
    struct lgl_fixed_scale scale;
    int32_t low, high;
};

static const struct form BELOW_0 = {{1 << 30, 1}, -1, 0}, SUM = {{1 << 30, 1}, -128, 127},
                         DIGIT = {{64, 25}, -128, 127}, TWICE_DIGIT = {{128, 25}, -128, 127},
                         REST = {{1 << 24, 0}, -128, 127}, RESULT = {{1 << 25, 0}, -128, 127};

/* Return the two rows that result i reads and the weight of the second. */
static int32_t place_of(const struct direction *d, int32_t i, int32_t at[2])
{
    const int32_t step = ir_resize_step(d->op, d->in, d->out), last = d->in - 1;
    const int32_t place = i * step + (d->op->attr[IR_HALF_PIXEL] ? step / 2 - ONE / 2 : 0);

    at[0] = lgl_min(lgl_max(place / ONE, 0), last);
    at[1] = lgl_min((place + ONE - 1) / ONE, last);
    return at[0] == at[1] ? 0 : place - at[0] * ONE;
}

/* Return n results from `first` on, and the rows that they read. */
static struct direction block_of(const struct direction *d, int32_t first, int32_t n)
{
    struct direction b = *d;
    int32_t at[2];

    (void)place_of(d, first, at);
    b.from = at[0];
    (void)place_of(d, first + n - 1, at);
    b.in = at[1] - b.from + 1;
    b.out = n;
    b.weight = ARENA_ARRAY(d->g->arena, int32_t, (size_t)b.in * (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        const int32_t second = place_of(d, first + i, at);

        b.weight[i * b.in + at[0] - b.from] += ONE - second;
        b.weight[i * b.in + at[1] - b.from] += second;
    }
    return b;
}

static int32_t value_of(const struct direction *d, const struct term *t, int32_t i, int32_t j)
{
    const int32_t weight = t->part == SAME ? 0 : d->weight[i * d->in + j];
    const int32_t low = (weight + BASE / 2 - 1) % BASE - (BASE / 2 - 1);

    return t->times * (t->part == SAME ? i == j : t->part == LOW ? low : (weight - low) / BASE);
}

/* Return the constant [1,1,out,K] of the terms' matrices side by side. */
static struct ir_tensor *constant(const struct direction *d, uint32_t n, const struct term *term,
                                  int32_t k)
{
    struct ir_tensor *w =
        lgl_new_constant(d->g, "", IR_I8, 4, (const int32_t[]){1, 1, d->out, k}, NULL);
    int8_t *to = (int8_t *)(uintptr_t)w->data;

    w->quant = lgl_new_quant(d->g, 1, 0);
    for (int32_t i = 0; i < d->out; i++)
        for (uint32_t t = 0; t < n; t++)
            for (int32_t j = 0; j < term[t].x->dim[2]; j++)
                *to++ = (int8_t)value_of(d, &term[t], i, j);
    return w;
}

static struct ir_tensor *new_rows(const struct direction *d, int32_t rows)
{
    return lgl_new_image(d->g, ir_out(d->g, d->op, 0), lgl_new_quant(d->g, 1, 0),
                         (const int32_t[]){1, d->a, rows, d->q});
}

/* Return the sum of the terms, to be written. */
static struct sum sum(const struct direction *d, uint32_t n, const struct term *term)
{
    const struct ir_tensor *x = term[0].x;
    uint32_t part[MOST_TERMS];
    int32_t k = 0;

    for (uint32_t i = 0; i < n; i++) {
        part[i] = term[i].x->id;
        k += term[i].x->dim[2];
    }
    if (n > 1) {
        struct ir_tensor *all = new_rows(d, k);

        lgl_new_join(d->g, d->op->row, n, part, 2, all);
        x = all;
    }
    return (struct sum){d, constant(d, n, term, k)->id, x->id};
}

/* Return the sum in a form, as images [1,a,out,q]. */
static const struct ir_tensor *written(struct sum s, struct form form)
{
    struct ir_tensor *y = new_rows(s.d, s.d->out);
    struct ir_op *op =
        lgl_make_batch_matmul(s.d->g, s.d->op->row, 2, (const uint32_t[]){s.weights, s.x}, y);

    lgl_set_scales(s.d->g, op, 1, &form.scale);
    op->fixed.act_min = form.low;
    op->fixed.act_max = form.high;
    return y;
}

#define TERMS(...)                                                                                 \
    sizeof((const struct term[]){__VA_ARGS__}) / sizeof(struct term), (const struct term[])        \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const struct ir_tensor *slice(const struct direction *b, const struct ir_tensor *x)
{
    struct ir_tensor *y = new_rows(b, b->in);

    lgl_new_slice(b->g, b->op->row, x, (const int32_t[4]){0, 0, b->from, 0}, NULL, y);
    return y;
}

static void columns(const struct direction *d, const struct ir_tensor *const *x,
                    const struct ir_tensor **s)
{
    const struct sum low = sum(d, TERMS({*x, LOW, 1}));
    const struct ir_tensor *c = written(low, REST);
    const struct sum high = sum(d, TERMS({*x, HIGH, 1}, {c, SAME, 1}));

    s[0] = written(low, DIGIT);
    s[1] = written(high, DIGIT);
    s[2] = written(high, REST);
}

static void rows(const struct direction *d, const struct ir_tensor *const *s,
                 const struct ir_tensor **y)
{
    const struct sum low = sum(d, TERMS({s[0], LOW, 1}));
    const struct ir_tensor *c = written(low, REST), *p = written(low, TWICE_DIGIT);
    const struct sum middle = sum(d, TERMS({s[0], HIGH, -1}, {s[1], LOW, -1}, {c, SAME, -1}));
    const struct ir_tensor *q = written(middle, TWICE_DIGIT), *r = written(middle, REST),
                           *high = written(sum(d, TERMS({s[2], HIGH, -1})), SUM);
    struct term last[MOST_TERMS] = {
        {s[1], HIGH, 1}, {s[2], LOW, 1}, {r, SAME, -1}, {high, SAME, -BASE}};
    const struct ir_tensor *negative = written(sum(d, 4, last), BELOW_0);
    const struct sum rest = sum(d, TERMS({p, SAME, 1}, {q, SAME, -BASE}, {negative, SAME, 1}));

    last[4] = (struct term){written(rest, BELOW_0), SAME, 1};
    *y = written(sum(d, 5, last), RESULT);
}

/* Make the n_y results block by block. */
static void make_blocks(const struct direction *d, int32_t least, make_block *make, uint32_t n_x,
                        const struct ir_tensor *const *x, uint32_t n_y, const struct ir_tensor **y)
{
    const int32_t each = lgl_max(least, (d->out + MOST_BLOCKS - 1) / MOST_BLOCKS);
    uint32_t part[MOST_VALUES][MOST_BLOCKS], n = 0;

    for (int32_t i = 0; i < d->out; i += each, n++) {
        const struct direction b = block_of(d, i, lgl_min(each, d->out - i));
        const struct ir_tensor *from[MOST_VALUES], *to[MOST_VALUES];

        for (uint32_t k = 0; k < n_x; k++)
            from[k] = b.in == d->in ? x[k] : slice(&b, x[k]);
        make(&b, from, to);
        for (uint32_t k = 0; k < n_y; k++)
            part[k][n] = to[k]->id;
        for (uint32_t k = 0; k < n_y && n == 0; k++)
            y[k] = to[k];
    }
    for (uint32_t k = 0; k < n_y && n > 1; k++) {
        struct ir_tensor *all = new_rows(d, d->out);

        lgl_new_join(d->g, d->op->row, n, part[k], 2, all);
        y[k] = all;
    }
}

static const struct ir_tensor *reshaped(const struct direction *d, const struct ir_tensor *x)
{
    struct ir_tensor *y = new_rows(d, d->in);

    lgl_new_reshape(d->g, d->op->row, x, y)->attr[IR_RECODE] = 1;
    return y;
}

void sys_resize_digits(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    const struct direction across = {
        .g = g, .op = op, .in = x->dim[2], .out = y->dim[2], .a = x->dim[1], .q = x->dim[3]};
    const struct direction down = {
        .g = g, .op = op, .in = x->dim[1], .out = y->dim[1], .a = 1, .q = y->dim[2] * x->dim[3]};
    const int32_t least = (int32_t)o->array_rows;
    const struct ir_tensor *image, *s[MOST_VALUES], *result = NULL;

    if (x->type != IR_I8 || op->attr[IR_FROM_U8] || x->dim[0] != 1)
        return;
    image = reshaped(&across, x);
    make_blocks(&across, least, columns, 1, &image, 3, s);
    for (uint32_t i = 0; i < 3; i++)
        s[i] = reshaped(&down, s[i]);
    make_blocks(&down, least, rows, 3, s, 1, &result);
    lgl_new_reshape(g, op->row, result, y)->attr[IR_RECODE] = 1;
    op->dead = true;
}
