/* square_table.c - write sums of squares, and quantised functions of them, as operators of int8.
 * in: MATMUL_INTEGER of rows [R,1,n] with themselves as columns; or these, CAST, float32 functions of one
 * value that never fall, or never rise, QUANTIZE.  out: JOIN_DIGITS; or the same bytes, by
 *   squares     (x - z)^2 as 256 high + low: MUL, the low part by the shift left that wraps
 *   digits      their sum to the base of 128: FULLY_CONNECTED
 *   thresholds  for each result, whether the sum is below the least one that gives it: two
 *               FULLY_CONNECTED of digits, whose sum is clamped to 0 and 1 by ADD
 *   result      the number of thresholds: FULLY_CONNECTED */
#include <math.h>

#include "compiler/ir/formula.h"
#include "compiler/legalise/legalise.h"
#include "compiler/legalise/new_ops.h"

enum {
    DIGITS = 4, /* of 7 bits; */
    MOST_SUM = 1 << 27,
    HALF = 14, /* bits of two */
    CODES = 256
};

/* The sum itself; its part above a half of the digits. */
static const struct lgl_fixed_scale whole = {1 << 30, 1}, above = {1 << (31 - HALF), 0};

struct table {
    struct ir_graph *g;
    struct ir_op *last;              /* QUANTIZE, or MATMUL_INTEGER itself */
    const struct ir_tensor *x, *sum; /* rows [R,1,n]; float32 [R,1,1] */
    int32_t r, n, slope;
    uint32_t
        steps; /* thresholds: the least sums with the results first + slope, first + 2 slope .. */
    int32_t first, threshold[CODES];
};

static int32_t value(const struct table *t, int32_t sum)
{
    const struct ir_tensor *x = ir_in(t->g, t->last, 0);

    return lgl_quantized(t->last, ir_out(t->g, t->last, 0),
                         lgl_float_at(t->g, x, t->sum, (float)sum));
}

/* Set the thresholds of sums up to `most`; false: there are none. */
static bool set_thresholds(struct table *t, int32_t most)
{
    t->first = value(t, 0);
    t->steps = (uint32_t)(t->slope * (value(t, most) - t->first));
    for (uint32_t i = 0; i < t->steps; i++) {
        int32_t low = 0, high = most; /* value at low: before the step, at high: after it */

        while (high - low > 1) {
            const int32_t middle = low + (high - low) / 2;

            if (t->slope * (value(t, middle) - t->first) > (int32_t)i)
                high = middle;
            else
                low = middle;
        }
        t->threshold[i] = high;
    }
    return t->steps > 0;
}

/* The greatest magnitude of a value of x less its zero point. */
static int32_t farthest(const struct ir_tensor *x)
{
    const int32_t z = ir_zero_point(x);

    return z < 0 ? INT8_MAX - z : z - INT8_MIN;
}

/* Set the rows of a match of MATMUL_INTEGER; false: they are not its columns, or their sums can reach 2^27. */
static bool find_rows(const struct ir_graph *g, const struct ir_match *m, struct table *t)
{
    const struct ir_tensor *columns = g->tensor[ir_matched(m, 'b')];
    struct ir_match reshaped = {.g = g};

    t->x = g->tensor[ir_matched(m, 'a')];
    if (t->x->rank != 3 || t->x->dim[1] != 1 || t->x->type != IR_I8 || columns->rank != 3 ||
        columns->dim[2] != 1 || !ir_match(&reshaped, t->x->id, "reshape(q)") ||
        !ir_match(&reshaped, columns->id, "reshape(p)") ||
        g->op[t->x->producer]->in[0] != g->op[columns->producer]->in[0])
        return false;
    t->r = t->x->dim[0];
    t->n = t->x->dim[2];
    return t->n < MOST_SUM / (farthest(t->x) * farthest(t->x));
}

