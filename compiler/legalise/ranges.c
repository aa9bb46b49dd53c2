/* ranges.c - see ranges.h. Each rule takes the ranges of the inputs and gives those of the output
 * before its clamp; NUMERICS.md has the arithmetic. */
#include "ranges.h"

#include "compiler/ir/rules.h"
#include "fixed_math.h"

struct ranging {
    const struct ir_graph *g;
    struct lgl_ranges *r;
};

/* Sums of int32 products, before they wrap. */
struct sums {
    int64_t low, high;
};

static const struct ir_range any = {INT8_MIN, INT8_MAX};

static struct ir_range hull(struct ir_range a, struct ir_range b)
{
    return (struct ir_range){lgl_min(a.low, b.low), lgl_max(a.high, b.high)};
}

struct ir_range lgl_range(const struct lgl_ranges *r, const struct ir_tensor *t, uint64_t c)
{
    return r->value[t->id] ? r->value[t->id][ir_dim_back(t, 0) == 1 ? 0 : c] : any;
}

bool lgl_is_padded(const struct ir_op *op)
{
    const int32_t *a = op->attr;

    return a[IR_PAD_TOP] || a[IR_PAD_LEFT] || a[IR_PAD_BOTTOM] || a[IR_PAD_RIGHT];
}

/* Input `i`'s range of channel `c` less its zero point. */
static struct ir_range centred(const struct ranging *f, const struct ir_op *op, uint32_t i,
                               uint64_t c)
{
    const struct ir_tensor *t = ir_in(f->g, op, i);
    const struct ir_range v = lgl_range(f->r, t, c);

    return (struct ir_range){v.low - ir_zero_point(t), v.high - ir_zero_point(t)};
}

/* --- products --- */

/* Return true for constant int8 weights K x OC and a bias. */
static bool has_weights(const struct ranging *f, const struct ir_op *op)
{
    const struct ir_tensor *w = ir_in(f->g, op, 1), *b = ir_in(f->g, op, 2);

    return op->attr[IR_WEIGHTS_KO] != 0 && w && b && w->role == IR_CONST && w->type == IR_I8 &&
           b->role == IR_CONST && b->type == IR_I32;
}

static void add_product(struct sums *sum, struct ir_range x, int32_t w)
{
    const int32_t a = x.low * w, b = x.high * w;

    sum->low += lgl_min(a, b);
    sum->high += lgl_max(a, b);
}

static bool fits(const struct sums *s, int32_t shift)
{
    const int64_t factor = shift > 0 ? INT64_C(1) << shift : 1;

    return s->low >= INT32_MIN / factor && s->high <= INT32_MAX / factor;
}

/* The range of sums that would wrap is unbounded. */
static struct ir_range requantised(const struct ir_fixed *fixed, uint32_t c, const struct sums *s,
                                   int32_t zero)
{
    const uint32_t i = fixed->n == 1 ? 0 : c;
    const int32_t m = fixed->multiplier[i], e = fixed->shift[i];

    if (!fits(s, e))
        return any;
    return (struct ir_range){lgl_mbqm((int32_t)s->low, m, e) + zero,
                             lgl_mbqm((int32_t)s->high, m, e) + zero};
}

/* Values of input channel `c` that a tap may see, less the zero point: outside the image 0. */
static struct ir_range tap(const struct ranging *f, const struct ir_op *op, uint64_t c)
{
    const struct ir_range v = centred(f, op, 0, c);

    return lgl_is_padded(op) ? hull(v, (struct ir_range){0, 0}) : v;
}

/* Add products row by row: row k of the weights meets input channel k % C, or in a depthwise
 * operator (`multiplier` above 0) each column its own. */
static bool products(const struct ranging *f, const struct ir_op *op, uint64_t multiplier,
                     struct ir_range *y)
{
    const struct ir_tensor *w = ir_in(f->g, op, 1), *b = ir_in(f->g, op, 2);
    const struct ir_tensor *out = ir_out(f->g, op, 0);
    const uint64_t channels = (uint64_t)ir_dim_back(ir_in(f->g, op, 0), 0);
    const uint64_t columns = (uint64_t)ir_dim_back(out, 0), rows = ir_elements(w) / columns;
    const int8_t *weight = (const int8_t *)w->data;
    struct sums *sum = ARENA_ARRAY(f->g->arena, struct sums, columns);

