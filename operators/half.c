/* half.c - see half.h. */
#include "half.h"

#include <math.h>
#include <string.h>

float half_to_float(uint16_t h)
{
    const int exponent = h >> 10 & 31, mantissa = h & 1023;
    const float magnitude = exponent == 31 ? (mantissa ? NAN : INFINITY)
                            : exponent     ? ldexpf((float)(1024 + mantissa), exponent - 25)
                                           : ldexpf((float)mantissa, -24);

    return h >> 15 ? -magnitude : magnitude;
}

uint16_t half_from_float(float v)
{
    const uint16_t sign = signbit(v) ? 0x8000 : 0;
    const float a = fabsf(v);
    int exponent;

    if (isnan(v))
        return sign | 0x7e00;
    if (a >= 65520)
        return sign | 0x7c00;
    if (a < 0x1p-14f)
        return sign | (uint16_t)lrintf(ldexpf(a, 24));
    frexpf(a, &exponent); /* a rounding up to 2048 carries into the exponent */
    return (uint16_t)(sign | (((exponent + 13) << 10) + lrintf(ldexpf(a, 11 - exponent))));
}

uint16_t bfloat_from_float(float v)
{
    uint32_t bits;

    memcpy(&bits, &v, 4);
    if (isnan(v))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float bfloat_to_float(uint16_t b)
{
    const uint32_t bits = (uint32_t)b << 16;
    float v;

    memcpy(&v, &bits, 4);
    return v;
}