static bool matches(struct ir_graph *g, struct ir_op *op, struct table *t)
{
    const struct ir_tensor *y = ir_in(g, op, 0);
    struct ir_match m = {.g = g};

    *t = (struct table){.g = g, .last = op};
    while (y->producer != IR_NONE && !ir_match(&m, y->id, "cast(matmul_integer(a, b, #y, #z))")) {
        const struct ir_op *by = g->op[y->producer];
        const bool second = by->n_in == 2 && ir_in(g, by, 0)->role == IR_CONST;

        if (by->n_in == 0 || by->n_in > 2)
            return false;
        y = ir_in(g, by, second ? 1 : 0);
    }
    if (y->producer == IR_NONE || y->type != IR_F32)
        return false;
    t->sum = y;
    if (!find_rows(g, &m, t))
        return false;
    const int32_t far = farthest(t->x);
    t->slope = lgl_float_slope(g, ir_in(g, op, 0), t->sum, 0, (float)(t->n * far * far));
    return t->slope != 0 && set_thresholds(t, t->n * far * far);
}

/* --- operators --- */

static struct ir_tensor *rows(const struct table *t, int32_t columns, int32_t zero)
{
    const struct ir_tensor *y = ir_out(t->g, t->last, 0);
    struct ir_tensor *x = ir_tensor_new(t->g, y->name, IR_I8, 2, (const int32_t[]){t->r, columns});

    x->quant = lgl_new_quant(t->g, 1, zero);
    return x;
}

static struct ir_tensor *squares(const struct table *t, const struct ir_tensor *x,
                                 struct lgl_fixed_scale part, int32_t zero)
{
    const uint32_t in[2] = {x->id, x->id};
    struct ir_tensor *y = rows(t, t->n, zero), *bytes = rows(t, t->n, 0);

    lgl_set_scales(t->g, lgl_make_mul(t->g, t->last->row, 2, in, y), 1, &part);
    if (zero == 0)
        return y;
    lgl_new_reshape(t->g, t->last->row, y, bytes)->attr[IR_RECODE] = 1;
    return bytes;
}

/* y[i] = bias[i] + sum over j of x[j] * weight[j][i]; one scale, or one of each i. */
static struct ir_op *sums(const struct table *t, const struct ir_tensor *x, const int8_t *weight,
                          const int32_t *bias, uint32_t n_scale,
                          const struct lgl_fixed_scale *scale, struct ir_tensor *y)
{
    const int32_t n = ir_dim_back(y, 0), dim[2] = {ir_dim_back(x, 0), n};
    struct ir_tensor *w = lgl_new_constant(t->g, "", IR_I8, 2, dim, weight);
    const uint32_t in[3] = {x->id, w->id, lgl_new_numbers(t->g, (uint32_t)n, bias)};
    struct ir_op *op = lgl_make_fully_connected(t->g, t->last->row, 3, in, y);

    w->quant = lgl_new_quant(t->g, 1, 0);
    lgl_set_scales(t->g, op, n_scale, scale);
    op->attr[IR_WEIGHTS_KO] = 1;
    return op;
}

/* The digits of the sum of squares, the lowest first. */
static struct ir_tensor *digits(const struct table *t)
{
    static const int8_t weight[4] = {86, 85, 85, 1}; /* 256 high + low */
    const struct lgl_fixed_scale high = {1 << 14, 9}, low = {128, 24};
    struct ir_tensor *x = rows(t, t->n, ir_zero_point(t->x)), *all = rows(t, 4 * t->n, 0);
    struct lgl_fixed_scale scale[DIGITS];
    int8_t *w = ARENA_ARRAY(t->g->arena, int8_t, (size_t)(4 * t->n * DIGITS));
    int32_t bias[DIGITS];

    x->quant = t->x->quant;
    (void)lgl_new_reshape(t->g, t->last->row, t->x, x);
    const uint32_t top = squares(t, x, high, INT8_MIN)->id,
                   part[4] = {top, top, top, squares(t, x, low, 0)->id};
    lgl_new_join(t->g, t->last->row, 4, part, 1, all);
    for (int32_t i = 0; i < 4 * t->n * DIGITS; i++)
        w[i] = weight[i / (t->n * DIGITS)];
    for (int32_t p = 0; p < DIGITS; p++) {
        bias[p] = 256 * -INT8_MIN * t->n;
        scale[p] = (struct lgl_fixed_scale){64, (int8_t)(25 - 7 * p)};
    }
    struct ir_tensor *y = rows(t, DIGITS, 0);
    (void)sums(t, all, w, bias, DIGITS, scale, y);
    return y;
}

/* By how much a half of a threshold is above that of the sum; of the lower half in its unit, rounded
 * up. */
