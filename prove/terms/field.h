/* field.h - the prime field of 2^127 - 1 elements, and the hash that makes elements of it.
 * A polynomial with integer coefficients is evaluated at random elements: two that differ agree with
 * a chance of degree / 2^127 (docs/PROOF.md). */
#ifndef HEDDLE_PROVE_FIELD_H
#define HEDDLE_PROVE_FIELD_H

#include <stdint.h>

__extension__ typedef __int128 prove_wide;
__extension__ typedef unsigned __int128 prove_uwide;

#define PROVE_P (((prove_uwide)1 << 127) - 1)

static inline prove_uwide prove_reduce(prove_uwide u)
{
    u = (u & PROVE_P) + (u >> 127);
    return u >= PROVE_P ? u - PROVE_P : u;
}

/* The element of an integer. */
static inline prove_uwide prove_element(prove_wide v)
{
    const prove_uwide e = prove_reduce(v < 0 ? -(prove_uwide)v : (prove_uwide)v);

    return v < 0 && e != 0 ? PROVE_P - e : e;
}

static inline prove_uwide prove_plus(prove_uwide a, prove_uwide b)
{
    return prove_reduce(a + b);
}

/* e * 2^64. */
static inline prove_uwide prove_raised(prove_uwide e)
{
    return prove_reduce((e << 64 & PROVE_P) | e >> 63);
}

static inline prove_uwide prove_times(prove_uwide a, prove_uwide b)
{
    const uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64), b0 = (uint64_t)b,
                   b1 = (uint64_t)(b >> 64);
    const prove_uwide low = (prove_uwide)a0 * b0, high = (prove_uwide)a1 * b1,
                      middle = (prove_uwide)a0 * b1 + (prove_uwide)a1 * b0;

    /* 2^128 = 2 */
    return prove_plus(prove_plus(prove_reduce(low), prove_raised(prove_reduce(middle))),
                      prove_reduce(high * 2));
}

/* One step of a keyed hash: h so far, another word. */
static inline uint64_t prove_mix(uint64_t h, uint64_t word)
{
    const prove_uwide m =
        (prove_uwide)(h ^ UINT64_C(0x9e3779b97f4a7c15)) * (word ^ UINT64_C(0xe7037ed1a0b428db));
    uint64_t v = (uint64_t)m ^ (uint64_t)(m >> 64);

    v ^= h + (word << 32 | word >> 32);
    v = (v ^ v >> 32) * UINT64_C(0xd6e8feb86659fd93);
    v = (v ^ v >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return v ^ v >> 32;
}

#endif
