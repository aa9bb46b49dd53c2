/* tosa_number.c - arithmetic of integers, as the specification defines it, from operators on int32
 * and int64. */
#include <string.h>

#include "tosa_import.h"

static enum ir_type type_of(const struct tosa *m, uint32_t x)
{
    return m->g->tensor[x]->type;
}

static enum ir_type out_type(const struct tosa *m)
{
    return tosa_ir_type(m->file->tensor[m->op->out[0]].type);
}

int64_t tosa_apply_scale(int64_t value, int64_t multiplier, int32_t shift, bool twice)
{
    int64_t round = INT64_C(1) << (shift - 1);

    if (twice && shift > 31)
        round += value >= 0 ? INT64_C(1) << 30 : -(INT64_C(1) << 30);
    return (value * multiplier + round) >> shift;
}

void tosa_reciprocal(int32_t n, int64_t *multiplier, int64_t *shift)
{
    int32_t k = 0;

    while (k < 31 && ((uint32_t)n - 1) >> k != 0)
        k++;
    *multiplier = ((INT64_C(1) << 30) + 1) * (INT64_C(1) << k) / n;
    *shift = 30 + k;
}

/* A constant of int64 along the last dimension, or without dimensions if there is one. */
static uint32_t row(struct tosa *m, uint32_t n, const int64_t *value)
{
    const int32_t dim = (int32_t)n;

    return tosa_const(m, IR_I64, n > 1, &dim, value);
}

/* RESCALE: (value * multiplier + round) >> shift. */
uint32_t tosa_rescale(struct tosa *m)
{
    const struct tosa_attributes *a = &m->op->a;
    uint32_t n, n_shift, x = tosa_cast(m, tosa_in(m, 0), IR_I64), rounds;
    const int64_t *const multiplier = tosa_values(m, m->op, 1, &n);
    const int64_t *const shift = tosa_values(m, m->op, 2, &n_shift);
    const double in_zero = (double)tosa_value(m, m->op, 3);
    const double out_zero = (double)tosa_value(m, m->op, 4);
    const enum ir_type to = out_type(m), from = type_of(m, tosa_in(m, 0));
    int64_t *const up = ARENA_ARRAY(m->arena, int64_t, n), *const down =
                                                               ARENA_ARRAY(m->arena, int64_t, n);
    bool twice = false;

    if (m->st != ST_OK)
        return 0;
    if (n != n_shift)
        return TOSA_FAIL(m, ST_MODEL, "expected as many shifts as multipliers, found %u and %u",
                         n_shift, n);
    for (uint32_t i = 0; i < n; i++) {
        if (multiplier[i] < 0 || shift[i] < 2 || shift[i] > 62)
            return TOSA_FAIL(m, ST_MODEL,
                             "multiplier and shift: expected from 0 on, and 2 to 62, found %lld "
                             "and %lld",
                             (long long)multiplier[i], (long long)shift[i]);
        up[i] = INT64_C(1) << (shift[i] - 1);
        down[i] = up[i];
        if (a->rounding == TOSA_DOUBLE_ROUND && shift[i] > 31) {
            twice = true;
            up[i] += INT64_C(1) << 30;
            down[i] -= INT64_C(1) << 30;
        }
    }
    if (a->in_unsigned)
        x = tosa_do_bitwise_and_number(m, x, from == IR_I8 ? 0xff : 0xffff);
    x = tosa_do_sub_number(m, x,
                           a->in_unsigned ? (from == IR_I8 ? (double)((int64_t)in_zero & 0xff)
                                                           : (double)((int64_t)in_zero & 0xffff))
                                          : in_zero);
    rounds = row(m, n, up);
    if (twice)
        rounds = tosa_select(m, tosa_do_greater_equal_number(m, x, 0), rounds, row(m, n, down));
    x = tosa_do_mul(m, x, row(m, n, multiplier));
    x = tosa_do_add(m, x, rounds);
    x = tosa_do_right_shift(m, x, row(m, n, shift));
    if (!a->out_unsigned)
        return tosa_saturate(m, tosa_do_add_number(m, x, out_zero), to);
    x = tosa_do_add_number(m, x, (double)((int64_t)out_zero & (to == IR_I8 ? 0xff : 0xffff)));
    x = tosa_do_maximum_number(m, x, 0);
    return tosa_cast(m, tosa_do_minimum_number(m, x, to == IR_I8 ? 0xff : 0xffff), to);
}

/* The elements of `table` at the int32 places `at`. */
static uint32_t look_up(struct tosa *m, uint32_t table, uint32_t at)
{
    const struct ir_tensor *t = m->g->tensor[at];
    const uint32_t in[2] = {table, at};
    const uint32_t y = tosa_new(m, type_of(m, table), t->rank, t->dim);

    return tosa_make_gather(m, 2, in, y, NULL);
}

