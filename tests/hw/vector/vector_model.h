/* vector_model.h - VECTOR's operations in plain integers after docs/NUMERICS.md and
 * docs/HARDWARE.md, for the benches of VECTOR and of the functional model: neither shares code with
 * it. Which operands an operation has comes from the facts of accel.json; its formula is written
 * here, by name. C and C++. */
#ifndef HEDDLE_TESTS_HW_VECTOR_MODEL_H
#define HEDDLE_TESTS_HW_VECTOR_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "hd_accel_tables.h"
#include "tests/kernels/lstm_model.h"

/* n: lanes; exp: the memory of exponentials, for curve. Addresses are modulo `size`, a power of two. */
struct vector_model {
    const struct hd_cmd_vector *c;
    const int8_t *spad;
    uint32_t size, n;
    const int32_t *exp;
};

/* Return true if the operation has a window of cells instead of two operands or a row. */
static inline bool vector_has_window(uint32_t op)
{
    return hd_vop_facts[op].operands == 1 && !hd_vop_facts[op].softmax && !hd_vop_facts[op].curve;
}

/* Return true if both operands are brought to a common scale. */
static inline bool vector_scales(uint32_t op)
{
    return hd_vop_facts[op].operands == 2 && hd_vop_facts[op].scale;
}

/* Set the fields that any operation may have, from random bits. */
static inline void vector_model_flags(struct hd_cmd_vector *c, uint32_t bits)
{
    c->look_up = !hd_vop_facts[c->op].softmax && !hd_vop_facts[c->op].lstm && bits % 3 == 0;
    c->table_step = bits >> 10 & 1;
    c->table_first = bits >> 11 & 7;
}

/* MBQM: half away from zero, twice. */
static inline int32_t vector_mbqm(int64_t x, int32_t multiplier, int32_t shift)
{
    const int64_t product = (int64_t)(int32_t)((uint32_t)x << (shift > 0 ? shift : 0)) * multiplier;
    const int64_t nudge = product >= 0 ? INT64_C(1) << 30 : 1 - (INT64_C(1) << 30);
    const int64_t high = (product + nudge) / (INT64_C(1) << 31);
    const int64_t unit = INT64_C(1) << (shift < 0 ? -shift : 0);
    const int64_t size = ((high < 0 ? -high : high) * 2 + unit) / (2 * unit);

    return (int32_t)(high < 0 ? -size : size);
}

static inline int32_t vector_byte(const struct vector_model *m, int64_t address)
{
    return m->spad[(uint64_t)address & (m->size - 1)];
}

/* Zero points are subtracted already. */
static inline int32_t vector_of_two(const struct hd_cmd_vector *c, int32_t x, int32_t y)
{
    const int32_t up = c->op == HD_VOP_SQUARED ? 7
                       : c->half               ? 15
                                               : 20,
                  less = c->op == HD_VOP_SQUARED ? 13 : 0;
    int64_t a = x, b = y;

    if (c->op == HD_VOP_MUL)
        return vector_mbqm(a * b, c->multiplier_out, c->shift_out);
    if (c->op == HD_VOP_PRELU)
        return x < 0 ? vector_mbqm(a * b, c->multiplier_b, c->shift_b)
                     : vector_mbqm(a, c->multiplier_out, c->shift_out);
    if (c->op == HD_VOP_MAX || c->op == HD_VOP_MIN) { /* no shifts */
        a = vector_mbqm(a * (1 << up), c->multiplier_a, 0);
        b = vector_mbqm(b * (1 << up), c->multiplier_b, 0);
        a = (a > b) == (c->op == HD_VOP_MAX) ? a : b;
    } else {
        a = vector_mbqm(a * (1 << up), c->multiplier_a, c->shift_a + less);
        b = vector_mbqm(b * (1 << up), c->multiplier_b, c->shift_b + less);
        a = c->op == HD_VOP_ADD ? a + b : a - b;
    }
    if (c->op == HD_VOP_SQUARED)
        a = (int32_t)(uint32_t)(uint64_t)(a * a);
    return vector_mbqm(a, c->multiplier_out, c->shift_out);
}

/* A number of two bytes, the lower one less 128. */
static inline int32_t vector_two(const struct vector_model *m, int64_t upper, int64_t lower)
{
    return 256 * vector_byte(m, upper) + vector_byte(m, lower) + 128;
}

