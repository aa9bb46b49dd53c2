/* hdk_nearest.h - the whole number nearest to x / scale, in integers: without a floating-point unit a
 * division, a comparison and a conversion of float32 take ten times as long. Where the quotient is so
 * near to a half that its rounding to float32 decides, the caller divides. */
#ifndef HDK_NEAREST_H
#define HDK_NEAREST_H

#include <stdint.h>

/* 2^54 / the scale's mantissa of 24 bits, down; 0: none, the caller always divides. */
struct hdk_reciprocal {
    uint32_t mantissa;
    int32_t exponent;
};

static inline struct hdk_reciprocal hdk_reciprocal(float scale)
{
    uint32_t bits;
    struct hdk_reciprocal r;

    __builtin_memcpy(&bits, &scale, sizeof bits);
    r.exponent = (int32_t)(bits >> 23);
    r.mantissa = (uint32_t)(((uint64_t)1 << 54) / ((bits & 0x7fffff) | 0x800000));
    if (r.exponent < 3 || r.exponent > 254)
        r.mantissa = 0;
    return r;
}

/* *q: beyond +-1023 anything of that sign that is. False: the caller has to divide.
 * The quotient is taken with 16 bits after the point, less than 2 units low; the rounding of one of at
 * most 2^11 to float32 is less than 5. */
static inline _Bool hdk_nearest(const struct hdk_reciprocal *s, float x, int32_t *q)
{
    enum { NEAR = 8, HALF = 1 << 15, UNIT = 1 << 16, MOST = 10, LEAST = -2, FAR = 1024 };
    uint32_t bits, high;
    int32_t power, sum;

    __builtin_memcpy(&bits, &x, sizeof bits);
    power = (int32_t)(bits >> 23 & 255) - s->exponent;
    *q = 0;
    if (s->mantissa == 0 || (bits >> 23 & 255) == 255)
        return 0;
    if (power < LEAST) /* below 1/4 */
        return 1;
    high =
        (uint32_t)((uint64_t)((bits | 0x800000) << 8) * s->mantissa >> 32); /* 30 bits after it */
    sum = power > MOST ? FAR * UNIT + HALF : (int32_t)(high >> (14 - power)) + HALF;
    *q = bits >> 31 ? -(sum >> 16) : sum >> 16;
    return (sum & (UNIT - 1)) >= NEAR && (sum & (UNIT - 1)) < UNIT - NEAR;
}

#endif
