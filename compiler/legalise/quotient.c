/* quotient.c - write a function of two int8 tensors that is linear in one of them as int8
 * operators: y = (a - z_a) * R(b), as of a quotient, whose R is a reciprocal.
 * in: the 256 x 256 values of y.  out: the same bytes, by
 *   digits    of R in 2^-18, a LUT each
 *   products  of a with each digit, as 128 high + low: MUL, the low part by the shift left that
 *             wraps
 *   carry     what the low ones amount to: DEPTHWISE_CONV2D over them as rows of an image
 *   y         the carry and the high ones: DEPTHWISE_CONV2D
 * Two neighbouring ties of rounding, odd / (2 (a - z_a)) with denominators of up to 510, are more
 * than 2^-18 apart. So an R exists for every b that gives all bytes, unless y is another function. */
#include "legalise.h"
#include "new_ops.h"

enum {
    VALUES = 256,
    BITS = 18, /* of R's fraction; */
    MOST_R = 1 << 26,
    BASE = 128, /* of its digits 0 and 1, 64 of digit 2; */
    DIGITS = 4, /* the last one's product is one byte, which saturates where y does */
    TERMS = 5,
    LANES = 16,
    MOST_ROWS = 1 << 15
};

/* (a * digit) / 128, and what that leaves; the product itself. */
static const struct lgl_fixed_scale high = {1 << 14, 10}, low = {64, 25}, whole = {1 << 30, 1};

struct quotient {
    struct ir_graph *g;
    uint32_t row;
    struct ir_tensor *y;
    const struct ir_tensor *a; /* linear */
    int8_t *digit[DIGITS];     /* of -R by b: weights reach -128, not 128 */
    int32_t act_min, act_max;  /* of y */
};

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Narrow [*least, *most], those R with which m * R rounds to y. */
static void narrow(const struct quotient *k, int32_t m, int32_t y, int64_t *least, int64_t *most)
{
    const int64_t unit = (int64_t)1 << BITS, middle = (y - ir_zero_point(k->y)) * unit;
    const int64_t end[2] = {middle - unit / 2, middle + unit / 2 - 1};
    const bool bounded[2] = {y > k->act_min, y < k->act_max};

    if (bounded[m < 0] && -floor_div(-end[m < 0], m) > *least)
        *least = -floor_div(-end[m < 0], m);
    if (bounded[m > 0] && floor_div(end[m > 0], m) < *most)
        *most = floor_div(end[m > 0], m);
}

/* Find R for the results table[a * stride]. False: none gives them. */
static bool solve(const struct quotient *k, const int8_t *table, uint32_t stride, int32_t *r)
{
    const int32_t zero = ir_zero_point(k->y);
    int64_t least = -MOST_R, most = MOST_R;

    for (int32_t i = 0; i < VALUES; i++) {
        const int32_t m = i + INT8_MIN - ir_zero_point(k->a), y = table[(uint32_t)i * stride];

        if (m != 0)
            narrow(k, m, y, &least, &most);
        else if (y != (zero < k->act_min ? k->act_min : zero > k->act_max ? k->act_max : zero))
            return false;
    }
    *r = (int32_t)floor_div(least + most, 2);
    return least <= most;
}

/* Set the digits of -r. 128 high + low holds a product with 64 unless a - z_a is 255, and one with
 * -64 unless it is -255. */
static void set_digits(struct quotient *k, uint32_t b, int32_t r)
{
    const int32_t least = ir_zero_point(k->a) < 0 ? BASE / 2 : BASE / 2 - 1;
    int32_t rest = -r;

    for (uint32_t i = 0; i < 2; i++) {
        k->digit[i][b] = (int8_t)(((rest + least) & (BASE - 1)) - least);
        rest = (rest - k->digit[i][b]) / BASE;
    }
    k->digit[2][b] = (int8_t)(rest % (BASE / 2));
    k->digit[3][b] = (int8_t)(rest / (BASE / 2));
}

static bool find_digits(struct quotient *k, const int8_t *table, uint32_t stride_a,
                        uint32_t stride_b)
{
    int32_t r;

    k->act_min = INT8_MAX;
    k->act_max = INT8_MIN;
    for (uint32_t i = 0; i < VALUES * VALUES; i++) {
        k->act_min = table[i] < k->act_min ? table[i] : k->act_min;
        k->act_max = table[i] > k->act_max ? table[i] : k->act_max;
    }
    for (uint32_t i = 0; i < DIGITS; i++)
        k->digit[i] = ARENA_ARRAY(k->g->arena, int8_t, VALUES);
    for (uint32_t b = 0; b < VALUES; b++) {
        if (!solve(k, table + (size_t)b * stride_b, stride_a, &r))
            return false;
        set_digits(k, b, r);
    }
    return true;
}

static struct ir_tensor *bytes_like(const struct quotient *k, const struct ir_tensor *like)
{
    struct ir_tensor *t = ir_tensor_new(k->g, k->y->name, IR_I8, like->rank, like->dim);

    t->quant = lgl_new_quant(k->g, 1, 0);
    return t;
}