/* TABLE: 256 entries of int8, or 513 of int16 with seven bits between them, which gives int32. */
uint32_t tosa_table(struct tosa *m)
{
    const uint32_t x = tosa_cast(m, tosa_in(m, 0), IR_I32), table = tosa_in(m, 1);
    const bool wide = type_of(m, tosa_in(m, 0)) == IR_I16;
    const int32_t n = wide ? 513 : 256;
    uint32_t at, base, next, part;

    if (m->g->tensor[table]->rank != 1 || m->g->tensor[table]->dim[0] != n ||
        type_of(m, table) != type_of(m, tosa_in(m, 0)))
        return TOSA_FAIL(m, ST_MODEL, "table: expected %d values of the input's type", n);
    if (!wide)
        return look_up(m, table, tosa_do_add_number(m, x, 128));
    at = tosa_do_right_shift_number(m, tosa_do_add_number(m, x, 32768), 7);
    part = tosa_do_bitwise_and_number(m, x, 127);
    base = tosa_cast(m, look_up(m, table, at), IR_I32);
    next = tosa_cast(m, look_up(m, table, tosa_do_add_number(m, at, 1)), IR_I32);
    return tosa_do_add(m, tosa_do_mul_number(m, base, 128),
                       tosa_do_mul(m, tosa_do_sub(m, next, base), part));
}

/* MUL: of int32 with a shift of the product, rounded up at halves. */
uint32_t tosa_mul(struct tosa *m)
{
    const uint32_t a = tosa_in(m, 0), b = tosa_in(m, 1);
    const int64_t shift = tosa_value(m, m->op, 2);
    uint32_t x;

    if (shift < 0 || shift > 63 || (shift != 0 && type_of(m, a) != IR_I32))
        return TOSA_FAIL(m, ST_MODEL, "shift: expected 0 to 63, 0 except of int32, found %lld",
                         (long long)shift);
    if (type_of(m, a) == IR_F32)
        return tosa_do_mul(m, a, b);
    if (shift == 0)
        return tosa_do_mul(m, tosa_cast(m, a, IR_I32), tosa_cast(m, b, IR_I32));
    x = tosa_do_mul(m, tosa_cast(m, a, IR_I64), tosa_cast(m, b, IR_I64));
    x = tosa_do_add_number(m, x, (double)((uint64_t)1 << (shift - 1)));
    return tosa_cast(m, tosa_do_right_shift_number(m, x, (double)shift), IR_I32);
}

/* NEGATE: zero points of the input and the output. */
uint32_t tosa_negate(struct tosa *m)
{
    const uint32_t x = tosa_in(m, 0);
    const enum ir_type type = type_of(m, x);
    uint32_t y;

    if (type == IR_F32)
        return tosa_make_neg(m, 1, &x, tosa_like(m, x), NULL);
    y = tosa_do_sub_number(m, tosa_cast(m, x, IR_I64), (double)tosa_value(m, m->op, 1));
    y = tosa_do_sub(m, tosa_number(m, IR_I64, (double)tosa_value(m, m->op, 2)), y);
    return tosa_saturate(m, y, type);
}

uint32_t tosa_abs(struct tosa *m)
{
    const uint32_t x = tosa_in(m, 0);

    if (type_of(m, x) == IR_F32)
        return tosa_make_abs(m, 1, &x, tosa_like(m, x), NULL);
    return tosa_do_maximum(m, x, tosa_do_sub(m, tosa_number(m, IR_I32, 0), x));
}

/* The bound of CLAMP in the `n` bytes at `data`. */
static double bound(struct tosa *m, const char *what, const uint8_t *data, uint32_t n)
{
    const enum ir_type type = type_of(m, tosa_in(m, 0));
    int16_t whole = 0;
    float real;

    if (n != ir_type_bytes(type))
        return TOSA_FAIL(m, ST_MODEL, "%s: expected %u bytes, found %u", what, ir_type_bytes(type),
                         n);
    if (type == IR_F32) {
        memcpy(&real, data, 4);
        return (double)real;
    }
    memcpy(&whole, data, n);
    return type == IR_I8 ? (int8_t)data[0] : whole;
}

