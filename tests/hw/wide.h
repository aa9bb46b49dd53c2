/* wide.h - fields of Verilator's packed ports, whatever their width, and a seeded generator.
 * Invariant: a field is at most 32 bits wide; get_field and set_field want it within a 32-bit word,
 * get_bits and set_bits do not. */
#ifndef HEDDLE_TESTS_HW_WIDE_H
#define HEDDLE_TESTS_HW_WIDE_H

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "verilated.h"

static inline uint32_t field_mask(int bits)
{
    return bits == 32 ? ~0u : (1u << bits) - 1;
}

/* Ports up to 64 bits are integers. */
template <class T> static inline uint32_t get_field(const T &port, int lsb, int bits)
{
    return (uint32_t)((uint64_t)port >> lsb) & field_mask(bits);
}

template <class T> static inline void set_field(T &port, int lsb, int bits, uint32_t value)
{
    uint64_t mask = (uint64_t)field_mask(bits) << lsb;

    port = (T)(((uint64_t)port & ~mask) | ((uint64_t)(value & field_mask(bits)) << lsb));
}

/* Wider ones are arrays of words. */
template <std::size_t W> static inline uint32_t get_field(const VlWide<W> &port, int lsb, int bits)
{
    return port[lsb / 32] >> (lsb % 32) & field_mask(bits);
}

template <std::size_t W>
static inline void set_field(VlWide<W> &port, int lsb, int bits, uint32_t value)
{
    uint32_t mask = field_mask(bits) << (lsb % 32);

    port[lsb / 32] = (port[lsb / 32] & ~mask) | ((value << (lsb % 32)) & mask);
}

/* Fields that may straddle words, bit by bit. */
template <class T> static inline uint32_t get_bits(const T &port, int lsb, int bits)
{
    uint32_t value = 0;

    for (int i = 0; i < bits; i++)
        value |= get_field(port, lsb + i, 1) << i;
    return value;
}

template <class T> static inline void set_bits(T &port, int lsb, int bits, uint32_t value)
{
    for (int i = 0; i < bits; i++)
        set_field(port, lsb + i, 1, value >> i & 1);
}

/* xorshift64*: the same numbers everywhere for one seed. */
struct rng {
    uint64_t state;
    explicit rng(uint64_t seed) : state(seed * 2654435769u + 88172645463325252u)
    {
    }
    uint32_t next()
    {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return (uint32_t)((state * 2685821657736338717u) >> 32);
    }
    /* low..high, both included. */
    int32_t range(int32_t low, int32_t high)
    {
        return low + (int32_t)(next() % (uint32_t)(high - low + 1));
    }
    bool chance(int percent)
    {
        return range(0, 99) < percent;
    }
};

/* The mistakes that a bench has found, the first ten printed, and the number of checks. */
struct findings {
    long failures = 0, seen = 0;

    void check(bool ok, const char *what, uint64_t found = 0, uint64_t expected = 0)
    {
        if (!ok && failures++ < 10)
            printf("  wrong: %s: %" PRIx64 ", expected %" PRIx64 ", after %ld\n", what, found,
                   expected, seen);
    }
};

/* NUMERICS.md as written there: wide integers, truncating division, masks. */
static inline int32_t numerics_srdhm(int32_t a, int32_t b)
{
    int64_t ab = (int64_t)a * b;
    int64_t nudge = ab >= 0 ? (int64_t)1 << 30 : 1 - ((int64_t)1 << 30);

    if (a == INT32_MIN && b == INT32_MIN)
        return INT32_MAX;
    return (int32_t)((ab + nudge) / ((int64_t)1 << 31));
}

static inline int32_t numerics_rdbpot(int32_t x, int e)
{
    int64_t mask = ((int64_t)1 << e) - 1;
    int64_t rem = x & mask;
    int64_t thr = (mask >> 1) + (x < 0);

    return (int32_t)((x >> e) + (rem > thr));
}

static inline int32_t numerics_mbqm(int32_t x, int32_t m, int shift)
{
    int left = shift > 0 ? shift : 0, right = shift < 0 ? -shift : 0;

    return numerics_rdbpot(numerics_srdhm((int32_t)((uint32_t)x << left), m), right);
}

static inline int32_t numerics_average(int32_t acc, int32_t n)
{
    return (acc > 0 ? acc + n / 2 : acc - n / 2) / n;
}

static inline int8_t numerics_clamp(int32_t x, int32_t z, int low, int high)
{
    int32_t y = (int32_t)((uint32_t)x + (uint32_t)z);

    return (int8_t)(y < low ? low : y > high ? high : y);
}

/* Byte `which` of x + z, clamped to `bytes` bytes; sign if there is no such byte. */
static inline int8_t numerics_byte(int32_t x, int32_t z, int bytes, int which)
{
    const int64_t most = (INT64_C(1) << (8 * bytes - 1)) - 1;
    int64_t y = (int32_t)((uint32_t)x + (uint32_t)z);

    y = y < -most - 1 ? -most - 1 : y > most ? most : y;
    return (int8_t)(y >> 8 * which);
}

/* A byte of x + z, clamped from 256 low to 256 high + 255: the upper one, or the lower one less 128. */
static inline int8_t numerics_half(int32_t x, int32_t z, int low, int high, bool lower)
{
    int64_t y = (int32_t)((uint32_t)x + (uint32_t)z);

    y = y < low * 256 ? low * 256 : y > high * 256 + 255 ? high * 256 + 255 : y;
    return (int8_t)(lower ? (y & 255) - 128 : y >> 8);
}

#endif
