/* hash.c - FNV-1a, 128 bits: h = (h ^ byte) * (2^88 + 0x13b). */
#include "hash.h"

#include <string.h>

void hash_init(struct hash128 *h)
{
    h->high = 0x6c62272e07bb0142u;
    h->low = 0x62b821756295c58du;
}

void hash_bytes(struct hash128 *h, const void *data, size_t n_bytes)
{
    const uint8_t *p = data;
    uint64_t low = h->low, high = h->high;

    for (size_t i = 0; i < n_bytes; i++) {
        const uint64_t x = low ^ p[i];
        /* x * 0x13b needs 73 bits: the low half's carry comes from 32-bit pieces. */
        const uint64_t lower = (x & 0xffffffffu) * 0x13b, upper = (x >> 32) * 0x13b + (lower >> 32);

        high = high * 0x13b + (upper >> 32) + (x << 24);
        low = upper << 32 | (lower & 0xffffffffu);
    }
    h->low = low;
    h->high = high;
}

void hash_string(struct hash128 *h, const char *s)
{
    hash_bytes(h, s, strlen(s) + 1);
}

const char *hash_text(struct arena *a, const struct hash128 *h)
{
    return arena_printf(a, "%016llx%016llx", (unsigned long long)h->high,
                        (unsigned long long)h->low);
}
