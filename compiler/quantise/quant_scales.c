/* quant_scales.c - convert ranges of tensors to scales and zero points. A range is the least to
 * the greatest value, a percentile of the values, or the range with the least mean square
 * error. That error, of rounding within the range and of clamping to it, is computed over the
 * counted values. */
#include <math.h>

#include "quant_own.h"

struct range {
    double low, high;
    bool fixed; /* by an operator, whatever its inputs */
};

struct quant_scale quant_scale_of(double low, double high, struct quant_limits limits)
{
    struct quant_scale s;
    double zero;

    low = fmin(low, 0);
    high = fmax(high, 0);
    s.scale = (float)(limits.no_zero ? fmax(-low, high) / 127 : (high - low) / 255);
    if (!(s.scale >= 1e-30f)) /* nothing but zeros */
        s.scale = 1;
    s.scale = quant_limited(s.scale, limits);
    if (limits.no_zero)
        return (struct quant_scale){s.scale, 0};
    zero = rint(-128 - low / (double)s.scale);
    s.zero = (int32_t)fmax(-128, fmin(127, zero));
    return s;
}

/* Return the middle of bin `i`. */
static double value_of(const struct quant_seen *s, uint32_t i)
{
    const double low = (double)s->low;

    return low + ((double)s->high - low) * (i + 0.5) / QUANT_BINS;
}

static uint64_t total(const struct quant_seen *s)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < QUANT_BINS; i++)
        n += s->bin[i];
    return n;
}

/* Leave out as many values below the range as above it. */
static struct range percentile_range(const struct quant_seen *s, double percentile)
{
    const double out = (double)total(s) * (1 - percentile / 100) / 2;
    const double width = ((double)s->high - (double)s->low) / QUANT_BINS;
    uint32_t from = 0, to = QUANT_BINS;
    double below = (double)s->bin[0], above = (double)s->bin[QUANT_BINS - 1];

    while (below <= out && from + 1 < QUANT_BINS)
        below += (double)s->bin[++from];
    while (above <= out && to > from + 1)
        above += (double)s->bin[--to - 1];
    return (struct range){(double)s->low + width * from, (double)s->low + width * to, false};
}

static double square_error(const struct quant_seen *s, struct range r, struct quant_limits limits)
{
    const struct quant_scale scale = quant_scale_of(r.low, r.high, limits);
    double sum = 0;

    for (uint32_t i = 0; i < QUANT_BINS; i++) {
        const float v = (float)value_of(s, i);
        const double e = (double)v - (double)quant_rounded(scale, v);

        sum += (double)s->bin[i] * e * e;
    }
    return sum;
}

/* Move one end, then the other, in steps of a 50th of the whole range; do it twice. Without zero
 * points the ends are one number and its negative. */
static struct range square_range(const struct quant_seen *s, struct quant_limits limits)
{
    enum { STEPS = 50 };
    const double most = fmax(-(double)s->low, (double)s->high),
                 low = limits.no_zero ? -most : (double)s->low,
                 high = limits.no_zero ? most : (double)s->high;
    struct range best = {low, high, false};
    double least = square_error(s, best, limits);

    for (int round = 0; round < 4; round++) {
        const struct range from = best;

        for (int k = 1; k < STEPS; k++) {
            struct range r = from;

            if (round % 2 || limits.no_zero)
                r.low = low * (STEPS - k) / STEPS;
            if (round % 2 == 0 || limits.no_zero)
                r.high = high * (STEPS - k) / STEPS;
            const double e = square_error(s, r, limits);

            if (e < least) {
                least = e;
                best = r;
            }
        }
    }
    return best;
}

static struct range range_of(const struct quant *q, uint32_t id)
{
    const struct quant_seen *s = &q->seen[id];
    const struct ir_tensor *t = q->g->tensor[id];
    float low, high;

    if (t->producer != IR_NONE && quant_fixed_range(q->g->op[t->producer], &low, &high))
        return (struct range){(double)low, (double)high, true};
    if (s->bin && s->high > s->low && q->options->ranges == QUANT_PERCENTILE)
        return percentile_range(s, q->options->percentile);
    if (s->bin && s->high > s->low && q->options->ranges == QUANT_MSE)
        return square_range(s, q->options->limits);
    return (struct range){(double)s->low, (double)s->high, false};
}

/* Return the scale of a constant of one value: quantised to 1 or -1, with its magnitude as
 * scale. */
static struct quant_scale scale_of_number(const struct quant_seen *s)
{
    const float v = s->high > 0 ? s->high : -s->low;

    return (struct quant_scale){v > 0 ? v : 1, 0};
}

static enum status check_finite(const struct quant *q, uint32_t id, struct diag *d)
{
    const struct ir_tensor *t = q->g->tensor[id];
    const uint32_t maker = t->producer;

    if (!q->tensor[id] || q->seen[id].finite)
        return ST_OK;
    return FAIL(d, ST_USAGE,
                "layer '%s' has values that are not finite, so no range; keep it and its readers "
                "float (--keep-float)",
                maker == IR_NONE ? t->name : q->g->row[q->g->op[maker]->row].name);
}

enum status quant_make(struct quant *q, struct diag *d)
{
    const struct ir_graph *g = q->g;
    struct range *group = ARENA_ARRAY(q->arena, struct range, g->n_tensor);

    quant_select(q);
    q->scale = ARENA_ARRAY(q->arena, struct quant_scale, g->n_tensor);
    for (uint32_t i = 0; i < g->n_tensor; i++) {
        if (!q->tensor[i])
            continue;
        TRY(check_finite(q, i, d));
        const struct range r = range_of(q, i);
        struct range *all = &group[q->group[i]];

        *all =
            (struct range){fmin(all->low, r.low), fmax(all->high, r.high), all->fixed || r.fixed};
    }
    for (uint32_t i = 0; i < g->n_tensor; i++) {
        const struct ir_tensor *t = g->tensor[i];
        const struct range r = group[q->group[i]];
        struct quant_limits limits = q->options->limits;

        if (!q->tensor[i])
            continue;
        limits.no_zero = limits.no_zero && !r.fixed;
        q->scale[i] =
            t->role == IR_CONST && ir_elements(t) == 1 && q->group[i] == i && !limits.power_of_two
                ? scale_of_number(&q->seen[i])
                : quant_scale_of(r.low, r.high, limits);
    }
    quant_make_weights(q);
    return ST_OK;
}