/* Set the fields that operands of two bytes need as they are, after the random ones. */
static inline void vector_model_half(struct hd_cmd_vector *c, uint32_t bits)
{
    if (!hd_vop_facts[c->op].halves)
        return;
    c->half = 1 + bits % 2;
    c->look_up = 0;
    c->z_a = c->z_b = c->z_out = 0;
    c->kernel_w = 2;
    c->kernel_h = c->op == HD_VOP_MUL ? 2 : 1;
    c->in_h = c->in_w = 2;
    c->y_start = c->x_start = 0;
    c->stride_y = c->stride_x = 0;
    if (c->op == HD_VOP_MAX || c->op == HD_VOP_MIN)
        c->multiplier_a = c->multiplier_b = 1 << 16;
    if (c->op == HD_VOP_CURVE) {
        c->multiplier_a = (int32_t)(bits >> 8 | (uint32_t)(bits % 7 == 0) << 30);
        c->multiplier_out = bits >> 30 ? 1 << 21 : 1 << 20 | (int32_t)(bits >> 5 & 0xfffff);
        c->shift_a = bits & 2 ? -8 : -9;
        c->shift_b = bits & 4 ? -1 : 0;
        c->shift_out = (int8_t)(bits >> 3 & 1);
        return;
    }
    c->shift_out = (int8_t)(c->op == HD_VOP_MUL ? c->shift_out - 9 : c->shift_out + 3);
    if (c->shift_out < -31)
        c->shift_out = -31;
    if (c->shift_out > 30)
        c->shift_out = 30;
}

/* curve of x, by the memory of exponentials: base and slope of an entry, the next one 512 parts on. */
static inline int32_t vector_curve(const struct hd_cmd_vector *c, const int32_t *exp, int32_t x)
{
    int64_t part = vector_mbqm((int64_t)x * 32768, c->multiplier_a, 0), sum;
    int64_t entry, rest;

    if (c->shift_a == -8)
        part *= 2;
    rest = (part % 512 + 512) % 512;
    entry = (part - rest) / 512;
    entry = entry > 255 ? 255 : entry < -256 ? -256 : entry;
    const uint32_t e = (uint32_t)exp[entry & 511];
    sum = (int64_t)(e % 65536) * 512;
    if (c->shift_b == 0 && e % 65536 >= 32768)
        sum -= 65536 * 512;
    if (c->shift_b != 0 && entry < 0)
        sum += 511;
    sum += (e >> 16 >= 32768 ? (int64_t)(e >> 16) - 65536 : (int64_t)(e >> 16)) * rest;
    return vector_mbqm((int32_t)(uint32_t)(2 * sum), c->multiplier_out, c->shift_out);
}

/* The byte that is written of a result of two bytes. */
static inline int8_t vector_half(const struct hd_cmd_vector *c, int64_t v)
{
    const int64_t low = c->act_min * 256, top = c->act_max * 256 + 255;

    v = v < low ? low : v > top ? top : v;
    return (int8_t)(c->half == 1 ? (v - (v & 255)) / 256 : (v & 255) - 128);
}

/* Modulo 2^32. */
static inline int64_t vector_zeroed(const struct hd_cmd_vector *c, int32_t v)
{
    return (int32_t)((uint32_t)v + (uint32_t)c->z_out);
}

static inline int64_t vector_of_window(const struct vector_model *m, int64_t at, uint32_t row,
                                       uint32_t col)
{
    const struct hd_cmd_vector *c = m->c;
    int64_t sum = 0, n = 0;
    int32_t largest = -128;

    for (uint32_t ky = 0; ky < c->kernel_h; ky++)
        for (uint32_t kx = 0; kx < c->kernel_w; kx++) {
            const int64_t y = c->y_start + (int64_t)row * c->stride_y + ky;
            const int64_t x = c->x_start + (int64_t)col * c->stride_x + kx;
            const int64_t cell = at + (int64_t)ky * c->a_win_row + (int64_t)kx * c->a_win_col;

            if (y < 0 || x < 0 || y >= (int64_t)c->in_h || x >= (int64_t)c->in_w)
                continue;
            const int32_t value = vector_byte(m, cell);
            const int32_t other =
                c->op == HD_VOP_MAX_POOL_TWO ? vector_byte(m, cell + c->b_base) : value;
            const int32_t larger = value > other ? value : other;
            largest = larger > largest ? larger : largest;
            sum += value;
            n++;
        }
    if (c->op == HD_VOP_SUM)
        return vector_zeroed(c, vector_mbqm(sum - n * c->z_a, c->multiplier_out, c->shift_out));
    if (c->op == HD_VOP_AVG_POOL)
        return n == 0 ? 0 : (sum > 0 ? sum + n / 2 : sum - n / 2) / n;
    return largest;
}

/* The result at (row, col), channel ch: clamped, before look_up. */
static inline int8_t vector_element(const struct vector_model *m, uint32_t row, uint32_t col,
                                    uint32_t ch)
{
    const struct hd_cmd_vector *c = m->c;
    const int64_t a = c->a_base + (int64_t)row * c->a_row + (int64_t)col * c->a_col;
    const int64_t b = c->b_base + (int64_t)row * c->b_row + (int64_t)col * c->b_col;
    const uint32_t b_ch = c->b_splat ? 0 : ch;
    int64_t v;

    if (c->half) {
        const int64_t x = a + (c->a_splat ? 0 : ch), y = b + b_ch;

        if (c->op == HD_VOP_CURVE)
            return vector_half(c, vector_curve(c, m->exp, vector_two(m, x, x + c->a_win_row)));
        return vector_half(c, vector_of_two(c, vector_two(m, x, x + c->a_win_row),
                                            vector_two(m, y, y + c->a_win_col)));
    }
    if (vector_has_window(c->op))
        v = vector_of_window(m, a + ch, row, col);
    else
        v = vector_zeroed(c, vector_of_two(c, vector_byte(m, a + (c->a_splat ? 0 : ch)) - c->z_a,
                                           vector_byte(m, b + b_ch) - c->z_b));
    return (int8_t)(v < c->act_min ? c->act_min : v > c->act_max ? c->act_max : v);
}

