/* field.h - the prime field of 2^61 - 1 elements, and the hash that makes elements of it.
 * A polynomial with integer coefficients is evaluated at random elements: two that differ agree with
 * a chance of degree / 2^61 (docs/PROOF.md). */
#ifndef HEDDLE_PROVE_FIELD_H
#define HEDDLE_PROVE_FIELD_H

#include <stdint.h>

__extension__ typedef __int128 prove_wide;
__extension__ typedef unsigned __int128 prove_uwide;

#define PROVE_P ((UINT64_C(1) << 61) - 1)

/* The element of v, any integer of at most 122 bits. */
static inline uint64_t prove_element(prove_wide v)
{
    prove_uwide u = v < 0 ? -(prove_uwide)v : (prove_uwide)v;

    u = (u & PROVE_P) + (u >> 61);
    uint64_t e = (uint64_t)(u & PROVE_P) + (uint64_t)(u >> 61);
    e = e >= PROVE_P ? e - PROVE_P : e;
    return v < 0 && e != 0 ? PROVE_P - e : e;
}

static inline uint64_t prove_times(uint64_t a, uint64_t b)
{
    return prove_element((prove_wide)((prove_uwide)a * b));
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