    if (multiplier == 0 && rows % channels != 0)
        return false;
    for (uint32_t i = 0; i < columns; i++)
        sum[i].low = sum[i].high = ir_const_i32(b, i);
    for (uint64_t k = 0; k < rows; k++) {
        const struct ir_range x = multiplier ? any : tap(f, op, k % channels);
        for (uint64_t i = 0; i < columns; i++)
            add_product(&sum[i], multiplier ? tap(f, op, i / multiplier) : x,
                        *weight++ - ir_zero_point(w));
    }
    for (uint32_t i = 0; i < columns; i++)
        y[i] = requantised(&op->fixed, i, &sum[i], ir_zero_point(out));
    return true;
}

static bool range_product(const struct ranging *f, const struct ir_op *op, struct ir_range *y)
{
    return has_weights(f, op) && products(f, op, 0, y);
}

static bool range_depthwise(const struct ranging *f, const struct ir_op *op, struct ir_range *y)
{
    return has_weights(f, op) && products(f, op, (uint64_t)op->attr[IR_MULTIPLIER], y);
}

/* --- two operands --- */

/* Return true if both have the output's channels, or one that counts for all. */
static bool same_channels(const struct ranging *f, const struct ir_op *op)
{
    const int32_t n = ir_dim_back(ir_out(f->g, op, 0), 0);
    bool same = true;

    for (uint32_t i = 0; i < 2; i++)
        same = same &&
               (ir_dim_back(ir_in(f->g, op, i), 0) == n || ir_dim_back(ir_in(f->g, op, i), 0) == 1);
    return same;
}

/* Operand `i` in the common scale, shifted left by 20 bits. */
static struct ir_range scaled(const struct ranging *f, const struct ir_op *op, uint32_t i,
                              uint64_t c)
{
    const struct ir_fixed *x = &op->fixed;
    const struct ir_range v = centred(f, op, i, c);

    return (struct ir_range){lgl_mbqm(v.low * (1 << 20), x->multiplier[i], x->shift[i]),
                             lgl_mbqm(v.high * (1 << 20), x->multiplier[i], x->shift[i])};
}

static bool sums_of(const struct ranging *f, const struct ir_op *op, bool minus, struct ir_range *y)
{
    const struct ir_fixed last = {
        .n = 1, .multiplier = &op->fixed.multiplier[2], .shift = &op->fixed.shift[2]};
    const struct ir_tensor *out = ir_out(f->g, op, 0);

    for (uint32_t c = 0; c < (uint32_t)ir_dim_back(out, 0); c++) {
        const struct ir_range a = scaled(f, op, 0, c), b = scaled(f, op, 1, c);
        const struct sums sum = {(int64_t)a.low + (minus ? -b.high : b.low),
                                 (int64_t)a.high + (minus ? -b.low : b.high)};
        y[c] = requantised(&last, 0, &sum, ir_zero_point(out));
    }
    return same_channels(f, op);
}

static bool range_add(const struct ranging *f, const struct ir_op *op, struct ir_range *y)
{
    return sums_of(f, op, false, y);
}

static bool range_sub(const struct ranging *f, const struct ir_op *op, struct ir_range *y)
{
    return sums_of(f, op, true, y);
}

static bool range_mul(const struct ranging *f, const struct ir_op *op, struct ir_range *y)
{
    const struct ir_tensor *out = ir_out(f->g, op, 0);

    for (uint32_t c = 0; c < (uint32_t)ir_dim_back(out, 0); c++) {
        const struct ir_range a = centred(f, op, 0, c), b = centred(f, op, 1, c);
        const struct ir_range low = hull((struct ir_range){a.low * b.low, a.low * b.low},
                                         (struct ir_range){a.low * b.high, a.low * b.high});
        const struct ir_range high = hull((struct ir_range){a.high * b.low, a.high * b.low},
                                          (struct ir_range){a.high * b.high, a.high * b.high});
        const struct ir_range all = hull(low, high);
        y[c] = requantised(&op->fixed, 0, &(struct sums){all.low, all.high}, ir_zero_point(out));
    }
    return same_channels(f, op);
}