uint32_t tosa_clamp(struct tosa *m)
{
    const struct tosa_attributes *a = &m->op->a;
    const double low = bound(m, "min_val", a->low, a->n_low);
    const double high = bound(m, "max_val", a->high, a->n_high);
    const uint32_t x = tosa_in(m, 0);
    const float bounds[2] = {(float)low, (float)high};
    int32_t attr[IR_ATTR_COUNT] = {0};
    uint32_t y;

    if (m->st != ST_OK)
        return 0;
    if (low > high)
        return TOSA_FAIL(m, ST_MODEL, "min_val %g is above max_val %g", low, high);
    if (type_of(m, x) != IR_F32) {
        y = tosa_do_maximum_number(m, tosa_cast(m, x, IR_I32), low);
        return tosa_cast(m, tosa_do_minimum_number(m, y, high), type_of(m, x));
    }
    memcpy(&attr[IR_CLIP_LOW_BITS], &bounds[0], 4);
    memcpy(&attr[IR_CLIP_HIGH_BITS], &bounds[1], 4);
    return tosa_make_clip(m, 1, &x, tosa_out(m, IR_NONE), attr);
}

/* 2^0 to 2^31 as a vector. */
static uint32_t powers(struct tosa *m)
{
    int64_t *const power = ARENA_ARRAY(m->arena, int64_t, 32);

    for (uint32_t i = 0; i < 32; i++)
        power[i] = INT64_C(1) << i;
    return row(m, 32, power);
}

/* CLZ: the number of powers of two, from 2^0 to 2^31, above the unsigned value. */
uint32_t tosa_clz(struct tosa *m)
{
    const struct ir_tensor *x = m->g->tensor[tosa_in(m, 0)];
    int32_t dim[IR_MAX_RANK + 1];
    uint32_t y;

    memcpy(dim, x->dim, sizeof x->dim);
    dim[x->rank] = 1;
    y = tosa_do_bitwise_and_number(m, tosa_cast(m, x->id, IR_I64), 4294967295.0);
    y = tosa_reshape(m, y, x->rank + 1, dim);
    y = tosa_do_less(m, y, powers(m));
    y = tosa_cast(m, y, IR_I32);
    return tosa_make_sum(m, 1, &y, tosa_new(m, IR_I32, x->rank, x->dim),
                         (const int32_t[IR_ATTR_COUNT]){[IR_AXIS] = 1 << x->rank});
}

/* Amounts are 0 to 31: the power of two by which a shift to the left multiplies. */
uint32_t tosa_left(struct tosa *m)
{
    const uint32_t x = tosa_in(m, 0);
    const uint32_t by =
        look_up(m, tosa_cast(m, powers(m), IR_I32), tosa_cast(m, tosa_in(m, 1), IR_I32));

    return tosa_cast(m, tosa_do_mul(m, tosa_cast(m, x, IR_I32), by), type_of(m, x));
}

/* The unsigned value shifted to the right. */
uint32_t tosa_right(struct tosa *m)
{
    const uint32_t x = tosa_in(m, 0);
    const double mask = (double)((UINT64_C(1) << 8 * ir_type_bytes(type_of(m, x))) - 1);

    return tosa_cast(
        m,
        tosa_do_right_shift(m, tosa_do_bitwise_and_number(m, tosa_cast(m, x, IR_I64), mask),
                            tosa_cast(m, tosa_in(m, 1), IR_I64)),
        type_of(m, x));
}

/* round: the last bit that leaves is added. */
uint32_t tosa_arithmetic(struct tosa *m)
{
    const uint32_t x = tosa_cast(m, tosa_in(m, 0), IR_I64);
    const uint32_t by = tosa_cast(m, tosa_in(m, 1), IR_I64);
    uint32_t y = tosa_do_right_shift(m, x, by), last;

    if (m->op->a.round) {
        last = tosa_do_right_shift(m, tosa_do_mul_number(m, x, 2), by);
        y = tosa_do_add(m, y, tosa_do_bitwise_and_number(m, last, 1));
    }
    return tosa_cast(m, y, type_of(m, tosa_in(m, 0)));
}

uint32_t tosa_not(struct tosa *m)
{
    const uint32_t x = tosa_in(m, 0);

    return tosa_cast(m, tosa_do_bitwise_xor_number(m, tosa_cast(m, x, IR_I32), -1), type_of(m, x));
}

/* CAST: a float is rounded to even and saturated, an integer keeps its low bits. */
uint32_t tosa_convert(struct tosa *m)
{
    const enum ir_type to = out_type(m);
    uint32_t x = tosa_in(m, 0);

    if (to == IR_BOOL)
        return tosa_do_not_equal_number(m, ir_is_code(type_of(m, x)) ? tosa_cast(m, x, IR_I32) : x,
                                        0);
    if (type_of(m, x) != IR_F32 || to == IR_F32)
        return tosa_cast(m, x, to);
    x = tosa_cast(m, tosa_make_round(m, 1, &x, tosa_like(m, x), NULL), IR_I32);
    return tosa_saturate(m, x, to);
}
