/* float.c - float32 at the borders. A float's byte is a rising function of the float and a byte for
 * NaN: 255 thresholds and that byte are the function. */
#include <math.h>
#include <string.h>

#include "rules.h"

/* The byte of a float, whose bits are ordered as the floats in `key`. */
static int32_t quantised(float scale, int32_t zero, uint32_t key)
{
    const uint32_t bits = key >> 31 ? key & 0x7fffffffu : ~key;
    float x, r;

    memcpy(&x, &bits, sizeof x);
    r = roundf(x / scale);
    return r < (float)(-128 - zero) ? -128 : r > (float)(127 - zero) ? 127 : (int32_t)r + zero;
}

/* word[i]: the least key of byte i - 128 for i from 1 on, found by bisection; word[0]: NaN's byte. */
static void thresholds(prove_uwide word[PROVE_BYTES], float scale, int32_t zero)
{
    word[0] = (uint8_t)zero;
    for (int32_t i = 1; i < PROVE_BYTES; i++) {
        uint32_t low = 0x007fffff, high = 0xff800000; /* the infinities */

        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;

            if (quantised(scale, zero, middle) >= i - 128)
                high = middle;
            else
                low = middle + 1;
        }
        word[i] = quantised(scale, zero, low) >= i - 128 ? low : UINT32_MAX;
    }
}

uint32_t prove_reaches(struct prove *p, const uint32_t x[4], prove_uwide rising)
{
    prove_uwide of[6] = {11, rising};

    for (uint32_t b = 0; b < 4; b++)
        of[2 + b] = p->term[x[b]].element;
    return prove_leaf(p, prove_hash(p, of, 6), -128, 127);
}

uint32_t prove_quantize(struct prove *p, const uint32_t x[4], float scale, int32_t zero)
{
    if (scale != p->scale || zero != p->zero) {
        prove_uwide word[PROVE_BYTES];

        thresholds(word, scale, zero);
        p->rising = prove_hash(p, word, PROVE_BYTES);
        p->scale = scale;
        p->zero = zero;
    }
    return prove_reaches(p, x, p->rising);
}
