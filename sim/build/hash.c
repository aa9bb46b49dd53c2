/* hash.c - FNV-1a, 128 bits: h = (h ^ byte) * (2^88 + 0x13b). */
#include "hash.h"

#include <string.h>

#include "base/file.h"

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

/* Each step is a bijection of its lane: one changed word changes the lane, whatever follows it. */
void hash_large(struct hash128 *h, const void *data, size_t n_bytes)
{
    const uint8_t *p = data;
    uint64_t lane[4] = {1, 2, 3, 4}, word[4];
    size_t n = n_bytes;

    for (; n >= sizeof word; n -= sizeof word, p += sizeof word) {
        memcpy(word, p, sizeof word);
        for (int k = 0; k < 4; k++) {
            lane[k] = (lane[k] ^ word[k]) * 0x9e3779b97f4a7c15u;
            lane[k] = lane[k] << 31 | lane[k] >> 33;
        }
    }
    hash_bytes(h, lane, sizeof lane);
    hash_bytes(h, p, n);
    hash_bytes(h, &n_bytes, sizeof n_bytes);
}

enum status hash_file(struct arena *a, struct hash128 *h, const char *path, struct diag *d)
{
    struct arena *scratch = arena_beside(a);
    uint8_t *data;
    size_t n;
    enum status st = file_read(scratch, path, (size_t)1 << 31, &data, &n, d);

    if (st == ST_OK)
        hash_large(h, data, n);
    arena_free(scratch);
    return st;
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
