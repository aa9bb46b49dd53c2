/* float.c - float32 at the borders: opaque, of equal bytes and equal parameters. */
#include <string.h>

#include "rules.h"

uint32_t prove_quantize(struct prove *p, const uint32_t x[4], float scale, int32_t zero)
{
    prove_uwide word[7] = {11, 0, (uint32_t)zero};

    memcpy(&word[1], &scale, sizeof scale);
    for (uint32_t b = 0; b < 4; b++)
        word[3 + b] = p->term[x[b]].element;
    return prove_leaf(p, prove_hash(p, word, 7), -128, 127);
}
