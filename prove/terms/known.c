/* known.c - what was made before, by the bytes that say all about it. Equal bytes are compared, so no two
 * things are taken for equal by chance. */
#include <string.h>

#include "value.h"

enum { BUCKETS = 1 << 16, RECENT = 1 << 11 };

/* A key that was asked for, and its place. */
struct prove_recent {
    struct prove_key key;
    void **slot;
};

/* Four words a step: their products do not wait for each other. */
static uint64_t hash_of(const uint8_t *byte, size_t n)
{
    uint64_t h[4] = {n, 1, 2, 3}, w[4];

    for (size_t i = 0; i < n; i += sizeof w) {
        memset(w, 0, sizeof w);
        memcpy(w, byte + i, n - i < sizeof w ? n - i : sizeof w);
        for (uint32_t k = 0; k < 4; k++) {
            h[k] = (h[k] ^ w[k]) * UINT64_C(0x9e3779b97f4a7c15);
            h[k] ^= h[k] >> 29;
        }
    }
    return prove_mix(prove_mix(h[0], h[1]), prove_mix(h[2], h[3]));
}

struct prove_known *prove_know(struct prove *p, enum prove_of of, const void *bytes, size_t n)
{
    const uint64_t h = hash_of(bytes, n);
    struct prove_known **at;

    if (!p->known)
        p->known = ARENA_ARRAY(p->arena, struct prove_known *, BUCKETS);
    for (at = &p->known[h % BUCKETS]; *at; at = &(*at)->next)
        if ((*at)->hash == h && (*at)->of == of && (*at)->n == n &&
            memcmp((*at)->bytes, bytes, n) == 0)
            return *at;
    *at = ARENA_NEW(p->arena, struct prove_known);
    **at = (struct prove_known){.of = of, .hash = h, .number = p->n_known++, .n = n};
    (*at)->bytes = of != PROVE_OF_PAIRS ? arena_memdup(p->arena, bytes, n) : bytes;
    return *at;
}

/* Keys come again soon: those of one layer's channels, for each pixel. */
void **prove_memo(struct prove *p, const struct prove_key *key)
{
    uint64_t h = 0;

    for (uint32_t i = 0; i < PROVE_KEY; i++)
        h += ((uint64_t)key->word[i] + i) * (UINT64_C(0x9e3779b97f4a7c15) << i | 1);
    if (!p->recent)
        p->recent = ARENA_ARRAY(p->arena, struct prove_recent, RECENT);
    struct prove_recent *r = &p->recent[(h ^ h >> 31) * UINT64_C(0xd6e8feb86659fd93) >> 53];
    if (!r->slot || memcmp(&r->key, key, sizeof *key) != 0) {
        r->slot = &prove_know(p, PROVE_OF_KEY, key, sizeof *key)->result;
        r->key = *key;
    }
    return r->slot;
}
