/* requantise.c - rules of one argument: a sum to a byte, and the mean of a sum. */
#include "rules.h"
#include "sim/functional/func_math.h"

struct scale {
    int32_t multiplier, shift, z, low, high;
};

static int8_t requantised(const void *ctx, int64_t x)
{
    const struct scale *s = ctx;

    return func_clamp(func_mbqm((int32_t)x, s->multiplier, s->shift), s->z, s->low, s->high);
}

/* A sum up to this, either sign, stays in 32 bits when it is shifted left, so that rounding up twice never turns. */
static int64_t limit_of(int32_t shift)
{
    return (INT32_MAX - 256) >> (shift > 30 ? 30 : shift > 0 ? shift : 0); /* z is added */
}

/* The shift left drops bits of the sum: an opaque function of it. */
static uint32_t shifted_out(struct prove *p, const struct prove_sum *s, const struct scale *k)
{
    const prove_uwide word[] = {(prove_uwide)4 << 64 | (uint32_t)k->multiplier,
                                (uint32_t)k->shift,
                                (uint32_t)k->z,
                                (uint32_t)k->low,
                                (uint32_t)k->high,
                                prove_value(s)};

    return prove_leaf(p, prove_hash(p, word, 6), k->low, k->high);
}

enum { DIGIT = 64, FIRST_SHIFT = 25, DIGIT_BITS = 7, DIGITS = 4 };

/* Return the number of digits to the base of 128 that hold the sum, DIGITS + 1 if more. */
static int32_t digits_of(const struct prove_sum *s)
{
    int32_t n = 1;

    while (n <= DIGITS && (s->low < -((int64_t)1 << (DIGIT_BITS * n - 1)) ||
                           s->high >= (int64_t)1 << (DIGIT_BITS * n - 1)))
        n++;
    return n;
}

/* Digit `place` of a sum of n. All but the last are opaque; the last is what they leave of the sum,
 * divided in the field, where 2^-7 is 2^120. */
static uint32_t digit(struct prove *p, const struct prove_sum *s, int32_t place, int32_t n)
{
    prove_uwide rest = prove_value(s);
    struct scale k = {DIGIT, FIRST_SHIFT, 0, -128, 127};

    if (place >= n)
        return prove_constant(0);
    for (int32_t i = 0; i < n; i++, k.shift -= DIGIT_BITS) {
        if (i + 1 < n) {
            const uint32_t t = shifted_out(p, s, &k);

            if (i == place)
                return t;
            rest = prove_plus(rest, prove_times(prove_element(-((int64_t)1 << DIGIT_BITS * i)),
                                                p->term[t].element));
        }
    }
    return prove_leaf(
        p, prove_times(rest, n > 1 ? (prove_uwide)1 << (127 - DIGIT_BITS * (n - 1)) : 1), -64, 64);
}

uint32_t prove_requantise(struct prove *p, const struct prove_sum *s, int32_t multiplier,
                          int32_t shift, int32_t z, int32_t low, int32_t high)
{
    const struct scale scale = {multiplier, shift, z, low, high};
    const struct prove_key key = {{7, multiplier, shift, z, low, high}};
    const int64_t limit = limit_of(shift);
    const int32_t place = (FIRST_SHIFT - shift) / DIGIT_BITS;

    if (multiplier == DIGIT && place >= 0 && place < DIGITS &&
        shift == FIRST_SHIFT - DIGIT_BITS * place && z == 0 && low == -128 && high == 127 &&
        s->low < s->high && digits_of(s) <= DIGITS)
        return digit(p, s, place, digits_of(s));
    if (low > high)
        return prove_unknown(p, "a clamp whose bounds are exchanged");
    if (func_shift_ok(shift) && shift > 0 && prove_fits(s) && (s->low < -limit || s->high > limit))
        return shifted_out(p, s, &scale);
    if (!func_shift_ok(shift) || s->low < -limit || s->high > limit)
        return prove_unknown(p, "a sum that may leave 32 bits");
    return prove_apply(p, requantised, &scale, key, s, limit);
}

struct mean {
    int64_t n;
    int32_t low, high;
    bool up;
};

static int8_t averaged(const void *ctx, int64_t x)
{
    const struct mean *m = ctx;
    const int64_t half = m->n / 2;
    int64_t v = x > 0 ? (x + half) / m->n : (x - half) / m->n;

    if (m->up)
        v = (x + half) / m->n - ((x + half) % m->n < 0);
    return (int8_t)(v < m->low ? m->low : v > m->high ? m->high : v);
}

uint32_t prove_average(struct prove *p, const struct prove_sum *s, uint32_t n, bool up, int32_t low,
                       int32_t high)
{
    const struct mean m = {n, low, high, up};
    const struct prove_key key = {{8, n, up, low, high}};

    if (n == 0 || !prove_fits(s) || low > high)
        return prove_unknown(p, "an average over no cells, or of a sum that may leave 32 bits");
    return prove_apply(p, averaged, &m, key, s, -(int64_t)INT32_MIN);
}

static uint32_t clamped(struct prove *p, uint32_t t, int32_t low, int32_t high)
{
    int8_t table[256];

    for (int32_t v = -128; v < 128; v++)
        table[v + 128] = (int8_t)(v < low ? low : v > high ? high : v);
    return prove_table(p, table, t);
}

uint32_t prove_mean_of(struct prove *p, const uint32_t *cell, uint32_t n, bool up, int32_t low,
                       int32_t high)
{
    struct prove_sum sum = {0};

    for (uint32_t i = 0; i < n; i++)
        prove_add(&sum, p, cell[i], 0, 1);
    return n ? prove_average(p, &sum, n, up, low, high) : clamped(p, prove_constant(0), low, high);
}

uint32_t prove_most_of(struct prove *p, const uint32_t *cell, uint32_t n, int32_t low, int32_t high)
{
    return clamped(p, n ? prove_extremum(p, PROVE_GREATEST, cell, n) : prove_constant(-128), low,
                   high);
}