static bool range_maximum(const struct ranging *f, const struct ir_op *op, struct ir_range *y)
{
    for (uint32_t c = 0; c < (uint32_t)ir_dim_back(ir_out(f->g, op, 0), 0); c++) {
        const struct ir_range a = lgl_range(f->r, ir_in(f->g, op, 0), c);
        const struct ir_range b = lgl_range(f->r, ir_in(f->g, op, 1), c);
        y[c] = (struct ir_range){lgl_max(a.low, b.low), lgl_max(a.high, b.high)};
    }
    return same_channels(f, op);
}

static bool range_minimum(const struct ranging *f, const struct ir_op *op, struct ir_range *y)
{
    for (uint32_t c = 0; c < (uint32_t)ir_dim_back(ir_out(f->g, op, 0), 0); c++) {
        const struct ir_range a = lgl_range(f->r, ir_in(f->g, op, 0), c);
        const struct ir_range b = lgl_range(f->r, ir_in(f->g, op, 1), c);
        y[c] = (struct ir_range){lgl_min(a.low, b.low), lgl_min(a.high, b.high)};
    }
    return same_channels(f, op);
}

/* --- one operand --- */

/* Range of a pool: the largest and the rounded average of values within an interval are within
 * it. */
static bool range_same(const struct ranging *f, const struct ir_op *op, struct ir_range *y)
{
    const struct ir_tensor *x = ir_in(f->g, op, 0), *out = ir_out(f->g, op, 0);

    for (uint32_t c = 0; c < (uint32_t)ir_dim_back(out, 0); c++)
        y[c] = lgl_range(f->r, x, c);
    return ir_dim_back(x, 0) == ir_dim_back(out, 0);
}

static bool range_mean(const struct ranging *f, const struct ir_op *op, struct ir_range *y)
{
    const struct ir_tensor *x = ir_in(f->g, op, 0), *out = ir_out(f->g, op, 0);
    const int64_t n = (int64_t)(ir_elements(x) / ir_elements(out));

    if (x->rank == 0 || (op->attr[IR_AXIS] >> (x->rank - 1) & 1) != 0)
        return false;
    for (uint32_t c = 0; c < (uint32_t)ir_dim_back(out, 0); c++) {
        const struct ir_range v = centred(f, op, 0, c);
        y[c] =
            requantised(&op->fixed, 0, &(struct sums){n * v.low, n * v.high}, ir_zero_point(out));
    }
    return true;
}

static struct ir_range of_table(const int8_t *zero, struct ir_range x)
{
    struct ir_range y = {zero[x.low], zero[x.low]};

    for (int32_t code = x.low; code <= x.high; code++)
        y = hull(y, (struct ir_range){zero[code], zero[code]});
    return y;
}

/* As a rule channels are alike, of which there may be a million. */
static bool range_lut(const struct ranging *f, const struct ir_op *op, struct ir_range *y)
{
    const struct ir_tensor *out = ir_out(f->g, op, 0);
    struct ir_range before = {0};

    if (op->fixed.table == NULL) /* a table for each channel */
        return false;
    for (uint32_t c = 0; c < (uint32_t)ir_dim_back(out, 0); c++) {
        const struct ir_range v = lgl_range(f->r, ir_in(f->g, op, 0), c);

        y[c] = c > 0 && v.low == before.low && v.high == before.high
                   ? y[c - 1]
                   : of_table(op->fixed.table + 128, v);
        before = v;
    }
    return true;
}

static bool range_pad(const struct ranging *f, const struct ir_op *op, struct ir_range *y)
{
    const struct ir_tensor *x = ir_in(f->g, op, 0), *p = ir_in(f->g, op, 1);
    const struct ir_tensor *value = ir_in(f->g, op, 2);
    const int32_t fill = value ? (int8_t)value->data[0] : ir_zero_point(x);

    if (x->rank == 0 || ir_const_i32(p, 2 * x->rank - 2) || ir_const_i32(p, 2 * x->rank - 1))
        return false;
    for (uint32_t c = 0; c < (uint32_t)ir_dim_back(x, 0); c++)
        y[c] = hull(lgl_range(f->r, x, c), (struct ir_range){fill, fill});
    return true;
}

/* Range of element i, where both have channels i % C: one number of channels divides the other. */
static bool range_flat(const struct ranging *f, const struct ir_op *op, struct ir_range *y)
{
    const struct ir_tensor *x = ir_in(f->g, op, 0);
    const uint32_t from = (uint32_t)ir_dim_back(x, 0),
                   n = (uint32_t)ir_dim_back(ir_out(f->g, op, 0), 0);

    for (uint32_t c = 0; c < n; c++)
        y[c] = lgl_range(f->r, x, c % from);
    for (uint32_t c = n; c < from; c++)
        y[c % n] = hull(y[c % n], lgl_range(f->r, x, c));
    return from % n == 0 || n % from == 0;
}

