/* hdk_number.c - CAST, arithmetic of int32 and int64, comparisons, logic and SELECT on numbers of
 * any type. Plain loops. */
#include "hdk.h"
#include "hdk_index.h"
#include "hdk_math.h"

static int64_t int_at(enum hdk_number type, const void *x, uint32_t i)
{
    switch (type) {
    case HDK_I64: return ((const int64_t *)x)[i];
    case HDK_I32: return ((const int32_t *)x)[i];
    case HDK_I16: return ((const int16_t *)x)[i];
    case HDK_I8: return ((const int8_t *)x)[i];
    default: return ((const uint8_t *)x)[i] != 0;
    }
}

static int fits_int32(float v)
{
    return v > -2147483648.0f && v < 2147483648.0f;
}

/* Towards zero, within the type. */
static int64_t truncated(float v, enum hdk_number type)
{
    if (fits_int32(v))
        return (int32_t)v;
    if (v != v)
        return 0;
    if (type != HDK_I64)
        return v > 0 ? INT32_MAX : INT32_MIN;
    if (v >= 0x1p63f)
        return INT64_MAX;
    return v < -0x1p63f ? INT64_MIN : (int64_t)v;
}

/* The low bits of values that fit int32; 0 for others. */
static int64_t low_bits(float v)
{
    return fits_int32(v) ? (int32_t)v : 0;
}

static void put_int(enum hdk_number type, void *y, uint32_t i, int64_t v)
{
    switch (type) {
    case HDK_I64: ((int64_t *)y)[i] = v; break;
    case HDK_I32: ((int32_t *)y)[i] = (int32_t)(uint32_t)(uint64_t)v; break;
    case HDK_I16: ((int16_t *)y)[i] = (int16_t)(uint16_t)(uint64_t)v; break;
    default: ((int8_t *)y)[i] = (int8_t)(uint8_t)(uint64_t)v; break;
    }
}

static void cast_float(const struct hdk_cast *p, const float *x, void *y)
{
    const int narrow = p->to == HDK_I8 || p->to == HDK_I16;

    for (uint32_t i = 0; i < p->n; i++)
        if (p->to == HDK_F32)
            ((float *)y)[i] = x[i];
        else if (p->to == HDK_BOOL)
            ((uint8_t *)y)[i] = x[i] != 0;
        else
            put_int(p->to, y, i, (narrow ? low_bits(x[i]) : truncated(x[i], p->to)) - p->less_out);
}

/* From int8: no type is asked for each element. */
static void widen(const struct hdk_cast *p, const int8_t *x, void *y)
{
    if (p->to == HDK_I64)
        for (uint32_t i = 0; i < p->n; i++)
            ((int64_t *)y)[i] = x[i] + p->add_in;
    else
        for (uint32_t i = 0; i < p->n; i++)
            ((int32_t *)y)[i] = x[i] + p->add_in;
}

void hdk_cast(const struct hdk_cast *p, const void *x, void *y)
{
    if (p->from == HDK_F32) {
        cast_float(p, x, y);
        return;
    }
    if (p->from == HDK_I8 && (p->to == HDK_I32 || p->to == HDK_I64)) {
        widen(p, x, y);
        return;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        const int64_t v = int_at(p->from, x, i) + p->add_in;

        if (p->to == HDK_F32)
            ((float *)y)[i] = p->from == HDK_I64 ? (float)v : (float)(int32_t)v;
        else if (p->to == HDK_BOOL)
            ((uint8_t *)y)[i] = v != 0;
        else
            put_int(p->to, y, i, v - p->less_out);
    }
}

static struct hdk_steps steps_of(const struct hdk_walk2 *w)
{
    return (struct hdk_steps){2, 4, {0}, {0}, w->shape, {w->a_stride, w->b_stride, NULL}};
}

/* Exactly one of the three relations holds, none where one operand is NaN. */
static int holds(enum hdk_relation relation, int less, int equal, int greater)
{
    switch (relation) {
    case HDK_EQUAL: return equal;
    case HDK_NOT_EQUAL: return !equal;
    case HDK_LESS: return less;
    case HDK_LESS_EQUAL: return less || equal;
    case HDK_GREATER: return greater;
    default: return greater || equal;
    }
}

static int compare_float(const struct hdk_compare *p, float a, float b)
{
    return holds(p->relation, a<b, a == b, a> b);
}

static int compare_int(const struct hdk_compare *p, int64_t a, int64_t b)
{
    if (p->relation == HDK_AND || p->relation == HDK_OR)
        return p->relation == HDK_AND ? a && b : a || b;
    if (p->type == HDK_I8) {
        a = hdk_rescale(((int32_t)a - p->z_a) * 256, p->multiplier_a, p->shift_a);
        b = hdk_rescale(((int32_t)b - p->z_b) * 256, p->multiplier_b, p->shift_b);
    }
    return holds(p->relation, a<b, a == b, a> b);
}

void hdk_compare(const struct hdk_compare *p, const void *a, const void *b, void *y)
{
    const uint32_t *shape = p->walk.shape;
    struct hdk_steps s = steps_of(&p->walk);

    for (uint32_t i = 0; i < shape[0] * shape[1] * shape[2] * shape[3]; i++, hdk_step(&s)) {
        const int v =
            p->type == HDK_F32
                ? compare_float(p, ((const float *)a)[s.at[0]], ((const float *)b)[s.at[1]])
                : compare_int(p, int_at(p->type, a, s.at[0]), int_at(p->type, b, s.at[1]));

        ((uint8_t *)y)[i] = (uint8_t)v;
    }
}

