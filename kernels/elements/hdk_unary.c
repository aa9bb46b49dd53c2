/* hdk_unary.c - look-up table, requantisation, to and from float, copy. */
#include "hdk.h"
#include "hdk_math.h"
#include "hdk_nearest.h"

void hdk_lut(const struct hdk_lut *p, const int8_t *x, int8_t *y)
{
    for (uint32_t c = 0; c < p->channels; c++)
        for (uint32_t i = c; i < p->n; i += p->channels)
            y[i] = p->table[256 * c + (uint32_t)(x[i] + 128)];
}

/* The top bit flipped turns uint8 values into int8 ones less 128, and back. */
static inline int8_t flipped(int8_t x, uint32_t flip)
{
    return (int8_t)((uint8_t)x ^ (uint8_t)flip);
}

void hdk_requantize(const struct hdk_requantize *p, const int8_t *x, int8_t *y)
{
    for (uint32_t i = 0; i < p->n; i++) {
        int32_t v = hdk_rescale(flipped(x[i], p->flip_in) - p->z_in, p->multiplier, p->shift);
        y[i] = flipped(hdk_clamp(v, p->z_out, p->act_min, p->act_max), p->flip_out);
    }
}

/* Words of x that is as far from a word's address as y. */
static uint32_t flip_words(uint32_t n, const int8_t *x, int8_t *y)
{
    enum { WORDS = 4 };
    uint32_t word[WORDS], i = 0;

    for (; i + sizeof word <= n; i += sizeof word) {
        __builtin_memcpy(word, __builtin_assume_aligned(x + i, 4), sizeof word);
        for (uint32_t k = 0; k < WORDS; k++)
            word[k] ^= 0x80808080u;
        __builtin_memcpy(__builtin_assume_aligned(y + i, 4), word, sizeof word);
    }
    return i;
}

void hdk_flip(const struct hdk_flip *p, const int8_t *x, int8_t *y)
{
    const uint32_t words = (((uintptr_t)x | (uintptr_t)y) & 3) == 0;

    for (uint32_t i = words ? flip_words(p->n, x, y) : 0; i < p->n; i++)
        y[i] = flipped(x[i], 0x80);
}

/* The nearest integer to x / scale, halves away from zero; beyond +-1000 all values clamp alike.
 * NaN: 0. */
static __attribute__((noinline)) int32_t divided(float x, float scale)
{
    return hdk_half_away(x / scale, 1000);
}

void hdk_quantize(const struct hdk_quantize *p, const float *x, int8_t *y)
{
    hdk_quantize_by(p, x, y, divided);
}

void hdk_dequantize(const struct hdk_dequantize *p, const int8_t *x, float *y)
{
    const float *value = p->value;
    uint32_t i = 0;

    for (; value && i + 4 <= p->n; i += 4)
        for (uint32_t k = 0; k < 4; k++)
            y[i + k] = value[(uint8_t)x[i + k]];
    for (; i < p->n; i++)
        y[i] = value ? value[(uint8_t)x[i]] : p->scale * (float)(flipped(x[i], p->flip) - p->zero);
}

void hdk_copy(const struct hdk_copy *p, const void *x, void *y)
{
    const uint8_t *from = x;
    uint8_t *to = y;

    for (uint32_t i = 0; i < p->n_bytes && x != y; i++)
        to[i] = from[i];
}