static uint32_t difference(const struct table *t, const struct ir_tensor *digit, bool upper)
{
    const int32_t n = (int32_t)t->steps, one = 1 << HALF;
    int8_t *w = ARENA_ARRAY(t->g->arena, int8_t, (size_t)(DIGITS * n));
    int32_t bias[CODES];
    struct ir_tensor *y = rows(t, n, 0);

    for (int32_t i = 0; i < n; i++) {
        w[(upper ? 2 : 0) * n + i] = -1;
        w[(upper ? 3 : 1) * n + i] = INT8_MIN;
        bias[i] =
            upper ? t->threshold[i] >> HALF : (t->threshold[i] & (one - 1)) + one - 1 - one / 2;
    }
    struct ir_op *op = sums(t, digit, w, bias, 1, upper ? &whole : &above, y);
    op->fixed.act_min = -2;
    op->fixed.act_max = 2;
    return y->id;
}

static void rewrite(const struct table *t)
{
    const struct lgl_fixed_scale add[3] = {lgl_fixed_scale(0.5), lgl_fixed_scale(0.5),
                                           lgl_fixed_scale(ldexp(1, -19))};
    struct ir_tensor *y = ir_out(t->g, t->last, 0), *last = rows(t, 1, ir_zero_point(y)),
                     *below = rows(t, (int32_t)t->steps, 0);
    const struct ir_tensor *digit = digits(t);
    const uint32_t in[2] = {difference(t, digit, true), difference(t, digit, false)};
    const int32_t bias = t->first + t->slope * (int32_t)t->steps - ir_zero_point(y);
    int8_t w[CODES];

    struct ir_op *sum = lgl_make_add(t->g, t->last->row, 2, in, below);
    lgl_set_scales(t->g, sum, 3, add);
    sum->fixed.act_min = 0;
    sum->fixed.act_max = 1;
    for (uint32_t i = 0; i < t->steps; i++)
        w[i] = (int8_t)-t->slope;
    last->quant = y->quant;
    (void)sums(t, below, w, &bias, 1, &whole, last);
    (void)lgl_new_reshape(t->g, t->last->row, last, y);
    t->last->dead = true;
}

/* The sum leaves the accelerator as its digits. */
static void rewrite_sum(const struct table *t)
{
    static const int8_t zero = 0;
    static const int32_t one = 1, none = 0, dim[3] = {1, 1, 1};
    struct ir_tensor *y = ir_out(t->g, t->last, 0), *row;

    row = ir_tensor_new(t->g, y->name, IR_I8, 3, (const int32_t[]){t->r, 1, DIGITS});
    row->quant = lgl_new_quant(t->g, 1, 0);
    (void)lgl_new_reshape(t->g, t->last->row, digits(t), row);
    const uint32_t in[3] = {row->id, lgl_new_constant(t->g, "", IR_I8, 1, &one, &zero)->id,
                            lgl_new_constant(t->g, "", IR_I32, 3, dim, &none)->id};
    struct ir_op *join = lgl_make_join_digits(t->g, t->last->row, 3, in, y);
    join->attr[IR_DIGITS] = DIGITS;
    join->attr[IR_MULTIPLIER] = 1;
    t->last->dead = true;
}

static void rewrite_sums(struct ir_graph *g)
{
    const uint32_t n_op = g->n_op;

    for (uint32_t i = 0; i < n_op; i++) {
        struct ir_match m = {.g = g};
        struct table t = {.g = g, .last = g->op[i]};

        if (!t.last->dead && t.last->n_in == 4 && ir_out(g, t.last, 0)->type == IR_I32 &&
            ir_match(&m, t.last->out[0], "matmul_integer(a, b, #y, #z)") && find_rows(g, &m, &t))
            rewrite_sum(&t);
    }
}

enum status lgl_square_table(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    const uint32_t n_op = g->n_op;
    uint32_t *row = lgl_rows(g);
    struct table t;

    for (uint32_t i = 0; i < n_op && o->array_rows > 0; i++) {
        struct ir_op *op = g->op[i];

        if (op->dead || op->n_in != 1 || ir_out(g, op, 0)->type != IR_I8 ||
            ir_in(g, op, 0)->type != IR_F32 || !matches(g, op, &t))
            continue;
        row[op->in[0]] = op->row;
        rewrite(&t);
    }
    lgl_fuse_unread(g, row);
    if (o->array_rows > 0)
        rewrite_sums(g);
    return g->n_op == n_op ? ST_OK : ir_link(g, d);
}