static bool range_joined(const struct ranging *f, const struct ir_op *op, struct ir_range *y)
{
    const bool channels = (uint32_t)op->attr[IR_AXIS] + 1 == ir_out(f->g, op, 0)->rank;
    uint32_t at = 0;

    for (uint32_t i = 0; i < op->n_in; i++) {
        const struct ir_tensor *x = ir_in(f->g, op, i);
        for (uint32_t c = 0; c < (uint32_t)ir_dim_back(x, 0); c++) {
            const struct ir_range v = lgl_range(f->r, x, c);
            y[at + c] = channels || i == 0 ? v : hull(y[c], v);
        }
        at += channels ? (uint32_t)ir_dim_back(x, 0) : 0;
    }
    return true;
}

typedef bool range_rule(const struct ranging *f, const struct ir_op *op, struct ir_range *y);

static const struct {
    range_rule *range;
} rules[] = {
#define OPERATOR(code, name, columns) {columns},
#define CHANNELS(how, rule)           range_##rule
#include "operators/operators.def"
};

/* --- all operators --- */

static struct ir_range *clamped(struct arena *a, const struct ir_fixed *fixed,
                                const struct ir_range *v, uint32_t n)
{
    struct ir_range *y = ARENA_ARRAY(a, struct ir_range, n);

    for (uint32_t c = 0; c < n; c++) {
        y[c].low = lgl_min(lgl_max(v[c].low, fixed->act_min), fixed->act_max);
        y[c].high = lgl_min(lgl_max(v[c].high, fixed->act_min), fixed->act_max);
    }
    return y;
}

static bool all_int8(const struct ir_graph *g, const struct ir_op *op)
{
    return op->n_out == 1 && ir_in(g, op, 0) && ir_in(g, op, 0)->type == IR_I8 &&
           ir_out(g, op, 0)->type == IR_I8 && op->fixed.n_real == 0;
}

static void follow(const struct ranging *f, uint32_t i)
{
    const struct ir_op *op = f->g->op[i];
    const struct ir_tensor *out = ir_out(f->g, op, 0);
    const uint32_t n = (uint32_t)ir_dim_back(out, 0);
    struct ir_range *y;

    if (op->dead || !rules[op->opcode].range || !all_int8(f->g, op))
        return;
    y = ARENA_ARRAY(f->g->arena, struct ir_range, n);
    if (!rules[op->opcode].range(f, op, y))
        return;
    f->r->follows[i] = true;
    f->r->unclamped[out->id] = y;
    f->r->value[out->id] = ir_op_info(op->opcode)->moves || op->fixed.table
                               ? y
                               : clamped(f->g->arena, &op->fixed, y, n);
}

static struct ir_range *of_constant(struct arena *a, const struct ir_tensor *t)
{
    const uint64_t n = (uint64_t)ir_dim_back(t, 0);
    struct ir_range *v = ARENA_ARRAY(a, struct ir_range, n);

    for (uint64_t i = 0; i < ir_elements(t); i++) {
        const int8_t value = (int8_t)t->data[i];
        const struct ir_range one = {value, value};
        v[i % n] = i < n ? one : hull(v[i % n], one);
    }
    return v;
}

struct lgl_ranges *lgl_ranges(struct ir_graph *g)
{
    struct lgl_ranges *r = ARENA_NEW(g->arena, struct lgl_ranges);
    const struct ranging f = {g, r};

    r->value = ARENA_ARRAY(g->arena, struct ir_range *, g->n_tensor + 1);
    r->unclamped = ARENA_ARRAY(g->arena, struct ir_range *, g->n_tensor + 1);
    r->follows = ARENA_ARRAY(g->arena, bool, g->n_op + 1);
    for (uint32_t i = 0; i < g->n_tensor; i++)
        if (g->tensor[i]->role == IR_CONST && g->tensor[i]->type == IR_I8)
            r->value[i] = of_constant(g->arena, g->tensor[i]);
    for (uint32_t i = 0; i < g->n_op; i++)
        follow(&f, i);
    return r;
}
