/* hdk_nearest.h - the whole number nearest to x / scale, in integers: without a floating-point unit a
 * division, a comparison and a conversion of float32 take ten times as long. Where the quotient is so
 * near to a half that its rounding to float32 decides, the caller divides. */
#ifndef HDK_NEAREST_H
#define HDK_NEAREST_H

#include "hdk.h"

/* 2^54 / the scale's mantissa of 24 bits, down. 0: none, the caller always divides. */
struct hdk_reciprocal {
    uint32_t mantissa;
    int32_t exponent;
};

static __attribute__((noinline)) struct hdk_reciprocal hdk_reciprocal(float scale)
{
    uint32_t bits;
    struct hdk_reciprocal r;

    __builtin_memcpy(&bits, &scale, sizeof bits);
    r.exponent = (int32_t)(bits >> 23);
    r.mantissa = (uint32_t)(((uint64_t)1 << 54) / ((bits & 0x7fffff) | 0x800000));
    if (r.exponent < 3 || r.exponent > 238) { /* NaN and infinity are out of reach of the others */
        r.exponent = 1 << 20;
        r.mantissa = 0;
    }
    return r;
}

/* The nearest integer, halves away from zero; beyond +-most it is that. NaN: 0. */
static inline int32_t hdk_half_away(float v, int32_t most)
{
    const float end = (float)most;
    int32_t i;
    float rest;

    if (!(v > -end))
        return v <= -end ? -most : 0;
    if (v > end)
        return most;
    i = (int32_t)v;
    rest = v - (float)i;
    return i + (rest >= 0.5f) - (rest <= -0.5f);
}

/* Bits after the point of a quotient below 2^11, and of one below 2^17. */
enum { HDK_NEAR_8 = 16, HDK_NEAR_16 = 13 };

/* *q: the nearest whole number; beyond 2^10 (POINT of 16; 2^16 with 13) any number of that sign that is
 * at least so far. False: the caller has to divide.
 * The quotient is less than 2 units of its last bit low. Rounding to float32 moves one of at most 2^11
 * by less than 5 units of 2^-16, one of at most 2^17 by less than 33 of 2^-13. */
static inline _Bool hdk_nearest(const struct hdk_reciprocal *s, int point, float x, int32_t *q)
{
    const int32_t most = point == HDK_NEAR_8 ? 10 : 16, least = -2;
    const uint32_t near = point == HDK_NEAR_8 ? 8 : 40, unit = 1u << point;
    uint32_t bits, high;
    int32_t power, sum, sign;

    __builtin_memcpy(&bits, &x, sizeof bits);
    power = (int32_t)(bits << 1 >> 24) - s->exponent;
    sign = (int32_t)bits >> 31;
    if (__builtin_expect((uint32_t)(power - least) > (uint32_t)(most - least), 0)) {
        *q = power < least ? 0 : ((2 << most) ^ sign) - sign;
        return s->mantissa != 0 && (bits << 1 >> 24) != 255;
    }
    high =
        (uint32_t)((uint64_t)((bits | 0x800000) << 8) * s->mantissa >> 32); /* 30 bits after it */
    sum = (int32_t)(high >> (30 - point - power)) + (int32_t)(unit / 2);
    *q = ((sum >> point) ^ sign) - sign;
    return (((uint32_t)sum + near) & (unit - 1)) >= 2 * near;
}

/* y = x / scale + zero, clamped; `divided` is asked where the integers do not decide. */
static inline void hdk_quantize_by(const struct hdk_quantize *p, const float *x, int8_t *y,
                                   int32_t (*divided)(float x, float scale))
{
    const struct hdk_reciprocal r = hdk_reciprocal(p->scale);
    const struct hdk_quantize of = *p; /* y may be anywhere, for the compiler */

    for (uint32_t i = 0; i < of.n; i++) {
        int32_t v;

        if (__builtin_expect(!hdk_nearest(&r, HDK_NEAR_8, x[i], &v), 0))
            v = divided(x[i], of.scale);
        v += of.zero + 128;
        if (__builtin_expect((uint32_t)v > 255, 0))
            v = v < 0 ? 0 : 255;
        y[i] = (int8_t)((uint32_t)v ^ 0x80 ^ of.flip); /* v - 128, flipped */
    }
}

#endif