/* --- lstm --- */

/* The number of n bytes, `apart` bytes apart, the lowest first. */
static inline int64_t vector_bytes(const struct vector_model *m, int64_t address, int64_t apart,
                                   int n)
{
    int64_t x = vector_byte(m, address + (n - 1) * apart);

    for (int k = n - 2; k >= 0; k--)
        x = 256 * x + (vector_byte(m, address + k * apart) & 255);
    return x;
}

/* Set the fields that lstm needs as they are, after the random ones. */
static inline void vector_model_lstm(struct hd_cmd_vector *c, uint32_t cells, uint32_t bits)
{
    c->rows = 1;
    c->cols = cells & 0xffffu;
    c->channels = 4;
    c->kernel_h = 2;
    c->kernel_w = 3;
    c->in_h = c->in_w = 0xffff;
    c->stride_y = c->stride_x = 0;
    c->z_a = c->z_b = 0;
    c->a_splat = c->b_splat = 0;
    c->act_min = -128;
    c->act_max = 127;
    c->multiplier_b = 1 << 11;
    c->multiplier_a = bits % 3 ? 32768 : (int32_t)(bits >> 8 & 0x7fff) + 1;
    c->shift_a = (int8_t)(bits % 5 ? 2 : bits >> 24 & 7);
    c->shift_out = (int8_t)(-23 + (int)(bits >> 4 & 3));
}

/* Return the output of cell `col`, and its new state. */
static inline int8_t vector_cell(const struct vector_model *m, uint32_t col, int64_t *state)
{
    const struct hd_cmd_vector *c = m->c;
    const int64_t x = c->a_base + (int64_t)col * c->a_col, h = x + c->a_win_row;
    int64_t gate[4], y;

    for (int g = 0; g < 4; g++)
        gate[g] = lstm_saturated(vector_bytes(m, x + g, c->a_win_col, 2) +
                                 vector_bytes(m, h + g, c->a_win_col, 3));
    *state = vector_bytes(m, c->b_base + (int64_t)col * c->b_col, 1, 2);
    y = lstm_cell(gate, c->shift_a + 2, c->multiplier_a, state);
    y = vector_zeroed(c, vector_mbqm(y, c->multiplier_out, c->shift_out));
    return (int8_t)(y < -128 ? -128 : y > 127 ? 127 : y);
}

/* --- softmax --- */

static inline int64_t softmax_srdhm(int64_t a, int64_t b)
{
    const int64_t p = a * b, nudge = INT64_C(1) << 30;

    return (p + (p >= 0 ? nudge : 1 - nudge)) / (INT64_C(1) << 31);
}

/* x / 2^e of x >= 0, halves up. */
static inline int64_t softmax_shifted(int64_t x, int e)
{
    return e == 0 ? x : (x + (INT64_C(1) << (e - 1))) >> e;
}

struct softmax_row {
    int max;
    int64_t scale;
    int exponent; /* above 31 every result is 0 */
};

/* exp: indexed by (byte - maximum) modulo 256. */
static inline struct softmax_row softmax_row_with(const int32_t exp[256], const int8_t *x,
                                                  uint32_t n, int max)
{
    struct softmax_row r = {max, 0, 0};
    int64_t sum = 0, half, inverse;
    int zeros = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += softmax_shifted(exp[(x[i] - r.max) & 255], 12);
    while ((sum << zeros) < INT64_C(1) << 31)
        zeros++;
    half = (sum << zeros) / 2;
    inverse = 1515870810 + softmax_srdhm(half, -1010580540);
    for (int i = 0; i < 3; i++)
        inverse += 4 * softmax_srdhm(inverse, (INT64_C(1) << 29) - softmax_srdhm(half, inverse));
    r.scale = 2 * inverse > INT32_MAX ? INT32_MAX : 2 * inverse;
    r.exponent = 35 - zeros;
    return r;
}

static inline struct softmax_row softmax_row_of(const int32_t exp[256], const int8_t *x, uint32_t n)
{
    int max = -128;

    for (uint32_t i = 0; i < n; i++)
        max = x[i] > max ? x[i] : max;
    return softmax_row_with(exp, x, n, max);
}

/* Before zero point and clamp. */
static inline int64_t softmax_result(const struct softmax_row *r, const int32_t exp[256], int8_t x)
{
    return r->exponent > 31
               ? 0
               : softmax_shifted(softmax_srdhm(r->scale, exp[(x - r->max) & 255]), r->exponent);
}

#endif