static struct ir_tensor *digit_of(const struct quotient *k, const struct ir_tensor *b, uint32_t i)
{
    struct ir_tensor *y = bytes_like(k, b);

    lgl_become_table(lgl_make_lut(k->g, k->row, 1, &b->id, y), b->id, k->digit[i]);
    return y;
}

/* Return the number of channels with which y's bytes are rows of an image. */
static int32_t channels_of(const struct ir_tensor *y)
{
    uint64_t channels = 1;

    for (uint32_t i = 0;
         i < y->rank && (i == 0 || channels < LANES || ir_elements(y) / channels > MOST_ROWS); i++)
        channels *= (uint64_t)ir_dim_back(y, i);
    return (int32_t)channels;
}

/* A part of a * digit as an image. */
static uint32_t term(const struct quotient *k, const struct ir_tensor *digit,
                     struct lgl_fixed_scale part)
{
    const int32_t c = channels_of(k->y), r = (int32_t)(ir_elements(k->y) / (uint64_t)c);
    const uint32_t in[2] = {k->a->id, digit->id};
    struct ir_tensor *y = bytes_like(k, k->y);
    struct ir_tensor *image = lgl_new_image(k->g, y, y->quant, (const int32_t[]){1, 1, r, c});

    lgl_set_scales(k->g, lgl_make_mul(k->g, k->row, 2, in, y), 1, &part);
    (void)lgl_new_reshape(k->g, k->row, y, image);
    return image->id;
}

/* The image of `quant`: floor((bias + sum of weight * image) * scale + 1/2). */
static struct ir_op *summed(const struct quotient *k, uint32_t n, const uint32_t *image,
                            const int8_t *weight, int32_t bias, struct lgl_fixed_scale scale,
                            struct ir_quant quant)
{
    const struct ir_tensor *like = k->g->tensor[image[0]];
    const int32_t r = like->dim[2], c = like->dim[3], dim[4] = {1, (int32_t)n, 1, c};
    struct ir_tensor *x = lgl_new_image(k->g, like, like->quant,
                                        (const int32_t[]){1, (int32_t)n, r, c}),
                     *y = lgl_new_image(k->g, like, quant, (const int32_t[]){1, 1, r, c}),
                     *w = lgl_new_constant(k->g, "", IR_I8, 4, dim, NULL),
                     *b = lgl_new_constant(k->g, "", IR_I32, 1, &c, NULL);
    const uint32_t in[3] = {x->id, w->id, b->id};

    w->quant = lgl_new_quant(k->g, 1, 0);
    for (int32_t i = 0; i < (int32_t)n * c; i++)
        ((int8_t *)(uintptr_t)w->data)[i] = weight[i / c];
    for (int32_t i = 0; i < c; i++)
        ((int32_t *)(uintptr_t)b->data)[i] = bias;
    lgl_new_join(k->g, k->row, n, image, 1, x);
    struct ir_op *op = lgl_new_column_sum(k->g, k->row, in, y);
    lgl_set_scales(k->g, op, 1, &scale);
    return op;
}

static void write_out(const struct quotient *k, const struct ir_tensor *b)
{
    static const int8_t carries[3] = {-1, -BASE, -BASE};
    static const int8_t weights[TERMS] = {1, -1, -1, -BASE, -BASE / 2};
    const struct ir_tensor *digit[DIGITS];

    for (uint32_t i = 0; i < DIGITS; i++)
        digit[i] = digit_of(k, b, i);
    const uint32_t first[3] = {term(k, digit[0], low), term(k, digit[0], high),
                               term(k, digit[1], low)};
    struct ir_op *carry = summed(k, 3, first, carries, -(1 << 13),
                                 (struct lgl_fixed_scale){1 << 17, 0}, lgl_new_quant(k->g, 1, 0));
    const uint32_t last[TERMS] = {carry->out[0], term(k, digit[1], high), term(k, digit[2], low),
                                  term(k, digit[2], high), term(k, digit[3], whole)};
    struct ir_op *y =
        summed(k, TERMS, last, weights, 0, (struct lgl_fixed_scale){1 << 27, 0}, k->y->quant);

    y->fixed.act_min = k->act_min;
    y->fixed.act_max = k->act_max;
    (void)lgl_new_reshape(k->g, k->row, k->g->tensor[y->out[0]], k->y);
}

bool lgl_quotient(struct ir_graph *g, struct ir_op *op, const struct ir_tensor *const of[2],
                  const struct ir_tensor *const as[2], const int8_t *table)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct quotient k = {.g = g, .row = op->row, .y = ir_out(g, op, 0), .a = of[i]};
        uint32_t shaped[2];

        if (!find_digits(&k, table, i == 0 ? VALUES : 1, i == 0 ? 1 : VALUES))
            continue;
        for (uint32_t n = 0; n < 2; n++)
            shaped[n] = lgl_in_shape(g, op->row, of[n], as[n]);
        k.a = g->tensor[shaped[i]];
        op->dead = true;
        write_out(&k, g->tensor[shaped[1 - i]]);
        return true;
    }
    return false;
}