void hdk_logical_not(const struct hdk_cast *p, const void *x, void *y)
{
    for (uint32_t i = 0; i < p->n; i++)
        ((uint8_t *)y)[i] = ((const uint8_t *)x)[i] == 0;
}

void hdk_select(const struct hdk_select *p, const void *condition, const void *a, const void *b,
                void *y)
{
    struct hdk_steps s = {3,   HDK_DIMS, {0},
                          {0}, p->shape, {p->stride[0], p->stride[1], p->stride[2]}};
    uint32_t n = 1;

    for (uint32_t d = 0; d < HDK_DIMS; d++)
        n *= p->shape[d];
    for (uint32_t i = 0; i < n; i++, hdk_step(&s)) {
        const uint8_t *from = ((const uint8_t *)condition)[s.at[0]] ? (const uint8_t *)a + s.at[1]
                                                                    : (const uint8_t *)b + s.at[2];

        for (uint32_t k = 0; k < p->element_bytes; k++)
            ((uint8_t *)y)[i * p->element_bytes + k] = from[k];
    }
}

static int64_t floor_div(int64_t a, int64_t b)
{
    if (b == 0 || b == -1)
        return b == 0 ? 0 : (int64_t)(0 - (uint64_t)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t compute(enum hdk_arithmetic_op op, int64_t a, int64_t b)
{
    const uint64_t u = (uint64_t)a, v = (uint64_t)b;

    switch (op) {
    case HDK_ADD: return (int64_t)(u + v);
    case HDK_SUB: return (int64_t)(u - v);
    case HDK_MUL: return (int64_t)(u * v);
    case HDK_DIV: return b == 0 || b == -1 ? floor_div(a, b) : a / b;
    case HDK_FLOOR_DIV: return floor_div(a, b);
    case HDK_FLOOR_MOD: return b == 0 ? 0 : (int64_t)(u - v * (uint64_t)floor_div(a, b));
    case HDK_MAXIMUM: return a > b ? a : b;
    case HDK_MINIMUM: return a < b ? a : b;
    case HDK_BIT_AND: return a & b;
    case HDK_BIT_OR: return a | b;
    case HDK_BIT_XOR: return a ^ b;
    case HDK_RIGHT_SHIFT: return a >> (b < 0 ? 0 : b > 63 ? 63 : b);
    default: return (int64_t)((u - v) * (u - v));
    }
}

void hdk_arithmetic(const struct hdk_arithmetic *p, const void *a, const void *b, void *y)
{
    const uint32_t *shape = p->walk.shape;
    struct hdk_steps s = steps_of(&p->walk);

    for (uint32_t i = 0; i < shape[0] * shape[1] * shape[2] * shape[3]; i++, hdk_step(&s)) {
        int64_t v = compute(p->op, int_at(p->type, a, s.at[0]), int_at(p->type, b, s.at[1]));

        if (p->type == HDK_I32)
            v = (int32_t)(uint32_t)(uint64_t)v;
        v = v < p->low ? p->low : v > p->high ? p->high : v;
        if (p->type == HDK_I32)
            ((int32_t *)y)[i] = (int32_t)v;
        else
            ((int64_t *)y)[i] = v;
    }
}

static int64_t first_of(enum hdk_arithmetic_op op)
{
    switch (op) {
    case HDK_MUL: return 1;
    case HDK_MAXIMUM: return INT64_MIN;
    case HDK_MINIMUM: return INT64_MAX;
    default: return 0;
    }
}

void hdk_fold(const struct hdk_fold *p, const void *x, void *y)
{
    uint32_t n[2][4], stride[4], number[2] = {1, 1}, all = 1;
    struct hdk_steps kept = {1, 4, {0}, {0}, n[0], {stride, NULL, NULL}}, gone = kept;

    gone.shape = n[1];
    for (uint32_t d = 4; d-- > 0; all *= p->shape[d]) {
        stride[d] = all;
        for (uint32_t k = 0; k < 2; k++) {
            n[k][d] = (p->reduce[d] != 0) == (k != 0) ? p->shape[d] : 1;
            number[k] *= n[k][d];
        }
    }
    for (uint32_t i = 0; i < number[0]; i++, hdk_step(&kept)) {
        int64_t v = first_of(p->op);

        for (uint32_t j = 0; j < number[1]; j++, hdk_step(&gone))
            v = compute(p->op, v, int_at(p->type, x, kept.at[0] + gone.at[0]));
        put_int(p->type, y, i, v);
    }
}

void hdk_scan(const struct hdk_scan *p, const void *x, void *y)
{
    for (uint32_t r = 0; r < p->outer * p->inner; r++) {
        const uint32_t base = r / p->inner * p->n * p->inner + r % p->inner;
        int64_t sum = 0;

        for (uint32_t i = 0; i < p->n; i++) {
            const uint32_t at = base + (p->reverse ? p->n - 1 - i : i) * p->inner;
            const int64_t v = int_at(p->type, x, at), before = sum;

            sum = compute(p->op, sum, v);
            put_int(p->type, y, at, p->exclusive ? before : sum);
        }
    }
}
